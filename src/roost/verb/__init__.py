"""``roost VERB``: the process that sends one page verb to the broker and prints the answer.

Lives here: ``main`` (one run), ``table`` (reads the generated ``verbs.json``), ``arguments`` (words
to an operation's arguments), ``any_operation`` (``roost call``), ``plain_json`` and
``broker_socket`` (the wire), ``start`` (a broker that has to be started first), ``sandbox`` (a
client's sandbox that forbids the socket), ``help``, ``completion``.
May import: ``errors``, ``local``. A verb runs for every step of an agent, so each import counts. A
verb that a running broker answers loads neither "dataclasses", "typing", "enum", "re", "pathlib",
"argparse", "json" nor "socket" (``tests/verb/test_imports.py``), and these files import no
annotations from the future.
Never here: what an operation means, or how an answer reads. The broker knows both.
Tests: ``tests/verb``.
"""
