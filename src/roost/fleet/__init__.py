"""The fleet: one address for the brokers of several machines.

The gateway authenticates users, keeps the registry of sessions and sends each request to the node
that has the session. A node is a machine with an ordinary broker behind a TLS door.

Lives here: ``gateway.py``, ``public.py`` (users), ``control.py`` (nodes), ``administration.py``,
``sessions.py`` (keeps sessions on nodes) and ``nodes.py`` (the gateway's process); ``registry.py``,
``placement.py``, ``lease.py``, ``rows.py`` and ``heads.py`` (pure); ``journal.py``; ``node.py``,
``door.py`` and ``local_broker.py`` (a node's process); ``streams.py``, ``pool.py`` and
``forwarding.py`` (HTTP between them); ``authority.py`` and ``tokens.py``; ``joining.py``,
``orders.py``, ``supervisor.py``, ``config.py`` and ``clock.py``; ``mcp_relay.py`` (from stdio).
May import: ``api``, ``broker``, ``client``, ``errors``, ``frontends.http``, ``local``,
``vocabulary``, ``wire``; cryptography, pydantic.
Never here: what an operation does or who may do it within a session (the node's broker decides).
Tests: ``tests/fleet``.
"""
