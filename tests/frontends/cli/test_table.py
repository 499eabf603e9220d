"""Tables fit a terminal of any width, and a pipe gets whole ids and no colours."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.frontends.cli.options import CommonFlags
from roost.frontends.cli.table import GAP, Cell, Table, columns_of
from roost.frontends.cli.terminal import cell, show

LONG = "http://a.example/" + "x" * 60


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def sample() -> Table:
    table = Table("TAB", "ADDRESS")
    table.add_row(cell("t1", "blue"), cell(LONG))
    table.add_row(cell("t2"))
    return table


def test_columns_stand_below_their_heads() -> None:
    assert list(sample().lines(240, colored=False)) == ["TAB  ADDRESS", f"t1   {LONG}", "t2"]


def test_only_the_widest_column_is_folded_and_nothing_of_it_is_lost() -> None:
    head, *folded, last = sample().lines(40, colored=False)
    assert (head, last) == ("TAB  ADDRESS", "t2")
    assert [len(line) for line in folded] == [40, 40, 5 + len(LONG) - 70]
    assert "".join(line[5:] for line in folded) == LONG


def test_wide_letters_count_as_two_columns() -> None:
    table = Table("TITLE", "NEXT")
    table.add_row(cell("日本語"), cell("a"))
    assert list(table.lines(80, colored=False)) == ["TITLE   NEXT", "日本語  a"]


@given(
    st.lists(st.lists(st.text(max_size=30), min_size=1, max_size=3), max_size=5),
    st.integers(min_value=3 * GAP + 2 * GAP, max_value=60),
)
def test_no_line_is_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    table = Table("A", "B", "C")
    for row in rows:
        table.add_row(*map(cell, row))
    assert all(columns_of(line) <= width for line in table.lines(width, colored=False))


def test_colours_only_reach_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(out: io.StringIO) -> str:
        monkeypatch.setattr(sys, "stdout", out)
        show(CommonFlags(), sample(), Cell("note", "yellow"))
        return out.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[34mt1\x1b[0m   " in shown(Terminal())
    assert "\x1b" not in shown(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(Terminal())


def test_an_agent_gets_tables_between_the_untrusted_marks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(CommonFlags(is_agent=True), sample())
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("<page-content")
    assert last.startswith("</page-content")
