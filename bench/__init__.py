"""Benchmarks: what Roost costs. ``make bench`` runs all; each row shows the limit it must keep.

Lives here: one file per subject; ``report.py`` (rows, the table, the JSON).
May import: ``roost``, ``tests.support`` (a person's own browser), the standard library, rich.
Never here: tests. Limits on wall-clock time would make a test run depend on the machine.
"""
