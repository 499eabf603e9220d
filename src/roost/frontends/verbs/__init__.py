"""Page verbs of the command line, in the broker: what verbs there are, and how answers read.

Lives here: ``table`` (the verb of each operation), ``arguments`` (its flags, from the operation's
fields), ``conversation`` (one verb's call and its rendered answer), ``bare_values`` (``--raw``),
``hints`` (how a hint names a verb). The process that a person or agent runs is ``roost.verb``.
May import: ``api``, ``errors``, ``hints``, ``wire``.
Never here: another front end. The daemon passes in how a view reads as text.
Tests: ``tests/frontends/verbs``.
"""
