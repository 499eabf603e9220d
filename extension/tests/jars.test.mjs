import assert from "node:assert/strict";
import { test } from "node:test";

import { Jars } from "../firefox/jars.js";

/** A browser with the person's container `work`; tabs by container. */
function desk({ local = {}, tabs = {} } = {}) {
  let next = 1;
  const there = new Set(["work", ...Object.keys(tabs)]);
  const closed = [];
  const cookies = [];
  const area = (kept) => ({ get: async (key) => ({ [key]: kept[key] }), set: async (what) => void Object.assign(kept, what) });
  const api = {
    storage: { local: area(local) },
    contextualIdentities: {
      query: async () => [...there].map((cookieStoreId) => ({ cookieStoreId })),
      create: async () => {
        const cookieStoreId = `jar-${next++}`;
        there.add(cookieStoreId);
        return { cookieStoreId };
      },
      remove: async (id) => void there.delete(id),
    },
    tabs: { query: async ({ cookieStoreId }) => (tabs[cookieStoreId] ?? []).map((id) => ({ id })) },
    cookies: {
      set: async (cookie) => (cookie.name === "bad" ? Promise.reject(new Error("no")) : (cookies.push(cookie), cookie)),
      getAll: async ({ storeId }) => cookies.filter((one) => one.storeId === storeId),
    },
    scripting: { executeScript: async () => [{ result: JSON.stringify(["http://x", [["k", "now"]]]) }] },
    webNavigation: { getFrame: async () => ({ url: "http://x/page" }) },
  };
  const strip = {
    handleOf: (id) => (id < 100 ? `r.${id}` : null),
    jarOf: (id) => Object.keys(tabs).find((jar) => tabs[jar].includes(id)) ?? null,
    call: async (method, { tab }) => void closed.push([method, tab]),
  };
  return { jars: new Jars(api, strip), there, closed, cookies, tabs };
}

const list = (jars) => jars.call("Jars.list", {});
const make = async (jars) => (await jars.call("Jars.make", { name: "Roost", color: "blue" })).jar;

test("only containers that were made here are jars; the person's are not there", async () => {
  const { jars } = desk();
  const jar = await make(jars);
  assert.deepEqual(await list(jars), { jars: [jar] });
  await jars.call("Jars.remove", { jar: "work" });
  for (const method of ["Jars.cookies", "Jars.write", "Jars.delete", "Jars.storage", "Jars.store"])
    await assert.rejects(jars.call(method, { jar: "work", cookies: [], origins: [], storage: [] }), /gone/, method);
});

test("removing a jar closes its managed tabs, and no others", async () => {
  const { jars, there, closed, tabs } = desk();
  const jar = await make(jars);
  tabs[jar] = [1, 200];
  await jars.call("Jars.remove", { jar });
  assert.deepEqual(closed, [["Tabs.close", "r.1"]]);
  assert.deepEqual([...there], ["work"]);
  assert.deepEqual(await list(jars), { jars: [] });
});

test("jars outlive the browser, with or without their tabs; those that the person removed are gone", async () => {
  const { jars, there } = desk({ local: { jars: ["kept", "empty", "removed"] }, tabs: { kept: [1], empty: [] } });
  assert.deepEqual(await list(jars), { jars: ["kept", "empty"] });
  assert.deepEqual([...there], ["work", "kept", "empty"]);
});

test("cookies are written to their jar, and refused cookies are listed", async () => {
  const { jars, cookies } = desk();
  const jar = await make(jars);
  const cookie = { name: "a", value: "1", domain: "x.test", path: "/p", expires: null, httpOnly: true, secure: false, sameSite: "Lax", partitionKey: null };
  const given = [cookie, { ...cookie, name: "bad" }, { ...cookie, name: "b", domain: ".x.test", secure: true, expires: 9, sameSite: null, partitionKey: "https://top" }, { ...cookie, domain: "::1" }];
  assert.deepEqual(await jars.call("Jars.write", { jar, cookies: given }), { refused: [1] });
  assert.deepEqual(cookies[0], { storeId: jar, url: "http://x.test/p", name: "a", value: "1", path: "/p", httpOnly: true, secure: false, sameSite: "lax" });
  const { url, domain, expirationDate, sameSite, partitionKey } = cookies[1];
  assert.deepEqual([url, domain, expirationDate, sameSite], ["https://x.test/p", ".x.test", 9, "unspecified"]);
  assert.deepEqual(partitionKey, { topLevelSite: "https://top" });
  assert.equal(cookies[2].url, "http://[::1]/p");
  assert.equal((await jars.call("Jars.cookies", { jar })).cookies.length, 3);
});

test("storage waits for the first page of its origin, and is read from pages and from memory", async () => {
  const { jars, tabs } = desk();
  const jar = await make(jars);
  const storage = [
    { origin: "http://x", items: [["seed", "1"]] },
    { origin: "http://y", items: [["later", "2"]] },
  ];
  await jars.call("Jars.store", { jar, storage });
  const origins = ["http://x", "http://y", "http://z"];
  const read = async () => (await jars.call("Jars.storage", { jar, origins })).storage.map(({ items }) => items);
  assert.deepEqual(await read(), [[["seed", "1"]], [["later", "2"]], []]);
  tabs[jar] = [1];
  const filled = [];
  await jars.fill(1, 0, async ({ args }) => void filled.push(args));
  await jars.fill(1, 0, async ({ args }) => void filled.push(args));
  assert.deepEqual(filled, [[[["seed", "1"]]]], "once");
  assert.deepEqual((await read())[0], [["k", "now"]], "as the page has it");
  tabs[jar] = [];
  jars.left(1, "http://z", [["never", "told"]]);
  assert.deepEqual((await read())[2], [], "a tab that is in no jar of ours");
});
