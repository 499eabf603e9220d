"""What a verb costs: each module that its process loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.house import house_of

NEVER = {
    "dataclasses", "typing", "enum", "re", "pathlib", "argparse", "click", "rich", "pydantic",
    "asyncio", "json", "socket", "subprocess", "collections", "functools",
}  # fmt: skip
TOLD = """
import os, sys
bare = set(sys.modules)
end = os._exit
def told(code):
    os.write(2, " ".join(sorted(set(sys.modules) - bare)).encode())
    end(code)
os._exit = told
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", ["tab list", "-s ci open site.test", "session id --json", "help"])
@pytest.mark.parametrize("entry", ["module", "script"])
def test_a_warm_verb_loads_almost_nothing(entry: str, words: str, tmp_path: Path) -> None:
    """Both ways to start it: ``python -m roost``, and the script that the installer wrote."""
    script = Path(sys.executable).parent / "roost"
    # Older versions of pip (23.2) write a script that itself imports re; uv does not.
    by_installer = "import re" if "import re\n" in script.read_text() else "pass"
    start = (
        "import runpy; runpy.run_module('roost', run_name='__main__')"
        if entry == "module"
        else f"exec(compile(open({str(script)!r}).read(), 'roost', 'exec'))"
    )
    with house_of("fake", folder=tmp_path) as house:
        house.says("up")
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"{TOLD}\nsys.argv[1:] = {words.split()!r}\n{start}"],
            env={**house.environment(), "ROOST_SESSION": "ci"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "roost.verb.main" in loaded, done.stderr
    if words != "help":
        assert done.returncode == 0, (done.stdout, done.stderr)
        allowed = _loaded_by("import runpy" if entry == "module" else by_installer)
        assert loaded & NEVER - allowed == set(), sorted(loaded - allowed)


def _loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return set(done.stdout.split())
