import type { Connection } from "./connection";
import { element, found, setText } from "./dom";
import { Hands } from "./hands";
import type { Tile } from "./messages";
import { Picture } from "./picture";
import { place, stateWords } from "./words";

/** The large view of one session: its live picture, its tabs, and what the person may do with it. */
export class LargeView {
  readonly picture = new Picture();
  private readonly dialog = found<HTMLDialogElement>("large");
  private readonly tabs = found("large-tabs");
  readonly hands: Hands;
  private readonly keys = found<HTMLTextAreaElement>("large-keys");
  private readonly hold = found<HTMLButtonElement>("large-hold");
  private readonly controls = found("large-controls");
  private readonly note = found<HTMLInputElement>("large-note");
  private readonly address = found<HTMLInputElement>("large-address");
  private isTaken = false;
  private readonly details = found("large-details");
  private session: string | undefined;
  private chosen: string | undefined;
  private tile: Tile | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly changed: () => void,
    private readonly failed: (error: Error) => void,
  ) {
    found("large-picture").append(this.picture.canvas);
    found("large-close").addEventListener("click", () => this.dialog.close());
    found("large-end").addEventListener("click", () => this.end());
    this.hands = new Hands(this.picture.canvas, this.keys, (inputs) => {
      if (this.tab) this.connection.act(this.tab, inputs);
    });
    this.hold.addEventListener("click", () => void this.turn());
    for (const [id, op] of [["large-back", "browser_navigate_back"], ["large-forward", "browser_navigate_forward"], ["large-reload", "browser_reload"]] as const) {
      found(id).addEventListener("click", () => this.act(op, { tab: this.tab }));
    }
    found("large-go").addEventListener("submit", (event) => {
      event.preventDefault();
      this.act("browser_navigate", { tab: this.tab, url: this.address.value });
      this.hands.focus();
    });
    found("large-accept").addEventListener("click", () => this.answerDialog(true));
    found("large-dismiss").addEventListener("click", () => this.answerDialog(false));
    for (const [id, op] of [["large-console", "browser_console_messages"], ["large-network", "browser_network_requests"]] as const) {
      found(id).addEventListener("click", () => this.read(op));
    }
    this.dialog.addEventListener("cancel", (event) => {
      // Escape belongs to the page while the person acts in it.
      if (this.hands.hasFocus) event.preventDefault();
    });
    this.dialog.addEventListener("close", () => {
      this.setTaken(false);
      this.session = this.chosen = undefined;
      this.changed();
    });
  }

  /** The tab whose film the large view shows, if it is open. */
  get tab(): string | undefined {
    return this.session === undefined ? undefined : (this.chosen ?? this.tile?.current);
  }

  open(tile: Tile): void {
    this.session = tile.id;
    this.picture.canvas.classList.remove("drawn");
    setText(this.details, "");
    this.show([tile]);
    this.dialog.showModal();
    this.changed();
  }

  show(tiles: Tile[]): void {
    if (this.session === undefined) return;
    const tile = tiles.find((one) => one.id === this.session);
    if (!tile) {
      this.dialog.close();
      return;
    }
    this.tile = tile;
    if (!tile.tabs.some((one) => one.tab === this.chosen)) this.chosen = undefined;
    this.dialog.dataset.color = tile.color;
    setText(found("large-name"), tile.name);
    setText(found("large-state"), stateWords(tile));
    if (!tile.paused) this.setTaken(false);
    setText(this.hold, this.isTaken ? "Give back to the agent" : "Take over");
    const open = tile.tabs.find((one) => one.tab === this.tab);
    if (document.activeElement !== this.address) this.address.value = open?.url ?? "";
    found("large-dialog").hidden = tile.dialog === undefined;
    setText(found("large-dialog-text"), tile.dialog ?? "");
    this.picture.name(`Live picture of ${tile.name}`);
    this.showTabs(tile);
  }

  private showTabs(tile: Tile): void {
    const shown = this.tab;
    this.tabs.replaceChildren(
      ...tile.tabs.map((one) =>
        element(
          "li",
          {},
          element(
            "button",
            {
              type: "button",
              "aria-current": one.tab === shown ? "true" : undefined,
              click: () => {
                this.chosen = one.tab;
                this.showTabs(tile);
                this.changed();
              },
            },
            element("span", { class: "title" }, one.title || "Untitled page"),
            element("span", { class: "address" }, place(one.url)),
          ),
          element(
            "button",
            {
              type: "button",
              class: "close",
              "aria-label": `Close ${one.title || "tab"}`,
              click: () => this.act("browser_close", { tab: one.tab }),
            },
            "×",
          ),
        ),
      ),
    );
  }

  /** Take the session over, or give it back with a note. */
  private async turn(): Promise<void> {
    const session = this.session;
    if (session === undefined) return;
    try {
      if (this.isTaken) {
        await this.connection.give(session, this.note.value);
        this.note.value = "";
        this.setTaken(false);
      } else {
        await this.connection.take(session);
        this.setTaken(true);
        this.hands.focus();
      }
    } catch (error) {
      this.failed(error as Error);
    }
  }

  private setTaken(isTaken: boolean): void {
    this.isTaken = this.hands.isOn = isTaken;
    this.controls.hidden = !isTaken;
    this.keys.disabled = !isTaken;
    this.dialog.classList.toggle("taken", isTaken);
    setText(this.hold, isTaken ? "Give back to the agent" : "Take over");
  }

  private answerDialog(accept: boolean): void {
    const text = found<HTMLInputElement>("large-prompt").value;
    this.act("browser_handle_dialog", { tab: this.tab, accept, ...(text ? { promptText: text } : {}) });
  }

  private end(): void {
    if (confirm(`End ${this.tile?.name}? Its tabs are closed, and its cookies are forgotten.`)) {
      this.act("session_dispose");
    }
  }

  private act(op: string, args: Record<string, unknown> = {}): void {
    this.connection.call(op, { session: this.session, ...args }).catch(this.failed);
  }

  private async read(op: string): Promise<void> {
    try {
      const read = await this.connection.call(op, { session: this.session, tab: this.tab });
      setText(this.details, JSON.stringify(read, null, 2));
    } catch (error) {
      this.failed(error as Error);
    }
  }
}
