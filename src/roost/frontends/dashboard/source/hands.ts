import type { PersonInput } from "./messages";

const BUTTONS = ["left", "middle", "right"] as const;
/** Keys that name no key of their own: the character comes with a later event. */
const NO_KEYS = new Set(["Dead", "Process", "Unidentified", "Compose"]);
const LINE_PIXELS = 40;

/**
 * The person's mouse and keyboard on the live picture. It sends only while `isOn`.
 *
 * Keys go to an invisible text field, so that dead keys and input methods work: what they compose arrives as text.
 */
export class Hands {
  isOn = false;
  /** The page's size in CSS pixels, as the last picture said. */
  viewport = { width: 1, height: 1 };
  private waiting: PersonInput[] = [];
  private frame = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly keys: HTMLTextAreaElement,
    private readonly send: (inputs: PersonInput[]) => void,
  ) {
    canvas.addEventListener("pointermove", (event) => this.mouse("move", event));
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.isOn) return;
      this.focus();
      canvas.setPointerCapture(event.pointerId);
      this.mouse("down", event);
    });
    canvas.addEventListener("pointerup", (event) => this.mouse("up", event));
    canvas.addEventListener("contextmenu", (event) => this.isOn && event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    keys.addEventListener("keydown", (event) => this.key("key_down", event));
    keys.addEventListener("keyup", (event) => this.key("key_up", event));
    keys.addEventListener("input", (event) => this.typed(event as InputEvent));
    keys.addEventListener("compositionend", () => this.flushText());
  }

  get hasFocus(): boolean {
    return this.isOn && document.activeElement === this.keys;
  }

  focus(): void {
    this.keys.focus({ preventScroll: true });
  }

  private point(event: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * this.viewport.width,
      y: ((event.clientY - box.top) / box.height) * this.viewport.height,
    };
  }

  private mouse(kind: "move" | "down" | "up", event: PointerEvent): void {
    if (!this.isOn) return;
    if (kind !== "move") event.preventDefault();
    const button = BUTTONS[event.button] ?? "left";
    const clicks = Math.min(3, Math.max(1, event.detail));
    this.put(kind === "move" ? { kind, ...this.point(event) } : { kind, ...this.point(event), button, clicks });
  }

  private wheel(event: WheelEvent): void {
    if (!this.isOn) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
    this.put({ kind: "wheel", ...this.point(event), dx: event.deltaX * unit, dy: event.deltaY * unit });
  }

  private key(kind: "key_down" | "key_up", event: KeyboardEvent): void {
    if (!this.isOn || event.isComposing || NO_KEYS.has(event.key)) return;
    const isPaste = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v";
    // A paste brings the person's own text. Shift+Escape leaves the picture.
    if (isPaste) return;
    if (event.key === "Escape" && event.shiftKey) {
      this.keys.blur();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.put({ kind, key: event.key });
  }

  /** Text that came without a key of its own: pasted, or made by an input method. */
  private typed(event: InputEvent): void {
    if (!event.isComposing) this.flushText();
  }

  private flushText(): void {
    const text = this.keys.value;
    this.keys.value = "";
    if (this.isOn && text) this.put({ kind: "text", text });
  }

  /** Collect what happens until the next frame. Of several moves in a row only the last counts. */
  private put(input: PersonInput): void {
    const last = this.waiting.at(-1);
    if (input.kind === "move" && last?.kind === "move") this.waiting.pop();
    this.waiting.push(input);
    if (input.kind !== "move") this.flush();
    else this.frame ||= requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.waiting.length) this.send(this.waiting.splice(0));
  }
}
