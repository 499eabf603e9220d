// Tabs that Firefox's remote agent gives input just now, each under a mark that its page shows. Such
// input looks like the person's, and what pages may do because of it they may do for five seconds: as
// long no window to choose files in opens before the person.

import { isGivenInput } from "./inpage.js";

const ACTIVATION_MS = 5000; // `dom.user_activation.transient.timeout`

export class Given {
  #api;
  #tabs = new Map(); // tab id → {mark, over, tell}: a promise that all was given, and how to keep it
  #guarded = new Map(); // tab id → {isWhole: all its documents know, timer}

  constructor(api) {
    this.#api = api;
  }

  has(tabId) {
    return this.#tabs.has(tabId);
  }

  async begin(tabId, mark) {
    this.tellOver(tabId);
    const one = { mark };
    one.over = new Promise((resolve) => (one.tell = resolve));
    this.#tabs.set(tabId, one);
    await this.#guard(tabId);
  }

  show(tabId, mark) {
    return this.#api.scripting.insertCSS(style(tabId, mark));
  }

  /** Until all was given, or none will be. */
  over(tabId) {
    return this.#tabs.get(tabId)?.over ?? Promise.resolve();
  }

  /** All was given; what the page does about it goes on. */
  tellOver(tabId) {
    this.#tabs.get(tabId)?.tell();
  }

  async end(tabId, mark) {
    if (this.#tabs.get(tabId)?.mark === mark) {
      this.tellOver(tabId);
      this.#tabs.delete(tabId);
      const guard = this.#guarded.get(tabId);
      if (guard) guard.timer = setTimeout(() => this.#unguard(tabId), ACTIVATION_MS);
    }
    await this.#api.scripting.removeCSS(style(tabId, mark)).catch(() => {}); // with its document
  }

  endAll() {
    for (const [tabId, { mark }] of [...this.#tabs]) this.end(tabId, mark);
  }

  /** A document came, in that tab or in a frame of it, which knows of nothing. */
  came(tabId) {
    const guard = this.#guarded.get(tabId);
    if (guard) guard.isWhole = false;
  }

  /** The tab is gone, or the person's: what was put there is taken out again. */
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
    guard.isWhole = true; // unless another comes meanwhile
    if (!(await this.#tellPage(tabId, true))) guard.isWhole = false;
  }

  #unguard(tabId) {
    clearTimeout(this.#guarded.get(tabId).timer);
    this.#guarded.delete(tabId);
    return this.#tellPage(tabId, false);
  }

  /** Whether all its documents have understood. */
  async #tellPage(tabId, isIt) {
    const target = { tabId, allFrames: true };
    const told = this.#api.scripting.executeScript({ target, func: isGivenInput, args: [isIt], injectImmediately: true });
    const answers = await told.catch(() => [{}]); // a frame is gone again
    return answers.every(({ result }) => result === true);
  }
}

/** Of the person's, not the page's: no script of the page finds a property whose name it does not
 * know. */
function style(tabId, mark) {
  return { target: { tabId, frameIds: [0] }, origin: "USER", css: `:root { --roost-${mark}: 1 }` };
}
