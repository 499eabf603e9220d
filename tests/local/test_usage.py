from __future__ import annotations

import os
import subprocess
import sys

from roost.local.usage import tree_usages


def test_a_tree_is_its_root_and_everything_below() -> None:
    code = "import subprocess, sys; subprocess.run(['cat'], stdin=sys.stdin)"
    with subprocess.Popen(
        [sys.executable, "-c", f"print(flush=True); {code}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdin.write(b"x\n")
        child.stdin.flush()
        assert [child.stdout.readline(), child.stdout.readline()] == [b"\n", b"x\n"]  # cat runs
        mine, below = (
            tree_usages([os.getpid(), child.pid])[pid] for pid in (os.getpid(), child.pid)
        )
        child.stdin.close()
    assert below.processes == 2
    assert mine.processes >= 3
    assert mine.memory > below.memory > 100_000
    assert mine.processor_seconds >= below.processor_seconds >= 0


def test_a_process_that_is_gone_is_left_out() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    assert child.pid not in tree_usages([child.pid])
