import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { TabStrip } from "../groups.js";
import { FakeBrowser } from "./fake_browser.mjs";

const ALICE = { key: "s1", title: "alice", color: "blue" };
const BOB = { key: "s2", title: "bob", color: "red" };

/** A person with two tabs of their own, and a strip that a broker has asked for its state. */
async function scene(browser = new FakeBrowser()) {
  if (!browser.windows.size) {
    const window = browser.openWindow({});
    for (const url of ["https://mail.test/", "https://news.test/"]) browser.personOpens(window, url);
  }
  const window = [...browser.windows.keys()][0];
  const said = [];
  const strip = new TabStrip(browser.api, browser.storage, (method, params) => said.push([method, params]));
  await strip.ready;
  const state = await strip.call("Roost.state", {});
  const made = async (group, jar) => {
    const { tab } = await strip.call("Tabs.create", { group, jar });
    return { handle: tab, id: strip.tabOf(tab) };
  };
  const groupId = (tab) => browser.tabs.get(tab.id ?? tab).groupId;
  return { browser, window, strip, said, state, made, groupId, settled: () => settled(strip) };
}

/** Until all that was started is done, whatever time it takes. */
async function settled(strip) {
  for (let round = 0; round < 4; round++) {
    mock.timers.tick(1000);
    for (let turn = 0; turn < 20; turn++) await strip.call("Tabs.close", { tab: "nobody" });
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
});

test("a session's first tab makes its group, inactive, in the person's last window", async () => {
  const { browser, window, made, said, groupId, settled } = await scene();
  const front = browser.activeIn(window);
  const tab = await made(ALICE);
  await settled();
  const group = browser.groups.get(groupId(tab));
  assert.deepEqual([group.title, group.color, group.windowId], ["alice", "blue", window]);
  assert.equal(browser.activeIn(window), front);
  assert.deepEqual(said, []);
});

test("all tabs of a session are in one group, and another session's in another", async () => {
  const { made, groupId } = await scene();
  const [a, b, c] = [await made(ALICE), await made(ALICE), await made(BOB)];
  assert.equal(groupId(a), groupId(b));
  assert.notEqual(groupId(a), groupId(c));
});

test("a tab is shown to the person: selected, in a window that is restored and focused", async () => {
  const { browser, window, strip, made, settled } = await scene();
  const tab = await made(ALICE);
  browser.windows.get(window).state = "minimized";
  const other = browser.openWindow({});
  await strip.call("Tabs.show", { tab: tab.handle });
  await settled();
  assert.equal(browser.activeIn(window), tab.id);
  assert.notEqual(browser.focused, other);
  assert.equal(browser.focused, window);
  assert.equal(browser.windows.get(window).state, "normal");
});

test("a tab that just opened stays shown when the person asks for it", async () => {
  const { browser, window, strip, made } = await scene();
  const tab = await made(ALICE);
  strip.watch({ isGivenInput: (id) => id === tab.id });
  const popup = browser.pageOpensBehind(tab.id, "https://popup.test/");
  await strip.call("Roost.state", {}); // in turn, so the popup has joined its opener's group
  await strip.call("Tabs.show", { tab: strip.handleOf(popup) });
  await strip.call("Roost.state", {}); // the strip has heard what is in front, at the same time
  assert.equal(browser.activeIn(window), popup);
});

test("a tab of the person's own cannot be shown", async () => {
  const { browser, window, strip } = await scene();
  const front = browser.activeIn(window);
  await assert.rejects(strip.call("Tabs.show", { tab: "nobody.1" }), /no such tab/);
  assert.equal(browser.activeIn(window), front);
});

test("a jar is the tab's cookie store", async () => {
  const { browser, made, strip } = await scene();
  const tab = await made(ALICE, "firefox-container-7");
  assert.equal(browser.tabs.get(tab.id).cookieStoreId, "firefox-container-7");
  assert.equal(strip.jarOf(tab.id), "firefox-container-7");
});

test("without a normal window a new one is made, unfocused, with our tab alone in it", async () => {
  const { browser, window, made } = await scene();
  browser.personClosesWindow(window);
  const hidden = browser.openWindow({ incognito: true });
  const tab = await made(ALICE);
  assert.notEqual(browser.tabs.get(tab.id).windowId, hidden);
  assert.equal(browser.focused, hidden);
  assert.equal(browser.tabs.size, 1);
});

