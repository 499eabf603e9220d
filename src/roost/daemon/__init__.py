"""The only composition root: which classes are built, with which settings, from which folder.

Lives here: ``settings.py``, ``wiring.py`` (who is given what), ``main.py`` (life and death).
May import: everything.
Never here: work that a room below could do.
Tests: ``tests/daemon``.
"""
