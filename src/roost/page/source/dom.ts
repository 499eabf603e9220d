/**
 * The DOM as the platform defined it, not as a page may have shadowed it.
 *
 * `<form>` and `document` let their named children hide built-in properties ("DOM clobbering"): in
 * `<form><input name="childNodes"></form>` the expression `form.childNodes` is the input. So whatever may
 * be asked of ANY element goes through the prototype here. Other elements cannot be clobbered; code that
 * knows it holds an input or a select uses plain properties.
 * https://html.spec.whatwg.org/multipage/forms.html#the-form-element (LegacyOverrideBuiltIns)
 */

import { PageError } from "./errors";

function read<Self, Value>(prototype: object, name: string): (this: Self) => Value {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get as (this: Self) => Value;
}

function getter<Self, Value>(prototype: object, name: string): (self: Self) => Value {
  const get = read<Self, Value>(prototype, name);
  return (self) => get.call(self);
}

function method<Self, Args extends unknown[], Value>(prototype: object, name: string): (self: Self, ...args: Args) => Value {
  const run = Object.getOwnPropertyDescriptor(prototype, name)!.value as (...args: Args) => Value;
  return (self, ...args) => run.apply(self, args);
}

// A snapshot calls these thousands of times. Each is written out, because one shared closure would be megamorphic
// and twice as slow.
const nodeTypeOf = read<Node, number>(Node.prototype, "nodeType");
const firstChildOf = read<Node, Node | null>(Node.prototype, "firstChild");
const nextSiblingOf = read<Node, Node | null>(Node.prototype, "nextSibling");
const localNameOf = read<Element, string>(Element.prototype, "localName");
const shadowOf = read<Element, ShadowRoot | null>(Element.prototype, "shadowRoot");
const { getAttribute: attributeOf, hasAttribute: holdsAttribute, matches: fitsSelector, getBoundingClientRect: boundingBox } = Element.prototype;
export const nodeType = (node: Node): number => nodeTypeOf.call(node);
export const firstChild = (node: Node): Node | null => firstChildOf.call(node);
export const nextSibling = (node: Node): Node | null => nextSiblingOf.call(node);
export const localName = (element: Element): string => localNameOf.call(element);
export const shadowRootOf = (element: Element): ShadowRoot | null => shadowOf.call(element);
export const getAttribute = (element: Element, name: string): string | null => attributeOf.call(element, name);
export const hasAttribute = (element: Element, name: string): boolean => holdsAttribute.call(element, name);
export const matches = (element: Element, selector: string): boolean => fitsSelector.call(element, selector);
export const boxOf = (element: Element): DOMRect => boundingBox.call(element);

export const parentNode = getter<Node, (ParentNode & Node) | null>(Node.prototype, "parentNode");
export const isConnected = getter<Node, boolean>(Node.prototype, "isConnected");
export const rootOf = method<Node, [], Document | ShadowRoot>(Node.prototype, "getRootNode");
export const textContent = getter<Node, string | null>(Node.prototype, "textContent");
export const contains = method<Node, [Node | null], boolean>(Node.prototype, "contains");
export const assignedSlot = getter<Element, HTMLSlotElement | null>(Element.prototype, "assignedSlot");
export const innerHTML = getter<Element, string>(Element.prototype, "innerHTML");
export const innerText = getter<HTMLElement, string>(HTMLElement.prototype, "innerText");
export const outerHTML = getter<Element, string>(Element.prototype, "outerHTML");
export const attributesOf = getter<Element, NamedNodeMap>(Element.prototype, "attributes");
export const scrollSize = {
  width: getter<Element, number>(Element.prototype, "scrollWidth"),
  height: getter<Element, number>(Element.prototype, "scrollHeight"),
};
export const setAttribute = method<Element, [string, string], void>(Element.prototype, "setAttribute");
/** A form's children may be named like these properties and hide them. */
export const form = {
  action: getter<HTMLFormElement, string>(HTMLFormElement.prototype, "action"),
  elements: getter<HTMLFormElement, HTMLFormControlsCollection>(HTMLFormElement.prototype, "elements"),
};
export const closest = method<Element, [string], Element | null>(Element.prototype, "closest");
export const checkVisibility = method<Element, [], boolean>(Element.prototype, "checkVisibility");
export const lineBoxesOf = method<Element, [], DOMRectList>(Element.prototype, "getClientRects");
export const scrollIntoView = method<Element, [ScrollIntoViewOptions], void>(Element.prototype, "scrollIntoView");

