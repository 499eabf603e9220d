import { element, setText } from "./dom";

/** A canvas that shows the newest picture of a film, and forgets pictures that came too fast. */
export class Picture {
  readonly canvas = element("canvas", { class: "picture", role: "img" });
  /** Says why there is no picture. */
  readonly missing = element("span", { class: "missing" });
  private isDrawing = false;
  private waiting: (() => void) | undefined;
  private isStill = false;

  /** While held, the picture stands still: no next one is drawn or asked for. */
  set isHeld(isHeld: boolean) {
    this.isStill = isHeld;
    const go = this.waiting;
    if (isHeld || !go) return;
    this.waiting = undefined;
    go();
  }

  /** Draw the picture. `drawn` is called when the next one may come. */
  async draw(picture: Blob, drawn: () => void): Promise<void> {
    if (this.isStill) {
      this.waiting = drawn;
      return;
    }
    if (this.isDrawing) return;
    this.isDrawing = true;
    try {
      const bitmap = await createImageBitmap(picture);
      if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) {
        this.canvas.width = bitmap.width;
        this.canvas.height = bitmap.height;
      }
      this.canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
      bitmap.close();
      this.canvas.classList.add("drawn");
      this.miss("");
    } catch {
      // The browser could not decode it. The next picture will do.
    } finally {
      this.isDrawing = false;
      drawn();
    }
  }

  /** Say why there is no picture now. The last picture, if there is one, is shown faintly. */
  miss(why: string): void {
    setText(this.missing, why);
    this.canvas.classList.toggle("old", why !== "");
  }

  /** Forget the last picture, because another tab is shown from now on. */
  clear(): void {
    this.canvas.classList.remove("drawn");
    this.miss("");
  }

  name(text: string): void {
    this.canvas.setAttribute("aria-label", text);
  }
}
