/** What stands inside an accessible node: child nodes and loose text, in reading order. */
import { collapseSpace } from "./dom";

export interface TextChunk {
  text: string;
  /** The element in which the text begins. It decides whether the text is near the viewport. */
  element: Element;
}

export interface AccessibleNode {
  element: Element;
  role: string;
  name: string;
  /** The name was built from the content, so printing the text again would say everything twice. */
  isNamedByContent: boolean;
  isInteractive: boolean;
  /** The cursor, if it says what the mouse can do and the role does not; otherwise empty. */
  cursor: string;
  isDisabled: boolean;
  isInline: boolean;
  value: string | undefined;
  children: ContentItem[];
}

export type ContentItem = AccessibleNode | TextChunk;

const INVISIBLE = /[\u00ad\u200b\u2060]+/g;

export function isText(item: ContentItem): item is TextChunk {
  return !("role" in item);
}

/** Collects content. Text of inline elements is joined; a block or a node ends the text. */
export class ContentCollector {
  readonly items: ContentItem[] = [];
  private openText = "";
  /** This many characters at the start of the open text keep their white space. */
  private keptLength = 0;
  private openAt: Element | null = null;

  addText(text: string, element: Element): void {
    if (this.openAt === null) this.openAt = element;
    this.openText += text;
  }

  /** Add text that keeps its white space. */
  addLines(text: string, element: Element): void {
    if (this.openAt === null) this.openAt = element;
    this.openText = this.openText.slice(0, this.keptLength) + collapseSpace(this.openText.slice(this.keptLength)) + text;
    this.keptLength = this.openText.length;
  }

  /** A measure of what has been collected. Blank text does not count. */
  get length(): number {
    return this.items.length + (this.openText.trim() === "" ? 0 : this.openText.length);
  }

  /** Whether the next text would continue text that was added before. */
  get isOpen(): boolean {
    return this.openText !== "";
  }

  addSpace(): void {
    if (this.openText !== "") this.openText += " ";
  }

  /** A block begins or ends here, so what follows is a separate piece of text. */
  endBlock(): void {
    this.addSpace();
    this.flush();
  }

  addNode(node: AccessibleNode): void {
    this.flush();
    this.items.push(node);
  }

  finish(): ContentItem[] {
    this.flush();
    return this.items;
  }

  private flush(): void {
    if (this.openAt === null) return;
    const kept = this.keptLength === 0 ? "" : this.openText.slice(0, this.keptLength).replace(INVISIBLE, "");
    const text = kept + collapseSpace(this.keptLength === 0 ? this.openText : this.openText.slice(this.keptLength));
    // White space alone is kept for now, because it separates words when a name is made of several nodes.
    if (text !== "") this.items.push({ text, element: this.openAt });
    this.openText = "";
    this.keptLength = 0;
    this.openAt = null;
  }
}

/** The text alternative of content. https://w3c.github.io/accname/#comp_name_from_content */
export function contentText(items: readonly ContentItem[], limit = Infinity): string {
  let text = "";
  for (const item of items) {
    if (text.length > limit) break;
    if (isText(item)) {
      text += item.text;
      continue;
    }
    const inner = item.value ?? (item.name || contentText(item.children, limit));
    text += item.isInline ? inner : ` ${inner} `;
  }
  return text;
}

/** Return the outermost nodes inside that can be operated. */
export function operableParts(items: readonly ContentItem[]): AccessibleNode[] {
  return items.flatMap((item) => {
    if (isText(item)) return [];
    return item.isInteractive || item.role === "iframe" ? [item] : operableParts(item.children);
  });
}
