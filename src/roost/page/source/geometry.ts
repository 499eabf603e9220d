/** Where things are, in CSS pixels of this frame's viewport. */
import { boxOf, lineBoxesOf, page, shadowRootOf } from "./dom";

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

export function boxAsData(box: DOMRect): Box {
  return { x: rounded(box.x), y: rounded(box.y), width: rounded(box.width), height: rounded(box.height) };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export function isSameBox(left: DOMRect, right: DOMRect): boolean {
  return left.x === right.x && left.y === right.y && left.width === right.width && left.height === right.height;
}

export function isInViewport({ x, y }: Point): boolean {
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
}

/** The size of the viewport. */
export function viewport(): { width: number; height: number } {
  return { width: innerWidth, height: innerHeight };
}

export function isInView(box: DOMRect): boolean {
  return box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
}

/** Where to try a click: the middle, then the middle of each line of a wrapped link, then off the middle. */
export function* clickPoints(element: Element): Generator<Point> {
  const box = boxOf(element);
  yield middle(box);
  const lines = lineBoxesOf(element);
  if (lines.length > 1) for (const line of Array.from(lines).slice(0, 8)) if (line.width > 0 && line.height > 0) yield middle(line);
  for (const [across, down] of [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]] as const) {
    yield { x: box.x + box.width * across, y: box.y + box.height * down };
  }
}

/** The middle of the part that is inside the viewport: large elements reach beyond it. */
export function middle(box: DOMRect): Point {
  const left = Math.max(box.left, Math.min(0, box.right));
  const top = Math.max(box.top, Math.min(0, box.bottom));
  const right = Math.min(box.right, Math.max(innerWidth, box.left));
  const bottom = Math.min(box.bottom, Math.max(innerHeight, box.top));
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}

/** What a pointer at this point meets, inside open shadow roots too. */
export function elementAt({ x, y }: Point): Element | null {
  let hit = page.elementAt(document, x, y);
  for (let shadow = hit && shadowRootOf(hit); shadow; shadow = hit && shadowRootOf(hit)) {
    const inner = shadow.elementFromPoint(x, y);
    // A host without anything of its own at that point answers itself, or an element outside.
    if (!inner || inner === hit || !shadow.contains(inner)) break;
    hit = inner;
  }
  return hit;
}
