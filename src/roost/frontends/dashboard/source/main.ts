import { Connection } from "./connection";
import { element, found, setText } from "./dom";
import { Inbox } from "./inbox";
import { LargeView } from "./large";
import type { FeedLine, FilmWish, Tile, Wall } from "./messages";
import { TileElement } from "./tile";
import { clock, deed, URGENCY } from "./words";

const LARGE_FILM = 1;
const FEED_SHOWN = 200;

/** The page: the wall of tiles, the feed beside it, and the large view above both. */
class Dashboard {
  private readonly wallElement = found("wall");
  private readonly feedElement = found("feed");
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
  private wall: Wall | undefined;

  constructor() {
    this.connection = new Connection({
      connected: () => this.say(""),
      disconnected: (why) => this.say(why ?? "Roost is not there. This page tries again by itself."),
      wall: (wall) => this.show(wall),
      feed: (lines) => this.feed(lines),
      picture: (film, picture, width, height) => this.draw(film, picture, width, height),
    });
    this.large = new LargeView(this.connection, () => this.want(), (error) => this.say(error.message));
    this.inbox = new Inbox(
      this.connection,
      (session) => this.open(session),
      (error) => this.say(error.message),
    );
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
      shown.show(tile, this.lastDeeds.get(tile.id) ?? "");
    }
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
    const next = shown.map((one) => one.root);
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
    const sessions = wall.tiles.length === 1 ? "1 session" : `${wall.tiles.length} sessions`;
    const pools = wall.browsers.map((one) => `${one.kind} ${one.tabs}/${one.capacity || "∞"} tabs`);
    const asks = wall.tiles.filter((tile) => tile.state === "asks").length;
    const queue = wall.waiting.length ? [`${wall.waiting.length} waiting`] : [];
    setText(found("counts"), [sessions, `${working} working`, ...(asks ? [`${asks} ask for you`] : []), ...pools, ...queue].join(" · "));
    setText(found("version"), `Roost ${wall.version}`);
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
    const shown = film === LARGE_FILM ? this.large.picture : this.films.get(film)?.picture;
    void shown?.draw(picture, () => this.connection.seen(film));
  }

  private feed(lines: FeedLine[]): void {
    for (const line of lines) {
      if (!line.session || line.kind !== "call") continue;
      this.lastDeeds.set(line.session, deed(line));
      const shown = this.tiles.get(line.session);
      shown?.show(shown.tile, deed(line));
    }
    const made = lines.filter((line) => line.session).slice(-FEED_SHOWN).map((line) => this.feedItem(line));
    this.feedElement.prepend(...made.reverse());
    while (this.feedElement.children.length > FEED_SHOWN) this.feedElement.lastElementChild?.remove();
  }

  private feedItem(line: FeedLine): HTMLElement {
    const tile = this.wall?.tiles.find((one) => one.id === line.session);
    const item = element(
      "li",
      {},
      element("time", { datetime: line.at }, clock(line.at)),
      element("b", {}, tile?.name ?? line.session ?? ""),
      ` ${deed(line)}`,
    );
    if (tile) item.dataset.color = tile.color;
    if (line.outcome && line.outcome !== "ok") item.classList.add("failed");
    return item;
  }

  private open(session: string): void {
    const tile = this.wall?.tiles.find((one) => one.id === session);
    if (tile) this.large.open(tile);
  }

  private act(op: string, session: string): void {
    this.connection.call(op, { session }).catch((error: Error) => this.say(error.message));
  }

  private each(op: string, applies: (tile: Tile) => boolean): void {
    for (const tile of this.wall?.tiles.filter(applies) ?? []) this.act(op, tile.id);
  }

  private say(text: string): void {
    const message = found("message");
    message.hidden = text === "";
    setText(message, text);
  }
}

function matches(tile: Tile, words: string): boolean {
  const text = [tile.name, tile.agent, tile.browser, ...tile.tabs.flatMap((one) => [one.title, one.url])];
  return text.join(" ").toLowerCase().includes(words);
}

new Dashboard().start();
