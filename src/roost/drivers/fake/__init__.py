"""A fake browser in memory. It ships with Roost, so that tests need no real browser.

Lives here: ``browser.py`` (pages, jars, a tiny JavaScript), ``driver.py`` (its ``Driver``),
``page.py`` (the page work of one tab), and ``grouped_driver.py`` (the driver of a person's own
browser with tab groups).
May import: ``conditions``, ``drivers``, ``errors``, ``vocabulary``, ``wire``.
Never here: shortcuts that real drivers do not have. ``roost.testing.drivers.check_driver`` checks
all drivers alike.
Tests: ``tests/drivers/fake/test_fake.py``.
"""

from roost.drivers.fake.browser import FakeBrowser, FakePage, FakeResponse
from roost.drivers.fake.driver import FakeDriver
from roost.drivers.fake.grouped_driver import GroupedBrowser, GroupedDriver

__all__ = [
    "FakeBrowser",
    "FakeDriver",
    "FakePage",
    "FakeResponse",
    "GroupedBrowser",
    "GroupedDriver",
]
