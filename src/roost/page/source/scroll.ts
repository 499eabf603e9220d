/** Scrolls the page or a part of it at once, without animation, and reports whether anything moved. */
import { type Args, optionalNumber, optionalText } from "./args";
import { page, rootElement, scrollIntoView, scrollSize } from "./dom";
import { badRequest } from "./errors";
import { flatParent } from "./flat_tree";
import { elementAt } from "./geometry";
import { findTarget } from "./targets";

const DIRECTIONS: Record<string, readonly [number, number]> = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };

/** The share of the visible height that one step scrolls, so that some lines stay in sight. */
const PAGE_SHARE = 0.8;

/** The position and size of the scroller that moved: the page, or the innermost scrolling part that moved. */
export interface ScrollReply {
  moved: boolean;
  x: number;
  y: number;
  pageWidth: number;
  pageHeight: number;
  viewport: { width: number; height: number };
  /** There is nothing more below. */
  atEnd: boolean;
}

export function scroll(args: Args): ScrollReply {
  const target = optionalText(args, "target");
  const direction = optionalText(args, "direction");
  if (direction !== undefined && !(direction in DIRECTIONS)) throw badRequest("direction", "direction must be up, down, left or right");
  const element = target === undefined ? null : findTarget(target).element;
  const scroller = direction === undefined ? pageScroller() : scrollerFor(element, DIRECTIONS[direction]!);
  const before = positions(new Set([...(element ? scrollersAround(element) : []), scroller, pageScroller()]));
  if (direction !== undefined) scrollBy(scroller, DIRECTIONS[direction]!, optionalNumber(args, "amount", 0));
  else if (element) scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
  else scrollToPoint(args, scroller);
  const moved = Array.from(before).find(([one, [x, y]]) => one.scrollLeft !== x || one.scrollTop !== y)?.[0];
  return replyFor(moved ?? scroller, moved !== undefined);
}

function pageScroller(): Element {
  return page.scroller(document) ?? rootElement();
}

/** Return the nearest ancestor of the element that can scroll that way. Without an element, start in the middle of the viewport. */
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

/** All elements around this one that clip and scroll their content, innermost first. */
function scrollersAround(element: Element): Element[] {
  const found: Element[] = [];
  for (let at = flatParent(element); at; at = flatParent(at)) {
    const { overflowX, overflowY } = getComputedStyle(at);
    if (overflowX !== "visible" || overflowY !== "visible") found.push(at);
  }
  return found;
}

function positions(scrollers: Iterable<Element>): Map<Element, readonly [number, number]> {
  return new Map(Array.from(scrollers, (one) => [one, [one.scrollLeft, one.scrollTop]] as const));
}

function replyFor(scroller: Element, moved: boolean): ScrollReply {
  return {
    moved,
    x: Math.round(scroller.scrollLeft),
    y: Math.round(scroller.scrollTop),
    pageWidth: scrollSize.width(scroller),
    pageHeight: scrollSize.height(scroller),
    viewport: { width: innerWidth, height: innerHeight },
    atEnd: !canMove(scroller, DIRECTIONS.down!),
  };
}
