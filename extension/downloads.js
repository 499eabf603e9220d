// Downloads that pages of managed tabs begin. CDP reports in the tab that a download begins;
// Chrome's list of downloads has the file's path. The two are matched by address, in the order they
// come.

const PATIENCE_MS = 10_000;

export class Downloads {
  #api;
  #tell;
  #begun = []; // {tab, download, url}: begun in a page, not in the list yet
  #listed = []; // {id, urls}: in the list, not matched with a page yet
  #running = new Map(); // id in the list → {tab, download}

  constructor(api, tell) {
    this.#api = api;
    this.#tell = tell;
    api.downloads.onCreated.addListener((item) => this.#created(item));
    api.downloads.onChanged.addListener((change) => this.#changed(change));
  }

  /** Handle an event of a managed tab's own session. */
  heard(tab, method, { guid: download, url, suggestedFilename: name }) {
    if (method !== "Page.downloadWillBegin") return;
    this.#tell("Downloads.began", { tab, download, url, name });
    const at = this.#listed.findIndex(({ urls }) => urls.includes(url));
    if (at < 0) this.#keep(this.#begun, { tab, download, url });
    else this.#match(this.#listed.splice(at, 1)[0].id, { tab, download });
  }

  #created({ id, url, finalUrl }) {
    const urls = [url, finalUrl];
    const at = this.#begun.findIndex((one) => urls.includes(one.url));
    if (at < 0) this.#keep(this.#listed, { id, urls });
    else this.#match(id, this.#begun.splice(at, 1)[0]);
  }

  #match(id, { tab, download }) {
    this.#running.set(id, { tab, download });
    this.#look(id);
  }

  #changed({ id, state }) {
    if (state !== undefined && this.#running.has(id)) this.#look(id);
  }

  async #look(id) {
    const [item] = await this.#api.downloads.search({ id });
    const known = this.#running.get(id);
    if (known === undefined || item?.state === "in_progress") return;
    this.#running.delete(id);
    this.#tell("Downloads.ended", { ...known, path: item?.state === "complete" ? item.filename : null });
  }

  /** Keep an entry for PATIENCE_MS. A download of the person's own never finds a match. */
  #keep(list, one) {
    list.push(one);
    setTimeout(() => {
      const at = list.indexOf(one);
      if (at >= 0) list.splice(at, 1);
      if (at >= 0 && one.download) this.#tell("Downloads.ended", { tab: one.tab, download: one.download, path: null });
    }, PATIENCE_MS);
  }
}
