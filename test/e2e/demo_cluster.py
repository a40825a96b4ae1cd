"""The demo's second scene, of a few seconds: what the cluster itself would say is asked before a Job is started.

A namespace has a ResourceQuota of ten pods. A Job that is one too many waits, in the API server's own words;
one that no node could ever take waits in the scheduler's. Each starts when what is lacking has come, and
neither the Job controller nor the scheduler ever had to refuse a pod. That is counted from their own Events."""

import re
import time

from sandbox import ApiError, SandboxError, wait_until

GROUP = "sluice.dev/v1alpha1"
TEAM, QUEUE, QUOTA, NODE = "team-lab", "lab", "compute", "large-0"
HARD = {"requests.cpu": "200", "requests.memory": "200Gi", "pods": "10"}
PATIENCE_SECONDS = 60  # for one step


def job(name, pods, cpu, seconds):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"sluice.dev/queue-name": QUEUE}},
            "spec": {"suspend": True, "parallelism": pods, "completions": pods, "backoffLimit": 0, "template": {
                "metadata": {"annotations": {"sandbox.sluice.dev/run-seconds": str(seconds)}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "work", "image": "busybox", "command": ["sleep", str(seconds)],
                                                                   "resources": {"requests": {"cpu": str(cpu), "memory": "1Gi"}}}]}}}}


class ClusterScene:
    def __init__(self, box, screen):
        self.box, self.api, self.screen = box, box.api, screen
        self.controller = box.controller_api()
        self.good, self.began = True, time.monotonic()

    def run(self):
        """True if all was as it should be."""
        self.began = time.monotonic()
        try:
            self.prepare()
            self.quota()
            self.nowhere()
            self.refusals()
        except (SandboxError, ApiError, OSError) as e:
            self.verdict(False, str(e).split("\n")[0])
        finally:
            if not self.api.gone(f"/api/v1/nodes/{NODE}"):
                self.api.delete(f"/api/v1/nodes/{NODE}")
        self.screen.print()
        return self.good

    # -- the play ----------------------------------------------------------

    def prepare(self):
        self.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
        made = [("resourceflavors", "ResourceFlavor", "anywhere", {}),
                ("clusterqueues", "ClusterQueue", QUEUE, {"namespaceSelector": {}, "clusterFit": "Now", "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
                    {"name": "anywhere", "resources": [{"name": "cpu", "nominalQuota": "200"}, {"name": "memory", "nominalQuota": "800Gi"}]}]}]})]
        for plural, kind, name, spec in made:
            self.api.ensure(f"/apis/{GROUP}/{plural}", {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec})
        self.api.ensure(f"/apis/{GROUP}/namespaces/{TEAM}/localqueues", {
            "apiVersion": GROUP, "kind": "LocalQueue", "metadata": {"name": QUEUE}, "spec": {"clusterQueue": QUEUE}})
        self.until("the account of the namespace", lambda: self.api.get(f"/api/v1/namespaces/{TEAM}/serviceaccounts/default"))
        path = f"/api/v1/namespaces/{TEAM}/resourcequotas"
        self.api.ensure(path, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": QUOTA}, "spec": {"hard": HARD}})
        self.until("the ResourceQuota to be counted", lambda: self.api.get(f"{path}/{QUOTA}")["status"].get("hard") == HARD)

    def quota(self):
        self.step(f"ClusterQueue {QUEUE} has 200 cpu, but ResourceQuota {QUOTA} lets namespace {TEAM} have {HARD['pods']} pods; Job train wants 8 of them, Job score 4")
        for obj in (job("train", 8, 2, 4), job("score", 4, 2, 1)):
            self.api.post(f"/apis/batch/v1/namespaces/{TEAM}/jobs", obj)
        said = self.waits("score", "NamespaceQuotaExceeded")
        self.step(f"score waits: {said['sentence']}")
        # A pod that was just made may count twice until the quota was seen again: how much is used is not looked at.
        words = rf"exceeded quota: {QUOTA}, requested: pods=4, used: pods=\d+, limited: pods=10"
        self.until("train and score to finish", lambda: self.complete("train") and self.complete("score"))
        self.verdict(re.search(words, said["sentence"]), "the one too many waited for the namespace's quota, and ran when there was room")

    def nowhere(self):
        self.step("Job giant wants 48 cpu in one pod; no node has more than 32")
        self.api.post(f"/apis/batch/v1/namespaces/{TEAM}/jobs", job("giant", 1, 48, 1))
        said = self.waits("giant", "NoNodeSuits")
        self.step(f"giant waits: {said['sentence']}")
        self.step("a node of 64 cpu is added")
        room = {"cpu": "64", "memory": "128Gi", "pods": "110"}
        self.api.post("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": {"pool": "large"}},
                                        "status": {"capacity": room, "allocatable": room}})
        self.until("giant to finish", lambda: self.complete("giant"))
        self.verdict("nodes are available" in said["sentence"], "the one that fitted nowhere held no quota meanwhile, and ran as soon as a node suited it")

    def refusals(self):
        found = [e for reason in ("FailedCreate", "FailedScheduling")
                 for e in self.api.list(f"/api/v1/namespaces/{TEAM}/events?fieldSelector=reason={reason}")
                 if "Operation cannot be fulfilled" not in (e.get("message") or "")]  # a Conflict: asked again at once
        self.verdict(not found, "no pod was refused by the API server or the scheduler on the way"
                     + (f": {found[0]['involvedObject']['name']}: {found[0].get('message')}" if found else ""))

    # -- helpers -----------------------------------------------------------

    def waits(self, name, reason):
        def asked():
            said = self.controller.job(TEAM, name)
            return said if said["waiting"] and said["reason"] == reason else None
        return self.until(f"{name} to wait ({reason})", asked)

    def complete(self, name):
        conditions = self.api.get(f"/apis/batch/v1/namespaces/{TEAM}/jobs/{name}")["status"].get("conditions", [])
        return any(c["type"] == "Complete" and c["status"] == "True" for c in conditions)

    def until(self, what, check):
        return wait_until(what, check, PATIENCE_SECONDS, self.box.process("controller-one"))

    def step(self, text):
        self.screen.print(f"{time.monotonic() - self.began:5.0f} s  {text}")

    def verdict(self, holds, sentence):
        self.good = self.good and bool(holds)
        mark = self.screen.pick("✓", "ok") if holds else self.screen.pick("✗", "NOT")
        self.screen.print("  ", ("green" if holds else "red", mark), " ", sentence)
