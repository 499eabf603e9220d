/**
 * Refs: the names agents use for elements. `e12`, in a frame `f1e12`.
 *
 * An element keeps its number as long as it lives, and no other element ever gets that number. Numbers must not repeat
 * in the next document either, but the bundle starts there with an empty memory. So the caller passes the first free
 * number with each call, and takes the next free number from the reply.
 */
import { isConnected } from "./dom";
import { type ErrorDetails, PageError } from "./errors";

const numbers = new WeakMap<Element, number>();
const elements = new Map<number, WeakRef<Element>>();
const forgetDead = new FinalizationRegistry<number>((number) => elements.delete(number));
let nextNumber = 1;
let framePrefix = "";

const REF = /^(?:@|ref=)?((?:f\d+)?)e(\d+)$/;

export function startNumberingAt(firstRef: number | undefined, prefix: string | undefined): void {
  if (firstRef !== undefined) nextNumber = Math.max(nextNumber, Math.floor(firstRef));
  if (prefix !== undefined) framePrefix = prefix;
}

export function nextRef(): number {
  return nextNumber;
}

export function refOf(element: Element): string {
  let number = numbers.get(element);
  if (number === undefined) {
    number = nextNumber;
    nextNumber += 1;
    numbers.set(element, number);
    elements.set(number, new WeakRef(element));
    forgetDead.register(element, number);
  }
  return `${framePrefix}e${number}`;
}

export function looksLikeRef(target: string): boolean {
  return REF.test(target);
}

export function elementOfRef(target: string): Element {
  const element = formerElement(target);
  if (element === undefined || !isConnected(element)) throw staleRef(target);
  return element;
}

/** The element that was given the ref, also if the page has removed it since. Undefined if it no longer exists. */
export function formerElement(target: string): Element | undefined {
  const [, prefix, number] = REF.exec(target)!;
  return prefix === framePrefix ? elements.get(Number(number))?.deref() : undefined;
}

export function staleRef(target: string, details: ErrorDetails = {}): PageError {
  return new PageError("STALE_REF", `${target} is not on this page (any more)`, {
    ref: target,
    hint: "The page has changed since that ref was given. Take a new snapshot and use a ref from it.",
    ...details,
  });
}
