"""A part of ``check_broker_api``: cookies and storage of jars, and when jars are cloned."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.errors import (
    BadRequest,
    JarUnavailable,
    NotFound,
    Paused,
    ProfileNotFound,
    SessionGone,
    SessionLimit,
    Unsupported,
)
from roost.profiles.store import Profile
from roost.testing.house import FakeHouse
from roost.testing.scene import URL, Scene, api_check, blind
from roost.testing.waits import answer_of, error_of, started, turn, until
from roost.vocabulary import CLONED_JARS, JarPolicy

HOST = "site.test"
LOGIN = Cookie(name="login", value="profile-secret", domain=HOST)
STORED = OriginStorage("https://site.test", (("theme", "dark"),))


def _import_profile(house: FakeHouse, name: str = "work") -> None:
    contents = JarContents((LOGIN,), (STORED,))
    profile = Profile(name=name, source="by hand", imported_at=0.0, contents=contents)
    house.broker.profiles.put(profile, for_any_agent=True)


def _clone(session: str = "mine", url: str | None = None, profile: str = "work") -> ops.SessionOpen:
    return ops.SessionOpen(session=session, url=url, jar=JarPolicy.CLONE, profile=profile)


async def _cloned(api: BrokerApi, session: str = "mine", url: str | None = URL) -> str:
    return (await api.call(_clone(session, url))).id


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def _is_private(path: str) -> bool:
    return Path(path).stat().st_mode & 0o777 == 0o600


async def _script(api: BrokerApi, function: str, session: str = "mine") -> object:
    return (await api.call(ops.Evaluate(function=function, session=session))).value


async def _cookie(api: BrokerApi, name: str, session: str = "mine") -> str | None:
    got = await api.call(ops.Cookies(action="get", name=name, session=session))
    (cookie,) = got.cookies
    return cookie.value


async def _nothing_is_left(house: FakeHouse) -> None:
    """Assert that no jar is left in the core or the browser."""
    await until(lambda: not house.state.jars)
    await until(lambda: list(house.browser.jars) == ["default"])
    assert not house.browser.pages
    assert not house.browser.storage
    assert house.state.clones == 0


# --- cloning -----------------------------------------------------------------------------------


@api_check()
async def two_clones_of_one_profile_have_its_logins_and_never_each_others(scene: Scene) -> None:
    """Each clone has the profile's login and its own data, and nothing of the other clone's."""
    _import_profile(scene.house)
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    for number, api in ((1, ada), (2, bob)):
        await _cloned(api)
        token = json.dumps(f"agent{number}_token=secret{number}")
        await _script(api, f"() => document.cookie = {token}")
        await _script(api, f'() => localStorage.setItem("agent", "{number}")')
    for number, api in ((1, ada), (2, bob)):
        assert await _script(api, "() => document.cookie") == (
            f"login=profile-secret; agent{number}_token=secret{number}"
        )
        stored = await _script(api, "() => Object.entries(localStorage)")
        assert stored == [["theme", "dark"], ["agent", str(number)]]
        listed = await api.call(ops.Cookies(session="mine"))
        assert {one.name for one in listed.cookies} == {"login", f"agent{number}_token"}
        assert await _cookie(api, "login") == "profile-secret"
        other = f"agent{3 - number}_token"
        await error_of(NotFound, api.call(ops.Cookies(action="get", name=other, session="mine")))
        saved = await api.call(ops.StorageState(action="save", session="mine"))
        assert other not in _text(saved.path)


@api_check()
async def a_jar_is_cloned_when_the_first_page_opens_and_not_before(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    await _cloned(ada, url=None)
    assert not scene.house.state.jars
    assert list(scene.house.browser.jars) == ["default"]
    await scene.navigate(ada, session="mine")
    assert len(scene.house.browser.jars) == 2


@api_check()
async def first_uses_at_once_share_one_clone(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    await _cloned(ada, url=None)
    scene.house.driver.may_fill.clear()
    calls = [await started(scene.open_tab(ada, session="mine")) for _ in range(3)]
    await until(lambda: scene.house.driver.fillings == 1)
    scene.house.driver.may_fill.set()
    await answer_of(asyncio.gather(*calls))
    assert len(scene.house.browser.jars) == 2
    assert {page.jar for page in scene.house.browser.pages.values()} == (
        scene.house.browser.jars.keys() - {"default"}
    )
    assert scene.house.driver.fillings == 1


@api_check()
async def disposing_during_a_clone_ends_exactly_that_one_and_leaves_nothing(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    for name in ("going", "staying"):
        await _cloned(ada, name, url=None)
    house = scene.house
    house.driver.may_fill.clear()
    going = await started(scene.open_tab(ada, session="going"))
    staying = await started(scene.open_tab(ada, session="staying"))
    await until(lambda: house.driver.fillings == 2)
    await ada.call(ops.SessionDispose(session="going"))
    await error_of(SessionGone, going)
    await until(lambda: len(house.state.jars) == 1)
    assert len(house.browser.jars) == 2, "one of them is the browser's own"
    house.driver.may_fill.set()
    await answer_of(staying)
    assert await _script(ada, "() => 1", "staying") == 1
    await ada.call(ops.SessionDispose(session="staying"))
    await _nothing_is_left(house)


@api_check()
async def disposing_while_the_browser_makes_the_jar_leaves_nothing(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    await _cloned(ada, url=None)
    scene.house.driver.may_make.clear()
    opening = await started(scene.open_tab(ada, session="mine"))
    await until(lambda: scene.house.driver.makings == 1)
    await ada.call(ops.SessionDispose(session="mine"))
    await turn()
    scene.house.driver.may_make.set()
    await error_of(SessionGone, opening)
    await _nothing_is_left(scene.house)


@api_check()
async def clones_under_way_count_and_opening_an_existing_session_does_not(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    for number in range(CLONED_JARS):
        await _cloned(ada, f"clone-{number}", url=None)
    refused = _clone("one-more")
    error = await error_of(SessionLimit, ada.call(refused))
    assert error.details["limit"] == CLONED_JARS
    assert await _cloned(ada, "clone-0", url=None)
    await ada.call(ops.SessionOpen(session="fresh"))
    await ada.call(ops.SessionDispose(session="clone-0"))
    await ada.call(refused)


@api_check()
async def a_missing_profile_is_an_error_and_no_other_jar_is_used(scene: Scene) -> None:
    ada = await scene.agent()
    await error_of(ProfileNotFound, _cloned(ada))
    assert len((await ada.call(ops.SessionList())).sessions) == 1
    _import_profile(scene.house)
    await _cloned(ada, url=None)
    scene.house.broker.profiles.remove("work")
    await error_of(ProfileNotFound, scene.open_tab(ada, session="mine"))
    await _nothing_is_left(scene.house)


@api_check()
async def the_profile_of_a_session_cannot_be_switched(scene: Scene) -> None:
    _import_profile(scene.house)
    _import_profile(scene.house, "home")
    ada = await scene.agent()
    await _cloned(ada)
    switched = _clone(profile="home")
    error = await error_of(BadRequest, ada.call(switched))
    assert error.details["field"] == "profile"
    assert await _cookie(ada, "login") == "profile-secret"


@api_check()
async def a_session_whose_first_tab_fails_to_open_is_disposed(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    await _cloned(ada, url=None)
    scene.house.driver.failing = Unsupported("No.")
    await error_of(Unsupported, scene.open_tab(ada, session="mine"))
    await error_of(SessionGone, ada.call(ops.SessionShow(session="mine")))
    scene.house.driver.failing = None
    await _nothing_is_left(scene.house)
    await _cloned(ada)


# --- cookies and storage -----------------------------------------------------------------------


@api_check()
async def a_listed_cookie_has_no_value_and_a_named_cookie_has(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    await ada.call(ops.Cookies(action="set", name="sid", value="s3cret"))
    listed = await ada.call(ops.Cookies())
    assert "s3cret" not in listed.model_dump_json()
    assert [(one.name, one.domain) for one in listed.cookies] == [("sid", HOST)]
    got = await ada.call(ops.Cookies(action="get", name="sid"))
    assert [one.value for one in got.cookies] == ["s3cret"]
    assert (await ada.call(ops.Evaluate(function="() => document.cookie"))).value == "sid=s3cret"
    await ada.call(ops.Cookies(action="delete", name="sid", domain=HOST))
    assert (await ada.call(ops.Cookies())).cookies == []


@api_check()
async def calls_that_do_not_say_which_cookie_are_refused(scene: Scene) -> None:
    ada = await scene.agent()
    await error_of(JarUnavailable, ada.call(ops.Cookies()))
    await scene.navigate(ada)
    for operation in (
        ops.Cookies(action="get"),
        ops.Cookies(action="delete"),
        ops.Cookies(action="set", name="sid"),
        ops.Cookies(action="set", value="x"),
    ):
        await error_of(BadRequest, ada.call(operation))
    await error_of(NotFound, ada.call(ops.Cookies(action="delete", name="none")))
    await scene.navigate(ada, "about:blank")
    await error_of(BadRequest, ada.call(ops.Cookies(action="set", name="sid", value="x")))


@api_check()
async def a_foreign_profile_gets_the_answer_of_a_missing_one(scene: Scene) -> None:
    _import_profile(scene.house)
    scene.house.broker.profiles.put(scene.house.broker.profiles.get("work"))
    ada = await scene.agent()
    refusals = [
        blind(await error_of(ProfileNotFound, ada.call(_clone("x", url, profile))), profile)
        for url in (None, URL)
        for profile in ("work", "none")
    ]
    assert all(one == refusals[0] for one in refusals)
    no_jar = ops.SessionOpen(session="x", profile="work")
    await error_of(ProfileNotFound, ada.call(no_jar))
    await _nothing_is_left(scene.house)


@api_check()
async def a_storage_state_saved_by_one_session_is_loaded_by_another(scene: Scene) -> None:
    _import_profile(scene.house)
    ada = await scene.agent()
    await _cloned(ada)
    saved = await ada.call(ops.StorageState(action="save", session="mine"))
    assert _is_private(saved.path)
    assert (saved.cookies, saved.origins) == (1, 1)
    unnamed = await ada.call(ops.StorageState(action="load", session="mine"))
    assert unnamed.path == saved.path
    await ada.call(ops.SessionOpen(session="other", url=URL))
    shared = scene.house.broker.files / (await ada.call(ops.SessionShow(session="other"))).id
    shared.mkdir(parents=True, exist_ok=True)
    (shared / "state.json").write_text(_text(saved.path), encoding="utf-8")
    load = ops.StorageState(action="load", session="other", filename=str(shared / "state.json"))
    loaded = await ada.call(load)
    assert (loaded.cookies, loaded.origins, loaded.refused) == (1, 1, 0)
    assert await _script(ada, "() => document.cookie", "other") == "login=profile-secret"
    assert await _script(ada, "() => Object.entries(localStorage)", "other") == [["theme", "dark"]]


@api_check()
async def storage_states_are_saved_only_in_the_callers_own_folders(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    for name in ("/etc/passwd", str(scene.house.home.token), "../../token"):
        for action in ("save", "load"):
            operation = ops.StorageState.model_validate({"action": action, "filename": name})
            await error_of(BadRequest, ada.call(operation))


@api_check()
async def cookies_of_a_paused_session_are_refused_to_its_agents(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    await ada.call(ops.SessionPause())
    await error_of(Paused, ada.call(ops.Cookies()))
    await error_of(Paused, ada.call(ops.StorageState(action="save")))


# --- profiles ----------------------------------------------------------------------------------


@api_check()
async def the_person_imports_lists_and_removes_profiles(scene: Scene) -> None:
    operator = await scene.operator()
    source = scene.house.home.path / "cookies.txt"
    source.write_text(f"{HOST}\tFALSE\t/\tFALSE\t0\tlogin\tprofile-secret\nnonsense\n")
    view = await operator.call(ops.ProfileImport(source=str(source), name="work"))
    assert (view.cookies, view.sites, view.origins) == (1, 1, 0)
    assert view.left_out == ["1 lines that are no cookies"]
    ada = await scene.agent()
    assert (await ada.call(ops.ProfileList())).profiles == [], "it was not started with it"
    again = ops.ProfileImport(source=str(source), name="work", any_agent=True)
    assert (await operator.call(again)).any_agent
    listed = await ada.call(ops.ProfileList())
    assert [one.name for one in listed.profiles] == ["work"]
    assert "profile-secret" not in listed.model_dump_json()
    await _cloned(ada)
    assert (await operator.call(ops.ProfileRemove(name="work"))).profiles == []
    await error_of(ProfileNotFound, operator.call(ops.ProfileRemove(name="work")))
    assert await _cookie(ada, "login") == "profile-secret", "a clone is its own"
