# ruff: noqa: E501 - lines of scripts
"""Scripts that read and write all IndexedDB databases of an origin, in Playwright's format.

They run in the blank document of an unseen page (``storage_visitor``), so no script of a site runs
beside them. Values that JSON cannot carry (dates, lists of bytes, ``undefined``) are written as
Playwright writes them. A database that holds anything else, or that is too large, is left out.
"""

from __future__ import annotations

DATABASES_CHARS = 2_000_000
"""Maximum number of characters that is read of one origin."""
_ENCODING = """
  // Tags and not prototypes: Firefox's values come from another realm.
  const tag = (v) => Object.prototype.toString.call(v).slice(8, -1);
  const VIEWS = {i8: "Int8Array", ui8: "Uint8Array", ui8c: "Uint8ClampedArray", i16: "Int16Array", ui16: "Uint16Array",
    i32: "Int32Array", ui32: "Uint32Array", f32: "Float32Array", f64: "Float64Array", bi64: "BigInt64Array", bui64: "BigUint64Array"};
"""
READ = (
    "(async () => {"
    + _ENCODING
    + """
  const isTrivial = (v) => v === null || ["string", "boolean"].includes(typeof v) || (typeof v === "number" && isFinite(v))
    || (Array.isArray(v) && v.every(isTrivial)) || (typeof v === "object" && tag(v) === "Object" && Object.values(v).every(isTrivial));
  const encoded = (v, seen) => {
    if (v === undefined) return {v: "undefined"};
    if (v === null) return {v: "null"};
    if (typeof v === "number") {
      if (Object.is(v, -0)) return {v: "-0"};
      return isFinite(v) ? v : {v: String(v)};
    }
    if (typeof v === "string" || typeof v === "boolean") return v;
    if (typeof v === "bigint") return {bi: String(v)};
    if (seen.has(v)) return {ref: seen.get(v)};
    const kind = tag(v);
    if (kind === "Date") return {d: v.toJSON()};
    if (kind === "RegExp") return {r: {p: v.source, f: v.flags}};
    const view = Object.entries(VIEWS).find(([, name]) => name === kind);
    if (view) {
      const own = v.wrappedJSObject ?? v; // Firefox forbids a sandbox to read bytes through its wrapper
      const bytes = new DataView(own.buffer, own.byteOffset, own.byteLength);
      let text = "";
      for (let at = 0; at < bytes.byteLength; at += 1) text += String.fromCharCode(bytes.getUint8(at));
      return {ta: {b: btoa(text), k: view[0]}};
    }
    const id = seen.size + 1;
    seen.set(v, id);
    if (Array.isArray(v)) return {a: v.map((one) => encoded(one, seen)), id};
    if (kind === "Object")
      return {o: Object.entries(v).map(([k, one]) => ({k, v: encoded(one, seen)})), id};
    throw new Error("a value that cannot be written down");
  };
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const put = (into, name, v) => isTrivial(v) ? (into[name] = v) : (into[name + "Encoded"] = encoded(v, new Map()));
  const path = (v) => v === null ? {} : Array.isArray(v) ? {keyPathArray: Array.from(v)} : {keyPath: v};
  const databases = [];
  let room = LIMIT;
  for (const {name, version} of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name));
    try {
      const stores = [];
      for (const storeName of Array.from(database.objectStoreNames)) {
        const store = database.transaction(storeName).objectStore(storeName);
        const indexes = Array.from(store.indexNames).map((one) => store.index(one)).map((index) => ({name: index.name,
          ...path(index.keyPath), multiEntry: index.multiEntry, unique: index.unique}));
        const records = [];
        const [keys, values] = await Promise.all([done(store.getAllKeys(null, 10001)), done(store.getAll(null, 10001))]);
        if (keys.length > 10000) throw new Error("too many records");
        keys.forEach((key, at) => {
          const record = {};
          if (store.keyPath === null) put(record, "key", key);
          put(record, "value", values[at]);
          records.push(record);
        });
        stores.push({name: storeName, records, indexes, autoIncrement: store.autoIncrement, ...path(store.keyPath)});
      }
      const text = JSON.stringify({name, version, stores});
      room -= text.length;
      if (room >= 0) databases.push(text);
    } catch {
      // it is left out
    } finally {
      database.close();
    }
  }
  return databases.length === 0 ? "" : "[" + databases.join(",") + "]";
})()""".replace("LIMIT", str(DATABASES_CHARS))
)
"""A JavaScript expression: all databases as JSON, or an empty string if there are none."""
WRITE = (
    "(async (databases) => {"
    + _ENCODING
    + """
  const decoded = (v, seen) => {
    if (v === null || typeof v !== "object") return v;
    if ("v" in v) return {undefined: undefined, null: null, NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity, "-0": -0}[v.v];
    if ("d" in v) return new Date(v.d);
    if ("bi" in v) return BigInt(v.bi);
    if ("r" in v) return new RegExp(v.r.p, v.r.f);
    if ("ref" in v) return seen.get(v.ref);
    if ("ta" in v) return new globalThis[VIEWS[v.ta.k]](Uint8Array.from(atob(v.ta.b), (one) => one.charCodeAt(0)).buffer);
    if ("a" in v) {
      const list = [];
      seen.set(v.id, list);
      for (const one of v.a) list.push(decoded(one, seen));
      return list;
    }
    const object = {};
    seen.set(v.id, object);
    for (const {k, v: one} of v.o) Object.defineProperty(object, k, {value: decoded(one, seen), enumerable: true, writable: true, configurable: true});
    return object;
  };
  const taken = (record, name) => name in record ? record[name] : decoded(record[name + "Encoded"], new Map());
  const path = (one) => one.keyPathArray ?? one.keyPath ?? null;
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("a page uses the database"));
  });
  for (const {name, version, stores} of databases) {
    await done(indexedDB.deleteDatabase(name));
    const opening = indexedDB.open(name, version);
    opening.onupgradeneeded = () => {
      for (const store of stores) {
        const made = opening.result.createObjectStore(store.name, {keyPath: path(store), autoIncrement: store.autoIncrement ?? false});
        for (const index of store.indexes ?? []) made.createIndex(index.name, path(index), {multiEntry: index.multiEntry, unique: index.unique});
      }
    };
    const database = await done(opening);
    try {
      for (const {name: storeName, keyPath, keyPathArray, records} of stores) {
        const writing = database.transaction(storeName, "readwrite");
        const over = new Promise((resolve, reject) => {
          writing.oncomplete = resolve;
          writing.onabort = () => reject(writing.error);
        });
        const store = writing.objectStore(storeName);
        const hasPath = keyPath !== undefined || keyPathArray !== undefined;
        for (const record of records) hasPath ? store.put(taken(record, "value")) : store.put(taken(record, "value"), taken(record, "key"));
        await over;
      }
    } finally {
      database.close();
    }
  }
})"""
)
"""A JavaScript function that takes a list of databases and writes them. It replaces those of the
same names."""