const queryElement = method<Element, [string], NodeListOf<Element>>(Element.prototype, "querySelectorAll");
const queryDocument = method<Document, [string], NodeListOf<Element>>(Document.prototype, "querySelectorAll");
const queryFragment = method<DocumentFragment, [string], NodeListOf<Element>>(DocumentFragment.prototype, "querySelectorAll");

export const ELEMENT = 1;
export const TEXT = 3;
const DOCUMENT = 9;

export function queryAll(root: Node, selector: string): NodeListOf<Element> {
  const type = nodeType(root);
  if (type === ELEMENT) return queryElement(root as Element, selector);
  if (type === DOCUMENT) return queryDocument(root as Document, selector);
  return queryFragment(root as DocumentFragment, selector);
}

export function isElement(node: Node | null): node is Element {
  return node !== null && nodeType(node) === ELEMENT;
}

export const page = {
  body: getter<Document, HTMLElement | null>(Document.prototype, "body"),
  root: getter<Document, Element | null>(Document.prototype, "documentElement"),
  active: getter<Document, Element | null>(Document.prototype, "activeElement"),
  title: getter<Document, string>(Document.prototype, "title"),
  readyState: getter<Document, DocumentReadyState>(Document.prototype, "readyState"),
  scroller: getter<Document, Element | null>(Document.prototype, "scrollingElement"),
  fonts: getter<Document, FontFaceSet>(Document.prototype, "fonts"),
  byId: method<Document, [string], Element | null>(Document.prototype, "getElementById"),
  elementAt: method<Document, [number, number], Element | null>(Document.prototype, "elementFromPoint"),
  animations: method<Document, [], Animation[]>(Document.prototype, "getAnimations"),
  isHidden: getter<Document, boolean>(Document.prototype, "hidden"),
  create: method<Document, [string], HTMLElement>(Document.prototype, "createElement"),
};

/** Return true if the document has no element: a script removed the root, or nothing of the document has come yet. */
export function isEmptyDocument(): boolean {
  return page.root(document) === null;
}

export function rootElement(): Element {
  const root = page.root(document);
  if (root === null) throw new PageError("NOT_FOUND", "The page has no content", { hint: "Wait until it has loaded." });
  return root;
}

/** The element that readers start from: the body of an HTML document, the root of an SVG or XML document. */
export function contentElement(): Element {
  return page.body(document) ?? rootElement();
}

/** The element that really has the focus, inside open shadow roots too. */
export function focusedElement(): Element | null {
  let focused = page.active(document);
  while (focused) {
    const inner: Element | null = shadowRootOf(focused)?.activeElement ?? null;
    if (!inner) break;
    focused = inner;
  }
  return focused;
}

/** Case-insensitive attribute test for the many `aria-x="true"`. */
export function isTrue(element: Element, attribute: string): boolean {
  return getAttribute(element, attribute)?.toLowerCase() === "true";
}

/** Replace runs of white space by one space, and drop soft hyphens and zero-width characters, which nobody sees. */
export function collapseSpace(text: string): string {
  if (!/[\u00ad\u200b\u2060]|[^\S ]| {2}/.test(text)) return text;
  const visible = /[\u00ad\u200b\u2060]/.test(text) ? text.replace(/[\u00ad\u200b\u2060]+/g, "") : text;
  // Most white space is a single space already, so replace only the rest.
  return visible.replace(/ *[^\S ]\s*| {2,}/g, " ");
}

/** A word that is longer than this may be cut. */
const WORD_CHARS = 200;

export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Do not cut a surrogate pair in half, because JSON would carry a lone surrogate.
  const end = /[\ud800-\udbff]/.test(text[limit - 2] ?? "") ? limit - 2 : limit - 1;
  // Do not cut a word in half either: it may be a secret of the person, and the broker would not recognise the half.
  const first = end - Math.min(WORD_CHARS, limit >> 1);
  for (let at = end; at > first; at--) if (/\s/.test(text[at]!)) return text.slice(0, at) + "…";
  return text.slice(0, end) + "…";
}
