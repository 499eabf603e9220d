/** Finds the element that a caller means by a ref, a CSS selector, `text=…` or a locator. Searches open shadow roots, too. */
import { elementsByCss } from "./css_targets";
import { cut, getAttribute, localName, queryAll, textContent } from "./dom";
import { badRequest, PageError } from "./errors";
import { type Step, stepsOf } from "./locator_steps";
import { elementsBySteps } from "./locators";
import { declaredName, tidy } from "./names";
import { elementOfRef, refOf } from "./refs";
import { roleOf } from "./roles";
import { ambiguous, bestByText, type Purpose } from "./text_targets";
import { isRendered } from "./visibility";

export type { Purpose };

const SELECTOR_LIMIT = 1000;
const SUGGESTIONS = 5;
const OPERABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role], [onclick], [tabindex], [contenteditable]";

export interface Found {
  element: Element;
  /** How many elements the target fits. */
  matches: number;
  /** The element is the best of them. Otherwise it is the first that is rendered. */
  isRanked: boolean;
}

/** Find the element. Throws NOT_FOUND if nothing fits, and BAD_REQUEST if a text fits several elements equally well. */
export function findTarget(target: string, purpose: Purpose = "operate"): Found {
  const found = tryFindTarget(target, purpose);
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

/** Like `findTarget`, but return null if nothing fits (yet). */
export function tryFindTarget(target: string, purpose: Purpose = "operate"): Found | null {
  const steps = parsed(target);
  const only = steps.length === 1 ? steps[0] : undefined;
  if (only?.engine === "ref") return { element: elementOfRef(only.ref), matches: 1, isRanked: false };
  if (only?.engine === "text") {
    const best = bestByText(only.body, purpose);
    return best && { ...best, isRanked: true };
  }
  if (only?.engine === "css") {
    const candidates = elementsByCss(only.body);
    const element = candidates.find(isRendered) ?? candidates[0];
    return element ? { element, matches: candidates.length, isRanked: false } : null;
  }
  // Locators are strict, as in Playwright: of several matches, nobody can tell which is meant.
  const elements = elementsBySteps(steps);
  if (elements.length > 1) throw ambiguous(target, elements.map((element) => ({ element, actor: element })), LOCATOR_HINT);
  return elements.length === 1 ? { element: elements[0]!, matches: 1, isRanked: false } : null;
}

const LOCATOR_HINT = "Use one of these refs as target, a more exact locator, or >> nth=0 for the first.";

/** Every element that fits the target, in document order. */
export function allOfTarget(target: string): Element[] {
  return elementsBySteps(parsed(target));
}

/** True if an element that fits the target is rendered. Several are no error here. */
export function isTargetRendered(target: string): boolean {
  const steps = parsed(target);
  const only = steps.length === 1 ? steps[0] : undefined;
  if (only?.engine === "css") return elementsByCss(only.body).some(isRendered);
  return elementsBySteps(steps).some(isRendered);
}

function parsed(target: string): Step[] {
  const trimmed = target.trim();
  if (trimmed === "") throw badRequest("target", "target is empty; give a ref, a CSS selector, text=… or a locator");
  if (target.length > SELECTOR_LIMIT) throw badRequest("target", `target is ${target.length} characters long; at most ${SELECTOR_LIMIT} are allowed`);
  return stepsOf(trimmed);
}

interface Suggestion {
  ref: string;
  role: string;
  name: string;
}

/** The operable elements that share most words with the target. */
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

/** Return `e7: <div class="overlay" id="x">` for `pageSaid`. The page chooses tag names, too. */
export function describe(element: Element): string {
  return `${refOf(element)}: ${openingTag(element)}`;
}

export function openingTag(element: Element): string {
  const attributes = ["id", "class"].map((name) => [name, getAttribute(element, name)] as const).filter(([, value]) => value);
  return `<${localName(element)}${attributes.map(([name, value]) => ` ${name}="${cut(value!, 60)}"`).join("")}>`;
}

/** Return the control of a label, and any other element itself. */
export function labelledControl(element: Element): Element {
  return localName(element) === "label" ? (element as HTMLLabelElement).control ?? element : element;
}

