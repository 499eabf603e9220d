"""The features that Firefox lacks over BiDi: why, and what a caller gets instead."""

from __future__ import annotations

from roost.drivers.base import Lack
from roost.drivers.firefox.input_translation import NO_SUCH_KEYS

DOWNLOAD_NAME_BYTES = 241
LACKS = (
    Lack(
        "the CDP endpoint",
        "`UNSUPPORTED` for `roost cdp-url` and clients of it",
        "It is Chromium's own protocol; Firefox no longer speaks it.",
    ),
    Lack(
        "some keys",
        f"`UNSUPPORTED` for {', '.join(sorted(NO_SUCH_KEYS))}",
        "WebDriver's table of keys has none of them.",
    ),
    Lack(
        "trusted drops",
        "A drag begins with trusted events; those of its drop are dispatched by Roost, and "
        "`isTrusted` is false in them. So it is with a slider's `input` and `change`.",
        "Firefox finishes a drag, and moves a slider, only in the tab that has the focus.",
    ),
    Lack(
        "focus of several pages",
        "A page is visible and focused from when its agent navigates or acts in it until another "
        "agent does so in another tab. Then the page is hidden and loses the focus (`blur`, "
        "`visibilitychange`), until the next action in it. With a window on a screen, pages stay "
        "hidden and without focus.",
        "Firefox focuses one page at a time, and BiDi has no emulation of focus. A window for each "
        "session would keep pages visible, but costs 40 MiB each and focuses no further page. On a "
        "screen, focusing a tab would bring the window before the person's own.",
    ),
    Lack(
        "history of a frozen page",
        "A page whose script never ends can be left for another address; back leads nowhere then.",
        "BiDi cannot end a script, so the tab goes on in a new browsing context.",
    ),
    Lack(
        "very long names of downloads",
        f"A download whose name is longer than {DOWNLOAD_NAME_BYTES} bytes fails, and is listed "
        "as failed.",
        "Firefox lengthens the name while it writes, beyond what file systems take.",
    ),
)
