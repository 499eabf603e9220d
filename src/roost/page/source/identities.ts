/**
 * A number for every element that a snapshot shows, so that a later snapshot recognises the element.
 *
 * A ref is a number that agents read, and only some lines have one. These numbers never leave the bundle.
 */
const identities = new WeakMap<Element, number>();
let lastIdentity = 0;

export function identityOf(element: Element): number {
  let identity = identities.get(element);
  if (identity === undefined) {
    lastIdentity += 1;
    identity = lastIdentity;
    identities.set(element, identity);
  }
  return identity;
}
