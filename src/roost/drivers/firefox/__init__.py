"""The Firefox driver. It speaks WebDriver BiDi through the one session that a keeper holds.

Lives here: ``launch`` and ``preferences`` (how to start Firefox), ``connection`` (commands,
replies, events), ``contexts`` and ``jars`` (all tabs and jars), ``tab`` and its parts (one tab),
``driver`` (the ``Driver`` built from them).
May import: ``drivers``, ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``. Among drivers,
only this one and the extension's use BiDi.
Never here: Chromium, agents, sessions of Roost. BiDi's one session belongs to the keeper.
Tests: ``tests/drivers/firefox``.
"""

from roost.drivers.firefox.driver import FirefoxDriver

__all__ = ["FirefoxDriver"]
