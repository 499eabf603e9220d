from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from roost.hook import transcript
from roost.hook.transcript import last_message


def text(said: str, message: str | None = "m", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": said}]
    return {"type": "assistant", "message": {"id": message, "content": content}, **more}


def tool(name: str, message: str = "m") -> dict[str, Any]:
    content = [{"type": "tool_use", "name": name}]
    return {"type": "assistant", "message": {"id": message, "content": content}}


def user(said: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": said}}


def read(folder: Path, *entries: dict[str, Any] | str) -> str:
    file = folder / "transcript.jsonl"
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return last_message(str(file))


def test_the_newest_message_counts_and_no_earlier_one(tmp_path: Path) -> None:
    assert read(tmp_path, text("first", "1"), user("go on"), text("second", "2")) == "second"


def test_blocks_of_one_message_belong_together(tmp_path: Path) -> None:
    said = read(tmp_path, text("old", "1"), text("a", "2"), tool("Bash", "2"), text("b", "2"))
    assert said == "a\nb"


def test_messages_before_the_persons_prompt_are_not_the_last_message(tmp_path: Path) -> None:
    assert read(tmp_path, text("before", "1"), user("next"), text("after", "1")) == "after"


def test_messages_without_an_id_stand_alone(tmp_path: Path) -> None:
    assert read(tmp_path, text("one", None), text("two", None)) == "two"


def test_a_sub_agents_messages_are_not_the_agents(tmp_path: Path) -> None:
    assert read(tmp_path, text("mine", "1"), text("its", "2", isSidechain=True)) == "mine"


def test_plain_text_content_is_read_too(tmp_path: Path) -> None:
    assert read(tmp_path, {"type": "assistant", "message": {"content": "plain"}}) == "plain"


@pytest.mark.parametrize(
    "noise",
    ["", "not json", "{", '{"type": "summary"}', "[" * 100_000, '{"type":"assistant"}', "7"],
)
def test_lines_that_are_something_else_are_passed_over(noise: str, tmp_path: Path) -> None:
    assert read(tmp_path, noise, text("said"), noise) == "said"


def test_odd_blocks_are_passed_over(tmp_path: Path) -> None:
    content = [7, {"type": "text"}, {"type": "text", "text": None}, {"type": "text", "text": "x"}]
    assert read(tmp_path, {"type": "assistant", "message": {"content": content}}) == "x"


def test_only_the_end_of_a_long_transcript_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "TAIL_BYTES", 300)
    assert read(tmp_path, text("far"), user("x" * 400)) == ""
    assert read(tmp_path, user("x" * 400), text("near")) == "near"


def test_a_path_that_is_no_file_gives_an_empty_message(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "absent", tmp_path, tmp_path / "pipe", "/dev/zero", "a\0b"):
        assert last_message(str(path)) == ""
