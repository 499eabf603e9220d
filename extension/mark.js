// A small mark on pages that an agent works in: a glow around the page and a word in its corner, in
// the colour of its group. It takes no clicks, pages cannot look into it, and pictures are taken
// without it. Both functions stand alone: they are run inside the page.

export const MARKED = "data-roost-mark";

export function mark(color, attribute) {
  document.querySelector(`[${attribute}]`)?.remove();
  const host = document.createElement("div");
  host.setAttribute(attribute, "");
  host.setAttribute("aria-hidden", "true");
  const everywhere = "position: fixed; inset: 0; z-index: 2147483647; pointer-events: none;";
  host.style.cssText = `all: initial; ${everywhere}`;
  const glow = document.createElement("div");
  glow.style.cssText = `${everywhere} box-shadow: inset 0 0 0 2px ${color}, inset 0 0 12px ${color};`;
  const word = document.createElement("div");
  word.textContent = "Roost";
  const corner = "position: fixed; right: 8px; bottom: 8px; padding: 1px 6px; border-radius: 6px;";
  word.style.cssText = `${corner} background: ${color}; color: white; font: 11px sans-serif; opacity: 0.85;`;
  host.attachShadow({ mode: "closed" }).append(glow, word);
  document.documentElement?.append(host);
}

export function unmark(attribute) {
  document.querySelector(`[${attribute}]`)?.remove();
}
