"""The one interface between front ends and the broker.

``operations`` says what a caller may ask, ``views`` what it gets back, ``broker`` has the Protocol
with two members that every front end calls.

Lives here: the operation table. MCP tools, HTTP routes, CLI verbs and docs are derived from it.
May import: ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``; pydantic.
Never here: how anything is done, who may do it, how it is shown.
Tests: ``tests/api``.
"""
