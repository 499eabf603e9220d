/**
 * The program Roost runs inside pages, in a world of its own. Evaluating it installs `__roost`: functions
 * that take one JSON-able object and give back a JSON-able value, or `{error}` for whatever can be expected
 * to go wrong. Evaluating it again keeps what is there, refs and readers included, unless another version is there:
 * a page may stay open while Roost is upgraded. The new version then replaces the old one.
 */
import { prepare } from "./actionability";
import { type Args, optionalNumber, optionalText } from "./args";
import { drawBadges, removeBadges } from "./badges";
import { startBudget } from "./budget";
import { copied, expectPaste, pasted, selectAll, watchCopy } from "./clipboard";
import { openOptions } from "./combobox";
import { consent } from "./consent";
import { content } from "./content";
import { cut, page } from "./dom";
import { resolve } from "./element_info";
import { get, is } from "./element_reading";
import { badRequest, type ErrorReport, PageError } from "./errors";
import { focusForTyping, setValue, whenChecked } from "./field_values";
import { find } from "./find";
import { element, frameOwner, stoppedPress, stopPresses } from "./frame_owner";
import { highlight, removeHighlight } from "./highlight";
import { viewport } from "./geometry";
import { pause } from "./moments";
import { pageState } from "./page_state";
import { callPageTool, pageTools } from "./page_tools";
import { pointedAt } from "./pointed_at";
import { retireGuard } from "./press_guard";
import { nextRef, startNumberingAt } from "./refs";
import { scroll } from "./scroll";
import { fillSecret, identity, loginFields, shownText } from "./secret_fill";
import { hasFilledPassword } from "./secrets";
import { delivered, retireWatch, settled } from "./settle";
import { snapshot } from "./snapshot";
import { storage } from "./storage";
import { drawn, grows, readiness, waitFor } from "./conditions";

type PageFunction = (args: Args) => unknown;

const TITLE_CHARS = 1000;

const functions: Record<string, PageFunction> = {
  callPageTool, consent, content, copied, delivered, drawBadges, drawn, expectPaste, fillSecret, find, focusForTyping, frameOwner, get, grows, highlight, identity, inputState, is, loginFields, openOptions, pageState, pageTools, pasted, pause, pointedAt, prepare, readiness, removeBadges, removeHighlight, resolve, scroll, selectAll, settled, setValue, shownText, snapshot, stoppedPress, stopPresses, storage, viewport, waitFor, watchCopy, whenChecked,
};

/** Expected trouble is data; anything else is a fault of ours and stays an exception. */
function asData(error: unknown): { error: ErrorReport } {
  if (error instanceof PageError) return { error: error.report };
  throw error;
}

/**
 * Every function may give out refs, so every call says where numbers begin and every answer where they end.
 * And every answer says what page it came from: scripts change titles, and nothing else would tell.
 */
function numbered(answer: unknown): unknown {
  return { ...(answer as object), nextRef: nextRef(), page: { url: location.href, origin: self.origin, title: cut(page.title(document), TITLE_CHARS) } };
}

function answering(run: PageFunction): PageFunction {
  return (args) => {
    try {
      startNumbering(args ?? {});
      checkOrigin(args ?? {});
      startBudget(optionalNumber(args ?? {}, "budgetMs", 1, 60_000));
      const answer = run(args ?? {});
      return answer instanceof Promise ? answer.catch(asData).then(numbered) : numbered(answer);
    } catch (error) {
      return numbered(asData(error));
    }
  };
}

/** A caller that judged the document's origin says which one it was: another document may be here by now. */
function checkOrigin(args: Args): void {
  const judged = optionalText(args, "judgedOrigin");
  if (judged !== undefined && judged !== self.origin) {
    throw new PageError("NOT_ACTIONABLE", "The page was left as the action began, so nothing was done", {
      reason: "left",
      hint: "Look where the tab is now.",
    });
  }
}

/** What a policy has to know of a document before input whose target is not known. */
function inputState(): { isLogin: boolean; place: string } {
  return { isLogin: hasFilledPassword(null), place: location.origin };
}

function startNumbering(args: Args): void {
  const prefix = optionalText(args, "prefix");
  if (prefix !== undefined && !/^(f\d+)?$/.test(prefix)) throw badRequest("prefix", "prefix must look like f1");
  startNumberingAt(optionalNumber(args, "firstRef", 1), prefix);
}

/** `roost.page.bundle` puts a digest of the bundle here. */
const VERSION = "ROOST_BUNDLE_VERSION";

/** Remove everything that this version has added to the page. Its refs are not valid in the next version. */
function retire(): void {
  retireGuard();
  retireWatch();
  removeBadges();
  removeHighlight();
}

interface Installed {
  [name: string]: unknown;
  version?: string;
  retire?: () => void;
}

const world = globalThis as { __roost?: Installed };
if (world.__roost?.version !== VERSION) {
  world.__roost?.retire?.();
  const answers = Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, answering(run)]));
  world.__roost = { ...answers, element, version: VERSION, retire };
}
