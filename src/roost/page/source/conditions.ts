/** Wait until something is in this document or gone from it, until the page has drawn something, or until it is painted. */
import { type Args, optionalNumber, optionalText } from "./args";
import { cut, isElement, page, queryAll } from "./dom";
import { badRequest } from "./errors";
import { openRoots } from "./flat_tree";
import { nextFrame, pause, untilPresent } from "./moments";
import { tidy } from "./names";
import { plainText } from "./plain_text";
import { looksLikeRef } from "./refs";
import { isTargetRendered } from "./targets";
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

function conditionOf(args: Args): () => boolean {
  const given = ["text", "textGone", "selector", "url"].filter((field) => args[field] !== undefined && args[field] !== null);
  if (given.length !== 1) throw badRequest("text", "Give one of text, textGone, selector, url");
  const field = given[0]!;
  const wanted = optionalText(args, field)!;
  if (wanted.trim() === "") throw badRequest(field, `${field} is empty`);
  switch (field) {
    case "text":
      return () => isTextVisible(wanted);
    case "textGone":
      return () => !isTextVisible(wanted);
    case "selector":
      return () => isTargetVisible(wanted);
    default:
      return () => fitsAddress(location.href, wanted);
  }
}

function isTextVisible(wanted: string): boolean {
  const body = page.body(document);
  return body !== null && tidy(plainText(body)).toLowerCase().includes(tidy(wanted).toLowerCase());
}

function isTargetVisible(target: string): boolean {
  if (looksLikeRef(target)) throw badRequest("selector", `${cut(target, 50)} is a ref; selector takes CSS or text=…`);
  return isTargetRendered(target);
}

/** A part of the address, or a pattern with `*` for any run of characters. */
function fitsAddress(address: string, wanted: string): boolean {
  if (!wanted.includes("*")) return address.includes(wanted);
  const pattern = wanted.split(/\*+/).map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*");
  return new RegExp(`^${pattern}$`).test(address);
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
