/** Searching the page: the lines of the snapshot that match, each with a ref and with the lines around it. */
import { type Args, optionalNumber, optionalText } from "./args";
import { wasCut } from "./budget";
import { buildTree } from "./tree";
import { collapseSpace, cut } from "./dom";
import { badRequest } from "./errors";
import { type Line, linesOf, printLine, withRef } from "./lines";
import { refOf } from "./refs";
import { elementsByText } from "./text_targets";

const DEFAULT_LIMIT = 20;
const PATTERN_LIMIT = 1000;

/** Lines above a match that say where it is: those with a ref, the nearest ones. */
const HOLDERS_SHOWN = 3;

/** Neighbours of a match: lines before and after it in the same item. */
const BEFORE_SHOWN = 4;
const AFTER_SHOWN = 2;
const NEIGHBOUR_CHARS = 160;

/** Room for all neighbours together. The matches themselves are always shown. */
const NEIGHBOURS_CHARS = 6_000;

/** Repeated things. What stands in another item says nothing about a match. */
const ITEM_ROLES = new Set("article dialog figure form group listitem region row tabpanel treeitem".split(" "));

export interface FindReply {
  text: string;
  matches: { ref: string; line: string }[];
  total: number;
  truncated: boolean;
}

export function find(args: Args): FindReply {
  const limit = optionalNumber(args, "limit", 1, 200) ?? DEFAULT_LIMIT;
  const fits = matcher(args);
  const lines = linesOf(buildTree().children);
  const hits = lines.flatMap((line, index) => (fits(line) ? [index] : []));
  if (hits.length === 0) return acrossLines(args);
  const shown = new Map(hits.slice(0, limit).map((index) => [index, withRef(lines[index]!)]));
  return {
    text: printWithNeighbours(lines, shown, hits.length) + cutNote(),
    matches: Array.from(shown.values(), (line) => ({ ref: line.ref!, line: cut(line.text, 300) })),
    total: hits.length,
    truncated: hits.length > limit || wasCut(),
  };
}

function cutNote(): string {
  return wasCut() ? "\n# cut: this page takes too long to read, and only its first part was searched. Try a CSS selector as target." : "";
}

function matcher(args: Args): (line: Line) => boolean {
  const text = optionalText(args, "text");
  const pattern = optionalText(args, "regex");
  if ((text === undefined) === (pattern === undefined)) throw badRequest("text", "Give either text or regex");
  if (text !== undefined) {
    const wanted = collapseSpace(text).trim().toLowerCase();
    if (wanted === "") throw badRequest("text", "text is empty");
    return (line) => roleOfLine(line) === wanted || wordsOf(line).some((words) => collapseSpace(words).toLowerCase().includes(wanted));
  }
  const compiled = expression(pattern!);
  return (line) => compiled.exec(roleOfLine(line))?.[0] === roleOfLine(line) || wordsOf(line).some((words) => compiled.test(words));
}

/** `/pattern/flags` or a bare pattern; upper and lower case alike unless flags are given. `^` and `$` fit at every line. */
function expression(pattern: string): RegExp {
  if (pattern.length > PATTERN_LIMIT) throw badRequest("regex", `regex is longer than ${PATTERN_LIMIT} characters`);
  const [, body = pattern, flags = "i"] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? [];
  try {
    return new RegExp(body, `${flags.replace(/[gmy]/g, "")}m`);
  } catch (error) {
    throw badRequest("regex", `regex is not valid: ${(error as Error).message}`);
  }
}

function roleOfLine({ node }: Line): string {
  return node?.role ?? "text";
}

/** What a line says, without role, states and ref: its name, its text or value, its properties. */
function wordsOf(line: Line): string[] {
  const { node, properties } = line;
  const words = [line.label];
  if (node) {
    if (node.value) words.push(node.value);
    words.push(...node.children.flatMap((child) => (line.isParent || "role" in child ? [] : [child.text])));
  }
  for (const property of properties) words.push(property.replace(/^\/?\w+: /, ""));
  return words.filter((one) => one !== "");
}

