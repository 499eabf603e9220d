"""What a client runs at its own events: ``roost hook stop``.

Lives here: ``stop.py`` (Claude Code's Stop hook: input, question to the broker, decision) and
``transcript.py`` (what the agent said last).
May import: ``errors``, ``local``, ``vocabulary``, ``wire``. The hook runs at every turn of every
agent, so it must start fast.
Never here: asyncio, pydantic, decisions. Whose hook this is, and whether a loop goes on, is for the
broker to say.
Tests: ``tests/hook``.
"""
