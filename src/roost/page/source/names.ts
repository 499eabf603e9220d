/**
 * Accessible names. https://w3c.github.io/accname/
 *
 * dom-accessibility-api computes everything an author declares (aria-labelledby, labels, alt, legend,
 * caption, title, values of buttons). Names that come from content are put together in tree.ts from the
 * children it has visited anyway: that costs nothing more and, unlike the library, follows shadow roots.
 */
import { computeAccessibleName } from "dom-accessibility-api";
import { closest, collapseSpace, getAttribute, hasAttribute, localName, queryAll } from "./dom";
import { isEditingHost } from "./roles";
import { isSecretField } from "./secrets";

/** Tags whose name may come from other elements or native attributes. */
const NATIVELY_NAMED = new Set([
  "area", "button", "fieldset", "figure", "iframe", "img", "input", "meter", "optgroup", "output", "progress", "select", "svg", "table", "textarea",
]);

/** The name an author declared for this element, or "" when only its content could name it. */
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
  try {
    return computeAccessibleName(element);
  } catch {
    // The library reads clobberable properties; a form whose inputs are named like DOM properties breaks it.
    return getAttribute(element, "aria-label") ?? "";
  }
}

/** Asking a control for its labels walks the whole document: only where it can have one at all. */
function hasLabels(element: Element): boolean {
  if (!hasAttribute(element, "id") && closest(element, "label") === null) return false;
  return ((element as HTMLButtonElement).labels?.length ?? 0) > 0;
}

/** What HTML adds where accname ends: https://www.w3.org/TR/html-aam-1.0/#accname-computation */
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

/** The last resort of accname, for elements whose content gave nothing. */
export function titleName(element: Element): string {
  return tidy(getAttribute(element, "title") ?? (isEditingHost(element) ? getAttribute(element, "data-placeholder") ?? "" : ""));
}

/** Icon fonts: what CSS writes before and after an element that has no other name. */
export function generatedName(element: Element): string {
  const parts = ["::before", "::after"].map((pseudo) => {
    const content = getComputedStyle(element, pseudo).content;
    return /^".*"$/.test(content) ? content.slice(1, -1) : "";
  });
  // Private-use code points are glyphs of an icon font, no text.
  return tidy(parts.join(" ").replace(/[\ue000-\uf8ff]|\\[0-9a-f]+ ?/gi, ""));
}

/**
 * The library uses the value of a referenced textbox as a name, and knows a password field with an
 * explicit role as a textbox. Rare enough to look only when such a field exists.
 */
function withoutSecrets(name: string): string {
  if (name === "") return name;
  for (const input of queryAll(document, "input[role]")) {
    const value = (input as HTMLInputElement).value;
    if (value !== "" && isSecretField(input)) name = name.split(value).join("");
  }
  return name;
}

export function tidy(name: string): string {
  return collapseSpace(name).trim();
}
