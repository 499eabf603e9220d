"""Files of a folder: what a page gets, and what does not exist for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.drivers import folder_answers
from roost.drivers.folder_answers import folder_answer

HOST = "http://x.localhost"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    (site / "x.html").write_text("<h1>x</h1>")
    (site / "sub" / "index.html").write_text("index")
    (site / "a b.js").write_text("1")
    (site / ".env").write_text("secret")
    (tmp_path / "outside.txt").write_text("secret")
    (site / "link.txt").symlink_to(tmp_path / "outside.txt")
    (site / "up").symlink_to(tmp_path)
    return site


def test_files_are_answered_with_their_type_and_folders_with_their_index(folder: Path) -> None:
    status, headers, body = folder_answer(str(folder), "GET", f"{HOST}/x.html?v=1#top")
    assert (status, body) == (200, b"<h1>x</h1>")
    assert ("Content-Type", "text/html; charset=utf-8") in headers
    assert ("Referrer-Policy", "same-origin") in headers
    assert folder_answer(str(folder), "GET", f"{HOST}/a%20b.js")[2] == b"1"
    status, headers, _ = folder_answer(str(folder), "GET", f"{HOST}/sub")
    assert status == 302
    assert ("Location", "/sub/") in headers
    assert folder_answer(str(folder), "GET", f"{HOST}/sub/")[2] == b"index"


@pytest.mark.parametrize(
    "path",
    ["/.env", "/link.txt", "/up/outside.txt", "/../outside.txt", "/%2e%2e/outside.txt", "/none",
     "/", "/x.html%00", "/sub/..%2f..%2foutside.txt"],
)  # fmt: skip
def test_hidden_files_and_what_is_outside_do_not_exist(folder: Path, path: str) -> None:
    status, _, body = folder_answer(str(folder), "GET", HOST + path)
    assert (status, b"secret" in body) == (404, False)


def test_a_file_that_is_too_large_and_other_methods_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder_answer(str(folder), "POST", f"{HOST}/x.html")[0] == 405
    monkeypatch.setattr(folder_answers, "FILE_BYTES", 3)
    assert folder_answer(str(folder), "GET", f"{HOST}/x.html")[0] == 413
