// Pages of Firefox: the extension's scripts in an isolated world, only in tabs of managed groups.
// The broker's commands for a page carry its tab's handle as the session id.

import { NO_SUCH_TAB, Refusal, noSuchMethod } from "../link.js";
import { paint } from "../outline.js";
import { Outlines } from "../outlines.js";
import { Access } from "./access.js";
import { Dialogs } from "./dialogs.js";
import { Downloads } from "./downloads.js";
import { TrustedInputTabs } from "./trusted_input_tabs.js";
import { arrived, callBundle, evaluate, frameOfOurs, leaveForBlank, letGo, measure, stored, useHands } from "./inpage.js";
import { Jars } from "./jars.js";
import { ANYWHERE, End, Navigations } from "./navigation.js";
import { DOCUMENT_GONE, FORBIDDEN, FRAME_GONE, NOWHERE, NO_PICTURE, STALE_REF, THREW, asRefusal, crashed } from "./refusals.js";
import { Traffic } from "./traffic.js";

const BUNDLE = "page/bundle.js";
const HANDS = "firefox/input.js";
const HOOK = "firefox/hook.js";
const TITLE_CHARS = 1000;
const LOAD_MS = 5000; // wait this long for a parsed document to finish loading
const SOON_MS = 1000; // Firefox reports why a document is gone within this time
const QUIET_MS = 200;
const DOCUMENT_TRIES = 10;
const CRASH_PAGES = /^about:(blank|tabcrashed)/;
const MAIN = 0;
const BLANK = "about:blank";
const OF_SITES = /^Jars\.(cookies|write|delete|storage)$/; // empty without the permission for sites

export class Pages {
  #api;
  #strip;
  #tell;
  #access;
  #navigations = new Navigations();
  #traffic;
  #dialogs;
  #downloads;
  #jars;
  #trusted;
  #running = new Map(); // tab id → scripts that run in its documents: {frameId, fail}
  #crashed = new Map(); // tab id → its address before the crash
  #at = new Map(); // tab id → the address of its document
  #before = new Map(); // tab id → number of documents it had had before the last input
  #asleep = new Map(); // tabs that Firefox has unloaded → promise of loading, or null before that
  #settingOut = new Set(); // tabs that were opened for an address and have not reached it
  #loading = new Map(); // download id → promise of its tab, or of null
  #openers = new Map(); // tab id → the tab that opened it

