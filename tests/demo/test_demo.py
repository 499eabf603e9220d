"""The demo, as ``make demo`` runs it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.house import house_of
from tests.support.real_processes import PROCESS_SECONDS

LAST = "proofs held."


def leftovers(folder: Path) -> list[Path]:
    return list(folder.glob("roost-demo-*"))


@pytest.mark.slow
def test_the_demo_ends_by_itself_with_every_proof_held_and_nothing_left(tmp_path: Path) -> None:
    with house_of(folder=tmp_path / "home") as made:
        told = made.says("demo", "--browser", "fake", TMPDIR=str(tmp_path))
        assert not made.home.endpoint.exists()
    assert "FAILED" not in told
    (last,) = [line for line in told.splitlines() if line.endswith(LAST)]
    held, of, claims = last.split()[:3]
    assert (held, of) == (claims, "of")
    assert int(claims) >= 15
    for scene in ("POOL_FULL", "reserved", "is killed", "cleaned up", "intrusions refused  8 of 8"):
        assert scene in told
    assert leftovers(tmp_path) == []
    assert "\nNext:  " in told, "a newcomer is told what to type next"
    assert " install  # put Roost into your coding agents" in told


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_cleans_up(tmp_path: Path, number: signal.Signals) -> None:
    with house_of(folder=tmp_path / "home") as made:
        with made.running("demo", "--browser", "fake") as telling:
            assert telling.stdout is not None
            pids = []
            for line in telling.stdout:
                if " arrives: pid " in line:
                    pids.append(int(line.partition(" arrives: pid ")[2].partition(",")[0]))
                if len(pids) == 4:
                    break  # the earliest moment: it must not end by itself before it is told to
            telling.send_signal(number)
            said = telling.stdout.read()
            assert telling.wait(PROCESS_SECONDS) != 0
    assert len(pids) == 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert "Traceback" not in said
