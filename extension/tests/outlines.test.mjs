import assert from "node:assert/strict";
import { test } from "node:test";

import { Outlines } from "../outlines.js";

const turn = () => new Promise(setImmediate);
const later = () => new Promise((resolve) => setTimeout(resolve, 400));

/** Tabs 1 and 2 are in groups; `pages` is what was painted last in each. */
async function desk(kept = {}) {
  const listeners = [];
  const local = { get: async () => kept, onChanged: { addListener: (listener) => listeners.push(listener) } };
  const groups = new Map([1, 2].map((id) => [id, { key: `k${id}`, title: `S${id}`, color: "blue" }]));
  const pages = new Map();
  const painted = [];
  const strip = { lookOf: (id) => groups.get(id) ?? null };
  const outlines = new Outlines({ local }, strip, async (tabId, look) => {
    painted.push([tabId, look]);
    pages.set(tabId, look);
  });
  const turnSwitch = (newValue) => listeners.forEach((listener) => listener({ mark: { newValue } }));
  await turn();
  return { outlines, groups, pages, painted, turnSwitch };
}

test("a page is outlined with its group's name and colour, and follows the person's changes to the group", async () => {
  const { outlines, groups, pages, painted } = await desk();
  await outlines.show(1);
  assert.deepEqual([pages.get(1).name, pages.get(1).color], ["S1", "#1a73e8"]);
  groups.set(1, { key: "k2", title: "S2", color: "yellow" });
  outlines.refresh();
  assert.deepEqual([pages.get(1).name, pages.get(1).ink], ["S2", "#202124"]);
  const times = painted.length;
  outlines.refresh();
  assert.equal(painted.length, times, "what has not changed is not painted");
  await outlines.hideAll();
  assert.equal(pages.get(1), null);
});

test("the switch is remembered, and holds at once for every tab", async () => {
  const { outlines, pages, painted, turnSwitch } = await desk({ mark: false });
  await outlines.show(1);
  await outlines.show(2);
  assert.deepEqual(painted, [], "a page that bears none is left alone");
  turnSwitch(true);
  assert.deepEqual([...pages.values()].map(({ name }) => name), ["S1", "S2"]);
  turnSwitch(false);
  assert.deepEqual([...pages.values()], [null, null]);
  await outlines.hideAll();
});

test("a paused session has no outline until it is resumed", async () => {
  const { outlines, pages } = await desk();
  await outlines.show(1);
  await outlines.show(2);
  outlines.paused(["k1"]);
  assert.deepEqual([pages.get(1), pages.get(2).name], [null, "S2"]);
  outlines.paused([]);
  assert.equal(pages.get(1).name, "S1");
  await outlines.hideAll();
});

test("the outline comes back after the last of two pictures, not between them", async () => {
  const { outlines, pages } = await desk();
  await outlines.show(1);
  const shutters = [];
  const takes = [1, 2].map(() => outlines.without(1, () => new Promise((resolve) => shutters.push(resolve))));
  await turn();
  shutters[0]();
  await takes[0];
  assert.equal(pages.get(1).isHidden, true);
  shutters[1]();
  await takes[1];
  await outlines.without(1, async () => assert.equal(pages.get(1).isHidden, true, "nor before a third"));
  await later();
  assert.equal(pages.get(1).isHidden, false);
  await outlines.hideAll();
});

test("a picture that fails gives the outline back, and one of a page that left its group does not", async () => {
  const { outlines, groups, pages } = await desk();
  await outlines.show(1);
  await assert.rejects(outlines.without(1, async () => { throw new Error("no picture"); }), /no picture/);
  await later();
  assert.equal(pages.get(1).isHidden, false);
  await outlines.without(1, async () => {
    groups.delete(1);
    await outlines.hide(1);
  });
  assert.equal(pages.get(1), null);
});
