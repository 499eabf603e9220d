"""The ``roost`` command. Dispatches light commands before it imports anything heavy."""

import sys


def unsupported(platform: str, python: tuple[int, int]) -> str | None:
    """Return a line that says why Roost cannot run here and what to do, or None if it can."""
    if python < (3, 11):
        return (
            f"Roost needs Python 3.11 or newer, and this is {python[0]}.{python[1]}: install one."
        )
    if not platform.startswith(("linux", "darwin")):
        return (
            f"Roost runs on Linux and macOS. This release has no version for {platform}: use those."
        )
    return None


def main() -> int:
    if (problem := unsupported(sys.platform, sys.version_info[:2])) is not None:
        print(problem, file=sys.stderr)  # noqa: T201
        return 1
    if sys.argv[1:2] == ["mcp"]:
        from roost.shim.main import main as relay

        return relay(sys.argv[2:])
    if sys.argv[1:] == ["hook", "stop"]:
        from roost.hook.stop import run as stop

        return stop()
    if sys.argv[1:] == ["hook", "report"]:
        from roost.hook.report import run as report

        return report()
    try:
        from roost.verb.main import run as run_verb

        run_verb(sys.argv[1:])  # a verb ends the process
    except KeyboardInterrupt:
        return 130
    from roost.frontends.cli.main import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
