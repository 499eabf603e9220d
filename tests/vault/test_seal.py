"""Sealed values: they open with their key, unchanged and in their place, and not otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.errors import VaultLocked
from roost.testing.sealer import sealer_of
from roost.vault.seal import Damaged, is_sealed

DATA = b'{"cookies": ["c4nary-value"]}'


def test_a_sealed_value_opens_in_its_place_and_shows_nothing(tmp_path: Path) -> None:
    sealer = sealer_of(tmp_path)
    sealed = sealer.seal("jar/j1", DATA)
    assert is_sealed(sealed)
    assert not is_sealed(DATA)
    assert b"c4nary" not in sealed
    assert sealer.open("jar/j1", sealed) == DATA
    assert sealer.seal("jar/j1", DATA) != sealed, "each has a nonce of its own"


def test_a_value_moved_to_another_place_does_not_open(tmp_path: Path) -> None:
    sealer = sealer_of(tmp_path)
    with pytest.raises(Damaged):
        sealer.open("jar/j2", sealer.seal("jar/j1", DATA))


@given(st.data())
def test_a_flipped_bit_anywhere_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    sealer = sealer_of(tmp_path_factory.getbasetemp())
    sealed = bytearray(sealer.seal("p", DATA))
    at = data.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[at // 8] ^= 1 << at % 8
    with pytest.raises((Damaged, VaultLocked)):
        sealer.open("p", bytes(sealed))


@given(st.binary(max_size=60))
def test_bytes_that_were_never_sealed_do_not_open(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    with pytest.raises(Damaged):
        sealer_of(tmp_path_factory.getbasetemp()).open("p", data)


def test_another_homes_key_is_named_as_missing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    sealed = sealer_of(tmp_path / "a").seal("p", DATA)
    with pytest.raises(VaultLocked, match="another key"):
        sealer_of(tmp_path / "b").open("p", sealed)
