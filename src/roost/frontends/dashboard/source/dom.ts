/** Elements are only made here, from text and attributes. Nothing a page chose is read as markup. */

type Child = Node | string | undefined;
type Attributes = Record<string, string | boolean | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (typeof value === "boolean") made.toggleAttribute(key, value);
    else if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child): child is Node | string => child !== undefined));
  return made;
}

export function drawn<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, string | number>,
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export function button(text: string, click: () => void, more: Attributes = {}): HTMLButtonElement {
  return element("button", { type: "button", ...more, click }, text);
}

export function found<T extends HTMLElement>(id: string): T {
  const it = document.getElementById(id);
  if (!it) throw new Error(`There is no #${id}.`);
  return it as T;
}

export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
