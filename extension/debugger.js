// Pages of Chromium: CDP through chrome.debugger, only in tabs of managed groups.
//
// The broker asks to attach a tab, and Chrome then shows a bar on every tab. A tab is detached when
// the broker asks, when the broker stays away, or when the tab leaves its group. For the broker, a
// tab's session id is the tab's handle. Sessions below it (frames of other sites, workers) have
// "<handle>/<CDP's id>". Attaching and detaching are reported as CDP events, so that the host can
// hand the sessions to the next broker.

import { NO_SUCH_TAB, Refusal } from "./link.js";
import { paint } from "./outline.js";
import { Outlines } from "./outlines.js";

const PROTOCOL = "1.3";
const BLANK = "about:blank";
const ATTACHED = "Target.attachedToTarget";
const DETACHED = "Target.detachedFromTarget";
const CUT_OFF = /^Detached while handling command/;
const CUT_OFF_MS = 1000; // Chrome reports a detachment within this time after it failed a command
const PICTURES = new Set(["Page.captureScreenshot", "Page.printToPDF"]);
const WORLD = "roost"; // the same isolated world as the driver's, so that a page gets only one

export class Debugger {
  #api;
  #strip;
  #tell;
  #heardIn;
  #attached = new Map(); // tab id → its handle
  #worlds = new Map(); // tab id → {frameId, contextId: of our world in its main frame, if known}
  #attaching = new Map(); // tab id → a promise
  #releasing = new Map(); // tab id → a promise
  #cutOff = new Map(); // tab id → functions that resolve commands waiting for the detachment

