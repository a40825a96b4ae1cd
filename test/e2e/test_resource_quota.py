"""Would the API server let this pod in? Its own answer against that of cluster/, drawn from a seed.

Worlds are namespaces with one to three ResourceQuotas and pods that are there already; more pods
are tried, one after the other, and what the real API server does with each (made, or 403 and why)
must be what `quota_probe` says it will do. So must the QoS class of every pod.

    SLUICE_E2E_SEED    draws the same worlds again
    SLUICE_E2E_SEARCH=1  of 500 ResourceQuotas instead of 100
"""

import copy
import json
import os
import random
import subprocess
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import BIN, LATER, SOON
from objects import KUBERNETES, SEED, searched
from sandbox import ApiError, wait_until

COUNT = searched(100, 500)
THREADS = 4
PREFIX = f"quota-{os.getpid()}"  # of namespaces
CLASSES = {"quota-low": 10, "quota-mid": 20, "quota-high": 30}
RUNTIME, OVERHEAD = "quota-vm", {"cpu": "150m", "memory": "64Mi"}

CPU = ["100m", "0.25", "500m", "1", "1", "1.5", "2", "3000m"]
MEMORY = ["64Mi", "128Mi", "200M", "0.5Gi", "512Ki", "1Gi", "1000000000", "1e9", "1G", "1536Mi"]
STORAGE = ["1Gi", "500Mi", "2G"]
GPU, FPGA, HUGE = "nvidia.com/gpu", "example.com/fpga", "hugepages-2Mi"
DEVICE, BATCH = "deviceclass.resource.kubernetes.io/tape", "kubernetes.io/batch-cpu"


