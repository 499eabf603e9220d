"""``roost install``: write Roost into the configuration of agents' clients and browsers.

Lives here: ``command.py`` (the verbs), ``found_clients.py`` (``roost install`` without a name),
``clients.py`` (where each client keeps its servers), ``entry.py`` (the entry to write),
``installation.py`` (write it and say so), ``invocation.py`` (what to type for ``roost``),
``sandbox.py`` (let commands out of a client's sandbox), ``claude_plugin.py``, ``skill.py`` and
``skill_command.py`` (the agents' skill), ``extension.py`` and ``extension_command.py`` (the browser
extension); ``config_text.py``, ``json_text.py`` and ``yaml_text.py`` change one entry of a text;
``config_file.py`` writes the text, with a backup; ``config_error.py``.
May import: ``errors``, ``local``, ``vocabulary``; click, tomlkit, yaml.
Never here: the broker. Nothing need run to be configured.
Tests: ``tests/frontends/cli/install``.
"""
