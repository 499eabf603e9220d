"""What one tab uses, as Chromium reports it.

The protocol does not say which process a page runs in. So the memory is that of the page's scripts
and documents, without the process around them.
"""

from __future__ import annotations

from roost.drivers.base import TabUsage
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.errors import TabGone

_MEMORY = ("totalSize", "embedderHeapUsedSize", "backingStorageSize")


async def tab_usage(cdp: CdpConnection, session: str) -> TabUsage:
    """Return what the page of that protocol session uses. Raises ``TabGone`` if it is gone."""
    cdp.tell("Performance.enable", None, session)
    try:
        heap = await cdp.call("Runtime.getHeapUsage", None, session)
        found = await cdp.call("Performance.getMetrics", None, session)
    except CdpError:
        raise TabGone("The page was closed.") from None
    metrics = {one["name"]: one["value"] for one in found["metrics"]}
    memory = sum(int(heap.get(part, 0)) for part in _MEMORY)
    return TabUsage(memory, float(metrics.get("ProcessTime", 0.0)))
