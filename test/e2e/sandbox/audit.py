"""Watches from outside what Sluice does: the Jobs, the pods and the ledger.

Nothing here asks Sluice. The pods are seen through a watch of the API server,
event by event, so that their use is known at each moment it changes and the
peak is the true one, not that of some samples."""

import threading
import time
from collections import Counter

from .kube import ApiError
from .process import SandboxError

UNITS = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def units(resource, quantity):
    """A quantity such as 500m or 2Gi in the ledger's units: cpu in milli, the rest whole."""
    digits = quantity.rstrip("mkMGTKi")
    value = float(digits) * UNITS[quantity[len(digits):]]
    return round(value * 1000 if resource == "cpu" else value)


class Follow(threading.Thread):
    """Lists a collection, then watches it, for ever; subclasses take the objects.

    A watch that breaks (the API server was restarted, history was compacted)
    is followed by a new list."""

    def __init__(self, api, path):
        super().__init__(daemon=True)
        self.api, self.path = api, path
        self.lock = threading.Lock()
        self.events = 0
        self.listed = threading.Event()
        self.stopped = False

    def run(self):
        while not self.stopped:
            try:
                found = self.api.get(self.path)
                with self.lock:
                    self.replace(found.get("items") or [])
                self.listed.set()
                for event in self.api.watch(self.path, found["metadata"]["resourceVersion"]):
                    if self.stopped:
                        return
                    if event["type"] == "ERROR":
                        break
                    if event["type"] != "BOOKMARK":
                        with self.lock:
                            self.events += 1
                            self.take(event["type"], event["object"])
            except (OSError, ApiError, ValueError):
                time.sleep(0.2)


class JobFollow(Follow):
    """When each queued Job was first seen started, when it ended, and how."""

    def __init__(self, api, queues):
        super().__init__(api, "/apis/batch/v1/jobs?labelSelector=sluice.dev/queue-name")
        self.queues = queues  # (namespace, LocalQueue) -> ClusterQueue
        self.started, self.ended = {}, {}
        self.finished, self.failed, self.active = set(), set(), set()

    def replace(self, jobs):
        for job in jobs:
            self.take("ADDED", job)

    def take(self, kind, job):
        key = (job["metadata"]["namespace"], job["metadata"]["name"])
        if not job["spec"].get("suspend"):
            self.started.setdefault(key, time.monotonic())
        ends = {c["type"] for c in job["status"].get("conditions", []) if c["status"] == "True"}
        if ends & {"Complete", "Failed"}:
            self.ended.setdefault(key, time.monotonic())
        if "Complete" in ends:
            self.finished.add(key)
        if "Failed" in ends:
            self.failed.add(key)
        if ends & {"Complete", "Failed"} or job["spec"].get("suspend") or kind == "DELETED":
            self.active.discard(key)
        else:
            self.active.add(key)


class PodFollow(Follow):
    """What the pods of queued Jobs ask for, by (ClusterQueue, flavor, resource):
    now, and at the most. A pod counts from its creation until it is Succeeded,
    Failed or gone."""

    def __init__(self, api, queues, pools):
        super().__init__(api, "/api/v1/pods")
        self.queues = queues  # (namespace, Job name) -> ClusterQueue
        self.pools = pools    # by node selector; else every pod is of flavor "any"
        self.pods, self.now, self.peak = {}, Counter(), Counter()

    def replace(self, pods):
        self.pods, self.now = {}, Counter()
        for pod in pods:
            self.take("ADDED", pod)

    def take(self, kind, pod):
        uid = pod["metadata"]["uid"]
        for key, n in self.pods.pop(uid, {}).items():
            self.now[key] -= n
        owners = pod["metadata"].get("ownerReferences") or []
        job = next((o["name"] for o in owners if o["kind"] == "Job"), None)
        queue = self.queues.get((pod["metadata"]["namespace"], job))
        if queue is None or kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed"):
            return
        flavor = (pod["spec"].get("nodeSelector") or {}).get("pool", "none") if self.pools else "any"
        use = Counter()
        for container in pod["spec"]["containers"]:
            for resource, quantity in (container["resources"].get("requests") or {}).items():
                use[(queue, flavor, resource)] += units(resource, quantity)
        self.pods[uid] = use
        for key, n in use.items():
            self.now[key] += n
            self.peak[key] = max(self.peak[key], self.now[key])


class LedgerFollow(threading.Thread):
    """Reads the balances in Postgres again and again: the most that was ever
    held of each, whether any stood above its ceiling, and what is still open."""

    HELD = ("select node, flavor, resource, sum(pending + posted + releasing)::text, sum(ceiling)::text "
            "from sluice.balance group by 1, 2, 3")
    KINDS = "select kind::text, count(*) from sluice.transfer group by 1"
    UNRESOLVED = ("select count(*) from (select job_uid, attempt from sluice.transfer group by job_uid, attempt "
                  "having count(*) filter (where upper(kind::text) = 'RESERVE') <> 1 "
                  "or count(*) filter (where upper(kind::text) in ('RELEASE', 'VOID')) <> 1) t")

    def __init__(self, box):
        super().__init__(daemon=True)
        self.box, self.stopped = box, False
        self.peak, self.reads, self.above, self.trouble = Counter(), 0, [], None

    def run(self):
        while not self.stopped:
            self.read()
            time.sleep(0.5)

    def read(self):
        """One look; returns what is held in all, or None if it could not be read."""
        try:
            rows = self.box.sql(self.HELD)
        except SandboxError as e:
            self.trouble = e
            return None
        self.reads += 1
        held = 0
        for node, flavor, resource, n, ceiling in rows:
            n = int(n)
            held += n
            self.peak[(node, flavor, resource)] = max(self.peak[(node, flavor, resource)], n)
            if ceiling and n > int(ceiling):
                self.above.append(f"{node} {flavor} {resource}: {n} of {ceiling}")
        return held

    def kinds(self):
        return {kind.upper(): int(n) for kind, n in self.box.sql(self.KINDS)}

    def unresolved(self):
        return int(self.box.sql(self.UNRESOLVED)[0][0])
