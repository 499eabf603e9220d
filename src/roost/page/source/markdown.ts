/** Writes what a person sees as Markdown: headings, links, lists, tables, code, quotes, and images by their alt text. */
import { isReadingOver } from "./budget";
import { ELEMENT, TEXT, getAttribute, hasAttribute, isElement, localName, nodeType, queryAll } from "./dom";
import { forEachFlatChild } from "./flat_tree";
import { plainText, valueText } from "./plain_text";
import { holdsSecret } from "./secrets";
import { exposureOf, isUnrendered, skipsContents } from "./visibility";

const DEPTH_LIMIT = 400;

export function markdown(root: Element): string {
  return joinBlocks(new Blocks().of(root, 0)).trim();
}

function joinBlocks(blocks: string[]): string {
  return blocks.filter((block) => block.trim() !== "").join("\n\n");
}

/** Turn rendered children into blocks. Adjacent inline content becomes one paragraph. */
class Blocks {
  private readonly done: string[] = [];
  private paragraph = "";

  of(element: Element, depth: number): string[] {
    const block = blockOf(element, depth);
    return block === null ? new Blocks().inside(element, depth) : [block];
  }

  inside(element: Element, depth: number): string[] {
    forEachReadableChild(element, (child, isSeen) => {
      if (!isElement(child)) {
        if (isSeen) this.paragraph += escaped((child as Text).data);
      } else if (isBlock(child)) {
        this.endParagraph();
        if (depth < DEPTH_LIMIT) this.done.push(...this.of(child, depth + 1));
      } else this.paragraph += inline(child, depth + 1);
    });
    this.endParagraph();
    return this.done;
  }

  private endParagraph(): void {
    const text = tidyInline(this.paragraph);
    if (text !== "") this.done.push(text);
    this.paragraph = "";
  }
}

/** The Markdown of a block, or null for a container that has none of its own. */
function blockOf(element: Element, depth: number): string | null {
  const tag = localName(element);
  const heading = /^h([1-6])$/.exec(tag);
  if (heading) return titled(`${"#".repeat(Number(heading[1]))} `, inlineContent(element, depth));
  switch (tag) {
    case "hr":
      return "---";
    case "pre":
      return fenced(plainText(element));
    case "blockquote":
      return prefixed(joinBlocks(new Blocks().inside(element, depth)), "> ");
    case "ul":
    case "menu":
    case "ol":
      return list(element, tag === "ol", depth);
    case "dt":
      return titled("**", inlineContent(element, depth), "**");
    case "table":
      return isDataTable(element) ? table(element, depth) : null;
    default:
      return null;
  }
}

function titled(before: string, text: string, after = ""): string {
  return text === "" ? "" : `${before}${text}${after}`;
}

function fenced(code: string): string {
  const fence = code.includes("```") ? "````" : "```";
  return `${fence}\n${code}\n${fence}`;
}

function prefixed(text: string, prefix: string, first = prefix): string {
  return text
    .split("\n")
    .map((line, index) => ((index === 0 ? first : prefix) + line).trimEnd())
    .join("\n");
}

function list(element: Element, isOrdered: boolean, depth: number): string {
  const items: string[] = [];
  let number = Number(getAttribute(element, "start") ?? 1);
  forEachReadableChild(element, (child) => {
    if (!isElement(child)) return;
    const content = new Blocks().inside(child, depth + 1).join("\n");
    if (content.trim() === "") return;
    const bullet = isOrdered ? `${number++}. ` : "- ";
    items.push(prefixed(content, " ".repeat(bullet.length), bullet));
  });
  return items.join("\n");
}

/** Tables for layout, tables that contain tables and tables with one column are written as plain content. */
function isDataTable(element: Element): boolean {
  const { rows } = element as HTMLTableElement;
  return getAttribute(element, "role") !== "presentation" && rows.length > 0 && queryAll(element, "table").length === 0 && (rows[0]?.cells.length ?? 0) > 1;
}

