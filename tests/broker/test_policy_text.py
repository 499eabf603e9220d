"""Reading what a person wrote as a policy (``roost.broker.policy_text``)."""

from __future__ import annotations

import pytest

from roost.api.operations import OPERATIONS, Audience
from roost.broker.policy_text import PRESETS, operation_words, read_policy
from roost.core.policy_layers import PolicyLayer, PolicyRule
from roost.errors import BadRequest
from roost.vocabulary import Verdict

WHOLE = """
preset = "careful"
origins = ["https://App.Example.com:443/", "*.docs.example", "10.0.0.0/8"]
read_only = ["http://[::1]:8080"]
profiles = ["work"]

[limits]
tabs = 4
downloads = 0
actions_per_minute = 60

[[rule]]
verdict = "allow"
operations = ["browser_evaluate", "read"]
origins = ["localhost"]
clients = ["claude"]
"""


def test_a_whole_policy_is_read_and_its_own_rules_come_before_the_presets() -> None:
    assert read_policy(WHOLE, "file") == PolicyLayer(
        source="file",
        rules=(
            PolicyRule(
                verdict=Verdict.ALLOW,
                operations=("evaluate", "read"),
                origins=("localhost",),
                clients=("claude",),
            ),
            *PRESETS["careful"].rules,
        ),
        origins=("https://app.example.com", "*.docs.example", "10.0.0.0/8"),
        read_only=("http://[::1]:8080",),
        profiles=("work",),
        tabs=4,
        downloads=0,
        actions_per_minute=60,
    )


def test_the_presets_are_what_the_documents_say() -> None:
    assert read_policy("open", "x").is_open
    (careful,) = read_policy(" careful\n", "x").rules
    assert (careful.verdict, set(careful.operations)) == (
        Verdict.ASK, {"upload", "download", "evaluate", "login"},
    )  # fmt: skip
    lockdown = read_policy("lockdown", "x")
    assert lockdown.origins == ()
    (denied,) = lockdown.rules
    assert (denied.verdict, set(denied.operations)) == (Verdict.DENY, {"evaluate", "upload"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("carefull", "the nearest is 'careful'"),
        ("preset = 'lockdwon'", "the nearest is 'lockdown'"),
        ("orgins = []", "the nearest is 'origins'"),
        ("[limits]\ntab = 1", "the nearest is 'tabs'"),
        ("[limits]\ntabs = true", "limits.tabs: expected a number"),
        ("[[rule]]\nverdict = 'denny'\noperations = ['click']", "the nearest is 'deny'"),
        ("[[rule]]\nverdict = 'deny'\noperations = ['evalute']", "the nearest is 'evaluate'"),
        ("[[rule]]\nverdict = 'deny'\noperation = ['click']", "the nearest is 'operations'"),
        ("[[rule]]\nverdict = 'deny'", "rule 1: operations is missing"),
        ("rule = 1", "rule"),
        ("origins = ['https://example.com/path']", "expected an origin"),
        ("origins = ['https://user@example.com']", "expected an origin"),
        ("origins = ['exa mple']", "not an entry of a domain list"),
        ("origins = 'example.com'", "expected a list"),
        ("limits = 3", "limits: expected a table"),
        ("= =", "not TOML"),
        ("x" * 70_000, "at most"),
        ("", ""),
    ],
)
def test_a_wrong_word_is_named_with_the_nearest_one_and_nothing_is_read(
    text: str, says: str
) -> None:
    if not text:
        assert read_policy(text, "file").is_open
        return
    with pytest.raises(BadRequest) as wrong:
        read_policy(text, "file")
    assert says in wrong.value.message
    assert wrong.value.message.startswith("file")


def test_every_operation_that_reaches_pages_is_judged_by_some_word() -> None:
    judged = {kind.op for kind in OPERATIONS.values() if kind.conduct}
    tools = (Audience.CORE, Audience.ALL, Audience.INNER)
    reaching = {
        kind.op for kind in OPERATIONS.values() if kind.open_world and kind.audience in tools
    }
    # A batch's steps are judged one by one. A hand-over asks the person, and drawings are what the
    # person shows.
    assert reaching - judged == {"browser_batch", "browser_handoff", "browser_drawings"}
    assert {"click", "navigate", "cookies"} - {"navigate"} <= operation_words().keys()
