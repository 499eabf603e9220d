"""Features of a browser: popups, workers, dialogs, files, network, cookies, contexts, closing."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Dialog, Page, Route

from tests.e2e.cdp.parity import Place, check, failure, plain_check
from tests.support.local_web import Answer, Request

# --- popups --------------------------------------------------------------------------------------


def popup_of(p: Place, html: str, **more: Any) -> Page:
    p.show(html)
    with p.page.expect_popup() as found:
        p.page.click("#go", **more)
    found.value.wait_for_load_state()
    return found.value


@check
def window_open_makes_a_popup(p: Place) -> Any:
    goal = p.web.page("<h1>Pop</h1>", title="Pop")
    popup = popup_of(p, f"<button id=go onclick=\"window.open('{goal}')\">go</button>")
    opener = popup.opener()
    return popup.title(), popup.url == goal, opener == p.page, len(p.context.pages)


@check
def a_link_with_a_target_makes_a_popup(p: Place) -> Any:
    goal = p.web.page("<h1>Pop</h1>", title="Pop")
    popup = popup_of(p, f"<a id=go target=_blank href='{goal}'>go</a>")
    return popup.title(), popup.evaluate("window.opener === null")


@check
def a_noopener_popup(p: Place) -> Any:
    goal = p.web.page("<h1>Pop</h1>", title="Pop")
    popup = popup_of(
        p, f"<button id=go onclick=\"window.open('{goal}', '', 'noopener')\">go</button>"
    )
    return popup.title(), popup.evaluate("window.opener === null")


@check
def a_popup_with_a_size(p: Place) -> Any:
    goal = p.web.page("<h1>Pop</h1>", title="Pop")
    popup = popup_of(
        p,
        f"<button id=go onclick=\"window.open('{goal}', '', 'width=400,height=300')\">go</button>",
    )
    return popup.title()


@check
def a_ctrl_click_opens_a_page(p: Place) -> Any:
    goal = p.web.page("<h1>Pop</h1>", title="Pop")
    p.show(f"<a id=go href='{goal}'>go</a>")
    with p.context.expect_page() as found:
        p.page.click("#go", modifiers=["Control"])
    found.value.wait_for_load_state()
    return found.value.title()


@check
def popups_of_popups(p: Place) -> Any:
    last = p.web.page("<h1>Last</h1>", title="Last")
    middle = p.web.page(f"<button onclick=\"window.open('{last}')\">go</button>")
    popup = popup_of(p, f"<button id=go onclick=\"window.open('{middle}')\">go</button>")
    with popup.expect_popup() as found:
        popup.click("button")
    found.value.wait_for_load_state()
    return found.value.title(), len(p.context.pages)


@check
def the_first_request_of_a_popup_can_be_routed(p: Place) -> Any:
    goal = p.web.base + "/never-served"
    p.context.route("**/never-served", lambda route: route.fulfill(body="<h1>Routed</h1>",
                    content_type="text/html"))  # fmt: skip
    popup = popup_of(p, f"<button id=go onclick=\"window.open('{goal}')\">go</button>")
    return popup.inner_text("h1")


@check
def a_popups_console_is_heard_from_the_start(p: Place) -> Any:
    goal = p.web.page("<script>console.log('first words')</script>")
    heard: list[str] = []
    p.context.on("console", lambda message: heard.append(message.text))
    popup_of(p, f"<button id=go onclick=\"window.open('{goal}')\">go</button>")
    return heard


@check
def opener_and_popup_can_talk(p: Place) -> Any:
    goal = p.web.page("<script>opener.postMessage('hello', '*')</script>")
    popup_of(p, f"<button id=go onclick=\"window.open('{goal}')\">go</button>"
                "<script>onmessage = (e) => window.got = e.data</script>")  # fmt: skip
    return p.page.wait_for_function("window.got").json_value()


@check
def a_popup_that_closes_itself(p: Place) -> Any:
    goal = p.web.page("x")
    popup = popup_of(p, f"<button id=go onclick=\"window.open('{goal}')\">go</button>")
    with popup.expect_event("close"):
        popup.evaluate("setTimeout(() => window.close(), 0)")
    return popup.is_closed(), len(p.context.pages)


@check
def an_about_blank_popup_written_to_by_its_opener(p: Place) -> Any:
    popup = popup_of(
        p,
        "<button id=go onclick=\"w = window.open(''); w.document.write('<p>hi</p>')\">go</button>",
    )
    return popup.inner_text("p"), popup.url


# --- workers -------------------------------------------------------------------------------------

WORKER = "onmessage = (e) => postMessage(e.data * 2); self.mark = 'in worker'"


@plain_check
def dedicated_workers(p: Place) -> Any:
    script = p.web.serve(Answer(WORKER.encode(), kind="text/javascript"))
    p.show("x")
    with p.page.expect_worker() as found:
        p.page.evaluate("(url) => { window.w = new Worker(url) }", script)
    worker = found.value
    return worker.url == script, worker.evaluate("self.mark"), len(p.page.workers)


@plain_check
def workers_answer_their_pages(p: Place) -> Any:
    script = p.web.serve(Answer(WORKER.encode(), kind="text/javascript"))
    p.show("x")
    return p.page.evaluate(
        "(url) => new Promise((r) => { const w = new Worker(url); w.onmessage = (e) => r(e.data);"
        " w.postMessage(21) })", script)  # fmt: skip


@plain_check
def blob_workers(p: Place) -> Any:
    p.show("x")
    with p.page.expect_worker() as found:
        p.page.evaluate("window.w = new Worker(URL.createObjectURL(new Blob(['self.x = 5']))), 0")
    return found.value.evaluate("self.x"), found.value.url.startswith("blob:")


@plain_check
def workers_end(p: Place) -> Any:
    p.show("x")
    with p.page.expect_worker() as found:
        p.page.evaluate("window.w = new Worker(URL.createObjectURL(new Blob(['']))), 0")
    with found.value.expect_event("close"):
        p.page.evaluate("w.terminate()")
    return len(p.page.workers)


@plain_check
def workers_log_to_the_pages_console(p: Place) -> Any:
    p.show("x")
    with p.page.expect_console_message() as found:
        p.page.evaluate(
            "window.w = new Worker(URL.createObjectURL(new Blob(['console.log(7)']))), 0"
        )
    return found.value.text


@check
def service_workers(p: Place) -> Any:
    folder = f"/sw-{id(p)}"
    script = "self.mark = 'sw'; onactivate = (e) => e.waitUntil(clients.claim())"
    p.web.serve(Answer(script.encode(), kind="text/javascript"), f"{folder}/sw.js")
    p.page.goto(p.web.page("x", path=f"{folder}/"))
    with p.context.expect_event("serviceworker") as found:
        p.page.evaluate("(url) => { navigator.serviceWorker.register(url) }", f"{folder}/sw.js")
    p.page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
    worker = found.value
    return (
        worker.url.endswith("/sw.js"),
        worker.evaluate("self.mark"),
        len(p.context.service_workers),
    )


@check
def service_workers_answer_requests(p: Place) -> Any:
    folder = f"/swf-{id(p)}"
    script = """
        onfetch = (e) => {
          if (e.request.url.endsWith('/made')) e.respondWith(new Response('by sw'))
        }
        onactivate = (e) => e.waitUntil(clients.claim())
    """
    p.web.serve(Answer(script.encode(), kind="text/javascript"), f"{folder}/sw.js")
    p.page.goto(p.web.page("x", path=f"{folder}/"))
    p.page.evaluate("(url) => navigator.serviceWorker.register(url).then(() =>"
                    " navigator.serviceWorker.ready).then(() => 1)", f"{folder}/sw.js")  # fmt: skip
    p.page.wait_for_function("navigator.serviceWorker.controller !== null")
    return p.page.evaluate("(url) => fetch(url).then((r) => r.text())", f"{folder}/made")


@check
def shared_workers_work(p: Place) -> Any:
    script = p.web.serve(Answer(b"onconnect = (e) => e.ports[0].postMessage('shared')",
                                kind="text/javascript"))  # fmt: skip
    p.show("x")
    return p.page.evaluate(
        "(url) => new Promise((r) => { new SharedWorker(url).port.onmessage = (e) => r(e.data) })",
        script,
    )


# --- dialogs -------------------------------------------------------------------------------------


def answered(p: Place, script: str, answer: Any) -> Any:
    seen: list[tuple[str, str, str]] = []

    def on_dialog(dialog: Dialog) -> None:
        seen.append((dialog.type, dialog.message, dialog.default_value))
        answer(dialog)

    p.page.on("dialog", on_dialog)
    p.show("x")
    return p.page.evaluate(script), seen


@check
def alerts(p: Place) -> Any:
    return answered(p, "alert('hi')", lambda dialog: dialog.accept())


@check
def confirms_accepted(p: Place) -> Any:
    return answered(p, "confirm('sure?')", lambda dialog: dialog.accept())


@check
def confirms_dismissed(p: Place) -> Any:
    return answered(p, "confirm('sure?')", lambda dialog: dialog.dismiss())


@check
def prompts(p: Place) -> Any:
    return answered(p, "prompt('name?', 'me')", lambda dialog: dialog.accept("you"))


@plain_check
def dialogs_nobody_listens_to_are_dismissed(p: Place) -> Any:
    p.show("x")
    return p.page.evaluate("[confirm('a'), prompt('b')]")


@check
def before_unload_asks(p: Place) -> Any:
    seen: list[str] = []

    def on_dialog(dialog: Dialog) -> None:
        seen.append(dialog.type)
        dialog.accept()

    p.page.on("dialog", on_dialog)
    p.show("<p>x</p><script>onbeforeunload = (e) => { e.preventDefault(); return 'x' }</script>")
    p.page.click("p")
    with p.page.expect_event("close"):
        p.page.close(run_before_unload=True)
    return seen


# --- files ---------------------------------------------------------------------------------------


def attachment(name: str, body: bytes, **more: Any) -> Answer:
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return Answer(body, kind="application/octet-stream", headers=headers, **more)


@check
def downloads(p: Place) -> Any:
    url = p.web.serve(attachment("a.bin", b"the file"))
    p.show(f"<a href='{url}'>get</a>")
    with p.page.expect_download() as found:
        p.page.click("a")
    download = found.value
    target = p.folder / "saved.bin"
    download.save_as(target)
    return download.suggested_filename, download.failure(), target.read_bytes()


@check
def downloads_can_be_read_where_they_are(p: Place) -> Any:
    url = p.web.serve(attachment("b.bin", b"0123"))
    p.show(f"<a href='{url}'>get</a>")
    with p.page.expect_download() as found:
        p.page.click("a")
    return found.value.path().read_bytes()


@check
def blob_downloads(p: Place) -> Any:
    p.show("<a download=c.txt>get</a><script>document.querySelector('a').href ="
           " URL.createObjectURL(new Blob(['blob']))</script>")  # fmt: skip
    with p.page.expect_download() as found:
        p.page.click("a")
    return found.value.suggested_filename, found.value.path().read_bytes()


@check
def downloads_can_be_cancelled(p: Place) -> Any:
    url = p.web.serve(attachment("d.bin", b"", endless=b"x" * 100))
    p.show(f"<a href='{url}'>get</a>")
    with p.page.expect_download() as found:
        p.page.click("a")
    found.value.cancel()
    return found.value.failure()


@plain_check
def uploads_of_files(p: Place) -> Any:
    path = p.folder / "up.txt"
    path.write_text("content")
    p.show("<input type=file>")
    p.page.set_input_files("input", path)
    return p.page.evaluate("document.querySelector('input').files[0].text()")


@plain_check
def uploads_of_several(p: Place) -> Any:
    paths = [p.folder / f"up{n}.txt" for n in range(3)]
    for path in paths:
        path.write_text(path.name)
    p.show("<input type=file multiple>")
    p.page.set_input_files("input", paths)
    return p.page.evaluate("[...document.querySelector('input').files].map((f) => f.name)")


@plain_check
def uploads_from_memory(p: Place) -> Any:
    p.show("<input type=file>")
    p.page.set_input_files("input", {"name": "m.txt", "mimeType": "text/plain", "buffer": b"mem"})
    return p.page.evaluate("document.querySelector('input').files[0].text()")


@plain_check
def file_choosers(p: Place) -> Any:
    path = p.folder / "chosen.txt"
    path.write_text("chosen")
    p.show("<input type=file multiple>")
    with p.page.expect_file_chooser() as found:
        p.page.click("input")
    found.value.set_files(path)
    return found.value.is_multiple(), p.page.evaluate(
        "document.querySelector('input').files[0].name"
    )


# --- network -------------------------------------------------------------------------------------


@check
def requests_and_responses_are_told(p: Place) -> Any:
    seen: list[tuple[str, str]] = []
    p.page.on("request", lambda request: seen.append(("sent", request.resource_type)))
    p.page.on("response", lambda response: seen.append(("got", str(response.status))))
    p.page.on("requestfinished", lambda request: seen.append(("done", request.method)))
    p.show("<p>x</p>")
    p.page.evaluate("fetch('/nowhere').then((r) => r.text())")
    p.page.wait_for_load_state("networkidle")
    return sorted(one for one in seen)


@plain_check
def failed_requests_are_told(p: Place) -> Any:
    p.show("x")
    with p.page.expect_event("requestfailed") as found:
        p.page.evaluate("fetch('http://127.0.0.1:1/').catch(() => 0)")
    return found.value.failure


@plain_check
def bodies_can_be_read(p: Place) -> Any:
    url = p.web.serve(Answer(b'{"a": 1}', kind="application/json"))
    p.show("x")
    with p.page.expect_response(url) as found:
        p.page.evaluate("(url) => fetch(url).then((r) => r.text())", url)
    return found.value.json(), found.value.request.method, found.value.body()


@plain_check
def posted_data_is_told(p: Place) -> Any:
    p.show("x")
    with p.page.expect_request("**/post") as found:
        p.page.evaluate("fetch('/post', {method: 'POST', body: JSON.stringify({a: 1})})")
    return found.value.post_data, found.value.post_data_json


@check
def routes_fulfill(p: Place) -> Any:
    p.page.route("**/api", lambda route: route.fulfill(json={"made": "up"}))
    p.show("x")
    return p.page.evaluate("fetch('/api').then((r) => r.json())")


@check
def routes_abort(p: Place) -> Any:
    p.page.route("**/api", lambda route: route.abort())
    p.show("x")
    return p.page.evaluate("fetch('/api').catch((e) => e.message)")


@check
def routes_continue_with_other_headers(p: Place) -> Any:
    url = p.web.serve(lambda request: Answer(request.headers.get("x-mine", "none").encode()))
    p.page.route(
        url, lambda route: route.continue_(headers={**route.request.headers, "x-mine": "yes"})
    )
    p.show("x")
    return p.page.evaluate("(url) => fetch(url).then((r) => r.text())", url)


@check
def routes_change_method_and_body(p: Place) -> Any:
    url = p.web.serve(lambda r: Answer(f"{r.method} {r.body.decode()}".encode()))
    p.page.route(url, lambda route: route.continue_(method="POST", post_data="changed"))
    p.show("x")
    return p.page.evaluate("(url) => fetch(url).then((r) => r.text())", url)


@check
def routes_fetch_and_change_the_answer(p: Place) -> Any:
    url = p.web.serve(b"plain")

    def change(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text() + " and more")

    p.page.route(url, change)
    p.show("x")
    return p.page.evaluate("(url) => fetch(url).then((r) => r.text())", url)


@check
def routes_can_be_taken_back(p: Place) -> Any:
    p.page.route("**/api", lambda route: route.fulfill(body="routed"))
    p.web.serve(b"real", "/api")
    p.show("x")
    first = p.page.evaluate("fetch('/api').then((r) => r.text())")
    p.page.unroute("**/api")
    return first, p.page.evaluate("fetch('/api').then((r) => r.text())")


@check
def routes_of_the_context_hold_for_all_its_pages(p: Place) -> Any:
    p.context.route("**/api2", lambda route: route.fulfill(body="ctx"))
    other = p.context.new_page()
    other.goto(p.web.page("x"))
    return other.evaluate("fetch('/api2').then((r) => r.text())")


@check
def routes_hold_in_frames_of_another_site(p: Place) -> Any:
    p.page.route("**/api3", lambda route: route.fulfill(body="in frame"))
    inner = p.web.there(p.web.page("in"))
    p.show(f"<iframe src='{inner}'></iframe>")
    return p.page.frames[1].evaluate("fetch('/api3').then((r) => r.text())")


@check
def extra_headers(p: Place) -> Any:
    p.context.set_extra_http_headers({"x-extra": "1"})
    url = p.show("x")
    return p.web.requested(url)[-1].headers.get("x-extra")


def guarded(p: Place, **options: Any) -> Any:
    """Return what is shown at an address that asks for a name and a password."""

    def answer(request: Request) -> Answer:
        if "authorization" in request.headers:
            return Answer(b"welcome")
        return Answer(b"who?", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})

    context = p.browser.new_context(**options)
    page = context.new_page()
    page.goto(p.web.serve(answer))
    text = page.inner_text("body")
    context.close()
    return text


@check
def http_credentials_when_the_server_asks(p: Place) -> Any:
    return guarded(p, http_credentials={"username": "a", "password": "b"})


@check
def http_credentials_as_a_header(p: Place) -> Any:
    return guarded(p, extra_http_headers={"Authorization": "Basic YTpi"})


@check
def offline(p: Place) -> Any:
    p.show("x")
    p.context.set_offline(True)
    is_online = p.page.evaluate("navigator.onLine")
    found = failure(lambda: p.page.goto(p.web.base + "/x"))
    p.context.set_offline(False)
    return found, is_online


@plain_check
def web_sockets_that_fail(p: Place) -> Any:
    p.show("x")
    with p.page.expect_websocket() as found:
        p.page.evaluate("new WebSocket('ws://127.0.0.1:1/'), 0")
    return found.value.url


@check
def api_requests_share_the_contexts_cookies(p: Place) -> Any:
    p.context.add_cookies([{"name": "api", "value": "1", "url": p.web.base}])
    url = p.web.serve(lambda request: Answer(request.headers.get("cookie", "").encode()))
    return p.context.request.get(url).text()


# --- cookies and storage -------------------------------------------------------------------------


@check
def cookies_of_the_page(p: Place) -> Any:
    p.show("<script>document.cookie = 'a=1'</script>")
    return [(one["name"], one["value"]) for one in p.context.cookies()]


@check
def cookies_that_are_added(p: Place) -> Any:
    p.context.add_cookies([{"name": "n", "value": "v", "url": p.web.base, "httpOnly": True}])
    url = p.show("x")
    return p.web.requested(url)[-1].headers.get("cookie"), p.page.evaluate("document.cookie")


@check
def cookies_that_are_cleared(p: Place) -> Any:
    p.context.add_cookies([{"name": n, "value": "v", "url": p.web.base} for n in "ab"])
    p.context.clear_cookies(name="a")
    left = [one["name"] for one in p.context.cookies()]
    p.context.clear_cookies()
    return left, p.context.cookies()


@check
def cookies_from_the_server(p: Place) -> Any:
    p.page.goto(p.web.serve(Answer(b"x", headers={"Set-Cookie": "s=1; HttpOnly; SameSite=Strict"})))
    return [(c["name"], c["httpOnly"], c["sameSite"]) for c in p.context.cookies()]


@check
def storage_state_can_be_taken_and_given(p: Place) -> Any:
    p.show("<script>localStorage.setItem('k', 'v'); document.cookie = 'c=1'</script>")
    state = p.context.storage_state()
    context = p.browser.new_context(storage_state=state)
    page = context.new_page()
    page.goto(p.web.page("x"))
    found = page.evaluate("[localStorage.getItem('k'), document.cookie]")
    context.close()
    return found, len(state["origins"])


@check
def indexed_db_and_session_storage(p: Place) -> Any:
    p.show("x")
    return p.page.evaluate(
        "new Promise((r) => { sessionStorage.s = 1; const o = indexedDB.open('d');"
        " o.onsuccess = () => r([o.result.name, sessionStorage.s]) })"
    )


@check
def contexts_do_not_share_cookies(p: Place) -> Any:
    p.show("<script>document.cookie = 'mine=1'; localStorage.x = 1</script>")
    other = p.browser.new_context()
    page = other.new_page()
    page.goto(p.web.page("x"))
    found = page.evaluate("[document.cookie, localStorage.length]"), other.cookies()
    other.close()
    return found


# --- permissions and emulation -------------------------------------------------------------------


@check
def permissions_are_granted_and_cleared(p: Place) -> Any:
    ask = "navigator.permissions.query({name: 'geolocation'}).then((s) => s.state)"
    p.context.grant_permissions(["geolocation"])
    p.show("x")
    granted = p.page.evaluate(ask)
    p.context.clear_permissions()
    return granted, p.page.evaluate(ask)


@check
def permissions_are_the_contexts_own(p: Place) -> Any:
    p.context.grant_permissions(["geolocation"])
    other = p.browser.new_context()
    page = other.new_page()
    page.goto(p.web.page("x"))
    state = page.evaluate("navigator.permissions.query({name: 'geolocation'}).then((s) => s.state)")
    other.close()
    return state


@check
def geolocation(p: Place) -> Any:
    p.context.grant_permissions(["geolocation"])
    p.context.set_geolocation({"latitude": 10, "longitude": 20})
    p.show("x")
    return p.page.evaluate(
        "new Promise((r) => navigator.geolocation.getCurrentPosition((p) =>"
        " r([p.coords.latitude, p.coords.longitude])))"
    )


@check
def media_is_emulated(p: Place) -> Any:
    p.page.emulate_media(color_scheme="dark", media="print", reduced_motion="reduce")
    return p.page.evaluate(
        "['(prefers-color-scheme: dark)', 'print', '(prefers-reduced-motion: reduce)']"
        ".map((q) => matchMedia(q).matches)"
    )


@check
def locale_timezone_and_agent(p: Place) -> Any:
    context = p.browser.new_context(locale="de-DE", timezone_id="Asia/Tokyo", user_agent="Mine/1")
    page = context.new_page()
    url = p.web.page("x")
    page.goto(url)
    found = page.evaluate("[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,"
                          " navigator.userAgent]")  # fmt: skip
    sent = p.web.requested(url)[-1].headers
    context.close()
    return found, sent["user-agent"], sent["accept-language"]


@check
def a_phone_is_emulated(p: Place) -> Any:
    context = p.browser.new_context(viewport={"width": 375, "height": 600}, device_scale_factor=3,
                                    is_mobile=True, has_touch=True)  # fmt: skip
    page = context.new_page()
    page.goto(p.web.page("<meta name=viewport content='width=device-width'>x"))
    found = page.evaluate("[innerWidth, devicePixelRatio, 'ontouchstart' in window]")
    context.close()
    return found


@check
def javascript_can_be_off(p: Place) -> Any:
    context = p.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(p.web.page("<script>document.title = 'ran'</script>", title="not"))
    title = page.title()
    context.close()
    return title


@check
def csp_can_be_bypassed(p: Place) -> Any:
    url = p.web.serve(
        Answer(b"<p>x</p>", headers={"Content-Security-Policy": "default-src 'none'"})
    )
    context = p.browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(url)
    page.add_script_tag(content="window.ran = 1")
    found = page.evaluate("window.ran")
    context.close()
    return found


@check
def the_clock_can_be_held(p: Place) -> Any:
    p.page.clock.install(time=0)
    p.show("<script>setTimeout(() => window.fired = 1, 60000)</script>")
    p.page.clock.fast_forward(61_000)
    return p.page.evaluate("window.fired")


# --- console and errors --------------------------------------------------------------------------


@check
def console_messages(p: Place) -> Any:
    heard: list[tuple[str, str]] = []
    p.page.on("console", lambda message: heard.append((message.type, message.text)))
    p.show("<script>console.log('a', 1, {b: 2}); console.warn('w'); console.error('e')</script>")
    return heard


@plain_check
def console_arguments_are_handles(p: Place) -> Any:
    p.show("x")
    with p.page.expect_console_message() as found:
        p.page.evaluate("console.log({deep: [1]})")
    return found.value.args[0].json_value()


@plain_check
def page_errors(p: Place) -> Any:
    p.show("x")
    with p.page.expect_event("pageerror") as found:
        p.page.evaluate("setTimeout(() => { throw new RangeError('boom') })")
    return found.value.name, found.value.message


# --- contexts, pages, closing --------------------------------------------------------------------


@check
def pages_of_a_context(p: Place) -> Any:
    with p.context.expect_page() as found:
        page = p.context.new_page()
    same = found.value == page
    page.close()
    return same, page.is_closed(), len(p.context.pages)


@check
def closing_a_context_closes_its_pages(p: Place) -> Any:
    context = p.browser.new_context()
    pages = [context.new_page() for _ in range(3)]
    before = len(p.browser.contexts)
    context.close()
    return [page.is_closed() for page in pages], before - len(p.browser.contexts)


@check
def a_closed_page_says_so(p: Place) -> Any:
    page = p.context.new_page()
    page.close()
    return failure(lambda: page.evaluate("1"))


@check
def closing_fails_what_waits(p: Place) -> Any:
    page = p.context.new_page()
    page.expose_function("closeMe", lambda: page.close())
    return failure(lambda: page.evaluate("() => { closeMe(); return new Promise(() => {}) }"))


@check
def many_pages_at_once(p: Place) -> Any:
    url = p.web.page("<script>document.title = location.search</script>")
    pages = [p.context.new_page() for _ in range(5)]
    for number, page in enumerate(pages):
        page.goto(f"{url}?{number}")
    titles = [page.title() for page in pages]
    for page in pages:
        page.close()
    return titles


@check
def several_contexts_at_once(p: Place) -> Any:
    contexts = [p.browser.new_context() for _ in range(3)]
    for number, context in enumerate(contexts):
        context.add_cookies([{"name": "n", "value": str(number), "url": p.web.base}])
    values = [context.cookies()[0]["value"] for context in contexts]
    for context in contexts:
        context.close()
    return values


@check
def the_browsers_version(p: Place) -> Any:
    return p.browser.version, p.browser.is_connected(), p.browser.browser_type.name


@check
def the_default_context_works_like_any_other(p: Place) -> Any:
    context = p.browser.contexts[0]
    page = context.new_page()
    page.goto(p.web.page("<script>document.cookie = 'default=1'</script>", title="D"))
    found = page.title(), [one["name"] for one in context.cookies()]
    popup = page.evaluate("(url) => { open(url) }", p.web.page("pop"))
    page.wait_for_timeout(1)
    context.clear_cookies()
    for one in context.pages:
        one.close()
    return found, popup


@check
def tracing_of_playwright_itself(p: Place) -> Any:
    p.context.tracing.start(screenshots=True, snapshots=True)
    p.show("<p>x</p>")
    path = p.folder / "trace.zip"
    p.context.tracing.stop(path=path)
    return path.stat().st_size > 0


# --- the protocol itself -------------------------------------------------------------------------


@check
def sessions_of_ones_own(p: Place) -> Any:
    session = p.context.new_cdp_session(p.page)
    found = session.send("Runtime.evaluate", {"expression": "6 * 7", "returnByValue": True})
    session.detach()
    return found["result"]["value"], failure(lambda: session.send("Runtime.enable"))


@check
def sessions_of_ones_own_hear_events(p: Place) -> Any:
    session = p.context.new_cdp_session(p.page)
    heard: list[str] = []
    session.on("Network.requestWillBeSent", lambda event: heard.append(event["type"]))
    session.send("Network.enable")
    p.show("x")
    return heard


@check
def a_session_with_a_frame_of_another_site(p: Place) -> Any:
    inner = p.web.there(p.web.page("<p>in</p>"))
    p.show(f"<iframe src='{inner}'></iframe>")
    session = p.context.new_cdp_session(p.page.frames[1])
    found = session.send("Runtime.evaluate", {"expression": "location.hostname"})
    return found["result"]["value"]


@check
def a_session_with_the_browser(p: Place) -> Any:
    session = p.browser.new_browser_cdp_session()
    version = session.send("Browser.getVersion")
    known = {one["type"] for one in session.send("Target.getTargets")["targetInfos"]}
    session.detach()
    return version["product"], "page" in known


@check
def performance_metrics(p: Place) -> Any:
    session = p.context.new_cdp_session(p.page)
    session.send("Performance.enable")
    names = [one["name"] for one in session.send("Performance.getMetrics")["metrics"]]
    return "JSHeapUsedSize" in names


@check
def coverage(p: Place) -> Any:
    session = p.context.new_cdp_session(p.page)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True})
    p.show("<script>function f() {} f()</script>")
    found = session.send("Profiler.takePreciseCoverage")["result"]
    return any(f["functionName"] == "f" for one in found for f in one["functions"])


@check
def the_accessibility_tree(p: Place) -> Any:
    p.show("<button>Press</button>")
    session = p.context.new_cdp_session(p.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    return json.dumps([one["name"]["value"] for one in nodes if one.get("name", {}).get("value")])


@check
def dom_snapshots(p: Place) -> Any:
    p.show("<p>here</p>")
    session = p.context.new_cdp_session(p.page)
    found = session.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
    return "here" in found["strings"]


@check
def unknown_methods(p: Place) -> Any:
    session = p.context.new_cdp_session(p.page)
    return failure(lambda: session.send("Nonsense.nothing"))


@check
def wrong_parameters(p: Place) -> Any:
    session = p.context.new_cdp_session(p.page)
    return failure(lambda: session.send("Runtime.evaluate", {"expression": 5}))


@check
def unknown_targets(p: Place) -> Any:
    session = p.browser.new_browser_cdp_session()
    absent = {"targetId": "F" * 32, "flatten": True}
    return [
        failure(lambda: session.send("Target.attachToTarget", absent)),
        failure(lambda: session.send("Target.closeTarget", absent)),
        failure(lambda: session.send("Target.activateTarget", absent)),
    ]
