import type { Connection } from "./connection";
import { button, element, found, setText } from "./dom";
import type { Tile } from "./messages";
import { place } from "./words";

interface Answer {
  text: string;
  /** The answer as `session_answer` takes it. */
  answer: string;
  isGood?: boolean;
  title?: string;
}

const HANDED_OVER: Answer[] = [
  { text: "Done", answer: "done", isGood: true },
  { text: "Cannot", answer: "cannot" },
];

/** The buttons under a question. */
function answersFor({ approval, origin }: Tile): Answer[] {
  if (!approval) return HANDED_OVER;
  return [
    { text: "Allow once", answer: "once", isGood: true },
    { text: "In this session", answer: "session" },
    ...(origin ? [{ text: "On this origin", answer: "origin", title: origin }] : []),
    { text: "Always", answer: "always" },
    { text: "No", answer: "no" },
  ];
}

interface Shown {
  /** Which question it shows: a session may ask another one right after. */
  asks: string;
  root: HTMLElement;
  reason: HTMLElement;
  where: HTMLElement;
}

function asks(tile: Tile): string {
  return JSON.stringify([tile.question, tile.approval, tile.origin]);
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
      const known = this.shown.get(tile.id);
      if (known?.asks !== asks(tile)) {
        known?.root.remove();
      }
      const item = known?.asks === asks(tile) ? known : this.added(tile);
      const tab = tile.tabs.find((one) => one.tab === tile.current);
      setText(item.reason, tile.approval ? `${tile.question}` : `“${tile.question}”`);
      const where = tile.origin ?? (tab && place(tab.url));
      setText(item.where, where ? `on ${where}` : "with no page open");
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
      element("div", { class: "asks" }, element("p", {}, element("b", {}, tile.name), tile.approval ? " wants to " : " asks: ", reason), where),
      element(
        "div",
        { class: "answers" },
        button("Look", () => this.look(tile.id)),
        note,
        ...answersFor(tile).map((one) => button(one.text, () => answer(one.answer), { class: one.isGood ? "primary" : undefined, title: one.title })),
      ),
    );
    this.list.append(root);
    const made = { asks: asks(tile), root, reason, where };
    this.shown.set(tile.id, made);
    return made;
  }
}
