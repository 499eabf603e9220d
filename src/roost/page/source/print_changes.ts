/**
 * An edit script as an agent reads it, within a number of characters.
 *
 * Lines are marked like Playwright marks incremental snapshots (`- <changed> button …`), and likewise `<added>`,
 * `<moved>`, `<reordered>`, `<unwrapped>` and `<removed>`. The lines above a changed line that have a ref are printed
 * without a mark, so that the reader knows where the change is.
 */
import { cut } from "./dom";
import type { EditScript, PlacedLine } from "./edit_script";
import { type Line, printLine, sizeOf } from "./lines";
import { childrenOf, type SeenLine } from "./seen_lines";
import { openingTag } from "./targets";
import { doubleQuoted } from "./yaml";

export interface Changes {
  text: string;
  counts: ChangeCounts;
  isCut: boolean;
}

export interface ChangeCounts {
  added: number;
  changed: number;
  moved: number;
  removed: number;
  /** Lines that say the same as before and have another ref now. */
  refs: number;
}

export interface Comparison {
  lines: readonly Line[];
  before: readonly SeenLine[];
  now: readonly SeenLine[];
  script: EditScript;
  /** New lines, each with its element, that left an element which is still on the page. */
  rehomed: ReadonlyMap<number, Element>;
  maxChars: number;
}

const CONTEXT_SHOWN = 2;
const REMOVED_SHOWN = 12;
const KEPT_INSIDE_SHOWN = 6;
const ORDER_SHOWN = 40;
const RANGES_SHOWN = 20;
const LABEL_CHARS = 40;
const CONTENT_CHARS = 120;

/** At most this share of the characters is used for removed lines. */
const END_SHARE = 0.4;

/** More moves than this in one container are told as its new order. */
const SINGLE_MOVES = 4;

export function printChanges(comparison: Comparison): Changes {
  return new Printer(comparison).print();
}

class Printer {
  private readonly out: string[] = [];
  private readonly printedDepth = new Map<number, number>();
  private readonly placed: Map<number, PlacedLine>;
  private readonly orders: Map<number, number[]>;
  private readonly counts: ChangeCounts = { added: 0, changed: 0, moved: 0, removed: 0, refs: 0 };
  private room: number;
  private isCut = false;

  constructor(private readonly the: Comparison) {
    this.placed = new Map(the.script.placed.map((entry) => [entry.now, entry]));
    this.orders = newOrders(the.now, the.script.placed);
    this.room = the.maxChars;
  }

  print(): Changes {
    const removed = this.removedLines();
    const end = bounded(removed, this.the.maxChars * END_SHARE);
    this.room -= end.reduce((sum, line) => sum + line.length + 1, 0);
    const refs: [string, string][] = [];
    for (let index = 0; index < this.the.now.length; index += 1) {
      const isTold = this.printLineAt(index);
      const pair = isTold ? null : this.changedRef(index);
      if (pair) refs.push(pair);
    }
    this.counts.refs = refs.length;
    if (refs.length > 0) end.push(refsLine(refs));
    if (this.isCut) {
      const { added, changed, moved } = this.counts;
      end.push(`# more has changed (${added} lines added, ${changed} changed, ${moved} moved): take a browser_snapshot to see all`);
    }
    return { text: [...this.out, ...end].join("\n") || "# nothing has changed", counts: this.counts, isCut: this.isCut };
  }

  /** Returns whether the line was printed with its ref. */
  private printLineAt(index: number): boolean {
    const { now, script, rehomed } = this.the;
    const order = this.orders.get(index);
    if (order) this.printOrder(index, order);
    if (index === 0) return false;
    const entry = this.placed.get(index);
    if (entry?.before === null) return this.printAdded(index, entry);
    const isToldByOrder = entry?.isReordered === true && this.orders.has(now[index]!.parent);
    const isMoved = (entry !== undefined && !isToldByOrder) || rehomed.has(index);
    if (isMoved || isToldByOrder) this.counts.moved += 1;
    const isChanged = this.isChanged(script.matching.oldOf[index]!, index);
    if (isChanged) this.counts.changed += 1;
    if (isMoved) return this.mark(index, isChanged ? "moved, changed" : "moved", `${this.wordsInside(index)} # ${this.placeOf(index)}`);
    return isChanged && this.mark(index, "changed");
  }

  /** A line that gains the focus has changed. A line that loses the focus has not. */
  private isChanged(old: number, index: number): boolean {
    const before = this.the.before[old]!;
    const line = this.the.now[index]!;
    return before.own !== line.own || (line.isActive && !before.isActive);
  }

  private changedRef(index: number): [string, string] | null {
    const old = this.the.script.matching.oldOf[index]!;
    const before = old === -1 ? null : this.the.before[old]!.ref;
    const now = this.the.now[index]!.ref;
    return before !== null && now !== null && before !== now ? [before, now] : null;
  }

