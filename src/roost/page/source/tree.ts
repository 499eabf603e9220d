/**
 * The accessible tree: one pass over the rendered page that decides what an agent reads.
 *
 * The tree leaves out what is not rendered, aria-hidden or inert, and everything outside an open modal dialog.
 * Generic containers, text-level elements, row groups and unnamed groups get no line: their content belongs to the
 * line around them.
 */
import { isReadingOver } from "./budget";
import {
  ELEMENT, TEXT, contains, contentElement, getAttribute, hasAttribute, isElement, isTrue, localName, matches, nextSibling, nodeType, parentNode, queryAll, textContent,
} from "./dom";
import { type AccessibleNode, ContentCollector, type ContentItem, contentText, isText, operableParts, type TextChunk } from "./content_items";
import { firstFlatChild, flatParent, slottedNodes } from "./flat_tree";
import { generatedText, mayHaveGeneratedText } from "./generated_text";
import { declaredName, generatedName, tidy, titleName } from "./names";
import { OwnedElements } from "./owned_elements";
import { isEditingHost, isFocusableByAuthor, isInteractiveRole, isNamedByContent, isTextLevelRole, implicitRole, roleOf } from "./roles";
import { holdsSecret } from "./secrets";
import { isDisabled, isNativelyDisabled, shownValue } from "./states";
import { optionItems } from "./select_options";
import { exposureOf, isHiddenFromReaders, isRendered, isUnrendered, skipsContents } from "./visibility";

/** A longer name from content is cut, and the content is printed below its line. */
export const NAME_LIMIT = 250;

/** Building a name from content stops here, because content that long is printed below its line anyway. */
const CONTENT_NAME_LIMIT = 4 * NAME_LIMIT;

/** Scripts can nest elements deeper than the stack allows. What is deeper is left out. */
const DEPTH_LIMIT = 700;

const ATOMIC_TAGS = new Set(["audio", "canvas", "embed", "frame", "hr", "iframe", "img", "input", "meter", "object", "progress", "textarea", "video"]);
const FLAT_UNLESS_NAMED = new Set(["application", "document", "figure", "group", "rowgroup"]);
const CELL_ROLES = new Set(["cell", "columnheader", "gridcell", "rowheader"]);
const MEANINGFUL_WHEN_EMPTY = new Set([...CELL_ROLES, "audio", "canvas", "iframe", "img", "progressbar", "meter", "separator", "video"]);

/** Roles whose whole content is one name. */
const NAMING_ROLES = new Set("button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab".split(" "));

/** White space that `<pre>` keeps and that other elements print as one space. */
const MAY_BE_PREFORMATTED = /[\n\t]| {2}/;

/** One native test for all these attributes, because most elements of a page have none of them. */
const ANNOTATED =
  "[role],[aria-hidden],[inert],[tabindex],[contenteditable],[onclick],[draggable],[aria-label],[aria-labelledby],[aria-disabled],[title]";

/** What an element passes on to the elements inside it. */
interface Scope {
  readonly isSeen: boolean;
  readonly isPointer: boolean;
  readonly isDisabled: boolean;
  /** The text here is already printed as a name: a label's text for its control, a legend's text for its group. */
  readonly isNameOfOther: boolean;
  readonly isInModal: boolean;
  /** The nearest element around that is named by its content, such as a link, a heading or a cell. */
  readonly namer: Element | null;
  /** Everything here becomes one name, so labels and titles of inner blocks are part of it. */
  readonly isNaming: boolean;
  /** Line breaks here are part of what a person edits. */
  readonly isEditing: boolean;
}

export function buildTree(root?: Element): AccessibleNode {
  return new TreeBuilder().build(root);
}

/** Return a function that computes accessible names. Use it for many elements of one search: it reads aria-owns once. */
export function nameReader(): (element: Element) => string {
  const builder = new TreeBuilder();
  return (element) => {
    const declared = declaredName(element);
    if (declared !== "" || !isNamedByContent(roleOf(element))) return declared || titleName(element);
    // Nothing of a hidden element is rendered, so its tree has no content.
    return isRendered(element) ? builder.build(element).name : tidy(textContent(element) ?? "");
  };
}

