"""Profiles: logins that jars are cloned from, read from the person's files, kept in ROOST_HOME.

Lives here: readers of ``chromium`` (with ``leveldb`` and ``keyring``) and ``firefox`` (with
``snappy``) folders, ``netscape`` cookie files and Playwright's ``storage_state``; ``harvest`` (what
a reader returns), ``limits``, ``sources`` (picks the reader for a path), ``store`` (the profiles of
one ROOST_HOME), ``__main__`` (runs the readers in a separate process).
May import: ``drivers``, ``errors``, ``local``, ``vault``, ``vocabulary``; cryptography, pydantic.
Never here: anything that awaits, a jar, a browser's protocol; a write to a source.
Tests: tests/profiles, with real browsers' own files.
"""
