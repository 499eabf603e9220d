"""One entry of a YAML text changes; every other line stays."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.yaml_text import change, read

PATH = ("extensions", "roost")
ENTRY = {"cmd": "r", "args": ["mcp"]}
OURS = "  roost:\n    cmd: r\n    args:\n    - mcp\n"
GOOSE = """\
# Model
GOOSE_PROVIDER: "anthropic"

extensions:
  developer:
    bundled: true
    enabled: true   # always

  # kept below
GOOSE_MODE: smart_approve
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"extensions:\n{OURS}"),
        ("# mine\n", f"# mine\nextensions:\n{OURS}"),
        ("a: 1\n", f"a: 1\nextensions:\n{OURS}"),
        ("a: 1", f"a: 1\nextensions:\n{OURS}"),
        ("extensions:\na: 1\n", f"extensions:\n{OURS}a: 1\n"),
        ("extensions: {}\na: 1\n", f"extensions:\n{OURS}a: 1\n"),
        (GOOSE, GOOSE.replace("# always\n", f"# always\n{OURS}")),
        ("extensions:\n  x: |\n    text\nb: 2\n", f"extensions:\n  x: |\n    text\n{OURS}b: 2\n"),
        ("extensions:\n  roost:\n    cmd: old\n  x: 1\n", f"extensions:\n{OURS}  x: 1\n"),
        ("extensions:\r\n  x: 1\r\n", f"extensions:\n  x: 1\n{OURS}".replace("\n", "\r\n")),
    ],
)  # fmt: skip
def test_an_entry_is_put_in_and_the_rest_stays(before: str, after: str) -> None:
    written = change(before, PATH, ENTRY)
    assert written == after
    assert change(written, PATH, ENTRY) == written


def test_an_entry_is_taken_out_and_the_rest_stays() -> None:
    assert change(change(GOOSE, PATH, ENTRY), PATH, None) == GOOSE
    assert change(f"extensions:\n{OURS}", PATH, None) == "extensions: {}\n"
    assert change("a: 1\n", PATH, None) == "a: 1\n"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="ascii"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["A", "B"]), VALUES),
    st.dictionaries(st.sampled_from(["x", "roost", "y"]), VALUES),
    st.dictionaries(st.sampled_from(["Y", "Z"]), VALUES),
)
def test_whatever_the_file_holds_only_the_entry_changes(
    first: dict[str, Any], entries: dict[str, Any], last: dict[str, Any]
) -> None:
    config = {**first, "extensions": entries, **last}
    text = yaml.safe_dump(config, sort_keys=False)
    there = change(text, PATH, ENTRY)
    assert read(there) == {**config, "extensions": {**entries, "roost": ENTRY}}
    gone = read(change(there, PATH, None))
    assert gone == {**config, "extensions": {k: v for k, v in entries.items() if k != "roost"}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1\nb: 2\n", 2),
        ("- a\n", 1),
        ("a: 1\nextensions: 7\n", 1),
        ("a: 1\nextensions: {x: 1}\n", 2),
        ("{extensions: {x: 1}}\n", 1),
        ("a:\t- b\n c", 1),
    ],
)
def test_a_text_that_cannot_be_changed_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Malformed) as refusal:
        change(text, PATH, ENTRY)
    assert refusal.value.line == line
