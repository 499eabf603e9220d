// Where the pages of owned tabs go: what begins, what comes of it, with which status.
//
// A navigation is followed by its request, because events of one that was called off come late, and
// `webNavigation` names no more than addresses. Where a page of another site needs another process,
// Firefox calls a navigation off and begins it again: so that it was called off ends nothing.

import { isFile } from "./downloads.js";

const CALLED_OFF = /\b2152398850\b|NS_BINDING_ABORTED/;
const NO_CONTENT = [204, 205];
const MOMENT_MS = 300; // within this, what was called off begins again, or does not
const STEP_MS = 1000; // within this, a step in the history begins, or there is none

/** Where a tab is on its way to of which is not known where to. */
export const ANYWHERE = "";

/** How a navigation ended: in a document, within the one that was there, or in none. */
export const End = { DOCUMENT: "document", WITHIN: "within", NOTHING: "nothing" };

/** A server that could not be reached, or did not answer well. */
export class Unreachable extends Error {}

class Course {
  turns = 0; // documents this tab has had
  begun = null; // where it is on its way to
  request = null; // {id, urls, status, error, isOver: it was no document} of the last document that was asked for
  journeys = new Set();
}

export class Journeys {
  #courses = new Map(); // tab id → Course

  forget(tabId) {
    for (const journey of this.#courses.get(tabId)?.journeys ?? []) journey.end(null);
    this.#courses.delete(tabId);
  }

  turns(tabId) {
    return this.#of(tabId).turns;
  }

  isLeaving(tabId) {
    return this.#of(tabId).begun !== null;
  }

  /** Set out by `act` and wait for the end: {end, status}. An exception where it failed. */
  async go(tabId, url, act) {
    for (const earlier of this.#of(tabId).journeys) earlier.isOver = true;
    return this.#follow(tabId, new URL(url).href, act);
  }

  /** The same for a step in the history, of which is not known where it leads; null: nowhere. */
  async step(tabId, act) {
    const course = this.#of(tabId);
    const { turns } = course;
    const isNowhere = () => course.begun === null && course.turns === turns;
    const { end, status } = await this.#follow(tabId, null, async (journey) => {
      setTimeout(() => isNowhere() && journey.end({ end: null }), STEP_MS);
      await act();
    });
    return end === null ? null : { end, status };
  }

  /** Whether anybody waits for that tab to get there. */
  isExpected(tabId, url) {
    return [...this.#of(tabId).journeys].some((journey) => leadsTo(journey, url));
  }

  /** What is under way ends; at once where nothing is. */
  async landed(tabId) {
    const { begun, request } = this.#of(tabId);
    if (begun === null) return;
    const asked = request?.urls.has(plain(begun)) ? request : null; // else it is still to come
    await this.#follow(tabId, null, async () => {}, asked).catch(() => {});
  }

  async #follow(tabId, url, act, request = null) {
    const course = this.#of(tabId);
    const journey = { url, request, isOver: false };
    const over = new Promise((resolve) => (journey.end = resolve));
    course.journeys.add(journey);
    try {
      await act(journey);
      const found = await over;
      if (found === null) throw new Error("the tab is gone");
      if (found.error) throw new Unreachable(found.error);
      return { end: found.end, status: journey.request?.status ?? null };
    } finally {
      course.journeys.delete(journey);
    }
  }

  // --- what the browser tells ------------------------------------------------------------------

  asked(tabId, { requestId, url }) {
    const course = this.#of(tabId);
    if (course.request?.id !== requestId) course.request = { id: requestId, urls: new Set(), status: null, isOver: false };
    course.request.urls.add(plain(url));
    for (const journey of course.journeys)
      if (journey.url === null || plain(journey.url) === plain(url)) journey.request ??= course.request;
  }

  answered(tabId, { requestId, statusCode, responseHeaders = [] }) {
    const { request } = this.#of(tabId);
    if (request?.id !== requestId) return;
    request.status = statusCode;
    if (NO_CONTENT.includes(statusCode) || isFile(responseHeaders)) this.#came(tabId, request);
  }

  failed(tabId, { requestId, error }) {
    const { request } = this.#of(tabId);
    if (request?.id === requestId && !CALLED_OFF.test(error)) request.error = error;
  }

  downloaded(tabId, url) {
    const { request } = this.#of(tabId);
    if (request?.urls.has(plain(url))) this.#came(tabId, request);
  }

  /** To nothing: the tab stays where it is. */
  #came(tabId, request) {
    const course = this.#of(tabId);
    request.isOver = true;
    if (course.begun !== null && request.urls.has(plain(course.begun))) course.begun = null;
    this.#end(tabId, End.NOTHING, (one) => one.request === request);
  }

  /** Told at leisure: what came of it may be known already. */
  began(tabId, url) {
    const course = this.#of(tabId);
    const wasNothing = url !== null && course.request?.isOver && course.request.urls.has(plain(url));
    if (!wasNothing) course.begun = url;
  }

  committed(tabId, url) {
    const course = this.#of(tabId);
    course.turns += 1;
    course.begun = null;
    this.#end(tabId, End.DOCUMENT, (one) => leadsTo(one, url));
  }

  movedWithin(tabId, url) {
    this.#end(tabId, End.WITHIN, (one) => one.url === null || plain(one.url) === plain(url));
  }

  brokeOff(tabId, url, error) {
    const course = this.#of(tabId);
    if (CALLED_OFF.test(error)) {
      if (course.begun === url || course.begun === ANYWHERE) course.begun = null;
      const waiting = new Set(course.journeys); // a journey that begins later has nothing to do with this one
      const isEnded = (one) => one.url === null && waiting.has(one);
      setTimeout(() => course.begun === null && this.#end(tabId, End.NOTHING, isEnded), MOMENT_MS);
      return;
    }
    const reason = course.request?.error ?? error;
    for (const journey of course.journeys) if (leadsTo(journey, url)) journey.end({ error: reason });
  }

  #end(tabId, end, fits) {
    for (const journey of this.#of(tabId).journeys) if (!journey.isOver && fits(journey)) journey.end({ end });
  }

  #of(tabId) {
    if (!this.#courses.has(tabId)) this.#courses.set(tabId, new Course());
    return this.#courses.get(tabId);
  }
}

function leadsTo({ url, request }, to) {
  return url === null || plain(url) === plain(to) || (request?.urls.has(plain(to)) ?? false);
}

function plain(url) {
  return url.split("#")[0];
}
