/** Searching the page: matching lines of the snapshot, each with a ref and with what it stands in. */
import { type Args, optionalNumber, optionalText } from "./args";
import { wasCut } from "./budget";
import { buildTree } from "./tree";
import { collapseSpace, cut } from "./dom";
import { badRequest } from "./errors";
import { type Line, linesOf, printLine, withRef } from "./lines";
import { refOf } from "./refs";
import { elementsByText } from "./text_targets";

const DEFAULT_LIMIT = 20;
const CONTEXT_SHOWN = 3;
const PATTERN_LIMIT = 1000;

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
  const hits = lines.flatMap((line, index) => (fits(wordsOf(line)) ? [index] : []));
  if (hits.length === 0) return acrossLines(args);
  const shown = new Map(hits.slice(0, limit).map((index) => [index, withRef(lines[index]!)]));
  return {
    text: printWithContext(lines, shown, hits.length) + cutNote(),
    matches: Array.from(shown.values(), (line) => ({ ref: line.ref!, line: cut(line.text, 300) })),
    total: hits.length,
    truncated: hits.length > limit || wasCut(),
  };
}

function cutNote(): string {
  return wasCut() ? "\n# cut: this page takes too long to read, and only its first part was searched. Try a CSS selector as target." : "";
}

function matcher(args: Args): (text: string) => boolean {
  const text = optionalText(args, "text");
  const pattern = optionalText(args, "regex");
  if ((text === undefined) === (pattern === undefined)) throw badRequest("text", "Give either text or regex");
  if (text !== undefined) {
    const wanted = collapseSpace(text).trim().toLowerCase();
    if (wanted === "") throw badRequest("text", "text is empty");
    return (words) => words.toLowerCase().includes(wanted);
  }
  return expression(pattern!);
}

/** `/pattern/flags` or a bare pattern; upper and lower case alike unless flags are given. */
function expression(pattern: string): (text: string) => boolean {
  if (pattern.length > PATTERN_LIMIT) throw badRequest("regex", `regex is longer than ${PATTERN_LIMIT} characters`);
  const [, body = pattern, flags = "i"] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? [];
  try {
    const compiled = new RegExp(body, flags.replace(/[gy]/g, ""));
    return (words) => compiled.test(words);
  } catch (error) {
    throw badRequest("regex", `regex is not valid: ${(error as Error).message}`);
  }
}

/** What a line says, without roles and refs. */
function wordsOf({ node, text, properties }: Line): string {
  if (!node) return text.replace(/^text: /, "");
  const inline = /\]?'?: (.*)$/s.exec(text)?.[1] ?? "";
  return `${node.name}\n${inline || node.value || ""}\n${properties.map((property) => property.replace(/^\/?\w+: /, "")).join("\n")}`;
}

/** A sentence with a link in it is several lines of a snapshot; the element around all of it fits then. */
function acrossLines(args: Args): FindReply {
  const text = optionalText(args, "text");
  const found = text === undefined || wasCut() ? null : elementsByText(cut(text, 500))[0];
  if (!found) return { text: `# nothing found${cutNote()}`, matches: [], total: 0, truncated: wasCut() };
  const [line] = linesOf([buildTree(found)]);
  const shown = withRef(line!);
  return {
    text: printLine({ ...shown, isParent: false }),
    matches: [{ ref: refOf(found), line: cut(shown.text, 300) }],
    total: 1,
    truncated: false,
  };
}

function printWithContext(lines: readonly Line[], shown: Map<number, Line>, total: number): string {
  const depths = new Map<number, number>();
  const out: string[] = [];
  for (const [index, line] of shown) {
    for (const at of [...contextOf(lines, index, depths), index]) {
      const depth = depthBelow(lines, at, depths);
      depths.set(at, depth);
      const isMatch = at === index;
      out.push(printLine({ ...(isMatch ? line : lines[at]!), depth, isParent: !isMatch, properties: isMatch ? line.properties : [] }));
    }
  }
  if (total > shown.size) out.push(`# ${total - shown.size} more found: ask for something more exact, or raise limit`);
  return out.join("\n");
}

/** The nearest named or ref-bearing lines above, not printed yet, outermost first. */
function contextOf(lines: readonly Line[], index: number, printed: Map<number, number>): number[] {
  const context: number[] = [];
  for (let at = lines[index]!.parent; at !== -1 && context.length < CONTEXT_SHOWN && !printed.has(at); at = lines[at]!.parent) {
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
