// Which page is shown: the part of the address behind the #, with all that matters, so that it can be sent as a link.

import { Refusal, session } from "./api.js";
import { address, draw, faint, h, warning } from "./dom.js";
import { historyPage } from "./history.js";
import { jobPage } from "./job.js";
import { jobsPage } from "./jobs.js";
import { sentenceOf } from "./live.js";
import { moneyPage } from "./money.js";
import { nodesPage } from "./nodes.js";
import { planPage } from "./plan.js";
import { queuePage } from "./queue.js";
import { queuesPage } from "./queues.js";
import { drawHeader, learnRights } from "./rights.js";
import { searchPage } from "./search.js";

// under: the entry of the navigation that is the current one.
const PAGES = {
  __proto__: null, // "#/constructor" is no page
  queues: { show: queuesPage, title: "Queues" }, queue: { show: queuePage, title: "Queue", under: "queues" },
  jobs: { show: jobsPage, title: "Jobs", isScoped: true }, job: { show: jobPage, title: "Job", under: "jobs" },
  history: { show: historyPage, title: "History", isScoped: true }, money: { show: moneyPage, title: "Costs", isScoped: true },
  plan: { show: planPage, title: "Plan", isScoped: true },
  nodes: { show: nodesPage, title: "Nodes" }, search: { show: searchPage, title: "Search" },
};
const byId = (id) => document.getElementById(id);
const content = byId("content"), news = byId("news"), signing = byId("signing"), sign = byId("sign");

let leaving = new AbortController(), shown = "";

function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

// "#/job/team/train?since=7d": the page, its words, its parameters.
function where() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...words] = path.split("/").map(decoded);
  return { path, name: name || (session.namespace ? "jobs" : "queues"), words, params: new URLSearchParams(search) };
}

function tell(sentence, isTrouble = false) {
  if (news.textContent !== sentence) news.textContent = sentence;
  news.classList.toggle("warning", isTrouble);
  drawSign();
}

/* ---- what went wrong ---- */

// Who may see one namespace alone says which.
function chooseNamespace() {
  const field = h("input", { name: "namespace", value: session.namespace, autocomplete: "off", spellcheck: "false" });
  return h("form", { class: "ask", onsubmit: (event) => {
    event.preventDefault();
    const { name, params } = where(), namespace = field.value.trim();
    session.signIn(session.token, namespace);
    params.set("namespace", namespace);
    location.hash = PAGES[name].isScoped ? `#/${name}?${params}` : address(["jobs"], { namespace });
  } }, h("label", {}, "You may see one namespace if you have a role in it:", field), h("button", {}, "Show its Jobs"));
}

function complainIn(signal) {
  return (error) => {
    if (signal.aborted || error.name === "AbortError") return;
    const status = error instanceof Refusal ? error.status : 0;
    const words = status === 401 && !session.token ? "Sign in to see your jobs." : sentenceOf(error);
    draw(content, h("div", { role: "alert" }, warning(words)), status === 403 ? chooseNamespace() : "");
    tell("");
    if (status === 401) askForToken(session.token ? sentenceOf(error) : "");
  };
}

/* ---- signing in ---- */

function askForToken(sentence) {
  draw(byId("signing-says"), sentence);
  byId("namespace").value = session.namespace;
  if (!signing.open) signing.showModal();
}

function drawSign() {
  sign.textContent = session.token ? `Sign out${session.namespace ? ` (${session.namespace})` : ""}` : session.isLetInWithoutToken ? "Use a token" : "Sign in";
}

sign.addEventListener("click", () => {
  if (!session.token) return askForToken("");
  session.signOut();
  show();
});

signing.addEventListener("close", () => {
  const token = byId("token").value.trim();
  byId("token").value = "";
  if (signing.returnValue !== "in") return;
  if (!/^[!-~]*$/.test(token)) return askForToken("This is not a token: it has spaces or letters that no token has.");
  session.signIn(token, byId("namespace").value.trim());
  show();
});

/* ---- pages ---- */

// A page of one namespace says which in its address. True: the address was changed, and the page will be shown by that.
function addNamespace({ name, words, params }) {
  if (!PAGES[name]?.isScoped || params.has("namespace") || !session.namespace) return false;
  params.set("namespace", session.namespace);
  location.replace(`${address([name, ...words])}?${params}`);
  return true;
}

function markCurrent(href) {
  for (const a of document.querySelectorAll("nav a"))
    if (a.getAttribute("href") === href) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
}

function drawNavigation(page, at) {
  drawHeader();
  markCurrent(page && `#/${page.under || at.name}`);
}

async function show() {
  const at = where(), page = PAGES[at.name];
  if (addNamespace(at)) return;
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving, complain = complainIn(signal);
  drawNavigation(page, at);
  tell("");
  drawSign();
  if (shown !== at.path) content.replaceChildren(faint("Loading ..."));
  shown = at.path;
  if (!page) return complain(new Error("There is no such page. Use the links above."));
  document.title = `${[page.title, ...at.words].join(" ")} - Sluice`;
  try {
    await learnRights(signal);
    signal.throwIfAborted(); // another page is shown meanwhile
    drawNavigation(page, at);
    await page.show({ ...at, content, signal, tell: (...words) => signal.aborted || tell(...words), complain, namespace: session.namespace });
  } catch (error) {
    complain(error);
  }
  drawSign();
}

byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = address(["search"], { text: byId("find-text").value.trim() });
});

byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});

// Named once: all times of the page are by this clock, but those of a Budget, which name theirs.
byId("clock").textContent = `Times are in your time zone (${Intl.DateTimeFormat().resolvedOptions().timeZone}).`;

window.addEventListener("hashchange", () => {
  const isOther = where().path !== shown;
  show();
  if (isOther) content.focus({ preventScroll: false });
});
show();
