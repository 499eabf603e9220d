from __future__ import annotations

from pathlib import Path

from roost.local.checkup import findings


def test_doctor_is_asked_about_that_home(tmp_path: Path) -> None:
    found = {one["name"]: one for one in findings(tmp_path / "elsewhere")}
    assert str(tmp_path / "elsewhere") in found["home"]["detail"]
    assert found["python"]["verdict"] == "ok"
