"""Logins that jars are cloned from: read from where a person has them, kept in ROOST_HOME.

Lives here: a reader for each kind of source, which of them a path is, the store of profiles;
``__main__``, which reads them in a process of its own for the broker.
May import: ``drivers``, ``errors``, ``local``, ``vocabulary``; cryptography, pydantic.
Never here: anything that awaits, a jar, a browser's protocol; a write to a source.
Tests: tests/profiles, with real browsers' own files.
"""
