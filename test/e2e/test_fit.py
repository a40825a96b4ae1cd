"""Could it run there? Our answer, and what the real kube-scheduler does: no disagreement.

Worlds are drawn from a seed: nodes, pods bound to some of them, and then one pod after the other, each asked
of both. NOW means that the scheduler binds it, NEVER and NOT_NOW that it says unschedulable; NOT_NOW gives its
reasons word by word. In a world without pods, where nothing is cordoned, there is no NOT_NOW but for pods that
want to be near others.

    SLUICE_E2E_SEED=7     the same worlds again (a failure names its seed)
    SLUICE_E2E_SEARCH=1   of 2,000 pods instead of 300
"""

import json
import os
import random
import subprocess
import threading
import time
from collections import Counter

import pytest

from conftest import BIN, KEEP, LATER, PREFIX, SOON
from objects import KUBERNETES, SEED, searched
from sandbox import ApiError, Sandbox, wait_until

PODS = searched(300, 2000)
PODS_EACH = 45  # asked about in one world
NAMESPACES = {"fit-a": {"tier": "prod", "team": "a"}, "fit-b": {"tier": "prod"}, "fit-c": {}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CONDITION = "node.kubernetes.io/"
CANARY = {"key": "canary", "value": "true", "effect": "NoSchedule"}

# Few of each, so that they meet.
NODE_LABELS = {"zone": ["x", "y", "z"], "rack": ["1", "2"], "disk": ["ssd", "hdd"], "gen": ["3", "7", "10", "new"]}
POD_LABELS = {"app": ["web", "db", "cache"], "rev": ["1", "2"], "track": ["stable", "canary"]}
TAINTS = [("gpu", "yes"), ("gpu", "no"), ("team", "a"), ("spot", "")]
RUNTIMES = [{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "fit-vm"}, "handler": "vm",
             "overhead": {"podFixed": {"cpu": "500m", "memory": "100Mi"}},
             "scheduling": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]}},
            {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "fit-plain"}, "handler": "plain"}]
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]


# ---- what is drawn ------------------------------------------------------------