class Probe:
    """quota_probe, for any thread."""

    def __init__(self):
        self.proc = subprocess.Popen([BIN / "quota_probe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lock = threading.Lock()

    def ask(self, pod, quotas):
        with self.lock:
            self.proc.stdin.write(json.dumps({"pod": pod, "quotas": quotas}) + "\n")
            self.proc.stdin.flush()
            answer = json.loads(self.proc.stdout.readline())
        assert "error" not in answer, (answer, pod, quotas)
        return answer

    def end(self):
        self.proc.stdin.close()
        assert self.proc.wait(LATER) == 0


# ---- drawing --------------------------------------------------------------------


def factor(text):
    """A quantity as a number, to see which of two is larger."""
    for suffix, n in (("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30), ("m", 0.001), ("k", 1e3), ("M", 1e6), ("G", 1e9)):
        if text.endswith(suffix):
            return float(text[:-len(suffix)]) * n
    return float(text)


def draw_pair(rng, choices, requests, limits, name):
    """A request, a limit, or both with the request not above it."""
    low, high = sorted((rng.choice(choices), rng.choice(choices)), key=factor)
    kind = rng.choice(["request", "limit", "both", "equal"])
    if kind in ("request", "both", "equal"):
        requests[name] = high if kind == "equal" else low
    if kind != "request":
        limits[name] = high


def draw_equal(rng):
    """Of a Guaranteed pod; now and then the request is left to the API server."""
    limits = {"cpu": rng.choice(CPU), "memory": rng.choice(MEMORY)}
    return {"limits": limits, **({"requests": {k: v for k, v in limits.items() if rng.random() < 0.9}} if rng.random() < 0.7 else {})}


def draw_resources(rng, plain, theme):
    requests, limits = {}, {}
    if rng.random() < 0.15:
        return {}
    if rng.random() < 0.1:
        return {"requests": {"cpu": "0"}, "limits": {"memory": "0"}}
    if rng.random() < 0.8:
        draw_pair(rng, CPU, requests, limits, "cpu")
    if rng.random() < 0.75:
        draw_pair(rng, MEMORY, requests, limits, "memory")
    if not plain and rng.random() < (0.7 if theme == "ephemeral-storage" else 0.2):
        draw_pair(rng, STORAGE, requests, limits, "ephemeral-storage")
    for name in (GPU, FPGA, DEVICE, BATCH):
        if not plain and rng.random() < (0.6 if name == theme else 0.1):
            requests[name] = limits[name] = str(rng.randint(0, 3))
    if not plain and rng.random() < (0.7 if theme == HUGE else 0.1) and ("cpu" in limits or "memory" in requests):
        requests[HUGE] = limits[HUGE] = rng.choice(["2Mi", "4Mi", "8Mi"])
    if rng.random() < 0.15:  # the API server fills these in
        requests = {k: v for k, v in requests.items() if k not in limits}
    return {k: v for k, v in (("requests", requests), ("limits", limits)) if v or rng.random() < 0.1}


def draw_affinity(rng):
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}
    term.update(rng.choice([{}, {}, {"namespaces": ["elsewhere"]}, {"namespaceSelector": {}},
                            {"namespaceSelector": {"matchLabels": {"a": "b"}}}, {"namespaces": []}]))
    side = rng.choice(["podAffinity", "podAntiAffinity"])
    if rng.random() < 0.5:
        return {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {side: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}


def draw_pod(rng, ns, name, theme=None):
    """Nobody schedules it: what is used changes by making pods alone."""
    plain, equal = rng.random() < (0.2 if theme else 0.6), rng.random() < 0.2

    def resources():
        return draw_equal(rng) if equal and rng.random() < 0.95 else draw_resources(rng, plain, theme)
    containers = [{"name": n, "image": "none", "resources": resources()}
                  for n in rng.sample(["main", "app", "web", "proxy"], rng.choice([1, 1, 1, 2, 3]))]
    spec = {"schedulerName": "nobody", "containers": containers}
    if rng.random() < 0.3:
        spec["initContainers"] = [{"name": f"init-{i}", "image": "none", "resources": resources(),
                                   **({"restartPolicy": "Always"} if rng.random() < 0.4 else {})} for i in range(rng.randint(1, 3))]
    if rng.random() < 0.2:
        spec["resources"] = draw_pod_level(rng)
    if rng.random() < 0.25:
        spec["activeDeadlineSeconds"] = 3600
    if rng.random() < 0.5:
        spec["priorityClassName"] = rng.choice([*CLASSES])
    if rng.random() < 0.15:
        spec.update(runtimeClassName=RUNTIME, overhead=OVERHEAD)
    if rng.random() < 0.3:
        spec["affinity"] = draw_affinity(rng)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns}, "spec": spec}


def draw_pod_level(rng):
    """Large, so that containers fit into it."""
    requests, limits = {}, {}
    for name, low, high in (("cpu", "10", "12"), ("memory", "9Gi", "20G"), (HUGE, "64Mi", "64Mi")):
        if rng.random() < (0.2 if name == HUGE else 0.6):
            kind = rng.choice(["request", "limit", "both", "equal"])
            if kind != "limit":
                requests[name] = high if kind == "equal" else low
            if kind != "request":
                limits[name] = high
    return {k: v for k, v in (("requests", requests), ("limits", limits)) if v}


# What each name may be limited to: some are too little for most pods, some are plenty.
LIMITS = {
    **dict.fromkeys(["cpu", "requests.cpu", "limits.cpu"], ["0", "500m", "1", "2500m", "4", "6", "10", "1000"]),
    **dict.fromkeys(["memory", "requests.memory", "limits.memory"], ["0", "128Mi", "1G", "1.5Gi", "3Gi", "5e9", "8Gi", "1Ti"]),
    **dict.fromkeys(["ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"], ["0", "1Gi", "2G", "10Gi"]),
    **dict.fromkeys(["pods", "count/pods"], ["0", "1", "2", "3", "5", "1000"]),
    **dict.fromkeys([f"requests.{GPU}", f"requests.{FPGA}", f"requests.{DEVICE}"], ["0", "1", "2", "4"]),
    **dict.fromkeys([HUGE, f"requests.{HUGE}"], ["0", "2Mi", "4Mi", "16Mi"]),
    # These do nothing to pods.
    **dict.fromkeys([GPU, f"limits.{GPU}", f"requests.{BATCH}", "services", "configmaps", "count/jobs.batch",
                     "requests.storage"], ["0", "1"]),
}
SCOPED = ["pods", "pods", "count/pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
          f"requests.{GPU}", f"requests.{FPGA}"]
BEST_EFFORT = ["pods", "count/pods"]


def draw_term(rng):
    scope = rng.choice(["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity",
                        *["PriorityClass"] * 5])
    if scope != "PriorityClass":
        return {"scopeName": scope, "operator": "Exists"}
    op = rng.choice(["In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"])
    values = rng.sample([*CLASSES, "nobody-has-it"], rng.randint(1, 3)) if op.endswith("In") else None
    if values and rng.random() < 0.05:  # these the API server takes and cannot read
        values += rng.sample(["a" * 64, "-a", "no class", "b" * 70 + "."], rng.randint(1, 2))
    return {"scopeName": scope, "operator": op, **({"values": values} if values else {})}


def draw_quota(rng, name, theme):
    spec, scopes = {}, set()
    if rng.random() < 0.35:
        spec["scopes"] = rng.sample(["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
                                     "CrossNamespacePodAffinity"], rng.choice([1, 1, 1, 2]))
        scopes.update(spec["scopes"])
    if rng.random() < 0.4:
        terms = [draw_term(rng) for _ in range(rng.choice([1, 1, 2]))]
        spec["scopeSelector"] = {"matchExpressions": terms}
        scopes.update(t["scopeName"] for t in terms)
    names = BEST_EFFORT if "BestEffort" in scopes else SCOPED if scopes else [*LIMITS]
    hard = {}
    for n in rng.sample(names, min(len(names), rng.choice([1, 1, 2, 2, 3, 5]))):
        # Most limits are such that some pods fit.
        hard[n] = rng.choice(LIMITS[n][2:] if rng.random() < 0.7 and len(LIMITS[n]) > 2 else LIMITS[n])
    if theme and rng.random() < 0.6:
        n = rng.choice([k for k in LIMITS if k.endswith(theme)])
        hard[n] = rng.choice(LIMITS[n])
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard, **spec}}


