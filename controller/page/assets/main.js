// Which page is shown: the part of the address behind the #, with all that matters, so that it can be sent as a link.

import { Refusal, session } from "./api.js";
import { address, draw, h, warning } from "./dom.js";
import { closeMe, drawDone, drawMe, drawNews, drawSearch, forgetNews, listenForSearch } from "./header.js";
import { historyPage } from "./history.js";
import { jobPage } from "./job.js";
import { jobsPage } from "./jobs.js";
import { pause, sentenceOf, visible } from "./live.js";
import { moneyPage } from "./money.js";
import { nodesPage } from "./nodes.js";
import { overviewPage } from "./overview.js";
import { enter, scrollBack } from "./places.js";
import { planPage } from "./plan.js";
import { queuePage } from "./queue.js";
import { queuesPage } from "./queues.js";
import { drawNavigation, hasNothing, learnRights, renewRights } from "./rights.js";
import { searchPage } from "./search.js";
import { empty, skeleton } from "./ui.js";

// under: the entry of the navigation that is the current one. isScoped: its address says of which namespace. isAsked: by
// a field of its own, which keeps the focus; it draws its parts anew at once. shape: what comes, as skeletons have it.
const PAGES = {
  __proto__: null, // "#/constructor" is no page
  overview: { show: overviewPage, title: "Overview", isScoped: true, shape: ["figures", "picture", "rows"] },
  jobs: { show: jobsPage, title: "Jobs", isScoped: true, isAsked: true }, job: { show: jobPage, title: "Job", under: "jobs", shape: ["picture", "rows"] },
  queues: { show: queuesPage, title: "Queues", isScoped: true }, queue: { show: queuePage, title: "Queue", under: "queues", isScoped: true, shape: ["picture", "rows"] },
  plan: { show: planPage, title: "Plan", isScoped: true, shape: ["picture"] },
  history: { show: historyPage, title: "History", under: "jobs", isScoped: true, isAsked: true },
  money: { show: moneyPage, title: "Costs", isScoped: true, isAsked: true, shape: ["figures", "picture", "rows"] },
  nodes: { show: nodesPage, title: "Nodes", shape: ["picture", "rows"] }, search: { show: searchPage, title: "Search" },
};
const byId = (id) => document.getElementById(id);
const content = byId("content"), signing = byId("signing");

// shown: the path of the page that is drawn, and shownOf: its namespace.
let leaving = new AbortController(), shown = "", shownOf = "";

// What one person was shown is gone before anything is asked for the next.
session.onChange(() => {
  leaving.abort();
  shown = "";
  content.replaceChildren();
});

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
  return { path, name: name || "overview", words, params: new URLSearchParams(search) };
}

// The namespace that a place is about: what its address says, where it says it.
function namespaceOf({ name, params }) {
  return PAGES[name]?.isScoped && params.has("namespace") ? params.get("namespace") : session.namespace;
}

// The address of a place with another namespace: it keeps page and filters. A Job is of one namespace, so it becomes a list.
function addressIn({ name, words, params }, namespace) {
  if (name === "job") return address(["jobs"], { namespace });
  const others = new URLSearchParams(params);
  others.set("namespace", namespace);
  return `${address([name, ...words])}?${others}`;
}

function drawHead(at) {
  drawNavigation();
  drawMe({ namespace: namespaceOf(at), addressIn: (namespace) => addressIn(where(), namespace), sign: signOrOut, choose: (namespace) => {
    session.choose(namespace);
    closeMe();
  } });
}

function tell(sentence, isTrouble = false) {
  drawNews(sentence, isTrouble, content);
}

/* ---- what went wrong ---- */

// Who may see one namespace alone says which.
function chooseNamespace() {
  const field = h("input", { name: "namespace", value: session.namespace, autocomplete: "off", spellcheck: "false" });
  return h("form", { class: "ask", onsubmit: (event) => {
    event.preventDefault();
    const namespace = field.value.trim();
    session.choose(namespace);
    location.hash = addressIn(where(), namespace);
  } }, h("label", {}, "You may see one namespace if you have a role in it:", field), h("button", {}, "Show it"));
}

const NO_ROLE = "You have no role in any namespace yet. An admin of one gives it:";
const NONE_FOUND = "You have no role in the namespaces that were looked at, which are not all. The page looks again by itself; or write the name of yours below. An admin of one gives you a role:";

