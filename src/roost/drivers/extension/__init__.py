"""The person's own browser, reached through Roost's extension and its native host.

Lives here: ``host_link`` (the native host's link, at most one per browser), ``connection`` (the
extension's commands and events), ``base`` (what both browsers share: the tab strip, the person's
commands, the panel), ``chromium`` (pages over CDP, which the extension passes through
``chrome.debugger``), ``firefox`` (a room of its own: pages through the extension's scripts, jars as
containers).
May import: ``conditions``, ``drivers``, ``drivers.chromium``, ``drivers.extension.firefox``,
``errors``, ``hints``, ``local``, ``vocabulary``. The pages of a person's Chromium are those of
``drivers.chromium``.
Never here: the word agent; anything that reaches a tab outside a managed group. The extension
checks the group again on every command.
Tests: ``tests/drivers/extension``, ``tests/e2e/extension``; the extension's own parts in
``extension/tests``.
"""

from roost.drivers.extension.chromium import OwnChromiumDriver
from roost.drivers.extension.firefox.driver import OwnFirefoxDriver

__all__ = ["OwnChromiumDriver", "OwnFirefoxDriver"]
