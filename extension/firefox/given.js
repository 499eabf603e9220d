// Tabs that Firefox's remote agent gives input just now, each under a mark that its page shows. Such
// input looks like the person's: so no window to choose files in opens before them meanwhile.

import { isGivenInput } from "./inpage.js";

export class Given {
  #api;
  #tabs = new Map(); // tab id → {mark, over, tell}: a promise that all was given, and how to keep it

  constructor(api) {
    this.#api = api;
  }

  has(tabId) {
    return this.#tabs.has(tabId);
  }

  begin(tabId, mark) {
    this.forget(tabId);
    const one = { mark };
    one.over = new Promise((resolve) => (one.tell = resolve));
    this.#tabs.set(tabId, one);
    return this.#tellPage(tabId, true);
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
    const ended = [this.#api.scripting.removeCSS(style(tabId, mark))];
    if (this.#tabs.get(tabId)?.mark === mark) {
      this.forget(tabId);
      ended.push(this.#tellPage(tabId, false));
    }
    await Promise.allSettled(ended);
  }

  endAll() {
    for (const [tabId, { mark }] of [...this.#tabs]) this.end(tabId, mark);
  }

  /** The tab is gone, or not ours any more. */
  forget(tabId) {
    this.tellOver(tabId);
    this.#tabs.delete(tabId);
  }

  async #tellPage(tabId, isIt) {
    const target = { tabId, allFrames: true };
    const told = this.#api.scripting.executeScript({ target, func: isGivenInput, args: [isIt], injectImmediately: true });
    await told.catch(() => {}); // a frame is gone again
  }
}

/** Of the person's, not the page's: no script of the page finds a property whose name it does not
 * know. */
function style(tabId, mark) {
  return { target: { tabId, frameIds: [0] }, origin: "USER", css: `:root { --roost-${mark}: 1 }` };
}
