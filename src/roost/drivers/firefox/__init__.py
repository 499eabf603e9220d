"""Firefox over WebDriver BiDi, through the one session that a keeper holds.

Lives here: ``launch`` and ``preferences`` (how it is started), ``connection`` (commands, replies,
events), ``contexts`` and ``jars`` (what there is), ``tab`` and its parts (one top-level context),
``driver`` (the Driver over all of it).
May import: ``drivers``, ``errors``, ``local``, ``vocabulary``, ``wire``. Other files with BiDi
method names are in ``drivers.extension``, ``keeper`` and ``link``.
Never here: a Chromium word, an agent, a session of ours (BiDi's one session is the keeper's).
Tests: ``tests/drivers/firefox``, ``tests/drivers/firefox/test_firefox.py``.
"""

from roost.drivers.firefox.driver import FirefoxDriver

__all__ = ["FirefoxDriver"]
