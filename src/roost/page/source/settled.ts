/**
 * When is an action over? As soon as its handlers have run and, if they changed anything, one frame later.
 * `prepare` starts watching, so that a click that changes nothing need not wait for a frame.
 */
import { nextFrame, nextTask } from "./moments";

let watched: { observer: MutationObserver; hasChanged: boolean } | null = null;

export function watchForEffects(): void {
  watched?.observer.disconnect();
  const watch = { observer: new MutationObserver(() => (watch.hasChanged = true)), hasChanged: false };
  watch.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  watched = watch;
}

export async function settled(): Promise<{ changed: boolean }> {
  // Handlers of input that has been acknowledged have run; what they queued runs in the next tasks.
  await nextTask();
  await nextTask();
  const watch = watched;
  watched = null;
  watch?.observer.disconnect();
  if (watch && !watch.hasChanged) return { changed: false };
  await nextFrame();
  return { changed: true };
}
