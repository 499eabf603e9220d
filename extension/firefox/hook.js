// In every document of an owned tab, before its first script: hears what the page says on its
// console, what it does not catch, and where it asks for files. It runs in a world that pages do not
// see; what it changes in theirs looks to them like the browser's own functions.

if (!globalThis.__roostHook) {
  globalThis.__roostHook = true;
  const CHARS = 10_000;
  let isOver = false;

  /** A tab that was taken out of its group is told so with the first answer: then all is still. */
  const tell = (what) => {
    if (isOver) return;
    const told = browser.runtime.sendMessage({ roost: "page", ...what }).then(
      (isOwned) => (isOver = isOwned === false),
      () => {},
    );
    // Who acts in this page hears of what it said before they hear that the action is over.
    globalThis.__roostTold = Promise.all([globalThis.__roostTold, told]);
  };

  const shown = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value === null || typeof value !== "object") return String(value);
      if (value instanceof Node) return `<${value.nodeName.toLowerCase()}>`;
      if ("stack" in value && "message" in value) return String(value);
      return JSON.stringify(value) ?? String(value);
    } catch {
      return "[object]";
    }
  };

  const pageConsole = window.wrappedJSObject.console;
  const say = (level, values, line = {}) => {
    const text = values.map(shown).join(" ").slice(0, CHARS);
    tell({ what: "console", level, text, url: line.url ?? location.href, line: line.line ?? 0 });
  };
  for (const level of ["log", "info", "warn", "error", "debug", "trace", "dir"]) {
    const own = pageConsole[level];
    const heard = (...values) => {
      say(level === "dir" ? "log" : level, values);
      return own.call(pageConsole, ...values);
    };
    exportFunction(heard, pageConsole, { defineAs: level });
  }
  const ownAssert = pageConsole.assert;
  const asserted = (condition, ...values) => {
    if (!condition) say("error", ["Assertion failed:", ...values]);
    return ownAssert.call(pageConsole, condition, ...values);
  };
  exportFunction(asserted, pageConsole, { defineAs: "assert" });
  window.addEventListener("error", ({ message, filename, lineno }) => {
    if (message) say("error", [message], { url: filename, line: lineno });
  });
  window.addEventListener("unhandledrejection", ({ reason }) => say("error", ["Uncaught (in promise)", reason]));

  // The jar's storage can be read from pages only: what is in it is told as they are left.
  window.addEventListener("pagehide", () => {
    try {
      if (localStorage.length) tell({ what: "storage", origin: location.origin, items: Object.entries(localStorage) });
    } catch {
      // a page without an origin, or one that may keep nothing
    }
  });

  // A window of the browser's to choose files in would wait for the person.
  window.addEventListener("click", (event) => {
    const [field] = event.composedPath();
    if (isOver || event.isTrusted || !(field instanceof HTMLInputElement) || field.type !== "file") return;
    event.preventDefault();
    globalThis.__roostField = field;
    tell({ what: "chooser", multiple: field.multiple });
  });
}
