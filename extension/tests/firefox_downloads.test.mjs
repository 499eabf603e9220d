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

test("a download is of the tab that asked for its address, once", async () => {
  const { asks, tabOf } = desk();
  await asks(1);
  assert.equal(await tabOf(), 1);
  assert.equal(await tabOf(), null, "the next one is the person's");
});

test("jars tell apart who asked for the same address", async () => {
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

test("where nobody can tell, it is nobody's; and nobody waits for ever", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { asks, tabOf } = desk();
  await asks(1);
  const second = asks(2);
  await isPending(second);
  t.mock.timers.tick(5000);
  await second;
  assert.equal(await tabOf(), null);
});

test("the page it came from tells them apart, where their answers do not call them files", async () => {
  const { asks, tabOf } = desk();
  await asks(1, { from: "http://x/one", isFile: false });
  await asks(2, { from: "http://x/two", isFile: false });
  assert.equal(await tabOf("shared", { referrer: "http://x/two" }), 2);
  assert.equal(await tabOf("shared", { referrer: "http://elsewhere/" }), null);
  assert.equal(await tabOf("shared", { referrer: "http://x/one" }), 1);
});

test("what was a document, failed, or was given up for another is no download's", async () => {
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

test("an address that was sent on to another is a download of the other", async () => {
  const { downloads, tabOf } = desk();
  const where = { requestId: "r", tabId: 1, frameId: 0, cookieStoreId: "shared" };
  downloads.asked({ ...where, url: "http://x/moved" });
  downloads.asked({ ...where, url: URL_ });
  assert.equal(await tabOf(), 1);
});

test("what a page made itself is known in that page", async () => {
  const { downloads } = desk({ made: { 1: "blob:http://x/1", 2: "data:,same", 3: "data:,same" } });
  const tabOf = (url) => downloads.tabOf({ url, cookieStoreId: "shared" });
  assert.equal(await tabOf("blob:http://x/1"), 1);
  assert.equal(await tabOf("blob:http://x/2"), null);
  assert.equal(await tabOf("data:,same"), null, "two pages could have meant it");
});
