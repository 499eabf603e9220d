// Synthetic input: dispatches the events of a browser in its order, and then does what the browser
// would do by default unless the page prevents it. `isTrusted` is false in all events. Each
// document has one instance; `perform` takes the inputs of `roost.drivers.base`.

globalThis.__roostHands ??= (() => {
  const BUTTONS = { left: [0, 1], middle: [1, 4], right: [2, 2] };
  const TEXT_TYPES = /^(text|search|url|tel|email|password|number|date|time|datetime-local|month|week)$/;
  const NO_CARET = /^(email|number|date|time|datetime-local|month|week)$/;
  const LINE = 40;
  const CODES = { " ": "Space", "-": "Minus", "=": "Equal", ",": "Comma", ".": "Period", "/": "Slash", ";": "Semicolon", "'": "Quote", "[": "BracketLeft", "]": "BracketRight", "\\": "Backslash", "`": "Backquote" };
  const KEY_CODES = { Backspace: 8, Tab: 9, Enter: 13, Shift: 16, Control: 17, Alt: 18, Escape: 27, " ": 32, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Delete: 46, Meta: 91 };
  const PLAIN_SIGNS = "`1234567890-=[]\\;',./";
  const SHIFTED_SIGNS = '~!@#$%^&*()_+{}|:"<>?';

  const mouse = { x: 0, y: 0, buttons: 0, over: null, pressed: null, drag: null, slider: null };
  const held = { ctrlKey: false, shiftKey: false, altKey: false, metaKey: false };
  const MODIFIERS = { Control: "ctrlKey", Shift: "shiftKey", Alt: "altKey", Meta: "metaKey" };
  const before = new WeakMap(); // field → its value when it got the focus
  let focused = null; // the element that has the focus according to the events sent so far

  // --- finding -----------------------------------------------------------------------------------

  function elementAt(x, y) {
    let found = document.elementFromPoint(x, y);
    for (let inner = found; inner; ) {
      inner = found.openOrClosedShadowRoot?.elementFromPoint(x, y) ?? null;
      if (inner === null || inner === found) break;
      found = inner;
    }
    return found;
  }

  function active() {
    let found = document.activeElement ?? document.body;
    while (found?.openOrClosedShadowRoot?.activeElement) found = found.openOrClosedShadowRoot.activeElement;
    return found ?? document.documentElement;
  }

  function above(element) {
    return element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null;
  }

  function* lineage(element) {
    for (let one = element; one; one = above(one)) yield one;
  }

  const nearest = (element, fits) => [...lineage(element)].find(fits) ?? null;
  const isDisabled = (element) => element.matches(":disabled");
  const isFocusable = (element) => element.tabIndex >= 0 || element.hasAttribute("tabindex") || element.isContentEditable;
  const isTextField = (element) =>
    (element instanceof HTMLInputElement && TEXT_TYPES.test(element.type)) || element instanceof HTMLTextAreaElement;
  const isInput = (element, ...types) => element instanceof HTMLInputElement && types.includes(element.type);
  const isEditable = (element) => isTextField(element) || element.isContentEditable;

  /** The child frame at a point: its id and the origin of its viewport; null if there is none. */
  function frameAt(x, y) {
    const found = elementAt(x, y);
    if (!found?.contentWindow) return null;
    const box = found.getBoundingClientRect();
    const style = getComputedStyle(found);
    const left = box.x + found.clientLeft + parseFloat(style.paddingLeft);
    const top = box.y + found.clientTop + parseFloat(style.paddingTop);
    return { frame: browser.runtime.getFrameId(found), x: left, y: top };
  }

  // --- events ------------------------------------------------------------------------------------

  const passes = (target, event) => target.dispatchEvent(event);

  function about(extra = {}) {
    const where = { clientX: mouse.x, clientY: mouse.y, screenX: mouse.x + mozInnerScreenX, screenY: mouse.y + mozInnerScreenY };
    return { bubbles: true, cancelable: true, composed: true, view: window, ...where, ...held, buttons: mouse.buttons, ...extra };
  }

  function point(target, kind, extra = {}) {
    const pointer = { pointerId: 1, pointerType: "mouse", isPrimary: true, width: 1, height: 1 };
    const event = /^pointer|^click$|^auxclick$|^contextmenu$/.test(kind)
      ? new PointerEvent(kind, { ...about(extra), ...pointer, pressure: mouse.buttons ? 0.5 : 0 })
      : new MouseEvent(kind, about(extra));
    return passes(target, event);
  }

  function both(target, kind, extra) {
    const isHeard = point(target, `pointer${kind}`, extra);
    return point(target, `mouse${kind}`, extra) && isHeard;
  }

  // --- the mouse ---------------------------------------------------------------------------------

  function move({ x, y }) {
    Object.assign(mouse, { x, y });
    const target = elementAt(x, y);
    hover(target);
    if (!target) return;
    if (mouse.slider) slide();
    else if (mouse.drag) dragOver(target);
    else if (mouse.pressed && beginDrag()) dragOver(target);
    else both(target, "move");
  }

  function hover(target) {
    const old = mouse.over?.isConnected ? mouse.over : null;
    mouse.over = target;
    if (old === target) return;
    const left = old ? [...lineage(old)] : [];
    const entered = target ? [...lineage(target)] : [];
    if (old) both(old, "out", { relatedTarget: target });
    const quiet = { bubbles: false, cancelable: false };
    for (const one of left.filter((one) => !entered.includes(one))) both(one, "leave", { ...quiet, relatedTarget: target });
    if (target) both(target, "over", { relatedTarget: old });
    for (const one of entered.filter((one) => !left.includes(one)).reverse()) both(one, "enter", { ...quiet, relatedTarget: old });
  }

  function press({ button = "left", clicks = 1 }) {
    const target = elementAt(mouse.x, mouse.y);
    const [number, bit] = BUTTONS[button];
    mouse.buttons |= bit;
    mouse.pressed = target;
    if (!target) return;
    const how = { button: number, detail: clicks };
    point(target, "pointerdown", { ...how, detail: 0 });
    if (isDisabled(target)) return;
    if (point(target, "mousedown", how)) {
      focusOn(nearest(target, (one) => isFocusable(one) && !isDisabled(one)));
      if (button === "left") placeCaret(target, clicks);
      if (button === "left" && isInput(target, "range")) {
        mouse.slider = target;
        slide();
      }
    } else {
      mouse.pressed = target;
    }
    if (button === "right") point(target, "contextmenu", { ...how, detail: 0 });
  }

  function letGo({ button = "left", clicks = 1 }) {
    const target = elementAt(mouse.x, mouse.y);
    const [number, bit] = BUTTONS[button];
    const { pressed, slider, drag } = mouse;
    mouse.buttons &= ~bit;
    Object.assign(mouse, { pressed: null, slider: null, drag: null });
    if (drag) return drop(drag, target);
    if (!target) return;
    const how = { button: number, detail: clicks };
    point(target, "pointerup", { ...how, detail: 0 });
    if (slider) tellChange(slider);
    if (isDisabled(target)) return;
    point(target, "mouseup", how);
    const common = pressed && nearest(target, (one) => [...lineage(pressed)].includes(one));
    if (!common || slider) return;
    point(common, button === "left" ? "click" : "auxclick", how);
    if (button === "left" && clicks === 2) point(common, "dblclick", how);
  }

  function wheel({ x, y, dx, dy }) {
    const target = elementAt(x, y) ?? document.documentElement;
    const turned = new WheelEvent("wheel", { ...about({ clientX: x, clientY: y }), deltaX: dx, deltaY: dy, deltaMode: 0 });
    if (passes(target, turned)) scrollableAt(target, dy ? "Y" : "X").scrollBy({ left: dx, top: dy, behavior: "instant" });
  }

  function scrollableAt(element, axis) {
    const [size, inner] = axis === "Y" ? ["scrollHeight", "clientHeight"] : ["scrollWidth", "clientWidth"];
    const scrolls = (one) => one[size] > one[inner] && /auto|scroll/.test(getComputedStyle(one)[`overflow${axis}`]);
    return nearest(element, scrolls) ?? document.scrollingElement ?? document.documentElement;
  }

  function slide() {
    const { slider } = mouse;
    const box = slider.getBoundingClientRect();
    const thumb = Math.min(box.width, box.height);
    const [from, to] = [Number(slider.min || 0), Number(slider.max || 100)];
    let part = (mouse.x - box.x - thumb / 2) / Math.max(1, box.width - thumb);
    if (box.height > box.width) part = 1 - (mouse.y - box.y - thumb / 2) / (box.height - thumb);
    if (slider.matches(":dir(rtl)")) part = 1 - part;
    const value = slider.value;
    slider.value = from + (to - from) * Math.min(1, Math.max(0, part));
    if (slider.value !== value) tellInput(slider);
  }

  // --- dragging ----------------------------------------------------------------------------------

  function beginDrag() {
    const source = nearest(mouse.pressed, (one) => one.draggable);
    if (!source) return false;
    const dataTransfer = new DataTransfer();
    const link = source.closest("a[href]");
    if (link) dataTransfer.setData("text/uri-list", link.href);
    if (!passes(source, new DragEvent("dragstart", { ...about(), dataTransfer }))) return false;
    mouse.drag = { source, dataTransfer, over: null };
    return true;
  }

  const tellDrag = (target, kind, { dataTransfer }) => !passes(target, new DragEvent(kind, { ...about(), dataTransfer }));

  function dragOver(target) {
    const { drag } = mouse;
    tellDrag(drag.source, "drag", drag);
    if (drag.over !== target) {
      tellDrag(target, "dragenter", drag);
      if (drag.over?.isConnected) tellDrag(drag.over, "dragleave", drag);
      drag.over = target;
    }
    drag.isTaken = tellDrag(target, "dragover", drag);
  }

  function drop(drag, target) {
    if (target) tellDrag(target, drag.isTaken ? "drop" : "dragleave", drag);
    if (drag.source.isConnected) tellDrag(drag.source, "dragend", drag);
  }

  // --- the focus ---------------------------------------------------------------------------------

  /** Focus an element. Firefox sends no focus events in a background tab, so `catchUp` does. */
  function focusOn(element) {
    catchUp();
    if (element === active()) return;
    if (element === null) active().blur();
    else element.focus({ preventScroll: true });
    catchUp();
  }

  function catchUp() {
    const now = active();
    const old = focused;
    if (now === old) return;
    focused = now;
    if (document.hasFocus()) return;
    const tellFocus = (target, kind, relatedTarget) => {
      const how = { composed: true, view: window, relatedTarget };
      passes(target, new FocusEvent(kind, how));
      passes(target, new FocusEvent(kind === "blur" ? "focusout" : "focusin", { ...how, bubbles: true }));
    };
    const isSomething = (one) => one && one !== document.body && one !== document.documentElement && one.isConnected;
    if (isSomething(old)) {
      changed(old);
      tellFocus(old, "blur", isSomething(now) ? now : null);
    }
    if (isSomething(now)) {
      if (isTextField(now)) before.set(now, now.value);
      tellFocus(now, "focus", isSomething(old) ? old : null);
    }
  }

  /** Send `change` for a text field whose value differs from the value at focus. */
  function changed(field) {
    if (!isTextField(field) || !before.has(field) || before.get(field) === field.value) return;
    before.set(field, field.value);
    if (!document.hasFocus()) passes(field, new Event("change", { bubbles: true }));
  }

  const tellInput = (field) => passes(field, new Event("input", { bubbles: true, composed: true }));
  const tellChange = (field) => passes(field, new Event("change", { bubbles: true }));

  function tabbables(root = document) {
    const found = [];
    for (const one of root.querySelectorAll("*")) {
      const isShown = one.checkVisibility?.({ visibilityProperty: true }) ?? true;
      if (one.tabIndex >= 0 && isFocusable(one) && !isDisabled(one) && isShown) found.push(one);
      if (one.openOrClosedShadowRoot) found.push(...tabbables(one.openOrClosedShadowRoot));
    }
    return found;
  }

  function tab(isBack) {
    const order = tabbables();
    const first = order.filter((one) => one.tabIndex > 0).sort((a, b) => a.tabIndex - b.tabIndex);
    const all = [...first, ...order.filter((one) => one.tabIndex === 0)].filter(isOneOfItsRadios);
    const at = all.indexOf(active());
    const next = isBack ? (at === -1 ? all.at(-1) : all[at - 1]) : all[at + 1];
    focusOn(next ?? null);
    if (next && isTextField(next) && next instanceof HTMLInputElement) next.select();
  }

  /** Tab stops at the checked radio button of a group. If none is checked, it stops at each. */
  function isOneOfItsRadios(one) {
    if (!isInput(one, "radio") || one.checked) return true;
    return !radios(one).some((other) => other.checked);
  }

  function radios(one) {
    const all = [...one.getRootNode().querySelectorAll("input[type=radio]")];
    return all.filter((other) => other.name === one.name && other.form === one.form && !isDisabled(other));
  }

  // --- text --------------------------------------------------------------------------------------

  function placeCaret(target, clicks) {
    const field = active();
    if (!isTextField(field) || !nearest(target, (one) => one === field)) {
      if (target.isContentEditable) {
        const at = document.caretPositionFromPoint(mouse.x, mouse.y);
        if (at) getSelection().collapse(at.offsetNode, at.offset);
      }
      return;
    }
    if (clicks === 3 || (clicks === 2 && !/\s/.test(field.value))) field.select();
    else if (!NO_CARET.test(field.type)) field.setSelectionRange(field.value.length, field.value.length);
  }

  /** Edit the focused field like the browser's editor: beforeinput, the change, then input. */
  function edit(inputType, command, data = null) {
    const target = active();
    if (!isEditable(target) || isDisabled(target) || target.readOnly) return;
    const asked = new InputEvent("beforeinput", { bubbles: true, cancelable: true, composed: true, view: window, inputType, data });
    if (!passes(target, asked)) return;
    document.execCommand(command, false, data ?? undefined);
  }

  const insert = (text) => edit("insertText", "insertText", text);

  function moveCaret(key) {
    const target = active();
    const isBack = /Left|Up|Home/.test(key);
    const isWord = held.ctrlKey;
    if (isTextField(target) && !NO_CARET.test(target.type)) {
      const { selectionStart, selectionEnd, selectionDirection, value } = target;
      const focus = selectionDirection === "backward" ? selectionStart : selectionEnd;
      const anchor = selectionDirection === "backward" ? selectionEnd : selectionStart;
      let to = caretAfter(value, focus, key, isWord);
      if (!held.shiftKey && selectionStart !== selectionEnd && /Left|Right/.test(key)) to = isBack ? selectionStart : selectionEnd;
      if (held.shiftKey) target.setSelectionRange(Math.min(anchor, to), Math.max(anchor, to), to < anchor ? "backward" : "forward");
      else target.setSelectionRange(to, to);
      return;
    }
    const how = /Up|Down/.test(key) ? "line" : /Home|End/.test(key) ? "lineboundary" : isWord ? "word" : "character";
    getSelection().modify(held.shiftKey ? "extend" : "move", isBack ? "backward" : "forward", how);
  }

  function caretAfter(text, at, key, isWord) {
    const start = text.lastIndexOf("\n", at - 1) + 1;
    const end = text.indexOf("\n", at) === -1 ? text.length : text.indexOf("\n", at);
    switch (key) {
      case "Home":
        return isWord ? 0 : start;
      case "End":
        return isWord ? text.length : end;
      case "ArrowLeft":
        return isWord ? text.slice(0, at).search(/\S+\s*$/) + (/\S/.test(text.slice(0, at)) ? 0 : 1) : Math.max(0, at - 1);
      case "ArrowRight":
        return isWord ? at + (text.slice(at).match(/^\S*\s*/)?.[0].length ?? 0) : Math.min(text.length, at + 1);
      case "ArrowUp":
        return start === 0 ? 0 : Math.min(text.lastIndexOf("\n", start - 2) + 1 + at - start, start - 1);
      default: {
        if (end === text.length) return text.length;
        const next = text.indexOf("\n", end + 1);
        return Math.min(end + 1 + at - start, next === -1 ? text.length : next);
      }
    }
  }

  // --- keys --------------------------------------------------------------------------------------

  /** Return the key as a US keyboard sends it: with Shift, h becomes H and 1 becomes "!". */
  function shifted(key) {
    if (!held.shiftKey || !isTyped(key)) return key;
    return SHIFTED_SIGNS[PLAIN_SIGNS.indexOf(key)] ?? key.toUpperCase();
  }

  function keyEvent(kind, key, extra = {}) {
    const sign = PLAIN_SIGNS[SHIFTED_SIGNS.indexOf(key)] ?? key;
    const code = CODES[sign] ?? (/^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : /^\d$/.test(sign) ? `Digit${sign}` : key.length > 1 ? (MODIFIERS[key] ? `${key}Left` : key) : "");
    const keyCode = KEY_CODES[key] ?? (/^[a-z0-9]$/i.test(key) ? key.toUpperCase().charCodeAt(0) : /^F\d+$/.test(key) ? 111 + Number(key.slice(1)) : 0);
    const how = { bubbles: true, cancelable: true, composed: true, view: window, key, code, keyCode, which: keyCode, ...held, ...extra };
    return passes(active(), new KeyboardEvent(kind, how));
  }

  const isTyped = (key) => [...key].length === 1;
  let wasPrevented = false; // the page prevented the last keydown, so keyup must not click

  function keyDown({ key: pressed }) {
    catchUp();
    if (MODIFIERS[pressed]) held[MODIFIERS[pressed]] = true;
    const key = shifted(pressed);
    wasPrevented = !keyEvent("keydown", key);
    if (wasPrevented || MODIFIERS[key]) return;
    const isCommand = held.ctrlKey || held.metaKey;
    if ((isTyped(key) && !isCommand) || key === "Enter") {
      const charCode = key === "Enter" ? 13 : key.codePointAt(0);
      if (!keyEvent("keypress", key, { keyCode: charCode, charCode, which: charCode })) return;
    }
    if (isCommand && isTyped(key)) command(key.toLowerCase());
    else if (isTyped(key)) typed(key);
    else named(key);
  }

  function keyUp({ key: released }) {
    if (MODIFIERS[released]) held[MODIFIERS[released]] = false;
    const key = shifted(released);
    const isHeard = keyEvent("keyup", key);
    const target = active();
    if (key === " " && isHeard && !wasPrevented && (isOperated(target) || isInput(target, "checkbox", "radio"))) target.click();
  }

  const isOperated = (one) =>
    one instanceof HTMLButtonElement || one.localName === "summary" || isInput(one, "button", "submit", "reset", "image", "color", "file");

  function command(key) {
    if (key === "a") isTextField(active()) ? active().select() : document.execCommand("selectAll");
    else if (key === "z") document.execCommand(held.shiftKey ? "redo" : "undo");
    else if (key === "y") document.execCommand("redo");
    else if (key === "c" || key === "x") document.execCommand(key === "c" ? "copy" : "cut");
  }

  function typed(key) {
    const target = active();
    if (isEditable(target)) insert(key);
    else if (target instanceof HTMLSelectElement) chooseByLetter(target, key);
    else if (key === " " && !isOperated(target) && !isInput(target, "checkbox", "radio")) scrollPage(held.shiftKey ? "PageUp" : "PageDown");
  }

  function named(key) {
    const target = active();
    if (key === "Enter") enter(target);
    else if (key === "Tab") tab(held.shiftKey);
    else if (key === "Escape") escape();
    else if (key === "Backspace") edit(held.ctrlKey ? "deleteWordBackward" : "deleteContentBackward", "delete");
    else if (key === "Delete") edit(held.ctrlKey ? "deleteWordForward" : "deleteContentForward", "forwardDelete");
    else if (/^(Arrow|Home|End|Page)/.test(key)) navigation(target, key);
  }

  function navigation(target, key) {
    if (target instanceof HTMLSelectElement) step(target, key);
    else if (isInput(target, "radio")) nextRadio(target, /Down|Right/.test(key) ? 1 : -1);
    else if (isInput(target, "number", "range") && /^Arrow(Up|Down)/.test(key)) stepNumber(target, key);
    else if (isInput(target, "range")) stepNumber(target, key);
    else if (isEditable(target) && !/^Page/.test(key)) moveCaret(key);
    else scrollPage(key, target);
  }

  function enter(target) {
    if (target instanceof HTMLTextAreaElement) edit("insertLineBreak", "insertText", "\n");
    else if (target.isContentEditable) edit(held.shiftKey ? "insertLineBreak" : "insertParagraph", held.shiftKey ? "insertLineBreak" : "insertParagraph");
    else if (isOperated(target) || target.matches("a[href], area[href]")) target.click();
    else if (target instanceof HTMLInputElement && target.form) submit(target);
    else changed(target);
  }

  /** https://html.spec.whatwg.org/#implicit-submission */
  function submit(field) {
    changed(field);
    const { form } = field;
    const button = [...form.elements].find((one) => one.matches("button:not([type]), [type=submit], [type=image]"));
    if (button) return isDisabled(button) ? undefined : button.click();
    const fields = [...form.elements].filter((one) => one instanceof HTMLInputElement && TEXT_TYPES.test(one.type));
    if (fields.length <= 1) form.requestSubmit();
  }

  function escape() {
    const dialogs = [...document.querySelectorAll("dialog:modal")];
    const dialog = dialogs.at(-1);
    if (dialog && passes(dialog, new Event("cancel", { cancelable: true }))) dialog.close();
  }

  function step(select, key) {
    const open = [...select.options].filter((one) => !one.disabled && !one.closest("optgroup:disabled"));
    const at = open.indexOf(select.selectedOptions[0]);
    const to = { Home: 0, End: open.length - 1 }[key] ?? Math.min(open.length - 1, Math.max(0, at + (/Down|Right/.test(key) ? 1 : -1)));
    choose(select, open[to]);
  }

  function chooseByLetter(select, key) {
    const fits = (one) => !one.disabled && one.label.toLowerCase().startsWith(key.toLowerCase());
    choose(select, [...select.options].find(fits));
  }

  function choose(select, option) {
    if (!option || option === select.selectedOptions[0]) return;
    select.value = option.value;
    option.selected = true;
    tellInput(select);
    tellChange(select);
  }

  function nextRadio(one, by) {
    const all = radios(one);
    const next = all[(all.indexOf(one) + by + all.length) % all.length];
    focusOn(next);
    next.click();
  }

  function stepNumber(field, key) {
    const value = field.value;
    if (key === "Home") field.value = field.min || 0;
    else if (key === "End") field.value = field.max || 100;
    else if (/Up|Right/.test(key)) field.stepUp();
    else field.stepDown();
    if (field.value === value) return;
    tellInput(field);
    tellChange(field);
  }

  function scrollPage(key, target = active()) {
    const scrolled = scrollableAt(target, /Left|Right/.test(key) ? "X" : "Y");
    const page = scrolled.clientHeight * 0.9;
    const tops = { ArrowDown: LINE, ArrowUp: -LINE, PageDown: page, PageUp: -page, End: scrolled.scrollHeight, Home: -scrolled.scrollHeight };
    const lefts = { ArrowRight: LINE, ArrowLeft: -LINE };
    scrolled.scrollBy({ top: tops[key] ?? 0, left: lefts[key] ?? 0, behavior: "instant" });
  }

  // --- the entry points --------------------------------------------------------------------------

  const DO = { move, down: press, up: letGo, wheel, keyDown, keyUp, insert: ({ text }) => (catchUp(), insert(text)) };
  const channel = new MessageChannel();

  /** Let the page's own tasks and promises run between two inputs. */
  function turn() {
    return new Promise((resolve) => {
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(null);
    });
  }

  /** Perform the inputs here, or return `{into: {frame, x, y}}` if they are for a child frame. */
  async function perform({ inputs, x = 0, y = 0 }) {
    const first = inputs.find((one) => one.do === "move" || one.do === "wheel");
    const into = first ? frameAt(first.x - x, first.y - y) : active()?.contentWindow ? { frame: browser.runtime.getFrameId(active()), x: 0, y: 0 } : null;
    if (into) return { into: { ...into, x: into.x + x, y: into.y + y } };
    for (const { do: what, ...how } of inputs) {
      if ("x" in how) Object.assign(how, { x: how.x - x, y: how.y - y });
      globalThis.__roostGesture = Date.now(); // lets `hook.js` open tabs, as after a person's click
      DO[what](how);
      await turn();
    }
    return {};
  }

  /** Put files into a field: the one of a ref, or the one that asked for files last. */
  function files({ ref, files }) {
    const field = ref ? globalThis.__roost?.element({ target: ref }) : globalThis.__roostField;
    globalThis.__roostField = null;
    if (!field?.isConnected && ref) return { problem: "stale" };
    if (!(field instanceof HTMLInputElement) || field.type !== "file") return { problem: "no field" };
    if (files.length > 1 && !field.multiple) return { problem: "multiple" };
    const carried = new DataTransfer();
    for (const { name, type, data } of files) carried.items.add(new File([Uint8Array.fromBase64(data)], name, { type }));
    field.files = carried.files;
    tellInput(field);
    tellChange(field);
    return {};
  }

  return { perform, files };
})();
