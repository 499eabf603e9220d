import { drawn, element, found } from "./dom";
import type { PersonDrawing, Shape } from "./messages";
import type { Picture } from "./picture";

const INK = "#e6007a";
const SHAPES = 8;
/** A shape that is smaller than this in both directions was a click. */
const SMALLEST = 6;
const MARGIN = 32;
const PICTURE_CHARS = 220_000;
const WIDEST = 1200;

/**
 * The person draws boxes and arrows on the picture and writes a line for the agent.
 *
 * Meanwhile the picture stands still, so that the drawing stays where it belongs.
 */
export class Drawing {
  isOn = false;
  private readonly tools = found<HTMLFormElement>("draw-tools");
  private readonly text = found<HTMLInputElement>("draw-text");
  private readonly ink = drawn("svg", { id: "ink", preserveAspectRatio: "none", "aria-hidden": "true" });
  private shapes: Shape[] = [];
  private open: Shape | undefined;

  constructor(
    private readonly picture: Picture,
    private readonly stage: HTMLElement,
    private readonly viewport: () => { width: number; height: number },
    private readonly send: (drawing: Omit<PersonDrawing, "tab">) => Promise<void>,
    private readonly changed: () => void,
  ) {
    stage.append(this.ink);
    this.ink.addEventListener("pointerdown", (event) => this.begin(event));
    this.ink.addEventListener("pointermove", (event) => this.move(event));
    this.ink.addEventListener("pointerup", (event) => this.finish(event));
    this.ink.addEventListener("pointercancel", () => this.drop());
    found("draw-undo").addEventListener("click", () => {
      this.shapes.pop();
      this.show();
    });
    found("draw-cancel").addEventListener("click", () => this.stop());
    this.tools.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
    new ResizeObserver(() => this.place()).observe(picture.canvas);
    new ResizeObserver(() => this.place()).observe(stage);
    this.stop();
  }

  start(): void {
    this.isOn = true;
    this.tools.hidden = false;
    this.ink.style.display = "";
    this.place();
    this.text.focus();
    this.changed();
  }

  stop(): void {
    const wasOn = this.isOn;
    this.isOn = false;
    this.shapes = [];
    this.open = undefined;
    this.text.value = "";
    this.tools.hidden = true;
    this.ink.style.display = "none";
    this.show();
    if (wasOn) this.changed();
  }

  private async submit(): Promise<void> {
    const { width, height } = this.viewport();
    // Without a drawing, the whole page is meant. That also serves people who draw with no pointer.
    const shapes = this.shapes.length ? this.shapes : [{ kind: "box" as const, x: 0, y: 0, toX: width, toY: height }];
    await this.send({ text: this.text.value.trim(), shapes, picture: this.composed(shapes) });
    this.stop();
  }

  /** Lay the ink exactly over the picture. Its units are CSS pixels of the page. */
  private place(): void {
    const { width, height } = this.viewport();
    const picture = this.picture.canvas.getBoundingClientRect();
    const stage = this.stage.getBoundingClientRect();
    this.ink.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.ink.style.left = `${picture.left - stage.left}px`;
    this.ink.style.top = `${picture.top - stage.top}px`;
    this.ink.style.width = `${picture.width}px`;
    this.ink.style.height = `${picture.height}px`;
  }

  private point(event: PointerEvent): { x: number; y: number } {
    const box = this.ink.getBoundingClientRect();
    const { width, height } = this.viewport();
    const inside = (part: number, whole: number) => Math.round(Math.min(1, Math.max(0, part)) * whole);
    return {
      x: inside((event.clientX - box.left) / box.width, width),
      y: inside((event.clientY - box.top) / box.height, height),
    };
  }

  private begin(event: PointerEvent): void {
    if (this.shapes.length >= SHAPES) return;
    event.preventDefault();
    this.ink.setPointerCapture(event.pointerId);
    const kind = new FormData(this.tools).get("shape") === "arrow" ? "arrow" : "box";
    const { x, y } = this.point(event);
    this.open = { kind, x, y, toX: x, toY: y };
  }

