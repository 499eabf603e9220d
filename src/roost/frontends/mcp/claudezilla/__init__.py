"""Claudezilla's tools on Roost's operations, for ``roost mcp --names firefox``.

Users of Claudezilla change only the command. Names, arguments and replies stay as they know them.
What Roost's operations add works here: trusted input, background tabs, the page's own console,
limits, reservations, and an identity that no other agent can use.

Lives here: ``names.py`` (the toolset), ``tool.py`` (base class of the tools), ``desk.py`` (a
call's access to the broker); the tools by subject: ``windows.py``, ``page_actions.py``,
``page_readings.py``, ``devtools.py``, ``tab_space.py``, ``settings.py``; ``tree.py`` and
``states.py`` (pages as data).
May import: ``api``, ``errors``, ``frontends.mcp``, ``vocabulary``, ``wire``; pydantic.
Never here: decisions. The broker decides what to refuse.
Tests: ``tests/frontends/mcp/claudezilla``, ``tests/e2e/mcp``.
"""
