/**
 * The lines for `interactive: true`: what can be operated, and the headings, landmarks and named parts around it that
 * tell one "Delete" from another.
 */
import { type AccessibleNode, type ContentItem, isText } from "./content_items";
import { localName } from "./dom";
import { LANDMARK_ROLES } from "./roles";
import { isSelected } from "./states";

const CONTEXT_ROLES = new Set([...LANDMARK_ROLES, "alertdialog", "dialog", "iframe"]);

export function interactiveOnly(items: readonly ContentItem[]): ContentItem[] {
  return withoutIdleHeadings(items.flatMap(operablePart));
}

function operablePart(item: ContentItem): ContentItem[] {
  if (isText(item)) return [];
  if (item.isInteractive && item.name === "" && item.children.every(isText)) return [item];
  const inside = localName(item.element) === "select" ? item.children.filter(isSelectedOption) : interactiveOnly(item.children);
  if (item.isInteractive || item.role === "heading" || item.role === "iframe") return [{ ...item, children: inside }];
  const isContext = CONTEXT_ROLES.has(item.role) || (item.name !== "" && !item.isNamedByContent);
  return isContext && inside.some((child) => !isHeading(child)) ? [{ ...item, children: inside }] : inside;
}

/** A heading stays only when something operable follows it before the next heading. */
function withoutIdleHeadings(items: ContentItem[]): ContentItem[] {
  return items.filter((item, index) => {
    if (!isHeading(item) || item.children.length > 0) return true;
    const next = items[index + 1];
    return next !== undefined && !isHeading(next);
  });
}

function isSelectedOption(item: ContentItem): boolean {
  return !isText(item) && isSelected(item.element, item.role);
}

function isHeading(item: ContentItem): item is AccessibleNode {
  return !isText(item) && item.role === "heading";
}
