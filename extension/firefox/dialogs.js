// alert, confirm and prompt of managed tabs, which the broker answers.
//
// The page must block until the answer comes, and the only thing that blocks a script is a
// synchronous request. So `hook.js` makes one, which is held here and never leaves the browser. The
// extension's scripts still run in a page that is blocked like this. If the broker can no longer
// answer a dialog, the request ends without an answer, and `hook.js` opens the browser's own dialog
// for the person.

const MAX_CHARS = 10_000;

/** The address of those requests. No server can have a name under `.invalid`. */
export const WAITING_ROOM = "https://roost-dialog.invalid/";

export class Dialogs {
  #api;
  #tell;
  #handleOf;
  #open = new Map(); // tab id → dialogs {frameId, kind, message, default, end}, the first one shown

  constructor(api, { tell, handleOf }) {
    this.#api = api;
    this.#tell = tell;
    this.#handleOf = handleOf;
  }

  /** Open a dialog for a page's request. Resolves, to cancel the request, when the dialog is over. */
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

  /** Answer the tab's first dialog. Returns {isOpen: false} if there is none. */
  async answer(tabId, { accept, text }) {
    const [dialog] = this.#open.get(tabId) ?? [];
    if (!dialog) return { isOpen: false };
    const target = { tabId, frameIds: [dialog.frameId] };
    const args = [{ accept, text: text ?? dialog.default }];
    await this.#api.scripting.executeScript({ target, func: answered, args, injectImmediately: true }).catch(() => {});
    this.#end(tabId, (one) => one === dialog);
    return { isOpen: true };
  }

  /** End the dialogs of a tab, or of one frame, that is gone or no longer managed. */
  left(tabId, frameId) {
    this.#end(tabId, (one) => frameId === undefined || one.frameId === frameId);
  }

  /** End all dialogs, because no broker is there: the browser then asks the person. */
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

/** Runs in the page. `hook.js` reads the answer when its request ends. */
function answered(answer) {
  globalThis.__roostAnswer = answer;
}
