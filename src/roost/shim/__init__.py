"""``roost mcp``: an MCP server on stdio that is only a relay. The server itself is in the broker.

Lives here: ``relay.py`` (what passes, and what must be said again after a broker restart; no I/O),
``lines.py`` (lines from a client that may send anything), ``broker_connection.py`` (hello, and
coming back as the same agent), ``pump.py`` (stdin, stdout and the socket), ``main.py`` (flags,
environment, hello).
May import: ``local``, ``wire``, ``errors``, ``vocabulary``, the standard library without asyncio:
every agent pays for what is loaded here.
Never here: what a tool is. Anything on stdout that is not protocol.
Tests: ``tests/shim``.
"""
