/**
 * A bound on the time that one call spends on reading the page. A page decides how long it takes to read: by a
 * million nodes, or by elements that all own and label each other. A reader that is out of time gives what it has
 * and says that it was cut; it never holds up the page, nor the call that waits for it.
 */

/** Callers wait for half a minute. */
const DEFAULT_MS = 8_000;

/** The rest is for turning what was read into text. */
const READING_SHARE = 0.6;

/** Asking for the time costs more than a step of reading. */
const STEPS_BETWEEN_LOOKS = 16;

let readingEnds = Infinity;
let allEnds = Infinity;
let isOver = false;
let steps = 0;
let work = 0;

/** Everything until the next call of this function shares one budget. */
export function startBudget(ms = DEFAULT_MS): void {
  const now = performance.now();
  readingEnds = now + ms * READING_SHARE;
  allEnds = now + ms;
  isOver = false;
  work += 1;
}

/** Whether reading must stop. Once it must, it must until the next budget. */
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

/** Remembers what `make` gives for as long as the budget lasts: the page cannot change meanwhile. */
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
