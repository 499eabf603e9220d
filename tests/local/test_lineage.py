from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roost.local import lineage as lineages
from roost.local.lineage import description, lineage
from roost.local.processes import identify
from tests.support.real_processes import child


@pytest.mark.parametrize(
    ("program", "file", "arguments", "name"),
    [
        ("claude", "2.1.197", ["claude"], "claude"),
        ("MainThread", "node", ["node", "/usr/bin/gemini", "-p"], "gemini"),
        ("npm exec roost ", "node", ["npm exec roost mcp"], "npm"),
        ("node", "node", ["/usr/bin/node", "/usr/lib/npm/bin/npx-cli.js", "x"], "npx-cli.js"),
        ("python3", "python3.12", ["python3", "-P", "-m", "pipx", "run"], "pipx"),
        ("tmux: server", "tmux", ["tmux"], "tmux"),
        ("sshd", "", ["sshd: me@pts/0"], "sshd"),
        ("bash", "bash", ["-bash"], "bash"),
        ("launchd", "", [], "launchd"),
        ("claude.exe", "claude.exe", ["./claude.exe"], "claude"),
        ("node", "node", ["node", "/opt/gemini-cli/bundle/gemini.js"], "gemini"),
    ],
)
def test_a_process_is_known_by_every_name_it_has(
    program: str, file: str, arguments: list[str], name: str
) -> None:
    assert name in set(lineages._names(program, file, arguments))


def test_code_on_the_command_line_does_not_count_as_a_name() -> None:
    assert set(lineages._names("python3", "python3", ["python3", "-c", "claude"])) == {"python3"}


def test_a_lineage_names_programs_and_never_their_arguments() -> None:
    with child("import sys; sys.stdin.read()  # secret") as pid:
        line = lineage(pid)
    assert line.above[0].process == identify(os.getpid())
    assert line.is_whole
    assert str(line).startswith(f"{line.program} < {line.above[0].program}")
    assert "secret" not in str(line)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_lineage_tells_which_clients_variables_an_ancestor_was_started_with() -> None:
    below = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    run = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {below!r}])"
    environ = {**os.environ, "CLAUDECODE": "secret", "UNRELATED": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", run], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        line = lineage(int(process.stdout.readline()))
        assert process.stdin is not None
        process.stdin.close()
    parent, *_ = line.above
    assert parent.process.pid == process.pid
    assert "CLAUDECODE" in parent.variables
    assert "UNRELATED" not in parent.variables
    assert parent.control_group == line.control_group


def test_a_process_that_cannot_be_seen_has_no_lineage() -> None:
    assert lineage(0).above == ()
    assert description(0) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_program_is_described_by_what_the_kernel_knows_of_it(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("import sys; print(flush=True); sys.stdin.read()")
    command = [sys.executable, "agent.py", "an argument"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()  # until then the process may still be the one that started it
        said = description(process.pid)
        process.stdin.close()
    assert said.endswith(f" {script} in {tmp_path}")
    assert "argument" not in said


def test_an_update_does_not_change_a_programs_description() -> None:
    one, two = (
        lineages._without_versions(f"/home/me/.local/share/claude/versions/{number}")
        for number in ("2.1.197", "2.2.0-beta.1")
    )
    assert one == two == "/home/me/.local/share/claude/versions"
