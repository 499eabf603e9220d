import assert from "node:assert/strict";
import { test } from "node:test";

import { Downloads } from "../downloads.js";

class Event {
  addListener(listener) {
    this.fire = listener;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const BEGUN = { guid: "g", url: "http://x/f", suggestedFilename: "f" };
const LISTED = { id: 5, url: "http://x/f", finalUrl: "http://x/f" };

function desk() {
  const told = [];
  const items = new Map();
  const api = {
    downloads: {
      onCreated: new Event(),
      onChanged: new Event(),
      search: async ({ id }) => [items.get(id)],
    },
  };
  const downloads = new Downloads(api, (method, params) => told.push([method, params]));
  return { downloads, api, told, items };
}

for (const pageIsFirst of [true, false]) {
  test(`a page's download is told with its path (${pageIsFirst ? "page" : "list"} first)`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { downloads, api, told, items } = desk();
    items.set(5, { state: "in_progress", filename: "/d/f" });
    const steps = [
      () => downloads.heard("r.1", "Page.downloadWillBegin", BEGUN),
      () => api.downloads.onCreated.fire(LISTED),
    ];
    for (const step of pageIsFirst ? steps : steps.reverse()) step();
    await settled();
    items.set(5, { state: "complete", filename: "/d/f" });
    api.downloads.onChanged.fire({ id: 5, state: {} });
    await settled();
    assert.deepEqual(told, [
      ["Downloads.began", { tab: "r.1", download: "g", url: "http://x/f", name: "f" }],
      ["Downloads.ended", { tab: "r.1", download: "g", path: "/d/f" }],
    ]);
  });
}

test("the person's own downloads are not reported", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { downloads, api, told } = desk();
  api.downloads.onCreated.fire(LISTED);
  api.downloads.onChanged.fire({ id: 5, state: {} });
  downloads.heard("r.1", "Page.loadEventFired", {});
  await settled();
  assert.deepEqual(told, []);
  t.mock.timers.tick(10_000);
  downloads.heard("r.1", "Page.downloadWillBegin", { ...BEGUN, url: "http://x/f" });
  t.mock.timers.tick(10_000);
  assert.deepEqual(told.at(-1), ["Downloads.ended", { tab: "r.1", download: "g", path: null }]);
});
