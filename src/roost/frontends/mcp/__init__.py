"""MCP: the operation table as tools, for the shim's stream and for Streamable HTTP alike.

Lives here: ``toolset.py`` (what a set of tools is), ``browser_names.py`` (Playwright's names),
``claudezilla/`` (Claudezilla's), ``schemas.py`` and ``replies.py`` (what a model reads),
``server.py`` (the official SDK's server), ``lazy_server.py`` (how that is imported),
``conversation.py`` (one shim), ``streamable.py`` (HTTP).
May import: ``api``, ``errors``, ``frontends.mcp.claudezilla``, ``vocabulary``, ``wire``; mcp,
mcp_types, pydantic, starlette. Only ``server.py`` imports the SDK (mcp, mcp_types).
Never here: who a caller is (the door decides) or what an operation does.
Tests: ``tests/frontends/test_mcp_*.py``, ``tests/e2e_mcp``.
"""
