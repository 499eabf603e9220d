/** The options of a `<select>` as content. Their number is bounded, so that a list of countries does not fill a snapshot. */
import type { AccessibleNode, ContentItem } from "./content_items";
import { labelOfOption } from "./states";

const SHOWN_OPTIONS = 30;

export function optionItems(select: HTMLSelectElement): ContentItem[] {
  const options = Array.from(select.options).filter((option) => !option.hidden);
  const shown = options.filter((option, index) => index < SHOWN_OPTIONS || option.selected);
  const items: ContentItem[] = shown.map((option) => optionNode(option, isListBox(select)));
  if (shown.length < options.length) items.push({ text: `(${options.length - shown.length} more options)`, element: select });
  return items;
}

/** Only a list box shows its options in the page, where they can be clicked. The options of a drop-down are drawn by the browser. */
function isListBox(select: HTMLSelectElement): boolean {
  return select.multiple || select.size > 1;
}

function optionNode(option: HTMLOptionElement, isInteractive: boolean): AccessibleNode {
  return {
    element: option,
    role: "option",
    name: labelOfOption(option),
    isNamedByContent: true,
    isInteractive,
    cursor: "",
    isDisabled: option.disabled,
    isInline: false,
    value: undefined,
    children: [],
  };
}
