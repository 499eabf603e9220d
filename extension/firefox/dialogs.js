// alert, confirm and prompt of owned tabs, for whoever works in them to answer.
//
// Their page has to stand still meanwhile, and all that a script can stand still for is the answer to
// a request: so it makes one (`hook.js`), which is held here and goes nowhere. Scripts of ours still
// run in that page. A dialog that nobody may answer any more is the browser's, and so the person's.

const MAX_CHARS = 10_000;

/** What pages ask for; nobody can be there. */
export const WAITING_ROOM = "https://roost-dialog.invalid/";

export class Dialogs {
  #api;
  #tell;
  #handleOf;
  #open = new Map(); // tab id → dialogs {frameId, kind, message, default, end}; the first one stands

  constructor(api, { tell, handleOf }) {
    this.#api = api;
    this.#tell = tell;
    this.#handleOf = handleOf;
  }

  /** A page waits; resolves, to what becomes of its request, when it need not wait any more. */
  asked({ tabId, frameId, url }) {
    const said = new URL(url).searchParams;
    const text = (name) => (said.get(name) ?? "").slice(0, MAX_CHARS);
    const dialog = { frameId, kind: text("kind"), message: text("message"), default: text("default") };
    const over = new Promise((resolve) => (dialog.end = () => resolve({ cancel: true })));
    const all = this.#open.get(tabId) ?? [];
    this.#open.set(tabId, [...all, dialog]);
    if (!all.length) this.#show(tabId);
    return over;
  }

  /** {isOpen: false} where none stands. */
  async answer(tabId, { accept, text }) {
    const [dialog] = this.#open.get(tabId) ?? [];
    if (!dialog) return { isOpen: false };
    const target = { tabId, frameIds: [dialog.frameId] };
    const args = [{ accept, text: text ?? dialog.default }];
    await this.#api.scripting.executeScript({ target, func: answered, args, injectImmediately: true }).catch(() => {});
    this.#end(tabId, (one) => one === dialog);
    return { isOpen: true };
  }

  /** The page, or one frame of it, is not there any more, or not ours. */
  left(tabId, frameId) {
    this.#end(tabId, (one) => frameId === undefined || one.frameId === frameId);
  }

  /** Nobody is there to answer: the person is asked. */
  handBack() {
    for (const tabId of [...this.#open.keys()]) this.left(tabId);
  }

  tellAgain() {
    for (const tabId of this.#open.keys()) this.#show(tabId);
  }

  #show(tabId) {
    const [{ kind, message, default: text }] = this.#open.get(tabId);
    const tab = this.#handleOf(tabId);
    if (tab !== null) this.#tell("Page.dialog", { tab, kind, message, default: text });
  }

  #end(tabId, fits) {
    const all = this.#open.get(tabId) ?? [];
    const over = all.filter(fits);
    if (!over.length) return;
    const rest = all.filter((one) => !fits(one));
    if (rest.length) this.#open.set(tabId, rest);
    else this.#open.delete(tabId);
    const tab = this.#handleOf(tabId);
    if (over.includes(all[0]) && tab !== null) this.#tell("Page.dialogOver", { tab });
    for (const one of over) one.end();
    if (rest.length && over.includes(all[0])) this.#show(tabId);
  }
}

/** Run in the page, which reads it as soon as it goes on. */
function answered(answer) {
  globalThis.__roostAnswer = answer;
}
