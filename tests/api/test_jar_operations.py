"""Operations on cookies, storage and profiles: which only read, and what the audit trail omits."""

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
def test_only_reading_cookies_may_be_repeated(action: str, reads: bool) -> None:
    assert Cookies.model_validate({"action": action}).only_reads() is reads


def test_a_cookies_value_is_not_audited() -> None:
    assert "value" not in Cookies.audited


def test_only_the_person_may_import_and_remove_profiles() -> None:
    assert {ProfileImport.audience, ProfileRemove.audience} == {Audience.OPERATOR}
    assert ProfileList.audience is not Audience.OPERATOR


def test_a_cookie_has_the_field_names_that_browsers_use() -> None:
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


def test_a_profile_view_does_not_show_the_profiles_content() -> None:
    when = datetime.fromtimestamp(0, UTC)
    wire = ProfileView(
        name="work", source="firefox", imported_at=when, cookies=3, sites=2, origins=1
    ).to_wire()
    assert set(wire) == {"name", "source", "importedAt", "cookies", "sites", "origins"}


def test_an_unknown_action_is_refused_by_name() -> None:
    with pytest.raises(BadRequest, match="action"):
        parse("browser_cookies", {"action": "steal"})
