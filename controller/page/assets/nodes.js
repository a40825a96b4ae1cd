// Nodes: what is lent of each, as a map of squares that are filled by what is lent of what is offered, and as a table.
// Sorted and narrowed by words in the address. The API tells of Nodes that lend or are followed because others do.

import { nodes, orNull } from "./api.js";
import { keys, stack } from "./chart.js";
import { draw, folded, h, table, warning } from "./dom.js";
import { again } from "./live.js";
import { narrowing } from "./narrow.js";
import { sorted, sortHead } from "./sort.js";
import { badge, card, empty, skeleton } from "./ui.js";
import { amount, count, since } from "./words.js";

const LOOK_MS = 10_000, ROWS_MAX = 500, SQUARES_MAX = 2000;

function offered({ published }) {
  const cpu = published["kubernetes.io/batch-cpu"] ?? published["gocran.io/cpu"];
  const memory = published["kubernetes.io/batch-memory"] ?? published["gocran.io/memory"];
  return { cpuMilli: cpu ?? 0, memoryBytes: memory ?? 0 };
}

function freshness(node) {
  if (!node.enabled) return "not lent";
  return node.degraded ? `${node.freshness}: ${node.reason}` : node.freshness;
}

// [word, kind] of a Node that lends, or does not.
function stateOf({ enabled, degraded, freshness: word }) {
  if (!enabled) return ["Not lent", "wait"];
  return degraded ? [word, "warn"] : word === "Fresh" ? ["Lends", "run"] : [word, "soon"];
}

function sourceOf(node) {
  return node.nodeOvercommit ? `NodeOvercommit ${node.nodeOvercommit}` : node.source || "Nothing";
}

// key: as the address has it. Sorted by value: texts from A on, numbers from the largest on.
const COLUMNS = [
  { key: "node", head: "Node", isText: true, value: (n) => n.node, cell: (n) => n.node },
  { key: "state", head: "Measured", isText: true, value: freshness,
    cell: (n) => [badge(...stateOf(n)), ` ${n.enabled ? freshness(n) : ""}`, n.sampleTime ? `, ${since(n.sampleTime)} ago` : ""] },
  { key: "cpu", head: "CPU offered", value: (n) => offered(n).cpuMilli, cell: (n) => amount("cpu", offered(n).cpuMilli) },
  { key: "memory", head: "Memory offered", value: (n) => offered(n).memoryBytes, cell: (n) => amount("memory", offered(n).memoryBytes) },
  { key: "lentcpu", head: "CPU lent", value: (n) => n.lent.cpuMilli, cell: (n) => amount("cpu", n.lent.cpuMilli) },
  { key: "lentmemory", head: "Memory lent", value: (n) => n.lent.memoryBytes, cell: (n) => amount("memory", n.lent.memoryBytes) },
  { key: "pods", head: "Pods", value: (n) => n.pods, cell: (n) => String(n.pods) },
  { key: "source", head: "Configured by", isText: true, value: (n) => n.source, cell: sourceOf },
];

/* ---- the map ---- */

const MEASURES = [["cpu", "cpuMilli"], ["memory", "memoryBytes"]];

function shareLent(node, member) {
  const offer = offered(node)[member];
  return offer ? Math.min(1, node.lent[member] / offer) : 0;
}

function squareWords(node, [resource, member]) {
  const [word] = stateOf(node), of = `${amount(resource, node.lent[member])} of ${amount(resource, offered(node)[member])} ${resource} lent`;
  return `${node.node}: ${word.toLowerCase()}, ${of}, ${count(node.pods, "pod")}`;
}

// A square is filled from below; what does not lend is hatched, and what is not measured well has an edge.
function square(node, measure) {
  const [, kind] = stateOf(node), fill = h("i");
  fill.style.height = `${100 * shareLent(node, measure[1])}%`;
  return h("span", { class: `square ${kind}`, title: squareWords(node, measure) }, fill);
}

