// Delays the report of tabs that closed with their window. A quitting browser closes its windows
// first. If the browser really quits, it is gone before the report is sent, and the agent keeps its
// tab: the broker finds it, or opens it again, when the browser is back.

const WINDOW_MS = 1000;

export class RemovalDelay {
  #tell;
  #fading = new Map(); // tab's handle → promise that the delay is over and the browser still runs

  /** tell(handle): reports to the broker that the tab is gone. */
  constructor(tell) {
    this.#tell = tell;
  }

  /** Report after the delay that the tab closed with its window. */
  withWindow(handle) {
    if (this.#fading.has(handle)) return;
    const late = new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    this.#fading.set(handle, late.then(() => this.#gone(handle)));
  }

  /** Resolves after the delay if that tab has just closed with its window, else at once. */
  async isOver(handle) {
    await this.#fading.get(handle);
  }

  #gone(handle) {
    this.#fading.delete(handle);
    this.#tell(handle);
  }
}
