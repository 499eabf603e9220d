"""Finding the policy that a person named (``roost.local.policy_place``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.errors import BadRequest
from roost.local.policy_place import BYTES_MAX, policy_text


def test_a_word_is_a_preset_and_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text("preset = 'lockdown'", encoding="utf-8")
    assert policy_text("careful", tmp_path) == "careful"
    assert policy_text("strict.toml", tmp_path) == "preset = 'lockdown'"
    assert policy_text(str(tmp_path / "strict.toml"), Path("/")) == "preset = 'lockdown'"
    (tmp_path / "careful").write_text("own = 1", encoding="utf-8")
    assert policy_text("careful", tmp_path) == "own = 1"


@pytest.mark.parametrize("data", [None, b"\xff\xfe", b"#" * (BYTES_MAX + 1)])
def test_a_policy_file_that_cannot_be_read_is_an_error(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "policy.toml").write_bytes(data)
    with pytest.raises(BadRequest):
        policy_text("policy.toml", tmp_path)
