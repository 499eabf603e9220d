"""``python -m roost.daemon``: what ``roost up`` and the first agent start."""

import sys

from roost.daemon.main import main

sys.exit(main())
