"""Which kind of source a path is, and the selection of domains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roost.drivers.base import OriginStorage
from roost.errors import BadRequest
from roost.profiles import sources
from roost.profiles.harvest import Harvest
from roost.profiles.sources import ORIGINS, SourceKind, contents_of, read_source

TXT = "".join(
    f"{domain}\tTRUE\t/\tFALSE\t0\tsid\t1\n"
    for domain in (".example.com", ".www.example.com", ".notexample.com", ".other.org")
)


def test_files_are_told_apart_by_what_stands_in_them(tmp_path: Path) -> None:
    cookies, state = tmp_path / "a.json", tmp_path / "b.txt"
    cookies.write_text(TXT)
    state.write_text(json.dumps({"cookies": [], "origins": []}))

    assert read_source(cookies)[0] is SourceKind.COOKIES_TXT
    assert read_source(state)[0] is SourceKind.STORAGE_STATE


def test_domains_match_on_label_boundaries(tmp_path: Path) -> None:
    path = tmp_path / "cookies.txt"
    path.write_text(TXT)
    _, harvest = read_source(path, ["Example.com"])

    assert {one.domain for one in harvest.cookies} == {".example.com", ".www.example.com"}
    assert len(contents_of(harvest).cookies) == 2


def test_domains_choose_storage_too(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    origins = [
        {"origin": f"https://{host}", "localStorage": [{"name": "k", "value": "v"}]}
        for host in ("app.example.com:8443", "example.com.evil.org")
    ]
    path.write_text(json.dumps({"cookies": [], "origins": origins}))
    _, harvest = read_source(path, ["example.com"])

    assert [one.origin for one in harvest.storage] == ["https://app.example.com:8443"]


def test_recently_used_storage_of_a_profile_is_taken_and_the_rest_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cookies.sqlite").touch()
    storage = [OriginStorage(f"https://s{n}.test", (("k", "v"),)) for n in range(ORIGINS + 3)]
    monkeypatch.setattr(sources, "read_firefox", lambda folder: Harvest(storage=list(storage)))
    _, harvest = read_source(tmp_path)
    assert harvest.storage == storage[:ORIGINS]
    assert dict(harvest.left_out) == {sources.BEYOND: 3}
    _, chosen = read_source(tmp_path, [f"s{ORIGINS + 1}.test"])
    assert chosen.storage == [storage[ORIGINS + 1]]
    assert not chosen.left_out


@pytest.mark.parametrize("domain", ["", "  ", "https://example.com/", "*."])
def test_text_that_is_not_a_domain_is_refused(tmp_path: Path, domain: str) -> None:
    path = tmp_path / "cookies.txt"
    path.write_text(TXT)
    with pytest.raises(BadRequest, match="domain"):
        read_source(path, [domain])


def test_an_unknown_source_is_refused_with_the_known_kinds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")

    with pytest.raises(BadRequest, match="neither a storage-state"):
        read_source(tmp_path / "notes.txt")
    with pytest.raises(BadRequest, match="not a browser's profile folder"):
        read_source(tmp_path)
    with pytest.raises(BadRequest, match="No such file"):
        read_source(tmp_path / "missing")
