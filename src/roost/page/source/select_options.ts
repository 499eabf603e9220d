/** The options of a `<select>` as content: bounded, because country lists are not what a page is about. */
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

/** In a drop-down the browser draws the options; only a list box shows them in the page, to be clicked. */
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
    isPointer: false,
    isDisabled: option.disabled,
    isInline: false,
    value: undefined,
    children: [],
  };
}
