// The popup page: a port to the background, and what it tells drawn as it changes.

import { view } from "./view.js";

const api = globalThis.browser ?? globalThis.chrome;
let port = null;

/** A background that went to sleep or was updated ends the port: the next one wakes it again. */
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
  // Only in a click of the person, and only here: the background learns of it from the browser.
  if (grant !== undefined) element.addEventListener("click", () => api.permissions.request(grant));
  if (press !== undefined) element.addEventListener("click", () => port.postMessage(press));
  element.append(...children.map(drawn));
  return element;
}

connect();
