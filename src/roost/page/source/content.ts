/** The content of the page or of one part, as text, Markdown or HTML, bounded. */
import { type Args, oneOf, optionalNumber, optionalText } from "./args";
import { wasCut } from "./budget";
import { contentElement, cut, innerHTML, outerHTML, page, queryAll, rootElement } from "./dom";
import { markdown } from "./markdown";
import { plainText } from "./plain_text";
import { holdsSecret, isSecretField } from "./secrets";
import { findTarget } from "./targets";

const CUT_NOTE = "\n\n# cut: this page takes too long to read. Ask for one part with selector.";
const FIELDS = "input,textarea,[contenteditable]";
const TITLE_CHARS = 1000;
const DEFAULT_LENGTH = 50_000;

export interface ContentReply {
  url: string;
  title: string;
  format: string;
  text: string;
  length: number;
  truncated: boolean;
}

export function content(args: Args): ContentReply {
  const format = oneOf(args, "format", ["text", "markdown", "html"], "text");
  const maxLength = optionalNumber(args, "maxLength", 1, 50_000_000) ?? DEFAULT_LENGTH;
  const selector = optionalText(args, "selector") ?? optionalText(args, "target");
  const whole = format === "html" ? rootElement() : contentElement();
  const element = selector === undefined ? whole : findTarget(selector).element;
  const text = { text: plainText, markdown, html: (one: Element) => openHTML(one) }[format](element);
  return { url: location.href, title: cut(page.title(document), TITLE_CHARS), format, text: cut(text, maxLength) + (wasCut() ? CUT_NOTE : ""), length: text.length, truncated: text.length > maxLength || wasCut() };
}

/**
 * The markup without the values of password fields and without secrets that Roost filled in. `isInner`: without the
 * element's own tag.
 */
export function openHTML(element: Element, isInner = false): string {
  const markup = isInner ? innerHTML : outerHTML;
  const fields = [element, ...queryAll(element, FIELDS)];
  if (!fields.some((field) => isSecretField(field) && (field.hasAttribute("value") || holdsSecret(field)))) return markup(element);
  // Copy into a document without a window, in which no script runs and nothing loads.
  const copy = document.implementation.createHTMLDocument("").importNode(element, true);
  const copies = [copy, ...queryAll(copy, FIELDS)];
  fields.forEach((field, index) => {
    if (!isSecretField(field)) return;
    copies[index]!.removeAttribute("value");
    copies[index]!.replaceChildren();
  });
  return markup(copy);
}
