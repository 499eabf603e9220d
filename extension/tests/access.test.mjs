import assert from "node:assert/strict";
import { test } from "node:test";

import { Access, NOT_ALLOWED, PAGES } from "../firefox/access.js";

/** The person's mind about it; `change` without a word is one the browser has not told of yet. */
class Person {
  #listeners = { onAdded: [], onRemoved: [] };
  constructor(allows) {
    this.allows = allows;
    const on = (name) => ({ addListener: (listener) => this.#listeners[name].push(listener) });
    const contains = async (what) => {
      assert.deepEqual(what, PAGES);
      return this.allows;
    };
    this.api = { permissions: { contains, onAdded: on("onAdded"), onRemoved: on("onRemoved") } };
  }
  change(allows, { word = true } = {}) {
    this.allows = allows;
    if (word) for (const listener of this.#listeners[allows ? "onAdded" : "onRemoved"]) listener(PAGES);
  }
}

const refused = { code: NOT_ALLOWED };

test("pages are refused from the moment the person withdraws access until it is given back", async () => {
  const person = new Person(true);
  const heard = [];
  const access = new Access(person.api, (isAllowed) => heard.push(isAllowed));
  await access.check();
  person.change(false);
  await assert.rejects(access.check(), refused);
  person.change(true);
  await access.check();
  assert.deepEqual(heard, [true, false, true]);
});

test("access that was withdrawn before the browser started is noticed at the first command", async () => {
  const access = new Access(new Person(false).api, () => {});
  await assert.rejects(access.check(), refused);
});

test("a script that is refused makes the extension check its access at once", async () => {
  const person = new Person(true);
  const heard = [];
  const access = new Access(person.api, (isAllowed) => heard.push(isAllowed));
  await access.check();
  person.change(false, { word: false });
  await access.lookAgain();
  await assert.rejects(access.check(), refused);
  await access.lookAgain();
  assert.deepEqual(heard, [true, false], "what is known is not told again");
});
