"""Kueue and Sluice at the same work, on control planes of the same programs, by turns.

Each measurement has a control plane of its own, made anew, on which only one of them is installed: the
other one's webhooks or policies, and what an earlier run has left in etcd, would be in the way. They take
turns (Kueue, Sluice, Sluice, Kueue, ...), for the machine is not as fast in one minute as in the next.
Both are measured from outside, by the same watch of Jobs.

Kueue has the settings that are best for it: SETTINGS. It has no limit of memory and processor, and no lease
to wait for after it was killed.
"""

import json
import statistics
import time
from pathlib import Path

from admission import latency, turnaround
from ground import Ground, JobWatch, say
from sandbox.kueue import GROUP, QUEUE, VERSION, Kueue
from waiting import measure

KUEUE = "Kueue v0.18.3"  # test/e2e/kueue/go.mod
ROUNDS = 3

# No rate limit of its own client (it ships with 50 requests a second), and four times as many workers for Jobs and Workloads.
# `batch/job` is its one integration, the visibility server and metrics are off (sandbox/kueue.py). The feature gates are its
# defaults: SchedulingEquivalenceHashing, which makes it faster, is one of them.
SETTINGS = {
    "clientConnection": {"qps": -1, "burst": 1},
    "controller": {"groupKindConcurrency": {"Job.batch": 20, "Workload.kueue.x-k8s.io": 20, "LocalQueue.kueue.x-k8s.io": 2,
                                            "ClusterQueue.kueue.x-k8s.io": 2, "Cohort.kueue.x-k8s.io": 1, "ResourceFlavor.kueue.x-k8s.io": 1}},
}

BULK = [(1000, 1), (1000, 30), (5000, 1), (5000, 30)]
CHURN_QUOTA, CHURN_JOBS = 100, 2000
IDLE_JOBS = 50
WAITING_JOBS, REFILLS = 15000, 20
KILL_QUOTA, KILL_JOBS, KILLS = 20, 2000, 5
PATIENCE_S = 1800

# A round takes the better part of an hour: what was measured is kept, for --resume.
KEPT = Path(__file__).resolve().parents[2] / "build" / "logs" / "race.json"


class SluiceGround(Ground):
    name = "Sluice"

    def kill(self):
        self.box.kill(self.component)

    def start(self):
        self.box.start(self.component)


class KueueGround(Ground):
    """Without anything of Sluice's."""

    name = KUEUE
    group, version, label, component = GROUP, VERSION, QUEUE, "kueue"
    local_queue = {}

    def begin(self):
        self.box.up(manifests=False)
        self.kueue = Kueue(self.box, SETTINGS)
        self.kueue.up()

    def kill(self):
        self.kueue.kill()

    def start(self):
        self.kueue.start()


# -- the work --------------------------------------------------------------------------------


def bulk(ground, jobs, queues):
    """All Jobs wait in held ClusterQueues; the hold is lifted; until the last is seen started."""
    names = [f"bench-{i}" for i in range(queues)]
    for name in names:
        ground.queue(name, 10 * jobs, stop_policy="Hold")
    ground.blast([ground.create(names[i % queues], f"job-{i}") for i in range(jobs)])
    ground.wait_reported(timeout=PATIENCE_S, pendingWorkloads=jobs)
    ground.wait_settled(names, jobs)
    watch, writes, cpu = JobWatch(ground), ground.writes(), ground.usage()[1]
    began = time.monotonic()
    for name in names:
        ground.set_queue(name, stopPolicy="None")
    watch.wait(f"{jobs} Jobs to start", lambda: len(watch.started) == jobs, PATIENCE_S)
    seconds = max(watch.started.values()) - began
    ground.wait_reported(timeout=PATIENCE_S, pendingWorkloads=0)
    rss, cpu_after = ground.usage()
    after = ground.writes()
    return {"per_s": jobs / seconds, "writes_per_job": (after[1] - writes[1] - queues) / jobs, "rss_mb": rss, "cpu_ms_per_job": 1000 * (cpu_after - cpu) / jobs}


def churn(ground, jobs):
    cpu = ground.usage()[1]
    followed, seconds = turnaround(ground, CHURN_QUOTA, jobs)
    return {"seconds": seconds, "follows_p50_ms": followed["p50"], "follows_p99_ms": followed["p99"], "cpu_s": ground.usage()[1] - cpu}


def idle(ground, jobs):
    waits, _ = latency(ground, jobs)
    return {"p50_ms": waits["p50"], "p99_ms": waits["p99"]}


def waiting(ground, jobs):
    seen = measure(ground, jobs, REFILLS)
    return {"rss_mb": seen["rss_mb"], "cpu_s_to_take_in": seen["cpu_s_to_take_in"], "refill_p50_ms": seen["finish_to_start_ms"]["p50"],
            "cpu_ms_per_refill": seen["cpu_ms_per_finish"]}


class VersionWatch(JobWatch):
    """Notes in which version of it each Job was first seen started, too."""

    def __init__(self, ground, ns):
        self.versions = {}
        super().__init__(ground, ns)

    def take(self, obj):
        if not obj["spec"].get("suspend"):
            self.versions.setdefault(obj["metadata"]["name"], int(obj["metadata"]["resourceVersion"]))
        super().take(obj)


