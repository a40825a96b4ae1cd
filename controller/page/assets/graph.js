// What a Job waits for, as a picture: the Jobs that block it at its left, those that block them further left.

import { address, folded, h, svg } from "./dom.js";

const WIDTH = 148, HEIGHT = 38, GAP = 34, ROW = 48;
const A_LEVEL = 6; // more of one level are counted

function cut(text, n) {
  return text.length > n ? `${text.slice(0, n - 1)}…` : text;
}

// What stands for an item of sluice.dev/after: its Jobs, how many more, or the item itself where it names none.
function nodesOf({ item, state, jobs = [], more }) {
  const kind = state === "Holds" ? "met" : state === "Never" ? "never" : "";
  const named = jobs.map((name) => ({ id: name, name, item }));
  if (more) named.push({ id: `${item} more`, text: `and ${more} more`, item });
  return named.length ? named : [{ id: `item ${item}`, text: item, kind, words: kind === "met" ? "met" : kind === "never" ? "can no longer be met" : "", item }];
}

// Levels of nodes, the Job itself first, and [from, to] pairs of ids; each Job once.
function layers(root, known, waited) {
  const levels = [[{ id: root.metadata.name, name: root.metadata.name, isRoot: true }]], edges = [], seen = new Set([root.metadata.name]);
  for (let level = levels[0]; level.length; level = levels[levels.length - 1]) {
    const next = [];
    for (const node of level) {
      const one = node.name && known.get(node.name), items = one ? (node.isRoot ? one.status.after || [] : waited(one)) : [];
      for (const found of items.flatMap(nodesOf)) {
        edges.push([found.id, node.id]);
        if (!seen.has(found.id)) next.push(found);
        seen.add(found.id);
      }
    }
    if (next.length > A_LEVEL) next.splice(A_LEVEL - 1, Infinity, { id: `level ${levels.length}`, text: `and ${next.length - A_LEVEL + 1} more` });
    levels.push(next);
  }
  return { levels: levels.slice(0, -1), edges };
}

function box(node, namespace, known, x, y) {
  const one = node.name && known.get(node.name), state = node.name ? one?.status.state || (known.has(node.name) ? "not there" : "") : node.words;
  const words = [node.name && node.item?.split(":")[0], state].filter(Boolean).join(" · ");
  const kind = node.isRoot ? "root" : node.kind || (one?.status.startedAt ? "run" : "");
  const inside = [svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 6 }), svg("title", {}, node.name || node.text),
    svg("text", { class: "name", x: x + 8, y: y + (words ? 16 : 24) }, cut(node.name || node.text, 21)), words ? svg("text", { x: x + 8, y: y + 31 }, cut(words, 26)) : ""];
  if (!node.name || node.isRoot) return svg("g", { class: `node ${kind}` }, inside);
  return svg("a", { class: `node ${kind}`, href: address(["job", namespace, node.name]) }, inside);
}

function curve([x1, y1], [x2, y2]) {
  const middle = (x1 + x2) / 2;
  return svg("path", { class: "edge", d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` });
}

// known: a Map of name to Job, or to null; waited(job): the items that keep it; list: the same in words.
export function graph(namespace, root, known, waited, list) {
  const { levels, edges } = layers(root, known, waited), most = Math.max(...levels.map((level) => level.length));
  if (levels.length < 2) return "";
  const width = levels.length * WIDTH + (levels.length - 1) * GAP + 2, height = most * ROW, at = new Map();
  levels.forEach((level, i) => level.forEach((node, row) => at.set(node.id, [width - 1 - WIDTH - i * (WIDTH + GAP), (row + (most - level.length) / 2) * ROW + (ROW - HEIGHT) / 2])));
  const lines = edges.filter((edge) => edge.every((id) => at.has(id))).map(([from, to]) => curve([at.get(from)[0] + WIDTH, at.get(from)[1] + HEIGHT / 2], [at.get(to)[0], at.get(to)[1] + HEIGHT / 2]));
  const picture = svg("svg", { class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `What ${root.metadata.name} waits for; the list below names each` },
    lines, levels.flat().map((node) => box(node, namespace, known, ...at.get(node.id))));
  picture.style.width = `${width}px`;
  return [h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Picture of what it waits for" }, picture), folded("As a list", list)];
}
