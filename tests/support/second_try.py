"""A pytest plugin that runs failed tests once more, alone, and lists those that pass then as flaky.

``make test`` uses it. A test that fails both times fails the run. A test that passes only on the
second try is listed as ``flaky: ID``; when ``CI`` is set, more than ``FLAKY_MAX`` of them fail the
run, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

FLAKY_MAX = 2
"""Flaky tests that a run may have when ``CI`` is set."""
RETRIED_MAX = 50
"""If more tests than this fail, the cause is not chance, so none is run again."""
FAILURES = ("failed", "error")
"""pytest's words for a test that fails, and for one whose set-up or teardown fails."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("second try")
    group.addoption(
        "--second-try",
        action="store_true",
        help="run failed tests once more, alone, and list those that pass then as flaky",
    )
    group.addoption(
        "--write-passed",
        type=Path,
        metavar="FILE",
        help="write the ids of the tests that pass to this file",
    )


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")  # a process of pytest-xdist
    if config.getoption("--second-try") and not is_worker:
        config.pluginmanager.register(SecondTry(config))
    if (path := config.getoption("--write-passed")) is not None:
        config.pluginmanager.register(PassedTests(path))


class SecondTry:
    """Runs failed tests again after the last test, before pytest prints its summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._flaky: dict[str, pytest.TestReport] = {}

    @property
    def _reporter(self) -> TerminalReporter:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(reporter, TerminalReporter)
        return reporter

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus != pytest.ExitCode.TESTS_FAILED:
            return
        reports = [one for word in FAILURES for one in self._reporter.stats.get(word, [])]
        failed = {one.nodeid: one for one in reports if isinstance(one, pytest.TestReport)}
        if not failed or len(failed) > RETRIED_MAX:
            return
        self._reporter.ensure_newline()
        self._reporter.write_line(f"{len(failed)} failed. They run once more, alone:")
        passed = self._passed_alone(list(failed))
        self._flaky = {name: report for name, report in failed.items() if name in passed}
        if os.environ.get("CI") and len(self._flaky) > FLAKY_MAX:
            return
        if self._forgive() == 0:
            session.exitstatus = pytest.ExitCode.OK

    def _passed_alone(self, names: list[str]) -> set[str]:
        """Run these tests in a pytest of their own, and return the ids of those that pass."""
        with tempfile.TemporaryDirectory() as folder:
            passed = Path(folder) / "passed"
            # -qq: only the outer pytest prints a closing line, which CI reads.
            command = [
                sys.executable, "-m", "pytest", "-qq", "-p", __name__,
                "-p", "no:cacheprovider", f"--write-passed={passed}", *names,
            ]  # fmt: skip
            subprocess.run(command, cwd=self._config.rootpath, check=False)
            return set(passed.read_text(encoding="utf-8").splitlines())

    def _forgive(self) -> int:
        """Count flaky tests as flaky instead of failed. Return how many failures are left."""
        stats = self._reporter.stats
        for word in FAILURES:
            left = [one for one in stats.pop(word, []) if one.nodeid not in self._flaky]
            if left:
                stats[word] = left
        # A test whose teardown failed has passed, too. Count it once.
        stats["passed"] = [one for one in stats.get("passed", []) if one.nodeid not in self._flaky]
        if self._flaky:
            stats["flaky"] = list(self._flaky.values())
        return sum(len(stats.get(word, [])) for word in FAILURES)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Show how each flaky test failed at first, then list the flaky tests."""
        if not self._flaky:
            return
        for name, report in self._flaky.items():
            terminalreporter.section(f"first try of {name}", "_")
            report.toterminal(terminalreporter._tw)
        terminalreporter.section("passed only on the second try", "=")
        for name in self._flaky:
            terminalreporter.write_line(f"flaky: {name}")
        if os.environ.get("CI") and len(self._flaky) > FLAKY_MAX:
            terminalreporter.write_line(
                f"{len(self._flaky)} tests are flaky and CI allows {FLAKY_MAX}: the run fails."
            )


class PassedTests:
    """Writes the ids of tests whose set-up, call and teardown all passed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._passed: set[str] = set()
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)
        elif report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        names = sorted(self._passed - self._failed)
        self._path.write_text("\n".join(names), encoding="utf-8")
