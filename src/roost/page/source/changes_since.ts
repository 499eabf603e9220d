/**
 * What changed on the page since a reader last looked. Lines are recognised by their ref, else by where
 * they stand and what they say; order alone is no change. Marked like Playwright marks incremental
 * snapshots: `- <changed> button …`, and likewise `<added>` and `<removed>`.
 */
import { type Line, printLine, sizeOf } from "./lines";

interface Remembered {
  text: string;
  parent: string;
}

type Memory = Map<string, Remembered>;
type Mark = "added" | "changed";

export interface Changes {
  text: string;
  added: number;
  changed: number;
  removed: number;
  isCut: boolean;
}

const READERS_KEPT = 16;
const REMOVED_SHOWN = 12;
const CONTEXT_SHOWN = 2;

const memories = new Map<string, Memory>();

/** The reader that was told something last, and its memory before that. */
let last: { reader: string; before: Memory | undefined } | null = null;

/** Forget what the reader was told last: its answer was not used, and the next one replaces it. */
export function stepBack(reader: string): void {
  if (last?.reader !== reader) return;
  memories.delete(reader);
  if (last.before) memories.set(reader, last.before);
  last = null;
}

export function remember(reader: string, lines: readonly Line[]): void {
  last = { reader, before: memories.get(reader) };
  memories.delete(reader);
  memories.set(reader, memoryOf(lines));
  if (memories.size > READERS_KEPT) memories.delete(memories.keys().next().value!);
}

/** Return null if the reader has not seen this document yet. Remember what the reader is told otherwise. */
export function changesSince(reader: string, lines: readonly Line[], maxChars: number): Changes | null {
  const before = memories.get(reader);
  if (!before) return null;
  remember(reader, lines);
  const now = memories.get(reader)!;
  const keys = Array.from(now.keys());
  const marks = keys.map((key) => markOf(before.get(key), now.get(key)!));
  const removed = removedTops(before, now);
  pairRewrittenText(keys, marks, now, before, removed);
  return printChanges(lines, marks, removed, maxChars);
}

function memoryOf(lines: readonly Line[]): Memory {
  const memory: Memory = new Map();
  const counts = new Map<string, number>();
  const keys: string[] = [];
  lines.forEach((line, index) => {
    const parent = line.parent === -1 ? "" : keys[line.parent]!;
    const key = unusedKey(memory, counts, line.ref ?? `${parent}/${line.text}${line.isParent ? firstRefBelow(lines, index) : ""}`);
    keys.push(key);
    memory.set(key, { text: [line.text, ...line.properties].join("\n"), parent });
  });
  return memory;
}

/** Tells one "listitem" from the next when items are added before it. */
function firstRefBelow(lines: readonly Line[], index: number): string {
  const { depth } = lines[index]!;
  for (let at = index + 1; at < lines.length && lines[at]!.depth > depth && at < index + 6; at += 1) {
    const { ref } = lines[at]!;
    if (ref) return `<${ref}`;
  }
  return "";
}

/** `counts` has how often each key was asked for: pages have thousands of lines that are alike. */
function unusedKey(memory: Memory, counts: Map<string, number>, key: string): string {
  if (!memory.has(key)) return key;
  let count = (counts.get(key) ?? 1) + 1;
  while (memory.has(`${key}#${count}`)) count += 1;
  counts.set(key, count);
  return `${key}#${count}`;
}

/** Losing the focus is not news; gaining it is. */
function markOf(before: Remembered | undefined, now: Remembered): Mark | null {
  if (!before) return "added";
  return before.text !== now.text && before.text.replace(" [active]", "") !== now.text ? "changed" : null;
}

function removedTops(before: Memory, now: Memory): Map<string, Remembered> {
  const removed = new Map<string, Remembered>();
  for (const [key, line] of before) if (!now.has(key) && (line.parent === "" || now.has(line.parent))) removed.set(key, line);
  return removed;
}

