"""The person's own browser, reached through Roost's extension and its native host.

Lives here: ``hosting`` (the host's link: the first one counts while it lives), ``own`` (what both
browsers have in common: the tab strip, the person's words, the panel), ``chromium`` (pages over
CDP, which the extension passes through ``chrome.debugger``), ``firefox`` with its ``words``, its
``lacks`` (pages by the extension's own scripts, jars as containers) and its ``remote`` (trusted
input, where the browser was started for it).
May import: what all drivers may, ``drivers.chromium`` for its pages, and ``drivers.firefox`` for
its hands.
Never here: the word agent; and nothing that reaches a tab outside a managed group. The extension
itself refuses those, on every command.
Tests: ``tests/drivers/test_own_chromium.py``, ``test_own_firefox.py``, ``tests/e2e_extension``; the
extension's own parts in ``extension/tests``.
"""

from roost.drivers.extension.chromium import OwnChromiumDriver
from roost.drivers.extension.firefox import OwnFirefoxDriver

__all__ = ["OwnChromiumDriver", "OwnFirefoxDriver"]
