import { element } from "./dom";

/** A canvas that shows the newest picture of a film, and forgets pictures that came too fast. */
export class Picture {
  readonly canvas = element("canvas", { class: "picture", role: "img" });
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
    } catch {
      // The browser could not decode it. The next picture will do.
    } finally {
      this.isDrawing = false;
      drawn();
    }
  }

  name(text: string): void {
    this.canvas.setAttribute("aria-label", text);
  }
}
