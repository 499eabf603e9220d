import type { FeedLine, Tile, TileState } from "./messages";

const STATES: Record<TileState, string> = {
  asks: "Asks for you",
  paused: "You have it",
  waiting: "Waits for a tab",
  dialog: "Dialog open",
  crashed: "Page crashed",
  lost: "Browser is coming back",
  working: "Working",
  away: "Agent has left",
  idle: "Idle",
};

/** Which states a person should look at first. */
export const URGENCY: TileState[] = [
  "asks", "dialog", "crashed", "lost", "paused", "waiting", "working", "idle", "away",
];

export function stateWords(tile: Tile): string {
  return STATES[tile.state] ?? tile.state;
}

/** Return an address as a person reads it: without scheme and without a lone slash at the end. */
export function place(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/^([^/]*)\/$/, "$1");
}

const DEEDS: Record<string, string> = {
  browser_navigate: "opened", browser_click: "clicked", browser_type: "typed",
  browser_fill_form: "filled a form", browser_select_option: "chose an option",
  browser_press_key: "pressed a key", browser_press_sequentially: "typed", browser_hover: "hovered",
  browser_drag: "dragged", browser_scroll: "scrolled", browser_evaluate: "ran a script",
  browser_file_upload: "chose files", browser_take_screenshot: "took a screenshot",
  browser_tabs: "tabs", browser_batch: "did several steps", browser_pdf_save: "saved a PDF",
  browser_navigate_back: "went back", browser_navigate_forward: "went forward",
  browser_reload: "reloaded", browser_close: "closed a tab", browser_resize: "resized",
  browser_handle_dialog: "answered a dialog", browser_wait_for: "waited",
  session_open: "opened a session", session_dispose: "ended the session",
  browser_handoff: "asked for you", session_answer: "was answered",
  session_pause: "was paused", session_resume: "was given back",
};

const KINDS: Record<string, string> = {
  "question asked": "asked for you", "question answered": "was answered",
  "shown by person": "was shown something", "person answered": "was answered",
};

/** Return what a line of the feed says, in words. */
export function deed(line: FeedLine): string {
  const did = line.kind === "call" ? (DEEDS[line.op ?? ""] ?? line.op ?? "called") : (KINDS[line.kind] ?? line.kind);
  const action = line.op === "browser_tabs" && typeof line.action === "string" ? ` ${line.action}` : "";
  const where = line.url ? ` ${place(line.url)}` : "";
  const ended = line.outcome && line.outcome !== "ok" ? ` (${line.outcome})` : "";
  return `${did}${action}${where}${ended}`;
}

export function clock(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

export function day(at: string): string {
  return new Date(at).toLocaleString();
}

export function ago(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

export function bytes(count: number): string {
  const mib = count / 1024 / 1024;
  return mib < 1000 ? `${mib.toFixed(mib < 10 ? 1 : 0)}\u00a0MiB` : `${(mib / 1024).toFixed(1)}\u00a0GiB`;
}

/** Processor cores in use, as a share of one core. */
export function cores(used: number | undefined): string {
  return used === undefined ? "–" : `${Math.round(used * 100)}\u00a0%`;
}

export function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}
