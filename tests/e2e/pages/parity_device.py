"""Parity of emulated devices, permissions, init scripts, cookies and storage."""

from __future__ import annotations

import json
from typing import Any

from roost import ops
from tests.e2e.pages.parity_stage import Stage
from tests.e2e.pages.test_toolbox_storage import MAKE, READ

LOOK = """() => ({
  inner: [innerWidth, innerHeight], screen: [screen.width, screen.height], scale: devicePixelRatio,
  touch: navigator.maxTouchPoints > 0, agent: navigator.userAgent,
  mobile: navigator.userAgentData && navigator.userAgentData.mobile,
  language: [navigator.language, navigator.languages.join()], number: (1234.5).toLocaleString(),
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone, hour: new Date(0).getHours(),
  light: matchMedia("(prefers-color-scheme: light)").matches,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
  more: matchMedia("(prefers-contrast: more)").matches,
  print: matchMedia("print").matches, hover: matchMedia("(hover: hover)").matches,
  early: String(window.early), order: String(window.order) })"""
PLACE = """() => new Promise(done => navigator.geolocation.getCurrentPosition(
  at => done([at.coords.latitude, at.coords.longitude, at.coords.accuracy]),
  error => done("refused " + error.code)))"""
PERMISSIONS = ("geolocation", "notifications", "camera", "microphone", "midi", "background-sync",
               "accelerometer", "storage-access")  # fmt: skip
STATES = """() => Promise.all(%s.map(async (name) => {
  try { return (await navigator.permissions.query({name})).state }
  catch (error) { return error.name } }))"""
SIZE = {"viewport": {"width": 800, "height": 600}}
OURS = {"width": 800, "height": 600}
LOOKS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("viewport", SIZE, OURS),
    ("scale", {**SIZE, "device_scale_factor": 2}, {**OURS, "scale": 2}),
    ("touch", {**SIZE, "has_touch": True}, {**OURS, "touch": True}),
    ("user agent", {**SIZE, "user_agent": "Robot/1"}, {**OURS, "user_agent": "Robot/1"}),
    ("locale", {**SIZE, "locale": "de-DE"}, {**OURS, "locale": "de-DE"}),
    ("time zone", {**SIZE, "timezone_id": "Asia/Tokyo"}, {**OURS, "timezone": "Asia/Tokyo"}),
    ("dark", {**SIZE, "color_scheme": "dark"}, {**OURS, "color_scheme": "dark"}),
    ("light", {**SIZE, "color_scheme": "light"}, {**OURS, "color_scheme": "light"}),
    ("reduced motion", {**SIZE, "reduced_motion": "reduce"}, {**OURS, "reduced_motion": "reduce"}),
    ("contrast", {**SIZE, "contrast": "more"}, {**OURS, "contrast": "more"}),
    ("no time zone", {**SIZE, "timezone_id": "Mars/Base"}, {**OURS, "timezone": "Mars/Base"}),
]
DEVICES = ("Pixel 7", "iPhone 15", "Galaxy S24", "iPad Mini")


async def compare(stage: Stage) -> None:
    fit = "<meta name=viewport content='width=device-width'>"
    page = stage.web.page(f"{fit}<h1>Device</h1><script>window.order += ' page'</script>")
    for name, theirs, ours in LOOKS:
        await _look(stage, f"emulated {name}", page, theirs, ops.Emulate(**ours))
    for device in DEVICES:
        await stage.agent.call(ops.Emulate(device=device, reset=True))
        await stage.agent.go(page)
        mine = await stage.agent.run(LOOK)
        width, height = mine["inner"]
        theirs = {
            "viewport": {"width": width, "height": height}, "device_scale_factor": mine["scale"],
            "is_mobile": True, "has_touch": True, "user_agent": mine["agent"],
        }  # fmt: skip
        await _look(stage, device, page, theirs, ops.Emulate(device=device))
    await _media(stage, page)
    await _scripts(stage, page)
    await _permissions(stage, page)
    await _cookies(stage, page)
    await _stored(stage, page)


async def _look(stage: Stage, name: str, page: str, options: dict[str, Any], ours: Any) -> None:
    async def theirs() -> Any:
        async with stage.context(page, **options) as tab:
            return await tab.evaluate(LOOK)

    async def mine() -> Any:
        await stage.agent.call(ops.Emulate(reset=True))
        await stage.agent.call(ours)
        await stage.agent.go(page)
        return await stage.agent.run(LOOK)

    await stage.compare(name, theirs, mine)
    if isinstance(stage.ours[name], dict) and "screen" in stage.ours[name]:
        for side in (stage.theirs, stage.ours):
            side[name].pop("screen")  # a page without a device has the browser's own screen


async def _media(stage: Stage, page: str) -> None:
    await stage.agent.call(ops.Emulate(reset=True))
    await stage.go(page)
    see = "() => [matchMedia('print').matches, matchMedia('(prefers-color-scheme: dark)').matches]"
    for options in ({"media": "print"}, {"media": "screen"}, {"color_scheme": "dark"}):
        await stage.both(
            f"media {options}",
            stage.page.emulate_media(**options),  # type: ignore[arg-type]
            stage.agent.call(ops.Emulate.model_validate(options)),
            see,
        )
    await stage.page.emulate_media(media="null", color_scheme="null")
    await stage.agent.call(ops.Emulate(reset=True))
    await stage.ask("media afterwards", see)


