"""Protocol messages (roost.frontends.cdp.messages) are read as Chromium reads them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.errors import PoolFull
from roost.frontends.cdp import messages
from roost.frontends.cdp.messages import Call, InvalidMessage, Refusal


@pytest.mark.parametrize(
    ("text", "code", "number"),
    [
        ("nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        ("[" * 100_000, -32700, None),
        ('{"id":1,"method":"A.b","params":{"x":NaN}}', -32700, None),
        ("[1]", -32600, None),
        ('{"foo":1}', -32600, None),
        ('{"id":"x","method":"a"}', -32600, None),
        ('{"id":true,"method":"a"}', -32600, None),
        ('{"id":1e99,"method":"a"}', -32600, None),
        ('{"id":99999999999999,"method":"a"}', -32600, None),
        ('{"id":5}', -32600, 5),
        ('{"id":6,"method":"A.b","params":7}', -32600, 6),
        ('{"id":7,"method":"A.b","sessionId":5}', -32600, 7),
        ('{"id":8,"method":"A.b","params":{"x":[' + "[]," * 100_000 + "1]}}", -32000, 8),
    ],
)
def test_an_invalid_message_is_refused_as_chromium_does(
    text: str | bytes, code: int, number: int | None
) -> None:
    with pytest.raises(InvalidMessage) as refused:
        messages.read(text)
    told = json.loads(messages.refused_invalid(refused.value))
    assert told["error"]["code"] == code
    assert told.get("id") == number


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_reading_never_fails_in_another_way(text: str | bytes) -> None:
    try:
        messages.read(text)
    except InvalidMessage:
        pass


def test_a_binary_frame_is_read_like_a_text_frame() -> None:
    assert messages.read(b'{"id":1,"method":"A.b"}').method == "A.b"


def test_the_clients_id_replaces_the_wires_and_nothing_else_changes() -> None:
    frame = b'{"id":12345,"result":{"text":"\\"id\\":12345,"},"sessionId":"S"}'
    assert messages.with_id(frame, 7) == frame.replace(b"12345", b"7", 1)


def test_a_roost_error_is_told_with_its_code_and_its_hint() -> None:
    call = Call(3, "Target.createTarget", {}, "S")
    told = json.loads(messages.refused(call, Refusal.of(PoolFull("All taken.", hint="Wait."))))
    assert told == {
        "id": 3,
        "error": {"code": -32000, "message": "POOL_FULL: All taken.", "data": "Wait."},
        "sessionId": "S",
    }


def test_calls_with_the_same_id_are_different_calls() -> None:
    assert Call(1, "A.b", {}) != Call(1, "A.b", {})
