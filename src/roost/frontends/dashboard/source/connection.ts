import type { FeedLine, FeedPage, FilmWish, Finding, House, PersonDrawing, PersonInput, RoostError, Wall } from "./messages";

const TOKEN = "roost-token";
const RETRY_MS = [300, 1000, 2000, 5000];
const HEAD_BYTES = 12;
const CHUNK_BYTES = 128 * 1024;
/** Bytes of a file that may wait in the socket before the next ones are read. */
const UNSENT_BYTES = 1024 * 1024;

export interface Listener {
  connected(): void;
  /** `why` is given when a new login is needed. */
  disconnected(why?: string): void;
  wall(wall: Wall): void;
  feed(lines: FeedLine[]): void;
  picture(film: number, picture: Blob, width: number, height: number): void;
  /** The film has no picture now, for that reason. */
  missed(film: number, why: string): void;
}

export class OperationFailed extends Error {
  constructor(readonly error: RoostError) {
    super(error.hint ? `${error.message} ${error.hint}` : error.message);
  }
}

/** The one WebSocket to the broker. It comes back by itself after the broker was restarted. */
export class Connection {
  private socket: WebSocket | undefined;
  private tries = 0;
  private calls = new Map<number, { done: (result: unknown) => void; failed: (error: Error) => void }>();
  private nextCall = 1;
  private wishes: FilmWish[] = [];
  private isIn = false;

  constructor(private readonly listener: Listener) {}

  /** `code` is the one-time code of `roost dashboard`, if the page was opened with one. */
  open(code?: string): void {
    const token = sessionStorage.getItem(TOKEN);
    if (!code && !token) {
      this.listener.disconnected("Run `roost dashboard` in a terminal to open this page.");
      return;
    }
    const socket = new WebSocket(new URL("live", location.href.replace(/^http/, "ws")));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify(code ? { code } : { token }));
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.heard(event.data);
    socket.onclose = () => this.closed();
    this.socket = socket;
  }

  /** Perform an operation as the person. */
  call(op: string, args: Record<string, unknown> = {}): Promise<unknown> {
    return this.ask({ op, arguments: args });
  }

  /** Take the session from its agent, so that the person can act in it. */
  take(session: string): Promise<unknown> {
    return this.ask({ take: session });
  }

  give(session: string, note: string): Promise<unknown> {
    return this.ask({ give: session, note });
  }

  /** Show the agent a drawing with its next reply. */
  draw(drawing: PersonDrawing): Promise<unknown> {
    return this.ask({ draw: drawing });
  }

  /** Earlier lines of the feed, of one session or of all. */
  feed(session: string | undefined, before: string | undefined): Promise<FeedPage> {
    return this.ask({ feed: { session, before } }) as Promise<FeedPage>;
  }

  house(): Promise<House> {
    return this.ask({ house: true }) as Promise<House>;
  }

  async doctor(): Promise<Finding[]> {
    return ((await this.ask({ doctor: true })) as { findings: Finding[] }).findings;
  }

  /** Take back the consent that agents of that name may use that browser of the person's. */
  forbid(browser: string, name: string): Promise<unknown> {
    return this.ask({ forbid: { browser, name } });
  }

  /** Give files to the page that asks for them in that tab. */
  async giveFiles(tab: string, files: Iterable<File>): Promise<void> {
    for (const file of files) {
      await this.ask({ file: tab, name: file.name, bytes: file.size });
      for (let at = 0; at < file.size; at += CHUNK_BYTES) {
        const chunk = await file.slice(at, at + CHUNK_BYTES).arrayBuffer();
        while (this.isIn && (this.socket?.bufferedAmount ?? 0) > UNSENT_BYTES) {
          await new Promise((done) => setTimeout(done, 20));
        }
        if (!this.isIn) throw new Error("Roost was disconnected.");
        this.socket?.send(chunk);
      }
    }
    await this.ask({ choose: tab });
  }

  act(tab: string, inputs: PersonInput[]): void {
    if (this.isIn) this.say({ tab, inputs });
  }

  private ask(message: Record<string, unknown>): Promise<unknown> {
    return new Promise((done, failed) => {
      if (!this.isIn) {
        failed(new Error("Roost is not connected."));
        return;
      }
      const id = this.nextCall++;
      this.calls.set(id, { done, failed });
      this.say({ id, ...message });
    });
  }

  /** Say which films to show. Only a changed list is sent. */
  want(films: FilmWish[]): void {
    if (JSON.stringify(films) === JSON.stringify(this.wishes)) return;
    this.wishes = films;
    if (this.isIn) this.say({ films });
  }

  seen(film: number): void {
    if (this.isIn) this.say({ seen: film });
  }

  private say(message: unknown): void {
    this.socket?.send(JSON.stringify(message));
  }

  private heard(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const head = new DataView(data);
      const picture = new Blob([new Uint8Array(data, HEAD_BYTES)], { type: "image/jpeg" });
      this.listener.picture(head.getUint32(0), picture, head.getUint32(4), head.getUint32(8));
      return;
    }
    const message = JSON.parse(data);
    if (message.welcome) this.welcomed(message.welcome.token);
    else if (message.wall) this.listener.wall(message.wall);
    else if (message.feed) this.listener.feed(message.feed);
    else if (message.missed !== undefined) this.listener.missed(message.missed, message.why);
    else if (message.id) this.answered(message);
    else if (message.error) this.refused(message.error);
  }

  private welcomed(token: string): void {
    sessionStorage.setItem(TOKEN, token);
    this.tries = 0;
    this.isIn = true;
    if (this.wishes.length) this.say({ films: this.wishes });
    this.listener.connected();
  }

  private answered(message: { id: number; result?: unknown; error?: RoostError }): void {
    const call = this.calls.get(message.id);
    this.calls.delete(message.id);
    if (message.error) call?.failed(new OperationFailed(message.error));
    else call?.done(message.result);
  }

  private refused(error: RoostError): void {
    sessionStorage.removeItem(TOKEN);
    this.listener.disconnected(new OperationFailed(error).message);
  }

  private closed(): void {
    this.isIn = false;
    for (const call of this.calls.values()) call.failed(new Error("Roost was disconnected."));
    this.calls.clear();
    if (!sessionStorage.getItem(TOKEN)) return;
    this.listener.disconnected();
    const wait = RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)];
    setTimeout(() => this.open(), wait);
  }
}
