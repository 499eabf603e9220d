import type { Connection } from "./connection";
import { Details, type Kind } from "./details";
import { element, found, setText } from "./dom";
import { Drawing } from "./drawing";
import { Hands } from "./hands";
import type { FeedLine, Tile } from "./messages";
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
  private readonly details: Details;
  private readonly drawing: Drawing;
  private readonly files = found<HTMLInputElement>("large-files");
  private session: string | undefined;
  private chosen: string | undefined;
  private tile: Tile | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly changed: () => void,
    private readonly failed: (error: Error) => void,
    private readonly said: (text: string) => void,
  ) {
    const stage = found("large-picture");
    stage.append(this.picture.canvas, this.picture.missing);
    this.details = new Details(connection, failed);
    found("large-close").addEventListener("click", () => this.dialog.close());
    found("large-end").addEventListener("click", () => this.end());
    this.hands = new Hands(this.picture.canvas, this.keys, (inputs) => {
      if (this.tab) this.connection.act(this.tab, inputs);
    });
    this.drawing = new Drawing(
      this.picture,
      stage,
      () => this.hands.viewport,
      async (drawing) => {
        if (!this.tab) return;
        await this.connection.draw({ tab: this.tab, ...drawing });
        this.said("The agent sees it with its next reply.");
      },
      () => this.drawingChanged(),
    );
    found("large-draw").addEventListener("click", () => (this.drawing.isOn ? this.drawing.stop() : this.drawing.start()));
    this.hold.addEventListener("click", () => void this.turn());
    found("large-chooser").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.giveFiles();
    });
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
    this.dialog.addEventListener("cancel", (event) => {
      // Escape belongs to the page while the person acts in it.
      if (this.hands.hasFocus) event.preventDefault();
      else if (this.drawing.isOn) {
        event.preventDefault();
        this.drawing.stop();
      }
    });
    this.dialog.addEventListener("close", () => {
      this.setTaken(false);
      this.drawing.stop();
      this.details.close();
      this.session = this.chosen = undefined;
      this.changed();
    });
  }

  /** The tab whose film the large view shows, if it is open. */
  get tab(): string | undefined {
    return this.session === undefined ? undefined : (this.chosen ?? this.tile?.current);
  }

  /** `kind`: what stands beside the picture first. */
  open(tile: Tile, kind?: Kind): void {
    this.session = tile.id;
    this.picture.clear();
    this.show([tile]);
    this.details.open(tile.id, this.tab, kind);
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
    found("large-state").dataset.state = tile.state;
    if (!tile.paused) this.setTaken(false);
    setText(this.hold, this.isTaken ? "Give back to the agent" : "Take over");
    const open = tile.tabs.find((one) => one.tab === this.tab);
    if (document.activeElement !== this.address) this.address.value = open?.url ?? "";
    const asks = tile.asking.find((one) => one.tab === this.tab);
    found("large-dialog").hidden = asks?.dialog === undefined;
    setText(found("large-dialog-text"), asks?.dialog ?? "");
    found("large-chooser").hidden = asks?.chooser === undefined || !this.isTaken;
    this.files.multiple = asks?.chooser === "many";
    this.details.names(tiles);
    this.details.follow(this.tab);
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

  /** While the person draws, the picture stands still and the page gets no input. */
  private drawingChanged(): void {
    const { isOn } = this.drawing;
    this.hands.isOn = this.isTaken && !isOn;
    this.dialog.classList.toggle("drawing", isOn);
    setText(found("large-draw"), isOn ? "Stop drawing" : "Show the agent");
    this.picture.isHeld = isOn;
  }

  private async giveFiles(): Promise<void> {
    try {
      if (this.tab && this.files.files) await this.connection.giveFiles(this.tab, this.files.files);
      this.files.value = "";
    } catch (error) {
      this.failed(error as Error);
    }
  }

  /** Add what agents do now. */
  add(lines: FeedLine[]): void {
    this.details.add(lines);
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
}
