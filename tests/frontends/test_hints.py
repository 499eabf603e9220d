"""Every hint, spelled by every front end: readers are only told of what they can perform."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from mcp import Client as McpClient

import roost
from roost import errors
from roost.api import operations as ops
from roost.api.operations import OPERATIONS, Audience
from roost.api.steps import step_of
from roost.client.hints import spell as as_python
from roost.errors import SessionGone
from roost.frontends.cli.hints import COMMANDS
from roost.frontends.cli.hints import spell as as_command
from roost.frontends.cli.main import cli, run
from roost.frontends.http.hints import spell as as_request
from roost.frontends.http.openapi import description
from roost.frontends.mcp.browser_names import ALL, CORE, INSTRUCTIONS, browser_names
from roost.frontends.mcp.claudezilla.names import TOOLS, firefox_names
from roost.frontends.mcp.server import Guest, make_server
from roost.frontends.mcp.toolset import Toolset
from roost.hints import LONGER_TIMEOUT, UNLISTED, Hint, no_way
from roost.testing.house import fake_house
from roost.testing.waits import error_of
from roost.wire.hello import ClientKind
from tests.frontends.http.http_callers import plain_http

SOURCES = Path(roost.__file__).parent
TOOL_NAMES = [
    row.op for row in OPERATIONS.values() if row.audience in (Audience.CORE, Audience.ALL)
]
CLAUDEZILLA_NAMES = [row.tool for row in TOOLS]
ANY_TOOL = re.compile(rf"\b({'|'.join([*TOOL_NAMES, *CLAUDEZILLA_NAMES])})\b")
QUOTED = re.compile(r"`([^`]*)`")


def templates() -> Iterator[tuple[str, str]]:
    """Yield every ``Hint(…)`` in the sources, with its place.

    ``prepared_answers`` reads a hint from a file, which ``make docs`` writes from ``INSTRUCTIONS``.
    """
    for path in sorted(SOURCES.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if path.name == "prepared_answers.py" or "Hint(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id == "Hint":
                place = f"{path.relative_to(SOURCES)}:{node.lineno}"
                (text,) = node.args
                assert isinstance(text, ast.Constant), f"{place}: write the hint as one literal"
                assert isinstance(text.value, str)
                yield place, text.value


def steps_of(hint: Hint) -> set[str]:
    """Return the operations that the hint names. A longer timeout is none."""
    return {named.removeprefix(UNLISTED) for named in hint.steps} - {LONGER_TIMEOUT}


HINTS = dict(templates())
every_hint = pytest.mark.parametrize("hint", [Hint(text) for text in HINTS.values()], ids=HINTS)
TOOLSETS: list[Toolset] = [
    browser_names((CORE,)),
    browser_names((ALL,)),
    *(browser_names((name,)) for name in TOOL_NAMES),
    firefox_names(()),
    *(firefox_names((name,)) for name in CLAUDEZILLA_NAMES),
]


def check_sentence(text: str) -> None:
    assert text.strip()
    assert text[0] not in " ,;.:"
    assert "  " not in text
    assert not re.search(r"\s[.,;:]", text)


def test_the_walk_finds_the_hints() -> None:
    defaults = {error.default_hint for error in errors.BY_CODE.values()}
    found = {str(Hint(text)) for text in HINTS.values()}
    assert {hint for hint in defaults if isinstance(hint, Hint)} <= found
    assert INSTRUCTIONS in found
    assert len(HINTS) > 20


@every_hint
def test_every_step_is_an_operation_with_arguments_it_takes(hint: Hint) -> None:
    for named in steps_of(hint):
        step = step_of(named)
        assert step is not None
        properties = step.operation.model_json_schema(by_alias=True).get("properties", {})
        assert step.arguments.keys() <= properties.keys()
        for key, value in step.arguments.items():
            assert value in properties[key].get("enum", [value])


@every_hint
def test_the_sentence_holds_for_a_reader_that_can_perform_nothing(hint: Hint) -> None:
    check_sentence(hint.spelled(no_way))
    assert not ANY_TOOL.search(hint)


@every_hint
def test_tools_are_named_only_to_clients_that_list_them(hint: Hint) -> None:
    for toolset in TOOLSETS:
        names = {tool.name for tool in toolset.tools}
        for called in names:
            told = hint.spelled(toolset.spelling(called))
            check_sentence(told)
            # A tool that is not listed is named together with the way to have it listed.
            named = re.sub(rf"{ANY_TOOL.pattern} \(listed with [^)]*\)", "", told)
            assert set(ANY_TOOL.findall(named)) <= names


@every_hint
def test_an_agent_with_all_tools_is_told_a_tool_for_every_step(hint: Hint) -> None:
    """Steps that no tool performs are the person's, and a longer timeout depends on the tool."""
    spell = browser_names((ALL,)).spelling("browser_click")
    for named in steps_of(hint):
        step = step_of(named)
        assert step is not None
        is_tool = step.operation.op in TOOL_NAMES
        assert (spell(named) is not None) == is_tool


@every_hint
def test_a_person_is_told_commands_that_exist(hint: Hint) -> None:
    told = hint.spelled(as_command)
    check_sentence(told)
    assert not ANY_TOOL.search(told)
    for command in QUOTED.findall(told):
        check_command(command)


@pytest.mark.parametrize("text", COMMANDS.values())
def test_the_command_of_every_step_exists(text: str) -> None:
    check_command(text)


