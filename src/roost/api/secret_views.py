"""Views of operations on secrets and logins. None has a value."""

from __future__ import annotations

from roost.api.views import View


class SecretView(View):
    """A secret as every caller may see it: its name and where it may be filled in."""

    name: str
    origins: list[str]
    around: list[str] | None = None
    source: str | None = None
    """For the operator: the provider that holds the value."""
    totp: bool | None = None
    login: str | None = None
    """Address of the login page, if the secret is a login."""
    username: str | None = None


class SecretsView(View):
    """The secrets that the caller may use."""

    secrets: list[SecretView]


class SecretTestView(View):
    """The result of reading a secret's value from where it is kept.

    said: last line of the provider's errors.
    """

    name: str
    ok: bool
    chars: int | None = None
    problem: str | None = None
    said: str | None = None
