// Jars are containers that the extension made. It never lists, empties or removes the person's own
// containers or the browser's default one.
//
// Only a page of an origin can reach the origin's localStorage. So items for a jar wait here until
// the jar opens a page of that origin, and are written before the page's first script. When a page
// of a jar is left, its items are remembered here.

import { Refusal } from "../link.js";
import { seed, stored } from "./inpage.js";

const NO_SUCH_JAR = 404;
const SAME_SITE = { Strict: "strict", Lax: "lax", None: "no_restriction" };
const ICON = "fingerprint";

export class Jars {
  #api;
  #strip;
  #waiting = new Map(); // "jar origin" → items
  #kept = new Map(); // "jar origin" → items as last read

  constructor(api, strip) {
    this.#api = api;
    this.#strip = strip;
  }

  call(method, params) {
    return {
      "Jars.list": () => this.#list(),
      "Jars.make": () => this.#make(params),
      "Jars.remove": () => this.#remove(params.jar),
      "Jars.cookies": () => this.#cookies(params.jar),
      "Jars.write": () => this.#write(params),
      "Jars.delete": () => this.#delete(params),
      "Jars.storage": () => this.#storage(params),
      "Jars.store": () => this.#store(params),
    }[method]?.();
  }

  // --- containers ------------------------------------------------------------------------------

  /** List the jars, including those of an earlier run of the browser. The broker knows which of
   * them a session still uses. */
  async #list() {
    const { jars = [] } = await this.#api.storage.local.get("jars");
    const there = await this.#api.contextualIdentities.query({});
    const ids = new Set(there.map(({ cookieStoreId }) => cookieStoreId));
    return { jars: jars.filter((jar) => ids.has(jar)) };
  }

  async #make({ name, color }) {
    const made = await this.#api.contextualIdentities.create({ name, color, icon: ICON });
    const { jars } = await this.#list();
    await this.#api.storage.local.set({ jars: [...jars, made.cookieStoreId] });
    return { jar: made.cookieStoreId };
  }

  async #remove(jar) {
    const { jars } = await this.#list();
    if (!jars.includes(jar)) return {};
    for (const tab of await this.#api.tabs.query({ cookieStoreId: jar })) {
      const handle = this.#strip.handleOf(tab.id);
      if (handle !== null) await this.#strip.call("Tabs.close", { tab: handle });
    }
    await this.#api.contextualIdentities.remove(jar).catch(() => {});
    await this.#api.storage.local.set({ jars: jars.filter((one) => one !== jar) });
    for (const table of [this.#waiting, this.#kept])
      for (const key of table.keys()) if (key.startsWith(`${jar} `)) table.delete(key);
    return {};
  }

  async #check(jar) {
    if (!(await this.#list()).jars.includes(jar)) throw new Refusal(NO_SUCH_JAR, "That jar is gone.");
  }

  // --- cookies ---------------------------------------------------------------------------------

  async #cookies(jar) {
    await this.#check(jar);
    const cookies = await this.#api.cookies.getAll({ storeId: jar, firstPartyDomain: null, partitionKey: {} });
    return { cookies };
  }

  async #write({ jar, cookies }) {
    await this.#check(jar);
    const refused = [];
    for (const [index, cookie] of cookies.entries()) {
      const made = await this.#api.cookies.set(asSet(jar, cookie)).catch(() => null);
      if (!made) refused.push(index);
    }
    return { refused };
  }

  async #delete({ jar, cookies }) {
    await this.#check(jar);
    for (const cookie of cookies) {
      const { name, url, partitionKey } = asSet(jar, cookie);
      await this.#api.cookies.remove({ storeId: jar, name, url, ...(partitionKey ? { partitionKey } : {}) }).catch(() => {});
    }
    return {};
  }

  // --- storage ---------------------------------------------------------------------------------

  async #store({ jar, storage }) {
    await this.#check(jar);
    for (const { origin, items } of storage) {
      const key = `${jar} ${origin}`;
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), ...items]);
    }
    return { refused: [] };
  }

  async #storage({ jar, origins }) {
    await this.#check(jar);
    await this.#look(jar);
    const storage = origins.map((origin) => {
      const key = `${jar} ${origin}`;
      const items = new Map([...(this.#kept.get(key) ?? []), ...(this.#waiting.get(key) ?? [])]);
      return { origin, items: [...items] };
    });
    return { storage };
  }

  /** Read the localStorage of all open pages in that jar. */
  async #look(jar) {
    for (const { id } of await this.#api.tabs.query({ cookieStoreId: jar })) {
      if (this.#strip.handleOf(id) === null) continue;
      const target = { tabId: id, allFrames: true };
      const found = await this.#api.scripting.executeScript({ target, func: stored, injectImmediately: true }).catch(() => []);
      for (const { result } of found) if (result) this.#keep(jar, ...JSON.parse(result));
    }
  }

  #keep(jar, origin, items) {
    this.#kept.set(`${jar} ${origin}`, items);
  }

  /** Write the items that wait for the origin of a jar's new document. */
  async fill(tabId, frameId, into) {
    const jar = this.#strip.jarOf(tabId);
    if (jar === null || !this.#waiting.size) return;
    const frame = await this.#api.webNavigation.getFrame({ tabId, frameId }).catch(() => null);
    const key = frame && `${jar} ${originOf(frame.url)}`;
    const items = this.#waiting.get(key);
    if (!items) return;
    this.#waiting.delete(key);
    await into({ func: seed, args: [items] });
  }

  /** Remember the items that a page of a jar reports when it is left. */
  left(tabId, origin, items) {
    const jar = this.#strip.jarOf(tabId);
    if (jar !== null) this.#keep(jar, origin, items);
  }
}

function originOf(url) {
  try {
    return new URL(url).origin;
  } catch {
    return null;
  }
}

function asSet(jar, { name, value, domain, path, expires, httpOnly, secure, sameSite, partitionKey }) {
  const host = domain.replace(/^\./, "");
  return {
    storeId: jar,
    url: `${secure ? "https" : "http"}://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}${path}`,
    name,
    value,
    path,
    httpOnly,
    secure,
    sameSite: SAME_SITE[sameSite] ?? "unspecified",
    ...(domain.startsWith(".") ? { domain } : {}),
    ...(expires === null ? {} : { expirationDate: expires }),
    ...(partitionKey ? { partitionKey: { topLevelSite: partitionKey } } : {}),
  };
}