class TreeBuilder {
  private readonly owned = new OwnedElements();
  private readonly modals = queryAll(document, "dialog:modal");
  private depth = 0;
  private lastParent: Element | null = null;
  private isLastPreformatted = false;

  build(root?: Element): AccessibleNode {
    const top = root ?? contentElement();
    const style = getComputedStyle(top);
    const scope: Scope = {
      isSeen: root === undefined || isRendered(top),
      isPointer: false,
      isDisabled: root !== undefined && isDisabled(root),
      isNameOfOther: false,
      isInModal: root !== undefined || this.modals.length === 0,
      namer: null,
      isNaming: false,
      isEditing: false,
    };
    if (root) return this.nodeFor(top, roleOf(top), style, style.display, scope, isOperableByAuthor(top, roleOf(top)));
    const content = new ContentCollector();
    // An editor in a frame often makes the whole body editable, so the body itself is the field.
    if (isEditingHost(top)) this.visit(top, content, scope);
    else if (exposureOf(top, style) !== "gone") this.visitChildren(top, content, scope);
    return plainNode(top, "generic", withoutBlankText(content.finish()));
  }

  private visitChildren(element: Element, into: ContentCollector, scope: Scope): void {
    if (this.depth > DEPTH_LIMIT || isReadingOver()) return;
    this.depth += 1;
    const slotted = slottedNodes(element);
    if (slotted) for (const child of slotted) this.visitChild(child, element, into, scope);
    else if (localName(element) === "details" && !hasAttribute(element, "open")) this.visitSummary(element, into, scope);
    else for (let child = firstFlatChild(element); child; child = nextSibling(child)) this.visitChild(child, element, into, scope);
    for (const child of this.owned.of(element)) this.visit(child, into, scope);
    this.depth -= 1;
  }

  private visitChild(child: Node, parent: Element, into: ContentCollector, scope: Scope): void {
    const type = nodeType(child);
    if (type === TEXT) {
      if (!scope.isSeen || scope.isNameOfOther || !scope.isInModal) return;
      const text = (child as Text).data;
      if (!into.isOpen && !/\S/.test(text)) into.addText(" ", parent);
      else if (MAY_BE_PREFORMATTED.test(text) && this.keepsLines(parent)) into.addLines(text, parent);
      else into.addText(text, parent);
    } else if (type === ELEMENT && !this.owned.isOwned(child as Element)) {
      this.visit(child as Element, into, scope);
    }
  }

  /** Whether white space is printed as it is: `<pre>` and everything that CSS formats like it. */
  private keepsLines(element: Element): boolean {
    if (element !== this.lastParent) {
      this.lastParent = element;
      this.isLastPreformatted = /^(?:pre|break-spaces|preserve)/.test(getComputedStyle(element).whiteSpace);
    }
    return this.isLastPreformatted;
  }

  private visitLineBreak(element: Element, into: ContentCollector, scope: Scope): void {
    const parent = parentNode(element);
    if (!scope.isSeen || scope.isNameOfOther || !scope.isInModal || !isElement(parent)) return;
    if (scope.isEditing || this.keepsLines(parent)) into.addLines("\n", parent);
    else into.addSpace();
  }

  /** A closed `<details>` renders only its summary. */
  private visitSummary(details: Element, into: ContentCollector, scope: Scope): void {
    const summary = queryAll(details, ":scope > summary")[0];
    if (summary) this.visit(summary, into, scope);
  }

