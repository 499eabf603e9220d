"""Drivers for the browser toolsets of model vendors' SDKs. Each instance is a session of its own.

Lives here: ``claude`` (Anthropic's toolset ``browser_toolset_20260801``), ``openai`` (OpenAI's
``openai.lib.browser``), and what both use: ``browser_session`` (one session in Roost, opened at the
first call), ``replies`` (views as text for models), ``keyboard`` (vendors' names of keys),
``background_loop`` (runs the asynchronous drivers for callers without an event loop).
May import: ``api``, ``client``, ``errors``, ``local``, ``vocabulary``, ``wire``; anthropic, openai,
pydantic.
Never here: an SDK outside of its own module. Nothing else in Roost imports this room, because
``claude`` and ``openai`` need the extras ``roost[anthropic]`` and ``roost[openai]``.
Tests: ``tests/toolsets``.
"""
