/** A frame around an element, for the person who watches. It lies in a closed shadow root and takes no pointer events. */
import { whenPresent } from "./actionability";
import { type Args, optionalNumber, optionalText, text } from "./args";
import { boxOf, cut, page, rootElement } from "./dom";
import { isSameBox } from "./geometry";
import { nextFrame } from "./moments";
import { refOf } from "./refs";
import { roleOf } from "./roles";

const DEFAULT_SECONDS = 5;
const LABEL_CHARS = 80;

let overlay: HTMLElement | null = null;

/** Draw the frame for so many seconds. The frame follows the element, and another frame replaces it. */
export async function highlight(args: Args): Promise<{ ref: string; role: string }> {
  const element = await whenPresent(text(args, "target"), "operate", optionalNumber(args, "timeoutMs", 0) ?? 0);
  element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  removeHighlight();
  const shown = draw(element, cut(optionalText(args, "label") ?? "", LABEL_CHARS));
  const ends = performance.now() + 1000 * (optionalNumber(args, "seconds", 0.1, 60) ?? DEFAULT_SECONDS);
  void followed(element, shown, ends);
  return { ref: refOf(element), role: roleOf(element) };
}

export function removeHighlight(): { removed: boolean } {
  const removed = overlay !== null;
  overlay?.remove();
  overlay = null;
  return { removed };
}

interface Shown {
  overlay: HTMLElement;
  frame: HTMLElement;
}

function draw(element: Element, label: string): Shown {
  overlay = page.create(document, "roost-highlight");
  overlay.style.cssText = "all: initial; position: fixed; left: 0; top: 0; width: 0; height: 0; z-index: 2147483647; pointer-events: none;";
  const shadow = overlay.attachShadow({ mode: "closed" });
  const frame = page.create(document, "div");
  frame.style.cssText = "position: fixed; box-sizing: border-box; border: 3px solid #d6006c; border-radius: 4px; background: rgb(214 0 108 / 12%);";
  if (label !== "") {
    const words = page.create(document, "div");
    words.textContent = label;
    words.style.cssText = "position: absolute; left: -3px; bottom: 100%; padding: 1px 6px; background: #d6006c; color: #fff; font: bold 12px/18px sans-serif; white-space: nowrap;";
    frame.append(words);
  }
  shadow.append(frame);
  rootElement().appendChild(overlay);
  place(frame, boxOf(element));
  return { overlay, frame };
}

function place(frame: HTMLElement, box: DOMRect): void {
  Object.assign(frame.style, { left: `${box.x - 4}px`, top: `${box.y - 4}px`, width: `${box.width + 8}px`, height: `${box.height + 8}px` });
}

/** Move the frame with the element until the time is over, the element is gone, or another frame is drawn. */
async function followed(element: Element, shown: Shown, ends: number): Promise<void> {
  let before = boxOf(element);
  while (overlay === shown.overlay && element.isConnected && performance.now() < ends) {
    await nextFrame();
    const now = boxOf(element);
    if (!isSameBox(before, now)) place(shown.frame, now);
    before = now;
  }
  if (overlay === shown.overlay) removeHighlight();
}
