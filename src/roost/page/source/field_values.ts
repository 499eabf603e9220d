/**
 * Filling in fields. What a person types is typed by the driver, trusted: here the field is only made ready.
 * What a person picks from a browser widget (select, date, colour, range) is set, with the events that follow.
 */
import { type Action, isEditable, type Prepared, whenActionable, whenPresent } from "./actionability";
import { type Args, oneOf, optionalFlag, optionalNumber, optionalTexts, text } from "./args";
import { cut, localName } from "./dom";
import { badRequest, PageError } from "./errors";
import { optionsOf } from "./element_info";
import { tidy } from "./names";
import { refOf } from "./refs";
import { roleOf } from "./roles";
import { watchForEffects } from "./settle";
import { checkedState, labelOfOption, selectedLabels } from "./states";
import { describe, findTarget, labelledControl } from "./targets";

type Ready = Prepared & { element: Element };

/** What is left for the driver to do. */
export type Filled =
  /** Focused, old text selected: insert the text (or delete, for an empty one). */
  | (Prepared & { next: "type"; isEmpty: boolean })
  /** Click at `point`; nothing is left if it is `wanted` already. */
  | (Prepared & { next: "click" | "done"; checked: boolean | "mixed"; wanted: boolean })
  /** Set, with its events. */
  | (Prepared & { next: "done"; value: string; selected?: string[] });

export async function focusForTyping(args: Args): Promise<Filled> {
  const ready = await actionable(args, "type");
  const filled = readyToType(ready, optionalFlag(args, "replace") ?? true);
  watchForEffects();
  return filled;
}

export async function setValue(args: Args): Promise<Filled> {
  const element = await whenPresent(text(args, "target"), timeoutOf(args));
  const kind = kindOf(labelledControl(element));
  if (oneOf(args, "kind", ["any", "select"], "any") === "select" && kind !== "select") throw notAList(element);
  const filled = await fillers[kind](args);
  watchForEffects();
  return filled;
}

type Kind = "text" | "check" | "select" | "pick" | "file" | "none";

const fillers: Record<Kind, (args: Args) => Promise<Filled>> = {
  text: (args) => focusForTyping(args),
  check: async (args) => readyToCheck(await actionable(args, "check"), args),
  select: async (args) => select(await actionable(args, "select"), args),
  pick: async (args) => pick(await actionable(args, "type"), singleValue(args)),
  file: () => Promise.reject(badRequest("target", "This is a file field", "Upload files to it instead.")),
  none: (args) => Promise.reject(notAField(text(args, "target"))),
};

const PICKED_TYPES = /^(color|date|datetime-local|month|range|time|week)$/;

function kindOf(element: Element): Kind {
  const role = roleOf(element);
  switch (localName(element)) {
    case "select":
      return "select";
    case "input": {
      const { type } = element as HTMLInputElement;
      if (type === "checkbox" || type === "radio") return "check";
      if (type === "file") return "file";
      if (PICKED_TYPES.test(type)) return "pick";
      break;
    }
  }
  if (isEditable(element)) return "text";
  return /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role) ? "check" : "none";
}

function timeoutOf(args: Args): number {
  return optionalNumber(args, "timeoutMs", 0) ?? 0;
}

async function actionable(args: Args, action: Action): Promise<Ready> {
  return whenActionable(text(args, "target"), action, timeoutOf(args));
}

function notAField(target: string): PageError {
  const { element } = findTarget(target);
  return new PageError("NOT_ACTIONABLE", `${refOf(element)} is not a field that can be filled in`, {
    reason: "not editable",
    ref: refOf(element),
    pageSaid: describe(element),
    hint: "Click it and use what opens, or take the field inside it as target.",
  });
}

function notAList(element: Element): PageError {
  return new PageError("NOT_ACTIONABLE", `${refOf(element)} is no list of the browser`, {
    reason: "not a select",
    ref: refOf(element),
    pageSaid: describe(element),
    hint: "Click it and then the option in what opens.",
  });
}

/** What the caller gave, for a message. */
function quoted(value: string): string {
  return JSON.stringify(cut(value, 200));
}

/** Values come as strings; forms filled in by a model also bring booleans and numbers. */
function singleValue(args: Args): string {
  const value = Array.isArray(args.value) && args.value.length === 1 ? args.value[0] : args.value;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw badRequest("value", "value must be a string");
}

function readyToType({ element, ...ready }: Ready, replaces: boolean): Filled {
  const field = element as HTMLInputElement;
  field.focus({ preventScroll: true });
  const isNative = localName(element) === "input" || localName(element) === "textarea";
  const isEmpty = isNative ? field.value === "" : (field.textContent ?? "") === "";
  if (!isNative) selectContent(element, replaces);
  else if (replaces) field.select();
  else moveCaretToEnd(field);
  return { ...ready, next: "type", isEmpty };
}

