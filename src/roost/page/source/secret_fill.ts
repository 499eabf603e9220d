/**
 * Fills in a secret of the person. One call checks the frame's origin, the field and the form's
 * action, and inserts the value.
 *
 * The page's own scripts run at focus, at input and when the form is sent. So the checks run again after each of them.
 * If a check fails after the value was inserted, the field is emptied and the call refused.
 */
import { whenActionable } from "./actionability";
import { type Args, optionalNumber, optionalTexts, text } from "./args";
import { closest, contentElement, form, getAttribute, hasAttribute, isConnected, localName, queryAll, rootOf, setAttribute } from "./dom";
import { PageError } from "./errors";
import { plainText } from "./plain_text";
import { refOf } from "./refs";
import { holdSecret, secretFields } from "./secrets";
import { watchForEffects } from "./settle";
import { isEditable } from "./states";
import { isRendered } from "./visibility";

type Field = HTMLInputElement | HTMLTextAreaElement;

export interface FilledSecret {
  ref: string;
  tag: string;
  type: string;
  role: string;
}

const TAKES_TEXT = /^(email|number|password|search|tel|text|url)$/;
const TEXT_CHARS = 1_000_000;

/** The document, as nothing in the page can change it: when it was begun, and its origin. */
export function identity(): { begun: number; origin: string } {
  return { begun: performance.timeOrigin, origin: self.origin };
}

export async function fillSecret(args: Args): Promise<FilledSecret> {
  const origins = optionalTexts(args, "origins") ?? [];
  const value = text(args, "value");
  const { element, prepared } = await whenActionable(text(args, "target"), "type", optionalNumber(args, "timeoutMs", 0) ?? 0);
  // From here on nothing is awaited, so only the handlers of our own events run in between.
  const type = checked(element, origins);
  (element as HTMLElement).focus({ preventScroll: true });
  if (checked(element, origins) !== type) throw refused("type", element);
  holdSecret(element);
  if (type !== "password") setAttribute(element, "autocomplete", "off"); // so that no browser brings it back with the history
  guardForm(element, value, origins);
  try {
    insert(element, value);
    if (checked(element, origins) !== type) throw refused("type", element);
    if (isField(element) && valueOf(element) !== value) throw refused("value", element);
  } catch (error) {
    empty(element);
    throw error;
  }
  watchForEffects();
  const { ref, tag, role } = prepared;
  return { ref, tag, type, role };
}

/** What a picture of this frame would show as text, and whether a filled field shows its value openly. */
export function shownText(): { text: string; isOpen: boolean } {
  const open = secretFields().some((element) => isConnected(element) && isRendered(element) && showsValue(element));
  const values = Array.from(queryAll(document, "input:not([type=password]):not([type=hidden]),textarea"), (one) => valueOf(one as Field));
  return { text: [plainText(contentElement()), ...values].join("\n").slice(0, TEXT_CHARS), isOpen: open };
}

function showsValue(element: Element): boolean {
  if (!isField(element)) return (element.textContent ?? "") !== "";
  return (element as HTMLInputElement).type !== "password" && valueOf(element) !== "";
}

/** The fields of a login that are in view: where the name, the password and the one-time code go. */
export function loginFields(): { name?: string; password?: string; code?: string } {
  const inputs = Array.from(queryAll(document, "input"), (one) => one as HTMLInputElement).filter((one) => isRendered(one) && !one.disabled && !one.readOnly && TAKES_TEXT.test(one.type));
  const hint = (one: HTMLInputElement): string => `${getAttribute(one, "autocomplete") ?? ""} ${getAttribute(one, "name") ?? ""} ${getAttribute(one, "id") ?? ""}`.toLowerCase();
  const password = inputs.find((one) => one.type === "password");
  const code = inputs.find((one) => one !== password && /one-time-code|otp|totp|2fa|mfa|verification|passcode/.test(hint(one)));
  const others = inputs.filter((one) => one !== password && one !== code && one.type !== "search");
  const name = others.find((one) => /username|email|login|user/.test(hint(one)) || one.type === "email") ?? (password ? others.find((one) => one.form === password.form) : undefined);
  return { ...(name && { name: refOf(name) }), ...(password && { password: refOf(password) }), ...(code && { code: refOf(code) }) };
}

