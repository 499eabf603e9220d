"""The tools that a client sees: generated from the operation table, and small."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp_types import ListToolsResult

from roost.api.broker import Notices
from roost.api.operations import OPERATIONS, Answers, Audience, Operation, parse
from roost.api.views import LoopView, Pong, TabsView, View
from roost.errors import BadRequest
from roost.frontends.mcp import server
from roost.frontends.mcp.browser_names import browser_names
from roost.frontends.mcp.conversation import toolset_for
from roost.frontends.mcp.schemas import argument_schema
from roost.frontends.mcp.toolset import Tool
from roost.testing.samples import sample

LIST_BYTES = 16_000
"""The outer contract's limit for the core tools as JSON (docs/design/contract.md)."""
TOOLS = browser_names(("all",)).tools


CORE = set(
    """
    browser_navigate browser_navigate_back browser_snapshot browser_find browser_click browser_type
    browser_fill_form browser_select_option browser_press_key browser_hover browser_drag
    browser_scroll browser_wait_for browser_take_screenshot browser_evaluate browser_get_content
    browser_tabs browser_close browser_handle_dialog browser_file_upload browser_console_messages
    browser_handoff
    browser_network_requests session_open session_list session_dispose tab_space_request
    tab_space_grant tab_space_status loop_start loop_stop loop_status roost_status browser_batch
    browser_fill_secret
    """.split()
)
MORE = set(
    """
    browser_page_state browser_reload browser_navigate_forward browser_network_request
    browser_cookies browser_storage_state browser_pdf_save browser_downloads browser_handle_consent
    browser_resize browser_mouse_click_xy browser_mouse_move_xy browser_mouse_drag_xy
    browser_mouse_wheel browser_mouse_down browser_mouse_up browser_triple_click browser_hold_key
    browser_press_sequentially browser_zoom_screenshot browser_get browser_is browser_highlight
    browser_keydown browser_keyup browser_tap browser_swipe browser_drop browser_storage
    browser_read browser_webmcp_list browser_webmcp_call
    browser_network_messages browser_har browser_route_har
    browser_conditions browser_route browser_route_list browser_unroute browser_network_state_set
    browser_set_headers browser_set_credentials browser_emulate browser_init_script
    browser_drawings browser_login secret_list browser_clipboard browser_copy browser_paste
    """.split()
)
"""Names in docs/design/contract.md: other people's prompts and scripts rely on them."""


class Recorder:
    """A ``BrokerApi`` that records the operations."""

    def __init__(self, view: View | None = None) -> None:
        self.asked: list[Operation] = []
        self._view = view or Pong()

    async def call(self, operation: Answers[Any], *, timeout: float | None = None) -> Any:
        assert isinstance(operation, Operation)
        self.asked.append(operation)
        return self._view

    def watch(self, session: str | None = None) -> Notices:
        raise NotImplementedError


def asked(name: str, arguments: Mapping[str, Any]) -> Operation:
    """Return the operation that a call of that tool becomes."""
    api = Recorder()
    asyncio.run(browser_names(("all",)).call(api, name, arguments))
    (operation,) = api.asked
    return operation


def test_the_tools_are_the_ones_that_were_promised() -> None:
    assert {tool.name for tool in browser_names().tools} == CORE
    assert {tool.name for tool in TOOLS} == CORE | MORE


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("browser_navigate", {"url": "https://site.test/"}),
        ("browser_navigate_back", {}),
        ("browser_navigate_forward", {}),
        ("browser_reload", {}),
        ("browser_wait_for", {"text": "x"}),
        ("browser_tabs", {"action": "select", "tab": "t1"}),
    ],
)
def test_models_are_shown_the_page_and_programs_are_not_unless_they_ask(
    name: str, arguments: dict[str, Any]
) -> None:
    assert asked(name, arguments).snapshot == "diff"  # type: ignore[attr-defined]
    assert asked(name, {**arguments, "snapshot": "none"}).snapshot == "none"  # type: ignore[attr-defined]
    assert parse(name, arguments).snapshot == "none"  # type: ignore[attr-defined]


def test_the_core_list_fits_its_budget() -> None:
    listed = ListToolsResult(tools=[server._listed(tool) for tool in browser_names().tools])
    size = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())

    assert size <= LIST_BYTES, f"{size} bytes"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_says_what_it_is_and_takes_what_its_operation_takes(tool: Tool) -> None:
    operation = OPERATIONS[tool.name]
    properties = tool.input_schema["properties"]

    assert tool.title
    assert tool.description
    for name in tool.input_schema.get("required", ()):
        assert name in properties
    given = {field.alias or name for name, field in operation.model_fields.items()}
    assert set(properties) <= given | {"target"}
    assert '"title":' not in json.dumps(properties)
    assert '"null"' not in json.dumps(properties)
    assert "$ref" not in json.dumps(properties)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_call_of_a_tool_is_its_operation(tool: Tool) -> None:
    operation = sample(tool.name)

    assert asked(tool.name, operation.to_wire()) == operation


def test_every_page_tool_takes_tab_and_session() -> None:
    in_no_tab = (
        "browser_downloads", "browser_drawings", "browser_batch", "browser_handoff", "browser_har",
        "browser_clipboard",
    )  # fmt: skip
    for tool in TOOLS:
        if tool.name.startswith("browser_") and tool.name not in in_no_tab:
            assert {"tab", "session"} <= set(tool.input_schema["properties"]), tool.name


def test_operations_for_the_operator_or_for_front_ends_are_no_tools() -> None:
    shown = {tool.name for tool in TOOLS}
    hidden = {
        row.op for row in OPERATIONS.values() if row.audience in (Audience.INNER, Audience.OPERATOR)
    }

    assert hidden
    assert shown & hidden == set()
    for name in hidden:
        with pytest.raises(BadRequest):
            asked(name, {})


