"""Lives here: formats without I/O: framing, correlator, hello (bytes in, values out, and back), and
text for models (marks).
May import: ``errors``, ``vocabulary``. Of the standard library: only modules that compute, such as
json and struct.
Never here: asyncio, sockets, clocks, files, processes; `now` is an argument. Relays live on this.
Tests: tests/wire/, one file per module, every branch.
"""
