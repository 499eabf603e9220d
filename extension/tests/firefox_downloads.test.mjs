import assert from "node:assert/strict";
import { test } from "node:test";

import { Downloads } from "../firefox/downloads.js";

const URL_ = "http://x/file";
const FILE = [{ name: "content-disposition", value: "Attachment" }];

function desk({ made = {} } = {}) {
  const executeScript = async ({ target: { tabId }, args: [url] }) => [{ result: made[tabId] === url }];
  const downloads = new Downloads({ scripting: { executeScript } }, () => Object.keys(made).map(Number));
  let requests = 0;
  /** A page asks for it, and the answer is a file. */
  const asks = (tabId, { jar = "shared", url = URL_, from, isFile = true } = {}) => {
    const requestId = String(++requests);
    downloads.asked({ requestId, tabId, frameId: 0, url, originUrl: from, cookieStoreId: jar });
    return downloads.answered({ requestId, responseHeaders: isFile ? FILE : [] }).then(() => requestId);
  };
  const tabOf = (jar = "shared", more = {}) => downloads.tabOf({ url: URL_, cookieStoreId: jar, ...more });
  return { downloads, asks, tabOf };
}

const isPending = async (promise) => {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise.then(() => false), Promise.resolve(true)]);
};

test("a download belongs to the tab that requested its address, once", async () => {
  const { asks, tabOf } = desk();
  await asks(1);
  assert.equal(await tabOf(), 1);
  assert.equal(await tabOf(), null, "the next one is the person's");
});

test("requests for one address are distinguished by their jars", async () => {
  const { asks, tabOf } = desk();
  await Promise.all([asks(1, { jar: "a" }), asks(2, { jar: "b" })]);
  assert.equal(await tabOf("b"), 2);
  assert.equal(await tabOf("a"), 1);
  assert.equal(await tabOf("shared"), null);
});

test("in one jar, files of one address go one after the other", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { asks, tabOf } = desk();
  await asks(1);
  const second = asks(2);
  assert.ok(await isPending(second));
  assert.equal(await tabOf(), 1);
  await second;
  assert.equal(await tabOf(), 2);
});

test("a download whose tab is unclear is not reported, and no request waits forever", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { asks, tabOf } = desk();
  await asks(1);
  const second = asks(2);
  await isPending(second);
  t.mock.timers.tick(5000);
  await second;
  assert.equal(await tabOf(), null);
});

test("downloads are distinguished by their page if the responses do not mark them as files", async () => {
  const { asks, tabOf } = desk();
  await asks(1, { from: "http://x/one", isFile: false });
  await asks(2, { from: "http://x/two", isFile: false });
  assert.equal(await tabOf("shared", { referrer: "http://x/two" }), 2);
  assert.equal(await tabOf("shared", { referrer: "http://elsewhere/" }), null);
  assert.equal(await tabOf("shared", { referrer: "http://x/one" }), 1);
});

test("documents, failed requests and abandoned requests are not downloads", async () => {
  const { downloads, asks, tabOf } = desk();
  await asks(1, { isFile: false });
  downloads.committed(1, `${URL_}#part`);
  const id = await asks(2, { isFile: false });
  downloads.failed({ requestId: id });
  await asks(3, { isFile: false });
  await asks(3, { url: "http://x/other", isFile: false });
  await asks(4);
  downloads.left(4);
  assert.equal(await tabOf(), null);
});

test("a redirected download is reported under its final address", async () => {
  const { downloads, tabOf } = desk();
  const where = { requestId: "r", tabId: 1, frameId: 0, cookieStoreId: "shared" };
  downloads.asked({ ...where, url: "http://x/moved" });
  downloads.asked({ ...where, url: URL_ });
  assert.equal(await tabOf(), 1);
});

test("a download of a blob belongs to the page that made it", async () => {
  const { downloads } = desk({ made: { 1: "blob:http://x/1", 2: "data:,same", 3: "data:,same" } });
  const tabOf = (url) => downloads.tabOf({ url, cookieStoreId: "shared" });
  assert.equal(await tabOf("blob:http://x/1"), 1);
  assert.equal(await tabOf("blob:http://x/2"), null);
  assert.equal(await tabOf("data:,same"), null, "two pages could have meant it");
});
