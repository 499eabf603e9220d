"""The one interface between front ends and the broker.

``operations`` says what a caller may ask, ``views`` what it gets back, ``broker`` has the Protocol
with two members that every front end calls.

Lives here: the operation table. MCP tools, HTTP routes, CLI verbs and docs are derived from it. Its
rows are in ``operations``, ``page_operations``, ``element_operations``, ``input_operations``,
``clipboard_operations``, ``condition_operations``, ``jar_operations``, ``policy_operations``,
``secret_operations`` and
``move_operations``; their base class is in ``operation``. The answers are in ``views``,
``page_views``, ``condition_views``, ``jar_views``, ``policy_views`` and ``secret_views``. ``steps``
names operations in hints. ``interrupted_batch`` is an error. Other interfaces of the broker:
``door`` (connections and tokens), ``subagents`` (who makes a call), ``protocol`` (CDP clients),
``dashboard`` (viewers), ``sockets`` (WebSockets between two front ends).
May import: ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``; pydantic.
Never here: how anything is done, who may do it, how it is shown.
Tests: ``tests/api``.
"""
