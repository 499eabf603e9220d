"""The HTTP front end on 127.0.0.1: routes, server-sent events and an OpenAPI description.

The token of a request is the caller's identity.

Lives here: ``server.py`` (listens; loads the rest at the first connection), ``listener.py`` (its
port), ``uvicorn_server.py``, ``reception.py``, ``connection.py`` and ``sockets.py`` (peers),
``gate.py`` (checks Host, Origin and token before anything else), ``app.py`` (the routes),
``calls.py`` and ``events.py`` (their functions), ``bodies.py``, ``replies.py``, ``openapi.py``.
May import: ``api``, ``errors``, ``local``, ``vocabulary``, ``wire``; pydantic, starlette, uvicorn,
websockets.
Never here: who a token's holder is allowed to be (the door decides) or what an operation does.
Tests: ``tests/frontends/http``.
"""
