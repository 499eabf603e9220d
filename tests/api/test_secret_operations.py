"""Operations on secrets: who may call them, and that no value leaves them by accident."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from roost.api import operations as ops
from roost.api import secret_operations
from roost.api.operation import Audience

VALUE = "c4nary-value"


def test_only_the_person_stores_removes_and_tests_secrets() -> None:
    for name in secret_operations.__all__:
        kind = getattr(secret_operations, name)
        is_persons = name in ("SecretAdd", "SecretRemove", "SecretTest")
        assert (kind.audience is Audience.OPERATOR) == is_persons, name


def test_values_are_neither_printed_nor_audited() -> None:
    added = ops.SecretAdd(
        name="mail", origins=["site.test"], value=VALUE, totp_value=f"{VALUE}-seed"
    )
    assert VALUE not in repr(added)
    assert VALUE not in str(added)
    assert {"value", "totp_value", "source"}.isdisjoint(added.audited)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "x" * 65},
        {"origins": []},
        {"origins": ["site.test"] * 51},
        {"value": "x" * 16_001},
    ],
)
def test_a_secret_with_a_long_name_or_value_or_without_an_origin_is_refused(
    wrong: dict[str, object],
) -> None:
    with pytest.raises(ValidationError):
        ops.SecretAdd.model_validate({"name": "mail", "origins": ["site.test"], **wrong})


def test_a_login_has_more_time_than_a_click() -> None:
    assert ops.Login(name="shop").waits() > ops.Click(target="e1").waits()
