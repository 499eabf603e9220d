/** Lists of suggestions that open under a text field while a person types. A page builds them itself, by ARIA roles. */
import { type Args, optionalNumber, text } from "./args";
import { cut, getAttribute, hasAttribute, isTrue, page, queryAll, rootOf } from "./dom";
import { isWithin, openRoots } from "./flat_tree";
import { untilPresent } from "./moments";
import { declaredName, tidy } from "./names";
import { plainText } from "./plain_text";
import { refOf } from "./refs";
import { findTarget } from "./targets";
import { isRendered } from "./visibility";

const OPTIONS_NAMED = 10;
const OPTIONS_READ = 1000;
const OPTION_CHARS = 80;

export interface OpenOptions {
  /** Refs of the first options of the open list. Empty if no list is open. */
  options: string[];
  total: number;
  /** The ref of the only option whose text is the value. Absent in search fields: choosing would start the search. */
  exact?: string;
  /** The texts of the named options. */
  pageSaid: string;
}

/** True if typing into the field may open a list that the page builds. A `<datalist>` is the browser's. */
export function mayHaveList(field: Element): boolean {
  if (hasAttribute(field, "list")) return false;
  return (
    /^(combobox|listbox)$/.test(getAttribute(field, "role") ?? "") ||
    /^(list|both)$/.test(getAttribute(field, "aria-autocomplete") ?? "") ||
    hasAttribute(field, "aria-expanded") ||
    getAttribute(field, "aria-haspopup") === "listbox"
  );
}

/** Return the options of the list that is open for the field. Wait up to `timeoutMs` for a list to open. */
export async function openOptions(args: Args): Promise<OpenOptions> {
  const field = findTarget(text(args, "target"), "fill").element;
  const found = await untilPresent(() => nullIfEmpty(optionsFor(field)), optionalNumber(args, "timeoutMs", 0) ?? 0);
  const options = (found ?? []).slice(0, OPTIONS_READ);
  const named = options.slice(0, OPTIONS_NAMED);
  const exact = isSearch(field) ? [] : options.filter((option) => wordsOf(option).toLowerCase() === tidy(text(args, "value")).toLowerCase());
  return {
    options: named.map(refOf),
    total: options.length,
    ...(exact.length === 1 ? { exact: refOf(exact[0]!) } : {}),
    pageSaid: named.map((option) => `${refOf(option)}: option ${JSON.stringify(cut(wordsOf(option), OPTION_CHARS))}`).join("\n"),
  };
}

function nullIfEmpty<T>(items: T[]): T[] | null {
  return items.length > 0 ? items : null;
}

/** The options of the lists that the field names. If the field names none, the options of all open lists. */
function optionsFor(field: Element): Element[] {
  const named = [getAttribute(field, "aria-controls"), getAttribute(field, "aria-owns")].join(" ").split(/\s+/).filter((id) => id !== "");
  const root = rootOf(field);
  const lists = named.flatMap((id) => root.getElementById?.(id) ?? page.byId(document, id) ?? []);
  const open = (lists.length > 0 ? lists : openLists()).filter((list) => list !== field && !isWithin(field, list) && isRendered(list));
  return open.flatMap((list) => Array.from(queryAll(list, "[role=option]")).filter((option) => isRendered(option) && !isTrue(option, "aria-disabled")));
}

function openLists(): Element[] {
  return openRoots().flatMap((root) => Array.from(queryAll(root, "[role=listbox]")));
}

function isSearch(field: Element): boolean {
  if (getAttribute(field, "type") === "search" || getAttribute(field, "role") === "searchbox") return true;
  return field.closest("search, [role=search], form[role=search]") !== null;
}

function wordsOf(option: Element): string {
  return tidy(plainText(option)) || declaredName(option);
}
