// The side panel: a Job beside the list, which keeps its place. Escape closes it, arrows in the list lead it on, and its
// title leads to the Job's own page, which has the same parts.

import { h, jobLink } from "./dom.js";
import { JobView } from "./job.js";

const SETTLE_MS = 120; // while an arrow is held down no Job is asked for

export class Panel {
  // step(n): to the Job n rows on; closed(): the person has closed it.
  constructor(page, { step, closed }) {
    Object.assign(this, { page, shown: "", ending: null, timer: 0 });
    const button = (label, text, onclick) => h("button", { type: "button", "aria-label": label, title: label, onclick }, text);
    this.title = h("h2", {});
    this.body = h("div", { class: "body", tabindex: "0", role: "group", "aria-label": "Job" });
    this.element = h("aside", { class: "panel", "aria-label": "Job", "data-own": true, onkeydown: (event) => {
      if (event.key === "Escape") closed();
    } }, h("div", { class: "head" }, this.title, h("span", { class: "buttons" }, button("Previous Job", "↑", () => step(-1)), button("Next Job", "↓", () => step(1)),
      button("Close", "×", closed))), this.body);
    this.element.hidden = true;
    page.signal.addEventListener("abort", () => this.end());
  }

  // name: "namespace/name", or "" for none.
  show(name) {
    if (name === this.shown) return;
    this.end();
    this.shown = name;
    this.element.hidden = !name;
    if (!name) return;
    const [namespace, ...rest] = name.split("/");
    this.title.replaceChildren(jobLink(namespace, rest.join("/")));
    this.timer = setTimeout(() => this.begin(namespace, rest.join("/")), SETTLE_MS);
  }

  begin(namespace, name) {
    this.ending = new AbortController();
    const signal = AbortSignal.any([this.ending.signal, this.page.signal]), view = new JobView(namespace, name, { ...this.page, signal }, { isBeside: true });
    this.body.replaceChildren(view.element);
    this.body.scrollTop = 0;
    view.live();
  }

  end() {
    clearTimeout(this.timer);
    this.ending?.abort();
  }
}
