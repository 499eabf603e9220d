/** Writes and quotes the scalars of the YAML of a snapshot. https://yaml.org/spec/1.2.2/#733-plain-style */

/** Matches text that YAML would not read back as the same string without quotes. */
const NEEDS_QUOTES = new RegExp(
  [
    "^$",
    "^\\s|\\s$",
    "^[-?:](?:\\s|$)|^[,\\[\\]{}#&*!|>'\"%@`]",
    ":(?:\\s|$)|\\s#",
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]",
    "^(?:---|\\.\\.\\.)",
    // YAML 1.1 or 1.2 reads these as null, boolean, number, date or merge key.
    "^(?:~|null|true|false|yes|no|on|off|y|n|<<|=)$",
    "^[-+.]?(?:\\d[\\d_,.:eE+-]*|0[xo][\\da-fA-F]+|\\.?inf|\\.nan)(?:[ tT].*)?$",
  ].join("|"),
  "i",
);

export function yamlValue(text: string): string {
  return NEEDS_QUOTES.test(text) ? doubleQuoted(text) : text;
}

/** Quote a line like `link "a: b" [ref=e1]` if needed, so that it is one mapping key or list item. */
export function yamlKey(key: string): string {
  return NEEDS_QUOTES.test(key) ? `'${key.replace(/'/g, "''")}'` : key;
}

/** A JSON string is a valid double-quoted YAML string once these line ends and control characters are escaped, too. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
