/**
 * May this be acted on, and where? One call does it all: find, bring into view, wait until it holds still,
 * check that it is visible, enabled, editable, and that a pointer reaches it. When not, it says why.
 */
import { type Args, oneOf, optionalNumber, text } from "./args";
import { boxOf, closest, getAttribute, localName, page, scrollIntoView } from "./dom";
import { badRequest, type ErrorDetails, PageError } from "./errors";
import { flatParent, isWithin } from "./flat_tree";
import { type Box, boxAsData, clickPoints, elementAt, isInViewport, isSameBox, type Point } from "./geometry";
import { nextFrame, untilPresent } from "./moments";
import { refOf } from "./refs";
import { isEditingHost, roleOf } from "./roles";
import { watchForEffects } from "./settle";
import { checkedState, isDisabled, isReadOnly } from "./states";
import { describe, findTarget, labelledControl, tryFindTarget } from "./targets";
import { isRendered } from "./visibility";

const ACTIONS = ["click", "type", "hover", "select", "check", "drag", "upload", "scroll", "screenshot"] as const;
export type Action = (typeof ACTIONS)[number];

const NEEDS_ENABLED: ReadonlySet<Action> = new Set<Action>(["click", "type", "select", "check", "drag", "upload"]);
const NEEDS_POINTER: ReadonlySet<Action> = new Set<Action>(["click", "hover", "check", "drag"]);

export interface Prepared {
  ref: string;
  tag: string;
  type: string;
  role: string;
  box: Box;
  /** Where a pointer reaches it. */
  point: Point;
  checked?: boolean | "mixed";
  multiple: boolean;
  isFile: boolean;
  /** A link that saves what it leads to. */
  isDownload: boolean;
}

export async function prepare(args: Args): Promise<Prepared> {
  const action = oneOf(args, "action", ACTIONS, "click");
  const { element: _, ...ready } = await whenActionable(text(args, "target"), action, optionalNumber(args, "timeoutMs", 0) ?? 0, positionIn(args));
  if (action !== "screenshot") watchForEffects(); // a picture has no effects, and is taken beside actions
  return ready;
}

/** Waits for the element and for its being actionable; throws why not when the time is over. */
export async function whenActionable(target: string, action: Action, timeoutMs: number, position?: Point): Promise<Prepared & { element: Element }> {
  const ready = await untilPresent(async () => {
    const found = tryFindTarget(target);
    if (!found) return null;
    return checkActionable(elementFor(found.element, action), action, position).catch(nullIfObstacle);
  }, timeoutMs);
  // The last look tells the reason as it is now.
  return ready ?? checkActionable(elementFor(findTarget(target).element, action), action, position);
}

export async function whenPresent(target: string, timeoutMs: number): Promise<Element> {
  const found = await untilPresent(() => tryFindTarget(target), timeoutMs);
  return (found ?? findTarget(target)).element;
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
  return action === "type" || action === "check" || action === "select" || action === "upload" ? labelledControl(element) : element;
}

async function checkActionable(element: Element, action: Action, position?: Point): Promise<Prepared & { element: Element }> {
  // The browser's file chooser takes files for inputs that pages like to hide.
  if (action === "upload") return preparedAt(element, { x: 0, y: 0 });
  const surface = surfaceOf(element);
  if (!isRendered(surface)) throw obstacleOf(element, "hidden", "is hidden");
  if (NEEDS_ENABLED.has(action) && isDisabled(element)) throw obstacleOf(element, "disabled", "is disabled");
  if (action === "type") checkEditable(element);
  bringIntoView(surface);
  await holdStill(surface);
  const box = boxOf(surface);
  if (action !== "scroll" && (box.width === 0 || box.height === 0)) throw obstacleOf(element, "zero size", "has no size");
  if (!NEEDS_POINTER.has(action)) return preparedAt(element, pointFor(surface, position));
  return preparedAt(element, pointerReaches(element, surface, position));
}

/** A styled check box hides its input; its label is what a person clicks. */
function surfaceOf(element: Element): Element {
  if (localName(element) !== "input" || !/^(checkbox|radio|file)$/.test((element as HTMLInputElement).type)) return element;
  const box = boxOf(element);
  if (isRendered(element) && box.width > 1 && box.height > 1) return element;
  return Array.from((element as HTMLInputElement).labels ?? []).find(isRendered) ?? element;
}

export function isEditable(element: Element): boolean {
  const tag = localName(element);
  if (tag === "textarea") return true;
  if (tag === "input") return !/^(button|checkbox|file|hidden|image|radio|reset|submit)$/.test((element as HTMLInputElement).type);
  return (element as HTMLElement).isContentEditable === true || isEditingHost(element);
}

