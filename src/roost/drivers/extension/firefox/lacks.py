"""The limits of a person's own Firefox: what an extension cannot do, why, and what callers get."""

from __future__ import annotations

from roost.drivers.base import Lack
from roost.drivers.extension.base import HELD_BUTTONS
from roost.hints import Hint

ELSEWHERE = Hint(
    "Use a managed browser for it[: open a session with {SessionOpen browser=firefox}]."
)
LACKS = (
    Lack(
        "trusted input",
        "Roost dispatches clicks and keys as events, in a browser's order, and performs their "
        "default actions. `isTrusted` is false in these events, and CSS's `:hover` does not follow "
        "the pointer. Input is trusted if Firefox was started with its remote agent "
        "(`--remote-debugging-port`, on Linux) and no other program uses that agent.",
        "Firefox lets extensions dispatch events, but gives them no trusted input.",
    ),
    HELD_BUTTONS,
    Lack(
        "evaluate on pages that forbid eval",
        "An agent's scripts get `UNSUPPORTED` if the page's Content-Security-Policy forbids eval. "
        "Everything else works there.",
        "Firefox applies that policy to scripts that an extension runs in the page's own world.",
    ),
    Lack(
        "error pages",
        "Operations that read an error page or act in it are refused with an error that says so. "
        "Navigating leaves the error page.",
        "If a site does not answer, Firefox shows its own page, which extensions cannot enter.",
    ),
    Lack(
        "openers of new tabs",
        "A tab that a page opens has no `window.opener`, and `window.open` returns null. A form "
        "that is posted to a new tab opens no tab.",
        "Firefox's popup blocker does not count an untrusted click as the person's, so the "
        "extension opens the tab.",
    ),
    Lack(
        "large uploads",
        "Uploads of more than 32 MiB at a time get `TOO_LARGE`.",
        "The extension may not read files, so the broker sends it their contents in one message.",
    ),
    Lack(
        "domain lists",
        "A session with allow or deny lists gets `JAR_UNAVAILABLE`.",
        "A proxy for each jar enforces the lists, and Roost does not change the proxies of a "
        "person's browser.",
    ),
    Lack(
        "page size, PDF files, response bodies",
        "Resizing a page, saving it as PDF and reading a response's body get `UNSUPPORTED`.",
        "A tab has the size of its window, and extensions cannot print a tab to a file. To read "
        "bodies, the extension would have to intercept every response.",
    ),
    Lack(
        "cookies and storage of the shared jar",
        "Operations that read or write them get `UNSUPPORTED`. Pages use them as usual.",
        "They are the person's logins to every site. The jars of `fresh` and `clone` sessions are "
        "containers, and can be read and filled.",
    ),
    Lack(
        "the CDP endpoint",
        "Clients of the address that `roost cdp-url` prints get `UNSUPPORTED`.",
        "CDP is Chromium's own protocol.",
    ),
)
