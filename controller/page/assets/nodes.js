// Nodes: each as a square in its flavor, filled by what its pods request of what it has, as a map and as a table. What
// idle resources are lent is hatched, and another choice fills the squares by it. Sorted and narrowed by words in the
// address.
//
// A flavor of many Nodes is drawn in buckets, a square for all that are alike, so that 5,000 Nodes stay few elements.

import { nodeReport, nodes, orNull } from "./api.js";
import { keys, stack } from "./chart.js";
import { draw, faint, folded, h, table, warning } from "./dom.js";
import { again } from "./live.js";
import { narrowing } from "./narrow.js";
import { lacksQueues, whoSees } from "./rights.js";
import { sorted, sortHead } from "./sort.js";
import { badge, card, empty, skeleton } from "./ui.js";
import { amount, count, since, units } from "./words.js";

const LOOK_MS = 15_000, ROWS_MAX = 500, EACH_MAX = 300, LARGE_MAX = 60;
const SILENT_MS = 60_000; // of an agent, as `sluice doctor` has it

/* ---- what is told of a Node ---- */

const has = (node, resource, member = "allocatable") => (node[member]?.[resource] ? units(resource, node[member][resource]) : 0);
const isFollowed = (node) => node.requested !== undefined;

function offered({ published }) {
  const cpu = published["kubernetes.io/batch-cpu"] ?? published["gocran.io/cpu"];
  const memory = published["kubernetes.io/batch-memory"] ?? published["gocran.io/memory"];
  return { cpuMilli: cpu ?? 0, memoryBytes: memory ?? 0 };
}

function freshness(lending) {
  if (!lending.enabled) return "not lent";
  return lending.degraded ? `${lending.freshness}: ${lending.reason}` : lending.freshness;
}

// [word, kind] of what lends, or does not.
function lendingState(lending) {
  if (!lending?.enabled) return ["Not lent", "wait"];
  return lending.degraded ? [lending.freshness, "warn"] : lending.freshness === "Fresh" ? ["Lends", "run"] : [lending.freshness, "soon"];
}

// [word, kind] of the agent of a Node that lends.
function agentState({ agent }) {
  if (!agent) return ["None", "wait"];
  return agent.ageMs <= SILENT_MS ? ["Reports", "run"] : ["Silent", "warn"];
}

// Since when an agent is silent, or what the lent pods of its Node use, and are held to where that is less than they ask for.
function agentWords({ agent }) {
  if (!agent) return "";
  if (!(agent.ageMs <= SILENT_MS)) return agent.sampleTime ? `for ${since(agent.sampleTime)}` : "since it asked for orders";
  if (!agent.lentPods) return "no lent pods";
  const held = agent.heldPods && agent.mayCpuMilli !== null ? `, held to ${amount("cpu", agent.mayCpuMilli)}` : "";
  return `${count(agent.lentPods, "lent pod")}: ${amount("cpu", agent.usedCpuMilli)} of ${amount("cpu", agent.askedCpuMilli)} cpu used${held}`;
}

// [word, kind, mark of its square] of a Node: whether pods may go there.
function stateOf(node) {
  if (!node.ready) return ["Not ready", "bad", "away"];
  return node.cordoned ? ["Cordoned", "soon", "cordoned"] : ["Ready", "run"];
}

const isUsual = ([, kind]) => kind === "run";

/* ---- by what squares are filled ---- */

// A measure: { word, params, parts(node): [[class, share], ...] from below, words(node), sums(nodes), state(node), keys(nodes) }.
function byRequests(resource) {
  const share = (n, node) => Math.min(1, n / (has(node, resource) || 1));
  const sum = (list, member) => amount(resource, list.reduce((all, node) => all + has(node, resource, member), 0));
  const words = (list) => (list.some(isFollowed)
    ? `${sum(list, "requested")} of ${sum(list, "allocatable")} ${resource} requested, ${sum(list, "requestedByJobs")} by Jobs of queues` : `${sum(list, "allocatable")} ${resource}`);
  const member = { cpu: "cpuMilli", memory: "memoryBytes" }[resource];
  return { word: resource, params: { of: resource }, state: stateOf, sums: words,
    parts: (node) => [["own", share(has(node, resource, "requestedByJobs"), node)],
      ["others", share(has(node, resource, "requested"), node) - share(has(node, resource, "requestedByJobs"), node)],
      ["lent", member && node.lending ? share(node.lending.lent[member], node) : 0]],
    keys: (list) => [...(list.some(isFollowed) ? [["square own", "requested by Jobs of queues"], ["square others", "by other pods"]] : []),
      ...(member && list.some(({ lending }) => lending) ? [["square lent", "idle resources that are lent"]] : []),
      ["square cordoned", "cordoned: takes no new pods"], ["square away", "not ready"]] };
}

