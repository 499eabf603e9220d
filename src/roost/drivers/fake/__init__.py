"""A browser in memory. Ships, so that anybody can test against Roost without a browser.

Lives here: ``browser.py`` (pages, jars, a tiny JavaScript) and ``driver.py`` (the Driver over it);
``grouped_driver.py``, the same as a person's own browser with tab groups.
May import: ``drivers``, ``errors``, ``vocabulary``.
Never here: shortcuts the real drivers do not have. ``roost.testing.drivers.check_driver`` checks
this driver like every other.
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
