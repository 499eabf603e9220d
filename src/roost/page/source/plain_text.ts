/** The text a person sees: rendered text and field values, with the line breaks of the layout. */
import { isReadingOver } from "./budget";
import { ELEMENT, TEXT, hasAttribute, localName, nextSibling, nodeType, queryAll } from "./dom";
import { firstFlatChild, slottedNodes } from "./flat_tree";
import { roleOf } from "./roles";
import { holdsSecret } from "./secrets";
import { shownValue } from "./states";
import { exposureOf, isUnrendered, skipsContents } from "./visibility";

const DEPTH_LIMIT = 700;

/** Blocks with an empty line around them, as in `innerText`. */
const SPACED_TAGS = new Set(["blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"]);

class TextWriter {
  private readonly parts: string[] = [];
  private pendingBreaks = 0;
  private endsWithSpace = true;

  inline(text: string, keepsSpace: boolean): void {
    const words = keepsSpace ? text : text.replace(/\s+/g, " ");
    const tail = this.endsWithSpace && !keepsSpace ? words.replace(/^ /, "") : words;
    if (tail === "") return;
    if (tail === " " && this.pendingBreaks > 0) return;
    this.writeBreaks();
    this.parts.push(tail);
    this.endsWithSpace = /\s$/.test(tail);
  }

  /** Minimum number of line ends before the next text. */
  breakLine(count: number): void {
    this.pendingBreaks = Math.max(this.pendingBreaks, count);
    this.endsWithSpace = true;
  }

  tab(): void {
    if (this.pendingBreaks === 0 && this.parts.length > 0) this.parts.push("\t");
    this.endsWithSpace = true;
  }

  finish(): string {
    return this.parts.join("").replace(/(?<! ) +\n/g, "\n").replace(/[\u00ad\u200b\u2060]+/g, "").trim();
  }

  private writeBreaks(): void {
    if (this.pendingBreaks > 0 && this.parts.length > 0) this.parts.push("\n".repeat(this.pendingBreaks));
    this.pendingBreaks = 0;
  }
}

export function plainText(root: Element): string {
  const writer = new TextWriter();
  writeElement(root, writer, 0);
  return writer.finish();
}

function writeElement(element: Element, writer: TextWriter, depth: number): void {
  const tag = localName(element);
  if (isUnrendered(element) || depth > DEPTH_LIMIT || isReadingOver() || holdsSecret(element)) return;
  if (tag === "br") return writer.breakLine(1);
  const style = getComputedStyle(element);
  const display = style.display;
  const exposure = exposureOf(element, style, display);
  if (exposure === "gone" || hasAttribute(element, "inert")) return;
  const value = valueText(element, tag);
  const breaks = breaksAround(tag, display);
  if (breaks > 0) writer.breakLine(breaks);
  if (display === "table-cell") writer.tab();
  if (value !== null) {
    if (exposure === "seen" && value !== "") writer.inline(`${value} `, tag === "textarea");
  } else if (!skipsContents(style, display)) writeChildren(element, tag, writer, exposure === "seen", style.whiteSpace.startsWith("pre"), depth);
  if (breaks > 0) writer.breakLine(breaks);
}

function writeChildren(element: Element, tag: string, writer: TextWriter, isSeen: boolean, keepsSpace: boolean, depth: number): void {
  const write = (child: Node): void => {
    const type = nodeType(child);
    if (type === TEXT && isSeen) writer.inline((child as Text).data, keepsSpace);
    else if (type === ELEMENT) writeElement(child as Element, writer, depth + 1);
  };
  if (tag === "details" && !hasAttribute(element, "open")) {
    queryAll(element, ":scope > summary").forEach((summary, index) => index === 0 && write(summary));
    return;
  }
  const slotted = slottedNodes(element);
  if (slotted) slotted.forEach(write);
  else for (let child = firstFlatChild(element); child; child = nextSibling(child)) write(child);
}

/** The value of a field, or null for every other element. */
export function valueText(element: Element, tag: string): string | null {
  switch (tag) {
    case "input": {
      const input = element as HTMLInputElement;
      if (/^(button|submit|reset)$/.test(input.type)) return input.value;
      return shownValue(input, roleOf(input)) ?? "";
    }
    case "select":
    case "textarea":
      return shownValue(element, "") ?? "";
    case "canvas":
    case "iframe":
    case "object":
    case "video":
    case "audio":
      return "";
    default:
      return null;
  }
}

function breaksAround(tag: string, display: string): number {
  if (display.startsWith("inline") || display === "contents" || display === "table-cell" || display === "none") return 0;
  return SPACED_TAGS.has(tag) ? 2 : 1;
}
