/**
 * Decides whether an element can be acted on, and where the pointer reaches it. One call finds the element, scrolls it
 * into view, waits until it stands still, and checks that it is visible, enabled, editable and not covered. If it
 * cannot be acted on, the error says why.
 */
import { type Args, oneOf, optionalNumber, text } from "./args";
import { boxOf, closest, getAttribute, localName, page, queryAll, scrollIntoView } from "./dom";
import { badRequest, type ErrorDetails, PageError } from "./errors";
import { flatParent, isWithin } from "./flat_tree";
import { type Box, boxAsData, clickPoints, elementAt, isInView, isInViewport, isSameBox, type Point } from "./geometry";
import { nextFrame, untilPresent } from "./moments";
import { guardHover, guardPress, receivesFor } from "./press_guard";
import { refOf } from "./refs";
import { roleOf } from "./roles";
import { hasFilledPassword } from "./secrets";
import { watchForEffects } from "./settle";
import { checkedState, isDisabled, isEditable, isReadOnly } from "./states";
import { describe, type Found, findTarget, labelledControl, type Purpose, tryFindTarget } from "./targets";
import { isRendered } from "./visibility";

const ACTIONS = ["click", "type", "hover", "select", "check", "drag", "drop", "upload", "scroll", "screenshot"] as const;
export type Action = (typeof ACTIONS)[number];

const NEEDS_ENABLED: ReadonlySet<Action> = new Set<Action>(["click", "type", "select", "check", "drag", "upload"]);
const NEEDS_POINTER: ReadonlySet<Action> = new Set<Action>(["click", "hover", "check", "drag", "drop"]);

export interface Prepared {
  ref: string;
  tag: string;
  type: string;
  role: string;
  box: Box;
  /** A point where the pointer reaches the element. */
  point: Point;
  checked?: boolean | "mixed";
  multiple: boolean;
  isFile: boolean;
  /** A link that saves the file it leads to. */
  isDownload: boolean;
  /** The element belongs to a form with a filled password field. Only a caller with a policy asks for it. */
  isLogin?: boolean;
  /** Frames are in view, which the layout may move under the pointer. */
  framesInView: boolean;
  /** Says that the target fits several elements, and which of them this is. */
  choice?: string;
}

/** An element that can be acted on. `surface` is the element that receives the pointer for it. */
export interface Ready {
  element: Element;
  surface: Element;
  prepared: Prepared;
}

export async function prepare(args: Args): Promise<Prepared> {
  const action = oneOf(args, "action", ACTIONS, "click");
  const ready = await whenActionable(text(args, "target"), action, optionalNumber(args, "timeoutMs", 0) ?? 0, positionIn(args));
  if (action === "screenshot") return ready.prepared; // it has no effects to watch for, and may run beside an action
  watchForEffects();
  if (action === "click" || action === "drag") guardPressOn(ready, action === "drag");
  if (action === "hover") guardHover({ ...ready, point: ready.prepared.point });
  return { ...ready.prepared, ...loginOf(args, ready.element) };
}

/** Say whether the element's form has a filled password field, if the caller has a policy. */
export function loginOf(args: Args, element: Element): { isLogin?: boolean } {
  return args.judgedOrigin === undefined ? {} : { isLogin: hasFilledPassword(element) };
}

/** Let the next press of the mouse reach this element or nothing. */
export function guardPressOn(ready: Ready, isDrag = false): void {
  guardPress({ ...ready, point: ready.prepared.point }, { isPointKnown: window.top === window, isDrag });
}

/** Wait until the element exists and can be acted on. When the time is over, throw the reason as it is then. */
export async function whenActionable(target: string, action: Action, timeoutMs: number, position?: Point): Promise<Ready> {
  const purpose = purposeOf(action);
  const uncovered = new Set<Element>();
  const ready = await untilPresent(async () => {
    const found = tryFindTarget(target, purpose);
    if (!found) return null;
    const isFirst = !uncovered.has(found.element);
    uncovered.add(found.element);
    return checkActionable(elementFor(found.element, action), action, position, isFirst).then(chosen(found), nullIfObstacle);
  }, timeoutMs);
  if (ready) return ready;
  const found = findTarget(target, purpose);
  return checkActionable(elementFor(found.element, action), action, position, true).then(chosen(found));
}

export async function whenPresent(target: string, purpose: Purpose, timeoutMs: number): Promise<Element> {
  const found = await untilPresent(() => tryFindTarget(target, purpose), timeoutMs);
  return (found ?? findTarget(target, purpose)).element;
}

function purposeOf(action: Action): Purpose {
  if (action === "type") return "type";
  return action === "check" || action === "select" ? "fill" : "operate";
}

function chosen({ matches, isRanked }: Found): (ready: Ready) => Ready {
  const choice = `the ${isRanked ? "best" : "first"} of ${matches} that fit`;
  return (ready) => (matches > 1 ? { ...ready, prepared: { ...ready.prepared, choice } } : ready);
}

function nullIfObstacle(error: unknown): null {
  if (error instanceof PageError && error.report.code === "NOT_ACTIONABLE") return null;
  throw error;
}

