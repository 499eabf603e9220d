"""``roost auth login`` and ``browser_login`` at login pages as sites have them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest

from roost import ops
from roost.errors import NotActionable, NotFound, PolicyDenied
from roost.vault.totp import Totp
from roost.vocabulary import NoticeKind, QuestionAnswer
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Request, Web

PASSWORD = "pa55-phrase&<'9"
SEED = "JBSWY3DPEHPK3PXP"
NAME = "<label>E-mail <input name=user type=email autocomplete=username></label>"
WORD = "<label>Password <input name=pw type=password></label>"
CODE = "<label>Code <input name=otp inputmode=numeric autocomplete=one-time-code></label>"


@dataclass
class Site:
    """A site with a login: in one form, or in steps. ``seen``: the fields of every form it got."""

    web: Web
    path: str
    steps: tuple[str, ...]
    seen: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.web.serve(self._respond, self.path)

    @property
    def url(self) -> str:
        return f"{self.web.base}{self.path}"

    def _respond(self, request: Request) -> Answer:
        if request.method == "GET":
            return self._page(self.steps[0])
        form = {name: one[0] for name, one in parse_qs(request.body.decode()).items()}
        self.seen.append(form)
        if "pw" in form and form["pw"] != PASSWORD:
            return self._page("<p>Wrong password</p>" + self.steps[0])
        done = {name for one in self.seen for name in one}
        for step in self.steps:
            if not any(f"name={name}" in step for name in done):
                return self._page(step)
        now = datetime.now(UTC).timestamp()
        codes = {Totp.parse(SEED).code(now + late) for late in (-30, 0, 30)}
        is_in = "otp" not in done or self.seen[-1].get("otp") in codes
        return self._page("<h1>Welcome</h1>" if is_in else "<p>Wrong code</p>" + CODE)

    @staticmethod
    def _page(body: str) -> Answer:
        form = (
            f"<form method=post>{body}<button>Go on</button></form>" if "<input" in body else body
        )
        return Answer(f"<!doctype html><title>Login</title>{form}".encode())


@asynccontextmanager
async def person(house: House, session: str) -> AsyncIterator[None]:
    """A person who allows every use of a secret in the session."""

    async def answering() -> None:
        async with house.operator() as operator:
            with operator.watch(session) as notices:
                watching.set()
                async for notice in notices:
                    if notice.kind == NoticeKind.QUESTION_ASKED:
                        answer = ops.SessionAnswer(session=session, answer=QuestionAnswer.SESSION)
                        await operator.call(answer)

    watching = asyncio.Event()
    task = asyncio.get_running_loop().create_task(answering(), name="person")
    try:
        await watching.wait()
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def store(house: House, site: Site, *, totp: bool = False, **more: str) -> None:
    async with house.operator() as operator:
        added = {
            "name": "shop",
            "origins": [site.web.base],
            "value": PASSWORD,
            "login": site.url,
            "username": "ada@shop.test",
            **({"totp_value": SEED} if totp else {}),
        }
        await operator.call(ops.SecretAdd.model_validate({**added, **more}))


async def log_in(agent: Agent) -> str:
    """Log in, and return what the page shows then."""
    view = await agent.call(ops.Login(name="shop"))
    assert PASSWORD not in str(view.to_wire())
    return await agent.snapshot()


@pytest.mark.timeout(150)
async def test_logins_in_one_form_in_steps_and_with_a_code(house: House, web: Web) -> None:
    ways = {
        "one form": ((NAME + WORD,), False),
        "two steps": ((NAME, WORD), False),
        "a code on a page of its own": ((NAME + WORD, CODE), True),
        "three steps": ((NAME, WORD, CODE), True),
    }
    async with house.agent(web) as agent, person(house, agent.session):
        for number, (way, (steps, has_code)) in enumerate(ways.items()):
            site = Site(web, f"/login-{number}", steps)
            await store(house, site, totp=has_code)
            assert "Welcome" in await log_in(agent), way
            given = {name: value for form in site.seen for name, value in form.items()}
            assert (given["user"], given["pw"]) == ("ada@shop.test", PASSWORD), way
            assert ("otp" in given) == has_code
        # The command of the same name, in the same session.
        site.seen.clear()
        done = await asyncio.to_thread(
            house.command, "auth", "login", "shop", "-s", agent.session, operator=False
        )
        assert done.returncode == 0, done.stderr
        assert PASSWORD not in done.stdout + done.stderr
        assert [sorted(form) for form in site.seen] == [["user"], ["pw"], ["otp"]]


@pytest.mark.timeout(150)
async def test_a_login_that_does_not_succeed_says_what_the_page_shows(
    house: House, web: Web
) -> None:
    async with house.agent(web) as agent, person(house, agent.session):
        site = Site(web, "/login-wrong", (NAME + WORD,))
        await store(house, site, value="an-old-password")
        shown = await log_in(agent)
        assert "Wrong password" in shown
        assert "an-old-password" not in shown

        empty = Site(web, "/login-empty", ("<p>Maintenance</p>",))
        await store(house, empty)
        error = await refused(NotFound, agent.call(ops.Login(name="shop"), timeout=25))
        assert "no field for the password" in error.message
        assert empty.seen == []

        # The page is of another origin than the secret is bound to, by a redirect.
        away = web.there(Site(web, "/login-away", (NAME + WORD,)).url)
        hop = web.serve(Answer(status=302, headers={"Location": away}), "/login-hop")
        async with house.operator() as operator:
            login = ops.SecretAdd(
                name="shop", origins=[web.base], value=PASSWORD, login=hop, username="ada"
            )
            await operator.call(login)
        await refused(PolicyDenied, agent.call(ops.Login(name="shop")))
        # The form's goal is another origin.
        thief = web.serve(b"Taken", "/thief")
        theft = f"<form method=post action='{web.there(thief)}'>{NAME + WORD}<button>In</form>"
        async with house.operator() as operator:
            login = login.model_copy(update={"login": web.page(theft)})
            await operator.call(login)
        await refused(NotActionable, agent.call(ops.Login(name="shop")))
        sent = [one for one in web.requests if one.path in ("/login-away", "/thief")]
        assert all(one.method == "GET" for one in sent)
        assert all(PASSWORD.encode() not in one.body for one in web.requests[-5:])
