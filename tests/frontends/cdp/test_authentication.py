"""Servers and proxies that ask a client for a password (roost.frontends.cdp.authentication)."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from roost.frontends.cdp.authentication import REQUESTS
from roost.frontends.cdp.messages import GiveProxyPassword, Send
from tests.frontends.cdp.cdp_stage import MINE, Json, Stage

SITE = "http://site.test:81/page"
BASIC = 'Basic realm="The house"'
ADA = "Basic " + base64.b64encode(b"ada:secret").decode()
GIVES = {"response": "ProvideCredentials", "username": "ada", "password": "secret"}


class Interceptor:
    """A client that intercepts all requests of one tab, and the browser of that tab."""

    def __init__(self, **enable: Any) -> None:
        self.stage = Stage()
        self.stage.attach_all()
        self.session = self.new_tab("T-1", **enable)

    def new_tab(self, target: str, context: str = MINE, **enable: Any) -> str:
        self.stage.tab(target, context=context)
        session = str(self.stage.events("Target.attachedToTarget")[-1]["params"]["sessionId"])
        params = {"handleAuthRequests": True, "patterns": [{"urlPattern": "*"}], **enable}
        self.say("Fetch.enable", params, session)
        return session

    def say(self, method: str, params: Json, session: str = "") -> None:
        self.stage.client(method, params, session or self.session)

    def paused(self, number: str, url: str = SITE, session: str = "", **more: Any) -> None:
        """The browser pauses a request, or with ``responseStatusCode`` its response."""
        request = {"url": url, "method": "GET", "headers": {"Accept": "*/*"}}
        about = {"frameId": "F", "resourceType": "Document", "networkId": "N1", **more}
        params = {"requestId": number, "request": request, **about}
        self.stage.browser("Fetch.requestPaused", params, session or self.session)

    def refused(self, number: str, status: int = 401, challenge: str = BASIC, **more: Any) -> None:
        name = "WWW-Authenticate" if status == 401 else "Proxy-Authenticate"
        headers = [{"name": name, "value": challenge}]
        self.paused(number, responseStatusCode=status, responseHeaders=headers, **more)

    def requested(self, number: str, url: str = SITE, session: str = "", **more: Any) -> Send:
        """The browser pauses a request, and the client continues it. Return what is sent."""
        self.paused(number, url, session)
        self.say("Fetch.continueRequest", {"requestId": number, **more}, session)
        return self.sent

    def answer(self, number: str, **answer: Any) -> None:
        said = {"requestId": number, "authChallengeResponse": answer or GIVES}
        self.say("Fetch.continueWithAuth", said)

    def extra(self, status: int) -> None:
        params = {"requestId": "N1", "headers": {}, "statusCode": status}
        self.stage.browser("Network.responseReceivedExtraInfo", params, self.session)

    @property
    def sent(self) -> Send:
        return self.stage.sent[-1]

    @property
    def asked(self) -> list[Json]:
        return [one["params"] for one in self.stage.events("Fetch.authRequired")]


def headers_in(send: Send) -> dict[str, str]:
    return {one["name"]: one["value"] for one in send.params.get("headers", ())}


def test_a_client_is_asked_for_the_password_and_the_request_is_sent_again_with_it() -> None:
    client = Interceptor()
    first = client.requested("job-1.0")
    assert first.params == {"requestId": "job-1.0", "interceptResponse": True}
    client.refused("job-1.0")
    (asked,) = client.asked
    assert asked["requestId"] == "job-1.0"
    assert asked["authChallenge"] == {
        "source": "Server",
        "origin": "http://site.test:81",
        "scheme": "basic",
        "realm": "The house",
    }
    client.answer("job-1.0")
    assert client.sent.method == "Fetch.fulfillRequest"
    assert client.sent.params["responseCode"] == 307
    assert client.sent.params["body"]
    location, mark = client.sent.params["responseHeaders"]
    assert location == {"name": "Location", "value": SITE}

    heard = len(client.stage.said)
    redirect = {"requestId": "N1", "redirectResponse": {"headers": {mark["name"]: mark["value"]}}}
    client.stage.browser("Network.requestWillBeSent", redirect, client.session)
    client.paused("job-1.1", redirectedRequestId="job-1.0")
    assert client.sent.method == "Fetch.continueRequest"
    assert client.sent.params["requestId"] == "job-1.1"
    assert client.sent.params["interceptResponse"] is True
    assert headers_in(client.sent) == {"Accept": "*/*", "Authorization": ADA}
    client.paused("job-1.1", responseStatusCode=200, responseHeaders=[])
    assert client.sent.params == {"requestId": "job-1.1"}
    assert len(client.stage.said) == heard, "the client hears nothing of the second try"


def test_a_wrong_password_is_asked_for_again_under_the_id_that_the_client_knows() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.refused("job-1.0")
    client.answer("job-1.0")
    client.paused("job-1.1", redirectedRequestId="job-1.0")
    client.refused("job-1.1")
    assert [asked["requestId"] for asked in client.asked] == ["job-1.0", "job-1.0"]
    client.answer("job-1.0", response="CancelAuth")
    assert client.sent == Send(
        None, "Fetch.continueRequest", {"requestId": "job-1.1"}, client.session
    )


@pytest.mark.parametrize("answer", ["Default", "CancelAuth"])
def test_a_client_without_a_password_gets_the_response(answer: str) -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.extra(401)
    client.refused("job-1.0")
    assert client.stage.events("Network.responseReceivedExtraInfo") == []
    client.answer("job-1.0", response=answer)
    assert client.sent.method == "Fetch.continueRequest"
    assert client.sent.params == {"requestId": "job-1.0"}
    assert len(client.stage.events("Network.responseReceivedExtraInfo")) == 1


@pytest.mark.parametrize("is_first", [True, False])
def test_a_client_hears_of_the_headers_of_the_last_response_only(is_first: bool) -> None:
    client = Interceptor()
    client.requested("job-1.0")
    if is_first:
        client.extra(401)
    client.refused("job-1.0")
    client.answer("job-1.0")
    if not is_first:
        client.extra(401)
    client.paused("job-1.1", redirectedRequestId="job-1.0")
    client.extra(200)
    heard = client.stage.events("Network.responseReceivedExtraInfo")
    assert [one["params"]["statusCode"] for one in heard] == [200]


def test_later_requests_to_that_origin_bring_the_password_and_no_others_do() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.refused("job-1.0")
    client.answer("job-1.0")
    assert headers_in(client.requested("job-2.0"))["Authorization"] == ADA
    for other in ("https://site.test:81/", "http://site.test/", "http://evil.test/?" + SITE):
        assert headers_in(client.requested("job-3.0", other)) == {}
    moved = client.requested("job-4.0", url=SITE)
    assert "Authorization" in headers_in(moved)
    client.paused("job-5.0")
    away = {"requestId": "job-5.0", "url": "http://evil.test/"}
    client.say("Fetch.continueRequest", away)
    assert headers_in(client.sent) == {}


def test_a_password_is_not_sent_in_another_context_of_the_client() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.refused("job-1.0")
    client.answer("job-1.0")
    client.stage.visible.targets.made.add("CONTEXT-2")
    beside = client.new_tab("T-2", "CONTEXT-2")
    assert headers_in(client.requested("job-2.0", session=beside)) == {}


def test_headers_that_the_client_sets_itself_are_kept() -> None:
    client = Interceptor()
    own = [{"name": "X-Own", "value": "1"}]
    client.requested("job-1.0", headers=own)
    client.refused("job-1.0")
    client.answer("job-1.0")
    client.paused("job-1.1", redirectedRequestId="job-1.0")
    assert headers_in(client.sent) == {"X-Own": "1", "Authorization": ADA}
    bearer = [{"name": "authorization", "value": "Bearer own"}]
    assert client.requested("job-2.0", headers=bearer).params["headers"] == bearer


@pytest.mark.parametrize(
    ("status", "challenge"),
    [(401, 'Digest realm="r", nonce="basic"'), (401, "Negotiate"), (407, BASIC), (403, BASIC)],
)
def test_other_refusals_reach_the_page(status: int, challenge: str) -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.refused("job-1.0", status, challenge)
    assert client.asked == []
    assert client.sent.params == {"requestId": "job-1.0"}


def test_basic_is_found_among_other_schemes() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.refused("job-1.0", challenge='Negotiate, basic realm="x", charset="UTF-8"')
    assert client.asked[0]["authChallenge"]["realm"] == "x"


def test_a_client_that_does_not_handle_passwords_is_left_alone() -> None:
    client = Interceptor(handleAuthRequests=False)
    assert client.requested("job-1.0").params == {"requestId": "job-1.0"}
    client.refused("job-1.0")
    assert client.asked == []
    assert len(client.stage.events("Fetch.requestPaused")) == 2


def test_a_client_that_pauses_responses_itself_sees_them_once_it_has_answered() -> None:
    client = Interceptor(patterns=[{"urlPattern": "*", "requestStage": "Response"}])
    client.refused("job-1.0")
    assert client.stage.events("Fetch.requestPaused") == []
    client.answer("job-1.0", response="CancelAuth")
    (paused,) = client.stage.events("Fetch.requestPaused")
    assert paused["params"]["responseStatusCode"] == 401
    assert client.requested("job-2.0").params == {"requestId": "job-2.0"}


def test_a_response_that_the_client_asked_for_is_shown_to_it() -> None:
    client = Interceptor()
    client.requested("job-1.0", interceptResponse=True)
    client.paused("job-1.0", responseStatusCode=200, responseHeaders=[])
    assert len(client.stage.events("Fetch.requestPaused")) == 2


def test_a_response_that_is_too_large_to_be_read_goes_on() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    many = [{"name": "X", "value": "1"}] * 20_000
    client.paused("job-1.0", responseStatusCode=401, responseHeaders=many)
    assert client.sent.params == {"requestId": "job-1.0"}
    assert len(client.stage.events("Fetch.requestPaused")) == 1


def test_a_proxy_of_the_client_asks_for_its_password() -> None:
    client = Interceptor()
    client.stage.checks.proxies[MINE] = "http://proxy.test:3128"
    client.requested("job-1.0")
    client.refused("job-1.0", 407, 'Basic realm="way out"')
    assert client.asked[0]["authChallenge"]["source"] == "Proxy"
    assert client.asked[0]["authChallenge"]["origin"] == "http://proxy.test:3128"
    client.answer("job-1.0")
    assert client.stage.others == [GiveProxyPassword(MINE, ADA)]
    client.paused("job-1.1", redirectedRequestId="job-1.0")
    assert headers_in(client.sent) == {"Accept": "*/*"}, "no server gets the proxy's password"


@pytest.mark.parametrize(("gives", "password"), [(GIVES, ADA), ({"response": "Default"}, None)])
def test_a_proxy_that_refuses_a_tunnel_asks_about_a_request_to_that_site(
    gives: Json, password: str | None
) -> None:
    client = Interceptor()
    client.stage.checks.proxies[MINE] = "proxy.test:3128"
    ask = client.stage.visible.authentication.proxy_asked
    client.paused("job-0.0", "https://secure.test/")
    assert ask(MINE, "secure.test:443", BASIC) == [], "the client has not let it go on yet"
    client.requested("job-1.0", "https://secure.test/page")
    for context, site, challenge in (
        ("CONTEXT-2", "secure.test:443", BASIC),
        (MINE, "other.test:443", BASIC),
        (MINE, "secure.test:443", "Negotiate"),
    ):
        assert ask(context, site, challenge) == []
    client.stage.do(ask(MINE, "secure.test:443", BASIC))
    (asked,) = client.asked
    assert asked["requestId"] == "job-1.0"
    assert asked["authChallenge"]["source"] == "Proxy"
    sent = len(client.stage.sent)
    client.answer("job-1.0", **gives)
    assert client.stage.others == [GiveProxyPassword(MINE, password)]
    assert client.stage.sent[sent:] == [], "the request itself just waits"
    client.paused("job-1.0", responseStatusCode=200, responseHeaders=[])
    assert client.sent.params == {"requestId": "job-1.0"}


def test_a_request_that_fails_goes_on_failing() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.paused("job-1.0", responseErrorReason="ConnectionRefused")
    assert client.asked == []
    assert client.sent.params == {"requestId": "job-1.0"}


@pytest.mark.parametrize("said", [None, "yes", {}, {"response": "Perhaps"}])
def test_an_invalid_answer_is_refused_and_a_valid_one_may_follow(said: Any) -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.refused("job-1.0")
    answer = {"requestId": "job-1.0", "authChallengeResponse": said}
    error = client.stage.error("Fetch.continueWithAuth", answer, client.session)
    assert error["code"] == -32602
    client.answer("job-1.0")
    assert client.sent.method == "Fetch.fulfillRequest"


def test_an_answer_to_a_challenge_that_roost_did_not_send_goes_to_the_browser() -> None:
    client = Interceptor()
    client.answer("job-9.0")
    assert client.sent.method == "Fetch.continueWithAuth"


def test_requests_of_pages_that_are_gone_are_forgotten() -> None:
    client = Interceptor()
    for number in range(REQUESTS + 10):
        client.requested(f"job-{number}.0")
    known = client.stage.visible.authentication._sessions[client.session]
    assert len(known.requests) == REQUESTS
    client.stage.went("T-1")
    assert client.stage.visible.authentication._sessions == {}


def test_nothing_is_asked_after_the_client_stopped_intercepting() -> None:
    client = Interceptor()
    client.requested("job-1.0")
    client.say("Fetch.disable", {})
    client.refused("job-1.0")
    assert client.asked == []
