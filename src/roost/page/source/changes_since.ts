/** What changed on the page since a reader last looked at it. One memory for each reader. */
import { contains, isConnected, isElement, localName, parentNode, queryAll } from "./dom";
import { editScript } from "./edit_script";
import { identityOf } from "./identities";
import type { Line } from "./lines";
import { type Changes, printChanges } from "./print_changes";
import { rootLine, type SeenLine, withPart, withSizes } from "./seen_lines";

const READERS_KEPT = 16;

/** How many of the elements around a line are remembered. */
const HOMES_KEPT = 4;
const NATIVE_CONTROLS = new Set(["a", "area", "button", "input", "label", "option", "select", "summary", "textarea"]);
const MOVABLE_ROLES = new Set(["article", "generic", "gridcell", "listitem", "option", "treeitem"]);

const memories = new Map<string, readonly SeenLine[]>();
const NO_HOMES: readonly WeakRef<Element>[] = [];
const references = new WeakMap<Element, WeakRef<Element>>();

export function isKnown(reader: string): boolean {
  return memories.has(reader);
}

export function remember(reader: string, lines: readonly Line[]): void {
  keep(reader, seenLines(lines));
}

/** The reader that was told something last, and its memory before that. */
let last: { reader: string; before: readonly SeenLine[] | undefined } | null = null;

/** Forget what the reader was told last: its answer was not used, and the next one replaces it. */
export function stepBack(reader: string): void {
  if (last?.reader !== reader) return;
  memories.delete(reader);
  if (last.before) memories.set(reader, last.before);
  last = null;
}

function keep(reader: string, seen: readonly SeenLine[]): void {
  last = { reader, before: memories.get(reader) };
  memories.delete(reader);
  memories.set(reader, seen);
  if (memories.size > READERS_KEPT) memories.delete(memories.keys().next().value!);
}

/**
 * Remember what the reader saw of one part of a page it knows, so that the next diff leaves this out.
 *
 * Returns false if none of the lines that the reader knows belongs to the part.
 */
export function rememberPart(reader: string, part: Element, lines: readonly Line[]): boolean {
  const known = memories.get(reader);
  if (!known) return false;
  const inside = new Set([part, ...queryAll(part, "*")].map(identityOf));
  const joined = withPart(known, seenLines(lines), inside);
  if (joined) keep(reader, joined);
  return joined !== null;
}

/** Return what changed, and remember the new lines. Null if the reader has not seen this document yet. */
export function changesSince(reader: string, lines: readonly Line[], maxChars: number): Changes | null {
  const before = memories.get(reader);
  if (!before) return null;
  const now = seenLines(lines);
  keep(reader, now);
  const script = editScript(before, now);
  const rehomed = new Map<number, Element>();
  lines.forEach((line, index) => {
    const old = script.matching.oldOf[index + 1]!;
    if (old === -1 || before[old]!.homes === NO_HOMES || before[old]!.id !== now[index + 1]!.id) return;
    if (before[old]!.homes.some((home) => wasLeft(home.deref(), line.element))) rehomed.set(index + 1, line.element);
  });
  return printChanges({ lines, before, now, script, rehomed, maxChars });
}

/** Whether an element that contained another one is still on the page but no longer contains it. */
function wasLeft(home: Element | undefined, element: Element): boolean {
  return home !== undefined && isConnected(home) && !contains(home, element);
}

function seenLines(lines: readonly Line[]): SeenLine[] {
  const seen: SeenLine[] = [rootLine()];
  for (const line of lines) {
    const role = line.node?.role ?? "text";
    seen.push({
      parent: line.parent + 1,
      size: 1,
      role,
      own: ownWords(line, role),
      label: line.label,
      ref: line.ref,
      isActive: line.isActive,
      id: line.node ? identityOf(line.element) : -identityOf(line.element),
      homes: homesOf(line, role, lines[line.parent]?.element ?? null),
    });
  }
  return withSizes(seen);
}

/**
 * A block that has a ref only because it can take the focus counts as its text alone. In many lists `tabindex` moves
 * from item to item, and that is no change for a reader.
 */
function ownWords({ own, properties }: Line, role: string): string {
  if (properties.length > 0) return `${own}\n${properties.join("\n")}`;
  return role === "generic" && own.startsWith("generic: ") ? own.replace("generic: ", "text: ") : own;
}

function homesOf(line: Line, role: string, holder: Element | null): readonly WeakRef<Element>[] {
  if (!MOVABLE_ROLES.has(role) || NATIVE_CONTROLS.has(localName(line.element))) return NO_HOMES;
  const homes: WeakRef<Element>[] = [];
  for (let at: Node | null = parentNode(line.element); isElement(at) && at !== holder && homes.length < HOMES_KEPT; at = parentNode(at)) {
    homes.push(referenceTo(at));
  }
  return homes.length === 0 ? NO_HOMES : homes;
}

function referenceTo(element: Element): WeakRef<Element> {
  let reference = references.get(element);
  if (!reference) references.set(element, (reference = new WeakRef(element)));
  return reference;
}
