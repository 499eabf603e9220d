"""The only composition root: it builds the broker and its front ends from settings and ROOST_HOME.

Lives here: ``wiring.py`` (builds all objects), ``main.py`` (starts and stops the
process), ``announcement.py`` (how others find the broker), ``log.py`` (the broker's log file).
May import: ``api``, ``broker``, ``broker.doors``, ``broker.work``, ``client``, ``core``,
``drivers``, ``drivers.chromium``, ``drivers.extension``, ``drivers.fake``, ``drivers.firefox``,
``errors``, ``frontends.cdp``, ``frontends.cli``, ``frontends.dashboard``, ``frontends.http``,
``frontends.mcp``, ``frontends.socket``, ``frontends.verbs``, ``local``, ``page``, ``profiles``,
``vault``, ``vocabulary``, ``wire``; pydantic.
Never here: work that a room below could do.
Tests: ``tests/daemon``.
"""
