"""Formats without I/O: bytes in, values out, and back.

Lives here: ``framing``, ``correlator`` (replies to requests), ``hello``, ``weight`` (the cost of a
frame), ``marks`` (text for models), ``globs`` (addresses of route rules), ``html_text`` (HTML as
Markdown).
May import: ``errors``, ``vocabulary``. Of the standard library: only modules that compute, such as
json and struct.
Never here: asyncio, sockets, clocks, files, processes; `now` is an argument. Shims import this.
Tests: tests/wire/, one file per module, every branch.
"""
