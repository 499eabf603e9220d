/** Password values never leave the page: not as values, names, text, attributes or markup. */
import { getAttribute, localName } from "./dom";

const onceSeenAsPassword = new WeakSet<Element>();

/** Recognises a password field even after a "show password" button has turned it into a text field. */
export function isSecretField(element: Element): boolean {
  if (localName(element) !== "input") return false;
  const input = element as HTMLInputElement;
  if (input.type === "password" || /(current|new)-password/i.test(getAttribute(input, "autocomplete") ?? "")) {
    onceSeenAsPassword.add(input);
  }
  return onceSeenAsPassword.has(input);
}

const SECRET_ATTRIBUTE = /passw|pwd|token|api[-_]?key|secret|credential|nonce|csrf|jwt|session/i;

export function isSecretAttribute(element: Element, name: string): boolean {
  return SECRET_ATTRIBUTE.test(name) || (name === "value" && (isSecretField(element) || hasSecretName(element)));
}

/** `<input type="hidden" name="csrf_token" value="…">` and the like. */
function hasSecretName(element: Element): boolean {
  return SECRET_ATTRIBUTE.test(getAttribute(element, "name") ?? "");
}
