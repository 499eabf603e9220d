"""The code that runs inside pages, and the Python code that calls it.

Lives here: ``source/`` (TypeScript, built into the one ``bundle.js`` every driver injects) and the
Python that drives a page with it: ``page``, ``snapshots``, ``actions``, ``keys``, ``bundle``.
May import: ``drivers``, ``errors``, ``hints``. Of ``drivers`` only ``drivers.base``.
Never here: which browser it is, who is calling, any state except ``PageMemory``.
Tests: ``tests/page``.
"""
