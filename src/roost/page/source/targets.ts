/** Finds the element that a caller means by a ref, a CSS selector, `text=…` or a locator. Searches open shadow roots, too. */
import { elementsByCss } from "./css_targets";
import { cut, getAttribute, isConnected, localName } from "./dom";
import { badRequest, type ErrorDetails, PageError } from "./errors";
import { type Step, stepsOf } from "./locator_steps";
import { elementsBySteps } from "./locators";
import { elementOfRef, formerElement, refOf, staleRef } from "./refs";
import { type Suggestions, suggestionsFor, suggestionsLike } from "./suggestions";
import { ambiguous, bestByText, type Purpose } from "./text_targets";
import { isRendered } from "./visibility";

export type { Purpose };

const SELECTOR_LIMIT = 1000;

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
  const message = `Nothing on the page fits ${JSON.stringify(cut(target, 200))}`;
  throw new PageError("NOT_FOUND", message, { target: cut(target, 200), ...told(suggestionsFor(target)) });
}

/** Details that say what is there instead. The caller words the hint by the reason. */
function told({ found, isSimilar }: Suggestions): ErrorDetails {
  if (found.length === 0) return {};
  return {
    reason: isSimilar ? "similar" : "unlike",
    suggestions: found.map(({ ref }) => ref),
    pageSaid: found.map(({ ref, role, name }) => `${ref}: ${role} ${JSON.stringify(name)}`).join("\n"),
  };
}

/** The element that has the ref. Throws STALE_REF, and names elements that look like the one that is gone. */
function elementNow(ref: string): Element {
  const element = formerElement(ref);
  if (element === undefined || isConnected(element)) return elementOfRef(ref);
  const suggestions = suggestionsLike(element);
  throw staleRef(ref, suggestions.isSimilar ? told(suggestions) : {});
}

/** Like `findTarget`, but return null if nothing fits (yet). */
export function tryFindTarget(target: string, purpose: Purpose = "operate"): Found | null {
  const steps = parsed(target);
  const only = steps.length === 1 ? steps[0] : undefined;
  if (only?.engine === "ref") return { element: elementNow(only.ref), matches: 1, isRanked: false };
  if (only?.engine === "text") {
    const best = bestByText(only.body, purpose);
    return best && { ...best, isRanked: true };
  }
  if (only?.engine === "css") {
    const candidates = elementsByCss(only.body);
    const element = candidates.find(isRendered) ?? candidates[0];
    return element ? { element, matches: candidates.length, isRanked: false } : null;
  }
  // Locators are strict, as in Playwright: with several matches, Roost cannot tell which one the
  // caller means.
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

