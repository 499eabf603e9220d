/** Returns the page as data: headings, links, buttons and fields with their refs, and what changed since the reader last asked. */
import { type Args, optionalNumber, optionalText } from "./args";
import { type AccessibleNode, type ContentItem, contentText, isText } from "./content_items";
import { cut, getAttribute, localName, page, rootElement, scrollSize } from "./dom";
import { optionsOf } from "./element_info";
import { tidy } from "./names";
import { refOf } from "./refs";
import { LANDMARK_ROLES } from "./roles";
import { checkedState, headingLevel } from "./states";
import { buildTree } from "./tree";

const KINDS = ["headings", "links", "buttons", "inputs", "images", "landmarks", "alerts"] as const;
type Kind = (typeof KINDS)[number];
type Entry = { ref: string } & Record<string, unknown>;
type Lists = Record<Kind, Entry[]>;

const LIMITS: Record<Kind, number> = { headings: 50, links: 100, buttons: 60, inputs: 60, images: 40, landmarks: 30, alerts: 20 };
const READERS_KEPT = 16;
const NAME_LIMIT = 120;

const INPUT_ROLES = new Set("checkbox combobox listbox radio searchbox slider spinbutton switch textbox".split(" "));
const BUTTON_ROLES = new Set("button menuitem menuitemcheckbox menuitemradio tab".split(" "));
const ALERT_ROLES = new Set("alert alertdialog dialog log status".split(" "));

export function pageState(args: Args): Record<string, unknown> {
  const all = collect(buildTree().children);
  const limits = (args.limits ?? {}) as Args;
  const shown = Object.fromEntries(KINDS.map((kind) => [kind, all[kind].slice(0, optionalNumber(limits, kind, 0) ?? LIMITS[kind])]));
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, { shown: (shown[kind] as Entry[]).length, total: all[kind].length }]));
  const reader = optionalText(args, "reader");
  return {
    url: location.href,
    title: page.title(document),
    readyState: page.readyState(document),
    viewport: { width: innerWidth, height: innerHeight },
    scroll: scrollState(),
    ...shown,
    counts,
    ...(reader === undefined ? {} : { diff: changesFor(reader, all) }),
  };
}

function scrollState(): Record<string, number> {
  const scroller = page.scroller(document) ?? rootElement();
  return { x: Math.round(scrollX), y: Math.round(scrollY), width: scrollSize.width(scroller), height: scrollSize.height(scroller) };
}

function collect(items: readonly ContentItem[], lists: Lists = { headings: [], links: [], buttons: [], inputs: [], images: [], landmarks: [], alerts: [] }): Lists {
  for (const item of items) {
    if (isText(item)) continue;
    const kind = kindOf(item);
    if (kind) lists[kind].push(entryOf(item, kind));
    collect(item.children, lists);
  }
  return lists;
}

function kindOf({ role }: AccessibleNode): Kind | null {
  if (role === "heading") return "headings";
  if (role === "link") return "links";
  if (role === "img") return "images";
  if (BUTTON_ROLES.has(role)) return "buttons";
  if (INPUT_ROLES.has(role)) return "inputs";
  if (LANDMARK_ROLES.has(role)) return "landmarks";
  return ALERT_ROLES.has(role) ? "alerts" : null;
}

function entryOf(node: AccessibleNode, kind: Kind): Entry {
  const { element, role } = node;
  const entry: Entry = { ref: refOf(element), name: cut(node.name, NAME_LIMIT) };
  if (node.isDisabled) entry.disabled = true;
  switch (kind) {
    case "headings":
      entry.level = headingLevel(element, role);
      break;
    case "links":
      entry.url = (element as HTMLAnchorElement).href ?? getAttribute(element, "href") ?? "";
      break;
    case "inputs":
      Object.assign(entry, inputState(node));
      break;
    case "images":
      entry.src = cut(getAttribute(element, "src") ?? "", 200);
      break;
    case "alerts":
      Object.assign(entry, { role, text: cut(tidy(contentText(node.children)), 500) });
      break;
    default:
      entry.role = role;
  }
  return entry;
}

/** Values are shown as in the snapshot, passwords as dots. */
function inputState({ element, role, value }: AccessibleNode): Record<string, unknown> {
  const tag = localName(element);
  const state: Record<string, unknown> = { role, type: tag === "input" ? (element as HTMLInputElement).type : tag };
  if (value !== undefined) state.value = cut(value, 500);
  if (/^(checkbox|radio|switch)$/.test(role)) state.checked = checkedState(element, role);
  if (tag === "select") state.options = optionsOf(element as HTMLSelectElement).slice(0, 50).map(({ label, selected }) => (selected ? { label, selected } : { label }));
  if ((element as HTMLInputElement).required === true) state.required = true;
  return state;
}

const memories = new Map<string, Map<string, string>>();

/** Compare entries by ref: added, changed, removed. Null if the reader has not read this document before. */
function changesFor(reader: string, lists: Lists): Record<string, unknown> | null {
  const entries = KINDS.flatMap((kind) => lists[kind].map((entry) => ({ kind, ...entry })));
  const now = new Map(entries.map((entry) => [entry.ref, JSON.stringify(entry)]));
  const before = memories.get(reader);
  memories.delete(reader);
  memories.set(reader, now);
  if (memories.size > READERS_KEPT) memories.delete(memories.keys().next().value!);
  if (!before) return null;
  return {
    added: entries.filter(({ ref }) => !before.has(ref)).slice(0, 50),
    changed: entries.filter(({ ref }) => before.has(ref) && before.get(ref) !== now.get(ref)).slice(0, 50),
    removed: Array.from(before.keys()).filter((ref) => !now.has(ref)).slice(0, 50),
  };
}
