"""Two agents with one profile in one browser are isolated from each other.

Each sees the profile's logins and what it did itself. Neither sees anything of the other, through
any interface.
"""

from __future__ import annotations

import json

from roost import ops
from roost.errors import NotFound, SessionGone, TabGone
from roost.vocabulary import JarPolicy
from tests.e2e.jars.ways_to_look import HELD, caller_in, everything_seen, person
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Answer, Request, Web

WORKER = b"self.addEventListener('fetch', () => {})"
KEEP = """async () => {
  localStorage.setItem("who", %(me)s);
  document.cookie = %(me)s + "_token=secret-of-" + %(me)s + "; max-age=600";
  await new Promise((done, failed) => {
    const opening = indexedDB.open(%(me)s + "-db");
    opening.onsuccess = done; opening.onerror = failed;
  });
  await (await caches.open(%(me)s + "-cache")).put("/kept", new Response(%(me)s));
  await navigator.serviceWorker.register("/worker-of-" + %(me)s + ".js");
}"""
NAMES = ("agent1", "agent2")


def _echo(request: Request) -> Answer:
    headers = {"Set-Cookie": "visited=yes; Max-Age=600"}
    cookie = request.headers.get("cookie", "")
    return Answer(f"<title>echo</title><pre>{cookie}</pre>".encode(), headers=headers)


async def _import_profile(house: House, web: Web) -> None:
    state = {
        "cookies": [
            {"name": "login", "value": "of-the-profile", "domain": "127.0.0.1", "expires": 2e9},
            {"name": "hidden", "value": "too", "domain": "127.0.0.1", "httpOnly": True},
        ],
        "origins": [{"origin": web.base, "localStorage": [{"name": "theme", "value": "dark"}]}],
    }
    source = house.work / "state.json"
    source.write_text(json.dumps(state), encoding="utf-8")
    async with house.operator() as operator:
        order = ops.ProfileImport(source=str(source), name="work", any_agent=True)
        await operator.call(order)


async def test_two_agents_of_one_profile_share_its_logins_and_nothing_else(
    house: House, web: Web
) -> None:
    await _import_profile(house, web)
    echo = web.serve(_echo, "/echo")
    for name in NAMES:
        web.serve(Answer(WORKER, kind="text/javascript"), f"/worker-of-{name}.js")
    clone = {"jar": JarPolicy.CLONE, "profile": "work"}
    async with (
        house.agent(web, **clone) as one,
        house.agent(web, **clone) as two,
        person(house) as operator,
    ):
        over_http = [await caller_in(operator, agent.session) for agent in (one, two)]
        agents = dict(zip(NAMES, (one, two), strict=True))
        for name, agent in agents.items():
            await agent.go(echo)
            content = (await agent.call(ops.GetContent(format="text"))).text
            assert "login=of-the-profile" in content, "sent with the very first request"
            assert "hidden=too" in content
            await agent.run(KEEP % {"me": json.dumps(name)})
        for (name, agent), caller in zip(agents.items(), over_http, strict=True):
            (other,) = set(NAMES) - {name}
            await agent.go(echo)
            held = await agent.run(HELD)
            assert set(held["cookie"].split("; ")) == {
                "login=of-the-profile",
                "visited=yes",
                f"{name}_token=secret-of-{name}",
            }
            assert sorted(held["storage"]) == [["theme", "dark"], ["who", name]]
            assert held["databases"] == [f"{name}-db"]
            assert (held["caches"], held["cached"]) == ([f"{name}-cache"], name)
            assert held["workers"] == [f"worker-of-{name}.js"]
            for way, seen in (await everything_seen(agent, caller, echo, name)).items():
                assert f"secret-of-{name}" in seen, way
                assert "of-the-profile" in seen, way
                assert other not in seen, way
            await refused(NotFound, agent.call(ops.Cookies(action="get", name=f"{other}_token")))
        theirs = (await two.tabs()).tabs[0].tab
        for attempt in (
            ops.Cookies(tab=theirs),
            ops.StorageState(action="save", tab=theirs),
            ops.Evaluate(function="() => document.cookie", tab=theirs),
            ops.NetworkRequests(tab=theirs),
        ):
            await refused(TabGone, one.call(attempt))
            path = f"/session/{one.session}/tools/{attempt.op}"
            answer = await over_http[0].refused("POST", path, json=attempt.to_wire())
            assert answer == (404, "TAB_GONE")
        await refused(SessionGone, one.call(ops.Cookies(session=two.session)))
        await refused(SessionGone, one.call(ops.SessionShow(session=two.session)))
        for method, path in (("GET", "tabs"), ("GET", "events"), ("POST", "tools/browser_cookies")):
            foreign = await over_http[0].refused(method, f"/session/{two.session}/{path}")
            assert foreign == (404, "SESSION_GONE")
        mine = await one.call(ops.SessionList())
        assert [session.id for session in mine.sessions] == [one.session]
    sent = {request.headers.get("cookie", "") for request in web.requested(echo)}
    assert not any("agent1" in cookie and "agent2" in cookie for cookie in sent)


async def test_the_profile_itself_is_never_written_to(house: House, web: Web) -> None:
    await _import_profile(house, web)
    before = (house.home.profiles / "work.json").read_bytes()
    async with house.agent(web, jar=JarPolicy.CLONE, profile="work") as agent:
        await agent.go(web.serve(_echo, "/echo"))
        await agent.run('() => { document.cookie = "login=changed; max-age=600"; }')
        await agent.call(ops.Cookies(action="delete", name="hidden"))
    assert (house.home.profiles / "work.json").read_bytes() == before


async def test_a_login_saved_by_one_session_is_loaded_by_another(house: House, web: Web) -> None:
    """Also the storage of a site that no page is open at any more."""
    first, second = web.page("<p>one"), web.there(web.page("<p>two"))
    async with house.agent(web) as agent:
        await agent.go(first)
        await agent.run('() => { localStorage.setItem("k", "v1"); document.cookie = "sid=1"; }')
        await agent.go(second)
        await agent.run('() => { localStorage.setItem("k", "v2"); }')
        saved = await agent.call(ops.StorageState(action="save", filename="saved.json"))
        assert saved.path == str(house.work.resolve() / "saved.json")
    async with house.agent(web) as agent:
        await agent.go("about:blank")
        loaded = await agent.call(ops.StorageState(action="load", filename="saved.json"))
        assert loaded.refused == 0
        await agent.go(second)
        assert await agent.run("() => localStorage.k") == "v2"
        await agent.go(first)
        assert await agent.run("() => [localStorage.k, document.cookie]") == ["v1", "sid=1"]
