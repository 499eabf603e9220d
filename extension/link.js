// The link to Roost: a port to the native host, commands in, answers and events out.
//
// Messages have CDP's form: {id, method, params, sessionId?} is a command, {id, result | error} an
// answer, {method, params, sessionId?} an event. The host cuts messages that are too long for the
// browser into parts, which are joined here. Host and port outlive brokers: the host sends
// "Roost.link" whenever its connection to the broker changes. A port that closes is opened again,
// after ever longer pauses.

export const HOST = "roost.host";
export const RETRY_MS = [1_000, 30_000];
export const GOOD_MS = 60_000;
export const AWAKE_MS = 20_000;
// A link carries frames of up to 64 MiB. The difference is room for the JSON around a text.
export const ANSWER_CHARS = 60 * 1024 * 1024;

export const NO_SUCH_TAB = 404;
const REFUSED = -32000;
const NO_SUCH_METHOD = -32601;

/** An error whose code and message go to the broker as the command's answer. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Joins the parts of messages that were too long for one. */
export class Parts {
  #streams = new Map();

  /** Take a message or a part. Return the complete message, or undefined if parts are missing. */
  take(message) {
    if (message.part === undefined) return message;
    const { stream, part, of, text } = message;
    const texts = this.#streams.get(stream) ?? [];
    texts[part] = text;
    if (part + 1 < of) {
      this.#streams.set(stream, texts);
      return undefined;
    }
    this.#streams.delete(stream);
    return JSON.parse(texts.join(""));
  }
}

/** Decides when to connect again. Only a connection that lasted GOOD_MS resets the pauses. */
export class Backoff {
  #tries = 0;
  #good = Infinity;
  #now;

  constructor(now = Date.now) {
    this.#now = now;
  }

  worked() {
    this.#good = this.#now() + GOOD_MS;
  }

  /** How many milliseconds to wait. */
  next() {
    if (this.#now() >= this.#good) this.#tries = 0;
    this.#good = Infinity;
    const [shortest, longest] = RETRY_MS;
    return Math.min(shortest * 2 ** Math.min(this.#tries++, 10), longest);
  }
}

/**
 * The extension's link to the broker, through the host.
 *
 * connect()                           opens a new port to the host
 * hello()                             a promise of the hello's params, the first message
 * answer(method, params, sessionId)   runs a broker's command: a value, a promise, or an exception
 * changed(state)                      called with {state, error?} for the popup; "linked" comes
 *                                     again for every new broker
 * awake()                             calls any browser API, because a browser puts an extension to
 *                                     sleep that makes no call for half a minute, even with a port
 */
export class Link {
  #connect;
  #hello;
  #answer;
  #changed;
  #stayAwake;
  #timers;
  #backoff;
  #port = null;
  #retry = null;
  #awake = null;
  state = { state: "starting" };

  constructor({ connect, hello, answer, changed, awake, timers = globalThis, now = Date.now }) {
    this.#connect = connect;
    this.#hello = hello;
    this.#answer = answer;
    this.#changed = changed;
    this.#stayAwake = awake;
    this.#timers = timers;
    this.#backoff = new Backoff(now);
  }

  /** Open the port, unless it is open or a retry is scheduled. */
  async open() {
    if (this.#port !== null || this.#retry !== null) return;
    const port = this.#connect();
    this.#port = port;
    const parts = new Parts();
    port.onMessage.addListener((message) => {
      const whole = parts.take(message);
      if (whole !== undefined) this.#heard(port, whole);
    });
    port.onDisconnect.addListener(() => this.#lost(port));
    port.postMessage({ method: "Roost.hello", params: await this.#hello() });
  }

  /** Send an event to the broker. Without a port it is dropped; each broker asks for the state. */
  tell(method, params, sessionId) {
    this.#post({ method, params, ...(sessionId === undefined ? {} : { sessionId }) });
  }

  #post(message) {
    try {
      this.#port?.postMessage(message);
    } catch (problem) {
      console.debug("the port is closed", problem);
    }
  }

  #heard(port, message) {
    if (message.method === "Roost.link") {
      this.#backoff.worked();
      this.#stay();
      this.#change(message.params);
    } else if (message.id !== undefined) {
      this.#ask(port, message);
    }
  }

  async #ask(port, { id, method, params = {}, sessionId }) {
    const session = sessionId === undefined ? {} : { sessionId };
    let reply;
    try {
      const result = (await this.#answer(method, params, sessionId)) ?? {};
      if (isTooLong(result)) throw new Refusal(REFUSED, "larger than 60 MiB");
      reply = { id, result, ...session };
    } catch (problem) {
      const code = problem?.code ?? REFUSED;
      reply = { id, error: { code, message: String(problem?.message ?? problem) }, ...session };
    }
    if (this.#port === port) this.#post(reply);
  }

  #stay() {
    this.#awake ??= this.#timers.setInterval(this.#stayAwake, AWAKE_MS);
  }

  #lost(port) {
    if (this.#port !== port) return;
    this.#port = null;
    this.#timers.clearInterval(this.#awake);
    this.#awake = null;
    const why = port.error?.message ?? globalThis.chrome?.runtime?.lastError?.message;
    this.#change({ state: "no host", ...(why ? { error: { message: why } } : {}) });
    this.#retry = this.#timers.setTimeout(() => {
      this.#retry = null;
      this.open();
    }, this.#backoff.next());
  }

  #change(state) {
    this.state = state;
    this.#changed(state);
  }
}

/** The error for a method that the extension does not know. */
export function noSuchMethod(method) {
  return new Refusal(NO_SUCH_METHOD, `there is no ${method}`);
}

function isTooLong(result) {
  let chars = 0;
  for (const value of Object.values(result)) {
    if (typeof value === "string") chars += value.length;
  }
  return chars > ANSWER_CHARS;
}
