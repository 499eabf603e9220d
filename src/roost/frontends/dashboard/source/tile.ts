import { element, setText } from "./dom";
import type { Tile } from "./messages";
import { Picture } from "./picture";
import { ago, count, place, stateWords } from "./words";

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
  private readonly parent = element("p", { class: "parent" });
  private readonly agent = element("span", { class: "agent" });
  private readonly title = element("p", { class: "title" });
  private readonly address = element("p", { class: "address" });
  private readonly last = element("p", { class: "last" });
  private readonly policy = element("span", { class: "limits" });
  private readonly tabs = element("span", { class: "tabs" });
  private readonly hold = element("button", { type: "button", class: "small" });
  private readonly open: HTMLButtonElement;
  tile: Tile;

  constructor(tile: Tile, actions: TileActions) {
    this.tile = tile;
    this.open = element(
      "button",
      { type: "button", class: "look", click: () => actions.open(this.tile.id) },
      this.picture.canvas,
      this.picture.missing,
      element("span", { class: "nothing" }, "No page open"),
    );
    this.hold.addEventListener("click", () =>
      this.tile.paused ? actions.resume(this.tile.id) : actions.pause(this.tile.id),
    );
    this.root = element(
      "li",
      { class: "tile" },
      element("header", {}, element("span", { class: "dot", "aria-hidden": "true" }), this.name, this.state),
      this.open,
      element("div", { class: "about" }, this.title, this.address, this.last, this.parent),
      element("footer", {}, this.agent, this.policy, this.tabs, this.hold),
    );
  }

  /** `parent`: the name of the session whose agent started this sub-agent. */
  show(tile: Tile, last: string, parent: string | undefined): void {
    this.tile = tile;
    const tab = tile.tabs.find((one) => one.tab === tile.current);
    const dialog = tile.asking.find((one) => one.tab === tile.current)?.dialog;
    this.root.dataset.color = tile.color;
    this.root.dataset.state = tile.state;
    this.root.classList.toggle("empty", !tab);
    this.root.classList.toggle("child", parent !== undefined);
    setText(this.name, tile.name);
    setText(this.state, stateWords(tile));
    setText(this.agent, tile.agent);
    setText(this.parent, parent === undefined ? "" : `Sub-agent of ${parent}`);
    setText(this.title, tile.question ?? dialog ?? (tab ? tab.title || "Untitled page" : ""));
    setText(this.address, tab ? place(tab.url) : "");
    setText(this.policy, tile.policy.length ? "Restricted" : "");
    this.policy.title = tile.policy.join(", ");
    setText(this.tabs, count(tile.tabs.length, "tab"));
    setText(this.hold, tile.paused ? "Give back" : "Pause");
    this.hold.setAttribute("aria-label", `${tile.paused ? "Give back" : "Pause"} ${tile.name}`);
    this.open.setAttribute("aria-label", `Look at ${tile.name}: ${tab?.title || "no page"}`);
    this.picture.name(`Live picture of ${tile.name}`);
    const since = tile.seen ? `${ago(Date.now() / 1000 - tile.seen)} ago` : "";
    setText(this.last, [last, since].filter(Boolean).join(" · "));
  }
}
