"""Kueue's own performance scenario on the real control plane: see kueue_baseline.py for what it is.

The Jobs are created at their times by `blast`, are started by the controller under test, scheduled
by the scheduler, and run on nodes that kwok plays for as long as they say. The clock runs from the
first Job's time to the moment at which the controller has seen the last of them end, with no pod left. Kueue's
own run has no Jobs and no pods (its test plays the runs itself); this one has both.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime

import kueue_baseline as scenario
from ground import ROOT, Ground, say, table
from sandbox import wait_until

NS, FLAVOR, POOL = "bench-kueue", "rf", "kueue"
BASE = "/apis/sluice.dev/v1alpha1"
NODES, NODE_CPU, NODE_PODS = 5, 640, 5000  # no Job waits for a node
PATIENCE_S = 3600


def make_nodes(ground):
    for i in range(NODES):
        room = {"cpu": str(NODE_CPU), "memory": "10Ti", "pods": str(NODE_PODS)}
        ground.api.ensure("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"kueue-{i}", "labels": {"pool": POOL}},
                                            "status": {"capacity": room, "allocatable": room}})

    def ready():
        nodes = ground.api.list("/api/v1/nodes")
        mine = [n for n in nodes if n["metadata"]["labels"].get("pool") == POOL]
        return len(mine) == NODES and all(not n["spec"].get("taints") and any(
            c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", [])) for n in mine)
    wait_until("the nodes", ready, 60)


def make_queues(ground, names):
    def ensure(kind, plural, name, spec, ns=None):
        meta = {"name": name, **({"namespace": ns} if ns else {})}
        path = f"{BASE}/namespaces/{ns}/{plural}" if ns else f"{BASE}/{plural}"
        ground.api.ensure(path, {"apiVersion": "sluice.dev/v1alpha1", "kind": kind, "metadata": meta, **spec})
    ground.api.ensure("/api/v1/namespaces", {"metadata": {"name": NS}})
    ensure("ResourceFlavor", "resourceflavors", FLAVOR, {"spec": {"nodeLabels": {"pool": POOL}}})
    for kind in scenario.CLASSES:
        ensure("WorkloadPriorityClass", "workloadpriorityclasses", kind.name, {"value": kind.priority})
    for queue, cohort in names:
        quota = {"name": "cpu", "nominalQuota": str(scenario.NOMINAL_CPU), "borrowingLimit": str(scenario.BORROWING_CPU)}
        ensure("ClusterQueue", "clusterqueues", queue, {"spec": {
            "cohortName": cohort, "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO",
            "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": FLAVOR, "resources": [quota]}]}]}})
        ensure("LocalQueue", "localqueues", queue, {"spec": {"clusterQueue": queue}}, NS)


def job(j):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": j.name, "namespace": NS, "labels": {"sluice.dev/queue-name": j.queue, "sluice.dev/priority-class": j.kind.name}},
            "spec": {"suspend": True, "template": {
                "metadata": {"annotations": {"sandbox.sluice.dev/run-seconds": f"{j.kind.run_ms / 1000:g}"}},
                "spec": {"restartPolicy": "Never", "containers": [
                    {"name": "main", "image": "busybox:1.36", "resources": {"requests": {"cpu": str(j.kind.cpu)}}}]}}}}


def create(j):
    return str(j.at_ms), "POST", f"/apis/batch/v1/namespaces/{NS}/jobs", "application/json", json.dumps(job(j), separators=(",", ":"))


class Submission(threading.Thread):
    """Creates the Jobs at their times, meanwhile."""

    def __init__(self, ground, lines):
        super().__init__(daemon=True)
        self.ground, self.lines, self.result, self.fault = ground, lines, None, None
        self.start()

    def run(self):
        try:
            self.result = self.ground.blast(self.lines, paced=True)
        except SystemExit as fault:
            self.fault = fault

    def check(self):
        if self.fault:
            raise self.fault


def left(ground):
    """Jobs that wait or hold quota; who ended is in no queue."""
    queues = ground.box.controller_api().queues()["clusterQueues"]
    return sum(q["pending"] for q in queues), sum(q["reserving"] for q in queues)


def wait_finished(ground, submission, began):
    """Until all have come and none is left; says how it goes every 15 s. Not by the count of finishes: a
    Job may end while it is being stopped, and is not counted as one that finished then."""
    told = began
    while True:
        over = not submission.is_alive()
        waiting, holding = left(ground)
        if over and waiting + holding == 0:
            submission.check()
            return time.monotonic() - began
        now = time.monotonic()
        if now - began > PATIENCE_S:
            raise SystemExit(f"{waiting} Jobs wait and {holding} hold quota after {PATIENCE_S} s")
        if now - told >= 15:
            told = now
            say(f"    {now - began:.0f} s: {'all have come' if over else 'Jobs still come'}, {waiting} wait, {holding} hold quota")
        time.sleep(0.2)


def complete(ground, total):
    """Seconds from the first creation to the last completion, by the Jobs' own stamps."""
    jobs = list(ground.api.list(f"/apis/batch/v1/namespaces/{NS}/jobs"))
    ended = [j["status"]["completionTime"] for j in jobs if j["status"].get("completionTime")]
    if len(ended) != total:
        raise SystemExit(f"{len(ended)} of {total} Jobs are complete, though the controller says all are")
    stamp = lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))  # noqa: E731
    first = min(stamp(j["metadata"]["creationTimestamp"]) for j in jobs)
    return (max(map(stamp, ended)) - first).total_seconds()