function byLending(resource, member) {
  const sum = (list, of) => amount(resource, list.reduce((all, node) => all + (node.lending ? of(node.lending) : 0), 0));
  const words = (list) => `${sum(list, (l) => l.lent[member])} of ${sum(list, (l) => offered(l)[member])} ${resource} lent`;
  return { word: `lent ${resource}`, params: { of: `lent-${resource}` }, state: (node) => lendingState(node.lending), sums: words,
    parts: ({ lending }) => [["own", lending && offered(lending)[member] ? Math.min(1, lending.lent[member] / offered(lending)[member]) : 0]],
    keys: () => [["square own", "lends: filled by what is lent of what is offered"], ["square soon", "held: measured a while ago"],
      ["square warn", "degraded: lends nothing new"], ["square wait", "not lent"]] };
}

const LESS_ASKED_FOR = /^(pods|ephemeral-storage|hugepages-.*|kubernetes\.io\/batch-.*|gocran\.io\/.*)$/, DEVICES_MAX = 4;

// cpu, memory, the devices that most Nodes have, and what is lent where anything is.
function measuresOf(told) {
  const having = new Map();
  for (const node of told?.nodes || [])
    for (const resource of Object.keys(node.allocatable)) if (!LESS_ASKED_FOR.test(resource)) having.set(resource, (having.get(resource) || 0) + 1);
  const devices = [...having].filter(([name]) => name !== "cpu" && name !== "memory").sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).slice(0, DEVICES_MAX);
  return [...["cpu", "memory", ...devices.map(([name]) => name)].map(byRequests),
    ...(told?.lends ? [byLending("cpu", "cpuMilli"), byLending("memory", "memoryBytes")] : [])];
}

/* ---- the map ---- */

function square(parts, [, kind, mark = kind], title) {
  let from = 0;
  const filled = parts.map(([name, share]) => {
    const part = h("i", { class: name });
    part.style.height = `${100 * share}%`;
    if (name === "others") part.style.bottom = `${100 * from}%`;
    from += share;
    return share > 0 ? part : "";
  });
  return h("span", { class: `square ${mark}`, title }, filled);
}

function nodeWords(node, measure) {
  const pods = node.pods === undefined ? "" : `, ${count(node.pods, "pod")}`;
  const agent = node.lending?.enabled ? `; agent: ${agentState(node.lending)[0].toLowerCase()} ${agentWords(node.lending)}`.trimEnd() : "";
  return `${node.name}: ${measure.state(node)[0].toLowerCase()}, ${measure.sums([node])}${pods}${agent}`;
}

const nodeSquare = (node, measure) => square(measure.parts(node), measure.state(node), nodeWords(node, measure));

// All that are in one state and as full to a tenth, the usual state and the fullest first.
function alike(list, measure) {
  const found = new Map();
  for (const node of list) {
    const state = measure.state(node), shares = measure.parts(node).filter(([name]) => name !== "lent").map(([, share]) => share);
    const full = state[1] === "bad" ? 0 : Math.round(10 * shares.reduce((all, share) => all + share, 0)), key = `${state[0]} ${full}`;
    if (!found.has(key)) found.set(key, { state, full, nodes: [] });
    found.get(key).nodes.push(node);
  }
  return [...found.values()].sort((a, b) => isUsual(b.state) - isUsual(a.state) || a.state[0].localeCompare(b.state[0]) || b.full - a.full);
}

// A square that is filled as those Nodes are on average, and how many they are.
function bucket({ state, nodes: some }, measure) {
  const parts = measure.parts(some[0]).map(([name], i) => [name, some.reduce((all, node) => all + measure.parts(node)[i][1], 0) / some.length]);
  const title = `${count(some.length, "Node")}: ${state[0].toLowerCase()}, ${measure.sums(some)}`;
  return h("span", { class: "bucket", title }, square(parts, state), ` ${some.length.toLocaleString("en")}`);
}

