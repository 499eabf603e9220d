// Pages of Chromium: CDP through chrome.debugger, in tabs of managed groups and in no others.
//
// A tab is attached when the broker asks for it, which Chrome shows on every tab, and let go when
// the broker asks, when the broker is gone for good, or when the tab leaves its group. Toward the
// broker a tab's session has the tab's handle for its id, and what is attached below it (frames of
// other sites, workers) "<handle>/<its id>"; attaching and detaching are told as CDP tells them,
// so that the host can hand them to the next broker.

import { NO_SUCH_TAB, Refusal } from "./link.js";
import { paint } from "./mark.js";
import { Marks } from "./marks.js";

const PROTOCOL = "1.3";
const BLANK = "about:blank";
const ATTACHED = "Target.attachedToTarget";
const DETACHED = "Target.detachedFromTarget";
const CUT_OFF = /^Detached while handling command/;
const CUT_OFF_MS = 1000; // within this, Chrome says why
const PICTURES = new Set(["Page.captureScreenshot", "Page.printToPDF"]);
const WORLD = "roost"; // the driver's own, so that a page has no third one

export class Debugger {
  #api;
  #strip;
  #tell;
  #heardIn;
  #attached = new Map(); // tab id → its handle
  #worlds = new Map(); // tab id → {frameId, contextId: of our world in its main frame, if known}
  #attaching = new Map(); // tab id → a promise
  #releasing = new Map(); // tab id → a promise
  #cutOff = new Map(); // tab id → what waits to hear that it was let go

  /**
   * strip   knows which tabs are in managed groups: tabOf(handle) or a refusal, handleOf(id) or null
   * tell    (method, params, sessionId?)
   * said    (what, key): the person's word
   * heard   (handle, method, params): every event of a tab's own session, before it is told
   */
  constructor(api, strip, { tell, said = () => {}, heard = () => {} }) {
    this.#api = api;
    this.#strip = strip;
    this.#tell = tell;
    this.#heardIn = heard;
    this.marks = new Marks(api.storage, strip, (tabId, look) => this.#paint(tabId, look));
    api.debugger.onEvent.addListener((...event) => this.#heard(...event));
    api.debugger.onDetach.addListener(({ tabId }, reason) => {
      const wasCancelled = reason === "canceled_by_user";
      // Cancel on Chrome's bar: the person wants the agents' hands off.
      if (wasCancelled && this.#attached.has(tabId)) said("pause", null);
      this.#gone(tabId, reason);
    });
  }

  /** The browser-level commands of the link; undefined for words that are not ours. */
  call(method, { tab, leave }) {
    return {
      "Debugger.attach": () => this.#attach(tab, leave),
      "Debugger.detach": () => this.#release(this.#strip.tabOf(tab)),
    }[method]?.();
  }

  /** A command in a tab's session, or in one below it. */
  async command(method, params, session) {
    const [handle, below] = split(session);
    const tabId = this.#strip.tabOf(handle);
    if (!this.#attached.has(tabId)) throw noSuchTab();
    const target = below === undefined ? { tabId } : { tabId, sessionId: below };
    const send = () => this.#api.debugger.sendCommand(target, method, params);
    const spot = spotOf(method, params);
    if (spot !== null) this.marks.glow(tabId, spot);
    try {
      return await (PICTURES.has(method) ? this.marks.without(tabId, send) : send());
    } catch (problem) {
      if (CUT_OFF.test(problem?.message)) await this.#untilGone(tabId);
      throw asCdp(problem);
    }
  }

  /** That the tab was let go, and why, is told before what was cut off by it is answered. */
  async #untilGone(tabId) {
    if (!this.#attached.has(tabId)) return;
    const late = new Promise((resolve) => setTimeout(resolve, CUT_OFF_MS));
    const gone = new Promise((resolve) => {
      this.#cutOff.set(tabId, [...(this.#cutOff.get(tabId) ?? []), resolve]);
    });
    await Promise.race([gone, late]);
  }

  /** Let go of all that is no longer in a managed group. */
  sweep() {
    for (const [tabId, handle] of this.#attached)
      if (this.#strip.handleOf(tabId) !== handle) this.#release(tabId);
    this.marks.refresh();
  }

  async releaseAll() {
    await Promise.all([...this.#attached.keys()].map((tabId) => this.#release(tabId)));
  }

  async #release(tabId) {
    if (this.#attached.has(tabId)) {
      const released = this.#unmarkAndDetach(tabId).finally(() => this.#releasing.delete(tabId));
      this.#releasing.set(tabId, released);
      this.#gone(tabId);
    }
    await this.#releasing.get(tabId);
    return {};
  }

  async #unmarkAndDetach(tabId) {
    await this.marks.hide(tabId);
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
    // One that the browser discards comes back under another id.
    await this.#api.tabs.update(tabId, { autoDiscardable: false });
    try {
      await this.#api.debugger.attach({ tabId }, PROTOCOL);
    } catch (problem) {
      // The browser's own pages, a new tab's among them, cannot be attached; but they can be left.
      if (!leave) throw problem;
      await this.#blank(tabId);
      await this.#api.debugger.attach({ tabId }, PROTOCOL);
    }
    const targets = await this.#api.debugger.getTargets();
    if (this.#strip.handleOf(tabId) !== handle) {
      // It was dragged out while Chrome attached it.
      await this.#api.debugger.detach({ tabId }).catch(() => {});
      throw noSuchTab();
    }
    this.#attached.set(tabId, handle);
    const { id: targetId, url } = targets.find((one) => one.tabId === tabId && one.type === "page");
    this.#worlds.set(tabId, { frameId: targetId });
    this.marks.show(tabId);
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
      if (method === "Page.domContentEventFired") this.marks.show(tabId);
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
    this.marks.forget(tabId);
    this.#attached.delete(tabId);
  }
}

function split(session) {
  const at = session.indexOf("/");
  return at < 0 ? [session] : [session.slice(0, at), session.slice(at + 1)];
}

/** Where a command puts a hand: [x, y], "focus", or null. Every click begins with a move. */
function spotOf(method, { type, x, y, buttons }) {
  if (method === "Input.dispatchMouseEvent" && type === "mouseMoved" && !buttons) return [x, y];
  const isKey = method === "Input.dispatchKeyEvent" && type !== "keyUp";
  return isKey || method === "Input.insertText" ? "focus" : null;
}

function noSuchTab() {
  return new Refusal(NO_SUCH_TAB, "There is no such tab.");
}

/** Chrome gives CDP's own error as JSON in a message. */
function asCdp(problem) {
  const text = String(problem?.message ?? problem);
  try {
    const { code, message, data } = JSON.parse(text);
    return new Refusal(code, data ? `${message}: ${data}` : message);
  } catch {
    return new Refusal(-32000, text);
  }
}
