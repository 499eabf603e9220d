from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.errors import BadRequest
from roost.vocabulary import WIRE_VERSION, AgentId, JarPolicy, SessionId
from roost.wire.hello import (
    SUPPORTED,
    ClientKind,
    Hello,
    Welcome,
    agree,
    difference,
    parse_hello,
    parse_welcome,
)

FULL = Hello(
    versions=(1, 2),
    token="t" * 64,
    kind=ClientKind.MCP,
    software="0.1.0",
    name="planner",
    cwd="/home/me/project",
    session=SessionId("shop-1"),
    resumable=True,
    resume="r" * 64,
    operator=True,
    browser="firefox",
    jar=JarPolicy.CLONE,
    profile="work",
    allow=("example.org",),
    deny=("ads.example.org", "tracker.net"),
    files=("/srv/uploads",),
)


def test_a_full_hello_comes_out_as_it_went_in() -> None:
    assert parse_hello(FULL.to_wire()) == FULL


def test_a_hello_needs_only_versions_and_token() -> None:
    hello = parse_hello({"versions": [1], "token": "t"})

    assert hello == Hello(token="t")
    assert parse_hello(hello.to_wire()) == hello
    assert hello.to_wire() == {"versions": [1], "token": "t", "kind": "python"}


def test_fields_of_a_newer_peer_are_ignored_and_null_counts_as_not_given() -> None:
    wire = {"versions": [1, 9], "token": "t", "hologram": {"x": 1}, "name": None, "allow": None}

    assert parse_hello(wire) == Hello(versions=(1, 9), token="t")


@pytest.mark.parametrize("value", [None, [], "hello", 1, True])
def test_a_hello_that_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_hello(value)
    assert caught.value.details["field"] == "hello"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("versions", None),
        ("versions", []),
        ("versions", 1),
        ("versions", ["1"]),
        ("versions", [True]),
        ("versions", [0]),
        ("versions", [2**40]),
        ("versions", [1] * 101),
        ("token", None),
        ("token", ""),
        ("token", 5),
        ("token", "t" * 257),
        ("kind", "toaster"),
        ("kind", 3),
        ("software", "x" * 257),
        ("name", "two\nlines"),
        ("name", "\x1b[31m"),
        ("name", "\ud800"),
        ("name", {"first": "x"}),
        ("cwd", "relative/path"),
        ("cwd", "/nul\0byte"),
        ("cwd", "/" + "x" * 4096),
        ("session", "../../etc"),
        ("session", "x" * 65),
        ("session", 7),
        ("resumable", 1),
        ("resumable", "yes"),
        ("resume", ["x"]),
        ("operator", "true"),
        ("browser", 1),
        ("jar", "borrowed"),
        ("jar", []),
        ("profile", ""),
        ("allow", "example.org"),
        ("allow", [1]),
        ("deny", ["x"] * 101),
        ("files", ["not/absolute"]),
    ],
)
def test_a_bad_field_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_hello({**FULL.to_wire(), field: value})
    assert caught.value.details["field"] == field
    assert field in caught.value.message


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(FULL.to_wire())),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
        max_size=3,
    )
)
def test_no_hello_does_more_than_be_refused(wire: dict[str, Any]) -> None:
    refused = None
    try:
        parse_hello({**FULL.to_wire(), **wire})
    except BadRequest as refusal:
        refused = refusal.details["field"]

    assert refused is None or refused in wire


def test_secrets_appear_in_no_repr_and_no_refusal() -> None:
    hello = Hello(token="token-hunter2", resume="resume-hunter2")
    welcome = Welcome(version=1, agent=AgentId("agent_x_1"), secret="secret-hunter2")

    assert "hunter2" not in repr(hello) + repr(welcome)
    with pytest.raises(BadRequest) as caught:
        parse_hello({"versions": [1], "token": "hunter2" * 100})
    assert "hunter2" not in str(caught.value.to_wire())


def test_a_welcome_comes_out_as_it_went_in() -> None:
    short = Welcome(version=1, agent=AgentId("agent_x_1"))
    full = Welcome(
        version=1,
        agent=AgentId("agent_x_1"),
        software="0.1.0",
        secret="s" * 64,
        session=SessionId("shop"),
    )

    assert parse_welcome(short.to_wire()) == short
    assert parse_welcome({**full.to_wire(), "news": 1}) == full


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        ("welcome", "welcome"),
        ({"agent": "a"}, "version"),
        ({"version": 1}, "agent"),
        ({"version": 1, "agent": "a", "secret": 1}, "secret"),
    ],
)
def test_a_bad_welcome_is_refused_by_name(wire: object, field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_welcome(wire)
    assert caught.value.details["field"] == field


def test_the_highest_common_version_is_agreed() -> None:
    assert agree((1, 2, 3), supported=(2, 3, 4)) == 3
    assert agree(SUPPORTED) == WIRE_VERSION


@pytest.mark.parametrize(
    ("client", "broker", "who"),
    [((1,), (2, 3), "client"), ((4, 5), (2, 3), "broker"), ((1, 3), (2,), "broker")],
)
def test_without_a_common_version_the_older_side_is_told_to_update(
    client: tuple[int, ...], broker: tuple[int, ...], who: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        agree(client, supported=broker)

    assert {"broker": "Restart the broker", "client": "Restart your MCP"}[who] in caught.value.hint
    assert caught.value.details["client"] == list(client)
    assert caught.value.details["broker"] == list(broker)


def test_a_client_without_a_known_version_is_told_to_update() -> None:
    with pytest.raises(BadRequest) as caught:
        agree(())
    assert "Restart your MCP client" in caught.value.hint


def test_programs_of_one_release_have_nothing_to_say() -> None:
    assert difference("1.2.3", "1.2.3") is None
    assert difference("1.2.3", None) is None


def test_programs_of_different_releases_say_what_to_type() -> None:
    assert "`roost stop && roost up`" in str(difference("0.10.0", "0.9.2"))
    older = str(difference("0.9.2", "0.10.0"))
    assert "Restart your MCP client" in older
    assert "0.9.2" in older
    assert "0.10.0" in older
