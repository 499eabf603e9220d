"""Passwords from addresses: which server gets them, and when a page wants one."""

from __future__ import annotations

from typing import Any, cast

import pytest

from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.interception import Interception
from roost.drivers.chromium.passwords import Passwords, wants_password

ADA = "Basic YWRhOnPDqWNyZXQ="


class CommandRecorder:
    """Records the commands."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, dict[str, Any], str]] = []

    def tell(self, method: str, params: dict[str, Any], session: str) -> None:
        self.commands.append((method, params, session))


def passwords() -> tuple[Passwords, Interception, CommandRecorder]:
    known, told = Passwords(), CommandRecorder()
    return known, Interception(cast(CdpConnection, told), known), told


def paused(url: str, **headers: str) -> dict[str, Any]:
    return {"requestId": "r", "request": {"url": url, "headers": headers}}


def test_an_address_without_a_password_pauses_no_requests() -> None:
    known, tab, told = passwords()
    tab.watch("S1")
    assert known.taken_from("http://host:80/p?q=a@b#c") == "http://host:80/p?q=a@b#c"
    assert told.commands == []


def test_requests_to_that_server_are_paused_in_every_page_of_the_jar() -> None:
    known, tab, told = passwords()
    tab.watch("S1")
    tab.watch("gone")
    tab.forget("gone")
    assert known.taken_from("http://ada:s%C3%A9cret@Host:80/p?q#f") == "http://Host:80/p?q#f"
    tab.watch("S2")
    held = {"patterns": [{"urlPattern": "http://host:80/*"}]}
    assert told.commands == [("Fetch.enable", held, "S1"), ("Fetch.enable", held, "S2")]


@pytest.mark.parametrize(
    ("url", "headers", "is_sent"),
    [
        ("http://host/x", {"Accept": "*/*"}, True),
        ("http://HOST/x", {"Accept": "*/*"}, True),
        ("http://host/x", {"authorization": "Bearer own"}, False),
        ("https://host/x", {}, False),
        ("http://host:8080/x", {}, False),
        ("http://host.evil/x", {}, False),
        ("http://evil/http://host/", {}, False),
    ],
)
def test_a_password_is_sent_to_its_own_server_unless_the_page_sends_one(
    url: str, headers: dict[str, str], is_sent: bool
) -> None:
    known, tab, told = passwords()
    known.taken_from("http://ada:s%C3%A9cret@host/")
    tab.request_paused("S1", paused(url, **headers))
    (method, params, session) = told.commands[-1]
    assert (method, params["requestId"], session) == ("Fetch.continueRequest", "r", "S1")
    sent = [{"name": name, "value": value} for name, value in headers.items()]
    wanted = [*sent, {"name": "Authorization", "value": ADA}] if is_sent else None
    assert params.get("headers") == wanted


def test_a_request_paused_for_a_dead_broker_continues_without_a_password() -> None:
    known, tab, told = passwords()
    known.taken_from("http://ada:s%C3%A9cret@host/")
    tab.request_paused("S1", paused("http://host/"))
    assert told.commands == [("Fetch.continueRequest", {"requestId": "r"}, "S1")]


@pytest.mark.parametrize(
    ("status", "headers", "wants"),
    [
        (401, {"WWW-Authenticate": 'Basic realm="x"'}, True),
        (401, {"www-authenticate": "Digest qop=auth"}, True),
        (401, {"www-authenticate": "Bearer"}, False),
        (401, {}, False),
        (200, {"www-authenticate": "Basic"}, False),
    ],
)
def test_only_challenges_that_browsers_show_to_a_person_count(
    status: int, headers: dict[str, str], wants: bool
) -> None:
    assert wants_password({"status": status, "headers": headers}) is wants