function positionIn(args: Args): Point | undefined {
  const position = args.position;
  if (position === undefined || position === null) return undefined;
  const { x, y } = position as Point;
  if (typeof x !== "number" || typeof y !== "number") throw badRequest("position", "position must be {x, y} in pixels from the element's top left corner");
  return { x, y };
}

function elementFor(element: Element, action: Action): Element {
  if (action === "upload") return fileInputOf(element);
  return action === "type" || action === "check" || action === "select" ? labelledControl(element) : element;
}

/** The file input that the element is, is the label of, or contains alone; otherwise the element itself. */
function fileInputOf(element: Element): Element {
  const control = labelledControl(element);
  const inside = queryAll(control, "input[type=file]");
  return inside.length === 1 ? inside[0]! : control;
}

/** mayUncover: scroll the page until nothing covers the element. This moves the page, so it is not done at every look. */
async function checkActionable(element: Element, action: Action, position: Point | undefined, mayUncover: boolean): Promise<Ready> {
  // Pages hide their file inputs, and a file chooser works for hidden ones.
  if (action === "upload") return preparedAt(element, element, { x: 0, y: 0 });
  const surface = surfaceOf(element);
  if (!isRendered(surface)) throw obstacleOf(element, "hidden", "is hidden");
  if (NEEDS_ENABLED.has(action) && isDisabled(element)) throw obstacleOf(element, "disabled", "is disabled");
  if (action === "type") checkEditable(element);
  bringIntoView(surface);
  await holdStill(surface);
  const box = boxOf(surface);
  if (action !== "scroll" && (box.width === 0 || box.height === 0)) throw obstacleOf(element, "zero size", "has no size");
  if (!NEEDS_POINTER.has(action)) return preparedAt(element, surface, pointFor(surface, position));
  const point = reachablePoint(element, surface, position) ?? (mayUncover ? uncover(element, surface, position) : null);
  if (point === null) throw unreachable(element, surface, position);
  return preparedAt(element, surface, point);
}

/** Pages hide the input of a styled check box. A person then clicks the label. */
function surfaceOf(element: Element): Element {
  if (localName(element) !== "input" || !/^(checkbox|radio|file)$/.test((element as HTMLInputElement).type)) return element;
  const box = boxOf(element);
  if (isRendered(element) && box.width > 1 && box.height > 1) return element;
  return Array.from((element as HTMLInputElement).labels ?? []).find(isRendered) ?? element;
}

function checkEditable(element: Element): void {
  if (!isEditable(element)) throw obstacleOf(element, "not editable", "takes no text");
  if (isReadOnly(element)) throw obstacleOf(element, "readonly", "is read-only");
}

/** Scroll only if needed: scrolling changes what other readers of the page see, and costs a layout. */
function bringIntoView(element: Element): void {
  const box = boxOf(element);
  const isWhole = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  const centre = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const hit = isInViewport(centre) ? elementAt(centre) : null;
  if (isWhole && hit && isWithin(hit, element)) return;
  if (isWhole && !isClippedAway(element, centre)) return;
  scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
}

/** The point is inside the viewport, but the element is scrolled out of a scrolling ancestor. */
function isClippedAway(element: Element, { x, y }: Point): boolean {
  for (let at = flatParent(element); at && at !== page.root(document); at = flatParent(at)) {
    const style = getComputedStyle(at);
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const box = boxOf(at);
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return true;
  }
  return false;
}

/** How long a busy machine may take to draw a frame of a visible page. */
const DRAWN_MS = 1000;

/** Wait for a frame only if something could be moving, because frames cost time. A hidden page may draw none. */
async function holdStill(element: Element): Promise<void> {
  if (!couldBeMoving(element)) return;
  const limitMs = page.isHidden(document) ? undefined : DRAWN_MS;
  if (limitMs) await animationsBegun(limitMs);
  const before = boxOf(element);
  await nextFrame(limitMs);
  if (!isSameBox(before, boxOf(element))) throw obstacleOf(element, "moving", "is moving");
}

/** Wait for pending animations: an animation does not move until the browser has drawn its first frame. */
async function animationsBegun(limitMs: number): Promise<void> {
  const waiting = page.animations(document).filter((animation) => animation.playState === "running" && animation.pending);
  if (waiting.length === 0) return;
  const begun = Promise.allSettled(waiting.map((animation) => animation.ready));
  await Promise.race([begun, new Promise((resolve) => setTimeout(resolve, limitMs))]);
}

const GEOMETRY = /(?:^|[\s;-])(?:transform|translate|scale|rotate|left|right|top|bottom|margin|width|height)\s*:/;

/** True if an animation runs, or if inline styles set the geometry, which a script may be changing in each frame. */
function couldBeMoving(element: Element): boolean {
  if (page.animations(document).some((animation) => animation.playState === "running")) return true;
  for (let at: Element | null = element; at; at = flatParent(at)) if (GEOMETRY.test(getAttribute(at, "style") ?? "")) return true;
  return false;
}

function pointFor(element: Element, position: Point | undefined): Point {
  const box = boxOf(element);
  if (position) return { x: box.x + position.x, y: box.y + position.y };
  return clickPoints(element).next().value as Point;
}

