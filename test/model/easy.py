#!/usr/bin/env python3
"""FIFO, EASY and conservative backfill as plainly as they can be written, against `sluice simulate` on a trace.

    test/model/easy.py SLUICE TRACE PROCESSORS [COMPRESS [RESERVATIONS ..]]

Plays the trace under both strategies, and under Backfill with so many reservations, and compares the second in which each job starts. EASY as
queue/core/admit/backfill.h has it: the first that does not fit gets the earliest time at which enough of what
runs is expected to have ended; those behind it start if they fit and end by then, or do with what is
left beside it then. A run that goes on longer than its estimate is expected after twice that time,
four times, and so on.

With N reservations as queue/core/admit/backfill_heads.h has it: the first N that cannot start have a
start each, at the earliest time from which on they fit beside what runs and all other such starts;
others start if they fit beside them all. When a run has ended each gets the earliest start anew, in order.
Only for traces whose estimates are exact.
"""
import gzip
import heapq
import json
import subprocess
import sys
import tempfile
from typing import NamedTuple

QUEUES = """apiVersion: sluice.dev/v1alpha1
kind: ResourceFlavor
metadata: {{name: node}}
---
apiVersion: sluice.dev/v1alpha1
kind: ClusterQueue
metadata: {{name: all}}
spec:
  namespaceSelector: {{}}
  queueingStrategy: {strategy}{backfill}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: node, resources: [{{name: cpu, nominalQuota: {cpus}}}]}}]
---
apiVersion: sluice.dev/v1alpha1
kind: LocalQueue
metadata: {{name: main, namespace: default}}
spec: {{clusterQueue: all}}
"""
INSTANT = 0.001  # one that ends at once is expected to


class Job(NamedTuple):
    submit: int
    number: int
    run: int
    width: int
    estimate: float


def read(path: str, compress: float) -> list[Job]:
    jobs = []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            f = line.split()
            if not f or f[0].startswith(";"):
                continue
            run, width = int(f[3]), int(f[7]) if int(f[7]) > 0 else int(f[4])
            if run < 0 or width <= 0:
                continue
            estimate = int(f[8]) if int(f[8]) > 0 else run
            jobs.append(Job(int(int(f[1]) / compress), int(f[0]), run, width, max(estimate, INSTANT)))
    return sorted(jobs, key=lambda j: j.submit)


class Machine:
    def __init__(self, cpus: int):
        self.free, self.now = cpus, 0.0
        self.ends: list[tuple[int, int]] = []
        self.running: dict[int, tuple[int, Job]] = {}
        self.start: dict[int, int] = {}
        self.told: dict[int, float] = {}  # the first start that was given to it

    def begin(self, j: Job) -> None:
        self.free -= j.width
        self.start[j.number] = self.now
        self.running[j.number] = (self.now, j)
        heapq.heappush(self.ends, (self.now + j.run, j.number))

    def end_due(self) -> None:
        while self.ends and self.ends[0][0] <= self.now:
            self.free += self.running.pop(heapq.heappop(self.ends)[1])[1].width

    def expected(self) -> list[tuple[float, int]]:
        ends = []
        for since, j in self.running.values():
            lasts = j.estimate
            while since + lasts < self.now:
                lasts *= 2
            ends.append((since + lasts, j.width))
        return sorted(ends)


def backfill(m: Machine, waiting: list[Job]) -> list[Job]:
    head, ends, free = waiting[0], m.expected(), m.free
    for at, width in ends:
        free += width
        if free >= head.width:
            break
    m.told.setdefault(head.number, at)
    spare = m.free + sum(w for t, w in ends if t <= at) - head.width
    left = [head]
    for j in waiting[1:]:
        in_time = m.now + j.estimate <= at
        if j.width > m.free or not (in_time or j.width <= spare):
            left.append(j)
            continue
        spare -= 0 if in_time else j.width
        m.begin(j)
    return left


