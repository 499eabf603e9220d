"""The broker's side of one browser: its lifetime, its jars, and what belongs to its tabs.

Lives here: ``browser`` (started at the first page call, restarted when it dies), ``jars`` and
``jar_backups`` (cookies and storage, and their copies for a restart), ``page_records`` (what a page
said and did), ``lanes`` (calls on one tab take turns), ``holds`` (pressed mouse buttons and keys),
``downloads`` and ``files`` (which files a session has and may name), ``proxy`` and ``resolver``
(domain lists, enforced on the network).
May import: ``broker``, ``conditions``, ``core``, ``drivers``, ``errors``, ``local``, ``page``,
``vault``, ``vocabulary``; pydantic.
Never here: a concrete driver (``daemon`` picks it), or who may do what (``core``).
Tests: ``tests/broker/browser``.
"""
