"""The ``roost`` command reads arguments with click and shows results as tables.

Lives here: ``main.py`` (the commands by name) and a file for each command: ``welcome.py``
(``roost`` alone), ``up.py`` (also "stop"), ``status.py``, ``doctor.py``, ``log.py``,
``session.py``, ``dashboard.py``, ``policy.py``, ``secret.py`` (also "auth"), ``profile.py``,
``browser.py``, ``cdp.py``, ``mcp.py``, ``hook.py``, ``skill.py``, ``fleet.py``, ``demo.py``;
``install/``. What they share: ``options.py`` (flags), ``broker_call.py`` (one call to the broker),
``orders.py`` (operations by name), ``hints.py`` (operations as commands), ``terminal.py`` (text fit
for a terminal), ``table.py`` (tables). Page verbs (``roost click``) are in ``frontends.verbs`` and
``roost.verb``.
May import: ``api``, ``client``, ``demo``, ``errors``, ``frontends.cli.install``, ``hook``,
``local``, ``vocabulary``, ``wire``; click, rich. Heavy modules (pydantic, rich, asyncio) only
inside a command that needs them, so that commands start quickly.
Never here: decisions, or a second copy of what the operation table says.
Tests: ``tests/frontends/cli``, with the real command in processes of its own.
"""
