"""The ``roost`` command reads arguments with click and shows results as tables.

Lives here: one file per command; ``options.py`` (flags all share), ``broker_call.py`` (one call
to the broker), ``terminal.py`` (text fit for a terminal), ``table.py`` (tables).
May import: ``api``, ``client``, ``demo``, ``errors``, ``frontends.cli.install``, ``hook``,
``local``, ``vocabulary``, ``wire``; click, rich. Heavy modules (pydantic, rich, asyncio) only
inside a command that needs them, so that commands start quickly.
Never here: decisions, or a second copy of what the operation table says.
Tests: ``tests/frontends/cli``, with the real command in processes of its own.
"""
