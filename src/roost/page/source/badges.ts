/** Badges with refs over the page, for annotated screenshots. Nothing of the page is touched, nothing stays. */
import { type Args, optionalFlag, optionalTexts } from "./args";
import { type AccessibleNode, type ContentItem, isText } from "./content_items";
import { boxOf, cut, page, rootElement } from "./dom";
import { type Box, boxAsData } from "./geometry";
import { elementOfRef, refOf } from "./refs";
import { buildTree } from "./tree";

const BADGES_LIMIT = 200;

export interface BadgeLabel {
  ref: string;
  role: string;
  name: string;
  box: Box;
}

let overlay: HTMLElement | null = null;

export function drawBadges(args: Args): { labels: BadgeLabel[]; total: number } {
  removeBadges();
  const refs = optionalTexts(args, "refs");
  const nodes = refs ? refs.map((ref) => buildTree(elementOfRef(ref))) : operableNodes(buildTree().children);
  const visible = nodes.filter((node) => hasPlace(boxOf(node.element), optionalFlag(args, "fullPage") ?? false));
  const labels = visible.slice(0, BADGES_LIMIT).map(labelOf);
  draw(labels);
  return { labels, total: visible.length };
}

export function removeBadges(): { removed: boolean } {
  const removed = overlay !== null;
  overlay?.remove();
  overlay = null;
  return { removed };
}

function operableNodes(items: readonly ContentItem[]): AccessibleNode[] {
  return items.flatMap((item) => (isText(item) ? [] : [...(item.isInteractive ? [item] : []), ...operableNodes(item.children)]));
}

function hasPlace(box: DOMRect, isFullPage: boolean): boolean {
  if (box.width < 2 || box.height < 2) return false;
  return isFullPage || (box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth);
}

function labelOf({ element, role, name }: AccessibleNode): BadgeLabel {
  return { ref: refOf(element), role, name: cut(name, 80), box: boxAsData(boxOf(element)) };
}

/** In document coordinates, so that badges stay with their elements in full-page shots and when scrolled. */
function draw(labels: readonly BadgeLabel[]): void {
  overlay = page.create(document, "roost-badges");
  overlay.style.cssText = "all: initial; position: absolute; left: 0; top: 0; width: 0; height: 0; z-index: 2147483647; pointer-events: none;";
  const shadow = overlay.attachShadow({ mode: "closed" });
  rootElement().appendChild(overlay);
  // Measured rather than assumed: the root may be positioned or transformed.
  const origin = boxOf(overlay);
  for (const label of labels) shadow.append(...badge(label, origin));
}

function badge({ ref, box }: BadgeLabel, origin: DOMRect): HTMLElement[] {
  const left = box.x - origin.x;
  const top = box.y - origin.y;
  const frame = page.create(document, "div");
  frame.style.cssText = `position: absolute; box-sizing: border-box; left: ${left}px; top: ${top}px; width: ${box.width}px; height: ${box.height}px; border: 2px solid #d6006c; border-radius: 2px;`;
  const label = page.create(document, "div");
  label.textContent = ref;
  label.style.cssText = `position: absolute; left: ${left}px; top: ${Math.max(top - 14, -origin.y)}px; padding: 0 3px; background: #d6006c; color: #fff; font: bold 11px/14px sans-serif; white-space: nowrap;`;
  return [frame, label];
}
