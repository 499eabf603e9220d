// The popup page: it draws the state that the background sends over a port.

import { view } from "./view.js";

const api = globalThis.browser ?? globalThis.chrome;
let port = null;

/** Connect to the background, again whenever the port ends: the background may go to sleep or be
 * updated, and a new connection wakes it. */
function connect() {
  port = api.runtime.connect({ name: "popup" });
  port.onMessage.addListener((state) => document.body.replaceChildren(drawn(view(state))));
  port.onDisconnect.addListener(() => setTimeout(connect, 200));
}

function drawn(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, { press, grant, ...attributes }, ...children] = tree;
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  // Browsers allow this request only in a click on an extension's page. The background learns of
  // the permission from the browser.
  if (grant !== undefined) element.addEventListener("click", () => api.permissions.request(grant));
  if (press !== undefined) element.addEventListener("click", () => port.postMessage(press));
  element.append(...children.map(drawn));
  return element;
}

connect();
