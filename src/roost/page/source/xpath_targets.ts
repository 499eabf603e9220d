/**
 * Finds elements by XPath.
 *
 * The browser evaluates XPath in one step that nobody can interrupt, and the time can grow with a power of the page's
 * size. So the expression's cost is estimated first, and one that could hold the page for seconds is refused.
 */
import { isElement, queryAll } from "./dom";
import { openRoots } from "./flat_tree";
import { wrong } from "./locator_steps";

/** About one second of the browser's time. */
const COST_LIMIT = 30_000_000;

/** The depth that is assumed for a search below each of many elements. */
const DEPTH = 32;
const SCOPES_LIMIT = 100;
const FOUND_LIMIT = 100_000;

/** An axis that can lead from each element to most others. */
const FAR_AXIS = /\b(?:following|preceding)(?:-sibling)?\s*::|\bid\s*\(/g;
const DOWN = /\/\/|\bdescendant(?:-or-self)?\s*::/g;
const LITERAL = /"[^"]*"|'[^']*'/g;

export function elementsByXpath(expression: string, scopes: readonly Element[] | null): Element[] {
  if (scopes !== null && scopes.length > SCOPES_LIMIT) throw wrong(`xpath= would be evaluated in ${scopes.length} elements; narrow the step before it`);
  const contexts: Node[] = scopes === null ? openRoots() : scopes.flatMap((scope) => openRoots(scope));
  checkCost(expression, contexts.length);
  const found = new Set<Element>();
  for (const context of contexts.slice(0, SCOPES_LIMIT)) for (const element of evaluated(expression, context)) found.add(element);
  return Array.from(found);
}

function checkCost(expression: string, contexts: number): void {
  const plain = expression.replace(LITERAL, "''");
  const far = (plain.match(FAR_AXIS)?.length ?? 0) + absolutePathsInPredicates(plain);
  const down = Math.max(0, (plain.match(DOWN)?.length ?? 0) - 1);
  const size = queryAll(document, "*").length;
  if (size * size ** far * DEPTH ** down * Math.min(contexts, 10) <= COST_LIMIT) return;
  throw wrong(`this XPath can take too long on a page of ${size} elements`, "Use fewer // and no following or preceding axis, or another locator: role=, text=, CSS.");
}

/** Count the paths in predicates that start at the root: each searches the page again for every element. */
function absolutePathsInPredicates(plain: string): number {
  let depth = 0;
  let count = 0;
  for (let at = 0; at < plain.length; at += 1) {
    if (plain[at] === "[") depth += 1;
    else if (plain[at] === "]") depth -= 1;
    else if (plain[at] === "/" && depth > 0) count += Number(/(?:^|[^\w\s)\]*.@/:]|\b(?:and|or|div|mod))\s*$/.test(plain.slice(0, at)));
  }
  return count;
}

function evaluated(expression: string, context: Node): Element[] {
  const isDocument = context === document;
  const relative = !isDocument && expression.startsWith("/") ? `.${expression}` : expression;
  let result: XPathResult;
  try {
    result = Document.prototype.evaluate.call(document, relative, context, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  } catch (error) {
    if (!isDocument && (error as DOMException).name === "NotSupportedError") return []; // the browser has no XPath in shadow roots
    throw wrong("the XPath expression is not valid, or it does not mean elements");
  }
  const elements: Element[] = [];
  for (let index = 0; index < Math.min(result.snapshotLength, FOUND_LIMIT); index += 1) {
    const node = result.snapshotItem(index);
    if (isElement(node)) elements.push(node);
  }
  return elements;
}
