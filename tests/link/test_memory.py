"""What every link remembers for the next broker: the ids of commands."""

from __future__ import annotations

import pytest

from roost.link.bidi_memory import BidiMemory
from roost.link.cdp_memory import CdpMemory
from roost.link.memory import IdMemory


@pytest.mark.parametrize("kind", [IdMemory, CdpMemory, BidiMemory])
def test_the_next_broker_uses_no_command_id_that_a_broker_has_used(
    kind: type[IdMemory],
) -> None:
    memory = kind()
    memory.from_broker(b'{"id":7,"method":"Page.frames","sessionId":"r.1"}')
    memory.from_broker(b'{"id":3,"method":"Page.frames"}')
    memory.from_broker(b'["note",{"id":9}]')

    assert memory.handover()["nextId"] == 8


def test_a_link_to_the_extension_in_a_firefox_remembers_nothing_else() -> None:
    memory = IdMemory()
    memory.from_browser(b'{"method":"Page.dialog","params":{"tab":"r.1","message":"secret"}}')
    memory.noted("note", {"firstTab": "1"})

    assert memory.handover() == {"nextId": 1}
