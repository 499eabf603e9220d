import assert from "node:assert/strict";
import { test } from "node:test";

import { PanelDesk } from "../panel.js";
import { view } from "../popup/view.js";

class Event {
  listeners = [];
  addListener(listener) {
    this.listeners.push(listener);
  }
  fire(...args) {
    for (const listener of this.listeners) listener(...args);
  }
}

class Port {
  name = "popup";
  sent = [];
  onMessage = new Event();
  onDisconnect = new Event();
  postMessage(message) {
    this.sent.push(structuredClone(message));
  }
  get last() {
    return this.sent.at(-1);
  }
}

/** Storage that tells of its changes. */
class Kept {
  values = {};
  onChanged = new Event();
  get = async (key) => (key in this.values ? { [key]: this.values[key] } : {});
  set = async (values) => {
    Object.assign(this.values, values);
    this.onChanged.fire(Object.fromEntries(Object.entries(values).map(([key, newValue]) => [key, { newValue }])));
  };
}

/** A browser's API as far as the desk needs it; `kept` outlives a worker. */
function browser(kept = {}) {
  const badge = [];
  return {
    badge,
    kept,
    runtime: { onConnect: new Event() },
    storage: {
      session: {
        get: async (key) => (key in kept ? { [key]: structuredClone(kept[key]) } : {}),
        set: async (values) => void Object.assign(kept, structuredClone(values)),
      },
      local: new Kept(),
    },
    action: { setBadgeText: ({ text }) => badge.push(text) },
  };
}

function open(api) {
  const port = new Port();
  api.runtime.onConnect.fire(port);
  return port;
}

const LINKED = { state: "linked" };
const PANEL = {
  groups: [
    {
      key: "s1@1",
      name: "Research",
      color: "blue",
      paused: false,
      waits: true,
      tabs: [{ title: "News", url: "https://news.example/" }],
      loop: { iteration: 2, limit: 20 },
    },
    { key: "s2@2", name: "Shop", color: "red", paused: true, waits: false, tabs: [], loop: null },
  ],
  pool: { used: 1, capacity: 12 },
  questions: ["claude"],
  answers: [{ name: "codex", allow: true }],
};

/** All texts of a tree, and what its buttons say. */
function read(tree) {
  if (typeof tree === "string") return { texts: [tree], buttons: {} };
  const [, { press }, ...children] = tree;
  const parts = children.map(read);
  const texts = parts.flatMap((part) => part.texts);
  const buttons = Object.assign({}, ...parts.map((part) => part.buttons));
  if (press) buttons[`${texts.join()} ${JSON.stringify(Object.values(press)[0])}`] = press;
  return { texts, buttons };
}

const presses = (tree) => Object.values(read(tree).buttons);

test("the popup shows sessions, tabs, the pool, the queue, loops and questions", () => {
  const { texts } = read(view({ link: LINKED, panel: PANEL, isAllowed: true }));
  for (const text of ["Research", "News", "Shop", "paused", "May claude use this browser?"]) {
    assert.ok(texts.includes(text), text);
  }
  assert.ok(texts.includes("waits for a tab, loop 2/20"));
  assert.ok(texts.includes("1 of 12 tabs in use, 1 waiting"));
});

test("each session can be paused or resumed, and ended; so can all of them", () => {
  const said = presses(view({ link: LINKED, panel: PANEL, isAllowed: true }))
    .map(({ said }) => said)
    .filter(Boolean);
  assert.deepEqual(
    said.map(({ what, group }) => [what, group]),
    [["pause", "s1@1"], ["end", "s1@1"], ["resume", "s2@2"], ["end", "s2@2"], ["pause", null], ["end", null]],
  );
});

test("a question is answered with Allow or Refuse, and an answer can be changed", () => {
  const answered = presses(view({ link: LINKED, panel: PANEL, isAllowed: true }))
    .map(({ answered }) => answered)
    .filter(Boolean);
  assert.deepEqual(answered, [
    { name: "claude", allow: true },
    { name: "claude", allow: false },
    { name: "codex", allow: false },
  ]);
});

test("names of pages and agents are shown as text, never as HTML", () => {
  const name = "<img src=x onerror=alert(1)>";
  const panel = { ...PANEL, questions: [name], groups: [{ ...PANEL.groups[0], name }] };
  const { texts } = read(view({ link: LINKED, panel, isAllowed: true }));
  assert.ok(texts.includes(name));
});

test("without a broker nothing can be pressed, and the page says what to do", () => {
  const other = { message: "Another profile is linked.", hint: "Quit that one." };
  for (const [link, words] of [
    [{ state: "starting" }, "Looking for Roost …"],
    [{ state: "no host" }, "Roost is not installed for this browser."],
    [{ state: "away" }, "Roost is not running."],
    [{ state: "refused", error: other }, "Another profile is linked."],
    [{ state: "what comes later" }, "This browser is not linked to Roost."],
  ]) {
    const tree = view({ link, panel: PANEL, isAllowed: true });
    assert.ok(read(tree).texts.includes(words), words);
    assert.deepEqual(presses(tree), [{ mark: true }], "only the switch, which is this browser's own");
  }
});

