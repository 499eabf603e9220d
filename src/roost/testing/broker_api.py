"""``check_broker_api``: what every caller may rely on, through whichever front end.

The same checks must pass on the broker itself and through each front end. This file checks
ownership, sessions, events and deadlines. ``broker_space`` checks the pool, captures and crashes,
and ``broker_jars`` cookies and storage.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

from roost.api import operations as ops
from roost.api.operations import OPERATIONS, Audience, Operation
from roost.drivers.events import (
    ConsoleSaid,
    DialogClosed,
    DialogOpened,
)
from roost.errors import (
    BY_CODE,
    BadRequest,
    Internal,
    LoopActive,
    Ownership,
    Paused,
    RoostError,
    SessionGone,
    TabGone,
    Timeout,
    Unauthorized,
    UrlBlocked,
)
from roost.testing import broker_jars as broker_jars  # its checks belong to the suite
from roost.testing import broker_space as broker_space  # and so do these
from roost.testing.samples import sample, samples_with
from roost.testing.scene import (
    API_CHECKS,
    NEVER,
    URL,
    ApiCheck,
    Direct,
    Scene,
    Socket,
    Way,
    api_check,
    blind,
    check_broker_api,
    next_notice,
)
from roost.testing.waits import answer_of, error_of, started, until
from roost.vocabulary import JarPolicy, Lifetime, Reads

__all__ = ["API_CHECKS", "ApiCheck", "Direct", "Scene", "Socket", "Way", "check_broker_api"]

SOMEBODYS = "t9999"
NOBODYS_SESSION = "no-such-session"
_GRANT = ops.TabSpaceGrant  # refused as long as nobody waits, whatever it names


def _on_tab(tab: str) -> list[Operation]:
    """Return every operation that works on a tab, with that tab."""
    named = [op for op in samples_with("tab", tab) if not isinstance(op, ops.Tabs | _GRANT)]
    return [*named, ops.Tabs(action="select", tab=tab), ops.Tabs(action="close", tab=tab)]


def _in_session(session: str) -> list[Operation]:
    """Return every operation that an agent may do in a session, with that session."""
    named = [
        op
        for op in samples_with("session", session)
        if not isinstance(op, ops.SessionOpen) and op.audience is not ops.Audience.OPERATOR
    ]
    return [*named, ops.Tabs(action="new", session=session)]


async def _refusal(scene: Scene, api: object, operation: Operation) -> RoostError:
    try:
        answer = await answer_of(api.call(operation))  # type: ignore[attr-defined]
    except RoostError as error:
        return error
    raise AssertionError(f"{operation!r} was answered {answer!r}")


# --- ownership ---------------------------------------------------------------------------------


@api_check()
async def a_first_address_opens_a_first_tab(scene: Scene) -> None:
    ada = await scene.agent()
    view = await scene.navigate(ada, "https://site.test/a")
    assert (view.url, view.title, view.status) == ("https://site.test/a", "site.test/a", 200)
    assert view.opened
    again = await scene.navigate(ada, "https://site.test/b")
    assert (again.tab, again.opened) == (view.tab, None)


@api_check()
async def a_foreign_tab_answers_exactly_like_an_absent_one(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    await scene.navigate(bob)
    foreign = (await scene.navigate(ada)).tab
    for on_foreign, on_absent in zip(_on_tab(foreign), _on_tab(SOMEBODYS), strict=True):
        one = await _refusal(scene, bob, on_foreign)
        other = await _refusal(scene, bob, on_absent)
        assert type(one) is TabGone, on_foreign
        assert blind(one, foreign) == blind(other, SOMEBODYS), on_foreign
    assert await scene.tabs(ada) == [foreign]


@api_check()
async def a_foreign_session_answers_exactly_like_an_absent_one(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    await scene.navigate(ada)
    foreign = (await ada.call(ops.SessionShow())).id
    for in_foreign, in_absent in zip(
        _in_session(foreign), _in_session(NOBODYS_SESSION), strict=True
    ):
        one = await _refusal(scene, bob, in_foreign)
        other = await _refusal(scene, bob, in_absent)
        assert type(one) is SessionGone, in_foreign
        assert blind(one, foreign) == blind(other, NOBODYS_SESSION), in_foreign
    assert len(await scene.tabs(ada)) == 1


@api_check()
async def without_a_tab_id_an_agent_gets_its_own_tab_and_never_anothers(scene: Scene) -> None:
    """Ownership must not be checked only when a tab id is given, as in Claudezilla."""
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    hers = (await scene.navigate(ada, "https://ada.test/")).tab
    await error_of(TabGone, bob.call(ops.Evaluate(function="() => location.href")))
    await error_of(TabGone, bob.call(ops.TakeScreenshot()))
    await error_of(TabGone, bob.call(ops.Close()))
    his = (await scene.navigate(bob, "https://bob.test/")).tab
    assert his != hers
    for api, url in ((ada, "https://ada.test/"), (bob, "https://bob.test/")):
        assert (await api.call(ops.Evaluate(function="() => location.href"))).value == url


@api_check()
async def a_page_is_found_again_by_its_name_and_only_in_its_own_session(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    opened = await ada.call(ops.PageOpen(name="cart", url="https://site.test/cart"))
    found = await ada.call(ops.PageOpen(name="cart", url="https://site.test/elsewhere"))
    assert (found.tab_id, found.target_id, found.url) == (
        opened.tab_id, opened.target_id, "https://site.test/cart",
    )  # fmt: skip
    assert opened.target_id == scene.house.handle(opened.tab_id)
    foreign = await error_of(TabGone, bob.call(ops.PageClose(name="cart")))
    absent = await error_of(TabGone, bob.call(ops.PageClose(name="none")))
    assert blind(foreign, "cart") == blind(absent, "none")
    assert (await bob.call(ops.PageOpen(name="cart"))).tab_id != opened.tab_id
    assert (await ada.call(ops.PageClose(name="cart"))).closed == opened.tab_id


@api_check()
async def two_callers_that_open_one_page_at_once_get_one_tab(scene: Scene) -> None:
    ada = await scene.agent(name="ada", session="shop")
    bob = await scene.agent(name="bob", session="shop")
    scene.house.driver.may_open.clear()
    calls = [await scene.under_way(each, ops.PageOpen(name="cart")) for each in (ada, bob)]
    scene.house.driver.may_open.set()
    assert len({(await answer_of(call)).tab_id for call in calls}) == 1


@api_check()
async def the_session_is_told_of_dialogs_and_console_errors(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tab = (await scene.navigate(ada)).tab
    handle = scene.house.handle(tab)
    with ada.watch() as hers, bob.watch() as his:
        await ada.call(ops.Ping())
        for event in (
            ConsoleSaid(handle=handle, level="info", text="nothing to tell"),
            ConsoleSaid(handle=handle, level="error", text="x is not defined"),
            DialogOpened(handle=handle, kind="confirm", message="Sure?"),
            DialogClosed(handle=handle),
        ):
            scene.house.browser.report(event)  # type: ignore[misc]
        said = [await next_notice(hers) for _ in range(3)]
        assert [(notice.kind, notice.data["tab"]) for notice in said] == [
            ("console_error", tab), ("dialog_opened", tab), ("dialog_closed", tab),
        ]  # fmt: skip
        assert said[0].data["text"] == "x is not defined"
        await scene.navigate(bob)
        assert {(await next_notice(his)).kind} <= {"tab_opened", "tab_navigated"}


@api_check()
async def an_agent_cannot_dispose_a_foreign_session(scene: Scene) -> None:
    """In Claudezilla, an agent without tabs could close a window full of another agent's."""
    ada, stranger = await scene.agent(name="ada"), await scene.agent(name="stranger")
    tabs = [await scene.open_tab(ada, URL) for _ in range(5)]
    session = (await ada.call(ops.SessionShow())).id
    await error_of(SessionGone, stranger.call(ops.SessionDispose(session=session)))
    assert await scene.tabs(ada) == tabs


