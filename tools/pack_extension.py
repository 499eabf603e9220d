"""Pack the extension for the stores: a zip for Chromium, an xpi for Firefox.

``make build`` runs it. The archives carry no dates, so the same sources give the same bytes.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from roost import __version__
from roost.frontends.cli.install import extension

SUFFIXES = {"chromium": "zip", "firefox": "xpi"}


def pack(kind: str, folder: Path) -> Path:
    path = folder / f"roost-{kind}-{__version__}.{SUFFIXES[kind]}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in extension.files(kind):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return path


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for kind in extension.KINDS:
        print(pack(kind, folder))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
