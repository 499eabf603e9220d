/**
 * CSS selectors that cross open shadow roots, as in Playwright: in `x-card button`, the button may be inside the
 * shadow root of the card. `querySelectorAll` stays inside one root, so the parts of such a selector are matched here.
 */
import { cut, isElement, matches, parentNode, queryAll } from "./dom";
import { badRequest } from "./errors";
import { openRoots } from "./flat_tree";
import { isRendered } from "./visibility";

/** Matching tries all ancestors for each part, so the number of tries must have a limit. */
const TRIES_LIMIT = 200_000;
let tries = 0;

/**
 * Searches the document first: going through every element for shadow roots costs milliseconds on large pages.
 *
 * isAll: also search the shadow roots if the document has a rendered match.
 */
export function elementsByCss(selector: string, isAll = false): Element[] {
  try {
    const inDocument = Array.from(queryAll(document, selector));
    if (!isAll && inDocument.some(isRendered)) return inDocument;
    const roots = openRoots();
    const inRoots = roots.flatMap((root) => Array.from(queryAll(root, selector)));
    if (roots.length === 1 || (!isAll && inRoots.some(isRendered))) return inRoots;
    return [...inRoots, ...elementsAcrossRoots(roots, selector)];
  } catch {
    throw badRequest("target", `${JSON.stringify(cut(selector, 200))} is neither a ref nor a valid CSS selector`, "Use a ref from a snapshot (e12), CSS, text=…, or role=button[name=\"Save\"].");
  }
}

/** A selector without combinators, and the combinator before it (empty for the first). */
interface Part {
  combinator: "" | " " | ">" | "+" | "~";
  compound: string;
}

function elementsAcrossRoots(roots: readonly (Document | ShadowRoot)[], selector: string): Element[] {
  const found = new Set<Element>();
  tries = 0;
  for (const complex of splitOutside(selector, ",")) {
    const parts = partsOf(complex);
    if (parts.length < 2) continue; // without a combinator nothing crosses a root
    const last = parts[parts.length - 1]!.compound;
    for (const root of roots) for (const element of queryAll(root, last)) if (fits(element, parts, parts.length - 1)) found.add(element);
  }
  return Array.from(found);
}

/** True if the element fits the parts up to `index`. */
function fits(element: Element, parts: readonly Part[], index: number): boolean {
  const { combinator, compound } = parts[index]!;
  tries += 1;
  if (tries > TRIES_LIMIT) return false;
  if (!matches(element, compound)) return false;
  if (index === 0) return true;
  switch (combinator) {
    case ">": {
      const parent = parentAcrossRoots(element);
      return parent !== null && fits(parent, parts, index - 1);
    }
    case "+": {
      const before = element.previousElementSibling;
      return before !== null && fits(before, parts, index - 1);
    }
    case "~":
      for (let at = element.previousElementSibling; at; at = at.previousElementSibling) if (fits(at, parts, index - 1)) return true;
      return false;
    default:
      for (let at = parentAcrossRoots(element); at; at = parentAcrossRoots(at)) if (fits(at, parts, index - 1)) return true;
      return false;
  }
}

function parentAcrossRoots(element: Element): Element | null {
  const parent = parentNode(element);
  return parent === null || isElement(parent) ? parent : ((parent as ShadowRoot).host ?? null);
}

function partsOf(complex: string): Part[] {
  const parts: Part[] = [];
  let combinator: Part["combinator"] = "";
  for (const token of splitOutside(complex.replace(/\s+/g, " "), " >+~", true)) {
    if (/^[ >+~]$/.test(token)) combinator = token === " " && combinator !== "" ? combinator : (token as Part["combinator"]);
    else {
      parts.push({ combinator: parts.length === 0 ? "" : combinator, compound: token });
      combinator = "";
    }
  }
  return parts;
}

/** Split at the separators that are outside of brackets, parentheses and quotes. `keeps`: return the separators, too. */
function splitOutside(text: string, separators: string, keeps = false): string[] {
  const tokens: string[] = [];
  let open = "";
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "\\") {
      open += char + (text[at + 1] ?? "");
      at += 1;
      continue;
    }
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === "[" || char === "(") depth += 1;
    else if (char === "]" || char === ")") depth -= 1;
    else if (depth === 0 && separators.includes(char)) {
      if (open.trim() !== "") tokens.push(open.trim());
      if (keeps) tokens.push(char);
      open = "";
      continue;
    }
    open += char;
  }
  if (open.trim() !== "") tokens.push(open.trim());
  return tokens;
}
