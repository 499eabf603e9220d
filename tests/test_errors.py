from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost import errors
from roost.errors import BY_CODE, Internal, RoostError

# The codes that other people's scripts rely on (docs/design/contract.md).
CONTRACT = """
TAB_GONE SESSION_GONE OWNERSHIP TAB_CRASHED POOL_FULL MUTEX_BUSY SESSION_LIMIT JAR_UNAVAILABLE
PROFILE_NOT_FOUND URL_BLOCKED STALE_REF NOT_FOUND NOT_ACTIONABLE DIALOG_OPEN TIMEOUT BROWSER_LOST
INTERRUPTED PAUSED APPROVAL_PENDING POLICY_DENIED UNSUPPORTED UNAUTHORIZED BAD_REQUEST
TOO_LARGE LOOP_ACTIVE VAULT_LOCKED INTERNAL
""".split()
CLASSES = [
    thing
    for thing in vars(errors).values()
    if isinstance(thing, type) and issubclass(thing, RoostError) and thing is not RoostError
]
DETAIL = st.text("abcdefgh", min_size=1)


def test_the_codes_are_the_contracts_and_each_has_one_class() -> None:
    assert sorted(BY_CODE) == sorted(CONTRACT)
    assert {cls.code: cls for cls in CLASSES} == BY_CODE
    assert len(CLASSES) == len(BY_CODE)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    assert errors.__doc__ is not None
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__)
    assert drawn == [cls.__name__ for cls in CLASSES]


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_says_what_to_do_next(cls: type[RoostError]) -> None:
    assert cls.default_hint
    error = cls("It failed.")
    assert error.hint == cls.default_hint
    assert str(error) == f"{cls.code}: It failed."
    assert cls("It failed.", hint="Do this.").hint == "Do this."


@given(
    message=st.text(),
    hint=st.text(),
    retry=st.none() | st.integers(0, 10_000),
    said=st.none() | st.text(min_size=1, max_size=errors.PAGE_SAID_CHARS),
    details=st.dictionaries(DETAIL, st.none() | st.integers() | st.text(), max_size=3),
)
def test_an_error_arrives_as_it_was_sent(
    message: str,
    hint: str,
    retry: int | None,
    said: str | None,
    details: dict[str, Any],
) -> None:
    for cls in CLASSES:
        sent = cls(message, hint=hint, retry_after_ms=retry, page_said=said, **details)
        wire = json.loads(json.dumps(sent.to_wire()))
        got = RoostError.from_wire(wire)
        assert type(got) is cls
        assert got.to_wire() == sent.to_wire()
        assert (got.message, got.hint, got.retry_after_ms) == (message, hint, retry)
        assert got.page_said == said
        assert got.details == details


def test_an_error_that_is_retold_is_another_with_the_same_facts() -> None:
    error = errors.NotActionable("No.", hint="Wait.", retry_after_ms=5, page_said="p", ref="e1")
    again = error.retold(message="Field: No.")
    assert type(again) is errors.NotActionable
    assert again.to_wire() == {**error.to_wire(), "message": "Field: No."}
    assert error.retold(hint="Go.").to_wire() == {**error.to_wire(), "hint": "Go."}
    assert (error.message, error.hint) == ("No.", "Wait.")


def test_the_wire_shape_is_the_contracts() -> None:
    error = errors.PoolFull("Full.", hint="Wait.", retry_after_ms=5, tabPool="12/12")
    assert error.to_wire() == {
        "code": "POOL_FULL", "message": "Full.", "hint": "Wait.", "retryAfterMs": 5,
        "tabPool": "12/12",
    }  # fmt: skip
    bare = errors.TabGone("Gone.").to_wire()
    assert "retryAfterMs" not in bare
    assert "pageSaid" not in bare


def test_what_a_page_said_is_a_field_of_its_own_and_cut() -> None:
    said = "x" * (errors.PAGE_SAID_CHARS + 1)
    error = errors.DialogOpen("A dialog.", page_said=said)
    assert error.to_wire()["pageSaid"] == error.page_said == said[:-1]
    assert error.details == {}
    assert errors.DialogOpen("A dialog.", page_said="").page_said is None
    wire = {"code": "TAB_GONE", "message": "Gone.", "pageSaid": {"not": "a string"}}
    assert RoostError.from_wire(wire).page_said is None


@pytest.mark.parametrize("wire", [{}, {"code": "NEWER_THAN_WE"}, {"code": None, "message": 3}])
def test_a_code_we_do_not_know_becomes_internal(wire: dict[str, Any]) -> None:
    error = RoostError.from_wire(wire)
    assert type(error) is Internal
    assert error.message
    assert error.hint
