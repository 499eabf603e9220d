/** Which lines stand in or near the viewport: what a person looks at comes first. */
import { isTimeUp } from "./budget";
import { boxOf } from "./dom";
import type { Line } from "./lines";

/** Half a screen above and below counts as near. */
const MARGIN = 0.5;

/** From the top down, so that nothing inside a far-away part is measured: measuring costs more than reading. */
export function linesNearViewport(lines: readonly Line[]): boolean[] {
  const near: boolean[] = [];
  let isLate = false;
  lines.forEach((line, index) => {
    if (index % 256 === 255) isLate ||= isTimeUp();
    const isParentNear = line.parent === -1 || near[line.parent]!;
    near[index] = !isLate && isParentNear && isNear(line.element);
  });
  return near;
}

function isNear(element: Element): boolean {
  const box = boxOf(element);
  // No box says nothing (display: contents, an empty wrapper of positioned content): look inside.
  if (box.width === 0 && box.height === 0) return true;
  const { innerWidth, innerHeight } = window;
  return (
    box.bottom > -MARGIN * innerHeight &&
    box.top < (1 + MARGIN) * innerHeight &&
    box.right > -MARGIN * innerWidth &&
    box.left < (1 + MARGIN) * innerWidth
  );
}
