import assert from "node:assert/strict";
import { test } from "node:test";

import { WAITING_ROOM } from "../firefox/dialogs.js";
import { Traffic } from "../firefox/traffic.js";

class Event {
  listeners = [];
  addListener(listener, filter) {
    this.listeners.push({ listener, filter });
  }
  removeListener(listener) {
    this.listeners = this.listeners.filter((one) => one.listener !== listener);
  }
  /** What each listener that is meant says. */
  fire(what) {
    const fits = ({ tabId, types, urls }) =>
      tabId === what.tabId && (!types || types.includes(what.type)) && (urls[0] === "<all_urls>" || what.url.startsWith(urls[0].slice(0, -1)));
    return this.listeners.filter(({ filter }) => fits(filter)).map(({ listener }) => listener(what));
  }
}

function desk() {
  const told = [];
  const filters = [];
  const calls = [];
  const note = (name) => (...args) => void calls.push([name, ...args.map((one) => one.requestId ?? one)]);
  const webRequest = {
    ...Object.fromEntries(["onBeforeRequest", "onHeadersReceived", "onErrorOccurred", "onCompleted", "onBeforeRedirect"].map((name) => [name, new Event()])),
    filterResponseData: () => {
      const filter = { written: [], end: null };
      Object.assign(filter, { write: (data) => filter.written.push(data), close: () => (filter.end = "closed"), disconnect: () => (filter.end = "let go") });
      filters.push(filter);
      return filter;
    },
  };
  const traffic = new Traffic(
    { webRequest },
    {
      tell: (...what) => told.push(what),
      handleOf: (id) => (id === 1 ? "r.1" : null),
      journeys: { asked: note("asked"), answered: note("answered"), failed: note("failed") },
      dialogs: { asked: async () => "held" },
      downloads: { asked: note("download?"), answered: async () => {}, failed: () => {} },
    },
  );
  traffic.watch(1);
  return { traffic, webRequest, told, filters, calls };
}

const PAGE = { requestId: "5", tabId: 1, frameId: 0, type: "main_frame", url: "http://x/", method: "GET" };

test("requests of managed tabs are reported with status and kind, and no others", () => {
  const { traffic, webRequest, told } = desk();
  webRequest.onBeforeRequest.fire({ ...PAGE, type: "xmlhttprequest" });
  const responseHeaders = [{ name: "Content-Type", value: "text/html; charset=utf-8" }];
  webRequest.onCompleted.fire({ ...PAGE, statusCode: 200, responseHeaders });
  webRequest.onErrorOccurred.fire({ ...PAGE, type: "image", error: "NS_ERROR" });
  webRequest.onBeforeRequest.fire({ ...PAGE, tabId: 2 });
  assert.deepEqual(told, [
    ["Network.sent", { tab: "r.1", request: "5", url: "http://x/", method: "GET", kind: "xhr" }],
    ["Network.ended", { tab: "r.1", request: "5", status: 200, mimeType: "text/html", finished: true }],
    ["Network.ended", { tab: "r.1", request: "5", error: "NS_ERROR", finished: true }],
  ]);
  traffic.unwatch(1);
  webRequest.onBeforeRequest.fire(PAGE);
  assert.equal(told.length, 3);
});

test("a document waits for our script, and goes on as it is", () => {
  const { traffic, webRequest, filters, calls } = desk();
  webRequest.onBeforeRequest.fire(PAGE);
  assert.deepEqual(calls, [["asked", 1, "5"], ["download?", "5"]]);
  const [filter] = filters;
  filter.onstart();
  filter.ondata({ data: "first" });
  assert.deepEqual([filter.written, filter.end], [[], null]);
  traffic.release(1, 0, "about:blank"); // which it had before: that its script came is told late
  assert.equal(filter.end, null);
  traffic.release(1, 0, PAGE.url);
  assert.deepEqual([filter.written, filter.end], [["first"], "let go"]);
});

test("neither an injected script nor an empty page delays a document", () => {
  const { traffic, webRequest, filters } = desk();
  webRequest.onBeforeRequest.fire(PAGE);
  traffic.release(1, 0, PAGE.url);
  filters[0].onstart();
  assert.equal(filters[0].end, "let go");
  webRequest.onBeforeRequest.fire(PAGE);
  filters[1].onstart();
  filters[1].onstop();
  assert.equal(filters[1].end, "closed");
});

test("a file that is no document is not held, because no script runs in it", () => {
  const { webRequest, filters } = desk();
  webRequest.onBeforeRequest.fire(PAGE);
  webRequest.onHeadersReceived.fire({ ...PAGE, responseHeaders: [{ name: "Content-Disposition", value: "attachment" }] });
  filters[0].onstart();
  assert.equal(filters[0].end, "let go");
});

test("documents of a tab that left its group are no longer held", () => {
  const { traffic, webRequest, filters } = desk();
  webRequest.onBeforeRequest.fire(PAGE);
  filters[0].onstart();
  traffic.unwatch(1);
  assert.equal(filters[0].end, "let go");
});

test("the request of a page that waits for a dialog is held and not recorded", async () => {
  const { webRequest, told } = desk();
  const waiting = { ...PAGE, type: "xmlhttprequest", url: `${WAITING_ROOM}?kind=alert` };
  const answers = webRequest.onBeforeRequest.fire(waiting);
  assert.ok((await Promise.all(answers)).includes("held"));
  webRequest.onErrorOccurred.fire({ ...waiting, error: "NS_ERROR_ABORT" });
  assert.deepEqual(told, []);
});
