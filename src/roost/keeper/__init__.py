"""The keeper: a tiny process that starts one browser and holds its protocol connection.

Lives here: ``wires`` (the pipe Chromium speaks on), ``chromium`` and ``firefox`` (how each is
started and held), ``browser_process`` (what both need for that), ``watchdog`` (a process that ends
the browser when the keeper was killed). The relay itself is in ``link``. It outlives the broker;
the next goes on with it.
May import: ``errors``, ``link``, ``local``, ``vocabulary``; websockets. Of the standard library:
not asyncio.
Never here: a decision. It does not know what a tab or an agent is.
Tests: ``tests/keeper``.
"""