  private visit(element: Element, into: ContentCollector, scope: Scope): void {
    if (isUnrendered(element) || isReadingOver()) return;
    if (localName(element) === "br") return this.visitLineBreak(element, into, scope);
    const style = getComputedStyle(element);
    const display = style.display;
    const exposure = exposureOf(element, style, display);
    const isAnnotated = matches(element, ANNOTATED);
    if (exposure === "gone" || (isAnnotated && isHiddenFromReaders(element))) return;
    if (!scope.isInModal) return this.visitOutsideModal(element, into, scope);

    const isSeen = exposure === "seen";
    const role = isAnnotated ? roleOf(element) : implicitRole(element);
    const isOperable =
      isSeen && (isInteractiveRole(role) || (!scope.isPointer && invitesPointer(element, style.cursor)) || (isAnnotated && isOperableByAuthor(element, role)));
    const isOff = scope.isDisabled || (isAnnotated && isTrue(element, "aria-disabled"));
    const inner = isSeen === scope.isSeen && isOff === scope.isDisabled ? scope : { ...scope, isSeen, isDisabled: isOff };
    const isOwnLine = isSeen && (isOperable || !isTextLevelRole(role) || (isAnnotated && this.isLabelledBlock(element, role, display, inner)));
    const isLabel = isOwnLine && isLabelOfRendered(element, role);
    if (isOwnLine && !isLabel) {
      const node = this.nodeFor(element, role, style, display, inner, isOperable);
      const control = controlOfSameName(node);
      if (control) into.addNode(control);
      else if (isFlat(node)) spliceInto(into, node);
      else if (isWorthALine(node)) into.addNode(node);
    } else {
      const isNamer = isNameOfOther(element, inner);
      // A click anywhere on a label reaches its control, so the parts of the label get no lines for their cursor.
      this.flatten(element, style, display, into, isNamer || isLabel ? { ...inner, isNameOfOther: isNamer || inner.isNameOfOther, isPointer: inner.isPointer || isLabel } : inner);
    }
  }

  /**
   * A plain block or an icon that an author has labelled is a line of its own.
   *
   * Inside a name its label is part of that name. In running text a label replaces the text, and a title is only a
   * tooltip.
   */
  private isLabelledBlock(element: Element, role: string, display: string, scope: Scope): boolean {
    if (role !== "generic" || scope.isNaming || scope.isNameOfOther || !isNamedByAuthor(element)) return false;
    if (display !== "inline" && display !== "contents") return true;
    return !/\S/.test(textContent(element) ?? "");
  }

  private visitOutsideModal(element: Element, into: ContentCollector, scope: Scope): void {
    for (const modal of this.modals) {
      if (element === modal) return this.visit(element, into, { ...scope, isInModal: true });
      if (contains(element, modal)) return this.visitChildren(element, into, scope);
    }
  }

  private flatten(element: Element, style: CSSStyleDeclaration, display: string, into: ContentCollector, scope: Scope): void {
    const isInline = display === "inline" || display === "contents";
    if (!isInline && skipsContents(style, display)) return;
    const isBlock = !isInline && !display.startsWith("inline");
    if (isBlock) into.endBlock();
    else if (!isInline) into.addSpace();
    const label = (isInline || scope.isNaming) && scope.isSeen && !scope.isNameOfOther ? getAttribute(element, "aria-label") : null;
    if (label?.trim()) into.addText(label, element);
    else this.visitNamed(element, into, scope);
    if (isBlock) into.endBlock();
    else if (!isInline) into.addSpace();
  }

  /** Inside a name, an element without content is read by its title. */
  private visitNamed(element: Element, into: ContentCollector, scope: Scope): void {
    const title = scope.isNaming && scope.isSeen && !scope.isNameOfOther ? getAttribute(element, "title")?.trim() : undefined;
    const before = title ? into.length : 0;
    this.visitContent(element, into, scope);
    if (title && into.length === before) into.addText(title, element);
  }

  /** The children, and what CSS writes before and after them. */
  private visitContent(element: Element, into: ContentCollector, scope: Scope): void {
    if (!scope.isSeen || scope.isNameOfOther || !scope.isInModal || !mayHaveGeneratedText(element)) return this.visitChildren(element, into, scope);
    const before = generatedText(element, "::before");
    if (before !== "") into.addText(before, element);
    this.visitChildren(element, into, scope);
    const after = generatedText(element, "::after");
    if (after !== "") into.addText(after, element);
  }

