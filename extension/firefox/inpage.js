// Functions that run inside pages, in the extension's isolated world. Firefox sends each as its
// source text, so none may use anything from outside itself. They return strings of JSON, because
// pages must not see the extension's objects.

/** Call a function of the page bundle; null if the bundle is not loaded yet. */
export async function callBundle(name, json, child) {
  if (!globalThis.__roost) return null;
  const argument = JSON.parse(json);
  if (child !== null) {
    const holders = (root) =>
      [...root.querySelectorAll("*")].flatMap((one) => [
        ...(one.contentWindow && browser.runtime.getFrameId(one) === child ? [one] : []),
        ...(one.openOrClosedShadowRoot ? holders(one.openOrClosedShadowRoot) : []),
      ]);
    argument.element = holders(document)[0];
    if (!argument.element) return JSON.stringify({ frameGone: true });
  }
  const value = await globalThis.__roost[name](argument);
  await globalThis.__roostTold;
  return JSON.stringify({ value });
}

/** Run the caller's function in the page's own world, with the element of `ref` if there is one. */
export async function evaluate(source, ref) {
  const described = (thrown) => {
    try {
      const isObject = typeof thrown === "object" && thrown !== null;
      return isObject && "message" in thrown ? String(thrown) : JSON.stringify(thrown);
    } catch {
      return "something that cannot be shown";
    }
  };
  let element = null;
  if (ref !== null) {
    element = globalThis.__roost?.element({ target: ref }) ?? null;
    if (element === null) return JSON.stringify({ staleRef: true });
  }
  const given = element === null ? [] : [element];
  globalThis.__roostGesture = Date.now(); // the function may open tabs, as in other browsers
  let run;
  try {
    // As an expression, so that a function that does not parse is reported as the page's error.
    run = window.eval(`(async (...given) => JSON.stringify(await (${source}\n)(...given)))`);
  } catch (error) {
    return JSON.stringify({ [error.name === "EvalError" ? "isForbidden" : "thrown"]: described(error) });
  }
  try {
    const json = (await run(...given)) ?? null;
    await globalThis.__roostTold;
    return JSON.stringify({ json });
  } catch (error) {
    return JSON.stringify({ thrown: described(error) });
  }
}

/** Wait until the document is loaded, or `limit` ms after it is parsed, and return its title. The
 * getter comes from the prototype, because an element named "title" hides the document's own
 * property. */
export function arrived(limit, chars) {
  return new Promise((resolve) => {
    const { get: titleOf } = Object.getOwnPropertyDescriptor(Document.prototype, "title");
    const tell = async () => {
      await globalThis.__roostTold;
      resolve(titleOf.call(document).slice(0, chars));
    };
    if (document.readyState === "complete") return tell();
    const isParsed = () => setTimeout(tell, limit);
    if (document.readyState === "interactive") isParsed();
    else document.addEventListener("DOMContentLoaded", (event) => event.isTrusted && isParsed());
    window.addEventListener("load", (event) => event.isTrusted && event.target === document && tell());
  });
}

/** Call a function of `input.js`; null if that file is not loaded yet. */
export async function useHands(name, json) {
  if (!globalThis.__roostHands) return null;
  return JSON.stringify((await globalThis.__roostHands[name](JSON.parse(json))) ?? {});
}

/** Add an empty frame to the page and return its id, by which the remote agent finds the tab.
 * Remove the frame if it is not wanted. */
export function frameOfOurs(isWanted) {
  globalThis.__roostFrame?.remove();
  globalThis.__roostFrame = null;
  if (!isWanted) return "{}";
  const holder = document.createElement("div");
  const frame = document.createElement("iframe");
  holder.hidden = true;
  holder.attachShadow({ mode: "closed" }).append(frame);
  document.documentElement.append(holder);
  globalThis.__roostFrame = holder;
  return JSON.stringify({ frame: browser.runtime.getFrameId(frame) });
}

/** Say whether the remote agent gives input now or did so a moment ago. Firefox takes that input
 * for the person's, so file pickers are suppressed meanwhile, even for a field outside the
 * document. Returns whether `hook.js` is loaded. */
export function isGivenInput(isIt) {
  globalThis.__roostIsGiven = isIt;
  if (!globalThis.__roostAsksForFiles) return false; // `hook.js` is not loaded yet
  if (!isIt || globalThis.__roostWatchesFields) return true;
  globalThis.__roostWatchesFields = true;
  for (const [prototype, name] of [["HTMLElement", "click"], ["HTMLInputElement", "showPicker"]]) {
    const elements = window.wrappedJSObject[prototype].prototype;
    const own = elements[name];
    const heard = function () {
      const isAsking = globalThis.__roostIsGiven && this instanceof HTMLInputElement && this.type === "file";
      if (isAsking && (name === "showPicker" || !this.isConnected)) return globalThis.__roostAsksForFiles(this);
      return own.call(this);
    };
    exportFunction(heard, elements, { defineAs: name });
  }
  return true;
}

/** Return the viewport's position in the page and the page's size. */
export function measure() {
  const { scrollWidth, scrollHeight } = document.scrollingElement ?? document.documentElement;
  return JSON.stringify({ x: scrollX, y: scrollY, width: scrollWidth, height: scrollHeight });
}

/** Put items into this origin's localStorage, before any script of the page runs. */
export function seed(items) {
  for (const [name, value] of items) localStorage.setItem(name, value);
}

/** Return this document's origin and its localStorage. `location.origin` would be wrong for a
 * sandboxed document, which has its server's address but no access to the storage. */
export function stored() {
  return JSON.stringify([window.origin, Object.entries(localStorage)]);
}

/** Go to about:blank from within the page. Extensions may run scripts in a blank page that a page
 * opens, but not in one that Firefox opens. */
export function leaveForBlank() {
  location.href = "about:blank";
}

/** Keep the page's beforeunload handlers from asking the person whether to leave. */
export function letGo() {
  window.addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
}
