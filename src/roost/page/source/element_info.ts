/** One element, described. Values of password fields and secret-looking attributes are left out. */
import { type Args, text } from "./args";
import { attributesOf, boxOf, cut, localName } from "./dom";
import { type Box, boxAsData } from "./geometry";
import { refOf } from "./refs";
import { isSecretAttribute, isSecretField } from "./secrets";
import { checkedState, isDisabled, isEditable, isReadOnly, labelOfOption, shownValue } from "./states";
import { findTarget } from "./targets";
import { buildTree } from "./tree";
import { isRendered } from "./visibility";

const ATTRIBUTE_LIMIT = 300;
const OPTIONS_LIMIT = 200;

export interface ElementInfo {
  ref: string;
  matches: number;
  tag: string;
  type: string;
  role: string;
  name: string;
  box: Box;
  visible: boolean;
  enabled: boolean;
  editable: boolean;
  checked: boolean | "mixed";
  value?: string;
  attributes: Record<string, string>;
  options?: { value: string; label: string; selected: boolean; disabled: boolean }[];
  isFile: boolean;
  multiple: boolean;
  href?: string;
}

export function resolve(args: Args): ElementInfo {
  const { element, matches } = findTarget(text(args, "target"));
  const { role, name } = buildTree(element);
  const tag = localName(element);
  const info: ElementInfo = {
    ref: refOf(element),
    matches,
    tag,
    type: tag === "input" || tag === "button" ? (element as HTMLInputElement).type : "",
    role,
    name: cut(name, 500),
    box: boxAsData(boxOf(element)),
    visible: isRendered(element),
    enabled: !isDisabled(element),
    editable: isEditable(element) && !isReadOnly(element) && !isDisabled(element),
    checked: checkedState(element, role),
    attributes: openAttributes(element),
    isFile: tag === "input" && (element as HTMLInputElement).type === "file",
    multiple: (element as HTMLInputElement).multiple === true,
  };
  const value = valueOf(element, role);
  if (value !== undefined) info.value = cut(value, 10_000);
  if (tag === "select") info.options = optionsOf(element as HTMLSelectElement);
  if (tag === "a" || tag === "area") info.href = (element as HTMLAnchorElement).href;
  return info;
}

function valueOf(element: Element, role: string): string | undefined {
  if (isSecretField(element)) return undefined;
  return localName(element) === "select" ? (element as HTMLSelectElement).value : shownValue(element, role);
}

function openAttributes(element: Element): Record<string, string> {
  const open: Record<string, string> = {};
  for (const { name, value } of attributesOf(element)) {
    if (!isSecretAttribute(element, name)) open[name] = cut(value, ATTRIBUTE_LIMIT);
  }
  return open;
}

export function optionsOf(select: HTMLSelectElement): { value: string; label: string; selected: boolean; disabled: boolean }[] {
  return Array.from(select.options)
    .slice(0, OPTIONS_LIMIT)
    .map((option) => ({ value: option.value, label: labelOfOption(option), selected: option.selected, disabled: option.disabled }));
}
