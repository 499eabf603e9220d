/**
 * The role of an element: the explicit role if it is valid, else the role of its tag.
 *
 * The library dom-accessibility-api has a table of roles, too. This module does not use it: it accepts any `role`
 * token, ignores context (a `<footer>` inside an article), does not know password, date and file inputs, and does
 * not export the function that ignores `role`.
 * https://www.w3.org/TR/html-aam-1.0/#html-element-role-mappings
 */
import { closest, getAttribute, hasAttribute, isElement, localName, parentNode } from "./dom";

const KNOWN_ROLES = new Set(
  (
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid " +
    "gridcell group heading img image insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
    "menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio " +
    "radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong " +
    "subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid " +
    "treeitem"
  ).split(" "),
);

/** Roles a person operates. */
const INTERACTIVE_ROLES = new Set(
  (
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox " +
    "slider spinbutton switch tab textbox treeitem"
  ).split(" "),
);

/** Elements with these roles get no line of their own. Their text belongs to the line around them. */
const TEXT_LEVEL_ROLES = new Set(
  "generic none presentation caption code deletion emphasis insertion mark strong subscript superscript time".split(" "),
);

/** https://w3c.github.io/aria/#namefromcontent, except `row`, because the name of a row only repeats its cells. */
const NAMED_BY_CONTENT = new Set(
  (
    "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio " +
    "rowheader switch tab tooltip treeitem"
  ).split(" "),
);

export const LANDMARK_ROLES: ReadonlySet<string> = new Set(
  "banner complementary contentinfo form main navigation region search".split(" "),
);

/** Elements with these roles get a ref even without a name, so that an agent can look into them with `target`. */
const SCOPE_ROLES = new Set(
  "alert alertdialog article dialog feed figure grid heading iframe img log menu menubar radiogroup status table tablist tabpanel toolbar tree treegrid video audio canvas".split(" "),
);

export const isInteractiveRole = (role: string): boolean => INTERACTIVE_ROLES.has(role);
export const isTextLevelRole = (role: string): boolean => TEXT_LEVEL_ROLES.has(role);
export const isNamedByContent = (role: string): boolean => NAMED_BY_CONTENT.has(role);
export const isScopeRole = (role: string): boolean => SCOPE_ROLES.has(role) || LANDMARK_ROLES.has(role);

const ROLE_OF_TAG: Record<string, string> = {
  article: "article", audio: "audio", blockquote: "blockquote", button: "button", canvas: "canvas", datalist: "listbox",
  dd: "definition", details: "group", dialog: "dialog", dt: "term", fieldset: "group", figure: "figure", frame: "iframe",
  h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", hr: "separator",
  iframe: "iframe", li: "listitem", main: "main", math: "math", menu: "list", meter: "meter", nav: "navigation",
  ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph", progress: "progressbar",
  search: "search", table: "table", tbody: "rowgroup", textarea: "textbox", tfoot: "rowgroup", thead: "rowgroup",
  tr: "row", ul: "list", video: "video",
};

const ROLE_OF_INPUT: Record<string, string> = {
  button: "button", checkbox: "checkbox", file: "button", hidden: "none", image: "button", number: "spinbutton",
  radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
};

const SECTIONING = "article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]";

export const isKnownRole = (role: string): boolean => KNOWN_ROLES.has(role);

/** Tags that can have a role which depends on more than the tag. */
const TAGS_OF_ROLE: Record<string, string> = {
  banner: "header", button: "input, summary", cell: "td", checkbox: "input", columnheader: "th", combobox: "select, input", complementary: "aside",
  contentinfo: "footer", form: "form", gridcell: "td", img: "img, svg", link: "a, area", listbox: "select", radio: "input", region: "section",
  rowheader: "th", searchbox: "input", slider: "input", spinbutton: "input", textbox: "input, [contenteditable]",
};

/** Return a selector that fits every element that can have the role, and as few others as possible. */
export function candidatesForRole(role: string): string {
  if (role === "generic" || role === "none") return "*";
  const tags = Object.keys(ROLE_OF_TAG).filter((tag) => ROLE_OF_TAG[tag] === role);
  return ["[role]", ...tags, ...(TAGS_OF_ROLE[role] ? [TAGS_OF_ROLE[role]] : [])].join(", ");
}

export function roleOf(element: Element): string {
  const explicit = explicitRole(element);
  // "none" is ignored on an element that a person can reach, because it would hide the element: https://w3c.github.io/aria/#conflict_resolution_presentation_none
  const isVoid = explicit === "none" && (isFocusableByAuthor(element) || isNamedByAuthor(element));
  if (explicit !== null && !isVoid) return explicit;
  const implicit = implicitRole(element);
  return implicit === "generic" && isEditingHost(element) ? "textbox" : implicit;
}