/** Return the field's type if the value may go there now, and throw otherwise. */
function checked(element: Element, origins: readonly string[]): string {
  if (!isBound(self.origin, origins)) throw refused("origin", element);
  if (!isConnected(element)) throw refused("gone", element);
  const type = typeOf(element);
  if (type === undefined) throw refused("type", element);
  const around = formOf(element);
  if (around && !goalsOf(around).every((goal) => isBoundGoal(goal, origins))) throw refused("form", element);
  return type;
}

function typeOf(element: Element): string | undefined {
  switch (localName(element)) {
    case "textarea":
      return "textarea";
    case "input": {
      const { type } = element as HTMLInputElement;
      return TAKES_TEXT.test(type) ? type : undefined;
    }
    default:
      return isEditable(element) ? "editor" : undefined;
  }
}

function formOf(element: Element): HTMLFormElement | null {
  return isField(element) ? element.form : (closest(element, "form") as HTMLFormElement | null);
}

/** Where the form can send its data: its own action, and the `formaction` of its buttons. */
function goalsOf(around: HTMLFormElement): string[] {
  const buttons = Array.from(form.elements(around)).filter((one) => hasAttribute(one, "formaction")) as HTMLButtonElement[];
  return [form.action(around), ...buttons.map((button) => button.formAction)];
}

function isBoundGoal(goal: string, origins: readonly string[]): boolean {
  if (/^javascript:/i.test(goal)) return true; // a script of the page itself, whose origin is bound
  try {
    return isBound(new URL(goal).origin, origins);
  } catch {
    return false;
  }
}

/** An origin fits itself; `https://*.example.com` fits the hosts below example.com. */
function isBound(origin: string, origins: readonly string[]): boolean {
  return origins.some((one) => {
    const star = one.indexOf("://*.");
    if (star < 0) return origin === one;
    return origin.startsWith(one.slice(0, star + 3)) && origin.endsWith(one.slice(star + 4));
  });
}

function isField(element: Element): element is Field {
  return localName(element) === "input" || localName(element) === "textarea";
}

function valueOf(field: Field): string {
  return field.value;
}

/** Insert the value as a person would: with the browser's own events, where the browser makes them for scripts. */
function insert(element: Element, value: string): void {
  if (isField(element)) element.select();
  else getSelection()?.selectAllChildren(element);
  const isDone = document.execCommand("insertText", false, value);
  if (isField(element) && valueOf(element) === value) return;
  if (!isField(element) && isDone) return;
  set(element, value);
}

function set(element: Element, value: string): void {
  if (isField(element)) element.value = value;
  else element.textContent = value;
  element.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText" }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

function empty(element: Element): void {
  if (isField(element) ? valueOf(element) !== "" : element.textContent !== "") set(element, "");
}

/**
 * Keep the value out of a form that is sent elsewhere in the end. `formdata` is the last event before the browser reads
 * the form's goal.
 */
function guardForm(element: Element, value: string, origins: readonly string[]): void {
  rootOf(element).addEventListener("formdata", (event) => {
    const { formData, target } = event as FormDataEvent;
    if (goalsOf(target as HTMLFormElement).every((goal) => isBoundGoal(goal, origins))) return;
    // By the fields' names: Firefox does not let another world iterate over the entries.
    const names = Array.from(form.elements(target as HTMLFormElement), (one) => getAttribute(one, "name") ?? "");
    for (const name of names) if (formData.getAll(name).includes(value)) formData.delete(name);
    empty(element);
  });
}

const REASONS = {
  origin: "The secret is not bound to the origin of this frame",
  type: "The page changed what kind of field this is, or it takes no text",
  form: "The form would send the secret to an origin that it is not bound to",
  gone: "The page removed the field",
  value: "The page changed the value as it was filled in, or the field is too short for it",
} as const;

function refused(reason: keyof typeof REASONS, element: Element): PageError {
  const hint = reason === "origin" || reason === "form" ? "Ask the person to bind the secret to that origin, if they trust it." : "Nothing was left in the field. Look at the page, and hand over to the person if it goes on.";
  return new PageError("NOT_ACTIONABLE", `${REASONS[reason]}, so it was not filled in`, { reason: `secret: ${reason}`, ref: refOf(element), hint });
}
