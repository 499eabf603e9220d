// The error codes of work in a page, besides `NO_SUCH_TAB`. The driver maps them to Roost's errors.
import { Refusal } from "../link.js";
import { Unreachable } from "./navigation.js";

export const CRASHED = 409;
export const DOCUMENT_GONE = 410;
export const FRAME_GONE = 411;
export const STALE_REF = 412;
export const THREW = 422;
export const FORBIDDEN = 423;
export const UNREACHABLE = 424;
export const NOWHERE = 425;
export const NO_PICTURE = 426;

export function crashed() {
  return new Refusal(CRASHED, "the page's process died");
}

/** Return a navigation's error with its code for the driver. */
export function asRefusal(error) {
  return error instanceof Unreachable ? new Refusal(UNREACHABLE, error.message) : error;
}
