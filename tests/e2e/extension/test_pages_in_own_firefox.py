"""A selection of the page tests in the person's own Firefox: input by scripts must have the same
effect as the browser's own input."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.vocabulary import JarPolicy
from tests.e2e.extension.own_house import OwnHouse
from tests.e2e.pages import (
    test_clicking,
    test_console_and_network,
    test_dialogs,
    test_dragging,
    test_filling_in,
    test_frames,
    test_navigating,
    test_uploads_and_downloads,
)
from tests.e2e.pages.test_filling_in import FIELDS
from tests.e2e.pages.test_uploads_and_downloads import attachment
from tests.support.house import House
from tests.support.local_web import Answer, Web

pytestmark = pytest.mark.timeout(120)
CHOSEN = [
    test_clicking.test_a_click_that_navigates_returns_the_new_page,
    test_clicking.test_double_right_and_modified_clicks_arrive_in_the_page,
    test_clicking.test_an_element_that_cannot_be_clicked_is_refused_with_the_reason,
    test_console_and_network.test_each_redirect_is_recorded,
    test_console_and_network.test_requests_are_listed_with_status_and_without_secrets,
    test_dialogs.test_a_dialog_that_opens_by_itself_interrupts_a_waiting_call,
    test_dialogs.test_an_action_answers_with_the_dialog_it_opened,
    test_dialogs.test_closing_a_tab_opens_no_beforeunload_dialog,
    test_dialogs.test_confirm_and_prompt_get_the_callers_answer,
    test_dialogs.test_evaluate_reports_the_dialog_that_it_opened,
    test_dialogs.test_every_other_call_is_refused_while_a_dialog_is_open,
    test_dragging.test_a_page_that_follows_the_mouse_sees_every_step,
    test_dragging.test_dragging_between_points_moves_a_slider,
    test_dragging.test_html5_drag_and_drop_transfers_its_data,
    test_filling_in.test_enter_and_space_operate_the_focused_element,
    test_filling_in.test_keys_and_key_combinations_have_their_usual_effect,
    test_filling_in.test_select_option_takes_values_and_labels_and_its_error_names_the_missing_one,
    test_filling_in.test_submit_presses_enter_and_waits_for_the_navigation,
    test_frames.test_a_frame_that_navigates_to_another_site_stays_readable,
    test_frames.test_frames_are_read_and_acted_in_like_the_page_itself,
    test_frames.test_nested_frames_of_other_sites_can_be_used,
    test_frames.test_open_shadow_roots_are_part_of_the_page,
    test_navigating.test_a_page_restored_from_the_back_forward_cache_keeps_its_state,
    test_navigating.test_a_status_without_content_leaves_the_tab_where_it_was,
    test_navigating.test_back_forward_and_reload_return_the_resulting_page,
    test_navigating.test_navigations_within_a_document_are_followed,
    test_navigating.test_redirects_by_script_and_meta_refresh_are_followed,
    test_uploads_and_downloads.test_a_file_chooser_ends_when_its_page_is_left,
    test_uploads_and_downloads.test_a_page_that_asked_for_one_file_does_not_get_two,
    test_uploads_and_downloads.test_without_a_target_the_files_go_to_the_field_that_asked,
]
vars().update({test.__name__: test for test in CHOSEN})


@pytest.fixture
def house(own_firefox: OwnHouse) -> House:
    return own_firefox.house


async def test_a_tab_that_a_click_opens_is_in_the_same_group_and_jar(
    own_firefox: OwnHouse, house: House, web: Web
) -> None:
    """Firefox's popup blocker is on, as people have it, and would block each of these tabs."""
    opens: list[tuple[str, dict[str, Any]]] = [
        ("<a href='{url}' target=_blank>Go</a>", {}),
        ("<a href='{url}'><b>Go</b></a>", {"modifiers": ["ControlOrMeta"]}),
        ("<a href='{url}'>Go</a>", {"button": "middle"}),
        ("<form action='{url}' target=_blank><input name=q value=1><button>Go</button></form>", {}),
        ("<button onclick=\"window.open('{url}')\">Go</button>", {}),
        ("<button onclick=\"window.open('{url}', '', 'noopener')\">Go</button>", {}),
    ]
    async with house.agent(web, jar=JarPolicy.FRESH) as agent:
        await agent.show("<script>document.cookie = 'in=jar'</script>")
        for html, how in opens:
            goal = web.page("<script>console.log('said', document.cookie)</script>", title="Popup")
            page = await agent.show(html.format(url=goal), title="Opener")
            done = await agent.click("text=Go", **how)
            assert done.opened, html
            (popup,) = done.opened
            while not (said := (await agent.call(ops.ConsoleMessages(tab=popup))).messages):
                pass
            assert [one.text for one in said] == ["said in=jar"], html
            assert done.url == page.url, "the opener stays where it was"
            tabs = [tab for tab in await own_firefox.strip() if tab["title"] in ("Popup", "Opener")]
            assert len({tab["groupId"] for tab in tabs}) == 1
    assert await own_firefox.active() == own_firefox.pages[0]


