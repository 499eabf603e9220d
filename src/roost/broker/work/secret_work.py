"""The work behind operations on secrets: keep them for the person, fill them in for agents."""

from __future__ import annotations

import asyncio
import contextlib

from roost import core
from roost.api import operations as ops
from roost.api import page_views, secret_views
from roost.broker.broker import Broker
from roost.broker.work import page_actions, page_use, page_work, questions, secret_documents
from roost.broker.work.page_use import InPage
from roost.core import events as ev
from roost.errors import BadRequest, NotFound, PolicyDenied, RoostError
from roost.hints import Hint
from roost.page import actions
from roost.page.page import Json
from roost.vault.providers import ProviderFailed
from roost.vault.store import LoginPage, Secret, checked_origin, fits, login_origin
from roost.vocabulary import OPERATOR, AgentId

STEP_SECONDS = 10.0
"""How long a login waits for its next step: the password field, or the field for the code."""
LOOK_SECONDS = 0.2
NAMES_SHOWN = 20


# --- the person's part -------------------------------------------------------------------------


async def add(broker: Broker, agent: AgentId, op: ops.SecretAdd) -> secret_views.SecretsView:
    origins = tuple(dict.fromkeys(checked_origin(one) for one in op.origins))
    login = None
    more: list[Secret] = []
    if op.login is not None:
        if op.username is None:
            raise BadRequest("username: a login needs one.", field="username")
        if not fits(login_origin(op.login), origins):
            origins = (*origins, login_origin(op.login))
        login = LoginPage(op.login, op.username)
        if op.totp_value:
            login = LoginPage(op.login, op.username, f"{op.name}.totp")
            more.append(
                Secret(name=f"{op.name}.totp", origins=origins, value=op.totp_value, is_totp=True)
            )
    secret = Secret(
        name=op.name,
        origins=origins,
        around=tuple(checked_origin(one, "around") for one in op.around),
        value=op.value or "",
        source=op.source or "",
        is_totp=op.totp,
        login=login,
    )
    broker.secrets.stored(secret, *more)
    return _listed(broker, agent)


async def list_(broker: Broker, agent: AgentId, op: ops.SecretList) -> secret_views.SecretsView:
    return _listed(broker, agent)


async def remove(broker: Broker, agent: AgentId, op: ops.SecretRemove) -> secret_views.SecretsView:
    broker.secrets.remove(op.name)
    return _listed(broker, agent)


async def test(broker: Broker, agent: AgentId, op: ops.SecretTest) -> secret_views.SecretTestView:
    secret = broker.secrets.vault.get(op.name)
    try:
        value = await broker.secrets.fetched(secret)
    except ProviderFailed as failure:
        return secret_views.SecretTestView(
            name=op.name, ok=False, problem=failure.why, said=failure.said or None
        )
    return secret_views.SecretTestView(name=op.name, ok=True, chars=len(value))


def _listed(broker: Broker, agent: AgentId) -> secret_views.SecretsView:
    secrets = sorted(broker.secrets.vault.all().values(), key=lambda one: one.name)
    return secret_views.SecretsView(secrets=[_view(one, agent) for one in secrets])


def _view(secret: Secret, agent: AgentId) -> secret_views.SecretView:
    login = secret.login
    return secret_views.SecretView(
        name=secret.name,
        origins=list(secret.origins),
        around=list(secret.around) or None,
        source=(secret.source or None) if agent == OPERATOR else None,
        totp=True if secret.is_totp else None,
        login=None if login is None else login.url,
        username=None if login is None else login.username,
    )


# --- filling in ----------------------------------------------------------------------------------


async def fill_secret(broker: Broker, agent: AgentId, op: ops.FillSecret) -> page_views.ActionView:
    async def work(at: InPage) -> str:
        field = await _fill(at, agent, op.target, op.secret)
        return f"Filled secret {op.secret} into {field['role'] or field['tag']} ({field['ref']})."

    return await page_actions.acted(broker, agent, op, "fill", work)