test("a tab that cannot be grouped while the person drags is grouped a moment later", async () => {
  const { browser, made, groupId } = await scene();
  browser.isDragging = true;
  const waiting = made(ALICE);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  browser.isDragging = false;
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  mock.timers.tick(100);
  assert.notEqual(groupId(await waiting), -1);
});

test("the person's tabs are never reported, and commands cannot name them", async () => {
  const { browser, window, strip, said, made, settled } = await scene();
  await made(ALICE);
  const own = browser.personOpens(window, "https://bank.test/");
  browser.pageGoes(own, "https://bank.test/account", "Account");
  const group = browser.personGroups(own, { title: "Bank", color: "green" });
  browser.pageOpens(own, "https://bank.test/pay");
  browser.personClosesGroup(group);
  await settled();
  assert.deepEqual(said, []);
  assert.throws(() => strip.tabOf(`${strip.run}.${own}`), { code: 404 });
  const state = await strip.call("Roost.state", {});
  assert.deepEqual(state.tabs.map(({ group }) => group), ["s1"]);
});

test("nothing is reported before a broker has asked", async () => {
  const browser = new FakeBrowser();
  const window = browser.openWindow({});
  browser.personOpens(window, "https://mail.test/");
  const said = [];
  const strip = new TabStrip(browser.api, browser.storage, (...what) => said.push(what));
  const { tab } = await strip.call("Tabs.create", { group: ALICE });
  browser.pageGoes(strip.tabOf(tab), "https://a.test/", "A");
  await settled(strip);
  assert.deepEqual(said, []);
  assert.deepEqual((await strip.call("Roost.state", {})).tabs, [
    { tab, group: "s1", url: "https://a.test/", title: "A", jar: null },
  ]);
});

test("navigations of managed tabs are reported", async () => {
  const { browser, made, said, settled } = await scene();
  const tab = await made(ALICE);
  browser.pageGoes(tab.id, "https://a.test/", "A");
  await settled();
  assert.deepEqual(said, [["Tabs.arrived", { tab: tab.handle, url: "https://a.test/", title: "A" }]]);
});

// --- spawned tabs ------------------------------------------------------------------------------

test("a new tab belongs to its opener's session, whatever openerTabId says", async () => {
  const { browser, window, made, said, groupId, settled, strip } = await scene();
  const [alice, bob] = [await made(ALICE), await made(BOB)];
  browser.activate(bob.id); // so the browser takes Bob's for the opener, and uses Bob's group
  await settled();
  const spawned = browser.pageOpens(alice.id, "https://a.test/popup");
  await settled();
  assert.equal(groupId(spawned), groupId(alice));
  const appeared = said.filter(([method]) => method !== "Tabs.arrived");
  assert.deepEqual(appeared, [
    [
      "Tabs.appeared",
      { tab: strip.handleOf(spawned), group: "s1", opener: alice.handle, jar: null, url: "https://a.test/popup" },
    ],
  ]);
  assert.equal(browser.activeIn(window), bob.id);
});

test("a background tab that input opens belongs to its opener's session", async () => {
  const { browser, made, said, strip, settled } = await scene();
  const [alice, bob] = [await made(ALICE), await made(BOB)];
  const given = new Set([alice.id]);
  strip.watch({ isGivenInput: (id) => given.has(id) });
  const ours = browser.pageOpensBehind(alice.id, "https://a.test/ours");
  await settled();
  assert.equal(strip.groupOf(ours), "s1");
  const opener = (id) => said.find(([method, { tab }]) => method === "Tabs.appeared" && tab === strip.handleOf(id))?.[1].opener;
  assert.equal(opener(ours), alice.handle);
  // What a tab of the person's opens stays theirs, whatever goes on elsewhere.
  given.add(bob.id);
  const theirs = browser.pageOpens(browser.activeIn([...browser.windows.keys()][0]), "https://mail.test/popup");
  await settled();
  assert.equal(strip.groupOf(theirs), null);
  // And without input nobody is believed but the event.
  given.clear();
  const persons = browser.pageOpensBehind(bob.id, "https://b.test/persons");
  await settled();
  assert.equal(strip.groupOf(persons), null);
});

