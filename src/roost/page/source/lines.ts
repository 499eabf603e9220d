/**
 * The tree as lines of Playwright's ARIA YAML:
 * `- role "name" [checked] [disabled] [expanded] [active] [invalid] [level=2] [pressed] [selected] [ref=e12] [cursor=pointer]: text`
 *
 * These elements get a ref:
 *
 * - what can be operated: interactive roles, focusable, editable and draggable elements, and elements that are
 *   clickable by `onclick` or by a cursor that starts there and invites to click, drag or draw;
 * - what has a declared name, except the options of a drop-down;
 * - cells of a grid, frames, images, headings, landmarks and other parts that an agent may want to look into.
 *
 * `[cursor=…]` is written only if the role does not already say that a click does something.
 */
import { isTimeUp } from "./budget";
import { type AccessibleNode, type ContentItem, isText } from "./content_items";
import { collapseSpace, cut, focusedElement, getAttribute, localName, page } from "./dom";
import { refOf } from "./refs";
import { isScopeRole } from "./roles";
import { checkedState, headingLevel, isExpanded, isInvalid, isRequired, isSelected, pressedState, type Tristate } from "./states";
import { NAME_LIMIT } from "./tree";
import { doubleQuoted, yamlKey, yamlValue } from "./yaml";

const TEXT_LIMIT = 2000;
const URL_LIMIT = 500;
const NO_PROPERTIES: string[] = [];

/** Roles without states, unless the element can be operated. */
const STATELESS_ROLES = new Set("blockquote cell definition figure generic group img list paragraph separator table term".split(" "));

export interface Line {
  depth: number;
  /** Index of the line this one is indented under, -1 at the top. */
  parent: number;
  /** Without indentation and "- "; properties (`/url: …`) follow as lines of their own. */
  text: string;
  /** The text without ref and focus: what a diff compares. */
  own: string;
  /** The name, or else the text or value that is printed in this line. */
  label: string;
  properties: string[];
  /** The line has children below it, so it ends with a colon. */
  isParent: boolean;
  /** The element of the line, for the viewport and for refs. */
  element: Element;
  node: AccessibleNode | null;
  ref: string | null;
  /** The element has the focus. */
  isActive: boolean;
}

export function linesOf(items: readonly ContentItem[], depthLimit = Infinity): Line[] {
  const lines: Line[] = [];
  const focused = focusedElement();
  appendLines(lines, items, 0, -1, depthLimit, focused === page.body(document) ? null : focused);
  return lines;
}

function appendLines(lines: Line[], items: readonly ContentItem[], depth: number, parent: number, depthLimit: number, focused: Element | null): void {
  for (const item of items) {
    if (lines.length % 256 === 255 && isTimeUp()) return;
    if (isText(item)) {
      lines.push(textLine(item.text, item.element, depth, parent));
      continue;
    }
    const line = nodeLine(item, depth, parent, focused);
    const index = lines.push(line) - 1;
    if (line.isParent && depth + 1 < depthLimit) appendLines(lines, item.children, depth + 1, index, depthLimit, focused);
    else line.isParent = false;
  }
}

function textLine(text: string, element: Element, depth: number, parent: number): Line {
  const said = text.includes("\n") ? shown(text) : bounded(text.trim());
  const line = `text: ${yamlValue(said)}`;
  return { depth, parent, text: line, own: line, label: said, properties: NO_PROPERTIES, isParent: false, element, node: null, ref: null, isActive: false };
}

function nodeLine(node: AccessibleNode, depth: number, parent: number, focused: Element | null, needsRef = false): Line {
  const ref = needsRef || deservesRef(node) ? refOf(node.element) : null;
  let properties = propertiesOf(node);
  const { own, key } = keyOf(node, ref, focused);
  const content = inlineText(node);
  const onlyText = content === null ? null : shown(content);
  const inline = onlyText === null ? "" : `: ${yamlValue(onlyText)}`;
  const isInlineable = properties.length === 0;
  if (!isInlineable && onlyText !== null) properties = [...properties, `text${inline}`];
  return {
    depth,
    parent,
    text: isInlineable ? yamlKey(key) + inline : yamlKey(key),
    own: own + inline,
    label: node.name || onlyText || "",
    properties,
    isParent: onlyText === null && node.children.length > 0,
    element: node.element,
    node,
    ref,
    isActive: node.element === focused,
  };
}

