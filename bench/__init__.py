"""What Roost costs. ``make bench`` runs it all; each row stands next to the limit it must keep.

Lives here: one file per thing measured; ``report.py`` (rows, the table, the JSON).
May import: ``roost``, the standard library, rich.
Never here: assertions about wall-clock time in the tests' run; that is why this is not a test.
"""

import sys
from pathlib import Path

# The benchmarks start a person's own browser with what the tests have for that.
sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