test("the popup page gets the state at once, and at every change", async () => {
  const api = browser();
  const desk = new PanelDesk(api, () => {});
  await desk.ready;
  const popup = open(api);
  assert.deepEqual(popup.last, { link: { state: "starting" }, panel: null, isAllowed: true, isOutlining: true });
  desk.changed(LINKED);
  await desk.show(PANEL);
  assert.deepEqual(popup.last, { link: LINKED, panel: PANEL, isAllowed: true, isOutlining: true });
  popup.onDisconnect.fire();
  const heard = popup.sent.length;
  await desk.show({ ...PANEL, groups: [] });
  assert.equal(popup.sent.length, heard, "one that was closed is not told");
});

test("a popup page opened after the background slept shows the panel and works", async () => {
  const first = browser();
  const awake = new PanelDesk(first, () => {});
  awake.changed(LINKED);
  await awake.show(PANEL);
  // The worker is ended here; what wakes the next one is the popup itself.
  const told = [];
  const api = browser(first.kept);
  const desk = new PanelDesk(api, (...words) => told.push(words));
  const popup = open(api);
  assert.deepEqual(popup.last.link, { state: "starting" });
  await desk.ready;
  desk.changed(LINKED);
  assert.deepEqual(popup.last, { link: LINKED, panel: PANEL, isAllowed: true, isOutlining: true });
  popup.onMessage.fire({ said: { what: "pause", group: "s1@1" } });
  popup.onMessage.fire({ answered: { name: "claude", allow: true } });
  assert.deepEqual(told, [
    ["Person.said", { what: "pause", group: "s1@1" }],
    ["Person.answered", { name: "claude", allow: true }],
  ]);
});

test("a button pressed while the broker goes away is not sent to the next broker", async () => {
  const told = [];
  const api = browser();
  const desk = new PanelDesk(api, (...words) => told.push(words));
  await desk.ready;
  desk.changed(LINKED);
  const popup = open(api);
  desk.changed({ state: "away" });
  popup.onMessage.fire({ said: { what: "end", group: null } });
  assert.deepEqual(told, []);
});

test("waiting questions are counted on the button of the extension", async () => {
  const api = browser();
  const desk = new PanelDesk(api, () => {});
  await desk.ready;
  desk.changed(LINKED);
  await desk.show(PANEL);
  assert.equal(api.badge.at(-1), "1");
  const asking = { ...PANEL.groups[0], question: "Solve the captcha" };
  await desk.show({ ...PANEL, groups: [asking] });
  assert.equal(api.badge.at(-1), "2");
  const { texts } = read(view({ link: LINKED, panel: { ...PANEL, groups: [asking] }, isAllowed: true }));
  assert.ok(texts.includes("Asks for you: “Solve the captcha”"));
  await desk.show({ ...PANEL, questions: [] });
  assert.equal(api.badge.at(-1), "");
});

test("without access to pages the popup says so, with a button that asks the browser for access", async () => {
  const grants = ([, { grant }, ...children]) =>
    [...(grant ? [grant] : []), ...children.flatMap((child) => (typeof child === "string" ? [] : grants(child)))];
  for (const link of [LINKED, { state: "away" }]) {
    const tree = view({ link, panel: PANEL, isAllowed: false });
    assert.ok(read(tree).texts.includes("Roost has no permission to work on pages."));
    assert.deepEqual(grants(tree), [{ origins: ["<all_urls>"] }]);
    assert.deepEqual(grants(view({ link, panel: PANEL, isAllowed: true })), []);
  }
  const api = browser();
  const desk = new PanelDesk(api, () => {});
  await desk.ready;
  const popup = open(api);
  desk.allowed(false);
  assert.equal(popup.last.isAllowed, false);
  assert.equal(api.badge.at(-1), "!");
  desk.allowed(true);
  assert.equal(api.badge.at(-1), "");
});

test("the switch of the outlines works in the popup with or without a broker, and every popup shows it", async () => {
  const api = browser();
  const desk = new PanelDesk(api, () => assert.fail("no word of it is for the broker"));
  await desk.ready;
  const [one, other] = [open(api), open(api)];
  const pressed = ({ last }) => presses(view(last)).find(({ mark }) => mark !== undefined);
  assert.deepEqual(pressed(one), { mark: false });
  one.onMessage.fire(pressed(one));
  await new Promise(setImmediate);
  assert.deepEqual(api.storage.local.values, { mark: false });
  assert.deepEqual(pressed(other), { mark: true });
  assert.deepEqual(pressed(open(api)), { mark: true });
});
