"""Reading a database that another process has open."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from roost.errors import BadRequest
from roost.profiles import harvest
from roost.profiles.harvest import database


def _names(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in folder.iterdir():
        stat = path.stat()
        found[path.name] = (stat.st_mtime_ns, stat.st_size)
    return found


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_committed_data_is_read_while_the_owner_holds_the_lock(tmp_path: Path, mode: str) -> None:
    store = tmp_path / "store.sqlite"
    with sqlite3.connect(store, isolation_level=None) as owner:
        owner.execute("PRAGMA locking_mode = EXCLUSIVE")
        owner.execute(f"PRAGMA journal_mode = {mode}")
        owner.execute("CREATE TABLE things (name)")
        owner.execute("INSERT INTO things VALUES ('committed')")
        owner.execute("BEGIN IMMEDIATE")
        owner.execute("INSERT INTO things VALUES ('not yet')")
        before = _names(tmp_path)

        with database(store) as seen:
            names = seen.execute("SELECT name FROM things").fetchall()

        assert names == [("committed",)]
        assert _names(tmp_path) == before, "the source was touched"
        owner.execute("ROLLBACK")
    owner.close()


def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store.sqlite"
    with sqlite3.connect(store) as owner:
        owner.execute("CREATE TABLE things (name)")
    there, changes = harvest._there, iter([b"first", b"second"])

    def changed(path: Path) -> bytes:
        word = next(changes, None)
        if word is not None:
            with sqlite3.connect(store) as other:
                other.execute("INSERT INTO things VALUES (?)", (word,))
            other.close()
        return there(path)

    monkeypatch.setattr(harvest, "_there", changed)
    with database(store) as seen:
        assert seen.execute("SELECT count(*) FROM things").fetchone() == (2,)
    owner.close()


def test_what_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    store = tmp_path / "cookies.sqlite"
    store.write_bytes(b"not a database" * 100)

    with pytest.raises(BadRequest, match=r"cookies\.sqlite cannot be read"), database(store):
        pass


def test_what_cannot_be_opened_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="No such file"), database(tmp_path / "nowhere"):
        pass
    assert os.listdir(tmp_path) == []
