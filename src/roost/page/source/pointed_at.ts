/** The elements that the person has drawn a box around, or that an arrow of theirs points at. */
import { type Args, optionalNumber } from "./args";
import { type AccessibleNode, type ContentItem, isText } from "./content_items";
import { boxOf, contains, cut, localName } from "./dom";
import { type Box, boxAsData, elementAt } from "./geometry";
import { refOf } from "./refs";
import { buildTree } from "./tree";

const ELEMENTS_LIMIT = 20;
const NAME_CHARS = 80;
const FRAMES = new Set(["iframe", "frame"]);

/** A box that is smaller than this in both directions is a point. */
const POINT_PIXELS = 4;

/** An element is meant if at least this part of it is inside the box. */
const PART_INSIDE = 0.6;

export interface PointedAt {
  ref: string;
  role: string;
  name: string;
  box: Box;
}

interface Found {
  element: Element;
  role: string;
  name: string;
}

/** `x`, `y`, `width` and `height`: the box in CSS pixels of this frame's viewport. */
export function pointedAt(args: Args): { elements: PointedAt[]; total: number } {
  const x = optionalNumber(args, "x") ?? 0;
  const y = optionalNumber(args, "y") ?? 0;
  const width = optionalNumber(args, "width", 0) ?? 0;
  const height = optionalNumber(args, "height", 0) ?? 0;
  const { children } = buildTree();
  const isPoint = width < POINT_PIXELS && height < POINT_PIXELS;
  const inside = isPoint ? [] : insideOf(children, new DOMRect(x, y, width, height));
  const found = inside.length ? inside : atPoint(children, { x: x + width / 2, y: y + height / 2 });
  const elements = found.slice(0, ELEMENTS_LIMIT).map(({ element, role, name }) => ({
    ref: refOf(element),
    role,
    name: cut(name, NAME_CHARS),
    box: boxAsData(boxOf(element)),
  }));
  return { elements, total: found.length };
}

/** Return what can be operated inside the box, and the innermost other elements. */
function insideOf(items: readonly ContentItem[], area: DOMRect): Found[] {
  return items.flatMap((item): Found[] => {
    if (isText(item)) return isInside(item.element, area) ? [{ element: item.element, role: "text", name: item.text }] : [];
    const isMeant = isInside(item.element, area) && (item.isInteractive || item.children.every(isText));
    return isMeant ? [item] : insideOf(item.children, area);
  });
}

function isInside(element: Element, area: DOMRect): boolean {
  const box = boxOf(element);
  const across = Math.min(box.right, area.right) - Math.max(box.left, area.left);
  const down = Math.min(box.bottom, area.bottom) - Math.max(box.top, area.top);
  return across > 0 && down > 0 && across * down >= PART_INSIDE * box.width * box.height;
}

/** Return the innermost node that holds what a pointer there would meet. */
function atPoint(items: readonly ContentItem[], point: { x: number; y: number }): Found[] {
  const hit = elementAt(point);
  // The document in a frame answers for elements inside the frame.
  if (hit === null || FRAMES.has(localName(hit))) return [];
  let best: Found | undefined;
  const visit = (inside: readonly ContentItem[]): void => {
    for (const item of inside) {
      if (isText(item)) {
        if (item.element === hit) best ??= { element: hit, role: "text", name: item.text };
      } else if (holds(item, hit)) {
        best = item;
        visit(item.children);
      } else {
        visit(item.children.filter((one) => !isText(one)));
      }
    }
  };
  visit(items);
  return [best ?? { element: hit, role: "", name: "" }];
}

function holds(node: AccessibleNode, hit: Element): boolean {
  return node.element === hit || contains(node.element, hit);
}
