/**
 * The difference of two snapshots as data: what to do to the old lines so that they become the new ones.
 *
 * 1. Take out the `removed` lines. Lines inside them that are not removed move up into their place.
 * 2. Take out the `placed` lines that existed before, each with what is left inside it.
 * 3. For each of `placed`, in order: put it into its `parent`, behind the sibling `after`. A line that is new there
 *    takes in the lines `around` which it was put.
 * 4. Give the `changed` lines their new words, focus and ref.
 *
 * tests/page checks for random trees that these steps give the new snapshot.
 */
import { type Matching, matchLines } from "./line_matching";
import type { SeenLine } from "./seen_lines";

export interface PlacedLine {
  /** The line in the new snapshot. */
  now: number;
  /** The line in the old snapshot; null if it is new. */
  before: number | null;
  /** Lines of the new snapshot; `after` is null for the first child. */
  parent: number;
  after: number | null;
  around: number[];
  /** The line stays in its container; only its place among its siblings changed. */
  isReordered: boolean;
}

export interface ChangedLine {
  before: number;
  now: number;
}

export interface EditScript {
  removed: number[];
  placed: PlacedLine[];
  changed: ChangedLine[];
  matching: Matching;
}

export function editScript(before: readonly SeenLine[], now: readonly SeenLine[]): EditScript {
  const matching = matchLines(before, now);
  const removed: number[] = [];
  matching.newOf.forEach((index, old) => {
    if (index === -1) removed.push(old);
  });
  const changed: ChangedLine[] = [];
  matching.oldOf.forEach((old, index) => {
    if (old !== -1 && !isSame(before[old]!, now[index]!)) changed.push({ before: old, now: index });
  });
  return { removed, placed: placedLines(before, now, matching), changed, matching };
}

function isSame(before: SeenLine, now: SeenLine): boolean {
  return before.own === now.own && before.ref === now.ref && before.isActive === now.isActive && before.role === now.role;
}

function placedLines(before: readonly SeenLine[], now: readonly SeenLine[], matching: Matching): PlacedLine[] {
  const { oldOf } = matching;
  const moved = movedLines(before, now, matching);
  const lastChild = new Map<number, number>();
  const placed: PlacedLine[] = [];
  const added = new Map<number, PlacedLine>();
  for (let index = 1; index < now.length; index += 1) {
    const { parent } = now[index]!;
    const old = oldOf[index]!;
    if (old === -1 || moved.has(index)) {
      const entry: PlacedLine = { now: index, before: old === -1 ? null : old, parent, after: lastChild.get(parent) ?? null, around: [], isReordered: moved.get(index) === "order" };
      placed.push(entry);
      if (old === -1) added.set(index, entry);
    } else {
      added.get(parent)?.around.push(index);
    }
    lastChild.set(parent, index);
  }
  return placed;
}

/** Paired lines that stand in another container, or in another place among their siblings. */
function movedLines(before: readonly SeenLine[], now: readonly SeenLine[], matching: Matching): Map<number, "order" | "container"> {
  const { oldOf, newOf } = matching;
  const oldHolders = pairedHolders(before, newOf);
  const newHolders = pairedHolders(now, oldOf);
  const moved = new Map<number, "order" | "container">();
  const stayed = new Map<number, number[]>();
  for (let index = 1; index < now.length; index += 1) {
    const old = oldOf[index]!;
    if (old === -1) continue;
    const holder = newHolders[index]!;
    if (newOf[oldHolders[old]!] !== holder) moved.set(index, "container");
    else {
      const siblings = stayed.get(holder);
      if (siblings) siblings.push(index);
      else stayed.set(holder, [index]);
    }
  }
  for (const siblings of stayed.values()) {
    const places = siblings.map((index) => oldOf[index]!);
    if (places.every((place, at) => at === 0 || places[at - 1]! < place)) continue;
    const inPlace = heaviestRisingPart(places, siblings.map((index) => weightOf(now[index]!)));
    siblings.forEach((index, at) => {
      if (!inPlace[at]) moved.set(index, "order");
    });
  }
  return moved;
}

/** For each line the nearest line above it that is paired: lines between them come or go without moving anything. */
function pairedHolders(lines: readonly SeenLine[], pairs: Int32Array): Int32Array {
  const holders = new Int32Array(lines.length);
  for (let index = 1; index < lines.length; index += 1) {
    const { parent } = lines[index]!;
    holders[index] = pairs[parent] === -1 ? holders[parent]! : parent;
  }
  return holders;
}

/** The weight of a line. If two lines changed places, the lighter one counts as moved: a card, not the heading of its column. */
function weightOf(line: SeenLine): number {
  if (line.role === "heading") return 1000;
  return Math.min(line.size, 40) * 2 + (line.role === "generic" || line.role === "listitem" ? 0 : 1);
}

/** Marks the members of the heaviest subsequence of rising values, in n log n steps by a tree of prefix maxima. */
export function heaviestRisingPart(values: readonly number[], weights: readonly number[]): boolean[] {
  const ranks = new Map(values.slice().sort((one, other) => one - other).map((value, rank) => [value, rank + 1]));
  const bestAt = new Int32Array(values.length + 1).fill(-1);
  const totals: number[] = [];
  const previous: number[] = [];
  const heavier = (one: number, other: number): number => (one === -1 || (other !== -1 && totals[other]! > totals[one]!) ? other : one);
  let last = -1;
  values.forEach((value, index) => {
    const rank = ranks.get(value)!;
    let best = -1;
    for (let at = rank - 1; at > 0; at -= at & -at) best = heavier(best, bestAt[at]!);
    previous.push(best);
    totals.push(weights[index]! + (best === -1 ? 0 : totals[best]!));
    for (let at = rank; at <= values.length; at += at & -at) bestAt[at] = heavier(bestAt[at]!, index);
    last = heavier(last, index);
  });
  const marks = new Array<boolean>(values.length).fill(false);
  for (let at = last; at !== -1; at = previous[at]!) marks[at] = true;
  return marks;
}
