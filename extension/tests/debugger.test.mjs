import assert from "node:assert/strict";
import { test } from "node:test";

import { Debugger } from "../debugger.js";
import { Refusal } from "../link.js";

class Event {
  listeners = [];
  addListener(listener) {
    this.listeners.push(listener);
  }
  fire(...args) {
    for (const listener of this.listeners) listener(...args);
  }
}

/** A browser with tabs 1 and 2 in managed groups; tab 9 is the person's. */
function desk({ outlined = false } = {}) {
  const told = [];
  const said = [];
  const calls = [];
  const managed = new Set([1, 2]);
  const api = {
    tabs: { update: async () => {}, onUpdated: new Event() },
    storage: { local: { get: async () => ({}), onChanged: new Event() } },
    debugger: {
      onEvent: new Event(),
      onDetach: new Event(),
      attach: async ({ tabId }) => void calls.push(["attach", tabId]),
      detach: async ({ tabId }) => void calls.push(["detach", tabId]),
      getTargets: async () => [1, 2, 9].map((tabId) => ({ tabId, type: "page", id: `F${tabId}`, url: "u" })),
      sendCommand: async (target, method) => {
        calls.push([method, target]);
        return { done: method, executionContextId: 7 };
      },
    },
  };
  const strip = {
    tabOf: (handle) => {
      const id = Number(handle.split(".")[1]);
      if (!managed.has(id)) throw new Refusal(404, "There is no such tab.");
      return id;
    },
    handleOf: (id) => (managed.has(id) ? `r.${id}` : null),
    lookOf: (id) => (outlined && managed.has(id) ? { key: "k", title: "Ann", color: "blue" } : null),
  };
  const tell = (...message) => told.push(message);
  const pages = new Debugger(api, strip, { tell, said: (...word) => said.push(word) });
  return { api, pages, told, said, calls, managed };
}

test("a tab is attached once for many callers, and reported as CDP does", async () => {
  const { pages, told, calls } = desk();
  await Promise.all([1, 2, 3].map(() => pages.call("Debugger.attach", { tab: "r.1" })));
  assert.deepEqual(calls, [["attach", 1]]);
  const targetInfo = { targetId: "F1", type: "page", url: "u" };
  const params = { sessionId: "r.1", targetInfo, waitingForDebugger: false };
  assert.deepEqual(told, [["Target.attachedToTarget", params]]);
});

test("the person's own tabs are refused, on every command", async () => {
  const { pages, calls, managed } = desk();
  await assert.rejects(pages.call("Debugger.attach", { tab: "r.9" }), { code: 404 });
  await assert.rejects(pages.command("Page.captureScreenshot", {}, "r.9"), { code: 404 });
  await pages.call("Debugger.attach", { tab: "r.1" });
  managed.delete(1); // dragged out
  await assert.rejects(pages.command("Page.captureScreenshot", {}, "r.1"), { code: 404 });
  await assert.rejects(pages.command("Page.captureScreenshot", {}, "r.1/child"), { code: 404 });
  assert.deepEqual(calls, [["attach", 1]]);
});

test("a tab that the person drags out while it is being attached is detached at once", async () => {
  const { api, pages, told, calls, managed } = desk();
  api.debugger.attach = async () => void managed.delete(1);
  await assert.rejects(pages.call("Debugger.attach", { tab: "r.1" }), { code: 404 });
  assert.deepEqual(calls, [["detach", 1]]);
  assert.deepEqual(told, []);
});

test("a tab that left its group is detached, and its events are dropped", async () => {
  const { api, pages, told, calls, managed } = desk();
  await pages.call("Debugger.attach", { tab: "r.1" });
  managed.delete(1);
  api.debugger.onEvent.fire({ tabId: 1 }, "Network.requestWillBeSent", { url: "secret" });
  pages.sweep();
  await new Promise(setImmediate);
  assert.deepEqual(calls.at(-1), ["detach", 1]);
  assert.deepEqual(told.at(-1), ["Target.detachedFromTarget", { sessionId: "r.1", reason: "released" }]);
  assert.ok(!JSON.stringify(told).includes("secret"));
});

test("commands and events of what is attached below a tab carry both ids", async () => {
  const { api, pages, told, calls } = desk();
  await pages.call("Debugger.attach", { tab: "r.1" });
  await pages.command("Runtime.enable", {}, "r.1/child");
  assert.deepEqual(calls.at(-1), ["Runtime.enable", { tabId: 1, sessionId: "child" }]);
  api.debugger.onEvent.fire({ tabId: 1 }, "Target.attachedToTarget", { sessionId: "child" });
  assert.deepEqual(told.at(-1), ["Target.attachedToTarget", { sessionId: "r.1/child" }, "r.1"]);
  api.debugger.onEvent.fire({ tabId: 1, sessionId: "child" }, "Page.loadEventFired", {});
  assert.deepEqual(told.at(-1), ["Page.loadEventFired", {}, "r.1/child"]);
});

