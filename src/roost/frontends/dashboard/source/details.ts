import type { Connection } from "./connection";
import { element, found, setText } from "./dom";
import { Feed } from "./feed";
import type { ConsoleMessages, FeedLine, NetworkRequests, Tile } from "./messages";
import { PolicyPanel } from "./policy";
import { place } from "./words";

const AGAIN_MS = 2000;
export type Kind = "activity" | "console" | "network" | "policy";
const KINDS: Kind[] = ["activity", "console", "network", "policy"];

/** Beside the large picture: what the agent did, console and network of the tab, and the session's policy. */
export class Details {
  private readonly root = found("large-details");
  private readonly activity = element("div");
  private readonly rows = element("div", { class: "rows" });
  private readonly feed: Feed;
  private readonly policy: PolicyPanel;
  private kind: Kind = "activity";
  private at: { session: string; tab: string | undefined } | undefined;
  private timer = 0;

  constructor(
    private readonly connection: Connection,
    failed: (error: Error) => void,
  ) {
    this.feed = new Feed(connection, this.activity);
    this.policy = new PolicyPanel(connection, failed);
    for (const kind of KINDS) {
      found(`large-${kind}`).addEventListener("click", () => this.choose(kind));
    }
  }

  open(session: string, tab: string | undefined, kind: Kind = "activity"): void {
    this.at = { session, tab };
    this.feed.begin(session);
    this.choose(kind);
  }

  /** Follow the large view to another tab. */
  follow(tab: string | undefined): void {
    if (this.at && this.at.tab !== tab) {
      this.at.tab = tab;
      if (this.kind !== "activity") void this.read();
    }
  }

  close(): void {
    this.at = undefined;
    clearTimeout(this.timer);
  }

  names(tiles: Tile[]): void {
    this.feed.names(tiles);
  }

  add(lines: FeedLine[]): void {
    if (this.at) this.feed.add(lines);
  }

  private choose(kind: Kind): void {
    this.kind = kind;
    clearTimeout(this.timer);
    for (const one of KINDS) found(`large-${one}`).setAttribute("aria-pressed", String(one === kind));
    this.rows.replaceChildren();
    this.root.replaceChildren(kind === "activity" ? this.activity : kind === "policy" ? this.policy.root : this.rows);
    if (kind !== "activity") void this.read();
  }

  /** Read console, network or policy now, and again while it is shown. */
  private async read(): Promise<void> {
    clearTimeout(this.timer);
    const { kind, at } = this;
    if (!at || kind === "activity") return;
    let rows: HTMLElement[] = [];
    try {
      if (kind === "policy") await this.policy.read(at.session);
      else if (!at.tab) rows = [quiet("No page is open.")];
      else if (kind === "console") rows = consoleRows((await this.ask("browser_console_messages", at)) as ConsoleMessages);
      else rows = networkRows((await this.ask("browser_network_requests", at)) as NetworkRequests);
    } catch (error) {
      rows = [quiet((error as Error).message)];
    }
    if (kind !== this.kind || at !== this.at) return;
    this.rows.replaceChildren(...rows);
    this.timer = setTimeout(() => void this.read(), AGAIN_MS);
  }

  private ask(op: string, at: { session: string; tab: string | undefined }): Promise<unknown> {
    return this.connection.call(op, { session: at.session, tab: at.tab });
  }
}

function quiet(text: string): HTMLElement {
  return element("p", { class: "quiet-note" }, text);
}

function consoleRows({ messages }: ConsoleMessages): HTMLElement[] {
  if (!messages.length) return [quiet("The page has written nothing.")];
  return messages.map(({ level, text, url, line }) => {
    const row = element("p", { class: "said" }, element("b", {}, level), " ", text);
    row.dataset.level = level;
    if (url) row.append(" ", element("span", { class: "address" }, `${place(url)}${line === undefined ? "" : `:${line}`}`));
    return row;
  });
}

function networkRows({ requests }: NetworkRequests): HTMLElement[] {
  if (!requests.length) return [quiet("The page has asked for nothing.")];
  return requests.map((one) => {
    const status = element("b", {});
    setText(status, one.error ?? (one.status === undefined ? "…" : String(one.status)));
    const took = one.durationMs === undefined ? "" : ` ${one.durationMs} ms`;
    const row = element("p", { class: "said" }, status, ` ${one.method} `, element("span", { class: "address" }, place(one.url)), took);
    row.dataset.level = one.error !== undefined || (one.status ?? 0) >= 400 ? "error" : "log";
    return row;
  });
}
