/**
 * Pairs the lines of two snapshots that mean the same thing.
 *
 * Content decides before identity: frameworks draw a list again with new elements, or move new content through old
 * elements, and a reader only sees the content. Where content is ambiguous, the identity of the element decides,
 * then the place. Every step is linear in the number of lines, or has a cap.
 */
import { childrenOf, type SeenLine } from "./seen_lines";

/** The cells of the table that compares two lists of children. Longer lists are compared by content alone. */
const COMPARISON_LIMIT = 250_000;

/** A part with fewer lines, such as one button, may stand on a page by chance more than once. */
const DISTINCTIVE_SIZE = 3;

/** How much two containers must have in common to be the same container: 1 is everything. */
const ALIKE = 0.4;

/** Roles of repeated things. Frameworks reuse their elements for other content. */
const ITEM_ROLES = new Set("article cell columnheader generic gridcell group listitem option paragraph row rowheader text treeitem".split(" "));

export class Matching {
  /** For each new line the old one, for each old line the new one, or -1. */
  readonly oldOf: Int32Array;
  readonly newOf: Int32Array;

  constructor(oldCount: number, newCount: number) {
    this.oldOf = new Int32Array(newCount).fill(-1);
    this.newOf = new Int32Array(oldCount).fill(-1);
  }

  pair(before: number, now: number): void {
    this.oldOf[now] = before;
    this.newOf[before] = now;
  }

  unpair(now: number): void {
    this.newOf[this.oldOf[now]!] = -1;
    this.oldOf[now] = -1;
  }

  isOldFree(before: number): boolean {
    return this.newOf[before] === -1;
  }

  isNewFree(now: number): boolean {
    return this.oldOf[now] === -1;
  }
}

export function matchLines(before: readonly SeenLine[], now: readonly SeenLine[]): Matching {
  const matching = new Matching(before.length, now.length);
  matching.pair(0, 0);
  if (!pairEnds(before, now, matching)) new Matcher(before, now, matching).run();
  return matching;
}

/** Pairs what is untouched at the start and at the end of the page. Returns whether that is everything. */
function pairEnds(before: readonly SeenLine[], now: readonly SeenLine[], matching: Matching): boolean {
  const shorter = Math.min(before.length, now.length);
  let start = 1;
  while (start < shorter && isUntouched(before[start]!, now[start]!) && before[start]!.parent === now[start]!.parent) start += 1;
  if (start === before.length && start === now.length) {
    for (let index = 1; index < start; index += 1) matching.pair(index, index);
    return true;
  }
  const oldStart = startOfItem(before, start);
  start = Math.min(oldStart, startOfItem(now, start));
  for (let index = 1; index < start; index += 1) matching.pair(index, index);
  let length = 0;
  while (length < shorter - start && isUntouched(before[before.length - 1 - length]!, now[now.length - 1 - length]!)) length += 1;
  for (let left = length; left > 0; left -= 1) {
    const [old, index] = [before.length - left, now.length - left];
    if (matching.newOf[before[old]!.parent] === now[index]!.parent) matching.pair(old, index);
  }
  return false;
}

function isUntouched(before: SeenLine, now: SeenLine): boolean {
  return before.own === now.own && before.ref === now.ref && before.id === now.id;
}

/** Where the repeated thing begins that this line is part of. Its element may have been reused for other content. */
function startOfItem(lines: readonly SeenLine[], index: number): number {
  if (index >= lines.length) return index;
  let start = index;
  for (let at = lines[index]!.parent; at > 0 && ITEM_ROLES.has(lines[at]!.role); at = lines[at]!.parent) start = at;
  return start;
}

interface SameContent {
  size: number;
  before: number[];
  now: number[];
}

class Matcher {
  private readonly oldContent: Int32Array;
  private readonly newContent: Int32Array;
  private readonly oldChildCounts: Int32Array;
  private readonly oldIds: ReadonlySet<number>;
  private readonly oldTitles: ReadonlySet<string | null>;
  private readonly newTitles: ReadonlySet<string | null>;
  /** New lines whose pair is only a guess until their parents are paired, too. */
  private readonly guesses: number[] = [];

  constructor(
    private readonly before: readonly SeenLine[],
    private readonly now: readonly SeenLine[],
    private readonly matching: Matching,
  ) {
    const numbers = new Map<string, number>();
    this.oldContent = contentNumbers(before, matching.newOf, numbers);
    this.newContent = contentNumbers(now, matching.oldOf, numbers);
    this.oldIds = new Set(before.map((line) => line.id));
    this.oldTitles = new Set(before.map(titleOf));
    this.newTitles = new Set(now.map(titleOf));
    this.oldChildCounts = new Int32Array(before.length);
    for (const line of before) if (line.parent >= 0) this.oldChildCounts[line.parent]! += 1;
  }

