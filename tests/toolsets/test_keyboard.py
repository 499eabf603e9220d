from __future__ import annotations

import pytest

from roost.errors import BadRequest
from roost.page.keys import parse_keys
from roost.toolsets import keyboard


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("ctrl+a", "ctrl+a"),
        ("Page_Down", "PageDown"),
        ("super+Prior", "Meta+PageUp"),
        ("KP_Enter", "Enter"),
        ("+", "+"),
        ("ctrl++", "ctrl++"),
        ("x", "x"),
    ],
)
def test_a_chord_is_spelled_as_roost_takes_it(written: str, spelled: str) -> None:
    assert keyboard.chord(written) == spelled
    parse_keys(spelled)


@pytest.mark.parametrize(
    "name", ["Return", "BackSpace", "Tab", "Escape", "Delete", "Up", "Page_Up", "space", "F5"]
)
def test_the_names_that_vendors_document_are_known(name: str) -> None:
    parse_keys(keyboard.chord(name))


def test_a_sequence_is_separated_by_spaces() -> None:
    assert keyboard.sequence("BackSpace ctrl+a  x") == ["BackSpace", "ctrl+a", "x"]
    assert keyboard.sequence(" ") == [" "], "the space key itself"


def test_modifiers_are_named_once_and_nothing_else_is_one() -> None:
    assert keyboard.modifiers(None) == []
    assert keyboard.modifiers("cmd+alt") == ["Meta", "Alt"]
    assert keyboard.modifiers("ctrl + Control+SHIFT") == ["Control", "Shift"]
    with pytest.raises(BadRequest, match="not a modifier"):
        keyboard.modifiers("ctrl+a")
