"""Operations on cookies, storage and profiles. They are rows of the table in ``operations``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic.config import JsonDict

from roost.api import jar_views as views
from roost.api.operation import Answers, Audience, Operation, PageOperation
from roost.vocabulary import PROFILE_PATTERN

__all__ = [
    "Cookies", "ProfileImport", "ProfileList", "ProfileRemove", "StorageState",
]  # fmt: skip

_PROFILE_NAME: JsonDict = {"pattern": f"^{PROFILE_PATTERN}$"}
"""Documents the pattern in the schema. The profile store enforces it, with a better message."""


class Cookies(PageOperation, Answers[views.CookiesView]):
    """List your session's cookies (without values), get, set or delete one."""

    op = "browser_cookies"
    title = "Work with cookies"
    conduct = ("jar",)
    audience = Audience.ALL
    audited = ("action", "name", "domain")
    action: Literal["list", "get", "set", "delete"] = "list"
    name: str | None = Field(default=None, max_length=4096)
    value: str | None = Field(default=None, max_length=4096, description="For set")
    domain: str | None = Field(
        default=None, max_length=255, description="example.com; .example.com with its subdomains"
    )
    path: str | None = Field(default=None, max_length=1024)
    expires: float | None = Field(default=None, description="Unix time; default: session cookie")
    http_only: bool = False
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = None

    def only_reads(self) -> bool:
        return self.action in ("list", "get")


class StorageState(PageOperation, Answers[views.StorageStateView]):
    """Save your session's cookies and localStorage to a file in Playwright's format, or load it."""

    op = "browser_storage_state"
    title = "Save or load logins"
    conduct = ("jar",)
    audience = Audience.ALL
    audited = ("action", "filename")
    action: Literal["save", "load"]
    filename: str | None = Field(default=None, max_length=1000, description="Below your folder")
    overwrite: bool = Field(default=False, description="Saving: replace a file that exists")


class ProfileImport(Operation, Answers[views.ProfileView]):
    """Read logins from a browser's profile folder, a storage state or a cookies.txt."""

    op = "profile_import"
    title = "Import a profile"
    audience = Audience.OPERATOR
    audited = ("source", "name", "domains", "any_agent")
    source: str = Field(max_length=4096, description="Absolute path; never written to")
    name: str = Field(max_length=64, json_schema_extra=_PROFILE_NAME)
    domains: list[str] = Field(
        default_factory=list, max_length=1000, description="Only these and their subdomains"
    )
    any_agent: bool = Field(
        default=False, description="Let every agent clone it, not only those started with it"
    )


class ProfileList(Operation, Answers[views.ProfilesView]):
    """List the profiles that the caller can clone jars from."""

    op = "profile_list"
    title = "List profiles"
    audience = Audience.INNER
    read_only = True


class ProfileRemove(Operation, Answers[views.ProfilesView]):
    """Forget a profile. Jars that were cloned from it keep what they have."""

    op = "profile_remove"
    title = "Remove a profile"
    audience = Audience.OPERATOR
    destructive = True
    audited = ("name",)
    name: str = Field(max_length=64, json_schema_extra=_PROFILE_NAME)
