"""What keepers and native hosts have in common: both are links, between a browser and a broker.

Lives here: ``relay`` (frames both ways, and finding the next broker), ``wire`` (the browser's end
of it), ``websocket`` (such an end that speaks BiDi), ``memory`` (what a browser cannot be asked
again, kept for the next broker; ``cdp_memory`` for Chromium, ``bidi_memory`` for Firefox).
May import: ``errors``, ``local``, ``vocabulary``, ``wire``; websockets. Of the standard library:
not asyncio.
Never here: a decision, and how any one browser is started or reached.
Tests: ``tests/link``; as processes ``tests/keeper`` and ``tests/host``.
"""
