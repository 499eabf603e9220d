"""Passwords that a client gives to servers and proxies: they arrive there, and nowhere else."""

from __future__ import annotations

import base64
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, HttpCredentials, Playwright, ProxySettings, Route

from tests.e2e.cdp.raw_client import RawClient
from tests.support.house import House
from tests.support.local_web import Answer, Web, guarded, local_web, self_signed

ADA = HttpCredentials(username="ada", password="secret")
EVE = HttpCredentials(username="ada", password="wrong")
INSIDE = Answer(b"<!doctype html><title>Inside</title>")
SECONDS = 20.0


def basic(login: str) -> str:
    return "Basic " + base64.b64encode(login.encode()).decode()


@pytest.fixture
def connect(house: House, playwright: Playwright) -> Iterator[Callable[..., Browser]]:
    opened: list[Browser] = []

    def connected(session: str | None = None, **more: str) -> Browser:
        opened.append(playwright.chromium.connect_over_cdp(house.cdp_url(session, **more)))
        return opened[-1]

    yield connected
    for browser in opened:
        browser.close()


def test_a_client_gives_its_password_when_the_server_asks(
    connect: Callable[..., Browser], web: Web
) -> None:
    url = web.serve(guarded("ada:secret", INSIDE))
    page = connect().new_context(http_credentials=ADA).new_page()
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    response = page.goto(url)
    assert response is not None
    assert (response.status, page.title(), response.text()) == (200, "Inside", INSIDE.body.decode())
    assert "www-authenticate" not in response.all_headers()
    assert response.request.redirected_from is None, "the second try is not the client's business"
    assert seen == [url]
    assert [one.headers.get("authorization") for one in web.requested(url)] == [
        None,
        basic("ada:secret"),
    ]
    assert page.evaluate("url => fetch(url).then(response => response.status)", url) == 200
    assert len(web.requested(url)) == 3, "later requests bring the password at once"


def test_a_form_that_is_sent_again_keeps_its_fields(
    connect: Callable[..., Browser], web: Web
) -> None:
    goal = web.serve(guarded("ada:secret", INSIDE))
    form = f"<form method=post action={goal}><input name=word value=blue><button>Go</button></form>"
    page = connect().new_context(http_credentials=ADA).new_page()
    page.goto(web.page(form))
    page.click("button")
    page.wait_for_url(goal)
    assert page.title() == "Inside"
    assert [(one.method, one.body) for one in web.requested(goal)] == [("POST", b"word=blue")] * 2


@pytest.mark.parametrize("credentials", [EVE, None])
def test_without_the_right_password_the_servers_refusal_is_shown(
    connect: Callable[..., Browser], web: Web, credentials: HttpCredentials | None
) -> None:
    url = web.serve(guarded("ada:secret", INSIDE))
    page = connect().new_context(http_credentials=credentials).new_page()
    response = page.goto(url)
    assert response is not None
    assert (response.status, response.text()) == (401, "No")


def test_a_client_that_routes_requests_is_not_disturbed(
    connect: Callable[..., Browser], web: Web
) -> None:
    """Playwright says that it handles passwords whenever it intercepts requests."""
    url, secret = web.page("plain"), web.serve(guarded("ada:secret", INSIDE))
    moved = web.serve(Answer(b"", 302, headers={"Location": url}))
    page = connect().new_context().new_page()
    routed: list[str] = []

    def go_on(route: Route) -> None:
        routed.append(route.request.url)
        route.continue_()

    page.route("**/*", go_on)
    response = page.goto(moved)
    assert response is not None
    assert (response.status, response.url) == (200, url)
    assert routed == [moved]
    page.goto(secret)
    assert page.inner_text("body") == "No"


@pytest.mark.parametrize("jar", ["fresh", "shared"])
def test_a_password_of_one_client_serves_no_other(house: House, web: Web, jar: str) -> None:
    """Neither in another session, nor in the same one, nor in the browser's own jar."""
    url = web.serve(guarded("ada:secret", INSIDE))
    first = house.cdp_url(f"passwords-{jar}", jar=jar)
    second = house.cdp_url(f"no-passwords-{jar}", jar=jar)
    with RawClient(first) as knows, RawClient(first) as beside, RawClient(second) as other:
        assert shown(knows, url, ADA) == "Inside"
        assert shown(beside, url) == ""
        assert shown(other, url) == ""
        assert shown(knows, url, ADA) == "Inside"
    sent = [one.headers.get("authorization") for one in web.requested(url)]
    assert sent.count(None) == 3, "once for each client"


