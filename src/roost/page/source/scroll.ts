/** Scrolling, at once and without animation, and saying truly whether anything moved. */
import { type Args, optionalNumber, optionalText } from "./args";
import { page, rootElement, scrollIntoView, scrollSize } from "./dom";
import { badRequest } from "./errors";
import { flatParent } from "./flat_tree";
import { elementAt } from "./geometry";
import { findTarget } from "./targets";

const DIRECTIONS: Record<string, readonly [number, number]> = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };

/** A page down keeps some lines in sight. */
const PAGE_SHARE = 0.8;

export interface ScrollReply {
  moved: boolean;
  x: number;
  y: number;
  pageWidth: number;
  pageHeight: number;
  viewport: { width: number; height: number };
  /** Nothing more below. */
  atEnd: boolean;
}

export function scroll(args: Args): ScrollReply {
  const target = optionalText(args, "target");
  const direction = optionalText(args, "direction");
  if (direction !== undefined && !(direction in DIRECTIONS)) throw badRequest("direction", "direction must be up, down, left or right");
  const element = target === undefined ? null : findTarget(target).element;
  const scroller = direction === undefined ? pageScroller() : scrollerFor(element, DIRECTIONS[direction]!);
  const before = positions(scroller);
  if (direction !== undefined) scrollBy(scroller, DIRECTIONS[direction]!, optionalNumber(args, "amount", 0));
  else if (element) scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
  else scrollToPoint(args, scroller);
  return replyFor(scroller, before);
}

function pageScroller(): Element {
  return page.scroller(document) ?? rootElement();
}

/** The nearest part around the element, or in the middle of the screen, that can go that way. */
function scrollerFor(element: Element | null, way: readonly [number, number]): Element {
  const start = element ?? (canMove(pageScroller(), way) ? null : elementAt({ x: innerWidth / 2, y: innerHeight / 2 }));
  for (let at = start; at; at = flatParent(at)) if (canMove(at, way)) return at;
  return pageScroller();
}

function canMove(element: Element, [across, down]: readonly [number, number]): boolean {
  const style = getComputedStyle(element);
  const isPage = element === pageScroller();
  const [overflow, size, room, at] =
    down !== 0
      ? [style.overflowY, scrollSize.height(element), element.clientHeight, element.scrollTop]
      : [style.overflowX, scrollSize.width(element), element.clientWidth, element.scrollLeft];
  if (!isPage && !/auto|scroll|overlay/.test(overflow)) return false;
  return across + down > 0 ? at + room < size - 1 : at > 0;
}

function scrollBy(scroller: Element, [across, down]: readonly [number, number], amount: number | undefined): void {
  const isPage = scroller === pageScroller();
  const width = isPage ? innerWidth : scroller.clientWidth;
  const height = isPage ? innerHeight : scroller.clientHeight;
  scroller.scrollBy({ left: across * (amount ?? width * PAGE_SHARE), top: down * (amount ?? height * PAGE_SHARE), behavior: "instant" });
}

function scrollToPoint(args: Args, scroller: Element): void {
  const x = optionalNumber(args, "x");
  const y = optionalNumber(args, "y");
  if (x === undefined && y === undefined) throw badRequest("target", "Give target, direction, or x and y");
  scroller.scrollTo({ left: x ?? scroller.scrollLeft, top: y ?? scroller.scrollTop, behavior: "instant" });
}

/** The page and the part itself: scrolling something into view may move either. */
function positions(scroller: Element): string {
  return [scroller.scrollLeft, scroller.scrollTop, scrollX, scrollY].join();
}

function replyFor(scroller: Element, before: string): ScrollReply {
  return {
    moved: positions(scroller) !== before,
    x: Math.round(scroller.scrollLeft),
    y: Math.round(scroller.scrollTop),
    pageWidth: scrollSize.width(scroller),
    pageHeight: scrollSize.height(scroller),
    viewport: { width: innerWidth, height: innerHeight },
    atEnd: !canMove(scroller, DIRECTIONS.down!),
  };
}
