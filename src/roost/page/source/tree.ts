/**
 * The accessible tree: one pass over the rendered page that decides what an agent gets to read.
 *
 * Left out: what is not rendered, aria-hidden, inert (everything beside an open modal dialog, too).
 * Flattened into the surrounding line: generic containers, text-level semantics, row groups, unnamed groups.
 */
import { isReadingOver } from "./budget";
import { ELEMENT, TEXT, contains, contentElement, getAttribute, hasAttribute, isTrue, localName, matches, nextSibling, nodeType, queryAll } from "./dom";
import { type AccessibleNode, ContentCollector, type ContentItem, contentText, isText, operableParts } from "./content_items";
import { firstFlatChild, slottedNodes } from "./flat_tree";
import { declaredName, generatedName, tidy, titleName } from "./names";
import { OwnedElements } from "./owned_elements";
import { isEditingHost, isFocusableByAuthor, isInteractiveRole, isNamedByContent, isTextLevelRole, implicitRole, roleOf } from "./roles";
import { isDisabled, isNativelyDisabled, shownValue } from "./states";
import { optionItems } from "./select_options";
import { exposureOf, isHiddenFromReaders, isRendered, isUnrendered, skipsContents } from "./visibility";

/** Longer names from content are cut in print, and the content is printed below them. */
export const NAME_LIMIT = 250;

/** No more of the content is put together for a name: content that long is printed below it anyway. */
const CONTENT_NAME_LIMIT = 4 * NAME_LIMIT;

/** Scripts can nest deeper than any stack; nobody reads that. */
const DEPTH_LIMIT = 700;

const ATOMIC_TAGS = new Set(["audio", "canvas", "embed", "frame", "hr", "iframe", "img", "input", "meter", "object", "progress", "textarea", "video"]);
const FLAT_UNLESS_NAMED = new Set(["application", "document", "figure", "group", "rowgroup"]);
const CELL_ROLES = new Set(["cell", "columnheader", "gridcell", "rowheader"]);
const MEANINGFUL_WHEN_EMPTY = new Set([...CELL_ROLES, "audio", "canvas", "iframe", "img", "progressbar", "meter", "separator", "video"]);

/** One native test instead of eight: most elements of a page have none of these. */
const ANNOTATED =
  "[role],[aria-hidden],[inert],[tabindex],[contenteditable],[onclick],[aria-label],[aria-labelledby],[aria-disabled],[title]";

/** What a node hands down to what is inside it. */
interface Scope {
  readonly isSeen: boolean;
  readonly isPointer: boolean;
  readonly isDisabled: boolean;
  /** Text here is already the name of something: a label's of its control, a legend's of its group. */
  readonly isNameOfOther: boolean;
  readonly isInModal: boolean;
}

export function buildTree(root?: Element): AccessibleNode {
  return new TreeBuilder().build(root);
}

class TreeBuilder {
  private readonly owned = new OwnedElements();
  private readonly modals = queryAll(document, "dialog:modal");
  private depth = 0;

