// Decides which pages show the outline, and its looks. Tabs that agents work in show it, in the colour
// and with the name of their group, unless the person paused the session or switched the outline off
// (`mark: false` in the extension's storage). The caller supplies the way to paint in a page.

export const SWITCH = "mark";
const BEAT_MS = 2000;
const LEASE_MS = 6000; // longer than BEAT_MS, because some beats come late
const SOON_MS = 1000; // do not wait longer: a page with an open dialog runs no scripts
const PICTURE_MS = 5000; // a picture waits longer, for a page that is only slow
const BACK_MS = 300; // delay of the outline after a picture, so that the next picture need not hide it
const KEYS_MS = 250; // typing glows at most once in this time
const WHITE = "#fff";
const BLACK = "#202124";
/** The browsers' colour of each tab group, and a text colour that is readable on it. */
const COLORS = {
  blue: ["#1a73e8", WHITE],
  red: ["#d93025", WHITE],
  yellow: ["#f9ab00", BLACK],
  green: ["#188038", WHITE],
  pink: ["#d01884", WHITE],
  purple: ["#a142f4", WHITE],
  cyan: ["#007b83", WHITE],
  orange: ["#fa903e", BLACK],
};
const GREY = ["#5f6368", WHITE];

export class Outlines {
  #strip;
  #run;
  #isOn = true;
  #paused = new Set(); // group keys
  // tab id → {look: last painted, or null, pictures: number being taken, hiding: promise that the
  // outline is hidden, back: timer that shows it again, isBusy: painting, keyed: time of the last key}
  #shown = new Map();
  #beat = null;

  /**
   * strip   lookOf(tabId): {key, title, color} of its managed group, or null
   * run     (tabId, look): runs `paint(look)` inside the tab's page; a promise
   */
  constructor({ local }, strip, run) {
    this.#strip = strip;
    this.#run = run;
    local.get(SWITCH).then((kept) => this.#switched(kept[SWITCH]));
    local.onChanged.addListener((changes) => {
      if (changes[SWITCH]) this.#switched(changes[SWITCH].newValue);
    });
  }

  /** Show the outline: an agent works in that tab, or the tab has a new page. */
  async show(tabId) {
    this.#known(tabId);
    await this.#paint(tabId);
  }

  /** Remove the outline, also from a tab that is the person's again. */
  async hide(tabId) {
    const known = this.#shown.get(tabId);
    this.forget(tabId);
    if (known?.look) await this.#soon(tabId, null);
  }

  async hideAll() {
    await Promise.all([...this.#shown.keys()].map((tabId) => this.hide(tabId)));
  }

  /** Forget the tab without painting, because its page can no longer be reached. */
  forget(tabId) {
    clearTimeout(this.#shown.get(tabId)?.back);
    this.#shown.delete(tabId);
    if (this.#shown.size || this.#beat === null) return;
    clearInterval(this.#beat);
    this.#beat = null;
  }

  /** Glow at the place of an action: [x, y], or "focus". */
  glow(tabId, spot) {
    const known = this.#known(tabId);
    if (spot === "focus" && Date.now() - known.keyed < KEYS_MS) return;
    if (spot === "focus") known.keyed = Date.now();
    this.#paint(tabId, spot);
  }

  /** Run `take`, which makes a picture, while the outline is hidden. */
  async without(tabId, take) {
    const known = this.#shown.get(tabId);
    if (!known?.look) return take();
    known.pictures++;
    clearTimeout(known.back);
    known.hiding ??= this.#paint(tabId, null, PICTURE_MS);
    try {
      await known.hiding;
      return await take();
    } finally {
      known.pictures--;
      known.back = setTimeout(() => this.#shown.get(tabId) === known && this.#paint(tabId), BACK_MS);
    }
  }

  /** Set the keys of the groups whose sessions the person has paused. */
  paused(keys) {
    this.#paused = new Set(keys);
    this.refresh();
  }

  /** Repaint the outlines whose looks have changed. */
  refresh() {
    for (const [tabId, { look }] of this.#shown)
      if (JSON.stringify(look) !== JSON.stringify(this.#lookOf(tabId))) this.#paint(tabId);
  }

  #switched(isOn = true) {
    this.#isOn = isOn;
    this.refresh();
  }

  #again() {
    for (const [tabId, { look, isBusy }] of this.#shown) if (look && !isBusy) this.#paint(tabId);
  }

  #known(tabId) {
    if (!this.#shown.has(tabId)) this.#shown.set(tabId, { look: null, pictures: 0, hiding: null, isBusy: false, keyed: -Infinity });
    return this.#shown.get(tabId);
  }

  #lookOf(tabId) {
    const group = this.#strip.lookOf(tabId);
    if (!this.#isOn || group === null || this.#paused.has(group.key)) return null;
    const [color, ink] = COLORS[group.color] ?? GREY;
    return { name: group.title || "Roost", color, ink };
  }

  async #paint(tabId, spot = null, ms = SOON_MS) {
    const known = this.#shown.get(tabId);
    const look = this.#lookOf(tabId);
    const wasPainted = known.look !== null;
    known.look = look;
    if (!known.pictures) known.hiding = null;
    if (look !== null) this.#beat ??= setInterval(() => this.#again(), BEAT_MS);
    if (look !== null) await this.#soon(tabId, { ...look, isHidden: known.pictures > 0, leaseMs: LEASE_MS, spot }, ms);
    else if (wasPainted) await this.#soon(tabId, null);
  }

  /** Paint, and wait for that at most `ms`. */
  async #soon(tabId, look, ms = SOON_MS) {
    const known = this.#shown.get(tabId) ?? {};
    known.isBusy = true;
    const painted = this.#run(tabId, look)
      .catch(() => {}) // one of the browser's own pages, or the tab is gone
      .finally(() => (known.isBusy = false));
    let late;
    await Promise.race([painted, new Promise((resolve) => (late = setTimeout(resolve, ms)))]);
    clearTimeout(late);
  }
}
