"""What runs inside pages, and its caller.

Lives here: ``source/`` (TypeScript, built into the one ``bundle.js`` every driver injects) and the
Python that drives a page with it: ``page``, ``snapshots``, ``actions``, ``keys``, ``bundle``.
May import: ``drivers``, ``errors``, ``vocabulary``. Of ``drivers`` only ``drivers.base``.
Never here: which browser it is, who is calling, any state but the page's own memory.
Tests: ``tests/page``.
"""