  private printAdded(index: number, entry: PlacedLine): boolean {
    const line = this.the.now[index]!;
    // A block without words of its own around content that was there before.
    if (entry.around.length > 0 && line.role === "generic" && line.label === "") return true;
    this.counts.added += 1;
    const isInsideAdded = this.placed.get(line.parent)?.before === null && this.printedDepth.has(line.parent);
    this.mark(index, isInsideAdded ? "" : "added");
    entry.around.slice(0, KEPT_INSIDE_SHOWN).forEach((kept) => this.mark(kept, "moved"));
    if (entry.around.length > KEPT_INSIDE_SHOWN && !this.isCut) {
      this.write(`${"  ".repeat(this.printedDepth.get(index)! + 1)}# and ${entry.around.length - KEPT_INSIDE_SHOWN} more lines that were there before`);
    }
    return true;
  }

  private printOrder(index: number, order: readonly number[]): void {
    const { now } = this.the;
    const labels = order.slice(0, ORDER_SHOWN).map((child) => cut(wordsIn(now, child), LABEL_CHARS) || now[child]!.role);
    const more = order.length > ORDER_SHOWN ? ` | … (${order.length - ORDER_SHOWN} more)` : "";
    const list = doubleQuoted(`${labels.join(" | ")}${more}`);
    if (index === 0) this.write(`- <reordered> page # order is now: ${list}`);
    else this.mark(index, "reordered", ` # order is now: ${list}`);
  }

  /** Prints a line with a mark, below the lines that say where it is. Returns whether there was room for it. */
  private mark(index: number, mark: string, note = ""): boolean {
    const line = this.the.lines[index - 1]!;
    if (this.isCut || sizeOf(line) + note.length > this.room) {
      this.isCut = true;
      return false;
    }
    for (const at of this.contextOf(index)) this.writeLine(at, { properties: [], isParent: true }, "", "");
    const isWhole = mark === "" || mark === "added" || mark === "changed";
    const isParent = line.isParent && isWhole && this.hasNewsBelow(index);
    const about = isWhole ? {} : { properties: [] };
    this.writeLine(index, { ...about, isParent }, mark === "" ? "" : `<${mark}> `, note);
    return true;
  }

  private writeLine(index: number, about: Partial<Line>, marker: string, note: string): void {
    const depth = this.depthBelow(index);
    this.printedDepth.set(index, depth);
    const [first = "", ...others] = printLine({ ...this.the.lines[index - 1]!, ...about, depth }, marker).split("\n");
    this.write([first + note, ...others].join("\n"));
  }

  private write(text: string): void {
    this.out.push(text);
    this.room -= text.length + 1;
  }

  /** Whether a line below is printed. Otherwise the line must not end with a colon. */
  private hasNewsBelow(index: number): boolean {
    return childrenOf(this.the.now, index).some((child) => {
      const old = this.the.script.matching.oldOf[child]!;
      return old === -1 || this.placed.has(child) || this.isChanged(old, child);
    });
  }

  /** The nearest lines above that a reader knows by a ref and that are not printed yet, outermost first. */
  private contextOf(index: number): number[] {
    const { now } = this.the;
    const context: number[] = [];
    for (let at = now[index]!.parent; at > 0 && context.length < CONTEXT_SHOWN; at = now[at]!.parent) {
      if (this.printedDepth.has(at)) break;
      if (now[at]!.ref) context.unshift(at);
    }
    return context;
  }

  private depthBelow(index: number): number {
    for (let at = this.the.now[index]!.parent; at > 0; at = this.the.now[at]!.parent) {
      const depth = this.printedDepth.get(at);
      if (depth !== undefined) return depth + 1;
    }
    return 0;
  }

  /** What a moved line contains, if the line itself does not say it. */
  private wordsInside(index: number): string {
    const { now } = this.the;
    if (now[index]!.label !== "" || now[index]!.size === 1) return "";
    return `: ${doubleQuoted(wordsIn(now, index, undefined, CONTENT_CHARS))}`;
  }

  private placeOf(index: number): string {
    const { now, rehomed, lines } = this.the;
    const { parent } = now[index]!;
    const siblings = childrenOf(now, parent);
    const place = siblings.indexOf(index);
    const neighbour = (at: number): string => doubleQuoted(cut(wordsIn(now, at) || now[at]!.role, LABEL_CHARS));
    const home = rehomed.has(index) && !this.placed.has(index) ? `now in ${openingTag(homeOf(lines[index - 1]!.element))}, ` : "";
    if (place > 0) return `${home}after ${neighbour(siblings[place - 1]!)}`;
    const holder = parent > 0 ? ` in ${now[parent]!.role}${now[parent]!.label ? ` ${neighbour(parent)}` : ""}` : "";
    return `${home}first${holder}${parent > 1 && !now[parent]!.label ? ` after ${neighbour(parent - 1)}` : ""}`;
  }

