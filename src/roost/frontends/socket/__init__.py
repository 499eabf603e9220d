"""The unix socket: hello, calls by id, cancel, events. JSON lines; see ``docs/reference/wire.md``.

Lives here: ``server.py`` (the listening socket) and ``connection.py`` (one peer).
May import: ``api``, ``errors``, ``local``, ``vocabulary``, ``wire``.
Never here: who a peer is allowed to be (the door decides) or what an operation does.
Tests: ``tests/frontends/test_socket_*.py``.
"""
