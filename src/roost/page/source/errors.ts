/** What goes wrong in a page, in the words of the outer contract. Thrown inside, returned as data outside. */

export type ErrorCode = "STALE_REF" | "NOT_FOUND" | "NOT_ACTIONABLE" | "BAD_REQUEST";

export interface ErrorReport {
  code: ErrorCode;
  message: string;
  hint?: string;
  [detail: string]: unknown;
}

export class PageError extends Error {
  readonly report: ErrorReport;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.report = { code, message, ...details };
  }
}

export function badRequest(field: string, message: string, hint?: string): PageError {
  return new PageError("BAD_REQUEST", message, hint ? { field, hint } : { field });
}
