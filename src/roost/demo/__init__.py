"""``roost demo``: several agents share one browser and prove that they cannot disturb each other.

Lives here: ``story`` (the steps, and what each proves), ``cast`` (the agents, each an MCP server in
a process of its own), ``site`` (the pages they visit, served on this machine), ``stage`` (the live
table on a terminal, or plain lines).
May import: ``api``, ``client``, ``errors``, ``local``, ``vocabulary``; rich.
Never here: a command-line option. ``frontends.cli.demo`` reads those and starts the story.
Tests: ``tests/demo``.
"""
