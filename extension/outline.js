// The outline on a page that an agent works in: a glow around the page, the session's name in a
// corner, and a short glow around the element of an action. The outline takes no clicks and no space.
// It is in a closed shadow root, so the page sees only an empty element.

/**
 * Draw, change or remove the outline. This function runs inside the page, in an isolated world, so it
 * uses nothing from outside itself.
 *
 * look    {name, color, ink, isHidden, leaseMs, spot}, or null to remove the outline
 * spot    where an action happens: [x, y], or "focus"
 *
 * The outline hides itself unless it is painted again within `leaseMs`, because the extension may be
 * gone by then. An animation does that, because an extension's scripts end with the extension.
 */
export function paint(look) {
  const known = globalThis.roostMark;
  if (look === null) {
    known?.host.remove();
    delete globalThis.roostMark;
    return;
  }
  if (document.documentElement === null) return;
  const outline = known ?? make();
  if (!outline.host.isConnected) document.documentElement.append(outline.host);
  const { name, color, ink, isHidden, leaseMs, spot } = look;
  outline.all.style.display = isHidden ? "none" : "block";
  outline.edge.style.boxShadow = `inset 0 0 0 2px ${color}, inset 0 0 12px ${color}`;
  outline.word.textContent = name;
  outline.word.style.background = color;
  outline.word.style.color = ink;
  outline.glow.style.boxShadow = `0 0 0 3px ${color}, 0 0 16px 4px ${color}`;
  outline.lease?.cancel();
  outline.lease = outline.all.animate([{ visibility: "hidden" }], { delay: leaseMs, duration: 1, fill: "forwards" });
  if (spot) glowAt(spot);

  function make() {
    const host = element("all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none;", true);
    host.setAttribute("data-roost-mark", "");
    host.setAttribute("aria-hidden", "true");
    const all = element("");
    const edge = element("position: fixed; inset: 0;");
    const word = element(
      "position: fixed; right: 8px; bottom: 8px; padding: 1px 6px; border-radius: 6px; opacity: 0.85;" +
        " max-width: 40vw; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font: 11px sans-serif;",
    );
    const glow = element("position: fixed; border-radius: 3px; opacity: 0;");
    all.append(edge, glow, word);
    host.attachShadow({ mode: "closed" }).append(all);
    addEventListener("beforeprint", () => (all.style.display = "none"));
    addEventListener("afterprint", () => (all.style.display = "block"));
    return (globalThis.roostMark = { host, all, edge, word, glow });
  }

  function element(css, isSure = false) {
    const made = document.createElementNS("http://www.w3.org/1999/xhtml", "div");
    made.style.cssText = isSure ? css.replaceAll(";", " !important;") : css;
    return made;
  }

  function glowAt(spot) {
    const of = (root) => (spot === "focus" ? root.activeElement : root.elementFromPoint(...spot));
    let target = of(document);
    for (let inner = target; inner?.shadowRoot; ) {
      inner = of(inner.shadowRoot);
      if (inner === target) break;
      target = inner ?? target;
    }
    if (target === null || target === document.body || target === document.documentElement) return;
    const { left, top, width, height } = target.getBoundingClientRect();
    Object.assign(outline.glow.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    outline.glow.animate([{ opacity: 0.9 }, { opacity: 0.9, offset: 0.5 }, { opacity: 0 }], 1500);
  }
}
