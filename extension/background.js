// The extension's entry point: it connects the parts with one another and decides nothing.

import { Debugger } from "./debugger.js";
import { Downloads } from "./downloads.js";
import { Pages } from "./firefox/pages.js";
import { TabStrip } from "./groups.js";
import { HOST, Link, noSuchMethod } from "./link.js";
import { PanelDesk } from "./panel.js";

const api = globalThis.browser ?? globalThis.chrome;
const isFirefox = api.runtime.getBrowserInfo !== undefined;
const AWAY_MS = 30_000;
const AGAIN = "open the link";

const link = new Link({
  connect: () => api.runtime.connectNative(HOST),
  hello,
  answer,
  changed,
  awake: () => api.runtime.getPlatformInfo(),
});
const tell = (method, params, sessionId) => link.tell(method, params, sessionId);
const desk = new PanelDesk(api, tell);
const strip = new TabStrip(api, api.storage, (method, params) => {
  tell(method, params);
  pages.sweep();
});
const allowed = (isAllowed) => desk.allowed(isAllowed);
const pages = isFirefox ? new Pages(api, strip, { tell, allowed }) : chromiumPages();
let away = null;

async function hello() {
  const { install = randomId() } = await api.storage.local.get("install");
  await api.storage.local.set({ install });
  await strip.ready;
  return {
    kind: isFirefox ? "firefox" : "chromium",
    product: await product(),
    run: strip.run,
    install,
    extension: api.runtime.getManifest().version,
  };
}

async function answer(method, params, session) {
  if (method === "Panel.show") {
    pages.outlines.paused(params.groups.filter(({ paused }) => paused).map(({ key }) => key));
    return (await desk.show(params)) ?? {};
  }
  await strip.ready;
  await strip.unlessQuitting(session?.split("/")[0] ?? params.tab);
  if (session !== undefined) return pages.command(method, params, session);
  const answered = await (pages.call(method, params) ?? strip.call(method, params));
  if (answered === undefined) throw noSuchMethod(method);
  pages.sweep();
  return answered;
}

function chromiumPages() {
  const downloads = new Downloads(api, tell);
  const heard = (tab, method, params) => downloads.heard(tab, method, params);
  return new Debugger(api, strip, { tell, said: personSaid, heard });
}

/** The link's state changed. Release all tabs if no broker is linked for AWAY_MS. */
function changed(now) {
  const { state } = now;
  desk.changed(now);
  clearTimeout(away);
  if (state !== "linked") away = setTimeout(() => pages.releaseAll(), AWAY_MS);
}

function personSaid(what, group) {
  tell("Person.said", { what, group });
}

async function product() {
  if (isFirefox) {
    const { name, version } = await api.runtime.getBrowserInfo();
    return `${name}/${version}`;
  }
  const { fullVersionList } = await navigator.userAgentData.getHighEntropyValues(["fullVersionList"]);
  const known = fullVersionList.filter(({ brand }) => !/not.*brand/i.test(brand));
  const { brand, version } = known.find((one) => one.brand !== "Chromium") ?? known[0];
  return `${brand}/${version}`;
}

function randomId() {
  return crypto.randomUUID().replaceAll("-", "");
}

// The browser runs the background worker only for events. These start it: the browser's start, an
// update of the extension, and an alarm every half minute in case no host keeps the worker awake.
api.alarms.create(AGAIN, { periodInMinutes: 0.5 });
api.alarms.onAlarm.addListener(() => link.open());
api.runtime.onStartup.addListener(() => link.open());
api.runtime.onInstalled.addListener(() => link.open());
link.open();
