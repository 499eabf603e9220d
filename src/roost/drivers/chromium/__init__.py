"""The Chromium driver. It speaks the DevTools protocol over the debugging pipe of a keeper.

Lives here: ``launch`` (find and start Chromium), ``connection`` (commands, replies, events),
``tab`` and its parts (one tab), ``driver`` (the ``Driver`` built from them).
May import: ``drivers``, ``errors``, ``hints``, ``local``, ``vocabulary``. Among drivers, only this
one and the extension's use CDP.
Never here: Firefox, agents, sessions of Roost. A ``session`` here is a protocol session.
Tests: ``tests/drivers/chromium``, ``tests/e2e``.
"""

from roost.drivers.chromium.driver import ChromiumDriver

__all__ = ["ChromiumDriver"]
