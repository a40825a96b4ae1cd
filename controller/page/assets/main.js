// Which page is shown: the part of the address behind the #, so that each can be sent as a link.

import { who, Refusal } from "./api.js";
import { h } from "./dom.js";
import { queuesPage } from "./queues.js";
import { jobsPage } from "./jobs.js";
import { jobPage } from "./job.js";
import { historyPage, moneyPage } from "./past.js";
import { nodesPage } from "./nodes.js";

const pages = { queues: queuesPage, jobs: jobsPage, job: jobPage, history: historyPage, money: moneyPage, nodes: nodesPage };
const content = document.getElementById("content"), news = document.getElementById("news");
const signing = document.getElementById("signing"), sign = document.getElementById("sign");

let leaving = new AbortController();

// "#/job/team/train?since=7d": the page, its words, its parameters.
function where() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...words] = path.split("/").map(decodeURIComponent);
  return { name: name || "queues", words, params: new URLSearchParams(search) };
}

function tell(sentence) {
  news.textContent = sentence;
}

function complain(error) {
  if (error.name === "AbortError") return;
  if (error instanceof Refusal && error.status === 401) signing.showModal();
  content.replaceChildren(h("p", { class: "refusal", role: "alert" }, error.message));
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { name, words, params } = where();
  const page = pages[name];
  for (const a of document.querySelectorAll("nav a"))
    a.toggleAttribute("aria-current", a.getAttribute("href") === `#/${name}`);
  sign.textContent = who.token ? `Sign out${who.namespace ? ` (${who.namespace})` : ""}` : "Sign in";
  tell("");
  if (!page) return complain(new Error(`there is no page ${name}`));
  document.title = `${[name, ...words].join(" ")} - Sluice`;
  try {
    await page({ content, words, params, signal: leaving.signal, tell, complain });
  } catch (error) {
    complain(error);
  }
}

sign.addEventListener("click", () => {
  if (!who.token) return signing.showModal();
  who.signOut();
  show();
});

signing.addEventListener("close", () => {
  if (signing.returnValue !== "in") return;
  who.signIn(document.getElementById("token").value.trim(), document.getElementById("namespace").value.trim());
  document.getElementById("token").value = "";
  show();
});

document.getElementById("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = document.getElementById("find-text").value.trim().replace(/^job\//, "");
  const [namespace, name] = text.includes("/") ? text.split("/") : [who.namespace, text];
  if (namespace && name) location.hash = `#/job/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  else tell("Name a Job as namespace/job.");
});

window.addEventListener("hashchange", () => {
  show();
  content.focus({ preventScroll: true });
});
show();