  build(root?: Element): AccessibleNode {
    const top = root ?? contentElement();
    const style = getComputedStyle(top);
    const scope: Scope = {
      isSeen: root === undefined || isRendered(top),
      isPointer: false,
      isDisabled: root !== undefined && isDisabled(root),
      isNameOfOther: false,
      isInModal: root !== undefined || this.modals.length === 0,
    };
    if (root) return this.nodeFor(top, roleOf(top), style, style.display, scope, isOperableByAuthor(top, roleOf(top)));
    const content = new ContentCollector();
    if (exposureOf(top, style) !== "gone") this.visitChildren(top, content, scope);
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
      if (scope.isSeen && !scope.isNameOfOther && scope.isInModal) into.addText((child as Text).data, parent);
    } else if (type === ELEMENT && !this.owned.isOwned(child as Element)) {
      this.visit(child as Element, into, scope);
    }
  }

  /** Of a closed `<details>` only the summary is rendered. */
  private visitSummary(details: Element, into: ContentCollector, scope: Scope): void {
    const summary = queryAll(details, ":scope > summary")[0];
    if (summary) this.visit(summary, into, scope);
  }

  private visit(element: Element, into: ContentCollector, scope: Scope): void {
    if (isUnrendered(element) || isReadingOver()) return;
    if (localName(element) === "br") return into.addSpace();
    const style = getComputedStyle(element);
    const display = style.display;
    const exposure = exposureOf(element, style, display);
    const isAnnotated = matches(element, ANNOTATED);
    if (exposure === "gone" || (isAnnotated && isHiddenFromReaders(element))) return;
    if (!scope.isInModal) return this.visitOutsideModal(element, into, scope);

    const isSeen = exposure === "seen";
    const role = isAnnotated ? roleOf(element) : implicitRole(element);
    const isOperable =
      isSeen && (isInteractiveRole(role) || (!scope.isPointer && style.cursor === "pointer") || (isAnnotated && isOperableByAuthor(element, role)));
    const isOff = scope.isDisabled || (isAnnotated && isTrue(element, "aria-disabled"));
    const inner = isSeen === scope.isSeen && isOff === scope.isDisabled ? scope : { ...scope, isSeen, isDisabled: isOff };
    if (isSeen && (isOperable || !isTextLevelRole(role)) && !isLabelOfRendered(element, role)) {
      const node = this.nodeFor(element, role, style, display, inner, isOperable);
      if (isFlat(node)) spliceInto(into, node);
      else if (isWorthALine(node)) into.addNode(node);
    } else {
      this.flatten(element, style, display, into, isNameOfOther(element) ? { ...inner, isNameOfOther: true } : inner);
    }
  }

  private visitOutsideModal(element: Element, into: ContentCollector, scope: Scope): void {
    for (const modal of this.modals) {
      if (element === modal) return this.visit(element, into, { ...scope, isInModal: true });
      if (contains(element, modal)) return this.visitChildren(element, into, scope);
    }
  }

  private flatten(element: Element, style: CSSStyleDeclaration, display: string, into: ContentCollector, scope: Scope): void {
    if (display === "inline" || display === "contents") {
      const label = getAttribute(element, "aria-label");
      if (label?.trim() && !scope.isNameOfOther && scope.isSeen) return into.addText(label, element);
      return this.visitChildren(element, into, scope);
    }
    if (skipsContents(style, display)) return;
    const isBlock = !display.startsWith("inline");
    if (isBlock) into.endBlock();
    else into.addSpace();
    this.visitChildren(element, into, scope);
    if (isBlock) into.endBlock();
    else into.addSpace();
  }

  private nodeFor(element: Element, role: string, style: CSSStyleDeclaration, display: string, scope: Scope, isOperable: boolean): AccessibleNode {
    const tag = localName(element);
    const isPointer = style.cursor === "pointer";
    const content = new ContentCollector();
    if (tag === "select") content.items.push(...optionItems(element as HTMLSelectElement));
    else if (!ATOMIC_TAGS.has(tag) && !skipsContents(style, display)) {
      const isPointerInside = isPointer || isInteractiveRole(role);
      this.visitChildren(element, content, { ...scope, isPointer: isPointerInside, isNameOfOther: false, isInModal: true });
    }
    const node = plainNode(element, role, content.finish());
    node.isInteractive = isOperable || isInteractiveRole(role);
    node.isPointer = isOperable && isPointer && !isInteractiveRole(role);
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
    element, role, name: "", isNamedByContent: false, isInteractive: false, isPointer: false, isDisabled: false, isInline: false, value: undefined, children,
  };
}

/** Elements without an interactive role that react nevertheless. */
function isOperableByAuthor(element: Element, role: string): boolean {
  return hasAttribute(element, "onclick") || isEditingHost(element) || (role !== "iframe" && isFocusableByAuthor(element));
}

/** A label is no line of its own while its control is there to be operated. */
function isLabelOfRendered(element: Element, role: string): boolean {
  if (role !== "generic" || localName(element) !== "label") return false;
  const control = (element as HTMLLabelElement).control;
  return control !== null && isRendered(control);
}

function isNameOfOther(element: Element): boolean {
  switch (localName(element)) {
    case "label": {
      const control = (element as HTMLLabelElement).control;
      return control !== null && isRendered(control) && !isNamedByAria(control);
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

/** A cell with more than text in it is read through its children, not through a name that repeats them. */
function isCellOfNodes(node: AccessibleNode): boolean {
  return CELL_ROLES.has(node.role) && node.children.some((item) => !isText(item));
}

/** A tree item is named by its own label, not by the branch below it. */
function ownContent(node: AccessibleNode): ContentItem[] {
  if (node.role !== "treeitem" && node.role !== "menuitem") return node.children;
  const branch = node.children.findIndex((item) => !isText(item) && (item.role === "treeitem" || item.role === "list" || item.role === "menu" || item.role === "group"));
  return branch === -1 ? node.children : node.children.slice(0, branch);
}

/** Of what the name already says only the operable parts are kept. */
function withoutRepetition(node: AccessibleNode): ContentItem[] {
  const named = ownContent(node).length;
  return [...operableParts(node.children.slice(0, named)), ...node.children.slice(named).filter((item) => !isText(item))];
}

function withoutBlankText(items: ContentItem[]): ContentItem[] {
  return items.filter((item) => !isText(item) || item.text.trim() !== "");
}

function isFlat(node: AccessibleNode): boolean {
  return !node.isInteractive && node.name === "" && FLAT_UNLESS_NAMED.has(node.role);
}

function spliceInto(into: ContentCollector, node: AccessibleNode): void {
  into.endBlock();
  into.items.push(...node.children);
}

function isWorthALine(node: AccessibleNode): boolean {
  return node.isInteractive || node.name !== "" || node.children.length > 0 || Boolean(node.value) || MEANINGFUL_WHEN_EMPTY.has(node.role);
}
