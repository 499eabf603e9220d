"""``roost install``: Roost in the configuration of agents' clients.

Lives here: ``command.py`` (the verbs), ``clients.py`` (which client keeps what where), ``entry.py``
(what is written), ``claude_plugin.py``; ``jsonc.py`` and ``toml_tables.py`` change one entry of a
text and leave the rest as it is; ``config_file.py`` puts the text in place, with a backup.
May import: ``errors``, ``local``, ``vocabulary``; click.
Never here: the broker. Nothing need run to be configured.
Tests: ``tests/frontends/install``.
"""
