"""The features that Firefox lacks over BiDi: why, and what a caller gets instead."""

from __future__ import annotations

from roost.drivers.base import Lack
from roost.drivers.firefox.input_translation import NO_SUCH_KEYS

DOWNLOAD_NAME_BYTES = 241
LACKS = (
    Lack(
        "the CDP endpoint",
        "Clients of the address that `roost cdp-url` prints get `UNSUPPORTED`.",
        "CDP is Chromium's own protocol. Firefox no longer supports it.",
    ),
    Lack(
        "some keys",
        f"{', '.join(sorted(NO_SUCH_KEYS))} get `UNSUPPORTED`.",
        "WebDriver's table of keys does not contain these keys.",
    ),
    Lack(
        "trusted drops",
        "A drag begins with trusted events. Roost dispatches the events of its drop, and the "
        "`input` and `change` of a slider, so `isTrusted` is false in those.",
        "Firefox finishes a drag, and moves a slider, only in the tab that has the focus.",
    ),
    Lack(
        "drops from outside of the page",
        "A drop from outside of the page gets `UNSUPPORTED`. Files go to the page's file field by "
        "uploading.",
        "BiDi has no command for a drop of files or data, and dispatched events are not trusted.",
    ),
    Lack(
        "scrolling by swipes",
        "A swipe gives the page trusted touch events, and does not scroll it.",
        "Firefox scrolls by touches of a screen, and BiDi's touches do not pass through one.",
    ),
    Lack(
        "drags out of frames",
        "A point outside of the frame in which the mouse button was pressed gets `BAD_REQUEST`.",
        "BiDi gives input to one frame, and only inside of that frame.",
    ),
    Lack(
        "sharp enlargements",
        "An enlarged picture of a region has the pixels of the page, and no more details.",
        "BiDi takes pictures in one size, and a changed pixel ratio would be seen by the page.",
    ),
    Lack(
        "focus of several pages",
        "Only the page in which an agent last navigated or acted is visible and focused. When an "
        "agent does so in another tab, this page is hidden and loses the focus (`blur`, "
        "`visibilitychange`) until the next action in it. If the browser has a window on a screen, "
        "all pages stay hidden and without focus.",
        "Firefox focuses one page at a time, and BiDi cannot emulate focus. A window for each "
        "session would keep pages visible, but costs 40 MiB and focuses no further page. On a "
        "screen, focusing a tab would bring the window in front of the person's own windows.",
    ),
    Lack(
        "history of a frozen page",
        "A tab whose page's script never ends can navigate to another address. Its history is then "
        "empty, so it cannot go back.",
        "BiDi cannot end a script, so the tab continues in a new browsing context.",
    ),
    Lack(
        "repeated file choosers",
        "A button opens the file chooser of the same field once in a document. Uploading by this "
        "button again gets `BAD_REQUEST`; naming the field itself works.",
        "Firefox keeps the first chooser open, and BiDi cannot close it. Firefox can dismiss every "
        "chooser at once, but the page would take that for a cancelled upload.",
    ),
    Lack(
        "slow networks, touch screens and media features",
        "Throttling, `mobile` and `touch` (so all phones and tablets), colour scheme, reduced "
        "motion, contrast and print media get `UNSUPPORTED`.",
        "BiDi has no commands for these in this version of Firefox.",
    ),
    Lack(
        "messages of WebSockets and event sources",
        "Listing them gets `UNSUPPORTED`.",
        "BiDi has no events for them.",
    ),
    Lack(
        "permissions for all origins",
        "A permission needs an `origin`, and only those that Firefox lets BiDi set are granted; "
        "others get `UNSUPPORTED`.",
        "BiDi sets a permission for one origin.",
    ),
    Lack(
        "route rules and init scripts at a popup's beginning",
        "Route rules, headers for one origin and HTTP credentials may miss the first request of a "
        "popup, and init scripts its first document. All other conditions hold from the first "
        "request on. An aborted request always fails for the same reason.",
        "BiDi intercepts requests of tabs that exist, and cannot pause a new tab.",
    ),
    Lack(
        "very long names of downloads",
        f"A download whose name is longer than {DOWNLOAD_NAME_BYTES} bytes fails, and is listed "
        "as failed.",
        "Firefox makes the name longer while it writes the file. File systems limit names to 255 "
        "bytes.",
    ),
)
