/**
 * Finds the element that a caller means by `text=…`.
 *
 * The text of an element fits if it contains the wanted text; in quotes, it must be the wanted text. Of all that fit,
 * the best is taken: a field first if the caller wants to type or fill in, then the same text before a longer one, then
 * elements that can be operated before plain text. If several are equally good, nobody can tell which is meant.
 */
import { isReadingOver, oncePerBudget, startBudget } from "./budget";
import { boxOf, closest, cut, firstChild, getAttribute, hasAttribute, isElement, localName, matches, nextSibling, queryAll, textContent } from "./dom";
import { badRequest, PageError } from "./errors";
import { flatParent, isWithin, openRoots } from "./flat_tree";
import { declaredName, tidy } from "./names";
import { plainText } from "./plain_text";
import { refOf } from "./refs";
import { isEditingHost, isInteractiveRole, isNamedByContent, roleOf } from "./roles";
import { isEditable } from "./states";
import { isRendered, isUnrendered } from "./visibility";

/** What the caller wants to do with the element. It decides which of several elements is the best. */
export type Purpose = "operate" | "type" | "fill";

const FIELDS = "input:not([type=hidden]), textarea, select, [contenteditable], [role=textbox], [role=combobox], [role=searchbox], [role=spinbutton], [role=listbox]";
const NAMED_OPERABLES = `${FIELDS}, button, a[href], summary, [role], [tabindex]`;
const FIELD_ROLES = /^(checkbox|combobox|listbox|menuitemcheckbox|menuitemradio|radio|searchbox|slider|spinbutton|switch|textbox)$/;
const NAMES_READ = 1000;
const RANKED = 300;
const CANDIDATES_NAMED = 8;
const CONTEXT_CHARS = 80;

interface Wanted {
  text: string;
  needle: string;
  isExact: boolean;
}

