"""The meaning of Firefox's rows: old schemas, containers, partitions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from roost.profiles.firefox import read_firefox

COLUMNS = "name, value, host, path, expiry, isHttpOnly, isSecure, sameSite, originAttributes"


def _profile(folder: Path, *rows: tuple[object, ...]) -> Path:
    with sqlite3.connect(folder / "cookies.sqlite") as store:
        store.execute(f"CREATE TABLE moz_cookies ({COLUMNS}, lastAccessed DEFAULT 0)")
        marks = ", ".join("?" * 9)
        store.executemany(f"INSERT INTO moz_cookies ({COLUMNS}) VALUES ({marks})", rows)
    store.close()
    return folder


def _row(**changed: object) -> tuple[object, ...]:
    row = {
        "name": "sid", "value": "1", "host": "a.example", "path": "/", "expiry": 1_900_000_000,
        "http": 1, "secure": 1, "same": 1, "attributes": "",
    }  # fmt: skip
    return tuple({**row, **changed}.values())


def test_expiry_is_understood_in_seconds_and_in_milliseconds(tmp_path: Path) -> None:
    folder = _profile(tmp_path, _row(), _row(name="new", expiry=1_900_000_000_500))

    assert [one.expires for one in read_firefox(folder).cookies] == [1_900_000_000, 1_900_000_000.5]


def test_a_missing_same_site_stays_missing(tmp_path: Path) -> None:
    rows = [_row(same=256), _row(name="old", same=0, secure=0), _row(name="none", same=0)]

    found = [one.same_site for one in read_firefox(_profile(tmp_path, *rows)).cookies]

    assert found == [None, None, "None"]


def test_cookies_of_containers_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = _profile(tmp_path, _row(attributes="^userContextId=2"), _row(name="mine"))
    harvest = read_firefox(folder)

    assert [one.name for one in harvest.cookies] == ["mine"]
    assert harvest.left_out == {"cookies of other containers": 1}


def test_a_partitioned_cookie_keeps_the_site_it_is_kept_apart_in(tmp_path: Path) -> None:
    key = "^partitionKey=%28https%2Cshop.example%2C8443%29"
    folder = _profile(
        tmp_path, _row(attributes=key), _row(name="own", host=".www.shop.example", attributes=key)
    )

    embedded, own = read_firefox(folder).cookies

    assert (embedded.partition_key, embedded.cross_site_ancestor) == (
        "https://shop.example:8443",
        True,
    )
    assert not own.cross_site_ancestor


def test_unreadable_storage_does_not_prevent_reading_the_rest(tmp_path: Path) -> None:
    folder = _profile(tmp_path, _row())
    broken = folder / "storage/default/https+++a.example/ls"
    broken.mkdir(parents=True)
    (broken / "data.sqlite").write_bytes(b"no database" * 50)
    harvest = read_firefox(folder)

    assert len(harvest.cookies) == 1
    assert harvest.left_out == {"sites' storage that cannot be read": 1}