/** Return the line with a ref even if a snapshot gives it none, so that an agent can act on what it searched for. */
export function withRef(line: Line): Line {
  if (line.ref) return line;
  if (line.node) return { ...nodeLine(line.node, line.depth, line.parent, null, true), isParent: line.isParent };
  const ref = refOf(line.element);
  return { ...line, ref, text: line.text.replace(/^text:/, `generic [ref=${ref}]:`) };
}

function deservesRef(node: AccessibleNode): boolean {
  if (node.isInteractive || node.role === "iframe" || node.role === "gridcell" || isScopeRole(node.role)) return true;
  return node.name !== "" && !node.isNamedByContent;
}

/** The line up to its text: without ref and focus, and with them. */
function keyOf(node: AccessibleNode, ref: string | null, focused: Element | null): { own: string; key: string } {
  const { element, role } = node;
  let start = role;
  if (node.name !== "") start += ` ${doubleQuoted(cut(node.name, NAME_LIMIT))}`;
  let end = "";
  const hasStates = node.isInteractive || !STATELESS_ROLES.has(role);
  if (hasStates) start += tristate("checked", checkedState(element, role));
  if (node.isDisabled) start += " [disabled]";
  if (isExpanded(element)) start += " [expanded]";
  if (hasStates) end = laterStates(element, role);
  const pointer = node.cursor === "" ? "" : ` [cursor=${node.cursor}]`;
  const active = element === focused ? " [active]" : "";
  const number = ref === null ? "" : ` [ref=${ref}]`;
  return { own: start + end + pointer, key: start + active + end + number + pointer };
}

/** The states that are printed behind the focus. */
function laterStates(element: Element, role: string): string {
  let states = isInvalid(element) ? " [invalid]" : "";
  const level = headingLevel(element, role);
  if (level !== undefined) states += ` [level=${level}]`;
  states += tristate("pressed", pressedState(element, role));
  if (isRequired(element, role)) states += " [required]";
  if (isSelected(element, role)) states += " [selected]";
  return states;
}

function tristate(word: string, state: Tristate): string {
  return state === false ? "" : state === true ? ` [${word}]` : ` [${word}=mixed]`;
}

function propertiesOf(node: AccessibleNode): string[] {
  if (node.role === "link") {
    const url = getAttribute(node.element, "href");
    return url && leadsSomewhere(url) ? [`/url: ${yamlValue(cut(url.trim(), URL_LIMIT))}`] : NO_PROPERTIES;
  }
  if (!node.isInteractive) return NO_PROPERTIES;
  const tag = localName(node.element);
  if (tag !== "input" && tag !== "textarea") return NO_PROPERTIES;
  const placeholder = getAttribute(node.element, "placeholder")?.trim();
  return placeholder && placeholder !== node.name ? [`/placeholder: ${yamlValue(shown(placeholder))}`] : NO_PROPERTIES;
}

/** Links that scripts handle have an address that says nothing. */
function leadsSomewhere(url: string): boolean {
  return !/^\s*(?:#?\s*$|javascript:)/i.test(url);
}

/** The whole content, when it is one piece of text. */
function inlineText(node: AccessibleNode): string | null {
  if (node.value) return node.value;
  const [only] = node.children;
  return node.children.length === 1 && only && isText(only) ? only.text : null;
}

/** Text for one line of the snapshot. Lines of preformatted text and of editors stay lines, as `\n`. */
function shown(text: string): string {
  const isPreformatted = text.includes("\n");
  return bounded(isPreformatted ? text.replace(/[ \t\r]+$/gm, "").replace(/^\n+|\n+$/g, "") : collapseSpace(text).trim());
}

function bounded(text: string): string {
  return text.length <= TEXT_LIMIT ? text : `${cut(text, TEXT_LIMIT)} (${text.length - TEXT_LIMIT} more characters)`;
}

/** Number of characters of the printed line, line ends included. */
export function sizeOf(line: Line): number {
  const indent = 2 * line.depth + 2;
  let size = indent + line.text.length + 2;
  for (const property of line.properties) size += indent + property.length + 3;
  return size;
}

export function printLine(line: Line, marker = ""): string {
  const indent = "  ".repeat(line.depth);
  const colon = line.isParent || line.properties.length > 0 ? ":" : "";
  const below = line.properties.map((property) => `\n${indent}  - ${property}`).join("");
  return `${indent}- ${marker}${line.text}${colon}${below}`;
}
