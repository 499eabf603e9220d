"""Page tests, a choice of them, in the person's own Firefox: what scripts do for hands there has to
come to the same as a browser's own input."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.vocabulary import JarPolicy
from tests.e2e.extension.own_firefox_house import OwnFirefoxHouse
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
from tests.support.local_web import Answer, Web
from tests.support.pages_house import House

pytestmark = pytest.mark.timeout(120)
CHOSEN = [
    test_clicking.test_a_click_that_leads_away_answers_with_the_new_page,
    test_clicking.test_double_right_and_modified_clicks_arrive_as_such,
    test_clicking.test_what_cannot_be_clicked_says_why,
    test_console_and_network.test_redirects_are_each_on_record,
    test_console_and_network.test_requests_are_listed_with_status_and_without_secrets,
    test_dialogs.test_a_dialog_that_opens_by_itself_interrupts_what_waits,
    test_dialogs.test_an_action_answers_with_the_dialog_it_opened,
    test_dialogs.test_closing_a_tab_asks_nobody,
    test_dialogs.test_confirm_and_prompt_get_the_callers_answer,
    test_dialogs.test_evaluate_that_opens_a_dialog_is_told_so,
    test_dialogs.test_everything_else_is_refused_while_it_stands,
    test_dragging.test_a_page_that_follows_the_mouse_sees_every_step,
    test_dragging.test_dragging_between_points_moves_a_slider,
    test_dragging.test_html5_drag_and_drop_carries_its_data_over,
    test_filling_in.test_enter_and_space_operate_what_has_the_focus,
    test_filling_in.test_keys_and_combinations_do_what_they_do_for_people,
    test_filling_in.test_select_option_takes_values_and_labels_and_names_what_it_lacks,
    test_filling_in.test_submit_presses_enter_and_waits_for_what_follows,
    test_frames.test_a_frame_that_navigates_to_another_site_stays_readable,
    test_frames.test_frames_are_read_and_acted_in_like_the_page_itself,
    test_frames.test_frames_in_frames_across_sites,
    test_frames.test_open_shadow_roots_are_part_of_the_page,
    test_navigating.test_a_page_that_comes_from_the_cache_whole_keeps_its_state,
    test_navigating.test_a_status_without_content_leaves_the_tab_where_it_was,
    test_navigating.test_back_forward_and_reload,
    test_navigating.test_moves_within_a_document_are_followed,
    test_navigating.test_scripts_and_meta_refresh_that_lead_on_are_followed,
    test_uploads_and_downloads.test_a_chooser_is_over_when_its_page_is_left,
    test_uploads_and_downloads.test_a_page_that_asked_for_one_file_does_not_get_two,
    test_uploads_and_downloads.test_without_a_target_the_files_go_where_the_page_asked,
]
vars().update({test.__name__: test for test in CHOSEN})


@pytest.fixture
def house(own_firefox: OwnFirefoxHouse) -> House:
    return own_firefox.house


async def test_what_a_click_opens_is_a_tab_of_the_same_group_and_jar(
    own_firefox: OwnFirefoxHouse, house: House, web: Web
) -> None:
    """Firefox's popup blocker is as people have it: it would have none of them."""
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


async def test_what_a_page_opens_by_itself_stays_blocked(house: House, web: Web) -> None:
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
    """What is in it; then it is gone from the person's folder."""
    text = Path(path).read_text(encoding="utf-8")
    Path(path).unlink()
    return text


async def test_downloads_are_told_with_where_they_lie(house: House, web: Web) -> None:
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


async def test_one_address_at_once_for_two_sessions_is_one_file_for_each(
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


async def test_every_kind_of_field_takes_its_value(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        for html, value, read, expected in FIELDS:
            await agent.show(html)
            await agent.fill("#f", value)
            found = await agent.run(f"() => {{ const f = window.f; return {read} }}")
            assert found == expected, html
