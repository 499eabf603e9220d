/** Reads and changes what this document's origin has stored: localStorage, sessionStorage and IndexedDB. */
import { type Args, oneOf, optionalText, text } from "./args";
import { cut } from "./dom";
import { badRequest, PageError } from "./errors";

const KEYS_LIMIT = 1_000;
const KEY_CHARS = 1_000;
const VALUE_CHARS = 1_000_000;
const OPEN_MS = 3_000;

export interface StoredItem {
  key: string;
  value?: string;
  /** Number of characters of the value. */
  size?: number;
}

export interface StorageReply {
  origin: string;
  items: StoredItem[];
  total: number;
  databases?: { name: string; stores: { name: string; count: number }[] }[];
}

export async function storage(args: Args): Promise<StorageReply> {
  const kind = oneOf(args, "kind", ["local", "session", "indexeddb"], "local");
  const action = oneOf(args, "action", ["list", "get", "set", "delete", "clear"], "list");
  try {
    if (kind === "indexeddb") return { origin: location.origin, items: [], total: 0, ...(await databaseWork(action, args)) };
    return { origin: location.origin, ...areaWork(kind === "local" ? localStorage : sessionStorage, action, args) };
  } catch (error) {
    if (error instanceof PageError) throw error;
    throw refused(error);
  }
}

type Action = "list" | "get" | "set" | "delete" | "clear";

function refused(error: unknown): PageError {
  const name = (error as { name?: string }).name ?? "Error";
  if (name === "QuotaExceededError") return badRequest("value", "The page's storage is full");
  if (name === "SecurityError") return badRequest("kind", "This document has no storage: it is sandboxed, or has no origin");
  if (name === "DataError") return badRequest("key", "IndexedDB takes no such key, or the store makes its keys itself");
  return badRequest("kind", `The browser refused it: ${/^[A-Za-z]{1,40}$/.test(name) ? name : "Error"}`);
}

function areaWork(area: Storage, action: Action, args: Args): Pick<StorageReply, "items" | "total"> {
  if (action === "list") {
    const keys = Object.keys(area);
    const items = keys.slice(0, KEYS_LIMIT).map((key) => ({ key: cut(key, KEY_CHARS), size: area.getItem(key)!.length }));
    return { items, total: keys.length };
  }
  if (action === "clear") {
    const total = area.length;
    area.clear();
    return { items: [], total };
  }
  const key = text(args, "key");
  const value = area.getItem(key);
  if (action === "set") area.setItem(key, text(args, "value"));
  else if (value === null) throw missing("key");
  if (action === "delete") area.removeItem(key);
  return { items: [action === "get" ? { key, value: cut(value!, VALUE_CHARS), size: value!.length } : { key }], total: 1 };
}

function missing(what: string): PageError {
  return new PageError("NOT_FOUND", `The page has stored nothing under that ${what}`, { hint: "List what is stored first." });
}

async function databaseWork(action: Action, args: Args): Promise<Partial<StorageReply>> {
  const known = (await indexedDB.databases()).flatMap(({ name }) => (name === undefined ? [] : [name]));
  const name = optionalText(args, "database");
  if (name === undefined) {
    if (action === "list") return { databases: await Promise.all(known.slice(0, KEYS_LIMIT).map(described)), total: known.length };
    if (action !== "clear") throw badRequest("database", "database: say which database");
    for (const one of known) await removed(one);
    return { total: known.length };
  }
  if (!known.includes(name)) throw missing("database");
  const store = optionalText(args, "store");
  if (store === undefined) {
    if (action === "list") return { databases: [await described(name)], total: 1 };
    if (action !== "clear") throw badRequest("store", "store: say which object store of the database");
    await removed(name);
    return { total: 1 };
  }
  const database = await opened(name);
  try {
    if (!database.objectStoreNames.contains(store)) throw missing("store");
    return await storeWork(database, store, action, args);
  } finally {
    database.close();
  }
}

async function storeWork(database: IDBDatabase, name: string, action: Action, args: Args): Promise<Partial<StorageReply>> {
  const isReading = action === "list" || action === "get";
  const store = database.transaction(name, isReading ? "readonly" : "readwrite").objectStore(name);
  if (action === "clear") {
    const total = await done(store.count());
    await done(store.clear());
    return { total };
  }
  if (action === "list") {
    const keys = await done(store.getAllKeys(null, KEYS_LIMIT));
    return { items: keys.map((key) => ({ key: shown(key, KEY_CHARS) })), total: await done(store.count()) };
  }
  const key = keyOf(text(args, "key"));
  if (action === "set") {
    const value: unknown = parsed(text(args, "value"));
    await done(store.keyPath === null ? store.put(value, key) : store.put(value));
    return { items: [{ key: shown(key, KEY_CHARS) }], total: 1 };
  }
  const value: unknown = await done(store.get(key));
  if (value === undefined && (await done(store.count(key))) === 0) throw missing("key");
  if (action === "delete") await done(store.delete(key));
  const told = action === "get" ? { value: shown(value, VALUE_CHARS) } : {};
  return { items: [{ key: shown(key, KEY_CHARS), ...told }], total: 1 };
}

/** A key that is JSON (a number, a list) is that value. Any other is text. */
function keyOf(text: string): IDBValidKey {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "number" || typeof value === "string" || Array.isArray(value)) return value as IDBValidKey;
  } catch {
    // it is text
  }
  return text;
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw badRequest("value", "value must be JSON for IndexedDB");
  }
}

function shown(value: unknown, limit: number): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one));
  return cut(text ?? "undefined", limit);
}

async function described(name: string): Promise<{ name: string; stores: { name: string; count: number }[] }> {
  const database = await opened(name);
  try {
    const names = Array.from(database.objectStoreNames).slice(0, 100);
    const stores = names.map(async (one) => ({ name: cut(one, KEY_CHARS), count: await done(database.transaction(one).objectStore(one).count()) }));
    return { name: cut(name, KEY_CHARS), stores: await Promise.all(stores) };
  } finally {
    database.close();
  }
}

function opened(name: string): Promise<IDBDatabase> {
  return done(indexedDB.open(name), true);
}

async function removed(name: string): Promise<void> {
  await done(indexedDB.deleteDatabase(name), true);
}

/** A page that holds the database open blocks its deletion, and a page that upgrades it blocks everybody. */
function done<T>(request: IDBRequest<T>, mayBlock = false): Promise<T> {
  return new Promise((resolve, reject) => {
    const busy = (): void => reject(new PageError("TIMEOUT", "The page keeps its database busy", { hint: "Clear its object stores instead, or close the page that uses the database." }));
    const timer = mayBlock ? setTimeout(busy, OPEN_MS) : undefined;
    request.onsuccess = () => {
      clearTimeout(timer);
      resolve(request.result);
    };
    request.onerror = () => {
      clearTimeout(timer);
      reject(request.error ?? new Error("unknown"));
    };
  });
}
