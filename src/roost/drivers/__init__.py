"""A driver controls one browser and reports what happens in it.

Lives here: ``base.py`` (the Protocol), ``panel.py`` (data for the extension's popup), modules that
all drivers share, one folder per browser family, and the fake that ships.
May import: ``conditions``, ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``. The families
``chromium``, ``firefox`` and ``fake`` never import one another; ``extension`` uses the first two.
Never here: agents, sessions, ownership, limits. The broker decides; a driver carries out.
Tests: ``tests/drivers``; every driver passes ``roost.testing.drivers.check_driver``.
"""
