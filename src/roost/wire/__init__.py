"""Lives here: formats without I/O (framing, correlator, hello). Bytes in, values out, and back.
May import: the pure parts of the standard library (json, struct, dataclasses), vocabulary, errors.
Never here: asyncio, sockets, clocks, files, processes; `now` is an argument. Relays live on this.
Tests: tests/wire/, one file per module, every branch.
"""