@api_check()
async def a_lost_tab_is_never_silently_replaced(scene: Scene) -> None:
    ada = await scene.agent()
    first, second = await scene.open_tab(ada, URL), await scene.open_tab(ada, URL)
    scene.house.browser.close_page(scene.house.handle(second))
    error = await error_of(TabGone, ada.call(ops.Evaluate(function="() => 1")))
    assert error.details["tab"] == second
    assert error.details["yourTabs"] == [first]
    await ada.call(ops.Tabs(action="select", tab=first))
    assert (await ada.call(ops.Evaluate(function="() => 1"))).tab == first


@api_check()
async def closing_the_current_tab_makes_the_last_used_one_current(scene: Scene) -> None:
    ada = await scene.agent()
    first, second = await scene.open_tab(ada, URL), await scene.open_tab(ada, URL)
    view = await ada.call(ops.Close())
    assert (view.closed, view.current) == (second, first)
    view = await ada.call(ops.Tabs(action="close", index=0))
    assert (view.closed, view.current, view.tabs) == (first, None, [])


@api_check()
async def tabs_are_chosen_by_index_within_bounds(scene: Scene) -> None:
    ada = await scene.agent()
    first, _ = await scene.open_tab(ada), await scene.open_tab(ada)
    assert (await ada.call(ops.Tabs(action="select", index=0))).current == first
    error = await error_of(BadRequest, ada.call(ops.Tabs(action="select", index=2)))
    assert error.details["field"] == "index"
    error = await error_of(BadRequest, ada.call(ops.Tabs(action="select")))
    assert error.details["field"] == "tab"


