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
  approval?: boolean;
  origin?: string;
  dialog?: string;
}

export interface Browser {
  id: string;
  kind: string;
  version?: string;
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

export interface FilmWish {
  number: number;
  tab: string;
  kind: "tile" | "large";
}
