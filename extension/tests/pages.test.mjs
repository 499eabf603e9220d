import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Pages } from "../firefox/pages.js";
import { NO_SUCH_TAB, Refusal } from "../link.js";

const CRASHED = 409;
const DOCUMENT_GONE = 410;
const OURS = 7;
const PERSONS = 8;
const HERE = "http://x/here";
const PAGE_WORDS = "frames navigate reload travel call evaluate act answer begin given end frameOfOurs files capture";
const EVALUATE = ["Page.evaluate", { frame: 0, function: "() => 1" }];

class Event {
  #listeners = new Set();
  addListener = (listener) => this.#listeners.add(listener);
  removeListener = (listener) => this.#listeners.delete(listener);
  fire = (...what) => [...this.#listeners].map((listener) => listener(...what));
}

/** Every event there may be, and what is given besides. */
function withEvents(given = {}) {
  const events = {};
  return new Proxy(given, {
    get: (target, name) => (name in target || !/^on[A-Z]/.test(name) ? target[name] : (events[name] ??= new Event())),
  });
}

/** One managed tab, with a document, and one of the person's. What runs in pages is answered by `run`,
 * by the name of the function; `undefined`: not at all. */
async function desk(run = {}) {
  const done = []; // what was done to pages: [what, tab id, ...]
  const told = [];
  const managed = new Set([OURS]);
  let watched = {};
  const executeScript = async ({ target, func, args, files }) => {
    if (files) return [{ result: null }];
    done.push([func.name, target.tabId, ...(args ?? [])]);
    const result = func.name in run ? run[func.name](...(args ?? [])) : null;
    return result === undefined ? new Promise(() => {}) : [{ result: await result }];
  };
  const styled = (what) => async ({ target, css }) => void done.push([what, target.tabId, css]);
  const api = {
    downloads: withEvents(),
    permissions: withEvents({ contains: async () => true }),
    runtime: withEvents(),
    scripting: { executeScript, insertCSS: styled("insertCSS"), removeCSS: styled("removeCSS") },
    storage: { local: withEvents({ get: async () => ({}) }) },
    contextualIdentities: { query: async () => [] },
    tabs: withEvents({ get: async (id) => ({ id, url: HERE, discarded: false }), update: async () => {} }),
    webNavigation: withEvents({ getAllFrames: async () => [{ frameId: 0, parentFrameId: -1, url: HERE }] }),
    webRequest: withEvents(),
  };
  const strip = {
    ready: Promise.resolve(),
    tabOf: (handle) => {
      if (handle !== `r.${OURS}` || !managed.has(OURS)) throw new Refusal(NO_SUCH_TAB, "There is no such tab.");
      return OURS;
    },
    handleOf: (id) => (managed.has(id) ? `r.${id}` : null),
    lookOf: () => null,
    jarOf: () => null,
    tabsIn: () => [],
    decided: async () => {},
    call: async () => ({ tabs: [], closed: [] }),
    watch: (watch) => (watched = watch),
  };
  const pages = new Pages(api, strip, { tell: (...what) => told.push(what), allowed: () => {} });
  await turn();
  const commit = (tabId, url = HERE) => api.webNavigation.onCommitted.fire({ tabId, frameId: 0, url });
  const crash = () => api.webNavigation.onErrorOccurred.fire({ tabId: OURS, frameId: 0, url: "about:tabcrashed", error: "" });
  const takeAway = () => {
    managed.delete(OURS);
    watched.left(OURS);
  };
  const ask = (method, params = {}) => pages.command(method, params, `r.${OURS}`);
  commit(OURS);
  await turn();
  done.length = told.length = 0;
  return { api, pages, done, told, commit, crash, takeAway, ask, watched };
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

async function turn() {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Whether it is settled by now, and with what. */
async function now(promise) {
  await turn();
  return Promise.race([promise, Promise.resolve("pending")]);
}

test("a tab that is in no managed group is refused whatever is asked of it, and not touched", async () => {
  const { pages, done } = await desk();
  for (const word of PAGE_WORDS.split(" "))
    for (const handle of [`r.${PERSONS}`, "another-run.7", "", "nobody"])
      await assert.rejects(pages.command(`Page.${word}`, { inputs: [], files: [] }, handle), { code: NO_SUCH_TAB }, word);
  assert.deepEqual(done, []);
});

test("events of the person's own tabs are ignored", async () => {
  const { api, told, commit } = await desk();
  commit(PERSONS);
  api.webNavigation.onErrorOccurred.fire({ tabId: PERSONS, frameId: 0, url: "about:tabcrashed", error: "" });
  const answers = api.runtime.onMessage.fire({ roost: "page", what: "console", text: "secret" }, { tab: { id: PERSONS }, frameId: 0 });
  assert.deepEqual(await Promise.all(answers), [false], "its page is told to be still");
  assert.deepEqual(told, []);
});

test("a document that is left while a script runs in it answers at once", async () => {
  const { commit, ask } = await desk({ evaluate: () => undefined });
  const running = ask(...EVALUATE);
  assert.equal(await now(running.catch((error) => error)), "pending");
  commit(OURS, "http://x/next");
  await assert.rejects(running, { code: DOCUMENT_GONE });
});

test("a frame that is left ends what runs in it, and nothing else", async () => {
  const { api, ask } = await desk({ evaluate: () => undefined });
  const [inFrame, inPage] = [3, 0].map((frame) => ask("Page.evaluate", { frame, function: "() => 1" }));
  inPage.catch(() => {});
  await turn();
  api.webNavigation.onCommitted.fire({ tabId: OURS, frameId: 3, url: "http://x/inner" });
  await assert.rejects(inFrame, { code: DOCUMENT_GONE });
  assert.equal(await now(inPage), "pending");
});

test("repeatable calls are repeated in the next document, and others are not", async () => {
  const answers = [undefined, JSON.stringify({ value: "next" }), undefined];
  const { commit, ask } = await desk({ callBundle: () => answers.shift() });
  const call = { frame: 0, name: "snapshot", argument: {} };
  const often = ask("Page.call", call);
  await turn();
  commit(OURS);
  assert.deepEqual(await often, { value: "next" });
  const once = ask("Page.call", { ...call, once: true });
  await turn();
  commit(OURS);
  await assert.rejects(once, { code: DOCUMENT_GONE });
});

test("a page whose process died answers so, until the tab goes elsewhere", async () => {
  const { crash, commit, told, ask } = await desk({ evaluate: () => undefined, arrived: () => "Here" });
  const running = ask(...EVALUATE);
  await turn();
  crash();
  await assert.rejects(running, { code: CRASHED });
  assert.deepEqual(told, [["Page.died", { tab: `r.${OURS}` }]]);
  for (const [method, params] of [EVALUATE, ["Page.begin", { mark: "m" }], ["Page.capture", {}], ["Page.frames", {}]])
    await assert.rejects(ask(method, params), { code: CRASHED }, method);
  const going = ask("Page.navigate", { url: HERE });
  await turn();
  commit(OURS);
  assert.equal((await going).title, "Here");
});

test("a tab that the person takes away ends what runs in it", async () => {
  const { takeAway, ask } = await desk({ evaluate: () => undefined });
  const running = ask(...EVALUATE);
  await turn();
  takeAway();
  await assert.rejects(running, { code: NO_SUCH_TAB });
  await assert.rejects(ask(...EVALUATE), { code: NO_SUCH_TAB });
});

const css = (beacon) => `:root { --roost-${beacon}: 1 }`;
const BEGUN = [["insertCSS", OURS, css("m")], ["isGivenInput", OURS, true]];
const ENDED = [["removeCSS", OURS, css("m")]];
const LET_GO = [["isGivenInput", OURS, false]];
const ACTIVATION_MS = 5000;

test("input of the remote agent is announced to the page before and after", async () => {
  const { done, ask, watched } = await desk();
  await ask("Page.begin", { mark: "m" });
  assert.deepEqual(done.splice(0).sort(), BEGUN);
  assert.ok(watched.isGivenInput(OURS));
  await ask("Page.end", { mark: "m" });
  assert.deepEqual(done.splice(0), ENDED);
  assert.ok(!watched.isGivenInput(OURS));
  mock.timers.tick(ACTIVATION_MS - 1);
  assert.deepEqual(done, [], "the page may still do what a click lets it do");
  mock.timers.tick(1);
  assert.deepEqual(done, LET_GO);
});

test("a late end of earlier input does not end the next input", async () => {
  const { done, ask, watched } = await desk();
  await ask("Page.begin", { mark: "m" });
  await ask("Page.begin", { mark: "next" });
  done.length = 0;
  await ask("Page.end", { mark: "m" });
  mock.timers.tick(ACTIVATION_MS);
  assert.deepEqual(done, ENDED);
  assert.ok(watched.isGivenInput(OURS));
});

test("each document is told of input once; new documents with the next input", async () => {
  let isReady = false;
  const { api, done, ask } = await desk({ isGivenInput: () => isReady });
  const isTold = async () => {
    done.length = 0;
    await ask("Page.begin", { mark: "m" });
    await ask("Page.end", { mark: "m" });
    return done.some(([what]) => what === "isGivenInput");
  };
  assert.ok(await isTold());
  isReady = true;
  assert.ok(await isTold(), "our hook was not in yet");
  assert.ok(!(await isTold()));
  api.webNavigation.onCommitted.fire({ tabId: OURS, frameId: 3, url: "http://x/inner" });
  await turn();
  assert.ok(await isTold());
});

test("a tab that leaves its group is released at once", async () => {
  const { done, ask, takeAway } = await desk();
  await ask("Page.begin", { mark: "m" });
  done.length = 0;
  takeAway();
  mock.timers.tick(ACTIVATION_MS);
  assert.deepEqual(done, LET_GO);
});

for (const [who, dies] of [
  ["a broker that died", ({ pages }) => pages.releaseAll()],
  ["a broker that died and was followed by another", ({ pages }) => pages.call("Roost.state", {})],
])
  test(`${who} while it gave input leaves no beacon in a page, and nobody waiting`, async () => {
    const settled = JSON.stringify({ value: { hasActivation: false } });
    const there = await desk({ callBundle: (name) => (name === "settled" ? settled : null) });
    await there.ask("Page.begin", { mark: "m" });
    const waiting = there.ask("Page.act", { inputs: [], frame: 0, argument: { releases: 1 } });
    assert.equal(await now(waiting), "pending");
    there.done.length = 0;
    await dies(there);
    assert.deepEqual((await waiting).value, { hasActivation: false });
    mock.timers.tick(ACTIVATION_MS);
    assert.deepEqual(there.done, [...ENDED, ...LET_GO]);
  });

test("a click is over when the page has seen it, and all of it was given where it may have opened a tab", async () => {
  const seen = (hasActivation) => JSON.stringify({ value: { hasActivation } });
  const answers = [seen(true), seen(false)];
  const { ask } = await desk({ callBundle: () => answers.shift() });
  const click = { inputs: [], frame: 0, argument: { releases: 1 } };
  await ask("Page.begin", { mark: "m" });
  assert.deepEqual(await ask("Page.act", click), { value: { hasActivation: true } });
  const waiting = ask("Page.act", click);
  assert.equal(await now(waiting), "pending");
  await ask("Page.given");
  assert.deepEqual(await waiting, { value: { hasActivation: false } });
});

test("a page that waits for a click which went elsewhere is told that it was given", async () => {
  let see;
  const seen = new Promise((resolve) => (see = resolve));
  const bundle = {
    settled: () => seen,
    delivered: () => {
      see(JSON.stringify({ value: { hasActivation: true } }));
      return JSON.stringify({ value: {} });
    },
  };
  const { ask } = await desk({ callBundle: (name) => bundle[name]() });
  await ask("Page.begin", { mark: "m" });
  const waiting = ask("Page.act", { inputs: [], frame: 0, argument: { releases: 2 } });
  assert.equal(await now(waiting), "pending");
  await ask("Page.given");
  assert.deepEqual(await waiting, { value: { hasActivation: true } });
});
