// Follows the navigations of managed tabs: their beginning, their end and the response's status.
//
// A navigation is identified by its request, because `webNavigation` names only addresses, and
// events of a cancelled navigation come late. If a page needs another process, Firefox cancels the
// navigation and starts it again. So a cancellation alone does not end a navigation here.

import { isFile } from "./downloads.js";

const CALLED_OFF = /\b2152398850\b|NS_BINDING_ABORTED/;
const NO_CONTENT = [204, 205];
const MOMENT_MS = 300; // Firefox restarts a cancelled navigation within this time, or not at all
const STEP_MS = 1000; // a step in the history begins within this time, or there is no such step

/** The address of a navigation whose target is not known. */
export const ANYWHERE = "";

/** How a navigation ended: in a new document, within the same document, or without one. */
export const End = { DOCUMENT: "document", WITHIN: "within", NOTHING: "nothing" };

/** The server could not be reached, or its response was not usable. */
export class Unreachable extends Error {}

class TabDocuments {
  turns = 0; // number of documents this tab has had
  begun = null; // target of the current navigation
  request = null; // the last document request: {id, urls, status, error, isOver: no document came}
  waiting = new Set(); // calls that wait for the end of a navigation
}

export class Navigations {
  #tabs = new Map(); // tab id → TabDocuments

  forget(tabId) {
    for (const navigation of this.#tabs.get(tabId)?.waiting ?? []) navigation.end(null);
    this.#tabs.delete(tabId);
  }

  turns(tabId) {
    return this.#of(tabId).turns;
  }

  isLeaving(tabId) {
    return this.#of(tabId).begun !== null;
  }

  /** Start a navigation by `act` and wait for its end: {end, status}. Throws if it failed. */
  async go(tabId, url, act) {
    for (const earlier of this.#of(tabId).waiting) earlier.isOver = true;
    return this.#follow(tabId, new URL(url).href, act);
  }

  /** Make a step in the history by `act`, whose target is not known, and wait for its end: {end,
   * status}; null if there is no such step. */
  async step(tabId, act) {
    const tab = this.#of(tabId);
    const { turns } = tab;
    const isNowhere = () => tab.begun === null && tab.turns === turns;
    const { end, status } = await this.#follow(tabId, null, async (navigation) => {
      setTimeout(() => isNowhere() && navigation.end({ end: null }), STEP_MS);
      await act();
    });
    return end === null ? null : { end, status };
  }

  /** True if a call waits for the tab to reach that address. */
  isExpected(tabId, url) {
    return [...this.#of(tabId).waiting].some((navigation) => leadsTo(navigation, url));
  }

  /** Resolves when the current navigation ends; at once if there is none. */
  async landed(tabId) {
    const { begun, request } = this.#of(tabId);
    if (begun === null) return;
    const asked = request?.urls.has(plain(begun)) ? request : null; // null: its request comes later
    await this.#follow(tabId, null, async () => {}, asked).catch(() => {});
  }

  async #follow(tabId, url, act, request = null) {
    const tab = this.#of(tabId);
    const navigation = { url, request, isOver: false };
    const over = new Promise((resolve) => (navigation.end = resolve));
    tab.waiting.add(navigation);
    try {
      await act(navigation);
      const found = await over;
      if (found === null) throw new Error("the tab is gone");
      if (found.error) throw new Unreachable(found.error);
      return { end: found.end, status: navigation.request?.status ?? null };
    } finally {
      tab.waiting.delete(navigation);
    }
  }

  // --- the browser's events --------------------------------------------------------------------

  asked(tabId, { requestId, url }) {
    const tab = this.#of(tabId);
    if (tab.request?.id !== requestId) tab.request = { id: requestId, urls: new Set(), status: null, isOver: false };
    tab.request.urls.add(plain(url));
    for (const navigation of tab.waiting)
      if (navigation.url === null || plain(navigation.url) === plain(url)) navigation.request ??= tab.request;
  }

  answered(tabId, { requestId, statusCode, responseHeaders = [] }) {
    const { request } = this.#of(tabId);
    if (request?.id !== requestId) return;
    request.status = statusCode;
    if (NO_CONTENT.includes(statusCode) || isFile(responseHeaders)) this.#came(tabId, request);
  }

  failed(tabId, { requestId, error }) {
    const { request } = this.#of(tabId);
    if (request?.id === requestId && !CALLED_OFF.test(error)) request.error = error;
  }

  downloaded(tabId, url) {
    const { request } = this.#of(tabId);
    if (request?.urls.has(plain(url))) this.#came(tabId, request);
  }

  /** The request led to no document: the tab stays where it is. */
  #came(tabId, request) {
    const tab = this.#of(tabId);
    request.isOver = true;
    if (tab.begun !== null && request.urls.has(plain(tab.begun))) tab.begun = null;
    this.#end(tabId, End.NOTHING, (one) => one.request === request);
  }

  /** A navigation began. Firefox reports this late, so its end may be known already. */
  began(tabId, url) {
    const tab = this.#of(tabId);
    const wasNothing = url !== null && tab.request?.isOver && tab.request.urls.has(plain(url));
    if (!wasNothing) tab.begun = url;
  }

  committed(tabId, url) {
    const tab = this.#of(tabId);
    tab.turns += 1;
    tab.begun = null;
    this.#end(tabId, End.DOCUMENT, (one) => leadsTo(one, url));
  }

  movedWithin(tabId, url) {
    this.#end(tabId, End.WITHIN, (one) => one.url === null || plain(one.url) === plain(url));
  }

  brokeOff(tabId, url, error) {
    const tab = this.#of(tabId);
    if (CALLED_OFF.test(error)) {
      if (tab.begun === url || tab.begun === ANYWHERE) tab.begun = null;
      const cancelled = new Set(tab.waiting); // only those that wait for the cancelled navigation
      const isEnded = (one) => one.url === null && cancelled.has(one);
      setTimeout(() => tab.begun === null && this.#end(tabId, End.NOTHING, isEnded), MOMENT_MS);
      return;
    }
    const reason = tab.request?.error ?? error;
    for (const navigation of tab.waiting) if (leadsTo(navigation, url)) navigation.end({ error: reason });
  }

  #end(tabId, end, fits) {
    for (const navigation of this.#of(tabId).waiting) if (!navigation.isOver && fits(navigation)) navigation.end({ end });
  }

  #of(tabId) {
    if (!this.#tabs.has(tabId)) this.#tabs.set(tabId, new TabDocuments());
    return this.#tabs.get(tabId);
  }
}

function leadsTo({ url, request }, to) {
  return url === null || plain(url) === plain(to) || (request?.urls.has(plain(to)) ?? false);
}

function plain(url) {
  return url.split("#")[0];
}
