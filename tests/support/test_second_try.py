"""``make test`` lists flaky tests and fails for real ones: shown on small suites made here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.second_try import FLAKY_MAX

ROOT = Path(__file__).parents[2]
FLAKY = """
from pathlib import Path
import pytest

def fails_once(name):
    mark = Path(__file__).with_name(name)
    if not mark.exists():
        mark.touch()
        raise AssertionError("not on the first try")

@pytest.fixture
def setup():
    fails_once("in set-up")

@pytest.fixture
def teardown():
    yield
    fails_once("in teardown")
"""
SUITE = {
    "call": 'def test_flaky_call(): fails_once("in call")',
    "param": '@pytest.mark.parametrize("x", ["a b"])\ndef test_flaky_param(x): fails_once("p")',
    "setup": "def test_flaky_setup(setup): pass",
    "teardown": "def test_flaky_teardown(teardown): pass",
    "broken": "def test_broken(): assert 1 == 2",
    "skipped": 'def test_skipped(): pytest.skip("not here")',
    "good": "def test_good(): pass",
}

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


class Run:
    """Runs suites made of ``SUITE`` with the options of ``make test``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, *names: str, ci: str = "") -> Ran:
        (self._folder / "pytest.ini").write_text("[pytest]\naddopts = -rsfE\n")
        tests = "\n\n".join(SUITE[name] for name in names)
        (self._folder / "test_made.py").write_text(f"{FLAKY}\n{tests}\n")
        command = [
            sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.support.second_try",
            "--second-try", "-n", "1", "--dist", "loadfile",
        ]  # fmt: skip
        environ = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
        # The other plugins take more time to load than these tests take to run.
        environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "CI": ci}
        done = subprocess.run(
            command, cwd=self._folder, env=environ, capture_output=True, text=True, timeout=50
        )
        return Ran(done.returncode, done.stdout)


class Ran:
    def __init__(self, code: int, said: str) -> None:
        self.code = code
        self.said = said

    @property
    def flaky(self) -> list[str]:
        return re.findall(r"^flaky: test_made\.py::(.*)$", self.said, re.MULTILINE)

    @property
    def closing(self) -> str:
        """pytest's closing line without the time. There is only one."""
        (found,) = re.findall(r"^=+ (\d.*) in [\d.]+s =+$", self.said, re.MULTILINE)
        assert self.said.rstrip().splitlines()[-1].startswith(f"{'=':=>3}")
        return str(found)


def test_a_run_without_failures_names_no_flaky_test(run: Run) -> None:
    ran = run("good", "skipped")

    assert (ran.code, ran.flaky, ran.closing) == (0, [], "1 passed, 1 skipped")


def test_tests_that_pass_on_the_second_try_are_listed_and_the_run_passes(run: Run) -> None:
    ran = run("good", "call", "param", "setup", "teardown", "skipped")

    assert ran.code == 0
    assert sorted(ran.flaky) == [
        "test_flaky_call", "test_flaky_param[a b]", "test_flaky_setup", "test_flaky_teardown",
    ]  # fmt: skip
    assert ran.closing == "1 passed, 1 skipped, 4 flaky"
    assert "not on the first try" in ran.said


def test_a_test_that_fails_twice_fails_the_run(run: Run) -> None:
    ran = run("good", "call", "broken")

    assert (ran.code, ran.flaky) == (1, ["test_flaky_call"])
    assert ran.closing == "1 failed, 1 passed, 1 flaky"
    assert "FAILED test_made.py::test_broken" in ran.said


@pytest.mark.parametrize("more", [False, True])
def test_in_ci_more_than_two_flaky_tests_fail_the_run(run: Run, more: bool) -> None:
    names = ["call", "setup", "param"][: FLAKY_MAX + more]
    ran = run("good", *names, ci="true")

    assert len(ran.flaky) == len(names)
    assert ran.code == (1 if more else 0)
    assert ran.closing == ("2 failed, 1 passed, 1 error" if more else "1 passed, 2 flaky")