def simulated(fraction):
    """Time to finish over the floor, of the same in virtual time."""
    generator = [sys.executable, ROOT / "test" / "bench" / "kueue_baseline.py", "--jobs-fraction", str(fraction)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as world:
        subprocess.run(generator, stdout=world, stderr=subprocess.DEVNULL, check=True)
        done = subprocess.run([ROOT / "build" / "release" / "bin" / "sluice", "simulate", "-f", world.name, "-o", "json"],
                              capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["summary"]["makespan_ms"] / 1000


def run(args):
    classes, names = scenario.scaled(args.jobs_fraction), scenario.queues()
    jobs = list(scenario.jobs(names, classes))
    floor, first_s = scenario.floor_ms(classes) / 1000, jobs[0].at_ms / 1000
    ground = Ground()
    try:
        make_nodes(ground)
        make_queues(ground, names)
        ground.wait_reported()
        say(f"==> Kueue's baseline: {len(jobs)} Jobs in {len(names)} ClusterQueues within {jobs[-1].at_ms / 1000:.0f} s; at least {floor:.1f} s of work")
        writes, (_, cpu), cluster_cpu = ground.writes(), ground.usage(), ground.cluster_cpu()
        began = time.monotonic()
        submission = Submission(ground, map(create, jobs))
        seconds = wait_finished(ground, submission, began) - first_s
        (rss, cpu_after), cluster_cpu = ground.usage(), ground.cluster_cpu() - cluster_cpu
        ground.wait_reported(pendingWorkloads=0, reservingWorkloads=0)
        after, by_stamps = ground.writes(), complete(ground, len(jobs))
        admissions, preempted = ground.metric("sluice_admissions_total"), ground.metric("sluice_stops_total")
    finally:
        if not args.keep:
            ground.box.destroy()
    own = len(jobs)
    result = {"bench": "kueue-baseline", "jobs": len(jobs), "seconds": round(seconds, 1), "seconds_by_stamps": by_stamps, "floor_seconds": round(floor, 1),
              "over_floor": round(seconds / floor, 2), "simulated_over_floor": round(simulated(args.jobs_fraction) / floor, 2),
              "submitted_late_ms": submission.result["late_ms"], "admissions": int(admissions), "stops": int(preempted),
              "admissions_per_s": round(admissions / seconds, 1),
              "job_writes_per_job": round((after[0] - writes[0]) / own, 3), "api_writes_per_job": round((after[1] - writes[1]) / own, 3),
              "rss_mb": round(rss, 1), "cpu_s": round(cpu_after - cpu, 2), "cluster_cpu_s": round(cluster_cpu, 1)}
    table([
        ("time to finish", f"{result['seconds']} s", f"{by_stamps:.0f} s by the Jobs' own stamps; all created {result['submitted_late_ms']} ms late at most"),
        ("over the floor", result["over_floor"], f"quota alone allows {floor:.1f} s; in virtual time the same is {result['simulated_over_floor']}"),
        ("admissions", f"{result['admissions_per_s']} /s", f"{result['admissions']} starts; {result['stops']} stops for others, some of them as the Job ended anyway"),
        ("Job writes per Job", result["job_writes_per_job"], "PATCHes of Jobs by Sluice: starts and stops"),
        ("API writes per Job", result["api_writes_per_job"], "with the status of queues"),
        ("controller", f"{result['rss_mb']} MB", f"{result['cpu_s']} cpu seconds"),
        ("the cluster's cpu per Job", f"{1000 * cluster_cpu / own:.0f} ms", "API server, etcd, controller-manager, scheduler, kwok: what the machine can do at best"),
    ])
    return result
