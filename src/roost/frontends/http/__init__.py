"""HTTP on 127.0.0.1: routes, server-sent events, an OpenAPI description. The token is the identity.

Lives here: ``server.py`` (listens; loads the rest at the first connection), ``listener.py`` (its
port), ``uvicorn_server.py`` and ``connection.py`` (peers), ``gate.py`` (Host, Origin, token: before
anything else), ``app.py`` (the routes), ``calls.py`` and ``events.py`` (what they do),
``bodies.py``, ``replies.py``, ``openapi.py``.
May import: ``api``, ``errors``, ``local``, ``vocabulary``, ``wire``; pydantic, starlette, uvicorn,
websockets.
Never here: who a token's holder is allowed to be (the door decides) or what an operation does.
Tests: ``tests/frontends/test_http_*.py``.
"""
