"""Profiles on disk: readable by their owner only, under valid names."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.errors import BadRequest, ProfileNotFound, VaultLocked
from roost.local.home import write_secret
from roost.profiles.store import Profile, ProfileStore
from roost.testing.sealer import sealer_of

CONTENTS = JarContents(
    (Cookie(name="sid", value="s3cret", domain=".example.com", expires=1.5, same_site="Lax"),),
    (OriginStorage("https://example.com", (("k", "v"),)),),
)


def _profile(name: str = "work") -> Profile:
    return Profile(name=name, source="firefox", imported_at=1.0, contents=CONTENTS)


def test_a_stored_profile_can_be_read_and_is_listed(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path / "profiles", sealer_of(tmp_path))
    store.put(_profile())

    assert store.get("work") == _profile()
    assert store.names() == ["work"]
    assert store.get("work").sites == {"example.com"}


def test_only_this_user_may_read_a_stored_profile(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    ProfileStore(folder, sealer_of(tmp_path)).put(_profile())

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "work.json").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["work.json"]


def test_a_missing_and_a_removed_profile_are_not_found(
    tmp_path: Path,
) -> None:
    store = ProfileStore(tmp_path / "profiles", sealer_of(tmp_path))
    assert store.names() == []
    store.put(_profile())
    store.remove("work")

    for missing in (store.get, store.remove, store.check):
        with pytest.raises(ProfileNotFound):
            missing("work")


def test_a_file_that_cannot_be_read_is_not_taken_for_an_empty_profile(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path / "profiles", sealer_of(tmp_path))
    store.put(_profile())
    (tmp_path / "profiles/work.json").write_text("{}")

    with pytest.raises(ProfileNotFound, match="cannot be read"):
        store.get("work")


@pytest.mark.parametrize("name", ["", "../token", "a/b", ".hidden", "x" * 65, "a\n"])
def test_a_profile_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest):
        ProfileStore(tmp_path / "profiles", sealer_of(tmp_path)).get(name)


def test_the_repr_of_a_profile_shows_no_value() -> None:
    assert "s3cret" not in repr(_profile())
    assert "s3cret" not in repr(CONTENTS)


def test_a_stored_profile_is_sealed_under_its_own_name(tmp_path: Path) -> None:
    store, folder = ProfileStore(tmp_path / "profiles", sealer_of(tmp_path)), tmp_path / "profiles"
    store.put(_profile("work"))
    store.put(_profile("home"))
    assert b"s3cret" not in (folder / "work.json").read_bytes()
    (folder / "work.json").write_bytes((folder / "home.json").read_bytes())
    with pytest.raises(ProfileNotFound, match="cannot be read"):
        store.get("work")


def test_profiles_of_an_earlier_release_are_sealed_once(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir(mode=0o700)
    write_secret(folder / "work.json", TypeAdapter(Profile).dump_json(_profile()))
    store = ProfileStore(folder, sealer_of(tmp_path))
    assert store.seal_all() == 1
    assert b"s3cret" not in (folder / "work.json").read_bytes()
    assert store.get("work") == _profile()
    assert store.seal_all() == 0


def test_without_its_key_a_profile_stays_and_the_error_says_why(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path / "profiles", sealer_of(tmp_path))
    store.put(_profile())
    sealed = (tmp_path / "profiles/work.json").read_bytes()
    (tmp_path / "key.json").unlink()
    other = ProfileStore(tmp_path / "profiles", sealer_of(tmp_path))
    with pytest.raises(VaultLocked):
        other.get("work")
    assert other.seal_all() == 0
    assert (tmp_path / "profiles/work.json").read_bytes() == sealed
