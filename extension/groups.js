// The tab strip: which tabs belong to which workspace, as the person sees it and changes it.
//
// A workspace is one tab group. What is in a managed group is told to the broker; all other tabs
// are the person's own, and nothing of them is read, told or touched. Ids of groups and tabs change
// with every start of the browser, so groups are found again by title, colour and addresses.
// Events and commands are worked on one after the other, once what was stored is known again: a
// background page that was put to sleep wakes up with an event.

import { NO_SUCH_TAB, Refusal } from "./link.js";
import { Quitting } from "./removal_delay.js";

const GRACE_MS = 1000; // within this, the browser says which tab has opened a new one
const HOLD_MS = 150; // closing a group closes its tabs one by one; within this, all are gone
const FRONT_MS = 1000; // a spawned tab that comes to the front this soon was brought there
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
  #isAsked = false; // whether a broker wants to hear what happens
  #groups = new Map(); // key → {key, title, color: as shown, given: by the broker, id, past: addresses}
  #tabs = new Map(); // tab id → {key, url, title, jar}
  #lost = []; // groups of before that are not found again: {key, title, color, urls, misses}
  #closed = new Set(); // keys of groups the person closed, until a broker has heard of it
  #young = new Map(); // new tabs of which is not known yet who opened them → {timer, decided}
  #unsure = new Set(); // tabs the person has just moved: not ours until it is known where to
  #closing = new Set(); // tabs that we are closing ourselves
  #spawned = new Map(); // tab id → when it was spawned
  #front = new Map(); // window id → {now, before}: the tabs in front
  #leaving = new Map(); // key → tabs the person closed in the last moment
  #quitting = new Quitting((tab) => this.#tell("Tabs.removed", { tab }));
  #watch = { joined: () => {}, left: () => {}, closing: async () => {}, isGivenInput: () => false };
  #written = {}; // what was stored last, of each area
  #last; // of the queue
  #ready;

  constructor(api, storage, emit) {
    this.#api = api;
    this.#storage = storage;
    this.#emit = emit;
    this.#ready = this.#load();
    this.#last = this.#ready;
    this.#listen();
  }

  /** Resolves when what was stored is known again. */
  get ready() {
    return this.#ready;
  }

  /** A random word that lives as long as the browser runs. */
  get run() {
    return this.#run;
  }

  /** The tab's id in the browser; refused unless it is in a managed group at this moment. */
  tabOf(handle) {
    const id = this.#idOf(handle);
    if (id === null || this.#unsure.has(id)) throw new Refusal(NO_SUCH_TAB, "There is no such tab.");
    return id;
  }

  /** Resolves at once, unless that tab has just gone with its window: perhaps the browser quits, and
   * then it is not for us to say that the tab is gone. */
  unlessQuitting(handle) {
    return this.#quitting.isOver(handle);
  }

  /** The handle of a tab in a managed group; null for all others. */
  handleOf(id) {
    return this.#tabs.has(id) ? this.#handle(id) : null;
  }

  /** The group that a tab is in; null for all that is not managed. */
  groupOf(id) {
    return this.#tabs.get(id)?.key ?? null;
  }

  /** How its group is shown: {key, title, color}; null for all that is not managed. */
  lookOf(id) {
    return this.#groups.get(this.groupOf(id)) ?? null;
  }

  jarOf(id) {
    return this.#tabs.get(id)?.jar ?? null;
  }

  /** The managed tabs in a jar, as the browser names it. */
  tabsIn(store) {
    const jar = jarIn(store);
    return [...this.#tabs].filter(([, tab]) => tab.jar === jar).map(([id]) => id);
  }

  /** joined(id, isSettingOut), left(id) are called as tabs come into managed groups and go; closing(id)
   * is waited for before one is closed; isGivenInput(id) says whether trusted input is given there just
   * now. */
  watch(watch) {
    this.#watch = { ...this.#watch, ...watch };
    for (const id of this.#tabs.keys()) this.#watch.joined(id);
  }

  /** Resolves when it is known of every new tab whose it is. */
  async decided() {
    while (this.#young.size) await Promise.race([...this.#young.values()].map(({ decided }) => decided));
    await this.#last;
  }

  /** A tab that a managed one asked for: in its group and its jar, behind the one in front; its id. */
  spawn(opener, url) {
    return this.#inTurn(() => this.#spawn(opener, url));
  }

  /** The browser-level commands of the link; undefined for words that are not of the strip. */
  call(method, params) {
    const run = {
      "Roost.state": () => this.#state(),
      "Tabs.create": () => this.#create(params),
      "Tabs.close": () => this.#close(params.tab),
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
    await this.#api.tabs.update(tab.id, { url }); // by now whoever watches it is there
    return tab.id;
  }

  /** Only what the broker changed: a name that the person gave to the group stays. */
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

  /** The window the person used last, of those that have a tab strip and are not private. */
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

  /** A browser ends with the last tab of its last window: the person gets a new one before. */
  async #keepTheBrowserOpen({ windowId }) {
    const [tabs, windows] = await Promise.all([
      this.#api.tabs.query({ windowId }),
      this.#api.windows.getAll({ windowTypes: ["normal"] }),
    ]);
    if (tabs.length === 1 && windows.length === 1) await this.#api.tabs.create({ windowId, active: false });
  }

  /** The workspace is over. Tabs that are left in the group are the person's from now on. */
  #forget(key) {
    for (const [id, tab] of this.#tabs) if (tab.key === key) this.#drop(id);
    this.#groups.delete(key);
    this.#closed.delete(key);
    this.#lost = this.#lost.filter((one) => one.key !== key);
    return {};
  }

  // --- what happens in the strip ---------------------------------------------------------------

  /** At once and always: a background page is only woken for what it listens to from its start. */
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
      if (this.#tabs.has(id) && isWindowClosing) this.#quitting.withWindow(this.#handle(id));
      this.#inTurn(() => this.#removed(id, isWindowClosing));
    });
    tabs.onActivated.addListener((what) => this.#inTurn(() => this.#activated(what)));
    tabGroups.onCreated.addListener(() => this.#inTurn(() => this.#findLost()));
    tabGroups.onUpdated.addListener((group) => this.#inTurn(() => this.#groupUpdated(group)));
    webNavigation.onCreatedNavigationTarget.addListener((what) => this.#inTurn(() => this.#spawnedBy(what)));
  }

  #created(tab) {
    if (this.#tabs.has(tab.id) || this.#spawned.has(tab.id)) return;
    // Who opened it comes in an event of its own. `openerTabId` names whichever tab is in front.
    const young = { timer: setTimeout(() => this.#inTurn(() => this.#grewUp(tab.id)), GRACE_MS) };
    young.decided = new Promise((resolve) => (young.decide = resolve));
    this.#young.set(tab.id, young);
  }

  /** Whether it was not known yet whose the tab is. */
  #decide(id) {
    const young = this.#young.get(id);
    if (!young) return false;
    clearTimeout(young.timer);
    this.#young.delete(id);
    young.decide();
    return true;
  }

  /** No tab has opened it: it is the person's, and where they put it. */
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
      // A tab of the person's opened it; the browser may have put it beside one that is in front.
      if (wasYoung && this.#keyOf(tab.groupId) !== null) await this.#patiently(() => this.#api.tabs.ungroup(tabId));
      return;
    }
    this.#spawned.set(tabId, Date.now());
    if (tab.groupId !== this.#groups.get(key).id) await this.#group(tab, this.#groups.get(key));
    if (this.#tabs.has(tabId)) this.#regroup(tabId, key);
    else this.#join(tab, source, key);
    await this.#giveBackFront(tabId);
  }

  /** Of a link that is clicked with Ctrl held in a tab behind, Firefox names the tab in front. Only
   * then, and only where input is given just now, the opener is right instead. */
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
    const tab = await this.#get(id); // the truth of now: a tab that closes leaves its group, too
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

  /** A tab of ours is closed. If the person closed it, it is told a little later, for closing the
   * group is told before what became of its tabs. */
  #went(id, how) {
    const known = this.#tabs.get(id);
    if (!known) return;
    this.#drop(id);
    if (how === "person") this.#hold(known.key, id);
    else if (how === "window") this.#quitting.withWindow(this.#handle(id));
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

  /** A group without tabs is no group. One whose window was closed may come back with that; one
   * that was dragged elsewhere as a whole may show up there under another id. */
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

  // --- who is in front -------------------------------------------------------------------------

  async #activated({ tabId, windowId, previousTabId }) {
    const now = this.#front.get(windowId)?.now;
    if (now !== tabId) this.#front.set(windowId, { now: tabId, before: previousTabId ?? now });
    if (Date.now() - (this.#spawned.get(tabId) ?? -Infinity) < FRONT_MS) await this.#giveBackFront(tabId);
  }

  /** A browser brings spawned tabs to the front. The person goes on with what they looked at. */
  async #giveBackFront(id) {
    const tab = await this.#get(id);
    if (!tab?.active) return;
    const front = this.#front.get(tab.windowId);
    const before = front?.now === id ? front.before : front?.now;
    if (before === undefined || (await this.#get(before))?.windowId !== tab.windowId) return;
    this.#spawned.delete(id);
    await this.#patiently(() => this.#api.tabs.update(before, { active: true }));
  }

  // --- found again -----------------------------------------------------------------------------

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

  /** The browser runs on; only this page was put to sleep. Its next event says what is new. */
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

  /** Of groups with the same title and colour, the one with most of the addresses is it. */
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

  /** One after the other; what is changed is stored before the next. */
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
