"""The witness site of the campaign: it notices marks that do not belong together, and knows which
documents are open."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator

import pytest

from tests.soak.witness_site import WitnessSite, witness_site


@pytest.fixture
def site() -> Iterator[WitnessSite]:
    with witness_site() as made:
        yield made


def _got(site: WitnessSite, path: str, cookie: str = "") -> str:
    connection = http.client.HTTPConnection(site.base.removeprefix("http://"))
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    body = connection.getresponse().read().decode()
    connection.close()
    return body


def test_a_request_with_the_marks_of_two_agents_is_reported(site: WitnessSite) -> None:
    _got(site, "/mk1z/a", "c0=mk1z-1")
    assert site.foreign == []
    _got(site, "/mk1z/a", "c0=mk2z-1")
    assert len(site.foreign) == 1


def test_every_load_has_its_own_number(site: WitnessSite) -> None:
    numbers = re.findall(r"const serial = (\d+);", _got(site, "/mk1z/a") + _got(site, "/mk1z/a"))
    assert len(set(numbers)) == 2
    assert site.last_load("/mk1z/a") == int(numbers[-1])


def test_a_document_counts_if_it_answers_the_last_roll_call(site: WitnessSite) -> None:
    line = http.client.HTTPConnection(site.base.removeprefix("http://"))
    line.request("GET", "/open/7/mk1z/a")
    answer = line.getresponse()
    assert (answer.readline(), answer.readline()) == (b"retry: 200\n", b"data: 0\n")
    assert site.documents() == [], "connected, and has not answered"
    _got(site, "/here/7/0")
    assert [one.mark for one in site.documents()] == ["mk1z"]
    site.call_the_roll()
    assert site.documents() == [], "the connection alone proves nothing"
    answer.close()
    line.close()
