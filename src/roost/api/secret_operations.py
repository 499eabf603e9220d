"""Operations on the person's secrets: the person keeps them, agents have them filled in."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, Field

from roost.api import page_views
from roost.api import secret_views as views
from roost.api.operation import Answers, Audience, Operation
from roost.api.page_operations import SELECTOR_CHARS, ActionOperation
from roost.vocabulary import PROFILE_PATTERN

__all__ = ["Login", "FillSecret", "SecretAdd", "SecretList", "SecretRemove", "SecretTest"]

_NAME: dict[str, Any] = {"pattern": PROFILE_PATTERN}


class FillSecret(ActionOperation, Answers[page_views.ActionView]):
    """Fill in a secret of the person. You never see it."""

    op = "browser_fill_secret"
    title = "Fill a secret"
    audited = ("secret",)
    target: str = Field(
        max_length=SELECTOR_CHARS,
        validation_alias=AliasChoices("target", "ref"),
        serialization_alias="target",
    )
    secret: str = Field(max_length=64, description="Its name")


class Login(ActionOperation, Answers[page_views.ActionView]):
    """Log in with a login that the person stored: open its page, fill in name, password and
    one-time code, submit."""

    op = "browser_login"
    title = "Log in"
    audience = Audience.ALL
    audited = ("name",)
    name: str = Field(max_length=64)

    def waits(self) -> float:
        return 30.0


class SecretList(Operation, Answers[views.SecretsView]):
    """List the person's secrets by name, without values."""

    op = "secret_list"
    title = "List secrets"
    audience = Audience.ALL
    read_only = True


class SecretAdd(Operation, Answers[views.SecretsView]):
    """Store a secret, or a login, and replace one of that name."""

    op = "secret_add"
    title = "Add a secret"
    audience = Audience.OPERATOR
    audited = ("name", "origins")
    name: str = Field(max_length=64, json_schema_extra=_NAME)
    origins: list[str] = Field(min_length=1, max_length=50)
    around: list[str] = Field(
        default_factory=list, max_length=50, description="Origins that may embed the page"
    )
    value: str | None = Field(default=None, max_length=16_000, repr=False)
    source: str | None = Field(
        default=None, max_length=2000, description="op:…, bw:…, pass:…, keyring:… or command:…"
    )
    totp: bool = Field(default=False, description="The value is a seed for one-time codes")
    login: str | None = Field(default=None, max_length=2000, description="Address to log in at")
    username: str | None = Field(default=None, max_length=320)
    totp_value: str | None = Field(
        default=None, max_length=2000, repr=False, description="Seed for the login's one-time codes"
    )


class SecretRemove(Operation, Answers[views.SecretsView]):
    """Forget a secret."""

    op = "secret_remove"
    title = "Remove a secret"
    audience = Audience.OPERATOR
    destructive = True
    audited = ("name",)
    name: str = Field(max_length=64)


class SecretTest(Operation, Answers[views.SecretTestView]):
    """Check that the value of a secret can be read, without showing it."""

    op = "secret_test"
    title = "Test a secret"
    audience = Audience.OPERATOR
    audited = ("name",)
    name: str = Field(max_length=64)
