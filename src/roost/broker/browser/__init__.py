"""The broker's side of one browser: its lifetime, its jars, and what belongs to its tabs.

Lives here: ``browser`` (started at the first page call, restarted when it dies), ``jars`` (cookies
and storage), ``jar_backups`` and ``backup_limits`` (their copies for a restart), ``page_records``
(what a page said and did), ``lanes`` (calls on one tab take turns), ``held_input`` (pressed mouse
buttons and keys), ``downloads``, ``files`` and ``person_files`` (which files a session has and may
name), ``har`` (recorded traffic), ``web_fetch`` (an address without the browser), ``proxy`` and
``resolver`` (domain lists, enforced on the network), ``refusal_notes`` (agents hear of refusals).
May import: ``broker``, ``conditions``, ``core``, ``drivers``, ``errors``, ``local``, ``page``,
``vault``, ``vocabulary``; h11, pydantic.
Never here: a concrete driver (``daemon`` picks it), or who may do what (``core``).
Tests: ``tests/broker/browser``.
"""
