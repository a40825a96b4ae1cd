#!/usr/bin/env python3
"""FIFO and EASY backfill as plainly as they can be written, against `sluice simulate` on a trace.

    test/model/easy.py SLUICE TRACE PROCESSORS [COMPRESS]

Plays the trace under both strategies and compares the second in which each job starts. EASY as
queue/rules/backfill.h has it: the first that does not fit gets the earliest time at which enough of what
runs is expected to have ended; those behind it start if they fit and end by then, or do with what is
left beside it then. A run that goes on longer than its estimate is expected after twice that time,
four times, and so on.
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
  queueingStrategy: {strategy}
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


def play(jobs: list[Job], cpus: int, strategy: str) -> dict[int, int]:
    m, waiting, i = Machine(cpus), [], 0
    never = float("inf")
    while i < len(jobs) or m.ends:
        m.now = min(jobs[i].submit if i < len(jobs) else never, m.ends[0][0] if m.ends else never)
        m.end_due()
        while i < len(jobs) and jobs[i].submit <= m.now:
            waiting.append(jobs[i])
            i += 1
        while waiting and waiting[0].width <= m.free:
            m.begin(waiting.pop(0))
        if waiting and strategy == "Backfill":
            waiting = backfill(m, waiting)
    return m.start


def simulate(sluice: str, trace: str, cpus: int, compress: float, strategy: str) -> dict[int, int]:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as queues:
        queues.write(QUEUES.format(strategy=strategy, cpus=cpus))
        queues.flush()
        done = subprocess.run([sluice, "simulate", "-f", queues.name, "--trace", trace, "--queue", "default/main", "--compress",
                               str(compress), "-o", "json"], stdout=subprocess.PIPE, check=True, text=True)
    events = map(json.loads, done.stdout.splitlines())
    return {int(e["job"].partition("/")[2]): e["ms"] // 1000 for e in events if e.get("event") == "Admitted"}


def main() -> int:
    sluice, trace, cpus = sys.argv[1], sys.argv[2], int(sys.argv[3])
    compress = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    jobs, failed = read(trace, compress), 0
    for strategy in ("StrictFIFO", "Backfill"):
        want, got = play(jobs, cpus, strategy), simulate(sluice, trace, cpus, compress, strategy)
        wrong = [(at, n, got.get(n)) for n, at in want.items() if got.get(n) != at]
        late = sum(at > j.submit for j in jobs for at in [want[j.number]])
        print(f"{strategy}: {len(want)} jobs, {late} of them wait, {len(wrong)} start at another time than the reference says")
        if wrong or len(got) != len(want):
            failed = 1
            at, n, other = min(wrong, default=(0, 0, 0))
            print(f"  the first: job {n} starts at second {at}, sluice says {other}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
