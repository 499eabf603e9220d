/** Answers one question about a target: a value of its element (`get`), or a state (`is`). */
import { whenPresent } from "./actionability";
import { type Args, oneOf, optionalNumber, optionalTexts, text } from "./args";
import { openHTML } from "./content";
import { boxOf, cut, getAttribute, innerText, localName, textContent } from "./dom";
import { badRequest } from "./errors";
import { type Box, boxAsData } from "./geometry";
import { refOf } from "./refs";
import { roleOf } from "./roles";
import { isSecretAttribute, isSecretField } from "./secrets";
import { checkedState, isCheckable, isDisabled, isEditable, isReadOnly, shownValue } from "./states";
import { allOfTarget, labelledControl, tryFindTarget } from "./targets";
import { isRendered } from "./visibility";

const DEFAULT_LENGTH = 50_000;
const STYLES_LIMIT = 100;

/** The styles that say how an element looks, for a caller that names none. */
const STYLES = (
  "display visibility opacity position z-index overflow width height margin padding border border-radius color background-color " +
  "font-family font-size font-weight line-height text-align cursor"
).split(" ");

export interface GetReply {
  value: string | number | null | Box | Record<string, string>;
  ref?: string;
  truncated: boolean;
}

export async function get(args: Args): Promise<GetReply> {
  const what = oneOf(args, "what", ["text", "html", "value", "attr", "count", "box", "styles"], "text");
  const target = text(args, "target");
  if (what === "count") return { value: allOfTarget(target).length, truncated: false };
  const maxLength = optionalNumber(args, "maxLength", 1, 50_000_000) ?? DEFAULT_LENGTH;
  const element = await whenPresent(target, "operate", optionalNumber(args, "timeoutMs", 0) ?? 0);
  const value = read(element, what, args);
  if (typeof value !== "string") return { value, ref: refOf(element), truncated: false };
  return { value: cut(value, maxLength), ref: refOf(element), truncated: value.length > maxLength };
}

function read(element: Element, what: "text" | "html" | "value" | "attr" | "box" | "styles", args: Args): GetReply["value"] {
  switch (what) {
    case "text":
      return element instanceof HTMLElement ? innerText(element) : textContent(element) ?? "";
    case "html":
      return openHTML(element, true);
    case "value":
      return valueOf(labelledControl(element));
    case "attr":
      return attributeOf(element, text(args, "name"));
    case "box":
      return boxAsData(boxOf(element));
    case "styles":
      return stylesOf(element, optionalTexts(args, "names"));
  }
}

function valueOf(element: Element): string {
  if (!/^(?:input|select|textarea)$/.test(localName(element))) throw badRequest("target", `${refOf(element)} is no field, so it has no value`);
  if (isSecretField(element)) return shownValue(element, roleOf(element)) ?? "";
  return (element as HTMLInputElement).value;
}

function attributeOf(element: Element, name: string): string | null {
  if (isSecretAttribute(element, name.toLowerCase())) throw badRequest("name", "This attribute may hold a secret, so Roost does not read it");
  return getAttribute(element, name);
}

function stylesOf(element: Element, names: string[] | undefined): Record<string, string> {
  if (names && names.length > STYLES_LIMIT) throw badRequest("names", `names are more than ${STYLES_LIMIT}`);
  const style = getComputedStyle(element);
  return Object.fromEntries((names?.length ? names : STYLES).map((name) => [name, style.getPropertyValue(name)]));
}

export interface IsReply {
  value: boolean;
  ref?: string;
}

/** `visible` is false for an element that is not there. All other states wait for the element, as in Playwright. */
export async function is(args: Args): Promise<IsReply> {
  const state = oneOf(args, "state", ["visible", "hidden", "enabled", "disabled", "checked", "editable"], "visible");
  const target = text(args, "target");
  if (state === "visible" || state === "hidden") {
    const found = tryFindTarget(target);
    const isVisible = found !== null && isSeen(found.element);
    return { value: isVisible === (state === "visible"), ...(found ? { ref: refOf(found.element) } : {}) };
  }
  const element = labelledControl(await whenPresent(target, "operate", optionalNumber(args, "timeoutMs", 0) ?? 0));
  return { value: holds(element, state), ref: refOf(element) };
}

/** Rendered, and with a size: Playwright's rule for a visible element. */
export function isSeen(element: Element): boolean {
  if (!isRendered(element)) return false;
  const { width, height } = boxOf(element);
  return (width > 0 && height > 0) || getComputedStyle(element).display === "contents";
}

export function holds(element: Element, state: "enabled" | "disabled" | "checked" | "editable"): boolean {
  switch (state) {
    case "enabled":
      return !isDisabled(element);
    case "disabled":
      return isDisabled(element);
    case "checked": {
      const role = roleOf(element);
      if (!isCheckable(element, role)) throw badRequest("target", `${refOf(element)} is neither a check box nor a radio button`);
      return checkedState(element, role) === true;
    }
    case "editable":
      return (isEditable(element) || /^(?:input|select)$/.test(localName(element))) && !isReadOnly(element) && !isDisabled(element);
  }
}