function moveCaretToEnd(field: HTMLInputElement): void {
  try {
    field.setSelectionRange(field.value.length, field.value.length);
  } catch {
    // Number and e-mail fields have no caret to ask for; the browser puts it at the end.
  }
}

function selectContent(element: Element, isWhole: boolean): void {
  const selection = getSelection();
  const range = new Range();
  range.selectNodeContents(element);
  if (!isWhole) range.collapse(false);
  selection?.removeAllRanges();
  selection?.addRange(range);
}

const TRUE = /^(true|on|yes|1|checked)$/i;
const FALSE = /^(false|off|no|0|unchecked|)$/i;

function readyToCheck({ element, ...ready }: Ready, args: Args): Filled {
  const value = singleValue(args).trim();
  if (!TRUE.test(value) && !FALSE.test(value)) throw badRequest("value", `A ${ready.role} takes true or false, not ${quoted(value)}`);
  const wanted = TRUE.test(value);
  const checked = checkedState(element, ready.role);
  if (!wanted && checked && ready.role === "radio") throw badRequest("value", "A radio button is only unchecked by checking another one of its group");
  return { ...ready, next: checked === wanted ? "done" : "click", checked, wanted };
}

function select({ element, ...ready }: Ready, args: Args): Filled {
  const list = element as HTMLSelectElement;
  const wanted = Array.isArray(args.value) ? optionalTexts(args, "value")! : [singleValue(args)];
  if (wanted.length > 1 && !list.multiple) throw badRequest("value", "This list takes one value");
  const chosen = new Set(wanted.map((value) => optionFor(list, value)));
  for (const option of list.options) option.selected = chosen.has(option);
  announce(list);
  return { ...ready, next: "done", value: list.value, selected: selectedLabels(list) };
}

/** By value, by label as it is written, by label as a person would say it: in this order. */
function optionFor(list: HTMLSelectElement, wanted: string): HTMLOptionElement {
  const options = Array.from(list.options);
  const label = wanted.trim().toLowerCase();
  const option =
    options.find((candidate) => candidate.value === wanted) ??
    options.find((candidate) => labelOfOption(candidate) === wanted.trim()) ??
    options.find((candidate) => labelOfOption(candidate).toLowerCase() === label);
  if (!option) {
    throw new PageError("NOT_FOUND", `The list has no option ${quoted(wanted)}`, {
      hint: "Use one of the list's options, by value or label.",
      pageSaid: `Options:\n${optionsOf(list).map(({ value, label: shown }) => tidy(value === shown ? value : `${shown} (${value})`)).join("\n")}`,
    });
  }
  if (option.disabled) throw new PageError("NOT_ACTIONABLE", `The option ${quoted(wanted)} is disabled`, { reason: "disabled" });
  return option;
}

const FORMATS: Record<string, { pattern: RegExp; example: string }> = {
  color: { pattern: /^#[\da-f]{6}$/i, example: "#1a2b3c" },
  date: { pattern: /^\d{4,}-\d\d-\d\d$/, example: "2026-03-31" },
  "datetime-local": { pattern: /^\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/, example: "2026-03-31T14:30" },
  month: { pattern: /^\d{4,}-\d\d$/, example: "2026-03" },
  range: { pattern: /^-?\d+(\.\d+)?$/, example: "50" },
  time: { pattern: /^\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/, example: "14:30" },
  week: { pattern: /^\d{4,}-W\d\d$/, example: "2026-W13" },
};

function pick({ element, ...ready }: Ready, value: string): Filled {
  const input = element as HTMLInputElement;
  checkFormat(input, value.trim());
  const before = input.value;
  input.focus({ preventScroll: true });
  input.value = value.trim();
  if (value !== "" && input.value === "") {
    input.value = before;
    throw badRequest("value", `${quoted(value)} is no valid ${input.type}`);
  }
  announce(input);
  return { ...ready, next: "done", value: input.value };
}

function checkFormat(input: HTMLInputElement, value: string): void {
  const { pattern, example } = FORMATS[input.type]!;
  if (value === "" && input.type !== "range" && input.type !== "color") return;
  if (!pattern.test(value)) throw badRequest("value", `A ${input.type} field takes values like ${example}, not ${quoted(value)}`);
  if (input.type !== "range") return;
  const [low, high] = [Number(input.min || 0), Number(input.max || 100)];
  if (Number(value) < low || Number(value) > high) throw badRequest("value", `This range goes from ${low} to ${high}`);
}

/** https://html.spec.whatwg.org/multipage/input.html#common-input-element-events */
function announce(field: HTMLElement): void {
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}
