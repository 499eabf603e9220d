"""The dashboard front end: a page on which a person watches the agents.

Lives here: ``mount`` (the application that HTTP mounts), ``server`` (the page's files and the
WebSocket), ``viewer_socket`` (one open page: what it asks and what it is sent), ``source`` (the
page in TypeScript) and ``page`` (what is served: built from ``source`` and committed).
May import: ``api``, ``errors``, ``vocabulary``, ``wire``; pydantic, starlette.
Never here: what a viewer may see (the broker decides that), or a decision about a session.
Tests: ``tests/frontends/dashboard``; with real browsers ``tests/e2e/dashboard``.
"""
