/**
 * Accessible names. https://w3c.github.io/accname/
 *
 * The library dom-accessibility-api computes the names that an author declares: aria-labelledby, labels, alt, legend,
 * caption, title, values of buttons. tree.ts builds the names that come from content. It visits the children anyway,
 * so these names cost nothing more, and unlike the library it enters shadow roots.
 */
import { computeAccessibleName } from "dom-accessibility-api";
import { isReadingOver, oncePerBudget } from "./budget";
import { closest, collapseSpace, cut, getAttribute, hasAttribute, localName, page, queryAll, textContent } from "./dom";
import { isEditingHost } from "./roles";
import { isSecretField } from "./secrets";

/** Tags whose name may come from other elements or native attributes. */
const NATIVELY_NAMED = new Set([
  "area", "button", "fieldset", "figure", "iframe", "img", "input", "meter", "optgroup", "output", "progress", "select", "svg", "table", "textarea",
]);

/** Return the name that the author declared for this element, or "" if only its content can name it. */
export function declaredName(element: Element): string {
  const label = getAttribute(element, "aria-label");
  if (label !== null && label.trim() !== "" && !hasAttribute(element, "aria-labelledby")) return tidy(label);
  if (!mayHaveDeclaredName(element)) return "";
  return withoutSecrets(tidy(libraryName(element))) || fallbackName(element);
}

function mayHaveDeclaredName(element: Element): boolean {
  return NATIVELY_NAMED.has(localName(element)) || hasAttribute(element, "aria-labelledby");
}

function libraryName(element: Element): string {
  // A button is named by its content unless a label or a referenced element says otherwise.
  if (localName(element) === "button" && !hasAttribute(element, "aria-labelledby") && !hasLabels(element)) return "";
  if (isReadingOver()) return getAttribute(element, "aria-label") ?? "";
  if (isDense()) return shortName(element);
  let visits = 0;
  const boundedStyle = (visited: Element, pseudo?: string | null): CSSStyleDeclaration => {
    visits += 1;
    if (visits > VISIT_LIMIT || isReadingOver()) throw new Error("too much for a name");
    return getComputedStyle(visited, pseudo);
  };
  try {
    return computeAccessibleName(element, { getComputedStyle: boundedStyle });
  } catch {
    // The limit was reached, or the library read a property of a form that an input with that name hides.
    return shortName(element);
  }
}

/** The library asks for the style of every element it reads. A name that needs more elements than this is not computed. */
const VISIT_LIMIT = 2_000;

/**
 * With more characters than this in aria-owns and aria-labelledby, the library is too slow for the page, because it
 * follows all references for every name.
 */
const REFERENCE_CHARS = 30_000;
const REFERENCES_READ = 10;
const SHORT_NAME_CHARS = 250;

const isDense = oncePerBudget(() => {
  let chars = 0;
  for (const element of queryAll(document, "[aria-owns], [aria-labelledby]")) {
    chars += (getAttribute(element, "aria-owns")?.length ?? 0) + (getAttribute(element, "aria-labelledby")?.length ?? 0);
    if (chars > REFERENCE_CHARS) return true;
  }
  return false;
});

/** A name without the library: the text of the first referenced elements, else the aria-label. Follows no second reference. */
function shortName(element: Element): string {
  const ids = (getAttribute(element, "aria-labelledby") ?? "").slice(0, 40 * REFERENCES_READ).split(/\s+/);
  const referenced = ids.slice(0, REFERENCES_READ).flatMap((id) => (id === "" ? [] : page.byId(document, id) ?? []));
  const texts = referenced.map((one) => getAttribute(one, "aria-label") ?? cut(textContent(one) ?? "", SHORT_NAME_CHARS));
  return cut(texts.join(" ").trim() || (getAttribute(element, "aria-label") ?? ""), SHORT_NAME_CHARS);
}

/** Asking a control for its `labels` walks the whole document, so ask only a control that can have a label. */
function hasLabels(element: Element): boolean {
  if (!hasAttribute(element, "id") && closest(element, "label") === null) return false;
  return ((element as HTMLButtonElement).labels?.length ?? 0) > 0;
}

/** Names that HTML defines beyond accname. https://www.w3.org/TR/html-aam-1.0/#accname-computation */
function fallbackName(element: Element): string {
  switch (localName(element)) {
    case "input":
    case "textarea":
      return tidy(getAttribute(element, "placeholder") ?? getAttribute(element, "aria-placeholder") ?? nameOfFileInput(element));
    case "figure":
      return tidy(queryAll(element, ":scope > figcaption")[0]?.textContent ?? "");
    default:
      return "";
  }
}

function nameOfFileInput(element: Element): string {
  const input = element as HTMLInputElement;
  return input.type === "file" ? (input.multiple ? "Choose files" : "Choose file") : "";
}

/** The title: the last step of accname, for elements whose content gives no name. */
export function titleName(element: Element): string {
  return tidy(getAttribute(element, "title") ?? (isEditingHost(element) ? getAttribute(element, "data-placeholder") ?? "" : ""));
}

/** Text that CSS writes before and after an element, for elements without any other name. */
export function generatedName(element: Element): string {
  const parts = ["::before", "::after"].map((pseudo) => {
    const content = getComputedStyle(element, pseudo).content;
    return /^".*"$/.test(content) ? content.slice(1, -1) : "";
  });
  // Private-use code points are glyphs of an icon font and not text.
  return tidy(parts.join(" ").replace(/[\ue000-\uf8ff]|\\[0-9a-f]+ ?/gi, ""));
}

/**
 * The library uses the value of a referenced textbox as a name, and takes a password field with an explicit role for
 * a textbox. So the values of such fields are cut out of names.
 */
function withoutSecrets(name: string): string {
  if (name === "") return name;
  for (const value of secretValues()) name = name.split(value).join("");
  return name;
}

const secretValues = oncePerBudget(() =>
  Array.from(queryAll(document, "input[role]"))
    .filter((input) => isSecretField(input))
    .map((input) => (input as HTMLInputElement).value)
    .filter((value) => value !== ""),
);

export function tidy(name: string): string {
  return collapseSpace(name).trim();
}
