from __future__ import annotations

import pytest

from roost.errors import TabGone
from roost.hints import Hint, no_way, spelled


def shout(step: str) -> str:
    return step.upper()


@pytest.mark.parametrize(
    ("template", "by_all", "by_none"),
    [
        ("Look around.", "Look around.", "Look around."),
        ("Look[ with {Find}].", "Look with FIND.", "Look."),
        ("Use [{Find text=x}|your eyes].", "Use FIND TEXT=X.", "Use your eyes."),
        ("[Use {Find}, then {Close}. ]Go on.", "Use FIND, then CLOSE. Go on.", "Go on."),
        ("{Find} outside of brackets is text.",) + ("{Find} outside of brackets is text.",) * 2,
    ],
)
def test_brackets_depend_on_the_reader(template: str, by_all: str, by_none: str) -> None:
    hint = Hint(template)
    assert hint.spelled(shout) == by_all
    assert hint.spelled(no_way) == by_none
    assert hint == by_none


def test_the_first_alternative_that_the_reader_can_perform_is_chosen() -> None:
    hint = Hint("[Use {A} and {B}.|Use {B}.|Use {C}.]")
    assert hint.spelled(lambda step: None if step == "A" else step) == "Use B."
    assert hint.spelled(lambda step: None if step == "B" else step) == "Use C."
    assert hint.spelled(no_way) == ""


def test_a_hint_joined_with_text_still_depends_on_the_reader() -> None:
    hint = "[{literal}] " + Hint("Look[ with {Find}].") + " [{as it is}]" + Hint("[{Close}]")
    assert hint.spelled(shout) == "[{literal}] Look with FIND. [{as it is}]CLOSE"
    assert hint.steps == ("Find", "Close")


def test_a_hint_can_be_made_again_from_its_template() -> None:
    template = "[Use {A}|Look], then go on[ with {B}]."
    assert Hint(template).template == template


def test_only_a_hint_is_a_template() -> None:
    assert spelled("[{Find}]", shout) == "[{Find}]"


def test_an_error_is_spelled_in_a_copy() -> None:
    error = TabGone("There is no tab t1.", hint=Hint("Look[ with {Find}]."), tab="t1")
    told = error.spelled(shout)
    assert told.to_wire() == error.to_wire() | {"hint": "Look with FIND."}
    assert type(told) is TabGone
    assert error.hint == "Look."
