/** What the broker sends: see viewer_socket.py and api/dashboard.py, which own these shapes. */

export type TileState =
  | "asks" | "paused" | "waiting" | "dialog" | "crashed" | "lost" | "working" | "away" | "idle";

export interface Tab {
  tab: string;
  url: string;
  title: string;
  current: boolean;
  state?: string;
}

/** A tab whose page waits for an answer. */
export interface TabAsks {
  tab: string;
  dialog?: string;
  chooser?: "one" | "many";
}

export interface Tile {
  id: string;
  name: string;
  color: string;
  browser: string;
  state: TileState;
  paused: boolean;
  agent: string;
  seen?: number;
  current?: string;
  tabs: Tab[];
  question?: string;
  /** The question is an approval. */
  approval?: boolean;
  origin?: string;
  asking: TabAsks[];
  /** Where the policies that restrict its agents come from. */
  policy: string[];
  /** The session whose agent started this sub-agent. */
  parent?: string;
}

export interface Browser {
  id: string;
  kind: string;
  version?: string;
  headless: boolean;
  tabs: number;
  capacity: number;
}

export interface Wall {
  version: string;
  started: number;
  browsers: Browser[];
  tiles: Tile[];
  waiting: string[];
}

/** A line of the audit trail. Its other fields depend on the kind. */
export interface FeedLine {
  at: string;
  kind: string;
  session?: string;
  op?: string;
  outcome?: string;
  url?: string;
  tab?: string;
  [other: string]: unknown;
}

export interface FeedPage {
  lines: FeedLine[];
  older?: string;
}

export interface House {
  processes: { name: string; processes: number; memoryBytes: number; processor?: number }[];
  sessions: { session: string; memoryBytes: number; processor?: number }[];
  consents: { browser: string; name: string; allow?: boolean }[];
  settings: Record<string, string>;
}

export interface PolicyRule {
  verdict: string;
  operations: string[];
  origins?: string[];
  clients?: string[];
}

/** Everything besides the source and the rules is a limit, by its name in a policy file. */
export interface PolicyLayer {
  source: string;
  rules?: PolicyRule[];
  [limit: string]: unknown;
}

export interface Policy {
  isOpen: boolean;
  layers: PolicyLayer[];
  approvals: { subject: string; session?: string; program?: string; origin?: string }[];
}

export interface Profile {
  name: string;
  source: string;
  importedAt: string;
  cookies: number;
  sites: number;
  anyAgent?: boolean;
}

export interface Finding {
  name: string;
  verdict: "ok" | "warning" | "failed";
  detail: string;
  fix?: string;
}

export interface ConsoleMessages {
  messages: { level: string; text: string; url?: string; line?: number }[];
}

export interface NetworkRequests {
  requests: { index: number; method: string; url: string; status?: number; error?: string; kind: string; durationMs?: number }[];
}

export interface RoostError {
  code: string;
  message: string;
  hint?: string;
}

/** One thing that the person does in a session that they have taken: PersonInput in api/dashboard.py. */
export interface PersonInput {
  kind: "move" | "down" | "up" | "wheel" | "key_down" | "key_up" | "text";
  x?: number;
  y?: number;
  dx?: number;
  dy?: number;
  button?: "left" | "middle" | "right";
  clicks?: number;
  key?: string;
  text?: string;
}

/** One shape of a drawing, in CSS pixels of the page: DrawnShape in api/dashboard.py. */
export interface Shape {
  kind: "box" | "arrow";
  x: number;
  y: number;
  toX: number;
  toY: number;
}

/** PersonDrawing in api/dashboard.py. */
export interface PersonDrawing {
  tab: string;
  text: string;
  shapes: Shape[];
  picture: string;
}

export interface FilmWish {
  number: number;
  tab: string;
  kind: "tile" | "large";
}