def check_command(text: str) -> None:
    program, *words = text.split()
    assert program == "roost"
    command: click.Command = cli
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    context = command.make_context("roost", words, resilient_parsing=True)
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options
    assert context.args == []


@every_hint
def test_an_http_caller_is_told_requests_that_exist(hint: Hint) -> None:
    told = hint.spelled(as_request)
    check_sentence(told)
    api = description("http://127.0.0.1:1")
    for named in steps_of(hint):
        method, path, *body = (as_request(named) or "").strip("`").split(" ", 2)
        described = api["paths"][path][method.lower()]
        for text in body:
            schema = described["requestBody"]["content"]["application/json"]["schema"]
            if "$ref" in schema:
                schema = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            assert json.loads(text).keys() <= schema["properties"].keys()


@every_hint
def test_a_python_caller_is_told_calls_that_exist(hint: Hint) -> None:
    check_sentence(hint.spelled(as_python))
    for named in steps_of(hint):
        code = (as_python(named) or "").strip("`")
        call = ast.parse(code, mode="eval").body
        assert isinstance(call, ast.Call)
        (made,) = call.args
        assert isinstance(made, ast.Call)
        assert isinstance(made.func, ast.Attribute)
        operation = getattr(roost.ops, made.func.attr)
        given = {keyword.arg for keyword in made.keywords}
        assert given <= operation.model_fields.keys()
        assert given >= {n for n, field in operation.model_fields.items() if field.is_required()}


# --- a longer timeout ----------------------------------------------------------------------


def test_a_longer_timeout_is_advised_only_where_the_caller_can_give_one() -> None:
    hint = errors.Timeout.default_hint
    assert isinstance(hint, Hint)
    names = browser_names((ALL,))
    for tool in names.tools:
        is_advised = "timeout" in hint.spelled(names.spelling(tool.name))
        assert is_advised == ("timeout" in tool.input_schema["properties"]), tool.name
    for spell in (firefox_names(()).spelling("firefox_click"), as_request, as_python):
        assert "longer timeout" in hint.spelled(spell)
    for spell in (as_command, no_way):
        assert "timeout" not in hint.spelled(spell)


# --- the doors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        (ClientKind.CLI, "`roost session list`"),
        (ClientKind.PYTHON, "`client.call(ops.SessionList())`"),
    ],
)
async def test_the_socket_spells_a_hint_for_the_kind_of_its_peer(
    kind: ClientKind, way: str, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        client = await house.client(house.hello(kind))
        refusal = await error_of(SessionGone, client.call(ops.SessionShow(session="nowhere")))
        assert way in refusal.hint
        await client.aclose()


async def test_the_socket_spells_the_notes_of_an_answer(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=6) as house:
        ada, bob = await house.client(), await house.client()
        for _ in range(6):
            await ada.call(ops.Tabs(action="new"))
        await bob.call(ops.TabSpaceRequest())
        notes = (await ada.call(ops.Ping())).notes
        assert notes is not None
        assert "`client.call(ops.TabSpaceGrant())`" in notes[0]
        await ada.aclose()
        await bob.aclose()


async def test_http_spells_a_hint_as_requests(tmp_path: Path) -> None:
    async with (
        fake_house(tmp_path) as house,
        plain_http(house.broker.http or "") as http,
    ):
        token = {"authorization": f"Bearer {house.home.operator_token()}"}
        answer = await http.get("/session/nowhere/tabs", headers=token)
        assert answer.json()["code"] == "SESSION_GONE"
        assert "`POST /session`" in answer.json()["hint"]


@pytest.mark.parametrize(
    ("toolset", "tool", "way"),
    [
        (browser_names(()), "browser_close", "browser_tabs{action: list}"),
        (firefox_names(()), "firefox_close_tab", "firefox_get_tabs"),
    ],
)
async def test_mcp_spells_a_hint_as_the_tools_it_lists(
    toolset: Toolset, tool: str, way: str, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        guest = Guest(house.admit().api, toolset)
        tab = {"tab": "t99"} if tool == "browser_close" else {"tabId": 99}
        async with McpClient(make_server(lambda _: guest, "")) as client:
            answer = await client.call_tool(tool, tab)
        assert answer.is_error
        assert way in str(answer.content)


def test_a_command_that_is_given_wrong_arguments_names_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["session", "open", "--name", "x" * 81]) == 1
    assert "hint: See `roost session open --help`." in capsys.readouterr().err


# --- the rooms below ----------------------------------------------------------------------


def sources() -> Iterator[Path]:
    """Yield the files that must not know a tool's name.

    ``frontends/mcp`` lists the tools, and ``demo`` plays MCP clients.
    """
    for path in [*SOURCES.rglob("*.py"), *(SOURCES / "page").rglob("*.ts")]:
        if path.relative_to(SOURCES).parts[:2] not in {("frontends", "mcp")}:
            if path.relative_to(SOURCES).parts[0] != "demo":
                yield path


def words_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield strings and comments; identifiers may look like tools."""
    text = path.read_text(encoding="utf-8")
    if not ANY_TOOL.search(text):
        return  # splitting every file into tokens takes seconds
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_the_table = path.parent.name == "api" and token.line.startswith("    op = ")
        is_the_table |= path.name == "orders.py" and " = Order(" in token.line
        if token.type in (tokenize.STRING, tokenize.COMMENT) and not is_the_table:
            yield token.start[0], token.string


def test_no_room_outside_of_mcp_contains_a_tools_name() -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{line}"
        for path in sources()
        for line, words in words_of(path)
        if ANY_TOOL.search(words)
    ]
    assert found == []
