"""Hooks: commands that a client runs at its own events, such as ``roost hook stop``.

Lives here: ``stop.py`` (Claude Code's Stop hook: reads its input, asks the broker, writes the
decision), ``report.py`` (reports sub-agents), ``broker_call.py`` (input and call of both) and
``transcript.py`` (reads the agent's last message).
May import: ``errors``, ``local``, ``vocabulary``, ``wire``. The hook runs at every turn of every
agent, so it must start fast.
Never here: asyncio, pydantic, decisions. The broker decides which agent the hook belongs to, and
whether a loop continues.
Tests: ``tests/hook``.
"""
