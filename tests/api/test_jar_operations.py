"""Cookies, storage and profiles in the table: what only reads, and what never stands on record."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from roost.api.jar_operations import Cookies, ProfileImport, ProfileList, ProfileRemove
from roost.api.jar_views import CookiesView, CookieView, ProfileView
from roost.api.operation import Audience
from roost.api.operations import parse
from roost.errors import BadRequest


@pytest.mark.parametrize(
    ("action", "reads"), [("list", True), ("get", True), ("set", False), ("delete", False)]
)
def test_looking_at_cookies_may_be_repeated_and_changing_them_not(action: str, reads: bool) -> None:
    assert Cookies.model_validate({"action": action}).only_reads() is reads


def test_a_cookies_value_is_not_audited() -> None:
    assert "value" not in Cookies.audited


def test_importing_and_removing_are_the_persons_alone() -> None:
    assert {ProfileImport.audience, ProfileRemove.audience} == {Audience.OPERATOR}
    assert ProfileList.audience is not Audience.OPERATOR


def test_a_cookie_is_spelt_as_browsers_spell_it() -> None:
    view = CookiesView(
        session="s1",
        cookies=[CookieView(name="n", domain="d", path="/", http_only=True, same_site="Lax")],
    )
    assert view.to_wire()["cookies"] == [
        {
            "name": "n",
            "domain": "d",
            "path": "/",
            "httpOnly": True,
            "secure": False,
            "sameSite": "Lax",
        }
    ]


def test_a_profile_says_what_it_is_for_and_nothing_of_what_is_in_it() -> None:
    when = datetime.fromtimestamp(0, UTC)
    wire = ProfileView(
        name="work", source="firefox", imported_at=when, cookies=3, sites=2, origins=1
    ).to_wire()
    assert set(wire) == {"name", "source", "importedAt", "cookies", "sites", "origins"}


def test_an_unknown_action_is_refused_by_name() -> None:
    with pytest.raises(BadRequest, match="action"):
        parse("browser_cookies", {"action": "steal"})
