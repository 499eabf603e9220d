/** Wait until something is in this document or gone from it, until the page has drawn something, or until it is painted. */
import { type Args, oneOf, optionalNumber, optionalText } from "./args";
import { cut, isElement, page, queryAll } from "./dom";
import { holds } from "./element_reading";
import { badRequest } from "./errors";
import { openRoots } from "./flat_tree";
import { nextFrame, pause, untilPresent } from "./moments";
import { tidy } from "./names";
import { plainText } from "./plain_text";
import { looksLikeRef } from "./refs";
import { roleOf } from "./roles";
import { checkedState } from "./states";
import { allOfTarget, isTargetRendered } from "./targets";
import { isRendered } from "./visibility";

export interface WaitReply {
  found: boolean;
  elapsedMs: number;
  url: string;
}

export async function waitFor(args: Args): Promise<WaitReply> {
  const begun = performance.now();
  const condition = conditionOf(args);
  const met = await untilPresent(() => (condition() ? true : null), optionalNumber(args, "timeoutMs", 0) ?? 0);
  return { found: met !== null, elapsedMs: Math.round(performance.now() - begun), url: location.href };
}

const CONDITIONS = ["text", "textGone", "selector", "url", "loadState"] as const;
const STATES = ["visible", "hidden", "attached", "detached", "enabled", "disabled", "checked", "unchecked", "editable"] as const;
type State = (typeof STATES)[number];

/** All conditions that are given must hold at the same time. */
function conditionOf(args: Args): () => boolean {
  const given = CONDITIONS.filter((field) => args[field] !== undefined && args[field] !== null);
  if (given.length === 0) throw badRequest("text", `Give one of ${CONDITIONS.join(", ")}`);
  const conditions = given.map((field) => one(field, optionalText(args, field)!, args));
  return () => conditions.every((condition) => condition());
}

function one(field: (typeof CONDITIONS)[number], wanted: string, args: Args): () => boolean {
  if (wanted.trim() === "") throw badRequest(field, `${field} is empty`);
  switch (field) {
    case "text":
      return () => isTextVisible(wanted);
    case "textGone":
      return () => !isTextVisible(wanted);
    case "selector": {
      const state = oneOf(args, "state", STATES, "visible");
      return () => isTargetIn(state, wanted);
    }
    case "loadState":
      return oneOf(args, "loadState", ["domcontentloaded", "load"], "load") === "load" ? () => page.readyState(document) === "complete" : () => page.readyState(document) !== "loading";
    case "url":
      return () => fitsAddress(location.href, wanted);
  }
}

/** Several elements that fit are no error: one in that state is enough, and for hidden and detached none may be left. */
function isTargetIn(state: State, target: string): boolean {
  if (looksLikeRef(target)) throw badRequest("selector", `${cut(target, 50)} is a ref; selector takes CSS, text=… or a locator`);
  switch (state) {
    case "visible":
      return isTargetRendered(target);
    case "hidden":
      return !isTargetRendered(target);
    case "attached":
      return allOfTarget(target).length > 0;
    case "detached":
      return allOfTarget(target).length === 0;
    case "checked":
      return allOfTarget(target).some((element) => checkedState(element, roleOf(element)) === true);
    case "unchecked":
      return allOfTarget(target).some((element) => checkedState(element, roleOf(element)) === false);
    default:
      return allOfTarget(target).some((element) => isRendered(element) && holds(element, state));
  }
}

function isTextVisible(wanted: string): boolean {
  const body = page.body(document);
  return body !== null && tidy(plainText(body)).toLowerCase().includes(tidy(wanted).toLowerCase());
}

/** A part of the address, or a pattern with `*` for any run of characters. */
function fitsAddress(address: string, wanted: string): boolean {
  if (!wanted.includes("*")) return address.includes(wanted);
  // Not a regular expression: `*a*a*a*a` would take exponential time.
  const [first = "", ...others] = wanted.split(/\*+/);
  const last = others.pop()!;
  if (!address.startsWith(first) || !address.slice(first.length).endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = address.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= address.length - last.length;
}

/** What a person can operate. Pictures do not count: they are often all that a splash screen has. */
const OPERABLE =
  "a[href], button, input:not([type=hidden]), select, textarea, summary, canvas, video, iframe, [contenteditable], [tabindex], " +
  "[role=button], [role=link], [role=textbox], [role=menuitem], [role=tab], [role=option], [role=checkbox]";
const OPERABLE_TRIED = 50;

/** A shorter text may be all of a page, or an application that says "Loading…". */
const TEXT_CHARS = 40;

const SCRIPTS = "script[src], script[type=module]";

export interface Drawn {
  drawn: boolean;
  /** Nothing is drawn yet, and scripts of this page may still draw something. */
  mayDraw: boolean;
  /** The page has scripts that may add to what it shows. */
  mayGrow: boolean;
}

/** Wait until the page shows text or controls, for at most `timeoutMs`. Applications start with an empty document. */
export async function drawn(args: Args): Promise<Drawn> {
  const met = await untilPresent(() => (hasDrawn() ? true : null), optionalNumber(args, "timeoutMs", 0) ?? 0);
  return { drawn: met !== null, mayDraw: met === null && mayDraw(), mayGrow: queryAll(document, SCRIPTS).length > 0 };
}

/** Tell whether the page adds or uncovers elements within so many milliseconds. Applications draw their parts one by one. */
export async function grows(args: Args): Promise<{ grew: boolean; isLoading: boolean }> {
  let grew = false;
  const observer = new MutationObserver((records) => {
    grew ||= records.some((record) => record.type === "attributes" || Array.from(record.addedNodes).some(isElement));
  });
  for (const root of openRoots()) observer.observe(root, { subtree: true, childList: true, attributeFilter: ["class", "hidden"] });
  await pause(args);
  observer.disconnect();
  return { grew, isLoading: page.readyState(document) !== "complete" };
}

function hasDrawn(): boolean {
  const body = page.body(document);
  if (body === null) return false;
  const isOperable = (root: Document | ShadowRoot): boolean => Array.from(queryAll(root, OPERABLE)).slice(0, OPERABLE_TRIED).some(isRendered);
  return isOperable(document) || tidy(plainText(body)).length >= TEXT_CHARS || openRoots().some(isOperable);
}

function mayDraw(): boolean {
  if (page.readyState(document) !== "complete") return true;
  const body = page.body(document);
  const isEmpty = body === null || tidy(plainText(body)) === "";
  return queryAll(document, isEmpty ? "script" : SCRIPTS).length > 0;
}

export interface Readiness {
  readyState: DocumentReadyState;
  pendingImages: number;
  pendingFonts: number;
  url: string;
  title: string;
}

/** After one frame, or 100 ms where frames are slow. */
export async function readiness(): Promise<Readiness> {
  await nextFrame();
  const images = Array.from(queryAll(document, "img")) as HTMLImageElement[];
  return {
    readyState: page.readyState(document),
    // Lazy images outside the viewport wait for a person to scroll, not for the network.
    pendingImages: images.filter((image) => !image.complete && image.loading !== "lazy").length,
    pendingFonts: Array.from(page.fonts(document)).filter((font) => font.status === "loading").length,
    url: location.href,
    title: page.title(document),
  };
}
