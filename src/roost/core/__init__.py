"""The core decides: it takes events and ``now`` and returns effects and changed rows.

Lives here: agents, sessions, the pool, leases, captures, loops, the rules of sharing. Pure code.
May import: ``errors``, ``hints``, ``vocabulary``. Of the standard library: only modules that
compute.
Never here: asyncio, a clock, random, os, logging, JSON, a browser protocol's words. Nothing awaits.
Tests: ``tests/core``; the Hypothesis machine is ``tests/core/test_sharing_machine.py``.
"""
