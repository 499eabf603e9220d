/**
 * Says what is there when a target fits nothing: the operable elements that the caller may have meant.
 *
 * Elements that share words with the target come first, then elements with a similar word (a typing error), then those
 * that are in view. So a caller always gets refs that it can use, unless the page has nothing to operate.
 */
import { isReadingOver, startBudget } from "./budget";
import { boxOf, cut, getAttribute, localName, queryAll, textContent } from "./dom";
import { openRoots } from "./flat_tree";
import { declaredName, tidy } from "./names";
import { refOf } from "./refs";
import { roleOf } from "./roles";
import { isRendered } from "./visibility";

const SUGGESTIONS = 5;
const OPERABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role], [onclick], [tabindex], [contenteditable]";
const ELEMENTS_READ = 2000;
const BUDGET_MS = 500;
const WORDS_COMPARED = 12;
/** Share of a word's letters that may differ: "Bay" and "Buy" are similar, "Bay" and "Sell" are not. */
const DIFFERENT = 0.34;

export interface Suggestion {
  ref: string;
  role: string;
  /** The page's own words. */
  name: string;
}

export interface Suggestions {
  found: Suggestion[];
  /** At least one resembles the target. Otherwise they are only what is in view. */
  isSimilar: boolean;
}

/** The elements that are most like one that the page has removed. */
export function suggestionsLike(removed: Element): Suggestions {
  return suggestionsFor(`text=${nameOf(removed)}`);
}

interface Scored {
  element: Element;
  score: number;
}

/** The elements that are most like the target. If none is like it, the elements in view. */
export function suggestionsFor(target: string): Suggestions {
  startBudget(BUDGET_MS); // a page that is slow to read must not delay the answer for long
  const words = wordsIn(target.replace(/\b[a-z-]+\s*=/g, " ")); // the caller's own words, not `text=` or `role=`
  const scored: Scored[] = [];
  for (const element of openRoots().flatMap((root) => Array.from(queryAll(root, OPERABLE))).slice(0, ELEMENTS_READ)) {
    if (isReadingOver()) break;
    if (isRendered(element)) scored.push({ element, score: likeness(element, target, words) });
  }
  const best = Math.max(0, ...scored.map(({ score }) => score));
  const shown = best > 0 ? scored.filter(({ score }) => score > 0) : scored.filter(({ element }) => isInView(element));
  shown.sort((left, right) => right.score - left.score);
  return { found: shown.slice(0, SUGGESTIONS).map(({ element }) => suggestion(element)), isSimilar: best > 0 };
}

function likeness(element: Element, target: string, words: readonly string[]): number {
  const own = wordsOf(element);
  const shared = words.filter((word) => own.includes(word)).length;
  const score = shared + (matchesTag(element, target) ? 0.5 : 0);
  if (score > 0) return score;
  const ownWords = wordsIn(own).slice(0, WORDS_COMPARED);
  return words.some((word) => ownWords.some((other) => areSimilar(word, other))) ? 0.25 : 0;
}

function wordsIn(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []).slice(0, WORDS_COMPARED);
}

/** Attributes and text of the element, as the caller may have read them. The value of a field is no part of it. */
function wordsOf(element: Element): string {
  const attributes = ["id", "class", "name", "aria-label", "placeholder", "title", "value", "type"]
    .filter((name) => name !== "value" || /^(button|submit|reset)$/.test(getAttribute(element, "type") ?? ""))
    .map((name) => getAttribute(element, name) ?? "");
  return `${attributes.join(" ")} ${cut(textContent(element) ?? "", 200)}`.toLowerCase();
}

/** True if few letters differ: by how many changes, insertions and removals one word becomes the other. */
function areSimilar(one: string, other: string): boolean {
  const allowed = Math.floor(Math.max(one.length, other.length) * DIFFERENT);
  if (allowed === 0 || Math.abs(one.length - other.length) > allowed || one.length > 24) return false;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const change = row[to - 1]! + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(change, row[to]! + 1, next[to - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]! <= allowed;
}

function matchesTag(element: Element, target: string): boolean {
  const tag = /^[a-z][a-z0-9-]*/i.exec(target);
  return tag !== null && tag[0].toLowerCase() === localName(element);
}

function isInView(element: Element): boolean {
  const { top, bottom, left, right } = boxOf(element);
  return bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
}

function suggestion(element: Element): Suggestion {
  return { ref: refOf(element), role: roleOf(element), name: cut(nameOf(element), 80) };
}

function nameOf(element: Element): string {
  return declaredName(element) || tidy(cut(textContent(element) ?? "", 200));
}