/** A sentence with a link in it is several lines of a snapshot; the element around all of it fits then. */
function acrossLines(args: Args): FindReply {
  const text = optionalText(args, "text");
  const found = text === undefined || wasCut() ? null : elementsByText(cut(text, 500))[0];
  if (!found) return { text: `# nothing found${cutNote()}`, matches: [], total: 0, truncated: wasCut() };
  const [line] = linesOf([buildTree(found)]);
  const shown = withRef(line!);
  return {
    text: printLine({ ...shown, isParent: false }, "<match> "),
    matches: [{ ref: refOf(found), line: cut(shown.text, 300) }],
    total: 1,
    truncated: false,
  };
}

function printWithNeighbours(lines: readonly Line[], matches: ReadonlyMap<number, Line>, total: number): string {
  const neighbours = neighboursOf(lines, matches);
  const holders = new Set<number>();
  for (const index of [...matches.keys(), ...neighbours]) for (const holder of holdersOf(lines, index)) holders.add(holder);
  const shown = Array.from(new Set([...matches.keys(), ...neighbours, ...holders])).sort((one, other) => one - other);
  const depths = new Map<number, number>();
  const parents = new Set<number>();
  for (const index of shown) {
    const parent = shownParent(lines, index, depths);
    if (parent !== null) parents.add(parent);
    depths.set(index, parent === null ? 0 : depths.get(parent)! + 1);
  }
  const out = shown.map((index) => {
    const match = matches.get(index);
    const line = match ?? { ...lines[index]!, text: cut(lines[index]!.text, NEIGHBOUR_CHARS), properties: [] };
    return printLine({ ...line, depth: depths.get(index)!, isParent: parents.has(index) }, match ? "<match> " : "");
  });
  if (total > matches.size) out.push(`# ${total - matches.size} more found: ask for something more exact, or raise limit`);
  return out.join("\n");
}

/** The lines around each match, the nearest first, as long as there is room. */
function neighboursOf(lines: readonly Line[], matches: ReadonlyMap<number, Line>): Set<number> {
  const chosen = new Set<number>();
  let room = NEIGHBOURS_CHARS;
  for (const index of matches.keys()) {
    for (const at of linesAround(lines, index)) {
      if (chosen.has(at) || matches.has(at)) continue;
      room -= Math.min(lines[at]!.text.length, NEIGHBOUR_CHARS) + 2 * lines[at]!.depth + 4;
      if (room < 0) return chosen;
      chosen.add(at);
    }
  }
  return chosen;
}

/** Lines of the same item, or siblings where a line is part of no item. */
function linesAround(lines: readonly Line[], index: number): number[] {
  const item = itemAround(lines, index);
  const { parent } = lines[index]!;
  const isNear = (at: number): boolean =>
    at >= 0 && at < lines.length && (item === null ? lines[at]!.parent === parent || lines[at]!.parent === index : at >= item.start && at < item.end);
  const around: number[] = [];
  for (let step = 1; step <= BEFORE_SHOWN; step += 1) {
    if (step <= AFTER_SHOWN && isNear(index + step)) around.push(index + step);
    if (isNear(index - step)) around.push(index - step);
  }
  return around;
}

/** Where the item begins and ends that a line is part of. */
function itemAround(lines: readonly Line[], index: number): { start: number; end: number } | null {
  let top = index;
  while (top !== -1 && !ITEM_ROLES.has(roleOfLine(lines[top]!))) top = lines[top]!.parent;
  if (top === -1) return null;
  let end = top + 1;
  while (end < lines.length && lines[end]!.depth > lines[top]!.depth) end += 1;
  return { start: top, end };
}

/** The nearest lines above that have a ref. */
function holdersOf(lines: readonly Line[], index: number): number[] {
  const holders: number[] = [];
  for (let at = lines[index]!.parent; at !== -1 && holders.length < HOLDERS_SHOWN; at = lines[at]!.parent) {
    if (lines[at]!.ref) holders.push(at);
  }
  return holders;
}

/** The nearest line above that is shown, too. */
function shownParent(lines: readonly Line[], index: number, shown: ReadonlyMap<number, number>): number | null {
  for (let at = lines[index]!.parent; at !== -1; at = lines[at]!.parent) if (shown.has(at)) return at;
  return null;
}
