"""The core's part in conditions: whose they are, and what becomes of them."""

from __future__ import annotations

import pytest

from roost import core
from roost.conditions import NO_CONDITIONS, Conditions, Emulation, Grant, Route
from roost.core import events as ev
from roost.core.rows import PageConditions
from roost.errors import Paused, RoostError, SessionGone, TabGone, Unsupported
from roost.vocabulary import OPERATOR, JarPolicy, Lifetime
from tests.core.play import Ask, Play

OFFLINE = Conditions(offline=True)
RULE = Conditions(routes=(Route(id="r1", url="**", abort="failed"),))


def put(play: Play, row: PageConditions, conditions: Conditions) -> None:
    changed = PageConditions(session=row.session, tab=row.tab, conditions=conditions)
    play.do(Ask(core.put_conditions, changed))


def test_conditions_hold_for_the_tabs_of_their_session_and_end_with_it() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    mine, theirs = play.tab(ada), play.tab(bob)
    _, row = play.do(Ask(core.conditions_of, ada, None, None)).answer
    put(play, row, OFFLINE)
    _, of_tab = play.do(Ask(core.conditions_of, ada, None, mine.id)).answer
    put(play, of_tab, RULE)
    now = core.tab_conditions(play.state, play.state.tabs[mine.id])
    assert (now.offline, len(now.routes)) == (True, 1)
    assert core.tab_conditions(play.state, play.state.tabs[theirs.id]) == NO_CONDITIONS
    play.restart()
    assert core.tab_conditions(play.state, play.state.tabs[mine.id]) == now
    assert mine.handle is not None
    play.do(ev.TabClosed(mine.browser, mine.handle))
    assert set(play.state.page_conditions) == {row.session}
    play.do(Ask(core.dispose_session, OPERATOR, row.session))
    assert play.state.page_conditions == {}


def test_a_foreign_session_or_tab_is_absent() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(bob)
    session = play.state.agents[bob].own_session
    foreign = play.refused(Ask(core.conditions_of, ada, session, None), SessionGone)
    absent = play.refused(Ask(core.conditions_of, ada, "s99", None), SessionGone)
    assert foreign.message.replace(session, "s99") == absent.message
    play.refused(Ask(core.conditions_of, ada, None, tab.id), TabGone)


def test_a_paused_session_keeps_its_conditions() -> None:
    play = Play()
    ada = play.agent("ada")
    session = play.state.agents[ada].own_session
    play.do(Ask(core.pause_session, OPERATOR, session, paused=True))
    play.refused(Ask(core.conditions_of, ada, None, None), Paused)
    play.do(Ask(core.conditions_of, ada, None, None, acts=False))


@pytest.mark.parametrize(
    "wanted",
    [
        Conditions(emulation=Emulation(locale="de-DE")),
        Conditions(emulation=Emulation(timezone="Europe/Berlin")),
        Conditions(grants=(Grant(origin="*", names=("geolocation",)),)),
    ],
)
def test_what_a_shared_jar_keeps_for_all_its_sessions_is_unsupported(wanted: Conditions) -> None:
    play = Play()
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, policy=JarPolicy.SHARED)
    ada = play.agent("ada", spec)
    _, row = play.do(Ask(core.conditions_of, ada, None, None)).answer
    changed = PageConditions(session=row.session, conditions=wanted)
    error: RoostError = play.refused(Ask(core.put_conditions, changed), Unsupported)
    assert error.details["field"]
    assert play.state.page_conditions == {}
    put(play, row, OFFLINE)
