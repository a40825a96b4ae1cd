// The head of each page: how live what is shown is, the clock of all times, who looks, and of which namespace.

import { session } from "./api.js";
import { address, draw, h } from "./dom.js";

const byId = (id) => document.getElementById(id);

/* ---- live ---- */

const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const exact = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

let liveAt = 0, shownState = "";

// state: "", "on" or "trouble".
function drawLive(state, words) {
  const live = byId("live"), text = hour.format(new Date());
  shownState = state;
  live.className = `live ${state}`;
  live.title = words;
  if (live.textContent !== text) live.textContent = text;
}

setInterval(() => drawLive(shownState, byId("live").title), 5000);

// Says how live the page is. In trouble that stands above the page, which is dimmed: it shows what was so before.
export function drawNews(sentence, isTrouble, content) {
  const news = byId("news"), isStale = isTrouble && liveAt > 0;
  const words = isStale ? `${sentence} Shown is what was so at ${exact.format(liveAt)}.` : sentence;
  if (sentence && !isTrouble) liveAt = Date.now();
  if (news.textContent !== words) news.textContent = words;
  news.className = isTrouble ? "banner" : "hidden";
  content.classList.toggle("stale", isStale);
  drawLive(isTrouble ? "trouble" : sentence ? "on" : "", words || "Asking ...");
}

// A page that does not go on to ask is as good as live when it is drawn.
export function drawDone() {
  if (shownState === "") drawLive("on", `Shown is what was so at ${exact.format(Date.now())}.`);
}

// Another page begins: nothing of it is old yet.
export function forgetNews() {
  liveAt = 0;
}

/* ---- who looks ---- */

// A ServiceAccount is known by its own name; who has none came from the controller's own host.
function shortName(user) {
  return user.split(":").pop() || "this host";
}

function scopeWords(namespace) {
  return namespace || (session.mayAll ? "all namespaces" : "no namespace");
}

// choose(namespace) comes before the address is followed.
function namespaceLinks({ addressIn, namespace, choose }) {
  const known = session.who?.namespaces || [], all = [...new Set(namespace ? [...known, namespace] : known)].sort();
  const entry = (name, text) => h("li", {}, h("a", { href: addressIn(name), "aria-current": name === namespace && "true", onclick: () => choose(name) }, text));
  return h("ul", { "aria-label": "Namespaces" }, session.mayAll ? entry("", "All namespaces") : "", all.map((name) => entry(name, name)));
}

function otherNamespace({ addressIn, choose }) {
  const field = h("input", { name: "namespace", "aria-label": "Another namespace", placeholder: "another namespace", autocomplete: "off", spellcheck: "false" });
  return h("form", { onsubmit: (event) => {
    event.preventDefault();
    const name = field.value.trim();
    if (!name) return;
    choose(name);
    location.hash = addressIn(name);
  } }, field, h("button", {}, "Show"));
}

function signButton({ sign }) {
  if (session.who?.byProxy) return h("p", { class: "faint small" }, "The proxy in front of this page signed you in.");
  return h("button", { type: "button", id: "sign-out", onclick: sign }, session.token ? "Sign out" : "Use a token");
}

// place: { namespace, addressIn(namespace), choose(namespace), sign() }. addressIn: this place, of another namespace.
export function drawMe(place) {
  const { who } = session, isKnown = Boolean(who || session.token || session.isLetInWithoutToken), me = byId("me"), name = shortName(who?.user || "");
  byId("sign").hidden = isKnown;
  me.hidden = !isKnown;
  draw(me, h("i", { "aria-hidden": "true" }, name[0].toUpperCase()), h("span", {}, who ? `${name} · ${scopeWords(place.namespace)}` : scopeWords(place.namespace)), h("span", { "aria-hidden": "true" }, "▾"));
  me.title = who?.user || "";
  byId("mine").replaceChildren(h("p", {}, who ? ["Signed in as ", h("strong", {}, who.user || name)] : "Signed in"), namespaceLinks(place),
    who?.more || !who ? otherNamespace(place) : "", signButton(place));
}

export function closeMe() {
  if (byId("mine").matches(":popover-open")) byId("mine").hidePopover();
}

/* ---- search ---- */

const TYPED = "input, select, textarea, [contenteditable]";

// The key "/" goes to the search, where no text is being written.
export function listenForSearch(isSearching) {
  const text = byId("find-text"), search = () => address(["search"], { text: text.value.trim() });
  let timer = 0;
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = search();
  });
  text.addEventListener("input", () => {
    clearTimeout(timer);
    if (isSearching()) timer = setTimeout(() => isSearching() && location.replace(search()), 300);
  });
  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key !== "/" || !isPlain || event.target.closest(TYPED) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    document.body.classList.add("searching");
    text.focus();
    text.select();
  });
}

export function drawSearch(isSearching, words) {
  const text = byId("find-text");
  document.body.classList.toggle("searching", isSearching);
  if (document.activeElement !== text) text.value = isSearching ? words : "";
}
