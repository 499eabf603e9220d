"""The only composition root: which classes are built, with which settings, from which folder.

Lives here: ``settings.py``, ``wiring.py`` (who is given what), ``main.py`` (life and death).
May import: ``broker``, ``broker.doors``, ``broker.work``, ``core``, ``drivers``,
``drivers.chromium``, ``drivers.extension``, ``drivers.fake``, ``drivers.firefox``, ``errors``,
``frontends.cdp``, ``frontends.http``, ``frontends.mcp``, ``frontends.socket``, ``local``, ``page``,
``profiles``, ``vocabulary``, ``wire``; pydantic.
Never here: work that a room below could do.
Tests: ``tests/daemon``.
"""