function drawNothing() {
  const user = session.who.user || "NAME";
  draw(content, h("div", { class: "card lone" }, empty(session.who.more ? NONE_FOUND : NO_ROLE, `kubectl create rolebinding ${user.split(":").pop()} --clusterrole=sluice-batch-user --user=${user} -n NAMESPACE`), chooseNamespace()));
}

function complainIn(signal) {
  return (error) => {
    if (signal.aborted || error.name === "AbortError") return;
    const status = error instanceof Refusal ? error.status : 0;
    const words = status === 401 && !session.token ? "Sign in to see your jobs." : sentenceOf(error);
    draw(content, h("div", { class: "card lone", role: "alert" }, warning(words)), status === 403 ? chooseNamespace() : "");
    drawHead(where());
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

function signOrOut() {
  closeMe();
  if (!session.token) return askForToken("");
  session.signOut();
  show();
}

byId("sign").addEventListener("click", () => askForToken(""));

signing.addEventListener("close", () => {
  const token = byId("token").value.trim();
  byId("token").value = "";
  if (signing.returnValue !== "in") return;
  if (!/^[!-~]*$/.test(token)) return askForToken("This is not a token: it has spaces or letters that no token has.");
  session.signIn(token, byId("namespace").value.trim());
  show();
});

/* ---- pages ---- */

// A page of one namespace says which in its address; who may not see all is led to one. True: the address was changed,
// and the page will be shown by that.
function addNamespace(at) {
  const isSaid = at.params.has("namespace") && (at.params.get("namespace") || session.mayAll);
  if (!PAGES[at.name]?.isScoped || isSaid || !session.namespace) return false;
  location.replace(addressIn(at, session.namespace));
  return true;
}

function markCurrent(href) {
  for (const a of document.querySelectorAll("nav[aria-label=Pages] a"))
    if (a.getAttribute("href") !== href) a.removeAttribute("aria-current");
    else {
      a.setAttribute("aria-current", "page");
      a.scrollIntoView({ block: "nearest", inline: "nearest" }); // of a phone, whose navigation is scrolled
    }
}

function begin(page, at) {
  drawHead(at);
  drawSearch(at.name === "search", at.params.get("text") || "");
  markCurrent(page && `#/${page.under || at.name}`);
  const isSamePage = shown === at.path, of = namespaceOf(at);
  if (isSamePage && shownOf === of) return;
  forgetNews();
  shownOf = of;
  if (isSamePage && page?.isAsked) return;
  content.replaceChildren(h("p", { class: "hidden" }, "Loading ..."), ...(page?.shape || ["rows"]).map((shape) => skeleton(shape)));
  shown = at.path;
}

async function show(entry = enter()) {
  const at = where(), page = PAGES[at.name];
  if (addNamespace(at)) return;
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving, complain = complainIn(signal);
  begin(page, at);
  tell("");
  if (!page) return complain(new Error("There is no such page. Use the links above."));
  document.title = `${[page.title, ...at.words].join(" ")} - Sluice`;
  if (!entry.isNew) scrollBack(entry, content, signal);
  try {
    await learnRights(signal);
    signal.throwIfAborted(); // another page is shown meanwhile
    if (addNamespace(at)) return;
    drawHead(at);
    if (hasNothing()) return drawNothing();
    await page.show({ ...at, content, signal, tell: (...words) => signal.aborted || tell(...words), complain, namespace: namespaceOf(at) });
    if (!signal.aborted) drawDone();
  } catch (error) {
    complain(error);
  }
}

const LOOK_MS = 2000, PATIENCE_MS = 30_000;

// Notices that the person, or what may be seen, is another.
async function followRights() {
  const { signal } = new AbortController();
  for (;; await visible(signal)) {
    const { turn } = session, hadNothing = hasNothing(), { mayAll } = session;
    if (await renewRights(AbortSignal.timeout(PATIENCE_MS))) {
      if (turn !== session.turn || hadNothing || hasNothing() || mayAll !== session.mayAll) show();
      else drawHead(where());
    }
    await pause(LOOK_MS, signal);
  }
}

listenForSearch(() => where().name === "search");

byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});

// Named once: all times of the page are by this clock, but those of a Budget, which name theirs.
byId("clock").textContent = `Times are in your time zone (${Intl.DateTimeFormat().resolvedOptions().timeZone}).`;

window.addEventListener("hashchange", () => {
  const isOther = where().path !== shown, entry = enter();
  show(entry);
  if (!isOther) return;
  if (entry.isNew) window.scrollTo(0, 0);
  if (where().name !== "search") content.focus({ preventScroll: true });
});
show();
followRights();
