"""Call the broker from another process: ``BrokerApi`` over the socket.

Lives here: ``connection.py`` (one connection, many calls) and ``client.py`` (reconnects, resumes).
May import: ``api``, ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``.
Never here: decisions, drivers, the broker's internals.
Tests: ``tests/client``.
"""
