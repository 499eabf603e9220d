"""The test kit, shipped: what a driver, a front end or a broker must do, as code that runs.

Lives here: the contract suites (``drivers``, ``broker_api``), the web site that they use
(``site``), a whole Roost in one process (``house``), ``FakeClock``, and faults to inject
(``faults``).
May import: ``api``, ``broker``, ``broker.doors``, ``client``, ``core``, ``daemon``, ``drivers``,
``drivers.fake``, ``errors``, ``frontends.http``, ``frontends.socket``, ``local``, ``profiles``,
``vault``, ``vocabulary``, ``wire``. It needs no pytest, so that any project's tests can use it.
Never here: anything the product runs on; only tests import this room.
Tests: ``tests/drivers`` and ``tests/broker`` run the suites; ``tests/testing`` tests the rest.
"""
