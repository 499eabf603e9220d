"""A person's own Firefox, reached through the extension's scripts in its pages.

Lives here: ``driver`` (the Driver), ``messages`` (input, cookies, errors and reports, from our
words to the extension's and back), ``lacks`` (what an extension cannot do in Firefox), ``remote``
(trusted input through Firefox's remote agent, where the person started it).
May import: ``drivers``, ``drivers.chromium``, ``drivers.extension``, ``drivers.firefox``,
``errors``, ``vocabulary``, ``wire``. ``drivers.firefox`` is for trusted input through the remote
agent.
Never here: the word agent; anything that reaches a tab outside a managed group.
Tests: ``tests/drivers/extension/firefox``, ``tests/e2e_extension``.
"""

from roost.drivers.extension.firefox.driver import OwnFirefoxDriver

__all__ = ["OwnFirefoxDriver"]
