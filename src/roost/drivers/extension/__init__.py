"""The person's own browser, reached through Roost's extension and its native host.

Lives here: ``host_link`` (the native host's link; the first one counts while it lives), ``base``
(what both browsers have in common: the tab strip, the person's words, the panel), ``chromium``
(pages over CDP, which the extension passes through ``chrome.debugger``), ``firefox`` (a room of its
own: pages by the extension's scripts, jars as containers).
May import: ``drivers``, ``drivers.chromium``, ``drivers.extension.firefox``, ``errors``, ``local``,
``vocabulary``. The pages of a person's Chromium are those of ``drivers.chromium``.
Never here: the word agent; and nothing that reaches a tab outside a managed group. The extension
itself refuses those, on every command.
Tests: ``tests/drivers/extension``, ``tests/e2e_extension``; the extension's own parts in
``extension/tests``.
"""

from roost.drivers.extension.chromium import OwnChromiumDriver
from roost.drivers.extension.firefox.driver import OwnFirefoxDriver

__all__ = ["OwnChromiumDriver", "OwnFirefoxDriver"]
