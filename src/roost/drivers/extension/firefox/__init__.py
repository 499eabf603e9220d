"""A person's own Firefox, reached through the extension's scripts in its pages.

Lives here: ``driver`` (the Driver), ``page`` (the page work of one tab), ``messages`` (converts
input, cookies, errors and events between driver and extension), ``lacks`` (what an extension cannot
do in Firefox), ``remote`` (trusted input through Firefox's remote agent, if the person started
Firefox with one).
May import: ``drivers``, ``drivers.extension``, ``drivers.firefox``, ``errors``, ``hints``,
``vocabulary``, ``wire``. ``drivers.firefox`` is for trusted input through the remote agent.
Never here: the word agent; anything that reaches a tab outside a managed group.
Tests: ``tests/drivers/extension/firefox``, ``tests/e2e/extension``.
"""

from roost.drivers.extension.firefox.driver import OwnFirefoxDriver

__all__ = ["OwnFirefoxDriver"]