test("Cancel on Chrome's bar pauses all sessions; closing a tab pauses none", async () => {
  const { api, pages, said } = desk();
  for (const tab of ["r.1", "r.2"]) await pages.call("Debugger.attach", { tab });
  api.debugger.onDetach.fire({ tabId: 2 }, "target_closed");
  assert.deepEqual(said, []);
  api.debugger.onDetach.fire({ tabId: 1 }, "canceled_by_user");
  assert.deepEqual(said, [["pause", null]]);
});

test("a page of the browser's own is left before it is attached, if one may leave it", async () => {
  const { api, pages, calls } = desk();
  let isOwn = true;
  api.debugger.attach = async () => {
    if (isOwn) throw new Error("Cannot access a chrome:// URL");
  };
  api.tabs.update = async (id, { url }) => {
    if (url === undefined) return;
    isOwn = false;
    setImmediate(() => api.tabs.onUpdated.fire(id, {}, { status: "complete", url }));
  };
  api.tabs.onUpdated.removeListener = () => {};
  await assert.rejects(pages.call("Debugger.attach", { tab: "r.1" }), /chrome:/);
  await pages.call("Debugger.attach", { tab: "r.1", leave: true });
  assert.deepEqual(calls, []);
});

test("CDP's own refusals keep their code and words", async () => {
  const { api, pages } = desk();
  await pages.call("Debugger.attach", { tab: "r.1" });
  api.debugger.sendCommand = async () => {
    throw new Error('{"code":-32000,"message":"No frame","data":"F"}');
  };
  await assert.rejects(pages.command("A.b", {}, "r.1"), { code: -32000, message: "No frame: F" });
});

test("commands that a closing tab cuts off are answered after the tab's end was reported", async () => {
  const { api, pages, told } = desk();
  await pages.call("Debugger.attach", { tab: "r.1" });
  api.debugger.sendCommand = async () => {
    throw new Error("Detached while handling command.");
  };
  const order = [];
  const cutOff = pages.command("Runtime.evaluate", {}, "r.1").catch(() => order.push(told.at(-1)[0]));
  await new Promise(setImmediate);
  assert.deepEqual(order, []);
  api.debugger.onDetach.fire({ tabId: 1 }, "target_closed");
  await cutOff;
  assert.deepEqual(order, ["Target.detachedFromTarget"]);
});

const methods = (calls) => calls.map(([method]) => method);

test("a tab is outlined in our own world, and the outline is removed before the debugger detaches", async () => {
  const { pages, calls, managed } = desk({ outlined: true });
  await pages.call("Debugger.attach", { tab: "r.1" });
  await new Promise(setImmediate);
  assert.deepEqual(methods(calls), ["attach", "Page.createIsolatedWorld", "Runtime.evaluate"]);
  managed.delete(1);
  pages.sweep();
  managed.add(1); // and dragged in again at once
  await pages.call("Debugger.attach", { tab: "r.1" });
  assert.deepEqual(methods(calls).slice(3, 6), ["Runtime.evaluate", "detach", "attach"]);
  pages.releaseAll();
});

test("a screenshot waits until the outline is removed, in whichever document", async () => {
  const { api, pages, calls } = desk({ outlined: true });
  await pages.call("Debugger.attach", { tab: "r.1" });
  api.debugger.onEvent.fire({ tabId: 1 }, "Page.frameNavigated", { frame: { id: "F1" } });
  calls.length = 0;
  await pages.command("Page.captureScreenshot", {}, "r.1");
  await new Promise((resolve) => setTimeout(resolve, 400));
  const around = ["Page.createIsolatedWorld", "Runtime.evaluate", "Page.captureScreenshot", "Runtime.evaluate"];
  assert.deepEqual(methods(calls), around);
  await pages.releaseAll();
});

test("an element that gets input glows; reading a page makes nothing glow", async () => {
  const { pages, calls } = desk({ outlined: true });
  await pages.call("Debugger.attach", { tab: "r.1" });
  await new Promise(setImmediate);
  calls.length = 0;
  await pages.command("Input.dispatchMouseEvent", { type: "mouseMoved", x: 1, y: 2, buttons: 0 }, "r.1");
  await pages.command("Input.dispatchMouseEvent", { type: "mousePressed", x: 1, y: 2 }, "r.1");
  for (const type of ["keyDown", "keyUp", "keyDown"]) await pages.command("Input.dispatchKeyEvent", { type }, "r.1");
  assert.equal(methods(calls).filter((method) => method === "Runtime.evaluate").length, 2);
  await pages.releaseAll();
});
