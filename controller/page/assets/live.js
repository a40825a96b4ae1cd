// How a page stays true: it asks again while its tab is visible, says when it cannot, and goes on by itself.

import { Refusal } from "./api.js";
import { draw, warning } from "./dom.js";
import { span } from "./words.js";

const RETRY_MS = 5000, RETRY_WORDS = "Trying again in a few seconds.";

// Pages that lost the server in one moment come back one by one.
const retryMs = () => RETRY_MS * (1 + Math.random());

// Ends early when the page is left.
export function pause(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener("abort", end);
  });
}

// How long to wait before the next question: a server that is slow is busy with us a tenth of the time at most.
export function paced(ms, tookMs) {
  return Math.max(ms, 10 * tookMs);
}

// Resolves when the tab can be seen.
export function visible(signal) {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((done) => {
    const look = () => {
      if (document.visibilityState !== "visible" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
  });
}

// Aborts when the tab is hidden, too: a hidden tab holds no stream of the server's.
export function whileVisible(signal) {
  const hiding = new AbortController();
  const look = () => {
    if (document.visibilityState === "visible" && !signal.aborted) return;
    document.removeEventListener("visibilitychange", look);
    hiding.abort();
  };
  document.addEventListener("visibilitychange", look);
  signal.addEventListener("abort", look, { once: true });
  look();
  return hiding.signal;
}

export function sentenceOf(error) {
  return error instanceof TypeError ? "the server cannot be reached" : error.message;
}

// Does it help to ask again? A network that is down is a TypeError of fetch. What else is no refusal passes, too: a
// silence, an answer of a server of another version or of a proxy.
function mayPass(error) {
  return !(error instanceof Refusal) || error.isPassing;
}

// page.tell(sentence, isTrouble) says how live the page is. This says what keeps it from being live, and waits.
// Throws what does not pass by itself.
export async function waitToRetry(error, page) {
  if (page.signal.aborted) return;
  if (!mayPass(error)) throw error;
  page.tell(`Not live: ${sentenceOf(error)}. ${RETRY_WORDS}`, true);
  await pause(retryMs(), page.signal);
}

// look() asks and draws, now and every ms, for as long as the page is shown.
export async function again(ms, page, look) {
  while (!page.signal.aborted) {
    const began = performance.now();
    try {
      await look();
      if (page.signal.aborted) return;
      page.tell(`Live: updated every ${span(ms / 1000)}.`);
      await pause(paced(ms, performance.now() - began), page.signal);
    } catch (error) {
      await waitToRetry(error, page);
    }
    await visible(page.signal);
  }
}

// As again(), for a part of a page whose failure is said in its own place and concerns no other part. ms is Infinity
// where one answer is enough.
export async function partAgain(ms, page, look, say) {
  while (!page.signal.aborted) {
    let waitMs = ms;
    try {
      await look();
    } catch (error) {
      if (page.signal.aborted) return;
      say(mayPass(error) ? `${sentenceOf(error)}. ${RETRY_WORDS}` : sentenceOf(error), error);
      if (!mayPass(error)) return;
      waitMs = retryMs();
    }
    if (waitMs === Infinity) return;
    await pause(waitMs, page.signal);
    await visible(page.signal);
  }
}

// As partAgain(), for an element whose last answer stays in sight, dimmed, until there is another.
export async function keptAgain(ms, page, part, look) {
  let isDrawn = false;
  await partAgain(ms, page, async () => {
    await look();
    isDrawn = true;
    part.classList.remove("stale");
  }, (sentence) => {
    if (isDrawn) part.classList.add("stale");
    else draw(part, warning(sentence));
  });
}
