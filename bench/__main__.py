"""``python -m bench [PART …]``: measure those parts, or all. Exit code 1 if a limit is missed."""

from __future__ import annotations

import sys

from bench import (
    admission,
    cdp,
    clones,
    firefox_pages,
    hooks,
    hostile,
    http,
    own_chromium,
    own_firefox,
    pages,
    peers,
    shims,
    sockets,
)
from bench.report import keep, show

PARTS = {
    "sockets": sockets.rows,
    "http": http.rows,
    "shims": shims.rows,
    "hooks": hooks.rows,
    "admission": admission.rows,
    "pages": pages.rows,
    "firefox": firefox_pages.rows,
    "extension": own_chromium.rows,
    "own-firefox": own_firefox.rows,
    "cdp": cdp.rows,
    "clones": clones.rows,
    "hostile": hostile.rows,
    "peers": peers.rows,
}

asked = sys.argv[1:] or list(PARTS)
if unknown := set(asked) - set(PARTS):
    sys.exit(f"There is no part {', '.join(sorted(unknown))}. Parts: {', '.join(PARTS)}.")
rows = [row for name in asked for row in PARTS[name]()]
show(rows)
sys.stdout.write(f"Kept in {keep(rows)}\n")
sys.exit(0 if all(row.is_kept for row in rows) else 1)
