"""The native host: the process that the person's own browser starts for Roost's extension.

The host runs as long as the extension keeps its port open, and connects to one broker after
another. It never starts a broker.

Lives here: ``native`` (the wire to the extension: length-prefixed messages, long ones in parts),
``remote`` (the remote agent of a Firefox that was started with one), ``__main__`` (reads the
extension's hello, then runs the relay of ``link``).
May import: ``errors``, ``link``, ``local``, ``vocabulary``, ``wire``; websockets. Of the standard
library: not asyncio.
Never here: a decision. It does not know what a tab or an agent is.
Tests: ``tests/host``.
"""
