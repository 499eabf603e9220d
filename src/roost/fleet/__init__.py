"""The fleet: one address for the brokers of several machines.

The gateway authenticates users, keeps the registry of sessions and sends each request to the node
that has the session. A node is a machine with an ordinary broker behind a TLS door.

Lives here: one group of files for each process.

- the gateway: ``gateway.py`` builds ``public_door.py`` (clients), ``control_door.py`` (nodes),
  ``administration.py`` (the administrator's orders), ``sessions.py`` (places, moves and ends
  sessions) and ``node_links.py`` (connections to nodes). ``registry.py``, ``placement.py``,
  ``lease.py`` and ``rows.py`` decide (pure); ``journal.py`` stores.
- the engine: ``engine.py`` (the Protocol, and how many machines are wanted), ``ray_engine.py`` (the
  only file that imports Ray), ``ray_runtime.py`` (how Ray runs on a machine);
- a node: ``node.py``, ``node_door.py`` (lets in the gateway), ``local_broker.py``;
- both: ``http_heads.py`` (pure), ``streams.py``, ``connection_pool.py`` and ``forwarding.py``
  (HTTP), ``authority.py`` and ``tokens.py`` (who is who), ``config.py``, ``clock.py``;
- the command line: ``orders.py`` (what ``roost fleet`` does), ``membership.py`` (join, leave),
  ``supervisor.py`` (keeps the processes running), ``mcp_relay.py`` (an agent's stdio server).

May import: ``api``, ``broker``, ``client``, ``errors``, ``frontends.http``, ``local``,
``vocabulary``, ``wire``; cryptography, pydantic, ray.
Never here: what an operation does or who may do it within a session (the node's broker decides).
Tests: ``tests/fleet``.
"""
