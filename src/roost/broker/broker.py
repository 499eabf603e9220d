"""``Broker`` holds all state of one Roost and performs the effects that the core orders.

``decide`` and ``hear`` are the only way into the core (``decisions.py``). Effects that take time
are spawned as tasks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import assert_never
from urllib.parse import urlsplit

from roost import core
from roost.api.broker import Notice
from roost.broker.audit import Audit
from roost.broker.browser.browser import Browser, group_of
from roost.broker.browser.downloads import Download, Downloads
from roost.broker.browser.files import Folders
from roost.broker.browser.har import Recording
from roost.broker.browser.held_input import HeldInputs
from roost.broker.browser.jar_backups import JarBackup, JarBackups
from roost.broker.browser.jars import Surroundings
from roost.broker.browser.lanes import Lanes
from roost.broker.browser.page_records import PageRecord, notice_of, remembered
from roost.broker.browser.person_files import PersonFiles
from roost.broker.clock import Clock, Timer
from roost.broker.dashboard_logins import DashboardLogins
from roost.broker.decisions import Decisions
from roost.broker.download_judge import DownloadJudge
from roost.broker.drawings import Drawings
from roost.broker.journal import Journal
from roost.broker.secret_values import SecretValues
from roost.broker.subagent_reports import SubagentReports
from roost.broker.tasks import Tasks
from roost.broker.text_limits import TextLimits
from roost.broker.tokens import Tokens
from roost.broker.watchers import Watchers
from roost.core import effects as fx
from roost.core import events as ev
from roost.core.addresses import check_not_own
from roost.core.machine import Machine
from roost.core.policy_layers import PolicyLayer
from roost.core.rows import Jar, Tab
from roost.core.settings import CoreSettings
from roost.core.state import Change, State
from roost.drivers.base import Driver, Group, JarContents, PageDriver
from roost.drivers.clipboard import SessionClipboard
from roost.drivers.events import DownloadBegan, DownloadEnded, PageEvent
from roost.drivers.link import Link
from roost.drivers.panel import PanelDriver
from roost.errors import (
    BrowserLost,
    Internal,
    JarUnavailable,
    RoostError,
    TabCrashed,
    TabGone,
    Unsupported,
)
from roost.profiles.store import ProfileStore
from roost.vault.redaction import Redactor
from roost.vault.seal import Sealer
from roost.vault.store import Vault
from roost.vocabulary import (
    MINE,
    REQUEST_WAIT,
    AgentId,
    BrowserId,
    JarId,
    JarPolicy,
    NoticeKind,
    SessionId,
    TabHandle,
    TabId,
)

logger = logging.getLogger(__name__)
RELEASE_SECONDS = 30.0
"""How long a release of held input may wait for the tab's turn and its page."""


