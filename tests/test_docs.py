"""The documents are true: generated pages are current, examples run, and what they name exists."""

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
from roost.verb.arguments import fill, split
from roost.verb.table import Table

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = "uv tool install .\n"
TUTORIAL_SECONDS = 180
"""The tutorial starts eight interpreters. Only a failing run waits this long."""
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\]\(\s*([^)\s#:]*)(?:#([^)\s]+))?\s*\)")
NAMED_FILE = re.compile(r"``([\w./]+\.(?:py|md|js|ts|toml|json))``")
NAMED_SYMBOL = re.compile(r"\]\(\.\./(src/[^)]+\.(?:py|ts))\)\s+`(\w+)`")
FILES_OF_OTHERS = {
    "endpoint.json": "in ROOST_HOME",
    "key.json": "in ROOST_HOME",
    "config.toml": "in ROOST_HOME",
    ".roost.toml": "in a repository",
    "user.js": "in a Firefox profile",
    "containers.json": "in a Firefox profile",
    "WebDriverBiDiServer.json": "in a Firefox profile",
}


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("tool", ["gen_docs.py", "gen_verbs.py"])
def test_every_operation_error_setting_and_verb_is_documented(tool: str) -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, "--check"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert check.returncode == 0, check.stderr


@pytest.mark.slow
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


def roost_on_path(folder: Path, home: Home) -> str:
    """Make a command ``roost`` for a shell without a terminal. Return the PATH that finds it."""
    commands = folder / "bin"
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
    return f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.mark.browser
@pytest.mark.timeout(TUTORIAL_SECONDS + 30)
def test_the_commands_of_the_readme_work_as_they_stand(tmp_path: Path) -> None:
    """All but the one that installs Roost, which has a test of its own."""
    install, *rest = blocks("sh")
    assert install == INSTALL
    home = Home(tmp_path / "home")
    environ = {
        "PATH": roost_on_path(tmp_path, home), "HOME": str(tmp_path), "ROOST_HOME": str(home.path),
    }  # fmt: skip
    (tmp_path / ".codex").mkdir()
    try:
        done = subprocess.run(
            ["sh", "-eu", "-c", "".join(rest)],
            cwd=tmp_path, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=TUTORIAL_SECONDS, check=False,
        )  # fmt: skip
    finally:
        endpoint = read_endpoint(home)
        if endpoint is not None:
            end_tree(endpoint.process, 5)
    assert done.returncode == 0, done.stdout
    assert "proofs held." in done.stdout
    assert " install codex  # Codex, ~/.codex/config.toml" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(TUTORIAL_SECONDS + 30)
@pytest.mark.parametrize("line", [INSTALL.strip(), "pipx install ."])
def test_the_ways_to_install_put_roost_onto_the_path(line: str, tmp_path: Path) -> None:
    if not os.environ.get("ROOST_SOAK") or shutil.which(line.split()[0]) is None:
        pytest.skip("`make soak` installs packages, if uv or pipx is here")
    assert line in README
    folder = str(tmp_path / "bin")
    environ = {
        **os.environ, "HOME": str(tmp_path), "UV_TOOL_BIN_DIR": folder,
        "UV_TOOL_DIR": str(tmp_path / "uv"), "PIPX_BIN_DIR": folder,
        "PIPX_HOME": str(tmp_path / "pipx"),
    }  # fmt: skip
    subprocess.run(line, shell=True, cwd=ROOT, env=environ, check=True, timeout=TUTORIAL_SECONDS)
    environ = {"PATH": folder, "HOME": str(tmp_path), "ROOST_HOME": str(tmp_path / "home")}
    told = subprocess.run(
        [f"{folder}/roost"], env=environ, capture_output=True, text=True, timeout=30, check=True
    )
    assert "Next:  roost " in told.stdout, "this Roost is on the PATH"


@pytest.mark.slow
@pytest.mark.timeout(TUTORIAL_SECONDS + 30)
@pytest.mark.skipif(not os.environ.get("ROOST_SOAK"), reason="`make soak` installs packages")
def test_pip_installs_roost_into_an_environment(tmp_path: Path) -> None:
    line = f"{sys.executable} -m venv {tmp_path}/env && . {tmp_path}/env/bin/activate"
    line += " && pip install -qq . && roost --version"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=TUTORIAL_SECONDS, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("roost ")


@pytest.mark.slow
@pytest.mark.timeout(TUTORIAL_SECONDS + 30)
@pytest.mark.skipif(not os.environ.get("ROOST_SOAK"), reason="`make soak` installs packages")
def test_make_demo_in_a_fresh_clone_installs_no_tools_and_says_what_to_type_next(
    tmp_path: Path,
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True, timeout=60)
    done = subprocess.run(
        ["make", "demo", "BROWSER=fake"],
        cwd=clone, stdout=subprocess.PIPE, text=True, timeout=TUTORIAL_SECONDS, check=True,
    )  # fmt: skip
    assert "\nNext:  .venv/bin/roost install" in done.stdout
    assert (clone / ".venv/bin/roost").exists()
    assert not (clone / ".venv/bin/pytest").exists()


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
    path = roost_on_path(tmp_path, home)
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
            [tmp_path / "bin/roost", "stop"],
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
                if words[:1] == ["roost"] and not _is_verb(words[1:]):
                    _understood(cli, words)


def _is_verb(words: list[str]) -> bool:
    """Return whether the words are a page verb. They are parsed; wrong ones raise."""
    words = words[: words.index("|")] if "|" in words else words
    call, left = split(words)
    found = Table().verb(left)
    if found is None:
        return left[0] in ("help", "completion", "call")
    name, row, count = found
    fill(call, name, row, left[count:])
    return True


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


def test_links_between_the_documents_lead_to_files_and_headings_that_exist() -> None:
    for page in PAGES:
        for path, heading in LINK.findall(page.read_text(encoding="utf-8")):
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name}: {path}"
            if heading and target.suffix == ".md":
                assert heading in _headings(target), f"{page.name}: {path}#{heading}"


def _headings(page: Path) -> set[str]:
    """Return the anchors of the page's headings, as GitHub and mkdocs make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_function_that_the_guided_tour_names_is_in_its_file() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = NAMED_SYMBOL.findall(text)

    assert named
    for path, symbol in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\b(?:def|class|function) {symbol}\b", source), f"{path}: {symbol}"


def test_every_file_that_a_docstring_or_comment_names_exists() -> None:
    folders = ("src", "extension", "plugin", "docs", "tests", "tools", "bench")
    files = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.*")]
    strays = [
        f"{source.relative_to(ROOT)}: {name}"
        for source in (ROOT / "src" / "roost").rglob("*.py")
        for name in NAMED_FILE.findall(source.read_text(encoding="utf-8"))
        if name not in FILES_OF_OTHERS and not any(file.endswith(f"/{name}") for file in files)
    ]

    assert strays == []
