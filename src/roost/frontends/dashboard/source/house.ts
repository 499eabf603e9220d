import type { Connection } from "./connection";
import { button, element, found } from "./dom";
import type { Kind } from "./details";
import type { Finding, House, Policy, Profile, Wall } from "./messages";
import { policyParts } from "./policy";
import { ago, bytes, cores, count, stateWords } from "./words";

const AGAIN_MS = 3000;
const MARKS = { ok: "✓", warning: "!", failed: "✗" };

/** House keeping: what is used, who may do what, what is set, what is broken. It asks only while it is shown. */
export class HouseView {
  private readonly root = found("house");
  private readonly now = element("div", { class: "cards" });
  private readonly slow = element("div", { class: "cards" });
  private wall: Wall | undefined;
  private isOpen = false;
  private timer = 0;

  constructor(
    private readonly connection: Connection,
    private readonly look: (session: string, kind?: Kind) => void,
    private readonly failed: (error: Error) => void,
  ) {
    this.root.append(this.now, this.slow);
    document.addEventListener("visibilitychange", () => this.isOpen && void this.read());
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    void this.read();
    void this.readSlow();
  }

  close(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
  }

  show(wall: Wall): void {
    this.wall = wall;
  }

  private async read(): Promise<void> {
    clearTimeout(this.timer);
    if (!this.isOpen || document.hidden) return;
    try {
      const house = await this.connection.house();
      // A click must not lose its button.
      if (!this.now.contains(document.activeElement)) this.draw(house);
    } catch {
      // Disconnected: try again.
    }
    if (this.isOpen) this.timer = setTimeout(() => void this.read(), AGAIN_MS);
  }

  /** What changes rarely, or takes a second to find out. */
  private async readSlow(): Promise<void> {
    const doctor = card("Doctor", quiet("Looks at the installation …"));
    const profiles = card("Profiles", quiet("…"));
    const policy = card("Policy for all agents", quiet("…"));
    this.slow.replaceChildren(policy, profiles, doctor);
    await this.readPolicy(policy, "policy_show");
    const known = this.connection.call("profile_list").then((list) => (list as { profiles: Profile[] }).profiles);
    await known.then((list) => profiles.replaceWith(this.profiles(list)), this.failed);
    await this.connection.doctor().then((found) => doctor.replaceWith(this.doctor(found)), this.failed);
  }

  /** Show the configuration's policy in place of that card. */
  private async readPolicy(shown: HTMLElement, op: "policy_show" | "policy_reload"): Promise<void> {
    try {
      const policy = (await this.connection.call(op)) as Policy;
      const again = button("Read config.toml again", () => void this.readPolicy(made, "policy_reload"), { class: "small" });
      const made = card("Policy for all agents", ...policyParts(policy), again);
      shown.replaceWith(made);
    } catch (error) {
      this.failed(error as Error);
    }
  }

  private draw(house: House): void {
    const wall = this.wall;
    if (!wall) return;
    this.now.replaceChildren(
      this.processes(house, wall),
      this.sessions(house, wall),
      this.consents(house),
      card("Settings in force", definitions(Object.entries(house.settings).map(([name, value]) => [name, value || "–"]))),
    );
  }

  private processes(house: House, wall: Wall): HTMLElement {
    const whole = house.processes.reduce((sum, one) => sum + one.memoryBytes, 0);
    const rows = house.processes.map((one) => {
      const browser = wall.browsers.find((known) => known.id === one.name);
      const about = browser
        ? `${one.processes === 1 ? "1 process" : `${one.processes} processes`}, ${browser.tabs}/${browser.capacity || "∞"} tabs${browser.headless ? ", headless" : ""}`
        : `up ${ago(Date.now() / 1000 - wall.started)}`;
      return [one.name, about, bytes(one.memoryBytes), cores(one.processor)];
    });
    const waiting = wall.waiting.length
      ? `${count(wall.waiting.length, "session")} waiting for a tab: ${wall.waiting.map((id) => nameOf(wall, id)).join(", ")}.`
      : "Nobody waits for a tab.";
    return card("Browsers", table(["", "", "Memory", "Processor"], rows), quiet(`${bytes(whole)} in all. ${waiting}`));
  }

