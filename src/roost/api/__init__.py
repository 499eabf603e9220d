"""The one way in: what a caller may ask (``operations``), what it gets back (``views``), and the
two-member Protocol between every front end and the broker (``broker``).

Lives here: the operation table. MCP tools, HTTP routes, CLI verbs and docs are derived from it.
May import: ``errors``, ``local``, ``vocabulary``, ``wire``; pydantic.
Never here: how anything is done, who may do it, how it is shown.
Tests: ``tests/api``.
"""
