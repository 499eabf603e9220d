// The tab strip: which tab belongs to which session, as the person sees and changes it.
//
// Each session has one tab group. The extension reports the tabs of managed groups to the broker.
// All other tabs are the person's, and the extension neither reads nor reports nor changes them.
// The ids of groups and tabs change with every start of the browser, so a group is found again by
// its title, colour and addresses. Events and commands run one after the other, after the stored
// state is loaded: the browser puts the background page to sleep and wakes it with an event.
//
// The file is long because all of these events and commands read and change the same private maps.

import { NO_SUCH_TAB, Refusal } from "./link.js";
import { RemovalDelay } from "./removal_delay.js";

const GRACE_MS = 1000; // the browser names the opener of a new tab within this time
const HOLD_MS = 150; // closing a group closes its tabs one by one, all within this time
const FRONT_MS = 1000; // the browser, not the person, brings a spawned tab to the front this soon
const RESTORE_MS = 6000; // how long a browser may take to bring back its last windows
const TRY_MS = 100;
const TRIES = 20; // while the person drags a tab, the strip cannot be changed
const DEFAULT_STORE = "firefox-default";
const FORGOTTEN_AFTER = 3; // starts of the browser without the group

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class TabStrip {
  #api;
  #storage;
  #emit;
  #run = "";
  #isAsked = false; // a broker has asked for the state, so report events to it
  #groups = new Map(); // key → {key, title, color: as shown, given: by the broker, id, past: addresses}
  #tabs = new Map(); // tab id → {key, url, title, jar}
  #lost = []; // earlier groups that are not found again yet: {key, title, color, urls, misses}
  #closed = new Set(); // keys of groups that the person closed and no broker knows of yet
  #young = new Map(); // new tabs whose opener is not known yet → {timer, decided}
  #unsure = new Set(); // tabs that the person has just moved: refused until the new group is known
  #closing = new Set(); // tabs that the extension itself is closing
  #spawned = new Map(); // tab id → when it was spawned
  #front = new Map(); // window id → {now, before}: the tabs in front
  #leaving = new Map(); // key → tabs that the person closed within the last HOLD_MS
  #removals = new RemovalDelay((tab) => this.#tell("Tabs.removed", { tab }));
  #watch = { joined: () => {}, left: () => {}, closing: async () => {}, isGivenInput: () => false };
  #written = {}; // storage area → the JSON that was stored last
  #last; // promise of the last job in the queue
  #ready;

  constructor(api, storage, emit) {
    this.#api = api;
    this.#storage = storage;
    this.#emit = emit;
    this.#ready = this.#load();
    this.#last = this.#ready;
    this.#listen();
  }

  /** Resolves when the stored state is loaded. */
  get ready() {
    return this.#ready;
  }

  /** A random id of this run of the browser; part of every handle. */
  get run() {
    return this.#run;
  }

  /** The tab's id in the browser. Throws unless the tab is in a managed group at this moment. */
  tabOf(handle) {
    const id = this.#idOf(handle);
    if (id === null || this.#unsure.has(id)) throw new Refusal(NO_SUCH_TAB, "There is no such tab.");
    return id;
  }

  /** Resolves at once, or after a delay if the tab has just closed with its window. Commands wait
   * for it: while a browser quits, no answer may say that the tab is gone. */
  unlessQuitting(handle) {
    return this.#removals.isOver(handle);
  }

  /** The handle of a tab in a managed group; null for other tabs. */
  handleOf(id) {
    return this.#tabs.has(id) ? this.#handle(id) : null;
  }

  /** The key of a tab's managed group; null for other tabs. */
  groupOf(id) {
    return this.#tabs.get(id)?.key ?? null;
  }

  /** The looks of a tab's managed group: {key, title, color}; null for other tabs. */
  lookOf(id) {
    return this.#groups.get(this.groupOf(id)) ?? null;
  }

  jarOf(id) {
    return this.#tabs.get(id)?.jar ?? null;
  }

  /** The ids of the managed tabs in a jar. `store` is the browser's id of the jar. */
  tabsIn(store) {
    const jar = jarIn(store);
    return [...this.#tabs].filter(([, tab]) => tab.jar === jar).map(([id]) => id);
  }

  /**
   * Register callbacks about managed tabs.
   *
   * joined(id, isSettingOut)   a tab joined a managed group; isSettingOut: it is about to navigate
   * left(id)                   a tab left
   * closing(id)                awaited before the extension closes a tab
   * isGivenInput(id)           true while the tab gets trusted input
   */
  watch(watch) {
    this.#watch = { ...this.#watch, ...watch };
    for (const id of this.#tabs.keys()) this.#watch.joined(id);
  }

  /** Resolves when the opener of every new tab is known. */
  async decided() {
    while (this.#young.size) await Promise.race([...this.#young.values()].map(({ decided }) => decided));
    await this.#last;
  }

  /** Open a background tab for a managed one, in its group and jar. Returns the new tab's id. */
  spawn(opener, url) {
    return this.#inTurn(() => this.#spawn(opener, url));
  }

  /** Run a browser-level command of the broker; undefined for methods of other parts. */
  call(method, params) {
    const run = {
      "Roost.state": () => this.#state(),
      "Tabs.create": () => this.#create(params),
      "Tabs.close": () => this.#close(params.tab),
      "Tabs.show": () => this.#show(params.tab),
      "Groups.forget": () => this.#forget(params.key),
    }[method];
    return run && this.#inTurn(run);
  }

  // --- commands --------------------------------------------------------------------------------

  #state() {
    this.#isAsked = true;
    const closed = [...this.#closed];
    this.#closed.clear();
    const tabs = [...this.#tabs].map(([id, { key, url, title, jar }]) => {
      return { tab: this.#handle(id), group: key, url, title, jar };
    });
    return { tabs, closed };
  }

  async #create({ group: { key, title, color }, jar }) {
    await this.#release(key);
    const group = this.#groups.get(key);
    const windowId = group ? await this.#windowOf(group) : await this.#windowForNew();
    const options = jar ? { cookieStoreId: jar } : {};
    const tab =
      windowId === null
        ? await this.#createInWindowOfItsOwn(options)
        : await this.#api.tabs.create({ url: "about:blank", active: false, windowId, ...options });
    try {
      if (group) await this.#rename(group, title, color);
      const known = group ?? shown(key, { id: null, title, color });
      known.id = await this.#group(tab, known);
      if (!group) await this.#api.tabGroups.update(known.id, { title, color });
      this.#groups.set(key, known);
      this.#lost = this.#lost.filter((one) => one.key !== key);
      this.#closed.delete(key);
    } catch (error) {
      await this.#api.tabs.remove(tab.id).catch(() => {});
      throw error;
    }
    this.#add(tab, key);
    return { tab: this.#handle(tab.id) };
  }

  async #spawn(opener, url) {
    const key = this.groupOf(opener);
    if (key === null) throw new Refusal(NO_SUCH_TAB, "There is no such tab.");
    const { windowId, cookieStoreId } = await this.#api.tabs.get(opener);
    const jar = cookieStoreId ? { cookieStoreId } : {};
    const tab = await this.#api.tabs.create({ url: "about:blank", active: false, windowId, ...jar });
    try {
      await this.#group(tab, this.#groups.get(key));
    } catch (error) {
      await this.#api.tabs.remove(tab.id).catch(() => {});
      throw error;
    }
    this.#join(tab, opener, key, true);
    await this.#api.tabs.update(tab.id, { url }); // only now, when its watchers are registered
    return tab.id;
  }

  /** Change the group's looks only if the broker changed them, so that the person's name stays. */
  async #rename(group, title, color) {
    const given = `${color} ${title}`;
    if (group.given === given) return;
    await this.#api.tabGroups.update(group.id, { title, color });
    Object.assign(group, { title, color, given });
  }

  async #group(tab, group) {
    const what = { tabIds: [tab.id] };
    const where = group.id === null ? { createProperties: { windowId: tab.windowId } } : { groupId: group.id };
    return this.#patiently(() => this.#api.tabs.group({ ...what, ...where }));
  }

  async #windowOf(group) {
    return (await this.#api.tabGroups.get(group.id)).windowId;
  }

  /** The normal, non-private window that the person used last; null if there is none. */
  async #windowForNew() {
    const normal = { windowTypes: ["normal"] };
    const last = await this.#api.windows.getLastFocused(normal).catch(() => null);
    if (isUsable(last)) return last.id;
    return (await this.#api.windows.getAll(normal)).find(isUsable)?.id ?? null;
  }

  async #createInWindowOfItsOwn(options) {
    const made = await this.#api.windows.create({ url: "about:blank", focused: false, ...options });
    return (made.tabs ?? (await this.#api.tabs.query({ windowId: made.id })))[0];
  }

  async #close(handle) {
    const id = this.#idOf(handle);
    if (id === null) return {};
    const tab = await this.#get(id);
    if (tab !== null) {
      await Promise.all([this.#keepTheBrowserOpen(tab), this.#watch.closing(id)]);
      this.#closing.add(id);
      await this.#patiently(() => this.#api.tabs.remove(id));
    }
    this.#went(id, "ours");
    return {};
  }

  /** Show the tab to the person, who asked Roost for it: select it, and raise its window. */
  async #show(handle) {
    const id = this.#idOf(handle);
    if (id === null) throw new Refusal(NO_SUCH_TAB, "There is no such tab.");
    const { windowId } = await this.#api.tabs.get(id);
    this.#spawned.delete(id); // otherwise a new tab would be moved back behind the person's own
    await this.#patiently(() => this.#api.tabs.update(id, { active: true }));
    const { state } = await this.#api.windows.get(windowId);
    const restored = state === "minimized" ? { state: "normal" } : {};
    await this.#api.windows.update(windowId, { focused: true, ...restored });
    return {};
  }

  /** A browser ends with its last tab. Open a new one for the person before closing that tab. */
  async #keepTheBrowserOpen({ windowId }) {
    const [tabs, windows] = await Promise.all([
      this.#api.tabs.query({ windowId }),
      this.#api.windows.getAll({ windowTypes: ["normal"] }),
    ]);
    if (tabs.length === 1 && windows.length === 1) await this.#api.tabs.create({ windowId, active: false });
  }

  /** Forget a group whose session has ended. Tabs still in it are the person's from now on. */
  #forget(key) {
    for (const [id, tab] of this.#tabs) if (tab.key === key) this.#drop(id);
    this.#groups.delete(key);
    this.#closed.delete(key);
    this.#lost = this.#lost.filter((one) => one.key !== key);
    return {};
  }

  // --- what happens in the strip ---------------------------------------------------------------

  /** Register all listeners at the start: a browser wakes a background page only for those. */
  #listen() {
    const { tabs, tabGroups, webNavigation } = this.#api;
    tabs.onCreated.addListener((tab) => this.#inTurn(() => this.#created(tab)));
    tabs.onUpdated.addListener((id, change, tab) => {
      if ("groupId" in change && this.#tabs.has(id) && this.#keyOf(change.groupId) !== this.groupOf(id))
        this.#unsure.add(id);
      this.#inTurn(() => this.#updated(id, change, tab));
    });
    tabs.onRemoved.addListener((id, { isWindowClosing }) => {
      if (this.#tabs.has(id)) this.#unsure.add(id);
      if (this.#tabs.has(id) && isWindowClosing) this.#removals.withWindow(this.#handle(id));
      this.#inTurn(() => this.#removed(id, isWindowClosing));
    });
    tabs.onActivated.addListener((what) => this.#inTurn(() => this.#activated(what)));
    tabGroups.onCreated.addListener(() => this.#inTurn(() => this.#findLost()));
    tabGroups.onUpdated.addListener((group) => this.#inTurn(() => this.#groupUpdated(group)));
    webNavigation.onCreatedNavigationTarget.addListener((what) => this.#inTurn(() => this.#spawnedBy(what)));
  }

  #created(tab) {
    if (this.#tabs.has(tab.id) || this.#spawned.has(tab.id)) return;
    // A separate event names the opener. `openerTabId` is only the tab that was in front.
    const young = { timer: setTimeout(() => this.#inTurn(() => this.#grewUp(tab.id)), GRACE_MS) };
    young.decided = new Promise((resolve) => (young.decide = resolve));
    this.#young.set(tab.id, young);
  }

  /** End the wait for a new tab's opener. Returns whether there was such a wait. */
  #decide(id) {
    const young = this.#young.get(id);
    if (!young) return false;
    clearTimeout(young.timer);
    this.#young.delete(id);
    young.decide();
    return true;
  }

  /** No page opened this tab, so the person did. It joins a managed group if they put it there. */
  async #grewUp(id) {
    if (!this.#decide(id)) return;
    const tab = await this.#get(id);
    if (tab !== null && this.#keyOf(tab.groupId) !== null) this.#join(tab, null);
    else if (tab !== null && this.#lost.length) await this.#findLost();
  }

  async #spawnedBy({ sourceTabId, tabId }) {
    const wasYoung = this.#decide(tabId);
    const tab = await this.#get(tabId);
    if (tab === null) return;
    const source = await this.#sourceOf(tab, sourceTabId);
    const key = this.groupOf(source);
    if (key === null) {
      // The person's own tab opened it. Ungroup it if the browser put it into a managed group.
      if (wasYoung && this.#keyOf(tab.groupId) !== null) await this.#patiently(() => this.#api.tabs.ungroup(tabId));
      return;
    }
    this.#spawned.set(tabId, Date.now());
    if (tab.groupId !== this.#groups.get(key).id) await this.#group(tab, this.#groups.get(key));
    if (this.#tabs.has(tabId)) this.#regroup(tabId, key);
    else this.#join(tab, source, key);
    await this.#giveBackFront(tabId);
  }

  /** After a Ctrl+click in a background tab, Firefox names the tab in front as the source. Use
   * `openerTabId` only in that case: the opener gets input now and the named source is in front. */
  async #sourceOf({ openerTabId }, sourceTabId) {
    if (openerTabId === sourceTabId || !this.#watch.isGivenInput(openerTabId)) return sourceTabId;
    return (await this.#get(sourceTabId))?.active ? openerTabId : sourceTabId;
  }

  async #updated(id, change, tab) {
    if ("groupId" in change) await this.#regrouped(id);
    const known = this.#tabs.get(id);
    if (!known || !("url" in change || "title" in change)) return;
    Object.assign(known, { url: tab.url ?? known.url, title: tab.title ?? known.title });
    this.#tell("Tabs.arrived", { tab: this.#handle(id), url: known.url, title: known.title });
  }

  async #regrouped(id) {
    if (this.#young.has(id)) return;
    const tab = await this.#get(id); // the present state: a tab that closes also leaves its group
    this.#unsure.delete(id);
    if (tab === null) return;
    const key = this.#keyOf(tab.groupId);
    if (this.#tabs.has(id)) this.#regroup(id, key);
    else if (key !== null) this.#join(tab, null);
    else if (this.#lost.length) await this.#findLost();
  }

  #regroup(id, key) {
    const known = this.#tabs.get(id);
    const before = known.key;
    if (key === before) return;
    if (key === null) this.#drop(id);
    else known.key = key;
    this.#tell("Tabs.moved", { tab: this.#handle(id), group: key });
    this.#leftBehind(before, "moved", [known.url]);
  }

  #join(tab, opener, key = this.#keyOf(tab.groupId), isSettingOut = false) {
    this.#add(tab, key, isSettingOut);
    const { url, jar } = this.#tabs.get(tab.id);
    const openerHandle = opener === null ? null : this.#handle(opener);
    this.#tell("Tabs.appeared", { tab: this.#handle(tab.id), group: key, opener: openerHandle, jar, url });
    if (tab.title) this.#tell("Tabs.arrived", { tab: this.#handle(tab.id), url, title: tab.title });
  }

  #removed(id, isWindowClosing) {
    this.#decide(id);
    this.#spawned.delete(id);
    if (this.#closing.delete(id)) this.#went(id, "ours");
    else this.#went(id, isWindowClosing ? "window" : "person");
    this.#unsure.delete(id);
  }

  /** A managed tab is closed. If the person closed it, report it after HOLD_MS: if the whole group
   * is closing, `Groups.closed` must be sent before `Tabs.removed`. */
  #went(id, how) {
    const known = this.#tabs.get(id);
    if (!known) return;
    this.#drop(id);
    if (how === "person") this.#hold(known.key, id);
    else if (how === "window") this.#removals.withWindow(this.#handle(id));
    else this.#tell("Tabs.removed", { tab: this.#handle(id) });
    if (how === "window") this.#groups.get(known.key)?.past.push(known.url);
    if (how !== "person") this.#leftBehind(known.key, how, [known.url]);
  }

  #hold(key, id) {
    if (!this.#leaving.has(key)) {
      this.#leaving.set(key, []);
      setTimeout(() => this.#inTurn(() => this.#release(key)), HOLD_MS);
    }
    this.#leaving.get(key).push(id);
  }

  async #release(key) {
    const gone = this.#leaving.get(key) ?? [];
    this.#leaving.delete(key);
    const group = this.#groups.get(key);
    if (group && gone.length && this.#isEmpty(key) && !(await this.#isShown(group))) {
      this.#groups.delete(key);
      if (this.#isAsked) this.#tell("Groups.closed", { key });
      else this.#closed.add(key);
    }
    for (const id of gone) this.#tell("Tabs.removed", { tab: this.#handle(id) });
  }

  /** Forget a group without tabs, but remember it in `#lost` if it may reappear: a closed window
   * can be restored, and a group dragged to another window gets another id. */
  #leftBehind(key, how, urls) {
    const group = this.#groups.get(key);
    if (!group || !this.#isEmpty(key)) return;
    this.#groups.delete(key);
    const { title, color, past } = group;
    if (how !== "ours") this.#lost.push({ key, title, color, urls: [...past, ...urls], misses: 0 });
    if (how === "moved") setTimeout(() => this.#inTurn(() => this.#giveUp(key)), FRONT_MS);
  }

  #giveUp(key) {
    this.#lost = this.#lost.filter((one) => one.key !== key);
  }

  async #groupUpdated({ id, title, color }) {
    const key = this.#keyOf(id);
    if (key === null) await this.#findLost();
    else Object.assign(this.#groups.get(key), { title, color });
  }

  // --- the tab in front ------------------------------------------------------------------------

  async #activated({ tabId, windowId, previousTabId }) {
    const now = this.#front.get(windowId)?.now;
    if (now !== tabId) this.#front.set(windowId, { now: tabId, before: previousTabId ?? now });
    if (Date.now() - (this.#spawned.get(tabId) ?? -Infinity) < FRONT_MS) await this.#giveBackFront(tabId);
  }

  /** A browser brings spawned tabs to the front. Show the person's previous tab again. */
  async #giveBackFront(id) {
    const tab = await this.#get(id);
    if (!tab?.active) return;
    const front = this.#front.get(tab.windowId);
    const before = front?.now === id ? front.before : front?.now;
    if (before === undefined || (await this.#get(before))?.windowId !== tab.windowId) return;
    this.#spawned.delete(id);
    await this.#patiently(() => this.#api.tabs.update(before, { active: true }));
  }

  // --- stored state, and finding groups again --------------------------------------------------

  async #load() {
    const { strip } = await this.#storage.session.get("strip");
    if (strip) return this.#goOn(strip);
    this.#run = crypto.randomUUID().slice(0, 8);
    const { strip: before } = await this.#storage.local.get("strip");
    this.#lost = (before ?? []).map((one) => ({ ...one, misses: one.misses + 1 }));
    this.#lost = this.#lost.filter((one) => one.misses <= FORGOTTEN_AFTER);
    for (const tab of await this.#api.tabs.query({ active: true })) this.#front.set(tab.windowId, { now: tab.id });
    for (let waited = 0; this.#lost.length && waited <= RESTORE_MS; waited += TRY_MS) {
      await this.#findLost();
      if (this.#lost.length) await pause(TRY_MS);
    }
    await this.#save();
  }

  /** Restore the state after a sleep of this background page, in the same run of the browser. */
  #goOn(strip) {
    this.#run = strip.run;
    this.#isAsked = strip.isAsked;
    this.#groups = new Map(strip.groups.map((group) => [group.key, group]));
    this.#tabs = new Map(strip.tabs);
    this.#lost = strip.lost;
    this.#closed = new Set(strip.closed);
    this.#front = new Map(strip.front);
  }

  async #save() {
    const groups = [...this.#groups.values()];
    const strip = {
      run: this.#run,
      isAsked: this.#isAsked,
      groups,
      tabs: [...this.#tabs],
      lost: this.#lost,
      closed: [...this.#closed],
      front: [...this.#front],
    };
    const kept = groups.map(({ key, title, color, past }) => {
      return { key, title, color, urls: [...past, ...this.#urls(key)], misses: 0 };
    });
    await this.#write("session", strip);
    await this.#write("local", [...kept, ...this.#lost]);
  }

  async #write(area, strip) {
    const text = JSON.stringify(strip);
    if (this.#written[area] === text) return;
    this.#written[area] = text;
    await this.#storage[area].set({ strip });
  }

  /** Find lost groups again by title and colour. Among several, the one with most of the addresses
   * is the right one. */
  async #findLost() {
    if (!this.#lost.length) return;
    const found = [];
    for (const group of await this.#api.tabGroups.query({})) {
      const alike = this.#lost.filter(({ title, color }) => title === group.title && color === group.color);
      if (!alike.length || this.#keyOf(group.id) !== null) continue;
      const tabs = await this.#api.tabs.query({ groupId: group.id });
      for (const lost of alike) {
        const score = tabs.filter((tab) => lost.urls.includes(tab.url)).length;
        if (score) found.push({ score, lost, group, tabs });
      }
    }
    found.sort((a, b) => b.score - a.score);
    for (const { lost, group, tabs } of found) {
      if (!this.#lost.includes(lost) || this.#keyOf(group.id) !== null) continue;
      this.#lost = this.#lost.filter((one) => one !== lost);
      this.#groups.set(lost.key, shown(lost.key, group));
      for (const tab of tabs) {
        this.#decide(tab.id);
        this.#join(tab, null);
      }
    }
  }

  // --- inside ----------------------------------------------------------------------------------

  /** Run jobs one after the other. Changes are stored before the next job. */
  #inTurn(run) {
    const answer = this.#last.then(run);
    this.#last = answer.catch((error) => console.debug("Roost:", error)).then(() => this.#save());
    return answer;
  }

  async #patiently(act) {
    for (let tried = 1; ; tried++) {
      try {
        return await act();
      } catch (error) {
        if (tried === TRIES || !/dragging/.test(error.message)) throw error;
        await pause(TRY_MS);
      }
    }
  }

  #add(tab, key, isSettingOut = false) {
    const { id, title, cookieStoreId } = tab;
    const url = tab.url || tab.pendingUrl || "";
    this.#tabs.set(id, { key, url, title: title ?? "", jar: jarIn(cookieStoreId) });
    this.#watch.joined(id, isSettingOut);
  }

  #drop(id) {
    this.#tabs.delete(id);
    this.#watch.left(id);
  }

  #tell(method, params) {
    if (this.#isAsked) this.#emit(method, params);
  }

  async #get(id) {
    return this.#api.tabs.get(id).catch(() => null);
  }

  async #isShown(group) {
    return this.#api.tabGroups.get(group.id).then(() => true, () => false);
  }

  #isEmpty(key) {
    return !this.#urls(key).length;
  }

  #urls(key) {
    return [...this.#tabs.values()].filter((tab) => tab.key === key).map((tab) => tab.url);
  }

  #keyOf(groupId) {
    for (const group of this.#groups.values()) if (group.id === groupId) return group.key;
    return null;
  }

  #handle(id) {
    return `${this.#run}.${id}`;
  }

  #idOf(handle) {
    const [run, id] = String(handle).split(".");
    return run === this.#run && this.#tabs.has(Number(id)) ? Number(id) : null;
  }
}

function shown(key, { id, title, color }) {
  return { key, id, title, color, given: `${color} ${title}`, past: [] };
}

function jarIn(store) {
  return store === DEFAULT_STORE ? null : (store ?? null);
}

function isUsable(window) {
  return window !== null && window.type === "normal" && !window.incognito;
}
