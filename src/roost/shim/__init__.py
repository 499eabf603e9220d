"""``roost mcp``: an MCP server on stdio that is only a relay. The server itself is in the broker.

Lives here: ``relay.py`` (what passes, and what must be said again after a broker restart; no I/O),
``lines.py`` (lines from a client that may send anything), ``broker_connection.py`` (hello, and
coming back as the same agent), ``pump.py`` (stdin, stdout and the socket), ``main.py`` (flags,
environment, hello).
May import: ``errors``, ``local``, ``vocabulary``, ``wire``. Of the standard library: not asyncio.
Every agent runs a shim, so each import costs memory once per agent.
Never here: what a tool is. Anything on stdout that is not protocol.
Tests: ``tests/shim``.
"""