class Draw:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def often(self, share):
        return self.rng.random() < share

    def one(self, items):
        return self.rng.choice(items)

    def some(self, items, most):
        return self.rng.sample(items, self.rng.randint(1, min(most, len(items))))

    def labels(self, universe, share):
        return {k: self.one(v) for k, v in universe.items() if self.often(share)}

    # -- nodes

    def node(self, name):
        room = {"cpu": self.one(["4", "4500m", "8", "16"]), "memory": self.one(["4Gi", "8Gi"]), "pods": self.one(["1", "3", "6", "20"])}
        if self.often(0.3):
            room["nvidia.com/gpu"] = self.one(["1", "2"])
        if self.often(0.5):
            room["ephemeral-storage"] = self.one(["1Gi", "10Gi"])
        taints = [{"key": k, "value": v, "effect": self.one(EFFECTS)} for k, v in self.some(TAINTS, 2)] if self.often(0.2) else []
        unique = {(t["key"], t["effect"]): t for t in taints}
        host = {"kubernetes.io/hostname": name} if self.often(0.9) else {}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {**host, **self.labels(NODE_LABELS, 0.85)}},
                "spec": {"taints": list(unique.values()), **({"unschedulable": True} if self.often(0.08) else {})},
                "status": {"capacity": room, "allocatable": room}}

    # -- selectors

    def requirement(self, universe, numbers=False):
        key = self.one(list(universe))
        op = self.one(["In", "In", "NotIn", "Exists", "DoesNotExist"] + (["Gt", "Lt"] if numbers else []))
        if op in ("Gt", "Lt"):
            return {"key": self.one(["gen", "gen", "rack"]), "operator": op, "values": [self.one(["1", "6", "7", "9"])]}
        return {"key": key, "operator": op, **({"values": self.some(universe[key], 2)} if op in ("In", "NotIn") else {})}

    def selector(self, universe, leave_out=()):
        universe = {k: v for k, v in universe.items() if k not in leave_out}
        if self.often(0.1):
            return {}
        if self.often(0.5):
            key = self.one(list(universe))
            return {"matchLabels": {key: self.one(universe[key])}}
        return {"matchExpressions": [self.requirement(universe) for _ in range(self.rng.randint(1, 2))]}

    def node_term(self, names):
        term = {}
        if self.often(0.75):
            universe = {**NODE_LABELS, "kubernetes.io/hostname": names}
            term["matchExpressions"] = [self.requirement(universe, numbers=True) for _ in range(self.rng.randint(1, 2))]
        if not term or self.often(0.15):
            term["matchFields"] = [{"key": "metadata.name", "operator": self.one(["In", "In", "NotIn"]),
                                    "values": [self.one(names + ["nobody"])]} for _ in range(self.one([1, 1, 1, 2]))]
        return term

    def topology(self):
        return self.one(["zone", "zone", "rack", "kubernetes.io/hostname"])

    def pod_term(self):
        term = {"topologyKey": self.topology()}
        if self.often(0.95):
            keys = self.some(list(POD_LABELS), 1) if self.often(0.2) else []
            term["labelSelector"] = self.selector(POD_LABELS, leave_out=keys)
            if keys:
                term[self.one(["matchLabelKeys", "mismatchLabelKeys"])] = keys
        if self.often(0.2):
            term["namespaces"] = self.some(list(NAMESPACES), 2)
        if self.often(0.2):
            selectors = [{}, {"matchLabels": {"tier": "prod"}}, {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}]
            term["namespaceSelector"] = self.one(selectors[:3 if KUBERNETES >= 37 else 2])  # before 1.37 the last one means all: docs/nodes.md
        return term

    def spread(self, key):
        c = {"topologyKey": key, "maxSkew": self.one([1, 1, 2]), "whenUnsatisfiable": "DoNotSchedule"}
        if self.often(0.95):
            keys = self.some(list(POD_LABELS), 1) if self.often(0.2) else []
            c["labelSelector"] = self.selector(POD_LABELS, leave_out=keys)
            if keys:
                c["matchLabelKeys"] = keys
        if self.often(0.2):
            c["minDomains"] = self.one([1, 2, 3])
        if self.often(0.3):
            c["nodeAffinityPolicy"] = self.one(["Honor", "Ignore"])
        if self.often(0.3):
            c["nodeTaintsPolicy"] = self.one(["Honor", "Ignore"])
        return c

    # -- pods

    def toleration(self):
        t = {"effect": self.one(["", *EFFECTS])} if self.often(0.7) else {}
        if self.often(0.1):
            return {**t, "operator": "Exists"}
        key, value = self.one(TAINTS + [(CONDITION + "unschedulable", "")])
        return {**t, "key": key, **({"operator": "Exists"} if self.often(0.5) else {"operator": "Equal", "value": value})}

    def resources(self):
        asked = {}
        if self.often(0.8):
            asked["cpu"] = self.one(["0", "100m", "500m", "500m", "1", "1", "2", "4", "4500m", "9", "17"])
        if self.often(0.4):
            asked["memory"] = self.one(["100Mi", "100Mi", "1Gi", "1Gi", "4Gi", "9Gi"])
        if self.often(0.08):
            asked["ephemeral-storage"] = self.one(["500Mi", "2Gi"])
        whole = {"nvidia.com/gpu": self.one(["0", "1", "2"])} if self.often(0.08) else {}
        kind = "limits" if self.often(0.15) else "requests"  # a limit alone is a request too
        return {kind: {**asked, **whole}, **({"limits": {**asked, **whole}} if whole and kind == "requests" else {})}

    def container(self, name, ports):
        c = {"name": name, "image": "busybox", "resources": self.resources()}
        if ports and self.often(0.5):
            port = ports.pop()
            c["ports"] = [{"containerPort": port, **({"hostPort": port} if self.often(0.9) else {}),
                           **({"protocol": self.one(["TCP", "UDP"])} if self.often(0.5) else {}),
                           **({"hostIP": self.one(["10.0.0.1", "10.0.0.2", "0.0.0.0"])} if self.often(0.4) else {})}]
        return c

    def containers(self, spec):
        ports = self.some([80, 81, 8080], 3) if self.often(0.3) else []
        spec["containers"] = [self.container(f"c{i}", ports) for i in range(self.one([1, 1, 1, 2]))]
        if self.often(0.2):
            spec["initContainers"] = [{**self.container(f"i{i}", ports), **({"restartPolicy": "Always"} if self.often(0.5) else {})}
                                      for i in range(self.rng.randint(1, 2))]
        if ports is not None and self.often(0.05):
            spec["hostNetwork"] = True
            for c in spec["containers"] + spec.get("initContainers", []):
                for p in c.get("ports", []):
                    p.pop("hostPort", None)  # the API server fills it in
                    p.pop("hostIP", None)

    def affinity(self, spec, names):
        affinity = {}
        if self.often(0.22):
            affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": [self.node_term(names) for _ in range(self.one([1, 1, 2]))]}}
        for kind, share in (("podAffinity", 0.18), ("podAntiAffinity", 0.18)):
            if self.often(share):
                affinity[kind] = {REQUIRED: [self.pod_term() for _ in range(self.one([1, 1, 2]))]}
        if affinity:
            spec["affinity"] = affinity

    def pod(self, name, names):
        spec = {"terminationGracePeriodSeconds": 0}
        self.containers(spec)
        self.affinity(spec, names)
        if self.often(0.12):
            spec["nodeSelector"] = self.labels({**NODE_LABELS, "kubernetes.io/hostname": names}, 0.25)
        if self.often(0.08):
            spec["runtimeClassName"] = self.one(RUNTIMES)["metadata"]["name"]
        if self.often(0.4):
            spec["tolerations"] = [self.toleration() for _ in range(self.rng.randint(1, 2))]
        if self.often(0.2):
            spec["topologySpreadConstraints"] = [self.spread(k) for k in self.some(["zone", "rack", "kubernetes.io/hostname"], 2)]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": self.one(list(NAMESPACES)),
                                                                "labels": self.labels(POD_LABELS, 0.7)}, "spec": spec}


