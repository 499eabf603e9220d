/**
 * Waits for the next frame, the next task or the next change of the page, without polling.
 * Frames may be slow or missing in background tabs, so no wait relies on them alone.
 */
import { type Args, optionalNumber } from "./args";
import { startBudget } from "./budget";
import { openRoots } from "./flat_tree";

const SLOW_FRAME_MS = 100;

/** Wait for one animation frame, or for `limitMs` where frames are slow. */
export function nextFrame(limitMs = SLOW_FRAME_MS): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Wait so many milliseconds, for a caller outside the page that has no timer of its own. */
export async function pause(args: Args): Promise<object> {
  await new Promise((resolve) => setTimeout(resolve, optionalNumber(args, "ms", 0, 1000) ?? 0));
  return {};
}

/** Wait for the tasks that are queued now, with their microtasks. Faster than a timer, which browsers clamp. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const EVERYTHING: MutationObserverInit = { subtree: true, childList: true, attributes: true, characterData: true };

/** Events after which geometry, visibility, state or address may differ although no node has changed. */
const TELLING_EVENTS = [
  "animationend", "change", "focusin", "fullscreenchange", "hashchange", "input", "load", "popstate", "resize", "scroll", "toggle", "transitionend", "transitioncancel",
];

/** Reports that something may have changed. Changes before the first `next()` count, too. */
class ChangeWatch {
  private hasChanged = false;
  private wake: (() => void) | null = null;
  private readonly observer = new MutationObserver(() => this.changed());
  private readonly changed = (): void => {
    this.hasChanged = true;
    this.wake?.();
  };
  private readonly navigation = (window as { navigation?: EventTarget }).navigation;

  constructor() {
    this.observeRoots();
    for (const name of TELLING_EVENTS) window.addEventListener(name, this.changed, { capture: true, passive: true });
    this.navigation?.addEventListener("currententrychange", this.changed);
  }

  /** Wait for a change. Return false if the deadline passes first. */
  async next(deadline: number): Promise<boolean> {
    if (!this.hasChanged) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = null;
    const changed = this.hasChanged;
    this.hasChanged = false;
    if (changed) this.observeRoots();
    return changed;
  }

  /** Changes may bring new shadow roots. Observing a root again has no effect. */
  private observeRoots(): void {
    for (const root of openRoots()) this.observer.observe(root, EVERYTHING);
  }

  stop(): void {
    this.observer.disconnect();
    for (const name of TELLING_EVENTS) window.removeEventListener(name, this.changed, { capture: true });
    this.navigation?.removeEventListener("currententrychange", this.changed);
  }
}

/**
 * Call `check` now and after every change, until it returns something or the time is over. Return null then.
 * In a burst of changes, call it once per frame, and never for more than half of the page's time.
 */
export async function untilPresent<T>(check: () => T | null | Promise<T | null>, timeoutMs: number): Promise<T | null> {
  const look = (): T | null | Promise<T | null> => {
    startBudget();
    return check();
  };
  const first = await look();
  if (first !== null || timeoutMs <= 0) return first;
  const deadline = performance.now() + timeoutMs;
  const watch = new ChangeWatch();
  try {
    for (;;) {
      const isOver = !(await watch.next(deadline));
      const begun = performance.now();
      const found = await look();
      if (found !== null || isOver || performance.now() >= deadline) return found;
      await rest(performance.now() - begun);
    }
  } finally {
    watch.stop();
  }
}

/** Wait as long as the last look took, at least one frame. */
async function rest(lookMs: number): Promise<void> {
  await nextFrame();
  if (lookMs > SLOW_FRAME_MS) await new Promise((resolve) => setTimeout(resolve, lookMs));
}
