"""Help, what completion offers, and what a sandbox's refusal says."""

from __future__ import annotations

import pytest

from roost.verb.arguments import UsedWronglyError
from roost.verb.completion import complete
from roost.verb.help import explain, help_on
from roost.verb.sandbox import CLAUDE, CODEX, refusal
from roost.verb.table import Table

TABLE = Table()
NAMES = TABLE.entry("names")


@pytest.mark.parametrize("name", NAMES)
def test_the_help_on_a_verb_is_short_and_has_an_example(name: str) -> None:
    text = help_on(TABLE, name.split())
    assert f"Example: roost {name.split()[0]}" in text
    assert len(text.splitlines()) < 35
    assert all(len(line) <= 120 for line in text.splitlines())


def test_the_overview_groups_all_commands_and_verbs() -> None:
    text = help_on(TABLE, [])
    words = text.replace(",", " ").split()
    assert text.index("Set-up:") < text.index("Watching:") < text.index("Page verbs")
    commands = [name for name in TABLE.entry("commands") if " " not in name]
    assert {*commands, *(name.split()[0] for name in NAMES)} <= set(words)


def test_help_on_the_first_word_of_several_verbs_lists_them() -> None:
    text = help_on(TABLE, ["tab"])
    assert all(f"tab {word}" in text for word in ("list", "new", "close", "select"))


def test_an_unknown_command_gets_a_suggestion() -> None:
    wrong = UsedWronglyError("There is no command clik.", "clik", ["click", "close"])
    assert "Did you mean click?" in explain(wrong, ["clik"], TABLE)


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["clo"], {"close"}),
        (["tab", ""], {"list", "new", "close", "select"}),
        (["click", "--bu"], {"--button"}),
        (["scroll", "d"], {"down"}),
        (["session", "d"], {"dispose"}),
        (["status", "--js"], {"--json"}),
        (["completion", "f"], {"fish"}),
        (["help", "snap"], {"snapshot"}),
    ],
)
def test_words_are_completed(words: list[str], candidates: set[str]) -> None:
    assert set(complete(TABLE, words).split()) == candidates


@pytest.mark.parametrize(
    ("variable", "setting"),
    [
        ("CODEX_SANDBOX_NETWORK_DISABLED", "`roost install codex --sandbox`"),
        ("SANDBOX_RUNTIME", "`roost install claude --sandbox`"),
        ("CLAUDECODE", "`roost install claude --sandbox`"),
        ("", "unix sockets"),
    ],
)
def test_a_refusal_in_a_sandbox_names_the_clients_setting(
    variable: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*CODEX, *CLAUDE):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    said = refusal(PermissionError(1, "Operation not permitted"))
    assert said.startswith("UNAUTHORIZED: ")
    assert setting in said
