// The popup page's content as a plain tree: [tag, attributes, ...children]. A child is a tree or a
// text; texts are never parsed as HTML. The attribute `press` is the message that a button sends,
// `grant` the permission that a button asks the browser for.

import { PAGES } from "../firefox/access.js";

const NOTICES = {
  starting: ["Looking for Roost …", ""],
  "no host": ["Roost is not installed for this browser.", "Run: roost install extension"],
  away: ["Roost is not running.", "Your agents start it. You can also run: roost up"],
};

/** Return the page's tree. The argument is the state that the background sends. */
export function view({ link, panel, isAllowed, isOutlining }) {
  return ["main", {}, ...(isAllowed ? [] : [shutOut()]), ...body(link, panel), outlineSwitch(isOutlining)];
}

function body(link, panel) {
  if (link.state !== "linked") return [notice(link)];
  if (panel === null) return [["p", { class: "notice" }, "Nothing to show yet."]];
  return [
    ...panel.questions.map(question),
    ...panel.groups.map(group),
    ...(panel.groups.length ? [forAll(panel)] : [["p", { class: "notice" }, "No agent is using this browser."]]),
    pool(panel),
    ...answers(panel),
  ];
}

/** Ask for the permission to work on pages, which Firefox lets the person take away. */
function shutOut() {
  return [
    "section",
    { class: "question" },
    ["p", {}, "Roost has no permission to work on pages."],
    ["p", { class: "hint" }, "It was taken away. Agents cannot continue until you give it back."],
    ["footer", {}, ["button", { grant: PAGES }, "Allow"]],
  ];
}

function notice({ state, error }) {
  const [title, hint] = NOTICES[state] ?? ["This browser is not linked to Roost.", ""];
  const isTold = state === "refused" && error !== undefined;
  const [words, help] = isTold ? [error.message, error.hint] : [title, hint];
  return [
    "section",
    { class: "notice", role: "status" },
    ["p", {}, words],
    ...(help ? [["p", { class: "hint" }, help]] : []),
  ];
}

function question(name) {
  return [
    "section",
    { class: "question" },
    ["p", {}, `May ${name} use this browser?`],
    ["p", { class: "hint" }, "It gets a tab group of its own and uses your logins. It cannot use your other tabs."],
    ["footer", {}, answer("Allow", name, true), answer("Refuse", name, false)],
  ];
}

function group({ key, name, color, paused, waits, tabs, loop, question: asked }) {
  const about = [
    ...(paused ? ["paused"] : []),
    ...(waits ? ["waits for a tab"] : []),
    ...(loop ? [`loop ${loop.iteration}/${loop.limit || "∞"}`] : []),
  ];
  return [
    "section",
    { class: asked ? "group question" : "group" },
    [
      "header",
      {},
      ["span", { class: `dot ${color}` }],
      ["b", {}, name],
      ...(about.length ? [["small", {}, about.join(", ")]] : []),
    ],
    ...(asked ? [["p", {}, `Asks for you: “${asked}”`], ["p", { class: "hint" }, "Answer on the dashboard: roost dashboard"]] : []),
    ["ul", {}, ...tabs.map((tab) => ["li", { title: tab.url }, tab.title || tab.url])],
    [
      "footer",
      {},
      paused ? said("Resume", "resume", key) : said("Pause", "pause", key),
      said("End", "end", key),
    ],
  ];
}

function forAll({ groups }) {
  const isOver = groups.every(({ paused }) => paused);
  return [
    "footer",
    { class: "all" },
    isOver ? said("Resume all", "resume", null) : said("Pause all", "pause", null),
    said("End all", "end", null),
  ];
}

function pool({ pool: { used, capacity }, groups }) {
  const waiting = groups.filter(({ waits }) => waits).length;
  const queue = waiting ? `, ${waiting} waiting` : "";
  return ["p", { class: "pool" }, `${used} of ${capacity || "∞"} tabs in use${queue}`];
}

/** List the person's earlier answers, each with a button to change it. */
function answers({ answers: known }) {
  if (!known.length) return [];
  const rows = known.map(({ name, allow }) => [
    "li",
    {},
    ["span", {}, `${name}: ${allow ? "allowed" : "refused"}`],
    allow ? answer("Refuse", name, false) : answer("Allow", name, true),
  ]);
  return [["details", {}, ["summary", {}, "Who may use this browser"], ["ul", {}, ...rows]]];
}

function outlineSwitch(isOutlining) {
  const box = { type: "checkbox", press: { mark: !isOutlining }, ...(isOutlining ? { checked: "" } : {}) };
  return ["label", {}, ["input", box], "Outline the pages that agents work in"];
}

function said(text, what, key) {
  return ["button", { press: { said: { what, group: key } } }, text];
}

function answer(text, name, allow) {
  return ["button", { press: { answered: { name, allow } } }, text];
}
