// Functions that are run inside pages, in the extension's own world there. Each stands alone: it is
// sent as its text. What they give back is a string of JSON, for pages may not see our objects.

/** A function of the page bundle; null where the bundle is not there yet. */
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

/** The caller's function in the page's own world, with the element behind a ref, if one is given. */
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
  globalThis.__roostGesture = Date.now(); // it may open tabs, as in any other browser
  let run;
  try {
    // As an expression: a function that does not parse is told as the page's error.
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

/** The main document's title, once it is there. Elements named "title" hide the document's own property. */
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

/** Gestures of the hands; null where they are not there yet, or the frame that is meant instead. */
export async function useHands(name, json) {
  if (!globalThis.__roostHands) return null;
  return JSON.stringify((await globalThis.__roostHands[name](JSON.parse(json))) ?? {});
}

/** A frame of ours in the page, for a moment: its number, by which the whole browser knows it. */
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

/** Whether input that comes now, or came a moment ago, and looks like the person's is not theirs: then
 * no window to choose files in may open before them, not even for a field that is nowhere in the page. */
export function isGivenInput(isIt) {
  globalThis.__roostIsGiven = isIt;
  if (!globalThis.__roostAsksForFiles) return false; // our hook is not in yet
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

/** Where the viewport is in the page, and how large the page is. */
export function measure() {
  const { scrollWidth, scrollHeight } = document.scrollingElement ?? document.documentElement;
  return JSON.stringify({ x: scrollX, y: scrollY, width: scrollWidth, height: scrollHeight });
}

/** Put items into this origin's localStorage, before any script of the page runs. */
export function seed(items) {
  for (const [name, value] of items) localStorage.setItem(name, value);
}

/** What this document's origin keeps. `window.origin` is the origin itself: a sandboxed document, which
 * may keep nothing, still has the address and so the `location.origin` of its server. */
export function stored() {
  return JSON.stringify([window.origin, Object.entries(localStorage)]);
}

/** To a blank page that scripts of extensions may run in: one that Firefox opens by itself they may not. */
export function leaveForBlank() {
  location.href = "about:blank";
}

/** The page must not ask whether it may be left: we do not ask it. */
export function letGo() {
  window.addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
}
