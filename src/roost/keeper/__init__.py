"""The keeper: a tiny process that starts one browser and holds its protocol connection.

Lives here: ``relay.py`` (bytes between browser and broker), ``memory.py`` (what cannot be asked
again), ``__main__.py`` (a Chromium on a pipe). It outlives the broker; the next goes on with it.
May import: the standard library without asyncio, ``wire``, ``local``, vocabulary and errors.
Never here: a decision. It does not know what a tab or an agent is.
Tests: ``tests/keeper``.
"""
