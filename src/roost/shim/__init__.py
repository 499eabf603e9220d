"""``roost mcp``: a relay between an MCP client's stdio and the MCP server inside the broker.

Lives here: ``relay.py`` (what passes, and what to repeat after a broker restart; no I/O),
``lines.py`` (splits the client's input into lines of bounded length), ``broker_connection.py``
(connects, says hello, resumes the same agent), ``pump.py`` (stdin, stdout and the socket),
``prepared_answers.py`` (answers a client's first requests before the broker is there),
``main.py`` (flags, environment, hello).
May import: ``errors``, ``local``, ``vocabulary``, ``wire``. Every agent runs a shim, so each import
costs memory once per agent. Of the standard library: not asyncio.
Never here: what a tool is; anything on stdout that is not protocol.
Tests: ``tests/shim``.
"""
