"""Doors: how a connection, a token or a hook becomes a caller with an identity.

Lives here: ``door`` (who a new connection is), ``identity`` (who runs a command, by
the command's ancestor processes), ``caller`` (one caller's ``BrokerApi``: deadline, audit line, and
``WORK``, which maps operations to their functions),
``token_callers`` (callers without a connection), ``hooks`` (a client's hook), ``cdp_seats`` (CDP
clients in a session).
May import: ``api``, ``broker``, ``broker.browser``, ``broker.work``, ``core``, ``drivers``,
``errors``, ``local``, ``vocabulary``, ``wire``.
Never here: what an operation does (``broker.work``), or who may do what (``core``).
Tests: ``tests/broker/doors``.
"""
