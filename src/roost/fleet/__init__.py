"""The fleet: one address for the brokers of several machines.

The gateway authenticates users, keeps the registry of sessions and sends each request to the node
that has the session. A node is a machine with an ordinary broker behind a TLS door.

Lives here: ``gateway.py``, ``admission.py``, ``forwarding.py`` and ``nodes.py`` (the gateway),
``registry.py``, ``placement.py``, ``lease.py`` and ``rows.py`` (pure decisions), ``journal.py``,
``node.py``, ``door.py`` and ``local_broker.py`` (a node), ``heads.py`` and ``streams.py`` (HTTP
between them), ``authority.py`` and ``tokens.py`` (certificates and tokens).
May import: ``api``, ``broker``, ``client``, ``errors``, ``frontends.http``, ``local``,
``vocabulary``, ``wire``; cryptography, pydantic.
Never here: what an operation does or who may do it within a session (the node's broker decides).
Tests: ``tests/fleet``.
"""
