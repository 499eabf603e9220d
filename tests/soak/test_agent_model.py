"""The model that judges the campaign must neither excuse nor expect too much."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.soak.agent_model import KEPT_AFTER_SECONDS, AgentModel, Register, Seen, TabModel
from tests.soak.fault_plan import WEIGHTS, bursts

HERE = "http://site.test/mk1z/1"
NOW = 1000.0


def _register(*values: str, told: float) -> Register:
    register = Register()
    for value in values:
        register.asked(value)
        register.told(value, told)
    return register


def _seen(serial: int = 1, note: str = "", **cookies: str) -> Seen:
    return Seen(HERE, serial, note, cookies, {})


def _at_home(model: AgentModel, note: str = "") -> TabModel:
    tab = TabModel("t1", [HERE], serial=1, note=note)
    model.tabs["t1"] = tab
    return tab


def test_only_the_last_confirmed_value_is_accepted() -> None:
    assert _register("a", "b", told=NOW).saw("b", NOW)
    assert not _register("a", "b", told=NOW).saw("a", NOW)


def test_an_unconfirmed_value_may_be_present_or_absent() -> None:
    for value in ("a", "b"):
        register = _register("a", told=NOW)
        register.asked("b")
        assert register.saw(value, NOW)
        assert register.possible == [value]


def test_a_dead_browser_excuses_the_loss_of_young_contents_only() -> None:
    young = _register("a", "b", told=NOW)
    young.rolled_back(NOW)
    assert young.saw("", NOW)
    old = _register("a", told=NOW)
    old.asked("b")
    old.told("b", NOW + KEPT_AFTER_SECONDS)
    old.rolled_back(NOW + KEPT_AFTER_SECONDS)
    assert not old.saw("", NOW), "a was kept"


def test_contents_of_an_unreliable_browser_are_not_adopted() -> None:
    model = AgentModel()
    model.cookies["c0"] = _register("a", told=NOW - 2 * KEPT_AFTER_SECONDS)
    tab = _at_home(model)
    assert model.saw(tab, _seen(), NOW, was_killed=False, is_unreliable=True) == []
    assert len(model.saw(tab, _seen(), NOW, was_killed=True)) == 1, "the copy must have come back"


def test_a_forgotten_value_is_adopted_once() -> None:
    register = _register("a", told=NOW)
    register.forget()
    assert register.saw("anything", NOW)
    assert not register.saw("a", NOW)


def test_a_tab_that_was_reported_must_be_listed() -> None:
    model = AgentModel()
    _at_home(model)
    model.tabs["t2"] = TabModel("t2", [HERE + "2"], may_be_closed=True)
    assert model.listed({"t1": HERE}) == []
    model.tabs["t2"] = TabModel("t2", [HERE + "2"])
    assert len(model.listed({"t1": HERE})) == 1


def test_a_tab_that_nobody_opened_must_not_be_listed() -> None:
    model = AgentModel(opening={HERE})
    assert model.listed({"t1": HERE}) == []
    assert len(model.listed({"t1": HERE, "t2": HERE})) == 1


def test_a_document_must_be_the_same_unless_its_process_was_killed() -> None:
    model = AgentModel()
    tab = _at_home(model)
    assert model.saw(tab, _seen(serial=2), NOW, was_killed=True) == []
    assert len(model.saw(tab, _seen(serial=3), NOW, was_killed=False)) == 1


def test_a_form_must_keep_what_was_typed() -> None:
    model = AgentModel()
    assert model.saw(_at_home(model, "typed"), _seen(note="typed"), NOW, was_killed=False) == []
    assert len(model.saw(_at_home(model, "typed"), _seen(note=""), NOW, was_killed=False)) == 1


def test_a_cookie_that_nobody_set_must_not_be_there() -> None:
    model = AgentModel()
    assert len(model.saw(_at_home(model), _seen(strange="x"), NOW, was_killed=False)) == 1


def test_a_cookie_must_not_be_there_twice() -> None:
    found = {"href": HERE, "serial": 1, "note": "", "cookie": "c0=a; c1=b; c0=c", "storage": {}}
    assert Seen.of(found).twice == {"c0"}


@pytest.mark.parametrize("browser", list(WEIGHTS))
def test_the_same_seed_gives_the_same_plan(browser: str) -> None:
    def plan(seed: int) -> list[object]:
        return list(islice(bursts(seed, browser, has_own_disk=True), 50))

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)