  run(): void {
    this.pairSameContent();
    this.pairContainers();
    this.dropGuesses();
    for (let index = 0; index < this.now.length; index += 1) this.pairChildren(index);
    this.pairMoved();
  }

  /** Pair the largest parts first, so that pairing a small line never splits a larger part that is unchanged. */
  private pairSameContent(): void {
    const groups = this.groupsOfSameContent().sort((one, other) => other.size - one.size);
    for (const group of groups) {
      const now = group.now.filter((index) => this.matching.isNewFree(index));
      const before = group.before.filter((index) => this.matching.isOldFree(index));
      if (now.length === 0 || before.length === 0) continue;
      const byId = new Map(before.map((index) => [this.before[index]!.id, index]));
      const isShared = new Set<number>();
      for (const index of now) {
        const old = byId.get(this.now[index]!.id);
        if (old === undefined || isShared.has(old)) continue;
        isShared.add(old);
        this.pairSubtrees(old, index);
      }
      const oldRest = before.filter((index) => this.matching.isOldFree(index));
      const newRest = now.filter((index) => this.matching.isNewFree(index));
      if (oldRest.length !== newRest.length) continue;
      if (group.size >= DISTINCTIVE_SIZE) newRest.forEach((index, place) => this.pairSubtrees(oldRest[place]!, index));
      else if (newRest.length === 1 && hasWords(this.now, newRest[0]!)) this.guess(oldRest[0]!, newRest[0]!);
    }
  }

  private groupsOfSameContent(): SameContent[] {
    const groups = new Map<number, SameContent>();
    this.now.forEach((line, index) => {
      if (!this.matching.isNewFree(index)) return;
      const content = this.newContent[index]!;
      const group = groups.get(content);
      if (group) group.now.push(index);
      else groups.set(content, { size: line.size, before: [], now: [index] });
    });
    this.before.forEach((_, index) => {
      if (this.matching.isOldFree(index)) groups.get(this.oldContent[index]!)?.before.push(index);
    });
    return Array.from(groups.values());
  }

  private guess(before: number, now: number): void {
    this.pairSubtrees(before, now);
    this.guesses.push(now);
  }

  private dropGuesses(): void {
    for (const index of this.guesses) {
      const parent = this.matching.oldOf[this.now[index]!.parent];
      if (parent === this.before[this.matching.oldOf[index]!]!.parent) continue;
      for (let at = index + this.now[index]!.size - 1; at >= index; at -= 1) {
        if (!this.matching.isNewFree(at)) this.matching.unpair(at);
      }
    }
  }

  private pairSubtrees(before: number, now: number): void {
    for (let offset = this.now[now]!.size - 1; offset >= 0; offset -= 1) {
      if (this.matching.isOldFree(before + offset) && this.matching.isNewFree(now + offset)) this.matching.pair(before + offset, now + offset);
    }
  }

  /** A container is the old one that most of its paired children came from. Inner containers come first. */
  private pairContainers(): void {
    for (let index = this.now.length - 1; index > 0; index -= 1) {
      const line = this.now[index]!;
      if (line.size === 1 || !this.matching.isNewFree(index)) continue;
      const children = childrenOf(this.now, index);
      const votes = new Map<number, number>();
      for (const child of children) {
        const old = this.matching.oldOf[child]!;
        if (old > 0) count(votes, this.before[old]!.parent);
      }
      const found = this.bestContainer(line, children.length, votes);
      if (found !== null) this.matching.pair(found, index);
    }
  }

  private bestContainer(line: SeenLine, children: number, votes: ReadonlyMap<number, number>): number | null {
    let best: number | null = null;
    let bestScore = ALIKE;
    for (const [candidate, shared] of votes) {
      const old = this.before[candidate]!;
      if (candidate === 0 || !this.matching.isOldFree(candidate) || old.role !== line.role) continue;
      let score = (2 * shared) / (children + this.oldChildCounts[candidate]!);
      if (old.id === line.id) score += 1;
      else {
        if (this.oldIds.has(line.id)) score -= 0.5;
        // Another name, although both names are known on both pages: these are two different containers.
        if (old.label !== line.label) score -= this.isTitled(old, this.newTitles) || this.isTitled(line, this.oldTitles) ? 1 : 0.3;
        else if (old.label !== "") score += 0.5;
      }
      if (score > bestScore) [best, bestScore] = [candidate, score];
    }
    return best;
  }

