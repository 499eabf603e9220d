// The link to Roost: a port to the native host, commands in, answers and events out.
//
// Messages have the shape of CDP: {id, method, params, sessionId?} asks, {id, result | error}
// answers, {method, params, sessionId?} tells. The host cuts what is longer than a browser takes
// into parts; here they are joined. The host outlives brokers, and the port outlives them with it:
// "Roost.link" says how things are with the broker. A port that closes is opened again, ever later.

export const HOST = "roost.host";
export const RETRY_MS = [1_000, 30_000];
export const GOOD_MS = 60_000;
export const AWAKE_MS = 20_000;
// What a link carries at once is 64 MiB; a little room for what stands around a text.
export const ANSWER_CHARS = 60 * 1024 * 1024;

export const NO_SUCH_TAB = 404;
const REFUSED = -32000;
const NO_SUCH_METHOD = -32601;

/** An answer that is a refusal: its code and words go to the broker as they are. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Joins the parts of messages that were too long for one. */
export class Parts {
  #streams = new Map();

  /** The message that is whole now, or undefined. */
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

/** When to try again. Only what was good for a minute is a reason to begin anew. */
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
 * One extension's link.
 *
 * connect()                           a new port to the host
 * hello()                             what is said first, a promise
 * answer(method, params, sessionId)   does what a broker asks: a value, a promise, or an exception
 * changed(state)                      how things are: {state, error?}, for the person to see;
 *                                     "linked" comes anew for every broker
 * awake()                             any call of the browser's API: one that hears of none for half
 *                                     a minute puts the extension to sleep, port or not
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

  /** Open the port, unless it is open or about to be. */
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

  /** Tell the broker something. Dropped where there is no port: each broker asks for the state. */
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

/** For words that nobody here knows. */
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
