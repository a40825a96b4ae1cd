// Nodes: what is lent of each. Sorted and narrowed by words in the address.

import { nodes, orNull } from "./api.js";
import { draw, h, link, table, warning } from "./dom.js";
import { field, question } from "./form.js";
import { again } from "./live.js";
import { amount, count, since } from "./words.js";

const LOOK_MS = 10_000, ROWS_MAX = 500;

function offered({ published }) {
  const cpu = published["kubernetes.io/batch-cpu"] ?? published["gocran.io/cpu"];
  const memory = published["kubernetes.io/batch-memory"] ?? published["gocran.io/memory"];
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
  const [, , , value] = COLUMNS.find(([key]) => key === params.get("sort")) || COLUMNS[0], sign = params.get("turn") ? -1 : 1;
  const found = list.filter((node) => node.node.includes(params.get("name") || ""));
  return found.sort((a, b) => sign * compare(value(a), value(b)) || a.node.localeCompare(b.node));
}

const TEXTS = new Set(["node", "state", "source"]); // sorted from A on

// A head is a link that sorts by it, and turns the order where it is sorted by it already.
function head([key, text], params) {
  const isIts = (params.get("sort") || "node") === key, isTurned = Boolean(params.get("turn")), isUp = TEXTS.has(key) !== isTurned;
  const to = { name: params.get("name"), sort: key, turn: isIts && !isTurned ? "1" : "" };
  return h("th", { scope: "col", "aria-sort": isIts && (isUp ? "ascending" : "descending") }, link(["nodes"], [text, isIts ? (isUp ? " ▲" : " ▼") : ""], to));
}

function pools(told) {
  if (!told.pools.length) return "";
  return table("Flavors of idle resources", ["Flavor", "CPU", "Memory"],
    told.pools.map((pool) => [pool.flavor, amount("cpu", pool.cpuMilli), amount("memory", pool.memoryBytes)]));
}

function nodeTable(told, params) {
  const found = sorted(told.nodes, params), shown = found.slice(0, ROWS_MAX);
  if (!found.length) return h("p", {}, told.nodes.length ? "No Node has that in its name." : "No Node is followed yet.");
  const all = count(found.length, "Node"), words = shown.length < found.length ? `The first ${ROWS_MAX} of ${all}: narrow them by a part of the name` : all;
  return table(words, COLUMNS.map((column) => head(column, params)), shown.map((node) => COLUMNS.map(([, , cell]) => cell(node))));
}

const NONE = "No idle resources are lent. A NodeOvercommit lends them: kubectl explain nodeovercommit.spec.";

export async function nodesPage(page) {
  const { content, params } = page;
  await again(LOOK_MS, page, async () => {
    const told = await orNull(nodes(page.signal), 404);
    if (!told || !told.lends) return draw(content, h("h2", {}, "Nodes"), h("p", {}, NONE));
    const troubles = [told.configMapFault, told.usageTrouble].filter(Boolean).map((sentence) => warning(sentence));
    const sort = h("input", { type: "hidden", name: "sort", value: params.get("sort") || "" });
    draw(content, h("h2", {}, "Nodes"), troubles, pools(told),
      question(["nodes"], "Which Nodes", field("name", "Part of the name", params.get("name")), sort), nodeTable(told, params));
  });
}
