/** The page as an agent reads it: whole, one part, only the operable, or what has changed. */
import { type Args, oneOf, optionalFlag, optionalNumber, optionalText } from "./args";
import { isTimeUp, startBudget, wasCut } from "./budget";
import { printBounded, type Selection } from "./line_selection";
import { changesSince, isKnown, remember, rememberPart, stepBack } from "./changes_since";
import type { ContentItem } from "./content_items";
import { boxOf, getAttribute, isEmptyDocument } from "./dom";
import type { Point } from "./geometry";
import { interactiveOnly } from "./interactive_only";
import { type Line, linesOf } from "./lines";
import type { ChangeCounts } from "./print_changes";
import { findTarget } from "./targets";
import { buildTree } from "./tree";

const DEFAULT_CHARS = 20_000;
const DEFAULT_DIFF_CHARS = 4_000;

/** At most this share of the room is kept for the content of frames. */
const FRAME_SHARE_LIMIT = 0.7;

const CUT_NOTE = '# cut: this page takes too long to read. Look into one part with target="<ref>" or a CSS selector.';

export interface FrameOnPage {
  ref: string;
  /** Line of `text` (from 0) that the frame's own snapshot is to be indented under; its depth in two-space steps. */
  line: number;
  depth: number;
  src: string;
  name: string;
  /** How much of the viewport it covers, 0 to 1: more for those a person sees. */
  share: number;
}

export interface SnapshotReply {
  text: string;
  mode: "full" | "diff" | "none";
  chars: number;
  truncated: boolean;
  left?: { lines: number; chars: number; after: string };
  changes?: ChangeCounts;
  frames: FrameOnPage[];
  /** The first ref in `text`. A text of the page may look like a ref, so the caller does not search for it. */
  ref?: string;
}

export function snapshot(args: Args): SnapshotReply {
  startBudget(optionalNumber(args, "budgetMs", 1, 60_000)); // it may be taken long after the call began
  const mode = oneOf(args, "mode", ["full", "diff", "none"], "full");
  const reader = optionalText(args, "reader");
  if (mode === "none") {
    if (reader !== undefined && !isKnown(reader)) remember(reader, linesOf(buildTree().children));
    return { text: "", mode, chars: 0, truncated: false, frames: [] };
  }
  const target = optionalText(args, "target");
  const maxChars = optionalNumber(args, "maxChars", 200, 10_000_000);
  if (reader !== undefined && optionalFlag(args, "again")) stepBack(reader);
  if (target === undefined && mode === "diff" && reader !== undefined) {
    const reply = diffReply(reader, maxChars ?? DEFAULT_DIFF_CHARS);
    if (reply) return reply;
    if (isEmptyDocument()) {
      remember(reader, []);
      return { text: "", mode: "full", chars: 0, truncated: false, frames: [] };
    }
    // A new document: a short whole one, because nobody asked for a page.
    return fullReply(args, reader, maxChars ?? DEFAULT_DIFF_CHARS);
  }
  return fullReply(args, reader, maxChars ?? DEFAULT_CHARS);
}

function diffReply(reader: string, maxChars: number): SnapshotReply | null {
  // An action that leads to an empty document is done, so its reply must not be an error.
  const lines = isEmptyDocument() ? [] : linesOf(buildTree().children);
  const changes = changesSince(reader, lines, maxChars);
  if (changes === null) return null;
  const { text, counts } = changes;
  // Frames are named even if unchanged: the caller asks each for its own changes.
  const frames = framesAmong(lines, () => -1);
  const told = wasCut() ? `${text}\n${CUT_NOTE}` : text;
  return { text: told, mode: "diff", chars: told.length, truncated: changes.isCut || wasCut(), changes: counts, frames };
}

function fullReply(args: Args, reader: string | undefined, maxChars: number): SnapshotReply {
  const target = optionalText(args, "target");
  const part = target === undefined ? null : findTarget(target).element;
  const items = part === null ? buildTree().children : [buildTree(part)];
  const isWhole = target === undefined && !optionalFlag(args, "interactive") && args.depth === undefined;
  const lines = printableLines(args, items);
  if (reader !== undefined) {
    const read = isWhole ? lines : linesOf(items);
    if (part === null) remember(reader, read);
    // A reader of one part only: the rest counts as seen, so that the next diff tells what has changed from now on.
    else if (!rememberPart(reader, part, read)) remember(reader, linesOf(buildTree().children));
  }
  const shown = args.boxes ? lines.map((line) => withBox(line, args.boxes as Point)) : lines;
  const selection = printBounded(shown, roomBesideFrames(lines, maxChars), optionalText(args, "after"), notes(args));
  return replyOf(shown, selection);
}

/** The line with the box of its element. `origin`: where this frame's viewport begins in the tab's viewport. */
function withBox(line: Line, origin: Point): Line {
  if (line.ref === null || isTimeUp()) return line;
  const { x, y, width, height } = boxOf(line.element);
  const box = [x + origin.x, y + origin.y, width, height].map(Math.round).join(",");
  return { ...line, text: line.text.replace(`[ref=${line.ref}]`, `[ref=${line.ref}] [box=${box}]`) };
}

function printableLines(args: Args, items: ContentItem[]): Line[] {
  const shown = optionalFlag(args, "interactive") ? interactiveOnly(items) : items;
  return linesOf(shown, optionalNumber(args, "depth", 1));
}

function notes(args: Args): string {
  return [depthNote(args), wasCut() ? CUT_NOTE : ""].filter((note) => note !== "").join("\n");
}

function depthNote(args: Args): string {
  const depth = optionalNumber(args, "depth", 1);
  return depth === undefined ? "" : `# cut at depth ${depth}: look deeper into one part with target="<ref>"`;
}

function replyOf(lines: readonly Line[], { text, left, placeOf }: Selection): SnapshotReply {
  const frames = framesAmong(lines, (line) => placeOf.get(line) ?? -1).filter((frame) => frame.line >= 0);
  const reply: SnapshotReply = { text, mode: "full", chars: text.length, truncated: left !== null || wasCut(), frames };
  if (left) reply.left = left;
  const first = lines.find((line) => line.ref !== null && placeOf.has(line));
  if (first) reply.ref = first.ref!;
  return reply;
}

function framesAmong(lines: readonly Line[], placeOf: (line: Line) => number): FrameOnPage[] {
  return lines
    .filter((line) => line.node?.role === "iframe" && line.ref !== null)
    .map((line) => ({
      ref: line.ref!,
      line: placeOf(line),
      depth: line.depth,
      src: getAttribute(line.element, "src") ?? "",
      name: getAttribute(line.element, "name") ?? "",
      share: isTimeUp() ? 0 : viewportShare(line.element),
    }));
}

/** So that `maxChars` holds for the page with its frames: what this document leaves, the caller gives to them. */
function roomBesideFrames(lines: readonly Line[], maxChars: number): number {
  const share = framesAmong(lines, () => -1).reduce((sum, frame) => sum + frame.share, 0);
  return Math.max(200, Math.floor(maxChars * (1 - Math.min(FRAME_SHARE_LIMIT, share))));
}

function viewportShare(element: Element): number {
  const box = boxOf(element);
  const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
  const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
  const area = Math.max(0, width) * Math.max(0, height);
  return Math.min(1, Math.round((100 * area) / Math.max(1, innerWidth * innerHeight)) / 100);
}
