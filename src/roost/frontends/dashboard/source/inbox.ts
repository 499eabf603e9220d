import type { Connection } from "./connection";
import { button, element, found, setText } from "./dom";
import type { Tile } from "./messages";
import { place } from "./words";

interface Answer {
  text: string;
  /** The answer as `session_answer` takes it. */
  answer: string;
  isGood?: boolean;
}

/** The buttons under a question. */
function answersFor(_tile: Tile): Answer[] {
  return [
    { text: "Done", answer: "done", isGood: true },
    { text: "Cannot", answer: "cannot" },
  ];
}

interface Shown {
  root: HTMLElement;
  reason: HTMLElement;
  where: HTMLElement;
}

/** What agents ask the person. A question stays until it is answered here or elsewhere. */
export class Inbox {
  private readonly list = found("inbox");
  private readonly shown = new Map<string, Shown>();

  constructor(
    private readonly connection: Connection,
    private readonly look: (session: string) => void,
    private readonly failed: (error: Error) => void,
  ) {}

  show(tiles: Tile[]): void {
    const asking = tiles.filter((tile) => tile.question !== undefined);
    for (const [session, { root }] of this.shown) {
      if (!asking.some((tile) => tile.id === session)) {
        root.remove();
        this.shown.delete(session);
      }
    }
    for (const tile of asking) {
      const item = this.shown.get(tile.id) ?? this.added(tile);
      const tab = tile.tabs.find((one) => one.tab === tile.current);
      setText(item.reason, `“${tile.question}”`);
      setText(item.where, tab ? `on ${place(tab.url)}` : "with no page open");
      item.root.dataset.color = tile.color;
    }
    this.list.hidden = asking.length === 0;
    document.title = asking.length ? `(${asking.length}) Roost` : "Roost";
  }

  private added(tile: Tile): Shown {
    const reason = element("q", { class: "reason" });
    const where = element("span", { class: "address" });
    const note = element("input", {
      type: "text",
      maxlength: "2000",
      autocomplete: "off",
      placeholder: "A note for the agent (optional)",
      "aria-label": `A note for ${tile.name}`,
    });
    const answer = (given: string): void =>
      void this.connection.call("session_answer", { session: tile.id, answer: given, note: note.value }).catch(this.failed);
    const root = element(
      "li",
      {},
      element("div", { class: "asks" }, element("p", {}, element("b", {}, tile.name), " asks: ", reason), where),
      element(
        "div",
        { class: "answers" },
        button("Look", () => this.look(tile.id)),
        note,
        ...answersFor(tile).map((one) => button(one.text, () => answer(one.answer), { class: one.isGood ? "primary" : undefined })),
      ),
    );
    this.list.append(root);
    const made = { root, reason, where };
    this.shown.set(tile.id, made);
    return made;
  }
}
