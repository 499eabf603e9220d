/**
 * Bounds the time that one call spends on reading the page. A page can make reading slow, by a million nodes or by
 * elements that all own and label each other. When the time is over, the call returns what it has read and says
 * that the rest is missing.
 */

/** Well below the half minute that callers wait. */
const DEFAULT_MS = 8_000;

/** The rest of the time is for printing what was read. */
const READING_SHARE = 0.6;

/** Reading the clock costs more than a step of reading the page, so only some steps do it. */
const STEPS_BETWEEN_LOOKS = 16;

let readingEnds = Infinity;
let allEnds = Infinity;
let isOver = false;
let steps = 0;
let work = 0;

/** Start a budget. Everything until the next call of this function shares it. */
export function startBudget(ms = DEFAULT_MS): void {
  const now = performance.now();
  readingEnds = now + ms * READING_SHARE;
  allEnds = now + ms;
  isOver = false;
  work += 1;
}

/** Whether reading must stop. Stays true until the next budget starts. */
export function isReadingOver(): boolean {
  if (isOver) return true;
  steps = (steps + 1) % STEPS_BETWEEN_LOOKS;
  if (steps === 0) isOver = performance.now() > readingEnds;
  return isOver;
}

/** Whether something was left out because there was no time for it. */
export function wasCut(): boolean {
  return isOver;
}

/** Whether no time is left at all, not even to print what was read. */
export function isTimeUp(): boolean {
  return performance.now() > allEnds;
}

/** Cache the result of `make` until the next budget starts. The page cannot change before, because its scripts do not run. */
export function oncePerBudget<T>(make: () => T): () => T {
  let madeFor = -1;
  let made: T;
  return () => {
    if (madeFor !== work) {
      made = make();
      madeFor = work;
    }
    return made;
  };
}
