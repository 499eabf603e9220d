"""The CDP front end shows a session as a whole browser to unmodified DevTools clients.

Lives here: ``methods.py`` (THE table of methods a client may call), ``commands.py`` (how each
call is handled), ``visible_browser.py`` (the browser that one client sees) with ``targets.py``
(which targets it may see), ``authentication.py`` (passwords that the client gives),
``clipboard.py`` (keys that copy and paste) and
``messages.py``. None of these does I/O: they take messages and
return effects. ``client.py`` (one connection), ``server.py`` (WebSocket and JSON addresses) and
``endpoints.py`` (the application that HTTP mounts).
May import: ``api``, ``errors``, ``vocabulary``, ``wire``; starlette.
Never here: decisions about who owns a tab (the broker makes them), or a way around the table.
Tests: ``tests/frontends/cdp``; with real clients ``tests/e2e/cdp``.
"""
