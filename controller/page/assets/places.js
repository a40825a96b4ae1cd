// The entries of the browser's history. Each keeps how far its page was scrolled, so that back and forward come to what
// one left. The address has the rest: page, filters, selection.

const entries = new Map(); // key in history.state -> { top, isNew }
const WAIT_MS = 5000;

let entry;

function entryNow() {
  const key = history.state?.key || `${Date.now()}-${entries.size}`;
  if (!history.state?.key) history.replaceState({ key }, "");
  if (!entries.has(key)) entries.set(key, { top: 0, isNew: true });
  return entries.get(key);
}

// To be called when the address has changed, before anything is drawn. Returns the entry: isNew where it was not come
// back to.
export function enter() {
  if (entry) Object.assign(entry, { top: window.scrollY, isNew: false });
  entry = entryNow();
  return entry;
}

// Scrolls to where the entry was left, as soon as as much is drawn; not any more once somebody scrolls.
export function scrollBack({ top }, content, signal) {
  const ending = new AbortController(), end = () => ending.abort();
  const look = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight - window.innerHeight < top) return;
    window.scrollTo(0, top);
    end();
  });
  ending.signal.addEventListener("abort", () => look.disconnect());
  for (const sign of ["wheel", "keydown", "pointerdown"]) window.addEventListener(sign, end, { signal: ending.signal, once: true });
  signal.addEventListener("abort", end, { signal: ending.signal });
  setTimeout(end, WAIT_MS);
  look.observe(content);
}

history.scrollRestoration = "manual";