# ---- the two that are asked ---------------------------------------------------


class Probe:
    """Our answer."""

    def __init__(self):
        assert (BIN / "fit_probe").exists(), f"{BIN}/fit_probe is missing; ./dev test builds it"
        self.process = subprocess.Popen([BIN / "fit_probe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")

    def ask(self, pod, enough=1):
        self.tell(ask=pod, enough=enough)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "fit_probe ended"
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(LATER) == 0


class Eyes:
    """What becomes of each pod: a watch, on a thread of its own."""

    def __init__(self, api):
        self.api, self.seen, self.news, self.closed = api, {}, threading.Condition(), False
        threading.Thread(target=self.look, daemon=True).start()

    def look(self):
        while not self.closed:
            try:
                found = self.api.get("/api/v1/pods")
                for pod in found["items"]:  # what was decided while nobody watched, between two watches
                    self.note(pod)
                for event in self.api.watch("/api/v1/pods", found["metadata"]["resourceVersion"]):
                    if event["type"] in ("ADDED", "MODIFIED"):
                        self.note(event["object"])
            except (OSError, ApiError, ValueError):
                time.sleep(0.2)

    def note(self, pod):
        unschedulable = (c["message"] for c in pod["status"].get("conditions", [])
                         if c["type"] == "PodScheduled" and c["status"] == "False" and c["reason"] == "Unschedulable")
        decided = pod if pod["spec"].get("nodeName") else next(unschedulable, None)
        if decided:
            with self.news:
                self.seen[pod["metadata"]["uid"]] = decided
                self.news.notify_all()

    def wait(self, uid):
        """The pod as bound, or why it is not."""
        with self.news:
            assert self.news.wait_for(lambda: uid in self.seen, LATER), "the scheduler did not decide"
            return self.seen.pop(uid)


def pods_path(ns, name=None):
    return f"/api/v1/namespaces/{ns}/pods" + (f"/{name}" if name else "")


def is_refusal(e):
    """Drawn badly: against the rules of a Pod, or with a node selector that contradicts its RuntimeClass."""
    return e.status in (400, 422) or (e.status == 403 and "runtimeClass.scheduling.nodeSelector" in e.message)


def remove(api, pod):
    """Now, also where it lingers; it may have gone by itself."""
    path = pods_path(pod["metadata"]["namespace"], pod["metadata"]["name"])
    try:
        if pod["metadata"].get("finalizers"):
            api.patch(path, {"metadata": {"finalizers": None}})
        api.delete(path + "?gracePeriodSeconds=0")
    except ApiError as e:
        if e.status != 404:
            raise


def sweep(api):
    """No pods and no nodes any more; the names of these."""
    for ns in NAMESPACES:
        for pod in api.list(pods_path(ns)):
            remove(api, pod)
    names = [n["metadata"]["name"] for n in api.list("/api/v1/nodes")]
    for name in names:
        api.delete(f"/api/v1/nodes/{name}")
    return names


class World:
    """Nodes and pods on the API server, and the same of the probe."""

    def __init__(self, api):
        self.api, self.probe, self.eyes = api, Probe(), Eyes(api)
        self.nodes, self.names, self.bound, self.made = [], [], [], 0

    def fresh(self, word):
        self.made += 1
        return f"{word}-{self.made}"

    # -- nodes

    def settle(self, nodes):
        """These nodes and no others; back when the scheduler knows all of them as they are now."""
        self.clear()
        self.canary = self.fresh("canary")
        room = {"cpu": "1", "pods": "100"}
        for node in [*nodes, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.canary}, "spec": {"taints": [CANARY]},
                              "status": {"capacity": room, "allocatable": room}}]:
            self.api.post("/api/v1/nodes", node)
        self.nodes, self.names = nodes, [n["metadata"]["name"] for n in nodes]
        wait_until("the nodes to be well", lambda: self.well(), LATER)
        for node in self.api.list("/api/v1/nodes"):
            self.probe.tell(node=node)
        self.pass_by()

    def well(self):
        """Ready, not tainted for their condition but for a cordon, of which the taint is there then."""
        def is_well(n):
            taints = [t["key"] for t in n["spec"].get("taints", []) if t["key"].startswith(CONDITION)]
            ready = any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", []))
            return ready and taints == ([CONDITION + "unschedulable"] if n["spec"].get("unschedulable") else [])
        return all(is_well(n) for n in self.api.list("/api/v1/nodes"))

    def pass_by(self):
        """A change at the canary, after all others, that a pod waits for: the scheduler has seen them then."""
        step = self.fresh("step")
        self.api.patch(f"/api/v1/nodes/{self.canary}", {"metadata": {"labels": {"step": step}}})
        self.probe.tell(node=self.api.get(f"/api/v1/nodes/{self.canary}"))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": step, "namespace": "fit-c"},
               "spec": {"nodeSelector": {"step": step}, "tolerations": [{"key": "canary", "operator": "Exists"}],
                        "terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "busybox"}]}}
        while not isinstance(self.schedule(pod), dict):
            self.remove(pod)
        self.remove(pod)

    def clear(self):
        for pod in self.bound[:]:
            self.end(pod)
        for name in sweep(self.api):
            self.probe.tell(drop=name)

    # -- pods

    def remove(self, pod):
        remove(self.api, pod)

    def bind(self, pod, node):
        """Past the scheduler; False where the API server refuses such a pod. Nor do two have one port of the host, which the
        scheduler would never do: it keeps ports as a set, and forgets the one's when the other goes."""
        if host_ports(pod) & {p for b in self.bound if b["spec"].get("nodeName") == node for p in host_ports(b)}:
            return False
        try:
            made = self.api.post(pods_path(pod["metadata"]["namespace"]), {**pod, "spec": {**pod["spec"], "nodeName": node}})
        except ApiError as e:
            assert is_refusal(e), e
            return False
        self.keep(made)
        return True

    def keep(self, made):
        self.bound.append(made)
        self.probe.tell(bind=made)

    def linger(self, pod):
        """On its way out for as long as we like."""
        path = pods_path(pod["metadata"]["namespace"], pod["metadata"]["name"])
        pod["metadata"]["finalizers"] = ["sluice.dev/test"]
        self.api.patch(path, {"metadata": {"finalizers": pod["metadata"]["finalizers"]}})
        self.api.delete(path + "?gracePeriodSeconds=1")
        self.probe.tell(bind=self.api.get(path))

    def end(self, pod):
        self.remove(pod)
        self.probe.tell(unbind=pod["metadata"]["uid"])
        self.bound.remove(pod)

    def schedule(self, pod):
        """What the scheduler does with it: the Pod as bound, or its sentence; None where the API server refuses it."""
        try:
            made = self.api.post(pods_path(pod["metadata"]["namespace"]), pod)
        except ApiError as e:
            assert is_refusal(e), e
            return None
        return self.eyes.wait(made["metadata"]["uid"])


def host_ports(pod):
    spec = pod["spec"]
    return {p.get("hostPort") or (p["containerPort"] if spec.get("hostNetwork") else 0)
            for c in spec["containers"] + spec.get("initContainers", []) for p in c.get("ports", [])} - {0}


def reasons(message):
    """What the scheduler says without what it says of claims and preemption."""
    return message.partition(". ")[0].rstrip(".")


def disagreement(ours, theirs):
    if isinstance(theirs, dict):
        return None if ours["fit"] == "NOW" and ours["room"] == 1 else f"it was bound to {theirs['spec']['nodeName']}"
    if ours["fit"] == "NOW" or ours["room"] != 0:
        return theirs
    cut = ours["sentence"].endswith("...")
    same = reasons(theirs).startswith(ours["sentence"][:-3]) if cut else reasons(theirs) == ours["sentence"]
    return None if ours["fit"] == "NEVER" or same else theirs


# ---- the test -----------------------------------------------------------------


@pytest.fixture(scope="module")
def api():
    box = Sandbox(f"{PREFIX}-fit")
    if not KEEP:
        box.destroy()
    box.up(manifests=False)
    for ns, labels in NAMESPACES.items():
        box.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns, "labels": labels}})
        wait_until("its ServiceAccount", lambda n=ns: box.api.get(f"/api/v1/namespaces/{n}/serviceaccounts/default"), SOON)
    for runtime in RUNTIMES:
        box.api.ensure("/apis/node.k8s.io/v1/runtimeclasses", runtime)
    yield box.api
    sweep(box.api)
    if not KEEP:
        box.destroy()