  /**
   * strip   knows the tabs of managed groups: tabOf(handle) or a refusal, handleOf(id) or null
   * tell    (method, params, sessionId?): sends an event to the broker
   * said    (what, key): reports a command of the person, such as "pause"
   * heard   (handle, method, params): called with every event of a tab's own session, before `tell`
   */
  constructor(api, strip, { tell, said = () => {}, heard = () => {} }) {
    this.#api = api;
    this.#strip = strip;
    this.#tell = tell;
    this.#heardIn = heard;
    this.outlines = new Outlines(api.storage, strip, (tabId, look) => this.#paint(tabId, look));
    api.debugger.onEvent.addListener((...event) => this.#heard(...event));
    api.debugger.onDetach.addListener(({ tabId }, reason) => {
      const wasCancelled = reason === "canceled_by_user";
      // The person pressed Cancel on Chrome's bar, so pause all sessions.
      if (wasCancelled && this.#attached.has(tabId)) said("pause", null);
      this.#gone(tabId, reason);
    });
  }

  /** Run a browser-level command of the broker; undefined for methods of other parts. */
  call(method, { tab, leave }) {
    return {
      "Debugger.attach": () => this.#attach(tab, leave),
      "Debugger.detach": () => this.#release(this.#strip.tabOf(tab)),
    }[method]?.();
  }

  /** Run a command in a tab's session, or in one below it. */
  async command(method, params, session) {
    const [handle, below] = split(session);
    const tabId = this.#strip.tabOf(handle);
    if (!this.#attached.has(tabId)) throw noSuchTab();
    const target = below === undefined ? { tabId } : { tabId, sessionId: below };
    const send = () => this.#api.debugger.sendCommand(target, method, params);
    const spot = spotOf(method, params);
    if (spot !== null) this.outlines.glow(tabId, spot);
    try {
      return await (PICTURES.has(method) ? this.outlines.without(tabId, send) : send());
    } catch (problem) {
      if (CUT_OFF.test(problem?.message)) await this.#untilGone(tabId);
      throw asCdp(problem);
    }
  }

  /** Wait for the detachment that failed a command, so that the broker hears why before it gets the
   * command's error. */
  async #untilGone(tabId) {
    if (!this.#attached.has(tabId)) return;
    const late = new Promise((resolve) => setTimeout(resolve, CUT_OFF_MS));
    const gone = new Promise((resolve) => {
      this.#cutOff.set(tabId, [...(this.#cutOff.get(tabId) ?? []), resolve]);
    });
    await Promise.race([gone, late]);
  }

  /** Detach all tabs that are no longer in a managed group. */
  sweep() {
    for (const [tabId, handle] of this.#attached)
      if (this.#strip.handleOf(tabId) !== handle) this.#release(tabId);
    this.outlines.refresh();
  }

  async releaseAll() {
    await Promise.all([...this.#attached.keys()].map((tabId) => this.#release(tabId)));
  }

  async #release(tabId) {
    if (this.#attached.has(tabId)) {
      const released = this.#removeOutlineAndDetach(tabId).finally(() => this.#releasing.delete(tabId));
      this.#releasing.set(tabId, released);
      this.#gone(tabId);
    }
    await this.#releasing.get(tabId);
    return {};
  }

  async #removeOutlineAndDetach(tabId) {
    await this.outlines.hide(tabId);
    await this.#api.debugger.detach({ tabId }).catch(() => {});
  }

  async #attach(handle, leave) {
    const tabId = this.#strip.tabOf(handle);
    if (this.#attached.has(tabId)) return {};
    if (!this.#attaching.has(tabId)) {
      const attaching = this.#attachNow(tabId, handle, leave);
      this.#attaching.set(tabId, attaching.finally(() => this.#attaching.delete(tabId)));
    }
    await this.#attaching.get(tabId);
    return {};
  }

  async #attachNow(tabId, handle, leave) {
    await this.#releasing.get(tabId);
    // A tab that the browser discards comes back under another id.
    await this.#api.tabs.update(tabId, { autoDiscardable: false });
    try {
      await this.#api.debugger.attach({ tabId }, PROTOCOL);
    } catch (problem) {
      // Chrome attaches to none of its own pages, such as the new tab page. Navigate away first.
      if (!leave) throw problem;
      await this.#blank(tabId);
      await this.#api.debugger.attach({ tabId }, PROTOCOL);
    }
    const targets = await this.#api.debugger.getTargets();
    if (this.#strip.handleOf(tabId) !== handle) {
      // The person dragged the tab out of its group while Chrome attached it.
      await this.#api.debugger.detach({ tabId }).catch(() => {});
      throw noSuchTab();
    }
    this.#attached.set(tabId, handle);
    const { id: targetId, url } = targets.find((one) => one.tabId === tabId && one.type === "page");
    this.#worlds.set(tabId, { frameId: targetId });
    this.outlines.show(tabId);
    const targetInfo = { targetId, type: "page", url };
    this.#tell(ATTACHED, { sessionId: handle, targetInfo, waitingForDebugger: false });
  }

  async #blank(tabId) {
    const { onUpdated } = this.#api.tabs;
    const isBlank = new Promise((resolve) => {
      onUpdated.addListener(function look(id, _, { status, url }) {
        if (id !== tabId || status !== "complete" || url !== BLANK) return;
        onUpdated.removeListener(look);
        resolve();
      });
    });
    await this.#api.tabs.update(tabId, { url: BLANK });
    await isBlank;
  }

  #heard({ tabId, sessionId: below }, method, params = {}) {
    const handle = this.#attached.get(tabId);
    if (handle === undefined || this.#strip.handleOf(tabId) !== handle) return;
    if (below === undefined) {
      this.#heardIn(handle, method, params);
      const isNew = method === "Page.frameNavigated" && params.frame.parentId === undefined;
      if (isNew || method === "Runtime.executionContextsCleared") this.#worlds.get(tabId).contextId = undefined;
      if (method === "Page.domContentEventFired") this.outlines.show(tabId);
    }
    const isOfTargets = method === ATTACHED || method === DETACHED;
    const said = isOfTargets ? { ...params, sessionId: `${handle}/${params.sessionId}` } : params;
    this.#tell(method, said, below === undefined ? handle : `${handle}/${below}`);
  }

  async #paint(tabId, look) {
    const send = (method, params) => this.#api.debugger.sendCommand({ tabId }, method, params);
    const world = this.#worlds.get(tabId);
    if (world.contextId === undefined) {
      const made = await send("Page.createIsolatedWorld", { frameId: world.frameId, worldName: WORLD });
      world.contextId = made.executionContextId;
    }
    const expression = `(${paint})(${JSON.stringify(look)})`;
    await send("Runtime.evaluate", { expression, contextId: world.contextId, silent: true });
  }

  #gone(tabId, reason = "released") {
    const handle = this.#attached.get(tabId);
    if (handle !== undefined) this.#tell(DETACHED, { sessionId: handle, reason });
    for (const answer of this.#cutOff.get(tabId) ?? []) answer();
    this.#cutOff.delete(tabId);
    this.#worlds.delete(tabId);
    this.outlines.forget(tabId);
    this.#attached.delete(tabId);
  }
}

function split(session) {
  const at = session.indexOf("/");
  return at < 0 ? [session] : [session.slice(0, at), session.slice(at + 1)];
}

/** Where a command acts: [x, y], "focus", or null. Every click begins with a move. */
function spotOf(method, { type, x, y, buttons }) {
  if (method === "Input.dispatchMouseEvent" && type === "mouseMoved" && !buttons) return [x, y];
  const isKey = method === "Input.dispatchKeyEvent" && type !== "keyUp";
  return isKey || method === "Input.insertText" ? "focus" : null;
}

function noSuchTab() {
  return new Refusal(NO_SUCH_TAB, "There is no such tab.");
}

/** Return the CDP error that Chrome puts as JSON into the exception's message. */
function asCdp(problem) {
  const text = String(problem?.message ?? problem);
  try {
    const { code, message, data } = JSON.parse(text);
    return new Refusal(code, data ? `${message}: ${data}` : message);
  } catch {
    return new Refusal(-32000, text);
  }
}
