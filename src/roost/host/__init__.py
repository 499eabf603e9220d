"""The native host: what the person's own browser starts for Roost's extension.

Lives here: ``native`` (the extension's end: messages behind their length, long ones in parts),
``remote`` (a Firefox's remote agent, if it was started with one), ``__main__`` (who we are to the
broker, then the relay of ``link``). It lives as long as the extension holds its port; brokers come
and go meanwhile. It never starts one.
May import: ``errors``, ``link``, ``local``, ``vocabulary``, ``wire``; websockets. Of the standard
library: not asyncio.
Never here: a decision. It does not know what a tab or an agent is.
Tests: ``tests/host``.
"""
