// Which pages bear the mark, and how it looks: those of tabs that something is done in, in the
// colour and name of their group, unless the person paused it or switched the mark off (`mark:
// false` in the extension's storage). How it gets into a page is the business of whoever runs it.

export const SWITCH = "mark";
const BEAT_MS = 2000;
const LEASE_MS = 6000; // some beats may come late
const SOON_MS = 1000; // a page that shows a dialog lets nobody in, and is not waited for
const PICTURE_MS = 5000; // a picture waits longer for a page that is only slow
const BACK_MS = 300; // after a picture; the next one, if it comes sooner, need not wait
const KEYS_MS = 250; // typing glows once in this time
const WHITE = "#fff";
const BLACK = "#202124";
/** As the browsers show their groups, and what can be read on it. */
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

export class Marks {
  #strip;
  #run;
  #isOn = true;
  #paused = new Set(); // group keys
  #shown = new Map(); // tab id → {look: as painted last, or null, pictures: being taken, hiding, back, isBusy, keyed}
  #beat = null;

  /**
   * strip   lookOf(tabId): {key, title, color} of its managed group, or null
   * run     (tabId, look): `paint(look)` inside the page of that tab, a promise
   */
  constructor({ local }, strip, run) {
    this.#strip = strip;
    this.#run = run;
    local.get(SWITCH).then((kept) => this.#switched(kept[SWITCH]));
    local.onChanged.addListener((changes) => {
      if (changes[SWITCH]) this.#switched(changes[SWITCH].newValue);
    });
  }

  /** Something is done in that tab, or another page came there. */
  async show(tabId) {
    this.#known(tabId);
    await this.#paint(tabId);
  }

  /** Also from a page that is the person's again: it was ours to put there. */
  async hide(tabId) {
    const known = this.#shown.get(tabId);
    this.forget(tabId);
    if (known?.look) await this.#soon(tabId, null);
  }

  async hideAll() {
    await Promise.all([...this.#shown.keys()].map((tabId) => this.hide(tabId)));
  }

  /** The page cannot be reached any more. */
  forget(tabId) {
    clearTimeout(this.#shown.get(tabId)?.back);
    this.#shown.delete(tabId);
    if (this.#shown.size || this.#beat === null) return;
    clearInterval(this.#beat);
    this.#beat = null;
  }

  /** Where something is done: [x, y], or "focus". */
  glow(tabId, spot) {
    const known = this.#known(tabId);
    if (spot === "focus" && Date.now() - known.keyed < KEYS_MS) return;
    if (spot === "focus") known.keyed = Date.now();
    this.#paint(tabId, spot);
  }

  /** What `take` makes is made without it. */
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

  /** The sessions that the person has paused, by their groups' keys. */
  paused(keys) {
    this.#paused = new Set(keys);
    this.refresh();
  }

  /** Paints where it looks otherwise than it should by now. */
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

  /** When it is painted, or the page has had its time. */
  async #soon(tabId, look, ms = SOON_MS) {
    const known = this.#shown.get(tabId) ?? {};
    known.isBusy = true;
    const painted = this.#run(tabId, look)
      .catch(() => {}) // one of the browser's own pages, or it is gone again
      .finally(() => (known.isBusy = false));
    let late;
    await Promise.race([painted, new Promise((resolve) => (late = setTimeout(resolve, ms)))]);
    clearTimeout(late);
  }
}
