/** Tells which lines stand in or near the viewport. A snapshot that must be cut shows those first. */
import { isTimeUp } from "./budget";
import { boxOf } from "./dom";
import type { Line } from "./lines";

/** Half a screen above and below counts as near. */
const MARGIN = 0.5;

/** Where a line is, relative to the viewport and its margin. */
const FAR = 0;
const PARTLY = 1;
const WITHIN = 2;

/**
 * Return for each line whether it is near the viewport.
 *
 * Measuring an element is slow. So parents come first, and only children of parents that are partly near are measured:
 * children of a far parent are far, and children of a parent that is near as a whole are near.
 */
export function linesNearViewport(lines: readonly Line[]): boolean[] {
  const places: number[] = [];
  let isLate = false;
  lines.forEach((line, index) => {
    if (index % 256 === 255) isLate ||= isTimeUp();
    const parent = lines[line.parent];
    const around = parent ? places[line.parent]! : PARTLY;
    const isMeasured = !isLate && around === PARTLY && line.element !== parent?.element;
    places[index] = isLate ? FAR : isMeasured ? placeOf(line.element) : around;
  });
  return places.map((place) => place !== FAR);
}

function placeOf(element: Element): number {
  const { left, right, top, bottom } = boxOf(element);
  // An element without a box (display: contents, a wrapper of positioned content) may contain near elements.
  if (left === right && top === bottom) return PARTLY;
  const across = MARGIN * innerWidth;
  const down = MARGIN * innerHeight;
  if (bottom <= -down || top >= innerHeight + down || right <= -across || left >= innerWidth + across) return FAR;
  const isWithin = top >= -down && bottom <= innerHeight + down && left >= -across && right <= innerWidth + across;
  return isWithin ? WITHIN : PARTLY;
}
