"""The keeper: a small process that starts one browser and holds its protocol connection.

The keeper outlives the broker, and the next broker continues with the same browser.

Lives here: ``wires`` (Chromium's debugging pipe), ``chromium`` and ``firefox`` (how to start each
and connect to it), ``browser_process`` (what both need for that), ``watchdog`` (a process that ends
the browser after the keeper was killed). The relay itself is in ``link``.
May import: ``errors``, ``link``, ``local``, ``vocabulary``; websockets. Of the standard library:
not asyncio.
Never here: a decision. It does not know what a tab or an agent is.
Tests: ``tests/keeper``.
"""
