import assert from "node:assert/strict";
import { test } from "node:test";

import { End, Navigations, Unreachable } from "../firefox/navigation.js";

const TAB = 7;
const HERE = "http://x/here";
const ATTACHED = [{ name: "Content-Disposition", value: 'attachment; filename="f"' }];
const ABORTED = "Error code 2152398850";
const nothing = async () => {};

/** Whether it is settled by now, and with what. */
async function now(promise) {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve("pending")]);
}

test("a navigation ends with its document, by its request's status, over redirects", async () => {
  const journeys = new Navigations();
  const going = journeys.go(TAB, "http://x/a#part", nothing);
  journeys.began(TAB, "http://x/a");
  assert.ok(journeys.isLeaving(TAB));
  journeys.asked(TAB, { requestId: "1", url: "http://x/a" });
  journeys.asked(TAB, { requestId: "1", url: "http://x/b" });
  journeys.answered(TAB, { requestId: "1", statusCode: 404 });
  journeys.committed(TAB, "http://x/elsewhere");
  assert.equal(await now(going), "pending", "another document's");
  journeys.committed(TAB, "http://x/b");
  assert.deepEqual(await going, { end: End.DOCUMENT, status: 404 });
  assert.ok(!journeys.isLeaving(TAB));
});

for (const [what, answer] of [
  ["no content", { statusCode: 204 }],
  ["a file", { statusCode: 200, responseHeaders: ATTACHED }],
]) {
  test(`an answer that is ${what} leaves the tab where it was`, async () => {
    const journeys = new Navigations();
    const going = journeys.go(TAB, HERE, nothing);
    journeys.began(TAB, HERE);
    journeys.asked(TAB, { requestId: "1", url: HERE });
    journeys.answered(TAB, { requestId: "1", ...answer });
    assert.deepEqual(await going, { end: End.NOTHING, status: answer.statusCode });
    assert.ok(!journeys.isLeaving(TAB));
  });

  test(`a click that led to ${what} is over, also for who begins to wait after it set out`, async () => {
    const journeys = new Navigations();
    journeys.began(TAB, HERE);
    journeys.asked(TAB, { requestId: "1", url: HERE });
    const landed = journeys.landed(TAB);
    assert.equal(await now(landed), "pending");
    journeys.answered(TAB, { requestId: "1", ...answer });
    await landed;
  });

  test(`that it set out is told late: it came to ${what}, and the tab is not leaving`, async () => {
    const journeys = new Navigations();
    journeys.asked(TAB, { requestId: "1", url: HERE });
    journeys.answered(TAB, { requestId: "1", ...answer });
    journeys.began(TAB, HERE);
    assert.ok(!journeys.isLeaving(TAB));
  });
}

test("a navigation that becomes a download without a header ends", async () => {
  const journeys = new Navigations();
  journeys.began(TAB, HERE);
  journeys.asked(TAB, { requestId: "1", url: HERE });
  journeys.answered(TAB, { requestId: "1", statusCode: 200 });
  const landed = journeys.landed(TAB);
  journeys.downloaded(TAB, HERE);
  await landed;
});

test("a cancelled navigation may begin again; otherwise waiting calls end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const journeys = new Navigations();
  journeys.began(TAB, HERE);
  const landed = journeys.landed(TAB);
  journeys.brokeOff(TAB, HERE, ABORTED);
  journeys.began(TAB, HERE); // in another process
  t.mock.timers.tick(1000);
  assert.equal(await now(landed), "pending");
  journeys.brokeOff(TAB, HERE, ABORTED);
  t.mock.timers.tick(1000);
  await landed;
});

test("a cancelled navigation does not end a history step that begins a moment later", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const journeys = new Navigations();
  const going = journeys.go(TAB, HERE, nothing);
  journeys.began(TAB, HERE);
  journeys.brokeOff(TAB, HERE, ABORTED);
  journeys.began(TAB, HERE); // in another process
  journeys.committed(TAB, HERE);
  await going;
  const forward = journeys.step(TAB, nothing);
  t.mock.timers.tick(500);
  assert.equal(await now(forward), "pending");
  t.mock.timers.tick(500);
  assert.equal(await forward, null);
});

test("a server that is not there is the error that its request had", async () => {
  const journeys = new Navigations();
  const going = journeys.go(TAB, HERE, nothing);
  journeys.asked(TAB, { requestId: "1", url: HERE });
  journeys.failed(TAB, { requestId: "1", error: "NS_ERROR_CONNECTION_REFUSED" });
  journeys.brokeOff(TAB, HERE, "Error code 2152398861");
  await assert.rejects(going, (error) => error instanceof Unreachable && /REFUSED/.test(error.message));
});

test("a step in the history ends where it leads, or nowhere", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const journeys = new Navigations();
  const back = journeys.step(TAB, nothing);
  journeys.committed(TAB, HERE);
  assert.deepEqual(await back, { end: End.DOCUMENT, status: null });
  const within = journeys.step(TAB, nothing);
  journeys.movedWithin(TAB, `${HERE}#part`);
  assert.equal((await within).end, End.WITHIN);
  const forward = journeys.step(TAB, nothing);
  assert.equal(await now(forward), "pending");
  t.mock.timers.tick(5000);
  assert.equal(await forward, null);
});

test("a newer navigation is not ended by what came of an older one", async () => {
  const journeys = new Navigations();
  const older = journeys.go(TAB, HERE, nothing);
  const newer = journeys.go(TAB, "http://x/newer", nothing);
  journeys.committed(TAB, HERE);
  assert.equal(await now(newer), "pending");
  journeys.committed(TAB, "http://x/newer");
  assert.equal((await newer).end, End.DOCUMENT);
  journeys.forget(TAB);
  await assert.rejects(older);
});