def test_only_tools_that_answer_with_roosts_own_data_have_a_schema() -> None:
    with_schema = {tool.name for tool in TOOLS if tool.output_schema is not None}

    assert with_schema == {
        "tab_space_request", "tab_space_grant", "tab_space_status",
        "loop_start", "loop_stop", "loop_status", "session_dispose", "secret_list",
    }  # fmt: skip


def test_tools_are_marked_as_reading_or_destroying_as_the_table_says() -> None:
    for tool in TOOLS:
        listed = server._listed(tool)
        assert listed.annotations is not None
        assert listed.title == tool.title
        operation = OPERATIONS[tool.name]
        assert bool(listed.annotations.read_only_hint) == operation.read_only
        assert bool(listed.annotations.destructive_hint) == operation.destructive


@pytest.mark.parametrize("spelling", ["target", "ref"])
def test_the_older_spelling_of_target_is_accepted(spelling: str) -> None:
    assert asked("browser_click", {spelling: "e1"}) == sample("browser_click", target="e1")


def test_null_arguments_count_as_not_given() -> None:
    arguments = {"target": "e1", "element": None, "button": None, "tab": None}

    assert asked("browser_click", arguments) == sample("browser_click", target="e1")


def test_arguments_that_are_aliases_or_for_people_are_not_listed() -> None:
    assert "completionPromise" not in argument_schema(OPERATIONS["loop_start"])["properties"]
    assert asked("loop_start", {"prompt": "x", "completionPromise": "y"})
    assert "element" not in argument_schema(OPERATIONS["browser_type"])["properties"]
    assert asked("browser_type", {"target": "e1", "text": "x", "element": "the field"})


@pytest.mark.parametrize(
    ("words", "shown", "not_shown"),
    [
        ((), "browser_click", "browser_reload"),
        (("core",), "browser_click", "browser_reload"),
        (("all",), "browser_reload", "ping"),
        (("browser_reload",), "browser_reload", "browser_click"),
        (("core", "browser_reload"), "browser_reload", "browser_resize"),
    ],
)
def test_a_client_is_shown_the_tools_it_asked_for(
    words: tuple[str, ...], shown: str, not_shown: str
) -> None:
    names = [tool.name for tool in browser_names(words).tools]

    assert shown in names
    assert not_shown not in names
    assert len(names) == len(set(names))


def test_a_tool_that_was_not_asked_for_cannot_be_called() -> None:
    with pytest.raises(BadRequest) as refusal:
        asyncio.run(browser_names().call(Recorder(), "browser_reload", {}))

    assert "--tools all" in refusal.value.hint


@pytest.mark.parametrize(
    ("names", "tools", "field", "near"),
    [
        ("chrome", (), "names", "browser"),
        (None, ("browser_clik",), "tools", "browser_click"),
        (None, ("cor",), "tools", "core"),
    ],
)
def test_names_and_tools_there_are_not_are_refused(
    names: str | None, tools: tuple[str, ...], field: str, near: str
) -> None:
    with pytest.raises(BadRequest) as refusal:
        toolset_for(names, tools)

    assert refusal.value.details["field"] == field
    assert near in refusal.value.hint


def test_a_misspelt_tool_is_told_what_was_probably_meant() -> None:
    with pytest.raises(BadRequest) as refusal:
        asked("browser_snapshoot", {})

    assert refusal.value.hint.startswith("Did you mean browser_snapshot? ")
    assert refusal.value.details["field"] == "tool"


@pytest.mark.parametrize(
    ("name", "arguments", "reads"),
    [
        ("browser_snapshot", {}, True),
        ("browser_click", {"target": "e1"}, False),
        ("browser_tabs", {"action": "list"}, True),
        ("browser_tabs", {"action": "new"}, False),
        ("browser_console_messages", {"clear": True}, False),
        ("browser_click", {}, True),
        ("no_such_tool", {}, True),
    ],
)
def test_whether_a_call_only_reads_depends_on_its_arguments(
    name: str, arguments: dict[str, Any], reads: bool
) -> None:
    """A call that is refused changes nothing, either."""
    assert browser_names(("all",)).only_reads(name, arguments) is reads


def test_roosts_own_data_is_told_as_data_too() -> None:
    view = LoopView(active=False)
    reply = asyncio.run(browser_names().call(Recorder(view), "loop_status", {}))

    assert reply.structured == {"active": False}


def test_page_answers_are_never_told_as_data() -> None:
    view = TabsView(tabs=[], tab_pool="0/12")
    for name, arguments in (("browser_close", {}), ("browser_tabs", {"action": "list"})):
        reply = asyncio.run(browser_names().call(Recorder(view), name, arguments))

        assert reply.structured is None


def test_every_tool_has_the_hints_that_clients_decide_by() -> None:
    hints = {tool.name: server._listed(tool).annotations for tool in browser_names(("all",)).tools}
    assert all(hint is not None and hint.open_world_hint is not None for hint in hints.values())
    for name, hint in hints.items():
        assert hint is not None
        assert hint.read_only_hint or hint.destructive_hint is not None, name
    bookkeeping = {name for name, hint in hints.items() if hint and not hint.open_world_hint}
    assert {
        "session_list",
        "session_dispose",
        "tab_space_request",
        "tab_space_grant",
    } <= bookkeeping
    assert {"loop_start", "loop_stop", "loop_status", "roost_status"} <= bookkeeping
    assert not bookkeeping & {"browser_navigate", "browser_click", "browser_tabs", "session_open"}
    repeatable = {name for name, hint in hints.items() if hint and hint.idempotent_hint}
    assert {"tab_space_request", "loop_stop", "session_dispose"} <= repeatable
