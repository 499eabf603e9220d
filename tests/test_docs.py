"""The documents say what is true: generated pages are current, examples run, commands exist."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.local.processes import end_tree

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL_SECONDS = 180
"""It starts eight interpreters; nothing waits this long in a run that passes."""
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_every_operation_error_setting_and_verb_is_documented() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "tools/gen_docs.py", "--check"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert check.returncode == 0, check.stderr


def test_the_example_in_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    home.config.write_text('browser = "fake"\n', encoding="utf-8")
    (example,) = blocks("python")
    try:
        done = subprocess.run(
            [sys.executable, "-c", example],
            env={"PATH": os.environ["PATH"], "ROOST_HOME": str(home.path)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    finally:
        endpoint = read_endpoint(home)
        if endpoint is not None:
            end_tree(endpoint.process, 5)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "t1 http://example.org/"
    assert second.startswith("TAB_GONE: ")


@pytest.mark.browser
@pytest.mark.timeout(TUTORIAL_SECONDS + 30)
def test_the_tutorial_works_as_it_stands(tmp_path: Path) -> None:
    """Its agent, its commands, and every line it promises; on a port that is free here."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").replace("8123", str(port))
    (agent,) = blocks("python", text)
    (tmp_path / "agent.py").write_text(agent, encoding="utf-8")
    script = "\n".join(["trap 'kill $(jobs -p) 2> /dev/null' EXIT", *blocks("sh", text)])
    home = Home(tmp_path / "home")
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "roost").write_text(
        "#!/bin/sh\n"
        # An agent whose client lost ROOST_HOME would start a second broker elsewhere, unseen.
        f'[ "$ROOST_HOME" = "{home.path}" ] || {{ echo "ROOST_HOME was lost" >&2; exit 9; }}\n'
        # The reader types in a terminal; this test has none, so it says who it is.
        'if [ "$1" != mcp ]; then set -- --operator "$@"; fi\n'
        f'exec {sys.executable} -m roost "$@"\n'
    )
    (commands / "roost").chmod(0o755)
    path = f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    tutorial = subprocess.Popen(
        ["bash", "-e", "-c", script],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path), "ROOST_HOME": str(home.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = tutorial.communicate(timeout=TUTORIAL_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tutorial.pid, signal.SIGKILL)  # its web site, if it did not come to its end
        subprocess.run(
            [commands / "roost", "stop"],
            env={"PATH": path, "ROOST_HOME": str(home.path)},
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert tutorial.returncode == 0, said
    promised = [line for block in blocks("text", text) for line in block.splitlines()]
    assert len(promised) == 6
    assert "hint:" not in said, "no line that the page does not show"
    assert [line for line in promised if line not in said.splitlines()] == [], said


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_how_to_of_http_works_as_it_stands(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/http.md").read_text(encoding="utf-8")
    home = Home(tmp_path / "home")
    home.create()
    home.config.write_text('browser = "fake"\n', encoding="utf-8")
    commands = "\n".join(blocks("", page))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        done = subprocess.run(
            ["sh", "-eu", "-c", f"{commands}\nwait\n"],
            cwd=tmp_path,
            env={"PATH": path, "ROOST_HOME": str(home.path)},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
    finally:
        endpoint = read_endpoint(home)
        if endpoint is not None:
            end_tree(endpoint.process, 5)
    assert done.returncode == 0, done.stderr
    assert '"code"' not in done.stdout, done.stdout
    assert done.stdout.count('"tabId":"t1"') == 2
    assert '"value":"http://127.0.0.1:8123/"' in done.stdout
    assert '"disposed":"shop"' in done.stdout
    assert "event: session_ended" in (tmp_path / "events.txt").read_text(encoding="utf-8")


def test_the_commands_of_the_how_tos_are_understood() -> None:
    from roost.frontends.cli.main import cli

    for page in (ROOT / "docs/how-to").glob("*.md"):
        for block in blocks("", page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["roost"]:
                    _understood(cli, words)


def _understood(command: click.Command, words: list[str]) -> None:
    """Parsed down to the last verb, without running it; click raises if it cannot."""
    name, *rest = words
    if isinstance(command, click.Group):
        _understood(command.commands[rest[0]], rest)
    else:
        command.make_context(name, rest)


def test_the_make_commands_of_the_documents_are_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.M)
    }
    assert {"demo", "test"} <= named <= targets


def test_the_roost_commands_of_the_readme_are_verbs() -> None:
    from roost.frontends.cli.main import cli

    named = set(re.findall(r"^roost ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named <= set(cli.commands)


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