function explicitRole(element: Element): string | null {
  const attribute = getAttribute(element, "role");
  if (attribute === null) return null;
  const role = attribute.toLowerCase().split(/\s+/).find((token) => KNOWN_ROLES.has(token));
  if (role === undefined) return null;
  return role === "presentation" ? "none" : role === "image" ? "img" : role;
}

/** The role of the tag. Ignores the attributes role and contenteditable. */
export function implicitRole(element: Element): string {
  const tag = localName(element);
  switch (tag) {
    case "a":
    case "area":
      return hasAttribute(element, "href") ? "link" : "generic";
    case "input":
      return roleOfInput(element as HTMLInputElement);
    case "select":
      return (element as HTMLSelectElement).multiple || (element as HTMLSelectElement).size > 1 ? "listbox" : "combobox";
    case "img":
      return getAttribute(element, "alt") === "" && !isNamedByAuthor(element) ? "none" : "img";
    case "svg":
      return isNamedByAuthor(element) || hasSvgTitle(element) ? "img" : "generic";
    case "summary":
      return isSummaryOfDetails(element) ? "button" : "generic";
    case "header":
      return closest(element, SECTIONING) ? "generic" : "banner";
    case "footer":
      return closest(element, SECTIONING) ? "generic" : "contentinfo";
    case "aside":
      return isNamedByAuthor(element) || !isInSection(element) ? "complementary" : "generic";
    case "section":
      return isNamedByAuthor(element) ? "region" : "generic";
    case "form":
      return isNamedByAuthor(element) ? "form" : "generic";
    case "li":
      return isInPresentationalList(element) ? "none" : "listitem";
    case "tbody":
    case "thead":
    case "tfoot":
    case "tr":
    case "td":
    case "th":
      return roleInTable(element, tag);
    default:
      return ROLE_OF_TAG[tag] ?? "generic";
  }
}

function roleOfInput(input: HTMLInputElement): string {
  const role = ROLE_OF_INPUT[input.type] ?? "textbox";
  return (role === "textbox" || role === "searchbox") && hasAttribute(input, "list") ? "combobox" : role;
}

function roleInTable(element: Element, tag: string): string {
  const table = closest(element, "table");
  const tableRole = table ? explicitRole(table) : null;
  if (tableRole === "none") return "none";
  if (tag === "td") return tableRole === "grid" || tableRole === "treegrid" ? "gridcell" : "cell";
  if (tag === "th") return roleOfHeaderCell(element);
  return ROLE_OF_TAG[tag]!;
}

/** https://www.w3.org/TR/html-aam-1.0/#el-th. Without `scope`, a cell before a `<td>` heads its row. */
function roleOfHeaderCell(cell: Element): string {
  const scope = getAttribute(cell, "scope");
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  return cell.nextElementSibling?.localName === "td" ? "rowheader" : "columnheader";
}

/** A list with the role none has no list items. https://w3c.github.io/aria/#none */
function isInPresentationalList(item: Element): boolean {
  const list = parentNode(item);
  return isElement(list) && explicitRole(list) === "none";
}

function isSummaryOfDetails(summary: Element): boolean {
  const details = summary.parentElement;
  return details?.localName === "details" && details.querySelector(":scope > summary") === summary;
}

function hasSvgTitle(svg: Element): boolean {
  for (const child of svg.children) if (child.localName === "title") return true;
  return false;
}

function isInSection(aside: Element): boolean {
  const parent = aside.parentElement;
  return parent !== null && closest(parent, SECTIONING) !== null;
}

function isNamedByAuthor(element: Element): boolean {
  return (
    Boolean(getAttribute(element, "aria-label")?.trim()) ||
    hasAttribute(element, "aria-labelledby") ||
    Boolean(getAttribute(element, "title")?.trim())
  );
}

export function isEditingHost(element: Element): boolean {
  const value = getAttribute(element, "contenteditable")?.toLowerCase();
  return value === "" || value === "true" || value === "plaintext-only";
}

/** Whether the keyboard reaches the element, natively or by an attribute of the author. */
export function isFocusableByAuthor(element: Element): boolean {
  const tabindex = getAttribute(element, "tabindex");
  if (tabindex !== null && Number.parseInt(tabindex, 10) >= 0) return true;
  switch (localName(element)) {
    case "a":
    case "area":
      return hasAttribute(element, "href");
    case "button":
    case "input":
    case "select":
    case "textarea":
      return !hasAttribute(element, "disabled");
    default:
      return isEditingHost(element);
  }
}