function groupsOf(list) {
  const groups = new Map();
  for (const node of list) groups.set(sourceOf(node), [...(groups.get(sourceOf(node)) || []), node]);
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

function groupWords(list, [resource, member]) {
  const sum = (of) => list.reduce((all, node) => all + of(node), 0);
  return `${count(list.length, "Node")} · ${amount(resource, sum((n) => n.lent[member]))} of ${amount(resource, sum((n) => offered(n)[member]))} ${resource} lent`;
}

function group([source, list], measure) {
  const words = groupWords(list, measure), title = source === "Nothing" ? "No configuration" : source;
  return h("div", { class: "node-group" }, h("p", {}, h("strong", {}, title), h("span", { class: "faint small" }, ` ${words}`)),
    h("div", { class: "squares", role: "img", "aria-label": `${title}: ${words}` }, list.map((node) => square(node, measure))));
}

function map(list, measure) {
  const shown = list.slice(0, SQUARES_MAX);
  return [groupsOf(shown).map((one) => group(one, measure)),
    keys([["square run", "lends: filled by what is lent of what is offered"], ["square soon", "held: measured a while ago"],
      ["square warn", "degraded: lends nothing new"], ["square wait", "not lent"]]),
    shown.length < list.length ? h("p", { class: "faint" }, `The first ${SQUARES_MAX} of ${list.length} Nodes are drawn: narrow them by a part of the name.`) : ""];
}

function pools(told) {
  if (!told.pools.length) return "";
  const lent = (member) => told.nodes.reduce((all, node) => all + node.lent[member], 0), isAlone = told.pools.length === 1;
  const line = (pool) => MEASURES.map(([resource, member]) => h("div", { class: "held-of wide" }, h("span", { class: "of" }, `${pool.flavor} ${resource}`),
    isAlone ? stack([["own", lent(member)]], Math.max(pool[member], lent(member))) : stack([["own", pool[member]]], Math.max(pool[member], 1)),
    h("span", { class: "faint small" }, `${isAlone ? `${amount(resource, lent(member))} lent of ` : ""}${amount(resource, pool[member])}`)));
  return card("Flavors of idle resources", "", told.pools.map(line), folded("As a table", table("Flavors of idle resources, by name", ["Flavor", "CPU", "Memory"],
    told.pools.map((pool) => [pool.flavor, amount("cpu", pool.cpuMilli), amount("memory", pool.memoryBytes)]))));
}

/* ---- the page ---- */

function nodeTable(list, params) {
  const found = sorted(list, COLUMNS, params, (a, b) => a.node.localeCompare(b.node)), shown = found.slice(0, ROWS_MAX), all = count(found.length, "Node");
  const words = shown.length < found.length ? `The first ${ROWS_MAX} of ${all}: narrow them by a part of the name` : all;
  return h("details", { open: params.has("sort") }, h("summary", {}, "As a table"),
    table(words, COLUMNS.map((column) => sortHead("nodes", column, COLUMNS, params)), shown.map((node) => COLUMNS.map(({ cell }) => cell(node)))));
}

const NONE = ["No idle resources are lent. A NodeOvercommit lends them.", "kubectl explain nodeovercommit.spec"];

function shown(told, params, measure) {
  if (!told || !told.lends) return empty(...NONE);
  const found = told.nodes.filter(({ node }) => node.includes(params.get("name") || "")).sort((a, b) => a.node.localeCompare(b.node));
  const troubles = [told.configMapFault, told.usageTrouble].filter(Boolean).map((sentence) => warning(sentence));
  if (!found.length) return [troubles, empty(told.nodes.length ? "No nodes match this filter." : "No Node has been seen yet.")];
  return [troubles, pools(told), card("Idle resources by Node", count(found.length, "Node"), map(found, measure), nodeTable(found, params))];
}

export async function nodesPage(page) {
  const { content, signal } = page, params = new URLSearchParams(page.params), part = h("div", { class: "stacked", "data-own": true }, skeleton("picture", 1));
  const measure = MEASURES.find(([word]) => word === params.get("of")) || MEASURES[0];
  let told;
  const show = () => told === undefined || signal.aborted || draw(part, shown(told, params, measure));
  draw(content, narrowing({ title: "Nodes", place: "nodes", params, key: "name", hint: "part of the name", label: "Filled by",
    choices: MEASURES.map(([word]) => [word, { of: word }]), current: measure[0] }, show), part);
  await again(LOOK_MS, page, async () => {
    told = await orNull(nodes(signal), 404);
    show();
  });
}
