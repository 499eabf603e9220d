"""The tools under Playwright's names: one tool per operation, generated from the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from roost.api.broker import BrokerApi
from roost.api.operations import (
    OPERATIONS,
    Audience,
    Batch,
    Operation,
    nearest,
    parse_for_model,
)
from roost.api.steps import step_of
from roost.api.views import BatchView
from roost.errors import BadRequest
from roost.frontends.mcp.batch_replies import reply_to_batch
from roost.frontends.mcp.replies import DATA, reply_to
from roost.frontends.mcp.schemas import argument_schema
from roost.frontends.mcp.toolset import ABOUT_ANSWERS, Reply, Tool
from roost.hints import LONGER_TIMEOUT, UNLISTED, Hint, Spelling

CORE, ALL = "core", "all"
ANSWER = {"type": "object"}
"""The output schema of tools that send structured content."""
INSTRUCTIONS = Hint("""\
A browser shared by several agents: your session has tabs and cookies of its own.[
{Snapshot} shows the page with refs (ref=e12). Give one as target, or a selector: CSS, text=part, \
text="whole text", label=Name, role=button. Actions, navigation and waits answer with the new page \
or what changed since; snapshot: none, diff (default) or full.][
{Batch} does steps that you know already in one call: a form, a menu, a check after each.]
Tools take tab (default: your current tab) and session (default: your own). [Sub-agents have \
sessions of their own in Codex, and in Claude Code with Roost's plugin; elsewhere open one for \
each with {SessionOpen} and pass its id.|You have this one session.]""")


class BrowserNames:
    """The operations called ``names``, as a ``Toolset``."""

    def __init__(self, names: Iterable[str]) -> None:
        self._operations = {name: OPERATIONS[name] for name in names}
        self.tools: Sequence[Tool] = [_tool(each) for each in self._operations.values()]
        self.instructions = INSTRUCTIONS.spelled(self.spelling("")) + ABOUT_ANSWERS

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        try:
            return self._asked(name, arguments).only_reads()
        except BadRequest:
            return True  # it was refused before the restart, and is refused again

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        view = await api.call(self._asked(name, arguments))  # type: ignore[var-annotated, arg-type]
        spell = self.spelling(name)
        spelled = view.spelled(spell)
        reply = reply_to_batch if isinstance(spelled, BatchView) else reply_to
        return reply(spelled, spell)

    def spelling(self, name: str) -> Spelling:
        called = self._operations.get(name)
        takes_timeout = called is not None and "timeout" in called.model_fields
        return partial(self._spell, takes_timeout)

    def _spell(self, takes_timeout: bool, named: str) -> str | None:
        if named == LONGER_TIMEOUT:
            return "timeout, in seconds" if takes_timeout else None
        if named.startswith(UNLISTED):
            step = step_of(named.removeprefix(UNLISTED))
            return f"{step.operation.op} (listed with `roost mcp --tools all`)" if step else None
        step = step_of(named)
        if step is None or step.operation.op not in self._operations:
            return None
        arguments = ", ".join(f"{key}: {value}" for key, value in step.arguments.items())
        return step.operation.op + (f"{{{arguments}}}" if arguments else "")

    def _asked(self, name: str, arguments: Mapping[str, Any]) -> Operation:
        if name not in self._operations:
            raise _no_tool(name, self._operations)
        # Models send null for arguments they do not give.
        given = {key: value for key, value in arguments.items() if value is not None}
        operation = parse_for_model(name, given)
        if isinstance(operation, Batch):
            for step in operation.operations:
                if step.op not in self._operations:
                    raise _no_tool(step.op, self._operations)
        return operation


@lru_cache
def browser_names(asked: tuple[str, ...] = ()) -> BrowserNames:
    """Return the tools asked for, in table order.

    ``asked``: ``core`` (the default), ``all``, or names of tools. Raise ``BadRequest`` for others.
    """
    tools = [row.op for row in OPERATIONS.values() if row.audience in (Audience.CORE, Audience.ALL)]
    wanted: set[str] = set()
    for word in asked or (CORE,):
        if word == ALL:
            wanted.update(tools)
        elif word == CORE:
            wanted.update(op for op in tools if OPERATIONS[op].audience is Audience.CORE)
        elif word in tools:
            wanted.add(word)
        else:
            raise BadRequest(
                f"tools: there is no tool {word[:64]!r}.",
                hint=f"{nearest(word, [CORE, ALL, *tools])}Give core, all, or names of tools.",
                field="tools",
            )
    return BrowserNames(op for op in tools if op in wanted)


def _tool(operation: type[Operation]) -> Tool:
    return Tool(
        name=operation.op,
        title=operation.title,
        description=" ".join((operation.__doc__ or "").split()),
        input_schema=argument_schema(operation),
        output_schema=ANSWER if operation.reply in DATA else None,
        read_only=operation.read_only,
        destructive=operation.destructive,
        idempotent=operation.idempotent,
        open_world=operation.open_world,
    )


def _no_tool(name: str, shown: Mapping[str, type[Operation]]) -> BadRequest:
    known = OPERATIONS.get(name)
    if known is not None and known.audience in (Audience.CORE, Audience.ALL):
        hint = "It exists, but was not asked for: start the server with `roost mcp --tools all`."
    else:
        hint = f"{nearest(name, shown)}tools/list says what there is."
    return BadRequest(f"tool: there is no tool {name[:64]!r} here.", hint=hint, field="tool")
