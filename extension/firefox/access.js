// The person's permission for Roost to work on pages. Firefox asks for it when the extension is
// installed. The person can take it away at any time (about:addons) and give it back. A Firefox
// that is killed right after the installation loses it. Pages that Firefox opens to no extension
// are handled elsewhere.

import { Refusal } from "../link.js";

export const NOT_ALLOWED = 427;
export const PAGES = { origins: ["<all_urls>"] };

export class Access {
  #api;
  #changed;
  #isAllowed = null;
  #asked;

  /** changed(isAllowed): called once at the start and at every change of the permission. */
  constructor(api, changed) {
    this.#api = api;
    this.#changed = changed;
    this.#asked = this.#look();
    for (const event of [api.permissions.onAdded, api.permissions.onRemoved])
      event.addListener(() => this.lookAgain());
  }

  /** Throws a refusal without the permission. */
  async check() {
    await this.#asked;
    if (!this.#isAllowed) throw new Refusal(NOT_ALLOWED, "pages are not allowed");
  }

  /** Check again. Call this when Firefox refused a script, because its event comes later. */
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
