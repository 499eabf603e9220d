"""``python -m roost.daemon``: the broker process. ``roost up`` and the first agent start it."""

import sys

from roost.daemon.main import main

sys.exit(main())
