// The mark on pages of managed tabs, for as long as they are that; the person may switch it off
// (`mark: false` in the extension's storage).

import { MARKED, mark, unmark } from "../mark.js";

export class Marks {
  #api;
  #colorOf;
  #isOn = true;
  #marked = new Set(); // tab ids

  constructor(api, colorOf) {
    this.#api = api;
    this.#colorOf = colorOf;
    api.storage.local.get("mark").then(({ mark: isOn = true }) => (this.#isOn = isOn));
    api.storage.local.onChanged.addListener((changes) => {
      if (changes.mark) this.#isOn = changes.mark.newValue !== false;
    });
  }

  async show(tabId) {
    const color = this.#colorOf(tabId);
    if (!this.#isOn || color === null) return;
    this.#marked.add(tabId);
    await this.#run(tabId, mark, [color, MARKED]);
  }

  /** Also from a page that is the person's again: it was ours to put there. */
  async hide(tabId) {
    if (this.#marked.delete(tabId)) await this.#run(tabId, unmark, [MARKED]);
  }

  /** What `take` makes is made without it. */
  async without(tabId, take) {
    const wasMarked = this.#marked.has(tabId);
    if (wasMarked) await this.hide(tabId);
    try {
      return await take();
    } finally {
      if (wasMarked) await this.show(tabId);
    }
  }

  async #run(tabId, func, args) {
    await this.#api.scripting.executeScript({ target: { tabId }, func, args, injectImmediately: true }).catch(() => {});
  }
}
