// Whose a download is. Firefox tells neither its tab nor its request: it is the one of the page that
// asked for that address, in that jar. Where two pages of different tabs could be meant, the one that
// was let go on to it; where there is still doubt, it is nobody's of ours.

const ASKED = 100;
const TURN_MS = 2000; // a person who is asked where to put it takes longer
const FILE = /^\s*attachment/i;

export class Downloads {
  #api;
  #tabsOf; // the tabs of ours in a jar
  #asks = []; // {id, tabId, frameId, jar, url, from, isFile, isLetGo, over: promise, end}

  constructor(api, tabsOf) {
    this.#api = api;
    this.#tabsOf = tabsOf;
  }

  /** A document was asked for; once more for each address it is sent on to. */
  asked({ requestId, tabId, frameId, url, originUrl, cookieStoreId }) {
    const known = this.#asks.find(({ id }) => id === requestId);
    if (known) return void (known.url = plain(url));
    // A frame is on its way to one document at a time; what came as a file is on its own way.
    this.#dropAll((one) => one.tabId === tabId && one.frameId === frameId && !one.isFile);
    const where = { tabId, frameId, jar: cookieStoreId, url: plain(url), from: originUrl };
    const ask = { id: requestId, ...where, isFile: false, isLetGo: true };
    ask.over = new Promise((resolve) => (ask.end = resolve));
    this.#asks.push(ask);
    if (this.#asks.length > ASKED) this.#drop(this.#asks[0]);
  }

  /** Its answer is there. Resolves when it may go on: files of one address go one after the other. */
  async answered({ requestId, responseHeaders = [] }) {
    const ask = this.#asks.find(({ id }) => id === requestId);
    if (!ask || !isFile(responseHeaders)) return;
    Object.assign(ask, { isFile: true, isLetGo: false });
    const isAhead = (one) => one.isFile && one.isLetGo && one.tabId !== ask.tabId && isSame(one, ask);
    const late = new Promise((resolve) => setTimeout(resolve, TURN_MS, "late"));
    let ahead = this.#asks.find(isAhead);
    while (ahead && (await Promise.race([ahead.over, late])) !== "late") ahead = this.#asks.find(isAhead);
    ask.isLetGo = true;
  }

  failed({ requestId }) {
    this.#dropAll(({ id }) => id === requestId);
  }

  /** What was asked for was a document after all. */
  committed(tabId, url) {
    this.#dropAll((ask) => ask.tabId === tabId && ask.url === plain(url));
  }

  left(tabId) {
    this.#dropAll((ask) => ask.tabId === tabId);
  }

  /** The tab that a new download is of; null: none of ours. */
  async tabOf({ url, cookieStoreId, referrer }) {
    if (!/^https?:/.test(url)) return this.#maker(url, cookieStoreId);
    let fits = this.#asks.filter((ask) => ask.isLetGo && isSame(ask, { url: plain(url), jar: cookieStoreId }));
    fits = fits.filter(({ from }) => !referrer || !isWebPage(from) || originOf(from) === originOf(referrer));
    const exactly = fits.filter(({ from }) => from === referrer);
    if (exactly.length) fits = exactly;
    if (new Set(fits.map(({ tabId }) => tabId)).size !== 1) return null;
    this.#drop(fits[0]);
    return fits[0].tabId;
  }

  /** What a page made itself (blob:, data:) is known in that page. */
  async #maker(url, jar) {
    const found = [];
    for (const tabId of this.#tabsOf(jar)) {
      const target = { tabId, allFrames: true };
      const frames = await this.#api.scripting.executeScript({ target, func: hasMade, args: [url], injectImmediately: true }).catch(() => []);
      if (frames.some(({ result }) => result)) found.push(tabId);
    }
    return found.length === 1 ? found[0] : null;
  }

  #drop(ask) {
    this.#dropAll((one) => one === ask);
  }

  #dropAll(fits) {
    for (const ask of this.#asks.filter(fits)) ask.end();
    this.#asks = this.#asks.filter((ask) => !fits(ask));
  }
}

/** Whether the browser will keep that answer as a file, whatever is in it. */
export function isFile(responseHeaders) {
  return responseHeaders.some(({ name, value }) => /^content-disposition$/i.test(name) && FILE.test(value ?? ""));
}

function isSame(one, other) {
  return one.url === other.url && one.jar === other.jar;
}

function hasMade(url) {
  return globalThis.__roostMade?.has(url) ?? false;
}

function isWebPage(url) {
  return /^https?:/.test(url ?? "");
}

function originOf(url) {
  return new URL(url).origin;
}

function plain(url) {
  return url.split("#")[0];
}
