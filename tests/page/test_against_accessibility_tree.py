# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Everything operable that Chromium's own accessibility tree lists and that is visible has a ref in our snapshot.

Pages nobody here wrote: the manual of Python, and the task pages of miniwob. Differences that are meant:

| Chromium lists | we do not, because |
|---|---|
| options of a closed `<select>` | the browser draws them outside the page; `browser_select_option` takes them by label |
| scrolling containers made focusable by Chromium itself | nothing to operate; scrolling takes any ref inside them |
| elements it lists although they are not rendered (`visible` is false) | nobody could act on them |
| parts of media controls and date pickers | they live in closed shadow roots; the element around them has the ref |
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.accessibility_tree import OperableNode, operable_nodes
from tests.page.page_world import PageWorld

MANUAL = "index about bugs search tutorial/index library/queue howto/index faq/index".split()

TASKS = (
    "book-flight buy-ticket choose-date choose-list click-checkboxes-large click-collapsible-2 click-dialog-2 click-menu-2 click-scroll-list "
    "click-shades click-tab-2-hard copy-paste-2 click-button enter-date enter-password enter-time form-sequence-3 login-user-popup order-food "
    "phone-book search-engine social-media-all text-editor use-autocomplete use-slider use-spinner"
).split()


def missing_from(page: PageWorld) -> list[OperableNode]:
    text = page.snapshot(maxChars=5_000_000)
    listed = operable_nodes(page)
    assert any(node.visible for node in listed), "Chromium lists nothing: the page did not load"
    return [
        node
        for node in listed
        if node.visible and f"[ref={node.ref}]" not in text and not is_explained(node)
    ]


def is_explained(node: OperableNode) -> bool:
    return (
        node.tag == "option"
        or node.role in ("generic", "none", "GenericContainer", "Section")
        and "tabindex" not in node.markup
    )


@pytest.mark.parametrize("name", MANUAL)
def test_operable_elements_of_a_manual_page_have_refs(
    page: PageWorld, python_doc: str, name: str
) -> None:
    assert missing_from(page.open(f"{python_doc}/{name}.html")) == []


@pytest.mark.parametrize("name", TASKS)
def test_operable_elements_of_a_task_page_have_refs(
    page: PageWorld, miniwob: str, name: str
) -> None:
    page.open(f"{miniwob}/miniwob/{name}.html")
    page.tab.evaluate("() => core.startEpisodeReal()")
    assert missing_from(page) == []


def test_operable_elements_of_a_form_with_every_field_have_refs(page: PageWorld) -> None:
    page.open((Path(__file__).parent / "everything.html").as_uri())
    assert missing_from(page) == []