# ---- asking ---------------------------------------------------------------------


class World:
    """A namespace with quotas and pods, drawn from the seed and its number alone."""

    def __init__(self, api, number, nquotas):
        self.rng = random.Random(f"{SEED}-{number}")
        self.api, self.ns, self.nquotas, self.npods = api, f"{PREFIX}-{number}", nquotas, 0
        self.base = f"/api/v1/namespaces/{self.ns}"
        self.theme = self.rng.choice([None, None, None, GPU, DEVICE, BATCH, HUGE, "ephemeral-storage"])  # a resource often met

    def create(self, draw, path):
        """Draws until the API server finds nothing wrong with it."""
        while True:
            obj = draw()
            try:
                return self.api.post(path, obj)
            except ApiError as e:
                if e.status != 422:
                    raise

    def prepare(self):
        self.api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.ns}})
        wait_until("the ServiceAccount", lambda: not self.api.gone(f"{self.base}/serviceaccounts/default"), LATER)
        for _ in range(self.rng.choice([0, 0, 1, 2, 3])):
            self.create(self.next_pod, f"{self.base}/pods")
        names = self.rng.sample(["compute", "b", "a.first", "zz-top"], self.nquotas)
        for name in names:
            self.create(lambda n=name: draw_quota(self.rng, n, self.theme), f"{self.base}/resourcequotas")
        wait_until(f"the quotas of {self.ns} to be counted", self.counted, LATER)
        self.uncounted = self.rng.random() < 0.04
        if self.uncounted:  # nobody looks at it again for minutes
            self.api.patch(f"{self.base}/resourcequotas/{names[0]}/status", {"status": {"used": None}})

    def next_pod(self):
        self.npods += 1
        return draw_pod(self.rng, self.ns, f"pod-{self.npods}", self.theme)

    def quotas(self):
        return self.api.list(f"{self.base}/resourcequotas")

    def counted(self):
        """hard and used are written together."""
        return all(q["status"].get("hard", {}).keys() == q["spec"]["hard"].keys() for q in self.quotas())

    def is_counted_again(self):
        return all(q["status"].get("used") is not None for q in self.quotas())

    def clear(self):
        """The namespace stays: to end hundreds of them is work enough to be in the way of other tests."""
        for plural in ("resourcequotas", "pods"):
            self.api.delete(f"{self.base}/{plural}?gracePeriodSeconds=0")