// A Node is in the most particular of its flavors.
function groupsOf(list) {
  const groups = new Map();
  for (const node of list) {
    const flavor = node.flavors[0] || "";
    if (!groups.has(flavor)) groups.set(flavor, []);
    groups.get(flavor).push(node);
  }
  return [...groups].sort(([a], [b]) => !a - !b || a.localeCompare(b));
}

function groupWords(list, measure) {
  const states = new Map();
  for (const [word] of list.map(measure.state).filter((state) => !isUsual(state))) states.set(word, (states.get(word) || 0) + 1);
  const unusual = [...states].sort(([a], [b]) => a.localeCompare(b)).map(([word, n]) => `${n} ${word.toLowerCase()}`);
  return [count(list.length, "Node"), ...unusual, measure.sums(list)].join(" · ");
}

function group([flavor, list], measure) {
  const words = groupWords(list, measure), title = flavor || "Of no flavor", isFolded = list.length > EACH_MAX;
  return h("div", { class: "node-group" }, h("p", {}, h("strong", {}, title), h("span", { class: "faint small" }, ` ${words}`)),
    h("div", { class: `squares ${list.length > LARGE_MAX && !isFolded ? "" : "large"}`, role: "img", "aria-label": `${title}: ${words}` },
      isFolded ? alike(list, measure).map((one) => bucket(one, measure)) : list.map((node) => nodeSquare(node, measure))));
}

function map(list, measure) {
  const groups = groupsOf(list), isFolded = groups.some(([, some]) => some.length > EACH_MAX);
  return [groups.map((one) => group(one, measure)), keys(measure.keys(list)),
    isFolded ? faint(`Of a flavor with more than ${EACH_MAX} Nodes, a square with a number stands for all Nodes that are alike and as full to a tenth.`) : ""];
}

/* ---- flavors of idle resources ---- */

const LENT = [["cpu", "cpuMilli"], ["memory", "memoryBytes"]];

function pools(told) {
  if (!told.pools.length) return "";
  const lent = (member) => told.nodes.reduce((all, node) => all + (node.lending?.lent[member] || 0), 0), isAlone = told.pools.length === 1;
  const line = (pool) => LENT.map(([resource, member]) => h("div", { class: "held-of wide" }, h("span", { class: "of" }, `${pool.flavor} ${resource}`),
    isAlone ? stack([["own", lent(member)]], Math.max(pool[member], lent(member))) : stack([["own", pool[member]]], Math.max(pool[member], 1)),
    h("span", { class: "faint small" }, `${isAlone ? `${amount(resource, lent(member))} lent of ` : ""}${amount(resource, pool[member])}`)));
  return card("Flavors of idle resources", "", told.pools.map(line), folded("As a table", table("Flavors of idle resources, by name", ["Flavor", "CPU", "Memory"],
    told.pools.map((pool) => [pool.flavor, amount("cpu", pool.cpuMilli), amount("memory", pool.memoryBytes)]))));
}

/* ---- the table ---- */

function sourceOf(lending) {
  return lending.nodeOvercommit ? `NodeOvercommit ${lending.nodeOvercommit}` : lending.source || "Nothing";
}

const lendingColumn = (key, head, value, cell, isText = false) => ({ key, head, isText, value: ({ lending }) => (lending ? value(lending) : undefined),
  cell: ({ lending }) => (lending ? cell(lending) : "") });

const LENDING_COLUMNS = [
  lendingColumn("measured", "Measured", freshness, (l) => [badge(...lendingState(l)), ` ${l.enabled ? freshness(l) : ""}`, l.sampleTime ? `, ${since(l.sampleTime)} ago` : ""], true),
  lendingColumn("cpu", "CPU offered", (l) => offered(l).cpuMilli, (l) => amount("cpu", offered(l).cpuMilli)),
  lendingColumn("memory", "Memory offered", (l) => offered(l).memoryBytes, (l) => amount("memory", offered(l).memoryBytes)),
  lendingColumn("lentcpu", "CPU lent", (l) => l.lent.cpuMilli, (l) => amount("cpu", l.lent.cpuMilli)),
  lendingColumn("lentmemory", "Memory lent", (l) => l.lent.memoryBytes, (l) => amount("memory", l.lent.memoryBytes)),
  lendingColumn("agent", "Agent", (l) => agentState(l)[0], (l) => (l.enabled ? [badge(...agentState(l)), ` ${agentWords(l)}`] : ""), true),
  lendingColumn("source", "Configured by", sourceOf, sourceOf, true),
];