  private nodeFor(element: Element, role: string, style: CSSStyleDeclaration, display: string, scope: Scope, isOperable: boolean): AccessibleNode {
    const tag = localName(element);
    const content = new ContentCollector();
    if (tag === "select") content.items.push(...optionItems(element as HTMLSelectElement));
    else if (!ATOMIC_TAGS.has(tag) && !holdsSecret(element) && !skipsContents(style, display)) {
      const isPointerInside = style.cursor === "pointer" || isInteractiveRole(role);
      const isEditing = scope.isEditing || role === "textbox";
      const isNameOfOther = scope.isNameOfOther && role === "paragraph";
      const inner = { ...scope, isPointer: isPointerInside, isNameOfOther, isInModal: true, isEditing };
      if (isNamedByContent(role)) Object.assign(inner, { namer: element, isNaming: NAMING_ROLES.has(role) && !isNamedByAria(element) });
      this.visitContent(element, content, inner);
    }
    const items = content.finish();
    const node = plainNode(element, role, role === "textbox" ? joinedLines(items) : items);
    node.isInteractive = isOperable || isInteractiveRole(role);
    node.cursor = isOperable && !isInteractiveRole(role) && INVITING_CURSOR.test(style.cursor) ? style.cursor : "";
    node.isDisabled = scope.isDisabled || isNativelyDisabled(element);
    node.isInline = display === "inline";
    node.value = tag === "select" ? undefined : shownValue(element, role);
    nameNode(node);
    node.children = withoutBlankText(node.children);
    if (node.isNamedByContent && node.name.length <= NAME_LIMIT) node.children = withoutRepetition(node);
    return node;
  }
}

function plainNode(element: Element, role: string, children: ContentItem[]): AccessibleNode {
  return {
    element, role, name: "", isNamedByContent: false, isInteractive: false, cursor: "", isDisabled: false, isInline: false, value: undefined, children,
  };
}

/** Cursors that show a person what the mouse can do with an element: click it, drag it, draw from it. */
const INVITING_CURSOR = /^(?:pointer|move|grab|crosshair)$/;

/**
 * Whether the cursor says that the mouse can operate the element.
 *
 * The cursor is inherited, so only the element where it starts counts. A crosshair counts in drawings alone: there it
 * marks points to draw from, elsewhere a surface to select on.
 */
function invitesPointer(element: Element, cursor: string): boolean {
  if (cursor === "pointer") return true;
  if (!INVITING_CURSOR.test(cursor) || (cursor === "crosshair" && !isShape(element))) return false;
  const parent = flatParent(element);
  return parent === null || getComputedStyle(parent).cursor !== cursor;
}

/** A part of a drawing. */
function isShape(element: Element): boolean {
  return element instanceof SVGElement && localName(element) !== "svg";
}

/** Whether an element without an interactive role can be operated nevertheless. */
function isOperableByAuthor(element: Element, role: string): boolean {
  return hasAttribute(element, "onclick") || isTrue(element, "draggable") || isEditingHost(element) || (role !== "iframe" && isFocusableByAuthor(element));
}

/** A label gets no line of its own while its control is rendered. */
function isLabelOfRendered(element: Element, role: string): boolean {
  if (role !== "generic" || localName(element) !== "label") return false;
  const control = (element as HTMLLabelElement).control;
  return control !== null && isRendered(control);
}

