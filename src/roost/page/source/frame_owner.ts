/** Elements that only the driver can hand over or take: the holder of a frame, and an element itself. */
import { type Args, text } from "./args";
import { boxOf } from "./dom";
import { badRequest } from "./errors";
import { type Box } from "./geometry";
import { elementOfRef, refOf } from "./refs";

/** The element that holds a frame, and where in this document's viewport the frame's own begins. */
export function frameOwner(args: Args): Box & { ref: string } {
  const owner = args.element;
  if (!(owner instanceof HTMLElement)) throw badRequest("element", "element must be the element that holds the frame");
  const box = boxOf(owner);
  const style = getComputedStyle(owner);
  const left = owner.clientLeft + parseFloat(style.paddingLeft);
  const top = owner.clientTop + parseFloat(style.paddingTop);
  return { ref: refOf(owner), x: box.x + left, y: box.y + top, width: owner.clientWidth, height: owner.clientHeight };
}

/** The element behind a ref, for drivers that need the thing itself. The only answer that is not data. */
export function element(args: Args): Element {
  return elementOfRef(text(args, "target"));
}
