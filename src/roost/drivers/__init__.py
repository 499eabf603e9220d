"""A driver controls one browser and reports what happens in it.

Lives here: ``base.py`` (the Protocol) and ``events.py`` (what a driver reports). One folder for
each browser family, and the fake that ships. Modules that drivers share: ``link.py``,
``connection.py``, ``keeper_process.py`` and ``managed_driver.py`` (the way to a browser),
``new_tabs.py``, ``navigation_errors.py``, ``held_input.py``, ``dialogs.py`` and ``choosers.py``
(parts of a tab), ``interception.py`` and ``har_answers.py`` (route rules), ``stores.py``,
``clipboard.py`` (a clipboard for each session), ``folder_answers.py`` (files as pages),
``storage_visitor.py`` and ``databases.py`` (contents of jars), ``pictures.py``,
``repeated_shots.py`` (films without a screencast), ``window_labels.py``, ``panel.py`` (data for the
extension's popup).
May import: ``conditions``, ``errors``, ``hints``, ``local``, ``vocabulary``, ``wire``. The families
``chromium``, ``firefox`` and ``fake`` never import one another; ``extension`` uses the first two.
Never here: agents, sessions, ownership, limits. The broker decides; a driver carries out.
Tests: ``tests/drivers``; every driver passes ``roost.testing.drivers.check_driver``.
"""