function parse(words: string): Wanted {
  const quoted = /^(["'])(.*)\1$/.exec(words);
  const text = tidy(quoted ? quoted[2]! : words);
  if (text === "") throw badRequest("target", "text= needs a text");
  return { text, needle: text.toLowerCase(), isExact: quoted !== null };
}

function fits(text: string, { needle, isExact }: Wanted): boolean {
  const lower = text.toLowerCase();
  return isExact ? lower === needle : lower.includes(needle);
}

/** The innermost rendered elements whose text fits. */
export function elementsByText(words: string): Element[] {
  startBudget(); // a caller that waits for a text searches again and again
  const wanted = parse(words);
  return openRoots()
    .flatMap((root) => [...childElements(root).flatMap((child) => innermostWith(child, wanted)), ...buttonsWith(root, wanted)])
    .filter((element) => isRendered(element) && !isClosedOption(element));
}

/** The options of a closed list are rendered only when the list is open. */
function isClosedOption(element: Element): boolean {
  return localName(element) === "option" && boxOf(element).height === 0;
}

/** An element whose text or name fits. */
interface Candidate {
  element: Element;
  /** The control that acts when the element is operated: the button around a text, the field of a label. */
  actor: Element;
  /** Smaller is better; compared from left to right. */
  rank: readonly number[];
}

export function bestByText(words: string, purpose: Purpose): { element: Element; matches: number } | null {
  const wanted = parse(words);
  const texts = likeliest(elementsByText(words).map((element) => ({ element, text: tidy(shownText(element)) })), wanted)
    .map(({ element, text }) => candidate(element, text, wanted, purpose));
  const candidates = [...texts, ...byName(wanted, purpose, texts.length === 0)].sort((left, right) => compare(left.rank, right.rank));
  const [best] = candidates;
  if (!best) return null;
  const actors = new Map<Element, Candidate>();
  for (const one of candidates) if (!actors.has(one.actor)) actors.set(one.actor, one);
  const equal = Array.from(actors.values()).filter((one) => compare(one.rank, best.rank) === 0);
  if (equal.length > 1 && !leadToTheSame(equal)) throw ambiguous(`text=${words}`, equal, TEXT_HINT);
  return { element: best.element, matches: actors.size };
}

/** A short text fits thousands of elements of a large page. Rank only the nearest of them then, because ranking is slow. */
function likeliest<Fit extends { text: string }>(fits: Fit[], wanted: Wanted): Fit[] {
  if (fits.length <= RANKED) return fits;
  return [0, 1, 2].flatMap((grade) => fits.filter(({ text }) => inexactness(text, wanted) === grade)).slice(0, RANKED);
}

function compare(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((value, index) => value !== right[index]);
  return at < 0 ? 0 : left[at]! - right[at]!;
}

function candidate(element: Element, text: string, wanted: Wanted, purpose: Purpose): Candidate {
  const actor = actorOf(element);
  const whole = actor !== null && actor !== element && isNamedByContent(roleOf(actor)) ? tidy(plainText(actor)) : text;
  const isWrong = isWrongKind(actor ?? element, purpose);
  const worse = [isWrong, inexactness(text, wanted), actor === null, inexactness(whole, wanted), isBehindDialog(element), isOutOfSight(element)];
  return { element, actor: actor ?? element, rank: worse.map(Number) };
}

/** 0: the same text. 1: the same text in another case. 2: a longer text. */
function inexactness(text: string, wanted: Wanted): number {
  if (text === wanted.text) return 0;
  return text.toLowerCase() === wanted.needle ? 1 : 2;
}

function isWrongKind(actor: Element, purpose: Purpose): boolean {
  if (purpose === "operate") return false;
  if (purpose === "type") return !isEditable(actor);
  return !isEditable(actor) && localName(actor) !== "select" && !FIELD_ROLES.test(roleOf(actor));
}

/** The control that contains the element or that the element labels, or null for plain text. */
function actorOf(element: Element): Element | null {
  for (let at: Element | null = element; at; at = flatParent(at)) {
    if (localName(at) === "label") return (at as HTMLLabelElement).control ?? at;
    if (isInteractiveRole(roleOf(at)) || localName(at) === "summary" || isEditingHost(at)) return at;
  }
  if (hasAttribute(element, "onclick")) return element;
  return getComputedStyle(element).cursor === "pointer" ? outermostPointer(element) : null;
}

/** The cursor is inherited, so the outermost element that shows a pointing hand is the one the author made operable. */
function outermostPointer(element: Element): Element {
  let found = element;
  for (let at = flatParent(element); at && getComputedStyle(at).cursor === "pointer"; at = flatParent(at)) found = at;
  return found;
}

/** True if a dialog is open over the page and the element is not in it. */
function isBehindDialog(element: Element): boolean {
  const dialogs = openDialogs();
  return dialogs.length > 0 && !dialogs.some((dialog) => isWithin(element, dialog));
}

const openDialogs = oncePerBudget(() => Array.from(queryAll(document, "dialog:modal, [aria-modal=true]")).filter(isRendered));

/** True for text that only screen readers get: too small to see, or placed where no scrolling leads. */
function isOutOfSight(element: Element): boolean {
  const box = boxOf(element);
  return box.width <= 1 || box.height <= 1 || box.right + scrollX <= 0 || box.bottom + scrollY <= 0;
}

/**
 * Elements that the text names without showing it: by a label, a placeholder or a title.
 *
 * For typing and filling these are the fields. Otherwise names count only if no text fits, and only as a whole: a text
 * that will be shown in a moment must not lose against a part of some title.
 */
function byName(wanted: Wanted, purpose: Purpose, isAlone: boolean): Candidate[] {
  if (purpose === "operate" && !isAlone) return [];
  const needed = purpose === "operate" ? { ...wanted, isExact: true } : wanted;
  const selector = purpose === "operate" ? NAMED_OPERABLES : FIELDS;
  const elements = openRoots().flatMap((root) => Array.from(queryAll(root, selector))).slice(0, NAMES_READ);
  return elements.flatMap((element) => {
    const name = namesOf(element).find((one) => fits(one, needed));
    return name === undefined || !isRendered(element) ? [] : [candidate(element, name, wanted, purpose)];
  });
}

function namesOf(element: Element): string[] {
  const attributes = ["aria-label", "placeholder", "title", "alt"].map((name) => tidy(getAttribute(element, name) ?? ""));
  return [...attributes, matches(element, FIELDS) ? declaredName(element) : ""].filter((name) => name !== "");
}

/** Links to the same address do the same. */
function leadToTheSame(candidates: readonly Candidate[]): boolean {
  const addresses = candidates.map(({ actor }) => (localName(actor) === "a" ? (actor as HTMLAnchorElement).href : ""));
  return addresses[0] !== "" && addresses.every((address) => address === addresses[0]);
}

const TEXT_HINT = 'Use one of these refs as target, or more of the text. text="…" in quotes fits only the whole text.';

/** The error for a target that fits several elements. It lists them by their refs. */
export function ambiguous(target: string, candidates: readonly Pick<Candidate, "element" | "actor">[], hint: string): PageError {
  const named = candidates.slice(0, CANDIDATES_NAMED);
  const refs = named.map(({ actor }) => refOf(actor));
  const more = candidates.length - named.length;
  return new PageError("BAD_REQUEST", `${cut(target, 200)} fits ${candidates.length} elements equally well: ${refs.join(", ")}${more > 0 ? ` and ${more} more` : ""}`, {
    field: "target",
    reason: "ambiguous",
    suggestions: refs,
    hint,
    pageSaid: named.map(({ element, actor }, index) => `${refs[index]}: ${described(element, actor)}`).join("\n"),
  });
}

function described(element: Element, actor: Element): string {
  const around = closest(flatParent(actor) ?? actor, "tr, li, article, section, fieldset, form, [role=row], [role=listitem], [role=group], nav, header, footer, main");
  const context = around === null ? "" : cut(tidy(plainText(around)), CONTEXT_CHARS);
  const name = cut(tidy(shownText(element)) || declaredName(element), CONTEXT_CHARS);
  return `${roleOf(actor)} ${JSON.stringify(name)}${context === "" ? "" : ` in ${JSON.stringify(context)}`}`;
}

function shownText(element: Element): string {
  return isButtonWithValue(element) ? (element as HTMLInputElement).value : plainText(element);
}

/**
 * Search from the outside in: do not enter an element whose raw text does not contain the wanted text. Compute the text
 * as it is shown only for the innermost elements, because that is slow.
 */
function innermostWith(element: Element, wanted: Wanted): Element[] {
  if (isReadingOver()) throw new PageError("TIMEOUT", "This page takes too long to search for a text", { hint: "Use a CSS selector, or a ref from a snapshot." });
  if (isUnrendered(element) || !squeezed(textContent(element) ?? "").includes(squeezed(wanted.needle))) return [];
  const inner = childElements(element).flatMap((child) => innermostWith(child, wanted));
  return inner.length > 0 || !fits(tidy(plainText(element)), wanted) ? inner : [element];
}

function squeezed(text: string): string {
  return text.replace(/[\s\u00ad\u200b\u2060]+/g, "").toLowerCase();
}

function childElements(parent: Node): Element[] {
  const children: Element[] = [];
  for (let child = firstChild(parent); child; child = nextSibling(child)) if (isElement(child)) children.push(child);
  return children;
}

const BUTTONS_WITH_VALUE = "input[type=button], input[type=submit], input[type=reset]";

function isButtonWithValue(element: Element): boolean {
  return matches(element, BUTTONS_WITH_VALUE);
}

function buttonsWith(root: Node, wanted: Wanted): Element[] {
  return Array.from(queryAll(root, BUTTONS_WITH_VALUE)).filter((button) => fits(tidy((button as HTMLInputElement).value), wanted));
}
