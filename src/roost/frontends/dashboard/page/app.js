// Made from src/roost/frontends/dashboard/source by `npm install --no-package-lock && npm run build`. Edit the sources, not this file.
"use strict";
(() => {
  // connection.ts
  var TOKEN = "roost-token";
  var RETRY_MS = [300, 1e3, 2e3, 5e3];
  var HEAD_BYTES = 12;
  var CHUNK_BYTES = 128 * 1024;
  var UNSENT_BYTES = 1024 * 1024;
  var OperationFailed = class extends Error {
    constructor(error) {
      super(error.hint ? `${error.message} ${error.hint}` : error.message);
      this.error = error;
    }
    error;
  };
  var Connection = class {
    constructor(listener) {
      this.listener = listener;
    }
    listener;
    socket;
    tries = 0;
    calls = /* @__PURE__ */ new Map();
    nextCall = 1;
    wishes = [];
    isIn = false;
    /** `code` is the one-time code of `roost dashboard`, if the page was opened with one. */
    open(code) {
      const token = sessionStorage.getItem(TOKEN);
      if (!code && !token) {
        this.listener.disconnected("Run `roost dashboard` in a terminal to open this page.");
        return;
      }
      const socket = new WebSocket(new URL("live", location.href.replace(/^http/, "ws")));
      socket.binaryType = "arraybuffer";
      socket.onopen = () => socket.send(JSON.stringify(code ? { code } : { token }));
      socket.onmessage = (event) => this.heard(event.data);
      socket.onclose = () => this.closed();
      this.socket = socket;
    }
    /** Perform an operation as the person. */
    call(op, args = {}) {
      return this.ask({ op, arguments: args });
    }
    /** Take the session from its agent, so that the person can act in it. */
    take(session) {
      return this.ask({ take: session });
    }
    give(session, note) {
      return this.ask({ give: session, note });
    }
    /** Show the agent a drawing with its next reply. */
    draw(drawing) {
      return this.ask({ draw: drawing });
    }
    /** Earlier lines of the feed, of one session or of all. */
    feed(session, before) {
      return this.ask({ feed: { session, before } });
    }
    house() {
      return this.ask({ house: true });
    }
    async doctor() {
      return (await this.ask({ doctor: true })).findings;
    }
    /** Take back the consent that agents of that name may use that browser of the person's. */
    forbid(browser, name) {
      return this.ask({ forbid: { browser, name } });
    }
    /** Give files to the page that asks for them in that tab. */
    async giveFiles(tab, files) {
      for (const file of files) {
        await this.ask({ file: tab, name: file.name, bytes: file.size });
        for (let at = 0; at < file.size; at += CHUNK_BYTES) {
          const chunk = await file.slice(at, at + CHUNK_BYTES).arrayBuffer();
          while (this.isIn && (this.socket?.bufferedAmount ?? 0) > UNSENT_BYTES) {
            await new Promise((done) => setTimeout(done, 20));
          }
          if (!this.isIn) throw new Error("Roost was disconnected.");
          this.socket?.send(chunk);
        }
      }
      await this.ask({ choose: tab });
    }
    act(tab, inputs) {
      if (this.isIn) this.say({ tab, inputs });
    }
    ask(message) {
      return new Promise((done, failed) => {
        if (!this.isIn) {
          failed(new Error("Roost is not connected."));
          return;
        }
        const id = this.nextCall++;
        this.calls.set(id, { done, failed });
        this.say({ id, ...message });
      });
    }
    /** Say which films to show. Only a changed list is sent. */
    want(films) {
      if (JSON.stringify(films) === JSON.stringify(this.wishes)) return;
      this.wishes = films;
      if (this.isIn) this.say({ films });
    }
    seen(film) {
      if (this.isIn) this.say({ seen: film });
    }
    say(message) {
      this.socket?.send(JSON.stringify(message));
    }
    heard(data) {
      if (typeof data !== "string") {
        const head2 = new DataView(data);
        const picture = new Blob([new Uint8Array(data, HEAD_BYTES)], { type: "image/jpeg" });
        this.listener.picture(head2.getUint32(0), picture, head2.getUint32(4), head2.getUint32(8));
        return;
      }
      const message = JSON.parse(data);
      if (message.welcome) this.welcomed(message.welcome.token);
      else if (message.wall) this.listener.wall(message.wall);
      else if (message.feed) this.listener.feed(message.feed);
      else if (message.missed !== void 0) this.listener.missed(message.missed, message.why);
      else if (message.id) this.answered(message);
      else if (message.error) this.refused(message.error);
    }
    welcomed(token) {
      sessionStorage.setItem(TOKEN, token);
      this.tries = 0;
      this.isIn = true;
      if (this.wishes.length) this.say({ films: this.wishes });
      this.listener.connected();
    }
    answered(message) {
      const call = this.calls.get(message.id);
      this.calls.delete(message.id);
      if (message.error) call?.failed(new OperationFailed(message.error));
      else call?.done(message.result);
    }
    refused(error) {
      sessionStorage.removeItem(TOKEN);
      this.listener.disconnected(new OperationFailed(error).message);
    }
    closed() {
      this.isIn = false;
      for (const call of this.calls.values()) call.failed(new Error("Roost was disconnected."));
      this.calls.clear();
      if (!sessionStorage.getItem(TOKEN)) return;
      this.listener.disconnected();
      const wait = RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)];
      setTimeout(() => this.open(), wait);
    }
  };

  // dom.ts
  var SVG = "http://www.w3.org/2000/svg";
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(key, value);
      else if (typeof value === "boolean") made.toggleAttribute(key, value);
      else if (value !== void 0) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== void 0));
    return made;
  }
  function drawn(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    made.append(...children);
    return made;
  }
  function button(text, click, more = {}) {
    return element("button", { type: "button", ...more, click }, text);
  }
  function found(id) {
    const it = document.getElementById(id);
    if (!it) throw new Error(`There is no #${id}.`);
    return it;
  }
  function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  // words.ts
  var STATES = {
    asks: "Asks for you",
    paused: "You have it",
    waiting: "Waits for a tab",
    dialog: "Dialog open",
    crashed: "Page crashed",
    lost: "Browser is coming back",
    working: "Working",
    away: "Agent has left",
    idle: "Idle"
  };
  var URGENCY = [
    "asks",
    "dialog",
    "crashed",
    "lost",
    "paused",
    "waiting",
    "working",
    "idle",
    "away"
  ];
  function stateWords(tile) {
    return STATES[tile.state] ?? tile.state;
  }
  function place(url) {
    return url.replace(/^https?:\/\//, "").replace(/^([^/]*)\/$/, "$1");
  }
  var DEEDS = {
    browser_navigate: "opened",
    browser_click: "clicked",
    browser_type: "typed",
    browser_fill_form: "filled a form",
    browser_select_option: "chose an option",
    browser_press_key: "pressed a key",
    browser_press_sequentially: "typed",
    browser_hover: "hovered",
    browser_drag: "dragged",
    browser_scroll: "scrolled",
    browser_evaluate: "ran a script",
    browser_file_upload: "chose files",
    browser_take_screenshot: "took a screenshot",
    browser_tabs: "tabs",
    browser_batch: "did several steps",
    browser_pdf_save: "saved a PDF",
    browser_navigate_back: "went back",
    browser_navigate_forward: "went forward",
    browser_reload: "reloaded",
    browser_close: "closed a tab",
    browser_resize: "resized",
    browser_handle_dialog: "answered a dialog",
    browser_wait_for: "waited",
    session_open: "opened a session",
    session_dispose: "ended the session",
    browser_handoff: "asked for you",
    session_answer: "was answered",
    session_pause: "was paused",
    session_resume: "was given back"
  };
  var KINDS = {
    "question asked": "asked for you",
    "question answered": "was answered",
    "shown by person": "was shown something",
    "person answered": "was answered"
  };
  function deed(line) {
    const did = line.kind === "call" ? DEEDS[line.op ?? ""] ?? line.op ?? "called" : KINDS[line.kind] ?? line.kind;
    const action = line.op === "browser_tabs" && typeof line.action === "string" ? ` ${line.action}` : "";
    const where = line.url ? ` ${place(line.url)}` : "";
    const ended = line.outcome && line.outcome !== "ok" ? ` (${line.outcome})` : "";
    return `${did}${action}${where}${ended}`;
  }
  function clock(at) {
    return new Date(at).toLocaleTimeString(void 0, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  }
  function day(at) {
    return new Date(at).toLocaleString();
  }
  function ago(seconds) {
    if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
    if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
    return `${Math.round(seconds / 3600)} h`;
  }
  function bytes(count2) {
    const mib = count2 / 1024 / 1024;
    return mib < 1e3 ? `${mib.toFixed(mib < 10 ? 1 : 0)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
  }
  function cores(used) {
    return used === void 0 ? "–" : `${Math.round(used * 100)} %`;
  }
  function count(number, one) {
    return `${number} ${one}${number === 1 ? "" : "s"}`;
  }

  // feed.ts
  var SHOWN = 2e3;
  var Feed = class {
    /** `session`: whose actions to show; undefined shows all. */
    constructor(connection, root, session) {
      this.connection = connection;
      this.root = root;
      this.session = session;
      root.append(this.list, this.note, this.older);
    }
    connection;
    root;
    session;
    list = element("ol", { class: "feed" });
    older = button("Earlier", () => void this.goBack(), { class: "older" });
    note = element("p", { class: "quiet-note" });
    tiles = /* @__PURE__ */ new Map();
    before;
    isAtStart = false;
    isReading = false;
    /** Counts the lists that were begun, so that a late answer for another list is ignored. */
    begun = 0;
    /** Lines that came live before the first look back, which may bring them again. */
    early;
    /** Begin again with the newest actions of that session, or of all. */
    begin(session) {
      this.session = session;
      this.begun += 1;
      this.list.replaceChildren();
      this.before = void 0;
      this.early = /* @__PURE__ */ new Set();
      this.isAtStart = this.isReading = false;
      void this.goBack();
    }
    names(tiles) {
      this.tiles = new Map(tiles.map((tile) => [tile.id, tile]));
    }
    /** Add what agents do now. */
    add(lines) {
      const mine = lines.filter((line) => this.isShown(line));
      for (const line of mine) this.early?.add(JSON.stringify(line));
      this.list.prepend(...mine.map((line) => this.item(line)).reverse());
      while (this.list.children.length > SHOWN) this.list.lastElementChild?.remove();
    }
    async goBack() {
      if (this.isReading || this.isAtStart) return;
      this.isReading = true;
      const begun = this.begun;
      try {
        const page = await this.connection.feed(this.session, this.before);
        if (begun !== this.begun) return;
        this.before = page.older;
        this.isAtStart = page.older === void 0;
        const lines = page.lines.filter((line) => this.isShown(line) && !this.early?.has(JSON.stringify(line))).reverse();
        this.early = void 0;
        this.list.append(...lines.map((line) => this.item(line)));
      } catch {
      } finally {
        if (begun === this.begun) {
          this.isReading = false;
          this.older.hidden = this.isAtStart;
          setText(this.note, this.isAtStart ? this.list.childElementCount ? "That is everything." : "Nothing yet." : "");
        }
      }
    }
    isShown(line) {
      return this.session === void 0 ? line.session !== void 0 : line.session === this.session;
    }
    item(line) {
      const tile = this.tiles.get(line.session ?? "");
      const when = element("time", { datetime: line.at, title: day(line.at) }, clock(line.at));
      const who = this.session === void 0 ? element("b", {}, tile?.name ?? line.session ?? "") : void 0;
      const item = element("li", {}, when, who, element("span", { class: "deed" }, deed(line)));
      if (tile) item.dataset.color = tile.color;
      if (line.outcome && line.outcome !== "ok") item.classList.add("failed");
      return item;
    }
  };

  // policy.ts
  var PRESETS = {
    open: "Everything is allowed.",
    careful: "Asks you before uploads, downloads and scripts, and before a login is sent.",
    lockdown: "Only listed origins, no scripts, no uploads."
  };
  var FILE = "file";
  var SOURCE = "the dashboard";
  var FILE_BYTES = 64 * 1024;
  var PolicyPanel = class {
    constructor(connection, failed) {
      this.connection = connection;
      this.failed = failed;
      const choices = [...Object.entries(PRESETS), [FILE, "A policy file on this computer:"]];
      this.form = element(
        "form",
        { class: "choices", submit: (event) => void this.submit(event) },
        element("p", {}, "Choose another policy for this session. It replaces what its agents were started with. The configuration's policy stays."),
        ...choices.map(
          ([name, help]) => element(
            "label",
            {},
            element("input", { type: "radio", name: "policy", value: name, required: true }),
            element("span", {}, name === FILE ? "" : element("b", {}, name), ` ${help}`)
          )
        ),
        this.file,
        element("button", { type: "submit", class: "primary" }, "Set policy")
      );
      this.file.addEventListener("change", () => {
        this.form.querySelector(`[value=${FILE}]`)?.click();
      });
      this.root = element("div", { class: "policy" }, this.inForce, this.form);
    }
    connection;
    failed;
    root;
    inForce = element("div", { "aria-live": "polite" });
    file = element("input", { type: "file", accept: ".toml", "aria-label": "Policy file" });
    form;
    session = "";
    /** Read the policy of that session again. */
    async read(session) {
      if (session !== this.session) {
        this.session = session;
        this.form.reset();
        this.inForce.replaceChildren();
      }
      const policy = await this.connection.call("policy_show", { session });
      if (session === this.session) this.show(policy);
    }
    show(policy) {
      const shown = JSON.stringify(policy);
      if (this.inForce.dataset.shown === shown && this.inForce.hasChildNodes()) return;
      this.inForce.dataset.shown = shown;
      this.inForce.replaceChildren(...policyParts(policy));
      if (policy.approvals.length) {
        this.inForce.append(button("Withdraw approvals", () => void this.change("policy_forget", {})));
      }
    }
    async submit(event) {
      event.preventDefault();
      const chosen = String(new FormData(this.form).get("policy"));
      const file = this.file.files?.[0];
      if (chosen !== FILE) {
        await this.change("policy_set", { policy: chosen, source: SOURCE });
      } else if (!file) {
        this.failed(new Error("Choose a policy file first."));
      } else if (file.size > FILE_BYTES) {
        this.failed(new Error(`A policy file has at most ${FILE_BYTES / 1024} KiB.`));
      } else {
        await this.change("policy_set", { policy: await file.text(), source: `${SOURCE} (${file.name.slice(0, 100)})` });
      }
    }
    async change(op, args) {
      const session = this.session;
      try {
        const policy = await this.connection.call(op, { session, ...args });
        if (session === this.session) this.show(policy);
      } catch (error) {
        this.failed(error);
      }
    }
  };
  function policyParts(policy) {
    const layers = policy.layers.map(
      (layer) => element("section", {}, element("h3", {}, layer.source), element("ul", {}, ...layerLines(layer).map((line) => element("li", {}, line))))
    );
    const approved = policy.approvals.map(
      ({ subject, session, program, origin }) => element("li", {}, `${subject} on ${origin ?? "every origin"}, ${session ? "in this session" : `for ${program ?? "every program"}`}`)
    );
    return [
      ...policy.isOpen ? [element("p", {}, element("b", {}, "open"), ": everything is allowed.")] : [],
      ...layers,
      ...approved.length ? [element("section", {}, element("h3", {}, "You have approved"), element("ul", {}, ...approved))] : []
    ];
  }
  function layerLines(layer) {
    const { source: _, rules = [], ...limits } = layer;
    const lines = [...Object.entries(limits).map(([name, value]) => `${name} = ${JSON.stringify(value)}`), ...rules.map(ruleLine)];
    return lines.length ? lines : ["restricts nothing"];
  }
  function ruleLine({ verdict, operations, origins, clients }) {
    const where = origins?.length ? ` on ${origins.join(", ")}` : "";
    const whom = clients?.length ? ` for ${clients.join(", ")}` : "";
    return `${verdict} ${operations.join(", ")}${where}${whom}`;
  }

  // house.ts
  var AGAIN_MS = 3e3;
  var MARKS = { ok: "✓", warning: "!", failed: "✗" };
  var HouseView = class {
    constructor(connection, look, failed) {
      this.connection = connection;
      this.look = look;
      this.failed = failed;
      this.root.append(this.now, this.slow);
      document.addEventListener("visibilitychange", () => this.isOpen && void this.read());
    }
    connection;
    look;
    failed;
    root = found("house");
    now = element("div", { class: "cards" });
    slow = element("div", { class: "cards" });
    wall;
    isOpen = false;
    timer = 0;
    open() {
      if (this.isOpen) return;
      this.isOpen = true;
      void this.read();
      void this.readSlow();
    }
    close() {
      this.isOpen = false;
      clearTimeout(this.timer);
    }
    show(wall) {
      this.wall = wall;
    }
    async read() {
      clearTimeout(this.timer);
      if (!this.isOpen || document.hidden) return;
      try {
        const house = await this.connection.house();
        if (!this.now.contains(document.activeElement)) this.draw(house);
      } catch {
      }
      if (this.isOpen) this.timer = setTimeout(() => void this.read(), AGAIN_MS);
    }
    /** What changes rarely, or takes a second to find out. */
    async readSlow() {
      const doctor = card("Doctor", quiet("Looks at the installation …"));
      const profiles = card("Profiles", quiet("…"));
      const policy = card("Policy for all agents", quiet("…"));
      this.slow.replaceChildren(policy, profiles, doctor);
      await this.readPolicy(policy, "policy_show");
      const known = this.connection.call("profile_list").then((list) => list.profiles);
      await known.then((list) => profiles.replaceWith(this.profiles(list)), this.failed);
      await this.connection.doctor().then((found2) => doctor.replaceWith(this.doctor(found2)), this.failed);
    }
    /** Show the configuration's policy in place of that card. */
    async readPolicy(shown, op) {
      try {
        const policy = await this.connection.call(op);
        const again = button("Read config.toml again", () => void this.readPolicy(made, "policy_reload"), { class: "small" });
        const made = card("Policy for all agents", ...policyParts(policy), again);
        shown.replaceWith(made);
      } catch (error) {
        this.failed(error);
      }
    }
    draw(house) {
      const wall = this.wall;
      if (!wall) return;
      this.now.replaceChildren(
        this.processes(house, wall),
        this.sessions(house, wall),
        this.consents(house),
        card("Settings in force", definitions(Object.entries(house.settings).map(([name, value]) => [name, value || "–"])))
      );
    }
    processes(house, wall) {
      const whole = house.processes.reduce((sum, one) => sum + one.memoryBytes, 0);
      const rows = house.processes.map((one) => {
        const browser = wall.browsers.find((known) => known.id === one.name);
        const about = browser ? `${one.processes === 1 ? "1 process" : `${one.processes} processes`}, ${browser.tabs}/${browser.capacity || "∞"} tabs${browser.headless ? ", headless" : ""}` : `up ${ago(Date.now() / 1e3 - wall.started)}`;
        return [one.name, about, bytes(one.memoryBytes), cores(one.processor)];
      });
      const waiting = wall.waiting.length ? `${count(wall.waiting.length, "session")} waiting for a tab: ${wall.waiting.map((id) => nameOf(wall, id)).join(", ")}.` : "Nobody waits for a tab.";
      return card("Browsers", table(["", "", "Memory", "Processor"], rows), quiet(`${bytes(whole)} in all. ${waiting}`));
    }
    sessions(house, wall) {
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
        wall.tiles.length ? all : void 0
      );
    }
    consents(house) {
      const rows = house.consents.map(({ browser, name, allow }) => {
        const said = allow === void 0 ? "asked, not answered" : allow ? "may use it" : "may not use it";
        const forbid = button("Take back", () => void this.connection.forbid(browser, name).catch(this.failed), {
          class: "small",
          "aria-label": `Take the consent of ${name} back`
        });
        return [name, browser, said, allow ? forbid : ""];
      });
      const none = quiet("No agent has asked to use your own browser.");
      return card("Your own browser", rows.length ? table(["Agent", "Browser", "", ""], rows) : none);
    }
    profiles(list) {
      const rows = list.map((one) => [one.name, one.source, count(one.sites, "site"), one.anyAgent ? "every agent" : "agents started with it"]);
      return card("Profiles", rows.length ? table(["Profile", "From", "Logins", "For"], rows) : quiet("No profile was imported."));
    }
    doctor(found2) {
      const rows = found2.map(({ name, verdict, detail, fix }) => {
        const row = element("li", {}, element("b", {}, MARKS[verdict]), ` ${name}: ${detail}`);
        row.dataset.verdict = verdict;
        if (fix) row.append(element("code", {}, fix));
        return row;
      });
      return card("Doctor", element("ul", { class: "findings" }, ...rows));
    }
    act(text, name, op, session) {
      return button(text, () => void this.connection.call(op, { session }).catch(this.failed), { class: "small", "aria-label": `${text} ${name}` });
    }
    end(session, name) {
      if (confirm(`End ${name}? Its tabs are closed, and its cookies are forgotten.`)) {
        void this.connection.call("session_dispose", { session }).catch(this.failed);
      }
    }
    endAll(wall) {
      if (!confirm(`End all ${wall.tiles.length} sessions? Their tabs are closed, and their cookies are forgotten.`)) return;
      for (const tile of wall.tiles) void this.connection.call("session_dispose", { session: tile.id }).catch(this.failed);
    }
  };
  function nameOf(wall, id) {
    return wall.tiles.find((tile) => tile.id === id)?.name ?? id;
  }
  function quiet(text) {
    return element("p", { class: "quiet-note" }, text);
  }
  function card(title, ...parts) {
    return element("section", { class: "card" }, element("h2", {}, title), ...parts);
  }
  function table(heads, rows) {
    const cells = (row) => row.map((cell) => element("td", {}, cell));
    const head2 = heads.map((text) => element(text ? "th" : "td", text ? { scope: "col" } : {}, text));
    return element(
      "div",
      { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Table" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head2)), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))))
    );
  }
  function definitions(rows) {
    return element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  }

  // inbox.ts
  var HANDED_OVER = [
    { text: "Done", answer: "done", isGood: true },
    { text: "Cannot", answer: "cannot" }
  ];
  function answersFor({ approval, origin }) {
    if (!approval) return HANDED_OVER;
    return [
      { text: "Allow once", answer: "once", isGood: true },
      { text: "In this session", answer: "session" },
      ...origin ? [{ text: "On this origin", answer: "origin", title: origin }] : [],
      { text: "Always", answer: "always" },
      { text: "No", answer: "no" }
    ];
  }
  function asks(tile) {
    return JSON.stringify([tile.question, tile.approval, tile.origin]);
  }
  var Inbox = class {
    constructor(connection, look, failed) {
      this.connection = connection;
      this.look = look;
      this.failed = failed;
    }
    connection;
    look;
    failed;
    list = found("inbox");
    shown = /* @__PURE__ */ new Map();
    show(tiles) {
      const asking = tiles.filter((tile) => tile.question !== void 0);
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
    added(tile) {
      const reason = element("q", { class: "reason" });
      const where = element("span", { class: "address" });
      const note = element("input", {
        type: "text",
        maxlength: "2000",
        autocomplete: "off",
        placeholder: "A note for the agent (optional)",
        "aria-label": `A note for ${tile.name}`
      });
      const answer = (given) => void this.connection.call("session_answer", { session: tile.id, answer: given, note: note.value }).catch(this.failed);
      const root = element(
        "li",
        {},
        element("div", { class: "asks" }, element("p", {}, element("b", {}, tile.name), tile.approval ? " wants to " : " asks: ", reason), where),
        element(
          "div",
          { class: "answers" },
          button("Look", () => this.look(tile.id)),
          note,
          ...answersFor(tile).map((one) => button(one.text, () => answer(one.answer), { class: one.isGood ? "primary" : void 0, title: one.title }))
        )
      );
      this.list.append(root);
      const made = { asks: asks(tile), root, reason, where };
      this.shown.set(tile.id, made);
      return made;
    }
  };

  // details.ts
  var AGAIN_MS2 = 2e3;
  var KINDS2 = ["activity", "console", "network", "policy"];
  var Details = class {
    constructor(connection, failed) {
      this.connection = connection;
      this.feed = new Feed(connection, this.activity);
      this.policy = new PolicyPanel(connection, failed);
      for (const kind of KINDS2) {
        found(`large-${kind}`).addEventListener("click", () => this.choose(kind));
      }
    }
    connection;
    root = found("large-details");
    activity = element("div");
    rows = element("div", { class: "rows" });
    feed;
    policy;
    kind = "activity";
    at;
    timer = 0;
    open(session, tab, kind = "activity") {
      this.at = { session, tab };
      this.feed.begin(session);
      this.choose(kind);
    }
    /** Follow the large view to another tab. */
    follow(tab) {
      if (this.at && this.at.tab !== tab) {
        this.at.tab = tab;
        if (this.kind !== "activity") void this.read();
      }
    }
    close() {
      this.at = void 0;
      clearTimeout(this.timer);
    }
    names(tiles) {
      this.feed.names(tiles);
    }
    add(lines) {
      if (this.at) this.feed.add(lines);
    }
    choose(kind) {
      this.kind = kind;
      clearTimeout(this.timer);
      for (const one of KINDS2) found(`large-${one}`).setAttribute("aria-pressed", String(one === kind));
      this.rows.replaceChildren();
      this.root.replaceChildren(kind === "activity" ? this.activity : kind === "policy" ? this.policy.root : this.rows);
      if (kind !== "activity") void this.read();
    }
    /** Read console, network or policy now, and again while it is shown. */
    async read() {
      clearTimeout(this.timer);
      const { kind, at } = this;
      if (!at || kind === "activity") return;
      let rows = [];
      try {
        if (kind === "policy") await this.policy.read(at.session);
        else if (!at.tab) rows = [quiet2("No page is open.")];
        else if (kind === "console") rows = consoleRows(await this.ask("browser_console_messages", at));
        else rows = networkRows(await this.ask("browser_network_requests", at));
      } catch (error) {
        rows = [quiet2(error.message)];
      }
      if (kind !== this.kind || at !== this.at) return;
      this.rows.replaceChildren(...rows);
      this.timer = setTimeout(() => void this.read(), AGAIN_MS2);
    }
    ask(op, at) {
      return this.connection.call(op, { session: at.session, tab: at.tab });
    }
  };
  function quiet2(text) {
    return element("p", { class: "quiet-note" }, text);
  }
  function consoleRows({ messages }) {
    if (!messages.length) return [quiet2("The page has written nothing.")];
    return messages.map(({ level, text, url, line }) => {
      const row = element("p", { class: "said" }, element("b", {}, level), " ", text);
      row.dataset.level = level;
      if (url) row.append(" ", element("span", { class: "address" }, `${place(url)}${line === void 0 ? "" : `:${line}`}`));
      return row;
    });
  }
  function networkRows({ requests }) {
    if (!requests.length) return [quiet2("The page has asked for nothing.")];
    return requests.map((one) => {
      const status = element("b", {});
      setText(status, one.error ?? (one.status === void 0 ? "…" : String(one.status)));
      const took = one.durationMs === void 0 ? "" : ` ${one.durationMs} ms`;
      const row = element("p", { class: "said" }, status, ` ${one.method} `, element("span", { class: "address" }, place(one.url)), took);
      row.dataset.level = one.error !== void 0 || (one.status ?? 0) >= 400 ? "error" : "log";
      return row;
    });
  }

  // drawing.ts
  var INK = "#e6007a";
  var SHAPES = 8;
  var SMALLEST = 6;
  var MARGIN = 32;
  var PICTURE_CHARS = 22e4;
  var WIDEST = 1200;
  var Drawing = class {
    constructor(picture, stage, viewport, send, changed) {
      this.picture = picture;
      this.stage = stage;
      this.viewport = viewport;
      this.send = send;
      this.changed = changed;
      stage.append(this.ink);
      this.ink.addEventListener("pointerdown", (event) => this.begin(event));
      this.ink.addEventListener("pointermove", (event) => this.move(event));
      this.ink.addEventListener("pointerup", (event) => this.finish(event));
      this.ink.addEventListener("pointercancel", () => this.drop());
      found("draw-undo").addEventListener("click", () => {
        this.shapes.pop();
        this.show();
      });
      found("draw-cancel").addEventListener("click", () => this.stop());
      this.tools.addEventListener("submit", (event) => {
        event.preventDefault();
        void this.submit();
      });
      new ResizeObserver(() => this.place()).observe(picture.canvas);
      new ResizeObserver(() => this.place()).observe(stage);
      this.stop();
    }
    picture;
    stage;
    viewport;
    send;
    changed;
    isOn = false;
    tools = found("draw-tools");
    text = found("draw-text");
    ink = drawn("svg", { id: "ink", preserveAspectRatio: "none", "aria-hidden": "true" });
    shapes = [];
    open;
    start() {
      this.isOn = true;
      this.tools.hidden = false;
      this.ink.style.display = "";
      this.place();
      this.text.focus();
      this.changed();
    }
    stop() {
      const wasOn = this.isOn;
      this.isOn = false;
      this.shapes = [];
      this.open = void 0;
      this.text.value = "";
      this.tools.hidden = true;
      this.ink.style.display = "none";
      this.show();
      if (wasOn) this.changed();
    }
    async submit() {
      const { width, height } = this.viewport();
      const shapes = this.shapes.length ? this.shapes : [{ kind: "box", x: 0, y: 0, toX: width, toY: height }];
      await this.send({ text: this.text.value.trim(), shapes, picture: this.composed(shapes) });
      this.stop();
    }
    /** Lay the ink exactly over the picture. Its units are CSS pixels of the page. */
    place() {
      const { width, height } = this.viewport();
      const picture = this.picture.canvas.getBoundingClientRect();
      const stage = this.stage.getBoundingClientRect();
      this.ink.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.ink.style.left = `${picture.left - stage.left}px`;
      this.ink.style.top = `${picture.top - stage.top}px`;
      this.ink.style.width = `${picture.width}px`;
      this.ink.style.height = `${picture.height}px`;
    }
    point(event) {
      const box = this.ink.getBoundingClientRect();
      const { width, height } = this.viewport();
      const inside = (part, whole) => Math.round(Math.min(1, Math.max(0, part)) * whole);
      return {
        x: inside((event.clientX - box.left) / box.width, width),
        y: inside((event.clientY - box.top) / box.height, height)
      };
    }
    begin(event) {
      if (this.shapes.length >= SHAPES) return;
      event.preventDefault();
      this.ink.setPointerCapture(event.pointerId);
      const kind = new FormData(this.tools).get("shape") === "arrow" ? "arrow" : "box";
      const { x, y } = this.point(event);
      this.open = { kind, x, y, toX: x, toY: y };
    }
    move(event) {
      if (!this.open) return;
      const { x, y } = this.point(event);
      this.open.toX = x;
      this.open.toY = y;
      this.show();
    }
    finish(event) {
      if (!this.open) return;
      this.move(event);
      const { x, y, toX, toY } = this.open;
      if (Math.max(Math.abs(toX - x), Math.abs(toY - y)) >= SMALLEST) this.shapes.push(this.open);
      this.drop();
      this.text.focus();
    }
    drop() {
      this.open = void 0;
      this.show();
    }
    show() {
      const all = this.open ? [...this.shapes, this.open] : this.shapes;
      this.ink.replaceChildren(...all.flatMap(inked));
    }
    /** Return the drawn part of the picture with the drawing on it: JPEG in base64. */
    composed(shapes) {
      const { width, height } = this.viewport();
      const left = Math.max(0, Math.min(...shapes.flatMap((one) => [one.x, one.toX])) - MARGIN);
      const top = Math.max(0, Math.min(...shapes.flatMap((one) => [one.y, one.toY])) - MARGIN);
      const right = Math.min(width, Math.max(...shapes.flatMap((one) => [one.x, one.toX])) + MARGIN);
      const bottom = Math.min(height, Math.max(...shapes.flatMap((one) => [one.y, one.toY])) + MARGIN);
      const source = this.picture.canvas;
      const dense = source.width / width;
      for (const [most, quality] of [[WIDEST, 0.8], [WIDEST, 0.6], [WIDEST / 2, 0.6], [WIDEST / 4, 0.5]]) {
        const scale = Math.min(dense, most / (right - left), most / (bottom - top));
        const canvas = element("canvas");
        canvas.width = Math.max(1, Math.round((right - left) * scale));
        canvas.height = Math.max(1, Math.round((bottom - top) * scale));
        const context = canvas.getContext("2d");
        context.drawImage(source, left * dense, top * dense, (right - left) * dense, (bottom - top) * dense, 0, 0, canvas.width, canvas.height);
        context.scale(scale, scale);
        context.translate(-left, -top);
        for (const shape of shapes) paint(context, shape, scale);
        const text = canvas.toDataURL("image/jpeg", quality).split(",")[1] ?? "";
        if (text.length <= PICTURE_CHARS) return text;
      }
      throw new Error("The drawing is too large. Draw a smaller part.");
    }
  };
  function head({ x, y, toX, toY }) {
    const along = Math.atan2(toY - y, toX - x);
    const size = Math.min(22, Math.hypot(toX - x, toY - y) / 2);
    return [along + Math.PI * 0.82, along - Math.PI * 0.82].map((turn) => ({ x: toX + Math.cos(turn) * size, y: toY + Math.sin(turn) * size }));
  }
  function inked(shape) {
    const line = { fill: "none", stroke: INK, "stroke-width": 3, "stroke-linejoin": "round", "stroke-linecap": "round", "vector-effect": "non-scaling-stroke" };
    const { kind, x, y, toX, toY } = shape;
    if (kind === "box") {
      return [drawn("rect", { ...line, fill: `${INK}14`, x: Math.min(x, toX), y: Math.min(y, toY), width: Math.abs(toX - x), height: Math.abs(toY - y), rx: 4 })];
    }
    const [one, other] = head(shape);
    return [drawn("path", { ...line, d: `M${x} ${y}L${toX} ${toY}M${one.x} ${one.y}L${toX} ${toY}L${other.x} ${other.y}` })];
  }
  function paint(context, shape, scale) {
    const { kind, x, y, toX, toY } = shape;
    context.strokeStyle = INK;
    context.lineWidth = 3 / scale;
    context.lineCap = context.lineJoin = "round";
    if (kind === "box") {
      context.strokeRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
      return;
    }
    const [one, other] = head(shape);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.moveTo(one.x, one.y);
    context.lineTo(toX, toY);
    context.lineTo(other.x, other.y);
    context.stroke();
  }

  // hands.ts
  var BUTTONS = ["left", "middle", "right"];
  var NO_KEYS = /* @__PURE__ */ new Set(["Dead", "Process", "Unidentified", "Compose"]);
  var LINE_PIXELS = 40;
  var Hands = class {
    constructor(canvas, keys, send) {
      this.canvas = canvas;
      this.keys = keys;
      this.send = send;
      canvas.addEventListener("pointermove", (event) => this.mouse("move", event));
      canvas.addEventListener("pointerdown", (event) => {
        if (!this.isOn) return;
        this.focus();
        canvas.setPointerCapture(event.pointerId);
        this.mouse("down", event);
      });
      canvas.addEventListener("pointerup", (event) => this.mouse("up", event));
      canvas.addEventListener("contextmenu", (event) => this.isOn && event.preventDefault());
      canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      keys.addEventListener("keydown", (event) => this.key("key_down", event));
      keys.addEventListener("keyup", (event) => this.key("key_up", event));
      keys.addEventListener("input", (event) => this.typed(event));
      keys.addEventListener("compositionend", () => this.flushText());
    }
    canvas;
    keys;
    send;
    isOn = false;
    /** The page's size in CSS pixels, as the last picture said. */
    viewport = { width: 1, height: 1 };
    waiting = [];
    frame = 0;
    get hasFocus() {
      return this.isOn && document.activeElement === this.keys;
    }
    focus() {
      this.keys.focus({ preventScroll: true });
    }
    point(event) {
      const box = this.canvas.getBoundingClientRect();
      return {
        x: (event.clientX - box.left) / box.width * this.viewport.width,
        y: (event.clientY - box.top) / box.height * this.viewport.height
      };
    }
    mouse(kind, event) {
      if (!this.isOn) return;
      if (kind !== "move") event.preventDefault();
      const button2 = BUTTONS[event.button] ?? "left";
      const clicks = Math.min(3, Math.max(1, event.detail));
      this.put(kind === "move" ? { kind, ...this.point(event) } : { kind, ...this.point(event), button: button2, clicks });
    }
    wheel(event) {
      if (!this.isOn) return;
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
      this.put({ kind: "wheel", ...this.point(event), dx: event.deltaX * unit, dy: event.deltaY * unit });
    }
    key(kind, event) {
      if (!this.isOn || event.isComposing || NO_KEYS.has(event.key)) return;
      const isPaste = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v";
      if (isPaste) return;
      if (event.key === "Escape" && event.shiftKey) {
        this.keys.blur();
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      this.put({ kind, key: event.key });
    }
    /** Text that came without a key of its own: pasted, or made by an input method. */
    typed(event) {
      if (!event.isComposing) this.flushText();
    }
    flushText() {
      const text = this.keys.value;
      this.keys.value = "";
      if (this.isOn && text) this.put({ kind: "text", text });
    }
    /** Collect what happens until the next frame. Of several moves in a row only the last counts. */
    put(input) {
      const last = this.waiting.at(-1);
      if (input.kind === "move" && last?.kind === "move") this.waiting.pop();
      this.waiting.push(input);
      if (input.kind !== "move") this.flush();
      else this.frame ||= requestAnimationFrame(() => this.flush());
    }
    flush() {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      if (this.waiting.length) this.send(this.waiting.splice(0));
    }
  };

  // picture.ts
  var Picture = class {
    canvas = element("canvas", { class: "picture", role: "img" });
    /** Says why there is no picture. */
    missing = element("span", { class: "missing" });
    isDrawing = false;
    waiting;
    isStill = false;
    /** While held, the picture stands still: no next one is drawn or asked for. */
    set isHeld(isHeld) {
      this.isStill = isHeld;
      const go = this.waiting;
      if (isHeld || !go) return;
      this.waiting = void 0;
      go();
    }
    /** Draw the picture. `drawn` is called when the next one may come. */
    async draw(picture, drawn2) {
      if (this.isStill) {
        this.waiting = drawn2;
        return;
      }
      if (this.isDrawing) return;
      this.isDrawing = true;
      try {
        const bitmap = await createImageBitmap(picture);
        if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) {
          this.canvas.width = bitmap.width;
          this.canvas.height = bitmap.height;
        }
        this.canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
        bitmap.close();
        this.canvas.classList.add("drawn");
        this.miss("");
      } catch {
      } finally {
        this.isDrawing = false;
        drawn2();
      }
    }
    /** Say why there is no picture now. The last picture, if there is one, is shown faintly. */
    miss(why) {
      setText(this.missing, why);
      this.canvas.classList.toggle("old", why !== "");
    }
    /** Forget the last picture, because another tab is shown from now on. */
    clear() {
      this.canvas.classList.remove("drawn");
      this.miss("");
    }
    name(text) {
      this.canvas.setAttribute("aria-label", text);
    }
  };

  // large.ts
  var LargeView = class {
    constructor(connection, changed, failed, said) {
      this.connection = connection;
      this.changed = changed;
      this.failed = failed;
      this.said = said;
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
        () => this.drawingChanged()
      );
      found("large-draw").addEventListener("click", () => this.drawing.isOn ? this.drawing.stop() : this.drawing.start());
      this.hold.addEventListener("click", () => void this.turn());
      found("large-chooser").addEventListener("submit", (event) => {
        event.preventDefault();
        void this.giveFiles();
      });
      for (const [id, op] of [["large-back", "browser_navigate_back"], ["large-forward", "browser_navigate_forward"], ["large-reload", "browser_reload"]]) {
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
        this.session = this.chosen = void 0;
        this.changed();
      });
    }
    connection;
    changed;
    failed;
    said;
    picture = new Picture();
    dialog = found("large");
    tabs = found("large-tabs");
    hands;
    keys = found("large-keys");
    hold = found("large-hold");
    controls = found("large-controls");
    note = found("large-note");
    address = found("large-address");
    isTaken = false;
    details;
    drawing;
    files = found("large-files");
    session;
    chosen;
    tile;
    /** The tab whose film the large view shows, if it is open. */
    get tab() {
      return this.session === void 0 ? void 0 : this.chosen ?? this.tile?.current;
    }
    /** `kind`: what stands beside the picture first. */
    open(tile, kind) {
      this.session = tile.id;
      this.picture.clear();
      this.show([tile]);
      this.details.open(tile.id, this.tab, kind);
      this.dialog.showModal();
      this.changed();
    }
    show(tiles) {
      if (this.session === void 0) return;
      const tile = tiles.find((one) => one.id === this.session);
      if (!tile) {
        this.dialog.close();
        return;
      }
      this.tile = tile;
      if (!tile.tabs.some((one) => one.tab === this.chosen)) this.chosen = void 0;
      this.dialog.dataset.color = tile.color;
      setText(found("large-name"), tile.name);
      setText(found("large-state"), stateWords(tile));
      found("large-state").dataset.state = tile.state;
      if (!tile.paused) this.setTaken(false);
      setText(this.hold, this.isTaken ? "Give back to the agent" : "Take over");
      const open = tile.tabs.find((one) => one.tab === this.tab);
      if (document.activeElement !== this.address) this.address.value = open?.url ?? "";
      const asks2 = tile.asking.find((one) => one.tab === this.tab);
      found("large-dialog").hidden = asks2?.dialog === void 0;
      setText(found("large-dialog-text"), asks2?.dialog ?? "");
      found("large-chooser").hidden = asks2?.chooser === void 0 || !this.isTaken;
      this.files.multiple = asks2?.chooser === "many";
      this.details.names(tiles);
      this.details.follow(this.tab);
      this.picture.name(`Live picture of ${tile.name}`);
      this.showTabs(tile);
    }
    showTabs(tile) {
      const shown = this.tab;
      this.tabs.replaceChildren(
        ...tile.tabs.map(
          (one) => element(
            "li",
            {},
            element(
              "button",
              {
                type: "button",
                "aria-current": one.tab === shown ? "true" : void 0,
                click: () => {
                  this.chosen = one.tab;
                  this.showTabs(tile);
                  this.changed();
                }
              },
              element("span", { class: "title" }, one.title || "Untitled page"),
              element("span", { class: "address" }, place(one.url))
            ),
            element(
              "button",
              {
                type: "button",
                class: "close",
                "aria-label": `Close ${one.title || "tab"}`,
                click: () => this.act("browser_close", { tab: one.tab })
              },
              "×"
            )
          )
        )
      );
    }
    /** Take the session over, or give it back with a note. */
    async turn() {
      const session = this.session;
      if (session === void 0) return;
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
        this.failed(error);
      }
    }
    setTaken(isTaken) {
      this.isTaken = this.hands.isOn = isTaken;
      this.controls.hidden = !isTaken;
      this.keys.disabled = !isTaken;
      this.dialog.classList.toggle("taken", isTaken);
      setText(this.hold, isTaken ? "Give back to the agent" : "Take over");
    }
    /** While the person draws, the picture stands still and the page gets no input. */
    drawingChanged() {
      const { isOn } = this.drawing;
      this.hands.isOn = this.isTaken && !isOn;
      this.dialog.classList.toggle("drawing", isOn);
      setText(found("large-draw"), isOn ? "Stop drawing" : "Show the agent");
      this.picture.isHeld = isOn;
    }
    async giveFiles() {
      try {
        if (this.tab && this.files.files) await this.connection.giveFiles(this.tab, this.files.files);
        this.files.value = "";
      } catch (error) {
        this.failed(error);
      }
    }
    /** Add what agents do now. */
    add(lines) {
      this.details.add(lines);
    }
    answerDialog(accept) {
      const text = found("large-prompt").value;
      this.act("browser_handle_dialog", { tab: this.tab, accept, ...text ? { promptText: text } : {} });
    }
    end() {
      if (confirm(`End ${this.tile?.name}? Its tabs are closed, and its cookies are forgotten.`)) {
        this.act("session_dispose");
      }
    }
    act(op, args = {}) {
      this.connection.call(op, { session: this.session, ...args }).catch(this.failed);
    }
  };

  // tile.ts
  var TileElement = class {
    picture = new Picture();
    root;
    name = element("h2");
    state = element("span", { class: "state" });
    parent = element("p", { class: "parent" });
    agent = element("span", { class: "agent" });
    title = element("p", { class: "title" });
    address = element("p", { class: "address" });
    last = element("p", { class: "last" });
    policy = element("span", { class: "limits" });
    tabs = element("span", { class: "tabs" });
    hold = element("button", { type: "button", class: "small" });
    open;
    tile;
    constructor(tile, actions) {
      this.tile = tile;
      this.open = element(
        "button",
        { type: "button", class: "look", click: () => actions.open(this.tile.id) },
        this.picture.canvas,
        this.picture.missing,
        element("span", { class: "nothing" }, "No page open")
      );
      this.hold.addEventListener(
        "click",
        () => this.tile.paused ? actions.resume(this.tile.id) : actions.pause(this.tile.id)
      );
      this.root = element(
        "li",
        { class: "tile" },
        element("header", {}, element("span", { class: "dot", "aria-hidden": "true" }), this.name, this.state),
        this.open,
        element("div", { class: "about" }, this.title, this.address, this.last, this.parent),
        element("footer", {}, this.agent, this.policy, this.tabs, this.hold)
      );
    }
    /** `parent`: the name of the session whose agent started this sub-agent. */
    show(tile, last, parent) {
      this.tile = tile;
      const tab = tile.tabs.find((one) => one.tab === tile.current);
      const dialog = tile.asking.find((one) => one.tab === tile.current)?.dialog;
      this.root.dataset.color = tile.color;
      this.root.dataset.state = tile.state;
      this.root.classList.toggle("empty", !tab);
      this.root.classList.toggle("child", parent !== void 0);
      setText(this.name, tile.name);
      setText(this.state, stateWords(tile));
      setText(this.agent, tile.agent);
      setText(this.parent, parent === void 0 ? "" : `Sub-agent of ${parent}`);
      setText(this.title, tile.question ?? dialog ?? (tab ? tab.title || "Untitled page" : ""));
      setText(this.address, tab ? place(tab.url) : "");
      setText(this.policy, tile.policy.length ? "Restricted" : "");
      this.policy.title = tile.policy.join(", ");
      setText(this.tabs, count(tile.tabs.length, "tab"));
      setText(this.hold, tile.paused ? "Give back" : "Pause");
      this.hold.setAttribute("aria-label", `${tile.paused ? "Give back" : "Pause"} ${tile.name}`);
      this.open.setAttribute("aria-label", `Look at ${tile.name}: ${tab?.title || "no page"}`);
      this.picture.name(`Live picture of ${tile.name}`);
      const since = tile.seen ? `${ago(Date.now() / 1e3 - tile.seen)} ago` : "";
      setText(this.last, [last, since].filter(Boolean).join(" · "));
    }
  };

  // main.ts
  var LARGE_FILM = 1;
  var NEWS_MS = 6e3;
  var Dashboard = class {
    wallElement = found("wall");
    whose = found("feed-session");
    filter = found("filter");
    order = found("order");
    tiles = /* @__PURE__ */ new Map();
    films = /* @__PURE__ */ new Map();
    numbers = /* @__PURE__ */ new Map();
    visible = /* @__PURE__ */ new Set();
    lastDeeds = /* @__PURE__ */ new Map();
    connection;
    large;
    inbox;
    feed;
    house;
    wall;
    isFed = false;
    saying = 0;
    constructor() {
      this.connection = new Connection({
        connected: () => this.connected(),
        disconnected: (why) => this.say(why ?? "Roost is not there. This page tries again by itself."),
        wall: (wall) => this.show(wall),
        feed: (lines) => this.fed(lines),
        picture: (film, picture, width, height) => this.draw(film, picture, width, height),
        missed: (film, why) => this.pictureOf(film)?.miss(why)
      });
      const failed = (error) => this.say(error.message);
      const look = (session, kind) => this.open(session, kind);
      this.large = new LargeView(this.connection, () => this.largeChanged(), failed, (text) => this.say(text, true));
      this.feed = new Feed(this.connection, found("feed-scroll"));
      this.house = new HouseView(this.connection, look, failed);
      this.inbox = new Inbox(this.connection, look, failed);
      for (const one of document.querySelectorAll(".bar nav button")) {
        one.addEventListener("click", () => this.turnTo(one.dataset.view));
      }
      this.whose.addEventListener("change", () => this.feed.begin(this.whose.value || void 0));
      this.filter.addEventListener("input", () => this.arrange());
      this.order.addEventListener("change", () => this.arrange());
      document.addEventListener("visibilitychange", () => this.want());
      found("pause-all").addEventListener("click", () => this.each("session_pause", (tile) => !tile.paused));
      found("resume-all").addEventListener("click", () => this.each("session_resume", (tile) => tile.paused));
    }
    start() {
      const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? void 0;
      history.replaceState(null, "", location.pathname);
      this.connection.open(code);
    }
    largeChanged() {
      if (!document.querySelector("dialog[open]")) document.body.append(found("message"));
      this.want();
    }
    connected() {
      this.say("");
      this.isFed = false;
      this.feed.begin(this.whose.value || void 0);
    }
    turnTo(view) {
      document.body.dataset.view = view;
      for (const one of document.querySelectorAll(".bar nav button")) {
        if (one.dataset.view === view) one.setAttribute("aria-current", "page");
        else one.removeAttribute("aria-current");
      }
      if (view === "house") this.house.open();
      else this.house.close();
    }
    onScreen = new IntersectionObserver((changes) => {
      for (const change of changes) {
        if (change.isIntersecting) this.visible.add(change.target);
        else this.visible.delete(change.target);
      }
      this.want();
    });
    show(wall) {
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
            resume: (session) => this.act("session_resume", session)
          });
          this.tiles.set(tile.id, shown);
          this.onScreen.observe(shown.root);
        }
        shown.show(tile, this.lastDeeds.get(tile.id) ?? "", this.parentOf(tile));
      }
      this.feed.names(wall.tiles);
      this.nameSessions(wall.tiles);
      this.house.show(wall);
      this.large.show(wall.tiles);
      this.inbox.show(wall.tiles);
      this.arrange();
      this.count(wall);
      this.want();
    }
    arrange() {
      const words = this.filter.value.toLowerCase();
      const shown = [...this.tiles.values()].filter(({ tile }) => matches(tile, words));
      const by = this.order.value;
      shown.sort(
        (a, b) => by === "name" ? a.tile.name.localeCompare(b.tile.name) : by === "recent" ? (b.tile.seen ?? 0) - (a.tile.seen ?? 0) : URGENCY.indexOf(a.tile.state) - URGENCY.indexOf(b.tile.state) || a.tile.name.localeCompare(b.tile.name)
      );
      const now = [...this.wallElement.children];
      const next = withChildren(shown).map((one) => one.root);
      if (now.length !== next.length || next.some((root, index) => root !== now[index])) {
        const focused = document.activeElement;
        this.wallElement.replaceChildren(...next);
        if (focused instanceof HTMLElement && this.wallElement.contains(focused)) focused.focus();
      }
      found("nobody").hidden = this.tiles.size > 0;
      found("no-match").hidden = !(this.tiles.size > 0 && shown.length === 0);
    }
    count(wall) {
      const working = wall.tiles.filter((tile) => tile.state === "working").length;
      const pools = wall.browsers.map((one) => `${one.kind} ${one.tabs}/${one.capacity || "∞"} tabs`);
      const asks2 = wall.tiles.filter((tile) => tile.state === "asks").length;
      const queue = wall.waiting.length ? [`${wall.waiting.length} waiting`] : [];
      const said = [count(wall.tiles.length, "session"), `${working} working`, ...asks2 ? [`${asks2} ask for you`] : [], ...pools, ...queue];
      setText(found("counts"), said.join(" · "));
      setText(found("version"), `Roost ${wall.version}`);
    }
    parentOf(tile) {
      return this.wall?.tiles.find((one) => one.id === tile.parent)?.name;
    }
    /** Keep the list of sessions whose actions can be shown alone. */
    nameSessions(tiles) {
      const known = tiles.map((tile) => `${tile.id} ${tile.name}`).join("\n");
      if (this.whose.dataset.known === known) return;
      this.whose.dataset.known = known;
      const chosen = this.whose.value;
      const options = tiles.map((tile) => element("option", { value: tile.id, selected: tile.id === chosen }, tile.name));
      if (chosen && !tiles.some((tile) => tile.id === chosen)) options.push(element("option", { value: chosen, selected: true }, chosen));
      this.whose.replaceChildren(element("option", { value: "" }, "All sessions"), ...options);
    }
    /** Ask for the films of the tiles on the screen, and of the large view. */
    want() {
      const wishes = [];
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
    numberOf(tab) {
      const number = this.numbers.get(tab) ?? this.numbers.size + LARGE_FILM + 1;
      this.numbers.set(tab, number);
      return number;
    }
    draw(film, picture, width, height) {
      if (film === LARGE_FILM) this.large.hands.viewport = { width, height };
      void this.pictureOf(film)?.draw(picture, () => this.connection.seen(film));
    }
    pictureOf(film) {
      return film === LARGE_FILM ? this.large.picture : this.films.get(film)?.picture;
    }
    fed(lines) {
      for (const line of lines) {
        if (!line.session || line.kind !== "call") continue;
        this.lastDeeds.set(line.session, deed(line));
        const shown = this.tiles.get(line.session);
        shown?.show(shown.tile, deed(line), this.parentOf(shown.tile));
      }
      if (this.isFed) {
        this.feed.add(lines);
        this.large.add(lines);
      }
      this.isFed = true;
    }
    open(session, kind) {
      const tile = this.wall?.tiles.find((one) => one.id === session);
      if (tile) this.large.open(tile, kind);
    }
    act(op, session) {
      this.connection.call(op, { session }).catch((error) => this.say(error.message));
    }
    each(op, applies) {
      for (const tile of this.wall?.tiles.filter(applies) ?? []) this.act(op, tile.id);
    }
    /** Say something to the person. `isGood`: it is news, and goes by itself. */
    say(text, isGood = false) {
      const message = found("message");
      (document.querySelector("dialog[open]") ?? document.body).append(message);
      message.hidden = text === "";
      message.classList.toggle("good", isGood);
      setText(message, text);
      clearTimeout(this.saying);
      if (isGood) this.saying = setTimeout(() => this.say(""), NEWS_MS);
    }
  };
  function withChildren(tiles) {
    const shown = new Set(tiles.map((one) => one.tile.id));
    const below = /* @__PURE__ */ new Map();
    for (const one of tiles) {
      const { parent } = one.tile;
      const key = parent !== void 0 && shown.has(parent) ? parent : void 0;
      below.set(key, [...below.get(key) ?? [], one]);
    }
    const placed = [];
    const put = (parent) => {
      for (const one of below.get(parent) ?? []) {
        placed.push(one);
        put(one.tile.id);
      }
    };
    put(void 0);
    return placed;
  }
  function matches(tile, words) {
    const text = [tile.name, tile.agent, tile.browser, ...tile.tabs.flatMap((one) => [one.title, one.url])];
    return text.join(" ").toLowerCase().includes(words);
  }
  new Dashboard().start();
})();