class Broker:
    """Hold all state of one Roost. Front ends reach it only through ``roost.broker.doors.door``."""

    def __init__(
        self,
        *,
        settings: CoreSettings,
        drivers: Mapping[BrowserId, Driver],
        journal: Journal,
        audit: Audit,
        clock: Clock,
        tokens: Tokens,
        files: Path,
        profiles: ProfileStore,
        sealer: Sealer,
        vault: Vault,
        version: str = "",
        http: str | None = None,
        upstream: str | None = None,
        settings_shown: Mapping[str, str] | None = None,
        request_wait: float = REQUEST_WAIT,
        default: str | None = None,
        is_near: Callable[[BrowserId], bool] = lambda _: False,
        is_expected: Callable[[BrowserId], bool] = lambda _: False,
    ) -> None:
        """Replay the journal and prepare the browsers; none is started yet.

        http: address where this broker serves HTTP, if it does.
        upstream: the person's own proxy. Filtering proxies send their traffic through it.
        settings_shown: the settings in force, for people to read. No decision depends on them.
        request_wait: seconds that an action waits for the requests it began.
        default: browser to use when the caller names none (else ``settings.default_browser``).
        is_near: True if the native host of that personal browser runs, so it can link now.
        is_expected: True if that personal browser has the extension, so it may link later.
        """
        self.machine = Machine(settings, journal.rows())
        self.clock = clock
        self.audit = audit
        self.tokens = tokens
        self.logins = DashboardLogins(tokens, clock.now)
        self.files = files
        self.profiles = profiles
        self.sealer = sealer
        self.redactor = Redactor()
        self.secrets = SecretValues(vault, clock, self.redactor)
        journal.redact = audit.redact = self.redactor.encoded
        self.limits = TextLimits(self.redactor.cut)
        self.has_protocol_client: Callable[[SessionId], bool] = lambda _: False
        self.version = version
        self.http = http
        self.settings_shown = settings_shown or {}
        self.request_wait = request_wait
        self.started_at = clock.now()
        self.lanes = Lanes()
        self._clipboards: dict[SessionId, SessionClipboard] = {}
        self.recordings: dict[SessionId, Recording] = {}
        self.downloads = Downloads(files, self.redactor.text)
        self.watchers = Watchers(self.redactor)
        self.subagent_reports = SubagentReports()
        self.drawings = Drawings()
        self.person_files = PersonFiles(files.with_name("person-files"))
        self.seen_at: dict[AgentId, float] = {}
        """When each agent last called. Only shown to people; no decision depends on it."""
        self.stop_requested = asyncio.Event()
        self.lingers = False
        """True if the broker stops some time after its last session; ``roost up`` clears it."""
        self._default = default
        self._is_near = is_near
        self._is_expected = is_expected
        self._journal = journal
        self.tasks = Tasks()
        self._timer: Timer | None = None
        self._timer_at: float | None = None
        self._opening: dict[TabId, asyncio.Task[None]] = {}
        self._said_again: dict[TabId, fx.OpenTab] = {}
        """Orders to open a tab that came while an earlier attempt was still running."""
        self._captures: dict[int, asyncio.Future[None]] = {}
        self._records: dict[TabId, PageRecord] = {}
        self._capture_ids = count(1)
        self._on_agent_end: dict[AgentId, Callable[[], None]] = {}
        self._on_busy: list[Callable[[], Iterable[TabId]]] = []
        self.in_use: dict[int, tuple[TabId, ...]] = {}
        """The tabs that each call under way works on, by the id of the call."""
        self._has_lost_files = False
        self.leaves_browsers = False
        """True if the broker must not end its browsers when it stops: the next one takes them."""
        decisions = Decisions(
            self.machine,
            now=clock.now,
            record=self._record,
            perform=self._perform,
            performed=self._arm,
            stop=self._stop,
        )
        self.decide = decisions.decide
        self.hear = decisions.hear
        self.when_rows_change = decisions.when_rows_change
        self._download_judge = DownloadJudge(self.machine, decisions, self.tasks, self.downloads)
        self.held_inputs = HeldInputs(lambda: self.state, clock, self.let_go)
        self.when_rows_change(self.held_inputs.rows_changed)
        self.jar_backups = JarBackups(journal, clock, self.tasks, self._look_into, sealer)
        around = Surroundings(
            state=lambda: self.state,
            hear=self.hear,
            limits=self.limits,
            note=self.watchers.note,
            kept=self.jar_backups.kept,
            keep=self.jar_backups.keep,
            look_soon=self.jar_backups.may_have_changed,
            profile=self._profile,
            clock=clock,
            tasks=self.tasks,
            files=files,
            clipboard=self.clipboard,
            upstream=upstream,
            http=lambda: self.http,
        )
        self.browsers = {
            browser: Browser(browser, driver, heard=self.heard, around=around)
            for browser, driver in drivers.items()
        }
        self.read_policy: Callable[[], tuple[PolicyLayer, ...]] = tuple
        """Reads the configuration's policy. Raises ``BadRequest`` if it is wrong."""
        self.hear(ev.BrokerRestarted())
        self._collect_leftovers()

    @property
    def state(self) -> State:
        return self.machine.state

    def ask_person(self, refusal: core.ConsentNeeded) -> RoostError:
        """Ask the person about the refused agent. Returns the error for the agent.

        That is BROWSER_LOST if the person's browser is not connected: nobody could answer there.
        """
        self.decide(core.ask_person, refusal.agent, refusal.browser)
        browser = self.browsers.get(refusal.browser)
        if browser is None or browser.started is not None or self._is_near(browser.id):
            return refusal.shown()
        return _not_linked()

    def check_not_own(self, url: str) -> None:
        """Raise ``UrlBlocked`` if the address is Roost's own HTTP port."""
        check_not_own(url, urlsplit(self.http or "").port)

    def browser(self, browser: BrowserId) -> Browser:
        found = self.browsers.get(browser)
        if found is None:
            raise Unsupported(
                f"There is no browser {browser} here.",
                hint=f"This broker has: {', '.join(self.browsers)}.",
            )
        return found

    def chosen(
        self, named: str | None, session: str | None = None, *, waits: bool = False
    ) -> BrowserId | None:
        """Resolve the browser name a caller gave for a session.

        ``mine`` means the session's own browser if that is personal, else the linked personal
        browser, else one whose native host runs. If ``waits``, it may also mean a browser that is
        not connected yet: one with the extension, else the first.
        Returns None if the core is to choose: the existing session's browser, else the default.
        Raises ``BrowserLost`` if no personal browser is found, ``Unsupported`` for unknown names.
        """
        known = self.state.sessions.get(SessionId(session or ""))
        if named is None and known is None:
            named = self._default
        if named != MINE:
            return None if named is None else self.browser(BrowserId(named)).id
        own = [one for one in self.browsers.values() if one.driver.capabilities.asks_person]
        if known is not None and known.browser in {one.id for one in own}:
            return known.browser
        linked = (one.id for one in own if one.started is not None)
        near = (one.id for one in own if self._is_near(one.id))
        found = next(linked, None) or next(near, None)
        if found is None and waits and own:
            expected = (one.id for one in own if self._is_expected(one.id))
            found = next(expected, own[0].id)
        if found is None:
            raise _not_linked()
        return found

    def record(self, tab: TabId) -> PageRecord:
        """Return the record of the tab's page, or begin one from the tab's row."""
        known = self._records.get(tab)
        if known is None:
            row = self.state.tabs.get(tab)
            known = PageRecord() if row is None else PageRecord(remembered(row))
            self._records[tab] = known
        return known

    def folders(self, agent: AgentId, session: SessionId | None) -> Folders:
        """Return the folders whose files this agent may name in calls on this session."""
        row = self.state.agents.get(agent)
        own = self.files / (session or "nobody")
        return Folders(self.files.parent, own, () if row is None else row.folders)

    def heard(self, browser: BrowserId, event: PageEvent) -> None:
        """Add a page event to the record of its tab, or a download to those of its session."""
        tab = self.state.tab_with(browser, event.handle)
        if isinstance(event, DownloadEnded):
            self._download_ended(event)
        elif tab is not None and isinstance(event, DownloadBegan):
            self._download_began(event, tab)
        elif tab is not None:
            self.record(tab.id).hear(event, self.clock.now())
            recording = None if tab.session is None else self.recordings.get(tab.session)
            if recording is not None:
                recording.hear(tab.id, event, self.clock.now())
            told = notice_of(event, self.limits.cut)
            if told is not None and tab.session is not None:
                kind, data = told
                self.watchers.tell(Notice(tab.session, kind, {"tab": tab.id, **data}))

    def linked(self, browser: BrowserId, link: Link) -> None:
        """Give the link of a keeper or host that connected to the driver of its browser."""
        self.browser(browser).linked(link)

    async def opened(self, tab: TabId) -> None:
        """Wait until the tab's page is open. Raises the error if it could not be opened."""
        opening = self._opening.get(tab)
        if opening is not None:
            await asyncio.shield(opening)

    def handle(self, tab: TabId) -> TabHandle:
        """Return the browser's own id of an open tab. Raises if the tab is gone or being
        restored."""
        row = self.state.tabs.get(tab)
        if row is None:
            raise TabGone(f"Tab {tab} is gone.", tab=tab)
        if row.handle is None:
            raise BrowserLost(f"Tab {tab} is being restored.", tab=tab, retry_after_ms=1000)
        return row.handle

    def page(self, row: Tab) -> PageDriver:
        """Return the driver's object for an open tab. Raises if the tab is gone or being
        restored."""
        return self.browser(row.browser).driver.page(self.handle(row.id))

    def clipboard(self, session: SessionId) -> SessionClipboard:
        return self._clipboards.setdefault(session, SessionClipboard())

    def let_go(self, tab: TabId) -> None:
        """Release the mouse buttons and keys that input holds in the tab, in a task."""
        self.tasks.spawn(self._release(tab), name=f"let go in {tab}")

    async def _release(self, tab: TabId) -> None:
        row = self.state.tabs.get(tab)
        if row is not None and row.handle is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RELEASE_SECONDS), self.lanes.turn(tab):
                    await self.page(row).release()

    async def capture_turn(self, agent: AgentId, tab: TabId) -> int:
        """Wait for this agent's turn to capture the tab. Pass the number to ``capture_ended``."""
        capture = next(self._capture_ids)
        turn = asyncio.get_running_loop().create_future()
        self._captures[capture] = turn
        try:
            self.decide(core.request_capture, agent, tab, capture)
            await turn
        except BaseException:  # also when the caller was cancelled: others wait for this turn
            self.capture_ended(tab, capture)
            raise
        finally:
            del self._captures[capture]
        return capture

    def capture_ended(self, tab: TabId, capture: int) -> None:
        self.hear(ev.CaptureEnded(tab, capture))

    def when_agent_ends(self, agent: AgentId, callback: Callable[[], None]) -> None:
        self._on_agent_end[agent] = callback

    def keep_files(self) -> None:
        """Write new files if somebody removed those of the journal or the audit trail."""
        self.audit.reopen()
        try:
            self._journal.reopen()
            self._has_lost_files = False
        except (Internal, OSError) as error:
            if not self._has_lost_files:
                logger.error("the journal was removed and cannot be written again: %s", error)
            self._has_lost_files = True

    def add_busy_tabs(self, callback: Callable[[], Iterable[TabId]]) -> None:
        """Register a callback that returns tabs which must not be parked now."""
        self._on_busy.append(callback)

    def _busy(self) -> frozenset[TabId]:
        """Return the tabs that are in use: by a call, an opening, a dialog, a file chooser, a
        download or a CDP client."""
        if not self.state.requests:
            return frozenset()  # no session waits for a slot, so the core parks nothing
        asking = [tab for tab, page in self._records.items() if page.dialog or page.chooser]
        named = (tabs for callback in self._on_busy for tabs in callback())
        used = (tab for tabs in self.in_use.values() for tab in tabs)
        downloads = self.downloads.tabs()
        return frozenset({*self._opening, *self.lanes.tabs(), *asking, *downloads, *named, *used})

    async def aclose(self, *, end_browsers: bool = True) -> None:
        """Stop all tasks and close the files. ``end_browsers``: also end the browsers."""
        if self._timer is not None:
            self._timer.cancel()
        self.jar_backups.close()
        if end_browsers:
            stops = (browser.stop() for browser in self.browsers.values())
            await asyncio.gather(*stops, return_exceptions=True)
        await self.tasks.aclose()
        self._journal.close()
        self.audit.close()

    def _download_began(self, event: DownloadBegan, tab: Tab) -> None:
        if tab.session is None:
            return
        tabs = frozenset({tab.id} if tab.opener is None else {tab.id, tab.opener})
        download = self.downloads.began(event, tab.session, tabs)
        self._download_judge.began(tab, download)
        if download.is_refused and event.cancel is not None:
            event.cancel()
        self._tell_download(tab.session, download)

    def _download_ended(self, event: DownloadEnded) -> None:
        ended = self.downloads.ended(event)
        if ended is not None:
            self._tell_download(*ended)

    def _tell_download(self, session: SessionId, download: Download) -> None:
        about = {"name": download.name, "state": download.state.value}
        self.watchers.tell(Notice(session, NoticeKind.DOWNLOAD, about))

    # --- performing ----------------------------------------------------------------------------

    def _record(self, changes: Sequence[Change]) -> None:
        self._journal.write(changes)
        for change in changes:
            if change.table == Jar.table and change.row is None:
                self.jar_backups.forget(JarId(change.key))

    def _stop(self) -> None:
        self.leaves_browsers = True
        self.stop_requested.set()

    def _perform(self, effect: fx.Effect) -> None:
        match effect:
            case fx.OpenTab():
                self._begin_opening(effect)
            case fx.CloseTab() | fx.ForgetTab():
                self._records.pop(effect.tab, None)
                self.lanes.end(effect.tab, effect.error)
                if isinstance(effect, fx.CloseTab) and effect.handle is not None:
                    self._close_page(effect.browser, effect.handle)
            case fx.CloseStray():
                self._close_page(effect.browser, effect.handle)
            case fx.ForgetGroup():
                # In a task, like closing the group's tabs: those tasks were spawned before, so
                # the tabs still belong to the group when they close.
                self.tasks.spawn(self._forget_group(effect), name=f"forget {effect.group}")
            case fx.RemoveJar():
                self.tasks.spawn(self._remove_jar(effect), name=f"remove jar {effect.jar}")
            case fx.StartCapture():
                self._settle_capture(effect.capture, None)
            case fx.RefuseCapture():
                self._settle_capture(effect.capture, effect.error)
            case fx.EndAgent():
                self.seen_at.pop(effect.agent, None)
                self.subagent_reports.forget(effect.agent)
                self._on_agent_end.pop(effect.agent, lambda: None)()
            case fx.RemoveFiles():
                self.watchers.forget(effect.session)
                self.drawings.forget(effect.session)
                self.person_files.forget(effect.session)
                self.downloads.forget(effect.session)
                self.recordings.pop(effect.session, None)
                self._clipboards.pop(effect.session, None)
                shutil.rmtree(self.files / effect.session, ignore_errors=True)
            case fx.Tell():
                self.watchers.tell(Notice(effect.session, effect.kind, effect.data), effect.to)
            case fx.WriteAudit():
                self.audit.write(self.clock.now(), effect.kind, effect.data)
            case _:
                assert_never(effect)

    def _begin_opening(self, effect: fx.OpenTab) -> None:
        if effect.tab in self._opening:
            self._said_again[effect.tab] = effect
            return
        task = self.tasks.spawn(self._open(effect), name=f"open {effect.tab}")
        self._opening[effect.tab] = task
        task.add_done_callback(lambda _: self._opening_ended(effect.tab))

    def _opening_ended(self, tab: TabId) -> None:
        del self._opening[tab]
        again = self._said_again.pop(tab, None)
        row = self.state.tabs.get(tab)
        if again is not None and row is not None and row.handle is None and row.holds_slot:
            # The browser died during this attempt, and the core ordered the next attempt before
            # this one had failed.
            self._begin_opening(again)

    async def _open(self, effect: fx.OpenTab) -> None:
        """Open the page of an admitted tab, or reopen it at the address ``effect.restore``."""
        browser = self.browser(effect.browser)
        try:
            driver = await browser.ready()
            jar = await browser.jars.handle(effect.jar)
            if effect.restore is not None:
                await browser.jars.put_back(effect.jar, effect.restore)
            async with browser.opening(jar, self._group(effect)) as handle:
                if effect.tab not in self.state.tabs:
                    await driver.close_tab(handle)
                    raise TabGone(f"Tab {effect.tab} was closed while it opened.", tab=effect.tab)
                await browser.set_up(self.state.tabs[effect.tab], handle)
                self.hear(ev.TabReady(effect.tab, handle))
            if effect.restore is not None and effect.tab in self.state.tabs:
                await self._return_to(effect.restore, driver.page(handle))
        except BrowserLost:
            # A tab that is being restored stays lost: the next start of the browser tries again.
            if effect.restore is None:
                self.hear(ev.TabOpenFailed(effect.tab))
            raise
        except Exception:  # a tab that did not open must not hold its slot, whatever the error
            self.hear(ev.TabOpenFailed(effect.tab))
            raise

    async def _return_to(self, address: str, page: PageDriver) -> None:
        """Navigate a reopened tab to its address, and once more if the page's process crashes.

        A crashed page has not reached the address, so a reload by the agent would not open it.
        """
        try:
            await page.navigate(address)
        except TabCrashed:
            await page.navigate(address)

    def _group(self, effect: fx.OpenTab) -> Group | None:
        """Return the session's name and colour, which the browser shows beside the tab."""
        row = self.state.tabs.get(effect.tab)
        session = None if row is None or row.session is None else self.state.sessions[row.session]
        return None if session is None else group_of(session)

    def _close_page(self, browser: BrowserId, handle: TabHandle) -> None:
        driver = self.browser(browser).driver
        self.tasks.spawn(driver.close_tab(handle), name=f"close {handle}")

    async def _forget_group(self, effect: fx.ForgetGroup) -> None:
        driver = self.browser(effect.browser).driver
        if isinstance(driver, PanelDriver):
            driver.forget_group(effect.group)

    async def _remove_jar(self, effect: fx.RemoveJar) -> None:
        await self.browser(effect.browser).jars.remove(effect.jar, effect.handle)
        if effect.jar is not None:
            self.hear(ev.JarRemoved(effect.jar))

    async def _look_into(self, jar: JarId) -> JarBackup:
        """Read what the jar holds, for its backup."""
        row = self.state.jars.get(jar)
        if row is None or row.policy is JarPolicy.SHARED:
            # The browser itself keeps the shared jar on disk.
            raise JarUnavailable("There is nothing to keep of that jar.")
        backup = await self.browser(row.browser).jars.look(jar)
        if jar not in self.state.jars:
            raise JarUnavailable("That jar is gone.")  # its backup was deleted meanwhile
        return backup

    async def _profile(self, name: str) -> JarContents:
        # In a thread: reading a large profile takes long and would block other agents' calls.
        return (await asyncio.to_thread(self.profiles.get, name)).contents

    def _collect_leftovers(self) -> None:
        """Remove jar backups and files of sessions that ended when an earlier broker died.

        The core removes left-over jars itself, once their browser reports which jars it has.
        """
        self.jar_backups.forget_others(self.state.jars)
        self.person_files.forget_others(self.state.sessions)
        sessions = self.files.iterdir() if self.files.is_dir() else ()
        for folder in [one for one in sessions if one.name not in self.state.sessions]:
            shutil.rmtree(folder, ignore_errors=True)

    def _settle_capture(self, capture: int, error: RoostError | None) -> None:
        turn = self._captures.get(capture)
        if turn is None or turn.done():
            return
        if error is None:
            turn.set_result(None)
        else:
            turn.set_exception(error)

    def _arm(self) -> None:
        """Set the one timer to the core's next deadline."""
        deadline = self.machine.next_deadline()
        if deadline == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        if deadline is not None:
            self._timer = self.clock.call_at(deadline, self._time_passed)

    def _time_passed(self) -> None:
        self._timer = self._timer_at = None
        self.hear(ev.TimePassed(self._busy()))


def _not_linked() -> BrowserLost:
    return BrowserLost(
        "No browser of the person's own is linked to Roost.",
        hint="They start it, or give it the extension with `roost install extension"
        " --browser chromium` (or firefox).",
    )
