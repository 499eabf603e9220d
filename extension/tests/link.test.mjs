import assert from "node:assert/strict";
import { test } from "node:test";

import { ANSWER_CHARS, Backoff, Link, Parts, Refusal } from "../link.js";

class Event {
  listeners = [];
  addListener(listener) {
    this.listeners.push(listener);
  }
  fire(...args) {
    for (const listener of this.listeners) listener(...args);
  }
}

class Port {
  sent = [];
  onMessage = new Event();
  onDisconnect = new Event();
  postMessage(message) {
    this.sent.push(structuredClone(message));
  }
}

class Timers {
  waiting = [];
  setTimeout(work, ms) {
    this.waiting.push({ work, ms });
    return this.waiting.length;
  }
  clearTimeout() {}
  setInterval() {
    return 1;
  }
  clearInterval() {}
  /** Let the next wait end; says how long it was. */
  pass() {
    const { work, ms } = this.waiting.shift();
    work();
    return ms;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function linked(options = {}) {
  const ports = [];
  const timers = new Timers();
  const states = [];
  const link = new Link({
    connect: () => ports[ports.push(new Port()) - 1],
    hello: async () => ({ kind: "chromium" }),
    answer: async () => ({}),
    changed: (state) => states.push(state.state),
    awake: () => {},
    timers,
    ...options,
  });
  await link.open();
  return { link, ports, timers, states };
}

test("the extension sends its hello first", async () => {
  const { ports } = await linked();
  assert.deepEqual(ports[0].sent, [{ method: "Roost.hello", params: { kind: "chromium" } }]);
});

test("a command is answered under its id and session", async () => {
  const { ports } = await linked({ answer: async (method, params) => ({ method, params }) });
  ports[0].onMessage.fire({ id: 7, method: "A.b", params: { c: 1 }, sessionId: "r.1" });
  await settled();
  const result = { method: "A.b", params: { c: 1 } };
  assert.deepEqual(ports[0].sent.at(-1), { id: 7, result, sessionId: "r.1" });
});

test("what is refused is answered with its code and words", async () => {
  const answer = () => {
    throw new Refusal(404, "no such tab");
  };
  const { ports } = await linked({ answer });
  ports[0].onMessage.fire({ id: 1, method: "A.b" });
  await settled();
  assert.deepEqual(ports[0].sent.at(-1), { id: 1, error: { code: 404, message: "no such tab" } });
});

test("an answer too long for the link is refused, and the port stays open", async () => {
  const { ports } = await linked({ answer: async () => ({ data: "x".repeat(ANSWER_CHARS + 1) }) });
  ports[0].onMessage.fire({ id: 1, method: "A.b" });
  await settled();
  assert.match(ports[0].sent.at(-1).error.message, /larger/);
});

test("the parts of each stream are joined separately", () => {
  const parts = new Parts();
  const [a, b] = ['{"a":"☃', '😀"}'];
  assert.equal(parts.take({ stream: 1, part: 0, of: 2, text: a }), undefined);
  assert.equal(parts.take({ stream: 2, part: 0, of: 2, text: '{"b"' }), undefined);
  assert.deepEqual(parts.take({ stream: 1, part: 1, of: 2, text: b }), { a: "☃😀" });
  assert.deepEqual(parts.take({ stream: 2, part: 1, of: 2, text: ":1}" }), { b: 1 });
});

test("the delay grows while the host ends at once", async () => {
  const { ports, timers, states } = await linked();
  const waits = [];
  for (let round = 0; round < 8; round += 1) {
    ports.at(-1).onMessage.fire({ method: "Roost.link", params: { state: "linked" } });
    ports.at(-1).onDisconnect.fire();
    waits.push(timers.pass());
    await settled();
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
  assert.equal(ports.length, 9);
  assert.deepEqual(states.slice(0, 2), ["linked", "no host"]);
});

test("a connection that lasts a minute resets the backoff", () => {
  let now = 0;
  const backoff = new Backoff(() => now);
  assert.deepEqual([backoff.next(), backoff.next()], [1000, 2000]);
  backoff.worked();
  now += 59_000;
  assert.equal(backoff.next(), 4000);
  backoff.worked();
  now += 60_000;
  assert.equal(backoff.next(), 1000);
});

test("asking twice opens one port", async () => {
  const { link, ports } = await linked();
  await link.open();
  assert.equal(ports.length, 1);
});

test("an answer for a port that has closed is dropped", async () => {
  let finish;
  const { ports, timers } = await linked({ answer: () => new Promise((done) => (finish = done)) });
  ports[0].onMessage.fire({ id: 1, method: "A.b" });
  ports[0].onDisconnect.fire();
  timers.pass();
  finish({});
  await settled();
  assert.deepEqual(ports[1].sent.map((message) => message.method), ["Roost.hello"]);
});
