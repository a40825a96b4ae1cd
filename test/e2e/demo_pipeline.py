"""The pipeline of the demo's first scene: prep, eight shards, a report.

Ten plain Jobs that are submitted at once, with the others. Each shard waits for prep, by its name; the report
waits for all shards, by a label. So this is all that a team writes for it:

    sluice.dev/after: prep                          on each shard
    sluice.dev/after: "afterok:{pipeline=shard}"    on the report

Whether the order was kept is seen from outside: one watch of the Jobs tells when each began and ended."""

from sandbox import ApiError

TEAM, QUEUE, PRIORITY, SHARDS = "team-search", "batch", "high", 8
AFTER, ROLE = "sluice.dev/after", "pipeline"
PREP, SHARD, REPORT = "prep", [f"shard-{n}" for n in range(SHARDS)], "report"
NAMES = [PREP, *SHARD, REPORT]


def waits_for(name):
    if name == PREP:
        return {}
    return {AFTER: PREP if name in SHARD else f"afterok:{{{ROLE}=shard}}"}


def step(name, job):
    """A Job of the demo becomes the step of that name."""
    meta = job["metadata"]
    meta["name"] = name
    meta["labels"] |= {"sluice.dev/queue-name": QUEUE, ROLE: "shard" if name in SHARD else name, "sluice.dev/priority-class": PRIORITY}
    meta["annotations"] = meta.get("annotations", {}) | waits_for(name)
    return TEAM, name, QUEUE, PRIORITY, job


class Pipeline:
    def __init__(self, seen, controller):
        self.seen, self.controller = seen, controller
        self.said = {}  # name: what the controller said while it waited

    def keys(self, names):
        return [(TEAM, name) for name in names]

    def look(self):
        """Asks why the report waits, as `sluice explain` does, until it has started."""
        if (TEAM, REPORT) in self.seen.started:
            return
        try:
            sentence = self.controller.job(TEAM, REPORT).get("sentence", "")
        except (OSError, ApiError, ValueError):
            return
        if "waits for" in sentence:
            self.said[REPORT] = sentence

    def line(self, screen):
        """Each step as a dot: grey while it waits, green while it runs, blue when it is done."""
        dot = screen.pick("●", "*")

        def dots(names):
            with self.seen.lock:
                return [("blue" if k in self.seen.finished else "green" if k in self.seen.active else "dim", dot) for k in self.keys(names)]
        return [f"    {'pipeline':<14}", "prep ", *dots([PREP]), ("dim", f"  then {SHARDS} shards "), *dots(SHARD), ("dim", "  then the report "), *dots([REPORT])]

    def out_of_order(self):
        """The steps that began before what they wait for had ended."""
        with self.seen.lock:
            began, ended = dict(self.seen.started), dict(self.seen.ended)
        never = float("inf")
        steps = [(name, [PREP]) for name in SHARD] + [(REPORT, SHARD)]
        return [name for name, before in steps
                if began.get((TEAM, name), never) < max(ended.get(k, never) for k in self.keys(before))]

    def sentence(self):
        """(was the order kept, what to say of it)"""
        wrong = self.out_of_order()
        missing = [n for n in NAMES if (TEAM, n) not in self.seen.finished]
        if wrong or missing:
            return False, f"the pipeline: {', '.join(wrong) or 'none'} began too early, {', '.join(missing) or 'none'} did not finish"
        why = self.said.get(REPORT)
        return bool(why), f"prep, then {SHARDS} shards, then the report" + (f'; while it waited: "{why}"' if why else ": nobody was told why the report waited")