  private sessions(house: House, wall: Wall): HTMLElement {
    const used = new Map(house.sessions.map((one) => [one.session, one]));
    const rows = wall.tiles.map((tile) => {
      const mine = used.get(tile.id);
      const name = button(tile.name, () => this.look(tile.id), { class: "link" });
      const hold = tile.paused ? this.act("Give back", tile.name, "session_resume", tile.id) : this.act("Pause", tile.name, "session_pause", tile.id);
      const end = button("End", () => this.end(tile.id, tile.name), { class: "small danger", "aria-label": `End ${tile.name}` });
      const limits = tile.policy.join(", ") || "open";
      const policy = button(limits, () => this.look(tile.id, "policy"), { class: "link", "aria-label": `${limits}: policy of ${tile.name}` });
      return [name, stateWords(tile), policy, mine ? bytes(mine.memoryBytes) : "–", cores(mine?.processor), element("span", { class: "both" }, hold, end)];
    });
    const all = button("End all sessions", () => this.endAll(wall), { class: "danger" });
    return card(
      "Sessions",
      rows.length ? table(["Session", "State", "Policy", "Pages", "Processor", ""], rows) : quiet("No session is open."),
      quiet("Pages: memory of scripts and documents, where the browser tells."),
      wall.tiles.length ? all : undefined,
    );
  }

  private consents(house: House): HTMLElement {
    const rows = house.consents.map(({ browser, name, allow }) => {
      const said = allow === undefined ? "asked, not answered" : allow ? "may use it" : "may not use it";
      const forbid = button("Take back", () => void this.connection.forbid(browser, name).catch(this.failed), {
        class: "small",
        "aria-label": `Take the consent of ${name} back`,
      });
      return [name, browser, said, allow ? forbid : ""];
    });
    const none = quiet("No agent has asked to use your own browser.");
    return card("Your own browser", rows.length ? table(["Agent", "Browser", "", ""], rows) : none);
  }

  private profiles(list: Profile[]): HTMLElement {
    const rows = list.map((one) => [one.name, one.source, count(one.sites, "site"), one.anyAgent ? "every agent" : "agents started with it"]);
    return card("Profiles", rows.length ? table(["Profile", "From", "Logins", "For"], rows) : quiet("No profile was imported."));
  }

  private doctor(found: Finding[]): HTMLElement {
    const rows = found.map(({ name, verdict, detail, fix }) => {
      const row = element("li", {}, element("b", {}, MARKS[verdict]), ` ${name}: ${detail}`);
      row.dataset.verdict = verdict;
      if (fix) row.append(element("code", {}, fix));
      return row;
    });
    return card("Doctor", element("ul", { class: "findings" }, ...rows));
  }

  private act(text: string, name: string, op: string, session: string): HTMLElement {
    return button(text, () => void this.connection.call(op, { session }).catch(this.failed), { class: "small", "aria-label": `${text} ${name}` });
  }

  private end(session: string, name: string): void {
    if (confirm(`End ${name}? Its tabs are closed, and its cookies are forgotten.`)) {
      void this.connection.call("session_dispose", { session }).catch(this.failed);
    }
  }

  private endAll(wall: Wall): void {
    if (!confirm(`End all ${wall.tiles.length} sessions? Their tabs are closed, and their cookies are forgotten.`)) return;
    for (const tile of wall.tiles) void this.connection.call("session_dispose", { session: tile.id }).catch(this.failed);
  }
}

function nameOf(wall: Wall, id: string): string {
  return wall.tiles.find((tile) => tile.id === id)?.name ?? id;
}

function quiet(text: string): HTMLElement {
  return element("p", { class: "quiet-note" }, text);
}

function card(title: string, ...parts: (HTMLElement | undefined)[]): HTMLElement {
  return element("section", { class: "card" }, element("h2", {}, title), ...parts);
}

function table(heads: string[], rows: (HTMLElement | string)[][]): HTMLElement {
  const cells = (row: (HTMLElement | string)[]) => row.map((cell) => element("td", {}, cell));
  const head = heads.map((text) => element(text ? "th" : "td", text ? { scope: "col" } : {}, text));
  return element(
    "div",
    { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Table" },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row))))),
  );
}

function definitions(rows: [string, string][]): HTMLElement {
  return element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}