/** Return the first point of the element where nothing else is in front of it. */
function reachablePoint(element: Element, surface: Element, position: Point | undefined): Point | null {
  for (const point of pointsToTry(surface, position)) {
    const hit = isInViewport(point) ? elementAt(point) : null;
    if (hit && receivesFor(hit, element, surface)) return point;
  }
  return null;
}

function pointsToTry(surface: Element, position: Point | undefined): Iterable<Point> {
  return position ? [pointFor(surface, position)] : clickPoints(surface);
}

/** Where to scroll a covered element. Headers, footers and first columns often keep their place when the page scrolls. */
const PLACES: readonly ScrollIntoViewOptions[] = [
  { block: "center", inline: "center" },
  { block: "start", inline: "nearest" },
  { block: "end", inline: "nearest" },
  { block: "nearest", inline: "end" },
  { block: "nearest", inline: "start" },
];

/** Scroll until nothing covers the element. Return null if no scroll position helps. */
function uncover(element: Element, surface: Element, position: Point | undefined): Point | null {
  const cover = coverOf(surface, position);
  if (cover === null || isWithin(element, cover) || fillsViewport(cover)) return null;
  for (const place of [...PLACES, PLACES[0]!]) {
    scrollIntoView(surface, { ...place, behavior: "instant" });
    const point = reachablePoint(element, surface, position);
    if (point) return point;
  }
  return null;
}

/** The element in front of the first point that is inside the viewport. */
function coverOf(surface: Element, position: Point | undefined): Element | null {
  for (const point of pointsToTry(surface, position)) if (isInViewport(point)) return elementAt(point);
  return null;
}

function fillsViewport(cover: Element): boolean {
  for (let at: Element | null = cover; at && at !== page.root(document) && at !== page.body(document); at = flatParent(at)) {
    const box = boxOf(at);
    const keepsPlace = keepsPlaceOnScroll(at);
    if (keepsPlace && box.top <= 0 && box.left <= 0 && box.bottom >= innerHeight && box.right >= innerWidth) return true;
  }
  return false;
}

function keepsPlaceOnScroll(element: Element): boolean {
  return /^(fixed|sticky)$/.test(getComputedStyle(element).position);
}

function unreachable(element: Element, surface: Element, position: Point | undefined): PageError {
  const isAnyInside = Array.from(pointsToTry(surface, position)).some(isInViewport);
  if (!isAnyInside) return obstacleOf(element, "outside viewport", "lies outside the viewport and cannot be scrolled into it");
  return coveredBy(element, coverOf(surface, position));
}

export function coveredBy(element: Element, cover: Element | null): PageError {
  if (!cover || isWithin(element, cover)) return obstacleOf(element, "no pointer events", "lets the pointer through (pointer-events or clipping)");
  const ref = refOf(cover);
  const details = { coveredBy: ref, pageSaid: `${describe(element)}\n${describe(cover)}`, hint: hintFor(cover) };
  return obstacleOf(element, "covered", `is covered by ${ref}`, details);
}

/** What to do about the covering element, as far as its kind shows. */
function hintFor(cover: Element): string {
  const isDialog = closest(cover, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true], [popover]") !== null;
  if (isDialog || fillsViewport(cover)) return "Close or answer what lies over it first.";
  for (let at: Element | null = cover; at; at = flatParent(at)) {
    if (keepsPlaceOnScroll(at)) {
      return "What lies over it keeps its place when the page scrolls. Close it if it can be closed; otherwise make the page larger.";
    }
  }
  return "Wait until what lies over it is gone, or operate that element instead.";
}

const HINTS: Record<string, string> = {
  hidden: "Something else may have to be opened first; take a snapshot.",
  disabled: "Fill in what it depends on first, or wait until it is enabled.",
  moving: "Wait until the animation is over and try again.",
};

function obstacleOf(element: Element, reason: string, sentence: string, details: ErrorDetails = {}): PageError {
  const ref = refOf(element);
  const hint = HINTS[reason];
  return new PageError("NOT_ACTIONABLE", `${ref} ${sentence}`, { reason, ref, pageSaid: describe(element), ...(hint ? { hint } : {}), ...details });
}

function preparedAt(element: Element, surface: Element, point: Point): Ready {
  const role = roleOf(element);
  const tag = localName(element);
  const type = tag === "input" || tag === "button" ? (element as HTMLInputElement).type : "";
  const isCheckable = type === "checkbox" || type === "radio" || role === "checkbox" || role === "radio" || role === "switch";
  const prepared: Prepared = {
    ref: refOf(element),
    tag,
    type,
    role,
    box: boxAsData(boxOf(element)),
    point: { x: Math.round(point.x * 100) / 100, y: Math.round(point.y * 100) / 100 },
    ...(isCheckable ? { checked: checkedState(element, role) } : {}),
    multiple: (element as HTMLInputElement).multiple === true,
    isFile: type === "file",
    isDownload: closest(element, "a[download], area[download]") !== null,
    framesInView: Array.from(queryAll(document, "iframe, frame, object, embed")).some((frame) => isInView(boxOf(frame))),
  };
  return { element, surface, prepared };
}
