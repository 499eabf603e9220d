import { element, setText } from "./dom";
import type { Tile } from "./messages";
import { Picture } from "./picture";
import { ago, place, stateWords } from "./words";

export interface TileActions {
  open(session: string): void;
  pause(session: string): void;
  resume(session: string): void;
}

/** One session on the wall. It is made once and then kept in step with what the broker says. */
export class TileElement {
  readonly picture = new Picture();
  readonly root: HTMLElement;
  private readonly name = element("h2");
  private readonly state = element("span", { class: "state" });
  private readonly agent = element("p", { class: "agent" });
  private readonly title = element("p", { class: "title" });
  private readonly address = element("p", { class: "address" });
  private readonly last = element("p", { class: "last" });
  private readonly tabs = element("span", { class: "tabs" });
  private readonly hold = element("button", { type: "button" });
  private readonly open: HTMLButtonElement;
  tile: Tile;

  constructor(tile: Tile, actions: TileActions) {
    this.tile = tile;
    this.open = element(
      "button",
      { type: "button", class: "look", click: () => actions.open(this.tile.id) },
      this.picture.canvas,
      element("span", { class: "nothing" }, "No page open"),
    );
    this.hold.addEventListener("click", () =>
      this.tile.paused ? actions.resume(this.tile.id) : actions.pause(this.tile.id),
    );
    this.root = element(
      "li",
      { class: "tile" },
      element("header", {}, this.name, this.state),
      this.open,
      element("div", { class: "about" }, this.title, this.address, this.agent, this.last),
      element("footer", {}, this.tabs, this.hold),
    );
  }

  show(tile: Tile, last: string): void {
    this.tile = tile;
    const tab = tile.tabs.find((one) => one.tab === tile.current);
    this.root.dataset.color = tile.color;
    this.root.dataset.state = tile.state;
    this.root.classList.toggle("empty", !tab);
    setText(this.name, tile.name);
    setText(this.state, stateWords(tile));
    setText(this.agent, tile.agent);
    setText(this.title, tile.question ?? tile.dialog ?? (tab?.title || "Untitled page"));
    setText(this.address, tab ? place(tab.url) : "");
    setText(this.tabs, tile.tabs.length === 1 ? "1 tab" : `${tile.tabs.length} tabs`);
    setText(this.hold, tile.paused ? "Give back" : "Pause");
    this.hold.setAttribute("aria-label", `${tile.paused ? "Give back" : "Pause"} ${tile.name}`);
    this.open.setAttribute("aria-label", `Look at ${tile.name}: ${tab?.title || "no page"}`);
    this.picture.name(`Live picture of ${tile.name}`);
    const since = tile.seen ? `${ago(Date.now() / 1000 - tile.seen)} ago` : "";
    setText(this.last, [last, since].filter(Boolean).join(" · "));
  }
}
