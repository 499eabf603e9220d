"""Formats without I/O: bytes in, values out, and back.

Lives here: framing, correlator, hello, weight (the cost of a frame), marks (text for models).
May import: ``errors``, ``vocabulary``. Of the standard library: only modules that compute, such as
json and struct.
Never here: asyncio, sockets, clocks, files, processes; `now` is an argument. Shims import this.
Tests: tests/wire/, one file per module, every branch.
"""
