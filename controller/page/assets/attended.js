// Is somebody in front of the page? One that can be seen, and was touched within a quarter of an hour. The others go on
// to show what there is, but do not make the server work out when Jobs start: a tab that was forgotten would do so for
// days.

const ATTENDED_MS = 15 * 60_000;
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"];

let touchedMs = Date.now();

function touch() {
  touchedMs = Date.now();
}

for (const sign of SIGNS) document.addEventListener(sign, touch, { passive: true, capture: true });
document.addEventListener("visibilitychange", touch);

export function isAttended() {
  return document.visibilityState === "visible" && Date.now() - touchedMs < ATTENDED_MS;
}
