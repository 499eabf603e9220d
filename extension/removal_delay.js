// Tabs that went with their window. A browser that quits closes its windows first: so that a tab is
// gone is told a moment later, when a browser that quits is gone, too, and takes no tab away.

const WINDOW_MS = 1000;

export class Quitting {
  #tell;
  #fading = new Map(); // tab's handle → promise that the browser has not quit

  /** tell(handle): that tab is gone. */
  constructor(tell) {
    this.#tell = tell;
  }

  withWindow(handle) {
    if (this.#fading.has(handle)) return;
    const late = new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    this.#fading.set(handle, late.then(() => this.#gone(handle)));
  }

  /** Resolves at once, unless that tab has just gone with its window. */
  async isOver(handle) {
    await this.#fading.get(handle);
  }

  #gone(handle) {
    this.#fading.delete(handle);
    this.#tell(handle);
  }
}
