"""Operations on policies. They are rows of the table in ``operations``."""

from __future__ import annotations

from pydantic import Field

from roost.api import policy_views as views
from roost.api.operation import Answers, Audience, Operation, SessionOperation

__all__ = ["PolicyExplain", "PolicyForget", "PolicyReload", "PolicySet", "PolicyShow"]


class PolicyShow(SessionOperation, Answers[views.PolicyView]):
    """Show what the session's policy says, and what the person has approved."""

    op = "policy_show"
    title = "Show a policy"
    audience = Audience.INNER
    read_only = True


class PolicyExplain(SessionOperation, Answers[views.JudgementView]):
    """Say what the session's policy would say to an operation at an address, and by which rule."""

    op = "policy_explain"
    title = "Explain a policy"
    audience = Audience.INNER
    read_only = True
    action: str = Field(max_length=64, description="An operation, or a word of a policy")
    url: str | None = Field(default=None, max_length=8192)


class PolicySet(SessionOperation, Answers[views.PolicyView]):
    """Give a running session another policy, in place of the one that its agents came with."""

    op = "policy_set"
    title = "Set a session's policy"
    audience = Audience.OPERATOR
    audited = ("session",)
    policy: str = Field(max_length=65_536, description="A preset, or the text of a policy file")
    source: str = Field(default="the person", max_length=200, description="Where it comes from")


class PolicyReload(Operation, Answers[views.PolicyView]):
    """Read the policy of the configuration again. If it is wrong, the old one stays."""

    op = "policy_reload"
    title = "Read the configuration's policy"
    audience = Audience.OPERATOR
    idempotent = True


class PolicyForget(SessionOperation, Answers[views.PolicyView]):
    """Withdraw what the person has approved: in one session, or everywhere."""

    op = "policy_forget"
    title = "Withdraw approvals"
    audience = Audience.OPERATOR
    audited = ("session",)
