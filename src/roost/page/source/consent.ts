/**
 * Cookie banners: finds the button a driver should click, and clicks nothing itself. Rejecting is preferred;
 * accepting is for banners that offer nothing else. Never agrees to terms, an age, a licence or a subscription.
 */
import { whenActionable } from "./actionability";
import type { Args } from "./args";
import { ABOUT_COOKIES, actionOfWords, BINDING_AGREEMENT, type ConsentAction, KNOWN_BANNERS, POSSIBLE_BANNERS } from "./consent_words";
import { cut, queryAll, localName, textContent } from "./dom";
import { PageError } from "./errors";
import { isWithin, openRoots } from "./flat_tree";
import type { Point } from "./geometry";
import { declaredName, tidy } from "./names";
import { plainText } from "./plain_text";
import { refOf } from "./refs";
import { openingTag } from "./targets";
import { isRendered } from "./visibility";

const CLICKABLE = "button, a, [role=button], [role=link], input[type=button], input[type=submit], [onclick]";
const WORDS_READ = 6000;

interface Choice {
  action: ConsentAction;
  element: Element;
  words: string;
  banner: Element;
}

export type ConsentReply =
  | { found: false; banner: string | null }
  | { found: true; action: ConsentAction; ref: string; text: string; banner: string; point: Point | null; obstacle?: string };

export async function consent(_args: Args): Promise<ConsentReply> {
  const banners = bannersOnPage();
  const choices = banners.flatMap(choicesIn);
  const choice = choices.find(({ action }) => action === "reject") ?? choices.find(({ action }) => action === "accept");
  if (!choice) return { found: false, banner: banners[0] ? openingTag(banners[0].element) : null };
  const { action, element, words, banner } = choice;
  const reply = { found: true as const, action, ref: refOf(element), text: cut(words, 80), banner: openingTag(banner) };
  try {
    return { ...reply, point: (await whenActionable(refOf(element), "click", 0)).prepared.point };
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    return { ...reply, point: null, obstacle: error.message };
  }
}

interface Banner {
  element: Element;
  /** A known consent tool made the banner, so its words need not be checked. */
  isKnown: boolean;
  words: string;
}

function bannersOnPage(): Banner[] {
  const known: Banner[] = [];
  const possible: Banner[] = [];
  for (const root of openRoots()) {
    for (const element of queryAll(root, KNOWN_BANNERS)) known.push({ element, isKnown: true, words: "" });
    for (const element of queryAll(root, POSSIBLE_BANNERS)) possible.push({ element, isKnown: false, words: "" });
  }
  return [...known, ...possible.filter(({ element }) => !known.some((other) => isWithin(element, other.element)))]
    .filter(({ element }) => hasRenderedPart(element))
    .map((banner) => ({ ...banner, words: cut(plainText(banner.element), WORDS_READ) }))
    .filter((banner) => banner.isKnown || isAboutCookies(banner));
}

/** The page itself is no banner, even if a selector matches its `<html>` or `<body>`. */
function hasRenderedPart(element: Element): boolean {
  return isRendered(element) && localName(element) !== "body" && localName(element) !== "html";
}

/** A banner is short. The limit excludes pages about baking or privacy law, which also say "cookie". */
function isAboutCookies({ words }: Banner): boolean {
  return ABOUT_COOKIES.test(words) && words.length < WORDS_READ;
}

function choicesIn(banner: Banner): Choice[] {
  const choices: Choice[] = [];
  for (const element of clickableIn(banner.element)) {
    const words = tidy(wordsOn(element));
    const action = actionOfWords(words);
    if (action && isRendered(element) && !isBinding(banner, action)) choices.push({ action, element, words, banner: banner.element });
  }
  return choices;
}

/** Rejecting commits the person to nothing. Accepting a text that also mentions terms could. */
function isBinding({ words, isKnown }: Banner, action: ConsentAction): boolean {
  return action === "accept" && !isKnown && BINDING_AGREEMENT.test(words);
}

function wordsOn(element: Element): string {
  if (localName(element) === "input") return (element as HTMLInputElement).value;
  return textContent(element)?.trim() || declaredName(element);
}

/** Searches the open shadow roots of the banner, too. */
function clickableIn(banner: Element): Element[] {
  const roots = openRoots(banner);
  return Array.from(new Set(roots.flatMap((root) => Array.from(queryAll(root, CLICKABLE)))));
}
