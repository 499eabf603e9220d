/** States and values of an element, as ARIA and HTML define them together. */
import { closest, getAttribute, hasAttribute, isTrue, localName, matches } from "./dom";
import { isEditingHost } from "./roles";
import { isSecretField } from "./secrets";

export type Tristate = boolean | "mixed";

const CHECKABLE = new Set(["checkbox", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "treeitem"]);
const SELECTABLE = new Set(["columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"]);
const REQUIRABLE = new Set("checkbox combobox gridcell listbox radio radiogroup searchbox spinbutton switch textbox tree button".split(" "));
const FORM_TAGS = new Set(["button", "fieldset", "input", "optgroup", "option", "select", "textarea"]);

export function isCheckable(element: Element, role: string): boolean {
  return CHECKABLE.has(role) || (localName(element) === "input" && /^(?:checkbox|radio)$/.test((element as HTMLInputElement).type));
}

export function checkedState(element: Element, role: string): Tristate {
  if (localName(element) === "input") {
    const input = element as HTMLInputElement;
    if (input.type === "checkbox" || input.type === "radio") return input.indeterminate ? "mixed" : input.checked;
  }
  return CHECKABLE.has(role) ? ariaTristate(element, "aria-checked") : false;
}

export function pressedState(element: Element, role: string): Tristate {
  return role === "button" ? ariaTristate(element, "aria-pressed") : false;
}

function ariaTristate(element: Element, attribute: string): Tristate {
  const value = getAttribute(element, attribute)?.toLowerCase();
  return value === "mixed" ? "mixed" : value === "true";
}

export function isSelected(element: Element, role: string): boolean {
  if (localName(element) === "option") return (element as HTMLOptionElement).selected;
  return SELECTABLE.has(role) && isTrue(element, "aria-selected");
}

export function isExpanded(element: Element): boolean {
  if (localName(element) === "summary") return hasAttribute(element.parentElement ?? element, "open");
  return isTrue(element, "aria-expanded");
}

/** Natively disabled, also through a fieldset. */
export function isNativelyDisabled(element: Element): boolean {
  return FORM_TAGS.has(localName(element)) && matches(element, ":disabled");
}

export function isDisabled(element: Element): boolean {
  return isNativelyDisabled(element) || closest(element, '[aria-disabled="true" i]') !== null;
}

export function isInvalid(element: Element): boolean {
  const value = getAttribute(element, "aria-invalid")?.toLowerCase();
  return value !== undefined && value !== "" && value !== "false";
}

/** Must be filled in before the form can be sent. */
export function isRequired(element: Element, role: string): boolean {
  if (!REQUIRABLE.has(role)) return false;
  const tag = localName(element);
  if (tag === "input" || tag === "select" || tag === "textarea") return hasAttribute(element, "required") || isTrue(element, "aria-required");
  return isTrue(element, "aria-required");
}

export function isReadOnly(element: Element): boolean {
  const tag = localName(element);
  if (tag === "input" || tag === "textarea") return (element as HTMLInputElement).readOnly;
  return isTrue(element, "aria-readonly");
}

/** True for fields that a person types text into. */
export function isEditable(element: Element): boolean {
  const tag = localName(element);
  if (tag === "textarea") return true;
  if (tag === "input") return !/^(button|checkbox|file|hidden|image|radio|reset|submit)$/.test((element as HTMLInputElement).type);
  return (element as HTMLElement).isContentEditable === true || isEditingHost(element);
}

export function headingLevel(element: Element, role: string): number | undefined {
  const declared = Number.parseInt(getAttribute(element, "aria-level") ?? "", 10);
  if (declared >= 1) return declared;
  if (role !== "heading") return undefined;
  const tag = /^h([1-6])$/.exec(localName(element));
  return tag ? Number(tag[1]) : 2;
}

/** Input types whose value is a thing of its own, not text a person reads. */
const VALUELESS_INPUTS = new Set(["button", "checkbox", "hidden", "image", "radio", "reset", "submit"]);

const HIDDEN_VALUE = "••••••";

/** What stands in a field, or undefined for elements that hold no value. Never a password. */
export function shownValue(element: Element, role: string): string | undefined {
  switch (localName(element)) {
    case "input":
      return shownInputValue(element as HTMLInputElement);
    case "textarea":
      return isSecretField(element) ? HIDDEN_VALUE : (element as HTMLTextAreaElement).value;
    case "select":
      return selectedLabels(element as HTMLSelectElement).join(", ");
    case "progress":
    case "meter":
      return rangeText(element) ?? String((element as HTMLProgressElement).value);
    default:
      return role === "slider" || role === "spinbutton" || role === "progressbar" || role === "meter" || role === "scrollbar"
        ? rangeText(element)
        : undefined;
  }
}

function shownInputValue(input: HTMLInputElement): string | undefined {
  if (VALUELESS_INPUTS.has(input.type)) return undefined;
  if (isSecretField(input)) return input.value === "" ? "" : HIDDEN_VALUE;
  if (input.type === "file") return Array.from(input.files ?? [], (file) => file.name).join(", ");
  return input.value;
}

function rangeText(element: Element): string | undefined {
  return getAttribute(element, "aria-valuetext") ?? getAttribute(element, "aria-valuenow") ?? undefined;
}

export function labelOfOption(option: HTMLOptionElement): string {
  return (option.label || option.text).replace(/\s+/g, " ").trim();
}

export function selectedLabels(select: HTMLSelectElement): string[] {
  return Array.from(select.selectedOptions, labelOfOption);
}
