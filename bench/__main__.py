"""``python -m bench``: every row, the table, and exit code 1 if a limit is missed."""

from __future__ import annotations

import sys

from bench import admission, hooks, pages, sockets
from bench.report import keep, show

rows = [*sockets.rows(), *hooks.rows(), *admission.rows(), *pages.rows()]
show(rows)
sys.stdout.write(f"Kept in {keep(rows)}\n")
sys.exit(0 if all(row.is_kept for row in rows) else 1)
