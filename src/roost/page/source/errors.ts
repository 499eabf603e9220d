/**
 * What goes wrong in a page, in the words of the outer contract. Thrown inside, returned as data outside.
 *
 * An agent reads message, hint and details as Roost's word. So they contain Roost's words, refs, roles, numbers and
 * what the caller sent, and nothing that the page chose: no text, label, tag name, class, id or address.
 * Those go into `pageSaid`.
 */

export type ErrorCode = "STALE_REF" | "TIMEOUT" | "NOT_FOUND" | "NOT_ACTIONABLE" | "BAD_REQUEST";

export interface ErrorDetails {
  hint?: string;
  /** The argument that is wrong. */
  field?: string;
  /** Why an element cannot be acted on: one of a few words of ours. */
  reason?: string;
  /** The target as the caller gave it. */
  target?: string;
  ref?: string;
  /** The ref of the element that lies over it. */
  coveredBy?: string;
  /** Refs of elements that may be meant. */
  suggestions?: string[];
  /** What the page wrote, one thing a line. */
  pageSaid?: string;
}

export interface ErrorReport extends ErrorDetails {
  code: ErrorCode;
  message: string;
}

const PAGE_SAID_LIMIT = 2000;

export class PageError extends Error {
  readonly report: ErrorReport;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    const said = details.pageSaid?.slice(0, PAGE_SAID_LIMIT);
    this.report = { code, message, ...details, ...(said ? { pageSaid: said } : {}) };
  }
}

export function badRequest(field: string, message: string, hint?: string): PageError {
  return new PageError("BAD_REQUEST", message, hint ? { field, hint } : { field });
}
