"""Links: the code that keepers and native hosts share to connect a browser with a broker.

Lives here: ``relay`` (relays frames both ways and finds the next broker), ``wire`` (the browser's
end of the relay), ``websocket`` (a wire for BiDi), ``memory`` (state that the next broker cannot
ask the browser for; ``cdp_memory`` for Chromium, ``bidi_memory`` for Firefox).
May import: ``errors``, ``local``, ``vocabulary``, ``wire``; websockets. Of the standard library:
not asyncio.
Never here: a decision; how to start or reach a particular browser.
Tests: ``tests/link``; as processes ``tests/keeper`` and ``tests/host``.
"""
