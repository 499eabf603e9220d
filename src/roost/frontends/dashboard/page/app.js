// Made from src/roost/frontends/dashboard/source by `npm install --no-package-lock && npm run build`. Edit the sources, not this file.
"use strict";
(() => {
  // connection.ts
  var TOKEN = "roost-token";
  var RETRY_MS = [300, 1e3, 2e3, 5e3];
  var HEAD_BYTES = 12;
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
        const head = new DataView(data);
        const picture = new Blob([new Uint8Array(data, HEAD_BYTES)], { type: "image/jpeg" });
        this.listener.picture(head.getUint32(0), picture, head.getUint32(4), head.getUint32(8));
        return;
      }
      const message = JSON.parse(data);
      if (message.welcome) this.welcomed(message.welcome.token);
      else if (message.wall) this.listener.wall(message.wall);
      else if (message.feed) this.listener.feed(message.feed);
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
    browser_hover: "hovered",
    browser_drag: "dragged",
    browser_evaluate: "ran a script",
    browser_file_upload: "chose files",
    browser_take_screenshot: "took a screenshot",
    browser_tabs: "tabs",
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
  function deed(line) {
    const did = line.kind === "call" ? DEEDS[line.op ?? ""] ?? line.op ?? "called" : line.kind;
    const action = line.op === "browser_tabs" && typeof line.action === "string" ? ` ${line.action}` : "";
    const where = line.url ? ` ${place(line.url)}` : "";
    const ended = line.outcome && line.outcome !== "ok" ? ` (${line.outcome})` : "";
    return `${did}${action}${where}${ended}`;
  }
  function clock(at) {
    return new Date(at).toLocaleTimeString(void 0, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  }
  function ago(seconds) {
    if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
    if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
    return `${Math.round(seconds / 3600)} h`;
  }

  // inbox.ts
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
      const answer = (text, given, more = {}) => element(
        "button",
        {
          type: "button",
          ...more,
          click: () => void this.connection.call("session_answer", { session: tile.id, answer: given, note: note.value }).catch(this.failed)
        },
        text
      );
      const root = element(
        "li",
        {},
        element(
          "p",
          {},
          element("b", {}, tile.name),
          tile.approval ? " wants to " : " asks: ",
          reason,
          " ",
          where
        ),
        element(
          "div",
          { class: "answers" },
          element("button", { type: "button", click: () => this.look(tile.id) }, "Look"),
          note,
          ...tile.approval ? [
            answer("Allow once", "once", { class: "good" }),
            answer("In this session", "session"),
            ...tile.origin ? [answer("On this origin", "origin", { title: tile.origin })] : [],
            answer("Always", "always"),
            answer("No", "no")
          ] : [answer("Done", "done", { class: "good" }), answer("Cannot", "cannot")]
        )
      );
      this.list.append(root);
      const made = { asks: asks(tile), root, reason, where };
      this.shown.set(tile.id, made);
      return made;
    }
  };

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
      const button = BUTTONS[event.button] ?? "left";
      const clicks = Math.min(3, Math.max(1, event.detail));
      this.put(kind === "move" ? { kind, ...this.point(event) } : { kind, ...this.point(event), button, clicks });
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
    isDrawing = false;
    /** Draw the picture. `drawn` is called when the next one may come. */
    async draw(picture, drawn) {
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
      } catch {
      } finally {
        this.isDrawing = false;
        drawn();
      }
    }
    name(text) {
      this.canvas.setAttribute("aria-label", text);
    }
  };

  // large.ts
  var LargeView = class {
    constructor(connection, changed, failed) {
      this.connection = connection;
      this.changed = changed;
      this.failed = failed;
      found("large-picture").append(this.picture.canvas);
      found("large-close").addEventListener("click", () => this.dialog.close());
      found("large-end").addEventListener("click", () => this.end());
      this.hands = new Hands(this.picture.canvas, this.keys, (inputs) => {
        if (this.tab) this.connection.act(this.tab, inputs);
      });
      this.hold.addEventListener("click", () => void this.turn());
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
      for (const [id, op] of [["large-console", "browser_console_messages"], ["large-network", "browser_network_requests"]]) {
        found(id).addEventListener("click", () => this.read(op));
      }
      this.dialog.addEventListener("cancel", (event) => {
        if (this.hands.hasFocus) event.preventDefault();
      });
      this.dialog.addEventListener("close", () => {
        this.setTaken(false);
        this.session = this.chosen = void 0;
        this.changed();
      });
    }
    connection;
    changed;
    failed;
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
    details = found("large-details");
    session;
    chosen;
    tile;
    /** The tab whose film the large view shows, if it is open. */
    get tab() {
      return this.session === void 0 ? void 0 : this.chosen ?? this.tile?.current;
    }
    open(tile) {
      this.session = tile.id;
      this.picture.canvas.classList.remove("drawn");
      setText(this.details, "");
      this.show([tile]);
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
      if (!tile.paused) this.setTaken(false);
      setText(this.hold, this.isTaken ? "Give back to the agent" : "Take over");
      const open = tile.tabs.find((one) => one.tab === this.tab);
      if (document.activeElement !== this.address) this.address.value = open?.url ?? "";
      found("large-dialog").hidden = tile.dialog === void 0;
      setText(found("large-dialog-text"), tile.dialog ?? "");
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
    async read(op) {
      try {
        const read = await this.connection.call(op, { session: this.session, tab: this.tab });
        setText(this.details, JSON.stringify(read, null, 2));
      } catch (error) {
        this.failed(error);
      }
    }
  };

  // tile.ts
  var TileElement = class {
    picture = new Picture();
    root;
    name = element("h2");
    state = element("span", { class: "state" });
    agent = element("p", { class: "agent" });
    title = element("p", { class: "title" });
    address = element("p", { class: "address" });
    last = element("p", { class: "last" });
    tabs = element("span", { class: "tabs" });
    hold = element("button", { type: "button" });
    open;
    tile;
    constructor(tile, actions) {
      this.tile = tile;
      this.open = element(
        "button",
        { type: "button", class: "look", click: () => actions.open(this.tile.id) },
        this.picture.canvas,
        element("span", { class: "nothing" }, "No page open")
      );
      this.hold.addEventListener(
        "click",
        () => this.tile.paused ? actions.resume(this.tile.id) : actions.pause(this.tile.id)
      );
      this.root = element(
        "li",
        { class: "tile" },
        element("header", {}, this.name, this.state),
        this.open,
        element("div", { class: "about" }, this.title, this.address, this.agent, this.last),
        element("footer", {}, this.tabs, this.hold)
      );
    }
    show(tile, last) {
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
      const since = tile.seen ? `${ago(Date.now() / 1e3 - tile.seen)} ago` : "";
      setText(this.last, [last, since].filter(Boolean).join(" · "));
    }
  };

  // main.ts
  var LARGE_FILM = 1;
  var FEED_SHOWN = 200;
  var Dashboard = class {
    wallElement = found("wall");
    feedElement = found("feed");
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
    wall;
    constructor() {
      this.connection = new Connection({
        connected: () => this.say(""),
        disconnected: (why) => this.say(why ?? "Roost is not there. This page tries again by itself."),
        wall: (wall) => this.show(wall),
        feed: (lines) => this.feed(lines),
        picture: (film, picture, width, height) => this.draw(film, picture, width, height)
      });
      this.large = new LargeView(this.connection, () => this.want(), (error) => this.say(error.message));
      this.inbox = new Inbox(
        this.connection,
        (session) => this.open(session),
        (error) => this.say(error.message)
      );
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
        shown.show(tile, this.lastDeeds.get(tile.id) ?? "");
      }
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
      const next = shown.map((one) => one.root);
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
      const sessions = wall.tiles.length === 1 ? "1 session" : `${wall.tiles.length} sessions`;
      const pools = wall.browsers.map((one) => `${one.kind} ${one.tabs}/${one.capacity || "∞"} tabs`);
      const asks2 = wall.tiles.filter((tile) => tile.state === "asks").length;
      const queue = wall.waiting.length ? [`${wall.waiting.length} waiting`] : [];
      setText(found("counts"), [sessions, `${working} working`, ...asks2 ? [`${asks2} ask for you`] : [], ...pools, ...queue].join(" · "));
      setText(found("version"), `Roost ${wall.version}`);
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
      const shown = film === LARGE_FILM ? this.large.picture : this.films.get(film)?.picture;
      void shown?.draw(picture, () => this.connection.seen(film));
    }
    feed(lines) {
      for (const line of lines) {
        if (!line.session || line.kind !== "call") continue;
        this.lastDeeds.set(line.session, deed(line));
        const shown = this.tiles.get(line.session);
        shown?.show(shown.tile, deed(line));
      }
      const made = lines.filter((line) => line.session).slice(-FEED_SHOWN).map((line) => this.feedItem(line));
      this.feedElement.prepend(...made.reverse());
      while (this.feedElement.children.length > FEED_SHOWN) this.feedElement.lastElementChild?.remove();
    }
    feedItem(line) {
      const tile = this.wall?.tiles.find((one) => one.id === line.session);
      const item = element(
        "li",
        {},
        element("time", { datetime: line.at }, clock(line.at)),
        element("b", {}, tile?.name ?? line.session ?? ""),
        ` ${deed(line)}`
      );
      if (tile) item.dataset.color = tile.color;
      if (line.outcome && line.outcome !== "ok") item.classList.add("failed");
      return item;
    }
    open(session) {
      const tile = this.wall?.tiles.find((one) => one.id === session);
      if (tile) this.large.open(tile);
    }
    act(op, session) {
      this.connection.call(op, { session }).catch((error) => this.say(error.message));
    }
    each(op, applies) {
      for (const tile of this.wall?.tiles.filter(applies) ?? []) this.act(op, tile.id);
    }
    say(text) {
      const message = found("message");
      message.hidden = text === "";
      setText(message, text);
    }
  };
  function matches(tile, words) {
    const text = [tile.name, tile.agent, tile.browser, ...tile.tabs.flatMap((one) => [one.title, one.url])];
    return text.join(" ").toLowerCase().includes(words);
  }
  new Dashboard().start();
})();