  private isTitled(line: SeenLine, titles: ReadonlySet<string | null>): boolean {
    return line.label !== "" && titles.has(titleOf(line));
  }

  /** Pairs the children of a paired line that are still free. */
  private pairChildren(parent: number): void {
    const oldParent = this.matching.oldOf[parent]!;
    if (oldParent === -1 || this.now[parent]!.size === 1 || this.before[oldParent]!.size === 1) return;
    const allNow = childrenOf(this.now, parent);
    const now = allNow.filter((index) => this.matching.isNewFree(index));
    if (now.length === 0) return;
    const allBefore = childrenOf(this.before, oldParent);
    const before = allBefore.filter((index) => this.matching.isOldFree(index));
    if (before.length === 0) return;
    // The place of a cell in its row is its column, so its content alone says nothing.
    if (this.now[parent]!.role === "row" && allNow.length === allBefore.length) return this.pairByPlace(allBefore, allNow);
    this.pairInOrder(before, now);
    this.pairWhere(before, now, (index) => this.oldContent[index]!, (index) => this.newContent[index]!);
    this.pairWhere(before, now, (index) => this.before[index]!.id, (index) => this.now[index]!.id);
    this.pairWhere(before, now, (index) => titleOf(this.before[index]!), (index) => titleOf(this.now[index]!));
    this.pairAlike(before, now);
    this.pairRewritten(allBefore, allNow);
  }

  private pairByPlace(before: readonly number[], now: readonly number[]): void {
    now.forEach((index, place) => {
      const old = before[place]!;
      if (this.matching.isNewFree(index) && this.matching.isOldFree(old) && this.before[old]!.role === this.now[index]!.role) this.matching.pair(old, index);
    });
  }

  /** The longest common subsequence of the contents. */
  private pairInOrder(before: readonly number[], now: readonly number[]): void {
    const isSame = (old: number, index: number): boolean => this.oldContent[old] === this.newContent[index];
    let start = 0;
    let [oldEnd, newEnd] = [before.length, now.length];
    while (start < oldEnd && start < newEnd && isSame(before[start]!, now[start]!)) {
      this.pairSubtrees(before[start]!, now[start]!);
      start += 1;
    }
    while (oldEnd > start && newEnd > start && isSame(before[oldEnd - 1]!, now[newEnd - 1]!)) {
      oldEnd -= 1;
      newEnd -= 1;
      this.pairSubtrees(before[oldEnd]!, now[newEnd]!);
    }
    const [rows, columns] = [oldEnd - start, newEnd - start];
    if (rows * columns === 0 || rows * columns > COMPARISON_LIMIT) return;
    const width = columns + 1;
    const longest = new Uint16Array((rows + 1) * width);
    for (let row = rows - 1; row >= 0; row -= 1) {
      for (let column = columns - 1; column >= 0; column -= 1) {
        const at = row * width + column;
        longest[at] = isSame(before[start + row]!, now[start + column]!)
          ? longest[at + width + 1]! + 1
          : Math.max(longest[at + width]!, longest[at + 1]!);
      }
    }
    for (let row = 0, column = 0; row < rows && column < columns; ) {
      const at = row * width + column;
      if (isSame(before[start + row]!, now[start + column]!)) {
        this.pairSubtrees(before[start + row]!, now[start + column]!);
        row += 1;
        column += 1;
      } else if (longest[at + width]! >= longest[at + 1]!) row += 1;
      else column += 1;
    }
  }

  /** Pairs the first free old line with the first free new one that has the same key, and so on. */
  private pairWhere<Key>(before: readonly number[], now: readonly number[], oldKey: (index: number) => Key | null, newKey: (index: number) => Key | null): void {
    const waiting = new Map<Key, number[]>();
    for (const index of before) {
      const key = this.matching.isOldFree(index) ? oldKey(index) : null;
      if (key === null) continue;
      const queue = waiting.get(key);
      if (queue) queue.push(index);
      else waiting.set(key, [index]);
    }
    for (const queue of waiting.values()) queue.reverse();
    for (const index of now) {
      const key = this.matching.isNewFree(index) ? newKey(index) : null;
      const old = key === null ? undefined : waiting.get(key)?.pop();
      if (old !== undefined) this.pairOrSubtrees(old, index);
    }
  }

  private pairOrSubtrees(before: number, now: number): void {
    if (this.oldContent[before] === this.newContent[now]) this.pairSubtrees(before, now);
    else this.matching.pair(before, now);
  }