async def test_a_popup_that_a_page_opens_by_itself_stays_blocked(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        goal = web.page("Popup")
        await agent.show(
            f"<a id=a href='{goal}' target=_blank></a><script>a.click(); window.open('{goal}')"
            "</script><button>B</button><script>document.querySelector('button').onclick = () => {"
            f"for (let n = 0; n < 5; n++) window.open('{goal}') }}</script>"
        )
        assert len((await agent.tabs()).tabs) == 1
        assert len((await agent.click("button")).opened or ()) == 1


def taken(path: str) -> str:
    """Return the file's content, and remove the file from the person's folder."""
    text = Path(path).read_text(encoding="utf-8")
    Path(path).unlink()
    return text


async def test_downloads_are_reported_with_their_paths(house: House, web: Web) -> None:
    url = web.serve(attachment("report.csv", b"1,2"))
    plain = web.serve(Answer(b"plain", kind="text/plain"))
    popup = web.serve(attachment("popup.bin", b"popup"))
    async with house.agent(web) as agent:
        page = await agent.show(
            f"<a id=a href='{url}'>A</a><a id=b href='{plain}' download=named.txt>B</a>"
            "<a id=c download=blob.txt>C</a><a id=d download=d.txt href='data:text/plain,x'>D</a>"
            f"<a id=e href='{popup}' target=_blank>E</a>"
            "<script>c.href = URL.createObjectURL(new Blob(['blob']))</script>"
        )
        contents = {"a": "1,2", "b": "plain", "c": "blob", "d": "x", "e": "popup"}
        for target, content in contents.items():
            done = await agent.click(f"#{target}")
            while not done.downloads:
                done = await agent.click("body")
            (path,) = done.downloads
            assert taken(path) == content
            assert done.url == page.url
        arrived = await agent.go(url)
        assert (arrived.url, arrived.status) == (page.url, 200)
        assert len((await agent.tabs()).tabs) == 1, "the tab that was opened for one is gone"


async def test_two_sessions_that_download_one_address_get_a_file_each(
    house: House, web: Web
) -> None:
    numbers = count(1)
    url = web.serve(lambda _: attachment(f"file-{next(numbers)}.txt"))
    async with house.agent(web) as ann, house.agent(web) as bob:
        for agent in (ann, bob):
            await agent.show(f"<a href='{url}'>Get</a>")
        clicks = await asyncio.gather(*(agent.click("a") for agent in (ann, bob)))
        found = [one.downloads for one in clicks]
        for at, agent in enumerate((ann, bob)):
            while not found[at]:
                found[at] = (await agent.click("body")).downloads
        names = [Path(path).name for paths in found for path in paths or ()]
        assert sorted(names) == ["file-1.txt", "file-2.txt"]


async def test_every_kind_of_field_can_be_filled(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        for html, value, read, expected in FIELDS:
            await agent.show(html)
            await agent.fill("#f", value)
            found = await agent.run(f"() => {{ const f = window.f; return {read} }}")
            assert found == expected, html
