/**
 * When is an action over? As soon as its handlers have run and, if they changed anything, one frame later.
 * `prepare` starts watching, so that a click that changes nothing need not wait for a frame.
 */
import { type Args, optionalNumber } from "./args";
import { nextFrame, nextTask } from "./moments";
import { type Miss, takeVerdict } from "./press_guard";
import { snapshot, type SnapshotReply } from "./snapshot";

/** Sees what changes, and how often the pointer is let go, until the action is over. */
class Watch {
  private releases = 0;
  private wake: (() => void) | null = null;
  private readonly observer = new MutationObserver(() => (this.hasChanged = true));
  private readonly released = (event: Event): void => {
    if (event.isTrusted) this.count(1);
  };

  constructor(public hasChanged: boolean) {
    this.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    window.addEventListener("mouseup", this.released, { capture: true, passive: true });
  }

  /** Until the pointer was let go so often, here, or `delivered` says that it will not be. */
  async until(releases: number): Promise<void> {
    if (this.releases >= releases) return;
    await new Promise<void>((resolve) => {
      this.wake = () => {
        if (this.releases >= releases) resolve();
      };
    });
  }

  count(releases: number): void {
    this.releases += releases;
    this.wake?.();
  }

  stop(): void {
    this.observer.disconnect();
    window.removeEventListener("mouseup", this.released, { capture: true });
    this.count(Infinity);
  }
}

let watched: Watch | null = null;

export function watchForEffects(): void {
  forgetWatch();
  watched = new Watch(false);
}

function forgetWatch(): void {
  watched?.stop();
  watched = null;
}

/** The input that `settled` was told to wait for has all been given, wherever it went. */
export function delivered(): object {
  watched?.count(Infinity);
  return {};
}

export interface Settled {
  changed: boolean;
  /** Clicks and keys give a page the right to open a tab; doing so takes it away. */
  hasActivation: boolean;
  /** The input did not reach its target, and why. There is no snapshot then, because the caller tries again. */
  missed?: Miss;
  snapshot?: SnapshotReply;
}

/**
 * `watched: false` says that nothing was prepared for this: what is watched is from something else. With `snapshot` (the arguments of one), what the page looks like then: one round trip instead of two. With
 * `releases` it may be asked while the input is still on its way: it waits for the pointer to be let go so often.
 */
export async function settled(args: Args = {}): Promise<Settled> {
  if (args.watched === false) forgetWatch();
  const changed = await hasSettled(optionalNumber(args, "releases", 0) ?? 0);
  const hasActivation = navigator.userActivation?.isActive === true;
  const missed = takeVerdict();
  if (missed) return { changed, hasActivation, missed };
  return { changed, hasActivation, ...(args.snapshot ? { snapshot: snapshot(args.snapshot as Args) } : {}) };
}

async function hasSettled(releases: number): Promise<boolean> {
  if (releases > 0) {
    // Nobody watched from the start: then it cannot be known that nothing has changed.
    watched ??= new Watch(true);
    await watched.until(releases);
    await nextTask(); // this heard it first: the page's own handlers are about to run
  }
  // Handlers of input that has been acknowledged have run; what they queued runs in the next tasks.
  await nextTask();
  await nextTask();
  const hasChanged = watched?.hasChanged ?? true;
  forgetWatch();
  if (!hasChanged) return false;
  await nextFrame();
  return true;
}