  /** allowed(isAllowed): called when the permission to work on pages changes. */
  constructor(api, strip, { tell, allowed }) {
    this.#api = api;
    this.#strip = strip;
    this.#tell = tell;
    this.#access = new Access(api, (isAllowed) => {
      allowed(isAllowed);
      if (isAllowed) this.#watchStrip(); // pages that came without the permission have no hook
    });
    this.#jars = new Jars(api, strip);
    this.#trusted = new TrustedInputTabs(api);
    this.outlines = new Outlines(api.storage, strip, (tabId, look) => this.#paint(tabId, look));
    const handleOf = (id) => strip.handleOf(id);
    this.#dialogs = new Dialogs(api, { tell, handleOf });
    this.#downloads = new Downloads(api, (jar) => strip.tabsIn(jar));
    this.#traffic = new Traffic(api, {
      tell: (...what) => this.#report(...what),
      handleOf,
      journeys: this.#navigations,
      dialogs: this.#dialogs,
      downloads: this.#downloads,
    });
    this.#listen();
    this.#watchStrip();
  }

  async #watchStrip() {
    await this.#strip.ready;
    const joined = (id, isSettingOut) => this.#joined(id, isSettingOut);
    const left = (id) => this.#left(id);
    const closing = (id) => this.#quiet(id);
    this.#strip.watch({ joined, left, closing, isGivenInput: (id) => this.#trusted.has(id) });
  }

  /** Run a browser-level command of the broker; undefined for methods of other parts. */
  call(method, params) {
    if (method === "Roost.state") return this.#state();
    if (method === "Tabs.create") return this.#create(params);
    if (OF_SITES.test(method)) return this.#access.check().then(() => this.#jars.call(method, params));
    return this.#jars.call(method, params);
  }

  /** The strip's state and the jars. The jars come first: events that follow the strip's state
   * build on it, so nothing may delay the answer after it. */
  async #state() {
    this.#trusted.endAll();
    const { jars } = await this.#jars.call("Jars.list", {});
    const state = await this.#strip.call("Roost.state", {});
    setTimeout(() => this.#dialogs.tellAgain()); // later, when the broker knows those tabs
    return { ...state, jars };
  }

  /** Open a tab and wait for its first document. Firefox first shows another, which it discards. */
  async #create(params) {
    const made = await this.#strip.call("Tabs.create", params);
    const tabId = this.#strip.tabOf(made.tab);
    for (let waited = 0; !this.#navigations.turns(tabId) && waited < SOON_MS; waited += 10) await pause(10);
    return made;
  }

  /** Run a command in a tab's page. */
  async command(method, params, handle) {
    const tabId = this.#strip.tabOf(handle);
    const run = {
      "Page.frames": () => this.#frames(tabId),
      "Page.navigate": () => this.#navigate(tabId, params.url),
      "Page.reload": () => this.#reload(tabId),
      "Page.travel": () => this.#travel(tabId, params.delta),
      "Page.call": () => this.#callBundle(tabId, params),
      "Page.evaluate": () => this.#evaluate(tabId, params),
      "Page.act": () => this.#act(tabId, params),
      "Page.answer": () => this.#dialogs.answer(tabId, params),
      "Page.begin": () => this.#begin(tabId, params.mark),
      "Page.given": () => this.#trusted.tellOver(tabId),
      "Page.end": () => this.#trusted.end(tabId, params.mark),
      "Page.frameOfOurs": async () => JSON.parse(await this.#run(tabId, MAIN, frameOfOurs, [params.isWanted])),
      "Page.files": () => this.#files(tabId, params),
      "Page.capture": () => this.#capture(tabId, params),
      "Page.stored": async () => ({ json: await this.#run(tabId, MAIN, stored, []) }),
    }[method];
    if (!run) throw noSuchMethod(method);
    if (method !== "Page.navigate") await this.#wake(tabId);
    await this.#access.check();
    return run();
  }

  /** The broker is gone: remove the outlines, let the person answer dialogs, and end trusted input,
   * because a broker that died sent no `Page.end`. Commands check the tab's group, so no more is
   * needed. */
  releaseAll() {
    this.#trusted.endAll();
    this.#dialogs.handBack();
    return this.outlines.hideAll();
  }

  sweep() {
    this.outlines.refresh();
  }

  // --- navigation ------------------------------------------------------------------------------

  async #navigate(tabId, url) {
    this.#crashed.delete(tabId);
    await this.#dismissDialog(tabId);
    const go = () => this.#api.tabs.update(tabId, { url });
    const goBlank = () => this.#run(tabId, MAIN, leaveForBlank, []).catch(go);
    try {
      const { end, status } = await this.#navigations.go(tabId, url, url === BLANK ? goBlank : go);
      return await this.#here(tabId, status, end);
    } catch (error) {
      throw asRefusal(error);
    }
  }

  async #reload(tabId) {
    const crashedAt = this.#crashed.get(tabId);
    if (crashedAt !== undefined) return this.#navigate(tabId, crashedAt);
    const { url } = await this.#api.tabs.get(tabId);
    await this.#dismissDialog(tabId);
    try {
      const { end, status } = await this.#navigations.go(tabId, url, () => this.#api.tabs.reload(tabId));
      return await this.#here(tabId, status, end);
    } catch (error) {
      throw asRefusal(error);
    }
  }

  async #travel(tabId, delta) {
    this.#checkAlive(tabId);
    await this.#dismissDialog(tabId);
    const { goBack, goForward } = this.#api.tabs;
    const act = () => (delta < 0 ? goBack : goForward)(tabId).catch(() => {});
    try {
      const found = await this.#navigations.step(tabId, act);
      if (found === null) throw new Refusal(NOWHERE, "no page in that direction");
      return await this.#here(tabId, found.status, found.end);
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** Dismiss the dialog of a page that is left: the page would wait for its answer. */
  #dismissDialog(tabId) {
    return this.#dialogs.answer(tabId, { accept: false });
  }

  async #here(tabId, status, end) {
    const title = await this.#inWhatComes(() => this.#run(tabId, MAIN, arrived, [LOAD_MS, TITLE_CHARS]));
    const { url } = await this.#api.tabs.get(tabId); // from Firefox, because a page could lie
    return { url, title, status, stayed: end === End.NOTHING };
  }

  /** Load a tab that Firefox restored, or unloaded to save memory: Firefox itself waits until the
   * person looks at it. */
  async #wake(tabId) {
    if (this.#navigations.turns(tabId) && !this.#asleep.has(tabId)) return;
    if (!this.#asleep.get(tabId)) this.#asleep.set(tabId, this.#loadAgain(tabId));
    await this.#asleep.get(tabId);
  }

  async #loadAgain(tabId) {
    try {
      if ((await this.#api.tabs.get(tabId)).discarded) await this.#reload(tabId);
    } finally {
      this.#asleep.delete(tabId);
    }
  }

  // --- scripts ---------------------------------------------------------------------------------

  async #frames(tabId) {
    this.#checkAlive(tabId);
    const found = (await this.#api.webNavigation.getAllFrames({ tabId })) ?? [];
    const known = new Map(found.map((frame) => [frame.frameId, frame]));
    const depth = ({ parentFrameId }) => (known.has(parentFrameId) ? 1 + depth(known.get(parentFrameId)) : 0);
    found.sort((a, b) => depth(a) - depth(b));
    return { frames: found.map(({ frameId, parentFrameId, url }) => ({ id: frameId, parent: parentFrameId, url })) };
  }

  async #callBundle(tabId, { frame, name, argument, child = null, once = false }) {
    const ask = async () => {
      const given = [name, JSON.stringify(argument), child];
      const text = await this.#withFile(tabId, frame, BUNDLE, callBundle, given);
      const { value, frameGone } = JSON.parse(text);
      if (frameGone) throw new Refusal(FRAME_GONE, "that frame is gone");
      return { value };
    };
    return once ? ask() : this.#inWhatComes(ask, tabId, frame);
  }

  async #evaluate(tabId, { frame, function: source, ref = null }) {
    for (let waited = 0; this.#settingOut.has(tabId) && waited < LOAD_MS; waited += 20) await pause(20);
    const isOnItsFirstWay = this.#at.get(tabId) === BLANK && this.#navigations.isLeaving(tabId);
    if (isOnItsFirstWay) await Promise.race([this.#navigations.landed(tabId), pause(SOON_MS)]);
    const found = JSON.parse(await this.#run(tabId, frame, evaluate, [source, ref]));
    if (found.staleRef) throw new Refusal(STALE_REF, ref);
    if (found.isForbidden) throw new Refusal(FORBIDDEN, found.isForbidden);
    if (found.thrown !== undefined) throw new Refusal(THREW, found.thrown);
    return { json: found.json };
  }

  /** Give input, then wait for the page's handlers or the next document, and for tabs it opened. */
  async #act(tabId, { inputs, frame, argument }) {
    this.#checkAlive(tabId);
    if (inputs.length) {
      this.#glow(tabId, inputs);
      await this.#give(tabId, inputs);
    }
    return this.#settle(tabId, { frame, argument });
  }

  async #give(tabId, inputs) {
    this.#before.set(tabId, this.#navigations.turns(tabId));
    let into = { frame: MAIN, x: 0, y: 0 };
    while (into) {
      const { frame, x, y } = into;
      const given = ["perform", JSON.stringify({ inputs, x, y })];
      try {
        into = JSON.parse(await this.#withFile(tabId, frame, HANDS, useHands, given)).into ?? null;
      } catch (error) {
        if (error.code !== DOCUMENT_GONE) throw error;
        into = null; // the input was delivered and made the page navigate
      }
    }
  }

  /** Show the beacon in the page, because Firefox's remote agent is about to give it input. */
  async #begin(tabId, beacon) {
    this.#checkAlive(tabId);
    this.#before.set(tabId, this.#navigations.turns(tabId));
    const show = async () => {
      const turns = this.#navigations.turns(tabId);
      await this.#trusted.show(tabId, beacon).catch(async (error) => {
        throw await this.#whyNot(tabId, MAIN, turns, error);
      });
    };
    await Promise.all([this.#inWhatComes(show), this.#trusted.begin(tabId, beacon)]);
  }

  async #settle(tabId, { frame, argument }) {
    const turns = this.#before.get(tabId) ?? this.#navigations.turns(tabId);
    const hasLeft = () => this.#navigations.isLeaving(tabId) || this.#navigations.turns(tabId) !== turns;
    let value = null;
    if (!hasLeft()) {
      try {
        value = await this.#settled(tabId, frame, argument);
      } catch (error) {
        if (![DOCUMENT_GONE, FRAME_GONE].includes(error.code)) throw error;
      }
    }
    if (hasLeft()) {
      value = null;
      await this.#navigations.landed(tabId);
      await this.#here(tabId, null, End.DOCUMENT);
    }
    await this.#strip.decided();
    return { value };
  }

  /** Wait until the frame has settled. With `releases`, input is still on its way: the bundle
   * counts the button releases to notice its end. When all input was given, the bundle is told as
   * well, in case the input went to another document. If the document changed, the new one is
   * asked. */
  async #settled(tabId, frame, { releases = 0, ...argument }) {
    const ask = async (name, given) => (await this.#callBundle(tabId, { frame, name, argument: given, once: true })).value;
    if (!releases) return ask("settled", argument);
    let isSeen = false;
    const asked = ["settled", JSON.stringify({ ...argument, releases }), null];
    const seen = this.#run(tabId, frame, callBundle, asked).finally(() => (isSeen = true));
    const over = this.#trusted.over(tabId);
    const told = over.then(() => isSeen || ask("delivered", {})).then(() => seen);
    told.catch(() => {});
    const found = await Promise.race([seen, told]);
    const value = found === null ? null : JSON.parse(found).value;
    if (value?.hasActivation) return value; // opening a tab would have used up the activation
    await over;
    return value ?? ask("settled", argument);
  }

  async #files(tabId, { frame, ref = null, files }) {
    if (ref !== null) await this.#withFile(tabId, frame, BUNDLE, callBundle, ["readiness", "{}", null]);
    const given = ["files", JSON.stringify({ ref, files })];
    return JSON.parse(await this.#withFile(tabId, frame, HANDS, useHands, given));
  }

  /** Call `ask` again in the next document if a navigation interrupts it. */
  async #inWhatComes(ask) {
    for (let tried = 1; ; tried++) {
      try {
        return await ask();
      } catch (error) {
        if (error.code !== DOCUMENT_GONE || tried === DOCUMENT_TRIES) throw error;
      }
    }
  }

  /** Run a function that needs one of our files in the page. Load the file if it is missing. */
  async #withFile(tabId, frameId, file, func, args) {
    const found = await this.#run(tabId, frameId, func, args);
    if (found !== null) return found;
    await this.#inject(tabId, frameId, { files: [file] });
    const again = await this.#run(tabId, frameId, func, args);
    if (again === null) throw new Refusal(DOCUMENT_GONE, "the document is gone");
    return again;
  }

  async #run(tabId, frameId, func, args) {
    const [answer] = await this.#inject(tabId, frameId, { func, args });
    if (answer?.error) throw new Error(answer.error.message ?? String(answer.error));
    return answer?.result ?? null;
  }

  /** Run a script in a frame. Fails at once when the document is left: Firefox may keep the
   * document for the way back, and then its promises never settle. */
  async #inject(tabId, frameId, what) {
    this.#checkAlive(tabId);
    const running = this.#running.get(tabId) ?? new Set();
    this.#running.set(tabId, running);
    const turns = this.#navigations.turns(tabId);
    const one = { frameId };
    const left = new Promise((_, reject) => (one.fail = reject));
    running.add(one);
    try {
      const target = { tabId, frameIds: [frameId] };
      return await Promise.race([this.#api.scripting.executeScript({ target, injectImmediately: true, ...what }), left]);
    } catch (error) {
      throw error instanceof Refusal ? error : await this.#whyNot(tabId, frameId, turns, error);
    } finally {
      running.delete(one);
    }
  }

  /** Find out why a script failed, because Firefox reports only that it did. */
  async #whyNot(tabId, frameId, turns, error) {
    const handle = this.#strip.handleOf(tabId);
    const frames = (await this.#api.webNavigation.getAllFrames({ tabId }).catch(() => null)) ?? [];
    if (frameId !== MAIN && !frames.some((frame) => frame.frameId === frameId))
      return new Refusal(FRAME_GONE, "that frame is gone");
    if (/permission|cannot access|restricted/i.test(error.message)) {
      await this.#access.lookAgain();
      return this.#access.check().then(() => error, (refusal) => refusal);
    }
    for (let waited = 0; waited < SOON_MS; waited += 20) {
      if (handle === null || this.#strip.handleOf(tabId) === null) return new Refusal(NO_SUCH_TAB, "There is no such tab.");
      if (this.#crashed.has(tabId)) return crashed();
      if (this.#navigations.turns(tabId) !== turns) break;
      await pause(20);
    }
    return new Refusal(DOCUMENT_GONE, error.message);
  }

  #checkAlive(tabId) {
    if (this.#crashed.has(tabId)) throw crashed();
  }

  #failAll(tabId, error, fits = () => true) {
    for (const one of this.#running.get(tabId) ?? []) if (fits(one)) one.fail(error);
  }

  // --- pictures --------------------------------------------------------------------------------

  async #capture(tabId, { format, quality, scale, fullPage, clip }) {
    this.#checkAlive(tabId);
    const how = { format, scale, ...(format === "jpeg" ? { quality } : {}) };
    if (fullPage || clip) {
      const page = JSON.parse(await this.#run(tabId, MAIN, measure, []));
      how.rect = fullPage
        ? { x: 0, y: 0, width: page.width, height: page.height }
        : { x: clip[0] + page.x, y: clip[1] + page.y, width: clip[2], height: clip[3] };
    }
    try {
      const picture = await this.outlines.without(tabId, () => this.#api.tabs.captureTab(tabId, how));
      return { data: picture.slice(picture.indexOf(",") + 1) };
    } catch (error) {
      throw new Refusal(NO_PICTURE, error.message);
    }
  }

  #glow(tabId, inputs) {
    const pointed = inputs.find(({ x }) => x !== undefined);
    const typed = inputs.some(({ do: what }) => what === "keyDown" || what === "insert");
    if (pointed) this.outlines.glow(tabId, [pointed.x, pointed.y]);
    else if (typed) this.outlines.glow(tabId, "focus");
  }

  async #paint(tabId, look) {
    await this.#api.scripting.executeScript({ target: { tabId }, func: paint, args: [look], injectImmediately: true });
  }

  // --- events ----------------------------------------------------------------------------------

  #listen() {
    const { downloads, runtime, tabs, webNavigation } = this.#api;
    const main = (listener) => (what) => what.frameId === MAIN && this.#isOurs(what.tabId) && listener(what);
    webNavigation.onBeforeNavigate.addListener(main(({ tabId, url }) => this.#navigations.began(tabId, url)));
    webNavigation.onCommitted.addListener((what) => this.#isOurs(what.tabId) && this.#committed(what));
    webNavigation.onDOMContentLoaded.addListener(main(({ tabId }) => this.outlines.show(tabId)));
    webNavigation.onErrorOccurred.addListener(main((what) => this.#brokeOff(what)));
    for (const event of ["onReferenceFragmentUpdated", "onHistoryStateUpdated"])
      webNavigation[event].addListener(main(({ tabId, url }) => this.#navigations.movedWithin(tabId, url)));
    runtime.onMessage.addListener((message, sender) => {
      if (message?.roost === "page") return this.#pageSaid(message, sender);
    });
    tabs.onUpdated.addListener((id, { discarded }) => {
      if (discarded && this.#isOurs(id)) this.#asleep.set(id, null);
    });
    downloads.onCreated.addListener((item) => this.#downloadBegan(item));
    downloads.onChanged.addListener((change) => this.#downloadChanged(change));
  }

  #isOurs(tabId) {
    return this.#strip.handleOf(tabId) !== null;
  }

  #committed({ tabId, frameId, url }) {
    // For a tab that wakes up, Firefox first sends this event before the page has loaded.
    if (this.#asleep.has(tabId) && !this.#navigations.isLeaving(tabId)) return;
    if (frameId === MAIN) {
      this.#crashed.delete(tabId);
      this.#at.set(tabId, url);
      if (url !== BLANK) this.#settingOut.delete(tabId);
      if (this.#asleep.get(tabId) === null) this.#asleep.delete(tabId); // the person looked at it
      this.#navigations.committed(tabId, url);
    }
    this.#downloads.committed(tabId, url);
    this.#trusted.came(tabId);
    this.#tell("Page.left", { tab: this.#strip.handleOf(tabId), frame: frameId });
    this.#dialogs.left(tabId, frameId === MAIN ? undefined : frameId);
    const isBelow = (one) => frameId === MAIN || one.frameId === frameId;
    this.#failAll(tabId, new Refusal(DOCUMENT_GONE, "the document was left"), isBelow);
    this.#hook(tabId, frameId, url);
  }

  /** A navigation failed. After a crash, Firefox goes to a page of its own that no call expects. */
  #brokeOff({ tabId, url, error }) {
    const at = this.#at.get(tabId);
    if (CRASH_PAGES.test(url) && at !== undefined && !this.#navigations.isExpected(tabId, url)) {
      this.#navigations.began(tabId, null);
      this.#crashed.set(tabId, at);
      this.#failAll(tabId, crashed());
      this.#tell("Page.died", { tab: this.#strip.handleOf(tabId) });
    } else {
      this.#navigations.brokeOff(tabId, url, error);
    }
  }

  async #joined(tabId, isSettingOut) {
    if (isSettingOut) this.#settingOut.add(tabId);
    this.#traffic.watch(tabId);
    const tab = await this.#api.tabs.get(tabId).catch(() => null);
    if (tab?.discarded && this.#isOurs(tabId)) this.#asleep.set(tabId, this.#asleep.get(tabId) ?? null);
    if (tab?.discarded) return;
    const frames = (await this.#api.webNavigation.getAllFrames({ tabId }).catch(() => null)) ?? [];
    for (const { frameId, url } of frames) {
      if (frameId === MAIN) {
        this.#at.set(tabId, this.#at.get(tabId) ?? url);
        // A page opened this tab, and its navigation began before the opener was known.
        if (url === BLANK && tab?.status === "loading") this.#navigations.began(tabId, ANYWHERE);
      }
      if (this.#isOurs(tabId)) await this.#hook(tabId, frameId, url);
    }
    if (tab !== null && tab.url !== BLANK) await this.outlines.show(tabId);
  }

  #left(tabId) {
    this.outlines.hide(tabId);
    this.#dialogs.left(tabId);
    this.#traffic.unwatch(tabId);
    this.#downloads.left(tabId);
    this.#trusted.forget(tabId);
    this.#navigations.forget(tabId);
    this.#failAll(tabId, new Refusal(NO_SUCH_TAB, "There is no such tab."));
    for (const table of [this.#running, this.#crashed, this.#at, this.#before, this.#openers, this.#settingOut, this.#asleep]) table.delete(tabId);
  }

  /** Put our script into a new document, then release the document. So our script runs first. */
  async #hook(tabId, frameId, url) {
    const into = (what) =>
      this.#api.scripting
        .executeScript({ target: { tabId, frameIds: [frameId] }, injectImmediately: true, ...what })
        .catch(() => {}); // one of the browser's own pages, or the document is gone
    await this.#jars.fill(tabId, frameId, into);
    await into({ files: [HOOK] });
    this.#traffic.release(tabId, frameId, url);
  }

  /** Handle a report of `hook.js`. Returns false if the tab is no longer managed. */
  async #pageSaid({ what, level, text, url, line, multiple, origin, items }, { tab, frameId }) {
    const handle = tab ? this.#strip.handleOf(tab.id) : null;
    if (handle === null) return false;
    if (what === "console") this.#tell("Page.console", { tab: handle, level, text, url, line });
    else if (what === "storage") this.#jars.left(tab.id, origin, items);
    else if (what === "chooser") this.#tell("Page.chooser", { tab: handle, frame: frameId, multiple });
    else if (what === "open") this.#openers.set(await this.#strip.spawn(tab.id, url), tab.id);
    return true;
  }

  /** Report a request, unless its tab is no longer managed. */
  #report(method, params) {
    if (params.tab !== null) this.#tell(method, params);
  }

  // --- closing, downloads ----------------------------------------------------------------------

  /** Keep a page that is about to close from asking the person. */
  async #quiet(tabId) {
    const target = { tabId, allFrames: true };
    const asked = this.#api.scripting.executeScript({ target, func: letGo, injectImmediately: true });
    await Promise.race([asked.catch(() => {}), pause(QUIET_MS)]);
  }

  #downloadBegan(item) {
    this.#loading.set(item.id, this.#owned(item));
  }

  async #owned(item) {
    const tabId = await this.#downloads.tabOf(item);
    const tab = tabId === null ? null : this.#strip.handleOf(await this.#staying(tabId));
    if (tab === null) return null;
    this.#navigations.downloaded(tabId, item.url);
    const name = item.filename.split("/").at(-1);
    this.#tell("Downloads.began", { tab, download: String(item.id), url: item.url, name });
    return tab;
  }

  /** Close a tab that was opened only for a download. The download then belongs to its opener. */
  async #staying(tabId) {
    const opener = this.#openers.get(tabId);
    if (opener === undefined || (this.#at.get(tabId) ?? BLANK) !== BLANK) return tabId;
    await this.#strip.call("Tabs.close", { tab: this.#strip.handleOf(tabId) });
    return opener;
  }

  async #downloadChanged({ id, state }) {
    if (!state || state.current === "in_progress") return;
    const tab = (await this.#loading.get(id)) ?? null;
    this.#loading.delete(id);
    if (tab === null) return;
    const [item] = await this.#api.downloads.search({ id });
    const path = state.current === "complete" && item ? item.filename : null;
    this.#tell("Downloads.ended", { tab, download: String(id), path });
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
