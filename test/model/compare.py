#!/usr/bin/env python3
"""Random worlds, decided by `sluice simulate` and by the plain model of Kueue's cycle beside this file.

    compare.py PATH/TO/sluice [--seeds N] [--from S] [--seed S ..]   exits 1 with the first world on which they differ

What is compared is, at each instant, who was admitted in which flavors and who was preempted for whom
and why. A world on which they differ is left as YAML, with the command that shows it.
"""

import argparse
import heapq
import json
import random
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

from kueue import INF, ClusterQueue, Job, Node, World

EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)


def make_world(seed):
    rnd = random.Random(seed)
    flavors = ["f1", "f2"][:rnd.choice([1, 1, 2])]
    resources = ["cpu", "memory"][:rnd.choice([1, 1, 2])]
    world = {"seed": seed, "fair": rnd.random() < 0.5, "strategies": rnd.choice([["final", "initial"], ["final"], ["initial"]]), "flavors": flavors, "resources": resources}
    deep = rnd.random() < 0.5
    world["cohorts"] = [{"name": "root", "parent": "", "weight": 1}]
    if deep:
        for name in ("left", "right")[:rnd.choice([1, 2])]:
            world["cohorts"].append({"name": name, "parent": "root", "weight": rnd.choice([1, 1, 2, 0.5]), "quota": quota(rnd, flavors, resources, rnd.random() < 0.3, True, 6)})
    if rnd.random() < 0.3:
        world["cohorts"][0]["quota"] = quota(rnd, flavors, resources, True, False, 6)
    world["queues"] = []
    for i in range(rnd.choice([1, 2, 3, 4])):
        cohort = rnd.choice([c["name"] for c in world["cohorts"]]) if rnd.random() < 0.9 else ""
        reclaim = rnd.choice(["Never", "LowerPriority", "Any", "Any"])
        nexts, stops = rnd.random() < 0.3, rnd.random() < 0.3
        q = {"name": f"q{i}", "cohort": cohort, "weight": rnd.choice([1, 1, 1, 2, 0.5, 0]), "strict": rnd.random() < 0.3,
             "quota": quota(rnd, flavors, resources, True, bool(cohort), 12),
             "within": rnd.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]), "reclaim": reclaim,
             "borrow": reclaim != "Never" and rnd.random() < 0.4, "threshold": rnd.choice([None, 0, 1]),
             "next": nexts, "stop": stops, "prefer": nexts and not stops and rnd.random() < 0.5}
        world["queues"].append(q)
    world["jobs"] = []
    for i in range(rnd.randint(3, 14)):
        world["jobs"].append({"name": f"j{i:02}", "queue": rnd.choice(world["queues"])["name"], "at": rnd.choice([0, 0, 1, 2, 3, 5, 8]),
                              "priority": rnd.choice([-1, 0, 0, 0, 1, 1, 2]), "duration": rnd.choice([2, 4, 7, 50]),
                              "requests": {r: rnd.randint(1, 9) for r in resources if rnd.random() < 0.85}})
    for j in world["jobs"]:
        j["requests"] = j["requests"] or {resources[0]: 1}
    if seed % 10 == 6:
        ask_for_nothing(world)
    if seed % 10 == 7:
        cap_priorities(world)
    if seed % 10 == 8:
        fill_gaps_below(world)
    if seed % 10 == 9:
        spare_runs(world)
    return world


def cap_priorities(world):
    rnd = random.Random(f"caps of {world['seed']}")
    for q in world["queues"]:
        q["cap"] = rnd.choice([None, 1, 0, -1])


def fill_gaps_below(world):
    rnd = random.Random(f"gap fillers of {world['seed']}")
    for q in world["queues"]:
        q["gaps"] = rnd.choice([{}, {}, {"below": 1}, {"below": 2}, {"below": -1}])


def spare_runs(world):
    rnd = random.Random(f"minRun of {world['seed']}")
    for q in world["queues"]:
        q["min run"] = rnd.choice([0, 2, 3, 5, 20])


def ask_for_nothing(world):
    """Of some resources; the rest of the world stays what it was."""
    rnd = random.Random(f"zeroes of {world['seed']}")
    for j in world["jobs"]:
        for r in j["requests"]:
            if rnd.random() < 0.3:
                j["requests"][r] = 0


def quota(rnd, flavors, resources, there, limits, most):
    if not there:
        return {}
    out = {}
    for f in flavors:
        for r in resources:
            nominal = rnd.randint(0, most)
            borrowing = rnd.randint(0, 8) if limits and rnd.random() < 0.25 else None
            lending = rnd.randint(0, nominal) if limits and rnd.random() < 0.3 else None
            out[f"{f} {r}"] = [nominal, borrowing, lending]
    return out


# ---- the world as YAML (JSON is YAML) ----