  /** The lines for what is gone, each with the words it contained. */
  private removedLines(): string[] {
    const { before, script } = this.the;
    const { newOf } = script.matching;
    const stayedUpTo = new Int32Array(before.length + 1);
    before.forEach((_, index) => {
      const now = newOf[index]!;
      stayedUpTo[index + 1] = stayedUpTo[index]! + (now !== -1 && !this.placed.has(now) ? 1 : 0);
    });
    const told: string[] = [];
    let end = 0;
    for (const index of script.removed) {
      if (index < end) continue;
      const line = before[index]!;
      const hasContentLeft = stayedUpTo[index + line.size]! > stayedUpTo[index]!;
      if (hasContentLeft) {
        if (line.label === "") continue;
        told.push(`- <unwrapped> ${headOf(line)} # gone, but what it contained is still there`);
        this.counts.changed += 1;
      } else {
        end = index + line.size;
        const inside = line.size === 1 ? "" : wordsIn(before, index + 1, end, CONTENT_CHARS, newOf);
        if (line.role === "generic" && line.label === "" && inside === "") continue;
        told.push(`- <removed> ${line.size === 1 && line.ref === null ? cut(line.own.split("\n")[0]!, CONTENT_CHARS) : headOf(line)}${inside && `: ${doubleQuoted(inside)}`}`);
        this.counts.removed += 1;
      }
    }
    return told;
  }
}

/** The lines of containers in which so much changed its place that the whole order is told, from the first to the last. */
function newOrders(now: readonly SeenLine[], placed: readonly PlacedLine[]): Map<number, number[]> {
  const movesIn = new Map<number, Set<number>>();
  for (const { now: index, parent, isReordered } of placed) {
    if (!isReordered) continue;
    const moves = movesIn.get(parent);
    if (moves) moves.add(index);
    else movesIn.set(parent, new Set([index]));
  }
  const orders = new Map<number, number[]>();
  for (const [parent, moves] of movesIn) {
    const children = childrenOf(now, parent);
    if (moves.size <= SINGLE_MOVES && (moves.size === 1 || moves.size * 2 < children.length)) continue;
    const places = children.flatMap((child, place) => (moves.has(child) ? [place] : []));
    orders.set(parent, children.slice(Math.max(0, places[0]! - 1), places[places.length - 1]! + 2));
  }
  return orders;
}

function headOf(line: SeenLine): string {
  const name = line.label === "" ? "" : ` ${doubleQuoted(cut(line.label, CONTENT_CHARS))}`;
  return `${line.role}${name}${line.ref === null ? "" : ` [ref=${line.ref}]`}`;
}

/** The words of a line and of the lines inside it, those that are still on the page left out. */
function wordsIn(lines: readonly SeenLine[], start: number, end = start + lines[start]!.size, limit = LABEL_CHARS, newOf?: Int32Array): string {
  let words = "";
  for (let index = start; index < end && words.length < limit; index += 1) {
    const { label } = lines[index]!;
    if (label !== "" && (newOf === undefined || newOf[index] === -1)) words += words === "" ? label : `, ${label}`;
  }
  return cut(words, limit);
}

function bounded(lines: readonly string[], room: number): string[] {
  const shown: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += line.length + 1;
    if (shown.length === REMOVED_SHOWN || used > room) break;
    shown.push(line);
  }
  return shown.length === lines.length ? shown : [...shown, `# and ${lines.length - shown.length} more removed`];
}

/** The element that a line was moved into. */
function homeOf(element: Element): Element {
  return element.parentElement ?? element;
}

/** `# same content, new refs: e12-e19 → e40-e47, e3 → e50`. Neighbours that were counted on together are one range. */
function refsLine(pairs: readonly [string, string][]): string {
  const ranges: { from: string; to: string; oldLast: string; newLast: string }[] = [];
  for (const [old, now] of pairs) {
    const range = ranges[ranges.length - 1];
    if (range && isNext(range.oldLast, old) && isNext(range.newLast, now)) Object.assign(range, { oldLast: old, newLast: now });
    else ranges.push({ from: old, to: now, oldLast: old, newLast: now });
  }
  const span = (first: string, last: string): string => (first === last ? first : `${first}-${last}`);
  const shown = ranges.slice(0, RANGES_SHOWN).map((range) => `${span(range.from, range.oldLast)} → ${span(range.to, range.newLast)}`);
  const more = ranges.length > RANGES_SHOWN ? ", … (take a browser_snapshot for the others)" : "";
  return `# same content, new refs: ${shown.join(", ")}${more}`;
}

function isNext(one: string, other: string): boolean {
  return one.replace(/\d+$/, "") === other.replace(/\d+$/, "") && numberIn(other) === numberIn(one) + 1;
}

function numberIn(ref: string): number {
  return Number(/\d+$/.exec(ref)![0]);
}
