"""Operations on policies (``roost.api.policy_operations``)."""

from __future__ import annotations

from roost.api import policy_operations as ops
from roost.api.operation import Audience


def test_agents_may_look_at_policies_and_only_the_person_changes_them() -> None:
    looks = (ops.PolicyShow, ops.PolicyExplain)
    changes = (ops.PolicySet, ops.PolicyReload, ops.PolicyForget)
    assert all(kind.audience is Audience.INNER and kind.read_only for kind in looks)
    assert all(kind.audience is Audience.OPERATOR for kind in changes)


def test_the_text_of_a_policy_is_not_in_the_audit_trail() -> None:
    assert "policy" not in ops.PolicySet.audited
