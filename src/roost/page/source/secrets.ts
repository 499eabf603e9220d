/** Password values never leave the page: not as values, names, text, attributes or markup. */
import { closest, getAttribute, localName, queryAll } from "./dom";
import { openRoots } from "./flat_tree";

const onceSeenAsPassword = new WeakSet<Element>();

/** Fields and editors into which Roost filled a secret of the person. */
const filled = new Set<Element>();

/** Hide what stands in this element from now on, whatever becomes of its type. */
export function holdSecret(element: Element): void {
  if (filled.size === 0) for (const kind of TAKING_EVENTS) window.addEventListener(kind, keepHere, { capture: true });
  filled.add(element);
}

const TAKING_EVENTS = ["copy", "cut", "dragstart"];

/**
 * Let no text of this document into the clipboard or into a drag: an agent could put it into a page that it can read.
 * What the page itself made draggable may be dragged.
 */
function keepHere(event: Event): void {
  if (event.type === "dragstart" && event.target instanceof Element && closest(event.target, "[draggable=true]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

export function secretFields(): Element[] {
  return Array.from(filled);
}

/** True for an element that holds a secret of the person, which nothing may read. */
export function holdsSecret(element: Element): boolean {
  return filled.has(element);
}

/** Recognises a password field even after a "show password" button has turned it into a text field. */
export function isSecretField(element: Element): boolean {
  if (holdsSecret(element)) return true;
  if (localName(element) !== "input") return false;
  const input = element as HTMLInputElement;
  if (input.type === "password" || /(current|new)-password/i.test(getAttribute(input, "autocomplete") ?? "")) {
    onceSeenAsPassword.add(input);
  }
  return onceSeenAsPassword.has(input);
}

/**
 * Is a password typed into the form that the element belongs to? Outside of all forms, the password fields that are
 * outside of all forms count. Without an element, every password field of the document counts.
 */
export function hasFilledPassword(element: Element | null): boolean {
  const form = element && formOf(element);
  return openRoots().flatMap((root) => Array.from(queryAll(root, "input"))).some(
    (input) => isSecretField(input) && (input as HTMLInputElement).value !== "" && (element === null || formOf(input) === form),
  );
}

function formOf(element: Element): Element | null {
  const owner = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "form")?.get?.call(element);
  return owner ?? closest(element, "form");
}

const SECRET_ATTRIBUTE = /passw|pwd|token|api[-_]?key|secret|credential|nonce|csrf|jwt|session/i;

export function isSecretAttribute(element: Element, name: string): boolean {
  return SECRET_ATTRIBUTE.test(name) || (name === "value" && (isSecretField(element) || hasSecretName(element)));
}

/** `<input type="hidden" name="csrf_token" value="…">` and the like. */
function hasSecretName(element: Element): boolean {
  return SECRET_ATTRIBUTE.test(getAttribute(element, "name") ?? "");
}
