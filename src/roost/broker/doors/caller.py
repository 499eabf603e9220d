"""One caller's ``BrokerApi``: runs each operation under one deadline and audits the outcome.

``WORK`` maps each operation to its function in ``broker.work``. If that function needs an approval,
``Caller`` asks the person and calls the function again. ``call`` removes the person's secrets from
every answer and error, and adds notes for the agent.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeVar, cast

from roost import core
from roost.api import operations as ops
from roost.api.broker import ENDS_WHEN_ASKED, Notice, Notices
from roost.api.operations import Answers, Audience, Operation
from roost.api.views import View
from roost.broker.broker import Broker
from roost.broker.work import (
    batch,
    clipboard_work,
    condition_work,
    drawing_work,
    element_readings,
    jar_work,
    move_work,
    page_actions,
    page_input,
    page_readings,
    page_work,
    pictures,
    policy,
    questions,
    secret_work,
    session_work,
    space_work,
    subagent_work,
    traffic_work,
    waits,
    web_reading,
)
from roost.broker.work import views as view_of
from roost.broker.work.running_call import CALL, RunningCall
from roost.errors import BadRequest, Internal, RoostError, Timeout, Unauthorized
from roost.vocabulary import (
    CALL_SECONDS,
    CALL_SECONDS_MAX,
    OPERATOR,
    AgentId,
    SessionId,
    shown,
)

R = TypeVar("R", bound=View)
Work = Callable[[Broker, AgentId, Any], Awaitable[View]]
logger = logging.getLogger(__name__)
REDACTED_AT_ONCE = 200_000
"""Longer texts are searched for secrets in a thread, because that takes more than 5 ms."""

WITHOUT_PAGES = (ops.SessionDispose, ops.SessionHeartbeat, ops.Ping)
"""Operations whose replies have no word of a page."""

WORK: dict[type[Operation], Work] = {
    ops.Navigate: page_work.navigate,
    ops.NavigateBack: page_work.back,
    ops.NavigateForward: page_work.forward,
    ops.Reload: page_work.reload,
    ops.Tabs: page_work.tabs,
    ops.Close: page_work.close,
    ops.PageOpen: page_work.page_open,
    ops.PageClose: page_work.page_close,
    ops.Snapshot: page_readings.snapshot,
    ops.Find: page_readings.find,
    ops.GetContent: page_readings.get_content,
    ops.PageState: page_readings.page_state,
    ops.Get: element_readings.get,
    ops.Is: element_readings.is_,
    ops.Highlight: element_readings.highlight,
    ops.WebMcpList: element_readings.webmcp_list,
    ops.WebMcpCall: element_readings.webmcp_call,
    ops.Read: web_reading.read,
    ops.WaitFor: waits.wait_for,
    ops.TakeScreenshot: pictures.take_screenshot,
    ops.ZoomScreenshot: pictures.zoom_screenshot,
    ops.PdfSave: pictures.pdf_save,
    ops.Downloads: page_readings.downloads,
    ops.ConsoleMessages: page_readings.console_messages,
    ops.NetworkRequests: page_readings.network_requests,
    ops.NetworkRequest: page_readings.network_request,
    ops.NetworkMessages: traffic_work.network_messages,
    ops.Har: traffic_work.har,
    ops.Evaluate: page_actions.evaluate,
    ops.Click: page_actions.click,
    ops.TripleClick: page_actions.triple_click,
    ops.Type: page_actions.type_,
    ops.FillForm: page_actions.fill_form,
    ops.SelectOption: page_actions.select_option,
    ops.PressKey: page_actions.press_key,
    ops.Hover: page_actions.hover,
    ops.Drag: page_actions.drag,
    ops.Scroll: page_actions.scroll,
    ops.FileUpload: page_actions.file_upload,
    ops.HandleDialog: page_actions.handle_dialog,
    ops.HandleConsent: page_actions.handle_consent,
    ops.Resize: page_actions.resize,
    ops.PressSequentially: page_input.press_sequentially,
    ops.HoldKey: page_input.hold_key,
    ops.KeyDown: page_input.key_down,
    ops.KeyUp: page_input.key_up,
    ops.Tap: page_input.tap,
    ops.Swipe: page_input.swipe,
    ops.Drop: page_input.drop,
    ops.Clipboard: clipboard_work.clipboard,
    ops.Copy: clipboard_work.copy,
    ops.Paste: clipboard_work.paste,
    ops.MouseClickXy: page_input.mouse_click,
    ops.MouseMoveXy: page_input.mouse_move,
    ops.MouseDown: page_input.mouse_down,
    ops.MouseUp: page_input.mouse_up,
    ops.MouseDragXy: page_input.mouse_drag,
    ops.MouseWheel: page_input.mouse_wheel,
    ops.Conditions: condition_work.show,
    ops.Route: condition_work.route,
    ops.RouteHar: condition_work.route_har,
    ops.RouteList: condition_work.show,
    ops.Unroute: condition_work.unroute,
    ops.NetworkState: condition_work.network_state,
    ops.SetHeaders: condition_work.set_headers,
    ops.SetCredentials: condition_work.set_credentials,
    ops.Emulate: condition_work.emulate,
    ops.InitScript: condition_work.init_script,
    ops.Cookies: jar_work.cookies,
    ops.Storage: jar_work.storage,
    ops.StorageState: jar_work.storage_state,
    ops.ProfileImport: jar_work.profile_import,
    ops.ProfileList: jar_work.profile_list,
    ops.ProfileRemove: jar_work.profile_remove,
    ops.FillSecret: secret_work.fill_secret,
    ops.Login: secret_work.login,
    ops.SecretList: secret_work.list_,
    ops.SecretAdd: secret_work.add,
    ops.SecretRemove: secret_work.remove,
    ops.SecretTest: secret_work.test,
    ops.PolicyShow: policy.show,
    ops.PolicyExplain: policy.explain,
    ops.PolicySet: policy.set_,
    ops.PolicyReload: policy.reload,
    ops.PolicyForget: policy.forget,
    ops.SessionOpen: session_work.open_,
    ops.SessionList: session_work.list_,
    ops.SessionDispose: session_work.dispose,
    ops.SessionShow: session_work.show,
    ops.SessionToken: session_work.token,
    ops.SessionHeartbeat: session_work.heartbeat,
    ops.Handoff: questions.handoff,
    ops.Drawings: drawing_work.drawings,
    ops.SessionAnswer: questions.answer,
    ops.SessionPause: session_work.pause,
    ops.SessionResume: session_work.resume,
    ops.SessionFront: session_work.front,
    ops.SessionPack: move_work.pack,
    ops.SessionUnpack: move_work.unpack,
    ops.TabSpaceRequest: space_work.request,
    ops.TabSpaceGrant: space_work.grant,
    ops.TabSpaceStatus: space_work.status,
    ops.LoopStart: space_work.loop_start,
    ops.LoopStop: space_work.loop_stop,
    ops.LoopStatus: space_work.loop_status,
    ops.LoopTurn: space_work.loop_turn,
    ops.BatchProgress: batch.progress,
    ops.SubagentReport: subagent_work.report,
    ops.Status: session_work.status,
    ops.Ping: session_work.ping,
    ops.BrowserStart: session_work.browser_start,
    ops.DashboardOpen: session_work.dashboard_open,
    ops.BrokerStay: session_work.broker_stay,
    ops.BrokerStop: session_work.broker_stop,
}


class Caller:
    """The broker as one agent, or the operator, may use it.

    is_told: the agent itself reads the replies. If False, lines for the agent are not added to
        these replies but wait for one that the agent reads.
    """

    def __init__(self, broker: Broker, agent: AgentId, *, is_told: bool = True) -> None:
        self._broker = broker
        self._agent = agent
        self._is_told = is_told

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        assert isinstance(operation, Operation)
        broker, agent = self._broker, self._agent
        if agent == OPERATOR or agent in broker.state.agents:
            broker.seen_at[agent] = broker.clock.now()
        redactor, redact = broker.redactor, broker.redactor.text
        try:
            view = await self._audited(operation, _seconds(operation, timeout))
        except RoostError as error:
            raise (error if redactor.is_idle else error.redacted(redact)) from None
        if self._is_told:
            mine = [member.session for member in broker.state.memberships(agent)]
            notes = [line for session in mine for line in broker.watchers.take_notes(session)]
            news = [
                one for session in mine for one in drawing_work.untold_pictures(broker, session)
            ]
            view = view.with_news(notes, news) if notes or news else view
        if not redactor.is_idle:
            if view.largest_text() > REDACTED_AT_ONCE:
                view = await asyncio.to_thread(view.redacted, redact)
            else:
                view = view.redacted(redact)
        return cast(R, view)

    def watch(self, session: str | None = None) -> Notices:
        state, agent = self._broker.state, self._agent
        only = None if session is None else self._broker.decide(core.session_for, agent, session).id

        def sees(notice: Notice, to: Collection[AgentId]) -> bool:
            if only is not None and notice.session != only:
                return False
            is_member = state.member(agent, SessionId(notice.session)) is not None
            return is_member or agent == OPERATOR or agent in to

        if agent == OPERATOR:  # the operator is not a member, so addresses are redacted
            return self._broker.watchers.listen(sees, view_of.notice)
        return self._broker.watchers.listen(sees)

    async def _audited(self, operation: Operation, seconds: float) -> View:
        try:
            view = await self._answered(operation, seconds)
        except RoostError as error:
            self._audit(operation, error.code)
            raise
        self._audit(operation, "ok")
        return view

    async def _step(self, operation: Operation, seconds: float) -> View:
        """Perform a step of a batch within ``seconds``, the rest of the batch's time."""
        return await self._audited(operation, min(seconds, _seconds(operation, None)))

    async def _work(self, operation: Operation, seconds: float) -> View:
        await self._know_secrets(operation)
        if isinstance(operation, ops.Batch):
            # A batch cannot be repeated: the steps before the one that needs an approval are done.
            ENDS_WHEN_ASKED.set(False)
            return await batch.run(self._broker, self._agent, operation, seconds, self._step)
        work = WORK[type(operation)]
        while True:
            try:
                performer = self._performer(operation)
                view = await work(self._broker, performer, operation)
                policy.check_again(self._broker, performer, operation)
                return view
            except core.ApprovalNeeded as needed:
                await questions.ask(self._broker, needed)

    async def _know_secrets(self, operation: Operation) -> None:
        """Make sure that the values of all secrets that the agent's pages may show are known, so
        that they can be removed from the reply. Raises ``VaultLocked``."""
        broker = self._broker
        if self._agent == OPERATOR or isinstance(operation, WITHOUT_PAGES):
            return
        for member in broker.state.memberships(self._agent):
            session = broker.state.sessions.get(member.session)
            if session is not None and session.secrets:
                await broker.secrets.known_again(session.secrets)

    def _performer(self, operation: Operation) -> AgentId:
        """Return the agent that performs the operation."""
        return self._agent

    async def _answered(self, operation: Operation, seconds: float) -> View:
        """Run the operation within the deadline. Raises only ``RoostError``."""
        if operation.audience is Audience.OPERATOR and self._agent != OPERATOR:
            raise Unauthorized(
                f"{operation.op} is the person's alone.",
                hint="Ask the person to run it from their own terminal.",
            )
        call = RunningCall(self._broker.clock.now() + seconds, operation)
        before = CALL.set(call)
        try:
            async with asyncio.timeout(seconds) as deadline:
                return await self._work(operation, seconds)
        except core.ConsentNeeded as refusal:
            raise self._broker.ask_person(refusal) from None
        except RoostError:
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and deadline.expired():
                late = Timeout(
                    f"{operation.op} did not finish within {seconds:g} s.", timeoutMs=seconds * 1000
                )
                if call.opened is not None:
                    late.details["tab"] = call.opened
                raise late from None
            # A bug must not break the connection: log the traceback and answer INTERNAL.
            reference = secrets.token_hex(4)
            logger.exception("%s failed [%s]", operation.op, reference)
            raise Internal(f"{operation.op} failed inside Roost.", reference=reference) from None
        finally:
            CALL.reset(before)
            if call.tabs:
                del self._broker.in_use[id(call)]

    def _audit(self, operation: Operation, outcome: str) -> None:
        """Write the call to the audit trail, unless it only read and succeeded."""
        if operation.only_reads() and outcome == "ok":
            return
        broker, agent = self._broker, self._agent
        own = view_of.own_session(broker, agent)
        entry = {
            "agent": shown(agent),
            "session": getattr(operation, "session", None) or own,
            "op": operation.op,
            "outcome": outcome,
            "tab": getattr(operation, "tab", None),
        }
        entry.update((name, getattr(operation, name)) for name in operation.audited)
        broker.audit.write(broker.clock.now(), "call", entry)


def _seconds(operation: Operation, timeout: float | None) -> float:
    """Return the time for the call: the caller's timeout, or the default plus intended waiting."""
    if timeout is None:
        return CALL_SECONDS + operation.waits()
    if not 0 < timeout <= CALL_SECONDS_MAX:
        raise BadRequest(
            f"timeout: expected more than 0 and at most {CALL_SECONDS_MAX:g} seconds.",
            field="timeout",
        )
    return timeout
