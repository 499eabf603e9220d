"""Responses of a HAR file are found by method and address."""

from __future__ import annotations

from pathlib import Path

from roost.drivers.har_answers import file_name, recorded_answer


def test_a_recorded_response_is_found_by_method_and_address(tmp_path: Path) -> None:
    file = tmp_path / file_name("POST", "https://a.test/x")
    file.write_bytes(b'[201, [["A", "b"]]]\nbody\nof two lines')
    folder = str(tmp_path)
    answer = (201, [("A", "b")], b"body\nof two lines")
    assert recorded_answer(folder, "post", "https://a.test/x#y") == answer
    assert recorded_answer(folder, "GET", "https://a.test/x") is None
    file.write_bytes(b"cut off")
    assert recorded_answer(folder, "POST", "https://a.test/x") is None
    assert recorded_answer(str(tmp_path / "gone"), "POST", "https://a.test/x") is None
