import { Connection } from "./connection";
import type { Kind } from "./details";
import { element, found, setText } from "./dom";
import { Feed } from "./feed";
import { HouseView } from "./house";
import { Inbox } from "./inbox";
import { LargeView } from "./large";
import type { FeedLine, FilmWish, Tile, Wall } from "./messages";
import type { Picture } from "./picture";
import { TileElement } from "./tile";
import { count, deed, URGENCY } from "./words";

const LARGE_FILM = 1;
const NEWS_MS = 6000;

type View = "wall" | "feed" | "house";

/** The page: the wall of tiles, the feed beside it, the house, and the large view above all. */
class Dashboard {
  private readonly wallElement = found("wall");
  private readonly whose = found<HTMLSelectElement>("feed-session");
  private readonly filter = found<HTMLInputElement>("filter");
  private readonly order = found<HTMLSelectElement>("order");
  private readonly tiles = new Map<string, TileElement>();
  private readonly films = new Map<number, TileElement>();
  private readonly numbers = new Map<string, number>();
  private readonly visible = new Set<Element>();
  private readonly lastDeeds = new Map<string, string>();
  private readonly connection: Connection;
  private readonly large: LargeView;
  private readonly inbox: Inbox;
  private readonly feed: Feed;
  private readonly house: HouseView;
  private wall: Wall | undefined;
  private isFed = false;
  private saying = 0;

  constructor() {
    this.connection = new Connection({
      connected: () => this.connected(),
      disconnected: (why) => this.say(why ?? "Roost is not there. This page tries again by itself."),
      wall: (wall) => this.show(wall),
      feed: (lines) => this.fed(lines),
      picture: (film, picture, width, height) => this.draw(film, picture, width, height),
      missed: (film, why) => this.pictureOf(film)?.miss(why),
    });
    const failed = (error: Error): void => this.say(error.message);
    const look = (session: string, kind?: Kind): void => this.open(session, kind);
    this.large = new LargeView(this.connection, () => this.largeChanged(), failed, (text) => this.say(text, true));
    this.feed = new Feed(this.connection, found("feed-scroll"));
    this.house = new HouseView(this.connection, look, failed);
    this.inbox = new Inbox(this.connection, look, failed);
    for (const one of document.querySelectorAll<HTMLElement>(".bar nav button")) {
      one.addEventListener("click", () => this.turnTo(one.dataset.view as View));
    }
    this.whose.addEventListener("change", () => this.feed.begin(this.whose.value || undefined));
    this.filter.addEventListener("input", () => this.arrange());
    this.order.addEventListener("change", () => this.arrange());
    document.addEventListener("visibilitychange", () => this.want());
    found("pause-all").addEventListener("click", () => this.each("session_pause", (tile) => !tile.paused));
    found("resume-all").addEventListener("click", () => this.each("session_resume", (tile) => tile.paused));
  }

  start(): void {
    const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? undefined;
    history.replaceState(null, "", location.pathname);
    this.connection.open(code);
  }

  private largeChanged(): void {
    if (!document.querySelector("dialog[open]")) document.body.append(found("message"));
    this.want();
  }

  private connected(): void {
    this.say("");
    this.isFed = false;
    this.feed.begin(this.whose.value || undefined);
  }

