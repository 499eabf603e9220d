"""The test kit, shipped: what a driver, a front end or a broker must do, as code that runs.

Lives here: the contract suites. ``drivers`` checks a driver, with
``driver_conditions``, ``driver_deaths``, ``driver_films``, ``driver_jars``, ``driver_groups`` and
``driver_rig``. ``broker_api`` checks a front end or a broker, with ``broker_jars``,
``broker_space``, ``scene`` and ``samples``.
``attacks`` tries every operation on other sessions. What tests use: ``house`` (a whole Roost in one
process), ``site`` (a web site), ``clock`` (``FakeClock``), ``faults`` (to inject), ``sealer``,
``pictures``, ``waits``.
May import: ``api``, ``broker``, ``broker.doors``, ``client``, ``conditions``, ``core``, ``daemon``,
``drivers``, ``drivers.fake``, ``errors``, ``frontends.http``, ``frontends.socket``, ``local``,
``profiles``, ``vault``, ``vocabulary``, ``wire``. It needs no pytest, so that any project's tests
can use it.
Never here: anything the product runs on; only tests import this room.
Tests: ``tests/drivers`` and ``tests/broker`` run the suites; ``tests/testing`` tests the rest.
"""
