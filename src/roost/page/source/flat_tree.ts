/**
 * The page as it is rendered: open shadow roots entered, slots filled, aria-owns left to the caller.
 * https://drafts.csswg.org/css-scoping/#flattening
 */
import { ELEMENT, assignedSlot, firstChild, isElement, localName, nextSibling, nodeType, parentNode, queryAll, shadowRootOf } from "./dom";

/** The nodes a slot shows, or null for everything that is no filled slot. */
export function slottedNodes(element: Element): Node[] | null {
  if (localName(element) !== "slot" || shadowRootOf(element) !== null) return null;
  const assigned = (element as HTMLSlotElement).assignedNodes?.() ?? [];
  return assigned.length > 0 ? assigned : null;
}

/** The first child as rendered (for all but filled slots); `nextSibling` leads on. */
export function firstFlatChild(element: Element): Node | null {
  return firstChild(shadowRootOf(element) ?? element);
}

export function forEachFlatChild(element: Element, visit: (child: Node) => void): void {
  const slotted = slottedNodes(element);
  if (slotted) slotted.forEach(visit);
  else for (let child = firstFlatChild(element); child; child = nextSibling(child)) visit(child);
}

/** The element this node is rendered in: slot before light parent, host above a shadow root. */
export function flatParent(node: Node): Element | null {
  const slot = nodeType(node) === ELEMENT ? assignedSlot(node as Element) : null;
  if (slot) return slot;
  const parent = parentNode(node);
  if (parent === null) return null;
  if (isElement(parent)) return parent;
  return (parent as ShadowRoot).host ?? null;
}

/** Is `inner` the same as, or rendered or nested inside, `outer`? */
export function isWithin(inner: Element | null, outer: Element): boolean {
  for (let at: Element | null = inner; at; at = flatParent(at)) if (at === outer) return true;
  return false;
}

/** The document and every open shadow root in it, outermost first. */
export function openRoots(from: Document | ShadowRoot = document): (Document | ShadowRoot)[] {
  const roots: (Document | ShadowRoot)[] = [from];
  for (let index = 0; index < roots.length; index += 1) {
    // Native iteration: one pass over 50,000 elements costs a few milliseconds.
    for (const element of queryAll(roots[index]!, "*")) {
      const shadow = shadowRootOf(element);
      if (shadow) roots.push(shadow);
    }
  }
  return roots;
}
