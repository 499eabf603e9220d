"""Drivers make one browser do things and report what happened.

Lives here: ``base.py`` (the Protocol), ``panel.py`` (what a person is shown), one folder per
browser family (``chromium``, ``firefox``, ``extension`` for a person's own browser), and ``fake``,
which ships.
May import: ``errors``, ``local``, ``vocabulary``, ``wire``.
Never here: agents, sessions, ownership, limits. A driver has never heard the word agent.
Tests: ``tests/drivers``; every driver passes ``roost.testing.drivers.check_driver``.
"""
