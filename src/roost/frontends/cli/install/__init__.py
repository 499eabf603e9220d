"""``roost install``: write Roost into the configuration of agents' clients and browsers.

Lives here: ``command.py`` (the verbs), ``clients.py`` (where each client keeps its servers),
``entry.py`` (the entry to write), ``claude_plugin.py``, ``extension.py`` and
``extension_command.py`` (the browser extension); ``config_text.py`` changes one entry of a JSON or
TOML text; ``config_file.py`` writes the text, with a backup.
May import: ``errors``, ``local``, ``vocabulary``; click, tomlkit.
Never here: the broker. Nothing need run to be configured.
Tests: ``tests/frontends/cli/install``.
"""
