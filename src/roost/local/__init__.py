"""This machine: where Roost's files are, how processes find the one broker, who a process is.

Lives here: ``home`` (ROOST_HOME) and ``settings``; ``endpoint``, ``broker_start`` and ``greeting``
(how a process finds, starts and greets the broker); ``processes``, ``lineage`` and ``tcp_peers``
(who a process is); ``lock``, ``deadline``; ``browsers``, ``hosts``, ``remotes`` and ``singleton``
(browsers of this machine); ``project_place`` and ``project_file`` (``.roost.toml``),
``policy_place``; ``usage`` (memory and processor), ``core_files``, ``notifications``, ``checkup``
(runs ``roost doctor``).
May import: ``errors``, ``vocabulary``, ``wire``; jeepney. Of the standard library: not asyncio, not
threading.
Never here: decisions, third-party packages, heavy imports at the top of a file: shims load this.
Tests: tests/local/, one file per module, with real files, locks and processes.
"""