test("a new tab belongs to no session until its opener is known", async () => {
  const { browser, made, said, strip, settled } = await scene();
  const [alice, bob] = [await made(ALICE), await made(BOB)];
  browser.activate(bob.id);
  const spawned = browser.pageOpens(alice.id, "https://a.test/popup", { tells: false });
  await strip.call("Roost.state", {});
  assert.throws(() => strip.tabOf(`${strip.run}.${spawned}`), { code: 404 });
  assert.deepEqual(said, []);
  browser.tellOpener(alice.id, spawned, "https://a.test/popup");
  await settled();
  assert.equal(strip.groupOf(spawned), "s1");
});

test("the person's tab is in front again at once after a tab was spawned", async () => {
  const { browser, window, made, settled } = await scene();
  const front = browser.activeIn(window);
  const alice = await made(ALICE);
  for (let count = 0; count < 3; count++) {
    browser.pageOpens(alice.id, `https://a.test/${count}`);
    await settled();
    assert.equal(browser.activeIn(window), front);
  }
});

test("a spawned tab that the person looks at later stays in front", async () => {
  const { browser, window, made, settled } = await scene();
  const alice = await made(ALICE);
  const spawned = browser.pageOpens(alice.id, "https://a.test/popup");
  await settled();
  browser.activate(spawned);
  await settled();
  assert.equal(browser.activeIn(window), spawned);
});

test("a popup window's tab moves into its opener's group, behind what the person looks at", async () => {
  const { browser, window, made, groupId, settled } = await scene();
  const front = browser.activeIn(window);
  const alice = await made(ALICE);
  const spawned = browser.pageOpens(alice.id, "https://login.test/", { popup: true });
  await settled();
  assert.equal(groupId(spawned), groupId(alice));
  assert.equal(browser.tabs.get(spawned).windowId, window);
  assert.equal(browser.activeIn(window), front);
  assert.equal(browser.windows.size, 1);
});

test("a tab that the person's tab opens is the person's, even inside a group", async () => {
  const { browser, window, made, said, groupId, settled } = await scene();
  const own = browser.activeIn(window);
  const alice = await made(ALICE);
  browser.activate(alice.id);
  const spawned = browser.pageOpens(own, "https://mail.test/letter");
  await settled();
  assert.equal(groupId(spawned), -1);
  assert.deepEqual(said, []);
});

// --- the person changes the strip --------------------------------------------------------------

test("a tab the person opens in the group is the session's", async () => {
  const { browser, window, made, said, groupId, settled, strip } = await scene();
  const alice = await made(ALICE);
  const opened = browser.personOpens(window, "about:newtab", groupId(alice));
  await settled();
  const tab = strip.handleOf(opened);
  assert.deepEqual(said[0], ["Tabs.appeared", { tab, group: "s1", opener: null, jar: null, url: "about:newtab" }]);
});

test("a tab dragged in is the session's; dragged out it is lost to it at once", async () => {
  const { browser, window, made, said, groupId, settled, strip } = await scene();
  const alice = await made(ALICE);
  const own = browser.activeIn(window);
  browser.personDrags(own, groupId(alice));
  await settled();
  const handle = strip.handleOf(own);
  assert.equal(said[0][0], "Tabs.appeared");
  browser.personDrags(own, -1);
  assert.throws(() => strip.tabOf(handle), { code: 404 });
  await settled();
  assert.deepEqual(said.slice(1), [["Tabs.moved", { tab: handle, group: null }]]);
});

test("a tab moved between two groups changes its owner", async () => {
  const { browser, made, said, groupId, settled, strip } = await scene();
  const [alice, bob, other] = [await made(ALICE), await made(BOB), await made(BOB)];
  browser.personDrags(bob.id, groupId(alice));
  await settled();
  assert.deepEqual(said, [["Tabs.moved", { tab: bob.handle, group: "s1" }]]);
  assert.equal(strip.groupOf(bob.id), "s1");
  assert.equal(strip.groupOf(other.id), "s2");
});

test("closing a group is reported before its tabs", async () => {
  const { browser, made, said, groupId, settled } = await scene();
  const tabs = [await made(ALICE), await made(ALICE), await made(ALICE)];
  browser.personClosesGroup(groupId(tabs[0]));
  await settled();
  assert.deepEqual(said, [
    ["Groups.closed", { key: "s1" }],
    ...tabs.map(({ handle }) => ["Tabs.removed", { tab: handle }]),
  ]);
});

