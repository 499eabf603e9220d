"""The browser that one client sees: the protocol sessions and targets that the client may see.

``VisibleBrowser`` does no I/O: every method takes what happened and returns what to do
(``messages.Effect``).
The client's own commands come in through ``commands.said``; this file handles sessions and targets.

The broker knows who owns a tab and reports the session's tabs (``tab_came``, ``tab_went``). The
browser's own events about targets are remembered, and shown only for those tabs. This file attaches
to each target itself, because the browser's ``setAutoAttach`` would stop everybody's new pages.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Hashable

from roost.api.protocol import SeatChecks
from roost.errors import RoostError
from roost.frontends.cdp import messages
from roost.frontends.cdp.authentication import Authentication
from roost.frontends.cdp.messages import (
    Call,
    Effect,
    GoTo,
    Json,
    Refusal,
    Release,
    Send,
    WriteFrame,
)
from roost.frontends.cdp.methods import BROWSER_EVENTS
from roost.frontends.cdp.targets import (
    BLANK,
    Attachment,
    DelayedAnswer,
    Kind,
    ProtocolSession,
    Targets,
    browser_info,
    tab_info,
    tab_of,
)

_TARGET_EVENT = b'{"method":"Target.'
_METHOD = len(b'{"method":"')
DISCOVERED = [{"type": "page"}, {"type": "service_worker"}, {"type": "shared_worker"}]


class VisibleBrowser:
    """The part of the browser that one client sees.

    ``root``: the client's own browser-level session in the real browser.
    ``context``: the session's jar; None for the browser's own jar.
    ``seat``: asked whether the session may use an address, a file or a frame.
    ``nonce``: random text in the ids made here, so that no id of an earlier connection returns.
    """

    def __init__(self, *, root: str, context: str | None, seat: SeatChecks, nonce: str) -> None:
        self.targets = Targets(context, browser_info(nonce))
        self.targets.links[""] = ProtocolSession("", Kind.BROWSER, "")
        self.checks = seat
        self.authentication = Authentication(seat, nonce)
        self.windows: set[int] = set()
        self._root = root
        self._root_tail = f',"sessionId":"{root}"}}'.encode()
        self._nonce = nonce
        self._tab_sessions = 0
        self.is_paused = False
        self._attaching: dict[str, deque[Attachment]] = {}
        self._waiting: list[DelayedAnswer] = []
        self._downloads: set[tuple[str, str]] = set()
        """Running downloads of the session: the protocol session that reports each, and its id."""
        self._holds: dict[str, set[str]] = {}
        """New tabs, each with the browser-level sessions that have not let it run yet."""
        self._go_to: dict[str, str] = {}
        """Addresses that held tabs navigate to as soon as they may run."""

    def started(self) -> list[Effect]:
        """Return what must be sent, and answered, before the client's first message is read."""
        discover = {"discover": True, "filter": DISCOVERED}
        return [Send(None, "Target.setDiscoverTargets", discover)]

    # --- the broker, about orders from ``commands.py`` ------------------------------------------

    def done(self, call: Call, value: str = "") -> list[Effect]:
        """The broker has carried out the call. ``value`` is the id of what it made, if anything."""
        match call.method:
            case "Target.createTarget":
                return self._tab_made(call, value)
            case "Target.createBrowserContext":
                self.targets.made.add(value)
                return [WriteFrame(messages.result(call, {"browserContextId": value}))]
            case "Target.closeTarget":
                return [WriteFrame(messages.result(call, {"success": True}))]
            case _:
                return [WriteFrame(messages.result(call, {}))]

    def failed(self, call: Call, error: RoostError) -> list[Effect]:
        return [WriteFrame(messages.refused(call, Refusal.of(error)))]

    # --- the browser ---------------------------------------------------------------------------

    def answered(self, key: Hashable, frame: bytes) -> list[Effect]:
        """The browser answered the command that was sent with ``key``."""
        if isinstance(key, Attachment):
            return self._attach_answered(key, frame)
        if not isinstance(key, Call):
            return []
        if key.method == "Browser.getWindowForTarget":
            window = json.loads(frame).get("result", {}).get("windowId")
            self.windows |= {window} - {None}
        return [WriteFrame(self._below_root(messages.with_id(frame, key.id)))]

    def heard(self, session: str, frame: bytes) -> list[Effect]:
        """The browser sent an event in that protocol session."""
        if frame.startswith(_TARGET_EVENT):
            event = json.loads(frame)
            return self._target_event(session, event["method"], event["params"], frame)
        link = self.targets.links.get("" if session == self._root else session)
        if link is not None and link.kind is Kind.BROWSER:
            is_download = frame.startswith(BROWSER_EVENTS, _METHOD)
            return self._download(session, frame) if is_download else []
        if link is None or not link.is_page:
            return []
        if self.authentication.is_on(session):
            context = self.targets.context_of(link)
            effects = self.authentication.heard(session, context, frame)
            if effects is not None:
                return effects
        return [WriteFrame(frame)]

    def _download(self, session: str, frame: bytes) -> list[Effect]:
        """Pass on downloads of this session only, because Chromium reports everybody's.

        The first event names the frame in which the download began; later events only its id.
        """
        params = json.loads(frame)["params"]
        told = session, params["guid"]
        if "frameId" in params and self.checks.owns_frame(params["frameId"]):
            self._downloads.add(told)
        if told not in self._downloads:
            return []
        if params.get("state", "inProgress") != "inProgress":
            self._downloads.discard(told)
        return [WriteFrame(self._below_root(frame))]

    def _below_root(self, frame: bytes) -> bytes:
        """Remove our root session's id: to the client, that session is the browser itself."""
        if frame.endswith(self._root_tail):
            return frame.removesuffix(self._root_tail) + b"}"
        return frame

    def _target_event(self, session: str, method: str, params: Json, frame: bytes) -> list[Effect]:
        session = "" if session == self._root else session
        if session not in self.targets.links:
            return []
        match method:
            case "Target.attachedToTarget":
                return self._attached(session, params, frame)
            case "Target.detachedFromTarget":
                return self._detached(params["sessionId"])
            case "Target.targetCreated" if not session:
                return self._created(params["targetInfo"])
            case "Target.targetInfoChanged" if not session:
                return self._changed(params["targetInfo"])
            case "Target.targetDestroyed" if not session:
                return self._destroyed(params["targetId"])
            case "Target.targetCrashed" if not session:
                return self._told_of(params["targetId"], method, params)
            case _:
                return []

    # --- targets -------------------------------------------------------------------------------

    def tab_came(self, target: str) -> tuple[bool, list[Effect]]:
        """Add a tab to the session.

        Return whether the tab must wait for this client, and the effects.
        """
        self.targets.owned.add(target)
        holders = {
            root.session
            for root in self.targets.roots()
            if root.auto_attach is not None and root.auto_attach.waits
            if root.auto_attach.filter.lets("page") or root.auto_attach.filter.lets("tab")
        }
        if holders:
            self._holds[target] = holders
        return bool(holders), self._offered(target)

    def tab_went(self, target: str) -> list[Effect]:
        """Remove a tab from the session: detach the client from it and from all below it."""
        info = self.targets.seen.get(target)
        effects: list[Effect] = []
        sessions = [link.session for link in self.targets.of(target)]
        nested = [below.target for one in sessions for below in self.targets.below(one)]
        for one in (target, tab_of(target), *nested):
            for link in self.targets.of(one):
                if link.session in self.targets.links:
                    effects += self._let_go(link)
        if info is not None and target in self.targets.owned:
            effects += self._told_destroyed(info)
        self.targets.owned.discard(target)
        self._holds.pop(target, None)
        self._go_to.pop(target, None)
        return effects + self._give_up_on(target)

    def paused(self, is_paused: bool) -> list[Effect]:
        self.is_paused = is_paused
        return []

    def _created(self, info: Json) -> list[Effect]:
        self.targets.seen[info["targetId"]] = info
        return self._offered(info["targetId"])

    def _changed(self, info: Json) -> list[Effect]:
        if info["targetId"] not in self.targets.seen:
            return self._created(info)
        self.targets.seen[info["targetId"]] = info
        if not self.targets.shows(info):
            return []
        shown, effects = self.targets.shown(info), list[Effect]()
        for root in self.targets.roots():
            for one in (shown, tab_info(shown)) if info["type"] == "page" else (shown,):
                if root.discovers is not None and root.discovers.lets(one["type"]):
                    effects.append(_event("Target.targetInfoChanged", {"targetInfo": one}, root))
        return effects

    def _destroyed(self, target: str) -> list[Effect]:
        info = self.targets.seen.pop(target, None)
        if info is None or not self.targets.shows(info):
            return []
        return self._told_destroyed(info)

    def _told_destroyed(self, info: Json) -> list[Effect]:
        effects: list[Effect] = []
        for root in self.targets.roots():
            if root.discovers is None:
                continue
            if root.discovers.lets(info["type"]):
                params = {"targetId": info["targetId"]}
                effects.append(_event("Target.targetDestroyed", params, root))
            if info["type"] == "page" and root.discovers.lets("tab"):
                params = {"targetId": tab_of(info["targetId"])}
                effects.append(_event("Target.targetDestroyed", params, root))
        return effects

    def _told_of(self, target: str, method: str, params: Json) -> list[Effect]:
        info = self.targets.get(target)
        return [
            _event(method, params, root)
            for root in self.targets.roots()
            if info is not None and root.discovers and root.discovers.lets(info["type"])
        ]

    def _offered(self, target: str) -> list[Effect]:
        """Report the target to the client and attach to it, if the client may see it now."""
        info = self.targets.get(target)
        if info is None:
            return []
        effects: list[Effect] = []
        for root in self.targets.roots():
            effects += self.discovered(root, info)
            effects += self.auto_attached(root, info, None)
        return effects

    def discovered(self, root: ProtocolSession, info: Json) -> list[Effect]:
        """Report the target, and the tab target around a page, if that session discovers them."""
        wanted = root.discovers
        both = (tab_info(info), info) if info["type"] == "page" else (info,)
        return [
            _event("Target.targetCreated", {"targetInfo": one}, root)
            for one in both
            if wanted is not None and wanted.lets(one["type"])
        ]

    # --- attaching -----------------------------------------------------------------------------

    def auto_attached(
        self, root: ProtocolSession, info: Json, waiting: DelayedAnswer | None
    ) -> list[Effect]:
        """Attach to the target if that browser-level session wants it and is not attached yet."""
        wanted, target = root.auto_attach, info["targetId"]
        if wanted is None:
            return []
        if info["type"] == "page" and wanted.filter.lets("tab"):
            has = {link.target for link in self.targets.links.values() if link.root == root.session}
            return [] if tab_of(target) in has else self.attach_tab(root.session, info)[1]
        if not wanted.filter.lets(info["type"]) or self._has(root.session, target):
            return []
        attachment = Attachment(target, root.session, root.session, wanted.waits)
        if waiting is not None:
            waiting.attachments.add(attachment)
        return [self.attach(attachment)]

    def attach(self, attachment: Attachment) -> Send:
        """Ask the browser for a protocol session in the target."""
        self._attaching.setdefault(attachment.target, deque()).append(attachment)
        params = {"targetId": attachment.target, "flatten": True}
        return Send(attachment, "Target.attachToTarget", params, attachment.root)

    def attach_tab(self, root: str, info: Json) -> tuple[str, list[Effect]]:
        """Attach the client to the tab target around a page, without the browser.

        Return the new protocol session, which the real browser does not know, and the effects.
        """
        self._tab_sessions += 1
        made = f"{self._nonce} tab session {self._tab_sessions}"
        session = hashlib.sha256(made.encode()).hexdigest()[:32].upper()
        target = info["targetId"]
        link = ProtocolSession(session, Kind.TAB, tab_of(target), above=root, root=root)
        self.targets.links[session] = link
        params = {
            "sessionId": session,
            "targetInfo": {**tab_info(info), "attached": True},
            "waitingForDebugger": target in self._holds,
        }
        frame = messages.event("Target.attachedToTarget", params, root)
        return session, [WriteFrame(frame)]

    def wait_for(self, waiting: DelayedAnswer) -> list[Effect]:
        """Send the answer once all its attachments are complete, or at once if it has none."""
        if waiting.attachments:
            self._waiting.append(waiting)
            return []
        return [WriteFrame(waiting.answer)]

    def _has(self, root: str, target: str) -> bool:
        asked = self._attaching.get(target, ())
        return any(one.above == root and one.call is None for one in asked) or any(
            link.above == root for link in self.targets.of(target)
        )

    def _attached(self, session: str, params: Json, frame: bytes) -> list[Effect]:
        info, new = params["targetInfo"], params["sessionId"]
        above = self.targets.links[session]
        if above.is_page:
            if info["type"] in ("page", "tab") and info["targetId"] not in self.targets.owned:
                return [Send(None, "Target.detachFromTarget", {"sessionId": new}, session)]
            self.targets.links[new] = ProtocolSession(
                new, Kind.TARGET, info["targetId"], session, above.root, session
            )
            self.targets.nested[info["targetId"]] = info
            return [WriteFrame(frame)]
        if info["type"] == "browser":
            self.targets.links[new] = ProtocolSession(new, Kind.BROWSER, "", session, new, session)
            params = {**params, "targetInfo": self.targets.browser}
            return [WriteFrame(messages.event("Target.attachedToTarget", params, session))]
        queue = self._attaching.get(info["targetId"])
        if not queue or self.targets.get(info["targetId"]) is None:
            return [Send(None, "Target.detachFromTarget", {"sessionId": new}, session)]
        attachment = queue.popleft()
        link = ProtocolSession(
            new, Kind.TARGET, info["targetId"], attachment.above, attachment.root, session
        )
        self.targets.links[new] = link
        held = self._holds.get(info["targetId"], ())
        params = {
            "sessionId": new,
            "targetInfo": self.targets.shown(info),
            "waitingForDebugger": attachment.waits and attachment.root in held,
        }
        return [WriteFrame(messages.event("Target.attachedToTarget", params, attachment.above))]

    def _attach_answered(self, attachment: Attachment, frame: bytes) -> list[Effect]:
        queue = self._attaching.get(attachment.target)
        effects: list[Effect] = []
        if queue is not None:
            if attachment in queue:  # the attachment failed because the target is gone
                queue.remove(attachment)
                effects += self._resumed(attachment.target, attachment.root)
            if not queue:
                del self._attaching[attachment.target]
        if attachment.call is not None:
            answer = json.loads(frame)
            answer.pop("sessionId", None)
            answer["id"] = attachment.call.id
            if attachment.call.session:
                answer["sessionId"] = attachment.call.session
            effects.append(WriteFrame(json.dumps(answer, separators=(",", ":")).encode()))
        return effects + self._over(attachment)

    def _over(self, *attachments: Attachment) -> list[Effect]:
        """Remove these attachments from all waiting answers, and send complete answers."""
        effects: list[Effect] = []
        for waiting in list(self._waiting):
            waiting.attachments.difference_update(attachments)
            if not waiting.attachments:
                self._waiting.remove(waiting)
                effects.append(WriteFrame(waiting.answer))
        return effects

    def _give_up_on(self, target: str) -> list[Effect]:
        return self._over(*self._attaching.get(target, ()))

    def _tab_made(self, call: Call, target: str) -> list[Effect]:
        shown = tab_of(target) if call.params.get("forTab") else target
        waiting = DelayedAnswer(
            {one for one in self._attaching.get(target, ()) if one.call is None},
            messages.result(call, {"targetId": shown}),
        )
        effects: list[Effect] = []
        url = call.text("url") or BLANK
        if url != BLANK and target in self._holds:
            self._go_to[target] = url
        elif url != BLANK:
            effects.append(GoTo(target, url))
        return effects + self.wait_for(waiting)

    # --- resuming and detaching ------------------------------------------------------------------

    def is_held(self, target: str) -> bool:
        """Return whether the new tab waits for this client."""
        return target in self._holds

    def resumed(self, link: ProtocolSession) -> list[Effect]:
        """The client lets the target of that protocol session run."""
        return self._resumed(link.target, link.root)

    def _resumed(self, target: str, root: str) -> list[Effect]:
        holders = self._holds.get(target)
        if holders is None:
            return []
        holders.discard(root)
        if holders:
            return []
        del self._holds[target]
        effects: list[Effect] = [Release(target)]
        url = self._go_to.pop(target, None)
        return effects if url is None else [*effects, GoTo(target, url)]

    def stopped_waiting(self, root: str) -> list[Effect]:
        """Let all tabs run that wait only for that browser-level session."""
        effects: list[Effect] = []
        for target in list(self._holds):
            effects += self._resumed(target, root)
        return effects

    def _detached(self, session: str) -> list[Effect]:
        link = self.targets.links.get(session)
        if link is None:
            return []
        return self.forget(link)

    def _let_go(self, link: ProtocolSession) -> list[Effect]:
        effects = self.forget(link)
        if link.is_page:
            params = {"sessionId": link.session}
            effects.append(Send(None, "Target.detachFromTarget", params, link.real_above))
        return effects

    def forget(self, link: ProtocolSession) -> list[Effect]:
        """Remove the protocol session and all below it. Tell the client of the topmost only."""
        effects: list[Effect] = []
        for one in [*self.targets.below(link.session), link]:
            self.targets.links.pop(one.session, None)
            self.authentication.forget(one.session)
            if not self.targets.of(one.target):
                self.targets.nested.pop(one.target, None)
            if one.kind is Kind.BROWSER:
                effects += self.stopped_waiting(one.session)
        params = {"sessionId": link.session, "targetId": link.target}
        effects.append(WriteFrame(messages.event("Target.detachedFromTarget", params, link.above)))
        return effects + self.resumed(link)


def _event(method: str, params: Json, root: ProtocolSession) -> WriteFrame:
    return WriteFrame(messages.event(method, params, root.session))
