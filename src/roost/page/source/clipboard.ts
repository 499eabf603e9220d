/**
 * Copy and paste on the session's own clipboard. `Clipboard` (drivers/clipboard.py) says how the parts work together,
 * and has the guard that stops a paste of anything else.
 */
import { whenPresent } from "./actionability";
import { type Args, optionalNumber, text } from "./args";
import { cut, focusedElement, localName } from "./dom";
import { badRequest } from "./errors";
import { refOf } from "./refs";
import { isEditable, isReadOnly } from "./states";
import { buildTree } from "./tree";

const NAME_CHARS = 500;

type Items = [type: string, text: string][];

interface Pastes {
  expected: Record<string, string> | null;
  outcome: string;
  said: string;
  isThere?: boolean;
  /** The last paste event. */
  event?: ClipboardEvent;
  /** The browser began to insert what it pasted. */
  hasInput?: boolean;
}

const world = globalThis as { __pastes?: Pastes };

/** Let the next paste of these items pass. */
export function expectPaste(args: Args): { isGuarded: boolean; hasFocus: boolean } {
  const items = args["items"];
  if (!Array.isArray(items)) throw badRequest("items", "items must be a list");
  const pastes = world.__pastes;
  if (pastes) {
    pastes.isThere = false;
    window.dispatchEvent(new Event(pastes.said));
    pastes.expected = Object.fromEntries(items as Items) as Record<string, string>;
    pastes.outcome = "";
  }
  return { isGuarded: pastes?.isThere ?? false, hasFocus: document.hasFocus() };
}

function isInsertedByBrowser(event: ClipboardEvent | undefined): boolean {
  const field = focusedElement();
  return Boolean(event) && !event!.defaultPrevented && field !== null && isEditable(field) && !isReadOnly(field);
}

/** Say what became of the paste, and let no other one pass. */
export function pasted(): { outcome: string } {
  const pastes = world.__pastes;
  if (!pastes) return { outcome: "" };
  // The browser reads the clipboard again to insert it. It inserts nothing if a page is just writing there.
  const isLost = pastes.outcome === "pasted" && isInsertedByBrowser(pastes.event) && !pastes.hasInput;
  const wasText = Boolean(pastes.expected?.["text/plain"]);
  pastes.expected = null;
  return { outcome: isLost && wasText ? "foreign" : pastes.outcome };
}

/** What the browser would copy by itself. It copies nothing from a password field. */
function selectedItems(): Items {
  const field = focusedElement();
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    if (field.type === "password" || field.selectionStart === null) return [];
    const text = field.value.slice(field.selectionStart, field.selectionEnd ?? undefined);
    return text === "" ? [] : [["text/plain", text]];
  }
  const selection = getSelection();
  const text = selection?.toString() ?? "";
  if (!selection || selection.isCollapsed || text === "") return [];
  const holder = document.createElement("div");
  for (let number = 0; number < selection.rangeCount; number++) holder.append(selection.getRangeAt(number).cloneContents());
  return [["text/plain", text], ["text/html", holder.innerHTML]];
}

class CopyWatch {
  private items: Items = [];
  private event: ClipboardEvent | null = null;
  private wasPrevented = false;
  private removals: (() => void)[] = [];

  constructor() {
    for (const kind of ["copy", "cut"]) this.listen(window, kind, true, (event) => this.begin(event));
  }

  /** Look after each step of the event's way: a page may stop the event anywhere, after it has set its data. */
  private begin(event: ClipboardEvent): void {
    if (!event.isTrusted) return;
    this.event = event;
    for (const step of event.composedPath()) {
      for (const capture of [true, false]) this.listen(step, event.type, capture, (now) => this.look(now));
    }
    this.look(event);
  }

  private look(event: ClipboardEvent): void {
    this.wasPrevented = event.defaultPrevented;
    const data = event.clipboardData;
    if (!this.wasPrevented) this.items = selectedItems();
    else this.items = data ? Array.from(data.types, (type): [string, string] => [type, data.getData(type)]) : [];
  }

  private listen(on: EventTarget, kind: string, capture: boolean, hear: (event: ClipboardEvent) => void): void {
    const heard = (event: Event): void => hear(event as ClipboardEvent);
    on.addEventListener(kind, heard, capture);
    this.removals.push(() => on.removeEventListener(kind, heard, capture));
  }

  stop(): void {
    for (const remove of this.removals) remove();
    this.removals = [];
  }

  result(chars: number): { items?: Items; isHidden?: boolean; isTooLarge?: boolean } {
    this.stop();
    // A listener that stopped the event for all others has prevented the browser's own copying afterwards.
    if (this.event?.defaultPrevented && !this.wasPrevented) return { isHidden: true };
    const isTooLarge = this.items.reduce((sum, [, text]) => sum + text.length, 0) > chars;
    return isTooLarge ? { isTooLarge } : { items: this.items.filter(([, text]) => text !== "") };
  }
}

let watch: CopyWatch | null = null;

/** Note what the next copy or cut in this document copies. */
export function watchCopy(): object {
  watch?.stop();
  watch = new CopyWatch();
  return {};
}

/** Return what was copied since `watchCopy`. */
export function copied(args: Args): object {
  const taken = watch?.result(optionalNumber(args, "chars", 1) ?? 0) ?? {};
  watch = null;
  return taken;
}

/** Select all of an element, as a person would before copying. Return the element's description. */
export async function selectAll(args: Args): Promise<object> {
  const element = await whenPresent(text(args, "target"), "operate", optionalNumber(args, "timeoutMs", 0) ?? 0);
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    element.focus({ preventScroll: true });
    element.select();
  } else {
    if (element instanceof HTMLElement && element.isContentEditable) element.focus({ preventScroll: true });
    else (focusedElement() as HTMLElement | null)?.blur(); // else the browser copies from the focused field
    getSelection()?.selectAllChildren(element);
  }
  const { role, name } = buildTree(element);
  return { ref: refOf(element), tag: localName(element), role, name: cut(name, NAME_CHARS) };
}
