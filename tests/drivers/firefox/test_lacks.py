"""Everything that Firefox cannot do is listed."""

from __future__ import annotations

import pytest

from roost.drivers.base import KeyDown
from roost.drivers.firefox.input_translation import NO_SUCH_KEYS, sources
from roost.drivers.firefox.lacks import LACKS
from roost.page.keys import NAMED


@pytest.mark.parametrize("key", sorted(NAMED))
def test_every_named_key_can_be_pressed_or_is_listed(key: str) -> None:
    listed = next(lack.then for lack in LACKS if lack.name == "some keys")
    if key in NO_SUCH_KEYS:
        assert key in listed
    else:
        (source,) = sources([KeyDown(key)])
        assert len(source["actions"][0]["value"]) == 1


def test_every_missing_capability_has_a_consequence_and_a_reason() -> None:
    assert len({lack.name for lack in LACKS}) == len(LACKS)
    assert all(lack.then and lack.reason.endswith(".") for lack in LACKS)
