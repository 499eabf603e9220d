"""Responses of a HAR file are found by method and address."""

from __future__ import annotations

import json
from pathlib import Path

from roost.drivers.recorded import INDEX, recorded_answer


def test_a_recorded_response_is_found_by_method_and_address(tmp_path: Path) -> None:
    entry = [201, [["A", "b"]], "0"]
    (tmp_path / INDEX).write_text(json.dumps({"POST https://a.test/x": entry}))
    (tmp_path / "0").write_bytes(b"body")
    folder = str(tmp_path)
    assert recorded_answer(folder, "post", "https://a.test/x#y") == (201, [("A", "b")], b"body")
    assert recorded_answer(folder, "GET", "https://a.test/x") is None
    (tmp_path / "0").unlink()
    assert recorded_answer(folder, "POST", "https://a.test/x") is None
    assert recorded_answer(str(tmp_path / "gone"), "POST", "https://a.test/x") is None
