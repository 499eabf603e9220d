"""The coding agents that the tests run: where npm put them, and how to point them at loopback.

``versions.json`` pins their releases, and ``tools/prepare_tests.py`` installs them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODULES = Path(sys.prefix) / "agent-clients" / "node_modules"
VERSIONS: dict[str, str] = json.loads(
    (Path(__file__).with_name("versions.json")).read_text(encoding="utf-8")
)
_NODE = Path(sys.prefix) / "node-clients/node_modules/.bin/node"
_NOWHERE = "http://127.0.0.1:9"
"""A proxy where nobody listens: whatever a client asks the internet for fails at once."""


@dataclass(frozen=True)
class RealClient:
    """One coding agent.

    package: its name in npm.
    program: pattern of its program below ``node_modules``. A launcher script would stay between
        the test and the client, and outlive a kill.
    arguments: what makes it work on one prompt and end.
    configure: adds the scripted model to the files in its home folder.
    environ: variables that it needs. ``{model}`` is the model's address.
    """

    word: str
    package: str
    program: str
    arguments: Sequence[str]
    configure: Callable[[Path, str], None]
    install: Sequence[str] = ()
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path | None:
        """Its program, or None if npm could not install the pinned release."""
        about = MODULES / self.package / "package.json"
        if not about.exists():
            return None
        if json.loads(about.read_text(encoding="utf-8"))["version"] != VERSIONS[self.package]:
            return None
        return next((path for path in sorted(MODULES.glob(self.program))), None)

    def command(self, prompt: str = "go") -> list[str]:
        assert self.path is not None
        by = [str(_NODE) if _NODE.exists() else "node"] if self.path.suffix == ".js" else []
        return [*by, str(self.path), *self.arguments, prompt]

    def environment(self, home: Path, roost_home: Path, model: str) -> dict[str, str]:
        proxies = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        own = {name: value.format(model=model) for name, value in self.environ.items()}
        return {
            "HOME": str(home),
            "ROOST_HOME": str(roost_home),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            **dict.fromkeys(proxies, _NOWHERE),
            **own,
        }


def _nothing(home: Path, model: str) -> None:
    """Claude Code takes everything from its environment."""


def _codex(home: Path, model: str) -> None:
    path = home / ".codex/config.toml"
    provider = {"name": "scripted", "base_url": f"{model}/v1", "wire_api": "responses"}
    lines = ['model = "scripted"', 'model_provider = "scripted"', "[model_providers.scripted]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in provider.items()]
    lines += ["[analytics]", "enabled = false", path.read_text(encoding="utf-8")]
    path.write_text("\n".join(lines), encoding="utf-8")


def _gemini(home: Path, model: str) -> None:
    _add(
        home / ".gemini/settings.json",
        security={"auth": {"selectedType": "gemini-api-key"}},
        privacy={"usageStatisticsEnabled": False},
        general={"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    )


def _opencode(home: Path, model: str) -> None:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "scripted", "tool_call": True}},
    }
    _add(
        home / ".config/opencode/opencode.json",
        provider={"scripted": provider},
        model="scripted/scripted",
        small_model="scripted/scripted",
        autoupdate=False,
        share="disabled",
    )


def _add(path: Path, **more: Any) -> None:
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, **more}), encoding="utf-8")


CLAUDE = RealClient(
    "claude",
    "@anthropic-ai/claude-code",
    "@anthropic-ai/claude-code/bin/claude*",
    ("--allowedTools", "mcp__roost", "-p"),
    _nothing,
    environ={
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": "{model}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        # Else the model would have to search for Roost's tools first.
        "ENABLE_TOOL_SEARCH": "false",
    },
)
CODEX = RealClient(
    "codex",
    "@openai/codex",
    "@openai/codex-*/vendor/*/bin/codex",
    ("exec", "--skip-git-repo-check", "--json"),
    _codex,
    install=("--approve",),
)
GEMINI = RealClient(
    "gemini",
    "@google/gemini-cli",
    "@google/gemini-cli/bundle/gemini.js",
    ("-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "-p"),
    _gemini,
    environ={
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": "{model}",
        # Else it would start itself again as a child that outlives a kill.
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
)
OPENCODE = RealClient(
    "opencode",
    "opencode-ai",
    "opencode-linux-*/bin/opencode",
    ("run", "-m", "scripted/scripted"),
    _opencode,
    environ={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    },
)
REAL_CLIENTS = (CLAUDE, CODEX, GEMINI, OPENCODE)