function checkEditable(element: Element): void {
  if (!isEditable(element)) throw obstacleOf(element, "not editable", "takes no text");
  if (isReadOnly(element)) throw obstacleOf(element, "readonly", "is read-only");
}

/** Only when needed: scrolling moves things under other readers' eyes and costs a layout. */
function bringIntoView(element: Element): void {
  const box = boxOf(element);
  const isWhole = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  const centre = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const hit = isInViewport(centre) ? elementAt(centre) : null;
  if (isWhole && hit && isWithin(hit, element)) return;
  if (isWhole && !isClippedAway(element, centre)) return;
  scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
}

/** Inside the viewport, yet scrolled out of a scrolling parent. */
function isClippedAway(element: Element, { x, y }: Point): boolean {
  for (let at = flatParent(element); at && at !== page.root(document); at = flatParent(at)) {
    const style = getComputedStyle(at);
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const box = boxOf(at);
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return true;
  }
  return false;
}

/** How long a busy machine may take to draw a visible page. Between two frames, nothing is seen to move. */
const DRAWN_MS = 1000;

/** Frames cost time: they are waited for only when something could be moving. A hidden page may draw none. */
async function holdStill(element: Element): Promise<void> {
  if (!couldBeMoving(element)) return;
  const limitMs = page.isHidden(document) ? undefined : DRAWN_MS;
  if (limitMs) await animationsBegun(limitMs);
  const before = boxOf(element);
  await nextFrame(limitMs);
  if (!isSameBox(before, boxOf(element))) throw obstacleOf(element, "moving", "is moving");
}

/** An animation stands still until the browser has drawn its first frame. */
async function animationsBegun(limitMs: number): Promise<void> {
  const waiting = page.animations(document).filter((animation) => animation.playState === "running" && animation.pending);
  if (waiting.length === 0) return;
  const begun = Promise.allSettled(waiting.map((animation) => animation.ready));
  await Promise.race([begun, new Promise((resolve) => setTimeout(resolve, limitMs))]);
}

const GEOMETRY = /(?:^|[\s;-])(?:transform|translate|scale|rotate|left|right|top|bottom|margin|width|height)\s*:/;

/** Animations the browser knows, or inline geometry that a script may be writing frame by frame. */
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

function pointerReaches(element: Element, surface: Element, position: Point | undefined): Point {
  let cover: Element | null = null;
  let isAnyInside = false;
  for (const point of position ? [pointFor(surface, position)] : clickPoints(surface)) {
    if (!isInViewport(point)) continue;
    isAnyInside = true;
    const hit = elementAt(point);
    if (hit && receivesFor(hit, element, surface)) return point;
    cover ??= hit;
  }
  if (!isAnyInside) throw obstacleOf(element, "outside viewport", "lies outside the viewport and cannot be scrolled into it");
  throw coveredBy(element, cover);
}

/** A hit inside the element, or inside the label that stands for it, arrives. */
function receivesFor(hit: Element, element: Element, surface: Element): boolean {
  if (isWithin(hit, surface) || isWithin(hit, element)) return true;
  const label = closest(hit, "label") as HTMLLabelElement | null;
  return label !== null && label.control === element;
}

function coveredBy(element: Element, cover: Element | null): PageError {
  if (!cover || isWithin(element, cover)) return obstacleOf(element, "no pointer events", "lets the pointer through (pointer-events or clipping)");
  const ref = refOf(cover);
  return obstacleOf(element, "covered", `is covered by ${ref}`, { coveredBy: ref, pageSaid: `${describe(element)}\n${describe(cover)}` });
}

const HINTS: Record<string, string> = {
  hidden: "Something else may have to be opened first; take a snapshot.",
  disabled: "Fill in what it depends on first, or wait until it is enabled.",
  covered: "Close or answer what lies over it first.",
  moving: "Wait until the animation is over and try again.",
};

function obstacleOf(element: Element, reason: string, sentence: string, details: ErrorDetails = {}): PageError {
  const ref = refOf(element);
  const hint = HINTS[reason];
  return new PageError("NOT_ACTIONABLE", `${ref} ${sentence}`, { reason, ref, pageSaid: describe(element), ...details, ...(hint ? { hint } : {}) });
}

function preparedAt(element: Element, point: Point): Prepared & { element: Element } {
  const role = roleOf(element);
  const tag = localName(element);
  const type = tag === "input" || tag === "button" ? (element as HTMLInputElement).type : "";
  const isCheckable = type === "checkbox" || type === "radio" || role === "checkbox" || role === "radio" || role === "switch";
  return {
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
    element,
  };
}
