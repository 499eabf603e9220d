"""Write the plugins for other clients, and the registry's file, from the Claude Code plugin.

The source is ``plugin``: its ``plugin.json`` says what Roost is, its ``.mcp.json`` how it starts.
``--check`` writes nothing and fails if a file differs. ``make docs`` runs it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "plugin"
TITLE = "Roost"
CATEGORY = "Developer Tools"
PACKAGE = "roost"
NAMESPACE = "example.browser-broker"
"""Namespace in the MCP registry. The registry gives out names by proof of a domain or of an account
on GitHub. Whoever publishes Roost puts theirs here and in the README's mark (docs/releasing.md)."""
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def files() -> Iterator[tuple[str, Any]]:
    """Yield each file's path below the root, and its content."""
    manifest = json.loads((SOURCE / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    servers = json.loads((SOURCE / ".mcp.json").read_text(encoding="utf-8"))
    about = {key: manifest[key] for key in ("name", "version", "description", "author", "license")}
    about["keywords"] = manifest["keywords"]
    # Only Claude Code has focus loops, of which the second sentence speaks.
    about["description"] = f"{manifest['description'].partition('. ')[0]}."
    yield from _claude(manifest)
    yield from _codex(about, servers)
    yield from _cursor(about, servers)
    yield (
        "gemini-extension.json",
        {
            "name": about["name"],
            "version": about["version"],
            "description": about["description"],
            **servers,
        },
    )
    yield "server.json", _registry(about)


def _claude(manifest: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The repository is a marketplace: ``/plugin marketplace add`` takes its address."""
    offered = json.loads((SOURCE / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    (entry,) = offered["plugins"]
    plugins = [{**entry, "source": "./plugin", "version": manifest["version"]}]
    yield ".claude-plugin/marketplace.json", {**offered, "plugins": plugins}


def _codex(about: dict[str, Any], servers: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "plugins/codex/.mcp.json", servers
    yield (
        "plugins/codex/.codex-plugin/plugin.json",
        {
            **about,
            "mcpServers": "./.mcp.json",
            "interface": {
                "displayName": TITLE,
                "shortDescription": about["description"],
                "developerName": about["author"]["name"],
                "category": CATEGORY,
            },
        },
    )
    entry = {
        "name": about["name"],
        "source": {"source": "local", "path": "./plugins/codex"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": CATEGORY,
    }
    yield (
        ".agents/plugins/marketplace.json",
        {
            "name": about["name"],
            "interface": {"displayName": TITLE},
            "plugins": [entry],
        },
    )


def _cursor(about: dict[str, Any], servers: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "plugins/cursor/mcp.json", servers
    yield "plugins/cursor/.cursor-plugin/plugin.json", {**about, "mcpServers": "./mcp.json"}
    plugin = {"name": about["name"], "source": "plugins/cursor"}
    yield (
        ".cursor-plugin/marketplace.json",
        {
            "name": about["name"],
            "owner": about["author"],
            "plugins": [{**plugin, "description": about["description"]}],
        },
    )


def _registry(about: dict[str, Any]) -> dict[str, Any]:
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": f"{NAMESPACE}/{PACKAGE}",
        "title": TITLE,
        "description": about["description"],
        "version": about["version"],
        "packages": [
            {
                "registryType": "pypi",
                "identifier": PACKAGE,
                "version": about["version"],
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    wrong = []
    for name, content in files():
        path = ROOT / name
        text = json.dumps(content, indent=2) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        wrong.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if check and wrong:
        print(f"Out of date: {', '.join(wrong)}. Run `make docs`.", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
