"""The ``roost`` command. Dispatches light commands before it imports anything heavy."""

from __future__ import annotations

import sys


def main() -> int:
    if sys.platform == "win32":
        print("Roost does not support Windows yet.", file=sys.stderr)  # noqa: T201
        return 1
    if sys.argv[1:2] == ["mcp"]:
        from roost.shim.main import main as relay

        return relay(sys.argv[2:])
    if sys.argv[1:] == ["hook", "stop"]:
        from roost.hook.stop import run as stop

        return stop()
    from roost.frontends.cli.main import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
