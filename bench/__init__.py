"""Benchmarks: what Roost costs. ``make bench`` runs all; each row shows the limit it must keep.

Lives here: one file per subject; ``report.py`` (rows, the table, the JSON).
May import: ``roost``, the standard library, rich.
Never here: tests. Limits on wall-clock time would make a test run depend on the machine.
"""

import sys
from pathlib import Path

# The benchmarks start a person's own browser with the helpers of the tests.
sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
