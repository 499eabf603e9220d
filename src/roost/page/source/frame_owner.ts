/** The elements that hold frames, and elements that drivers need as such. */
import { coveredBy } from "./actionability";
import { type Args, optionalNumber, text } from "./args";
import { boxOf, scrollIntoView } from "./dom";
import { badRequest, PageError } from "./errors";
import { type Box, elementAt, isInViewport, type Point } from "./geometry";
import { untilPresent } from "./moments";
import { guardStranger, type Miss, takeVerdict } from "./press_guard";
import { elementOfRef, refOf } from "./refs";

/**
 * Return the element that holds a frame, and where the frame's viewport begins in this document's viewport.
 *
 * point: a point of the frame's viewport that the pointer must reach. Scroll this document until it does, for up to
 * `timeoutMs`.
 * guard: stop every press in this document itself, because the press is meant for the frame.
 */
export async function frameOwner(args: Args): Promise<Box & { ref: string }> {
  const owner = args.element;
  if (!(owner instanceof HTMLElement)) throw badRequest("element", "element must be the element that holds the frame");
  const point = args.point as Point | undefined;
  if (point) {
    const uncovered = await untilPresent(() => (reaches(owner, point) || scrollTo(owner, point) ? true : null), optionalNumber(args, "timeoutMs", 0) ?? 0);
    if (!uncovered) throw coverOf(owner, point);
  }
  if (args.guard === true) guardStranger();
  const start = contentStart(owner);
  return { ref: refOf(owner), ...start, width: owner.clientWidth, height: owner.clientHeight };
}

function contentStart(owner: HTMLElement): Point {
  const box = boxOf(owner);
  const style = getComputedStyle(owner);
  return { x: box.x + owner.clientLeft + parseFloat(style.paddingLeft), y: box.y + owner.clientTop + parseFloat(style.paddingTop) };
}

function inThisDocument(owner: HTMLElement, point: Point): Point {
  const start = contentStart(owner);
  return { x: start.x + point.x, y: start.y + point.y };
}

function reaches(owner: HTMLElement, point: Point): boolean {
  const here = inThisDocument(owner, point);
  return isInViewport(here) && elementAt(here) === owner;
}

/** Scroll so that the pointer reaches the point inside the frame: to the middle, then to the ends of the viewport. */
function scrollTo(owner: HTMLElement, point: Point): boolean {
  for (const block of ["center", "start", "end", "nearest"] as const) {
    scrollIntoView(owner, { block, inline: "nearest", behavior: "instant" });
    if (reaches(owner, point)) return true;
    // A frame may be higher than the viewport.
    const here = inThisDocument(owner, point);
    scrollBy({ left: isInViewport({ ...here, y: 0 }) ? 0 : here.x - innerWidth / 2, top: here.y - innerHeight / 2, behavior: "instant" });
    if (reaches(owner, point)) return true;
  }
  return false;
}

function coverOf(owner: HTMLElement, point: Point): PageError {
  const here = inThisDocument(owner, point);
  if (isInViewport(here)) return coveredBy(owner, elementAt(here));
  return new PageError("NOT_ACTIONABLE", `The frame ${refOf(owner)} lies outside the viewport and cannot be scrolled into it`, { reason: "outside viewport", ref: refOf(owner) });
}

/** Stop every press in this document: the press is meant for another frame of the tab. */
export function stopPresses(): object {
  guardStranger();
  return {};
}

/** End `stopPresses`. Return what was pressed here by mistake, if anything. */
export function stoppedPress(): { missed?: Miss } {
  const missed = takeVerdict();
  return missed ? { missed } : {};
}

/** Return the element behind a ref, for drivers that need the element itself. No other function returns an element. */
export function element(args: Args): Element {
  return elementOfRef(text(args, "target"));
}
