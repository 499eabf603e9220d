/**
 * Chooses the lines for a reply of bounded size: first the lines near the viewport, then the lines that follow, then
 * the rest. Each chosen line comes with the lines it is indented under. The last line of the reply says how many lines
 * are missing and how to get them.
 *
 * `after` is a ref, or a ref and a number of lines (`e120+35`), so that an agent can page through text without refs.
 */
import { badRequest } from "./errors";
import { type Line, printLine, sizeOf } from "./lines";
import { linesNearViewport } from "./near_viewport";
import { elementOfRef, looksLikeRef, refOf } from "./refs";

/** Characters kept free for the last line, which says what is missing. */
const NOTE_ROOM = 240;
const GAP_ROOM = 44;

export interface Selection {
  text: string;
  /** For each printed line, its row in the text. The snapshot of a frame is inserted below the row of its frame. */
  placeOf: Map<Line, number>;
  left: { lines: number; chars: number; after: string } | null;
}

export function printBounded(lines: readonly Line[], maxChars: number, after: string | undefined, note = ""): Selection {
  const start = after === undefined ? 0 : startAfter(lines, after);
  const sizes = lines.map(sizeOf);
  const total = sizes.reduce((sum, size, index) => (index < start ? sum : sum + size), 0);
  const room = maxChars - note.length;
  if (start === 0 && total <= room) return print(lines, lines.map(() => true), sizes, 0, note);
  const order = after === undefined ? viewportFirst(lines) : Array.from(lines.keys()).slice(start);
  return print(lines, choose(lines, sizes, order, room - NOTE_ROOM, start), sizes, start, note);
}

function startAfter(lines: readonly Line[], after: string): number {
  const [, ref = "", skip] = /^(.*?)(?:\+(\d+))?$/.exec(after)!;
  if (ref === "" && skip) return Math.min(Number(skip), lines.length);
  if (!looksLikeRef(ref)) throw badRequest("after", `after must be a ref as the last line of a snapshot names it, not ${JSON.stringify(after)}`);
  const element = elementOfRef(ref);
  const index = lines.findIndex((line) => line.node?.element === element);
  if (index === -1) throw badRequest("after", `${ref} is not part of this snapshot`, "Take the snapshot again without `after`.");
  return Math.min(index + 1 + Number(skip ?? 0), lines.length);
}

/** Near lines in reading order, then the lines behind the last of them, then the lines before. */
function viewportFirst(lines: readonly Line[]): number[] {
  const near = linesNearViewport(lines);
  const last = near.lastIndexOf(true);
  const nearOnes: number[] = [];
  const before: number[] = [];
  const behind: number[] = [];
  near.forEach((isNear, index) => (isNear ? nearOnes : index > last ? behind : before).push(index));
  return [...nearOnes, ...behind, ...before];
}

function choose(lines: readonly Line[], sizes: number[], order: number[], room: number, start: number): boolean[] {
  const chosen: boolean[] = new Array<boolean>(lines.length).fill(false);
  let used = 0;
  let previous = start - 1;
  for (const index of order) {
    const path = [index, ...unchosenAncestors(lines, chosen, index)].filter((at) => !chosen[at]);
    const cost = path.reduce((sum, at) => sum + sizes[at]!, index === previous + 1 ? 0 : GAP_ROOM);
    // The very first line is shown even if it alone is too long, else `after` would never get past it.
    if (used + cost > room && used > 0) break;
    for (const at of path) chosen[at] = true;
    used += cost;
    previous = index;
  }
  return chosen;
}

function unchosenAncestors(lines: readonly Line[], chosen: boolean[], index: number): number[] {
  const path: number[] = [];
  for (let at = lines[index]!.parent; at !== -1 && !chosen[at]; at = lines[at]!.parent) path.push(at);
  return path;
}

function print(lines: readonly Line[], chosen: boolean[], sizes: number[], start: number, note: string): Selection {
  const out: string[] = [];
  const placeOf = new Map<Line, number>();
  let row = 0;
  let gap = 0;
  const left = { lines: 0, chars: 0, after: "" };
  lines.forEach((line, index) => {
    if (!chosen[index]) {
      if (index < start) return;
      if (left.lines === 0 || gap === 0) left.after = position(lines, index - 1);
      left.lines += 1;
      left.chars += sizes[index]!;
      gap += 1;
      return;
    }
    if (gap > 0) {
      out.push(`${"  ".repeat(line.depth)}# ${gap} ${gap === 1 ? "line" : "lines"} not shown`);
      row += 1;
      gap = 0;
    }
    placeOf.set(line, row);
    row += 1 + line.properties.length;
    out.push(printLine(line));
  });
  if (note) out.push(note);
  if (left.lines === 0) return { text: out.join("\n"), placeOf, left: null };
  out.push(leftNote(left));
  return { text: out.join("\n"), placeOf, left };
}

function leftNote(left: { lines: number; chars: number; after: string }): string {
  return (
    `# ${left.lines} more lines (about ${left.chars} characters) not shown: ` +
    `go on with after="${left.after}", look into one part with target="<ref>", or search with browser_find`
  );
}

/** The value of `after` that continues behind this line. */
function position(lines: readonly Line[], index: number): string {
  for (let at = index; at >= 0; at -= 1) {
    const { node } = lines[at]!;
    if (node) return at === index ? refOf(node.element) : `${refOf(node.element)}+${index - at}`;
  }
  return `+${index + 1}`;
}
