/** Decides whether an element is rendered, and whether assistive technology may read it. */
import { checkVisibility, hasAttribute, isTrue, localName } from "./dom";
import { flatParent } from "./flat_tree";

/** Tags that are never rendered or carry no meaning, whatever CSS says. */
const UNRENDERED_TAGS = new Set([
  "base", "datalist", "defs", "desc", "head", "link", "meta", "metadata", "noscript", "param", "script", "source", "style", "template", "title", "track",
]);

export type Exposure =
  /** Neither the element nor anything inside it is rendered. */
  | "gone"
  /** `visibility: hidden`: the element is not visible, but descendants may be. */
  | "unseen"
  | "seen";

export function isUnrendered(element: Element): boolean {
  return UNRENDERED_TAGS.has(localName(element));
}

/** Judge the element alone. The caller has already looked at its ancestors. */
export function exposureOf(element: Element, style: CSSStyleDeclaration, display = style.display): Exposure {
  if (display === "none") return isAreaOfMap(element) ? "seen" : "gone";
  return style.visibility === "visible" ? "seen" : "unseen";
}

/** `<area>` has no box of its own, because the image draws it. */
function isAreaOfMap(element: Element): boolean {
  return localName(element) === "area" && hasAttribute(element, "href");
}

export function isHiddenFromReaders(element: Element): boolean {
  return isTrue(element, "aria-hidden") || hasAttribute(element, "inert");
}

/** Whether `content-visibility: hidden` keeps the children from being rendered. `hidden=until-found` sets it, too. */
export function skipsContents(style: CSSStyleDeclaration, display: string): boolean {
  // Size containment, and so content-visibility, does not apply to inline boxes.
  return display !== "inline" && display !== "contents" && style.contentVisibility === "hidden";
}

/** Whether a person can see this element on the page, inside the viewport or not. */
export function isRendered(element: Element): boolean {
  const style = getComputedStyle(element);
  if (style.visibility !== "visible") return false;
  if (style.display === "contents") {
    const parent = flatParent(element);
    return parent !== null && isRendered(parent);
  }
  return checkVisibility(element);
}
