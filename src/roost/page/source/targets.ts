/** From the words of a caller to an element: a ref, a CSS selector, or `text=…`. Open shadow roots are searched too. */
import { isReadingOver, startBudget } from "./budget";
import { cut, firstChild, getAttribute, isElement, localName, nextSibling, queryAll, textContent } from "./dom";
import { badRequest, PageError } from "./errors";
import { openRoots } from "./flat_tree";
import { declaredName, tidy } from "./names";
import { plainText } from "./plain_text";
import { elementOfRef, looksLikeRef, refOf } from "./refs";
import { roleOf } from "./roles";
import { isRendered, isUnrendered } from "./visibility";

const SELECTOR_LIMIT = 1000;
const SUGGESTIONS = 5;
const OPERABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role], [onclick], [tabindex], [contenteditable]";

export interface Found {
  element: Element;
  /** How many elements the target fits; the first that is rendered is taken. */
  matches: number;
}

export function findTarget(target: string): Found {
  const found = tryFindTarget(target);
  if (found) return found;
  const suggestions = suggestionsFor(target);
  throw new PageError("NOT_FOUND", `Nothing on the page fits ${JSON.stringify(cut(target, 200))}`, {
    target: cut(target, 200),
    ...(suggestions.length > 0
      ? {
          suggestions: suggestions.map(({ ref }) => ref),
          hint: "One of the suggestions may be meant; use its ref.",
          pageSaid: suggestions.map(({ ref, role, name }) => `${ref}: ${role} ${JSON.stringify(name)}`).join("\n"),
        }
      : {}),
  });
}

/** Null when nothing fits (yet); throws for what can never fit. */
export function tryFindTarget(target: string): Found | null {
  const trimmed = target.trim();
  if (trimmed === "") throw badRequest("target", "target is empty; give a ref, a CSS selector or text=…");
  if (target.length > SELECTOR_LIMIT) throw badRequest("target", `target is ${target.length} characters long; at most ${SELECTOR_LIMIT} are allowed`);
  if (looksLikeRef(trimmed)) return { element: elementOfRef(trimmed), matches: 1 };
  const isText = /^text\s*=/.test(trimmed);
  const candidates = isText ? elementsWithText(trimmed.replace(/^text\s*=\s*/, "")) : elementsBySelector(trimmed.replace(/^css\s*=\s*/, ""));
  const element = candidates.find(isRendered) ?? candidates[0];
  return element ? { element, matches: candidates.length } : null;
}

/** The document first: going through every element for shadow roots costs milliseconds on large pages. */
function elementsBySelector(selector: string): Element[] {
  try {
    const inDocument = Array.from(queryAll(document, selector));
    if (inDocument.some(isRendered)) return inDocument;
    return openRoots().flatMap((root) => Array.from(queryAll(root, selector)));
  } catch {
    throw badRequest("target", `${JSON.stringify(cut(selector, 200))} is neither a ref nor a valid CSS selector`, "Use a ref from a snapshot (e12), CSS, or text=…");
  }
}

/** The innermost elements whose text holds the wanted one; `text="exact"` in quotes must be all of it. */
function elementsWithText(wanted: string): Element[] {
  startBudget(); // who waits for a text looks for it again and again
  const quoted = /^(["'])(.*)\1$/.exec(wanted);
  const needle = tidy(quoted ? quoted[2]! : wanted).toLowerCase();
  if (needle === "") throw badRequest("target", "text= needs a text");
  const fits = (text: string): boolean => (quoted ? text === needle : text.includes(needle));
  return openRoots()
    .flatMap((root) => [...childElements(root).flatMap((child) => innermostWith(child, needle, fits)), ...buttonsWith(root, fits)])
    .filter(isRendered);
}

/**
 * From the outside in: a part whose text does not hold the wanted one, white space aside, is never entered.
 * Only what is left at the end is asked for the text a person sees.
 */
function innermostWith(element: Element, needle: string, fits: (text: string) => boolean): Element[] {
  if (isReadingOver()) throw new PageError("TIMEOUT", "This page takes too long to search for a text", { hint: "Use a CSS selector, or a ref from a snapshot." });
  if (isUnrendered(element) || !squeezed(textContent(element) ?? "").includes(squeezed(needle))) return [];
  const inner = childElements(element).flatMap((child) => innermostWith(child, needle, fits));
  return inner.length > 0 || !fits(tidy(plainText(element)).toLowerCase()) ? inner : [element];
}

function squeezed(text: string): string {
  return text.replace(/[\s\u00ad\u200b\u2060]+/g, "").toLowerCase();
}

function childElements(parent: Node): Element[] {
  const children: Element[] = [];
  for (let child = firstChild(parent); child; child = nextSibling(child)) if (isElement(child)) children.push(child);
  return children;
}

/** Buttons that show their value. */
function buttonsWith(root: Node, fits: (text: string) => boolean): Element[] {
  const buttons = queryAll(root, "input[type=button], input[type=submit], input[type=reset]");
  return Array.from(buttons).filter((button) => fits(tidy((button as HTMLInputElement).value).toLowerCase()));
}

interface Suggestion {
  ref: string;
  role: string;
  name: string;
}

/** Operable elements that share words with what was asked for, best first. */
function suggestionsFor(target: string): Suggestion[] {
  const words = target.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  const scored: { element: Element; score: number }[] = [];
  for (const element of queryAll(document, OPERABLE)) {
    if (scored.length >= 2000) break;
    const own = wordsOf(element);
    const score = words.filter((word) => own.includes(word)).length + (matchesTag(element, target) ? 0.5 : 0);
    if (score > 0 && isRendered(element)) scored.push({ element, score });
  }
  scored.sort((left, right) => right.score - left.score);
  return scored.slice(0, SUGGESTIONS).map(({ element }) => suggestion(element));
}

function wordsOf(element: Element): string {
  const attributes = ["id", "class", "name", "aria-label", "placeholder", "title", "value", "type"]
    .filter((name) => name !== "value" || /^(button|submit|reset)$/.test(getAttribute(element, "type") ?? ""))
    .map((name) => getAttribute(element, name) ?? "");
  return `${attributes.join(" ")} ${cut(textContent(element) ?? "", 200)}`.toLowerCase();
}

function matchesTag(element: Element, target: string): boolean {
  const tag = /^[a-z][a-z0-9-]*/i.exec(target);
  return tag !== null && tag[0].toLowerCase() === localName(element);
}

function suggestion(element: Element): Suggestion {
  const name = declaredName(element) || tidy(cut(textContent(element) ?? "", 200));
  return { ref: refOf(element), role: roleOf(element), name: cut(name, 80) };
}

/** `e7: <div class="overlay" id="x">`, for `pageSaid`: tag names, too, are the page's words. */
export function describe(element: Element): string {
  return `${refOf(element)}: ${openingTag(element)}`;
}

export function openingTag(element: Element): string {
  const attributes = ["id", "class"].map((name) => [name, getAttribute(element, name)] as const).filter(([, value]) => value);
  return `<${localName(element)}${attributes.map(([name, value]) => ` ${name}="${cut(value!, 60)}"`).join("")}>`;
}

/** A label stands for its control. */
export function labelledControl(element: Element): Element {
  return localName(element) === "label" ? (element as HTMLLabelElement).control ?? element : element;
}

