"""Claudezilla's tools on Roost's operations: ``roost mcp --names firefox``.

Its users change only the command. Names, arguments and replies are the ones they know; what did not
work there works, since the operations below do: trusted input, background tabs, the page's own
console, limits, reservations, an identity nobody can borrow.

Lives here: ``names.py`` (the toolset), ``tool.py`` (what one of its tools is), ``desk.py`` (a
call's way to the broker); the tools by what they do: ``windows.py``, ``page_actions.py``,
``page_readings.py``, ``devtools.py``, ``tab_space.py``, ``settings.py``; ``tree.py`` and
``states.py`` (pages as data).
May import: ``api``, ``errors``, ``frontends.mcp``, ``vocabulary``, ``wire``; pydantic.
Never here: decisions. Whatever is refused is refused by the broker.
Tests: ``tests/frontends/test_claudezilla_*.py``, ``tests/e2e_mcp``.
"""
