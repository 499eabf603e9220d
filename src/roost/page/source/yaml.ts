/** Scalars of the snapshot's YAML. https://yaml.org/spec/1.2.2/#733-plain-style */

/** Anything that YAML would not read back as the same plain string. */
const NEEDS_QUOTES = new RegExp(
  [
    "^$",
    "^\\s|\\s$",
    "^[-?:](?:\\s|$)|^[,\\[\\]{}#&*!|>'\"%@`]",
    ":(?:\\s|$)|\\s#",
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]",
    "^(?:---|\\.\\.\\.)",
    // What YAML 1.1 or 1.2 takes for a null, boolean, number, date or merge key.
    "^(?:~|null|true|false|yes|no|on|off|y|n|<<|=)$",
    "^[-+.]?(?:\\d[\\d_,.:eE+-]*|0[xo][\\da-fA-F]+|\\.?inf|\\.nan)(?:[ tT].*)?$",
  ].join("|"),
  "i",
);

export function yamlValue(text: string): string {
  return NEEDS_QUOTES.test(text) ? doubleQuoted(text) : text;
}

/** A line like `link "a: b" [ref=e1]` as a mapping key or list item. */
export function yamlKey(key: string): string {
  return NEEDS_QUOTES.test(key) ? `'${key.replace(/'/g, "''")}'` : key;
}

/** JSON strings are YAML double-quoted strings, once the few line ends and controls JSON leaves alone are escaped. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