class Plan:
    """What is used from when until when, by runs and by starts that were given."""

    def __init__(self, m: Machine):
        self.m, self.given = m, {}

    def earliest(self, j: Job, latest: float = float("inf")) -> float:
        """The first time up to the latest from which on it fits; infinity: there is none."""
        spans = [(self.m.now, since + r.estimate, r.width) for since, r in self.m.running.values()]
        spans += [(at, at + o.estimate, o.width) for at, o in self.given.values() if o.number != j.number]
        room = self.m.free + sum(r.width for _, r in self.m.running.values()) - j.width
        changes: dict[float, int] = {self.m.now: 0}
        for since, until, width in spans:
            if until > self.m.now:
                changes[max(since, self.m.now)] = changes.get(max(since, self.m.now), 0) + width
                changes[until] = changes.get(until, 0) - width
        used, at = 0, None
        for t in sorted(changes):
            if at is not None and t >= at + j.estimate:
                return at
            used += changes[t]
            if used > room:
                at = None
                if t >= latest:
                    break
            elif at is None:
                if t > latest:
                    break
                at = t
        return at if at is not None else float("inf")


def conservative(plan: Plan, waiting: list[Job], most: int, ended: bool) -> list[Job]:
    m, heads, left = plan.m, 0, []
    for j in waiting:
        if heads == most:
            break
        if (j.number not in plan.given or ended) and j.width <= m.free and plan.earliest(j, m.now) == m.now:
            plan.given.pop(j.number, None)
            m.begin(j)
            continue
        if j.number not in plan.given or ended:
            plan.given[j.number] = (plan.earliest(j), j)
            m.told.setdefault(j.number, plan.given[j.number][0])
        heads += 1
    for j in waiting:
        if j.number in m.start:
            continue
        if j.width <= m.free and plan.earliest(j, m.now) == m.now:
            plan.given.pop(j.number, None)
            m.begin(j)
        else:
            left.append(j)
    return left


def play(jobs: list[Job], cpus: int, strategy: str, most: int = 1) -> Machine:
    m, waiting, i = Machine(cpus), [], 0
    plan = Plan(m)
    never = float("inf")
    while i < len(jobs) or m.ends:
        m.now = min(jobs[i].submit if i < len(jobs) else never, m.ends[0][0] if m.ends else never)
        ran = len(m.running)
        m.end_due()
        ended = len(m.running) < ran
        while i < len(jobs) and jobs[i].submit <= m.now:
            waiting.append(jobs[i])
            i += 1
        if most > 1:
            waiting = conservative(plan, waiting, most, ended)
            continue
        while waiting and waiting[0].width <= m.free:
            m.begin(waiting.pop(0))
        if waiting and strategy == "Backfill":
            waiting = backfill(m, waiting)
    return m


def simulate(sluice: str, trace: str, cpus: int, compress: float, strategy: str, most: int) -> dict[int, int]:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as queues:
        backfill_of = f"\n  backfill: {{reservations: {most}}}" if most > 1 else ""
        queues.write(QUEUES.format(strategy=strategy, backfill=backfill_of, cpus=cpus))
        queues.flush()
        done = subprocess.run([sluice, "simulate", "-f", queues.name, "--trace", trace, "--queue", "default/main", "--compress",
                               str(compress), "-o", "json"], stdout=subprocess.PIPE, check=True, text=True)
    events = map(json.loads, done.stdout.splitlines())
    return {int(e["job"].partition("/")[2]): e["ms"] // 1000 for e in events if e.get("event") == "Admitted"}


def main() -> int:
    sluice, trace, cpus = sys.argv[1], sys.argv[2], int(sys.argv[3])
    compress = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    jobs, failed = read(trace, compress), 0
    for strategy, most in [("StrictFIFO", 1), ("Backfill", 1), *(("Backfill", int(n)) for n in sys.argv[5:])]:
        played = play(jobs, cpus, strategy, most)
        want, got = played.start, simulate(sluice, trace, cpus, compress, strategy, most)
        wrong = [(at, n, got.get(n)) for n, at in want.items() if got.get(n) != at]
        late = sum(at > j.submit for j in jobs for at in [want[j.number]])
        print(f"{strategy}{f' with {most} reservations' if most > 1 else ''}: {len(want)} jobs, {late} of them wait, {len(wrong)} start at another time than the reference says")
        late = [want[n] - at for n, at in played.told.items()]
        if late:
            print(f"  {len(late)} were given a start when they could not start, {sum(d > 0 for d in late)} start later than the first: "
                  f"{max(0, *late) / 3600:.1f} h at most")
        if wrong or len(got) != len(want):
            failed = 1
            at, n, other = min(wrong, default=(0, 0, 0))
            print(f"  the first: job {n} starts at second {at}, sluice says {other}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
