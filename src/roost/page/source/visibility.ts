/** What is rendered and exposed: the two questions every reader of the page asks about an element. */
import { checkVisibility, hasAttribute, isTrue, localName } from "./dom";
import { flatParent } from "./flat_tree";

/** Never rendered, or rendered without meaning, whatever CSS says. */
const UNRENDERED_TAGS = new Set([
  "base", "datalist", "defs", "desc", "head", "link", "meta", "metadata", "noscript", "param", "script", "source", "style", "template", "title", "track",
]);

export type Exposure =
  /** Not there, nor anything inside. */
  | "gone"
  /** `visibility: hidden`: itself unseen, descendants may be visible. */
  | "unseen"
  | "seen";

export function isUnrendered(element: Element): boolean {
  return UNRENDERED_TAGS.has(localName(element));
}

/** Its own rendering only; the caller comes from above and knows about ancestors. */
export function exposureOf(element: Element, style: CSSStyleDeclaration, display = style.display): Exposure {
  if (display === "none") return isAreaOfMap(element) ? "seen" : "gone";
  return style.visibility === "visible" ? "seen" : "unseen";
}

/** `<area>` has no box of its own: the image draws it. */
function isAreaOfMap(element: Element): boolean {
  return localName(element) === "area" && hasAttribute(element, "href");
}

export function isHiddenFromReaders(element: Element): boolean {
  return isTrue(element, "aria-hidden") || hasAttribute(element, "inert");
}

/** Its children exist but are not rendered: `content-visibility: hidden`, also behind `hidden=until-found`. */
export function skipsContents(style: CSSStyleDeclaration, display: string): boolean {
  // Size containment, and so content-visibility, does not apply to inline boxes.
  return display !== "inline" && display !== "contents" && style.contentVisibility === "hidden";
}

/** Is this element on the page for a person to see (not necessarily inside the viewport)? */
export function isRendered(element: Element): boolean {
  const style = getComputedStyle(element);
  if (style.visibility !== "visible") return false;
  if (style.display === "contents") {
    const parent = flatParent(element);
    return parent !== null && isRendered(parent);
  }
  return checkVisibility(element);
}