def ask_both(world, pod, tally):
    """The pod as bound, if it was. Asked again where the two differ: the scheduler may not have seen the last change yet."""
    for attempt in range(3):
        ours = world.probe.ask(pod)
        theirs = world.schedule(pod)
        if theirs is None:
            tally["refused"] += 1
            return None
        different = disagreement(ours, theirs)
        if not different:
            tally[ours["fit"]] += 1
            tally["asked again"] += attempt
            return theirs if isinstance(theirs, dict) else world.remove(pod)
        world.remove(pod)
        world.pass_by()
    pytest.fail(f"SLUICE_E2E_SEED={SEED}: we say {json.dumps(ours)}\nthe scheduler: {different}\npod: {json.dumps(pod)}\n"
                f"nodes: {json.dumps([slim(n) for n in world.api.list('/api/v1/nodes')])}\n"
                f"bound: {json.dumps([slim(p) for p in world.bound])}")


def slim(o):
    return {"metadata": {k: v for k, v in o["metadata"].items() if k in ("name", "namespace", "labels", "deletionTimestamp")},
            "spec": o["spec"], "status": {k: v for k, v in o["status"].items() if k == "allocatable"}}


def populate(world, draw):
    # Where NoExecute would have it evicted, nobody stays.
    homes = [n["metadata"]["name"] for n in world.nodes if not any(t["effect"] == "NoExecute" for t in n["spec"]["taints"])]
    for _ in range(draw.rng.randint(0, 12) if homes else 0):
        world.bind(draw.pod(world.fresh("there"), world.names), draw.one(homes))
    for pod in world.bound[:]:
        if draw.often(0.15):
            world.linger(pod)
    world.pass_by()


