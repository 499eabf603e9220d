// The background's side of the popup page: it sends the popup its state and receives the person's
// commands.
//
// A popup connects by a port and gets the whole state at once and at every change. The browser may
// have put this worker to sleep; the popup's connection wakes it. The last panel is kept in session
// storage, so that the popup is not empty then. Commands go to the broker only while one is linked.
// Without a broker, the popup can change only the switch of the outlines.

import { SWITCH } from "./outlines.js";

export const POPUP = "popup";
const KEPT = "panel";
const LINKED = "linked";

export class PanelDesk {
  #api;
  #tell;
  #link = { state: "starting" };
  #panel = null;
  #isAllowed = true;
  #isOutlining = true;
  #popups = new Set();

  /** tell(method, params): sends an event to the broker. */
  constructor(api, tell) {
    this.#api = api;
    this.#tell = tell;
    this.ready = this.#remember();
    api.runtime.onConnect.addListener((port) => {
      if (port.name === POPUP) this.#opened(port);
    });
    api.storage.local.onChanged.addListener((changes) => {
      if (changes[SWITCH]) this.#outlining(changes[SWITCH].newValue);
    });
  }

  /** Show this panel, which the broker sent. */
  async show(panel) {
    this.#panel = panel;
    this.#showAll();
    await this.#api.storage.session.set({ [KEPT]: panel });
  }

  /** Take note of the link's state. */
  changed(link) {
    this.#link = link;
    this.#showAll();
  }

  /** Take note whether the person lets the extension work on pages. */
  allowed(isAllowed) {
    this.#isAllowed = isAllowed;
    this.#showAll();
  }

  async #remember() {
    const kept = await this.#api.storage.session.get(KEPT);
    this.#panel ??= kept[KEPT] ?? null;
    this.#outlining((await this.#api.storage.local.get(SWITCH))[SWITCH]);
  }

  #outlining(isOn = true) {
    this.#isOutlining = isOn;
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
    return { link: this.#link, panel, isAllowed: this.#isAllowed, isOutlining: this.#isOutlining };
  }

  #showAll() {
    const state = this.#state();
    for (const port of this.#popups) port.postMessage(state);
    const { questions: consents = [], groups = [] } = state.panel ?? {};
    const questions = consents.length + groups.filter(({ question }) => question).length;
    const text = this.#isAllowed ? String(questions || "") : "!";
    this.#api.action?.setBadgeText({ text });
  }
}
