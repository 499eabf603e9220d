/**
 * Text that CSS writes before and after elements (`::before`, `::after`).
 *
 * Asking every element for the style of its pseudo-elements would take longer than reading the page. So this module
 * first looks in the style sheets which elements can have such text. A sheet of another origin cannot be read, so
 * text from such a sheet is missing. Labels are always asked, because they often carry the mark of a required field.
 */
import { isReadingOver, oncePerBudget } from "./budget";
import { getAttribute, localName, matches } from "./dom";

export type Pseudo = "::before" | "::after";

const RULES_READ = 20_000;
const SELECTOR_CHARS = 20_000;

/** Text without any of these says nothing when read: bullets, arrows, separators, glyphs of icon fonts. */
const SAYS_SOMETHING = /[\p{L}\p{N}\p{Sc}*%#@+!?]/u;

/** The selectors found in each sheet. A sheet with another number of rules has changed and is read again. */
const known = new WeakMap<CSSStyleSheet, { rules: number; selectors: string[] }>();

/** Selects the elements that may have generated text, or "" if there are none. */
const candidates = oncePerBudget((): string => {
  let selectors: string[] = [];
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    if (isReadingOver()) break;
    selectors = selectors.concat(selectorsIn(sheet));
  }
  const usable = [...new Set(selectors)].filter(isSelector);
  const all = usable.join(",");
  return all.length > SELECTOR_CHARS ? "" : all;
});

function selectorsIn(sheet: CSSStyleSheet): string[] {
  let rules: CSSRuleList;
  try {
    if (sheet.disabled) return [];
    rules = sheet.cssRules;
  } catch {
    return []; // of another origin, or not loaded
  }
  const cached = known.get(sheet);
  if (cached?.rules === rules.length) return cached.selectors;
  const selectors: string[] = [];
  collect(rules, selectors, { left: RULES_READ }, "");
  known.set(sheet, { rules: rules.length, selectors });
  return selectors;
}

function collect(rules: CSSRuleList, into: string[], budget: { left: number }, outer: string): void {
  for (const rule of rules) {
    budget.left -= 1;
    if (budget.left < 0) return;
    const { selectorText, style, cssRules } = rule as CSSStyleRule;
    const selector = outer === "" ? selectorText : selectorText?.replaceAll("&", `:is(${outer})`);
    if (selector !== undefined && /:(?:before|after)/.test(selector) && /["']|attr\(/.test(style?.content ?? "")) {
      for (const one of selector.split(/,(?![^(]*\))/)) {
        const [, element] = /^(.*?)::?(?:before|after)\s*$/s.exec(one.trim()) ?? [];
        if (element !== undefined) into.push(element === "" ? "*" : element.replace(/([\s>+~])$/, "$1*"));
      }
    }
    if (cssRules && cssRules.length > 0) collect(cssRules, into, budget, selector ?? outer);
  }
}

function isSelector(selector: string): boolean {
  try {
    document.createDocumentFragment().querySelector(selector);
    return true;
  } catch {
    return false;
  }
}

export function mayHaveGeneratedText(element: Element): boolean {
  const selector = candidates();
  return isLabel(element) || (selector !== "" && matches(element, selector));
}

export function generatedText(element: Element, pseudo: Pseudo): string {
  const style = getComputedStyle(element, pseudo);
  if (style.content === "none" || style.content === "normal" || style.display === "none" || style.visibility !== "visible") return "";
  const text = textOf(style.content, element);
  return SAYS_SOMETHING.test(text) ? text : "";
}

/** Join the strings of a `content` value. Strings behind a slash are the alternative for screen readers and replace the others. */
function textOf(content: string, element: Element): string {
  const parts: string[] = [];
  for (const [token, quoted, attribute] of content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)[^)]*\)|\//g)) {
    if (token === "/") parts.length = 0;
    else if (attribute !== undefined) parts.push(getAttribute(element, attribute) ?? "");
    else parts.push(quoted!.replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, (_, code: string | undefined, sign: string) => (code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : sign)));
  }
  // Private-use code points are glyphs of an icon font and not text.
  return parts.join("").replace(/[\ue000-\uf8ff]/g, "");
}

function isLabel(element: Element): boolean {
  const tag = localName(element);
  return tag === "label" || tag === "legend";
}
