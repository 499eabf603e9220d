"""The Firefox driver. It speaks WebDriver BiDi through the one session that a keeper holds.

Lives here: ``launch`` and ``preferences`` (how to start Firefox), ``connection`` (commands,
replies, events), ``contexts`` and ``jars`` (all tabs and jars), ``driver`` (the ``Driver``),
``tab`` (one tab) and the tab's parts: ``scripts`` and ``values``, ``input``, ``input_translation``,
``default_actions`` (clicks and keys), ``navigation``, ``page_events``, ``interception`` (paused
requests), ``conditions``, ``camera``, ``dialogs``. For all tabs: ``cookies``, ``storage``;
``lacks`` (what Firefox cannot do).
May import: ``conditions``, ``drivers``, ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``.
Among drivers, only this one and the extension's use BiDi.
Never here: Chromium, agents, sessions of Roost. BiDi's one session belongs to the keeper.
Tests: ``tests/drivers/firefox``.
"""

from roost.drivers.firefox.driver import FirefoxDriver

__all__ = ["FirefoxDriver"]
