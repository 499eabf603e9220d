"""The core decides. Events and ``now`` go in, effects and changed rows come out.

Lives here: agents, sessions, the pool, leases, captures, loops, the rules of sharing. Pure.
May import: ``errors``, ``vocabulary``. Of the standard library: only modules that compute.
Never here: asyncio, a clock, random, os, logging, JSON, a browser's words. Nothing awaits.
Tests: ``tests/core``; the Hypothesis machine is ``tests/core/test_sharing_machine.py``.
"""
