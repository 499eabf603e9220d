/**
 * Fills in fields. For text, this module only focuses the field and selects its old text; the driver then types with
 * trusted input. For browser widgets (select, date, colour, range) it sets the value and dispatches the events.
 */
import { loginOf, type Action, guardPressOn, type Prepared, type Ready, whenActionable, whenPresent } from "./actionability";
import { type Args, oneOf, optionalFlag, optionalNumber, optionalTexts, text } from "./args";
import { cut, localName } from "./dom";
import { badRequest, PageError } from "./errors";
import { mayHaveList } from "./combobox";
import { optionsOf } from "./element_info";
import { untilPresent } from "./moments";
import { tidy } from "./names";
import { refOf } from "./refs";
import { roleOf } from "./roles";
import { watchForEffects } from "./settle";
import { checkedState, isEditable, labelOfOption, selectedLabels } from "./states";
import { describe, findTarget, labelledControl } from "./targets";

/** What the driver has to do next. */
export type Filled =
  /** The field has the focus and its old text is selected: insert the new text, or delete if the new text is empty. */
  | (Prepared & { next: "type"; isEmpty: boolean; hasList: boolean })
  /** Click at `point`. "done": the field is already `wanted`. */
  | (Prepared & { next: "click" | "done"; checked: boolean | "mixed"; wanted: boolean })
  /** A slider is one step from its value: press `key`, then call again with `isPressed`. */
  | (Prepared & { next: "press"; key: string })
  /** The value is set and its events were dispatched. */
  | (Prepared & { next: "done"; value: string; selected?: string[] });

export async function focusForTyping(args: Args): Promise<Filled> {
  const ready = await actionable(args, "type");
  const filled = readyToType(ready);
  watchForEffects();
  return { ...filled, ...loginOf(args, ready.element) };
}

export async function setValue(args: Args): Promise<Filled> {
  const element = await whenPresent(text(args, "target"), "fill", timeoutOf(args));
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
  pick: async (args) => pick(await actionable(args, "type"), singleValue(args), optionalFlag(args, "isPressed") === true),
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
  const { element } = findTarget(target, "fill");
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

/** The caller's value, quoted for a message. */
function quoted(value: string): string {
  return JSON.stringify(cut(value, 200));
}

/** Accept strings, and the booleans and numbers that models also send. */
function singleValue(args: Args): string {
  const value = Array.isArray(args.value) && args.value.length === 1 ? args.value[0] : args.value;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw badRequest("value", "value must be a string");
}

function readyToType({ element, prepared }: Ready): Filled {
  const field = element as HTMLInputElement;
  field.focus({ preventScroll: true });
  const isNative = localName(element) === "input" || localName(element) === "textarea";
  const isEmpty = isNative ? field.value === "" : (field.textContent ?? "") === "";
  if (isNative) field.select();
  else selectContent(element);
  return { ...prepared, next: "type", isEmpty, hasList: mayHaveList(element) };
}

function selectContent(element: Element): void {
  const selection = getSelection();
  const range = new Range();
  range.selectNodeContents(element);
  selection?.removeAllRanges();
  selection?.addRange(range);
}

const TRUE = /^(true|on|yes|1|checked)$/i;
const FALSE = /^(false|off|no|0|unchecked|)$/i;

/** Wait until the box that was clicked has the value. A page can prevent the click, or undo it. */
export async function whenChecked(args: Args): Promise<object> {
  const element = labelledControl(findTarget(text(args, "target"), "fill").element);
  const role = roleOf(element);
  const wanted = TRUE.test(singleValue(args).trim());
  const isMet = await untilPresent(() => (checkedState(element, role) === wanted ? true : null), timeoutOf(args));
  if (isMet !== null) return {};
  throw new PageError("NOT_ACTIONABLE", `${refOf(element)} was clicked and is ${wanted ? "not checked" : "still checked"}`, {
    reason: "unchanged",
    ref: refOf(element),
    pageSaid: describe(element),
    hint: "The page prevents the click or undoes it. Look at what the page asks for first.",
  });
}

function readyToCheck(ready: Ready, args: Args): Filled {
  const { element, prepared } = ready;
  const value = singleValue(args).trim();
  if (!TRUE.test(value) && !FALSE.test(value)) throw badRequest("value", `A ${prepared.role} takes true or false, not ${quoted(value)}`);
  const wanted = TRUE.test(value);
  const checked = checkedState(element, prepared.role);
  if (!wanted && checked && prepared.role === "radio") throw badRequest("value", "A radio button is only unchecked by checking another one of its group");
  if (checked === wanted) return { ...prepared, next: "done", checked, wanted };
  guardPressOn(ready);
  return { ...prepared, next: "click", checked, wanted };
}

function select({ element, prepared }: Ready, args: Args): Filled {
  const list = element as HTMLSelectElement;
  const wanted = Array.isArray(args.value) ? optionalTexts(args, "value")! : [singleValue(args)];
  if (wanted.length > 1 && !list.multiple) throw badRequest("value", "This list takes one value");
  const chosen = new Set(wanted.map((value) => optionFor(list, value)));
  for (const option of list.options) option.selected = chosen.has(option);
  announce(list);
  return { ...prepared, next: "done", value: list.value, selected: selectedLabels(list) };
}

/** Look for the option by its value, then by its exact label, then by its label in any case. */
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

function pick({ element, prepared }: Ready, value: string, isPressed: boolean): Filled {
  const input = element as HTMLInputElement;
  checkFormat(input, value.trim());
  const before = input.value;
  input.focus({ preventScroll: true });
  input.value = value.trim();
  if (value !== "" && input.value === "") {
    input.value = before;
    throw badRequest("value", `${quoted(value)} is no valid ${input.type}`);
  }
  if (input.type === "range") {
    if (input.value === before) return { ...prepared, next: "done", value: before };
    const key = isPressed ? null : moveBeside(input);
    if (key) return { ...prepared, next: "press", key };
  }
  announce(input);
  return { ...prepared, next: "done", value: input.value };
}

/**
 * Move a slider to one step from its value, and return the key that does the last step.
 *
 * Applications store the value of a slider when a person lets go of it. A key tells them that; events from a script
 * do not. Return null if the slider has no steps.
 */
function moveBeside(input: HTMLInputElement): string | null {
  const goal = input.value;
  if (input.step === "any") return null;
  input.stepDown();
  let key = "ArrowUp";
  if (input.value === goal) {
    input.stepUp();
    key = "ArrowDown";
  }
  if (input.value === goal) return null;
  input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  return key;
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
