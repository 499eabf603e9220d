"""Doors: how a connection, a token or a hook becomes a caller with an identity.

Lives here: ``door`` (who a new connection is), ``identity`` (who runs a command, by the command's
ancestor processes), ``commands`` and ``command_callers`` (what a command may do),
``process_agents`` (agents that only run commands), ``subagents`` (which agent makes a call on a
shared connection), ``caller`` (one caller's ``BrokerApi``: deadline, redaction, audit line, and
``WORK``, which maps operations to their functions), ``token_callers`` (callers without a
connection), ``hooks`` (a client's hook), ``cdp_seats`` (CDP clients in a session), ``viewers``
(open dashboards).
May import: ``api``, ``broker``, ``broker.browser``, ``broker.work``, ``core``, ``drivers``,
``errors``, ``local``, ``vocabulary``, ``wire``.
Never here: what an operation does (``broker.work``), or who may do what (``core``).
Tests: ``tests/broker/doors``.
"""
