"""Drivers make one browser do things and report what happened.

Lives here: ``base.py`` (the Protocol), ``panel.py`` (what a person is shown), one folder per
browser family, and the fake that ships.
May import: ``roost.vocabulary``, ``roost.errors``, ``roost.wire``; of each other only ``base``.
Never here: agents, sessions, ownership, limits. A driver has never heard the word agent.
Tests: ``tests/drivers``; every driver passes ``roost.testing.check_driver``.
"""