  /** Containers of the same role that have enough children in common. */
  private pairAlike(before: readonly number[], now: readonly number[]): void {
    const holders = new Map<number, number>();
    for (const index of before) {
      if (!this.matching.isOldFree(index)) continue;
      for (const child of childrenOf(this.before, index)) {
        const content = this.oldContent[child]!;
        if (this.matching.isOldFree(child) && !holders.has(content)) holders.set(content, index);
      }
    }
    if (holders.size === 0) return;
    for (const index of now) {
      if (!this.matching.isNewFree(index)) continue;
      const children = childrenOf(this.now, index);
      const votes = new Map<number, number>();
      for (const child of children) {
        const holder = this.matching.isNewFree(child) ? holders.get(this.newContent[child]!) : undefined;
        if (holder !== undefined && hasWords(this.now, child)) count(votes, holder);
      }
      const found = this.bestContainer(this.now[index]!, children.length, votes);
      if (found !== null) this.matching.pair(found, index);
    }
  }

  /** "Count: 1" gone and "Count: 2" new between the same neighbours is one line that says something else now. */
  private pairRewritten(before: readonly number[], now: readonly number[]): void {
    const free = new Map<string, number[]>();
    let gap = 0;
    for (const index of before) {
      if (!this.matching.isOldFree(index)) gap = this.matching.newOf[index]!;
      else if (isPlainLeaf(this.before[index]!)) {
        push(free, `${gap}/${this.before[index]!.role}`, index);
      }
    }
    for (const queue of free.values()) queue.reverse();
    gap = 0;
    for (const index of now) {
      if (!this.matching.isNewFree(index)) gap = index;
      else if (isPlainLeaf(this.now[index]!)) {
        const old = free.get(`${gap}/${this.now[index]!.role}`)?.pop();
        if (old !== undefined) this.matching.pair(old, index);
      }
    }
  }

  /** What left a container or came into one, with the same element or the same words. */
  private pairMoved(): void {
    const byId = new Map<number, number>();
    const byContent = new Map<number, number[]>();
    this.before.forEach((line, index) => {
      if (!this.matching.isOldFree(index)) return;
      if (line.id > 0) byId.set(line.id, index);
      if (hasWords(this.before, index)) push(byContent, this.oldContent[index]!, index);
    });
    if (byId.size === 0 && byContent.size === 0) return;
    const newByContent = new Map<number, number[]>();
    this.now.forEach((_, index) => {
      if (!this.matching.isNewFree(index)) return;
      if (byContent.has(this.newContent[index]!)) push(newByContent, this.newContent[index]!, index);
    });
    for (const [content, places] of newByContent) {
      const olds = byContent.get(content)!;
      if (places.length !== 1 || olds.length !== 1) continue;
      // A line whose old container is gone and whose new container is new did not move: the containers came and went.
      const isKnown = !this.matching.isOldFree(this.before[olds[0]!]!.parent) || !this.matching.isNewFree(this.now[places[0]!]!.parent);
      if (isKnown) this.pairSubtrees(olds[0]!, places[0]!);
    }
    this.now.forEach((line, index) => {
      if (this.matching.isNewFree(index)) {
        const old = line.id > 0 ? byId.get(line.id) : undefined;
        if (old !== undefined && this.matching.isOldFree(old) && this.before[old]!.role === line.role) this.matching.pair(old, index);
      }
      this.pairChildren(index);
    });
  }
}

/** Numbers that are equal where the content is: what the line says and what every line inside says. */
function contentNumbers(lines: readonly SeenLine[], pairs: Int32Array, numbers: Map<string, number>): Int32Array {
  const contents = new Int32Array(lines.length);
  for (let index = lines.length - 1; index > 0; index -= 1) {
    if (pairs[index] !== -1) continue;
    const line = lines[index]!;
    let content = line.own;
    const end = index + line.size;
    for (let child = index + 1; child < end; child += lines[child]!.size) content += `\u0000${contents[child]}`;
    let number = numbers.get(content);
    if (number === undefined) {
      number = numbers.size + 1;
      numbers.set(content, number);
    }
    contents[index] = number;
  }
  return contents;
}

/** Role and name without states and value, or null for lines that have no name. */
function titleOf(line: SeenLine): string | null {
  return line.label === "" ? null : `${line.role} ${line.label}`;
}

function isPlainLeaf(line: SeenLine): boolean {
  return line.size === 1 && line.ref === null;
}

/** Only words identify a line. A number or a sign can occur anywhere by chance. */
function hasWords(lines: readonly SeenLine[], index: number): boolean {
  const end = index + lines[index]!.size;
  for (let at = index; at < end && at < index + 8; at += 1) if (/\p{L}{2}/u.test(lines[at]!.label)) return true;
  return false;
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function push<Key>(lists: Map<Key, number[]>, key: Key, value: number): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