function table(element: Element, depth: number): string {
  const rows = Array.from((element as HTMLTableElement).rows)
    .filter((row) => exposureOf(row, getComputedStyle(row)) === "seen")
    .map((row) => Array.from(row.cells, (cell) => inlineContent(cell, depth).replace(/\|/g, "\\|").replace(/\n/g, " ")));
  const [head, ...body] = rows;
  if (!head) return "";
  const columns = Math.max(...rows.map((row) => row.length));
  const line = (cells: string[]): string => `| ${Array.from({ length: columns }, (_, index) => cells[index] ?? "").join(" | ")} |`;
  return [line(head), line(Array<string>(columns).fill("---")), ...body.map(line)].join("\n");
}

function inlineContent(element: Element, depth: number): string {
  let text = "";
  if (depth > DEPTH_LIMIT) return text;
  forEachReadableChild(element, (child, isSeen) => {
    if (!isElement(child)) text += isSeen ? escaped((child as Text).data) : "";
    else text += isBlock(child) ? ` ${inline(child, depth + 1)} ` : inline(child, depth + 1);
  });
  return tidyInline(text);
}

function inline(element: Element, depth: number): string {
  const tag = localName(element);
  const value = valueText(element, tag);
  if (value !== null) return value === "" ? "" : ` ${escaped(value)} `;
  switch (tag) {
    case "br":
      return "\n";
    case "img":
      return image(element);
    case "code":
    case "kbd":
    case "samp":
      return around("`", plainText(element));
    case "b":
    case "strong":
      return around("**", inlineContentWithEdges(element, depth));
    case "em":
    case "i":
      return around("*", inlineContentWithEdges(element, depth));
    case "a":
      return link(element, inlineContentWithEdges(element, depth));
    default:
      return inlineContentWithEdges(element, depth);
  }
}

/** Spaces at the edges are kept: `<b>bold </b>text`. */
function inlineContentWithEdges(element: Element, depth: number): string {
  const text = inlineContent(element, depth);
  const raw = element.textContent ?? "";
  return `${/^\s/.test(raw) ? " " : ""}${text}${/\s$/.test(raw) && text !== "" ? " " : ""}`;
}

function around(mark: string, text: string): string {
  const [before, inner, after] = edges(text);
  return inner === "" ? before : `${before}${mark}${inner}${mark}${after}`;
}

/** White space at both ends, and what stands between. */
function edges(text: string): [string, string, string] {
  const inner = text.trim();
  if (inner === "") return [text, "", ""];
  const start = text.length - text.trimStart().length;
  return [text.slice(0, start), inner, text.slice(start + inner.length)];
}

function image(element: Element): string {
  const alt = getAttribute(element, "alt")?.trim();
  const source = getAttribute(element, "src") ?? "";
  if (!alt) return "";
  return source === "" || source.startsWith("data:") ? `![${alt}]()` : `![${alt}](${source})`;
}

function link(element: Element, text: string): string {
  const address = getAttribute(element, "href")?.trim();
  if (!address || /^javascript:/i.test(address) || text.trim() === "") return text;
  const [before, inner, after] = edges(text);
  return `${before}[${inner.replace(/\n+/g, " ")}](${/[\s()]/.test(address) ? `<${address}>` : address})${after}`;
}

function forEachReadableChild(element: Element, visit: (child: Node, isSeen: boolean) => void): void {
  const style = getComputedStyle(element);
  if (skipsContents(style, style.display) || isReadingOver()) return;
  const isSeen = style.visibility === "visible";
  const isClosed = localName(element) === "details" && !hasAttribute(element, "open");
  forEachFlatChild(element, (child) => {
    const type = nodeType(child);
    if (type === TEXT && !isClosed) visit(child, isSeen);
    else if (type === ELEMENT && isReadable(child as Element) && (!isClosed || localName(child as Element) === "summary")) visit(child, isSeen);
  });
}

function isReadable(element: Element): boolean {
  return !isUnrendered(element) && !holdsSecret(element) && !hasAttribute(element, "inert") && exposureOf(element, getComputedStyle(element)) !== "gone";
}

function isBlock(element: Element): boolean {
  const { display } = getComputedStyle(element);
  return !display.startsWith("inline") && display !== "contents" && localName(element) !== "br";
}

function escaped(text: string): string {
  return text.replace(/\s+/g, " ").replace(/([\\`*_[\]])/g, "\\$1");
}

function tidyInline(text: string): string {
  return text.replace(/[ \t]+/g, " ").replace(/ ?\n ?/g, "\n").trim();
}
