"""The MCP front end offers the operation table as tools, to the shim and over Streamable HTTP.

Lives here: ``toolset.py`` (what a set of tools is), ``browser_names.py`` (Playwright's names),
``claudezilla/`` (Claudezilla's), ``schemas.py``, ``replies.py`` and ``batch_replies.py`` (the text
that a model reads), ``server.py`` (the official SDK's server), ``lazy_server.py`` (imports it
late), ``conversation.py`` (one shim), ``call_origin.py`` (which sub-agent calls),
``elicitation.py`` (shows questions in the client), ``answer_lengths.py`` (how long an answer each
client takes), ``streamable.py`` (HTTP).
May import: ``api``, ``errors``, ``frontends.mcp.claudezilla``, ``hints``, ``vocabulary``, ``wire``;
mcp, mcp_types, pydantic, starlette. Only ``server.py`` imports the SDK (mcp, mcp_types).
Never here: who a caller is (the door decides) or what an operation does.
Tests: ``tests/frontends/mcp``, ``tests/e2e/mcp``.
"""
