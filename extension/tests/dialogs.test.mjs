import assert from "node:assert/strict";
import { test } from "node:test";

import { Dialogs, WAITING_ROOM } from "../firefox/dialogs.js";

function desk() {
  const told = [];
  const given = [];
  const executeScript = async ({ target, args }) => void given.push([target, ...args]);
  const handles = new Map([[1, "r.1"]]);
  const dialogs = new Dialogs(
    { scripting: { executeScript } },
    { tell: (...what) => told.push(what), handleOf: (id) => handles.get(id) ?? null },
  );
  const asks = (kind, { frameId = 0, message = "Sure?", text = "" } = {}) => {
    const said = new URLSearchParams({ kind, message, default: text });
    return dialogs.asked({ tabId: 1, frameId, url: `${WAITING_ROOM}?${said}` });
  };
  return { dialogs, told, given, asks, handles };
}

const OVER = ["Page.dialogOver", { tab: "r.1" }];
const shown = (kind, text = "") => ["Page.dialog", { tab: "r.1", kind, message: "Sure?", default: text }];

test("a page waits until its dialog is answered, and has the answer before it goes on", async () => {
  const { dialogs, told, given, asks } = desk();
  const waits = asks("prompt", { frameId: 4, text: "Nobody" });
  assert.deepEqual(told, [shown("prompt", "Nobody")]);
  assert.deepEqual(await dialogs.answer(1, { accept: true, text: null }), { isOpen: true });
  assert.deepEqual(given, [[{ tabId: 1, frameIds: [4] }, { accept: true, text: "Nobody" }]]);
  assert.deepEqual(await waits, { cancel: true });
  assert.deepEqual(told.at(-1), OVER);
  assert.deepEqual(await dialogs.answer(1, { accept: true, text: null }), { isOpen: false });
});

test("of two frames' dialogs the second is shown when the first is over", async () => {
  const { dialogs, told, asks } = desk();
  const first = asks("alert");
  const second = asks("confirm", { frameId: 2 });
  assert.equal(told.length, 1);
  await dialogs.answer(1, { accept: true });
  await first;
  assert.deepEqual(told.slice(1), [OVER, shown("confirm")]);
  dialogs.left(1, 2);
  await second;
});

test("leaving a page ends its dialogs", async () => {
  const { dialogs, told, given, asks, handles } = desk();
  const waits = asks("alert");
  dialogs.left(1);
  await waits;
  assert.deepEqual(told, [shown("alert"), OVER]);
  const again = asks("alert");
  handles.clear(); // the person took the tab: it is theirs to answer, and nothing is told
  dialogs.left(1);
  await again;
  assert.deepEqual(told.length, 3);
  assert.deepEqual(given, []);
});

test("a new broker is told of open dialogs; without a broker the person is asked", async () => {
  const { dialogs, told, asks } = desk();
  const waits = asks("confirm");
  dialogs.tellAgain();
  assert.deepEqual(told, [shown("confirm"), shown("confirm")]);
  dialogs.handBack();
  assert.deepEqual(await waits, { cancel: true });
});
