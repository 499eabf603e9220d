/**
 * aria-owns makes elements children of another element than their parent in the DOM. An element has one owner: the
 * first one that claims it. A claim that would make a cycle is ignored.
 * https://w3c.github.io/aria/#aria-owns
 */
import { isReadingOver } from "./budget";
import { getAttribute, page, parentNode, queryAll } from "./dom";

/** Each claim costs a walk up the tree. Ordinary pages claim a few dozen elements. */
const CLAIM_LIMIT = 5_000;
const ATTRIBUTE_LIMIT = 20_000;

export class OwnedElements {
  private claims = 0;
  private readonly ownerOf = new Map<Node, Element>();
  private readonly ownedBy = new Map<Element, Element[]>();

  constructor() {
    for (const owner of queryAll(document, "[aria-owns]")) {
      for (const id of getAttribute(owner, "aria-owns")!.slice(0, ATTRIBUTE_LIMIT).split(/\s+/)) {
        this.claims += 1;
        if (this.claims > CLAIM_LIMIT || isReadingOver()) return;
        const element = id === "" ? null : page.byId(document, id);
        if (element) this.claim(owner, element);
      }
    }
  }

  of(owner: Element): readonly Element[] {
    return this.ownedBy.size === 0 ? [] : this.ownedBy.get(owner) ?? [];
  }

  isOwned(element: Element): boolean {
    return this.ownerOf.size > 0 && this.ownerOf.has(element);
  }

  private claim(owner: Element, element: Element): void {
    if (this.ownerOf.has(element) || this.isBelow(owner, element)) return;
    this.ownerOf.set(element, owner);
    const owned = this.ownedBy.get(owner);
    if (owned) owned.push(element);
    else this.ownedBy.set(owner, [element]);
  }

  private isBelow(inner: Element, outer: Element): boolean {
    for (let at: Node | null = inner; at; at = this.ownerOf.get(at) ?? parentNode(at)) if (at === outer) return true;
    return false;
  }
}
