"""Chromium over the DevTools protocol, on the debugging pipe that a keeper holds.

Lives here: ``launch`` (find and start it), ``connection`` (commands, replies, events), ``tab``
and its parts (one page), ``driver`` (the Driver over all of it).
May import: ``drivers``, ``errors``, ``local``, ``vocabulary``. Other files with CDP method names
are in ``drivers.extension``, ``frontends.cdp``, ``keeper`` and ``link``.
Never here: a Firefox word, an agent, a session of ours (a protocol session is a ``CdpSession``).
Tests: ``tests/drivers/chromium``, ``tests/e2e``.
"""

from roost.drivers.chromium.driver import ChromiumDriver

__all__ = ["ChromiumDriver"]
