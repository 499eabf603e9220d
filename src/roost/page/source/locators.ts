/**
 * Finds the elements that the steps of a locator mean, in the document and its open shadow roots.
 *
 * Each step searches the whole page once and keeps what is inside the elements of the step before. So `* >> * >> *`
 * costs three searches, and not one search per element.
 */
import { isReadingOver, oncePerBudget } from "./budget";
import { elementsByCss } from "./css_targets";
import { closest, getAttribute, isElement, isTrue, localName, page, parentNode, queryAll, shadowRootOf, textContent } from "./dom";
import { PageError } from "./errors";
import { openRoots } from "./flat_tree";
import { type RoleTest, type Step, type WantedText, wrong } from "./locator_steps";
import { tidy } from "./names";
import { plainText } from "./plain_text";
import { elementOfRef } from "./refs";
import { candidatesForRole, isKnownRole, roleOf } from "./roles";
import { checkedState, headingLevel, isDisabled, isExpanded, isSelected, pressedState } from "./states";
import { elementsByText } from "./text_targets";
import { nameReader } from "./tree";
import { isRendered } from "./visibility";
import { elementsByXpath } from "./xpath_targets";

/** Every element that the steps mean, in document order. */
export function elementsBySteps(steps: readonly Step[]): Element[] {
  let found: Element[] | null = null;
  for (const step of steps) found = step.engine === "nth" ? nth(found, step.index) : searched(step, found);
  return found!;
}

function nth(found: Element[] | null, index: number): Element[] {
  if (found === null) throw wrong("nth= needs a step before it, for example button >> nth=0");
  const at = index < 0 ? found.length + index : index;
  const one = found[at];
  return one === undefined ? [] : [one];
}

function searched(step: Exclude<Step, { engine: "nth" }>, scopes: Element[] | null): Element[] {
  if (scopes !== null && scopes.length === 0) return [];
  // XPath is relative to its context, so it alone searches inside each scope.
  if (step.engine === "xpath") return inOrder(elementsByXpath(step.body, scopes));
  const all = found(step);
  return inOrder(scopes === null ? all : inside(all, new Set(scopes)));
}

function found(step: Exclude<Step, { engine: "nth" | "xpath" }>): Element[] {
  switch (step.engine) {
    case "ref":
      return [elementOfRef(step.ref)];
    case "css":
      return elementsByCss(step.body, true);
    case "text":
      return elementsByText(step.body);
    case "role":
      return byRole(step.role, step.tests);
    case "label":
      return everywhere("*").filter((element) => labelsOf(element).some((label) => fits(label, step.wanted)));
    case "testid":
      return everywhere("[data-testid]").filter((element) => getAttribute(element, "data-testid") === step.wanted.text);
    default:
      return everywhere(`[${step.engine}]`).filter((element) => fits(getAttribute(element, step.engine)!, step.wanted));
  }
}

function everywhere(selector: string): Element[] {
  return openRoots().flatMap((root) => Array.from(queryAll(root, selector)));
}

function fits(text: string, { text: wanted, isExact }: WantedText): boolean {
  checkTime();
  const own = tidy(text);
  return isExact ? own === wanted : own.toLowerCase().includes(wanted.toLowerCase());
}

function checkTime(): void {
  if (isReadingOver()) throw new PageError("TIMEOUT", "This page takes too long to search", { hint: "Use a CSS selector, or a ref from a snapshot." });
}

const LABELLABLE = /^(?:button|input|meter|output|progress|select|textarea)$/;

/** The texts that label an element: those that aria-labelledby names, else aria-label, else its `<label>`s. */
function labelsOf(element: Element): string[] {
  const named = getAttribute(element, "aria-labelledby");
  if (named !== null && named.trim() !== "") {
    const labels = named.slice(0, 1000).split(/\s+/).flatMap((id) => (id === "" ? [] : page.byId(document, id) ?? []));
    if (labels.length > 0) return labels.map((label) => textContent(label) ?? "");
  }
  const own = getAttribute(element, "aria-label");
  if (own !== null && own.trim() !== "") return [own];
  if (!LABELLABLE.test(localName(element)) || !mayBeLabelled(element)) return [];
  return Array.from((element as HTMLInputElement).labels ?? [], (label) => textContent(label) ?? "");
}