test("a group closed without a broker is reported to the next broker", async () => {
  const { browser, made, settled: stored } = await scene();
  await made(ALICE);
  await stored();
  const next = browser.restarted();
  const said = [];
  const strip = new TabStrip(next.api, next.storage, (...what) => said.push(what));
  await strip.ready;
  next.personClosesGroup([...next.groups.keys()][0]);
  await settled(strip);
  assert.deepEqual(said, []);
  assert.deepEqual((await strip.call("Roost.state", {})).closed, ["s1"]);
  assert.deepEqual((await strip.call("Roost.state", {})).closed, []);
});

for (const [name, act] of [
  ["closing one of its tabs", ({ browser, tabs }) => browser.personCloses(tabs[0].id)],
  ["closing its tabs ourselves", async ({ strip, tabs }) => {
    for (const { handle } of tabs) await strip.call("Tabs.close", { tab: handle });
  }],
  ["dragging all its tabs out", ({ browser, tabs }) => tabs.forEach(({ id }) => browser.personDrags(id, -1))],
  ["closing its window", ({ browser, window }) => browser.personClosesWindow(window)],
]) {
  test(`${name} is not closing the group`, async () => {
    const at = await scene();
    const tabs = [await at.made(ALICE), await at.made(ALICE)];
    await act({ ...at, tabs });
    await at.settled();
    assert.ok(at.said.length > 0);
    assert.ok(!at.said.some(([method]) => method === "Groups.closed"));
    const fresh = await at.made(ALICE);
    assert.equal(at.browser.groups.get(at.groupId(fresh)).title, "alice");
  });
}

test("a tab that closed with its window is reported a moment later, because the browser may be quitting", async () => {
  const { browser, window, strip, made, said } = await scene();
  const { handle } = await made(ALICE);
  browser.personClosesWindow(window);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  let isKnown = false;
  const known = strip.unlessQuitting(handle).then(() => (isKnown = true));
  mock.timers.tick(999);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  assert.deepEqual([said, isKnown], [[], false], "a browser that quits is gone by now, and nothing was told");
  mock.timers.tick(1);
  await known;
  assert.deepEqual(said, [["Tabs.removed", { tab: handle }]]);
  assert.throws(() => strip.tabOf(handle));
});

test("after its group was closed a session gets a fresh one with its next tab", async () => {
  const { browser, made, groupId } = await scene();
  const alice = await made(ALICE);
  const before = groupId(alice);
  browser.personClosesGroup(before);
  const again = await made(ALICE);
  assert.notEqual(groupId(again), before);
  assert.equal(browser.groups.get(groupId(again)).title, "alice");
});

test("a name the person gave to a group stays, until the session's own changes", async () => {
  const { browser, made, groupId, settled } = await scene();
  const id = groupId(await made(ALICE));
  await browser.api.tabGroups.update(id, { title: "shopping" });
  await settled();
  await made(ALICE);
  assert.equal(browser.groups.get(id).title, "shopping");
  await made({ ...ALICE, title: "alice 2" });
  assert.equal(browser.groups.get(id).title, "alice 2");
});

test("a tab that Roost closes is reported once, and closing a missing tab is no error", async () => {
  const { made, said, strip, settled } = await scene();
  const tab = await made(ALICE);
  await strip.call("Tabs.close", { tab: tab.handle });
  await strip.call("Tabs.close", { tab: tab.handle });
  await settled();
  assert.deepEqual(said, [["Tabs.removed", { tab: tab.handle }]]);
});

test("closing the last tab does not end the browser", async () => {
  const { browser, window, made, strip } = await scene();
  const tab = await made(ALICE);
  for (const { id } of [...browser.tabs.values()]) if (id !== tab.id) browser.personCloses(id);
  await strip.call("Tabs.close", { tab: tab.handle });
  assert.equal(browser.windows.has(window), true);
});

test("a session that is over leaves its tabs to the person", async () => {
  const { browser, made, said, strip, settled } = await scene();
  const tab = await made(ALICE);
  await strip.call("Groups.forget", { key: "s1" });
  assert.throws(() => strip.tabOf(tab.handle), { code: 404 });
  browser.pageGoes(tab.id, "https://a.test/", "A");
  await settled();
  assert.deepEqual(said, []);
});

// --- found again -------------------------------------------------------------------------------

