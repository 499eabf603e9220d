"""The limits of a person's own Firefox: what an extension cannot do, why, and what callers get."""

from __future__ import annotations

from roost.drivers.base import Lack
from roost.hints import Hint

ELSEWHERE = Hint(
    "Use a managed browser for it[: open a session with {SessionOpen browser=firefox}]."
)
LACKS = (
    Lack(
        "trusted input",
        "Clicks and keys are dispatched as events, in a browser's order and with what it would do "
        "by itself; `isTrusted` is false in them, and CSS's `:hover` does not follow. Not where "
        "Firefox was started with its remote agent (`--remote-debugging-port`, Linux) and no other "
        "program uses that: there input is trusted.",
        "Firefox gives extensions no other input.",
    ),
    Lack(
        "evaluate on guarded pages",
        "`UNSUPPORTED` for an agent's scripts where a page's Content-Security-Policy forbids eval; "
        "all else works there.",
        "Firefox holds scripts of extensions in the page's own world to that policy.",
    ),
    Lack(
        "error pages",
        "What would look into one is refused, and says so; navigating leaves it.",
        "Firefox shows a page of its own where a site did not answer, and lets no extension in.",
    ),
    Lack(
        "openers of new tabs",
        "A tab that a page opens has no `window.opener`, and `window.open` gives the page null; a "
        "form that is posted to a new tab opens none.",
        "Firefox's popup blocker takes the click for nobody's, so the extension opens the tab.",
    ),
    Lack(
        "large uploads",
        "`TOO_LARGE` for uploads of more than 32 MiB at a time",
        "The extension may not read files, so the broker sends it their contents in one message.",
    ),
    Lack(
        "domain lists",
        "`JAR_UNAVAILABLE` for a session with allow or deny lists",
        "They are held by a proxy for each jar, which a person's browser is not given.",
    ),
    Lack(
        "size, paper and bodies",
        "`UNSUPPORTED` for resizing, PDF files and the bodies of responses",
        "A tab has the size of its window, and extensions cannot print one; to read what it loads, "
        "Roost would have to stand in the way of every answer.",
    ),
    Lack(
        "cookies and storage of the shared jar",
        "`UNSUPPORTED` where they are asked for; pages use them as always",
        "They are the person's logins to every site. Jars of their own (`fresh`, `clone`) are "
        "containers, and can be read and filled.",
    ),
    Lack(
        "the CDP endpoint",
        "`UNSUPPORTED` for `roost cdp-url` and clients of it",
        "It is Chromium's own protocol.",
    ),
)