function amountColumn(key, head, resource, member) {
  const value = (node) => (node[member] ? has(node, resource, member) : undefined);
  return { key, head, value, cell: (node) => (node[member] ? amount(resource, value(node)) : "") };
}

// key: as the address has it. Sorted by value: texts from A on, numbers from the largest on.
function columnsOf(told, resource) {
  return [
    { key: "node", head: "Node", isText: true, value: (n) => n.name, cell: (n) => n.name },
    { key: "flavor", head: "Flavors", isText: true, value: (n) => n.flavors.join(", "), cell: (n) => n.flavors.join(", ") },
    { key: "state", head: "State", isText: true, value: (n) => stateOf(n)[0], cell: (n) => badge(...stateOf(n)) },
    { key: "taints", head: "Taints", isText: true, value: (n) => n.taints.join(", "), cell: (n) => n.taints.join(", ") },
    ...(told.podsFollowed ? [amountColumn("requested", `${resource} requested`, resource, "requested"), amountColumn("jobs", "by Jobs of queues", resource, "requestedByJobs")] : []),
    amountColumn("has", `${resource} allocatable`, resource, "allocatable"),
    ...(told.podsFollowed ? [{ key: "pods", head: "Pods", value: (n) => n.pods, cell: (n) => String(n.pods) }] : []),
    ...(told.lends ? LENDING_COLUMNS : []),
  ];
}

function nodeTable(told, list, params, measure) {
  const columns = columnsOf(told, measure.word.replace("lent ", "")), found = sorted(list, columns, params, (a, b) => a.name.localeCompare(b.name));
  const rows = found.slice(0, ROWS_MAX), all = count(found.length, "Node");
  const words = rows.length < found.length ? `The first ${ROWS_MAX} of ${all}: narrow them by a part of the name` : all;
  return h("details", { open: params.has("sort") }, h("summary", {}, "As a table"),
    table(words, columns.map((column) => sortHead("nodes", column, columns, params)), rows.map((node) => columns.map(({ cell }) => cell(node)))));
}

/* ---- the page ---- */

function shown(told, params, measure) {
  const text = (params.get("name") || "").toLowerCase();
  const found = told.nodes.filter(({ name, flavors }) => [name, ...flavors].some((word) => word.includes(text)));
  const troubles = [told.configMapFault, told.usageTrouble].filter(Boolean).map((sentence) => warning(sentence));
  if (!found.length) return [troubles, empty(told.nodes.length ? "No nodes match this filter." : "No Node has been seen yet.")];
  return [troubles, told.podsMessage ? faint(`What pods request is not known. ${told.podsMessage}`) : "", pools(told),
    card("Nodes by flavor", groupWords(found, measure), map(found, measure), nodeTable(told, found, params, measure))];
}

// What is told of Nodes, each with what it lends where any do. wants: whether what is lent is asked for.
async function ask(signal, wants) {
  const [report, lending] = await Promise.all([nodeReport(signal), wants ? orNull(nodes(signal), 404) : null]);
  const lends = lending?.lends ? lending : { pools: [], nodes: [] }, byName = new Map(lends.nodes.map((one) => [one.node, one]));
  for (const node of report.nodes) node.lending = byName.get(node.name);
  return { ...lends, ...report, isLendingKnown: lending !== null };
}

export async function nodesPage(page) {
  if (lacksQueues()) return draw(page.content, h("h2", {}, "Nodes"), whoSees("Nodes"));
  const { content, signal } = page, params = new URLSearchParams(page.params), part = h("div", { class: "stacked", "data-own": true }, skeleton("picture", 1));
  let told, measures = measuresOf();
  const current = () => measures.find(({ params: { of } }) => of === params.get("of")) || measures[0];
  const show = () => told === undefined || signal.aborted || draw(part, shown(told, params, current()));
  const bar = () => narrowing({ title: "Nodes", place: "nodes", params, key: "name", hint: "part of a name or flavor", label: "Filled by",
    choices: measures.map(({ word, params: words }) => [word, words]), current: current().word }, show);
  draw(content, bar(), part);
  await again(LOOK_MS, page, async () => {
    const before = measures.length;
    told = await ask(signal, told?.isLendingKnown !== false); // who lends nothing is not asked again
    measures = measuresOf(told);
    if (measures.length !== before && !signal.aborted) content.firstElementChild.replaceWith(bar());
    show();
  });
}
