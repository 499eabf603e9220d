"""The check of pictures finds damaged ones: a check that cannot fail proves nothing."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from roost.drivers.base import Picture, Shot
from roost.drivers.fake import FakeDriver
from roost.testing.driver_rig import Reports
from roost.testing.pictures import check_picture
from roost.vocabulary import JarPolicy


async def picture(format: str) -> Picture:
    driver = FakeDriver()
    await driver.start(Reports())
    tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))
    return await driver.page(tab).capture(Shot(format=format))


@pytest.mark.parametrize("format", ["png", "jpeg"])
async def test_complete_pictures_pass_and_damaged_ones_fail(format: str) -> None:
    good = await picture(format)
    check_picture(good, format)
    for bad in (
        replace(good, width=good.width + 1),
        replace(good, mime_type="image/gif"),
        replace(good, data=good.data[:-1] + b"?"),
        replace(good, data=b"?" + good.data[1:]),
        replace(good, data=good.data[:2] + b"\0" + good.data[3:]),
        replace(good, data=good.data[:40]),
    ):
        with pytest.raises((AssertionError, struct.error)):
            check_picture(bad, format)
