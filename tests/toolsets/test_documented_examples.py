"""The examples of docs/how-to/toolsets.md run as they stand, against the scripted APIs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.house import House
from tests.support.local_web import Web
from tests.toolsets.scripted_models import Script, ScriptedClaude, ScriptedModels, ScriptedOpenAI

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "toolsets.md"
TASKS = ("What does example.com say?", "What is the title of example.org?")
SECONDS = 90


def example(vendor: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if f"roost.toolsets.{vendor}" in block]
    return str(found)


def looks_at(url: str, seen: list[str], **tab: None) -> Script:
    yield [("navigate", {"url": url, **tab})]
    (text,) = yield [("get_page_text", {**tab})]
    assert not text.is_error
    seen.append(text.text)


@pytest.mark.parametrize("vendor", ["claude", "openai"])
def test_the_example_runs_as_it_stands(vendor: str, house: House, web: Web, tmp_path: Path) -> None:
    models: ScriptedModels
    models = ScriptedClaude(web) if vendor == "claude" else ScriptedOpenAI(web)
    tab: dict[str, None] = {} if vendor == "claude" else {"tab_id": None}
    seen: list[str] = []
    for number, task in enumerate(TASKS):
        url = web.page(f"<p>Page {number}</p>")
        models.plays(task, looks_at(url, seen, **tab))
    program = tmp_path / "example.py"
    program.write_text(example(vendor), encoding="utf-8")
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "ROOST_HOME": str(house.home.path)}
    addresses = {"ANTHROPIC_BASE_URL": web.base, "OPENAI_BASE_URL": f"{web.base}/v1"}
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, **keys, **addresses},
        cwd=house.work,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    models.check()
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["ada Done.", "bob Done."]
    assert sorted(re.findall(r"Page \d", " ".join(seen))) == ["Page 0", "Page 1"]
