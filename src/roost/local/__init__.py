"""This machine: where Roost's files are, how processes find the one broker, who a process is.

Lives here: ROOST_HOME, the endpoint, locks, processes, TCP peers, starting the broker.
May import: ``errors``, ``vocabulary``, ``wire``; jeepney. Of the standard library: not asyncio, not
threading.
Never here: decisions, third-party packages, heavy imports at the top of a file: shims load this.
Tests: tests/local/, one file per module, with real files, locks and processes.
"""