def groups_of(world, quotas):
    if not quotas:
        return []
    fs = []
    for f in world["flavors"]:
        rs = []
        for r in world["resources"]:
            nominal, borrowing, lending = quotas[f"{f} {r}"]
            q = {"name": r, "nominalQuota": str(nominal)}
            if borrowing is not None:
                q["borrowingLimit"] = str(borrowing)
            if lending is not None:
                q["lendingLimit"] = str(lending)
            rs.append(q)
        fs.append({"name": f, "resources": rs})
    return [{"coveredResources": world["resources"], "flavors": fs}]


def when(seconds):
    return (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def manifests(world):
    ours = "sluice.dev/v1alpha1"
    out = [{"apiVersion": ours, "kind": "ResourceFlavor", "metadata": {"name": f}} for f in world["flavors"]]
    for value in sorted(set(j["priority"] for j in world["jobs"])):
        out.append({"apiVersion": ours, "kind": "WorkloadPriorityClass", "metadata": {"name": f"p{value}".replace("-", "m")}, "value": value})
    for c in world["cohorts"]:
        spec = {"resourceGroups": groups_of(world, c.get("quota")), "fairSharing": {"weight": str(c["weight"])}}
        if c["parent"]:
            spec["parentName"] = c["parent"]
        out.append({"apiVersion": ours, "kind": "Cohort", "metadata": {"name": c["name"]}, "spec": spec})
    for q in world["queues"]:
        preemption = {"withinClusterQueue": q["within"], "reclaimWithinCohort": q["reclaim"]}
        if q["borrow"]:
            preemption["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if q["threshold"] is not None:
                preemption["borrowWithinCohort"]["maxPriorityThreshold"] = q["threshold"]
        if q.get("min run"):
            preemption["minRun"] = f"{q['min run']}s"
        fungibility = {"whenCanBorrow": "TryNextFlavor" if q["next"] else "MayStopSearch", "whenCanPreempt": "MayStopSearch" if q["stop"] else "TryNextFlavor"}
        if q["prefer"]:
            fungibility["preference"] = "PreemptionOverBorrowing"
        spec = {"namespaceSelector": {}, "resourceGroups": groups_of(world, q["quota"]), "preemption": preemption, "flavorFungibility": fungibility,
                "queueingStrategy": "StrictFIFO" if q["strict"] else "BestEffortFIFO", "fairSharing": {"weight": str(q["weight"])}}
        if q["cohort"]:
            spec["cohortName"] = q["cohort"]
        if q.get("cap") is not None:
            spec["maxPriority"] = q["cap"]
        if "gaps" in q:
            spec["gapFillers"] = q["gaps"]
        out.append({"apiVersion": ours, "kind": "ClusterQueue", "metadata": {"name": q["name"]}, "spec": spec})
        out.append({"apiVersion": ours, "kind": "LocalQueue", "metadata": {"name": q["name"], "namespace": "t"}, "spec": {"clusterQueue": q["name"]}})
    for i, j in enumerate(world["jobs"]):
        out.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": {
            "name": j["name"], "namespace": "t", "uid": uid_of(i), "creationTimestamp": when(j["at"]),
            "labels": {"sluice.dev/queue-name": j["queue"], "sluice.dev/priority-class": f"p{j['priority']}".replace("-", "m")},
            "annotations": {"sluice.dev/simulate-duration": f"{j['duration']}s"}},
            "spec": {"suspend": True, "parallelism": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {
                "requests": {r: str(v) for r, v in j["requests"].items()}}}]}}}})
    return out


def uid_of(i):
    return f"00000000-0000-4000-8000-{i:012}"


# ---- both answers: {second: (set of admissions, set of preemptions)} ----

def by_model(world):
    kueue = World(world["fair"], tuple(world["strategies"]))
    nodes = {}
    for c in world["cohorts"]:
        nodes[c["name"]] = Node(c["name"], weight=float(c["weight"]), quota=limits(c.get("quota")))
    for c in world["cohorts"]:
        if c["parent"]:
            hang(nodes[c["name"]], nodes[c["parent"]])
    for q in world["queues"]:
        cq = ClusterQueue(q["name"], weight=float(q["weight"]), quota=limits(q["quota"]), groups=[(world["resources"], world["flavors"])], strict=q["strict"],
                          within_cq=q["within"], reclaim=q["reclaim"], borrow_policy=q["borrow"], threshold=q["threshold"] if q["borrow"] else None,
                          next_when_borrowing=q["next"], stop_when_preempting=q["stop"], prefer_preemption=q["prefer"],
                          gaps_below=q.get("gaps", {"below": 0}).get("below", -INF), min_run=q.get("min run", 0))
        if q["cohort"]:
            hang(cq, nodes[q["cohort"]])
        kueue.queues.append(cq)
        nodes["queue " + q["name"]] = cq
    for n in nodes.values():
        if not n.parent:
            n.settle()
    return run(world, kueue, nodes)


def limits(quotas):
    return {tuple(k.split()): (n, INF if b is None else b, INF if l is None else l) for k, (n, b, l) in (quotas or {}).items()}


