"""The keeper: a tiny process that starts one browser and holds its protocol connection.

Lives here: ``relay`` (frames between browser and broker), ``wires`` (the browser's end of it),
``memory`` (what cannot be asked again), ``chromium`` and ``firefox`` (how each is started and
held), ``starting`` (what both need for that). It outlives the broker; the next goes on with it.
May import: the standard library without asyncio, ``wire``, ``local``, vocabulary and errors;
``firefox`` also websockets, as a protocol without I/O of its own.
Never here: a decision. It does not know what a tab or an agent is.
Tests: ``tests/keeper``.
"""
