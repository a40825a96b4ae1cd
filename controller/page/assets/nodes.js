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

// key: as the address has it. Sorted by value: texts from A on, numbers from the largest on.
const COLUMNS = [
  { key: "node", head: "Node", isText: true, value: (n) => n.node, cell: (n) => n.node },
  { key: "cpu", head: "CPU offered", value: (n) => offered(n).cpuMilli, cell: (n) => amount("cpu", offered(n).cpuMilli) },
  { key: "memory", head: "Memory offered", value: (n) => offered(n).memoryBytes, cell: (n) => amount("memory", offered(n).memoryBytes) },
  { key: "lentcpu", head: "CPU lent", value: (n) => n.lent.cpuMilli, cell: (n) => amount("cpu", n.lent.cpuMilli) },
  { key: "lentmemory", head: "Memory lent", value: (n) => n.lent.memoryBytes, cell: (n) => amount("memory", n.lent.memoryBytes) },
  { key: "pods", head: "Pods", value: (n) => n.pods, cell: (n) => String(n.pods) },
  { key: "state", head: "Measured", isText: true, value: freshness, cell: (n) => [freshness(n), n.sampleTime ? `, ${since(n.sampleTime)} ago` : ""] },
  { key: "source", head: "Configured by", isText: true, value: (n) => n.source,
    cell: (n) => (n.nodeOvercommit ? `NodeOvercommit ${n.nodeOvercommit}` : n.source) },
];

function sortColumn(params) {
  return COLUMNS.find(({ key }) => key === params.get("sort")) || COLUMNS[0];
}

function compare(a, b, isText) {
  return isText ? a.localeCompare(b) : b - a;
}

function sorted(list, params) {
  const { value, isText } = sortColumn(params), sign = params.get("turn") ? -1 : 1;
  const found = list.filter((node) => node.node.includes(params.get("name") || ""));
  return found.sort((a, b) => sign * compare(value(a), value(b), isText) || a.node.localeCompare(b.node));
}

// A head is a link that sorts by it, and turns the order where it is sorted by it already.
function headCell(column, params) {
  const isSorted = column === sortColumn(params), isTurned = Boolean(params.get("turn")), isUp = Boolean(column.isText) !== isTurned;
  const to = { name: params.get("name"), sort: column.key, turn: isSorted && !isTurned ? "1" : "" };
  const text = [column.head, isSorted ? (isUp ? " ▲" : " ▼") : ""];
  return h("th", { scope: "col", "aria-sort": isSorted && (isUp ? "ascending" : "descending") }, link(["nodes"], text, to));
}

function pools(told) {
  if (!told.pools.length) return "";
  return table("Flavors of idle resources", ["Flavor", "CPU", "Memory"],
    told.pools.map((pool) => [pool.flavor, amount("cpu", pool.cpuMilli), amount("memory", pool.memoryBytes)]));
}

function nodeTable(told, params) {
  const found = sorted(told.nodes, params), shown = found.slice(0, ROWS_MAX);
  if (!found.length) return h("p", {}, told.nodes.length ? "No nodes match this filter." : "No Node has been seen yet.");
  const all = count(found.length, "Node"), words = shown.length < found.length ? `The first ${ROWS_MAX} of ${all}: narrow them by a part of the name` : all;
  return table(words, COLUMNS.map((column) => headCell(column, params)), shown.map((node) => COLUMNS.map(({ cell }) => cell(node))));
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