async def _fill(at: InPage, agent: AgentId, target: str, name: str) -> Json:
    """Fill the secret into the field. Asks the person at the session's first use of the secret."""
    broker, session = at.broker, at.row.session
    wait_ms = page_use.wait_ms(broker)
    frame, found = await at.page.call_where(target, "prepare", action="type", timeoutMs=wait_ms)
    here = await at.page.call(frame, "identity")
    secret = _secret(broker, name, here["origin"])
    around = await at.page.origins_above(frame)
    strange = [one for one in around if not secret.may_be_below(one)]
    if not secret.is_bound_to(here["origin"]) or strange:
        raise PolicyDenied(
            f"Secret {name} is not bound to the origin of this "
            + ("page." if not strange else "frame's surroundings."),
            hint="Ask the person to bind it, if they trust that origin: `roost secret add`.",
            page_said=" in ".join([here["origin"], *around]),
            secret=name,
        )
    wanted = core.Wanted(f"secret {name}", f"fill in the secret {name}", here["origin"])
    questions.require(broker, agent, session, wanted)
    _check_no_seat(at)
    _check_own_pages(at)
    await secret_documents.check_no_script_waits(at, here["origin"])
    value = await broker.secrets.value(secret)
    main = here if frame is None else await at.page.call(None, "identity")
    # From here on no protocol client may attach and no rule be added; so check that there is none
    # before the value goes.
    broker.hear(ev.SecretFilled(at.row.id, main["begun"], name))
    _check_no_seat(at)
    _check_own_pages(at)
    filled = await at.page.call(
        frame, "fillSecret", target=found["ref"], value=value, origins=list(secret.origins)
    )
    await at.page.settle(frame)
    return filled


def _secret(broker: Broker, name: str, origin: str) -> Secret:
    secrets = broker.secrets.vault.all()
    if name not in secrets:
        here = sorted(one.name for one in secrets.values() if one.is_bound_to(origin))
        known = ", ".join(here[:NAMES_SHOWN]) or "none"
        raise NotFound(
            f"There is no secret {name[:64]!r}. Secrets for this page: {known}.",
            hint=Hint("Use one of those, or ask the person to add it.[ {SecretList} lists all.]"),
        )
    return secrets[name]


def _check_no_seat(at: InPage) -> None:
    session = at.row.session
    if session is not None and at.broker.has_protocol_client(session):
        raise PolicyDenied(
            "A protocol client is attached to this session and could read the secret.",
            hint="Disconnect the client (Playwright, CDP) from this session first.",
        )


def _check_own_pages(at: InPage) -> None:
    """Refuse a session in whose pages the agent may have written a part: its script could read the
    value, also from another tab of the same site."""
    state, session = at.broker.state, at.row.session
    rows = [at.row] if session is None else state.tabs_in(session)
    under = [core.tab_conditions(state, row) for row in rows]
    if any(one.scripts or one.routes for one in under):
        raise PolicyDenied(
            "This session has scripts or routes of yours, which could read the secret.",
            hint="Remove them, open the page again, and fill in the secret then.",
        )


# --- whole logins --------------------------------------------------------------------------------


async def login(broker: Broker, agent: AgentId, op: ops.Login) -> page_views.ActionView:
    session = broker.decide(core.session_for, agent, op.session).id
    if op.tab is not None:
        await page_use.located(broker, agent, op, "log in at", acts=True, revives=True)
    secret = broker.secrets.vault.get(op.name)
    page = secret.login
    if page is None:
        raise BadRequest(
            f"name: {op.name} is a secret, not a login.",
            hint=Hint("Fill it in[ with {FillSecret}]."),
            field="name",
        )
    wanted = core.Wanted(
        f"secret {op.name}", f"fill in the secret {op.name}", login_origin(page.url)
    )
    questions.require(broker, agent, session, wanted)
    await page_work.navigate(
        broker, agent, ops.Navigate(url=page.url, session=op.session, tab=op.tab)
    )

    async def work(at: InPage) -> str:
        look, at.page.look = at.page.look, None  # read the changes once, after the last step
        fields = await _fields(at, "name", "password")
        if "name" in fields:
            wait_ms = page_use.wait_ms(broker)
            await actions.type_text(at.page, fields["name"], page.username, wait_ms=wait_ms)
        if "password" not in fields:
            await actions.press_key(at.page, "Enter")
            fields = await _fields(at, "password")
        await _fill(at, agent, fields["password"], op.name)
        at.page.look = look if page.totp is None else None
        await actions.press_key(at.page, "Enter")
        if page.totp is not None:
            fields = await _fields(at, "code")
            await _fill(at, agent, fields["code"], page.totp)
            at.page.look = look
            await actions.press_key(at.page, "Enter")
        return f"Filled in the login {op.name} and submitted it."

    return await page_actions.acted(broker, agent, op, "log in at", work)


async def _fields(at: InPage, *wanted: str) -> dict[str, str]:
    """Return the refs of a login's fields, once one of those wanted is in view."""
    found: Json = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STEP_SECONDS):
            while True:
                with contextlib.suppress(*page_use.LEFT, RoostError):
                    found = await at.page.call(None, "loginFields")
                    if any(one in found for one in wanted):
                        return {name: ref for name, ref in found.items() if isinstance(ref, str)}
                await at.broker.clock.wait(LOOK_SECONDS)
    raise NotFound(
        f"The page shows no field for the {wanted[-1]}.",
        hint=Hint("Look at the page, and fill in the fields yourself[ with {FillSecret}]."),
    )
