"""Words of the command line, and the call they become."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from roost.verb.any_operation import fill_call
from roost.verb.arguments import Call, UsedWronglyError, fill, split
from roost.verb.broker_socket import NoBrokerError, connect
from roost.verb.plain_json import dumps, loads
from roost.verb.table import Table

TABLE = Table()


def call_of(line: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the operation, its arguments and the common flags of a command line."""
    call, left = split(line.split())
    found = TABLE.verb(left)
    assert found is not None
    name, row, count = found
    fill(call, name, row, left[count:])
    return row["op"], call.arguments, call.options


@pytest.mark.parametrize(
    ("line", "op", "arguments"),
    [
        ("open site.test", "browser_navigate", {"url": "site.test"}),
        ("goto site.test", "browser_navigate", {"url": "site.test"}),
        ("click e12", "browser_click", {"target": "e12"}),
        ("dblclick e12", "browser_click", {"target": "e12", "doubleClick": True}),
        ("click --button=right e12", "browser_click", {"target": "e12", "button": "right"}),
        ("click e1 --modifiers Shift,Alt", "browser_click",
         {"target": "e1", "modifiers": ["Shift", "Alt"]}),
        ("fill e5 Ada --submit", "browser_type", {"target": "e5", "text": "Ada", "submit": True}),
        ("type Ada", "browser_press_sequentially", {"text": "Ada"}),
        ("fill -- e5 --submit", "browser_type", {"target": "e5", "text": "--submit"}),
        ("select e9 A B", "browser_select_option", {"target": "e9", "values": ["A", "B"]}),
        ("check e7", "browser_fill_form", {"fields": [{"target": "e7", "value": True}]}),
        ("uncheck e7", "browser_fill_form", {"fields": [{"target": "e7", "value": False}]}),
        ("fill-form e5=a=b e7=true", "browser_fill_form",
         {"fields": [{"target": "e5", "value": "a=b"}, {"target": "e7", "value": True}]}),
        ("mouse wheel 0 -400", "browser_mouse_wheel", {"deltaX": "0", "deltaY": "-400"}),
        ("tab new site.test --label shop", "browser_tabs",
         {"action": "new", "url": "site.test", "label": "shop"}),
        ("tab-select t2", "browser_tabs", {"action": "select", "tab": "t2"}),
        ("tab new --no-evict", "browser_tabs", {"action": "new", "evict": False}),
        ("dialog accept yes", "browser_handle_dialog", {"accept": True, "promptText": "yes"}),
        ("snapshot -i -d 3 -t shop", "browser_snapshot",
         {"interactive": True, "depth": "3", "tab": "shop"}),
        ("wait --gone Loading", "browser_wait_for", {"textGone": "Loading"}),
        ("cookies", "browser_cookies", {"action": "list"}),
        ("cookies set a b", "browser_cookies", {"action": "set", "name": "a", "value": "b"}),
    ],
)  # fmt: skip
def test_words_become_a_call(line: str, op: str, arguments: dict[str, Any]) -> None:
    found = call_of(line)
    assert found[:2] == (op, arguments)


@pytest.mark.parametrize(
    "line",
    ["-s shop click e1", "-s=shop click e1", "-sshop click e1", "click e1 --session shop",
     "--session=shop click e1"],
)  # fmt: skip
def test_a_session_may_be_named_before_or_after_the_verb(line: str) -> None:
    assert call_of(line)[2] == {"session": "shop"}


def test_files_are_named_from_the_callers_folder() -> None:
    here = os.getcwd()
    assert call_of("upload a.txt /b.txt")[1]["paths"] == [f"{here}/a.txt", "/b.txt"]
    assert call_of("screenshot -o a.png")[1]["filename"] == f"{here}/a.png"
    assert call_of("pdf a.pdf")[1]["filename"] == f"{here}/a.pdf"
    assert call_of("read -o a.txt")[2]["output"] == "a.txt"


@pytest.mark.parametrize(
    ("line", "says", "near"),
    [
        ("click", "click needs TARGET.", ""),
        ("fill e5", "fill needs TEXT.", ""),
        ("click e1 --doubleclick", "click has no flag --doubleclick.", "--double-click"),
        ("click e1 e2", "click takes no further word: e2.", ""),
        ("click e1 --button middel", "middel is none of left, right, middle.", "middle"),
        ("click e1 --double-click=yes", "--double-click takes no value.", ""),
        ("open site.test -s", "--session needs a value: --session ID.", ""),
        ("scroll sideways", "sideways is none of", ""),
        ("fill-form text=Name=Ada", "text=Name=Ada is not TARGET=VALUE.", ""),
        ("--jsno click e1", "There is no flag --jsno before a verb.", "--json"),
    ],
)
def test_wrong_words_are_explained(line: str, says: str, near: str) -> None:
    with pytest.raises(UsedWronglyError) as wrong:
        call_of(line)
    assert says in str(wrong.value)
    if near:
        assert near in wrong.value.known


def test_any_operation_can_be_called_by_its_name() -> None:
    call = Call()
    assert fill_call(call, ["ping", "{}"]) == "ping"
    assert fill_call(call, ["browser_click", '{"target": "e1"}']) == "browser_click"
    assert call.arguments == {"target": "e1"}
    with pytest.raises(UsedWronglyError):
        fill_call(Call(), ["browser_click", "[1]"])


@pytest.mark.parametrize("value", [{"a": ["é", 1, None, True]}, "\ud800", [], "a\nb", {"x": 1.5}])
def test_json_without_the_module_is_json(value: object) -> None:
    assert json.loads(dumps(value)) == value
    assert loads(dumps(value)) == value
    assert loads(json.dumps(value)) == value


def test_text_that_is_not_json_is_refused() -> None:
    for text in ("", "{", "nope", '{"a" 1}'):
        with pytest.raises(ValueError, match=r"JSON|Expecting"):
            loads(text)


def test_connecting_without_a_broker_raises_an_error(tmp_path: Any) -> None:
    with pytest.raises(NoBrokerError):
        connect(str(tmp_path))