def play(world, draw, tally):
    """A world of its own."""
    world.settle([draw.node(world.fresh("n")) for _ in range(draw.rng.randint(1, 10))])
    empty = draw.often(0.3)
    cordoned = any(n["spec"].get("unschedulable") for n in world.nodes)
    if not empty:
        populate(world, draw)
    for _ in range(PODS_EACH):
        pod = draw.pod(world.fresh("p"), world.names)
        if empty:
            fit = world.probe.ask(pod)["fit"]
            near = "podAffinity" in pod["spec"].get("affinity", {})
            assert fit != "NOT_NOW" or cordoned or near, f"SLUICE_E2E_SEED={SEED}: NOT_NOW with nobody there: {json.dumps(pod)}"
        bound = ask_both(world, pod, tally)
        if bound and empty:
            world.remove(bound)
        elif bound:
            world.keep(bound)
        if world.bound and draw.often(0.35):
            world.end(draw.one(world.bound))


@pytest.mark.search
@pytest.mark.timeout(2400)
def test_our_answer_is_what_the_scheduler_does(api):
    draw, tally, world = Draw(SEED), Counter(), World(api)
    for ns in api.list("/api/v1/namespaces"):
        world.probe.tell(namespace=ns)
    for runtime in api.list("/apis/node.k8s.io/v1/runtimeclasses"):
        world.probe.tell(runtimeClass=runtime)
    while tally["NOW"] + tally["NOT_NOW"] + tally["NEVER"] < PODS:
        play(world, draw, tally)
    world.clear()
    world.probe.close()
    world.eyes.closed = True
    print(f"\nSLUICE_E2E_SEED={SEED}: {dict(tally)}")
    assert tally["refused"] < PODS / 4, tally
    assert min(tally[f] for f in ("NOW", "NOT_NOW", "NEVER")) > PODS / 20, f"one-sided: {tally}"


