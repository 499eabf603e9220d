import type { Connection } from "./connection";
import { button, element, setText } from "./dom";
import type { FeedLine, Tile } from "./messages";
import { clock, day, deed } from "./words";

const SHOWN = 2000;

/** What agents did, the newest first: live, and back in time as far as the audit trail goes. */
export class Feed {
  private readonly list = element("ol", { class: "feed" });
  private readonly older = button("Earlier", () => void this.goBack(), { class: "older" });
  private readonly note = element("p", { class: "quiet-note" });
  private tiles = new Map<string, Tile>();
  private before: string | undefined;
  private isAtStart = false;
  private isReading = false;
  /** Counts the lists that were begun, so that a late answer for another list is ignored. */
  private begun = 0;
  /** Lines that came live before the first look back, which may bring them again. */
  private early: Set<string> | undefined;

  /** `session`: whose actions to show; undefined shows all. */
  constructor(
    private readonly connection: Connection,
    readonly root: HTMLElement,
    private session?: string,
  ) {
    root.append(this.list, this.note, this.older);
  }

  /** Begin again with the newest actions of that session, or of all. */
  begin(session: string | undefined): void {
    this.session = session;
    this.begun += 1;
    this.list.replaceChildren();
    this.before = undefined;
    this.early = new Set();
    this.isAtStart = this.isReading = false;
    void this.goBack();
  }

  names(tiles: Tile[]): void {
    this.tiles = new Map(tiles.map((tile) => [tile.id, tile]));
  }

  /** Add what agents do now. */
  add(lines: FeedLine[]): void {
    const mine = lines.filter((line) => this.isShown(line));
    for (const line of mine) this.early?.add(JSON.stringify(line));
    this.list.prepend(...mine.map((line) => this.item(line)).reverse());
    while (this.list.children.length > SHOWN) this.list.lastElementChild?.remove();
  }

  private async goBack(): Promise<void> {
    if (this.isReading || this.isAtStart) return;
    this.isReading = true;
    const begun = this.begun;
    try {
      const page = await this.connection.feed(this.session, this.before);
      if (begun !== this.begun) return;
      this.before = page.older;
      this.isAtStart = page.older === undefined;
      const lines = page.lines.filter((line) => this.isShown(line) && !this.early?.has(JSON.stringify(line))).reverse();
      this.early = undefined;
      this.list.append(...lines.map((line) => this.item(line)));
    } catch {
      // Disconnected: the list begins again when the connection is back.
    } finally {
      if (begun === this.begun) {
        this.isReading = false;
        this.older.hidden = this.isAtStart;
        setText(this.note, this.isAtStart ? (this.list.childElementCount ? "That is everything." : "Nothing yet.") : "");
      }
    }
  }

  private isShown(line: FeedLine): boolean {
    return this.session === undefined ? line.session !== undefined : line.session === this.session;
  }

  private item(line: FeedLine): HTMLElement {
    const tile = this.tiles.get(line.session ?? "");
    const when = element("time", { datetime: line.at, title: day(line.at) }, clock(line.at));
    const who = this.session === undefined ? element("b", {}, tile?.name ?? line.session ?? "") : undefined;
    const item = element("li", {}, when, who, element("span", { class: "deed" }, deed(line)));
    if (tile) item.dataset.color = tile.color;
    if (line.outcome && line.outcome !== "ok") item.classList.add("failed");
    return item;
  }
}
