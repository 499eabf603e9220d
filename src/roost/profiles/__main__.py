"""``python -m roost.profiles``: read logins in a separate process, for the broker.

Reading many logins takes long. A thread would not help: it would hold Python's interpreter lock and
block the broker's event loop. Standard input holds the order as one line of JSON, followed by the
file's bytes if the order names no path. Standard output receives the logins, or the error, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

from roost.errors import RoostError
from roost.profiles.harvest import Harvest
from roost.profiles.limits import check_size
from roost.profiles.sources import contents_of, read_source
from roost.profiles.storage_state import read_storage_state

_HARVEST = TypeAdapter(Harvest)


def main() -> int:
    order = json.loads(sys.stdin.buffer.readline())
    field = order["field"]
    try:
        if order["path"] is None:
            text = sys.stdin.buffer.read().decode(errors="replace")
            contents = read_storage_state(text, field)
            kind, harvest = "", Harvest(list(contents.cookies), list(contents.storage))
        else:
            kind, harvest = read_source(Path(order["path"]), order["domains"])
        check_size(contents_of(harvest), field)
    except RoostError as error:
        sys.stdout.buffer.write(json.dumps(error.to_wire()).encode())
        return 1
    sys.stdout.buffer.write(json.dumps(kind).encode() + b"\n" + _HARVEST.dump_json(harvest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