# ---- devices -------------------------------------------------------------------

GPU = "fit.example.com/gpu"


def asks_for(name, **requests):
    amounts = {k: str(v) for k, v in requests.items()}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "fit-c"},
            "spec": {"terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "busybox", "resources": {"requests": amounts, "limits": amounts}}]}}


def node_with(name, **more):
    room = {"cpu": "4", "memory": "8Gi", "pods": "100", **more}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"taints": []}, "status": {"capacity": room, "allocatable": room}}


def is_never(world, pod):
    """For us, and for the scheduler, with the same reason."""
    ours, theirs = world.probe.ask(pod), world.schedule(pod)
    world.remove(pod)
    return ours["fit"] == "NEVER" and reasons(theirs) == ours["sentence"]


@pytest.mark.skipif(KUBERNETES < 36, reason="its scheduler asks no devices for extended resources")
def test_what_a_device_class_has_is_asked_of_devices(api):
    world = World(api)
    plugin, driver = world.fresh("plugin"), world.fresh("driver")
    world.settle([node_with(plugin, **{GPU: "2"}), node_with(driver)])
    four = asks_for("four", **{GPU: 4})
    assert is_never(world, four), "no class has it yet"
    api.post("/apis/resource.k8s.io/v1/resourceslices", {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "fit"},
        "spec": {"driver": "fit.example.com", "nodeName": driver, "pool": {"name": driver, "generation": 1, "resourceSliceCount": 1},
                 "devices": [{"name": f"gpu-{i}"} for i in range(6)]}})
    api.post("/apis/resource.k8s.io/v1/deviceclasses", {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "fit"},
        "spec": {"extendedResourceName": GPU, "selectors": [{"cel": {"expression": "device.driver == 'fit.example.com'"}}]}})
    world.probe.tell(deviceClass=api.get("/apis/resource.k8s.io/v1/deviceclasses/fit"))
    for pod in (four, asks_for("own-name", **{"deviceclass.resource.kubernetes.io/fit": 2})):
        ours = world.probe.ask(pod)
        assert ours["fit"] == "NOW" and ours["suitable"] > 0, ours
        made = api.post(pods_path("fit-c"), pod)
        path = pods_path("fit-c", made["metadata"]["name"])
        bound = wait_until("the scheduler to take the devices", lambda p=path: api.get(p)["spec"].get("nodeName"), LATER)
        assert bound == driver, "the plugin's node has too few, or none by this name"
        world.keep(api.get(path))
    assert is_never(world, asks_for("wrong", **{"fit.example.com/gpux": 1}))
    assert is_never(world, asks_for("large", cpu=5, **{GPU: 1}))
    world.clear()
    world.probe.close()
    world.eyes.closed = True
