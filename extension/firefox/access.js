// Whether the person lets Roost work on pages. Firefox asks them when the extension comes; they can
// take it away at any time (about:addons) and give it back, and a Firefox that is killed in its
// first moments with the extension has lost it. Pages that no extension may touch are another matter.

import { Refusal } from "../link.js";

export const NOT_ALLOWED = 427;
export const PAGES = { origins: ["<all_urls>"] };

export class Access {
  #api;
  #changed;
  #isAllowed = null;
  #asked;

  /** changed(isAllowed): at first, and whenever the person changes their mind. */
  constructor(api, changed) {
    this.#api = api;
    this.#changed = changed;
    this.#asked = this.#look();
    for (const event of [api.permissions.onAdded, api.permissions.onRemoved])
      event.addListener(() => this.lookAgain());
  }

  /** Refused unless pages may be worked on. */
  async check() {
    await this.#asked;
    if (!this.#isAllowed) throw new Refusal(NOT_ALLOWED, "pages are not allowed");
  }

  /** What a script that was not let in has to ask: the browser tells of it a little later. */
  lookAgain() {
    this.#asked = this.#asked.then(() => this.#look());
    return this.#asked;
  }

  async #look() {
    const isAllowed = await this.#api.permissions.contains(PAGES);
    if (isAllowed === this.#isAllowed) return;
    this.#isAllowed = isAllowed;
    this.#changed(isAllowed);
  }
}