@api_check(reads=Reads.SHARED)
async def with_shared_reads_agents_may_read_and_not_change_foreign_tabs(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tab = (await scene.navigate(ada, "https://site.test/?token=abc&page=2")).tab
    view = (await bob.call(ops.Tabs(action="list"))).tabs[0]
    assert view.url == "https://site.test/?token=[REDACTED]&page=2"
    assert view.owner_id is not None
    assert len(view.owner_id) == 12
    assert (await bob.call(ops.TakeScreenshot(tab=tab))).tab == tab
    for operation in (
        ops.Navigate(url=URL, tab=tab),
        ops.Evaluate(function="() => 1", tab=tab),
        ops.Close(tab=tab),
        ops.Tabs(action="select", tab=tab),
    ):
        error = await _refusal(scene, bob, operation)
        assert type(error) is Ownership, operation
        assert error.details["ownerId"] == view.owner_id
    assert (await ada.call(ops.Tabs(action="list"))).tabs[0].url.endswith("?token=abc&page=2")


# --- sessions ----------------------------------------------------------------------------------


@api_check()
async def names_given_to_sessions_are_local_to_the_agent(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    hers = await ada.call(ops.SessionOpen(session="work", url="https://ada.test/"))
    his = await bob.call(ops.SessionOpen(session="work"))
    assert hers.id != his.id
    assert (hers.alias, his.alias) == ("work", "work")
    assert (await ada.call(ops.SessionOpen(session="work"))).id == hers.id
    assert len(await scene.tabs(ada, session="work")) == 1
    assert await scene.tabs(bob, session="work") == []
    await error_of(SessionGone, bob.call(ops.SessionShow(session=hers.id)))


@api_check()
async def sub_agents_with_their_own_sessions_do_not_share_tabs(scene: Scene) -> None:
    ada = await scene.agent()
    for name in ("one", "two"):
        await ada.call(ops.SessionOpen(session=name, url=f"https://{name}.test/"))
    for name in ("one", "two"):
        view = await ada.call(ops.Evaluate(function="() => location.href", session=name))
        assert view.value == f"https://{name}.test/"
    sessions = (await ada.call(ops.SessionList())).sessions
    assert [row.alias for row in sessions] == [None, "one", "two"]
    assert len({row.color for row in sessions}) == 3


@api_check()
async def each_session_has_its_own_cookies(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    for api in (ada, bob):
        await scene.navigate(api)
    await ada.call(ops.Evaluate(function='() => document.cookie = "who=ada"'))
    await ada.call(ops.SessionOpen(session="apart", url=URL))
    read = "() => document.cookie"
    assert (await ada.call(ops.Evaluate(function=read))).value == "who=ada"
    assert (await bob.call(ops.Evaluate(function=read))).value == ""
    assert (await ada.call(ops.Evaluate(function=read, session="apart"))).value == ""


@api_check()
async def a_joined_session_is_shared_but_each_keeps_its_current_tab(scene: Scene) -> None:
    ada = await scene.agent(name="ada", session="team")
    bob = await scene.agent(name="bob", session="team")
    hers = (await scene.navigate(ada, "https://ada.test/")).tab
    await error_of(TabGone, bob.call(ops.Evaluate(function="() => 1")))
    his = (await scene.navigate(bob, "https://bob.test/")).tab
    assert await scene.tabs(ada) == await scene.tabs(bob) == [hers, his]
    assert (await ada.call(ops.Evaluate(function="() => location.href"))).tab == hers
    assert (await bob.call(ops.Evaluate(function="() => location.href"))).tab == his
    assert (await bob.call(ops.Evaluate(function="() => 1", tab=hers))).tab == hers


@api_check()
async def a_named_session_outlives_its_agents_and_an_anonymous_one_does_not(scene: Scene) -> None:
    operator = await scene.operator()
    for session in ("kept", None):
        agent = await scene.agent(session=session)
        await scene.navigate(agent)
        await scene.leave(agent)
    await until(lambda: not scene.house.state.agents)
    sessions = (await operator.call(ops.SessionList())).sessions
    assert [(row.id, row.lifetime, len(row.tabs)) for row in sessions] == [
        ("kept", Lifetime.NAMED, 1)
    ]
    await until(lambda: len(scene.house.browser.pages) == 1)


@api_check()
async def a_session_that_cannot_open_its_page_is_not_left_behind(scene: Scene) -> None:
    ada = await scene.agent()
    await error_of(UrlBlocked, ada.call(ops.SessionOpen(session="x", url="file:///etc/passwd")))
    await error_of(SessionGone, ada.call(ops.SessionShow(session="x")))


@api_check()
async def a_session_is_not_changed_by_opening_it_again(scene: Scene) -> None:
    ada = await scene.agent()
    await ada.call(ops.SessionOpen(session="x", jar=JarPolicy.SHARED))
    error = await error_of(BadRequest, ada.call(ops.SessionOpen(session="x", jar=JarPolicy.FRESH)))
    assert error.details["field"] == "jar"


@api_check()
async def the_operator_names_the_session_and_sees_redacted_addresses(scene: Scene) -> None:
    ada, operator = await scene.agent(), await scene.operator()
    tab = (await scene.navigate(ada, "https://me:pw@site.test/?api_key=1")).tab
    session = (await ada.call(ops.SessionShow())).id
    await error_of(BadRequest, operator.call(ops.SessionShow()))
    await error_of(BadRequest, operator.call(ops.Evaluate(function="() => 1")))
    await error_of(BadRequest, operator.call(ops.TabSpaceRequest(session=session)))
    seen = await operator.call(ops.SessionShow(session=session))
    assert [row.url for row in seen.tabs] == ["https://[REDACTED]@site.test/?api_key=[REDACTED]"]
    assert (await operator.call(ops.Evaluate(function="() => 2", tab=tab))).value == 2
    await operator.call(ops.SessionDispose(session=session))
    await error_of(SessionGone, ada.call(ops.SessionShow()))
    assert (await scene.navigate(ada)).opened  # it gets a new session when it next needs one


@api_check()
async def a_paused_session_serves_only_the_person_until_it_is_resumed(scene: Scene) -> None:
    ada, operator = await scene.agent(), await scene.operator()
    tab = (await scene.navigate(ada)).tab
    session = (await ada.call(ops.SessionPause())).id
    for operation in (
        ops.Navigate(url=URL),
        ops.Evaluate(function="() => 1"),
        ops.TakeScreenshot(),
        ops.Close(),
        ops.Tabs(action="new"),
        ops.SessionDispose(session=session),
    ):
        assert type(await _refusal(scene, ada, operation)) is Paused, operation
    await error_of(Unauthorized, ada.call(ops.SessionResume()))
    assert (await operator.call(ops.Evaluate(function="() => 1", tab=tab))).value == 1
    assert not (await operator.call(ops.SessionResume(session=session))).paused
    assert (await ada.call(ops.Evaluate(function="() => 1"))).tab == tab


@api_check()
async def an_agent_can_wait_for_the_person_to_hand_its_session_back(scene: Scene) -> None:
    ada, operator = await scene.agent(), await scene.operator()
    await scene.navigate(ada)
    session = (await ada.call(ops.SessionPause())).id
    refusal = await error_of(Paused, ada.call(ops.Navigate(url=URL)))
    assert refusal.retry_after_ms
    assert "wait" in refusal.hint.lower()
    still = await ada.call(ops.SessionList(wait_seconds=0.01))
    assert [row.paused for row in still.sessions] == [True]
    waiting = await started(ada.call(ops.SessionList(wait_seconds=60)))
    await operator.call(ops.SessionResume(session=session))
    assert [row.paused for row in (await waiting).sessions] == [False]
    await ada.call(ops.SessionList(wait_seconds=60))  # not paused: returns at once
    await scene.navigate(ada)


@api_check()
async def operations_for_the_operator_are_refused_to_agents(scene: Scene) -> None:
    ada = await scene.agent()
    for operation in OPERATIONS.values():
        if operation.audience is Audience.OPERATOR:
            error = await _refusal(scene, ada, sample(operation.op))
            assert type(error) is Unauthorized, operation
    assert not scene.house.broker.stop_requested.is_set()


@api_check()
async def an_agents_status_shows_its_own_part_and_the_operators_all(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    operator = await scene.operator()
    await scene.navigate(ada)
    own = await bob.call(ops.Status())
    assert [agent.name for agent in own.agents] == ["bob"]
    assert [session.name for session in own.sessions] == ["bob"]
    everything = await operator.call(ops.Status())
    assert [agent.name for agent in everything.agents] == ["ada", "bob"]
    assert all(len(agent.id) == 12 for agent in everything.agents)
    assert (everything.browsers[0].tabs, everything.browsers[0].capacity) == (1, 12)


# --- events ------------------------------------------------------------------------------------


@api_check()
async def events_go_to_the_owner_and_to_nobody_else(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    with ada.watch() as hers, bob.watch() as his:
        tab = (await scene.navigate(ada, "https://ada.test/")).tab
        opened = await next_notice(hers)
        assert (opened.kind, opened.data) == (
            "tab_opened",
            {"tab": tab, "url": "https://ada.test/"},
        )
        await scene.navigate(ada, "https://ada.test/2")
        moved = await next_notice(hers)
        assert (moved.kind, moved.data["url"]) == ("tab_navigated", "https://ada.test/2")
        # A notice about her tab would come before the notice about his own.
        own = (await scene.navigate(bob, "https://bob.test/")).tab
        assert (await next_notice(his)).data["tab"] == own


@api_check()
async def a_watcher_of_one_session_gets_notices_of_that_session_only(scene: Scene) -> None:
    ada = await scene.agent()
    apart = await ada.call(ops.SessionOpen(session="apart"))
    with ada.watch(apart.id) as notices:
        await scene.navigate(ada)
        tab = (await scene.navigate(ada, session="apart")).tab
        assert (await next_notice(notices)).data["tab"] == tab


@api_check()
async def a_popup_belongs_to_its_openers_session_before_anything_is_told(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    await scene.navigate(bob)
    opener = (await scene.navigate(ada)).tab
    with ada.watch() as hers:
        await ada.call(ops.Evaluate(function='() => { window.open("/popup") }'))
        notice = await next_notice(hers, "tab_opened")
    popup = notice.data["tab"]
    assert notice.data["opener"] == opener
    assert await scene.tabs(ada) == [opener, popup]
    await error_of(TabGone, bob.call(ops.Close(tab=popup)))
    href = await ada.call(ops.Evaluate(function="() => location.href", tab=popup))
    assert href.value == "https://site.test/popup"
    # The popup did not become the current tab, because the agent did not ask for it.
    assert (await ada.call(ops.Evaluate(function="() => 1"))).tab == opener


# --- loops -------------------------------------------------------------------------------------


@api_check()
async def a_loop_counts_its_turns_and_ends_at_its_phrase(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    await ada.call(ops.LoopStart(prompt="go on", max_iterations=5, completion_phrase="All done"))
    await error_of(LoopActive, ada.call(ops.LoopStart(prompt="another")))
    assert not (await bob.call(ops.LoopStatus())).active
    turn = await ada.call(ops.LoopTurn(said="not yet"))
    assert (turn.active, turn.iteration, turn.max_iterations) == (True, 1, 5)
    with ada.watch() as notices:
        assert not (await ada.call(ops.LoopTurn(said="It is <promise>all  done</promise>"))).active
        assert (await next_notice(notices, "loop_ended")).data["why"] == "completed"


@api_check()
async def a_loop_ends_after_its_hour(scene: Scene) -> None:
    ada = await scene.agent()
    await ada.call(ops.LoopStart(prompt="go on", max_iterations=0, completion_promise="x"))
    scene.house.clock.advance(3599)
    assert (await ada.call(ops.LoopStatus())).seconds_left == 1
    scene.house.clock.advance(1)
    assert not (await ada.call(ops.LoopStatus())).active


@api_check()
async def a_loop_takes_one_phrase_under_either_name(scene: Scene) -> None:
    ada = await scene.agent()
    both = ops.LoopStart(prompt="x", completion_phrase="a", completion_promise="b")
    assert (await error_of(BadRequest, ada.call(both))).details["field"] == "completionPromise"
    await ada.call(ops.LoopStart(prompt="x", completion_promise="b"))
    assert (await ada.call(ops.LoopStatus())).completion_phrase == "b"
    assert not (await ada.call(ops.LoopStop())).active


# --- every call is answered --------------------------------------------------------------------


@api_check()
async def every_operation_is_answered_and_none_with_an_internal_error(scene: Scene) -> None:
    ada, operator = await scene.agent(), await scene.operator()
    await scene.navigate(ada)
    for op, operation in OPERATIONS.items():
        api = operator if operation.audience is Audience.OPERATOR else ada
        with contextlib.suppress(*(set(BY_CODE.values()) - {Internal})):
            await answer_of(api.call(sample(op), timeout=1))  # type: ignore[arg-type]


@api_check()
async def a_call_past_its_deadline_is_answered_and_the_next_one_works(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    error = await error_of(Timeout, ada.call(NEVER, timeout=0.02))
    assert error.details["timeoutMs"] == 20
    assert (await ada.call(ops.Evaluate(function="() => 3"))).value == 3


@api_check()
async def an_invalid_deadline_is_refused(scene: Scene) -> None:
    ada = await scene.agent()
    for seconds in (0, -1, 301, float(10**9)):
        error = await error_of(BadRequest, ada.call(ops.Ping(), timeout=seconds))
        assert error.details["field"] == "timeout"


@api_check()
async def a_cancelled_call_frees_its_tab(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    call = await scene.under_way(ada, NEVER)
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    assert (await ada.call(ops.Evaluate(function="() => 3"))).value == 3
    assert len(scene.house.broker.lanes) == 0


@api_check()
async def calls_on_one_tab_take_turns_and_other_tabs_do_not_wait(scene: Scene) -> None:
    ada = await scene.agent()
    first, second = await scene.open_tab(ada, URL), await scene.open_tab(ada, URL)
    held = await scene.under_way(ada, NEVER.model_copy(update={"tab": first}))
    behind = await scene.under_way(ada, ops.Evaluate(function="() => 4", tab=first))
    assert (await ada.call(ops.Evaluate(function="() => 5", tab=second))).value == 5
    assert not behind.done()
    held.cancel()
    assert (await answer_of(behind)).value == 4


@api_check()
async def many_calls_at_once_are_each_answered_with_their_own(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    calls = (ada.call(ops.Evaluate(function=f"() => {n}")) for n in range(300))
    assert [view.value for view in await asyncio.gather(*calls)] == list(range(300))


@api_check()
async def what_a_page_answers_arrives_unchanged(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    for text in ('"☃ ü \\u0000 \\" \\\\"', '"\\ud800"', '["\\n\\r\\u2028", {"": null}]', '""'):
        view = await ada.call(ops.Evaluate(function=f"() => ({text})"))
        assert view.value == json.loads(text)


@api_check()
async def only_web_addresses_are_opened(scene: Scene) -> None:
    ada = await scene.agent()
    for url in ("file:///etc/passwd", "javascript:1", "chrome://x", "data:,x", " FILE:///x"):
        await error_of(UrlBlocked, scene.navigate(ada, url))
    await error_of(BadRequest, scene.navigate(ada, "site"))
    assert await scene.tabs(ada) == []
    assert (await scene.navigate(ada, "about:blank")).status is None
    assert (await scene.navigate(ada, "site.test:80/x")).url == "http://site.test:80/x"
