from __future__ import annotations

import stat
from pathlib import Path

import pytest

from roost.errors import BadRequest, Interrupted, TooLarge, Unauthorized
from roost.frontends.cli.install import config_file
from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.config_file import rewrite


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_for_its_owner_alone_and_needs_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "deep/er/c.json"
    done = rewrite(path, lambda text: text + "new")
    assert done is not None
    assert (done.path, done.backup) == (path, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(path.parent) == ["c.json"]


def test_the_former_text_is_kept_beside_it_as_private_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("one", encoding="utf-8")
    path.chmod(0o640)
    for text in ("two", "three"):
        assert rewrite(path, lambda _, text=text: text) is not None  # type: ignore[misc]
    assert names(tmp_path) == ["c.json", "c.json.roost-backup", "c.json.roost-backup-2"]
    assert [file.read_text() for file in sorted(tmp_path.iterdir())] == ["three", "one", "two"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o640}


def test_no_change_leaves_the_file_untouched_and_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"same\r\n")
    before = path.stat()
    assert rewrite(path, lambda text: text) is None
    assert path.stat() == before
    assert names(tmp_path) == ["c.json"]
    assert rewrite(tmp_path / "absent", lambda text: text) is None


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles/c.json"
    real.write_text("one")
    (tmp_path / "c.json").symlink_to(real)
    rewrite(tmp_path / "c.json", lambda _: "two")
    assert (tmp_path / "c.json").is_symlink()
    assert real.read_text() == "two"


def test_changes_that_the_client_writes_meanwhile_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("one")
    seen: list[str] = []

    def edit(text: str) -> str:
        seen.append(text)
        if len(seen) == 1:
            path.write_text("two")
        return text + "+"

    assert rewrite(path, edit) is not None
    assert (seen, path.read_text()) == (["one", "two"], "two+")
    assert names(tmp_path) == ["c.json", "c.json.roost-backup"]


def test_a_file_that_keeps_changing_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("")

    def edit(text: str) -> str:
        path.write_text(text + "x")
        return "ours"

    with pytest.raises(Interrupted):
        rewrite(path, edit)
    assert names(tmp_path) == ["c.json"]


def test_a_malformed_file_is_named_with_its_line_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("{")

    def edit(text: str) -> str:
        raise Malformed("a value is expected", 7)

    with pytest.raises(BadRequest) as refusal:
        rewrite(path, edit)
    assert f"{path}, line 7: a value is expected." in str(refusal.value)
    assert refusal.value.details == {"file": str(path), "line": 7}
    assert names(tmp_path) == ["c.json"]


def test_a_file_that_is_not_text_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"{\n\xff}")
    with pytest.raises(BadRequest, match="line 2: not UTF-8"):
        rewrite(path, lambda text: text)
    monkeypatch.setattr(config_file, "BYTES_MAX", 2)
    with pytest.raises(TooLarge):
        rewrite(path, lambda text: text)
    with pytest.raises(Unauthorized, match="Is a directory"):
        rewrite(tmp_path, lambda text: text)


def test_an_unwritable_place_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unauthorized, match=str(tmp_path / "file")):
        rewrite(tmp_path / "file" / "c.json", lambda _: "x")
