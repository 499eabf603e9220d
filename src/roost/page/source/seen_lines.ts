/**
 * A snapshot as a reader remembers it: a tree of lines in reading order that holds no element alive.
 *
 * Line 0 is the page itself. Every other line names its parent by index, and the lines inside a line follow it
 * directly: the subtree of line `i` is `i` to `i + size - 1`.
 */
export interface SeenLine {
  parent: number;
  /** Number of lines in the subtree, this line included. */
  size: number;
  role: string;
  /** What the line says, without its ref and without `[active]`. */
  own: string;
  /** The name, value or text alone, to describe the line in few words. */
  label: string;
  ref: string | null;
  isActive: boolean;
  /** The identity of the line's element; negative for text, which shares its element with other lines. */
  id: number;
  /** Elements around this line that are no lines themselves, such as the column that a card stands in. */
  homes: readonly WeakRef<Element>[];
}

export function rootLine(): SeenLine {
  return { parent: -1, size: 1, role: "page", own: "", label: "", ref: null, isActive: false, id: 0, homes: [] };
}

/** Fills in `size`. Children follow their parents, so one pass from the end is enough. */
export function withSizes(lines: SeenLine[]): SeenLine[] {
  for (let index = lines.length - 1; index > 0; index -= 1) lines[lines[index]!.parent]!.size += lines[index]!.size;
  return lines;
}

/** The direct children of a line. */
export function childrenOf(lines: readonly SeenLine[], index: number): number[] {
  const children: number[] = [];
  const end = index + lines[index]!.size;
  for (let child = index + 1; child < end; child += lines[child]!.size) children.push(child);
  return children;
}

/**
 * Puts a newer reading of one part in the place of the old one.
 *
 * `part` has the part's own line at index 1. `idsInside` are the identities of the elements that stand in the part
 * now; they find the old lines of a part that has no line of its own. Returns null when no old line belongs to the
 * part, because then its place is not known.
 */
export function withPart(lines: readonly SeenLine[], part: readonly SeenLine[], idsInside: ReadonlySet<number>): SeenLine[] | null {
  const own = lines.findIndex((line) => line.id > 0 && line.id === part[1]!.id);
  if (own > 0) return spliced(lines, [own], part, 1);
  const tops = lines.flatMap((line, index) => (index > 0 && idsInside.has(Math.abs(line.id)) ? [index] : []));
  const outermost = tops.filter((index) => !idsInside.has(Math.abs(lines[lines[index]!.parent]!.id)));
  const parent = outermost.length === 0 ? -1 : lines[outermost[0]!]!.parent;
  const siblings = outermost.filter((index) => lines[index]!.parent === parent);
  return siblings.length === 0 ? null : spliced(lines, siblings, part, 2);
}

/** `part` from line `first` on replaces the subtrees at `tops`, which are siblings. */
function spliced(lines: readonly SeenLine[], tops: readonly number[], part: readonly SeenLine[], first: number): SeenLine[] {
  const result: SeenLine[] = [];
  const placeOf = new Map<number, number>();
  const topSet = new Set(tops);
  let index = 0;
  while (index < lines.length) {
    const line = lines[index]!;
    if (!topSet.has(index)) {
      placeOf.set(index, result.length);
      result.push({ ...line, size: 1, parent: line.parent === -1 ? -1 : placeOf.get(line.parent)! });
      index += 1;
      continue;
    }
    if (index === tops[0]) {
      const start = result.length;
      const parent = placeOf.get(line.parent)!;
      for (const [at, fresh] of part.entries()) {
        if (at < first) continue;
        result.push({ ...fresh, size: 1, parent: fresh.parent < first ? parent : fresh.parent - first + start });
      }
    }
    index += line.size;
  }
  return withSizes(result);
}