  private turnTo(view: View): void {
    document.body.dataset.view = view;
    for (const one of document.querySelectorAll<HTMLElement>(".bar nav button")) {
      if (one.dataset.view === view) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    if (view === "house") this.house.open();
    else this.house.close();
  }

  private readonly onScreen = new IntersectionObserver((changes) => {
    for (const change of changes) {
      if (change.isIntersecting) this.visible.add(change.target);
      else this.visible.delete(change.target);
    }
    this.want();
  });

  private show(wall: Wall): void {
    this.wall = wall;
    const here = new Set(wall.tiles.map((tile) => tile.id));
    for (const [id, shown] of this.tiles) {
      if (!here.has(id)) {
        this.onScreen.unobserve(shown.root);
        this.visible.delete(shown.root);
        shown.root.remove();
        this.tiles.delete(id);
      }
    }
    for (const tile of wall.tiles) {
      let shown = this.tiles.get(tile.id);
      if (!shown) {
        shown = new TileElement(tile, {
          open: (session) => this.open(session),
          pause: (session) => this.act("session_pause", session),
          resume: (session) => this.act("session_resume", session),
        });
        this.tiles.set(tile.id, shown);
        this.onScreen.observe(shown.root);
      }
      shown.show(tile, this.lastDeeds.get(tile.id) ?? "", this.parentOf(tile));
    }
    this.feed.names(wall.tiles);
    this.nameSessions(wall.tiles);
    this.house.show(wall);
    this.large.show(wall.tiles);
    this.inbox.show(wall.tiles);
    this.arrange();
    this.count(wall);
    this.want();
  }

  private arrange(): void {
    const words = this.filter.value.toLowerCase();
    const shown = [...this.tiles.values()].filter(({ tile }) => matches(tile, words));
    const by = this.order.value;
    shown.sort((a, b) =>
      by === "name"
        ? a.tile.name.localeCompare(b.tile.name)
        : by === "recent"
          ? (b.tile.seen ?? 0) - (a.tile.seen ?? 0)
          : URGENCY.indexOf(a.tile.state) - URGENCY.indexOf(b.tile.state) ||
            a.tile.name.localeCompare(b.tile.name),
    );
    const now = [...this.wallElement.children];
    const next = withChildren(shown).map((one) => one.root);
    if (now.length !== next.length || next.some((root, index) => root !== now[index])) {
      const focused = document.activeElement;
      this.wallElement.replaceChildren(...next);
      if (focused instanceof HTMLElement && this.wallElement.contains(focused)) focused.focus();
    }
    found("nobody").hidden = this.tiles.size > 0;
    found("no-match").hidden = !(this.tiles.size > 0 && shown.length === 0);
  }

  private count(wall: Wall): void {
    const working = wall.tiles.filter((tile) => tile.state === "working").length;
    const pools = wall.browsers.map((one) => `${one.kind} ${one.tabs}/${one.capacity || "∞"} tabs`);
    const asks = wall.tiles.filter((tile) => tile.state === "asks").length;
    const queue = wall.waiting.length ? [`${wall.waiting.length} waiting`] : [];
    const said = [count(wall.tiles.length, "session"), `${working} working`, ...(asks ? [`${asks} ask for you`] : []), ...pools, ...queue];
    setText(found("counts"), said.join(" · "));
    setText(found("version"), `Roost ${wall.version}`);
  }

  private parentOf(tile: Tile): string | undefined {
    return this.wall?.tiles.find((one) => one.id === tile.parent)?.name;
  }

  /** Keep the list of sessions whose actions can be shown alone. */
  private nameSessions(tiles: Tile[]): void {
    const known = tiles.map((tile) => `${tile.id} ${tile.name}`).join("\n");
    if (this.whose.dataset.known === known) return;
    this.whose.dataset.known = known;
    const chosen = this.whose.value;
    const options = tiles.map((tile) => element("option", { value: tile.id, selected: tile.id === chosen }, tile.name));
    // A session that has ended stays as long as its actions are shown.
    if (chosen && !tiles.some((tile) => tile.id === chosen)) options.push(element("option", { value: chosen, selected: true }, chosen));
    this.whose.replaceChildren(element("option", { value: "" }, "All sessions"), ...options);
  }

  /** Ask for the films of the tiles on the screen, and of the large view. */
  private want(): void {
    const wishes: FilmWish[] = [];
    this.films.clear();
    if (!document.hidden) {
      const large = this.large.tab;
      if (large) wishes.push({ number: LARGE_FILM, tab: large, kind: "large" });
      for (const shown of this.tiles.values()) {
        const tab = shown.tile.current;
        if (!tab || !this.visible.has(shown.root)) continue;
        const number = this.numberOf(tab);
        this.films.set(number, shown);
        wishes.push({ number, tab, kind: "tile" });
      }
    }
    this.connection.want(wishes);
  }

  private numberOf(tab: string): number {
    const number = this.numbers.get(tab) ?? this.numbers.size + LARGE_FILM + 1;
    this.numbers.set(tab, number);
    return number;
  }

  private draw(film: number, picture: Blob, width: number, height: number): void {
    if (film === LARGE_FILM) this.large.hands.viewport = { width, height };
    void this.pictureOf(film)?.draw(picture, () => this.connection.seen(film));
  }

  private pictureOf(film: number): Picture | undefined {
    return film === LARGE_FILM ? this.large.picture : this.films.get(film)?.picture;
  }

  private fed(lines: FeedLine[]): void {
    for (const line of lines) {
      if (!line.session || line.kind !== "call") continue;
      this.lastDeeds.set(line.session, deed(line));
      const shown = this.tiles.get(line.session);
      shown?.show(shown.tile, deed(line), this.parentOf(shown.tile));
    }
    // The first lines after a connection are those that the feed reads by itself.
    if (this.isFed) {
      this.feed.add(lines);
      this.large.add(lines);
    }
    this.isFed = true;
  }

  private open(session: string, kind?: Kind): void {
    const tile = this.wall?.tiles.find((one) => one.id === session);
    if (tile) this.large.open(tile, kind);
  }

  private act(op: string, session: string): void {
    this.connection.call(op, { session }).catch((error: Error) => this.say(error.message));
  }

  private each(op: string, applies: (tile: Tile) => boolean): void {
    for (const tile of this.wall?.tiles.filter(applies) ?? []) this.act(op, tile.id);
  }

  /** Say something to the person. `isGood`: it is news, and goes by itself. */
  private say(text: string, isGood = false): void {
    const message = found("message");
    // Everything outside of an open dialog is behind it.
    (document.querySelector("dialog[open]") ?? document.body).append(message);
    message.hidden = text === "";
    message.classList.toggle("good", isGood);
    setText(message, text);
    clearTimeout(this.saying);
    if (isGood) this.saying = setTimeout(() => this.say(""), NEWS_MS);
  }
}

/** Return the tiles with sub-agents right after the session that started them. */
function withChildren(tiles: TileElement[]): TileElement[] {
  const shown = new Set(tiles.map((one) => one.tile.id));
  const below = new Map<string | undefined, TileElement[]>();
  for (const one of tiles) {
    const { parent } = one.tile;
    const key = parent !== undefined && shown.has(parent) ? parent : undefined;
    below.set(key, [...(below.get(key) ?? []), one]);
  }
  const placed: TileElement[] = [];
  const put = (parent: string | undefined): void => {
    for (const one of below.get(parent) ?? []) {
      placed.push(one);
      put(one.tile.id);
    }
  };
  put(undefined);
  return placed;
}

function matches(tile: Tile, words: string): boolean {
  const text = [tile.name, tile.agent, tile.browser, ...tile.tabs.flatMap((one) => [one.title, one.url])];
  return text.join(" ").toLowerCase().includes(words);
}

new Dashboard().start();
