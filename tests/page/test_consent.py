# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Cookie banners: reject if possible, else accept, and never agree to anything binding."""

from __future__ import annotations

import pytest

from tests.page.page_world import PageWorld

REJECTED = [
    (
        "<div id=onetrust-banner-sdk>We value privacy <button>Accept all</button><button>Reject All</button></div>",
        "Reject All",
    ),
    (
        "<div role=dialog>Wir verwenden Cookies <button>Alle akzeptieren</button><button>Nur notwendige Cookies</button></div>",
        "Nur notwendige Cookies",
    ),
    (
        "<div class=cookie-box>Nous utilisons des cookies <a href=#>Continuer sans accepter →</a><button>Tout accepter</button></div>",
        "Continuer sans accepter →",
    ),
    (
        "<div class=cookie>Usamos cookies <button>Aceptar</button><button>Rechazar todo</button></div>",
        "Rechazar todo",
    ),
    (
        "<div class=cookie>Usiamo cookie <button>Accetta</button><button>Rifiuta tutti</button></div>",
        "Rifiuta tutti",
    ),
    (
        "<div class=cookie>Wij gebruiken cookies <button>Akkoord</button><button>Weigeren</button></div>",
        "Weigeren",
    ),
    (
        "<div class=cookie>Usamos cookies <button>Aceitar</button><button>Rejeitar tudo</button></div>",
        "Rejeitar tudo",
    ),
    (
        "<div class=cookie>Używamy ciasteczek <button>Akceptuję</button><button>Odrzuć wszystkie</button></div>",
        "Odrzuć wszystkie",
    ),
]


@pytest.mark.parametrize(
    ("body", "words"), REJECTED, ids=["en", "de", "fr", "es", "it", "nl", "pt", "pl"]
)
def test_rejecting_is_preferred(page: PageWorld, body: str, words: str) -> None:
    reply = page.show(body).call("consent")
    assert (reply["found"], reply["action"], reply["text"]) == (True, "reject", words)
    assert reply["point"] is not None


def test_accepting_is_for_banners_that_offer_nothing_else(page: PageWorld) -> None:
    reply = page.show(
        "<div role=dialog aria-label=Cookies>This site uses cookies. <button>Got it!</button></div>"
    ).call("consent")
    assert (reply["action"], reply["text"]) == ("accept", "Got it!")


BINDING = [
    "<div role=dialog>Please accept our Terms of Service. <button>I agree</button></div>",
    "<div role=dialog>I have read the terms of service and cookie policy <button>I agree</button></div>",
    "<div role=dialog>Are you over 18 years of age? We use cookies. <button>Accept</button></div>",
    "<div role=dialog>License agreement <button>Accept</button></div>",
    "<div role=dialog>Subscribe to our newsletter about cookies <button>OK</button></div>",
    "<div role=dialog>Ich akzeptiere die Nutzungsbedingungen und Cookies <button>Akzeptieren</button></div>",
    "<h1>Cookie recipes</h1><button>Accept</button>",
    "<div class=cookie hidden>We use cookies <button>Accept</button></div>",
]


@pytest.mark.parametrize("body", BINDING)
def test_nothing_binding_is_ever_agreed_to(page: PageWorld, body: str) -> None:
    assert page.show(body).call("consent")["found"] is False


def test_banners_in_open_shadow_roots_are_found(page: PageWorld) -> None:
    page.show(
        "<div id=usercentrics-root></div>",
        """() => document.getElementById('usercentrics-root').attachShadow({mode:'open'}).innerHTML =
            '<div role=dialog>Cookies and consent <button>Deny</button><button>Accept All</button></div>'""",
    )
    assert page.call("consent")["text"] == "Deny"


def test_finding_a_cookie_banner_clicks_nothing(page: PageWorld) -> None:
    page.show(
        "<div class=cookie>We use cookies <button onclick='this.remove()'>Reject all</button></div>"
    ).call("consent")
    assert page.tab.evaluate("document.querySelectorAll('button').length") == 1
