"""HAR files: what a recording keeps, and what is read of a file."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from roost.broker.browser import har
from roost.broker.tasks import Tasks
from roost.drivers.events import RequestEnded, RequestSent
from roost.drivers.har_answers import recorded_answer
from roost.errors import BadRequest, NotFound, TooLarge
from roost.vault.redaction import Redactor
from roost.vocabulary import TabHandle, TabId

TAB = TabId("t1")
H = TabHandle("h")

NOTHING = Redactor()


def sent(number: str, url: str = "https://a.test/x?q=1") -> RequestSent:
    return RequestSent(handle=H, request=number, url=url, method="GET", kind="xhr")


def ended(number: str) -> RequestEnded:
    return RequestEnded(
        handle=H, request=number, status=200, mime_type="text/plain", headers=(("A", "b"),)
    )


async def recorded(body: bytes | None, count: int = 1, redactor: Redactor = NOTHING) -> bytes:
    async def read(tab: TabId, request: str) -> bytes:
        if body is None:
            raise NotFound("gone")
        return body

    tasks = Tasks()
    recording = har.Recording(tasks, redactor, read)
    for number in range(count):
        recording.hear(TAB, sent(str(number)), 1.0)
        recording.hear(TAB, ended(str(number)), 1.5)
    recording.hear(TAB, ended("unknown"), 2.0)
    data = await recording.har("1")
    await tasks.aclose()
    return data


async def test_a_recording_can_be_answered_from(tmp_path: Path) -> None:
    data, folder = await recorded(b"\xff"), tmp_path / "folder"
    count, size = har.split(data, folder)
    assert (count, size) == (1, sum(one.stat().st_size for one in folder.iterdir()))
    assert recorded_answer(str(folder), "GET", "https://a.test/x?q=1") == (
        200,
        [("A", "b")],
        b"\xff",
    )
    entry = json.loads(data)["log"]["entries"][0]
    assert (entry["time"], entry["request"]["queryString"][0]["value"]) == (500.0, "1")


async def test_a_response_without_a_body_is_recorded_without_text() -> None:
    (entry,) = json.loads(await recorded(None))["log"]["entries"]
    assert "text" not in entry["response"]["content"]


async def test_a_recording_has_no_secret() -> None:
    redactor = Redactor()
    redactor.register_all({"mail": ['c4"nary-value']})
    said = '{"password": "c4\\"nary-value"}'
    text = (await recorded(said.encode(), redactor=redactor)).decode()
    (entry,) = json.loads(text)["log"]["entries"]
    assert entry["response"]["content"]["text"] == '{"password": "[secret mail]"}'
    binary = await recorded(b"\xff" + b'c4"nary-value' + b"\xff", redactor=redactor)
    (entry,) = json.loads(binary)["log"]["entries"]
    body = base64.b64decode(entry["response"]["content"]["text"])
    assert body == b"\xff[secret mail]\xff"


async def test_a_recording_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(har, "ENTRIES", 3)
    monkeypatch.setattr(har, "RECORDED_BYTES", 5)
    entries = json.loads(await recorded(b"1234", count=9))["log"]["entries"]
    assert len(entries) == 3
    assert sum("text" in one["response"]["content"] for one in entries) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"log": {"entries": [1]}}', "[" * 99_999])
def test_a_file_that_is_not_a_har_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadRequest):
        har.split(text.encode(), tmp_path / "folder")


def test_a_file_with_too_many_requests_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    data = json.dumps({"log": {"entries": [{}] * (har.ENTRIES + 1)}}).encode()
    with pytest.raises(TooLarge):
        har.split(data, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_the_first_of_several_responses_to_one_request_answers(tmp_path: Path) -> None:
    entries = [
        {
            "request": {"method": "GET", "url": "https://a.test/"},
            "response": {"status": status, "headers": [], "content": {"text": text}},
        }
        for status, text in ((0, "failed"), (200, "first"), (200, "second"))
    ]
    data = json.dumps({"log": {"entries": entries}}).encode()
    assert har.split(data, tmp_path / "folder")[0] == 1
    found = recorded_answer(str(tmp_path / "folder"), "GET", "https://a.test/")
    assert found == (200, [], b"first")