def hang(node, parent):
    node.parent = parent
    parent.children.append(node)


def run(world, kueue, nodes):
    agenda, jobs, attempt, out = [], {}, {}, {}
    for i, j in enumerate(world["jobs"]):
        heapq.heappush(agenda, (j["at"], 1, i, 0))
    while agenda:
        now = agenda[0][0]
        kueue.now = now
        while agenda and agenda[0][0] == now:
            _, kind, i, tries = heapq.heappop(agenda)
            j = world["jobs"][i]
            if kind == 1:
                cq = nodes["queue " + j["queue"]]
                cap = next(q.get("cap") for q in world["queues"] if q["name"] == j["queue"])
                jobs[j["name"]] = Job(j["name"], cq, j["requests"], j["priority"] if cap is None else min(j["priority"], cap), j["at"], i, uid_of(i))
                kueue.arrive(jobs[j["name"]])
            elif kind == 2:
                kueue.wake(jobs[j["name"]].cq)
            elif attempt.get(j["name"]) == tries:
                job = jobs[j["name"]]
                for fr, v in job.usage().items():
                    job.cq.remove(fr, v)
                job.cq.running.remove(job)
                kueue.free(job.cq)
                attempt[j["name"]] = None
        admitted, preempted = set(), set()
        events = kueue.settle()
        if events is None:
            return None
        for e in events:
            i = int(e[1][1:])
            if e[0] == "Admitted":
                admitted.add(f"{e[1]} {' '.join(f'{r}={f}' for r, f in e[2])}")
                attempt[e[1]] = counter = attempt.get((e[1], "n"), 0) + 1
                attempt[e[1], "n"] = counter
                heapq.heappush(agenda, (now + world["jobs"][i]["duration"], 0, i, counter))
                if jobs[e[1]].cq.min_run:
                    heapq.heappush(agenda, (now + jobs[e[1]].cq.min_run, 2, i, counter))
            else:
                preempted.add(f"{e[1]} {e[2]} by {e[3]}")
                attempt[e[1]] = None
        if admitted or preempted:
            out[now] = (sorted(admitted), sorted(preempted))
        if now > 300:
            break
    return out


def by_sluice(sluice, world, path):
    command = [sluice, "simulate", "-f", str(path), "-o", "json", "--until", "300s", "--preemption-victims", "Kueue"]
    if world["fair"]:
        names = {"final": "LessThanOrEqualToFinalShare", "initial": "LessThanInitialShare"}
        command += ["--fair-sharing", "--fair-preemption-strategies", ",".join(names[s] for s in world["strategies"])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None, command
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\nexit {done.returncode}: {done.stderr}")
    out = {}
    for line in done.stdout.splitlines():
        e = json.loads(line)
        if e.get("event") not in ("Admitted", "Preempted"):
            continue
        admitted, preempted = out.setdefault(e["ms"] // 1000, (set(), set()))
        name = e["job"].split("/")[1]
        if e["event"] == "Admitted":
            admitted.add(f"{name} {' '.join(f'{r}={f}' for r, f in sorted(e['flavors'].items()))}")
        else:
            preempted.add(f"{name} {e['reason']} by {e['by'].split('/')[1]}")
    return {at: (sorted(a), sorted(p)) for at, (a, p) in out.items()}, command


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sluice")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--seed", type=int, nargs="+", default=[])
    parser.add_argument("--go-on", action="store_true", help="count the worlds on which they differ")
    args = parser.parse_args()
    seeds = args.seed or range(args.first, args.first + args.seeds)
    differ, events = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in seeds:
            world = make_world(seed)
            path = Path(scratch) / f"world-{seed}.yaml"
            path.write_text("\n---\n".join(json.dumps(m) for m in manifests(world)))
            mine = by_model(world)
            theirs, command = by_sluice(args.sluice, world, path)
            if mine is None or theirs is None:
                print(f"seed {seed}: no end at one instant: {'the model ' if mine is None else ''}{'sluice' if theirs is None else ''}")
                return 1
            first = min(j["at"] for j in world["jobs"])
            mine = {at - first: v for at, v in mine.items()}
            events += sum(len(a) + len(p) for a, p in mine.values())
            if mine == theirs:
                continue
            differ.append(seed)
            if args.go_on:
                continue
            kept = Path(tempfile.gettempdir()) / f"sluice-world-{seed}.yaml"
            kept.write_text(path.read_text())
            at = next(t for t in sorted(set(mine) | set(theirs)) if mine.get(t) != theirs.get(t))
            print(f"seed {seed}: they differ at second {at}\n  model:  {mine.get(at)}\n  sluice: {theirs.get(at)}")
            print("  " + " ".join([args.sluice, "simulate", "-f", str(kept)] + command[4:]))
            return 1
    print(f"{len(seeds)} worlds, {events} admissions and preemptions" + (f": {len(differ)} differ: {differ[:20]}" if differ else ": the same"))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
