/**
 * Makes sure that a press of the mouse reaches its target or reaches nothing.
 *
 * The driver moves, presses and releases the mouse without waiting in between. The page may move its layout meanwhile:
 * a hover menu closes as the pointer leaves it, and another element slides under the pointer. So `prepare` sets up a
 * guard. The guard hears trusted events at the window before the page's elements do. It stops a press on a wrong
 * element, with all mouse and click events that follow from the press. `settled` takes the verdict, and the caller
 * prepares the action again.
 */
import { boxOf, closest, cut, focusedElement, getAttribute, isConnected, isElement, localName, textContent } from "./dom";
import { type ErrorReport, PageError } from "./errors";
import { flatParent, isWithin } from "./flat_tree";
import { elementAt, isSameBox, type Point } from "./geometry";
import { tidy } from "./names";
import { refOf } from "./refs";
import { isEditable } from "./states";
import { describe } from "./targets";
import { isRendered } from "./visibility";

/** The element of an action, and where the pointer was told to go. */
export interface Aim {
  element: Element;
  /** The element that receives the pointer: `element`, or the label that stands for it. */
  surface: Element;
  point: Point;
}

/** Why the input did not reach its target. */
export interface Miss extends ErrorReport {
  /** The same input can be given again: no part of it had an effect. */
  retry: boolean;
}

const PRESS_EVENTS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
const RELEASES: ReadonlySet<string> = new Set(["pointerup", "mouseup", "contextmenu"]);
const LEAVING_EVENTS = ["focusout", "change"];
const CLICKS: ReadonlySet<string> = new Set(["click", "auxclick", "dblclick", "contextmenu"]);

/** A guard that nobody took down ends by itself: it must not stop later clicks of a person. */
const GUARD_MS = 10_000;

/** Does a pointer event on `hit` operate the element? Descendants do, and so does a label of the element. */
export function receivesFor(hit: Element, element: Element, surface: Element): boolean {
  if (isWithin(hit, surface) || isWithin(hit, element)) return true;
  // A text inside a button or link stands for the whole button or link.
  const operated = closest(element, "button, a[href], summary, [role=button], [role=link], [role=menuitem], [role=tab], [role=option]");
  if (operated && isWithin(hit, operated)) return true;
  const label = closest(hit, "label") as HTMLLabelElement | null;
  return label !== null && label.control === element;
}

/** Watches the input of one action. */
interface Guard {
  stop(): void;
  /** Called by `settled`, when the input and its handlers are over. Stops the guard. */
  verdict(): Miss | null;
}

/** A guard that hears the trusted events of a press before the page's elements do. */
abstract class EventGuard implements Guard {
  private readonly timer = setTimeout(() => this.stop(), GUARD_MS);
  private isOver = false;

  constructor() {
    listen();
  }

  heard(event: Event): void {
    if (event.isTrusted && !this.isOver) this.hear(event as MouseEvent);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.isOver = true;
  }

  abstract verdict(): Miss | null;

  protected abstract hear(event: MouseEvent): void;
}

let isListening = false;

function heard(event: Event): void {
  if (guard instanceof EventGuard) guard.heard(event);
}

