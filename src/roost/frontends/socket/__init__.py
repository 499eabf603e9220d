"""The socket front end speaks JSON lines on a unix socket (``docs/reference/wire.md``).

Lives here: ``server.py`` (the listening socket), ``connection.py`` (one peer) and ``link.py`` (a
peer that is a keeper or a native host).
May import: ``api``, ``errors``, ``local``, ``vocabulary``, ``wire``.
Never here: who a peer is allowed to be (the door decides) or what an operation does.
Tests: ``tests/frontends/socket``.
"""
