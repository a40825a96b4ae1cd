"""Nodes of one test alone, and what the cluster says of the test's pods.

Other tests' pods do not tolerate these nodes' taint, and those of the test are led
here by `flavor`, so a test can fill its nodes to the brim beside whatever else is there."""

from conftest import LATER, SOON
from objects import ours, terminal
from sandbox import ApiError

OWN = "sandbox.sluice.dev/pool"
PROBE = "probe-"  # what a test itself asks the scheduler begins with this, and is no complaint


class Pool:
    def __init__(self, world, name="pool", **spec):
        """`spec`: of its ResourceFlavor, beside labels and tolerations. Who knows the flavor then knows that."""
        self.world, self.api, self.label = world, world.api, f"{world.ns}-{name}"
        self.toleration = {"key": OWN, "operator": "Equal", "value": self.label, "effect": "NoSchedule"}
        self.nodes, self.made = [], 0
        world.create("resourceflavors", ours("ResourceFlavor", self.label, {
            "nodeLabels": {OWN: self.label}, "tolerations": [self.toleration], **spec}))
        self.flavor = self.label
        world.afterwards.append(self.end)

    # -- nodes

    def add(self, count=1, cpu="4", memory="64Gi", pods="20", labels=None, taints=()):
        """So many more nodes, ready; their names."""
        names = []
        for _ in range(count):
            self.made += 1
            names.append(f"{self.label}-{self.made}")
            room = {"cpu": str(cpu), "memory": memory, "pods": pods}
            self.api.post("/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node",
                "metadata": {"name": names[-1], "labels": {OWN: self.label, "kubernetes.io/hostname": names[-1], **(labels or {})}},
                "spec": {"taints": [{"key": OWN, "value": self.label, "effect": "NoSchedule"}, *taints]},
                "status": {"capacity": room, "allocatable": room}})
        self.nodes += names
        self.world.wait("the nodes to be ready", lambda: all(self.ready(n) for n in names), LATER)
        for name in names:
            self.show_to_scheduler(name)
        return names

    def show_to_scheduler(self, name):
        """Until it has put a pod there: it sees nodes and pods by two watches, and would find a pod no node that it does not see yet."""
        pods, probe = f"/api/v1/namespaces/{self.world.ns}/pods", f"{PROBE}{name}"
        self.api.post(pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": probe}, "spec": {
            "tolerations": [{"operator": "Exists"}], "nodeSelector": {"kubernetes.io/hostname": name},
            "containers": [{"name": "work", "image": "busybox"}]}})
        self.world.wait(f"the scheduler to know node {name}", lambda: self.api.get(f"{pods}/{probe}")["spec"].get("nodeName"))
        self.api.delete(f"{pods}/{probe}?gracePeriodSeconds=0")
        self.world.wait(f"pod {probe} to be gone", lambda: self.api.gone(f"{pods}/{probe}"))

    def ready(self, name):
        n = self.api.get(f"/api/v1/nodes/{name}")
        return (any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", []))
                and not any(t["key"].startswith("node.kubernetes.io/") for t in n["spec"].get("taints", [])))

    # -- pods that are not Sluice's

    def occupy(self, name, cpu, node=None, **pod):
        """A pod of somebody else that runs until it is deleted."""
        pods = f"/api/v1/namespaces/{self.world.ns}/pods"
        self.api.post(pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "tolerations": [self.toleration], **({"nodeName": node} if node else {"nodeSelector": {OWN: self.label}}),
            "containers": [{"name": "work", "image": "busybox", "resources": {"requests": {"cpu": str(cpu)}}}], **pod}})
        self.world.wait(f"pod {name} to run", lambda: self.api.get(f"{pods}/{name}")["status"].get("phase") == "Running")

    def vacate(self, name):
        self.api.delete(f"/api/v1/namespaces/{self.world.ns}/pods/{name}?gracePeriodSeconds=0")

    # -- the end

    def end(self):
        """After the Jobs were deleted. A node that goes before its pods leaves them to nobody."""
        pods = f"/api/v1/namespaces/{self.world.ns}/pods"

        def gone():
            self.api.delete(f"{pods}?gracePeriodSeconds=0")
            return not self.api.list(pods)
        self.world.wait("the pods to be gone", gone, LATER)
        for name in self.nodes:
            try:
                self.api.delete(f"/api/v1/nodes/{name}")
            except ApiError as e:
                if e.status != 404:  # taken away by the test
                    raise


def complaints(world, *reasons):
    """What the cluster said against pods of this world: Events of the Job controller and the scheduler.
    [(reason, name of the object, message)]
    Not those in which the API server was only asked again, since several pods were counted at once (a Conflict)."""
    wanted = reasons or ("FailedCreate", "FailedScheduling", "Preempted")
    found = world.api.list(f"/api/v1/namespaces/{world.ns}/events")
    return [(e["reason"], (e.get("involvedObject") or e.get("regarding"))["name"], e.get("message") or e.get("note")) for e in found
            if e["reason"] in wanted and not (e.get("involvedObject") or e.get("regarding"))["name"].startswith(PROBE) and "Operation cannot be fulfilled on resourcequotas" not in (e.get("message") or e.get("note") or "")
            and (e.get("source", {}).get("component") or e.get("reportingComponent")) != "sluice-controller"]


def all_seen(world):
    """Sluice knows of all that is there now. It sees Jobs, pods, nodes and budgets by watches of their own, of which one may be
    behind; but who takes over has listed them all before it decides anything."""
    world.restart()


def homeless(world, name=None):
    """Pods of the world (or of one Job) that no node has taken, and the scheduler's words."""
    return {p["metadata"]["name"]: c["message"] for p in world.pods(name) if not p["spec"].get("nodeName") and not terminal(p)
            for c in p["status"].get("conditions", []) if c["type"] == "PodScheduled" and c["status"] == "False"}


def placed(world, *names, timeout=SOON):
    """Until all pods of these Jobs are on nodes: {Job: nodes}."""
    def of(name):
        nodes = [p["spec"].get("nodeName") for p in world.pods(name)]
        return all(nodes) and nodes  # none at all: they are not there yet
    return {name: world.wait(f"the pods of {name} to be placed", lambda n=name: of(n), timeout) for name in names}
