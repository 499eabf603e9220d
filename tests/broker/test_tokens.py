from __future__ import annotations

from dataclasses import replace

from roost.broker.tokens import Tokens
from roost.core.rows import Session
from roost.core.settings import CoreSettings
from roost.core.state import State
from roost.vocabulary import BrowserId, Color, JarPolicy, Lifetime, SessionId

BROWSER = BrowserId("fake")
SESSION = Session(
    id=SessionId("shop"), name="shop", color=Color.BLUE, lifetime=Lifetime.NAMED, browser=BROWSER,
    policy=JarPolicy.FRESH, created_at=0,
)  # fmt: skip
TOKENS = Tokens("a" * 64)


def with_token(tokens: Tokens = TOKENS, session: Session = SESSION) -> tuple[str, Session]:
    token, issued = tokens.issue(session)
    assert issued is not None
    return token, replace(session, token_salt=issued.salt, token_digest=issued.digest)


def state_of(session: Session) -> State:
    state = State(CoreSettings(default_browser=BROWSER))
    state.put(session)
    return state


def test_a_session_has_one_token_which_is_told_again_and_written_nowhere() -> None:
    token, row = with_token()
    assert TOKENS.issue(row) == (token, None)
    assert token not in repr(row)
    assert "a" * 64 not in repr(TOKENS)


def test_a_token_leads_to_its_session_alone() -> None:
    token, row = with_token()
    state = state_of(row)
    state.put(replace(SESSION, id=SessionId("other")))
    assert TOKENS.session_of(state, token) == row
    for wrong in ("", "shop", token[:-1], token.upper(), "a" * 64, str(row.token_digest)):
        assert TOKENS.session_of(state, wrong) is None


def test_a_session_opened_anew_under_the_same_id_has_another_token() -> None:
    assert with_token()[0] != with_token()[0]


def test_a_new_operator_token_ends_every_sessions_token() -> None:
    token, row = with_token()
    new = Tokens("b" * 64)
    assert new.session_of(state_of(row), token) is None
    other, issued = new.issue(row)
    assert issued is not None
    assert other != token


def test_only_the_operators_token_is_the_operators() -> None:
    assert TOKENS.is_operators("a" * 64)
    for wrong in ("", "a" * 63, "a" * 65, "☃", with_token()[0]):
        assert not TOKENS.is_operators(wrong)
