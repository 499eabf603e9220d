/**
 * Reads a locator: steps that are joined by `>>`, each with an engine and a body.
 *
 * `role=button[name="Save"] >> nth=0`. A step without an engine is CSS, XPath if it starts with `//` or `(//`, or a ref
 * if it is the first step. There are no regular expressions: a pattern can take exponential time on a page's text.
 */
import { cut } from "./dom";
import { badRequest, type PageError } from "./errors";
import { tidy } from "./names";
import { looksLikeRef } from "./refs";

const TEXT_ENGINES = ["text", "label", "placeholder", "testid", "alt", "title"] as const;
const STEPS_LIMIT = 20;
const ENGINE = /^(role|label|placeholder|testid|alt|title|xpath|nth|text|css)\s*=\s*/;

type TextEngine = (typeof TEXT_ENGINES)[number];

/** A text that an attribute or label must contain in any case, or, if it is exact, must be. */
export interface WantedText {
  text: string;
  isExact: boolean;
}

/** One `[name="Save" i]` of a role. `isPart`: `*=`, the value is part of the name. */
export interface RoleTest {
  attribute: string;
  value: string | true;
  isPart: boolean;
  ignoresCase: boolean;
}

export type Step =
  | { engine: "ref"; ref: string }
  | { engine: "css"; body: string }
  | { engine: "xpath"; body: string }
  | { engine: "text"; body: string }
  | { engine: "label" | "placeholder" | "testid" | "alt" | "title"; wanted: WantedText }
  | { engine: "role"; role: string; tests: RoleTest[] }
  | { engine: "nth"; index: number };

/** Return the steps of a target. A target without an engine is one step. */
export function stepsOf(target: string): Step[] {
  const steps: Step[] = [];
  let rest = target.trim();
  for (;;) {
    const { source, after } = nextStep(rest);
    steps.push(parsedStep(source, steps.length === 0));
    if (after === null) break;
    if (steps.length >= STEPS_LIMIT) throw wrong(`the locator has more than ${STEPS_LIMIT} steps`);
    rest = after;
  }
  return steps;
}

/** Cut the first step off. `after` is null if there is no `>>` behind it. */
function nextStep(text: string): { source: string; after: string | null } {
  const engine = ENGINE.exec(text);
  const begin = engine?.[0].length ?? 0;
  // The apostrophe in text=Don't opens no quotes, so in a text only quotes around all of it count.
  const isText = engine !== null && (TEXT_ENGINES as readonly string[]).includes(engine[1]!);
  let quote = "";
  for (let at = begin; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "\\") at += 1;
    else if (quote !== "") quote = char === quote ? "" : quote;
    else if ((char === '"' || char === "'") && (!isText || at === begin)) quote = char;
    else if (char === ">" && text[at + 1] === ">") return { source: text.slice(0, at).trim(), after: text.slice(at + 2).trim() };
  }
  return { source: text, after: null };
}

function parsedStep(source: string, isFirst: boolean): Step {
  if (source === "") throw wrong("a step of the locator is empty");
  const engine = ENGINE.exec(source);
  if (engine === null) {
    if (isFirst && looksLikeRef(source)) return { engine: "ref", ref: source };
    return { engine: /^\(?\/\//.test(source) ? "xpath" : "css", body: source };
  }
  const name = engine[1]!;
  const body = source.slice(engine[0].length).trim();
  if (body === "") throw wrong(`${name}= needs a value`);
  switch (name) {
    case "role":
      return roleStep(body);
    case "nth":
      if (!/^-?\d{1,9}$/.test(body)) throw wrong("nth= needs a number: 0 is the first, -1 the last");
      return { engine: "nth", index: Number(body) };
    case "css":
    case "xpath":
    case "text":
      return { engine: name, body };
    default:
      return { engine: name as Exclude<TextEngine, "text">, wanted: wantedText(name, body) };
  }
}

function wantedText(engine: string, body: string): WantedText {
  if (/^\/.*\/[a-z]*$/.test(body) && engine !== "testid") throw noExpressions(engine);
  const quoted = /^(["'])(.*)\1$/s.exec(body);
  const text = tidy(quoted ? unescaped(quoted[2]!) : body);
  if (text === "") throw wrong(`${engine}= needs a value`);
  return { text, isExact: quoted !== null || engine === "testid" };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

const TESTED = ["name", "checked", "disabled", "expanded", "include-hidden", "level", "pressed", "selected"];
const TEST = /^\[\s*([a-z-]+)\s*(?:(\*?=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/[^\]]*|[^\s\]"']+)\s*([is])?\s*)?\]\s*/;

function roleStep(body: string): Step {
  const role = /^[a-z]+/i.exec(body)?.[0];
  if (role === undefined) throw wrong('role= needs a role, for example role=button[name="Save"]');
  const tests: RoleTest[] = [];
  let rest = body.slice(role.length).trim();
  while (rest !== "") {
    const found = TEST.exec(rest);
    if (!found) throw wrong(`role= cannot be read from ${JSON.stringify(cut(rest, 60))} on; write role=button[name="Save"]`);
    const [all, attribute, operator, value, flag] = found;
    if (!TESTED.includes(attribute!)) throw wrong(`role= knows no ${JSON.stringify(cut(attribute!, 40))}, only ${TESTED.join(", ")}`);
    if (value?.startsWith("/")) throw noExpressions("name");
    const isQuoted = value !== undefined && /^["']/.test(value);
    tests.push({
      attribute: attribute!,
      value: value === undefined ? true : isQuoted ? unescaped(value.slice(1, -1)) : value,
      isPart: operator === "*=",
      ignoresCase: flag === "i",
    });
    rest = rest.slice(all.length);
  }
  return { engine: "role", role: role.toLowerCase(), tests };
}

function noExpressions(where: string): PageError {
  return wrong(`${where} takes no regular expression`, 'Give a part of the text, or all of it in quotes. In role=, [name*="part"] fits a part.');
}

export function wrong(message: string, hint?: string): PageError {
  return badRequest("target", `target: ${message}`, hint);
}