/** Asking a control for its labels walks the whole document, so ask only if a label names it or is around it. */
function mayBeLabelled(element: Element): boolean {
  return labelledIds().has(getAttribute(element, "id") ?? "") || closest(element, "label") !== null;
}

const labelledIds = oncePerBudget(() => new Set(everywhere("label[for]").map((label) => getAttribute(label, "for")!)));

function byRole(asked: string, tests: readonly RoleTest[]): Element[] {
  if (!isKnownRole(asked)) throw wrong(`there is no role ${JSON.stringify(asked)}`);
  const role = asked === "presentation" ? "none" : asked === "image" ? "img" : asked;
  const showsHidden = tests.some(({ attribute, value }) => attribute === "include-hidden" && isTruthy(value));
  const nameOf = nameReader();
  return everywhere(candidatesForRole(role)).filter((element) => {
    checkTime();
    if (roleOf(element) !== role) return false;
    if (!showsHidden && !isExposed(element)) return false;
    return tests.every((test) => passes(element, role, test, nameOf));
  });
}

/** True if assistive technology can reach the element: it is rendered, and no element around it is aria-hidden. */
function isExposed(element: Element): boolean {
  if (!isRendered(element)) return false;
  for (let at: Element | null = element; at; at = parentAcrossRoots(at)) if (isTrue(at, "aria-hidden")) return false;
  return true;
}

function isTruthy(value: string | true): boolean {
  return value === true || value.toLowerCase() === "true";
}

function passes(element: Element, role: string, test: RoleTest, nameOf: (element: Element) => string): boolean {
  const { attribute, value } = test;
  switch (attribute) {
    case "name": {
      if (value === true) throw wrong('[name] needs a value, for example [name="Save"]');
      const fold = (text: string): string => (test.ignoresCase ? text.toLowerCase() : text);
      const wanted = fold(tidy(value));
      const name = fold(role === "row" ? tidy(plainText(element)) : nameOf(element));
      return test.isPart ? name.includes(wanted) : name === wanted;
    }
    case "level":
      return String(headingLevel(element, role) ?? 0) === String(value);
    case "checked":
      return stateIs(checkedState(element, role), value);
    case "pressed":
      return stateIs(pressedState(element, role), value);
    case "selected":
      return stateIs(isSelected(element, role), value);
    case "expanded":
      return stateIs(isExpanded(element), value);
    case "disabled":
      return stateIs(isDisabled(element), value);
    default:
      return true; // include-hidden chose the candidates
  }
}

function stateIs(state: boolean | "mixed", wanted: string | true): boolean {
  return wanted === "mixed" ? state === "mixed" : state === isTruthy(wanted);
}

/** The elements that are below one of the scopes. */
function inside(elements: readonly Element[], scopes: ReadonlySet<Element>): Element[] {
  const known = new Map<Element, boolean>();
  const isBelow = (element: Element): boolean => {
    const passed: Element[] = [];
    let answer = false;
    for (let at = parentAcrossRoots(element); at; at = parentAcrossRoots(at)) {
      const before = known.get(at);
      if (before !== undefined || scopes.has(at)) {
        answer = before ?? true;
        break;
      }
      passed.push(at);
    }
    for (const one of passed) known.set(one, answer);
    return answer;
  };
  return elements.filter((element) => {
    checkTime();
    return isBelow(element);
  });
}

function parentAcrossRoots(element: Element): Element | null {
  const parent = parentNode(element);
  return parent === null || isElement(parent) ? parent : ((parent as ShadowRoot).host ?? null);
}

/** Elements of one root are in document order. Elements of several roots have to be sorted. */
function inOrder(elements: readonly Element[]): Element[] {
  if (elements.length < 2 || openRoots().length === 1) return Array.from(new Set(elements));
  const places = new Map<Element, number>();
  number(document, places);
  return Array.from(new Set(elements)).sort((left, right) => places.get(left)! - places.get(right)!);
}

function number(root: Document | ShadowRoot, places: Map<Element, number>): void {
  for (const element of queryAll(root, "*")) {
    places.set(element, places.size);
    const shadow = shadowRootOf(element);
    if (shadow) number(shadow, places);
  }
}
