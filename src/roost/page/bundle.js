// Made from src/roost/page/source by `npm install --no-package-lock && npm run build`. Edit the sources, not this file.
"use strict";
(() => {
  // errors.ts
  var PAGE_SAID_LIMIT = 2e3;
  var PageError = class extends Error {
    report;
    constructor(code, message, details = {}) {
      super(message);
      const said = details.pageSaid?.slice(0, PAGE_SAID_LIMIT);
      this.report = { code, message, ...details, ...said ? { pageSaid: said } : {} };
    }
  };
  function badRequest(field, message, hint) {
    return new PageError("BAD_REQUEST", message, hint ? { field, hint } : { field });
  }

  // args.ts
  function isAbsent(value) {
    return value === void 0 || value === null;
  }
  function text(args, field) {
    const value = args[field];
    if (typeof value !== "string") throw badRequest(field, `${field} must be a string`);
    return value;
  }
  function optionalText(args, field) {
    return isAbsent(args[field]) ? void 0 : text(args, field);
  }
  function optionalFlag(args, field) {
    const value = args[field];
    if (isAbsent(value)) return void 0;
    if (typeof value !== "boolean") throw badRequest(field, `${field} must be true or false`);
    return value;
  }
  function optionalNumber(args, field, minimum = -Infinity, maximum = Infinity) {
    const value = args[field];
    if (isAbsent(value)) return void 0;
    if (typeof value !== "number" || !Number.isFinite(value)) throw badRequest(field, `${field} must be a number`);
    if (value < minimum || value > maximum) throw badRequest(field, `${field} must be between ${minimum} and ${maximum}, not ${value}`);
    return value;
  }
  function oneOf(args, field, choices, otherwise) {
    const value = optionalText(args, field);
    if (value === void 0) return otherwise;
    const choice = choices.find((candidate2) => candidate2 === value);
    if (choice === void 0) throw badRequest(field, `${field} must be one of ${choices.join(", ")}`);
    return choice;
  }
  function optionalTexts(args, field) {
    const value = args[field];
    if (isAbsent(value)) return void 0;
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
      throw badRequest(field, `${field} must be a list of strings`);
    }
    return value;
  }

  // dom.ts
  function read(prototype, name) {
    return Object.getOwnPropertyDescriptor(prototype, name).get;
  }
  function getter(prototype, name) {
    const get2 = read(prototype, name);
    return (self2) => get2.call(self2);
  }
  function method(prototype, name) {
    const run = Object.getOwnPropertyDescriptor(prototype, name).value;
    return (self2, ...args) => run.apply(self2, args);
  }
  var nodeTypeOf = read(Node.prototype, "nodeType");
  var firstChildOf = read(Node.prototype, "firstChild");
  var nextSiblingOf = read(Node.prototype, "nextSibling");
  var localNameOf = read(Element.prototype, "localName");
  var shadowOf = read(Element.prototype, "shadowRoot");
  var { getAttribute: attributeOf, hasAttribute: holdsAttribute, matches: fitsSelector, getBoundingClientRect: boundingBox } = Element.prototype;
  var nodeType = (node) => nodeTypeOf.call(node);
  var firstChild = (node) => firstChildOf.call(node);
  var nextSibling = (node) => nextSiblingOf.call(node);
  var localName = (element2) => localNameOf.call(element2);
  var shadowRootOf = (element2) => shadowOf.call(element2);
  var getAttribute = (element2, name) => attributeOf.call(element2, name);
  var hasAttribute = (element2, name) => holdsAttribute.call(element2, name);
  var matches = (element2, selector) => fitsSelector.call(element2, selector);
  var boxOf = (element2) => boundingBox.call(element2);
  var parentNode = getter(Node.prototype, "parentNode");
  var isConnected = getter(Node.prototype, "isConnected");
  var rootOf = method(Node.prototype, "getRootNode");
  var textContent = getter(Node.prototype, "textContent");
  var contains = method(Node.prototype, "contains");
  var assignedSlot = getter(Element.prototype, "assignedSlot");
  var innerHTML = getter(Element.prototype, "innerHTML");
  var innerText = getter(HTMLElement.prototype, "innerText");
  var outerHTML = getter(Element.prototype, "outerHTML");
  var attributesOf = getter(Element.prototype, "attributes");
  var scrollSize = {
    width: getter(Element.prototype, "scrollWidth"),
    height: getter(Element.prototype, "scrollHeight")
  };
  var setAttribute = method(Element.prototype, "setAttribute");
  var form = {
    action: getter(HTMLFormElement.prototype, "action"),
    elements: getter(HTMLFormElement.prototype, "elements")
  };
  var closest = method(Element.prototype, "closest");
  var checkVisibility = method(Element.prototype, "checkVisibility");
  var lineBoxesOf = method(Element.prototype, "getClientRects");
  var scrollIntoView = method(Element.prototype, "scrollIntoView");
  var queryElement = method(Element.prototype, "querySelectorAll");
  var queryDocument = method(Document.prototype, "querySelectorAll");
  var queryFragment = method(DocumentFragment.prototype, "querySelectorAll");
  var ELEMENT = 1;
  var TEXT = 3;
  var DOCUMENT = 9;
  function queryAll(root, selector) {
    const type = nodeType(root);
    if (type === ELEMENT) return queryElement(root, selector);
    if (type === DOCUMENT) return queryDocument(root, selector);
    return queryFragment(root, selector);
  }
  function isElement(node) {
    return node !== null && nodeType(node) === ELEMENT;
  }
  var page = {
    body: getter(Document.prototype, "body"),
    root: getter(Document.prototype, "documentElement"),
    active: getter(Document.prototype, "activeElement"),
    title: getter(Document.prototype, "title"),
    readyState: getter(Document.prototype, "readyState"),
    scroller: getter(Document.prototype, "scrollingElement"),
    fonts: getter(Document.prototype, "fonts"),
    byId: method(Document.prototype, "getElementById"),
    elementAt: method(Document.prototype, "elementFromPoint"),
    animations: method(Document.prototype, "getAnimations"),
    isHidden: getter(Document.prototype, "hidden"),
    create: method(Document.prototype, "createElement")
  };
  function isEmptyDocument() {
    return page.root(document) === null;
  }
  function rootElement() {
    const root = page.root(document);
    if (root === null) throw new PageError("NOT_FOUND", "The page has no content", { hint: "Wait until it has loaded." });
    return root;
  }
  function contentElement() {
    return page.body(document) ?? rootElement();
  }
  function focusedElement() {
    let focused = page.active(document);
    while (focused) {
      const inner = shadowRootOf(focused)?.activeElement ?? null;
      if (!inner) break;
      focused = inner;
    }
    return focused;
  }
  function isTrue(element2, attribute) {
    return getAttribute(element2, attribute)?.toLowerCase() === "true";
  }
  function collapseSpace(text2) {
    if (!/[\u00ad\u200b\u2060]|[^\S ]| {2}/.test(text2)) return text2;
    const visible = /[\u00ad\u200b\u2060]/.test(text2) ? text2.replace(/[\u00ad\u200b\u2060]+/g, "") : text2;
    return visible.replace(/ *[^\S ]\s*| {2,}/g, " ");
  }
  var WORD_CHARS = 200;
  function cut(text2, limit) {
    if (text2.length <= limit) return text2;
    const end = /[\ud800-\udbff]/.test(text2[limit - 2] ?? "") ? limit - 2 : limit - 1;
    const first = end - Math.min(WORD_CHARS, limit >> 1);
    for (let at = end; at > first; at--) if (/\s/.test(text2[at])) return text2.slice(0, at) + "…";
    return text2.slice(0, end) + "…";
  }

  // flat_tree.ts
  function slottedNodes(element2) {
    if (localName(element2) !== "slot" || shadowRootOf(element2) !== null) return null;
    const assigned = element2.assignedNodes?.() ?? [];
    return assigned.length > 0 ? assigned : null;
  }
  function firstFlatChild(element2) {
    return firstChild(shadowRootOf(element2) ?? element2);
  }
  function forEachFlatChild(element2, visit) {
    const slotted = slottedNodes(element2);
    if (slotted) slotted.forEach(visit);
    else for (let child = firstFlatChild(element2); child; child = nextSibling(child)) visit(child);
  }
  function flatParent(node) {
    const slot = nodeType(node) === ELEMENT ? assignedSlot(node) : null;
    if (slot) return slot;
    const parent = parentNode(node);
    if (parent === null) return null;
    if (isElement(parent)) return parent;
    return parent.host ?? null;
  }
  function isWithin(inner, outer) {
    for (let at = inner; at; at = flatParent(at)) if (at === outer) return true;
    return false;
  }
  function openRoots(from = document) {
    const roots = [from];
    const own = isElement(from) ? shadowRootOf(from) : null;
    if (own) roots.push(own);
    for (let index = 0; index < roots.length; index += 1) {
      for (const element2 of queryAll(roots[index], "*")) {
        const shadow = shadowRootOf(element2);
        if (shadow) roots.push(shadow);
      }
    }
    return roots;
  }

  // geometry.ts
  function boxAsData(box) {
    return { x: rounded(box.x), y: rounded(box.y), width: rounded(box.width), height: rounded(box.height) };
  }
  function rounded(value) {
    return Math.round(value * 100) / 100;
  }
  function isSameBox(left, right) {
    return left.x === right.x && left.y === right.y && left.width === right.width && left.height === right.height;
  }
  function isInViewport({ x, y }) {
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  }
  function viewport() {
    return { width: innerWidth, height: innerHeight };
  }
  function isInView(box) {
    return box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  }
  function* clickPoints(element2) {
    const box = boxOf(element2);
    yield middle(box);
    const lines = lineBoxesOf(element2);
    if (lines.length > 1) {
      for (const line of Array.from(lines).slice(0, 8)) if (line.width > 0 && line.height > 0) yield middle(line);
    }
    for (const [across, down] of [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]) {
      yield { x: box.x + box.width * across, y: box.y + box.height * down };
    }
  }
  function middle(box) {
    const left = Math.max(box.left, Math.min(0, box.right));
    const top = Math.max(box.top, Math.min(0, box.bottom));
    const right = Math.min(box.right, Math.max(innerWidth, box.left));
    const bottom = Math.min(box.bottom, Math.max(innerHeight, box.top));
    return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  function elementAt({ x, y }) {
    let hit = page.elementAt(document, x, y);
    for (let shadow = hit && shadowRootOf(hit); shadow; shadow = hit && shadowRootOf(hit)) {
      const inner = shadow.elementFromPoint(x, y);
      if (!inner || inner === hit || !shadow.contains(inner)) break;
      hit = inner;
    }
    return hit;
  }

  // budget.ts
  var DEFAULT_MS = 8e3;
  var READING_SHARE = 0.6;
  var STEPS_BETWEEN_LOOKS = 16;
  var readingEnds = Infinity;
  var allEnds = Infinity;
  var isOver = false;
  var steps = 0;
  var work = 0;
  function startBudget(ms = DEFAULT_MS) {
    const now = performance.now();
    readingEnds = now + ms * READING_SHARE;
    allEnds = now + ms;
    isOver = false;
    work += 1;
  }
  function isReadingOver() {
    if (isOver) return true;
    steps = (steps + 1) % STEPS_BETWEEN_LOOKS;
    if (steps === 0) isOver = performance.now() > readingEnds;
    return isOver;
  }
  function wasCut() {
    return isOver;
  }
  function isTimeUp() {
    return performance.now() > allEnds;
  }
  function oncePerBudget(make) {
    let madeFor = -1;
    let made;
    return () => {
      if (madeFor !== work) {
        made = make();
        madeFor = work;
      }
      return made;
    };
  }

  // moments.ts
  var SLOW_FRAME_MS = 100;
  function nextFrame(limitMs = SLOW_FRAME_MS) {
    return new Promise((resolve2) => {
      const timer = setTimeout(resolve2, limitMs);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve2();
      });
    });
  }
  async function pause(args) {
    await new Promise((resolve2) => setTimeout(resolve2, optionalNumber(args, "ms", 0, 1e3) ?? 0));
    return {};
  }
  function nextTask() {
    return new Promise((resolve2) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve2();
      };
      port2.postMessage(null);
    });
  }
  var EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true };
  var TELLING_EVENTS = [
    "animationend",
    "change",
    "focusin",
    "fullscreenchange",
    "hashchange",
    "input",
    "load",
    "popstate",
    "resize",
    "scroll",
    "toggle",
    "transitionend",
    "transitioncancel"
  ];
  var ChangeWatch = class {
    hasChanged = false;
    wake = null;
    observer = new MutationObserver(() => this.changed());
    changed = () => {
      this.hasChanged = true;
      this.wake?.();
    };
    navigation = window.navigation;
    constructor() {
      this.observeRoots();
      for (const name of TELLING_EVENTS) window.addEventListener(name, this.changed, { capture: true, passive: true });
      this.navigation?.addEventListener("currententrychange", this.changed);
    }
    /** Wait for a change. Return false if the deadline passes first. */
    async next(deadline) {
      if (!this.hasChanged) {
        await new Promise((resolve2) => {
          const timer = setTimeout(resolve2, Math.max(0, deadline - performance.now()));
          this.wake = () => {
            clearTimeout(timer);
            resolve2();
          };
        });
      }
      this.wake = null;
      const changed = this.hasChanged;
      this.hasChanged = false;
      if (changed) this.observeRoots();
      return changed;
    }
    /** Changes may bring new shadow roots. Observing a root again has no effect. */
    observeRoots() {
      for (const root of openRoots()) this.observer.observe(root, EVERYTHING);
    }
    stop() {
      this.observer.disconnect();
      for (const name of TELLING_EVENTS) window.removeEventListener(name, this.changed, { capture: true });
      this.navigation?.removeEventListener("currententrychange", this.changed);
    }
  };
  async function untilPresent(check, timeoutMs) {
    const look = () => {
      startBudget();
      return check();
    };
    const first = await look();
    if (first !== null || timeoutMs <= 0) return first;
    const deadline = performance.now() + timeoutMs;
    const watch2 = new ChangeWatch();
    try {
      for (; ; ) {
        const isOver2 = !await watch2.next(deadline);
        const begun = performance.now();
        const found2 = await look();
        if (found2 !== null || isOver2 || performance.now() >= deadline) return found2;
        await rest(performance.now() - begun);
      }
    } finally {
      watch2.stop();
    }
  }
  async function rest(lookMs) {
    await nextFrame();
    if (lookMs > SLOW_FRAME_MS) await new Promise((resolve2) => setTimeout(resolve2, lookMs));
  }

  // node_modules/dom-accessibility-api/dist/polyfills/array.from.mjs
  var toStr = Object.prototype.toString;
  function isCallable(fn) {
    return typeof fn === "function" || toStr.call(fn) === "[object Function]";
  }
  function toInteger(value) {
    var number2 = Number(value);
    if (isNaN(number2)) {
      return 0;
    }
    if (number2 === 0 || !isFinite(number2)) {
      return number2;
    }
    return (number2 > 0 ? 1 : -1) * Math.floor(Math.abs(number2));
  }
  var maxSafeInteger = Math.pow(2, 53) - 1;
  function toLength(value) {
    var len = toInteger(value);
    return Math.min(Math.max(len, 0), maxSafeInteger);
  }
  function arrayFrom(arrayLike, mapFn) {
    var C = Array;
    var items = Object(arrayLike);
    if (arrayLike == null) {
      throw new TypeError("Array.from requires an array-like object - not null or undefined");
    }
    if (typeof mapFn !== "undefined") {
      if (!isCallable(mapFn)) {
        throw new TypeError("Array.from: when provided, the second argument must be a function");
      }
    }
    var len = toLength(items.length);
    var A = isCallable(C) ? Object(new C(len)) : new Array(len);
    var k = 0;
    var kValue;
    while (k < len) {
      kValue = items[k];
      if (mapFn) {
        A[k] = mapFn(kValue, k);
      } else {
        A[k] = kValue;
      }
      k += 1;
    }
    A.length = len;
    return A;
  }

  // node_modules/dom-accessibility-api/dist/polyfills/SetLike.mjs
  function _typeof(o) {
    "@babel/helpers - typeof";
    return _typeof = "function" == typeof Symbol && "symbol" == typeof Symbol.iterator ? function(o2) {
      return typeof o2;
    } : function(o2) {
      return o2 && "function" == typeof Symbol && o2.constructor === Symbol && o2 !== Symbol.prototype ? "symbol" : typeof o2;
    }, _typeof(o);
  }
  function _classCallCheck(instance, Constructor) {
    if (!(instance instanceof Constructor)) {
      throw new TypeError("Cannot call a class as a function");
    }
  }
  function _defineProperties(target, props) {
    for (var i = 0; i < props.length; i++) {
      var descriptor = props[i];
      descriptor.enumerable = descriptor.enumerable || false;
      descriptor.configurable = true;
      if ("value" in descriptor) descriptor.writable = true;
      Object.defineProperty(target, _toPropertyKey(descriptor.key), descriptor);
    }
  }
  function _createClass(Constructor, protoProps, staticProps) {
    if (protoProps) _defineProperties(Constructor.prototype, protoProps);
    if (staticProps) _defineProperties(Constructor, staticProps);
    Object.defineProperty(Constructor, "prototype", { writable: false });
    return Constructor;
  }
  function _defineProperty(obj, key, value) {
    key = _toPropertyKey(key);
    if (key in obj) {
      Object.defineProperty(obj, key, { value, enumerable: true, configurable: true, writable: true });
    } else {
      obj[key] = value;
    }
    return obj;
  }
  function _toPropertyKey(t) {
    var i = _toPrimitive(t, "string");
    return "symbol" == _typeof(i) ? i : i + "";
  }
  function _toPrimitive(t, r) {
    if ("object" != _typeof(t) || !t) return t;
    var e = t[Symbol.toPrimitive];
    if (void 0 !== e) {
      var i = e.call(t, r || "default");
      if ("object" != _typeof(i)) return i;
      throw new TypeError("@@toPrimitive must return a primitive value.");
    }
    return ("string" === r ? String : Number)(t);
  }
  var SetLike = /* @__PURE__ */ (function() {
    function SetLike2() {
      var items = arguments.length > 0 && arguments[0] !== void 0 ? arguments[0] : [];
      _classCallCheck(this, SetLike2);
      _defineProperty(this, "items", void 0);
      this.items = items;
    }
    return _createClass(SetLike2, [{
      key: "add",
      value: function add(value) {
        if (this.has(value) === false) {
          this.items.push(value);
        }
        return this;
      }
    }, {
      key: "clear",
      value: function clear() {
        this.items = [];
      }
    }, {
      key: "delete",
      value: function _delete(value) {
        var previousLength = this.items.length;
        this.items = this.items.filter(function(item) {
          return item !== value;
        });
        return previousLength !== this.items.length;
      }
    }, {
      key: "forEach",
      value: function forEach(callbackfn) {
        var _this = this;
        this.items.forEach(function(item) {
          callbackfn(item, item, _this);
        });
      }
    }, {
      key: "has",
      value: function has(value) {
        return this.items.indexOf(value) !== -1;
      }
    }, {
      key: "size",
      get: function get2() {
        return this.items.length;
      }
    }]);
  })();
  var SetLike_default = typeof Set === "undefined" ? Set : SetLike;

  // node_modules/dom-accessibility-api/dist/getRole.mjs
  function getLocalName(element2) {
    var _element$localName;
    return (
      // eslint-disable-next-line no-restricted-properties -- actual guard for environments without localName
      (_element$localName = element2.localName) !== null && _element$localName !== void 0 ? _element$localName : (
        // eslint-disable-next-line no-restricted-properties -- required for the fallback
        element2.tagName.toLowerCase()
      )
    );
  }
  var localNameToRoleMappings = {
    article: "article",
    aside: "complementary",
    button: "button",
    datalist: "listbox",
    dd: "definition",
    details: "group",
    dialog: "dialog",
    dt: "term",
    fieldset: "group",
    figure: "figure",
    // WARNING: Only with an accessible name
    form: "form",
    footer: "contentinfo",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    header: "banner",
    hr: "separator",
    html: "document",
    legend: "legend",
    li: "listitem",
    math: "math",
    main: "main",
    menu: "list",
    nav: "navigation",
    ol: "list",
    optgroup: "group",
    // WARNING: Only in certain context
    option: "option",
    output: "status",
    progress: "progressbar",
    // WARNING: Only with an accessible name
    section: "region",
    summary: "button",
    table: "table",
    tbody: "rowgroup",
    textarea: "textbox",
    tfoot: "rowgroup",
    // WARNING: Only in certain context
    td: "cell",
    th: "columnheader",
    thead: "rowgroup",
    tr: "row",
    ul: "list"
  };
  var prohibitedAttributes = {
    caption: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    code: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    deletion: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    emphasis: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    generic: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby", "aria-roledescription"]),
    insertion: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    none: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    paragraph: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    presentation: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    strong: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    subscript: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"]),
    superscript: /* @__PURE__ */ new Set(["aria-label", "aria-labelledby"])
  };
  function hasGlobalAriaAttributes(element2, role) {
    return [
      "aria-atomic",
      "aria-busy",
      "aria-controls",
      "aria-current",
      "aria-description",
      "aria-describedby",
      "aria-details",
      // "disabled",
      "aria-dropeffect",
      // "errormessage",
      "aria-flowto",
      "aria-grabbed",
      // "haspopup",
      "aria-hidden",
      // "invalid",
      "aria-keyshortcuts",
      "aria-label",
      "aria-labelledby",
      "aria-live",
      "aria-owns",
      "aria-relevant",
      "aria-roledescription"
    ].some(function(attributeName) {
      var _prohibitedAttributes;
      return element2.hasAttribute(attributeName) && !((_prohibitedAttributes = prohibitedAttributes[role]) !== null && _prohibitedAttributes !== void 0 && _prohibitedAttributes.has(attributeName));
    });
  }
  function ignorePresentationalRole(element2, implicitRole2) {
    return hasGlobalAriaAttributes(element2, implicitRole2);
  }
  function getRole(element2) {
    var explicitRole2 = getExplicitRole(element2);
    if (explicitRole2 === null || presentationRoles.indexOf(explicitRole2) !== -1) {
      var implicitRole2 = getImplicitRole(element2);
      if (presentationRoles.indexOf(explicitRole2 || "") === -1 || ignorePresentationalRole(element2, implicitRole2 || "")) {
        return implicitRole2;
      }
    }
    return explicitRole2;
  }
  function getImplicitRole(element2) {
    var mappedByTag = localNameToRoleMappings[getLocalName(element2)];
    if (mappedByTag !== void 0) {
      return mappedByTag;
    }
    switch (getLocalName(element2)) {
      case "a":
      case "area":
      case "link":
        if (element2.hasAttribute("href")) {
          return "link";
        }
        break;
      case "img":
        if (element2.getAttribute("alt") === "" && !ignorePresentationalRole(element2, "img")) {
          return "presentation";
        }
        return "img";
      case "input": {
        var _ref = element2, type = _ref.type;
        switch (type) {
          case "button":
          case "image":
          case "reset":
          case "submit":
            return "button";
          case "checkbox":
          case "radio":
            return type;
          case "range":
            return "slider";
          case "email":
          case "tel":
          case "text":
          case "url":
            if (element2.hasAttribute("list")) {
              return "combobox";
            }
            return "textbox";
          case "search":
            if (element2.hasAttribute("list")) {
              return "combobox";
            }
            return "searchbox";
          case "number":
            return "spinbutton";
          default:
            return null;
        }
      }
      case "select":
        if (element2.hasAttribute("multiple") || element2.size > 1) {
          return "listbox";
        }
        return "combobox";
    }
    return null;
  }
  function getExplicitRole(element2) {
    var role = element2.getAttribute("role");
    if (role !== null) {
      var explicitRole2 = role.trim().split(" ")[0];
      if (explicitRole2.length > 0) {
        return explicitRole2;
      }
    }
    return null;
  }

  // node_modules/dom-accessibility-api/dist/util.mjs
  var presentationRoles = ["presentation", "none"];
  function isElement2(node) {
    return node !== null && node.nodeType === node.ELEMENT_NODE;
  }
  function isHTMLTableCaptionElement(node) {
    return isElement2(node) && getLocalName(node) === "caption";
  }
  function isHTMLInputElement(node) {
    return isElement2(node) && getLocalName(node) === "input";
  }
  function isHTMLOptGroupElement(node) {
    return isElement2(node) && getLocalName(node) === "optgroup";
  }
  function isHTMLSelectElement(node) {
    return isElement2(node) && getLocalName(node) === "select";
  }
  function isHTMLTableElement(node) {
    return isElement2(node) && getLocalName(node) === "table";
  }
  function isHTMLTextAreaElement(node) {
    return isElement2(node) && getLocalName(node) === "textarea";
  }
  function safeWindow(node) {
    var _ref = node.ownerDocument === null ? node : node.ownerDocument, defaultView = _ref.defaultView;
    if (defaultView === null) {
      throw new TypeError("no window available");
    }
    return defaultView;
  }
  function isHTMLFieldSetElement(node) {
    return isElement2(node) && getLocalName(node) === "fieldset";
  }
  function isHTMLLegendElement(node) {
    return isElement2(node) && getLocalName(node) === "legend";
  }
  function isHTMLSlotElement(node) {
    return isElement2(node) && getLocalName(node) === "slot";
  }
  function isSVGElement(node) {
    return isElement2(node) && node.ownerSVGElement !== void 0;
  }
  function isSVGSVGElement(node) {
    return isElement2(node) && getLocalName(node) === "svg";
  }
  function isSVGTitleElement(node) {
    return isSVGElement(node) && getLocalName(node) === "title";
  }
  function queryIdRefs(node, attributeName) {
    if (isElement2(node) && node.hasAttribute(attributeName)) {
      var ids = node.getAttribute(attributeName).split(" ");
      var root = node.getRootNode ? node.getRootNode() : node.ownerDocument;
      return ids.map(function(id) {
        return root.getElementById(id);
      }).filter(
        function(element2) {
          return element2 !== null;
        }
        // TODO: why does this not narrow?
      );
    }
    return [];
  }
  function hasAnyConcreteRoles(node, roles) {
    if (isElement2(node)) {
      return roles.indexOf(getRole(node)) !== -1;
    }
    return false;
  }

  // node_modules/dom-accessibility-api/dist/accessible-name-and-description.mjs
  function asFlatString(s) {
    return s.trim().replace(/\s\s+/g, " ");
  }
  function isHidden(node, getComputedStyleImplementation) {
    if (!isElement2(node)) {
      return false;
    }
    if (node.hasAttribute("hidden") || node.getAttribute("aria-hidden") === "true") {
      return true;
    }
    var style = getComputedStyleImplementation(node);
    return style.getPropertyValue("display") === "none" || style.getPropertyValue("visibility") === "hidden";
  }
  function isControl(node) {
    return hasAnyConcreteRoles(node, ["button", "combobox", "listbox", "textbox"]) || hasAbstractRole(node, "range");
  }
  function hasAbstractRole(node, role) {
    if (!isElement2(node)) {
      return false;
    }
    switch (role) {
      case "range":
        return hasAnyConcreteRoles(node, ["meter", "progressbar", "scrollbar", "slider", "spinbutton"]);
      default:
        throw new TypeError("No knowledge about abstract role '".concat(role, "'. This is likely a bug :("));
    }
  }
  function querySelectorAllSubtree(element2, selectors) {
    var elements2 = arrayFrom(element2.querySelectorAll(selectors));
    queryIdRefs(element2, "aria-owns").forEach(function(root) {
      elements2.push.apply(elements2, arrayFrom(root.querySelectorAll(selectors)));
    });
    return elements2;
  }
  function querySelectedOptions(listbox) {
    if (isHTMLSelectElement(listbox)) {
      return listbox.selectedOptions || querySelectorAllSubtree(listbox, "[selected]");
    }
    return querySelectorAllSubtree(listbox, '[aria-selected="true"]');
  }
  function isMarkedPresentational(node) {
    return hasAnyConcreteRoles(node, presentationRoles);
  }
  function isNativeHostLanguageTextAlternativeElement(node) {
    return isHTMLTableCaptionElement(node);
  }
  function allowsNameFromContent(node) {
    return hasAnyConcreteRoles(node, ["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "label", "legend", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem"]);
  }
  function isDescendantOfNativeHostLanguageTextAlternativeElement(node) {
    return false;
  }
  function getValueOfTextbox(element2) {
    if (isHTMLInputElement(element2) || isHTMLTextAreaElement(element2)) {
      return element2.value;
    }
    return element2.textContent || "";
  }
  function getTextualContent(declaration) {
    var content2 = declaration.getPropertyValue("content");
    if (/^["'].*["']$/.test(content2)) {
      return content2.slice(1, -1);
    }
    return "";
  }
  function isLabelableElement(element2) {
    var localName2 = getLocalName(element2);
    return localName2 === "button" || localName2 === "input" && element2.getAttribute("type") !== "hidden" || localName2 === "meter" || localName2 === "output" || localName2 === "progress" || localName2 === "select" || localName2 === "textarea";
  }
  function findLabelableElement(element2) {
    if (isLabelableElement(element2)) {
      return element2;
    }
    var labelableElement = null;
    element2.childNodes.forEach(function(childNode) {
      if (labelableElement === null && isElement2(childNode)) {
        var descendantLabelableElement = findLabelableElement(childNode);
        if (descendantLabelableElement !== null) {
          labelableElement = descendantLabelableElement;
        }
      }
    });
    return labelableElement;
  }
  function getControlOfLabel(label) {
    if (label.control !== void 0) {
      return label.control;
    }
    var htmlFor = label.getAttribute("for");
    if (htmlFor !== null) {
      return label.ownerDocument.getElementById(htmlFor);
    }
    return findLabelableElement(label);
  }
  function getLabels(element2) {
    var labelsProperty = element2.labels;
    if (labelsProperty === null) {
      return labelsProperty;
    }
    if (labelsProperty !== void 0) {
      return arrayFrom(labelsProperty);
    }
    if (!isLabelableElement(element2)) {
      return null;
    }
    var document2 = element2.ownerDocument;
    return arrayFrom(document2.querySelectorAll("label")).filter(function(label) {
      return getControlOfLabel(label) === element2;
    });
  }
  function getSlotContents(slot) {
    var assignedNodes = slot.assignedNodes();
    if (assignedNodes.length === 0) {
      return arrayFrom(slot.childNodes);
    }
    return assignedNodes;
  }
  function computeTextAlternative(root) {
    var options = arguments.length > 1 && arguments[1] !== void 0 ? arguments[1] : {};
    var consultedNodes = new SetLike_default();
    var computedStyles = typeof Map === "undefined" ? void 0 : /* @__PURE__ */ new Map();
    var window2 = safeWindow(root);
    var _options$compute = options.compute, compute = _options$compute === void 0 ? "name" : _options$compute, _options$computedStyl = options.computedStyleSupportsPseudoElements, computedStyleSupportsPseudoElements = _options$computedStyl === void 0 ? options.getComputedStyle !== void 0 : _options$computedStyl, _options$getComputedS = options.getComputedStyle, uncachedGetComputedStyle = _options$getComputedS === void 0 ? window2.getComputedStyle.bind(window2) : _options$getComputedS, _options$hidden = options.hidden, hidden = _options$hidden === void 0 ? false : _options$hidden;
    var getComputedStyle2 = function getComputedStyle3(el, pseudoElement) {
      if (pseudoElement !== void 0) {
        throw new Error("use uncachedGetComputedStyle directly for pseudo elements");
      }
      if (computedStyles === void 0) {
        return uncachedGetComputedStyle(el);
      }
      var cachedStyles = computedStyles.get(el);
      if (cachedStyles) {
        return cachedStyles;
      }
      var style = uncachedGetComputedStyle(el, pseudoElement);
      computedStyles.set(el, style);
      return style;
    };
    function computeMiscTextAlternative(node, context) {
      var accumulatedText = "";
      if (isElement2(node) && computedStyleSupportsPseudoElements) {
        var pseudoBefore = uncachedGetComputedStyle(node, "::before");
        var beforeContent = getTextualContent(pseudoBefore);
        accumulatedText = "".concat(beforeContent, " ").concat(accumulatedText);
      }
      var childNodes = isHTMLSlotElement(node) ? getSlotContents(node) : arrayFrom(node.childNodes).concat(queryIdRefs(node, "aria-owns"));
      childNodes.forEach(function(child) {
        var result = computeTextAlternative2(child, {
          isEmbeddedInLabel: context.isEmbeddedInLabel,
          isReferenced: false,
          recursion: true
        });
        var display = isElement2(child) ? getComputedStyle2(child).getPropertyValue("display") : "inline";
        var separator = display !== "inline" ? " " : "";
        accumulatedText += "".concat(separator).concat(result).concat(separator);
      });
      if (isElement2(node) && computedStyleSupportsPseudoElements) {
        var pseudoAfter = uncachedGetComputedStyle(node, "::after");
        var afterContent = getTextualContent(pseudoAfter);
        accumulatedText = "".concat(accumulatedText, " ").concat(afterContent);
      }
      return accumulatedText.trim();
    }
    function useAttribute(element2, attributeName) {
      var attribute = element2.getAttributeNode(attributeName);
      if (attribute !== null && !consultedNodes.has(attribute) && attribute.value.trim() !== "") {
        consultedNodes.add(attribute);
        return attribute.value;
      }
      return null;
    }
    function computeTooltipAttributeValue(node) {
      if (!isElement2(node)) {
        return null;
      }
      return useAttribute(node, "title");
    }
    function computeElementTextAlternative(node) {
      if (!isElement2(node)) {
        return null;
      }
      if (isHTMLFieldSetElement(node)) {
        consultedNodes.add(node);
        var children = arrayFrom(node.childNodes);
        for (var i = 0; i < children.length; i += 1) {
          var child = children[i];
          if (isHTMLLegendElement(child)) {
            return computeTextAlternative2(child, {
              isEmbeddedInLabel: false,
              isReferenced: false,
              recursion: false
            });
          }
        }
      } else if (isHTMLTableElement(node)) {
        consultedNodes.add(node);
        var _children = arrayFrom(node.childNodes);
        for (var _i = 0; _i < _children.length; _i += 1) {
          var _child = _children[_i];
          if (isHTMLTableCaptionElement(_child)) {
            return computeTextAlternative2(_child, {
              isEmbeddedInLabel: false,
              isReferenced: false,
              recursion: false
            });
          }
        }
      } else if (isSVGSVGElement(node)) {
        consultedNodes.add(node);
        var _children2 = arrayFrom(node.childNodes);
        for (var _i2 = 0; _i2 < _children2.length; _i2 += 1) {
          var _child2 = _children2[_i2];
          if (isSVGTitleElement(_child2)) {
            return _child2.textContent;
          }
        }
        return null;
      } else if (getLocalName(node) === "img" || getLocalName(node) === "area") {
        var nameFromAlt = useAttribute(node, "alt");
        if (nameFromAlt !== null) {
          return nameFromAlt;
        }
      } else if (isHTMLOptGroupElement(node)) {
        var nameFromLabel = useAttribute(node, "label");
        if (nameFromLabel !== null) {
          return nameFromLabel;
        }
      }
      if (isHTMLInputElement(node) && (node.type === "button" || node.type === "submit" || node.type === "reset")) {
        var nameFromValue = useAttribute(node, "value");
        if (nameFromValue !== null) {
          return nameFromValue;
        }
        if (node.type === "submit") {
          return "Submit";
        }
        if (node.type === "reset") {
          return "Reset";
        }
      }
      var labels = getLabels(node);
      if (labels !== null && labels.length !== 0) {
        consultedNodes.add(node);
        return arrayFrom(labels).map(function(element2) {
          return computeTextAlternative2(element2, {
            isEmbeddedInLabel: true,
            isReferenced: false,
            recursion: true
          });
        }).filter(function(label) {
          return label.length > 0;
        }).join(" ");
      }
      if (isHTMLInputElement(node) && node.type === "image") {
        var _nameFromAlt = useAttribute(node, "alt");
        if (_nameFromAlt !== null) {
          return _nameFromAlt;
        }
        var nameFromTitle = useAttribute(node, "title");
        if (nameFromTitle !== null) {
          return nameFromTitle;
        }
        return "Submit Query";
      }
      if (hasAnyConcreteRoles(node, ["button"])) {
        var nameFromSubTree = computeMiscTextAlternative(node, {
          isEmbeddedInLabel: false,
          isReferenced: false
        });
        if (nameFromSubTree !== "") {
          return nameFromSubTree;
        }
      }
      return null;
    }
    function computeTextAlternative2(current, context) {
      if (consultedNodes.has(current)) {
        return "";
      }
      if (!hidden && isHidden(current, getComputedStyle2) && !context.isReferenced) {
        consultedNodes.add(current);
        return "";
      }
      var labelAttributeNode = isElement2(current) ? current.getAttributeNode("aria-labelledby") : null;
      var labelElements = labelAttributeNode !== null && !consultedNodes.has(labelAttributeNode) ? queryIdRefs(current, "aria-labelledby") : [];
      if (compute === "name" && !context.isReferenced && labelElements.length > 0) {
        consultedNodes.add(labelAttributeNode);
        return labelElements.map(function(element2) {
          return computeTextAlternative2(element2, {
            isEmbeddedInLabel: context.isEmbeddedInLabel,
            isReferenced: true,
            // this isn't recursion as specified, otherwise we would skip
            // `aria-label` in
            // <input id="myself" aria-label="foo" aria-labelledby="myself"
            recursion: false
          });
        }).join(" ");
      }
      var skipToStep2E = context.recursion && isControl(current) && compute === "name";
      if (!skipToStep2E) {
        var ariaLabel = (isElement2(current) && current.getAttribute("aria-label") || "").trim();
        if (ariaLabel !== "" && compute === "name") {
          consultedNodes.add(current);
          return ariaLabel;
        }
        if (!isMarkedPresentational(current)) {
          var elementTextAlternative = computeElementTextAlternative(current);
          if (elementTextAlternative !== null) {
            consultedNodes.add(current);
            return elementTextAlternative;
          }
        }
      }
      if (hasAnyConcreteRoles(current, ["menu"])) {
        consultedNodes.add(current);
        return "";
      }
      if (skipToStep2E || context.isEmbeddedInLabel || context.isReferenced) {
        if (hasAnyConcreteRoles(current, ["combobox", "listbox"])) {
          consultedNodes.add(current);
          var selectedOptions = querySelectedOptions(current);
          if (selectedOptions.length === 0) {
            return isHTMLInputElement(current) ? current.value : "";
          }
          return arrayFrom(selectedOptions).map(function(selectedOption) {
            return computeTextAlternative2(selectedOption, {
              isEmbeddedInLabel: context.isEmbeddedInLabel,
              isReferenced: false,
              recursion: true
            });
          }).join(" ");
        }
        if (hasAbstractRole(current, "range")) {
          consultedNodes.add(current);
          if (current.hasAttribute("aria-valuetext")) {
            return current.getAttribute("aria-valuetext");
          }
          if (current.hasAttribute("aria-valuenow")) {
            return current.getAttribute("aria-valuenow");
          }
          return current.getAttribute("value") || "";
        }
        if (hasAnyConcreteRoles(current, ["textbox"])) {
          consultedNodes.add(current);
          return getValueOfTextbox(current);
        }
      }
      if (allowsNameFromContent(current) || isElement2(current) && context.isReferenced || isNativeHostLanguageTextAlternativeElement(current) || isDescendantOfNativeHostLanguageTextAlternativeElement(current)) {
        var accumulatedText2F = computeMiscTextAlternative(current, {
          isEmbeddedInLabel: context.isEmbeddedInLabel,
          isReferenced: false
        });
        if (accumulatedText2F !== "") {
          consultedNodes.add(current);
          return accumulatedText2F;
        }
      }
      if (current.nodeType === current.TEXT_NODE) {
        consultedNodes.add(current);
        return current.textContent || "";
      }
      if (context.recursion) {
        consultedNodes.add(current);
        return computeMiscTextAlternative(current, {
          isEmbeddedInLabel: context.isEmbeddedInLabel,
          isReferenced: false
        });
      }
      var tooltipAttributeValue = computeTooltipAttributeValue(current);
      if (tooltipAttributeValue !== null) {
        consultedNodes.add(current);
        return tooltipAttributeValue;
      }
      consultedNodes.add(current);
      return "";
    }
    return asFlatString(computeTextAlternative2(root, {
      isEmbeddedInLabel: false,
      // by spec computeAccessibleDescription starts with the referenced elements as roots
      isReferenced: compute === "description",
      recursion: false
    }));
  }

  // node_modules/dom-accessibility-api/dist/accessible-name.mjs
  function prohibitsNaming(node) {
    return hasAnyConcreteRoles(node, ["caption", "code", "deletion", "emphasis", "generic", "insertion", "none", "paragraph", "presentation", "strong", "subscript", "superscript"]);
  }
  function computeAccessibleName(root) {
    var options = arguments.length > 1 && arguments[1] !== void 0 ? arguments[1] : {};
    if (prohibitsNaming(root)) {
      return "";
    }
    return computeTextAlternative(root, options);
  }

  // roles.ts
  var KNOWN_ROLES = new Set(
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading img image insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem".split(" ")
  );
  var INTERACTIVE_ROLES = new Set(
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox slider spinbutton switch tab textbox treeitem".split(" ")
  );
  var TEXT_LEVEL_ROLES = new Set(
    "generic none presentation caption code deletion emphasis insertion mark strong subscript superscript time".split(" ")
  );
  var NAMED_BY_CONTENT = new Set(
    "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio rowheader switch tab tooltip treeitem".split(" ")
  );
  var LANDMARK_ROLES = new Set(
    "banner complementary contentinfo form main navigation region search".split(" ")
  );
  var SCOPE_ROLES = new Set(
    "alert alertdialog article dialog feed figure grid heading iframe img log menu menubar radiogroup status table tablist tabpanel toolbar tree treegrid video audio canvas".split(" ")
  );
  var isInteractiveRole = (role) => INTERACTIVE_ROLES.has(role);
  var isTextLevelRole = (role) => TEXT_LEVEL_ROLES.has(role);
  var isNamedByContent = (role) => NAMED_BY_CONTENT.has(role);
  var isScopeRole = (role) => SCOPE_ROLES.has(role) || LANDMARK_ROLES.has(role);
  var ROLE_OF_TAG = {
    article: "article",
    audio: "audio",
    blockquote: "blockquote",
    button: "button",
    canvas: "canvas",
    datalist: "listbox",
    dd: "definition",
    details: "group",
    dialog: "dialog",
    dt: "term",
    fieldset: "group",
    figure: "figure",
    frame: "iframe",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    hr: "separator",
    iframe: "iframe",
    li: "listitem",
    main: "main",
    math: "math",
    menu: "list",
    meter: "meter",
    nav: "navigation",
    ol: "list",
    optgroup: "group",
    option: "option",
    output: "status",
    p: "paragraph",
    progress: "progressbar",
    search: "search",
    table: "table",
    tbody: "rowgroup",
    textarea: "textbox",
    tfoot: "rowgroup",
    thead: "rowgroup",
    tr: "row",
    ul: "list",
    video: "video"
  };
  var ROLE_OF_INPUT = {
    button: "button",
    checkbox: "checkbox",
    file: "button",
    hidden: "none",
    image: "button",
    number: "spinbutton",
    radio: "radio",
    range: "slider",
    reset: "button",
    search: "searchbox",
    submit: "button"
  };
  var SECTIONING = "article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]";
  var isKnownRole = (role) => KNOWN_ROLES.has(role);
  var TAGS_OF_ROLE = {
    banner: "header",
    button: "input, summary",
    cell: "td",
    checkbox: "input",
    columnheader: "th",
    combobox: "select, input",
    complementary: "aside",
    contentinfo: "footer",
    form: "form",
    gridcell: "td",
    img: "img, svg",
    link: "a, area",
    listbox: "select",
    radio: "input",
    region: "section",
    rowheader: "th",
    searchbox: "input",
    slider: "input",
    spinbutton: "input",
    textbox: "input, [contenteditable]"
  };
  function candidatesForRole(role) {
    if (role === "generic" || role === "none") return "*";
    const tags = Object.keys(ROLE_OF_TAG).filter((tag) => ROLE_OF_TAG[tag] === role);
    return ["[role]", ...tags, ...TAGS_OF_ROLE[role] ? [TAGS_OF_ROLE[role]] : []].join(", ");
  }
  function roleOf(element2) {
    const explicit = explicitRole(element2);
    const isVoid = explicit === "none" && (isFocusableByAuthor(element2) || isNamedByAuthor(element2));
    if (explicit !== null && !isVoid) return explicit;
    const implicit = implicitRole(element2);
    return implicit === "generic" && isEditingHost(element2) ? "textbox" : implicit;
  }
  function explicitRole(element2) {
    const attribute = getAttribute(element2, "role");
    if (attribute === null) return null;
    const role = attribute.toLowerCase().split(/\s+/).find((token) => KNOWN_ROLES.has(token));
    if (role === void 0) return null;
    return role === "presentation" ? "none" : role === "image" ? "img" : role;
  }
  function implicitRole(element2) {
    const tag = localName(element2);
    switch (tag) {
      case "a":
      case "area":
        return hasAttribute(element2, "href") ? "link" : "generic";
      case "input":
        return roleOfInput(element2);
      case "select":
        return element2.multiple || element2.size > 1 ? "listbox" : "combobox";
      case "img":
        return getAttribute(element2, "alt") === "" && !isNamedByAuthor(element2) ? "none" : "img";
      case "svg":
        return isNamedByAuthor(element2) || hasSvgTitle(element2) ? "img" : "generic";
      case "summary":
        return isSummaryOfDetails(element2) ? "button" : "generic";
      case "header":
        return closest(element2, SECTIONING) ? "generic" : "banner";
      case "footer":
        return closest(element2, SECTIONING) ? "generic" : "contentinfo";
      case "aside":
        return isNamedByAuthor(element2) || !isInSection(element2) ? "complementary" : "generic";
      case "section":
        return isNamedByAuthor(element2) ? "region" : "generic";
      case "form":
        return isNamedByAuthor(element2) ? "form" : "generic";
      case "li":
        return isInPresentationalList(element2) ? "none" : "listitem";
      case "tbody":
      case "thead":
      case "tfoot":
      case "tr":
      case "td":
      case "th":
        return roleInTable(element2, tag);
      default:
        return ROLE_OF_TAG[tag] ?? "generic";
    }
  }
  function roleOfInput(input) {
    const role = ROLE_OF_INPUT[input.type] ?? "textbox";
    return (role === "textbox" || role === "searchbox") && hasAttribute(input, "list") ? "combobox" : role;
  }
  function roleInTable(element2, tag) {
    const table2 = closest(element2, "table");
    const tableRole = table2 ? explicitRole(table2) : null;
    if (tableRole === "none") return "none";
    if (tag === "td") return tableRole === "grid" || tableRole === "treegrid" ? "gridcell" : "cell";
    if (tag === "th") return roleOfHeaderCell(element2);
    return ROLE_OF_TAG[tag];
  }
  function roleOfHeaderCell(cell) {
    const scope = getAttribute(cell, "scope");
    if (scope === "row" || scope === "rowgroup") return "rowheader";
    if (scope === "col" || scope === "colgroup") return "columnheader";
    return cell.nextElementSibling?.localName === "td" ? "rowheader" : "columnheader";
  }
  function isInPresentationalList(item) {
    const list2 = parentNode(item);
    return isElement(list2) && explicitRole(list2) === "none";
  }
  function isSummaryOfDetails(summary) {
    const details = summary.parentElement;
    return details?.localName === "details" && details.querySelector(":scope > summary") === summary;
  }
  function hasSvgTitle(svg) {
    for (const child of svg.children) if (child.localName === "title") return true;
    return false;
  }
  function isInSection(aside) {
    const parent = aside.parentElement;
    return parent !== null && closest(parent, SECTIONING) !== null;
  }
  function isNamedByAuthor(element2) {
    return Boolean(getAttribute(element2, "aria-label")?.trim()) || hasAttribute(element2, "aria-labelledby") || Boolean(getAttribute(element2, "title")?.trim());
  }
  function isEditingHost(element2) {
    const value = getAttribute(element2, "contenteditable")?.toLowerCase();
    return value === "" || value === "true" || value === "plaintext-only";
  }
  function isFocusableByAuthor(element2) {
    const tabindex = getAttribute(element2, "tabindex");
    if (tabindex !== null && Number.parseInt(tabindex, 10) >= 0) return true;
    switch (localName(element2)) {
      case "a":
      case "area":
        return hasAttribute(element2, "href");
      case "button":
      case "input":
      case "select":
      case "textarea":
        return !hasAttribute(element2, "disabled");
      default:
        return isEditingHost(element2);
    }
  }

  // secrets.ts
  var onceSeenAsPassword = /* @__PURE__ */ new WeakSet();
  var filled = /* @__PURE__ */ new Set();
  function holdSecret(element2) {
    if (filled.size === 0) for (const kind of TAKING_EVENTS) window.addEventListener(kind, keepHere, { capture: true });
    filled.add(element2);
  }
  var TAKING_EVENTS = ["copy", "cut", "dragstart"];
  function keepHere(event) {
    if (event.type === "dragstart" && event.target instanceof Element && closest(event.target, "[draggable=true]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  function secretFields() {
    return Array.from(filled);
  }
  function holdsSecret(element2) {
    return filled.has(element2);
  }
  function isSecretField(element2) {
    if (holdsSecret(element2)) return true;
    if (localName(element2) !== "input") return false;
    const input = element2;
    if (input.type === "password" || /(current|new)-password/i.test(getAttribute(input, "autocomplete") ?? "")) {
      onceSeenAsPassword.add(input);
    }
    return onceSeenAsPassword.has(input);
  }
  function hasFilledPassword(element2) {
    const form2 = element2 && formOf(element2);
    return openRoots().flatMap((root) => Array.from(queryAll(root, "input"))).some(
      (input) => isSecretField(input) && input.value !== "" && (element2 === null || formOf(input) === form2)
    );
  }
  function formOf(element2) {
    const owner = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element2), "form")?.get?.call(element2);
    return owner ?? closest(element2, "form");
  }
  var SECRET_ATTRIBUTE = /passw|pwd|token|api[-_]?key|secret|credential|nonce|csrf|jwt|session/i;
  function isSecretAttribute(element2, name) {
    return SECRET_ATTRIBUTE.test(name) || name === "value" && (isSecretField(element2) || hasSecretName(element2));
  }
  function hasSecretName(element2) {
    return SECRET_ATTRIBUTE.test(getAttribute(element2, "name") ?? "");
  }

  // names.ts
  var NATIVELY_NAMED = /* @__PURE__ */ new Set([
    "area",
    "button",
    "fieldset",
    "figure",
    "iframe",
    "img",
    "input",
    "meter",
    "optgroup",
    "output",
    "progress",
    "select",
    "svg",
    "table",
    "textarea"
  ]);
  function declaredName(element2) {
    const label = getAttribute(element2, "aria-label");
    if (label !== null && label.trim() !== "" && !hasAttribute(element2, "aria-labelledby")) return tidy(label);
    if (!mayHaveDeclaredName(element2)) return "";
    return withoutSecrets(tidy(libraryName(element2))) || fallbackName(element2);
  }
  function mayHaveDeclaredName(element2) {
    return NATIVELY_NAMED.has(localName(element2)) || hasAttribute(element2, "aria-labelledby");
  }
  function libraryName(element2) {
    if (localName(element2) === "button" && !hasAttribute(element2, "aria-labelledby") && !hasLabels(element2)) return "";
    if (isReadingOver()) return getAttribute(element2, "aria-label") ?? "";
    if (isDense()) return shortName(element2);
    let visits = 0;
    const boundedStyle = (visited, pseudo) => {
      visits += 1;
      if (visits > VISIT_LIMIT || isReadingOver()) throw new Error("too much for a name");
      return getComputedStyle(visited, pseudo);
    };
    try {
      return computeAccessibleName(element2, { getComputedStyle: boundedStyle });
    } catch {
      return shortName(element2);
    }
  }
  var VISIT_LIMIT = 2e3;
  var REFERENCE_CHARS = 3e4;
  var REFERENCES_READ = 10;
  var SHORT_NAME_CHARS = 250;
  var isDense = oncePerBudget(() => {
    let chars = 0;
    for (const element2 of queryAll(document, "[aria-owns], [aria-labelledby]")) {
      chars += (getAttribute(element2, "aria-owns")?.length ?? 0) + (getAttribute(element2, "aria-labelledby")?.length ?? 0);
      if (chars > REFERENCE_CHARS) return true;
    }
    return false;
  });
  function shortName(element2) {
    const ids = (getAttribute(element2, "aria-labelledby") ?? "").slice(0, 40 * REFERENCES_READ).split(/\s+/);
    const referenced = ids.slice(0, REFERENCES_READ).flatMap((id) => id === "" ? [] : page.byId(document, id) ?? []);
    const texts = referenced.map((one2) => getAttribute(one2, "aria-label") ?? cut(textContent(one2) ?? "", SHORT_NAME_CHARS));
    return cut(texts.join(" ").trim() || (getAttribute(element2, "aria-label") ?? ""), SHORT_NAME_CHARS);
  }
  function hasLabels(element2) {
    if (!hasAttribute(element2, "id") && closest(element2, "label") === null) return false;
    return (element2.labels?.length ?? 0) > 0;
  }
  function fallbackName(element2) {
    switch (localName(element2)) {
      case "input":
      case "textarea":
        return tidy(getAttribute(element2, "placeholder") ?? getAttribute(element2, "aria-placeholder") ?? nameOfFileInput(element2));
      case "figure":
        return tidy(queryAll(element2, ":scope > figcaption")[0]?.textContent ?? "");
      default:
        return "";
    }
  }
  function nameOfFileInput(element2) {
    const input = element2;
    return input.type === "file" ? input.multiple ? "Choose files" : "Choose file" : "";
  }
  function titleName(element2) {
    return tidy(getAttribute(element2, "title") ?? (isEditingHost(element2) ? getAttribute(element2, "data-placeholder") ?? "" : ""));
  }
  function generatedName(element2) {
    const parts = ["::before", "::after"].map((pseudo) => {
      const content2 = getComputedStyle(element2, pseudo).content;
      return /^".*"$/.test(content2) ? content2.slice(1, -1) : "";
    });
    return tidy(parts.join(" ").replace(/[\ue000-\uf8ff]|\\[0-9a-f]+ ?/gi, ""));
  }
  function withoutSecrets(name) {
    if (name === "") return name;
    for (const value of secretValues()) name = name.split(value).join("");
    return name;
  }
  var secretValues = oncePerBudget(
    () => Array.from(queryAll(document, "input[role]")).filter((input) => isSecretField(input)).map((input) => input.value).filter((value) => value !== "")
  );
  function tidy(name) {
    return collapseSpace(name).trim();
  }

  // refs.ts
  var numbers = /* @__PURE__ */ new WeakMap();
  var elements = /* @__PURE__ */ new Map();
  var forgetDead = new FinalizationRegistry((number2) => elements.delete(number2));
  var nextNumber = 1;
  var framePrefix = "";
  var REF = /^(?:@|ref=)?((?:f\d+)?)e(\d+)$/;
  function startNumberingAt(firstRef, prefix) {
    if (firstRef !== void 0) nextNumber = Math.max(nextNumber, Math.floor(firstRef));
    if (prefix !== void 0) framePrefix = prefix;
  }
  function nextRef() {
    return nextNumber;
  }
  function refOf(element2) {
    let number2 = numbers.get(element2);
    if (number2 === void 0) {
      number2 = nextNumber;
      nextNumber += 1;
      numbers.set(element2, number2);
      elements.set(number2, new WeakRef(element2));
      forgetDead.register(element2, number2);
    }
    return `${framePrefix}e${number2}`;
  }
  function looksLikeRef(target) {
    return REF.test(target);
  }
  function elementOfRef(target) {
    const element2 = formerElement(target);
    if (element2 === void 0 || !isConnected(element2)) throw staleRef(target);
    return element2;
  }
  function formerElement(target) {
    const [, prefix, number2] = REF.exec(target);
    return prefix === framePrefix ? elements.get(Number(number2))?.deref() : void 0;
  }
  function staleRef(target, details = {}) {
    return new PageError("STALE_REF", `${target} is not on this page (any more)`, {
      ref: target,
      hint: "The page has changed since that ref was given. Take a new snapshot and use a ref from it.",
      ...details
    });
  }

  // states.ts
  var CHECKABLE = /* @__PURE__ */ new Set(["checkbox", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "treeitem"]);
  var SELECTABLE = /* @__PURE__ */ new Set(["columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"]);
  var REQUIRABLE = new Set("checkbox combobox gridcell listbox radio radiogroup searchbox spinbutton switch textbox tree button".split(" "));
  var FORM_TAGS = /* @__PURE__ */ new Set(["button", "fieldset", "input", "optgroup", "option", "select", "textarea"]);
  function isCheckable(element2, role) {
    return CHECKABLE.has(role) || localName(element2) === "input" && /^(?:checkbox|radio)$/.test(element2.type);
  }
  function checkedState(element2, role) {
    if (localName(element2) === "input") {
      const input = element2;
      if (input.type === "checkbox" || input.type === "radio") return input.indeterminate ? "mixed" : input.checked;
    }
    return CHECKABLE.has(role) ? ariaTristate(element2, "aria-checked") : false;
  }
  function pressedState(element2, role) {
    return role === "button" ? ariaTristate(element2, "aria-pressed") : false;
  }
  function ariaTristate(element2, attribute) {
    const value = getAttribute(element2, attribute)?.toLowerCase();
    return value === "mixed" ? "mixed" : value === "true";
  }
  function isSelected(element2, role) {
    if (localName(element2) === "option") return element2.selected;
    return SELECTABLE.has(role) && isTrue(element2, "aria-selected");
  }
  function isExpanded(element2) {
    if (localName(element2) === "summary") return hasAttribute(element2.parentElement ?? element2, "open");
    return isTrue(element2, "aria-expanded");
  }
  function isNativelyDisabled(element2) {
    return FORM_TAGS.has(localName(element2)) && matches(element2, ":disabled");
  }
  function isDisabled2(element2) {
    return isNativelyDisabled(element2) || closest(element2, '[aria-disabled="true" i]') !== null;
  }
  function isInvalid(element2) {
    const value = getAttribute(element2, "aria-invalid")?.toLowerCase();
    return value !== void 0 && value !== "" && value !== "false";
  }
  function isRequired(element2, role) {
    if (!REQUIRABLE.has(role)) return false;
    const tag = localName(element2);
    if (tag === "input" || tag === "select" || tag === "textarea") return hasAttribute(element2, "required") || isTrue(element2, "aria-required");
    return isTrue(element2, "aria-required");
  }
  function isReadOnly(element2) {
    const tag = localName(element2);
    if (tag === "input" || tag === "textarea") return element2.readOnly;
    return isTrue(element2, "aria-readonly");
  }
  function isEditable(element2) {
    const tag = localName(element2);
    if (tag === "textarea") return true;
    if (tag === "input") return !/^(button|checkbox|file|hidden|image|radio|reset|submit)$/.test(element2.type);
    return element2.isContentEditable === true || isEditingHost(element2);
  }
  function headingLevel(element2, role) {
    const declared = Number.parseInt(getAttribute(element2, "aria-level") ?? "", 10);
    if (declared >= 1) return declared;
    if (role !== "heading") return void 0;
    const tag = /^h([1-6])$/.exec(localName(element2));
    return tag ? Number(tag[1]) : 2;
  }
  var VALUELESS_INPUTS = /* @__PURE__ */ new Set(["button", "checkbox", "hidden", "image", "radio", "reset", "submit"]);
  var HIDDEN_VALUE = "••••••";
  function shownValue(element2, role) {
    switch (localName(element2)) {
      case "input":
        return shownInputValue(element2);
      case "textarea":
        return isSecretField(element2) ? HIDDEN_VALUE : element2.value;
      case "select":
        return selectedLabels(element2).join(", ");
      case "progress":
      case "meter":
        return rangeText(element2) ?? String(element2.value);
      default:
        return role === "slider" || role === "spinbutton" || role === "progressbar" || role === "meter" || role === "scrollbar" ? rangeText(element2) : void 0;
    }
  }
  function shownInputValue(input) {
    if (VALUELESS_INPUTS.has(input.type)) return void 0;
    if (isSecretField(input)) return input.value === "" ? "" : HIDDEN_VALUE;
    if (input.type === "file") return Array.from(input.files ?? [], (file) => file.name).join(", ");
    return input.value;
  }
  function rangeText(element2) {
    return getAttribute(element2, "aria-valuetext") ?? getAttribute(element2, "aria-valuenow") ?? void 0;
  }
  function labelOfOption(option) {
    return (option.label || option.text).replace(/\s+/g, " ").trim();
  }
  function selectedLabels(select2) {
    return Array.from(select2.selectedOptions, labelOfOption);
  }

  // visibility.ts
  var UNRENDERED_TAGS = /* @__PURE__ */ new Set([
    "base",
    "datalist",
    "defs",
    "desc",
    "head",
    "link",
    "meta",
    "metadata",
    "noscript",
    "param",
    "script",
    "source",
    "style",
    "template",
    "title",
    "track"
  ]);
  function isUnrendered(element2) {
    return UNRENDERED_TAGS.has(localName(element2));
  }
  function exposureOf(element2, style, display = style.display) {
    if (display === "none") return isAreaOfMap(element2) ? "seen" : "gone";
    return style.visibility === "visible" ? "seen" : "unseen";
  }
  function isAreaOfMap(element2) {
    return localName(element2) === "area" && hasAttribute(element2, "href");
  }
  function isHiddenFromReaders(element2) {
    return isTrue(element2, "aria-hidden") || hasAttribute(element2, "inert");
  }
  function skipsContents(style, display) {
    return display !== "inline" && display !== "contents" && style.contentVisibility === "hidden";
  }
  function isRendered(element2) {
    const style = getComputedStyle(element2);
    if (style.visibility !== "visible") return false;
    if (style.display === "contents") {
      const parent = flatParent(element2);
      return parent !== null && isRendered(parent);
    }
    return checkVisibility(element2);
  }

  // css_targets.ts
  var TRIES_LIMIT = 2e5;
  var tries = 0;
  function elementsByCss(selector, isAll = false) {
    try {
      const inDocument = Array.from(queryAll(document, selector));
      if (!isAll && inDocument.some(isRendered)) return inDocument;
      const roots = openRoots();
      const inRoots = roots.flatMap((root) => Array.from(queryAll(root, selector)));
      if (roots.length === 1 || !isAll && inRoots.some(isRendered)) return inRoots;
      return [...inRoots, ...elementsAcrossRoots(roots, selector)];
    } catch {
      throw badRequest("target", `${JSON.stringify(cut(selector, 200))} is neither a ref nor a valid CSS selector`, 'Use a ref from a snapshot (e12), CSS, text=…, or role=button[name="Save"].');
    }
  }
  function elementsAcrossRoots(roots, selector) {
    const found2 = /* @__PURE__ */ new Set();
    tries = 0;
    for (const complex of splitOutside(selector, ",")) {
      const parts = partsOf(complex);
      if (parts.length < 2) continue;
      const last2 = parts[parts.length - 1].compound;
      for (const root of roots) for (const element2 of queryAll(root, last2)) if (fits(element2, parts, parts.length - 1)) found2.add(element2);
    }
    return Array.from(found2);
  }
  function fits(element2, parts, index) {
    const { combinator, compound } = parts[index];
    tries += 1;
    if (tries > TRIES_LIMIT) return false;
    if (!matches(element2, compound)) return false;
    if (index === 0) return true;
    switch (combinator) {
      case ">": {
        const parent = parentAcrossRoots(element2);
        return parent !== null && fits(parent, parts, index - 1);
      }
      case "+": {
        const before = element2.previousElementSibling;
        return before !== null && fits(before, parts, index - 1);
      }
      case "~":
        for (let at = element2.previousElementSibling; at; at = at.previousElementSibling) if (fits(at, parts, index - 1)) return true;
        return false;
      default:
        for (let at = parentAcrossRoots(element2); at; at = parentAcrossRoots(at)) if (fits(at, parts, index - 1)) return true;
        return false;
    }
  }
  function parentAcrossRoots(element2) {
    const parent = parentNode(element2);
    return parent === null || isElement(parent) ? parent : parent.host ?? null;
  }
  function partsOf(complex) {
    const parts = [];
    let combinator = "";
    for (const token of splitOutside(complex.replace(/\s+/g, " "), " >+~", true)) {
      if (/^[ >+~]$/.test(token)) combinator = token === " " && combinator !== "" ? combinator : token;
      else {
        parts.push({ combinator: parts.length === 0 ? "" : combinator, compound: token });
        combinator = "";
      }
    }
    return parts;
  }
  function splitOutside(text2, separators, keeps = false) {
    const tokens = [];
    let open = "";
    let depth = 0;
    let quote = "";
    for (let at = 0; at < text2.length; at += 1) {
      const char = text2[at];
      if (char === "\\") {
        open += char + (text2[at + 1] ?? "");
        at += 1;
        continue;
      }
      if (quote !== "") quote = char === quote ? "" : quote;
      else if (char === '"' || char === "'") quote = char;
      else if (char === "[" || char === "(") depth += 1;
      else if (char === "]" || char === ")") depth -= 1;
      else if (depth === 0 && separators.includes(char)) {
        if (open.trim() !== "") tokens.push(open.trim());
        if (keeps) tokens.push(char);
        open = "";
        continue;
      }
      open += char;
    }
    if (open.trim() !== "") tokens.push(open.trim());
    return tokens;
  }

  // locator_steps.ts
  var TEXT_ENGINES = ["text", "label", "placeholder", "testid", "alt", "title"];
  var STEPS_LIMIT = 20;
  var ENGINE = /^(role|label|placeholder|testid|alt|title|xpath|nth|text|css)\s*=\s*/;
  function stepsOf(target) {
    const steps2 = [];
    let rest2 = target.trim();
    for (; ; ) {
      const { source, after } = nextStep(rest2);
      steps2.push(parsedStep(source, steps2.length === 0));
      if (after === null) break;
      if (steps2.length >= STEPS_LIMIT) throw wrong(`the locator has more than ${STEPS_LIMIT} steps`);
      rest2 = after;
    }
    return steps2;
  }
  function nextStep(text2) {
    const engine = ENGINE.exec(text2);
    const begin = engine?.[0].length ?? 0;
    const isText2 = engine !== null && TEXT_ENGINES.includes(engine[1]);
    let quote = "";
    for (let at = begin; at < text2.length; at += 1) {
      const char = text2[at];
      if (char === "\\") at += 1;
      else if (quote !== "") quote = char === quote ? "" : quote;
      else if ((char === '"' || char === "'") && (!isText2 || at === begin)) quote = char;
      else if (char === ">" && text2[at + 1] === ">") return { source: text2.slice(0, at).trim(), after: text2.slice(at + 2).trim() };
    }
    return { source: text2, after: null };
  }
  function parsedStep(source, isFirst) {
    if (source === "") throw wrong("a step of the locator is empty");
    const engine = ENGINE.exec(source);
    if (engine === null) {
      if (isFirst && looksLikeRef(source)) return { engine: "ref", ref: source };
      return { engine: /^\(?\/\//.test(source) ? "xpath" : "css", body: source };
    }
    const name = engine[1];
    const body = source.slice(engine[0].length).trim();
    if (body === "") throw wrong(`${name}= needs a value`);
    switch (name) {
      case "role":
        return roleStep(body);
      case "nth":
        if (!/^-?\d{1,9}$/.test(body)) throw wrong("nth= needs a number: 0 is the first, -1 the last");
        return { engine: "nth", index: Number(body) };
      case "css":
      case "xpath":
      case "text":
        return { engine: name, body };
      default:
        return { engine: name, wanted: wantedText(name, body) };
    }
  }
  function wantedText(engine, body) {
    if (/^\/.*\/[a-z]*$/.test(body) && engine !== "testid") throw noExpressions(engine);
    const quoted2 = /^(["'])(.*)\1$/s.exec(body);
    const text2 = tidy(quoted2 ? unescaped(quoted2[2]) : body);
    if (text2 === "") throw wrong(`${engine}= needs a value`);
    return { text: text2, isExact: quoted2 !== null || engine === "testid" };
  }
  function unescaped(text2) {
    return text2.replace(/\\(.)/gs, "$1");
  }
  var TESTED = ["name", "checked", "disabled", "expanded", "include-hidden", "level", "pressed", "selected"];
  var TEST = /^\[\s*([a-z-]+)\s*(?:(\*?=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/[^\]]*|[^\s\]"']+)\s*([is])?\s*)?\]\s*/;
  function roleStep(body) {
    const role = /^[a-z]+/i.exec(body)?.[0];
    if (role === void 0) throw wrong('role= needs a role, for example role=button[name="Save"]');
    const tests = [];
    let rest2 = body.slice(role.length).trim();
    while (rest2 !== "") {
      const found2 = TEST.exec(rest2);
      if (!found2) throw wrong(`role= cannot be read from ${JSON.stringify(cut(rest2, 60))} on; write role=button[name="Save"]`);
      const [all, attribute, operator, value, flag] = found2;
      if (!TESTED.includes(attribute)) throw wrong(`role= knows no ${JSON.stringify(cut(attribute, 40))}, only ${TESTED.join(", ")}`);
      if (value?.startsWith("/")) throw noExpressions("name");
      const isQuoted = value !== void 0 && /^["']/.test(value);
      tests.push({
        attribute,
        value: value === void 0 ? true : isQuoted ? unescaped(value.slice(1, -1)) : value,
        isPart: operator === "*=",
        ignoresCase: flag === "i"
      });
      rest2 = rest2.slice(all.length);
    }
    return { engine: "role", role: role.toLowerCase(), tests };
  }
  function noExpressions(where) {
    return wrong(`${where} takes no regular expression`, 'Give a part of the text, or all of it in quotes. In role=, [name*="part"] fits a part.');
  }
  function wrong(message, hint) {
    return badRequest("target", `target: ${message}`, hint);
  }

  // plain_text.ts
  var DEPTH_LIMIT = 700;
  var SPACED_TAGS = /* @__PURE__ */ new Set(["blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"]);
  var TextWriter = class {
    parts = [];
    pendingBreaks = 0;
    endsWithSpace = true;
    inline(text2, keepsSpace) {
      const words = keepsSpace ? text2 : text2.replace(/\s+/g, " ");
      const tail = this.endsWithSpace && !keepsSpace ? words.replace(/^ /, "") : words;
      if (tail === "") return;
      if (tail === " " && this.pendingBreaks > 0) return;
      this.writeBreaks();
      this.parts.push(tail);
      this.endsWithSpace = /\s$/.test(tail);
    }
    /** Minimum number of line ends before the next text. */
    breakLine(count2) {
      this.pendingBreaks = Math.max(this.pendingBreaks, count2);
      this.endsWithSpace = true;
    }
    tab() {
      if (this.pendingBreaks === 0 && this.parts.length > 0) this.parts.push("	");
      this.endsWithSpace = true;
    }
    finish() {
      return this.parts.join("").replace(/(?<! ) +\n/g, "\n").replace(/[\u00ad\u200b\u2060]+/g, "").trim();
    }
    writeBreaks() {
      if (this.pendingBreaks > 0 && this.parts.length > 0) this.parts.push("\n".repeat(this.pendingBreaks));
      this.pendingBreaks = 0;
    }
  };
  function plainText(root) {
    const writer = new TextWriter();
    writeElement(root, writer, 0);
    return writer.finish();
  }
  function writeElement(element2, writer, depth) {
    const tag = localName(element2);
    if (isUnrendered(element2) || depth > DEPTH_LIMIT || isReadingOver() || holdsSecret(element2)) return;
    if (tag === "br") return writer.breakLine(1);
    const style = getComputedStyle(element2);
    const display = style.display;
    const exposure = exposureOf(element2, style, display);
    if (exposure === "gone" || hasAttribute(element2, "inert")) return;
    const value = valueText(element2, tag);
    const breaks = breaksAround(tag, display);
    if (breaks > 0) writer.breakLine(breaks);
    if (display === "table-cell") writer.tab();
    if (value !== null) {
      if (exposure === "seen" && value !== "") writer.inline(`${value} `, tag === "textarea");
    } else if (!skipsContents(style, display)) writeChildren(element2, tag, writer, exposure === "seen", style.whiteSpace.startsWith("pre"), depth);
    if (breaks > 0) writer.breakLine(breaks);
  }
  function writeChildren(element2, tag, writer, isSeen2, keepsSpace, depth) {
    const write = (child) => {
      const type = nodeType(child);
      if (type === TEXT && isSeen2) writer.inline(child.data, keepsSpace);
      else if (type === ELEMENT) writeElement(child, writer, depth + 1);
    };
    if (tag === "details" && !hasAttribute(element2, "open")) {
      queryAll(element2, ":scope > summary").forEach((summary, index) => index === 0 && write(summary));
      return;
    }
    const slotted = slottedNodes(element2);
    if (slotted) slotted.forEach(write);
    else for (let child = firstFlatChild(element2); child; child = nextSibling(child)) write(child);
  }
  function valueText(element2, tag) {
    switch (tag) {
      case "input": {
        const input = element2;
        if (/^(button|submit|reset)$/.test(input.type)) return input.value;
        return shownValue(input, roleOf(input)) ?? "";
      }
      case "select":
      case "textarea":
        return shownValue(element2, "") ?? "";
      case "canvas":
      case "iframe":
      case "object":
      case "video":
      case "audio":
        return "";
      default:
        return null;
    }
  }
  function breaksAround(tag, display) {
    if (display.startsWith("inline") || display === "contents" || display === "table-cell" || display === "none") return 0;
    return SPACED_TAGS.has(tag) ? 2 : 1;
  }

  // text_targets.ts
  var FIELDS = "input:not([type=hidden]), textarea, select, [contenteditable], [role=textbox], [role=combobox], [role=searchbox], [role=spinbutton], [role=listbox]";
  var NAMED_OPERABLES = `${FIELDS}, button, a[href], summary, [role], [tabindex]`;
  var FIELD_ROLES = /^(checkbox|combobox|listbox|menuitemcheckbox|menuitemradio|radio|searchbox|slider|spinbutton|switch|textbox)$/;
  var NAMES_READ = 1e3;
  var RANKED = 300;
  var CANDIDATES_NAMED = 8;
  var CONTEXT_CHARS = 80;
  function parse(words) {
    const quoted2 = /^(["'])(.*)\1$/.exec(words);
    const text2 = tidy(quoted2 ? quoted2[2] : words);
    if (text2 === "") throw badRequest("target", "text= needs a text");
    return { text: text2, needle: text2.toLowerCase(), isExact: quoted2 !== null };
  }
  function fits2(text2, { needle, isExact }) {
    const lower = text2.toLowerCase();
    return isExact ? lower === needle : lower.includes(needle);
  }
  function elementsByText(words) {
    startBudget();
    const wanted = parse(words);
    return openRoots().flatMap((root) => [...childElements(root).flatMap((child) => innermostWith(child, wanted)), ...buttonsWith(root, wanted)]).filter((element2) => isRendered(element2) && !isClosedOption(element2));
  }
  function isClosedOption(element2) {
    return localName(element2) === "option" && boxOf(element2).height === 0;
  }
  function bestByText(words, purpose) {
    const wanted = parse(words);
    const texts = likeliest(elementsByText(words).map((element2) => ({ element: element2, text: tidy(shownText(element2)) })), wanted).map(({ element: element2, text: text2 }) => candidate(element2, text2, wanted, purpose));
    const candidates2 = [...texts, ...byName(wanted, purpose, texts.length === 0)].sort((left, right) => compare(left.rank, right.rank));
    const [best] = candidates2;
    if (!best) return null;
    const actors = /* @__PURE__ */ new Map();
    for (const one2 of candidates2) if (!actors.has(one2.actor)) actors.set(one2.actor, one2);
    const equal = Array.from(actors.values()).filter((one2) => compare(one2.rank, best.rank) === 0);
    if (equal.length > 1 && !leadToTheSame(equal)) throw ambiguous(`text=${words}`, equal, TEXT_HINT);
    return { element: best.element, matches: actors.size };
  }
  function likeliest(fits4, wanted) {
    if (fits4.length <= RANKED) return fits4;
    return [0, 1, 2].flatMap((grade) => fits4.filter(({ text: text2 }) => inexactness(text2, wanted) === grade)).slice(0, RANKED);
  }
  function compare(left, right) {
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : left[at] - right[at];
  }
  function candidate(element2, text2, wanted, purpose) {
    const actor = actorOf(element2);
    const whole = actor !== null && actor !== element2 && isNamedByContent(roleOf(actor)) ? tidy(plainText(actor)) : text2;
    const isWrong = isWrongKind(actor ?? element2, purpose);
    const worse = [isWrong, inexactness(text2, wanted), actor === null, inexactness(whole, wanted), isBehindDialog(element2), isOutOfSight(element2)];
    return { element: element2, actor: actor ?? element2, rank: worse.map(Number) };
  }
  function inexactness(text2, wanted) {
    if (text2 === wanted.text) return 0;
    return text2.toLowerCase() === wanted.needle ? 1 : 2;
  }
  function isWrongKind(actor, purpose) {
    if (purpose === "operate") return false;
    if (purpose === "type") return !isEditable(actor);
    return !isEditable(actor) && localName(actor) !== "select" && !FIELD_ROLES.test(roleOf(actor));
  }
  function actorOf(element2) {
    for (let at = element2; at; at = flatParent(at)) {
      if (localName(at) === "label") return at.control ?? at;
      if (isInteractiveRole(roleOf(at)) || localName(at) === "summary" || isEditingHost(at)) return at;
    }
    if (hasAttribute(element2, "onclick")) return element2;
    return getComputedStyle(element2).cursor === "pointer" ? outermostPointer(element2) : null;
  }
  function outermostPointer(element2) {
    let found2 = element2;
    for (let at = flatParent(element2); at && getComputedStyle(at).cursor === "pointer"; at = flatParent(at)) found2 = at;
    return found2;
  }
  function isBehindDialog(element2) {
    const dialogs = openDialogs();
    return dialogs.length > 0 && !dialogs.some((dialog) => isWithin(element2, dialog));
  }
  var openDialogs = oncePerBudget(() => Array.from(queryAll(document, "dialog:modal, [aria-modal=true]")).filter(isRendered));
  function isOutOfSight(element2) {
    const box = boxOf(element2);
    return box.width <= 1 || box.height <= 1 || box.right + scrollX <= 0 || box.bottom + scrollY <= 0;
  }
  function byName(wanted, purpose, isAlone) {
    if (purpose === "operate" && !isAlone) return [];
    const needed = purpose === "operate" ? { ...wanted, isExact: true } : wanted;
    const selector = purpose === "operate" ? NAMED_OPERABLES : FIELDS;
    const elements2 = openRoots().flatMap((root) => Array.from(queryAll(root, selector))).slice(0, NAMES_READ);
    return elements2.flatMap((element2) => {
      const name = namesOf(element2).find((one2) => fits2(one2, needed));
      return name === void 0 || !isRendered(element2) ? [] : [candidate(element2, name, wanted, purpose)];
    });
  }
  function namesOf(element2) {
    const attributes = ["aria-label", "placeholder", "title", "alt"].map((name) => tidy(getAttribute(element2, name) ?? ""));
    return [...attributes, matches(element2, FIELDS) ? declaredName(element2) : ""].filter((name) => name !== "");
  }
  function leadToTheSame(candidates2) {
    const addresses = candidates2.map(({ actor }) => localName(actor) === "a" ? actor.href : "");
    return addresses[0] !== "" && addresses.every((address) => address === addresses[0]);
  }
  var TEXT_HINT = 'Use one of these refs as target, or more of the text. text="…" in quotes fits only the whole text.';
  function ambiguous(target, candidates2, hint) {
    const named = candidates2.slice(0, CANDIDATES_NAMED);
    const refs = named.map(({ actor }) => refOf(actor));
    const more = candidates2.length - named.length;
    return new PageError("BAD_REQUEST", `${cut(target, 200)} fits ${candidates2.length} elements equally well: ${refs.join(", ")}${more > 0 ? ` and ${more} more` : ""}`, {
      field: "target",
      reason: "ambiguous",
      suggestions: refs,
      hint,
      pageSaid: named.map(({ element: element2, actor }, index) => `${refs[index]}: ${described(element2, actor)}`).join("\n")
    });
  }
  function described(element2, actor) {
    const around2 = closest(flatParent(actor) ?? actor, "tr, li, article, section, fieldset, form, [role=row], [role=listitem], [role=group], nav, header, footer, main");
    const context = around2 === null ? "" : cut(tidy(plainText(around2)), CONTEXT_CHARS);
    const name = cut(tidy(shownText(element2)) || declaredName(element2), CONTEXT_CHARS);
    return `${roleOf(actor)} ${JSON.stringify(name)}${context === "" ? "" : ` in ${JSON.stringify(context)}`}`;
  }
  function shownText(element2) {
    return isButtonWithValue(element2) ? element2.value : plainText(element2);
  }
  function innermostWith(element2, wanted) {
    if (isReadingOver()) throw new PageError("TIMEOUT", "This page takes too long to search for a text", { hint: "Use a CSS selector, or a ref from a snapshot." });
    if (isUnrendered(element2) || !squeezed(textContent(element2) ?? "").includes(squeezed(wanted.needle))) return [];
    const inner = childElements(element2).flatMap((child) => innermostWith(child, wanted));
    return inner.length > 0 || !fits2(tidy(plainText(element2)), wanted) ? inner : [element2];
  }
  function squeezed(text2) {
    return text2.replace(/[\s\u00ad\u200b\u2060]+/g, "").toLowerCase();
  }
  function childElements(parent) {
    const children = [];
    for (let child = firstChild(parent); child; child = nextSibling(child)) if (isElement(child)) children.push(child);
    return children;
  }
  var BUTTONS_WITH_VALUE = "input[type=button], input[type=submit], input[type=reset]";
  function isButtonWithValue(element2) {
    return matches(element2, BUTTONS_WITH_VALUE);
  }
  function buttonsWith(root, wanted) {
    return Array.from(queryAll(root, BUTTONS_WITH_VALUE)).filter((button) => fits2(tidy(button.value), wanted));
  }

  // content_items.ts
  var INVISIBLE = /[\u00ad\u200b\u2060]+/g;
  function isText(item) {
    return !("role" in item);
  }
  var ContentCollector = class {
    items = [];
    openText = "";
    /** This many characters at the start of the open text keep their white space. */
    keptLength = 0;
    openAt = null;
    addText(text2, element2) {
      if (this.openAt === null) this.openAt = element2;
      this.openText += text2;
    }
    /** Add text that keeps its white space. */
    addLines(text2, element2) {
      if (this.openAt === null) this.openAt = element2;
      this.openText = this.openText.slice(0, this.keptLength) + collapseSpace(this.openText.slice(this.keptLength)) + text2;
      this.keptLength = this.openText.length;
    }
    /** A measure of what has been collected. Blank text does not count. */
    get length() {
      return this.items.length + (this.openText.trim() === "" ? 0 : this.openText.length);
    }
    /** Whether the next text would continue text that was added before. */
    get isOpen() {
      return this.openText !== "";
    }
    addSpace() {
      if (this.openText !== "") this.openText += " ";
    }
    /** A block begins or ends here, so what follows is a separate piece of text. */
    endBlock() {
      this.addSpace();
      this.flush();
    }
    addNode(node) {
      this.flush();
      this.items.push(node);
    }
    finish() {
      this.flush();
      return this.items;
    }
    flush() {
      if (this.openAt === null) return;
      const kept = this.keptLength === 0 ? "" : this.openText.slice(0, this.keptLength).replace(INVISIBLE, "");
      const text2 = kept + collapseSpace(this.keptLength === 0 ? this.openText : this.openText.slice(this.keptLength));
      if (text2 !== "") this.items.push({ text: text2, element: this.openAt });
      this.openText = "";
      this.keptLength = 0;
      this.openAt = null;
    }
  };
  function contentText(items, limit = Infinity) {
    let text2 = "";
    for (const item of items) {
      if (text2.length > limit) break;
      if (isText(item)) {
        text2 += item.text;
        continue;
      }
      const inner = item.value ?? (item.name || contentText(item.children, limit));
      text2 += item.isInline ? inner : ` ${inner} `;
    }
    return text2;
  }
  function operableParts(items) {
    return items.flatMap((item) => {
      if (isText(item)) return [];
      return item.isInteractive || item.role === "iframe" ? [item] : operableParts(item.children);
    });
  }

  // generated_text.ts
  var RULES_READ = 2e4;
  var SELECTOR_CHARS = 2e4;
  var SAYS_SOMETHING = /[\p{L}\p{N}\p{Sc}*%#@+!?]/u;
  var known = /* @__PURE__ */ new WeakMap();
  var candidates = oncePerBudget(() => {
    let selectors = [];
    for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
      if (isReadingOver()) break;
      selectors = selectors.concat(selectorsIn(sheet));
    }
    const usable = [...new Set(selectors)].filter(isSelector);
    const all = usable.join(",");
    return all.length > SELECTOR_CHARS ? "" : all;
  });
  function selectorsIn(sheet) {
    let rules;
    try {
      if (sheet.disabled) return [];
      rules = sheet.cssRules;
    } catch {
      return [];
    }
    const cached = known.get(sheet);
    if (cached?.rules === rules.length) return cached.selectors;
    const selectors = [];
    collect(rules, selectors, { left: RULES_READ }, "");
    known.set(sheet, { rules: rules.length, selectors });
    return selectors;
  }
  function collect(rules, into, budget, outer) {
    for (const rule of rules) {
      budget.left -= 1;
      if (budget.left < 0) return;
      const { selectorText, style, cssRules } = rule;
      const selector = outer === "" ? selectorText : selectorText?.replaceAll("&", `:is(${outer})`);
      if (selector !== void 0 && /:(?:before|after)/.test(selector) && /["']|attr\(/.test(style?.content ?? "")) {
        for (const one2 of selector.split(/,(?![^(]*\))/)) {
          const [, element2] = /^(.*?)::?(?:before|after)\s*$/s.exec(one2.trim()) ?? [];
          if (element2 !== void 0) into.push(element2 === "" ? "*" : element2.replace(/([\s>+~])$/, "$1*"));
        }
      }
      if (cssRules && cssRules.length > 0) collect(cssRules, into, budget, selector ?? outer);
    }
  }
  function isSelector(selector) {
    try {
      document.createDocumentFragment().querySelector(selector);
      return true;
    } catch {
      return false;
    }
  }
  function mayHaveGeneratedText(element2) {
    const selector = candidates();
    return isLabel(element2) || selector !== "" && matches(element2, selector);
  }
  function generatedText(element2, pseudo) {
    const style = getComputedStyle(element2, pseudo);
    if (style.content === "none" || style.content === "normal" || style.display === "none" || style.visibility !== "visible") return "";
    const text2 = textOf(style.content, element2);
    return SAYS_SOMETHING.test(text2) ? text2 : "";
  }
  function textOf(content2, element2) {
    const parts = [];
    for (const [token, quoted2, attribute] of content2.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)[^)]*\)|\//g)) {
      if (token === "/") parts.length = 0;
      else if (attribute !== void 0) parts.push(getAttribute(element2, attribute) ?? "");
      else parts.push(quoted2.replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, (_, code, sign) => code ? String.fromCodePoint(Math.min(parseInt(code, 16), 1114111)) : sign));
    }
    return parts.join("").replace(/[\ue000-\uf8ff]/g, "");
  }
  function isLabel(element2) {
    const tag = localName(element2);
    return tag === "label" || tag === "legend";
  }

  // owned_elements.ts
  var CLAIM_LIMIT = 5e3;
  var ATTRIBUTE_LIMIT = 2e4;
  var OwnedElements = class {
    claims = 0;
    ownerOf = /* @__PURE__ */ new Map();
    ownedBy = /* @__PURE__ */ new Map();
    constructor() {
      for (const owner of queryAll(document, "[aria-owns]")) {
        for (const id of getAttribute(owner, "aria-owns").slice(0, ATTRIBUTE_LIMIT).split(/\s+/)) {
          this.claims += 1;
          if (this.claims > CLAIM_LIMIT || isReadingOver()) return;
          const element2 = id === "" ? null : page.byId(document, id);
          if (element2) this.claim(owner, element2);
        }
      }
    }
    of(owner) {
      return this.ownedBy.size === 0 ? [] : this.ownedBy.get(owner) ?? [];
    }
    isOwned(element2) {
      return this.ownerOf.size > 0 && this.ownerOf.has(element2);
    }
    claim(owner, element2) {
      if (this.ownerOf.has(element2) || this.isBelow(owner, element2)) return;
      this.ownerOf.set(element2, owner);
      const owned = this.ownedBy.get(owner);
      if (owned) owned.push(element2);
      else this.ownedBy.set(owner, [element2]);
    }
    isBelow(inner, outer) {
      for (let at = inner; at; at = this.ownerOf.get(at) ?? parentNode(at)) if (at === outer) return true;
      return false;
    }
  };

  // select_options.ts
  var SHOWN_OPTIONS = 30;
  function optionItems(select2) {
    const options = Array.from(select2.options).filter((option) => !option.hidden);
    const shown3 = options.filter((option, index) => index < SHOWN_OPTIONS || option.selected);
    const items = shown3.map((option) => optionNode(option, isListBox(select2)));
    if (shown3.length < options.length) items.push({ text: `(${options.length - shown3.length} more options)`, element: select2 });
    return items;
  }
  function isListBox(select2) {
    return select2.multiple || select2.size > 1;
  }
  function optionNode(option, isInteractive) {
    return {
      element: option,
      role: "option",
      name: labelOfOption(option),
      isNamedByContent: true,
      isInteractive,
      cursor: "",
      isDisabled: option.disabled,
      isInline: false,
      value: void 0,
      children: []
    };
  }

  // tree.ts
  var NAME_LIMIT = 250;
  var CONTENT_NAME_LIMIT = 4 * NAME_LIMIT;
  var DEPTH_LIMIT2 = 700;
  var ATOMIC_TAGS = /* @__PURE__ */ new Set(["audio", "canvas", "embed", "frame", "hr", "iframe", "img", "input", "meter", "object", "progress", "textarea", "video"]);
  var FLAT_UNLESS_NAMED = /* @__PURE__ */ new Set(["application", "document", "figure", "group", "rowgroup"]);
  var CELL_ROLES = /* @__PURE__ */ new Set(["cell", "columnheader", "gridcell", "rowheader"]);
  var MEANINGFUL_WHEN_EMPTY = /* @__PURE__ */ new Set([...CELL_ROLES, "audio", "canvas", "iframe", "img", "progressbar", "meter", "separator", "video"]);
  var NAMING_ROLES = new Set("button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab".split(" "));
  var MAY_BE_PREFORMATTED = /[\n\t]| {2}/;
  var ANNOTATED = "[role],[aria-hidden],[inert],[tabindex],[contenteditable],[onclick],[draggable],[aria-label],[aria-labelledby],[aria-disabled],[title]";
  function buildTree(root) {
    return new TreeBuilder().build(root);
  }
  function nameReader() {
    const builder = new TreeBuilder();
    return (element2) => {
      const declared = declaredName(element2);
      if (declared !== "" || !isNamedByContent(roleOf(element2))) return declared || titleName(element2);
      return isRendered(element2) ? builder.build(element2).name : tidy(textContent(element2) ?? "");
    };
  }
  var TreeBuilder = class {
    owned = new OwnedElements();
    modals = queryAll(document, "dialog:modal");
    depth = 0;
    lastParent = null;
    isLastPreformatted = false;
    build(root) {
      const top = root ?? contentElement();
      const style = getComputedStyle(top);
      const scope = {
        isSeen: root === void 0 || isRendered(top),
        isPointer: false,
        isDisabled: root !== void 0 && isDisabled2(root),
        isNameOfOther: false,
        isInModal: root !== void 0 || this.modals.length === 0,
        namer: null,
        isNaming: false,
        isEditing: false
      };
      if (root) return this.nodeFor(top, roleOf(top), style, style.display, scope, isOperableByAuthor(top, roleOf(top)));
      const content2 = new ContentCollector();
      if (isEditingHost(top)) this.visit(top, content2, scope);
      else if (exposureOf(top, style) !== "gone") this.visitChildren(top, content2, scope);
      return plainNode(top, "generic", withoutBlankText(content2.finish()));
    }
    visitChildren(element2, into, scope) {
      if (this.depth > DEPTH_LIMIT2 || isReadingOver()) return;
      this.depth += 1;
      const slotted = slottedNodes(element2);
      if (slotted) for (const child of slotted) this.visitChild(child, element2, into, scope);
      else if (localName(element2) === "details" && !hasAttribute(element2, "open")) this.visitSummary(element2, into, scope);
      else for (let child = firstFlatChild(element2); child; child = nextSibling(child)) this.visitChild(child, element2, into, scope);
      for (const child of this.owned.of(element2)) this.visit(child, into, scope);
      this.depth -= 1;
    }
    visitChild(child, parent, into, scope) {
      const type = nodeType(child);
      if (type === TEXT) {
        if (!scope.isSeen || scope.isNameOfOther || !scope.isInModal) return;
        const text2 = child.data;
        if (!into.isOpen && !/\S/.test(text2)) into.addText(" ", parent);
        else if (MAY_BE_PREFORMATTED.test(text2) && this.keepsLines(parent)) into.addLines(text2, parent);
        else into.addText(text2, parent);
      } else if (type === ELEMENT && !this.owned.isOwned(child)) {
        this.visit(child, into, scope);
      }
    }
    /** Whether white space is printed as it is: `<pre>` and everything that CSS formats like it. */
    keepsLines(element2) {
      if (element2 !== this.lastParent) {
        this.lastParent = element2;
        this.isLastPreformatted = /^(?:pre|break-spaces|preserve)/.test(getComputedStyle(element2).whiteSpace);
      }
      return this.isLastPreformatted;
    }
    visitLineBreak(element2, into, scope) {
      const parent = parentNode(element2);
      if (!scope.isSeen || scope.isNameOfOther || !scope.isInModal || !isElement(parent)) return;
      if (scope.isEditing || this.keepsLines(parent)) into.addLines("\n", parent);
      else into.addSpace();
    }
    /** A closed `<details>` renders only its summary. */
    visitSummary(details, into, scope) {
      const summary = queryAll(details, ":scope > summary")[0];
      if (summary) this.visit(summary, into, scope);
    }
    visit(element2, into, scope) {
      if (isUnrendered(element2) || isReadingOver()) return;
      if (localName(element2) === "br") return this.visitLineBreak(element2, into, scope);
      const style = getComputedStyle(element2);
      const display = style.display;
      const exposure = exposureOf(element2, style, display);
      const isAnnotated = matches(element2, ANNOTATED);
      if (exposure === "gone" || isAnnotated && isHiddenFromReaders(element2)) return;
      if (!scope.isInModal) return this.visitOutsideModal(element2, into, scope);
      const isSeen2 = exposure === "seen";
      const role = isAnnotated ? roleOf(element2) : implicitRole(element2);
      const isOperable = isSeen2 && (isInteractiveRole(role) || !scope.isPointer && invitesPointer(element2, style.cursor) || isAnnotated && isOperableByAuthor(element2, role));
      const isOff = scope.isDisabled || isAnnotated && isTrue(element2, "aria-disabled");
      const inner = isSeen2 === scope.isSeen && isOff === scope.isDisabled ? scope : { ...scope, isSeen: isSeen2, isDisabled: isOff };
      const isOwnLine = isSeen2 && (isOperable || !isTextLevelRole(role) || isAnnotated && this.isLabelledBlock(element2, role, display, inner));
      const isLabel2 = isOwnLine && isLabelOfRendered(element2, role);
      if (isOwnLine && !isLabel2) {
        const node = this.nodeFor(element2, role, style, display, inner, isOperable);
        const control = controlOfSameName(node);
        if (control) into.addNode(control);
        else if (isFlat(node)) spliceInto(into, node);
        else if (isWorthALine(node)) into.addNode(node);
      } else {
        const isNamer = isNameOfOther(element2, inner);
        this.flatten(element2, style, display, into, isNamer || isLabel2 ? { ...inner, isNameOfOther: isNamer || inner.isNameOfOther, isPointer: inner.isPointer || isLabel2 } : inner);
      }
    }
    /**
     * A plain block or an icon that an author has labelled is a line of its own.
     *
     * Inside a name its label is part of that name. In running text a label replaces the text, and a title is only a
     * tooltip.
     */
    isLabelledBlock(element2, role, display, scope) {
      if (role !== "generic" || scope.isNaming || scope.isNameOfOther || !isNamedByAuthor2(element2)) return false;
      if (display !== "inline" && display !== "contents") return true;
      return !/\S/.test(textContent(element2) ?? "");
    }
    visitOutsideModal(element2, into, scope) {
      for (const modal of this.modals) {
        if (element2 === modal) return this.visit(element2, into, { ...scope, isInModal: true });
        if (contains(element2, modal)) return this.visitChildren(element2, into, scope);
      }
    }
    flatten(element2, style, display, into, scope) {
      const isInline = display === "inline" || display === "contents";
      if (!isInline && skipsContents(style, display)) return;
      const isBlock2 = !isInline && !display.startsWith("inline");
      if (isBlock2) into.endBlock();
      else if (!isInline) into.addSpace();
      const label = (isInline || scope.isNaming) && scope.isSeen && !scope.isNameOfOther ? getAttribute(element2, "aria-label") : null;
      if (label?.trim()) into.addText(label, element2);
      else this.visitNamed(element2, into, scope);
      if (isBlock2) into.endBlock();
      else if (!isInline) into.addSpace();
    }
    /** Inside a name, an element without content is read by its title. */
    visitNamed(element2, into, scope) {
      const title = scope.isNaming && scope.isSeen && !scope.isNameOfOther ? getAttribute(element2, "title")?.trim() : void 0;
      const before = title ? into.length : 0;
      this.visitContent(element2, into, scope);
      if (title && into.length === before) into.addText(title, element2);
    }
    /** The children, and what CSS writes before and after them. */
    visitContent(element2, into, scope) {
      if (!scope.isSeen || scope.isNameOfOther || !scope.isInModal || !mayHaveGeneratedText(element2)) return this.visitChildren(element2, into, scope);
      const before = generatedText(element2, "::before");
      if (before !== "") into.addText(before, element2);
      this.visitChildren(element2, into, scope);
      const after = generatedText(element2, "::after");
      if (after !== "") into.addText(after, element2);
    }
    nodeFor(element2, role, style, display, scope, isOperable) {
      const tag = localName(element2);
      const content2 = new ContentCollector();
      if (tag === "select") content2.items.push(...optionItems(element2));
      else if (!ATOMIC_TAGS.has(tag) && !holdsSecret(element2) && !skipsContents(style, display)) {
        const isPointerInside = style.cursor === "pointer" || isInteractiveRole(role);
        const isEditing = scope.isEditing || role === "textbox";
        const isNameOfOther2 = scope.isNameOfOther && role === "paragraph";
        const inner = { ...scope, isPointer: isPointerInside, isNameOfOther: isNameOfOther2, isInModal: true, isEditing };
        if (isNamedByContent(role)) Object.assign(inner, { namer: element2, isNaming: NAMING_ROLES.has(role) && !isNamedByAria(element2) });
        this.visitContent(element2, content2, inner);
      }
      const items = content2.finish();
      const node = plainNode(element2, role, role === "textbox" ? joinedLines(items) : items);
      node.isInteractive = isOperable || isInteractiveRole(role);
      node.cursor = isOperable && !isInteractiveRole(role) && INVITING_CURSOR.test(style.cursor) ? style.cursor : "";
      node.isDisabled = scope.isDisabled || isNativelyDisabled(element2);
      node.isInline = display === "inline";
      node.value = tag === "select" ? void 0 : shownValue(element2, role);
      nameNode(node);
      node.children = withoutBlankText(node.children);
      if (node.isNamedByContent && node.name.length <= NAME_LIMIT) node.children = withoutRepetition(node);
      return node;
    }
  };
  function plainNode(element2, role, children) {
    return {
      element: element2,
      role,
      name: "",
      isNamedByContent: false,
      isInteractive: false,
      cursor: "",
      isDisabled: false,
      isInline: false,
      value: void 0,
      children
    };
  }
  var INVITING_CURSOR = /^(?:pointer|move|grab|crosshair)$/;
  function invitesPointer(element2, cursor) {
    if (cursor === "pointer") return true;
    if (!INVITING_CURSOR.test(cursor) || cursor === "crosshair" && !isShape(element2)) return false;
    const parent = flatParent(element2);
    return parent === null || getComputedStyle(parent).cursor !== cursor;
  }
  function isShape(element2) {
    return element2 instanceof SVGElement && localName(element2) !== "svg";
  }
  function isOperableByAuthor(element2, role) {
    return hasAttribute(element2, "onclick") || isTrue(element2, "draggable") || isEditingHost(element2) || role !== "iframe" && isFocusableByAuthor(element2);
  }
  function isLabelOfRendered(element2, role) {
    if (role !== "generic" || localName(element2) !== "label") return false;
    const control = element2.control;
    return control !== null && isRendered(control);
  }
  function isNameOfOther(element2, scope) {
    switch (localName(element2)) {
      case "label": {
        const control = element2.control;
        if (control === null || !isRendered(control)) return false;
        if (isNamedByAria(control) && declaredName(control) !== tidy(textContent(element2) ?? "")) return false;
        return scope.namer === null || contains(scope.namer, control) && !/^h[1-6]$/.test(localName(scope.namer));
      }
      case "legend":
      case "caption":
      case "figcaption": {
        const group = element2.parentElement;
        return group !== null && /^(fieldset|table|figure)$/.test(group.localName) && !isNamedByAria(group);
      }
      default:
        return false;
    }
  }
  function isNamedByAuthor2(element2) {
    return Boolean(getAttribute(element2, "aria-label")?.trim()) || Boolean(getAttribute(element2, "title")?.trim());
  }
  function controlOfSameName(node) {
    const [only] = node.children;
    if (node.name === "" || node.isNamedByContent || node.children.length !== 1 || !only || isText(only) || !only.isInteractive) return null;
    if (isInteractiveRole(node.role) || only.name.toLowerCase() !== node.name.toLowerCase()) return null;
    if (node.role === "generic" || node.role === "group" || node.role === "none") return only;
    node.name = "";
    return null;
  }
  function joinedLines(items) {
    if (items.length < 2 || !items.every(isText)) return items;
    const lines = items.map((item) => item.text.trimEnd());
    return [{ text: lines.join("\n"), element: items[0].element }];
  }
  function isNamedByAria(element2) {
    return hasAttribute(element2, "aria-label") || hasAttribute(element2, "aria-labelledby");
  }
  function nameNode(node) {
    node.name = declaredName(node.element);
    if (node.name === "" && isNamedByContent(node.role) && !isCellOfNodes(node)) {
      node.name = tidy(contentText(ownContent(node), CONTENT_NAME_LIMIT));
      node.isNamedByContent = node.name !== "";
    }
    if (node.name === "") node.name = titleName(node.element);
    if (node.name === "" && node.isInteractive && node.role !== "textbox") node.name = generatedName(node.element);
  }
  function isCellOfNodes(node) {
    return CELL_ROLES.has(node.role) && node.children.some((item) => !isText(item));
  }
  function ownContent(node) {
    if (node.role !== "treeitem" && node.role !== "menuitem") return node.children;
    const branch = node.children.findIndex((item) => !isText(item) && (item.role === "treeitem" || item.role === "list" || item.role === "menu" || item.role === "group"));
    return branch === -1 ? node.children : node.children.slice(0, branch);
  }
  function withoutRepetition(node) {
    const named = ownContent(node).length;
    return [...operableParts(node.children.slice(0, named)), ...node.children.slice(named).filter((item) => !isText(item))];
  }
  function withoutBlankText(items) {
    return items.filter((item) => !isText(item) || item.text.trim() !== "");
  }
  function isFlat(node) {
    if (node.isInteractive) return false;
    if (node.name === "") return FLAT_UNLESS_NAMED.has(node.role);
    return node.role === "generic" && node.children.length === 1 && isText(node.children[0]) && tidy(node.children[0].text) === node.name;
  }
  function spliceInto(into, node) {
    into.endBlock();
    into.items.push(...node.children);
  }
  function isWorthALine(node) {
    return node.isInteractive || node.name !== "" || node.children.length > 0 || Boolean(node.value) || MEANINGFUL_WHEN_EMPTY.has(node.role);
  }

  // xpath_targets.ts
  var COST_LIMIT = 3e7;
  var DEPTH = 32;
  var SCOPES_LIMIT = 100;
  var FOUND_LIMIT = 1e5;
  var FAR_AXIS = /\b(?:following|preceding)(?:-sibling)?\s*::|\bid\s*\(/g;
  var DOWN = /\/\/|\bdescendant(?:-or-self)?\s*::/g;
  var LITERAL = /"[^"]*"|'[^']*'/g;
  function elementsByXpath(expression2, scopes) {
    if (scopes !== null && scopes.length > SCOPES_LIMIT) throw wrong(`xpath= would be evaluated in ${scopes.length} elements; narrow the step before it`);
    const contexts = scopes === null ? openRoots() : scopes.flatMap((scope) => openRoots(scope));
    checkCost(expression2, contexts.length);
    const found2 = /* @__PURE__ */ new Set();
    for (const context of contexts.slice(0, SCOPES_LIMIT)) for (const element2 of evaluated(expression2, context)) found2.add(element2);
    return Array.from(found2);
  }
  function checkCost(expression2, contexts) {
    const plain = expression2.replace(LITERAL, "''");
    const far = (plain.match(FAR_AXIS)?.length ?? 0) + absolutePathsInPredicates(plain);
    const down = Math.max(0, (plain.match(DOWN)?.length ?? 0) - 1);
    const size = queryAll(document, "*").length;
    if (size * size ** far * DEPTH ** down * Math.min(contexts, 10) <= COST_LIMIT) return;
    throw wrong(`this XPath can take too long on a page of ${size} elements`, "Use fewer // and no following or preceding axis, or another locator: role=, text=, CSS.");
  }
  function absolutePathsInPredicates(plain) {
    let depth = 0;
    let count2 = 0;
    for (let at = 0; at < plain.length; at += 1) {
      if (plain[at] === "[") depth += 1;
      else if (plain[at] === "]") depth -= 1;
      else if (plain[at] === "/" && depth > 0) count2 += Number(/(?:^|[^\w\s)\]*.@/:]|\b(?:and|or|div|mod))\s*$/.test(plain.slice(0, at)));
    }
    return count2;
  }
  function evaluated(expression2, context) {
    const isDocument = context === document;
    const relative = !isDocument && expression2.startsWith("/") ? `.${expression2}` : expression2;
    let result;
    try {
      result = Document.prototype.evaluate.call(document, relative, context, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    } catch (error) {
      if (!isDocument && error.name === "NotSupportedError") return [];
      throw wrong("the XPath expression is not valid, or it does not mean elements");
    }
    const elements2 = [];
    for (let index = 0; index < Math.min(result.snapshotLength, FOUND_LIMIT); index += 1) {
      const node = result.snapshotItem(index);
      if (isElement(node)) elements2.push(node);
    }
    return elements2;
  }

  // locators.ts
  function elementsBySteps(steps2) {
    let found2 = null;
    for (const step of steps2) found2 = step.engine === "nth" ? nth(found2, step.index) : searched(step, found2);
    return found2;
  }
  function nth(found2, index) {
    if (found2 === null) throw wrong("nth= needs a step before it, for example button >> nth=0");
    const at = index < 0 ? found2.length + index : index;
    const one2 = found2[at];
    return one2 === void 0 ? [] : [one2];
  }
  function searched(step, scopes) {
    if (scopes !== null && scopes.length === 0) return [];
    if (step.engine === "xpath") return inOrder(elementsByXpath(step.body, scopes));
    const all = found(step);
    return inOrder(scopes === null ? all : inside(all, new Set(scopes)));
  }
  function found(step) {
    switch (step.engine) {
      case "ref":
        return [elementOfRef(step.ref)];
      case "css":
        return elementsByCss(step.body, true);
      case "text":
        return elementsByText(step.body);
      case "role":
        return byRole(step.role, step.tests);
      case "label":
        return everywhere("*").filter((element2) => labelsOf(element2).some((label) => fits3(label, step.wanted)));
      case "testid":
        return everywhere("[data-testid]").filter((element2) => getAttribute(element2, "data-testid") === step.wanted.text);
      default:
        return everywhere(`[${step.engine}]`).filter((element2) => fits3(getAttribute(element2, step.engine), step.wanted));
    }
  }
  function everywhere(selector) {
    return openRoots().flatMap((root) => Array.from(queryAll(root, selector)));
  }
  function fits3(text2, { text: wanted, isExact }) {
    checkTime();
    const own = tidy(text2);
    return isExact ? own === wanted : own.toLowerCase().includes(wanted.toLowerCase());
  }
  function checkTime() {
    if (isReadingOver()) throw new PageError("TIMEOUT", "This page takes too long to search", { hint: "Use a CSS selector, or a ref from a snapshot." });
  }
  var LABELLABLE = /^(?:button|input|meter|output|progress|select|textarea)$/;
  function labelsOf(element2) {
    const named = getAttribute(element2, "aria-labelledby");
    if (named !== null && named.trim() !== "") {
      const labels = named.slice(0, 1e3).split(/\s+/).flatMap((id) => id === "" ? [] : page.byId(document, id) ?? []);
      if (labels.length > 0) return labels.map((label) => textContent(label) ?? "");
    }
    const own = getAttribute(element2, "aria-label");
    if (own !== null && own.trim() !== "") return [own];
    if (!LABELLABLE.test(localName(element2)) || !mayBeLabelled(element2)) return [];
    return Array.from(element2.labels ?? [], (label) => textContent(label) ?? "");
  }
  function mayBeLabelled(element2) {
    return labelledIds().has(getAttribute(element2, "id") ?? "") || closest(element2, "label") !== null;
  }
  var labelledIds = oncePerBudget(() => new Set(everywhere("label[for]").map((label) => getAttribute(label, "for"))));
  function byRole(asked, tests) {
    if (!isKnownRole(asked)) throw wrong(`there is no role ${JSON.stringify(asked)}`);
    const role = asked === "presentation" ? "none" : asked === "image" ? "img" : asked;
    const showsHidden = tests.some(({ attribute, value }) => attribute === "include-hidden" && isTruthy(value));
    const nameOf2 = nameReader();
    return everywhere(candidatesForRole(role)).filter((element2) => {
      checkTime();
      if (roleOf(element2) !== role) return false;
      if (!showsHidden && !isExposed(element2)) return false;
      return tests.every((test) => passes(element2, role, test, nameOf2));
    });
  }
  function isExposed(element2) {
    if (!isRendered(element2)) return false;
    for (let at = element2; at; at = parentAcrossRoots2(at)) if (isTrue(at, "aria-hidden")) return false;
    return true;
  }
  function isTruthy(value) {
    return value === true || value.toLowerCase() === "true";
  }
  function passes(element2, role, test, nameOf2) {
    const { attribute, value } = test;
    switch (attribute) {
      case "name": {
        if (value === true) throw wrong('[name] needs a value, for example [name="Save"]');
        const fold = (text2) => test.ignoresCase ? text2.toLowerCase() : text2;
        const wanted = fold(tidy(value));
        const name = fold(role === "row" ? tidy(plainText(element2)) : nameOf2(element2));
        return test.isPart ? name.includes(wanted) : name === wanted;
      }
      case "level":
        return String(headingLevel(element2, role) ?? 0) === String(value);
      case "checked":
        return stateIs(checkedState(element2, role), value);
      case "pressed":
        return stateIs(pressedState(element2, role), value);
      case "selected":
        return stateIs(isSelected(element2, role), value);
      case "expanded":
        return stateIs(isExpanded(element2), value);
      case "disabled":
        return stateIs(isDisabled2(element2), value);
      default:
        return true;
    }
  }
  function stateIs(state, wanted) {
    return wanted === "mixed" ? state === "mixed" : state === isTruthy(wanted);
  }
  function inside(elements2, scopes) {
    const known2 = /* @__PURE__ */ new Map();
    const isBelow = (element2) => {
      const passed = [];
      let answer = false;
      for (let at = parentAcrossRoots2(element2); at; at = parentAcrossRoots2(at)) {
        const before = known2.get(at);
        if (before !== void 0 || scopes.has(at)) {
          answer = before ?? true;
          break;
        }
        passed.push(at);
      }
      for (const one2 of passed) known2.set(one2, answer);
      return answer;
    };
    return elements2.filter((element2) => {
      checkTime();
      return isBelow(element2);
    });
  }
  function parentAcrossRoots2(element2) {
    const parent = parentNode(element2);
    return parent === null || isElement(parent) ? parent : parent.host ?? null;
  }
  function inOrder(elements2) {
    if (elements2.length < 2 || openRoots().length === 1) return Array.from(new Set(elements2));
    const places = /* @__PURE__ */ new Map();
    number(document, places);
    return Array.from(new Set(elements2)).sort((left, right) => places.get(left) - places.get(right));
  }
  function number(root, places) {
    for (const element2 of queryAll(root, "*")) {
      places.set(element2, places.size);
      const shadow = shadowRootOf(element2);
      if (shadow) number(shadow, places);
    }
  }

  // suggestions.ts
  var SUGGESTIONS = 5;
  var OPERABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role], [onclick], [tabindex], [contenteditable]";
  var ELEMENTS_READ = 2e3;
  var BUDGET_MS = 500;
  var WORDS_COMPARED = 12;
  var DIFFERENT = 0.34;
  function suggestionsLike(removed2) {
    return suggestionsFor(`text=${nameOf(removed2)}`);
  }
  function suggestionsFor(target) {
    startBudget(BUDGET_MS);
    const words = wordsIn(target.replace(/\b[a-z-]+\s*=/g, " "));
    const scored = [];
    for (const element2 of openRoots().flatMap((root) => Array.from(queryAll(root, OPERABLE))).slice(0, ELEMENTS_READ)) {
      if (isReadingOver()) break;
      if (isRendered(element2)) scored.push({ element: element2, score: likeness(element2, target, words) });
    }
    const best = Math.max(0, ...scored.map(({ score }) => score));
    const shown3 = best > 0 ? scored.filter(({ score }) => score > 0) : scored.filter(({ element: element2 }) => isInView2(element2));
    shown3.sort((left, right) => right.score - left.score);
    return { found: shown3.slice(0, SUGGESTIONS).map(({ element: element2 }) => suggestion(element2)), isSimilar: best > 0 };
  }
  function likeness(element2, target, words) {
    const own = wordsOf(element2);
    const shared = words.filter((word) => own.includes(word)).length;
    const score = shared + (matchesTag(element2, target) ? 0.5 : 0);
    if (score > 0) return score;
    const ownWords2 = wordsIn(own).slice(0, WORDS_COMPARED);
    return words.some((word) => ownWords2.some((other) => areSimilar(word, other))) ? 0.25 : 0;
  }
  function wordsIn(text2) {
    return (text2.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []).slice(0, WORDS_COMPARED);
  }
  function wordsOf(element2) {
    const attributes = ["id", "class", "name", "aria-label", "placeholder", "title", "value", "type"].filter((name) => name !== "value" || /^(button|submit|reset)$/.test(getAttribute(element2, "type") ?? "")).map((name) => getAttribute(element2, name) ?? "");
    return `${attributes.join(" ")} ${cut(textContent(element2) ?? "", 200)}`.toLowerCase();
  }
  function areSimilar(one2, other) {
    const allowed = Math.floor(Math.max(one2.length, other.length) * DIFFERENT);
    if (allowed === 0 || Math.abs(one2.length - other.length) > allowed || one2.length > 24) return false;
    let row = Array.from({ length: other.length + 1 }, (_, index) => index);
    for (let at = 1; at <= one2.length; at += 1) {
      const next = [at];
      for (let to = 1; to <= other.length; to += 1) {
        const change = row[to - 1] + (one2[at - 1] === other[to - 1] ? 0 : 1);
        next.push(Math.min(change, row[to] + 1, next[to - 1] + 1));
      }
      row = next;
    }
    return row[other.length] <= allowed;
  }
  function matchesTag(element2, target) {
    const tag = /^[a-z][a-z0-9-]*/i.exec(target);
    return tag !== null && tag[0].toLowerCase() === localName(element2);
  }
  function isInView2(element2) {
    const { top, bottom, left, right } = boxOf(element2);
    return bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  }
  function suggestion(element2) {
    return { ref: refOf(element2), role: roleOf(element2), name: cut(nameOf(element2), 80) };
  }
  function nameOf(element2) {
    return declaredName(element2) || tidy(cut(textContent(element2) ?? "", 200));
  }

  // targets.ts
  var SELECTOR_LIMIT = 1e3;
  function findTarget(target, purpose = "operate") {
    const found2 = tryFindTarget(target, purpose);
    if (found2) return found2;
    const message = `Nothing on the page fits ${JSON.stringify(cut(target, 200))}`;
    throw new PageError("NOT_FOUND", message, { target: cut(target, 200), ...told(suggestionsFor(target)) });
  }
  function told({ found: found2, isSimilar }) {
    if (found2.length === 0) return {};
    return {
      reason: isSimilar ? "similar" : "unlike",
      suggestions: found2.map(({ ref }) => ref),
      pageSaid: found2.map(({ ref, role, name }) => `${ref}: ${role} ${JSON.stringify(name)}`).join("\n")
    };
  }
  function elementNow(ref) {
    const element2 = formerElement(ref);
    if (element2 === void 0 || isConnected(element2)) return elementOfRef(ref);
    const suggestions = suggestionsLike(element2);
    throw staleRef(ref, suggestions.isSimilar ? told(suggestions) : {});
  }
  function tryFindTarget(target, purpose = "operate") {
    const steps2 = parsed(target);
    const only = steps2.length === 1 ? steps2[0] : void 0;
    if (only?.engine === "ref") return { element: elementNow(only.ref), matches: 1, isRanked: false };
    if (only?.engine === "text") {
      const best = bestByText(only.body, purpose);
      return best && { ...best, isRanked: true };
    }
    if (only?.engine === "css") {
      const candidates2 = elementsByCss(only.body);
      const element2 = candidates2.find(isRendered) ?? candidates2[0];
      return element2 ? { element: element2, matches: candidates2.length, isRanked: false } : null;
    }
    const elements2 = elementsBySteps(steps2);
    if (elements2.length > 1) throw ambiguous(target, elements2.map((element2) => ({ element: element2, actor: element2 })), LOCATOR_HINT);
    return elements2.length === 1 ? { element: elements2[0], matches: 1, isRanked: false } : null;
  }
  var LOCATOR_HINT = "Use one of these refs as target, a more exact locator, or >> nth=0 for the first.";
  function allOfTarget(target) {
    return elementsBySteps(parsed(target));
  }
  function isTargetRendered(target) {
    const steps2 = parsed(target);
    const only = steps2.length === 1 ? steps2[0] : void 0;
    if (only?.engine === "css") return elementsByCss(only.body).some(isRendered);
    return elementsBySteps(steps2).some(isRendered);
  }
  function parsed(target) {
    const trimmed = target.trim();
    if (trimmed === "") throw badRequest("target", "target is empty; give a ref, a CSS selector, text=… or a locator");
    if (target.length > SELECTOR_LIMIT) throw badRequest("target", `target is ${target.length} characters long; at most ${SELECTOR_LIMIT} are allowed`);
    return stepsOf(trimmed);
  }
  function describe(element2) {
    return `${refOf(element2)}: ${openingTag(element2)}`;
  }
  function openingTag(element2) {
    const attributes = ["id", "class"].map((name) => [name, getAttribute(element2, name)]).filter(([, value]) => value);
    return `<${localName(element2)}${attributes.map(([name, value]) => ` ${name}="${cut(value, 60)}"`).join("")}>`;
  }
  function labelledControl(element2) {
    return localName(element2) === "label" ? element2.control ?? element2 : element2;
  }

  // press_guard.ts
  var PRESS_EVENTS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
  var RELEASES = /* @__PURE__ */ new Set(["pointerup", "mouseup", "contextmenu"]);
  var LEAVING_EVENTS = ["focusout", "change"];
  var CLICKS = /* @__PURE__ */ new Set(["click", "auxclick", "dblclick", "contextmenu"]);
  var GUARD_MS = 1e4;
  function receivesFor(hit, element2, surface) {
    if (isWithin(hit, surface) || isWithin(hit, element2)) return true;
    const operated = closest(element2, "button, a[href], summary, [role=button], [role=link], [role=menuitem], [role=tab], [role=option]");
    if (operated && isWithin(hit, operated)) return true;
    const label = closest(hit, "label");
    return label !== null && label.control === element2;
  }
  var EventGuard = class {
    timer = setTimeout(() => this.stop(), GUARD_MS);
    isOver = false;
    constructor() {
      listen();
    }
    heard(event) {
      if (event.isTrusted && !this.isOver) this.hear(event);
    }
    stop() {
      clearTimeout(this.timer);
      this.isOver = true;
    }
  };
  var isListening = false;
  function heard(event) {
    if (guard instanceof EventGuard) guard.heard(event);
  }
  function listen() {
    if (isListening) return;
    isListening = true;
    for (const kind of PRESS_EVENTS) window.addEventListener(kind, heard, { capture: true, passive: false });
  }
  function retireGuard() {
    replaceGuard(null);
    for (const kind of PRESS_EVENTS) window.removeEventListener(kind, heard, { capture: true });
    isListening = false;
  }
  function swallow(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  function hitOf(event) {
    const [first] = event.composedPath();
    return first instanceof Node && isElement(first) ? first : null;
  }
  function likenessOf(element2) {
    const words = tidy(cut(textContent(element2) ?? "", LIKENESS_CHARS));
    return [localName(element2), getAttribute(element2, "role"), getAttribute(element2, "type"), getAttribute(element2, "aria-label"), words].join("\n");
  }
  var LIKENESS_CHARS = 500;
  var PressGuard = class extends EventGuard {
    /**
     * isPointKnown: judge only presses at the aimed point. In a child frame the point is not known, because the parent
     * document may move the frame.
     * isDrag: the button is released at another place, so the release is not judged.
     */
    constructor(aim, isPointKnown, isDrag) {
      super();
      this.aim = aim;
      this.isPointKnown = isPointKnown;
      this.isDrag = isDrag;
      this.likeness = likenessOf(aim.element);
      this.box = boxOf(aim.surface);
      const focused = focusedElement();
      if (focused === null || !isEditable(focused)) return;
      window.addEventListener("mousedown", this.pressed);
      for (const kind of LEAVING_EVENTS) window.addEventListener(kind, this.left, { capture: true, passive: true });
    }
    aim;
    isPointKnown;
    isDrag;
    likeness;
    presses = 0;
    isDown = false;
    /** After a wrong press, everything that follows from it is stopped. After a wrong release only the click is: the
     * page has heard the press, so it must also hear that the button is up. */
    stops = "nothing";
    miss = null;
    /** Where the target was when it was prepared. Asking again at the press would force a layout. */
    box;
    /** The page's handlers of the press left the target where it was. */
    wasPressQuiet = false;
    /** A field lost the focus, or reported its change, because of the press. */
    hasLeftField = false;
    pressed = (event) => {
      if (event.isTrusted && this.presses > 0) this.wasPressQuiet = isSameBox(this.box, boxOf(this.aim.surface));
    };
    left = (event) => {
      if (event.isTrusted && this.isDown) this.hasLeftField = true;
    };
    stop() {
      super.stop();
      window.removeEventListener("mousedown", this.pressed);
      for (const kind of LEAVING_EVENTS) window.removeEventListener(kind, this.left, { capture: true });
    }
    hear(event) {
      const isPress = event.type === "pointerdown" || event.type === "mousedown" && !this.isDown;
      if (isPress && this.isPointKnown && !this.isAtAim(event)) return;
      if (isPress) this.judgePress(event);
      else if (this.stops === "nothing" && this.presses > 0 && !this.isDrag && RELEASES.has(event.type)) this.judgeRelease(event);
      if (event.type === "mouseup") this.isDown = false;
      if (this.stops === "everything" || this.stops === "clicks" && CLICKS.has(event.type)) swallow(event);
    }
    judgePress(event) {
      this.isDown = true;
      this.presses += 1;
      const hit = hitOf(event);
      const { element: element2, surface } = this.aim;
      if (hit === null || receivesFor(hit, element2, surface) || this.presses === 1 && this.isReplacedBy(hit)) return;
      if (this.presses > 1 && !isStillThere(this.aim)) return;
      this.stops = "everything";
      this.miss ??= this.presses === 1 ? metAnother(element2, hit) : movedAway(element2, hit, "after its first click");
    }
    /** Some pages draw an element anew when the pointer comes to it. An element of the same likeness is the target then. */
    isReplacedBy(hit) {
      if (isConnected(this.aim.element)) return false;
      for (let at = hit; at; at = flatParent(at)) {
        if (likenessOf(at) === this.likeness) {
          this.aim = { ...this.aim, element: at, surface: at };
          return true;
        }
      }
      return false;
    }
    /** The press was right. If the target has left the pointer since, the browser would click something else. */
    judgeRelease(event) {
      const { element: element2, surface, point } = this.aim;
      const hit = hitOf(event);
      if (hit === null || receivesFor(hit, element2, surface) || !isStillThere(this.aim)) return;
      const box = boxOf(surface);
      if (isSameBox(box, this.box) || isInside(point, box)) return;
      this.stops = "clicks";
      this.miss ??= { ...movedAway(element2, hit, "as it was pressed"), retry: this.wasPressQuiet && this.hasLeftField };
    }
    isAtAim({ clientX, clientY }) {
      return Math.abs(clientX - this.aim.point.x) < 1.5 && Math.abs(clientY - this.aim.point.y) < 1.5;
    }
    verdict() {
      this.stop();
      if (this.miss || this.presses > 0 || !isStillThere(this.aim)) return this.miss;
      const hit = elementAt(this.aim.point);
      return hit !== null && isFrame(hit) && !receivesFor(hit, this.aim.element, this.aim.surface) ? metAnother(this.aim.element, hit) : null;
    }
  };
  var HoverGuard = class {
    constructor(aim) {
      this.aim = aim;
    }
    aim;
    stop() {
    }
    verdict() {
      const { element: element2, surface, point } = this.aim;
      if (!isStillThere(this.aim) || isInside(point, boxOf(surface))) return null;
      const hit = elementAt(point);
      return hit === null || receivesFor(hit, element2, surface) ? null : metAnother(element2, hit);
    }
  };
  var StrangerGuard = class extends EventGuard {
    hit = null;
    hear(event) {
      this.hit ??= hitOf(event);
      swallow(event);
    }
    verdict() {
      this.stop();
      if (this.hit === null) return null;
      const error = new PageError("NOT_ACTIONABLE", `The pointer met ${refOf(this.hit)} in another frame instead of its target`, {
        reason: "missed",
        coveredBy: refOf(this.hit),
        pageSaid: describe(this.hit),
        hint: MISSED_HINT
      });
      return { ...error.report, retry: true };
    }
  };
  var MISSED_HINT = "Take a snapshot: the page moves its elements when the pointer moves. Nothing was clicked.";
  function metAnother(element2, hit) {
    const error = new PageError("NOT_ACTIONABLE", `${refOf(element2)} moves away when the pointer comes to it: the pointer met ${refOf(hit)} instead`, {
      reason: "missed",
      ref: refOf(element2),
      coveredBy: refOf(hit),
      pageSaid: `${describe(element2)}
${describe(hit)}`,
      hint: MISSED_HINT
    });
    return { ...error.report, retry: true };
  }
  function movedAway(element2, hit, when) {
    const error = new PageError("NOT_ACTIONABLE", `${refOf(element2)} moved away ${when}, so the click was not completed`, {
      reason: "moved",
      ref: refOf(element2),
      coveredBy: refOf(hit),
      pageSaid: `${describe(element2)}
${describe(hit)}`,
      hint: "The page has received the press. Take a snapshot to see its effect, and click again if there is none."
    });
    return { ...error.report, retry: false };
  }
  function isStillThere({ element: element2, surface }) {
    return isConnected(element2) && isRendered(surface);
  }
  function isInside({ x, y }, box) {
    return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  }
  function isFrame(element2) {
    return /^(iframe|frame|object|embed)$/.test(localName(element2));
  }
  var guard = null;
  function replaceGuard(next) {
    guard?.stop();
    guard = next;
  }
  function guardPress(aim, options) {
    replaceGuard(new PressGuard(aim, options.isPointKnown, options.isDrag));
  }
  function guardHover(aim) {
    replaceGuard(new HoverGuard(aim));
  }
  function guardStranger() {
    replaceGuard(new StrangerGuard());
  }
  function takeVerdict() {
    const verdict = guard?.verdict() ?? null;
    guard = null;
    return verdict;
  }

  // yaml.ts
  var NEEDS_QUOTES = new RegExp(
    [
      "^$",
      "^\\s|\\s$",
      "^[-?:](?:\\s|$)|^[,\\[\\]{}#&*!|>'\"%@`]",
      ":(?:\\s|$)|\\s#",
      "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]",
      "^(?:---|\\.\\.\\.)",
      // YAML 1.1 or 1.2 reads these as null, boolean, number, date or merge key.
      "^(?:~|null|true|false|yes|no|on|off|y|n|<<|=)$",
      "^[-+.]?(?:\\d[\\d_,.:eE+-]*|0[xo][\\da-fA-F]+|\\.?inf|\\.nan)(?:[ tT].*)?$"
    ].join("|"),
    "i"
  );
  function yamlValue(text2) {
    return NEEDS_QUOTES.test(text2) ? doubleQuoted(text2) : text2;
  }
  function yamlKey(key) {
    return NEEDS_QUOTES.test(key) ? `'${key.replace(/'/g, "''")}'` : key;
  }
  function doubleQuoted(text2) {
    return JSON.stringify(text2).replace(
      /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
    );
  }

  // lines.ts
  var TEXT_LIMIT = 2e3;
  var URL_LIMIT = 500;
  var NO_PROPERTIES = [];
  var STATELESS_ROLES = new Set("blockquote cell definition figure generic group img list paragraph separator table term".split(" "));
  function linesOf(items, depthLimit = Infinity) {
    const lines = [];
    const focused = focusedElement();
    appendLines(lines, items, 0, -1, depthLimit, focused === page.body(document) ? null : focused);
    return lines;
  }
  function appendLines(lines, items, depth, parent, depthLimit, focused) {
    for (const item of items) {
      if (lines.length % 256 === 255 && isTimeUp()) return;
      if (isText(item)) {
        lines.push(textLine(item.text, item.element, depth, parent));
        continue;
      }
      const line = nodeLine(item, depth, parent, focused);
      const index = lines.push(line) - 1;
      if (line.isParent && depth + 1 < depthLimit) appendLines(lines, item.children, depth + 1, index, depthLimit, focused);
      else line.isParent = false;
    }
  }
  function textLine(text2, element2, depth, parent) {
    const said = text2.includes("\n") ? shown(text2) : bounded(text2.trim());
    const line = `text: ${yamlValue(said)}`;
    return { depth, parent, text: line, own: line, label: said, properties: NO_PROPERTIES, isParent: false, element: element2, node: null, ref: null, isActive: false };
  }
  function nodeLine(node, depth, parent, focused, needsRef = false) {
    const ref = needsRef || deservesRef(node) ? refOf(node.element) : null;
    let properties = propertiesOf(node);
    const { own, key } = keyOf(node, ref, focused);
    const content2 = inlineText(node);
    const onlyText = content2 === null ? null : shown(content2);
    const inline2 = onlyText === null ? "" : `: ${yamlValue(onlyText)}`;
    const isInlineable = properties.length === 0;
    if (!isInlineable && onlyText !== null) properties = [...properties, `text${inline2}`];
    return {
      depth,
      parent,
      text: isInlineable ? yamlKey(key) + inline2 : yamlKey(key),
      own: own + inline2,
      label: node.name || onlyText || "",
      properties,
      isParent: onlyText === null && node.children.length > 0,
      element: node.element,
      node,
      ref,
      isActive: node.element === focused
    };
  }
  function withRef(line) {
    if (line.ref) return line;
    if (line.node) return { ...nodeLine(line.node, line.depth, line.parent, null, true), isParent: line.isParent };
    const ref = refOf(line.element);
    return { ...line, ref, text: line.text.replace(/^text:/, `generic [ref=${ref}]:`) };
  }
  function deservesRef(node) {
    if (node.isInteractive || node.role === "iframe" || node.role === "gridcell" || isScopeRole(node.role)) return true;
    return node.name !== "" && !node.isNamedByContent;
  }
  function keyOf(node, ref, focused) {
    const { element: element2, role } = node;
    let start = role;
    if (node.name !== "") start += ` ${doubleQuoted(cut(node.name, NAME_LIMIT))}`;
    let end = "";
    const hasStates = node.isInteractive || !STATELESS_ROLES.has(role);
    if (hasStates) start += tristate("checked", checkedState(element2, role));
    if (node.isDisabled) start += " [disabled]";
    if (isExpanded(element2)) start += " [expanded]";
    if (hasStates) end = laterStates(element2, role);
    const pointer = node.cursor === "" ? "" : ` [cursor=${node.cursor}]`;
    const active = element2 === focused ? " [active]" : "";
    const number2 = ref === null ? "" : ` [ref=${ref}]`;
    return { own: start + end + pointer, key: start + active + end + number2 + pointer };
  }
  function laterStates(element2, role) {
    let states = isInvalid(element2) ? " [invalid]" : "";
    const level = headingLevel(element2, role);
    if (level !== void 0) states += ` [level=${level}]`;
    states += tristate("pressed", pressedState(element2, role));
    if (isRequired(element2, role)) states += " [required]";
    if (isSelected(element2, role)) states += " [selected]";
    return states;
  }
  function tristate(word, state) {
    return state === false ? "" : state === true ? ` [${word}]` : ` [${word}=mixed]`;
  }
  function propertiesOf(node) {
    if (node.role === "link") {
      const url = getAttribute(node.element, "href");
      return url && leadsSomewhere(url) ? [`/url: ${yamlValue(cut(url.trim(), URL_LIMIT))}`] : NO_PROPERTIES;
    }
    if (!node.isInteractive) return NO_PROPERTIES;
    const tag = localName(node.element);
    if (tag !== "input" && tag !== "textarea") return NO_PROPERTIES;
    const placeholder = getAttribute(node.element, "placeholder")?.trim();
    return placeholder && placeholder !== node.name ? [`/placeholder: ${yamlValue(shown(placeholder))}`] : NO_PROPERTIES;
  }
  function leadsSomewhere(url) {
    return !/^\s*(?:#?\s*$|javascript:)/i.test(url);
  }
  function inlineText(node) {
    if (node.value) return node.value;
    const [only] = node.children;
    return node.children.length === 1 && only && isText(only) ? only.text : null;
  }
  function shown(text2) {
    const isPreformatted = text2.includes("\n");
    return bounded(isPreformatted ? text2.replace(/[ \t\r]+$/gm, "").replace(/^\n+|\n+$/g, "") : collapseSpace(text2).trim());
  }
  function bounded(text2) {
    return text2.length <= TEXT_LIMIT ? text2 : `${cut(text2, TEXT_LIMIT)} (${text2.length - TEXT_LIMIT} more characters)`;
  }
  function sizeOf(line) {
    const indent = 2 * line.depth + 2;
    let size = indent + line.text.length + 2;
    for (const property of line.properties) size += indent + property.length + 3;
    return size;
  }
  function printLine(line, marker = "") {
    const indent = "  ".repeat(line.depth);
    const colon = line.isParent || line.properties.length > 0 ? ":" : "";
    const below = line.properties.map((property) => `
${indent}  - ${property}`).join("");
    return `${indent}- ${marker}${line.text}${colon}${below}`;
  }

  // near_viewport.ts
  var MARGIN = 0.5;
  var FAR = 0;
  var PARTLY = 1;
  var WITHIN = 2;
  function linesNearViewport(lines) {
    const places = [];
    let isLate = false;
    lines.forEach((line, index) => {
      if (index % 256 === 255) isLate ||= isTimeUp();
      const parent = lines[line.parent];
      const around2 = parent ? places[line.parent] : PARTLY;
      const isMeasured = !isLate && around2 === PARTLY && line.element !== parent?.element;
      places[index] = isLate ? FAR : isMeasured ? placeOf(line.element) : around2;
    });
    return places.map((place2) => place2 !== FAR);
  }
  function placeOf(element2) {
    const { left, right, top, bottom } = boxOf(element2);
    if (left === right && top === bottom) return PARTLY;
    const across = MARGIN * innerWidth;
    const down = MARGIN * innerHeight;
    if (bottom <= -down || top >= innerHeight + down || right <= -across || left >= innerWidth + across) return FAR;
    const isWithin2 = top >= -down && bottom <= innerHeight + down && left >= -across && right <= innerWidth + across;
    return isWithin2 ? WITHIN : PARTLY;
  }

  // line_selection.ts
  var NOTE_ROOM = 240;
  var GAP_ROOM = 44;
  function printBounded(lines, maxChars, after, note = "") {
    const start = after === void 0 ? 0 : startAfter(lines, after);
    const sizes = lines.map(sizeOf);
    const total = sizes.reduce((sum, size, index) => index < start ? sum : sum + size, 0);
    const room = maxChars - note.length;
    if (start === 0 && total <= room) return print(lines, lines.map(() => true), sizes, 0, note);
    const order = after === void 0 ? viewportFirst(lines) : Array.from(lines.keys()).slice(start);
    return print(lines, choose(lines, sizes, order, room - NOTE_ROOM, start), sizes, start, note);
  }
  function startAfter(lines, after) {
    const [, ref = "", skip] = /^(.*?)(?:\+(\d+))?$/.exec(after);
    if (ref === "" && skip) return Math.min(Number(skip), lines.length);
    if (!looksLikeRef(ref)) throw badRequest("after", `after must be a ref as the last line of a snapshot names it, not ${JSON.stringify(after)}`);
    const element2 = elementOfRef(ref);
    const index = lines.findIndex((line) => line.node?.element === element2);
    if (index === -1) throw badRequest("after", `${ref} is not part of this snapshot`, "Take the snapshot again without `after`.");
    return Math.min(index + 1 + Number(skip ?? 0), lines.length);
  }
  function viewportFirst(lines) {
    const near = linesNearViewport(lines);
    const last2 = near.lastIndexOf(true);
    const nearOnes = [];
    const before = [];
    const behind = [];
    near.forEach((isNear, index) => (isNear ? nearOnes : index > last2 ? behind : before).push(index));
    return [...nearOnes, ...behind, ...before];
  }
  function choose(lines, sizes, order, room, start) {
    const chosen2 = new Array(lines.length).fill(false);
    let used = 0;
    let previous = start - 1;
    for (const index of order) {
      const path = [index, ...unchosenAncestors(lines, chosen2, index)].filter((at) => !chosen2[at]);
      const cost = path.reduce((sum, at) => sum + sizes[at], index === previous + 1 ? 0 : GAP_ROOM);
      if (used + cost > room && used > 0) break;
      for (const at of path) chosen2[at] = true;
      used += cost;
      previous = index;
    }
    return chosen2;
  }
  function unchosenAncestors(lines, chosen2, index) {
    const path = [];
    for (let at = lines[index].parent; at !== -1 && !chosen2[at]; at = lines[at].parent) path.push(at);
    return path;
  }
  function print(lines, chosen2, sizes, start, note) {
    const out = [];
    const placeOf2 = /* @__PURE__ */ new Map();
    let row = 0;
    let gap = 0;
    const left = { lines: 0, chars: 0, after: "" };
    lines.forEach((line, index) => {
      if (!chosen2[index]) {
        if (index < start) return;
        if (left.lines === 0 || gap === 0) left.after = position(lines, index - 1);
        left.lines += 1;
        left.chars += sizes[index];
        gap += 1;
        return;
      }
      if (gap > 0) {
        out.push(`${"  ".repeat(line.depth)}# ${gap} ${gap === 1 ? "line" : "lines"} not shown`);
        row += 1;
        gap = 0;
      }
      placeOf2.set(line, row);
      row += 1 + line.properties.length;
      out.push(printLine(line));
    });
    if (note) out.push(note);
    if (left.lines === 0) return { text: out.join("\n"), placeOf: placeOf2, left: null };
    out.push(leftNote(left));
    return { text: out.join("\n"), placeOf: placeOf2, left };
  }
  function leftNote(left) {
    return `# ${left.lines} more lines (about ${left.chars} characters) not shown: go on with after="${left.after}", look into one part with target="<ref>", or search the page`;
  }
  function position(lines, index) {
    for (let at = index; at >= 0; at -= 1) {
      const { node } = lines[at];
      if (node) return at === index ? refOf(node.element) : `${refOf(node.element)}+${index - at}`;
    }
    return `+${index + 1}`;
  }

  // seen_lines.ts
  function rootLine() {
    return { parent: -1, size: 1, role: "page", own: "", label: "", ref: null, isActive: false, id: 0, homes: [] };
  }
  function withSizes(lines) {
    for (let index = lines.length - 1; index > 0; index -= 1) lines[lines[index].parent].size += lines[index].size;
    return lines;
  }
  function childrenOf(lines, index) {
    const children = [];
    const end = index + lines[index].size;
    for (let child = index + 1; child < end; child += lines[child].size) children.push(child);
    return children;
  }
  function withPart(lines, part, idsInside) {
    const own = lines.findIndex((line) => line.id > 0 && line.id === part[1].id);
    if (own > 0) return spliced(lines, [own], part, 1);
    const tops = lines.flatMap((line, index) => index > 0 && idsInside.has(Math.abs(line.id)) ? [index] : []);
    const outermost = tops.filter((index) => !idsInside.has(Math.abs(lines[lines[index].parent].id)));
    const parent = outermost.length === 0 ? -1 : lines[outermost[0]].parent;
    const siblings = outermost.filter((index) => lines[index].parent === parent);
    return siblings.length === 0 ? null : spliced(lines, siblings, part, 2);
  }
  function spliced(lines, tops, part, first) {
    const result = [];
    const placeOf2 = /* @__PURE__ */ new Map();
    const topSet = new Set(tops);
    let index = 0;
    while (index < lines.length) {
      const line = lines[index];
      if (!topSet.has(index)) {
        placeOf2.set(index, result.length);
        result.push({ ...line, size: 1, parent: line.parent === -1 ? -1 : placeOf2.get(line.parent) });
        index += 1;
        continue;
      }
      if (index === tops[0]) {
        const start = result.length;
        const parent = placeOf2.get(line.parent);
        for (const [at, fresh] of part.entries()) {
          if (at < first) continue;
          result.push({ ...fresh, size: 1, parent: fresh.parent < first ? parent : fresh.parent - first + start });
        }
      }
      index += line.size;
    }
    return withSizes(result);
  }

  // line_matching.ts
  var COMPARISON_LIMIT = 25e4;
  var DISTINCTIVE_SIZE = 3;
  var ALIKE = 0.4;
  var ITEM_ROLES = new Set("article cell columnheader generic gridcell group listitem option paragraph row rowheader text treeitem".split(" "));
  var Matching = class {
    /** For each new line the old one, for each old line the new one, or -1. */
    oldOf;
    newOf;
    constructor(oldCount, newCount) {
      this.oldOf = new Int32Array(newCount).fill(-1);
      this.newOf = new Int32Array(oldCount).fill(-1);
    }
    pair(before, now) {
      this.oldOf[now] = before;
      this.newOf[before] = now;
    }
    unpair(now) {
      this.newOf[this.oldOf[now]] = -1;
      this.oldOf[now] = -1;
    }
    isOldFree(before) {
      return this.newOf[before] === -1;
    }
    isNewFree(now) {
      return this.oldOf[now] === -1;
    }
  };
  function matchLines(before, now) {
    const matching = new Matching(before.length, now.length);
    matching.pair(0, 0);
    if (!pairEnds(before, now, matching)) new Matcher(before, now, matching).run();
    return matching;
  }
  function pairEnds(before, now, matching) {
    const shorter = Math.min(before.length, now.length);
    let start = 1;
    while (start < shorter && isUntouched(before[start], now[start]) && before[start].parent === now[start].parent) start += 1;
    if (start === before.length && start === now.length) {
      for (let index = 1; index < start; index += 1) matching.pair(index, index);
      return true;
    }
    const oldStart = startOfItem(before, start);
    start = Math.min(oldStart, startOfItem(now, start));
    for (let index = 1; index < start; index += 1) matching.pair(index, index);
    let length = 0;
    while (length < shorter - start && isUntouched(before[before.length - 1 - length], now[now.length - 1 - length])) length += 1;
    for (let left = length; left > 0; left -= 1) {
      const [old, index] = [before.length - left, now.length - left];
      if (matching.newOf[before[old].parent] === now[index].parent) matching.pair(old, index);
    }
    return false;
  }
  function isUntouched(before, now) {
    return before.own === now.own && before.ref === now.ref && before.id === now.id;
  }
  function startOfItem(lines, index) {
    if (index >= lines.length) return index;
    let start = index;
    for (let at = lines[index].parent; at > 0 && ITEM_ROLES.has(lines[at].role); at = lines[at].parent) start = at;
    return start;
  }
  var Matcher = class {
    constructor(before, now, matching) {
      this.before = before;
      this.now = now;
      this.matching = matching;
      const numbers2 = /* @__PURE__ */ new Map();
      this.oldContent = contentNumbers(before, matching.newOf, numbers2);
      this.newContent = contentNumbers(now, matching.oldOf, numbers2);
      this.oldIds = new Set(before.map((line) => line.id));
      this.oldTitles = new Set(before.map(titleOf));
      this.newTitles = new Set(now.map(titleOf));
      this.oldChildCounts = new Int32Array(before.length);
      for (const line of before) if (line.parent >= 0) this.oldChildCounts[line.parent] += 1;
    }
    before;
    now;
    matching;
    oldContent;
    newContent;
    oldChildCounts;
    oldIds;
    oldTitles;
    newTitles;
    /** New lines whose pair is only a guess until their parents are paired, too. */
    guesses = [];
    run() {
      this.pairSameContent();
      this.pairContainers();
      this.dropGuesses();
      for (let index = 0; index < this.now.length; index += 1) this.pairChildren(index);
      this.pairMoved();
    }
    /** Pair the largest parts first, so that pairing a small line never splits a larger part that is unchanged. */
    pairSameContent() {
      const groups = this.groupsOfSameContent().sort((one2, other) => other.size - one2.size);
      for (const group of groups) {
        const now = group.now.filter((index) => this.matching.isNewFree(index));
        const before = group.before.filter((index) => this.matching.isOldFree(index));
        if (now.length === 0 || before.length === 0) continue;
        const byId = new Map(before.map((index) => [this.before[index].id, index]));
        const isShared = /* @__PURE__ */ new Set();
        for (const index of now) {
          const old = byId.get(this.now[index].id);
          if (old === void 0 || isShared.has(old)) continue;
          isShared.add(old);
          this.pairSubtrees(old, index);
        }
        const oldRest = before.filter((index) => this.matching.isOldFree(index));
        const newRest = now.filter((index) => this.matching.isNewFree(index));
        if (oldRest.length !== newRest.length) continue;
        if (group.size >= DISTINCTIVE_SIZE) newRest.forEach((index, place2) => this.pairSubtrees(oldRest[place2], index));
        else if (newRest.length === 1 && hasWords(this.now, newRest[0])) this.guess(oldRest[0], newRest[0]);
      }
    }
    groupsOfSameContent() {
      const groups = /* @__PURE__ */ new Map();
      this.now.forEach((line, index) => {
        if (!this.matching.isNewFree(index)) return;
        const content2 = this.newContent[index];
        const group = groups.get(content2);
        if (group) group.now.push(index);
        else groups.set(content2, { size: line.size, before: [], now: [index] });
      });
      this.before.forEach((_, index) => {
        if (this.matching.isOldFree(index)) groups.get(this.oldContent[index])?.before.push(index);
      });
      return Array.from(groups.values());
    }
    guess(before, now) {
      this.pairSubtrees(before, now);
      this.guesses.push(now);
    }
    dropGuesses() {
      for (const index of this.guesses) {
        const parent = this.matching.oldOf[this.now[index].parent];
        if (parent === this.before[this.matching.oldOf[index]].parent) continue;
        for (let at = index + this.now[index].size - 1; at >= index; at -= 1) {
          if (!this.matching.isNewFree(at)) this.matching.unpair(at);
        }
      }
    }
    pairSubtrees(before, now) {
      for (let offset = this.now[now].size - 1; offset >= 0; offset -= 1) {
        if (this.matching.isOldFree(before + offset) && this.matching.isNewFree(now + offset)) this.matching.pair(before + offset, now + offset);
      }
    }
    /** A container is the old one that most of its paired children came from. Inner containers come first. */
    pairContainers() {
      for (let index = this.now.length - 1; index > 0; index -= 1) {
        const line = this.now[index];
        if (line.size === 1 || !this.matching.isNewFree(index)) continue;
        const children = childrenOf(this.now, index);
        const votes = /* @__PURE__ */ new Map();
        for (const child of children) {
          const old = this.matching.oldOf[child];
          if (old > 0) count(votes, this.before[old].parent);
        }
        const found2 = this.bestContainer(line, children.length, votes);
        if (found2 !== null) this.matching.pair(found2, index);
      }
    }
    bestContainer(line, children, votes) {
      let best = null;
      let bestScore = ALIKE;
      for (const [candidate2, shared] of votes) {
        const old = this.before[candidate2];
        if (candidate2 === 0 || !this.matching.isOldFree(candidate2) || old.role !== line.role) continue;
        let score = 2 * shared / (children + this.oldChildCounts[candidate2]);
        if (old.id === line.id) score += 1;
        else {
          if (this.oldIds.has(line.id)) score -= 0.5;
          if (old.label !== line.label) score -= this.isTitled(old, this.newTitles) || this.isTitled(line, this.oldTitles) ? 1 : 0.3;
          else if (old.label !== "") score += 0.5;
        }
        if (score > bestScore) [best, bestScore] = [candidate2, score];
      }
      return best;
    }
    isTitled(line, titles) {
      return line.label !== "" && titles.has(titleOf(line));
    }
    /** Pairs the children of a paired line that are still free. */
    pairChildren(parent) {
      const oldParent = this.matching.oldOf[parent];
      if (oldParent === -1 || this.now[parent].size === 1 || this.before[oldParent].size === 1) return;
      const allNow = childrenOf(this.now, parent);
      const now = allNow.filter((index) => this.matching.isNewFree(index));
      if (now.length === 0) return;
      const allBefore = childrenOf(this.before, oldParent);
      const before = allBefore.filter((index) => this.matching.isOldFree(index));
      if (before.length === 0) return;
      if (this.now[parent].role === "row" && allNow.length === allBefore.length) return this.pairByPlace(allBefore, allNow);
      this.pairInOrder(before, now);
      this.pairWhere(before, now, (index) => this.oldContent[index], (index) => this.newContent[index]);
      this.pairWhere(before, now, (index) => this.before[index].id, (index) => this.now[index].id);
      this.pairWhere(before, now, (index) => titleOf(this.before[index]), (index) => titleOf(this.now[index]));
      this.pairAlike(before, now);
      this.pairRewritten(allBefore, allNow);
    }
    pairByPlace(before, now) {
      now.forEach((index, place2) => {
        const old = before[place2];
        if (this.matching.isNewFree(index) && this.matching.isOldFree(old) && this.before[old].role === this.now[index].role) this.matching.pair(old, index);
      });
    }
    /** The longest common subsequence of the contents. */
    pairInOrder(before, now) {
      const isSame2 = (old, index) => this.oldContent[old] === this.newContent[index];
      let start = 0;
      let [oldEnd, newEnd] = [before.length, now.length];
      while (start < oldEnd && start < newEnd && isSame2(before[start], now[start])) {
        this.pairSubtrees(before[start], now[start]);
        start += 1;
      }
      while (oldEnd > start && newEnd > start && isSame2(before[oldEnd - 1], now[newEnd - 1])) {
        oldEnd -= 1;
        newEnd -= 1;
        this.pairSubtrees(before[oldEnd], now[newEnd]);
      }
      const [rows, columns] = [oldEnd - start, newEnd - start];
      if (rows * columns === 0 || rows * columns > COMPARISON_LIMIT) return;
      const width = columns + 1;
      const longest = new Uint16Array((rows + 1) * width);
      for (let row = rows - 1; row >= 0; row -= 1) {
        for (let column = columns - 1; column >= 0; column -= 1) {
          const at = row * width + column;
          longest[at] = isSame2(before[start + row], now[start + column]) ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
        }
      }
      for (let row = 0, column = 0; row < rows && column < columns; ) {
        const at = row * width + column;
        if (isSame2(before[start + row], now[start + column])) {
          this.pairSubtrees(before[start + row], now[start + column]);
          row += 1;
          column += 1;
        } else if (longest[at + width] >= longest[at + 1]) row += 1;
        else column += 1;
      }
    }
    /** Pairs the first free old line with the first free new one that has the same key, and so on. */
    pairWhere(before, now, oldKey, newKey) {
      const waiting = /* @__PURE__ */ new Map();
      for (const index of before) {
        const key = this.matching.isOldFree(index) ? oldKey(index) : null;
        if (key === null) continue;
        const queue = waiting.get(key);
        if (queue) queue.push(index);
        else waiting.set(key, [index]);
      }
      for (const queue of waiting.values()) queue.reverse();
      for (const index of now) {
        const key = this.matching.isNewFree(index) ? newKey(index) : null;
        const old = key === null ? void 0 : waiting.get(key)?.pop();
        if (old !== void 0) this.pairOrSubtrees(old, index);
      }
    }
    pairOrSubtrees(before, now) {
      if (this.oldContent[before] === this.newContent[now]) this.pairSubtrees(before, now);
      else this.matching.pair(before, now);
    }
    /** Containers of the same role that have enough children in common. */
    pairAlike(before, now) {
      const holders = /* @__PURE__ */ new Map();
      for (const index of before) {
        if (!this.matching.isOldFree(index)) continue;
        for (const child of childrenOf(this.before, index)) {
          const content2 = this.oldContent[child];
          if (this.matching.isOldFree(child) && !holders.has(content2)) holders.set(content2, index);
        }
      }
      if (holders.size === 0) return;
      for (const index of now) {
        if (!this.matching.isNewFree(index)) continue;
        const children = childrenOf(this.now, index);
        const votes = /* @__PURE__ */ new Map();
        for (const child of children) {
          const holder = this.matching.isNewFree(child) ? holders.get(this.newContent[child]) : void 0;
          if (holder !== void 0 && hasWords(this.now, child)) count(votes, holder);
        }
        const found2 = this.bestContainer(this.now[index], children.length, votes);
        if (found2 !== null) this.matching.pair(found2, index);
      }
    }
    /** "Count: 1" gone and "Count: 2" new between the same neighbours is one line that says something else now. */
    pairRewritten(before, now) {
      const free = /* @__PURE__ */ new Map();
      let gap = 0;
      for (const index of before) {
        if (!this.matching.isOldFree(index)) gap = this.matching.newOf[index];
        else if (isPlainLeaf(this.before[index])) {
          push(free, `${gap}/${this.before[index].role}`, index);
        }
      }
      for (const queue of free.values()) queue.reverse();
      gap = 0;
      for (const index of now) {
        if (!this.matching.isNewFree(index)) gap = index;
        else if (isPlainLeaf(this.now[index])) {
          const old = free.get(`${gap}/${this.now[index].role}`)?.pop();
          if (old !== void 0) this.matching.pair(old, index);
        }
      }
    }
    /** What left a container or came into one, with the same element or the same words. */
    pairMoved() {
      const byId = /* @__PURE__ */ new Map();
      const byContent = /* @__PURE__ */ new Map();
      this.before.forEach((line, index) => {
        if (!this.matching.isOldFree(index)) return;
        if (line.id > 0) byId.set(line.id, index);
        if (hasWords(this.before, index)) push(byContent, this.oldContent[index], index);
      });
      if (byId.size === 0 && byContent.size === 0) return;
      const newByContent = /* @__PURE__ */ new Map();
      this.now.forEach((_, index) => {
        if (!this.matching.isNewFree(index)) return;
        if (byContent.has(this.newContent[index])) push(newByContent, this.newContent[index], index);
      });
      for (const [content2, places] of newByContent) {
        const olds = byContent.get(content2);
        if (places.length !== 1 || olds.length !== 1) continue;
        const isKnown2 = !this.matching.isOldFree(this.before[olds[0]].parent) || !this.matching.isNewFree(this.now[places[0]].parent);
        if (isKnown2) this.pairSubtrees(olds[0], places[0]);
      }
      this.now.forEach((line, index) => {
        if (this.matching.isNewFree(index)) {
          const old = line.id > 0 ? byId.get(line.id) : void 0;
          if (old !== void 0 && this.matching.isOldFree(old) && this.before[old].role === line.role) this.matching.pair(old, index);
        }
        this.pairChildren(index);
      });
    }
  };
  function contentNumbers(lines, pairs, numbers2) {
    const contents = new Int32Array(lines.length);
    for (let index = lines.length - 1; index > 0; index -= 1) {
      if (pairs[index] !== -1) continue;
      const line = lines[index];
      let content2 = line.own;
      const end = index + line.size;
      for (let child = index + 1; child < end; child += lines[child].size) content2 += `\0${contents[child]}`;
      let number2 = numbers2.get(content2);
      if (number2 === void 0) {
        number2 = numbers2.size + 1;
        numbers2.set(content2, number2);
      }
      contents[index] = number2;
    }
    return contents;
  }
  function titleOf(line) {
    return line.label === "" ? null : `${line.role} ${line.label}`;
  }
  function isPlainLeaf(line) {
    return line.size === 1 && line.ref === null;
  }
  function hasWords(lines, index) {
    const end = index + lines[index].size;
    for (let at = index; at < end && at < index + 8; at += 1) if (new RegExp("\\p{L}{2}", "u").test(lines[at].label)) return true;
    return false;
  }
  function count(counts, key) {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  function push(lists, key, value) {
    const list2 = lists.get(key);
    if (list2) list2.push(value);
    else lists.set(key, [value]);
  }

  // edit_script.ts
  function editScript(before, now) {
    const matching = matchLines(before, now);
    const removed2 = [];
    matching.newOf.forEach((index, old) => {
      if (index === -1) removed2.push(old);
    });
    const changed = [];
    matching.oldOf.forEach((old, index) => {
      if (old !== -1 && !isSame(before[old], now[index])) changed.push({ before: old, now: index });
    });
    return { removed: removed2, placed: placedLines(before, now, matching), changed, matching };
  }
  function isSame(before, now) {
    return before.own === now.own && before.ref === now.ref && before.isActive === now.isActive && before.role === now.role;
  }
  function placedLines(before, now, matching) {
    const { oldOf } = matching;
    const moved = movedLines(before, now, matching);
    const lastChild = /* @__PURE__ */ new Map();
    const placed = [];
    const added = /* @__PURE__ */ new Map();
    for (let index = 1; index < now.length; index += 1) {
      const { parent } = now[index];
      const old = oldOf[index];
      if (old === -1 || moved.has(index)) {
        const entry = { now: index, before: old === -1 ? null : old, parent, after: lastChild.get(parent) ?? null, around: [], isReordered: moved.get(index) === "order" };
        placed.push(entry);
        if (old === -1) added.set(index, entry);
      } else {
        added.get(parent)?.around.push(index);
      }
      lastChild.set(parent, index);
    }
    return placed;
  }
  function movedLines(before, now, matching) {
    const { oldOf, newOf } = matching;
    const oldHolders = pairedHolders(before, newOf);
    const newHolders = pairedHolders(now, oldOf);
    const moved = /* @__PURE__ */ new Map();
    const stayed = /* @__PURE__ */ new Map();
    for (let index = 1; index < now.length; index += 1) {
      const old = oldOf[index];
      if (old === -1) continue;
      const holder = newHolders[index];
      if (newOf[oldHolders[old]] !== holder) moved.set(index, "container");
      else {
        const siblings = stayed.get(holder);
        if (siblings) siblings.push(index);
        else stayed.set(holder, [index]);
      }
    }
    for (const siblings of stayed.values()) {
      const places = siblings.map((index) => oldOf[index]);
      if (places.every((place2, at) => at === 0 || places[at - 1] < place2)) continue;
      const inPlace = heaviestRisingPart(places, siblings.map((index) => weightOf(now[index])));
      siblings.forEach((index, at) => {
        if (!inPlace[at]) moved.set(index, "order");
      });
    }
    return moved;
  }
  function pairedHolders(lines, pairs) {
    const holders = new Int32Array(lines.length);
    for (let index = 1; index < lines.length; index += 1) {
      const { parent } = lines[index];
      holders[index] = pairs[parent] === -1 ? holders[parent] : parent;
    }
    return holders;
  }
  function weightOf(line) {
    if (line.role === "heading") return 1e3;
    return Math.min(line.size, 40) * 2 + (line.role === "generic" || line.role === "listitem" ? 0 : 1);
  }
  function heaviestRisingPart(values, weights) {
    const ranks = new Map(values.slice().sort((one2, other) => one2 - other).map((value, rank) => [value, rank + 1]));
    const bestAt = new Int32Array(values.length + 1).fill(-1);
    const totals = [];
    const previous = [];
    const heavier = (one2, other) => one2 === -1 || other !== -1 && totals[other] > totals[one2] ? other : one2;
    let last2 = -1;
    values.forEach((value, index) => {
      const rank = ranks.get(value);
      let best = -1;
      for (let at = rank - 1; at > 0; at -= at & -at) best = heavier(best, bestAt[at]);
      previous.push(best);
      totals.push(weights[index] + (best === -1 ? 0 : totals[best]));
      for (let at = rank; at <= values.length; at += at & -at) bestAt[at] = heavier(bestAt[at], index);
      last2 = heavier(last2, index);
    });
    const marks = new Array(values.length).fill(false);
    for (let at = last2; at !== -1; at = previous[at]) marks[at] = true;
    return marks;
  }

  // identities.ts
  var identities = /* @__PURE__ */ new WeakMap();
  var lastIdentity = 0;
  function identityOf(element2) {
    let identity2 = identities.get(element2);
    if (identity2 === void 0) {
      lastIdentity += 1;
      identity2 = lastIdentity;
      identities.set(element2, identity2);
    }
    return identity2;
  }

  // print_changes.ts
  var CONTEXT_SHOWN = 2;
  var REMOVED_SHOWN = 12;
  var KEPT_INSIDE_SHOWN = 6;
  var ORDER_SHOWN = 40;
  var RANGES_SHOWN = 20;
  var LABEL_CHARS = 40;
  var CONTENT_CHARS = 120;
  var END_SHARE = 0.4;
  var SINGLE_MOVES = 4;
  function printChanges(comparison) {
    return new Printer(comparison).print();
  }
  var Printer = class {
    constructor(the) {
      this.the = the;
      this.placed = new Map(the.script.placed.map((entry) => [entry.now, entry]));
      this.orders = newOrders(the.now, the.script.placed);
      this.room = the.maxChars;
    }
    the;
    out = [];
    printedDepth = /* @__PURE__ */ new Map();
    placed;
    orders;
    counts = { added: 0, changed: 0, moved: 0, removed: 0, refs: 0 };
    room;
    isCut = false;
    print() {
      const removed2 = this.removedLines();
      const end = bounded2(removed2, this.the.maxChars * END_SHARE);
      this.room -= end.reduce((sum, line) => sum + line.length + 1, 0);
      const refs = [];
      for (let index = 0; index < this.the.now.length; index += 1) {
        const isTold = this.printLineAt(index);
        const pair = isTold ? null : this.changedRef(index);
        if (pair) refs.push(pair);
      }
      this.counts.refs = refs.length;
      if (refs.length > 0) end.push(refsLine(refs));
      if (this.isCut) {
        const { added, changed, moved } = this.counts;
        end.push(`# more has changed (${added} lines added, ${changed} changed, ${moved} moved): take a new snapshot to see all`);
      }
      return { text: [...this.out, ...end].join("\n") || "# nothing has changed", counts: this.counts, isCut: this.isCut };
    }
    /** Returns whether the line was printed with its ref. */
    printLineAt(index) {
      const { now, script, rehomed } = this.the;
      const order = this.orders.get(index);
      if (order) this.printOrder(index, order);
      if (index === 0) return false;
      const entry = this.placed.get(index);
      if (entry?.before === null) return this.printAdded(index, entry);
      const isToldByOrder = entry?.isReordered === true && this.orders.has(now[index].parent);
      const isMoved = entry !== void 0 && !isToldByOrder || rehomed.has(index);
      if (isMoved || isToldByOrder) this.counts.moved += 1;
      const isChanged = this.isChanged(script.matching.oldOf[index], index);
      if (isChanged) this.counts.changed += 1;
      if (isMoved) return this.mark(index, isChanged ? "moved, changed" : "moved", `${this.wordsInside(index)} # ${this.placeOf(index)}`);
      return isChanged && this.mark(index, "changed");
    }
    /** A line that gains the focus has changed. A line that loses the focus has not. */
    isChanged(old, index) {
      const before = this.the.before[old];
      const line = this.the.now[index];
      return before.own !== line.own || line.isActive && !before.isActive;
    }
    changedRef(index) {
      const old = this.the.script.matching.oldOf[index];
      const before = old === -1 ? null : this.the.before[old].ref;
      const now = this.the.now[index].ref;
      return before !== null && now !== null && before !== now ? [before, now] : null;
    }
    printAdded(index, entry) {
      const line = this.the.now[index];
      if (entry.around.length > 0 && line.role === "generic" && line.label === "") return true;
      this.counts.added += 1;
      const isInsideAdded = this.placed.get(line.parent)?.before === null && this.printedDepth.has(line.parent);
      this.mark(index, isInsideAdded ? "" : "added");
      entry.around.slice(0, KEPT_INSIDE_SHOWN).forEach((kept) => this.mark(kept, "moved"));
      if (entry.around.length > KEPT_INSIDE_SHOWN && !this.isCut) {
        this.write(`${"  ".repeat(this.printedDepth.get(index) + 1)}# and ${entry.around.length - KEPT_INSIDE_SHOWN} more lines that were there before`);
      }
      return true;
    }
    printOrder(index, order) {
      const { now } = this.the;
      const labels = order.slice(0, ORDER_SHOWN).map((child) => cut(wordsIn2(now, child), LABEL_CHARS) || now[child].role);
      const more = order.length > ORDER_SHOWN ? ` | … (${order.length - ORDER_SHOWN} more)` : "";
      const list2 = doubleQuoted(`${labels.join(" | ")}${more}`);
      if (index === 0) this.write(`- <reordered> page # order is now: ${list2}`);
      else this.mark(index, "reordered", ` # order is now: ${list2}`);
    }
    /** Prints a line with a mark, below the lines that say where it is. Returns whether there was room for it. */
    mark(index, mark, note = "") {
      const line = this.the.lines[index - 1];
      if (this.isCut || sizeOf(line) + note.length > this.room) {
        this.isCut = true;
        return false;
      }
      for (const at of this.contextOf(index)) this.writeLine(at, { properties: [], isParent: true }, "", "");
      const isWhole = mark === "" || mark === "added" || mark === "changed";
      const isParent = line.isParent && isWhole && this.hasNewsBelow(index);
      const about = isWhole ? {} : { properties: [] };
      this.writeLine(index, { ...about, isParent }, mark === "" ? "" : `<${mark}> `, note);
      return true;
    }
    writeLine(index, about, marker, note) {
      const depth = this.depthBelow(index);
      this.printedDepth.set(index, depth);
      const [first = "", ...others] = printLine({ ...this.the.lines[index - 1], ...about, depth }, marker).split("\n");
      this.write([first + note, ...others].join("\n"));
    }
    write(text2) {
      this.out.push(text2);
      this.room -= text2.length + 1;
    }
    /** Whether a line below is printed. Otherwise the line must not end with a colon. */
    hasNewsBelow(index) {
      return childrenOf(this.the.now, index).some((child) => {
        const old = this.the.script.matching.oldOf[child];
        return old === -1 || this.placed.has(child) || this.isChanged(old, child);
      });
    }
    /** The nearest lines above that a reader knows by a ref and that are not printed yet, outermost first. */
    contextOf(index) {
      const { now } = this.the;
      const context = [];
      for (let at = now[index].parent; at > 0 && context.length < CONTEXT_SHOWN; at = now[at].parent) {
        if (this.printedDepth.has(at)) break;
        if (now[at].ref) context.unshift(at);
      }
      return context;
    }
    depthBelow(index) {
      for (let at = this.the.now[index].parent; at > 0; at = this.the.now[at].parent) {
        const depth = this.printedDepth.get(at);
        if (depth !== void 0) return depth + 1;
      }
      return 0;
    }
    /** What a moved line contains, if the line itself does not say it. */
    wordsInside(index) {
      const { now } = this.the;
      if (now[index].label !== "" || now[index].size === 1) return "";
      return `: ${doubleQuoted(wordsIn2(now, index, void 0, CONTENT_CHARS))}`;
    }
    placeOf(index) {
      const { now, rehomed, lines } = this.the;
      const { parent } = now[index];
      const siblings = childrenOf(now, parent);
      const place2 = siblings.indexOf(index);
      const neighbour = (at) => doubleQuoted(cut(wordsIn2(now, at) || now[at].role, LABEL_CHARS));
      const home = rehomed.has(index) && !this.placed.has(index) ? `now in ${openingTag(homeOf(lines[index - 1].element))}, ` : "";
      if (place2 > 0) return `${home}after ${neighbour(siblings[place2 - 1])}`;
      const holder = parent > 0 ? ` in ${now[parent].role}${now[parent].label ? ` ${neighbour(parent)}` : ""}` : "";
      return `${home}first${holder}${parent > 1 && !now[parent].label ? ` after ${neighbour(parent - 1)}` : ""}`;
    }
    /** The lines for what is gone, each with the words it contained. */
    removedLines() {
      const { before, script } = this.the;
      const { newOf } = script.matching;
      const stayedUpTo = new Int32Array(before.length + 1);
      before.forEach((_, index) => {
        const now = newOf[index];
        stayedUpTo[index + 1] = stayedUpTo[index] + (now !== -1 && !this.placed.has(now) ? 1 : 0);
      });
      const told2 = [];
      let end = 0;
      for (const index of script.removed) {
        if (index < end) continue;
        const line = before[index];
        const hasContentLeft = stayedUpTo[index + line.size] > stayedUpTo[index];
        if (hasContentLeft) {
          if (line.label === "") continue;
          told2.push(`- <unwrapped> ${headOf(line)} # gone, but what it contained is still there`);
          this.counts.changed += 1;
        } else {
          end = index + line.size;
          const inside2 = line.size === 1 ? "" : wordsIn2(before, index + 1, end, CONTENT_CHARS, newOf);
          if (line.role === "generic" && line.label === "" && inside2 === "") continue;
          told2.push(`- <removed> ${line.size === 1 && line.ref === null ? cut(line.own.split("\n")[0], CONTENT_CHARS) : headOf(line)}${inside2 && `: ${doubleQuoted(inside2)}`}`);
          this.counts.removed += 1;
        }
      }
      return told2;
    }
  };
  function newOrders(now, placed) {
    const movesIn = /* @__PURE__ */ new Map();
    for (const { now: index, parent, isReordered } of placed) {
      if (!isReordered) continue;
      const moves = movesIn.get(parent);
      if (moves) moves.add(index);
      else movesIn.set(parent, /* @__PURE__ */ new Set([index]));
    }
    const orders = /* @__PURE__ */ new Map();
    for (const [parent, moves] of movesIn) {
      const children = childrenOf(now, parent);
      if (moves.size <= SINGLE_MOVES && (moves.size === 1 || moves.size * 2 < children.length)) continue;
      const places = children.flatMap((child, place2) => moves.has(child) ? [place2] : []);
      orders.set(parent, children.slice(Math.max(0, places[0] - 1), places[places.length - 1] + 2));
    }
    return orders;
  }
  function headOf(line) {
    const name = line.label === "" ? "" : ` ${doubleQuoted(cut(line.label, CONTENT_CHARS))}`;
    return `${line.role}${name}${line.ref === null ? "" : ` [ref=${line.ref}]`}`;
  }
  function wordsIn2(lines, start, end = start + lines[start].size, limit = LABEL_CHARS, newOf) {
    let words = "";
    for (let index = start; index < end && words.length < limit; index += 1) {
      const { label } = lines[index];
      if (label !== "" && (newOf === void 0 || newOf[index] === -1)) words += words === "" ? label : `, ${label}`;
    }
    return cut(words, limit);
  }
  function bounded2(lines, room) {
    const shown3 = [];
    let used = 0;
    for (const line of lines) {
      used += line.length + 1;
      if (shown3.length === REMOVED_SHOWN || used > room) break;
      shown3.push(line);
    }
    return shown3.length === lines.length ? shown3 : [...shown3, `# and ${lines.length - shown3.length} more removed`];
  }
  function homeOf(element2) {
    return element2.parentElement ?? element2;
  }
  function refsLine(pairs) {
    const ranges = [];
    for (const [old, now] of pairs) {
      const range = ranges[ranges.length - 1];
      if (range && isNext(range.oldLast, old) && isNext(range.newLast, now)) Object.assign(range, { oldLast: old, newLast: now });
      else ranges.push({ from: old, to: now, oldLast: old, newLast: now });
    }
    const span = (first, last2) => first === last2 ? first : `${first}-${last2}`;
    const shown3 = ranges.slice(0, RANGES_SHOWN).map((range) => `${span(range.from, range.oldLast)} → ${span(range.to, range.newLast)}`);
    const more = ranges.length > RANGES_SHOWN ? ", … (take a new snapshot for the others)" : "";
    return `# same content, new refs: ${shown3.join(", ")}${more}`;
  }
  function isNext(one2, other) {
    return one2.replace(/\d+$/, "") === other.replace(/\d+$/, "") && numberIn(other) === numberIn(one2) + 1;
  }
  function numberIn(ref) {
    return Number(/\d+$/.exec(ref)[0]);
  }

  // changes_since.ts
  var READERS_KEPT = 16;
  var HOMES_KEPT = 4;
  var NATIVE_CONTROLS = /* @__PURE__ */ new Set(["a", "area", "button", "input", "label", "option", "select", "summary", "textarea"]);
  var MOVABLE_ROLES = /* @__PURE__ */ new Set(["article", "generic", "gridcell", "listitem", "option", "treeitem"]);
  var memories = /* @__PURE__ */ new Map();
  var NO_HOMES = [];
  var references = /* @__PURE__ */ new WeakMap();
  function isKnown(reader) {
    return memories.has(reader);
  }
  function remember(reader, lines) {
    keep(reader, seenLines(lines));
  }
  var last = null;
  function stepBack(reader) {
    if (last?.reader !== reader) return;
    memories.delete(reader);
    if (last.before) memories.set(reader, last.before);
    last = null;
  }
  function keep(reader, seen) {
    last = { reader, before: memories.get(reader) };
    memories.delete(reader);
    memories.set(reader, seen);
    if (memories.size > READERS_KEPT) memories.delete(memories.keys().next().value);
  }
  function rememberPart(reader, part, lines) {
    const known2 = memories.get(reader);
    if (!known2) return false;
    const inside2 = new Set([part, ...queryAll(part, "*")].map(identityOf));
    const joined = withPart(known2, seenLines(lines), inside2);
    if (joined) keep(reader, joined);
    return joined !== null;
  }
  function changesSince(reader, lines, maxChars) {
    const before = memories.get(reader);
    if (!before) return null;
    const now = seenLines(lines);
    keep(reader, now);
    const script = editScript(before, now);
    const rehomed = /* @__PURE__ */ new Map();
    lines.forEach((line, index) => {
      const old = script.matching.oldOf[index + 1];
      if (old === -1 || before[old].homes === NO_HOMES || before[old].id !== now[index + 1].id) return;
      if (before[old].homes.some((home) => wasLeft(home.deref(), line.element))) rehomed.set(index + 1, line.element);
    });
    return printChanges({ lines, before, now, script, rehomed, maxChars });
  }
  function wasLeft(home, element2) {
    return home !== void 0 && isConnected(home) && !contains(home, element2);
  }
  function seenLines(lines) {
    const seen = [rootLine()];
    for (const line of lines) {
      const role = line.node?.role ?? "text";
      seen.push({
        parent: line.parent + 1,
        size: 1,
        role,
        own: ownWords(line, role),
        label: line.label,
        ref: line.ref,
        isActive: line.isActive,
        id: line.node ? identityOf(line.element) : -identityOf(line.element),
        homes: homesOf(line, role, lines[line.parent]?.element ?? null)
      });
    }
    return withSizes(seen);
  }
  function ownWords({ own, properties }, role) {
    if (properties.length > 0) return `${own}
${properties.join("\n")}`;
    return role === "generic" && own.startsWith("generic: ") ? own.replace("generic: ", "text: ") : own;
  }
  function homesOf(line, role, holder) {
    if (!MOVABLE_ROLES.has(role) || NATIVE_CONTROLS.has(localName(line.element))) return NO_HOMES;
    const homes = [];
    for (let at = parentNode(line.element); isElement(at) && at !== holder && homes.length < HOMES_KEPT; at = parentNode(at)) {
      homes.push(referenceTo(at));
    }
    return homes.length === 0 ? NO_HOMES : homes;
  }
  function referenceTo(element2) {
    let reference = references.get(element2);
    if (!reference) references.set(element2, reference = new WeakRef(element2));
    return reference;
  }

  // interactive_only.ts
  var CONTEXT_ROLES = /* @__PURE__ */ new Set([...LANDMARK_ROLES, "alertdialog", "dialog", "iframe"]);
  function interactiveOnly(items) {
    return withoutIdleHeadings(items.flatMap(operablePart));
  }
  function operablePart(item) {
    if (isText(item)) return [];
    if (item.isInteractive && item.name === "" && item.children.every(isText)) return [item];
    const inside2 = localName(item.element) === "select" ? item.children.filter(isSelectedOption) : interactiveOnly(item.children);
    if (item.isInteractive || item.role === "heading" || item.role === "iframe") return [{ ...item, children: inside2 }];
    const isContext = CONTEXT_ROLES.has(item.role) || item.name !== "" && !item.isNamedByContent;
    return isContext && inside2.some((child) => !isHeading(child)) ? [{ ...item, children: inside2 }] : inside2;
  }
  function withoutIdleHeadings(items) {
    return items.filter((item, index) => {
      if (!isHeading(item) || item.children.length > 0) return true;
      const next = items[index + 1];
      return next !== void 0 && !isHeading(next);
    });
  }
  function isSelectedOption(item) {
    return !isText(item) && isSelected(item.element, item.role);
  }
  function isHeading(item) {
    return !isText(item) && item.role === "heading";
  }

  // snapshot.ts
  var DEFAULT_CHARS = 2e4;
  var DEFAULT_DIFF_CHARS = 4e3;
  var FRAME_SHARE_LIMIT = 0.7;
  var CUT_NOTE = '# cut: this page takes too long to read. Look into one part with target="<ref>" or a CSS selector.';
  function snapshot(args) {
    startBudget(optionalNumber(args, "budgetMs", 1, 6e4));
    const mode = oneOf(args, "mode", ["full", "diff", "none"], "full");
    const reader = optionalText(args, "reader");
    if (mode === "none") {
      if (reader !== void 0 && !isKnown(reader)) remember(reader, linesOf(buildTree().children));
      return { text: "", mode, chars: 0, truncated: false, frames: [] };
    }
    const target = optionalText(args, "target");
    const maxChars = optionalNumber(args, "maxChars", 200, 1e7);
    if (reader !== void 0 && optionalFlag(args, "again")) stepBack(reader);
    if (target === void 0 && mode === "diff" && reader !== void 0) {
      const reply = diffReply(reader, maxChars ?? DEFAULT_DIFF_CHARS);
      if (reply) return reply;
      if (isEmptyDocument()) {
        remember(reader, []);
        return { text: "", mode: "full", chars: 0, truncated: false, frames: [] };
      }
      return fullReply(args, reader, maxChars ?? DEFAULT_DIFF_CHARS);
    }
    return fullReply(args, reader, maxChars ?? DEFAULT_CHARS);
  }
  function diffReply(reader, maxChars) {
    const lines = isEmptyDocument() ? [] : linesOf(buildTree().children);
    const changes = changesSince(reader, lines, maxChars);
    if (changes === null) return null;
    const { text: text2, counts } = changes;
    const frames = framesAmong(lines, () => -1);
    const told2 = wasCut() ? `${text2}
${CUT_NOTE}` : text2;
    return { text: told2, mode: "diff", chars: told2.length, truncated: changes.isCut || wasCut(), changes: counts, frames };
  }
  function fullReply(args, reader, maxChars) {
    const target = optionalText(args, "target");
    const part = target === void 0 ? null : findTarget(target).element;
    const items = part === null ? buildTree().children : [buildTree(part)];
    const isWhole = target === void 0 && !optionalFlag(args, "interactive") && args.depth === void 0;
    const lines = printableLines(args, items);
    if (reader !== void 0) {
      const read3 = isWhole ? lines : linesOf(items);
      if (part === null) remember(reader, read3);
      else if (!rememberPart(reader, part, read3)) remember(reader, linesOf(buildTree().children));
    }
    const shown3 = args.boxes ? lines.map((line) => withBox(line, args.boxes)) : lines;
    const selection = printBounded(shown3, roomBesideFrames(lines, maxChars), optionalText(args, "after"), notes(args));
    return replyOf(shown3, selection);
  }
  function withBox(line, origin) {
    if (line.ref === null || isTimeUp()) return line;
    const { x, y, width, height } = boxOf(line.element);
    const box = [x + origin.x, y + origin.y, width, height].map(Math.round).join(",");
    return { ...line, text: line.text.replace(`[ref=${line.ref}]`, `[ref=${line.ref}] [box=${box}]`) };
  }
  function printableLines(args, items) {
    const shown3 = optionalFlag(args, "interactive") ? interactiveOnly(items) : items;
    return linesOf(shown3, optionalNumber(args, "depth", 1));
  }
  function notes(args) {
    return [depthNote(args), wasCut() ? CUT_NOTE : ""].filter((note) => note !== "").join("\n");
  }
  function depthNote(args) {
    const depth = optionalNumber(args, "depth", 1);
    return depth === void 0 ? "" : `# cut at depth ${depth}: look deeper into one part with target="<ref>"`;
  }
  function replyOf(lines, { text: text2, left, placeOf: placeOf2 }) {
    const frames = framesAmong(lines, (line) => placeOf2.get(line) ?? -1).filter((frame) => frame.line >= 0);
    const reply = { text: text2, mode: "full", chars: text2.length, truncated: left !== null || wasCut(), frames };
    if (left) reply.left = left;
    const first = lines.find((line) => line.ref !== null && placeOf2.has(line));
    if (first) reply.ref = first.ref;
    return reply;
  }
  function framesAmong(lines, placeOf2) {
    return lines.filter((line) => line.node?.role === "iframe" && line.ref !== null).map((line) => ({
      ref: line.ref,
      line: placeOf2(line),
      depth: line.depth,
      src: getAttribute(line.element, "src") ?? "",
      name: getAttribute(line.element, "name") ?? "",
      share: isTimeUp() ? 0 : viewportShare(line.element)
    }));
  }
  function roomBesideFrames(lines, maxChars) {
    const share = framesAmong(lines, () => -1).reduce((sum, frame) => sum + frame.share, 0);
    return Math.max(200, Math.floor(maxChars * (1 - Math.min(FRAME_SHARE_LIMIT, share))));
  }
  function viewportShare(element2) {
    const box = boxOf(element2);
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    const area = Math.max(0, width) * Math.max(0, height);
    return Math.min(1, Math.round(100 * area / Math.max(1, innerWidth * innerHeight)) / 100);
  }

  // settle.ts
  var Watch = class {
    constructor(hasChanged) {
      this.hasChanged = hasChanged;
      this.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      window.addEventListener("mouseup", this.released, { capture: true, passive: true });
    }
    hasChanged;
    releases = 0;
    wake = null;
    observer = new MutationObserver(() => this.hasChanged = true);
    released = (event) => {
      if (event.isTrusted) this.count(1);
    };
    /** Wait until that many mouse buttons were released in this document, or until `delivered` says that no more follow. */
    async until(releases) {
      if (this.releases >= releases) return;
      await new Promise((resolve2) => {
        this.wake = () => {
          if (this.releases >= releases) resolve2();
        };
      });
    }
    count(releases) {
      this.releases += releases;
      this.wake?.();
    }
    stop() {
      this.observer.disconnect();
      window.removeEventListener("mouseup", this.released, { capture: true });
      this.count(Infinity);
    }
  };
  var watched = null;
  function watchForEffects() {
    retireWatch();
    watched = new Watch(false);
  }
  function retireWatch() {
    watched?.stop();
    watched = null;
  }
  function delivered() {
    watched?.count(Infinity);
    return {};
  }
  async function settled(args = {}) {
    if (args.watched === false) retireWatch();
    const changed = await hasSettled(optionalNumber(args, "releases", 0) ?? 0);
    const hasActivation = navigator.userActivation?.isActive === true;
    const missed = takeVerdict();
    if (missed) return { changed, hasActivation, missed };
    return { changed, hasActivation, ...args.snapshot ? { snapshot: snapshot(args.snapshot) } : {} };
  }
  async function hasSettled(releases) {
    if (releases > 0) {
      watched ??= new Watch(true);
      await watched.until(releases);
      await nextTask();
    }
    await nextTask();
    await nextTask();
    const hasChanged = watched?.hasChanged ?? true;
    retireWatch();
    if (!hasChanged) return false;
    await nextFrame();
    return true;
  }

  // actionability.ts
  var ACTIONS = ["click", "type", "hover", "select", "check", "drag", "drop", "upload", "scroll", "screenshot"];
  var NEEDS_ENABLED = /* @__PURE__ */ new Set(["click", "type", "select", "check", "drag", "upload"]);
  var NEEDS_POINTER = /* @__PURE__ */ new Set(["click", "hover", "check", "drag", "drop"]);
  async function prepare(args) {
    const action = oneOf(args, "action", ACTIONS, "click");
    const ready = await whenActionable(text(args, "target"), action, optionalNumber(args, "timeoutMs", 0) ?? 0, positionIn(args));
    if (action === "screenshot") return ready.prepared;
    watchForEffects();
    if (action === "click" || action === "drag") guardPressOn(ready, action === "drag");
    if (action === "hover") guardHover({ ...ready, point: ready.prepared.point });
    return { ...ready.prepared, ...loginOf(args, ready.element) };
  }
  function loginOf(args, element2) {
    return args.judgedOrigin === void 0 ? {} : { isLogin: hasFilledPassword(element2) };
  }
  function guardPressOn(ready, isDrag = false) {
    guardPress({ ...ready, point: ready.prepared.point }, { isPointKnown: window.top === window, isDrag });
  }
  async function whenActionable(target, action, timeoutMs, position2) {
    const purpose = purposeOf(action);
    const uncovered = /* @__PURE__ */ new Set();
    const ready = await untilPresent(async () => {
      const found3 = tryFindTarget(target, purpose);
      if (!found3) return null;
      const isFirst = !uncovered.has(found3.element);
      uncovered.add(found3.element);
      return checkActionable(elementFor(found3.element, action), action, position2, isFirst).then(chosen(found3), nullIfObstacle);
    }, timeoutMs);
    if (ready) return ready;
    const found2 = findTarget(target, purpose);
    return checkActionable(elementFor(found2.element, action), action, position2, true).then(chosen(found2));
  }
  async function whenPresent(target, purpose, timeoutMs) {
    const found2 = await untilPresent(() => tryFindTarget(target, purpose), timeoutMs);
    return (found2 ?? findTarget(target, purpose)).element;
  }
  function purposeOf(action) {
    if (action === "type") return "type";
    return action === "check" || action === "select" ? "fill" : "operate";
  }
  function chosen({ matches: matches2, isRanked }) {
    const choice = `the ${isRanked ? "best" : "first"} of ${matches2} that fit`;
    return (ready) => matches2 > 1 ? { ...ready, prepared: { ...ready.prepared, choice } } : ready;
  }
  function nullIfObstacle(error) {
    if (error instanceof PageError && error.report.code === "NOT_ACTIONABLE") return null;
    throw error;
  }
  function positionIn(args) {
    const position2 = args.position;
    if (position2 === void 0 || position2 === null) return void 0;
    const { x, y } = position2;
    if (typeof x !== "number" || typeof y !== "number") throw badRequest("position", "position must be {x, y} in pixels from the element's top left corner");
    return { x, y };
  }
  function elementFor(element2, action) {
    if (action === "upload") return fileInputOf(element2);
    return action === "type" || action === "check" || action === "select" ? labelledControl(element2) : element2;
  }
  function fileInputOf(element2) {
    const control = labelledControl(element2);
    const inside2 = queryAll(control, "input[type=file]");
    return inside2.length === 1 ? inside2[0] : control;
  }
  async function checkActionable(element2, action, position2, mayUncover) {
    if (action === "upload") return preparedAt(element2, element2, { x: 0, y: 0 });
    const surface = surfaceOf(element2);
    if (!isRendered(surface)) throw obstacleOf(element2, "hidden", "is hidden");
    if (NEEDS_ENABLED.has(action) && isDisabled2(element2)) throw obstacleOf(element2, "disabled", "is disabled");
    if (action === "type") checkEditable(element2);
    bringIntoView(surface);
    await holdStill(surface);
    const box = boxOf(surface);
    if (action !== "scroll" && (box.width === 0 || box.height === 0)) throw obstacleOf(element2, "zero size", "has no size");
    if (!NEEDS_POINTER.has(action)) return preparedAt(element2, surface, pointFor(surface, position2));
    const point = reachablePoint(element2, surface, position2) ?? (mayUncover ? uncover(element2, surface, position2) : null);
    if (point === null) throw unreachable(element2, surface, position2);
    return preparedAt(element2, surface, point);
  }
  function surfaceOf(element2) {
    if (localName(element2) !== "input" || !/^(checkbox|radio|file)$/.test(element2.type)) return element2;
    const box = boxOf(element2);
    if (isRendered(element2) && box.width > 1 && box.height > 1) return element2;
    return Array.from(element2.labels ?? []).find(isRendered) ?? element2;
  }
  function checkEditable(element2) {
    if (!isEditable(element2)) throw obstacleOf(element2, "not editable", "takes no text");
    if (isReadOnly(element2)) throw obstacleOf(element2, "readonly", "is read-only");
  }
  function bringIntoView(element2) {
    const box = boxOf(element2);
    const isWhole = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    const centre = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    const hit = isInViewport(centre) ? elementAt(centre) : null;
    if (isWhole && hit && isWithin(hit, element2)) return;
    if (isWhole && !isClippedAway(element2, centre)) return;
    scrollIntoView(element2, { block: "center", inline: "center", behavior: "instant" });
  }
  function isClippedAway(element2, { x, y }) {
    for (let at = flatParent(element2); at && at !== page.root(document); at = flatParent(at)) {
      const style = getComputedStyle(at);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = boxOf(at);
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) return true;
    }
    return false;
  }
  var DRAWN_MS = 1e3;
  async function holdStill(element2) {
    if (!couldBeMoving(element2)) return;
    const limitMs = page.isHidden(document) ? void 0 : DRAWN_MS;
    if (limitMs) await animationsBegun(limitMs);
    const before = boxOf(element2);
    await nextFrame(limitMs);
    if (!isSameBox(before, boxOf(element2))) throw obstacleOf(element2, "moving", "is moving");
  }
  async function animationsBegun(limitMs) {
    const waiting = page.animations(document).filter((animation) => animation.playState === "running" && animation.pending);
    if (waiting.length === 0) return;
    const begun = Promise.allSettled(waiting.map((animation) => animation.ready));
    await Promise.race([begun, new Promise((resolve2) => setTimeout(resolve2, limitMs))]);
  }
  var GEOMETRY = /(?:^|[\s;-])(?:transform|translate|scale|rotate|left|right|top|bottom|margin|width|height)\s*:/;
  function couldBeMoving(element2) {
    if (page.animations(document).some((animation) => animation.playState === "running")) return true;
    for (let at = element2; at; at = flatParent(at)) if (GEOMETRY.test(getAttribute(at, "style") ?? "")) return true;
    return false;
  }
  function pointFor(element2, position2) {
    const box = boxOf(element2);
    if (position2) return { x: box.x + position2.x, y: box.y + position2.y };
    return clickPoints(element2).next().value;
  }
  function reachablePoint(element2, surface, position2) {
    for (const point of pointsToTry(surface, position2)) {
      const hit = isInViewport(point) ? elementAt(point) : null;
      if (hit && receivesFor(hit, element2, surface)) return point;
    }
    return null;
  }
  function pointsToTry(surface, position2) {
    return position2 ? [pointFor(surface, position2)] : clickPoints(surface);
  }
  var PLACES = [
    { block: "center", inline: "center" },
    { block: "start", inline: "nearest" },
    { block: "end", inline: "nearest" },
    { block: "nearest", inline: "end" },
    { block: "nearest", inline: "start" }
  ];
  function uncover(element2, surface, position2) {
    const cover = coverOf(surface, position2);
    if (cover === null || isWithin(element2, cover) || fillsViewport(cover)) return null;
    for (const place2 of [...PLACES, PLACES[0]]) {
      scrollIntoView(surface, { ...place2, behavior: "instant" });
      const point = reachablePoint(element2, surface, position2);
      if (point) return point;
    }
    return null;
  }
  function coverOf(surface, position2) {
    for (const point of pointsToTry(surface, position2)) if (isInViewport(point)) return elementAt(point);
    return null;
  }
  function fillsViewport(cover) {
    for (let at = cover; at && at !== page.root(document) && at !== page.body(document); at = flatParent(at)) {
      const box = boxOf(at);
      const keepsPlace = keepsPlaceOnScroll(at);
      if (keepsPlace && box.top <= 0 && box.left <= 0 && box.bottom >= innerHeight && box.right >= innerWidth) return true;
    }
    return false;
  }
  function keepsPlaceOnScroll(element2) {
    return /^(fixed|sticky)$/.test(getComputedStyle(element2).position);
  }
  function unreachable(element2, surface, position2) {
    const isAnyInside = Array.from(pointsToTry(surface, position2)).some(isInViewport);
    if (!isAnyInside) return obstacleOf(element2, "outside viewport", "lies outside the viewport and cannot be scrolled into it");
    return coveredBy(element2, coverOf(surface, position2));
  }
  function coveredBy(element2, cover) {
    if (!cover || isWithin(element2, cover)) return obstacleOf(element2, "no pointer events", "lets the pointer through (pointer-events or clipping)");
    const ref = refOf(cover);
    const details = { coveredBy: ref, pageSaid: `${describe(element2)}
${describe(cover)}`, hint: hintFor(cover) };
    return obstacleOf(element2, "covered", `is covered by ${ref}`, details);
  }
  function hintFor(cover) {
    const isDialog = closest(cover, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true], [popover]") !== null;
    if (isDialog || fillsViewport(cover)) return "Close or answer what lies over it first.";
    for (let at = cover; at; at = flatParent(at)) {
      if (keepsPlaceOnScroll(at)) {
        return "What lies over it keeps its place when the page scrolls. Close it if it can be closed; otherwise make the page larger.";
      }
    }
    return "Wait until what lies over it is gone, or operate that element instead.";
  }
  var HINTS = {
    hidden: "Something else may have to be opened first; take a snapshot.",
    disabled: "Fill in what it depends on first, or wait until it is enabled.",
    moving: "Wait until the animation is over and try again."
  };
  function obstacleOf(element2, reason, sentence, details = {}) {
    const ref = refOf(element2);
    const hint = HINTS[reason];
    return new PageError("NOT_ACTIONABLE", `${ref} ${sentence}`, { reason, ref, pageSaid: describe(element2), ...hint ? { hint } : {}, ...details });
  }
  function preparedAt(element2, surface, point) {
    const role = roleOf(element2);
    const tag = localName(element2);
    const type = tag === "input" || tag === "button" ? element2.type : "";
    const isCheckable2 = type === "checkbox" || type === "radio" || role === "checkbox" || role === "radio" || role === "switch";
    const prepared = {
      ref: refOf(element2),
      tag,
      type,
      role,
      box: boxAsData(boxOf(element2)),
      point: { x: Math.round(point.x * 100) / 100, y: Math.round(point.y * 100) / 100 },
      ...isCheckable2 ? { checked: checkedState(element2, role) } : {},
      multiple: element2.multiple === true,
      isFile: type === "file",
      isDownload: closest(element2, "a[download], area[download]") !== null,
      framesInView: Array.from(queryAll(document, "iframe, frame, object, embed")).some((frame) => isInView(boxOf(frame)))
    };
    return { element: element2, surface, prepared };
  }

  // badges.ts
  var BADGES_LIMIT = 200;
  var overlay = null;
  function drawBadges(args) {
    removeBadges();
    const refs = optionalTexts(args, "refs");
    const nodes = refs ? refs.map((ref) => buildTree(elementOfRef(ref))) : operableNodes(buildTree().children);
    const visible = nodes.filter((node) => hasPlace(boxOf(node.element), optionalFlag(args, "fullPage") ?? false));
    const labels = visible.slice(0, BADGES_LIMIT).map(labelOf);
    draw(labels);
    return { labels, total: visible.length };
  }
  function removeBadges() {
    const removed2 = overlay !== null;
    overlay?.remove();
    overlay = null;
    return { removed: removed2 };
  }
  function operableNodes(items) {
    return items.flatMap((item) => isText(item) ? [] : [...item.isInteractive ? [item] : [], ...operableNodes(item.children)]);
  }
  function hasPlace(box, isFullPage) {
    if (box.width < 2 || box.height < 2) return false;
    return isFullPage || box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  }
  function labelOf({ element: element2, role, name }) {
    return { ref: refOf(element2), role, name: cut(name, 80), box: boxAsData(boxOf(element2)) };
  }
  function draw(labels) {
    overlay = page.create(document, "roost-badges");
    overlay.style.cssText = "all: initial; position: absolute; left: 0; top: 0; width: 0; height: 0; z-index: 2147483647; pointer-events: none;";
    const shadow = overlay.attachShadow({ mode: "closed" });
    rootElement().appendChild(overlay);
    const origin = boxOf(overlay);
    for (const label of labels) shadow.append(...badge(label, origin));
  }
  function badge({ ref, box }, origin) {
    const left = box.x - origin.x;
    const top = box.y - origin.y;
    const frame = page.create(document, "div");
    frame.style.cssText = `position: absolute; box-sizing: border-box; left: ${left}px; top: ${top}px; width: ${box.width}px; height: ${box.height}px; border: 2px solid #d6006c; border-radius: 2px;`;
    const label = page.create(document, "div");
    label.textContent = ref;
    label.style.cssText = `position: absolute; left: ${left}px; top: ${Math.max(top - 14, -origin.y)}px; padding: 0 3px; background: #d6006c; color: #fff; font: bold 11px/14px sans-serif; white-space: nowrap;`;
    return [frame, label];
  }

  // clipboard.ts
  var NAME_CHARS = 500;
  var world = globalThis;
  function expectPaste(args) {
    const items = args["items"];
    if (!Array.isArray(items)) throw badRequest("items", "items must be a list");
    const pastes = world.__pastes;
    if (pastes) {
      pastes.isThere = false;
      window.dispatchEvent(new Event(pastes.said));
      pastes.expected = Object.fromEntries(items);
      pastes.outcome = "";
    }
    return { isGuarded: pastes?.isThere ?? false, hasFocus: document.hasFocus() };
  }
  function isInsertedByBrowser(event) {
    const field = focusedElement();
    return Boolean(event) && !event.defaultPrevented && field !== null && isEditable(field) && !isReadOnly(field);
  }
  function pasted() {
    const pastes = world.__pastes;
    if (!pastes) return { outcome: "" };
    const isLost = pastes.outcome === "pasted" && isInsertedByBrowser(pastes.event) && !pastes.hasInput;
    const wasText = Boolean(pastes.expected?.["text/plain"]);
    pastes.expected = null;
    return { outcome: isLost && wasText ? "foreign" : pastes.outcome };
  }
  function selectedItems() {
    const field = focusedElement();
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      if (field.type === "password" || field.selectionStart === null) return [];
      const text3 = field.value.slice(field.selectionStart, field.selectionEnd ?? void 0);
      return text3 === "" ? [] : [["text/plain", text3]];
    }
    const selection = getSelection();
    const text2 = selection?.toString() ?? "";
    if (!selection || selection.isCollapsed || text2 === "") return [];
    const holder = document.createElement("div");
    for (let number2 = 0; number2 < selection.rangeCount; number2++) holder.append(selection.getRangeAt(number2).cloneContents());
    return [["text/plain", text2], ["text/html", holder.innerHTML]];
  }
  var CopyWatch = class {
    items = [];
    event = null;
    wasPrevented = false;
    removals = [];
    constructor() {
      for (const kind of ["copy", "cut"]) this.listen(window, kind, true, (event) => this.begin(event));
    }
    /** Look after each step of the event's way: a page may stop the event anywhere, after it has set its data. */
    begin(event) {
      if (!event.isTrusted) return;
      this.event = event;
      for (const step of event.composedPath()) {
        for (const capture of [true, false]) this.listen(step, event.type, capture, (now) => this.look(now));
      }
      this.look(event);
    }
    look(event) {
      this.wasPrevented = event.defaultPrevented;
      const data = event.clipboardData;
      if (!this.wasPrevented) this.items = selectedItems();
      else this.items = data ? Array.from(data.types, (type) => [type, data.getData(type)]) : [];
    }
    listen(on, kind, capture, hear) {
      const heard2 = (event) => hear(event);
      on.addEventListener(kind, heard2, capture);
      this.removals.push(() => on.removeEventListener(kind, heard2, capture));
    }
    stop() {
      for (const remove of this.removals) remove();
      this.removals = [];
    }
    result(chars) {
      this.stop();
      if (this.event?.defaultPrevented && !this.wasPrevented) return { isHidden: true };
      const isTooLarge = this.items.reduce((sum, [, text2]) => sum + text2.length, 0) > chars;
      return isTooLarge ? { isTooLarge } : { items: this.items.filter(([, text2]) => text2 !== "") };
    }
  };
  var watch = null;
  function watchCopy() {
    watch?.stop();
    watch = new CopyWatch();
    return {};
  }
  function copied(args) {
    const taken = watch?.result(optionalNumber(args, "chars", 1) ?? 0) ?? {};
    watch = null;
    return taken;
  }
  async function selectAll(args) {
    const element2 = await whenPresent(text(args, "target"), "operate", optionalNumber(args, "timeoutMs", 0) ?? 0);
    if (element2 instanceof HTMLInputElement || element2 instanceof HTMLTextAreaElement) {
      element2.focus({ preventScroll: true });
      element2.select();
    } else {
      if (element2 instanceof HTMLElement && element2.isContentEditable) element2.focus({ preventScroll: true });
      else focusedElement()?.blur();
      getSelection()?.selectAllChildren(element2);
    }
    const { role, name } = buildTree(element2);
    return { ref: refOf(element2), tag: localName(element2), role, name: cut(name, NAME_CHARS) };
  }

  // combobox.ts
  var OPTIONS_NAMED = 10;
  var OPTIONS_READ = 1e3;
  var OPTION_CHARS = 80;
  function mayHaveList(field) {
    if (hasAttribute(field, "list")) return false;
    return /^(combobox|listbox)$/.test(getAttribute(field, "role") ?? "") || /^(list|both)$/.test(getAttribute(field, "aria-autocomplete") ?? "") || hasAttribute(field, "aria-expanded") || getAttribute(field, "aria-haspopup") === "listbox";
  }
  async function openOptions(args) {
    const field = findTarget(text(args, "target"), "fill").element;
    const found2 = await untilPresent(() => nullIfEmpty(optionsFor(field)), optionalNumber(args, "timeoutMs", 0) ?? 0);
    const options = (found2 ?? []).slice(0, OPTIONS_READ);
    const named = options.slice(0, OPTIONS_NAMED);
    const exact = isSearch(field) ? [] : options.filter((option) => wordsOf2(option).toLowerCase() === tidy(text(args, "value")).toLowerCase());
    return {
      options: named.map(refOf),
      total: options.length,
      ...exact.length === 1 ? { exact: refOf(exact[0]) } : {},
      pageSaid: named.map((option) => `${refOf(option)}: option ${JSON.stringify(cut(wordsOf2(option), OPTION_CHARS))}`).join("\n")
    };
  }
  function nullIfEmpty(items) {
    return items.length > 0 ? items : null;
  }
  function optionsFor(field) {
    const named = [getAttribute(field, "aria-controls"), getAttribute(field, "aria-owns")].join(" ").split(/\s+/).filter((id) => id !== "");
    const root = rootOf(field);
    const lists = named.flatMap((id) => root.getElementById?.(id) ?? page.byId(document, id) ?? []);
    const open = (lists.length > 0 ? lists : openLists()).filter((list2) => list2 !== field && !isWithin(field, list2) && isRendered(list2));
    return open.flatMap((list2) => Array.from(queryAll(list2, "[role=option]")).filter((option) => isRendered(option) && !isTrue(option, "aria-disabled")));
  }
  function openLists() {
    return openRoots().flatMap((root) => Array.from(queryAll(root, "[role=listbox]")));
  }
  function isSearch(field) {
    if (getAttribute(field, "type") === "search" || getAttribute(field, "role") === "searchbox") return true;
    return field.closest("search, [role=search], form[role=search]") !== null;
  }
  function wordsOf2(option) {
    return tidy(plainText(option)) || declaredName(option);
  }

  // consent_words.ts
  var ABOUT_COOKIES = /cookie|consent|gdpr|ccpa|tracking|einwillig|datenschutz|confidentialité|traceurs|témoins|privacidad|consentimiento|galleta|privacidade|consentimento|consenso|toestemming|ciastecz|zgod[ayę]|prywatno|privacy (policy|choices|settings|preferences)|personal(ised|ized) ads/i;
  var BINDING_AGREEMENT = /terms (of (service|use)|and conditions|& conditions)|conditions of use|user agreement|licen[cs]e|eula|years? (old|of age)|\bage\b|over 18|18\+|adult|subscri|newsletter|nutzungsbedingungen|agb\b|geschäftsbedingungen|volljährig|abonn|conditions (générales|d['’]utilisation)|majeur|términos|condiciones de uso|mayor de edad|suscri|termini (di servizio|e condizioni)|condizioni d['’]uso|maggiorenne|iscriv|voorwaarden|meerderjarig|termos (de (uso|serviço)|e condições)|maior de (idade|18)|assin|regulamin|warunki|pełnoletni|prenumer/i;
  var REJECT_PHRASES = [
    "reject",
    "reject all",
    "reject all cookies",
    "reject cookies",
    "decline",
    "decline all",
    "decline cookies",
    "deny",
    "deny all",
    "refuse",
    "refuse all",
    "disagree",
    "i do not agree",
    "i don't agree",
    "do not accept",
    "don't accept",
    "only necessary",
    "necessary only",
    "use necessary cookies only",
    "only necessary cookies",
    "accept only necessary",
    "accept necessary",
    "accept necessary cookies",
    "allow necessary cookies",
    "only essential",
    "essential only",
    "essential cookies only",
    "accept essential",
    "accept only essential",
    "accept only essential cookies",
    "only required",
    "required only",
    "strictly necessary only",
    "reject non-essential",
    "reject non-essential cookies",
    "reject optional cookies",
    "reject additional cookies",
    "continue without accepting",
    "continue without agreeing",
    "no, thanks",
    "no thanks",
    "opt out",
    "do not sell or share my personal information",
    "ablehnen",
    "alle ablehnen",
    "alles ablehnen",
    "cookies ablehnen",
    "nicht zustimmen",
    "verweigern",
    "nur notwendige",
    "nur notwendige cookies",
    "nur notwendige cookies akzeptieren",
    "nur erforderliche",
    "nur erforderliche cookies",
    "nur essenzielle cookies akzeptieren",
    "nur essenzielle",
    "nur technisch notwendige",
    "ohne einwilligung fortfahren",
    "weiter ohne zustimmung",
    "optionale ablehnen",
    "refuser",
    "tout refuser",
    "refuser tout",
    "je refuse",
    "continuer sans accepter",
    "refuser les cookies",
    "uniquement les cookies nécessaires",
    "cookies nécessaires uniquement",
    "seulement nécessaires",
    "rechazar",
    "rechazar todo",
    "rechazar todas",
    "rechazarlas todas",
    "rechazar cookies",
    "rechazar todas las cookies",
    "denegar",
    "solo necesarias",
    "sólo necesarias",
    "solo las necesarias",
    "continuar sin aceptar",
    "no aceptar",
    "rifiuta",
    "rifiuta tutto",
    "rifiuta tutti",
    "rifiuto",
    "nega",
    "solo necessari",
    "solo i necessari",
    "solo cookie necessari",
    "continua senza accettare",
    "non accetto",
    "weigeren",
    "alles weigeren",
    "afwijzen",
    "alles afwijzen",
    "alleen noodzakelijk",
    "alleen noodzakelijke cookies",
    "alleen noodzakelijke",
    "alleen functionele cookies",
    "niet accepteren",
    "doorgaan zonder te accepteren",
    "rejeitar",
    "rejeitar tudo",
    "rejeitar todos",
    "recusar",
    "recusar tudo",
    "recusar todos",
    "apenas necessários",
    "somente necessários",
    "apenas os necessários",
    "continuar sem aceitar",
    "não aceitar",
    "odrzuć",
    "odrzuć wszystko",
    "odrzuć wszystkie",
    "odrzucam",
    "odrzucam wszystkie",
    "tylko niezbędne",
    "tylko niezbędne pliki cookie",
    "nie zgadzam się",
    "kontynuuj bez akceptacji"
  ];
  var ACCEPT_PHRASES = [
    "accept",
    "accept all",
    "accept all cookies",
    "accept cookies",
    "accept and close",
    "accept & close",
    "accept and continue",
    "accept & continue",
    "allow",
    "allow all",
    "allow all cookies",
    "allow cookies",
    "agree",
    "i agree",
    "agree and close",
    "agree & close",
    "agree to all",
    "ok",
    "okay",
    "got it",
    "i understand",
    "understood",
    "yes, i agree",
    "consent",
    "i consent",
    "i accept",
    "yes, i accept",
    "continue",
    "dismiss",
    "close",
    "akzeptieren",
    "alle akzeptieren",
    "alles akzeptieren",
    "alle cookies akzeptieren",
    "cookies akzeptieren",
    "zustimmen",
    "allen zustimmen",
    "alle zulassen",
    "zulassen",
    "einverstanden",
    "ich stimme zu",
    "zustimmen und weiter",
    "verstanden",
    "annehmen",
    "alle annehmen",
    "accepter",
    "tout accepter",
    "accepter tout",
    "j'accepte",
    "accepter et fermer",
    "accepter les cookies",
    "accepter tous les cookies",
    "d'accord",
    "autoriser",
    "tout autoriser",
    "j'ai compris",
    "accepter et continuer",
    "aceptar",
    "aceptar todo",
    "aceptar todas",
    "aceptarlas todas",
    "aceptar cookies",
    "aceptar todas las cookies",
    "acepto",
    "de acuerdo",
    "permitir",
    "permitir todo",
    "entendido",
    "aceptar y cerrar",
    "aceptar y continuar",
    "accetta",
    "accetta tutto",
    "accetta tutti",
    "accetto",
    "accetta i cookie",
    "accetta tutti i cookie",
    "acconsento",
    "consenti",
    "consenti tutti",
    "ho capito",
    "accetta e chiudi",
    "accetta e continua",
    "accepteren",
    "alles accepteren",
    "alle cookies accepteren",
    "cookies accepteren",
    "akkoord",
    "ik ga akkoord",
    "toestaan",
    "alles toestaan",
    "begrepen",
    "accepteren en doorgaan",
    "aceitar",
    "aceitar tudo",
    "aceitar todos",
    "aceitar cookies",
    "aceitar todos os cookies",
    "aceito",
    "concordo",
    "eu concordo",
    "permitir todos",
    "entendi",
    "aceitar e fechar",
    "akceptuj",
    "akceptuję",
    "zaakceptuj",
    "zaakceptuj wszystko",
    "akceptuj wszystko",
    "akceptuj wszystkie",
    "akceptuję wszystkie",
    "zgadzam się",
    "zezwól",
    "zezwól na wszystkie",
    "rozumiem",
    "przejdź do serwisu",
    "akceptuję i przechodzę do serwisu"
  ];
  var rejects = new Set(REJECT_PHRASES);
  var accepts = new Set(ACCEPT_PHRASES);
  function actionOfWords(words) {
    const phrase = words.toLowerCase().replace(/[’`]/g, "'").replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").replace(/\s+/g, " ");
    if (rejects.has(phrase)) return "reject";
    return accepts.has(phrase) ? "accept" : null;
  }
  var KNOWN_BANNERS = [
    "#onetrust-banner-sdk",
    "#onetrust-consent-sdk",
    "#CybotCookiebotDialog",
    "#usercentrics-root",
    "#usercentrics-cmp-ui",
    "#didomi-host",
    "#didomi-popup",
    "#qc-cmp2-container",
    ".qc-cmp2-container",
    "#sp_message_container",
    "[id^='sp_message_container']",
    "#truste-consent-track",
    "#trustarc-banner-overlay",
    ".truste_box_overlay",
    "#cookie-law-info-bar",
    ".cky-consent-container",
    "#cookiescript_injected",
    "#iubenda-cs-banner",
    ".iubenda-cs-container",
    "#cmpbox",
    "#cmpwrapper",
    ".fc-consent-root",
    "#tarteaucitronRoot",
    "#axeptio_overlay",
    ".osano-cm-window",
    "#termly-code-snippet-support",
    "#cc-main",
    ".cc-window",
    ".cookieconsent",
    "#cookie-consent",
    "#cookieConsent",
    "#cookie-banner",
    "#cookieBanner",
    ".cookie-banner",
    ".cookie-consent",
    ".cookie-notice",
    "#cookie-notice",
    "#gdpr-consent-tool-wrapper",
    "#klaro",
    ".klaro",
    "#BorlabsCookieBox",
    "#real-cookie-banner",
    "[data-testid='cookie-policy-manage-dialog']",
    "[data-cookiebanner]",
    "[data-nosnippet][class*='consent']"
  ].join(", ");
  var POSSIBLE_BANNERS = "dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true], [role=region], [class*=cookie i], [id*=cookie i], [class*=consent i], [id*=consent i], [class*=gdpr i], [id*=gdpr i], [class*=privacy i], [id*=privacy i]";

  // consent.ts
  var CLICKABLE = "button, a, [role=button], [role=link], input[type=button], input[type=submit], [onclick]";
  var WORDS_READ = 6e3;
  async function consent(_args) {
    const banners = bannersOnPage();
    const choices = banners.flatMap(choicesIn);
    const choice = choices.find(({ action: action2 }) => action2 === "reject") ?? choices.find(({ action: action2 }) => action2 === "accept");
    if (!choice) return { found: false, banner: banners[0] ? openingTag(banners[0].element) : null };
    const { action, element: element2, words, banner } = choice;
    const reply = { found: true, action, ref: refOf(element2), text: cut(words, 80), banner: openingTag(banner) };
    try {
      return { ...reply, point: (await whenActionable(refOf(element2), "click", 0)).prepared.point };
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      return { ...reply, point: null, obstacle: error.message };
    }
  }
  function bannersOnPage() {
    const known2 = [];
    const possible = [];
    for (const root of openRoots()) {
      for (const element2 of queryAll(root, KNOWN_BANNERS)) known2.push({ element: element2, isKnown: true, words: "" });
      for (const element2 of queryAll(root, POSSIBLE_BANNERS)) possible.push({ element: element2, isKnown: false, words: "" });
    }
    return [...known2, ...possible.filter(({ element: element2 }) => !known2.some((other) => isWithin(element2, other.element)))].filter(({ element: element2 }) => hasRenderedPart(element2)).map((banner) => ({ ...banner, words: cut(plainText(banner.element), WORDS_READ) })).filter((banner) => banner.isKnown || isAboutCookies(banner));
  }
  function hasRenderedPart(element2) {
    return isRendered(element2) && localName(element2) !== "body" && localName(element2) !== "html";
  }
  function isAboutCookies({ words }) {
    return ABOUT_COOKIES.test(words) && words.length < WORDS_READ;
  }
  function choicesIn(banner) {
    const choices = [];
    for (const element2 of clickableIn(banner.element)) {
      const words = tidy(wordsOn(element2));
      const action = actionOfWords(words);
      if (action && isRendered(element2) && !isBinding(banner, action)) choices.push({ action, element: element2, words, banner: banner.element });
    }
    return choices;
  }
  function isBinding({ words, isKnown: isKnown2 }, action) {
    return action === "accept" && !isKnown2 && BINDING_AGREEMENT.test(words);
  }
  function wordsOn(element2) {
    if (localName(element2) === "input") return element2.value;
    return textContent(element2)?.trim() || declaredName(element2);
  }
  function clickableIn(banner) {
    const roots = openRoots(banner);
    return Array.from(new Set(roots.flatMap((root) => Array.from(queryAll(root, CLICKABLE)))));
  }

  // markdown.ts
  var DEPTH_LIMIT3 = 400;
  function markdown(root) {
    return joinBlocks(new Blocks().of(root, 0)).trim();
  }
  function joinBlocks(blocks) {
    return blocks.filter((block) => block.trim() !== "").join("\n\n");
  }
  var Blocks = class _Blocks {
    done = [];
    paragraph = "";
    of(element2, depth) {
      const block = blockOf(element2, depth);
      return block === null ? new _Blocks().inside(element2, depth) : [block];
    }
    inside(element2, depth) {
      forEachReadableChild(element2, (child, isSeen2) => {
        if (!isElement(child)) {
          if (isSeen2) this.paragraph += escaped(child.data);
        } else if (isBlock(child)) {
          this.endParagraph();
          if (depth < DEPTH_LIMIT3) this.done.push(...this.of(child, depth + 1));
        } else this.paragraph += inline(child, depth + 1);
      });
      this.endParagraph();
      return this.done;
    }
    endParagraph() {
      const text2 = tidyInline(this.paragraph);
      if (text2 !== "") this.done.push(text2);
      this.paragraph = "";
    }
  };
  function blockOf(element2, depth) {
    const tag = localName(element2);
    const heading = /^h([1-6])$/.exec(tag);
    if (heading) return titled(`${"#".repeat(Number(heading[1]))} `, inlineContent(element2, depth));
    switch (tag) {
      case "hr":
        return "---";
      case "pre":
        return fenced(plainText(element2));
      case "blockquote":
        return prefixed(joinBlocks(new Blocks().inside(element2, depth)), "> ");
      case "ul":
      case "menu":
      case "ol":
        return list(element2, tag === "ol", depth);
      case "dt":
        return titled("**", inlineContent(element2, depth), "**");
      case "table":
        return isDataTable(element2) ? table(element2, depth) : null;
      default:
        return null;
    }
  }
  function titled(before, text2, after = "") {
    return text2 === "" ? "" : `${before}${text2}${after}`;
  }
  function fenced(code) {
    const fence = code.includes("```") ? "````" : "```";
    return `${fence}
${code}
${fence}`;
  }
  function prefixed(text2, prefix, first = prefix) {
    return text2.split("\n").map((line, index) => ((index === 0 ? first : prefix) + line).trimEnd()).join("\n");
  }
  function list(element2, isOrdered, depth) {
    const items = [];
    let number2 = Number(getAttribute(element2, "start") ?? 1);
    forEachReadableChild(element2, (child) => {
      if (!isElement(child)) return;
      const content2 = new Blocks().inside(child, depth + 1).join("\n");
      if (content2.trim() === "") return;
      const bullet = isOrdered ? `${number2++}. ` : "- ";
      items.push(prefixed(content2, " ".repeat(bullet.length), bullet));
    });
    return items.join("\n");
  }
  function isDataTable(element2) {
    const { rows } = element2;
    return getAttribute(element2, "role") !== "presentation" && rows.length > 0 && queryAll(element2, "table").length === 0 && (rows[0]?.cells.length ?? 0) > 1;
  }
  function table(element2, depth) {
    const rows = Array.from(element2.rows).filter((row) => exposureOf(row, getComputedStyle(row)) === "seen").map((row) => Array.from(row.cells, (cell) => inlineContent(cell, depth).replace(/\|/g, "\\|").replace(/\n/g, " ")));
    const [head, ...body] = rows;
    if (!head) return "";
    const columns = Math.max(...rows.map((row) => row.length));
    const line = (cells) => `| ${Array.from({ length: columns }, (_, index) => cells[index] ?? "").join(" | ")} |`;
    return [line(head), line(Array(columns).fill("---")), ...body.map(line)].join("\n");
  }
  function inlineContent(element2, depth) {
    let text2 = "";
    if (depth > DEPTH_LIMIT3) return text2;
    forEachReadableChild(element2, (child, isSeen2) => {
      if (!isElement(child)) text2 += isSeen2 ? escaped(child.data) : "";
      else text2 += isBlock(child) ? ` ${inline(child, depth + 1)} ` : inline(child, depth + 1);
    });
    return tidyInline(text2);
  }
  function inline(element2, depth) {
    const tag = localName(element2);
    const value = valueText(element2, tag);
    if (value !== null) return value === "" ? "" : ` ${escaped(value)} `;
    switch (tag) {
      case "br":
        return "\n";
      case "img":
        return image(element2);
      case "code":
      case "kbd":
      case "samp":
        return around("`", plainText(element2));
      case "b":
      case "strong":
        return around("**", inlineContentWithEdges(element2, depth));
      case "em":
      case "i":
        return around("*", inlineContentWithEdges(element2, depth));
      case "a":
        return link(element2, inlineContentWithEdges(element2, depth));
      default:
        return inlineContentWithEdges(element2, depth);
    }
  }
  function inlineContentWithEdges(element2, depth) {
    const text2 = inlineContent(element2, depth);
    const raw = element2.textContent ?? "";
    return `${/^\s/.test(raw) ? " " : ""}${text2}${/\s$/.test(raw) && text2 !== "" ? " " : ""}`;
  }
  function around(mark, text2) {
    const [before, inner, after] = edges(text2);
    return inner === "" ? before : `${before}${mark}${inner}${mark}${after}`;
  }
  function edges(text2) {
    const inner = text2.trim();
    if (inner === "") return [text2, "", ""];
    const start = text2.length - text2.trimStart().length;
    return [text2.slice(0, start), inner, text2.slice(start + inner.length)];
  }
  function image(element2) {
    const alt = getAttribute(element2, "alt")?.trim();
    const source = getAttribute(element2, "src") ?? "";
    if (!alt) return "";
    return source === "" || source.startsWith("data:") ? `![${alt}]()` : `![${alt}](${source})`;
  }
  function link(element2, text2) {
    const address = getAttribute(element2, "href")?.trim();
    if (!address || /^javascript:/i.test(address) || text2.trim() === "") return text2;
    const [before, inner, after] = edges(text2);
    return `${before}[${inner.replace(/\n+/g, " ")}](${/[\s()]/.test(address) ? `<${address}>` : address})${after}`;
  }
  function forEachReadableChild(element2, visit) {
    const style = getComputedStyle(element2);
    if (skipsContents(style, style.display) || isReadingOver()) return;
    const isSeen2 = style.visibility === "visible";
    const isClosed = localName(element2) === "details" && !hasAttribute(element2, "open");
    forEachFlatChild(element2, (child) => {
      const type = nodeType(child);
      if (type === TEXT && !isClosed) visit(child, isSeen2);
      else if (type === ELEMENT && isReadable(child) && (!isClosed || localName(child) === "summary")) visit(child, isSeen2);
    });
  }
  function isReadable(element2) {
    return !isUnrendered(element2) && !holdsSecret(element2) && !hasAttribute(element2, "inert") && exposureOf(element2, getComputedStyle(element2)) !== "gone";
  }
  function isBlock(element2) {
    const { display } = getComputedStyle(element2);
    return !display.startsWith("inline") && display !== "contents" && localName(element2) !== "br";
  }
  function escaped(text2) {
    return text2.replace(/\s+/g, " ").replace(/([\\`*_[\]])/g, "\\$1");
  }
  function tidyInline(text2) {
    return text2.replace(/[ \t]+/g, " ").replace(/ ?\n ?/g, "\n").trim();
  }

  // content.ts
  var CUT_NOTE2 = "\n\n# cut: this page takes too long to read. Ask for one part with selector.";
  var FIELDS2 = "input,textarea,[contenteditable]";
  var TITLE_CHARS = 1e3;
  var DEFAULT_LENGTH = 5e4;
  function content(args) {
    const format = oneOf(args, "format", ["text", "markdown", "html"], "text");
    const maxLength = optionalNumber(args, "maxLength", 1, 5e7) ?? DEFAULT_LENGTH;
    const selector = optionalText(args, "selector") ?? optionalText(args, "target");
    const whole = format === "html" ? rootElement() : contentElement();
    const element2 = selector === void 0 ? whole : findTarget(selector).element;
    const text2 = { text: plainText, markdown, html: (one2) => openHTML(one2) }[format](element2);
    return { url: location.href, title: cut(page.title(document), TITLE_CHARS), format, text: cut(text2, maxLength) + (wasCut() ? CUT_NOTE2 : ""), length: text2.length, truncated: text2.length > maxLength || wasCut() };
  }
  function openHTML(element2, isInner = false) {
    const markup = isInner ? innerHTML : outerHTML;
    const fields = [element2, ...queryAll(element2, FIELDS2)];
    if (!fields.some((field) => isSecretField(field) && (field.hasAttribute("value") || holdsSecret(field)))) return markup(element2);
    const copy = document.implementation.createHTMLDocument("").importNode(element2, true);
    const copies = [copy, ...queryAll(copy, FIELDS2)];
    fields.forEach((field, index) => {
      if (!isSecretField(field)) return;
      copies[index].removeAttribute("value");
      copies[index].replaceChildren();
    });
    return markup(copy);
  }

  // element_info.ts
  var ATTRIBUTE_LIMIT2 = 300;
  var OPTIONS_LIMIT = 200;
  function resolve(args) {
    const { element: element2, matches: matches2 } = findTarget(text(args, "target"));
    const { role, name } = buildTree(element2);
    const tag = localName(element2);
    const info = {
      ref: refOf(element2),
      matches: matches2,
      tag,
      type: tag === "input" || tag === "button" ? element2.type : "",
      role,
      name: cut(name, 500),
      box: boxAsData(boxOf(element2)),
      visible: isRendered(element2),
      enabled: !isDisabled2(element2),
      editable: isEditable(element2) && !isReadOnly(element2) && !isDisabled2(element2),
      checked: checkedState(element2, role),
      attributes: openAttributes(element2),
      isFile: tag === "input" && element2.type === "file",
      multiple: element2.multiple === true
    };
    const value = valueOf(element2, role);
    if (value !== void 0) info.value = cut(value, 1e4);
    if (tag === "select") info.options = optionsOf(element2);
    if (tag === "a" || tag === "area") info.href = element2.href;
    return info;
  }
  function valueOf(element2, role) {
    if (isSecretField(element2)) return void 0;
    return localName(element2) === "select" ? element2.value : shownValue(element2, role);
  }
  function openAttributes(element2) {
    const open = {};
    for (const { name, value } of attributesOf(element2)) {
      if (!isSecretAttribute(element2, name)) open[name] = cut(value, ATTRIBUTE_LIMIT2);
    }
    return open;
  }
  function optionsOf(select2) {
    return Array.from(select2.options).slice(0, OPTIONS_LIMIT).map((option) => ({ value: option.value, label: labelOfOption(option), selected: option.selected, disabled: option.disabled }));
  }

  // element_reading.ts
  var DEFAULT_LENGTH2 = 5e4;
  var STYLES_LIMIT = 100;
  var STYLES = "display visibility opacity position z-index overflow width height margin padding border border-radius color background-color font-family font-size font-weight line-height text-align cursor".split(" ");
  async function get(args) {
    const what = oneOf(args, "what", ["text", "html", "value", "attr", "count", "box", "styles"], "text");
    const target = text(args, "target");
    if (what === "count") return { value: allOfTarget(target).length, truncated: false };
    const maxLength = optionalNumber(args, "maxLength", 1, 5e7) ?? DEFAULT_LENGTH2;
    const element2 = await whenPresent(target, "operate", optionalNumber(args, "timeoutMs", 0) ?? 0);
    const value = read2(element2, what, args);
    if (typeof value !== "string") return { value, ref: refOf(element2), truncated: false };
    return { value: cut(value, maxLength), ref: refOf(element2), truncated: value.length > maxLength };
  }
  function read2(element2, what, args) {
    switch (what) {
      case "text":
        return element2 instanceof HTMLElement ? innerText(element2) : textContent(element2) ?? "";
      case "html":
        return openHTML(element2, true);
      case "value":
        return valueOf2(labelledControl(element2));
      case "attr":
        return attributeOf2(element2, text(args, "name"));
      case "box":
        return boxAsData(boxOf(element2));
      case "styles":
        return stylesOf(element2, optionalTexts(args, "names"));
    }
  }
  function valueOf2(element2) {
    if (!/^(?:input|select|textarea)$/.test(localName(element2))) throw badRequest("target", `${refOf(element2)} is no field, so it has no value`);
    if (isSecretField(element2)) return shownValue(element2, roleOf(element2)) ?? "";
    return element2.value;
  }
  function attributeOf2(element2, name) {
    if (isSecretAttribute(element2, name.toLowerCase())) throw badRequest("name", "This attribute may hold a secret, so Roost does not read it");
    return getAttribute(element2, name);
  }
  function stylesOf(element2, names) {
    if (names && names.length > STYLES_LIMIT) throw badRequest("names", `names are more than ${STYLES_LIMIT}`);
    const style = getComputedStyle(element2);
    return Object.fromEntries((names?.length ? names : STYLES).map((name) => [name, style.getPropertyValue(name)]));
  }
  async function is(args) {
    const state = oneOf(args, "state", ["visible", "hidden", "enabled", "disabled", "checked", "editable"], "visible");
    const target = text(args, "target");
    if (state === "visible" || state === "hidden") {
      const found2 = tryFindTarget(target);
      const isVisible = found2 !== null && isSeen(found2.element);
      return { value: isVisible === (state === "visible"), ...found2 ? { ref: refOf(found2.element) } : {} };
    }
    const element2 = labelledControl(await whenPresent(target, "operate", optionalNumber(args, "timeoutMs", 0) ?? 0));
    return { value: holds(element2, state), ref: refOf(element2) };
  }
  function isSeen(element2) {
    if (!isRendered(element2)) return false;
    const { width, height } = boxOf(element2);
    return width > 0 && height > 0 || getComputedStyle(element2).display === "contents";
  }
  function holds(element2, state) {
    switch (state) {
      case "enabled":
        return !isDisabled2(element2);
      case "disabled":
        return isDisabled2(element2);
      case "checked": {
        const role = roleOf(element2);
        if (!isCheckable(element2, role)) throw badRequest("target", `${refOf(element2)} is neither a check box nor a radio button`);
        return checkedState(element2, role) === true;
      }
      case "editable":
        return (isEditable(element2) || /^(?:input|select)$/.test(localName(element2))) && !isReadOnly(element2) && !isDisabled2(element2);
    }
  }

  // field_values.ts
  async function focusForTyping(args) {
    const ready = await actionable(args, "type");
    const filled2 = readyToType(ready);
    watchForEffects();
    return { ...filled2, ...loginOf(args, ready.element) };
  }
  async function setValue(args) {
    const element2 = await whenPresent(text(args, "target"), "fill", timeoutOf(args));
    const kind = kindOf(labelledControl(element2));
    if (oneOf(args, "kind", ["any", "select"], "any") === "select" && kind !== "select") throw notAList(element2);
    const filled2 = await fillers[kind](args);
    watchForEffects();
    return filled2;
  }
  var fillers = {
    text: (args) => focusForTyping(args),
    check: async (args) => readyToCheck(await actionable(args, "check"), args),
    select: async (args) => select(await actionable(args, "select"), args),
    pick: async (args) => pick(await actionable(args, "type"), singleValue(args), optionalFlag(args, "isPressed") === true),
    file: () => Promise.reject(badRequest("target", "This is a file field", "Upload files to it instead.")),
    none: (args) => Promise.reject(notAField(text(args, "target")))
  };
  var PICKED_TYPES = /^(color|date|datetime-local|month|range|time|week)$/;
  function kindOf(element2) {
    const role = roleOf(element2);
    switch (localName(element2)) {
      case "select":
        return "select";
      case "input": {
        const { type } = element2;
        if (type === "checkbox" || type === "radio") return "check";
        if (type === "file") return "file";
        if (PICKED_TYPES.test(type)) return "pick";
        break;
      }
    }
    if (isEditable(element2)) return "text";
    return /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role) ? "check" : "none";
  }
  function timeoutOf(args) {
    return optionalNumber(args, "timeoutMs", 0) ?? 0;
  }
  async function actionable(args, action) {
    return whenActionable(text(args, "target"), action, timeoutOf(args));
  }
  function notAField(target) {
    const { element: element2 } = findTarget(target, "fill");
    return new PageError("NOT_ACTIONABLE", `${refOf(element2)} is not a field that can be filled in`, {
      reason: "not editable",
      ref: refOf(element2),
      pageSaid: describe(element2),
      hint: "Click it and use what opens, or take the field inside it as target."
    });
  }
  function notAList(element2) {
    return new PageError("NOT_ACTIONABLE", `${refOf(element2)} is no list of the browser`, {
      reason: "not a select",
      ref: refOf(element2),
      pageSaid: describe(element2),
      hint: "Click it and then the option in what opens."
    });
  }
  function quoted(value) {
    return JSON.stringify(cut(value, 200));
  }
  function singleValue(args) {
    const value = Array.isArray(args.value) && args.value.length === 1 ? args.value[0] : args.value;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
    throw badRequest("value", "value must be a string");
  }
  function readyToType({ element: element2, prepared }) {
    const field = element2;
    field.focus({ preventScroll: true });
    const isNative = localName(element2) === "input" || localName(element2) === "textarea";
    const isEmpty = isNative ? field.value === "" : (field.textContent ?? "") === "";
    if (isNative) field.select();
    else selectContent(element2);
    return { ...prepared, next: "type", isEmpty, hasList: mayHaveList(element2) };
  }
  function selectContent(element2) {
    const selection = getSelection();
    const range = new Range();
    range.selectNodeContents(element2);
    selection?.removeAllRanges();
    selection?.addRange(range);
  }
  var TRUE = /^(true|on|yes|1|checked)$/i;
  var FALSE = /^(false|off|no|0|unchecked|)$/i;
  async function whenChecked(args) {
    const element2 = labelledControl(findTarget(text(args, "target"), "fill").element);
    const role = roleOf(element2);
    const wanted = TRUE.test(singleValue(args).trim());
    const isMet = await untilPresent(() => checkedState(element2, role) === wanted ? true : null, timeoutOf(args));
    if (isMet !== null) return {};
    throw new PageError("NOT_ACTIONABLE", `${refOf(element2)} was clicked and is ${wanted ? "not checked" : "still checked"}`, {
      reason: "unchanged",
      ref: refOf(element2),
      pageSaid: describe(element2),
      hint: "The page prevents the click or undoes it. Look at what the page asks for first."
    });
  }
  function readyToCheck(ready, args) {
    const { element: element2, prepared } = ready;
    const value = singleValue(args).trim();
    if (!TRUE.test(value) && !FALSE.test(value)) throw badRequest("value", `A ${prepared.role} takes true or false, not ${quoted(value)}`);
    const wanted = TRUE.test(value);
    const checked2 = checkedState(element2, prepared.role);
    if (!wanted && checked2 && prepared.role === "radio") throw badRequest("value", "A radio button is only unchecked by checking another one of its group");
    if (checked2 === wanted) return { ...prepared, next: "done", checked: checked2, wanted };
    guardPressOn(ready);
    return { ...prepared, next: "click", checked: checked2, wanted };
  }
  function select({ element: element2, prepared }, args) {
    const list2 = element2;
    const wanted = Array.isArray(args.value) ? optionalTexts(args, "value") : [singleValue(args)];
    if (wanted.length > 1 && !list2.multiple) throw badRequest("value", "This list takes one value");
    const chosen2 = new Set(wanted.map((value) => optionFor(list2, value)));
    for (const option of list2.options) option.selected = chosen2.has(option);
    announce(list2);
    return { ...prepared, next: "done", value: list2.value, selected: selectedLabels(list2) };
  }
  function optionFor(list2, wanted) {
    const options = Array.from(list2.options);
    const label = wanted.trim().toLowerCase();
    const option = options.find((candidate2) => candidate2.value === wanted) ?? options.find((candidate2) => labelOfOption(candidate2) === wanted.trim()) ?? options.find((candidate2) => labelOfOption(candidate2).toLowerCase() === label);
    if (!option) {
      throw new PageError("NOT_FOUND", `The list has no option ${quoted(wanted)}`, {
        hint: "Use one of the list's options, by value or label.",
        pageSaid: `Options:
${optionsOf(list2).map(({ value, label: shown3 }) => tidy(value === shown3 ? value : `${shown3} (${value})`)).join("\n")}`
      });
    }
    if (option.disabled) throw new PageError("NOT_ACTIONABLE", `The option ${quoted(wanted)} is disabled`, { reason: "disabled" });
    return option;
  }
  var FORMATS = {
    color: { pattern: /^#[\da-f]{6}$/i, example: "#1a2b3c" },
    date: { pattern: /^\d{4,}-\d\d-\d\d$/, example: "2026-03-31" },
    "datetime-local": { pattern: /^\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/, example: "2026-03-31T14:30" },
    month: { pattern: /^\d{4,}-\d\d$/, example: "2026-03" },
    range: { pattern: /^-?\d+(\.\d+)?$/, example: "50" },
    time: { pattern: /^\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/, example: "14:30" },
    week: { pattern: /^\d{4,}-W\d\d$/, example: "2026-W13" }
  };
  function pick({ element: element2, prepared }, value, isPressed) {
    const input = element2;
    checkFormat(input, value.trim());
    const before = input.value;
    input.focus({ preventScroll: true });
    input.value = value.trim();
    if (value !== "" && input.value === "") {
      input.value = before;
      throw badRequest("value", `${quoted(value)} is no valid ${input.type}`);
    }
    if (input.type === "range") {
      if (input.value === before) return { ...prepared, next: "done", value: before };
      const key = isPressed ? null : moveBeside(input);
      if (key) return { ...prepared, next: "press", key };
    }
    announce(input);
    return { ...prepared, next: "done", value: input.value };
  }
  function moveBeside(input) {
    const goal = input.value;
    if (input.step === "any") return null;
    input.stepDown();
    let key = "ArrowUp";
    if (input.value === goal) {
      input.stepUp();
      key = "ArrowDown";
    }
    if (input.value === goal) return null;
    input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    return key;
  }
  function checkFormat(input, value) {
    const { pattern, example } = FORMATS[input.type];
    if (value === "" && input.type !== "range" && input.type !== "color") return;
    if (!pattern.test(value)) throw badRequest("value", `A ${input.type} field takes values like ${example}, not ${quoted(value)}`);
    if (input.type !== "range") return;
    const [low, high] = [Number(input.min || 0), Number(input.max || 100)];
    if (Number(value) < low || Number(value) > high) throw badRequest("value", `This range goes from ${low} to ${high}`);
  }
  function announce(field) {
    field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  // find.ts
  var DEFAULT_LIMIT = 20;
  var PATTERN_LIMIT = 1e3;
  var HOLDERS_SHOWN = 3;
  var BEFORE_SHOWN = 4;
  var AFTER_SHOWN = 2;
  var NEIGHBOUR_CHARS = 160;
  var NEIGHBOURS_CHARS = 6e3;
  var ITEM_ROLES2 = new Set("article dialog figure form group listitem region row tabpanel treeitem".split(" "));
  function find(args) {
    const limit = optionalNumber(args, "limit", 1, 200) ?? DEFAULT_LIMIT;
    const fits4 = matcher(args);
    const lines = linesOf(buildTree().children);
    const hits = lines.flatMap((line, index) => fits4(line) ? [index] : []);
    if (hits.length === 0) return acrossLines(args);
    const shown3 = new Map(hits.slice(0, limit).map((index) => [index, withRef(lines[index])]));
    return {
      text: printWithNeighbours(lines, shown3, hits.length) + cutNote(),
      matches: Array.from(shown3.values(), (line) => ({ ref: line.ref, line: cut(line.text, 300) })),
      total: hits.length,
      truncated: hits.length > limit || wasCut()
    };
  }
  function cutNote() {
    return wasCut() ? "\n# cut: this page takes too long to read, and only its first part was searched. Try a CSS selector as target." : "";
  }
  function matcher(args) {
    const text2 = optionalText(args, "text");
    const pattern = optionalText(args, "regex");
    if (text2 === void 0 === (pattern === void 0)) throw badRequest("text", "Give either text or regex");
    if (text2 !== void 0) {
      const wanted = collapseSpace(text2).trim().toLowerCase();
      if (wanted === "") throw badRequest("text", "text is empty");
      return (line) => roleOfLine(line) === wanted || wordsOf3(line).some((words) => collapseSpace(words).toLowerCase().includes(wanted));
    }
    const compiled = expression(pattern);
    return (line) => compiled.exec(roleOfLine(line))?.[0] === roleOfLine(line) || wordsOf3(line).some((words) => compiled.test(words));
  }
  function expression(pattern) {
    if (pattern.length > PATTERN_LIMIT) throw badRequest("regex", `regex is longer than ${PATTERN_LIMIT} characters`);
    const [, body = pattern, flags = "i"] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? [];
    try {
      return new RegExp(body, `${flags.replace(/[gmy]/g, "")}m`);
    } catch (error) {
      throw badRequest("regex", `regex is not valid: ${error.message}`);
    }
  }
  function roleOfLine({ node }) {
    return node?.role ?? "text";
  }
  function wordsOf3(line) {
    const { node, properties } = line;
    const words = [line.label];
    if (node) {
      if (node.value) words.push(node.value);
      words.push(...node.children.flatMap((child) => line.isParent || "role" in child ? [] : [child.text]));
    }
    for (const property of properties) words.push(property.replace(/^\/?\w+: /, ""));
    return words.filter((one2) => one2 !== "");
  }
  function acrossLines(args) {
    const text2 = optionalText(args, "text");
    const found2 = text2 === void 0 || wasCut() ? null : elementsByText(cut(text2, 500))[0];
    if (!found2) return { text: `# nothing found${cutNote()}`, matches: [], total: 0, truncated: wasCut() };
    const [line] = linesOf([buildTree(found2)]);
    const shown3 = withRef(line);
    return {
      text: printLine({ ...shown3, isParent: false }, "<match> "),
      matches: [{ ref: refOf(found2), line: cut(shown3.text, 300) }],
      total: 1,
      truncated: false
    };
  }
  function printWithNeighbours(lines, matches2, total) {
    const neighbours = neighboursOf(lines, matches2);
    const holders = /* @__PURE__ */ new Set();
    for (const index of [...matches2.keys(), ...neighbours]) for (const holder of holdersOf(lines, index)) holders.add(holder);
    const shown3 = Array.from(/* @__PURE__ */ new Set([...matches2.keys(), ...neighbours, ...holders])).sort((one2, other) => one2 - other);
    const depths = /* @__PURE__ */ new Map();
    const parents = /* @__PURE__ */ new Set();
    for (const index of shown3) {
      const parent = shownParent(lines, index, depths);
      if (parent !== null) parents.add(parent);
      depths.set(index, parent === null ? 0 : depths.get(parent) + 1);
    }
    const out = shown3.map((index) => {
      const match = matches2.get(index);
      const line = match ?? { ...lines[index], text: cut(lines[index].text, NEIGHBOUR_CHARS), properties: [] };
      return printLine({ ...line, depth: depths.get(index), isParent: parents.has(index) }, match ? "<match> " : "");
    });
    if (total > matches2.size) out.push(`# ${total - matches2.size} more found: ask for something more exact, or raise limit`);
    return out.join("\n");
  }
  function neighboursOf(lines, matches2) {
    const chosen2 = /* @__PURE__ */ new Set();
    let room = NEIGHBOURS_CHARS;
    for (const index of matches2.keys()) {
      for (const at of linesAround(lines, index)) {
        if (chosen2.has(at) || matches2.has(at)) continue;
        room -= Math.min(lines[at].text.length, NEIGHBOUR_CHARS) + 2 * lines[at].depth + 4;
        if (room < 0) return chosen2;
        chosen2.add(at);
      }
    }
    return chosen2;
  }
  function linesAround(lines, index) {
    const item = itemAround(lines, index);
    const { parent } = lines[index];
    const isNear = (at) => at >= 0 && at < lines.length && (item === null ? lines[at].parent === parent || lines[at].parent === index : at >= item.start && at < item.end);
    const around2 = [];
    for (let step = 1; step <= BEFORE_SHOWN; step += 1) {
      if (step <= AFTER_SHOWN && isNear(index + step)) around2.push(index + step);
      if (isNear(index - step)) around2.push(index - step);
    }
    return around2;
  }
  function itemAround(lines, index) {
    let top = index;
    while (top !== -1 && !ITEM_ROLES2.has(roleOfLine(lines[top]))) top = lines[top].parent;
    if (top === -1) return null;
    let end = top + 1;
    while (end < lines.length && lines[end].depth > lines[top].depth) end += 1;
    return { start: top, end };
  }
  function holdersOf(lines, index) {
    const holders = [];
    for (let at = lines[index].parent; at !== -1 && holders.length < HOLDERS_SHOWN; at = lines[at].parent) {
      if (lines[at].ref) holders.push(at);
    }
    return holders;
  }
  function shownParent(lines, index, shown3) {
    for (let at = lines[index].parent; at !== -1; at = lines[at].parent) if (shown3.has(at)) return at;
    return null;
  }

  // frame_owner.ts
  async function frameOwner(args) {
    const owner = args.element;
    if (!(owner instanceof HTMLElement)) throw badRequest("element", "element must be the element that holds the frame");
    const point = args.point;
    if (point) {
      const uncovered = await untilPresent(() => reaches(owner, point) || scrollTo(owner, point) ? true : null, optionalNumber(args, "timeoutMs", 0) ?? 0);
      if (!uncovered) throw coverOf2(owner, point);
    }
    if (args.guard === true) guardStranger();
    const start = contentStart(owner);
    return { ref: refOf(owner), ...start, width: owner.clientWidth, height: owner.clientHeight };
  }
  function contentStart(owner) {
    const box = boxOf(owner);
    const style = getComputedStyle(owner);
    return { x: box.x + owner.clientLeft + parseFloat(style.paddingLeft), y: box.y + owner.clientTop + parseFloat(style.paddingTop) };
  }
  function inThisDocument(owner, point) {
    const start = contentStart(owner);
    return { x: start.x + point.x, y: start.y + point.y };
  }
  function reaches(owner, point) {
    const here = inThisDocument(owner, point);
    return isInViewport(here) && elementAt(here) === owner;
  }
  function scrollTo(owner, point) {
    for (const block of ["center", "start", "end", "nearest"]) {
      scrollIntoView(owner, { block, inline: "nearest", behavior: "instant" });
      if (reaches(owner, point)) return true;
      const here = inThisDocument(owner, point);
      scrollBy({ left: isInViewport({ ...here, y: 0 }) ? 0 : here.x - innerWidth / 2, top: here.y - innerHeight / 2, behavior: "instant" });
      if (reaches(owner, point)) return true;
    }
    return false;
  }
  function coverOf2(owner, point) {
    const here = inThisDocument(owner, point);
    if (isInViewport(here)) return coveredBy(owner, elementAt(here));
    return new PageError("NOT_ACTIONABLE", `The frame ${refOf(owner)} lies outside the viewport and cannot be scrolled into it`, { reason: "outside viewport", ref: refOf(owner) });
  }
  function stopPresses() {
    guardStranger();
    return {};
  }
  function stoppedPress() {
    const missed = takeVerdict();
    return missed ? { missed } : {};
  }
  function element(args) {
    return elementOfRef(text(args, "target"));
  }

  // highlight.ts
  var DEFAULT_SECONDS = 5;
  var LABEL_CHARS2 = 80;
  var overlay2 = null;
  async function highlight(args) {
    const element2 = await whenPresent(text(args, "target"), "operate", optionalNumber(args, "timeoutMs", 0) ?? 0);
    element2.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    removeHighlight();
    const shown3 = draw2(element2, cut(optionalText(args, "label") ?? "", LABEL_CHARS2));
    const ends = performance.now() + 1e3 * (optionalNumber(args, "seconds", 0.1, 60) ?? DEFAULT_SECONDS);
    void followed(element2, shown3, ends);
    return { ref: refOf(element2), role: roleOf(element2) };
  }
  function removeHighlight() {
    const removed2 = overlay2 !== null;
    overlay2?.remove();
    overlay2 = null;
    return { removed: removed2 };
  }
  function draw2(element2, label) {
    overlay2 = page.create(document, "roost-highlight");
    overlay2.style.cssText = "all: initial; position: fixed; left: 0; top: 0; width: 0; height: 0; z-index: 2147483647; pointer-events: none;";
    const shadow = overlay2.attachShadow({ mode: "closed" });
    const frame = page.create(document, "div");
    frame.style.cssText = "position: fixed; box-sizing: border-box; border: 3px solid #d6006c; border-radius: 4px; background: rgb(214 0 108 / 12%);";
    if (label !== "") {
      const words = page.create(document, "div");
      words.textContent = label;
      words.style.cssText = "position: absolute; left: -3px; bottom: 100%; padding: 1px 6px; background: #d6006c; color: #fff; font: bold 12px/18px sans-serif; white-space: nowrap;";
      frame.append(words);
    }
    shadow.append(frame);
    rootElement().appendChild(overlay2);
    place(frame, boxOf(element2));
    return { overlay: overlay2, frame };
  }
  function place(frame, box) {
    Object.assign(frame.style, { left: `${box.x - 4}px`, top: `${box.y - 4}px`, width: `${box.width + 8}px`, height: `${box.height + 8}px` });
  }
  async function followed(element2, shown3, ends) {
    let before = boxOf(element2);
    while (overlay2 === shown3.overlay && element2.isConnected && performance.now() < ends) {
      await nextFrame();
      const now = boxOf(element2);
      if (!isSameBox(before, now)) place(shown3.frame, now);
      before = now;
    }
    if (overlay2 === shown3.overlay) removeHighlight();
  }

  // page_state.ts
  var KINDS = ["headings", "links", "buttons", "inputs", "images", "landmarks", "alerts"];
  var LIMITS = { headings: 50, links: 100, buttons: 60, inputs: 60, images: 40, landmarks: 30, alerts: 20 };
  var READERS_KEPT2 = 16;
  var NAME_LIMIT2 = 120;
  var INPUT_ROLES = new Set("checkbox combobox listbox radio searchbox slider spinbutton switch textbox".split(" "));
  var BUTTON_ROLES = new Set("button menuitem menuitemcheckbox menuitemradio tab".split(" "));
  var ALERT_ROLES = new Set("alert alertdialog dialog log status".split(" "));
  function pageState(args) {
    const all = collect2(buildTree().children);
    const limits = args.limits ?? {};
    const shown3 = Object.fromEntries(KINDS.map((kind) => [kind, all[kind].slice(0, optionalNumber(limits, kind, 0) ?? LIMITS[kind])]));
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, { shown: shown3[kind].length, total: all[kind].length }]));
    const reader = optionalText(args, "reader");
    return {
      url: location.href,
      title: page.title(document),
      readyState: page.readyState(document),
      viewport: { width: innerWidth, height: innerHeight },
      scroll: scrollState(),
      ...shown3,
      counts,
      ...reader === void 0 ? {} : { diff: changesFor(reader, all) }
    };
  }
  function scrollState() {
    const scroller = page.scroller(document) ?? rootElement();
    return { x: Math.round(scrollX), y: Math.round(scrollY), width: scrollSize.width(scroller), height: scrollSize.height(scroller) };
  }
  function collect2(items, lists = { headings: [], links: [], buttons: [], inputs: [], images: [], landmarks: [], alerts: [] }) {
    for (const item of items) {
      if (isText(item)) continue;
      const kind = kindOf2(item);
      if (kind) lists[kind].push(entryOf(item, kind));
      collect2(item.children, lists);
    }
    return lists;
  }
  function kindOf2({ role }) {
    if (role === "heading") return "headings";
    if (role === "link") return "links";
    if (role === "img") return "images";
    if (BUTTON_ROLES.has(role)) return "buttons";
    if (INPUT_ROLES.has(role)) return "inputs";
    if (LANDMARK_ROLES.has(role)) return "landmarks";
    return ALERT_ROLES.has(role) ? "alerts" : null;
  }
  function entryOf(node, kind) {
    const { element: element2, role } = node;
    const entry = { ref: refOf(element2), name: cut(node.name, NAME_LIMIT2) };
    if (node.isDisabled) entry.disabled = true;
    switch (kind) {
      case "headings":
        entry.level = headingLevel(element2, role);
        break;
      case "links":
        entry.url = element2.href ?? getAttribute(element2, "href") ?? "";
        break;
      case "inputs":
        Object.assign(entry, inputState(node));
        break;
      case "images":
        entry.src = cut(getAttribute(element2, "src") ?? "", 200);
        break;
      case "alerts":
        Object.assign(entry, { role, text: cut(tidy(contentText(node.children)), 500) });
        break;
      default:
        entry.role = role;
    }
    return entry;
  }
  function inputState({ element: element2, role, value }) {
    const tag = localName(element2);
    const state = { role, type: tag === "input" ? element2.type : tag };
    if (value !== void 0) state.value = cut(value, 500);
    if (/^(checkbox|radio|switch)$/.test(role)) state.checked = checkedState(element2, role);
    if (tag === "select") state.options = optionsOf(element2).slice(0, 50).map(({ label, selected }) => selected ? { label, selected } : { label });
    if (element2.required === true) state.required = true;
    return state;
  }
  var memories2 = /* @__PURE__ */ new Map();
  function changesFor(reader, lists) {
    const entries = KINDS.flatMap((kind) => lists[kind].map((entry) => ({ kind, ...entry })));
    const now = new Map(entries.map((entry) => [entry.ref, JSON.stringify(entry)]));
    const before = memories2.get(reader);
    memories2.delete(reader);
    memories2.set(reader, now);
    if (memories2.size > READERS_KEPT2) memories2.delete(memories2.keys().next().value);
    if (!before) return null;
    return {
      added: entries.filter(({ ref }) => !before.has(ref)).slice(0, 50),
      changed: entries.filter(({ ref }) => before.has(ref) && before.get(ref) !== now.get(ref)).slice(0, 50),
      removed: Array.from(before.keys()).filter((ref) => !now.has(ref)).slice(0, 50)
    };
  }

  // page_tools.ts
  var TOOLS_LIMIT = 200;
  var NAME_CHARS2 = 200;
  var DESCRIPTION_CHARS = 2e3;
  var SCHEMA_CHARS = 1e4;
  var RESULT_CHARS = 1e6;
  function modelContext() {
    const found2 = document.modelContext ?? navigator.modelContext;
    if (found2?.getTools) return found2;
    const reason = isSecureContext ? "This browser does not have WebMCP" : "Only https pages and pages of this machine can offer tools";
    throw new PageError("NOT_FOUND", reason, { hint: "Act in the page itself: take a snapshot." });
  }
  async function ownTools() {
    const tools = await modelContext().getTools();
    return Array.from(tools).filter((tool) => !("window" in tool) || tool.window === window).slice(0, TOOLS_LIMIT);
  }
  async function pageTools() {
    const tools = await ownTools();
    return {
      tools: tools.map((tool) => ({
        name: cut(String(tool.name), NAME_CHARS2),
        description: cut(String(tool.description ?? ""), DESCRIPTION_CHARS),
        inputSchema: cut(asJson(tool.inputSchema ?? {}), SCHEMA_CHARS)
      }))
    };
  }
  async function callPageTool(args) {
    const name = text(args, "name");
    const tool = (await ownTools()).find((one2) => one2.name === name);
    if (!tool) throw new PageError("NOT_FOUND", "The page offers no tool of that name", { hint: "List the page's tools first." });
    const context = modelContext();
    try {
      const answer = context.invokeTool ? await context.invokeTool(name, args.input) : await executed(context, tool, args.input);
      return { value: cut(asJson(answer), RESULT_CHARS) };
    } catch (error) {
      throw new PageError("BAD_REQUEST", "The page's tool failed", { field: "input", pageSaid: String(error?.message ?? error) });
    }
  }
  async function executed(context, tool, input) {
    if (!context.executeTool) throw badRequest("name", "This browser cannot call the page's tools");
    try {
      return await context.executeTool(tool, input);
    } catch (error) {
      if (!String(error?.message).includes("Failed to parse input")) throw error;
      return context.executeTool(tool, JSON.stringify(input));
    }
  }
  function asJson(value) {
    return typeof value === "string" ? value : JSON.stringify(value) ?? "null";
  }

  // pointed_at.ts
  var ELEMENTS_LIMIT = 20;
  var NAME_CHARS3 = 80;
  var FRAMES = /* @__PURE__ */ new Set(["iframe", "frame"]);
  var POINT_PIXELS = 4;
  var PART_INSIDE = 0.6;
  function pointedAt(args) {
    const x = optionalNumber(args, "x") ?? 0;
    const y = optionalNumber(args, "y") ?? 0;
    const width = optionalNumber(args, "width", 0) ?? 0;
    const height = optionalNumber(args, "height", 0) ?? 0;
    const { children } = buildTree();
    const isPoint = width < POINT_PIXELS && height < POINT_PIXELS;
    const inside2 = isPoint ? [] : insideOf(children, new DOMRect(x, y, width, height));
    const found2 = inside2.length ? inside2 : atPoint(children, { x: x + width / 2, y: y + height / 2 });
    const elements2 = found2.slice(0, ELEMENTS_LIMIT).map(({ element: element2, role, name }) => ({
      ref: refOf(element2),
      role,
      name: cut(name, NAME_CHARS3),
      box: boxAsData(boxOf(element2))
    }));
    return { elements: elements2, total: found2.length };
  }
  function insideOf(items, area) {
    return items.flatMap((item) => {
      if (isText(item)) return isInside2(item.element, area) ? [{ element: item.element, role: "text", name: item.text }] : [];
      const isMeant = isInside2(item.element, area) && (item.isInteractive || item.children.every(isText));
      return isMeant ? [item] : insideOf(item.children, area);
    });
  }
  function isInside2(element2, area) {
    const box = boxOf(element2);
    const across = Math.min(box.right, area.right) - Math.max(box.left, area.left);
    const down = Math.min(box.bottom, area.bottom) - Math.max(box.top, area.top);
    return across > 0 && down > 0 && across * down >= PART_INSIDE * box.width * box.height;
  }
  function atPoint(items, point) {
    const hit = elementAt(point);
    if (hit === null || FRAMES.has(localName(hit))) return [];
    let best;
    const visit = (inside2) => {
      for (const item of inside2) {
        if (isText(item)) {
          if (item.element === hit) best ??= { element: hit, role: "text", name: item.text };
        } else if (holds2(item, hit)) {
          best = item;
          visit(item.children);
        } else {
          visit(item.children.filter((one2) => !isText(one2)));
        }
      }
    };
    visit(items);
    return [best ?? { element: hit, role: "", name: "" }];
  }
  function holds2(node, hit) {
    return node.element === hit || contains(node.element, hit);
  }

  // scroll.ts
  var DIRECTIONS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };
  var PAGE_SHARE = 0.8;
  function scroll(args) {
    const target = optionalText(args, "target");
    const direction = optionalText(args, "direction");
    if (direction !== void 0 && !(direction in DIRECTIONS)) throw badRequest("direction", "direction must be up, down, left or right");
    const element2 = target === void 0 ? null : findTarget(target).element;
    const scroller = direction === void 0 ? pageScroller() : scrollerFor(element2, DIRECTIONS[direction]);
    const before = positions(/* @__PURE__ */ new Set([...element2 ? scrollersAround(element2) : [], scroller, pageScroller()]));
    if (direction !== void 0) scrollBy2(scroller, DIRECTIONS[direction], optionalNumber(args, "amount", 0));
    else if (element2) scrollIntoView(element2, { block: "center", inline: "nearest", behavior: "instant" });
    else scrollToPoint(args, scroller);
    const moved = Array.from(before).find(([one2, [x, y]]) => one2.scrollLeft !== x || one2.scrollTop !== y)?.[0];
    return replyFor(moved ?? scroller, moved !== void 0);
  }
  function pageScroller() {
    return page.scroller(document) ?? rootElement();
  }
  function scrollerFor(element2, way) {
    const start = element2 ?? (canMove(pageScroller(), way) ? null : elementAt({ x: innerWidth / 2, y: innerHeight / 2 }));
    for (let at = start; at; at = flatParent(at)) if (canMove(at, way)) return at;
    return pageScroller();
  }
  function canMove(element2, [across, down]) {
    const style = getComputedStyle(element2);
    const isPage = element2 === pageScroller();
    const [overflow, size, room, at] = down !== 0 ? [style.overflowY, scrollSize.height(element2), element2.clientHeight, element2.scrollTop] : [style.overflowX, scrollSize.width(element2), element2.clientWidth, element2.scrollLeft];
    if (!isPage && !/auto|scroll|overlay/.test(overflow)) return false;
    return across + down > 0 ? at + room < size - 1 : at > 0;
  }
  function scrollBy2(scroller, [across, down], amount) {
    const isPage = scroller === pageScroller();
    const width = isPage ? innerWidth : scroller.clientWidth;
    const height = isPage ? innerHeight : scroller.clientHeight;
    scroller.scrollBy({ left: across * (amount ?? width * PAGE_SHARE), top: down * (amount ?? height * PAGE_SHARE), behavior: "instant" });
  }
  function scrollToPoint(args, scroller) {
    const x = optionalNumber(args, "x");
    const y = optionalNumber(args, "y");
    if (x === void 0 && y === void 0) throw badRequest("target", "Give target, direction, or x and y");
    scroller.scrollTo({ left: x ?? scroller.scrollLeft, top: y ?? scroller.scrollTop, behavior: "instant" });
  }
  function scrollersAround(element2) {
    const found2 = [];
    for (let at = flatParent(element2); at; at = flatParent(at)) {
      const { overflowX, overflowY } = getComputedStyle(at);
      if (overflowX !== "visible" || overflowY !== "visible") found2.push(at);
    }
    return found2;
  }
  function positions(scrollers) {
    return new Map(Array.from(scrollers, (one2) => [one2, [one2.scrollLeft, one2.scrollTop]]));
  }
  function replyFor(scroller, moved) {
    return {
      moved,
      x: Math.round(scroller.scrollLeft),
      y: Math.round(scroller.scrollTop),
      pageWidth: scrollSize.width(scroller),
      pageHeight: scrollSize.height(scroller),
      viewport: { width: innerWidth, height: innerHeight },
      atEnd: !canMove(scroller, DIRECTIONS.down)
    };
  }

  // secret_fill.ts
  var TAKES_TEXT = /^(email|number|password|search|tel|text|url)$/;
  var TEXT_CHARS = 1e6;
  function identity() {
    return { begun: performance.timeOrigin, origin: self.origin };
  }
  async function fillSecret(args) {
    const origins = optionalTexts(args, "origins") ?? [];
    const value = text(args, "value");
    const { element: element2, prepared } = await whenActionable(text(args, "target"), "type", optionalNumber(args, "timeoutMs", 0) ?? 0);
    const type = checked(element2, origins);
    element2.focus({ preventScroll: true });
    if (checked(element2, origins) !== type) throw refused("type", element2);
    holdSecret(element2);
    if (type !== "password") setAttribute(element2, "autocomplete", "off");
    guardForm(element2, value, origins);
    try {
      insert(element2, value);
      if (checked(element2, origins) !== type) throw refused("type", element2);
      if (isField(element2) && valueOf3(element2) !== value) throw refused("value", element2);
    } catch (error) {
      empty(element2);
      throw error;
    }
    watchForEffects();
    const { ref, tag, role } = prepared;
    return { ref, tag, type, role };
  }
  function shownText2() {
    const open = secretFields().some((element2) => isConnected(element2) && isRendered(element2) && showsValue(element2));
    const values = Array.from(queryAll(document, "input:not([type=password]):not([type=hidden]),textarea"), (one2) => valueOf3(one2));
    return { text: [plainText(contentElement()), ...values].join("\n").slice(0, TEXT_CHARS), isOpen: open };
  }
  function showsValue(element2) {
    if (!isField(element2)) return (element2.textContent ?? "") !== "";
    return element2.type !== "password" && valueOf3(element2) !== "";
  }
  function loginFields() {
    const inputs = Array.from(queryAll(document, "input"), (one2) => one2).filter((one2) => isRendered(one2) && !one2.disabled && !one2.readOnly && TAKES_TEXT.test(one2.type));
    const hint = (one2) => `${getAttribute(one2, "autocomplete") ?? ""} ${getAttribute(one2, "name") ?? ""} ${getAttribute(one2, "id") ?? ""}`.toLowerCase();
    const password = inputs.find((one2) => one2.type === "password");
    const code = inputs.find((one2) => one2 !== password && /one-time-code|otp|totp|2fa|mfa|verification|passcode/.test(hint(one2)));
    const others = inputs.filter((one2) => one2 !== password && one2 !== code && one2.type !== "search");
    const name = others.find((one2) => /username|email|login|user/.test(hint(one2)) || one2.type === "email") ?? (password ? others.find((one2) => one2.form === password.form) : void 0);
    return { ...name && { name: refOf(name) }, ...password && { password: refOf(password) }, ...code && { code: refOf(code) } };
  }
  function checked(element2, origins) {
    if (!isBound(self.origin, origins)) throw refused("origin", element2);
    if (!isConnected(element2)) throw refused("gone", element2);
    const type = typeOf(element2);
    if (type === void 0) throw refused("type", element2);
    const around2 = formOf2(element2);
    if (around2 && !goalsOf(around2).every((goal) => isBoundGoal(goal, origins))) throw refused("form", element2);
    return type;
  }
  function typeOf(element2) {
    switch (localName(element2)) {
      case "textarea":
        return "textarea";
      case "input": {
        const { type } = element2;
        return TAKES_TEXT.test(type) ? type : void 0;
      }
      default:
        return isEditable(element2) ? "editor" : void 0;
    }
  }
  function formOf2(element2) {
    return isField(element2) ? element2.form : closest(element2, "form");
  }
  function goalsOf(around2) {
    const buttons = Array.from(form.elements(around2)).filter((one2) => hasAttribute(one2, "formaction"));
    return [form.action(around2), ...buttons.map((button) => button.formAction)];
  }
  function isBoundGoal(goal, origins) {
    if (/^javascript:/i.test(goal)) return true;
    try {
      return isBound(new URL(goal).origin, origins);
    } catch {
      return false;
    }
  }
  function isBound(origin, origins) {
    return origins.some((one2) => {
      const star = one2.indexOf("://*.");
      if (star < 0) return origin === one2;
      return origin.startsWith(one2.slice(0, star + 3)) && origin.endsWith(one2.slice(star + 4));
    });
  }
  function isField(element2) {
    return localName(element2) === "input" || localName(element2) === "textarea";
  }
  function valueOf3(field) {
    return field.value;
  }
  function insert(element2, value) {
    if (isField(element2)) element2.select();
    else getSelection()?.selectAllChildren(element2);
    const isDone = document.execCommand("insertText", false, value);
    if (isField(element2) && valueOf3(element2) === value) return;
    if (!isField(element2) && isDone) return;
    set(element2, value);
  }
  function set(element2, value) {
    if (isField(element2)) element2.value = value;
    else element2.textContent = value;
    element2.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText" }));
    element2.dispatchEvent(new Event("change", { bubbles: true }));
  }
  function empty(element2) {
    if (isField(element2) ? valueOf3(element2) !== "" : element2.textContent !== "") set(element2, "");
  }
  function guardForm(element2, value, origins) {
    rootOf(element2).addEventListener("formdata", (event) => {
      const { formData, target } = event;
      if (goalsOf(target).every((goal) => isBoundGoal(goal, origins))) return;
      const names = Array.from(form.elements(target), (one2) => getAttribute(one2, "name") ?? "");
      for (const name of names) if (formData.getAll(name).includes(value)) formData.delete(name);
      empty(element2);
    });
  }
  var REASONS = {
    origin: "The secret is not bound to the origin of this frame",
    type: "The page changed what kind of field this is, or it takes no text",
    form: "The form would send the secret to an origin that it is not bound to",
    gone: "The page removed the field",
    value: "The page changed the value as it was filled in, or the field is too short for it"
  };
  function refused(reason, element2) {
    const hint = reason === "origin" || reason === "form" ? "Ask the person to bind the secret to that origin, if they trust it." : "Nothing was left in the field. Look at the page, and hand over to the person if it goes on.";
    return new PageError("NOT_ACTIONABLE", `${REASONS[reason]}, so it was not filled in`, { reason: `secret: ${reason}`, ref: refOf(element2), hint });
  }

  // storage.ts
  var KEYS_LIMIT = 1e3;
  var KEY_CHARS = 1e3;
  var VALUE_CHARS = 1e6;
  var OPEN_MS = 3e3;
  async function storage(args) {
    const kind = oneOf(args, "kind", ["local", "session", "indexeddb"], "local");
    const action = oneOf(args, "action", ["list", "get", "set", "delete", "clear"], "list");
    try {
      if (kind === "indexeddb") return { origin: location.origin, items: [], total: 0, ...await databaseWork(action, args) };
      return { origin: location.origin, ...areaWork(kind === "local" ? localStorage : sessionStorage, action, args) };
    } catch (error) {
      if (error instanceof PageError) throw error;
      throw refused2(error);
    }
  }
  function refused2(error) {
    const name = error.name ?? "Error";
    if (name === "QuotaExceededError") return badRequest("value", "The page's storage is full");
    if (name === "SecurityError") return badRequest("kind", "This document has no storage: it is sandboxed, or has no origin");
    if (name === "DataError") return badRequest("key", "IndexedDB takes no such key, or the store makes its keys itself");
    return badRequest("kind", `The browser refused it: ${/^[A-Za-z]{1,40}$/.test(name) ? name : "Error"}`);
  }
  function areaWork(area, action, args) {
    if (action === "list") {
      const keys = Object.keys(area);
      const items = keys.slice(0, KEYS_LIMIT).map((key2) => ({ key: cut(key2, KEY_CHARS), size: area.getItem(key2).length }));
      return { items, total: keys.length };
    }
    if (action === "clear") {
      const total = area.length;
      area.clear();
      return { items: [], total };
    }
    const key = text(args, "key");
    const value = area.getItem(key);
    if (action === "set") area.setItem(key, text(args, "value"));
    else if (value === null) throw missing("key");
    if (action === "delete") area.removeItem(key);
    return { items: [action === "get" ? { key, value: cut(value, VALUE_CHARS), size: value.length } : { key }], total: 1 };
  }
  function missing(what) {
    return new PageError("NOT_FOUND", `The page has stored nothing under that ${what}`, { hint: "List what is stored first." });
  }
  async function databaseWork(action, args) {
    const known2 = (await indexedDB.databases()).flatMap(({ name: name2 }) => name2 === void 0 ? [] : [name2]);
    const name = optionalText(args, "database");
    if (name === void 0) {
      if (action === "list") return { databases: await Promise.all(known2.slice(0, KEYS_LIMIT).map(described2)), total: known2.length };
      if (action !== "clear") throw badRequest("database", "database: say which database");
      for (const one2 of known2) await removed(one2);
      return { total: known2.length };
    }
    if (!known2.includes(name)) throw missing("database");
    const store = optionalText(args, "store");
    if (store === void 0) {
      if (action === "list") return { databases: [await described2(name)], total: 1 };
      if (action !== "clear") throw badRequest("store", "store: say which object store of the database");
      await removed(name);
      return { total: 1 };
    }
    const database = await opened(name);
    try {
      if (!database.objectStoreNames.contains(store)) throw missing("store");
      return await storeWork(database, store, action, args);
    } finally {
      database.close();
    }
  }
  async function storeWork(database, name, action, args) {
    const isReading = action === "list" || action === "get";
    const store = database.transaction(name, isReading ? "readonly" : "readwrite").objectStore(name);
    if (action === "clear") {
      const total = await done(store.count());
      await done(store.clear());
      return { total };
    }
    if (action === "list") {
      const keys = await done(store.getAllKeys(null, KEYS_LIMIT));
      return { items: keys.map((key2) => ({ key: shown2(key2, KEY_CHARS) })), total: await done(store.count()) };
    }
    const key = keyOf2(text(args, "key"));
    if (action === "set") {
      const value2 = parsed2(text(args, "value"));
      await done(store.keyPath === null ? store.put(value2, key) : store.put(value2));
      return { items: [{ key: shown2(key, KEY_CHARS) }], total: 1 };
    }
    const value = await done(store.get(key));
    if (value === void 0 && await done(store.count(key)) === 0) throw missing("key");
    if (action === "delete") await done(store.delete(key));
    const told2 = action === "get" ? { value: shown2(value, VALUE_CHARS) } : {};
    return { items: [{ key: shown2(key, KEY_CHARS), ...told2 }], total: 1 };
  }
  function keyOf2(text2) {
    try {
      const value = JSON.parse(text2);
      if (typeof value === "number" || typeof value === "string" || Array.isArray(value)) return value;
    } catch {
    }
    return text2;
  }
  function parsed2(value) {
    try {
      return JSON.parse(value);
    } catch {
      throw badRequest("value", "value must be JSON for IndexedDB");
    }
  }
  function shown2(value, limit) {
    const text2 = typeof value === "string" ? value : JSON.stringify(value, (_, one2) => typeof one2 === "bigint" ? String(one2) : one2);
    return cut(text2 ?? "undefined", limit);
  }
  async function described2(name) {
    const database = await opened(name);
    try {
      const names = Array.from(database.objectStoreNames).slice(0, 100);
      const stores = names.map(async (one2) => ({ name: cut(one2, KEY_CHARS), count: await done(database.transaction(one2).objectStore(one2).count()) }));
      return { name: cut(name, KEY_CHARS), stores: await Promise.all(stores) };
    } finally {
      database.close();
    }
  }
  function opened(name) {
    return done(indexedDB.open(name), true);
  }
  async function removed(name) {
    await done(indexedDB.deleteDatabase(name), true);
  }
  function done(request, mayBlock = false) {
    return new Promise((resolve2, reject) => {
      const busy = () => reject(new PageError("TIMEOUT", "The page keeps its database busy", { hint: "Clear its object stores instead, or close the page that uses the database." }));
      const timer = mayBlock ? setTimeout(busy, OPEN_MS) : void 0;
      request.onsuccess = () => {
        clearTimeout(timer);
        resolve2(request.result);
      };
      request.onerror = () => {
        clearTimeout(timer);
        reject(request.error ?? new Error("unknown"));
      };
    });
  }

  // conditions.ts
  async function waitFor(args) {
    const begun = performance.now();
    const condition = conditionOf(args);
    const met = await untilPresent(() => condition() ? true : null, optionalNumber(args, "timeoutMs", 0) ?? 0);
    return { found: met !== null, elapsedMs: Math.round(performance.now() - begun), url: location.href };
  }
  var CONDITIONS = ["text", "textGone", "selector", "url", "loadState"];
  var STATES = ["visible", "hidden", "attached", "detached", "enabled", "disabled", "checked", "unchecked", "editable"];
  function conditionOf(args) {
    const given = CONDITIONS.filter((field) => args[field] !== void 0 && args[field] !== null);
    if (given.length === 0) throw badRequest("text", `Give one of ${CONDITIONS.join(", ")}`);
    const conditions = given.map((field) => one(field, optionalText(args, field), args));
    return () => conditions.every((condition) => condition());
  }
  function one(field, wanted, args) {
    if (wanted.trim() === "") throw badRequest(field, `${field} is empty`);
    switch (field) {
      case "text":
        return () => isTextVisible(wanted);
      case "textGone":
        return () => !isTextVisible(wanted);
      case "selector": {
        const state = oneOf(args, "state", STATES, "visible");
        return () => isTargetIn(state, wanted);
      }
      case "loadState":
        return oneOf(args, "loadState", ["domcontentloaded", "load"], "load") === "load" ? () => page.readyState(document) === "complete" : () => page.readyState(document) !== "loading";
      case "url":
        return () => fitsAddress(location.href, wanted);
    }
  }
  function isTargetIn(state, target) {
    if (looksLikeRef(target)) throw badRequest("selector", `${cut(target, 50)} is a ref; selector takes CSS, text=… or a locator`);
    switch (state) {
      case "visible":
        return isTargetRendered(target);
      case "hidden":
        return !isTargetRendered(target);
      case "attached":
        return allOfTarget(target).length > 0;
      case "detached":
        return allOfTarget(target).length === 0;
      case "checked":
        return allOfTarget(target).some((element2) => checkedState(element2, roleOf(element2)) === true);
      case "unchecked":
        return allOfTarget(target).some((element2) => checkedState(element2, roleOf(element2)) === false);
      default:
        return allOfTarget(target).some((element2) => isRendered(element2) && holds(element2, state));
    }
  }
  function isTextVisible(wanted) {
    const body = page.body(document);
    return body !== null && tidy(plainText(body)).toLowerCase().includes(tidy(wanted).toLowerCase());
  }
  function fitsAddress(address, wanted) {
    if (!wanted.includes("*")) return address.includes(wanted);
    const [first = "", ...others] = wanted.split(/\*+/);
    const last2 = others.pop();
    if (!address.startsWith(first) || !address.slice(first.length).endsWith(last2)) return false;
    let at = first.length;
    for (const part of others) {
      const found2 = address.indexOf(part, at);
      if (found2 < 0) return false;
      at = found2 + part.length;
    }
    return at <= address.length - last2.length;
  }
  var OPERABLE2 = "a[href], button, input:not([type=hidden]), select, textarea, summary, canvas, video, iframe, [contenteditable], [tabindex], [role=button], [role=link], [role=textbox], [role=menuitem], [role=tab], [role=option], [role=checkbox]";
  var OPERABLE_TRIED = 50;
  var TEXT_CHARS2 = 40;
  var SCRIPTS = "script[src], script[type=module]";
  async function drawn(args) {
    const met = await untilPresent(() => hasDrawn() ? true : null, optionalNumber(args, "timeoutMs", 0) ?? 0);
    return { drawn: met !== null, mayDraw: met === null && mayDraw(), mayGrow: queryAll(document, SCRIPTS).length > 0 };
  }
  async function grows(args) {
    let grew = false;
    const observer = new MutationObserver((records) => {
      grew ||= records.some((record) => record.type === "attributes" || Array.from(record.addedNodes).some(isElement));
    });
    for (const root of openRoots()) observer.observe(root, { subtree: true, childList: true, attributeFilter: ["class", "hidden"] });
    await pause(args);
    observer.disconnect();
    return { grew, isLoading: page.readyState(document) !== "complete" };
  }
  function hasDrawn() {
    const body = page.body(document);
    if (body === null) return false;
    const isOperable = (root) => Array.from(queryAll(root, OPERABLE2)).slice(0, OPERABLE_TRIED).some(isRendered);
    return isOperable(document) || tidy(plainText(body)).length >= TEXT_CHARS2 || openRoots().some(isOperable);
  }
  function mayDraw() {
    if (page.readyState(document) !== "complete") return true;
    const body = page.body(document);
    const isEmpty = body === null || tidy(plainText(body)) === "";
    return queryAll(document, isEmpty ? "script" : SCRIPTS).length > 0;
  }
  async function readiness() {
    await nextFrame();
    const images = Array.from(queryAll(document, "img"));
    return {
      readyState: page.readyState(document),
      // Lazy images outside the viewport wait for a person to scroll, not for the network.
      pendingImages: images.filter((image2) => !image2.complete && image2.loading !== "lazy").length,
      pendingFonts: Array.from(page.fonts(document)).filter((font) => font.status === "loading").length,
      url: location.href,
      title: page.title(document)
    };
  }

  // main.ts
  var TITLE_CHARS2 = 1e3;
  var functions = {
    callPageTool,
    consent,
    content,
    copied,
    delivered,
    drawBadges,
    drawn,
    expectPaste,
    fillSecret,
    find,
    focusForTyping,
    frameOwner,
    get,
    grows,
    highlight,
    identity,
    inputState: inputState2,
    is,
    loginFields,
    openOptions,
    pageState,
    pageTools,
    pasted,
    pause,
    pointedAt,
    prepare,
    readiness,
    removeBadges,
    removeHighlight,
    resolve,
    scroll,
    selectAll,
    settled,
    setValue,
    shownText: shownText2,
    snapshot,
    stoppedPress,
    stopPresses,
    storage,
    viewport,
    waitFor,
    watchCopy,
    whenChecked
  };
  function asData(error) {
    if (error instanceof PageError) return { error: error.report };
    throw error;
  }
  function numbered(answer) {
    return { ...answer, nextRef: nextRef(), page: { url: location.href, origin: self.origin, title: cut(page.title(document), TITLE_CHARS2) } };
  }
  function answering(run) {
    return (args) => {
      try {
        startNumbering(args ?? {});
        checkOrigin(args ?? {});
        startBudget(optionalNumber(args ?? {}, "budgetMs", 1, 6e4));
        const answer = run(args ?? {});
        return answer instanceof Promise ? answer.catch(asData).then(numbered) : numbered(answer);
      } catch (error) {
        return numbered(asData(error));
      }
    };
  }
  function checkOrigin(args) {
    const judged = optionalText(args, "judgedOrigin");
    if (judged !== void 0 && judged !== self.origin) {
      throw new PageError("NOT_ACTIONABLE", "The page was left as the action began, so nothing was done", {
        reason: "left",
        hint: "Look where the tab is now."
      });
    }
  }
  function inputState2() {
    return { isLogin: hasFilledPassword(null), place: location.origin };
  }
  function startNumbering(args) {
    const prefix = optionalText(args, "prefix");
    if (prefix !== void 0 && !/^(f\d+)?$/.test(prefix)) throw badRequest("prefix", "prefix must look like f1");
    startNumberingAt(optionalNumber(args, "firstRef", 1), prefix);
  }
  var VERSION = "ROOST_BUNDLE_VERSION";
  function retire() {
    retireGuard();
    retireWatch();
    removeBadges();
    removeHighlight();
  }
  var world2 = globalThis;
  if (world2.__roost?.version !== VERSION) {
    world2.__roost?.retire?.();
    const answers = Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, answering(run)]));
    world2.__roost = { ...answers, element, version: VERSION, retire };
  }
})();
