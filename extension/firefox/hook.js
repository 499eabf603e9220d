// Runs in every document of a managed tab, before the page's first script. It reports console
// messages, uncaught errors, and requests for files, new tabs and dialogs. It runs in an isolated
// world; the functions that it replaces in the page's world look like the browser's own.

if (!globalThis.__roostHook) {
  globalThis.__roostHook = true;
  const CHARS = 10_000;
  let isOver = false;

  /** Send a report to the background. The answer is false once the tab has left its group; then
   * this script reports no more. */
  const tell = (what) => {
    if (isOver) return;
    const told = browser.runtime.sendMessage({ roost: "page", ...what }).then(
      (isOwned) => (isOver = isOwned === false),
      () => {},
    );
    // Answers to actions wait for this promise, so that reports come before the answer.
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

  // Only pages can read a jar's localStorage, so each page reports its items when it is left.
  window.addEventListener("pagehide", () => {
    try {
      if (localStorage.length) tell({ what: "storage", origin: window.origin, items: Object.entries(localStorage) });
    } catch {
      // the page has no origin or no access to storage
    }
  });

  // The browser's own dialogs would block the person's window. See `dialogs.js`.
  const page = window.wrappedJSObject;
  const DIALOGS = {
    alert: () => undefined,
    confirm: ({ accept }) => accept,
    prompt: ({ accept, text }) => (accept ? text : null),
  };
  for (const [kind, meaning] of Object.entries(DIALOGS)) {
    const own = page[kind];
    const asked = (...given) => {
      const [message = "", text = ""] = given;
      const answer = isOver ? null : wait({ kind, message, default: text });
      return answer === null ? own.call(page, ...given) : meaning(answer);
    };
    exportFunction(asked, page, { defineAs: kind });
  }

  /** Block the page until the dialog is answered. Null: show the browser's own dialog. */
  function wait(dialog) {
    globalThis.__roostAnswer = null;
    const waiting = new XMLHttpRequest();
    try {
      waiting.open("GET", `https://roost-dialog.invalid/?${new URLSearchParams(dialog)}`, false);
      waiting.send();
    } catch {
      // the request always ends like this: `dialogs.js` cancels it
    }
    return globalThis.__roostAnswer;
  }

  // Addresses that the page makes itself (blob:, data:). They tell which tab a download is from.
  const made = (globalThis.__roostMade ??= new Set());
  const MADE = 1000;
  const remember = (url) => {
    made.add(url);
    if (made.size > MADE) made.delete(made.values().next().value);
    return url;
  };
  const ownMake = page.URL.createObjectURL;
  exportFunction((...given) => remember(ownMake.call(page.URL, ...given)), page.URL, { defineAs: "createObjectURL" });

  // Tabs that the page opens. Firefox's popup blocker does not count synthetic clicks as the
  // person's. So the extension opens the tab itself: one for each click, and without
  // `window.opener`.
  const GESTURE_MS = 5000;
  const isOurs = () => !isOver && !navigator.userActivation.isActive && Date.now() - (globalThis.__roostGesture ?? 0) < GESTURE_MS;
  const openTab = (url) => {
    globalThis.__roostGesture = 0;
    tell({ what: "open", url });
  };
  const isWebPage = (url) => /^https?:/.test(url);
  const hasFrame = (name) => name === window.name || document.querySelector(`iframe[name=${CSS.escape(name)}]`) !== null;
  const isElsewhere = (target) => !/^(|_self|_parent|_top)$/i.test(target) && (/^_blank$/i.test(target) || !hasFrame(target));
  const targetOf = (element) => element.target || document.querySelector("base[target]")?.target || "";

  const ownOpen = page.open;
  const opened = (...given) => {
    const [url = "", target = "_blank", features = ""] = given;
    const isAlone = /\bno(opener|referrer)\b/.test(features);
    const isWanted = isOurs() && isElsewhere(String(target) || "_blank") && isWebPage(whole(url));
    const found = isWanted && isAlone ? null : ownOpen.call(page, ...given);
    if (isWanted && found === null) openTab(whole(url));
    return found;
  };
  exportFunction(opened, page, { defineAs: "open" });

  function whole(url) {
    try {
      return new URL(url, document.baseURI).href;
    } catch {
      return "";
    }
  }

  function followLink(event) {
    const link = event.composedPath().find((one) => one instanceof Element && one.matches("a[href], area[href]"));
    const { button, ctrlKey, metaKey, shiftKey, defaultPrevented } = event;
    if (link && /^data:/.test(link.href)) remember(link.href);
    if (!link || defaultPrevented || link.hasAttribute("download") || !isWebPage(link.href)) return;
    const isBeside = button === 1 || (button === 0 && (ctrlKey || metaKey || shiftKey));
    if (!isBeside && !(button === 0 && isElsewhere(targetOf(link)))) return;
    if (!isOurs()) return;
    event.preventDefault();
    openTab(link.href);
  }

  for (const kind of ["click", "auxclick"]) window.addEventListener(kind, (event) => event.isTrusted || followLink(event));

  window.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    const said = (name) => submitter?.getAttribute(`form${name}`) ?? form.getAttribute(name) ?? "";
    const url = new URL(said("action") || location.href, document.baseURI);
    if (event.defaultPrevented || /^(post|dialog)$/i.test(said("method")) || !isWebPage(url.href)) return;
    if (!isElsewhere(said("target") || targetOf(form)) || !isOurs()) return;
    event.preventDefault();
    url.search = new URLSearchParams([...new FormData(form, submitter)].filter(([, value]) => typeof value === "string"));
    openTab(url.href);
  });

  // The browser's file picker would open in front of the person, so report the field instead.
  globalThis.__roostAsksForFiles = (field) => {
    globalThis.__roostField = field;
    tell({ what: "chooser", multiple: field.multiple });
  };
  window.addEventListener("click", (event) => {
    const [field] = event.composedPath();
    const isPersons = event.isTrusted && !globalThis.__roostIsGiven;
    if (isOver || isPersons || !(field instanceof HTMLInputElement) || field.type !== "file") return;
    event.preventDefault();
    globalThis.__roostAsksForFiles(field);
  });

  // Prevent the browser's context menu for the same reason. The page's handlers run first, because
  // the page may have its own menu. If a handler stops the event, `guard` prevents the menu at that
  // point.
  window.addEventListener("contextmenu", (event) => globalThis.__roostIsGiven && event.preventDefault());
  const guard = (event) => {
    if (!globalThis.__roostIsGiven) return;
    for (const name of ["stopPropagation", "stopImmediatePropagation"]) {
      const stop = () => {
        event.preventDefault();
        event[name]();
      };
      exportFunction(stop, event.wrappedJSObject, { defineAs: name });
    }
  };
  window.addEventListener("contextmenu", guard, true);
}
