// The tabs that currently get input from Firefox's remote agent. Each page shows a beacon meanwhile,
// by which the driver checks that it has the right tab. Firefox counts this input as the person's
// for five seconds (user activation), so file pickers are suppressed for that long.

import { isGivenInput } from "./inpage.js";

const ACTIVATION_MS = 5000; // `dom.user_activation.transient.timeout`

export class TrustedInputTabs {
  #api;
  #tabs = new Map(); // tab id → {beacon, over: promise of the input's end, tell: resolves it}
  #guarded = new Map(); // tab id → {isWhole: all its documents suppress file pickers, timer}

  constructor(api) {
    this.#api = api;
  }

  has(tabId) {
    return this.#tabs.has(tabId);
  }

  async begin(tabId, beacon) {
    this.tellOver(tabId);
    const one = { beacon };
    one.over = new Promise((resolve) => (one.tell = resolve));
    this.#tabs.set(tabId, one);
    await this.#guard(tabId);
  }

  show(tabId, beacon) {
    return this.#api.scripting.insertCSS(style(tabId, beacon));
  }

  /** Resolves when all input was given, or none will follow. */
  over(tabId) {
    return this.#tabs.get(tabId)?.over ?? Promise.resolve();
  }

  /** Take note that all input was given. The page may still be reacting to it. */
  tellOver(tabId) {
    this.#tabs.get(tabId)?.tell();
  }

  async end(tabId, beacon) {
    if (this.#tabs.get(tabId)?.beacon === beacon) {
      this.tellOver(tabId);
      this.#tabs.delete(tabId);
      const guard = this.#guarded.get(tabId);
      if (guard) guard.timer = setTimeout(() => this.#unguard(tabId), ACTIVATION_MS);
    }
    await this.#api.scripting.removeCSS(style(tabId, beacon)).catch(() => {}); // the document is gone
  }

  endAll() {
    for (const [tabId, { beacon }] of [...this.#tabs]) this.end(tabId, beacon);
  }

  /** A new document came, in the tab or in a frame, which does not suppress file pickers yet. */
  came(tabId) {
    const guard = this.#guarded.get(tabId);
    if (guard) guard.isWhole = false;
  }

  /** The tab is gone or the person's again: undo what was set in its page. */
  forget(tabId) {
    this.tellOver(tabId);
    this.#tabs.delete(tabId);
    if (this.#guarded.has(tabId)) this.#unguard(tabId);
  }

  async #guard(tabId) {
    const guard = this.#guarded.get(tabId) ?? { isWhole: false };
    this.#guarded.set(tabId, guard);
    clearTimeout(guard.timer);
    if (guard.isWhole) return;
    guard.isWhole = true; // `came` resets it if a new document comes meanwhile
    if (!(await this.#tellPage(tabId, true))) guard.isWhole = false;
  }

  #unguard(tabId) {
    clearTimeout(this.#guarded.get(tabId).timer);
    this.#guarded.delete(tabId);
    return this.#tellPage(tabId, false);
  }

  /** Set the state in all documents of the tab. Returns whether all of them took it. */
  async #tellPage(tabId, isIt) {
    const target = { tabId, allFrames: true };
    const told = this.#api.scripting.executeScript({ target, func: isGivenInput, args: [isIt], injectImmediately: true });
    const answers = await told.catch(() => [{}]); // a frame went away meanwhile
    return answers.every(({ result }) => result === true);
  }
}

/** The beacon's style. It has the origin USER, so it is in no style sheet that the page can list, and
 * the page cannot guess the property's name. */
function style(tabId, beacon) {
  return { target: { tabId, frameIds: [0] }, origin: "USER", css: `:root { --roost-${beacon}: 1 }` };
}
