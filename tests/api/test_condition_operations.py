"""Operations on conditions: what they take, and what the audit trail leaves out."""

from __future__ import annotations

import pytest

from roost.api.condition_operations import Emulate, Route, SetCredentials, SetHeaders
from roost.api.condition_views import ConditionsView
from roost.api.operation import Audience
from roost.api.operations import parse
from roost.errors import BadRequest


def test_secrets_are_not_audited() -> None:
    assert {*SetCredentials.audited, *SetHeaders.audited, *Route.audited} == {"origin", "url"}
    login = SetCredentials(origin="https://a.test", username="a", password="hush")
    assert "hush" not in repr(login)


def test_operations_on_conditions_are_in_no_core_tool_list() -> None:
    assert Route.audience is Emulate.audience is Audience.ALL


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("browser_route", {"url": "**", "status": 99}),
        ("browser_route", {"url": "**", "kinds": ["sound"]}),
        ("browser_route", {"url": "**", "delayMs": 60_001}),
        ("browser_network_state_set", {"throttle": "5g"}),
        ("browser_emulate", {"locale": "../../etc"}),
        ("browser_emulate", {"permissions": ["clipboard-read"]}),
        ("browser_init_script", {"name": "../x"}),
    ],
)
def test_wrong_arguments_name_their_field(op: str, arguments: dict[str, object]) -> None:
    with pytest.raises(BadRequest) as error:
        parse(op, arguments)
    assert error.value.details["field"]


def test_an_empty_view_is_short() -> None:
    assert ConditionsView(session="s1").to_wire()["session"] == "s1"
