"""Features of a page: navigation, frames, input, evaluation, pictures."""

from __future__ import annotations

import struct
import threading
from typing import Any

from tests.e2e.cdp.parity import Place, check, failure, plain_check
from tests.support.local_web import Answer


def size_of(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


# --- navigation ----------------------------------------------------------------------------------


@plain_check
def goto_answers_with_the_response(p: Place) -> Any:
    answer = p.page.goto(p.web.page("<h1>Hi</h1>", title="T"))
    assert answer is not None
    return answer.status, answer.ok, answer.headers["content-type"], p.page.title(), p.page.url


@plain_check
def a_404_is_a_page(p: Place) -> Any:
    answer = p.page.goto(p.web.base + "/nowhere")
    return answer and answer.status, p.page.inner_text("body")


@plain_check
def a_redirect_is_followed_and_remembered(p: Place) -> Any:
    goal = p.web.page("goal")
    start = p.web.serve(Answer(status=302, headers={"Location": goal}))
    answer = p.page.goto(start)
    assert answer is not None
    before = answer.request.redirected_from
    return p.page.url == goal, before is not None and before.url == start


@plain_check
def back_and_forward(p: Place) -> Any:
    p.show("one", title="1")
    p.show("two", title="2")
    # A page that comes back from the cache fires no "load". A page that was only just committed may
    # not have its title yet.
    p.page.go_back(wait_until="commit")
    p.page.wait_for_function("document.title === '1'")
    p.page.go_forward(wait_until="commit")
    p.page.wait_for_function("document.title === '2'")
    return p.page.go_forward() is None


@plain_check
def reload_runs_the_page_again(p: Place) -> Any:
    p.show("<script>window.n = (window.n || 0) + 1</script>")
    p.page.evaluate("window.marked = true")
    p.page.reload()
    return p.page.evaluate("[window.n, window.marked === undefined]")


@plain_check
def hash_navigation_stays_in_the_document(p: Place) -> Any:
    url = p.show("<a href='#x'>go</a>")
    p.page.evaluate("window.kept = 1")
    p.page.click("a")
    return p.page.url == url + "#x", p.page.evaluate("window.kept")


@plain_check
def history_push_state_changes_the_url(p: Place) -> Any:
    p.show("x")
    p.page.evaluate("history.pushState({}, '', '/pushed')")
    return p.page.url.endswith("/pushed")


@plain_check
def a_click_that_navigates_can_be_waited_for(p: Place) -> Any:
    goal = p.web.page("<h1>Goal</h1>", title="Goal")
    p.show(f"<a href='{goal}'>go</a>")
    with p.page.expect_navigation():
        p.page.click("a")
    return p.page.title()


@plain_check
def wait_for_url(p: Place) -> Any:
    goal = p.web.page("goal")
    p.show(f"<script>setTimeout(() => location.href = '{goal}', 20)</script>")
    p.page.wait_for_url(goal)
    return p.page.inner_text("body")


@check
def load_states_come_in_order(p: Place) -> Any:
    seen: list[str] = []
    p.page.on("domcontentloaded", lambda _: seen.append("dom"))
    p.page.on("load", lambda _: seen.append("load"))
    p.show("<img src='/none.png'>")
    p.page.wait_for_load_state("networkidle")
    return seen


@plain_check
def a_server_that_is_not_there(p: Place) -> Any:
    return failure(lambda: p.page.goto("http://127.0.0.1:1/"))


@plain_check
def an_unknown_host(p: Place) -> Any:
    return failure(lambda: p.page.goto("http://no-such-host.invalid/"))


@check
def a_navigation_that_takes_too_long(p: Place) -> Any:
    url = p.web.serve(Answer(b"late", held=threading.Event()))
    return failure(lambda: p.page.goto(url, timeout=300))


@check
def goto_about_blank(p: Place) -> Any:
    p.show("x")
    p.page.goto("about:blank")
    return p.page.url, p.page.content()


@plain_check
def goto_a_data_address(p: Place) -> Any:
    answer = p.page.goto("data:text/html,<title>made</title><h1>here</h1>")
    return answer is not None, p.page.title(), p.page.url, p.page.inner_text("h1")


@plain_check
def goto_a_long_data_address(p: Place) -> Any:
    p.page.goto("data:text/html," + "x" * 200_000)
    return len(p.page.inner_text("body")), len(p.page.url)


@plain_check
def goto_a_blob_of_the_page(p: Place) -> Any:
    p.show("one")
    made = "URL.createObjectURL(new Blob(['<h1>blob</h1>'], {type: 'text/html'}))"
    url = p.page.evaluate(made)
    p.page.goto(url)
    return p.page.url == url, p.page.inner_text("h1")


@plain_check
def set_content_replaces_the_document(p: Place) -> Any:
    p.page.set_content("<title>Set</title><p>new</p>")
    return p.page.title(), p.page.inner_text("p")


@plain_check
def the_referer_can_be_set(p: Place) -> Any:
    url = p.web.page("x")
    p.page.goto(url, referer="http://referer.test/")
    return p.web.requested(url)[0].headers.get("referer")


@plain_check
def content_is_the_documents_html(p: Place) -> Any:
    p.show("<p id=a>b</p>")
    return '<p id="a">b</p>' in p.page.content()


# --- evaluation ----------------------------------------------------------------------------------


@plain_check
def evaluate_returns_json(p: Place) -> Any:
    return p.page.evaluate("({a: [1, 'x', null, true], b: {c: 1.5}})")


@plain_check
def evaluate_returns_odd_numbers(p: Place) -> Any:
    return [repr(p.page.evaluate(one)) for one in ("NaN", "Infinity", "-0", "2n ** 64n")]


@plain_check
def evaluate_awaits_promises(p: Place) -> Any:
    return p.page.evaluate("new Promise((r) => setTimeout(() => r('late'), 10))")


@plain_check
def evaluate_takes_arguments(p: Place) -> Any:
    return p.page.evaluate("([a, b]) => a.x + b", [{"x": 1}, 2])


@plain_check
def evaluate_tells_exceptions(p: Place) -> Any:
    return failure(lambda: p.page.evaluate("() => { throw new TypeError('no') }"))


@plain_check
def evaluate_tells_syntax_errors(p: Place) -> Any:
    return failure(lambda: p.page.evaluate("((("))


@plain_check
def handles_are_objects_of_the_page(p: Place) -> Any:
    handle = p.page.evaluate_handle("() => ({list: [1, 2]})")
    properties = handle.get_properties()
    value = properties["list"].json_value()
    handle.dispose()
    return value, sorted(properties)


@plain_check
def element_handles_can_be_passed_back(p: Place) -> Any:
    p.show("<p>text</p>")
    element = p.page.query_selector("p")
    return p.page.evaluate("(e) => e.textContent", element)


@plain_check
def unicode_goes_both_ways(p: Place) -> Any:
    return p.page.evaluate("(x) => [x, x.length, '\\ud83d']", "ä€𝄞\u0000\u2028")


@plain_check
def a_large_argument_and_answer(p: Place) -> Any:
    text = "x" * 2_000_000
    return p.page.evaluate("(x) => x + x", text) == text + text


@check
def init_scripts_run_before_the_page(p: Place) -> Any:
    p.page.add_init_script("window.early = 'yes'")
    p.show("<script>window.seen = window.early</script>")
    return p.page.evaluate("window.seen")


@check
def init_scripts_of_the_context_run_in_frames_and_popups(p: Place) -> Any:
    p.context.add_init_script("window.early = 'yes'")
    inner = p.web.page("<script>document.title = window.early</script>")
    p.show(f"<iframe src='{inner}'></iframe><button onclick=\"window.open('{inner}')\">go</button>")
    p.page.frames[1].wait_for_load_state()
    with p.page.expect_popup() as popup:
        p.page.click("button")
    popup.value.wait_for_load_state()
    return p.page.frames[1].evaluate("document.title"), popup.value.title()


@check
def exposed_functions_are_called(p: Place) -> Any:
    p.page.expose_function("add", lambda a, b: a + b)
    p.show("x")
    return p.page.evaluate("add(2, 3)")


@check
def exposed_bindings_know_their_source(p: Place) -> Any:
    inner = p.web.page("<p>in</p>")
    p.context.expose_binding("where", lambda source: source["frame"].url)
    p.show(f"<iframe src='{inner}'></iframe>")
    return p.page.frames[1].evaluate("where()") == inner


@check
def exposed_functions_fail_in_the_page(p: Place) -> Any:
    def fails() -> None:
        raise ValueError("from python")

    p.page.expose_function("fails", fails)
    return p.page.evaluate("fails().catch((e) => e.message)")


@plain_check
def wait_for_function(p: Place) -> Any:
    p.show("<script>setTimeout(() => window.ready = 7, 20)</script>")
    return p.page.wait_for_function("window.ready").json_value()


@plain_check
def add_script_and_style_tags(p: Place) -> Any:
    p.show("<p>x</p>")
    p.page.add_script_tag(content="window.tagged = 1")
    p.page.add_style_tag(content="p { color: rgb(1, 2, 3) }")
    return p.page.evaluate("[window.tagged, getComputedStyle(document.querySelector('p')).color]")


# --- input ---------------------------------------------------------------------------------------


@plain_check
def clicks_are_trusted(p: Place) -> Any:
    p.show("<button onclick='window.t = event.isTrusted'>go</button>")
    p.page.click("button")
    return p.page.evaluate("window.t")


@plain_check
def double_and_right_clicks(p: Place) -> Any:
    p.show("<p>x</p><script>log = []; for (const k of ['click', 'dblclick', 'contextmenu'])"
           " addEventListener(k, (e) => log.push(k))</script>")  # fmt: skip
    p.page.dblclick("p")
    p.page.click("p", button="right")
    return p.page.evaluate("log")


@plain_check
def click_with_modifiers_and_position(p: Place) -> Any:
    p.show("<div style='width:200px;height:100px' onclick='window.e = [event.shiftKey,"
           " event.offsetX, event.offsetY]'>x</div>")  # fmt: skip
    p.page.click("div", modifiers=["Shift"], position={"x": 30, "y": 40})
    return p.page.evaluate("window.e")


@plain_check
def fill_and_input_value(p: Place) -> Any:
    p.show("<input oninput='window.n = (window.n || 0) + 1'>")
    p.page.fill("input", "hello")
    return p.page.input_value("input"), p.page.evaluate("window.n")


@plain_check
def typing_sends_keys(p: Place) -> Any:
    p.show("<input onkeydown='(window.k ||= []).push(event.key)'>")
    p.page.locator("input").press_sequentially("aB1")
    return p.page.input_value("input"), p.page.evaluate("window.k")


@plain_check
def special_keys(p: Place) -> Any:
    p.show("<input value='abc'>")
    p.page.focus("input")
    for key in ("End", "Backspace", "Home", "Delete", "Shift+End", "Control+A"):
        p.page.keyboard.press(key)
    return p.page.input_value("input"), p.page.evaluate("getSelection().toString()")


@plain_check
def insert_text_fires_input_only(p: Place) -> Any:
    p.show("<input onkeydown='window.k = 1' oninput='window.i = 1'>")
    p.page.focus("input")
    p.page.keyboard.insert_text("日本")
    return p.page.input_value("input"), p.page.evaluate("[window.k ?? 0, window.i]")


@plain_check
def checkboxes_and_radios(p: Place) -> Any:
    p.show(
        "<input type=checkbox id=c><input type=radio name=r id=r1><input type=radio name=r id=r2>"
    )
    p.page.check("#c")
    p.page.check("#r2")
    p.page.uncheck("#c")
    return [p.page.is_checked(f"#{name}") for name in ("c", "r1", "r2")]


@plain_check
def select_options(p: Place) -> Any:
    p.show("<select multiple><option value=a>A</option><option value=b>B</option></select>")
    chosen = p.page.select_option("select", ["a", "b"])
    return chosen, failure(lambda: p.page.select_option("select", "z", timeout=200))


@plain_check
def hovering(p: Place) -> Any:
    p.show("<p onmouseover='window.over = 1'>x</p>")
    p.page.hover("p")
    return p.page.evaluate("window.over")


@plain_check
def the_mouse_by_hand(p: Place) -> Any:
    p.show("<script>log = []; for (const k of ['mousedown', 'mousemove', 'mouseup'])"
           " addEventListener(k, (e) => log.push([k, e.clientX, e.clientY]))</script>")  # fmt: skip
    p.page.mouse.move(10, 10)
    p.page.mouse.down()
    p.page.mouse.move(50, 60)
    p.page.mouse.up()
    return p.page.evaluate("log")


@plain_check
def the_wheel_scrolls(p: Place) -> Any:
    p.show("<div style='height:5000px'></div>")
    p.page.mouse.move(100, 100)
    p.page.mouse.wheel(0, 300)
    p.page.wait_for_function("scrollY > 0")
    return True


@plain_check
def drag_and_drop(p: Place) -> Any:
    p.show(
        "<div id=a draggable=true style='width:50px;height:50px;background:red'"
        " ondragstart=\"event.dataTransfer.setData('text', 'x')\"></div>"
        "<div id=b style='width:100px;height:100px' ondragover='event.preventDefault()'"
        " ondrop=\"window.d = event.dataTransfer.getData('text')\">b</div>"
    )
    p.page.drag_and_drop("#a", "#b")
    return p.page.evaluate("window.d")


@plain_check
def hidden_elements_are_not_clicked(p: Place) -> Any:
    p.show("<button style='display:none'>x</button>")
    return failure(lambda: p.page.click("button", timeout=300))[:60]


@plain_check
def covered_elements_are_not_clicked(p: Place) -> Any:
    p.show("<button>x</button><div style='position:fixed;inset:0'></div>")
    return failure(lambda: p.page.click("button", timeout=300))[:60]


@plain_check
def disabled_elements_wait_until_enabled(p: Place) -> Any:
    p.show("<button disabled onclick='window.c = 1'>x</button><script>setTimeout(() =>"
           " document.querySelector('button').disabled = false, 50)</script>")  # fmt: skip
    p.page.click("button")
    return p.page.evaluate("window.c")


@check
def touch_taps(p: Place) -> Any:
    context = p.browser.new_context(has_touch=True)
    page = context.new_page()
    page.goto(p.web.page("<p ontouchstart='window.t = 1'>x</p>"))
    page.tap("p")
    found = page.evaluate("window.t")
    context.close()
    return found


@check
def focus_is_had_in_every_page(p: Place) -> Any:
    other = p.context.new_page()
    states = [
        one.evaluate("[document.hasFocus(), document.visibilityState]") for one in (p.page, other)
    ]
    other.close()
    return states


# --- locators ------------------------------------------------------------------------------------


@plain_check
def locators_find_by_role_text_label_and_test_id(p: Place) -> Any:
    p.show("<label>Name <input></label><button data-testid=b>Send it</button><h2>Head</h2>")
    page = p.page
    return (
        page.get_by_role("button", name="Send").count(),
        page.get_by_text("Head").inner_text(),
        page.get_by_label("Name").count(),
        page.get_by_test_id("b").inner_text(),
        page.get_by_role("heading", level=2).all_inner_texts(),
    )


@plain_check
def locators_wait(p: Place) -> Any:
    p.show("<script>setTimeout(() => document.body.innerHTML = '<p>late</p>', 30)</script>")
    return p.page.locator("p").inner_text()


@plain_check
def locators_are_strict(p: Place) -> Any:
    p.show("<p>1</p><p>2</p>")
    return failure(lambda: p.page.locator("p").click(timeout=500))[:60]


@plain_check
def locators_reach_into_shadow_roots(p: Place) -> Any:
    p.show(
        "<div id=h></div><script>h.attachShadow({mode: 'open'}).innerHTML = '<p>in</p>'</script>"
    )
    return p.page.locator("p").inner_text()


@plain_check
def attributes_boxes_and_states(p: Place) -> Any:
    p.show("<input disabled placeholder=x style='position:absolute;left:10px;top:20px;width:30px;"
           "height:40px;box-sizing:border-box'>")  # fmt: skip
    box = p.page.locator("input")
    return box.get_attribute("placeholder"), box.bounding_box(), box.is_disabled(), box.is_visible()


@plain_check
def aria_snapshots(p: Place) -> Any:
    p.show("<h1>Title</h1><ul><li><a href='/x'>Link</a></li></ul><button disabled>B</button>")
    return p.page.locator("body").aria_snapshot()


# --- frames --------------------------------------------------------------------------------------


@plain_check
def frames_of_the_same_site(p: Place) -> Any:
    inner = p.web.page("<p>in</p>", title="Inner")
    p.show(f"<iframe name=f src='{inner}'></iframe>")
    frame = p.page.frame("f")
    assert frame is not None
    return frame.inner_text("p"), len(p.page.frames), frame.parent_frame == p.page.main_frame


@plain_check
def frames_of_another_site(p: Place) -> Any:
    inner = p.web.there(p.web.page("<button onclick='window.c = event.isTrusted'>in</button>"))
    p.show(f"<iframe src='{inner}'></iframe>")
    frame = p.page.frames[1]
    frame.click("button")
    return frame.evaluate("[window.c, location.hostname, window.origin !== 'null']")


@plain_check
def frames_within_frames_across_sites(p: Place) -> Any:
    innermost = p.web.page("<p>deep</p>")
    middle = p.web.there(p.web.page(f"<iframe src='{innermost}'></iframe>"))
    p.show(f"<iframe src='{middle}'></iframe>")
    deep = p.page.frame_locator("iframe").frame_locator("iframe").locator("p")
    return deep.inner_text(), len(p.page.frames)


@plain_check
def a_frame_that_moves_to_another_site(p: Place) -> Any:
    one = p.web.page("<p>one</p>")
    two = p.web.there(p.web.page("<p>two</p>"))
    p.show(f"<iframe src='{one}'></iframe>")
    before = p.page.frames[1].inner_text("p")
    p.page.evaluate("(url) => document.querySelector('iframe').src = url", two)
    p.page.frame_locator("iframe").get_by_text("two").wait_for()
    return before, p.page.frames[1].evaluate("location.hostname")


@check
def frames_that_go_are_told(p: Place) -> Any:
    gone: list[str] = []
    p.page.on("framedetached", lambda frame: gone.append(frame.name))
    p.show(f"<iframe name=f src='{p.web.page('x')}'></iframe>")
    p.page.evaluate("document.querySelector('iframe').remove()")
    p.page.wait_for_function("!document.querySelector('iframe')")
    return gone, len(p.page.frames)


@plain_check
def srcdoc_frames(p: Place) -> Any:
    p.show("<iframe srcdoc='<p>doc</p>'></iframe>")
    return p.page.frame_locator("iframe").locator("p").inner_text()


@plain_check
def post_message_between_sites(p: Place) -> Any:
    inner = p.web.there(p.web.page("<script>parent.postMessage('hi', '*')</script>"))
    p.show(
        f"<script>onmessage = (e) => window.got = e.data</script><iframe src='{inner}'></iframe>"
    )
    return p.page.wait_for_function("window.got").json_value()


# --- pictures and print --------------------------------------------------------------------------


@plain_check
def screenshots_have_the_viewports_size(p: Place) -> Any:
    p.show("<p>x</p>")
    return size_of(p.page.screenshot())


@plain_check
def full_page_screenshots(p: Place) -> Any:
    p.show("<body style='margin:0'><div style='height:3000px'></div>")
    return size_of(p.page.screenshot(full_page=True))


@plain_check
def clipped_screenshots(p: Place) -> Any:
    p.show("<p>x</p>")
    return size_of(p.page.screenshot(clip={"x": 5, "y": 5, "width": 50, "height": 40}))


@plain_check
def element_screenshots(p: Place) -> Any:
    p.show("<div style='width:70px;height:30px;background:red'></div>")
    return size_of(p.page.locator("div").screenshot())


@plain_check
def jpeg_screenshots(p: Place) -> Any:
    p.show("<p>x</p>")
    return p.page.screenshot(type="jpeg", quality=50)[:3].hex()


@plain_check
def the_picture_is_the_same(p: Place) -> Any:
    p.show("<body style='margin:0;background:rgb(10,200,30)'>")
    return p.page.screenshot(clip={"x": 0, "y": 0, "width": 20, "height": 20}).hex()


@check
def pages_in_the_background_can_be_pictured(p: Place) -> Any:
    p.show("<p>x</p>")
    other = p.context.new_page()
    found = size_of(p.page.screenshot())
    other.close()
    return found


@plain_check
def pdf_is_printed(p: Place) -> Any:
    p.show("<p>x</p>")
    return p.page.pdf()[:5]


@plain_check
def pdf_takes_a_format(p: Place) -> Any:
    p.show("<p>x</p>")
    text = p.page.pdf(format="A5", landscape=True)
    return b"/MediaBox" in text


@check
def the_viewport_can_be_set(p: Place) -> Any:
    p.page.set_viewport_size({"width": 500, "height": 400})
    p.show("x")
    return p.page.evaluate("[innerWidth, innerHeight]"), p.page.viewport_size


@check
def new_contexts_have_playwrights_viewport(p: Place) -> Any:
    return p.page.evaluate("[innerWidth, innerHeight]"), p.page.viewport_size
