"""The broker performs what the core decided.

Lives here: the one caller of the core, browsers, per-tab lanes, journal, audit, clock, the door,
and the work behind each operation.
May import: ``api``, ``core``, ``drivers.base``, ``wire``, ``local``, sqlite3, asyncio.
Never here: who may do what (core decides), a concrete driver (daemon), a socket (frontends).
Tests: ``tests/broker``; ``roost.testing.check_broker_api`` holds for it and for every front end.
"""
