"""A session as a whole browser: unmodified DevTools clients connect and see that session alone.

Lives here: ``methods.py`` (THE table of what a client may say), ``commands.py`` (what becomes of
it), ``view.py`` (one client's view of the browser) with ``targets.py`` (what it may see) and
``messages.py``: all these without I/O, messages in and effects out; ``client.py`` (one connection),
``server.py`` (WebSocket and JSON addresses) and ``endpoints.py`` (what HTTP is given of
them).
May import: ``api``, ``errors``, ``vocabulary``, ``wire``; starlette.
Never here: whose a tab is (the broker says), or a way around the table.
Tests: ``tests/frontends/test_cdp_*.py``; with real clients ``tests/e2e_cdp``.
"""
