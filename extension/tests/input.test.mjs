import assert from "node:assert/strict";
import { test } from "node:test";

// As much of a page as keys need: one element that has the focus.

class Told {
  defaultPrevented = false;
  constructor(type, how) {
    Object.assign(this, { type, ...how });
  }
}
class Element_ {
  told = [];
  heard = () => {};
  tabIndex = 0;
  isConnected = true;
  constructor(what = {}) {
    Object.assign(this, what);
  }
  dispatchEvent(event) {
    this.told.push(event);
    return this.heard(event) !== false;
  }
  matches(selector) {
    return selector.includes("a[href]") && this.href !== undefined;
  }
  hasAttribute = () => false;
  click() {
    this.clicks = (this.clicks ?? 0) + 1;
  }
}
class HTMLInputElement extends Element_ {
  type = "text";
}
class HTMLTextAreaElement extends Element_ {
  type = "textarea";
  setSelectionRange(selectionStart, selectionEnd, selectionDirection = "forward") {
    Object.assign(this, { selectionStart, selectionEnd, selectionDirection });
  }
}
class HTMLButtonElement extends Element_ {}
class HTMLSelectElement extends Element_ {}

let commands = [];
const page = { body: new Element_(), hasFocus: () => true, execCommand: (...what) => commands.push(what) };
Object.assign(globalThis, { HTMLInputElement, HTMLTextAreaElement, HTMLButtonElement, HTMLSelectElement });
Object.assign(globalThis, { document: page, window: {}, KeyboardEvent: Told, InputEvent: Told, Event: Told });
globalThis.MessageChannel = class {
  port1 = {};
  port2 = { postMessage: () => setImmediate(() => this.port1.onmessage()) };
};
await import("../firefox/input.js");

async function press(element, ...keys) {
  commands = [];
  page.activeElement = element;
  element.told = [];
  const down = (key) => ({ do: "keyDown", key });
  const up = (key) => ({ do: "keyUp", key });
  const inputs = keys.flatMap((key) => key.split("+").reduceRight((inner, one) => [down(one), ...inner, up(one)], []));
  await globalThis.__roostHands.perform({ inputs });
  return element.told;
}

const field = (value, at = value.length) =>
  new HTMLTextAreaElement({ value, selectionStart: at, selectionEnd: at, selectionDirection: "forward" });

test("a key sends the events of a keyboard, and types", async () => {
  const told = await press(field(""), "h");
  assert.deepEqual(told.map(({ type, key, code, keyCode }) => [type, key, code, keyCode]), [
    ["keydown", "h", "KeyH", 72],
    ["keypress", "h", "KeyH", 104],
    ["beforeinput", undefined, undefined, undefined],
    ["keyup", "h", "KeyH", 72],
  ]);
  assert.deepEqual(commands, [["insertText", false, "h"]]);
});

for (const [keys, typed, code] of [
  ["Shift+h", "H", "KeyH"],
  ["Shift+1", "!", "Digit1"],
  ["Shift+;", ":", "Semicolon"],
  ["Shift+ü", "Ü", ""],
  ["!", "!", "Digit1"],
  ["?", "?", "Slash"],
]) {
  test(`${keys} types ${typed}`, async () => {
    const told = await press(field(""), keys);
    const down = told.find(({ type, key }) => type === "keydown" && key !== "Shift");
    assert.deepEqual([down.key, down.code], [typed, code]);
    assert.deepEqual(commands, [["insertText", false, typed]]);
  });
}

test("a prevented event has no default action", async () => {
  const deaf = field("");
  deaf.heard = ({ type }) => type !== "keydown";
  const told = await press(deaf, "h", "Backspace");
  assert.ok(!told.some(({ type }) => type === "keypress"));
  deaf.heard = ({ type }) => type !== "beforeinput";
  await press(deaf, "h");
  assert.deepEqual(commands, []);
});

test("combinations are commands and type nothing", async () => {
  const told = await press(field("x"), "Control+c");
  assert.ok(told.every(({ type }) => type !== "beforeinput"));
  assert.deepEqual(commands, [["copy"]]);
});

test("arrow keys move the caret as in a browser", async () => {
  const text = "one two\nthree";
  for (const [from, keys, to] of [
    [3, "ArrowLeft", 2],
    [0, "ArrowLeft", 0],
    [3, "ArrowRight", 4],
    [7, "Control+ArrowLeft", 4],
    [0, "Control+ArrowRight", 4],
    [2, "End", 7],
    [10, "Home", 8],
    [10, "Control+Home", 0],
    [2, "ArrowDown", 10],
    [10, "ArrowUp", 2],
    [13, "ArrowDown", 13],
  ]) {
    const area = field(text, from);
    await press(area, keys);
    assert.equal(area.selectionStart, to, `${keys} from ${from}`);
  }
  const area = field(text, 3);
  await press(area, "Shift+ArrowLeft", "Shift+ArrowLeft");
  assert.deepEqual([area.selectionStart, area.selectionEnd, area.selectionDirection], [1, 3, "backward"]);
});

test("Enter and Space operate what has the focus, Space when it is let go", async () => {
  const button = new HTMLButtonElement();
  await press(button, "Enter", " ");
  assert.equal(button.clicks, 2);
  button.heard = ({ type, key }) => !(type === "keydown" && key === " ");
  await press(button, " ");
  assert.equal(button.clicks, 2);
  const link = new Element_({ href: "http://x/" });
  await press(link, "Enter");
  assert.equal(link.clicks, 1);
  const box = new HTMLInputElement();
  box.type = "checkbox";
  await press(box, " ");
  assert.equal(box.clicks, 1);
});

test("Enter in a field sends its form by its button, and not by one that is switched off", async () => {
  const isOff = (element) => (element.matches = (selector) => selector !== ":disabled" || element.disabled);
  const [button, input] = [new HTMLButtonElement(), new HTMLInputElement()];
  isOff(button);
  input.form = { elements: [input, button], requestSubmit: () => assert.fail("it has a button") };
  await press(input, "Enter");
  assert.equal(button.clicks, 1);
  button.disabled = true;
  await press(input, "Enter");
  assert.equal(button.clicks, 1);
  let sent = 0;
  const two = [new HTMLInputElement(), new HTMLInputElement()];
  two[0].form = { elements: two, requestSubmit: () => sent++ };
  await press(two[0], "Enter");
  assert.equal(sent, 0, "two fields and no button");
  two[0].form.elements = [two[0]];
  await press(two[0], "Enter");
  assert.equal(sent, 1);
});
