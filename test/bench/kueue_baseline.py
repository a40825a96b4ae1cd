#!/usr/bin/env python3
"""Kueue's own performance scenario ("baseline") as manifests for `sluice simulate`, on stdout.

5 cohorts of 6 ClusterQueues, each with 20 cpu of its own and up to 100 borrowed, and in each queue

    350 small   1 cpu for 200 ms, one every 100 ms,  priority 50
    100 medium  5 cpu for 500 ms, one every 500 ms,  priority 100
     50 large  20 cpu for 1 s,    one every 1200 ms, priority 200

which makes 15,000 Jobs. reclaimWithinCohort is Any, withinClusterQueue is LowerPriority. The first of
each kind comes after one interval, as Kueue's generator does it.

    test/bench/kueue_baseline.py > baseline.yaml && sluice simulate -f baseline.yaml

`./dev bench kueue-baseline` (baseline.py) makes the same on a real control plane.
"""
import argparse
import datetime
import sys
from typing import Iterator, NamedTuple

START = datetime.datetime(2026, 1, 1)
NAMESPACE = "default"


class Class(NamedTuple):
    name: str
    count: int
    every_ms: int
    cpu: int
    run_ms: int
    priority: int


CLASSES = (
    Class("small", 350, 100, 1, 200, 50),
    Class("medium", 100, 500, 5, 500, 100),
    Class("large", 50, 1200, 20, 1000, 200),
)
NOMINAL_CPU, BORROWING_CPU = 20, 100


class Job(NamedTuple):
    name: str
    queue: str
    at_ms: int
    kind: Class


def queues(cohorts: int = 5, per_cohort: int = 6) -> list[tuple[str, str]]:
    """(queue, cohort): the ClusterQueue and its LocalQueue have the same name."""
    return [(f"cq-{c}-{q}", f"cohort-{c}") for c in range(cohorts) for q in range(per_cohort)]


def scaled(fraction: float) -> tuple[Class, ...]:
    """The classes with that part of their Jobs, which come as often."""
    return tuple(k._replace(count=max(1, round(k.count * fraction))) for k in CLASSES)


def jobs(names: list[tuple[str, str]], classes: tuple[Class, ...] = CLASSES) -> Iterator[Job]:
    """In order of arrival."""
    every = [
        Job(f"{queue}-{kind.name}-{i}", queue, (i + 1) * kind.every_ms, kind)
        for queue, _ in names
        for kind in classes
        for i in range(kind.count)
    ]
    return iter(sorted(every, key=lambda j: j.at_ms))


def floor_ms(classes: tuple[Class, ...] = CLASSES) -> float:
    """What quota alone allows: all queues are alike, so none has anything to lend in the long run.
    A small part of the Jobs is done before the last has come, which is the floor then."""
    work = sum(k.count * k.cpu * k.run_ms for k in classes)
    return max(work / NOMINAL_CPU, *(k.count * k.every_ms + k.run_ms for k in classes))


def describe(names: list[tuple[str, str]]) -> str:
    docs = ["""apiVersion: sluice.dev/v1alpha1
kind: ResourceFlavor
metadata: {name: rf}
"""]
    docs += [f"""apiVersion: sluice.dev/v1alpha1
kind: WorkloadPriorityClass
metadata: {{name: {k.name}}}
value: {k.priority}
""" for k in CLASSES]
    for queue, cohort in names:
        docs.append(f"""apiVersion: sluice.dev/v1alpha1
kind: ClusterQueue
metadata: {{name: {queue}}}
spec:
  cohortName: {cohort}
  namespaceSelector: {{}}
  queueingStrategy: BestEffortFIFO
  preemption: {{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: rf
      resources: [{{name: cpu, nominalQuota: {NOMINAL_CPU}, borrowingLimit: {BORROWING_CPU}}}]
""")
        docs.append(f"""apiVersion: sluice.dev/v1alpha1
kind: LocalQueue
metadata: {{name: {queue}, namespace: {NAMESPACE}}}
spec: {{clusterQueue: {queue}}}
""")
    return "---\n".join(docs)


def manifest(job: Job) -> str:
    at = (START + datetime.timedelta(milliseconds=job.at_ms)).isoformat(timespec="milliseconds")
    return f"""---
apiVersion: batch/v1
kind: Job
metadata:
  name: {job.name}
  namespace: {NAMESPACE}
  creationTimestamp: {at}Z
  labels: {{sluice.dev/queue-name: {job.queue}, sluice.dev/priority-class: {job.kind.name}}}
  annotations: {{sluice.dev/simulate-duration: {job.kind.run_ms}ms}}
spec: {{suspend: true, parallelism: 1, completions: 1, template: {{spec: {{containers: [
  {{name: main, resources: {{requests: {{cpu: {job.kind.cpu}}}}}}}]}}}}}}
"""


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--cohorts", type=int, default=5)
    args.add_argument("--queues", type=int, default=6, help="of each cohort")
    args.add_argument("--jobs-fraction", type=float, default=1, help="that part of the Jobs, which come as often")
    given = args.parse_args()
    classes = scaled(given.jobs_fraction)
    names = queues(given.cohorts, given.queues)
    sys.stdout.write(describe(names))
    for job in jobs(names, classes):
        sys.stdout.write(manifest(job))
    print(f"the floor that quota alone sets: {floor_ms(classes) / 1000:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