test("a suspended background page continues with the event that woke it", async () => {
  const { browser, made, strip, groupId } = await scene();
  const alice = await made(ALICE);
  await strip.call("Roost.state", {});
  browser.wake();
  const said = [];
  const woken = new TabStrip(browser.api, browser.storage, (...what) => said.push(what));
  browser.personClosesGroup(groupId(alice));
  await settled(woken);
  assert.equal(woken.run, strip.run);
  assert.deepEqual(said.map(([method]) => method), ["Groups.closed", "Tabs.removed"]);
});

test("after a restart of the browser groups are found by title, colour and addresses", async () => {
  const { browser, window, made, strip, settled } = await scene();
  const [alice, bob] = [await made(ALICE), await made(BOB)];
  browser.pageGoes(alice.id, "https://a.test/", "A");
  browser.pageGoes(bob.id, "https://b.test/", "B");
  const lookalike = browser.personOpens(window, "https://own.test/");
  browser.personGroups(lookalike, { title: "alice", color: "blue" });
  await settled();
  const again = await scene(browser.restarted());
  assert.notEqual(again.strip.run, strip.run);
  const found = again.state.tabs.map(({ group, url }) => [group, url]);
  assert.deepEqual(found.sort(), [["s1", "https://a.test/"], ["s2", "https://b.test/"]]);
});

test("two groups of one name are distinguished by their addresses", async () => {
  const { browser, made, settled } = await scene();
  const twin = { ...ALICE, key: "s9" };
  const [one, other] = [await made(ALICE), await made(twin)];
  browser.pageGoes(one.id, "https://one.test/", "");
  browser.pageGoes(other.id, "https://other.test/", "");
  await settled();
  const again = await scene(browser.restarted());
  const found = again.state.tabs.map(({ group, url }) => [group, url]);
  assert.deepEqual(found.sort(), [["s1", "https://one.test/"], ["s9", "https://other.test/"]]);
});

test("a browser that restores its windows late is waited for, and no longer than that", async () => {
  const { browser, made, settled } = await scene();
  browser.pageGoes((await made(ALICE)).id, "https://a.test/", "A");
  await settled();
  const next = browser.restarted({ restores: false });
  const strip = new TabStrip(next.api, next.storage, () => {});
  const state = strip.call("Roost.state", {});
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  next.restore();
  mock.timers.tick(100);
  assert.deepEqual((await state).tabs.map(({ url }) => url), ["https://a.test/"]);
});

test("a group that the person restores much later is reported then", async () => {
  const { browser, made, settled: waited } = await scene();
  browser.pageGoes((await made(ALICE)).id, "https://a.test/", "A");
  await waited();
  const next = browser.restarted({ restores: false });
  const said = [];
  const strip = new TabStrip(next.api, next.storage, (...what) => said.push(what));
  const state = strip.call("Roost.state", {});
  for (let turn = 0; turn < 400; turn++) {
    await Promise.resolve();
    mock.timers.tick(100);
  }
  assert.deepEqual((await state).tabs, []);
  next.restore();
  await settled(strip);
  assert.deepEqual(said.map(([method]) => method), ["Tabs.appeared", "Tabs.arrived"]);
  assert.equal(said[0][1].group, "s1");
});

test("a window that is closed and brought back has its session's tabs again", async () => {
  const { browser, window, made, settled, said } = await scene();
  const other = browser.openWindow({ focused: false });
  browser.personOpens(other, "https://mail.test/");
  const tab = await made(ALICE);
  browser.pageGoes(tab.id, "https://a.test/", "A");
  await settled();
  browser.personClosesWindow(window);
  await settled();
  const back = browser.personOpens(other, "https://a.test/");
  browser.personGroups(back, { title: "alice", color: "blue" });
  await settled();
  assert.deepEqual(said.at(-1)[0], "Tabs.appeared");
  assert.equal(said.at(-1)[1].group, "s1");
});

test("a group that the person dissolved is not recognised in a similar one", async () => {
  const { browser, made, settled, said } = await scene();
  const tab = await made(ALICE);
  browser.pageGoes(tab.id, "https://a.test/", "A");
  browser.personDrags(tab.id, -1);
  await settled();
  browser.personGroups(tab.id, { title: "alice", color: "blue" });
  await settled();
  assert.equal(said.at(-1)[0], "Tabs.moved");
});