function isNameOfOther(element: Element, scope: Scope): boolean {
  switch (localName(element)) {
    case "label": {
      const control = (element as HTMLLabelElement).control;
      if (control === null || !isRendered(control)) return false;
      if (isNamedByAria(control) && declaredName(control) !== tidy(textContent(element) ?? "")) return false;
      // A heading or cell keeps its text, even if that text labels a field somewhere else.
      return scope.namer === null || (contains(scope.namer, control) && !/^h[1-6]$/.test(localName(scope.namer)));
    }
    case "legend":
    case "caption":
    case "figcaption": {
      const group = element.parentElement;
      return group !== null && /^(fieldset|table|figure)$/.test(group.localName) && !isNamedByAria(group);
    }
    default:
      return false;
  }
}

function isNamedByAuthor(element: Element): boolean {
  return Boolean(getAttribute(element, "aria-label")?.trim()) || Boolean(getAttribute(element, "title")?.trim());
}

/** Return the only control inside a wrapper if both have the same name, because two lines would say the same. */
function controlOfSameName(node: AccessibleNode): AccessibleNode | null {
  const [only] = node.children;
  if (node.name === "" || node.isNamedByContent || node.children.length !== 1 || !only || isText(only) || !only.isInteractive) return null;
  if (isInteractiveRole(node.role) || only.name.toLowerCase() !== node.name.toLowerCase()) return null;
  if (node.role === "generic" || node.role === "group" || node.role === "none") return only;
  node.name = ""; // The role needs its line, but the name would only repeat that of the control.
  return null;
}

/** Join the lines of an editor, which has an element for each line. */
function joinedLines(items: ContentItem[]): ContentItem[] {
  if (items.length < 2 || !items.every(isText)) return items;
  const lines = items.map((item) => (item as TextChunk).text.trimEnd());
  return [{ text: lines.join("\n"), element: items[0]!.element }];
}

function isNamedByAria(element: Element): boolean {
  return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby");
}

function nameNode(node: AccessibleNode): void {
  node.name = declaredName(node.element);
  if (node.name === "" && isNamedByContent(node.role) && !isCellOfNodes(node)) {
    node.name = tidy(contentText(ownContent(node), CONTENT_NAME_LIMIT));
    node.isNamedByContent = node.name !== "";
  }
  if (node.name === "") node.name = titleName(node.element);
  if (node.name === "" && node.isInteractive && node.role !== "textbox") node.name = generatedName(node.element);
}

/** A cell that contains more than text gets no name, because the lines of its children would repeat it. */
function isCellOfNodes(node: AccessibleNode): boolean {
  return CELL_ROLES.has(node.role) && node.children.some((item) => !isText(item));
}

/** The content that names a node. The name of a tree item or menu item does not include the branch below it. */
function ownContent(node: AccessibleNode): ContentItem[] {
  if (node.role !== "treeitem" && node.role !== "menuitem") return node.children;
  const branch = node.children.findIndex((item) => !isText(item) && (item.role === "treeitem" || item.role === "list" || item.role === "menu" || item.role === "group"));
  return branch === -1 ? node.children : node.children.slice(0, branch);
}

/** Leave out content that the name already says, except the parts that can be operated. */
function withoutRepetition(node: AccessibleNode): ContentItem[] {
  const named = ownContent(node).length;
  return [...operableParts(node.children.slice(0, named)), ...node.children.slice(named).filter((item) => !isText(item))];
}

function withoutBlankText(items: ContentItem[]): ContentItem[] {
  return items.filter((item) => !isText(item) || item.text.trim() !== "");
}

function isFlat(node: AccessibleNode): boolean {
  if (node.isInteractive) return false;
  if (node.name === "") return FLAT_UNLESS_NAMED.has(node.role);
  // The title only repeats the text of its block.
  return node.role === "generic" && node.children.length === 1 && isText(node.children[0]!) && tidy(node.children[0].text) === node.name;
}

function spliceInto(into: ContentCollector, node: AccessibleNode): void {
  into.endBlock();
  into.items.push(...node.children);
}

function isWorthALine(node: AccessibleNode): boolean {
  return node.isInteractive || node.name !== "" || node.children.length > 0 || Boolean(node.value) || MEANINGFUL_WHEN_EMPTY.has(node.role);
}
