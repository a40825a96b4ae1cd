"""The demo's night on a node whose containers really run, where this machine can have one (sandbox/real_node.py): a
kubelet, containerd, and the agent of nodes (sluice-node) in a pod.

A pod on idle resources that would take all the cpu there is gets what it asked for. In the morning an ordinary pod is
busy for a few seconds, and the agent has the lent one give way. What is told is read in the cgroups of both pods, not
asked of Sluice. Of this machine only that node's pods count (agents.AloneOnTheMachine): the rest of it is the demo."""

import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

from sandbox import agents, real_node

GROUP = "sluice.dev/v1alpha1"
NAMESPACE, QUEUE, JOB, BUSY = "team-agent", "agent", "loop", "busy"
CORES, MIB = 0.3, 64  # that the loop asks for
BUSY_SECONDS = 6
LOOP = "while :; do :; done"
CGROUPS = Path("/sys/fs/cgroup")
# Shares of a machine of any size: the loop fits below the mark, and beside an ordinary pod on one whole core it does not.
CONFIG = {"usageSource": "agent", "cpuReclaimThresholdPercent": 100, "memoryReclaimThresholdPercent": 100, "memoryCalculatePolicy": "request", "reclaim": False,
          "cpuSuppressThresholdPercent": -(-50 // os.cpu_count()), "cpuSuppressMinPercent": 0, "memoryHoldPercent": 98, "memoryEndPercent": 99}


class Reading(NamedTuple):
    """Of one moment: cores, seconds of cpu since the pod began, MiB."""
    at: float
    limit: float
    used: float
    memory_limit: float
    memory: float
    ordinary: float


def why_not():
    """Why this machine shows no agent, a sentence; None: it does."""
    return real_node.lacks() or (real_node.parts_missing() and "the parts of a real node are not built") or None


class AgentScene(threading.Thread):
    """Reads the cgroups twenty times a second, from the moment in which the loop runs."""

    def __init__(self, box):
        super().__init__(daemon=True)
        self.box, self.api = box, box.api
        self.readings, self.rose, self.over = [], None, threading.Event()
        self.loop = self.busy = None  # uids of the two pods
        self.alone = agents.AloneOnTheMachine(box)

    def config(self):
        """Of that node, as the ConfigMap has it."""
        return {"name": "real", "nodeSelector": {"matchLabels": {"pool": real_node.POOL}}, **CONFIG}

    def prepare(self):
        self.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        flavor = {"idlePool": {"names": "Batch", "share": "100%"}, "nodeLabels": {"pool": real_node.POOL}, "tolerations": [real_node.TOLERATION]}
        quota = [{"name": "cpu", "nominalQuota": "1"}, {"name": "memory", "nominalQuota": "1Gi"}]
        for path, kind, name, spec in (
                ("resourceflavors", "ResourceFlavor", "agent", flavor),
                ("clusterqueues", "ClusterQueue", QUEUE, {"namespaceSelector": {}, "resourceGroups": [
                    {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "agent", "resources": quota}]}]}),
                (f"namespaces/{NAMESPACE}/localqueues", "LocalQueue", QUEUE, {"clusterQueue": QUEUE})):
            self.api.ensure(f"/apis/{GROUP}/{path}", {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec})
        self.alone.show_to_agent()

    def submit(self):
        """The loop, as its owner would: it asks for cpu and memory, and may run on what is idle."""
        self.api.post(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": JOB, "labels": {"sluice.dev/queue-name": QUEUE}, "annotations": {"sluice.dev/preemptible": "true"}},
            "spec": {"suspend": True, "template": {"spec": self.pod(LOOP, f"{CORES}", f"{MIB}Mi")}}})

    def rise(self):
        self.api.post(f"/api/v1/namespaces/{NAMESPACE}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": BUSY},
            "spec": {**self.pod(f"timeout {BUSY_SECONDS} sh -c '{LOOP}'; exec sleep 3600", "500m", "16Mi"),
                     "tolerations": [real_node.TOLERATION], "nodeSelector": {"pool": real_node.POOL}}})

    @staticmethod
    def pod(script, cpu, memory):
        return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [{
            "name": "work", "image": real_node.IMAGE, "command": ["sh", "-c", script], "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}

    # -- what the cgroups say ------------------------------------------------

    def run(self):
        while not self.over.wait(0.05):
            try:
                self.look()
            except (OSError, ValueError):
                pass  # a pod that has no cgroup yet, or none any more

    def look(self):
        lent, ordinary = f"besteffort/pod{self.loop}", f"burstable/pod{self.busy}"
        busy = self.says(f"cpuacct/{{}}/{ordinary}/cpuacct.usage") / 1e9 if self.busy else 0
        quota = self.says(f"cpu/{{}}/{lent}/cpu.cfs_quota_us")
        self.readings.append(Reading(
            time.monotonic(), quota / 1e5 if quota >= 0 else float("inf"), self.says(f"cpuacct/{{}}/{lent}/cpuacct.usage") / 1e9,
            self.says(f"memory/{{}}/{lent}/memory.limit_in_bytes") / 2**20, self.says(f"memory/{{}}/{lent}/memory.usage_in_bytes") / 2**20, busy))
        if self.rose is None and busy > 0.1:  # more than its start takes; of one core, so it rose that long ago
            self.rose = time.monotonic() - busy

    def says(self, file):
        return int((CGROUPS / file.format(f"{self.box.real_node.cgroup}/kubepods")).read_text())

    def uid(self, name):
        """Of the pod whose name begins so, once it runs."""
        return next((p["metadata"]["uid"] for p in self.api.list(f"/api/v1/namespaces/{NAMESPACE}/pods")
                     if p["metadata"]["name"].startswith(name) and p["status"].get("phase") == "Running"), None)

    def holds(self):
        """Whether the loop runs, and has run for three seconds with a limit."""
        self.loop = self.loop or self.uid(JOB)
        if self.loop and not self.is_alive():
            self.start()
        return len(self.night()) >= 60

    def gave_way(self):
        self.busy = self.busy or self.uid(BUSY)
        return bool(self.held())

    def has_all_back(self):
        return not self.is_limited_to_less(self.readings[-1])

    @staticmethod
    def is_limited_to_less(reading):
        return reading.limit < CORES - 0.001

    def night(self):
        """Readings before the ordinary pod rose, with a limit."""
        return [r for r in self.readings if r.limit <= CORES + 0.001 and (self.rose is None or r.at < self.rose)]

    def held(self):
        """Those after that, in which the loop has less than it asked for."""
        return [r for r in self.readings if self.rose and r.at >= self.rose and self.is_limited_to_less(r)]

    # -- what is told of them ------------------------------------------------

    def figure(self):
        """(what, share of its bar, in words) of this moment; None: the loop does not run yet."""
        if len(self.readings) < 20:
            return None
        before, now = self.readings[-20], self.readings[-1]
        used = cores(before, now)
        return "real loop", used, f"{used:.2f} cpu used, limit {limit(now)}, asked for {CORES}"

    def table(self, screen):
        night, held = self.night(), self.held()
        least = [r for r in held if r.limit == min(h.limit for h in held)]
        screen.print("  On the real node: a busy loop on idle resources, and what its cgroup says")
        screen.print()
        screen.table(["", "asked for", "limit at night", "used", "limit beside a busy ordinary pod", "used"], [
            ["cpu", f"{CORES}", limit(night[-1]), f"{cores(night[0], night[-1]):.2f}", limit(least[-1]), f"{cores(least[0], least[-1]):.2f}"],
            ["memory, Mi", f"{MIB}", f"{night[-1].memory_limit:.0f}", f"{max(r.memory for r in night):.1f}",
             f"{held[-1].memory_limit:.0f}", f"{max(r.memory for r in held):.1f}"]])
        screen.print()

    def findings(self):
        """[(does it hold, sentence)]."""
        night, held = self.night(), self.held()
        had = cores(night[0], night[-1])
        return [
            (had < CORES + 0.02 and night[-1].memory_limit == MIB, f"the loop asked for {CORES} cpu and had {had:.2f}: the agent of its node (sluice-node) holds it to that"),
            (self.has_all_back(), f"an ordinary pod rose beside it: the agent had it give way {held[0].at - self.rose:.1f} s later, and it got all back"),
        ]

    def end(self):
        self.over.set()
        self.alone.end()


def cores(a, b):
    return (b.used - a.used) / max(b.at - a.at, 0.001)


def limit(reading):
    return "none" if reading.limit == float("inf") else f"{reading.limit:.2f}"
