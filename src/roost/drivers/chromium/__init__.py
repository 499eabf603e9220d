"""The Chromium driver. It speaks the DevTools protocol over the debugging pipe of a keeper.

Lives here: ``launch`` (find and start Chromium), ``connection`` (commands, replies, events),
``driver`` (the ``Driver``), ``tab`` (one tab) and the tab's parts: ``frames``, ``scripts``,
``input`` and ``input_translation`` (clicks and keys), ``navigation``, ``page_exit`` (leaves a page
that hangs), ``page_events``, ``requests``, ``messages`` (of WebSockets), ``interception`` (paused
requests), ``conditions``, ``camera``, ``film`` (screencast), ``dialogs``, ``side_effects``,
``titles``, ``usage`` (memory). For all tabs: ``cookies``, ``storage``, ``downloads``,
``passwords``, ``label_tabs``, ``taps`` (DevTools clients), ``holds`` (pauses new tabs for them).
May import: ``conditions``, ``drivers``, ``errors``, ``hints``, ``local``, ``vocabulary``. Among
drivers, only this one and the extension's use CDP.
Never here: Firefox, agents, sessions of Roost. A ``session`` here is a protocol session.
Tests: ``tests/drivers/chromium``, ``tests/e2e``.
"""

from roost.drivers.chromium.driver import ChromiumDriver

__all__ = ["ChromiumDriver"]
