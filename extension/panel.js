// The popup page's other half, in the background: what it is shown, and what the person says there.
//
// A popup connects by a port and is told everything at once and whenever it changes. The browser may
// have put this worker to sleep meanwhile: connecting wakes it, and the last panel is kept in the
// storage of the session, so nobody looks at an empty page. What is said goes to the broker only
// while there is one: before, the popup offers nothing to press but the switch of the mark.

import { SWITCH } from "./marks.js";

export const POPUP = "popup";
const KEPT = "panel";
const LINKED = "linked";

export class PanelDesk {
  #api;
  #tell;
  #link = { state: "starting" };
  #panel = null;
  #isAllowed = true;
  #isMarking = true;
  #popups = new Set();

  /** tell(method, params): says something to the broker. */
  constructor(api, tell) {
    this.#api = api;
    this.#tell = tell;
    this.ready = this.#remember();
    api.runtime.onConnect.addListener((port) => {
      if (port.name === POPUP) this.#opened(port);
    });
    api.storage.local.onChanged.addListener((changes) => {
      if (changes[SWITCH]) this.#marking(changes[SWITCH].newValue);
    });
  }

  /** The broker's word: what to show from now on. */
  async show(panel) {
    this.#panel = panel;
    this.#showAll();
    await this.#api.storage.session.set({ [KEPT]: panel });
  }

  /** How things are with the link. */
  changed(link) {
    this.#link = link;
    this.#showAll();
  }

  /** Whether the person lets us work on pages. */
  allowed(isAllowed) {
    this.#isAllowed = isAllowed;
    this.#showAll();
  }

  async #remember() {
    const kept = await this.#api.storage.session.get(KEPT);
    this.#panel ??= kept[KEPT] ?? null;
    this.#marking((await this.#api.storage.local.get(SWITCH))[SWITCH]);
  }

  #marking(isOn = true) {
    this.#isMarking = isOn;
    this.#showAll();
  }

  #opened(port) {
    this.#popups.add(port);
    port.onDisconnect.addListener(() => this.#popups.delete(port));
    port.onMessage.addListener((message) => this.#heard(message));
    port.postMessage(this.#state());
  }

  #heard({ said, answered, mark }) {
    if (mark !== undefined) this.#api.storage.local.set({ [SWITCH]: mark });
    if (this.#link.state !== LINKED) return;
    if (said !== undefined) this.#tell("Person.said", said);
    if (answered !== undefined) this.#tell("Person.answered", answered);
  }

  #state() {
    const panel = this.#link.state === LINKED ? this.#panel : null;
    return { link: this.#link, panel, isAllowed: this.#isAllowed, isMarking: this.#isMarking };
  }

  #showAll() {
    const state = this.#state();
    for (const port of this.#popups) port.postMessage(state);
    const questions = state.panel?.questions.length ?? 0;
    const text = this.#isAllowed ? String(questions || "") : "!";
    this.#api.action?.setBadgeText({ text });
  }
}
