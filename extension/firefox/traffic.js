// The requests of managed tabs. Each tab has its own listeners, so that no other tab is observed.
//
// Document responses are held until `hook.js` is in the new document, so that it misses nothing
// that the page does from its first line on.

import { WAITING_ROOM } from "./dialogs.js";
import { isFile } from "./downloads.js";

const KINDS = {
  main_frame: "document",
  sub_frame: "document",
  object: "document",
  xmlhttprequest: "xhr",
  imageset: "image",
  web_manifest: "manifest",
  csp_report: "ping",
  beacon: "ping",
};
const DOCUMENTS = ["main_frame", "sub_frame"];
const HELD_MS = 2000; // at most: a response that becomes no document never gets a script

export class Traffic {
  #api;
  #tell;
  #handleOf;
  #journeys;
  #dialogs;
  #downloads;
  #listeners = new Map(); // tab id → functions that remove its listeners
  #held = new Map(); // "tab frame" → {url, goOn: releases the document}

  constructor(api, { tell, handleOf, journeys, dialogs, downloads }) {
    this.#api = api;
    this.#tell = tell;
    this.#handleOf = handleOf;
    this.#journeys = journeys;
    this.#dialogs = dialogs;
    this.#downloads = downloads;
  }

  watch(tabId) {
    if (this.#listeners.has(tabId)) return;
    const { webRequest } = this.#api;
    const all = { urls: ["<all_urls>"], tabId };
    const documents = { ...all, types: DOCUMENTS };
    const ends = [];
    const listen = (event, listener, ...how) => {
      event.addListener(listener, ...how);
      ends.push(() => event.removeListener(listener));
    };
    const waiting = { urls: [`${WAITING_ROOM}*`], types: ["xmlhttprequest"], tabId };
    const visible = (listener) => (what) => what.url.startsWith(WAITING_ROOM) || listener(what);
    // Firefox calls blocking listeners in time, and all others later.
    listen(webRequest.onBeforeRequest, (what) => this.#documentAsked(what), documents, ["blocking"]);
    listen(webRequest.onHeadersReceived, (what) => this.#documentAnswered(what), documents, ["blocking", "responseHeaders"]);
    listen(webRequest.onErrorOccurred, (what) => this.#documentFailed(what), documents);
    listen(webRequest.onBeforeRequest, (what) => this.#dialogs.asked(what), waiting, ["blocking"]);
    listen(webRequest.onBeforeRequest, visible((what) => this.#sent(what)), all);
    listen(webRequest.onHeadersReceived, (what) => this.#answered(what, false), all, ["responseHeaders"]);
    listen(webRequest.onCompleted, (what) => this.#answered(what, true), all, ["responseHeaders"]);
    listen(webRequest.onBeforeRedirect, (what) => this.#answered(what, true), all, ["responseHeaders"]);
    listen(webRequest.onErrorOccurred, visible((what) => this.#failed(what)), all);
    this.#listeners.set(tabId, ends);
  }

  unwatch(tabId) {
    for (const end of this.#listeners.get(tabId) ?? []) end();
    this.#listeners.delete(tabId);
    for (const [where, { goOn }] of this.#held) if (where.startsWith(`${tabId} `)) goOn();
  }

  /** Release the frame's document, which has our script now. Another document stays held. */
  release(tabId, frameId, url) {
    const held = this.#held.get(`${tabId} ${frameId}`);
    if (held && plain(held.url) === plain(url)) held.goOn();
  }

  #documentAsked(what) {
    if (what.type === "main_frame") this.#journeys.asked(what.tabId, what);
    this.#downloads.asked(what);
    this.#hold(what);
    return {};
  }

  async #documentAnswered(what) {
    if (isFile(what.responseHeaders)) this.release(what.tabId, what.frameId, what.url);
    await this.#downloads.answered(what);
    if (what.type === "main_frame") this.#journeys.answered(what.tabId, what);
    return {};
  }

  #documentFailed(what) {
    this.#downloads.failed(what);
    if (what.type === "main_frame") this.#journeys.failed(what.tabId, what);
  }

  /** Hold a document's data until `goOn` is called, which may be before the first data arrives. */
  #hold({ requestId, tabId, frameId, url }) {
    const where = `${tabId} ${frameId}`;
    const filter = this.#api.webRequest.filterResponseData(requestId);
    let waiting = [];
    let isStarted = false;
    let isOver = false;
    const end = () => {
      waiting = null;
      if (this.#held.get(where)?.goOn === goOn) this.#held.delete(where);
    };
    const goOn = () => {
      if (waiting === null) return;
      const data = waiting;
      end();
      if (!isStarted) return;
      for (const part of data) filter.write(part);
      if (isOver) filter.close();
      else filter.disconnect();
    };
    this.#held.set(where, { goOn, url });
    filter.onstart = () => {
      isStarted = true;
      if (waiting === null) filter.disconnect();
      else setTimeout(goOn, HELD_MS);
    };
    filter.ondata = ({ data }) => waiting?.push(data);
    filter.onstop = () => {
      isOver = true;
      if (!waiting?.length) goOn(); // no content
    };
    filter.onerror = end; // the request was redirected or cancelled
  }

  #sent({ tabId, requestId, url, method, type }) {
    const kind = KINDS[type] ?? type;
    this.#tell("Network.sent", { tab: this.#handleOf(tabId), request: requestId, url, method, kind });
  }

  #answered({ tabId, requestId, statusCode, responseHeaders = [] }, finished) {
    const type = responseHeaders.find(({ name }) => /^content-type$/i.test(name))?.value ?? "";
    const mimeType = type.split(";")[0].trim() || null;
    const answer = { request: requestId, status: statusCode || null, mimeType, finished };
    this.#tell("Network.ended", { tab: this.#handleOf(tabId), ...answer });
  }

  #failed({ tabId, requestId, error }) {
    this.#tell("Network.ended", { tab: this.#handleOf(tabId), request: requestId, error, finished: true });
  }
}

function plain(url) {
  return url.split("#")[0];
}
