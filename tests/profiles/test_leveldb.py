"""LevelDB files made by hand: logs, tables, and which of them count. ``test_real_profiles.py``
reads what Chromium itself writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.profiles.leveldb import (
    BLOCK_BYTES,
    HEAD_BYTES,
    MAGIC,
    Damaged,
    read_leveldb,
    records,
    table_entries,
)

Pairs = dict[bytes, bytes | None]


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def text(data: bytes) -> bytes:
    return varint(len(data)) + data


def log(*parts: bytes) -> bytes:
    """Return records as LevelDB writes them, split at blocks of 32 KiB."""
    out = b""
    for part in parts:
        is_first, is_last = True, False
        while not is_last:
            room = BLOCK_BYTES - len(out) % BLOCK_BYTES
            if room < HEAD_BYTES:
                out += bytes(room)
                continue
            piece, part = part[: room - HEAD_BYTES], part[room - HEAD_BYTES :]
            is_last = not part
            kind = {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}
            out += bytes(4) + len(piece).to_bytes(2, "little") + bytes([kind[is_first, is_last]])
            out += piece
            is_first = False
    return out


def batch(number: int, pairs: Pairs) -> bytes:
    out = number.to_bytes(8, "little") + len(pairs).to_bytes(4, "little")
    for key, value in pairs.items():
        out += b"\0" + text(key) if value is None else b"\1" + text(key) + text(value)
    return out


def block(pairs: list[tuple[bytes, bytes]]) -> bytes:
    out, before = b"", b""
    for key, value in pairs:
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value))
        out += key[shared:] + value
        before = key
    return out + bytes(4) + (1).to_bytes(4, "little")


def table(number: int, pairs: Pairs, *, packed: bool = False, packing: int | None = None) -> bytes:
    rows = []
    for each, (key, value) in enumerate(sorted(pairs.items()), number):
        mark = (each << 8 | (value is not None)).to_bytes(8, "little")
        rows.append((key + mark, value or b""))
    data = block(rows)
    if packed:  # one literal is snappy, too
        data = varint(len(data)) + bytes([61 << 2]) + (len(data) - 1).to_bytes(2, "little") + data
    out = data + bytes([packed if packing is None else packing]) + bytes(4)
    index = block([(b"~", varint(0) + varint(len(data)))])
    footer = varint(0) + varint(0) + varint(len(out)) + varint(len(index))
    return out + index + bytes(5) + footer.ljust(40, b"\0") + MAGIC


def edit(*, log_from: int = 0, new: tuple[int, ...] = (), gone: tuple[int, ...] = ()) -> bytes:
    out = varint(1) + text(b"leveldb.BytewiseComparator") + varint(2) + varint(log_from)
    out += varint(3) + varint(99) + varint(4) + varint(99) + varint(5) + varint(0) + text(b"k")
    for number in gone:
        out += varint(6) + varint(0) + varint(number)
    for number in new:
        out += varint(7) + varint(0) + varint(number) + varint(1) + text(b"a") + text(b"z")
    return out


def store(folder: Path, manifest: bytes, **files: bytes) -> Path:
    (folder / "CURRENT").write_text("MANIFEST-000001\n")
    (folder / "MANIFEST-000001").write_bytes(manifest)
    for name, data in files.items():
        (folder / name.removeprefix("f").replace("_", ".")).write_bytes(data)
    return folder


def test_records_may_span_several_blocks() -> None:
    parts = [b"a" * 10, b"b" * (BLOCK_BYTES - 40), b"c" * (3 * BLOCK_BYTES), b"", b"d"]
    assert list(records(log(*parts))) == parts


def test_a_record_that_is_only_half_written_is_ignored() -> None:
    whole = log(b"first", b"x" * (2 * BLOCK_BYTES))
    assert list(records(whole[:-1])) == [b"first"]
    assert list(records(whole[:14])) == [b"first"]


@pytest.mark.parametrize("packed", [False, True])
def test_shared_key_prefixes_of_a_table_are_expanded(packed: bool) -> None:
    pairs: Pairs = {b"_https://a.test\0\1one": b"1" * 300, b"_https://a.test\0\1two": None}
    found = list(table_entries(table(7, pairs, packed=packed)))
    assert found == [
        (b"_https://a.test\0\1one", 7, b"1" * 300),
        (b"_https://a.test\0\1two", 8, None),
    ]


def test_the_last_written_value_counts_wherever_it_is_stored(tmp_path: Path) -> None:
    folder = store(
        tmp_path,
        log(edit(log_from=9, new=(3, 4))),
        f000003_ldb=table(10, {b"a": b"old", b"b": b"kept", b"c": b"gone"}),
        f000004_sst=table(20, {b"a": b"newer"}, packed=True),
        f000009_log=log(batch(30, {b"a": b"newest", b"c": None}), batch(32, {b"d": b""})),
    )
    assert read_leveldb(folder) == {b"a": b"newest", b"b": b"kept", b"d": b""}


def test_files_that_the_manifest_no_longer_lists_are_not_read(tmp_path: Path) -> None:
    folder = store(
        tmp_path,
        log(edit(log_from=2, new=(3,)), edit(log_from=6, new=(5,), gone=(3,))),
        f000002_log=log(batch(99, {b"a": b"of an old log"})),
        f000003_ldb=table(50, {b"a": b"of an old table"}),
        f000005_ldb=table(1, {b"a": b"right"}),
    )
    assert read_leveldb(folder) == {b"a": b"right"}


@pytest.mark.parametrize(
    "files",
    [
        {"f000003_ldb": b"no table"},
        {"f000003_ldb": table(1, {b"a": b"1"})[:-1]},
        {"f000003_ldb": table(1, {b"a": b"1"}, packing=7)},
        {},
    ],
)
def test_damaged_and_missing_files_raise_an_error(tmp_path: Path, files: dict[str, bytes]) -> None:
    folder = store(tmp_path, log(edit(new=(3,))), **files)
    with pytest.raises(Damaged):
        read_leveldb(folder)


def test_an_unknown_edit_and_a_manifest_outside_the_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        read_leveldb(store(tmp_path, log(varint(42))))
    (tmp_path / "CURRENT").write_text("../../etc/passwd")
    with pytest.raises(Damaged):
        read_leveldb(tmp_path)
