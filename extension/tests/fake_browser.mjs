// A small browser with a tab strip, for tests: the WebExtension API as far as Roost uses it, with
// the habits of real ones (docs/design/browsers.md). `person` does what people do, `page` what pages do.

class Event {
  #listeners = [];
  addListener(listener) {
    this.#listeners.push(listener);
  }
  fire(...what) {
    for (const listener of this.#listeners) listener(...what);
  }
}

function area(kept = {}) {
  return {
    kept,
    get: async (name) => (name in kept ? { [name]: structuredClone(kept[name]) } : {}),
    set: async (what) => void Object.assign(kept, structuredClone(what)),
  };
}

let nextId = 1; // never the same again, in no run

export class FakeBrowser {
  constructor({ local = {} } = {}) {
    this.windows = new Map(); // id → {id, type, incognito, active}
    this.tabs = new Map();
    this.groups = new Map();
    this.focused = null;
    this.removedOrder = []; // what was told in which order
    this.storage = { session: area(), local: area(local) };
    this.wake();
  }

  /** The API as a background page finds it that has just been woken: nobody listens yet. */
  wake() {
    const event = () => new Event();
    const on = (...names) => Object.fromEntries(names.map((name) => [name, event()]));
    this.api = {
      tabs: {
        ...on("onCreated", "onUpdated", "onRemoved", "onActivated"),
        create: async (options) => ({ ...this.#open(options) }),
        get: async (id) => ({ ...this.#tab(id) }),
        query: async (query) => this.#query(query),
        remove: async (id) => this.#remove([this.#tab(id).id]),
        update: async (id, { active }) => active && this.activate(id),
        group: async ({ tabIds, groupId, createProperties }) => this.#group(tabIds, groupId, createProperties),
        ungroup: async (id) => this.#setGroup(this.#tab(id), -1),
      },
      tabGroups: {
        ...on("onCreated", "onUpdated", "onRemoved"),
        get: async (id) => ({ ...this.#groupOf(id) }),
        query: async () => [...this.groups.values()].map((group) => ({ ...group })),
        update: async (id, what) => {
          Object.assign(this.#groupOf(id), what);
          this.api.tabGroups.onUpdated.fire({ ...this.groups.get(id) });
        },
      },
      windows: {
        getLastFocused: async () => {
          const last = this.windows.get(this.focused);
          if (last?.type !== "normal") throw new Error("No last-focused window");
          return { ...last };
        },
        get: async (id) => ({ state: "normal", ...this.windows.get(id) }),
        update: async (id, { focused, ...what }) => {
          Object.assign(this.windows.get(id), what);
          if (focused) this.focused = id;
        },
        getAll: async () => [...this.windows.values()].filter(({ type }) => type === "normal"),
        create: async ({ focused, ...options }) => {
          const id = this.openWindow({ focused });
          return { id, tabs: [{ ...this.#open({ ...options, windowId: id, active: true }) }] };
        },
      },
      webNavigation: on("onCreatedNavigationTarget"),
      storage: this.storage,
    };
    return this.api;
  }

  /** What a restart leaves: other ids, the same windows, groups and addresses. */
  restarted({ restores = true } = {}) {
    const next = new FakeBrowser({ local: structuredClone(this.storage.local.kept) });
    next.restore = () => {
      const groups = new Map();
      for (const { id: windowId } of this.windows.values()) {
        const window = next.openWindow({});
        for (const tab of this.tabs.values()) {
          if (tab.windowId !== windowId) continue;
          const made = next.#open({ windowId: window, url: tab.url, title: tab.title, active: tab.active });
          if (tab.groupId === -1) continue;
          const group = groups.get(tab.groupId);
          const { title, color } = this.groups.get(tab.groupId);
          groups.set(tab.groupId, next.#group([made.id], group, { windowId: window }));
          if (!group) next.api.tabGroups.update(groups.get(tab.groupId), { title, color });
        }
      }
    };
    if (restores) next.restore();
    return next;
  }

  openWindow({ type = "normal", focused = true, incognito = false }) {
    const window = { id: nextId++, type, incognito };
    this.windows.set(window.id, window);
    if (focused) this.focused = window.id;
    return window.id;
  }

  /** The person opens a tab; in the group of the one in front, where `inGroup` says so. */
  personOpens(windowId, url, groupId = -1) {
    return this.#open({ windowId, url, active: true, groupId }).id;
  }

  /** A page opens a tab. The browser brings it to the front, beside what was there, and into the
   * group of that; and names that as its opener, whoever it was. */
  pageOpens(source, url, { popup = false, tells = true } = {}) {
    const { windowId: home } = this.#tab(source);
    const windowId = popup ? this.openWindow({ type: "popup" }) : home;
    const front = this.activeIn(home);
    const groupId = popup ? -1 : (this.tabs.get(front)?.groupId ?? -1);
    const tab = this.#open({ windowId, url, active: true, openerTabId: front, groupId });
    if (tells) this.tellOpener(source, tab.id, url);
    return tab.id;
  }

  /** A link in a tab behind is clicked with Ctrl held, in a Firefox: opened behind, in the group of
   * its opener; the tab in front is told as its source. */
  pageOpensBehind(opener, url) {
    const { windowId, groupId } = this.#tab(opener);
    const tab = this.#open({ windowId, url, active: false, openerTabId: opener, groupId });
    this.tellOpener(this.activeIn(windowId), tab.id, url);
    return tab.id;
  }

  tellOpener(sourceTabId, tabId, url) {
    this.api.webNavigation.onCreatedNavigationTarget.fire({ sourceTabId, sourceFrameId: 0, tabId, url });
  }

  personDrags(id, groupId) {
    this.#setGroup(this.#tab(id), groupId);
  }

  personCloses(id) {
    this.#remove([id]);
  }

  personClosesGroup(groupId) {
    this.#remove([...this.tabs.values()].filter((tab) => tab.groupId === groupId).map(({ id }) => id));
  }

  personClosesWindow(windowId) {
    this.#remove([...this.tabs.values()].filter((tab) => tab.windowId === windowId).map(({ id }) => id), true);
  }

  personGroups(id, what) {
    const groupId = this.#group([id], undefined, { windowId: this.#tab(id).windowId });
    this.api.tabGroups.update(groupId, what);
    return groupId;
  }

  pageGoes(id, url, title) {
    Object.assign(this.#tab(id), { url, title });
    this.api.tabs.onUpdated.fire(id, { url, title }, { ...this.#tab(id) });
  }

  activate(id) {
    const tab = this.#tab(id);
    const previousTabId = this.activeIn(tab.windowId);
    if (previousTabId !== undefined) this.#tab(previousTabId).active = false;
    tab.active = true;
    this.api.tabs.onActivated.fire({ tabId: id, windowId: tab.windowId });
  }

  activeIn(windowId) {
    return [...this.tabs.values()].find((tab) => tab.windowId === windowId && tab.active)?.id;
  }

  #open({ windowId, url = "about:newtab", title = "", active = true, cookieStoreId, openerTabId, groupId = -1 }) {
    const tab = { id: nextId++, windowId, url, title, active: false, groupId, cookieStoreId, openerTabId };
    this.tabs.set(tab.id, tab);
    this.api.tabs.onCreated.fire({ ...tab });
    if (active || this.activeIn(windowId) === undefined) this.activate(tab.id);
    return tab;
  }

  #query({ active, windowId, groupId }) {
    const fits = (tab) =>
      (active === undefined || tab.active === active) &&
      (windowId === undefined || tab.windowId === windowId) &&
      (groupId === undefined || tab.groupId === groupId);
    return [...this.tabs.values()].filter(fits).map((tab) => ({ ...tab }));
  }

  #tab(id) {
    const tab = this.tabs.get(id);
    if (!tab) throw new Error(`No tab with id: ${id}.`);
    return tab;
  }

  #groupOf(id) {
    const group = this.groups.get(id);
    if (!group) throw new Error(`No group with id: ${id}.`);
    return group;
  }

  #group(tabIds, groupId, { windowId } = {}) {
    if (this.isDragging) throw new Error("Tabs cannot be edited right now (user may be dragging a tab).");
    if (groupId === undefined) {
      const group = { id: nextId++, windowId, title: "", color: "grey" };
      this.groups.set(group.id, group);
      this.api.tabGroups.onCreated.fire({ ...group });
      groupId = group.id;
    }
    for (const id of tabIds) this.#setGroup(this.#tab(id), groupId);
    return groupId;
  }

  #setGroup(tab, groupId) {
    const before = tab.groupId;
    tab.groupId = groupId;
    const home = this.groups.get(groupId)?.windowId;
    if (home !== undefined && home !== tab.windowId) this.#moveTo(tab, home);
    this.api.tabs.onUpdated.fire(tab.id, { groupId }, { ...tab });
    this.#endIfEmpty(before);
  }

  #moveTo(tab, windowId) {
    const from = tab.windowId;
    tab.windowId = windowId;
    tab.active = false;
    if (!this.#query({ windowId: from }).length) this.windows.delete(from);
    this.focused = windowId;
    this.activate(tab.id); // what was in front in its window is in front in the other one
  }

  /** A tab that closes leaves its group first; with the last one the group is gone, before it. */
  #remove(ids, isWindowClosing = false) {
    for (const id of ids) {
      const tab = this.#tab(id);
      this.tabs.delete(id);
      if (tab.groupId !== -1) this.api.tabs.onUpdated.fire(id, { groupId: -1 }, { ...tab, groupId: -1 });
      this.#endIfEmpty(tab.groupId);
      this.api.tabs.onRemoved.fire(id, { windowId: tab.windowId, isWindowClosing });
      if (!this.#query({ windowId: tab.windowId }).length) this.windows.delete(tab.windowId);
    }
  }

  #endIfEmpty(groupId) {
    if (groupId === -1 || this.#query({ groupId }).length) return;
    const group = this.groups.get(groupId);
    this.groups.delete(groupId);
    this.api.tabGroups.onRemoved.fire({ ...group });
  }
}
