from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.toml_tables import read, with_table, without_table

PATH = ("mcp_servers", "roost")
ENTRY: dict[str, Any] = {"command": "/py", "args": ["-m", "roost"], "env": {"ROOST_HOME": "/r"}}
WRITTEN = """\
[mcp_servers.roost]
command = "/py"
args = ["-m", "roost"]

[mcp_servers.roost.env]
ROOST_HOME = "/r"
"""
CONFIG = """\
# mine
model = "o9"   # the big one

[mcp_servers.other]
command = "npx"

# about profiles
[profiles.fast]
model = "o1"
"""


def test_a_table_is_added_at_the_end_and_taken_away_again() -> None:
    after = with_table(CONFIG, PATH, ENTRY)
    assert after == CONFIG + "\n" + WRITTEN
    assert without_table(after, PATH) == CONFIG


def test_an_empty_file_holds_nothing_else() -> None:
    assert with_table("", PATH, ENTRY) == WRITTEN
    assert without_table(WRITTEN, PATH) == ""


def test_a_file_without_a_last_line_end_gets_one() -> None:
    assert read(with_table("a = 1", PATH, ENTRY))["a"] == 1


def test_a_table_in_the_middle_is_replaced_where_it_stands() -> None:
    before, after = CONFIG.split("# about profiles")
    old = '[mcp_servers.roost]\ncommand = "old"\n\n[mcp_servers.roost.env]\nX = "1"\n\n'
    text = before + old + "# about profiles" + after
    new = with_table(text, PATH, ENTRY)
    assert new == before + WRITTEN + "\n# about profiles" + after
    assert without_table(new, PATH).replace("\n\n\n", "\n\n") == CONFIG
    assert with_table(new, PATH, ENTRY) == new


def test_tables_apart_become_one() -> None:
    text = "[mcp_servers.roost]\ncommand = 'x'\n[z]\na = 1\n[mcp_servers.roost.env]\nB = '2'\n"
    new = with_table(text, PATH, ENTRY)
    assert read(new) == {"mcp_servers": {"roost": ENTRY}, "z": {"a": 1}}


def test_line_ends_are_kept() -> None:
    after = with_table("a = 1\r\n", PATH, ENTRY)
    assert "\n" not in after.replace("\r\n", "")


@pytest.mark.parametrize(
    ("text", "line"), [("a = \n", 1), ("x = 1\n[t\n", 2), ("a = 1\na = 2\n", 2), ('a = """', 1)]
)
def test_what_is_no_toml_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Malformed) as refusal:
        read(text)
    assert refusal.value.line == line


SIMPLE = st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=9)
VALUES = SIMPLE | st.lists(SIMPLE, max_size=3) | st.lists(st.dictionaries(st.text(), SIMPLE))
TABLES = st.dictionaries(st.text(max_size=6), VALUES | st.dictionaries(st.text(), SIMPLE))


@given(value=TABLES, name=st.text(min_size=1, max_size=6))
def test_what_is_written_is_read_as_it_was_given(value: dict[str, Any], name: str) -> None:
    text = with_table(CONFIG, ("mcp_servers", name), value)
    found = tomllib.loads(text)
    expected = tomllib.loads(CONFIG)
    expected["mcp_servers"][name] = value
    if name != "other":
        assert found == expected