/** Listen from the first guard on, for good. Each change of pointer listeners costs Chromium a frame. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  for (const kind of PRESS_EVENTS) window.addEventListener(kind, heard, { capture: true, passive: false });
}

/** Stop the guard and remove the listeners: another version of the bundle takes over. */
export function retireGuard(): void {
  replaceGuard(null);
  for (const kind of PRESS_EVENTS) window.removeEventListener(kind, heard, { capture: true });
  isListening = false;
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** The element that the browser gave the event to, also inside open shadow roots. */
function hitOf(event: Event): Element | null {
  const [first] = event.composedPath();
  return first instanceof Node && isElement(first) ? first : null;
}

/** What a person would recognise an element by. */
function likenessOf(element: Element): string {
  const words = tidy(cut(textContent(element) ?? "", LIKENESS_CHARS));
  return [localName(element), getAttribute(element, "role"), getAttribute(element, "type"), getAttribute(element, "aria-label"), words].join("\n");
}

const LIKENESS_CHARS = 500;

/** Guards a click, or the press that begins a drag. */
class PressGuard extends EventGuard {
  private readonly likeness: string;
  private presses = 0;
  private isDown = false;
  /** After a wrong press, everything that follows from it is stopped. After a wrong release only the click is: the
   * page has heard the press, so it must also hear that the button is up. */
  private stops: "nothing" | "clicks" | "everything" = "nothing";
  private miss: Miss | null = null;
  /** Where the target was when it was prepared. Asking again at the press would force a layout. */
  private readonly box: DOMRect;
  /** The page's handlers of the press left the target where it was. */
  private wasPressQuiet = false;
  /** A field lost the focus, or reported its change, because of the press. */
  private hasLeftField = false;

  private readonly pressed = (event: Event): void => {
    if (event.isTrusted && this.presses > 0) this.wasPressQuiet = isSameBox(this.box, boxOf(this.aim.surface));
  };
  private readonly left = (event: Event): void => {
    if (event.isTrusted && this.isDown) this.hasLeftField = true;
  };

  /**
   * isPointKnown: judge only presses at the aimed point. In a child frame the point is not known, because the parent
   * document may move the frame.
   * isDrag: the button is released at another place, so the release is not judged.
   */
  constructor(
    private aim: Aim,
    private readonly isPointKnown: boolean,
    private readonly isDrag: boolean,
  ) {
    super();
    this.likeness = likenessOf(aim.element);
    this.box = boxOf(aim.surface);
    const focused = focusedElement();
    if (focused === null || !isEditable(focused)) return; // then no field can be left
    window.addEventListener("mousedown", this.pressed);
    for (const kind of LEAVING_EVENTS) window.addEventListener(kind, this.left, { capture: true, passive: true });
  }

  override stop(): void {
    super.stop();
    window.removeEventListener("mousedown", this.pressed);
    for (const kind of LEAVING_EVENTS) window.removeEventListener(kind, this.left, { capture: true });
  }

  protected hear(event: MouseEvent): void {
    // A mousedown without a pointerdown before it also begins a press.
    const isPress = event.type === "pointerdown" || (event.type === "mousedown" && !this.isDown);
    if (isPress && this.isPointKnown && !this.isAtAim(event)) return;
    if (isPress) this.judgePress(event);
    else if (this.stops === "nothing" && this.presses > 0 && !this.isDrag && RELEASES.has(event.type)) this.judgeRelease(event);
    if (event.type === "mouseup") this.isDown = false;
    if (this.stops === "everything" || (this.stops === "clicks" && CLICKS.has(event.type))) swallow(event);
  }

  private judgePress(event: MouseEvent): void {
    this.isDown = true;
    this.presses += 1;
    const hit = hitOf(event);
    const { element, surface } = this.aim;
    if (hit === null || receivesFor(hit, element, surface) || (this.presses === 1 && this.isReplacedBy(hit))) return;
    // A page that took its target away at the first click of a double click has reacted to that click.
    if (this.presses > 1 && !isStillThere(this.aim)) return;
    this.stops = "everything";
    this.miss ??= this.presses === 1 ? metAnother(element, hit) : movedAway(element, hit, "after its first click");
  }

  /** Some pages draw an element anew when the pointer comes to it. An element of the same likeness is the target then. */
  private isReplacedBy(hit: Element): boolean {
    if (isConnected(this.aim.element)) return false;
    for (let at: Element | null = hit; at; at = flatParent(at)) {
      if (likenessOf(at) === this.likeness) {
        this.aim = { ...this.aim, element: at, surface: at };
        return true;
      }
    }
    return false;
  }

  /** The press was right. If the target has left the pointer since, the browser would click something else. */
  private judgeRelease(event: MouseEvent): void {
    const { element, surface, point } = this.aim;
    const hit = hitOf(event);
    if (hit === null || receivesFor(hit, element, surface) || !isStillThere(this.aim)) return;
    const box = boxOf(surface);
    if (isSameBox(box, this.box) || isInside(point, box)) return;
    this.stops = "clicks";
    // The press itself did nothing if the target stayed while its handlers ran and moved because a field was left.
    this.miss ??= { ...movedAway(element, hit, "as it was pressed"), retry: this.wasPressQuiet && this.hasLeftField };
  }

  private isAtAim({ clientX, clientY }: MouseEvent): boolean {
    return Math.abs(clientX - this.aim.point.x) < 1.5 && Math.abs(clientY - this.aim.point.y) < 1.5;
  }

  verdict(): Miss | null {
    this.stop();
    if (this.miss || this.presses > 0 || !isStillThere(this.aim)) return this.miss;
    // No press came to this document. If a frame lies at the point now, the frame has received it.
    const hit = elementAt(this.aim.point);
    return hit !== null && isFrame(hit) && !receivesFor(hit, this.aim.element, this.aim.surface) ? metAnother(this.aim.element, hit) : null;
  }
}

/** Judges a move of the pointer after it. A pointer over a wrong element does no harm, so nothing is stopped. */
class HoverGuard implements Guard {
  constructor(private readonly aim: Aim) {}

  stop(): void {}

  verdict(): Miss | null {
    const { element, surface, point } = this.aim;
    if (!isStillThere(this.aim) || isInside(point, boxOf(surface))) return null;
    const hit = elementAt(point);
    return hit === null || receivesFor(hit, element, surface) ? null : metAnother(element, hit);
  }
}

/** Guards a document that the press is not meant for: its target is in another frame of the tab. */
class StrangerGuard extends EventGuard {
  private hit: Element | null = null;

  protected hear(event: MouseEvent): void {
    this.hit ??= hitOf(event);
    swallow(event);
  }

  verdict(): Miss | null {
    this.stop();
    if (this.hit === null) return null;
    const error = new PageError("NOT_ACTIONABLE", `The pointer met ${refOf(this.hit)} in another frame instead of its target`, {
      reason: "missed",
      coveredBy: refOf(this.hit),
      pageSaid: describe(this.hit),
      hint: MISSED_HINT,
    });
    return { ...error.report, retry: true };
  }
}

const MISSED_HINT = "Take a snapshot: the page moves its elements when the pointer moves. Nothing was clicked.";

function metAnother(element: Element, hit: Element): Miss {
  const error = new PageError("NOT_ACTIONABLE", `${refOf(element)} moves away when the pointer comes to it: the pointer met ${refOf(hit)} instead`, {
    reason: "missed",
    ref: refOf(element),
    coveredBy: refOf(hit),
    pageSaid: `${describe(element)}\n${describe(hit)}`,
    hint: MISSED_HINT,
  });
  return { ...error.report, retry: true };
}

function movedAway(element: Element, hit: Element, when: string): Miss {
  const error = new PageError("NOT_ACTIONABLE", `${refOf(element)} moved away ${when}, so the click was not completed`, {
    reason: "moved",
    ref: refOf(element),
    coveredBy: refOf(hit),
    pageSaid: `${describe(element)}\n${describe(hit)}`,
    hint: "The page has received the press. Take a snapshot to see its effect, and click again if there is none.",
  });
  return { ...error.report, retry: false };
}

function isStillThere({ element, surface }: Aim): boolean {
  return isConnected(element) && isRendered(surface);
}

function isInside({ x, y }: Point, box: DOMRect): boolean {
  return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

function isFrame(element: Element): boolean {
  return /^(iframe|frame|object|embed)$/.test(localName(element));
}

let guard: Guard | null = null;

function replaceGuard(next: Guard | null): void {
  guard?.stop();
  guard = next;
}

export function guardPress(aim: Aim, options: { isPointKnown: boolean; isDrag: boolean }): void {
  replaceGuard(new PressGuard(aim, options.isPointKnown, options.isDrag));
}

export function guardHover(aim: Aim): void {
  replaceGuard(new HoverGuard(aim));
}

/** Stop every press in this document until `takeVerdict`: the target is in another frame. */
export function guardStranger(): void {
  replaceGuard(new StrangerGuard());
}

/** Take the guard down. Return why the input missed its target, or null if it did not miss. */
export function takeVerdict(): Miss | null {
  const verdict = guard?.verdict() ?? null;
  guard = null;
  return verdict;
}