/** "Count: 1" gone and "Count: 2" new under the same parent is one change, not two. */
function pairRewrittenText(keys: string[], marks: (Mark | null)[], now: Memory, before: Memory, removed: Map<string, Remembered>): void {
  const goneBelow = new Map<string, string[]>();
  for (const [key, line] of removed) {
    const kind = kindIn(line);
    const gone = goneBelow.get(kind);
    if (gone) gone.push(key);
    else goneBelow.set(kind, [key]);
  }
  for (const gone of goneBelow.values()) gone.reverse(); // so that the first is taken from the end
  keys.forEach((key, index) => {
    const line = now.get(key)!;
    const partner = marks[index] === "added" && (line.parent === "" || before.has(line.parent)) ? goneBelow.get(kindIn(line))?.pop() : undefined;
    if (partner === undefined) return;
    marks[index] = "changed";
    removed.delete(partner);
  });
}

function kindIn(line: Remembered): string {
  const hasRef = line.text.includes("[ref=");
  return hasRef ? line.text : `${line.parent}/${/^'?\w*/.exec(line.text)![0]}`;
}

function printChanges(lines: readonly Line[], marks: (Mark | null)[], removed: Map<string, Remembered>, maxChars: number): Changes {
  const out: string[] = [];
  const printedDepth = new Map<number, number>();
  let used = 0;
  let isCut = false;
  const printAt = (index: number, text: string, depth: number): void => {
    printedDepth.set(index, depth);
    out.push(text);
    used += text.length + 1;
  };
  const parentsOfMarked = new Set(lines.flatMap((line, index) => (marks[index] === null ? [] : [line.parent])));
  marks.forEach((mark, index) => {
    if (mark === null) return;
    const line = lines[index]!;
    if (used + sizeOf(line) > maxChars) isCut = true;
    if (isCut) return;
    for (const at of contextOf(lines, index, printedDepth)) {
      const depth = depthBelow(lines, at, printedDepth);
      printAt(at, `${printLine({ ...lines[at]!, depth, properties: [], isParent: true })}`, depth);
    }
    const depth = depthBelow(lines, index, printedDepth);
    const isInsideAdded = marks[line.parent] === "added";
    // Unchanged children are not printed, so only an added line is sure to have something below it.
    const isParent = line.isParent && (mark === "added" || parentsOfMarked.has(index));
    printAt(index, printLine({ ...line, depth, isParent }, isInsideAdded ? "" : `<${mark}> `), depth);
  });
  out.push(...printRemoved(removed));
  const added = marks.filter((mark) => mark === "added").length;
  const changed = marks.filter((mark) => mark === "changed").length;
  if (isCut) out.push(`# more has changed (${added} lines added, ${changed} changed): take a browser_snapshot to see all`);
  return { text: out.join("\n") || "# nothing has changed", added, changed, removed: removed.size, isCut };
}

/** The nearest lines above that a reader knows by a ref and that are not printed yet, outermost first. */
function contextOf(lines: readonly Line[], index: number, printed: Map<number, number>): number[] {
  const context: number[] = [];
  for (let at = lines[index]!.parent; at !== -1 && context.length < CONTEXT_SHOWN; at = lines[at]!.parent) {
    if (printed.has(at)) break;
    if (lines[at]!.ref) context.unshift(at);
  }
  return context;
}

function depthBelow(lines: readonly Line[], index: number, printed: Map<number, number>): number {
  for (let at = lines[index]!.parent; at !== -1; at = lines[at]!.parent) {
    const depth = printed.get(at);
    if (depth !== undefined) return depth + 1;
  }
  return 0;
}

function printRemoved(removed: Map<string, Remembered>): string[] {
  const texts = Array.from(removed.values(), (line) => `- <removed> ${line.text.split("\n")[0]}`);
  if (texts.length <= REMOVED_SHOWN) return texts;
  return [...texts.slice(0, REMOVED_SHOWN), `# and ${texts.length - REMOVED_SHOWN} more removed`];
}
