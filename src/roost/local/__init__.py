"""Lives here: this machine. Where Roost lies, how all find the one broker, who a process is.
May import: ``errors``, ``vocabulary``. Of the standard library: not asyncio, not threading.
Never here: decisions, third-party packages, heavy imports at the top of a file: shims load this.
Tests: tests/local/, one file per module, with real files, locks and processes.
"""
