from __future__ import annotations

import json

from roost.errors import BY_CODE, MutexBusy, Unauthorized
from roost.frontends.http import replies
from roost.frontends.http.replies import NO_TOKEN, refusal, reply


def test_every_error_keeps_its_shape_and_gets_its_status() -> None:
    for kind in BY_CODE.values():
        error = kind("why", hint="what to do", field="x")
        answer = refusal(error)
        assert json.loads(bytes(answer.body)) == error.to_wire()
        assert answer.status_code == replies.STATUS[kind]
        assert 400 <= answer.status_code < 600


def test_a_delay_is_also_a_header_in_whole_seconds() -> None:
    answer = refusal(MutexBusy("busy", retry_after_ms=1200))
    assert answer.headers["retry-after"] == "2"


def test_who_is_not_known_is_told_how_to_be() -> None:
    assert refusal(Unauthorized("no"), NO_TOKEN).headers["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in refusal(Unauthorized("no")).headers


def test_half_a_character_and_a_reply_too_large_are_answered() -> None:
    assert json.loads(bytes(reply({"text": "\ud800"}).body)) == {"text": "\ud800"}
    large = reply({"text": "x" * (64 * 1024 * 1024)})
    assert (large.status_code, json.loads(bytes(large.body))["code"]) == (413, "TOO_LARGE")