async def _scripts(stage: Stage, page: str) -> None:
    """Init scripts run in the order in which they were added, before the page's, in frames, too."""
    framed = stage.web.page(f"<iframe src='{stage.web.there(page)}'></iframe>")
    scripts = ("window.order = 'first'; window.early = String(document.body)",
               "window.order += ' second'")  # fmt: skip
    see = "() => [window.early, window.order]"
    async with stage.context() as tab:
        for number, script in enumerate(scripts):
            await tab.context.add_init_script(script)
            await stage.agent.call(ops.InitScript(script=script, name=f"s{number}"))
        await tab.goto(page)
        await stage.agent.go(page)
        await stage.ask("init scripts", see, tab)
        await tab.goto(framed)
        await stage.agent.go(framed)

        async def theirs() -> Any:
            return await tab.frames[1].evaluate(see)

        async def ours() -> Any:
            return await stage.agent.run(f"() => ({see})()", target="h1")

        await stage.compare("init scripts in a frame", theirs, ours)
    for number in range(len(scripts)):
        await stage.agent.call(ops.InitScript(name=f"s{number}", remove=True))


async def _permissions(stage: Stage, page: str) -> None:
    states = STATES % json.dumps(PERMISSIONS)
    place = {"latitude": 52.5, "longitude": 13.4, "accuracy": 5}
    await stage.agent.call(ops.Emulate(**place))  # type: ignore[arg-type]
    async with stage.context(page, geolocation=place) as tab:
        await stage.agent.go(page)
        for names in ([], ["geolocation"], ["geolocation", "camera", "midi"], list(PERMISSIONS)):
            await tab.context.clear_permissions()
            if names:
                await tab.context.grant_permissions(names)
            await stage.agent.call(ops.Emulate.model_validate({"permissions": names}))
            await stage.ask(f"permissions {names}", states, tab)
        await stage.ask("place", PLACE, tab)
        await tab.context.clear_permissions()
        await tab.context.grant_permissions(["geolocation"], origin=stage.web.other_site)
        await stage.agent.call(ops.Emulate(permissions=[]))
        await stage.agent.call(
            ops.Emulate(permissions=["geolocation"], origin=stage.web.other_site)
        )
        await stage.ask("permissions of another origin", states, tab)
    await stage.agent.call(ops.Emulate(reset=True))


async def _cookies(stage: Stage, page: str) -> None:
    await stage.go(page)
    context = stage.page.context
    see = "() => document.cookie.split('; ').sort()"
    for name, cookie in (
        ("plain", {"name": "plain", "value": "1"}),
        ("for scripts not", {"name": "hidden", "value": "2", "http_only": True}),
        ("of another path", {"name": "deep", "value": "3", "path": "/deep"}),
        ("past", {"name": "past", "value": "4", "expires": 1.0}),
    ):
        said = {"path": "/", **cookie, "domain": "127.0.0.1"}
        if "http_only" in said:
            said["httpOnly"] = said.pop("http_only")
        await stage.both(
            f"cookie {name}",
            context.add_cookies([said]),  # type: ignore[list-item]
            stage.agent.call(ops.Cookies.model_validate({"action": "set", **cookie})),
            see,
        )

    async def theirs() -> Any:
        return sorted(one["name"] for one in await context.cookies())

    async def ours() -> Any:
        return sorted(one.name for one in (await stage.agent.call(ops.Cookies())).cookies)

    await stage.compare("cookies", theirs, ours)
    await context.clear_cookies(name="plain")
    await stage.agent.call(ops.Cookies(action="delete", name="plain"))
    await stage.compare("cookies without one", theirs, ours)
    await context.clear_cookies()
    await stage.agent.call(ops.Cookies(action="clear"))
    await stage.compare("no cookies", theirs, ours)


async def _stored(stage: Stage, page: str) -> None:
    """A storage state of either side is the other's, databases included."""
    await stage.go(page)
    fill = "() => { localStorage.theme = 'dark'; document.cookie = 'a=1' }"
    for script in (MAKE, fill):
        await stage.page.evaluate(script)
        await stage.agent.run(script)
    context = stage.page.context

    async def theirs() -> Any:
        state = await context.storage_state(path=stage.folder / "theirs.json", indexed_db=True)
        return json.loads(json.dumps(state))

    async def ours() -> Any:
        save = ops.StorageState(action="save", filename="ours.json", overwrite=True)
        await stage.agent.call(save)
        return json.loads((stage.folder / "ours.json").read_bytes())

    await stage.compare("storage state", theirs, ours)
    for side in (stage.theirs, stage.ours):
        cookies = side["storage state"].pop("cookies")
        side["cookies of the storage state"] = [one["name"] for one in cookies]
    await stage.compare("storage items", *_items(stage))
    see = f"async () => [localStorage.theme, document.cookie, await ({READ})()]"
    for name in ("theirs.json", "ours.json"):
        await stage.agent.call(ops.Cookies(action="clear"))
        for kind in ("local", "indexeddb"):
            await stage.agent.call(ops.Storage.model_validate({"kind": kind, "action": "clear"}))
        await stage.agent.call(ops.StorageState(action="load", filename=name))
        async with stage.context(page, storage_state=stage.folder / name) as tab:
            await stage.ask(f"{name} loaded", see, tab)


def _items(stage: Stage) -> tuple[Any, Any]:
    async def theirs() -> Any:
        return await stage.page.evaluate("() => Object.entries(localStorage)")

    async def ours() -> Any:
        found = await stage.agent.call(ops.Storage(action="get", key="theme"))
        return [[one.key, one.value] for one in found.items]

    return theirs, ours
