"""What a controller answers at its own port of the API visibility.sluice.dev, and the same in the few words that tests read."""

from .kube import Api, ApiError

ROOT = "/apis/visibility.sluice.dev/v1alpha1"
UNATTENDED = {"Sluice-Unattended": "true"}  # a test that polls is nobody who wants to know when Jobs start: no queue is played
UNITS = {"m": 0.001, "": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}


def units(resource, quantity):
    """As the queue counts: thousandths of a core, else whole."""
    number = quantity.rstrip("mKMGTPEi")
    return round(int(number) * UNITS[quantity[len(number):]] * (1000 if resource == "cpu" else 1))


def _flavors(status):
    """Of the status of a queue: [{name, resources: [{name, reserved, used, borrowed, nominal, ...Units}]}]."""
    used = {(f["name"], r["name"]): r["total"] for f in status.get("flavorsUsage", []) for r in f["resources"]}

    def resource(flavor, r):
        name, uses = r["name"], used.get((flavor, r["name"]), "0")
        row = {"name": name, "reserved": r["total"], "used": uses, "reservedUnits": units(name, r["total"]), "usedUnits": units(name, uses)}
        if "nominal" in r:
            row.update(nominal=r["nominal"], nominalUnits=units(name, r["nominal"]))
        if r.get("borrowed", "0") != "0":
            row["borrowed"] = r["borrowed"]
        return row
    return [{"name": f["name"], "resources": [resource(f["name"], r) for r in f["resources"]]} for f in status.get("flavorsReservation", [])]


def queue(obj):
    """A ClusterQueue, LocalQueue or Cohort: an object of the API server, or of a QueueReport."""
    spec, status = obj.get("spec", {}), obj.get("status", {})
    active = next((c for c in status.get("conditions", []) if c["type"] == "Active"), {"status": "False", "reason": "Unknown", "message": ""})
    told = {**{k: v for k, v in obj.items() if k not in ("metadata", "spec", "status")}, **obj["metadata"], "active": active["status"] == "True",
            "reason": active["reason"], "message": active["message"], "flavors": obj.get("flavors") or _flavors(status),
            "clusterQueue": spec.get("clusterQueue", ""), "cohort": spec.get("cohortName", ""), "strategy": spec.get("queueingStrategy", "")}
    if active["reason"] == "InvalidSpec":
        told["invalid"] = active["message"]
    if "maxPriority" in spec:
        told["maxPriority"] = spec["maxPriority"]
    if "weightedShare" in status.get("fairSharing", {}):
        told["weightedShare"] = status["fairSharing"]["weightedShare"]
    for name in ("pending", "reserving", "admitted"):
        told[name] = status.get(f"{name}Workloads", 0)
    return told


def queues(report):
    """A QueueReport, or what `sluice queue -o json` prints."""
    return {**report, **{kind: [queue(q) for q in report.get(kind, [])] for kind in ("clusterQueues", "localQueues", "cohorts")}}


def job(obj):
    """A QueuedJob."""
    meta, spec, status = obj["metadata"], obj.get("spec", {}), obj["status"]
    reason, position = status.get("reason", ""), status.get("position", 0)
    waiting = reason not in ("", "QuotaReserved") if reason else status["state"] == "Waiting"
    return {**status, "namespace": meta["namespace"], "name": meta["name"], "reason": reason or ("" if waiting else "QuotaReserved"), "waiting": waiting,
            "inLine": position > 0, "ahead": position - 1 if position else 0, "sentence": status["message"], "localQueue": spec.get("queue", ""),
            "clusterQueue": spec.get("clusterQueue", ""), "priority": spec.get("priority", 0),
            "claimedPriority": spec.get("claimedPriority", spec.get("priority", 0)), "notBefore": status.get("startAt", ""),
            "deadlineUnreachable": status.get("deadlineUnreachable", False), "ledgerUp": not status.get("ledgerDown", False), **({"expectedMs": 1000 * status["expectedSeconds"]} if "expectedSeconds" in status else {})}


class ControllerApi(Api):
    """.queues(), .job(), ...: the leader alone answers. A controller before 0.2 has queues and Jobs below /api/v1."""

    def _or_before(self, path, read, before):
        try:
            return read(self.get(f"{ROOT}/{path}", UNATTENDED))
        except ApiError as e:
            if e.status != 404 or e.reason == "NotFound" and "queuedjobs" in e.message:
                raise
            return self.get(f"/api/v1/{before}")

    def queues(self):
        return self._or_before("queuereports", queues, "queues")

    def job(self, ns, name):
        return self._or_before(f"namespaces/{ns}/queuedjobs/{name}", job, f"jobs/{ns}/{name}")

    def knows(self, ns, name):
        """Is there such a Job?"""
        return not self.gone(f"{ROOT}/namespaces/{ns}/queuedjobs/{name}")

    def decisions(self, after=0, ns=None):
        return self.get(f"{ROOT}/{f'namespaces/{ns}/' if ns else ''}decisions?after={after}")["decisions"]

    def usage(self, clusterqueue, since="24h"):
        return self.get(f"{ROOT}/clusterqueues/{clusterqueue}/usage?since={since}")

    def budgets(self):
        return self.get(f"{ROOT}/budgetreports")["budgets"]

    def overcommit(self):
        return self.get(f"{ROOT}/overcommits")
