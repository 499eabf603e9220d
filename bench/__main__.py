"""``python -m bench [PART …]``: measure those parts, or all. Exit code 1 if a limit is missed."""

from __future__ import annotations

import sys

from bench import (
    admission,
    batch,
    cdp,
    clones,
    dashboard,
    firefox_pages,
    fleet,
    hooks,
    hostile,
    http,
    own_chromium,
    own_firefox,
    pages,
    peers,
    redaction,
    shims,
    sockets,
    task_costs,
    verbs,
)
from bench.report import keep, show

PARTS = {
    "sockets": sockets.rows,
    "http": http.rows,
    "shims": shims.rows,
    "hooks": hooks.rows,
    "verbs": verbs.rows,
    "admission": admission.rows,
    "pages": pages.rows,
    "batch": batch.rows,
    "firefox": firefox_pages.rows,
    "extension": own_chromium.rows,
    "own-firefox": own_firefox.rows,
    "cdp": cdp.rows,
    "clones": clones.rows,
    "dashboard": dashboard.rows,
    "fleet": fleet.rows,
    "fleet-scale": fleet.scale_rows,
    "hostile": hostile.rows,
    "peers": peers.rows,
    "redaction": redaction.rows,
    "tasks": task_costs.rows,
}

asked = sys.argv[1:] or list(PARTS)
if unknown := set(asked) - set(PARTS):
    sys.exit(f"There is no part {', '.join(sorted(unknown))}. Parts: {', '.join(PARTS)}.")
rows = [row for name in asked for row in PARTS[name]()]
show(rows)
sys.stdout.write(f"Kept in {keep(rows)}\n")
sys.exit(0 if all(row.is_kept for row in rows) else 1)