def kill(ground, jobs):
    """kill -9, started anew a fifth of a second later, alone; until the first start that is newer than that."""
    ground.queue("bench-kill", KILL_QUOTA)
    watch, gaps = VersionWatch(ground, "bench-kill"), []
    ground.blast([ground.create("bench-kill", f"job-{i}") for i in range(jobs)])
    for _ in range(KILLS):
        seen = len(watch.started)
        watch.wait("Jobs to start one after the other", lambda: len(watch.started) >= seen + KILL_QUOTA, PATIENCE_S)  # noqa: B023
        began = time.monotonic()
        ground.kill()
        time.sleep(0.2)  # what the dead one had under way lands
        floor = int(watch.newest())
        ground.start()
        watch.wait("a start", lambda: any(v > floor for v in watch.versions.values()), PATIENCE_S)  # noqa: B023
        gaps.append(min(watch.started[name] for name, v in watch.versions.items() if v > floor) - began)
    say(f"    {' '.join(f'{g:.2f}' for g in gaps)} s")
    return {"seconds": statistics.median(gaps), "worst_seconds": max(gaps)}


# -- the turns -------------------------------------------------------------------------------


def works(fraction):
    """[(group, name, function of a Ground)]"""
    part = lambda n: max(1, round(n * fraction))  # noqa: E731
    return [*(("bulk", f"bulk {part(n)} in {q}", lambda g, n=n, q=q: bulk(g, part(n), q)) for n, q in BULK),
            ("churn", "churn", lambda g: churn(g, max(part(CHURN_JOBS), 2 * CHURN_QUOTA))),
            ("idle", "idle", lambda g: idle(g, max(part(IDLE_JOBS), 5))),
            ("waiting", "waiting", lambda g: waiting(g, part(WAITING_JOBS))),
            ("kill", "kill", lambda g: kill(g, KILL_JOBS))]


GROUPS = list(dict.fromkeys(group for group, _, _ in works(1)))

# of a work: (figure, what it is, unit, whether more of it is better)
FIGURES = {
    "bulk": [("per_s", "admissions", "/s", True), ("writes_per_job", "API writes for each", "", False),
             ("cpu_ms_per_job", "its processor time for each", "ms", False), ("rss_mb", "resident memory", "MB", False)],
    "churn": [("seconds", "all have ended", "s", False), ("follows_p50_ms", "an end -> the next start, p50", "ms", False),
              ("follows_p99_ms", "... p99", "ms", False), ("cpu_s", "its processor time", "s", False)],
    "idle": [("p50_ms", "created -> started, p50", "ms", False), ("p99_ms", "... p99", "ms", False)],
    "waiting": [("rss_mb", "resident memory", "MB", False), ("cpu_s_to_take_in", "processor time to take them in", "s", False),
                ("refill_p50_ms", "an end -> the next start, p50", "ms", False), ("cpu_ms_per_refill", "processor time for that", "ms", False)],
    "kill": [("seconds", "kill -9 -> the next start", "s", False), ("worst_seconds", f"... the worst of {KILLS}", "s", False)],
}


def one(contender, work):
    ground = contender()
    try:
        return {name: round(value, 3) for name, value in work(ground).items()}
    finally:
        ground.box.destroy()


def spread(values):
    """(median, least, most)"""
    return statistics.median(values), min(values), max(values)


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def row(group, name, figure, seen):
    """A line of the table; seen: {name of a contender: [results]}."""
    key, what, unit, more_is_better = figure
    cells, medians = [], []
    for contender in (KUEUE, SluiceGround.name):
        median, least, most = spread([r[key] for r in seen[contender]])
        medians.append(median)
        cells.append(f"{short(median)}{unit and ' '}{unit} ({short(least)} to {short(most)})")
    better = medians[1] / medians[0] if more_is_better else medians[0] / medians[1]
    return f"| {name}: {what} | {cells[0]} | {cells[1]} | {short(better)} |"


def table(chosen, results):
    lines = [f"| | {KUEUE} | {SluiceGround.name} | times better |", "|---|---|---|---|"]
    for group, name, _ in chosen:
        lines += [row(group, name, figure, results[name]) for figure in FIGURES[group]]
    return "\n".join(lines)


def earlier(chosen):
    """What a run of the same works has kept: {work: {contender: [results]}}, with as many rounds of each."""
    empty = {name: {KUEUE: [], SluiceGround.name: []} for _, name, _ in chosen}
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else empty
    if {name: list(of) for name, of in kept.items()} != {name: list(of) for name, of in empty.items()}:
        raise SystemExit(f"{KEPT} has other works: {', '.join(kept)}; leave out --resume, or take that file away")
    rounds = min(len(results) for of in kept.values() for results in of.values())
    return {name: {who: results[:rounds] for who, results in of.items()} for name, of in kept.items()}, rounds


def run(args):
    only = args.only.split(",") if args.only else GROUPS
    unknown = [o for o in only if o not in GROUPS]
    if unknown:
        raise SystemExit(f"--only knows {', '.join(GROUPS)}; not {', '.join(unknown)}")
    rounds, began = args.rounds or ROUNDS, time.monotonic()
    chosen = [w for w in works(args.jobs_fraction) if w[0] in only]
    if not args.resume:
        KEPT.unlink(missing_ok=True)
    results, done = earlier(chosen)
    order = [KueueGround, SluiceGround][::-1 if done % 2 else 1]
    for turn in range(done, rounds):
        for _, name, work in chosen:
            for contender in order:
                say(f"==> round {turn + 1} of {rounds}, {name}: {contender.name}")
                result = one(contender, work)
                results[name][contender.name].append(result)
                KEPT.parent.mkdir(parents=True, exist_ok=True)
                KEPT.write_text(json.dumps(results))
                say(f"    {time.monotonic() - began:.0f} s: {result}")
            order = order[::-1]  # by turns
        if len(chosen) % 2 == 0:
            order = order[::-1]  # and not the same one first in each round
    say("\n" + table(chosen, results) + "\n")
    return {"bench": "race", "rounds": rounds, "jobs_fraction": args.jobs_fraction, "settings": SETTINGS, "measured_now": rounds - done, "seconds": round(time.monotonic() - began),
            "results": results}
