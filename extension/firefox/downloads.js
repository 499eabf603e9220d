// Finds the tab of a download. Firefox names neither its tab nor its request, so a download belongs
// to the tab that requested its address in its jar. If tabs request the same file, the responses
// continue one after the other, and a download belongs to the one that continued. In doubt it is
// not reported.

const ASKED = 100;
const TURN_MS = 2000; // do not wait longer: Firefox may be asking the person where to save the file
const FILE = /^\s*attachment/i;

export class Downloads {
  #api;
  #tabsOf; // (jar) → ids of its managed tabs
  #asks = []; // {id, tabId, frameId, jar, url, from, isFile, isLetGo, over: promise, end}

  constructor(api, tabsOf) {
    this.#api = api;
    this.#tabsOf = tabsOf;
  }

  /** A page requested a document. Called again for each redirect. */
  asked({ requestId, tabId, frameId, url, originUrl, cookieStoreId }) {
    const known = this.#asks.find(({ id }) => id === requestId);
    if (known) return void (known.url = plain(url));
    // A frame loads one document at a time, so drop its earlier request; but keep a file's.
    this.#dropAll((one) => one.tabId === tabId && one.frameId === frameId && !one.isFile);
    const where = { tabId, frameId, jar: cookieStoreId, url: plain(url), from: originUrl };
    const ask = { id: requestId, ...where, isFile: false, isLetGo: true };
    ask.over = new Promise((resolve) => (ask.end = resolve));
    this.#asks.push(ask);
    if (this.#asks.length > ASKED) this.#drop(this.#asks[0]);
  }

  /** The response's headers are there. Resolves when the response may continue: files of one
   * address continue one after the other. */
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

  /** The request led to a document and not to a download. */
  committed(tabId, url) {
    this.#dropAll((ask) => ask.tabId === tabId && ask.url === plain(url));
  }

  left(tabId) {
    this.#dropAll((ask) => ask.tabId === tabId);
  }

  /** The managed tab that a new download belongs to, or null. */
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

  /** The tab whose page made this address itself (blob:, data:), as `hook.js` remembers there. */
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

/** True if the headers make the browser save the response as a file. */
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
