/**
 * An action has settled when its handlers have run and, if they changed the page, one frame later.
 * `prepare` starts to watch for changes, so that a click that changes nothing need not wait for a frame.
 * The broker waits for requests that the action began: scripts here cannot see them.
 */
import { type Args, optionalNumber } from "./args";
import { nextFrame, nextTask } from "./moments";
import { type Miss, takeVerdict } from "./press_guard";
import { snapshot, type SnapshotReply } from "./snapshot";

/** Watches for changes of the page and for released mouse buttons until the action has settled. */
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

  /** Wait until that many mouse buttons were released in this document, or until `delivered` says that no more follow. */
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
  retireWatch();
  watched = new Watch(false);
}

/** Stop watching for effects. */
export function retireWatch(): void {
  watched?.stop();
  watched = null;
}

/** End the wait for releases: all input was delivered, maybe to another document. */
export function delivered(): object {
  watched?.count(Infinity);
  return {};
}

export interface Settled {
  changed: boolean;
  /** Clicks and keys give the page a user activation. Opening a tab consumes it. */
  hasActivation: boolean;
  /** The input did not reach its target, and why. There is no snapshot then, because the caller tries again. */
  missed?: Miss;
  snapshot?: SnapshotReply;
}

/**
 * Wait until the page has settled.
 *
 * `watched: false`: `prepare` was not called for this action, so an older watch is dropped.
 * `snapshot`: options of a snapshot to take then, which saves a round trip.
 * `releases`: `settled` is called before the input arrives, and waits for that many released mouse buttons.
 */
export async function settled(args: Args = {}): Promise<Settled> {
  if (args.watched === false) retireWatch();
  const changed = await hasSettled(optionalNumber(args, "releases", 0) ?? 0);
  const hasActivation = navigator.userActivation?.isActive === true;
  const missed = takeVerdict();
  if (missed) return { changed, hasActivation, missed };
  return { changed, hasActivation, ...(args.snapshot ? { snapshot: snapshot(args.snapshot as Args) } : {}) };
}

async function hasSettled(releases: number): Promise<boolean> {
  if (releases > 0) {
    // Without a watch from the start, assume that the page has changed.
    watched ??= new Watch(true);
    await watched.until(releases);
    await nextTask(); // this listener runs before the page's own handlers
  }
  // The handlers of acknowledged input have run. Tasks that they queued run next.
  await nextTask();
  await nextTask();
  const hasChanged = watched?.hasChanged ?? true;
  retireWatch();
  if (!hasChanged) return false;
  await nextFrame();
  return true;
}
