// Nodes: what is lent of each.

import { nodes, Refusal } from "./api.js";
import { h } from "./dom.js";

export async function nodesPage({ content, signal }) {
  let told;
  try {
    told = await nodes(signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 404) throw error;
    content.replaceChildren(h("h2", {}, "Nodes"), h("p", {}, "No idle resources are lent."));
    return;
  }
  content.replaceChildren(h("h2", {}, "Nodes"), h("pre", {}, JSON.stringify(told, null, 1)));
}