def shown(client: RawClient, url: str, credentials: HttpCredentials | None = None) -> str:
    """Open a tab at that address, with the password if the server asks. Return the title."""
    _, session = client.page()
    if credentials is not None:
        enable = {"handleAuthRequests": True, "patterns": [{"urlPattern": "*"}]}
        client.result("Fetch.enable", enable, session)
    client.result("Page.enable", session=session)
    client.say("Page.navigate", {"url": url}, session)
    while True:
        event = client.next()
        number = {"requestId": event.get("params", {}).get("requestId")}
        match event.get("method"):
            case "Fetch.requestPaused":
                client.say("Fetch.continueRequest", number, session)
            case "Fetch.authRequired":
                given = {"response": "ProvideCredentials", **(credentials or {})}
                answer = {**number, "authChallengeResponse": given}
                client.say("Fetch.continueWithAuth", answer, session)
            case "Page.loadEventFired":
                break
    return str(client.run("document.title", session))


# --- proxies -------------------------------------------------------------------------------------


class AskingProxy:
    """A proxy that wants a password, forwards what it must, and notes what it was given."""

    def __init__(self) -> None:
        self.given: list[str | None] = []
        """The password that came with each request."""
        self.asked: list[str] = []
        """What each request wanted: an address, or the site of a tunnel."""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(peer,), daemon=True).start()

    def _handle(self, peer: socket.socket) -> None:
        with peer:
            head = b""
            while b"\r\n\r\n" not in head:
                data = peer.recv(65536)
                if not data:
                    return
                head += data
            first, *lines = head.decode("latin-1").split("\r\n")
            fields = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
            self.given.append(fields.get("proxy-authorization"))
            self.asked.append(first.split(" ")[1])
            if self.given[-1] != basic("ada:secret"):
                peer.sendall(
                    b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="way"\r\n'
                    b"Content-Length: 2\r\nConnection: close\r\n\r\nNo"
                )
            elif first.startswith("CONNECT "):
                host, _, port = first.split(" ")[1].partition(":")
                with socket.create_connection((host, int(port))) as site:
                    peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    _joined(peer, site)
            else:
                body = f"<title>{first.split(' ')[1]}</title>".encode()
                peer.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(body) + body
                )

    def close(self) -> None:
        self._socket.close()


def _joined(one: socket.socket, other: socket.socket) -> None:
    while True:
        ready, _, _ = select.select([one, other], [], [], SECONDS)
        if not ready:
            return
        for source in ready:
            data = source.recv(65536)
            if not data:
                return
            (other if source is one else one).sendall(data)


@contextmanager
def asking_proxy() -> Iterator[AskingProxy]:
    proxy = AskingProxy()
    try:
        yield proxy
    finally:
        proxy.close()


def test_a_client_gives_its_password_when_its_proxy_asks(connect: Callable[..., Browser]) -> None:
    with asking_proxy() as proxy:
        way = ProxySettings(server=proxy.address, username="ada", password="secret")
        page = connect().new_context(proxy=way).new_page()
        response = page.goto("http://nowhere.test/page")
        assert response is not None
        assert (response.status, page.title()) == (200, "http://nowhere.test/page")
        assert set(proxy.given) == {None, basic("ada:secret")}


def test_a_proxy_asks_for_its_password_before_it_leads_to_a_secure_site(
    connect: Callable[..., Browser], tmp_path: Path
) -> None:
    with asking_proxy() as proxy, local_web(self_signed(tmp_path)) as site:
        way = ProxySettings(server=proxy.address, username="ada", password="secret")
        context = connect().new_context(proxy=way, ignore_https_errors=True)
        url = site.page("secure", title="Secure")
        page = context.new_page()
        page.goto(url)
        assert page.title() == "Secure"
        assert proxy.given.count(None) >= 1
        assert site.requested(url)[0].headers.get("proxy-authorization") is None


def test_a_proxys_password_serves_its_own_context_only(connect: Callable[..., Browser]) -> None:
    with asking_proxy() as proxy:
        way = ProxySettings(server=proxy.address, username="ada", password="secret")
        page = connect().new_context(proxy=way).new_page()
        page.goto("http://nowhere.test/")
        beside = connect().new_context(proxy={"server": proxy.address}).new_page()
        answer = beside.goto("http://beside.test/")
        assert answer is not None
        assert answer.status == 407
        both = zip(proxy.asked, proxy.given, strict=True)
        assert {given for asked, given in both if "beside.test" in asked} == {None}