  private move(event: PointerEvent): void {
    if (!this.open) return;
    const { x, y } = this.point(event);
    this.open.toX = x;
    this.open.toY = y;
    this.show();
  }

  private finish(event: PointerEvent): void {
    if (!this.open) return;
    this.move(event);
    const { x, y, toX, toY } = this.open;
    if (Math.max(Math.abs(toX - x), Math.abs(toY - y)) >= SMALLEST) this.shapes.push(this.open);
    this.drop();
    this.text.focus();
  }

  private drop(): void {
    this.open = undefined;
    this.show();
  }

  private show(): void {
    const all = this.open ? [...this.shapes, this.open] : this.shapes;
    this.ink.replaceChildren(...all.flatMap(inked));
  }

  /** Return the drawn part of the picture with the drawing on it: JPEG in base64. */
  private composed(shapes: Shape[]): string {
    const { width, height } = this.viewport();
    const left = Math.max(0, Math.min(...shapes.flatMap((one) => [one.x, one.toX])) - MARGIN);
    const top = Math.max(0, Math.min(...shapes.flatMap((one) => [one.y, one.toY])) - MARGIN);
    const right = Math.min(width, Math.max(...shapes.flatMap((one) => [one.x, one.toX])) + MARGIN);
    const bottom = Math.min(height, Math.max(...shapes.flatMap((one) => [one.y, one.toY])) + MARGIN);
    const source = this.picture.canvas;
    const dense = source.width / width;
    for (const [most, quality] of [[WIDEST, 0.8], [WIDEST, 0.6], [WIDEST / 2, 0.6], [WIDEST / 4, 0.5]] as const) {
      const scale = Math.min(dense, most / (right - left), most / (bottom - top));
      const canvas = element("canvas");
      canvas.width = Math.max(1, Math.round((right - left) * scale));
      canvas.height = Math.max(1, Math.round((bottom - top) * scale));
      const context = canvas.getContext("2d")!;
      context.drawImage(source, left * dense, top * dense, (right - left) * dense, (bottom - top) * dense, 0, 0, canvas.width, canvas.height);
      context.scale(scale, scale);
      context.translate(-left, -top);
      for (const shape of shapes) paint(context, shape, scale);
      const text = canvas.toDataURL("image/jpeg", quality).split(",")[1] ?? "";
      if (text.length <= PICTURE_CHARS) return text;
    }
    throw new Error("The drawing is too large. Draw a smaller part.");
  }
}

/** The two ends of an arrow's head, as seen from its tip. */
function head({ x, y, toX, toY }: Shape): { x: number; y: number }[] {
  const along = Math.atan2(toY - y, toX - x);
  const size = Math.min(22, Math.hypot(toX - x, toY - y) / 2);
  return [along + Math.PI * 0.82, along - Math.PI * 0.82].map((turn) => ({ x: toX + Math.cos(turn) * size, y: toY + Math.sin(turn) * size }));
}

function inked(shape: Shape): SVGElement[] {
  const line = { fill: "none", stroke: INK, "stroke-width": 3, "stroke-linejoin": "round", "stroke-linecap": "round", "vector-effect": "non-scaling-stroke" };
  const { kind, x, y, toX, toY } = shape;
  if (kind === "box") {
    return [drawn("rect", { ...line, fill: `${INK}14`, x: Math.min(x, toX), y: Math.min(y, toY), width: Math.abs(toX - x), height: Math.abs(toY - y), rx: 4 })];
  }
  const [one, other] = head(shape);
  return [drawn("path", { ...line, d: `M${x} ${y}L${toX} ${toY}M${one!.x} ${one!.y}L${toX} ${toY}L${other!.x} ${other!.y}` })];
}

function paint(context: CanvasRenderingContext2D, shape: Shape, scale: number): void {
  const { kind, x, y, toX, toY } = shape;
  context.strokeStyle = INK;
  context.lineWidth = 3 / scale;
  context.lineCap = context.lineJoin = "round";
  if (kind === "box") {
    context.strokeRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
    return;
  }
  const [one, other] = head(shape);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.moveTo(one!.x, one!.y);
  context.lineTo(toX, toY);
  context.lineTo(other!.x, other!.y);
  context.stroke();
}
