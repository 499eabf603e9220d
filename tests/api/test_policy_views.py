"""What operations on policies answer (``roost.api.policy_views``)."""

from __future__ import annotations

from roost.api.policy_views import ApprovalView, JudgementView, PolicyView
from roost.vocabulary import Verdict


def test_views_leave_out_what_does_not_apply() -> None:
    judged = JudgementView(session="s1", operation="click", verdict=Verdict.ALLOW, rule="none")
    assert judged.to_wire() == {
        "session": "s1", "operation": "click", "verdict": "allow", "rule": "none",
    }  # fmt: skip
    kept = ApprovalView(subject="evaluate", program="/bin/coder")
    shown = PolicyView(is_open=True, layers=[], approvals=[kept]).to_wire()
    assert shown["approvals"] == [{"subject": "evaluate", "program": "/bin/coder"}]
