/**
 * When is an action over? As soon as its handlers have run and, if they changed anything, one frame later.
 * `prepare` starts watching, so that a click that changes nothing need not wait for a frame.
 */
import type { Args } from "./args";
import { nextFrame, nextTask } from "./moments";
import { snapshot, type SnapshotReply } from "./snapshot";

let watched: { observer: MutationObserver; hasChanged: boolean } | null = null;

export function watchForEffects(): void {
  watched?.observer.disconnect();
  const watch = { observer: new MutationObserver(() => (watch.hasChanged = true)), hasChanged: false };
  watch.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  watched = watch;
}

/** With `snapshot` (the arguments of one), what the page looks like then: one round trip instead of two. */
export async function settled(args: Args = {}): Promise<{ changed: boolean; snapshot?: SnapshotReply }> {
  const changed = await hasSettled();
  return args.snapshot ? { changed, snapshot: snapshot(args.snapshot as Args) } : { changed };
}

async function hasSettled(): Promise<boolean> {
  // Handlers of input that has been acknowledged have run; what they queued runs in the next tasks.
  await nextTask();
  await nextTask();
  const watch = watched;
  watched = null;
  watch?.observer.disconnect();
  if (watch && !watch.hasChanged) return false;
  await nextFrame();
  return true;
}