def answer_of(api, pod):
    """"" when it was made, else the API server's sentence; None when there is no such pod."""
    while True:
        try:
            return "", api.post(f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", pod)
        except ApiError as e:
            if e.status == 422:
                return None, None
            if e.status == 409:  # somebody wrote the quota meanwhile
                continue
            if e.status == 500 and e.message.startswith("error matching scopes"):
                return e.message, None
            if e.status in (429, 500, 504) and ("timed out" in e.message or "timeout" in e.message):
                return None, None  # a busy machine: it may count this pod, or not
            assert e.status == 403, e
            return e.message.partition(" is forbidden: ")[2], None


def kind_of(sentence):
    return sentence.split(":")[0].partition(" of quota ")[0] if sentence else "made"


def depends_on_version(pod):
    """Of its spec.resources Kubernetes 1.37 makes something else. There we rather wait: docs/nodes.md."""
    own = pod["spec"].get("resources")
    if own is None or KUBERNETES >= 37:
        return own == {}
    return not {"cpu", "memory", *own.get("requests", {})} <= {*own.get("limits", {})}


def qos_differs(api, probe, pod):
    """Also for those that no quota lets in."""
    if KUBERNETES < 37 and depends_on_version(pod):
        return []
    elsewhere = copy.deepcopy(pod)
    elsewhere["metadata"]["namespace"] = "default"
    made = api.post("/api/v1/namespaces/default/pods?dryRun=All", elsewhere)["status"]["qosClass"]
    said = probe.ask(pod, [])["qosClass"]
    return [] if said == made else [{"pod": pod["spec"], "qosClass": made, "said": said}]


def compare(world, probe, tally):
    """One pod after the other; what is not the same is returned."""
    wrong = []
    tried = 0
    while tried < 4:
        pod, before = world.next_pod(), world.quotas()
        said = probe.ask(pod, before)
        alone = [a["sentence"] for a in (probe.ask(pod, [q]) for q in before) if not a["admits"]]
        sentence, made = answer_of(world.api, pod)
        if sentence is None or world.uncounted and "status unknown" in said["sentence"] and (made or world.is_counted_again()):
            continue  # no such pod can be; or the quota controller has looked meanwhile
        tried += 1
        # The API server takes quotas in no order, but for those that fail before those that are exceeded.
        first = [s for s in alone if kind_of(s) != "exceeded quota"] or alone or [""]
        same = sentence in first and said["sentence"] in first and said["admits"] == (sentence == "")
        if not same and not (depends_on_version(pod) and not said["admits"]):
            wrong.append({"world": world.ns, "pod": pod["spec"], "quotas": [{**q["spec"], **q["status"]} for q in before],
                          "api server": sentence, "said": said["sentence"]})
        wrong += qos_differs(world.api, probe, pod)
        tally.update([kind_of(sentence), "pods", f"QoS {said['qosClass']}", *["exact sentences"] * (len(first) == 1 and sentence != "")])
    return wrong


def wait_all_known(api):
    """The API server looks at quotas as a watch tells it of them, in the order of their writes. So when it
    acts on the last one, it knows them all."""
    ns = f"{PREFIX}-canary"
    api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
    wait_until("the ServiceAccount", lambda: not api.gone(f"/api/v1/namespaces/{ns}/serviceaccounts/default"), SOON)
    api.post(f"/api/v1/namespaces/{ns}/resourcequotas", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"},
                                                         "spec": {"hard": {"pods": "0"}}})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "canary", "namespace": ns},
           "spec": {"containers": [{"name": "main", "image": "none"}]}}

    def refused():
        try:
            api.post(f"/api/v1/namespaces/{ns}/pods?dryRun=All", pod)
        except ApiError as e:
            return "exceeded quota: none" in e.message
    wait_until("the last quota to hold", refused, SOON)


@pytest.fixture
def classes(plane):
    made = []
    for name, value in CLASSES.items():
        made.append(plane.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}))
    made.append(plane.api.post("/apis/node.k8s.io/v1/runtimeclasses", {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": RUNTIME}, "handler": "none",
        "overhead": {"podFixed": OVERHEAD}}))
    wait_until("the ServiceAccount", lambda: not plane.api.gone("/api/v1/namespaces/default/serviceaccounts/default"), LATER)
    pod = draw_pod(random.Random(0), "default", "canary")  # both are there when such a pod can be
    pod["spec"].update(runtimeClassName=RUNTIME, overhead=OVERHEAD, priorityClassName="quota-high")

    def known():
        try:
            return plane.api.post("/api/v1/namespaces/default/pods?dryRun=All", pod)
        except ApiError as e:
            assert e.status == 403, e
    wait_until("classes to be known", known, SOON)
    yield
    for obj in made:
        group = "scheduling.k8s.io/v1/priorityclasses" if obj["kind"] == "PriorityClass" else "node.k8s.io/v1/runtimeclasses"
        plane.api.delete(f"/apis/{group}/{obj['metadata']['name']}")


@pytest.mark.search
@pytest.mark.timeout(1800)
def test_the_api_server_and_we_let_in_the_same_pods(plane, classes, record_property):
    rng = random.Random(SEED)
    sizes = []
    while sum(sizes) < COUNT:
        sizes.append(min(rng.choice([1, 1, 1, 2, 3]), COUNT - sum(sizes)))
    worlds = [World(plane.api, i, n) for i, n in enumerate(sizes)]
    probe, tally = Probe(), Counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(World.prepare, worlds))
        wait_all_known(plane.api)
        wrong = [w for some in pool.map(lambda w: compare(w, probe, tally), worlds) for w in some]
        list(pool.map(World.clear, worlds))
    probe.end()
    print(f"SLUICE_E2E_SEED={SEED}: {COUNT} quotas, {dict(sorted(tally.items()))}")
    record_property("compared", dict(tally))
    assert not wrong, f"SLUICE_E2E_SEED={SEED}: {len(wrong)} differ; the first:\n{json.dumps(wrong[:3], indent=1)}"
    assert min(tally[each] for each in ("made", "exceeded quota", "failed quota")) > COUNT / 10, tally  # by luck alone each is far above
