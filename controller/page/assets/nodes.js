// Nodes: what is lent of each. Sorted and narrowed by words in the address.

import { nodes, Refusal } from "./api.js";
import { address, draw, h, table } from "./dom.js";
import { field, question } from "./form.js";
import { again } from "./live.js";
import { amount, count, since } from "./words.js";

const LOOK_MS = 10_000, ROWS_MAX = 500;

function offered({ published }) {
  const cpu = published["kubernetes.io/batch-cpu"] ?? published["gocran.io/cpu"], memory = published["kubernetes.io/batch-memory"] ?? published["gocran.io/memory"];
  return { cpuMilli: cpu ?? 0, memoryBytes: memory ?? 0 };
}

function freshness(node) {
  if (!node.enabled) return "not lent";
  return node.degraded ? `${node.freshness}: ${node.reason}` : node.freshness;
}

// key, head, what is shown, what is sorted by.
const COLUMNS = [
  ["node", "Node", (n) => n.node, (n) => n.node],
  ["cpu", "CPU offered", (n) => amount("cpu", offered(n).cpuMilli), (n) => offered(n).cpuMilli],
  ["memory", "Memory offered", (n) => amount("memory", offered(n).memoryBytes), (n) => offered(n).memoryBytes],
  ["lentcpu", "CPU lent", (n) => amount("cpu", n.lent.cpuMilli), (n) => n.lent.cpuMilli],
  ["lentmemory", "Memory lent", (n) => amount("memory", n.lent.memoryBytes), (n) => n.lent.memoryBytes],
  ["pods", "Pods", (n) => String(n.pods), (n) => n.pods],
  ["state", "Measured", (n) => [freshness(n), n.sampleTime ? `, ${since(n.sampleTime)} ago` : ""], (n) => freshness(n)],
  ["source", "Configured by", (n) => (n.nodeOvercommit ? `NodeOvercommit ${n.nodeOvercommit}` : n.source), (n) => n.source],
];

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : b - a; // the largest number first
}

function sorted(list, params) {
  const column = COLUMNS.find(([key]) => key === params.get("sort")) || COLUMNS[0], sign = params.get("turn") ? -1 : 1;
  return list.filter((node) => node.node.includes(params.get("name") || "")).sort((a, b) => sign * compare(column[3](a), column[3](b)) || a.node.localeCompare(b.node));
}

function head([key, text], params) {
  const isIts = (params.get("sort") || "node") === key, isTurned = Boolean(params.get("turn"));
  const order = isIts ? ((key === "node" || key === "state" || key === "source") !== isTurned ? "ascending" : "descending") : undefined;
  return h("th", { scope: "col", "aria-sort": order }, h("a", { href: address(["nodes"], { name: params.get("name"), sort: key, turn: isIts && !isTurned ? "1" : "" }) },
    text, order ? (order === "ascending" ? " ▲" : " ▼") : ""));
}

function pools(told) {
  if (!told.pools.length) return "";
  return table("Flavors of idle resources", ["Flavor", "CPU", "Memory"], told.pools.map((p) => [p.flavor, amount("cpu", p.cpuMilli), amount("memory", p.memoryBytes)]));
}

function nodeTable(told, params) {
  const found = sorted(told.nodes, params), shown = found.slice(0, ROWS_MAX);
  if (!found.length) return h("p", {}, told.nodes.length ? "No Node has that in its name." : "No Node is followed yet.");
  const words = shown.length < found.length ? `The first ${ROWS_MAX} of ${count(found.length, "Node")}: narrow them by a part of the name` : count(found.length, "Node");
  return table(words, COLUMNS.map((column) => head(column, params)), shown.map((node) => COLUMNS.map(([, , cell]) => cell(node))));
}

async function lent(signal) {
  try {
    return await nodes(signal);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

export async function nodesPage(page) {
  const { content, params } = page;
  await again(LOOK_MS, page, async () => {
    const told = await lent(page.signal);
    if (!told || !told.lends) return draw(content, h("h2", {}, "Nodes"), h("p", {}, "No idle resources are lent. A NodeOvercommit lends them: kubectl explain nodeovercommit.spec."));
    draw(content, h("h2", {}, "Nodes"), [told.configMapFault, told.usageTrouble].filter(Boolean).map((sentence) => h("p", { class: "warning" }, sentence)), pools(told),
      question(["nodes"], "Which Nodes", field("name", "Part of the name", params.get("name")), h("input", { type: "hidden", name: "sort", value: params.get("sort") || "" })), nodeTable(told, params));
  });
}
