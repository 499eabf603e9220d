"""Front ends translate between the outside and ``BrokerApi``; they do nothing else.

Lives here: one folder per front end: ``socket``, ``http``, ``mcp``, ``cdp``, ``cli``, ``verbs``,
``dashboard``.
May import: nothing. Each front end imports its own toolkit: click and rich in ``cli``, starlette
and uvicorn in ``http``, the MCP SDK in ``mcp``.
Never here: core, drivers, the broker's inside, or another front end.
Tests: ``tests/frontends``.
"""
