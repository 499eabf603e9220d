"""What operations on policies answer."""

from __future__ import annotations

from typing import Any

from roost.api.views import View
from roost.vocabulary import Verdict


class ApprovalView(View):
    """Something that the person has approved for longer than one call.

    session: the session that it is for. None: every session of ``program``.
    origin: where it is allowed. None: everywhere.
    """

    subject: str
    session: str | None = None
    program: str | None = None
    origin: str | None = None


class PolicyView(View):
    """A policy: its layers, outermost first. Each can only narrow what the others allow.

    is_open: nothing is restricted.
    layers: each with ``source`` and what it restricts.
    """

    session: str | None = None
    is_open: bool
    layers: list[dict[str, Any]]
    approvals: list[ApprovalView]


class JudgementView(View):
    """What a policy says to an operation.

    rule: the rule that decides.
    source: where the rule is written.
    approved: the person has approved it already, so that it is not asked again.
    """

    session: str
    operation: str
    origin: str | None = None
    verdict: Verdict
    rule: str
    source: str | None = None
    approved: bool | None = None
