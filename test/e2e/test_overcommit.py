"""Idle resources on the real control plane: what nobody uses is lent out, and taken back first.

A sandbox of its own, with a metrics-server; what nodes and pods use is played (sandbox/usage.py).
Figures are asked of the Nodes, pods and Jobs of the API, never of Sluice. metrics-server asks
kubelets every 10 s, so a change of use is a partial sample and then a full one: nothing here waits
for seconds, but much for samples.

The safe figure, by hand: the 20 nodes have 32 cpu and 128Gi, thresholds are 65 percent, so a node
of which S cores are used by its system and H by ordinary pods lends 20.8 - S - H."""

import itertools
import json
import time

import pytest
from conftest import KEEP, LATER, RECOVERY, SOON, World, own_plane, start_controller, wait_leading
from objects import KUBERNETES, SPOT_TOLERATION, conditions, group, has, ours, path_of, story, terminal
from sandbox import ApiError, usage, wait_until
from sandbox.audit import Follow
from sandbox.nodes import all_nodes

BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
GOCRAN_CPU, GOCRAN_MEMORY = "gocran.io/cpu", "gocran.io/memory"
PREEMPTIBLE, MIN, QOS, SAMPLE = "sluice.dev/preemptible", "sluice.dev/min-parallelism", "koordinator.sh/qosClass", "sluice.dev/overcommit-sample"
NODES = [n["metadata"]["name"] for n in all_nodes()]
CPU, MEMORY = 32000, 128 << 30
THRESHOLD = 65
REWRITES = 36  # the first minor version whose API server takes other resources for a suspended Job
CONFIGMAP = "/api/v1/namespaces/kube-system/configmaps"
IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}

# Usage is read every 6 s: a sample is fresh for twice as long, and metrics-server has a new one every 10.
CONFIG = {"enable": True, "metricAggregateDurationSeconds": 1, "metricReportIntervalSeconds": 6, "raiseWindowSeconds": 1, "degradeTimeMinutes": 1,
          "updateTimeThresholdSeconds": 30, "resourceDiffThreshold": 0.02, "cpuReclaimThresholdPercent": THRESHOLD, "memoryReclaimThresholdPercent": THRESHOLD,
          "reclaimCoolDownSeconds": 1}
SAMPLES = 300  # for a few samples on a machine that has other things to do

pytestmark = [pytest.mark.timeout(1500)]


def milli(quantity):
    """A whole quantity as a number: "20800" and "20k" are both written."""
    for suffix, factor in (("k", 1000), ("M", 10**6), ("G", 10**9), ("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)):
        if quantity.endswith(suffix):
            return int(float(quantity.removesuffix(suffix)) * factor)
    return int(quantity)


def figures(node):
    """{name: amount} of what a Node lends; capacity and allocatable must say the same."""
    there, room = ({k: milli(v) for k, v in node["status"][f].items() if k.startswith(("kubernetes.io/batch-", "gocran.io/"))} for f in ("capacity", "allocatable"))
    assert there == room, f"{node['metadata']['name']}: capacity says {there}, allocatable {room}"
    return room


def asked(pod_spec, what="requests"):
    """{name: amount} that its one container asks for."""
    return {k: milli(v) for k, v in pod_spec["containers"][0]["resources"][what].items()}


def near(amount, wanted, percent=3):
    return amount is not None and abs(amount - wanted) <= max(abs(wanted), CPU) * percent / 100


# ---- what there is to lend with ------------------------------------------------------------------


@pytest.fixture(scope="module")
def plane_lending():
    with own_plane("overcommit", overcommit=True) as box:
        start_controller(box)
        wait_leading(box)
        box.wait_usage()
        yield box


_numbers = itertools.count(1)


@pytest.fixture
def lent(plane_lending, request):
    """A world in which nothing is lent and nothing used yet."""
    box = plane_lending
    box.start("metrics-server")
    box.wait_ready("metrics-server")
    box.start("controller-one")
    wait_leading(box)
    # What the test before had lent is taken back first: figures that are right by chance are those of this test otherwise.
    wait_until("nothing to be lent any more", lambda: not any(any(figures(n).values()) for n in box.api.list("/api/v1/nodes")), SAMPLES,
               box.process("controller-one"))
    w = Lent(box, f"idle-{next(_numbers)}{'-' + str(time.time_ns() % 10000) if KEEP else ''}")
    yield w
    w.end()
    assert box.process("controller-one").alive(), "the controller ended during this test"


class Lent(World):
    """With flavors on idle room, and hands on what is used."""

    every = 0.5  # what is waited for comes with samples

    def __init__(self, box, ns):
        super().__init__(box, ns)
        self.use(*NODES, cpu=0, memory=0)

    def end(self):
        for job in [j["metadata"]["name"] for j in self.api.list(f"/apis/batch/v1/namespaces/{self.ns}/jobs")]:
            self.delete(job)
        for pod in self.api.list(f"/api/v1/namespaces/{self.ns}/pods"):
            self.forget(f"/api/v1/namespaces/{self.ns}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")
        self.forget(f"{CONFIGMAP}/ack-slo-config")
        for path in reversed(self.made):
            self.forget(path)

    def forget(self, path):
        try:
            self.api.delete(path)
        except ApiError as e:
            if e.status != 404:
                raise

    # -- the admin's side

    def configmap(self, **fields):
        """The seeds' own: kube-system/ack-slo-config. None takes a field away."""
        wanted = {k: v for k, v in {**CONFIG, **fields}.items() if v is not None}
        self.configmap_text(json.dumps(wanted))

    def configmap_text(self, text):
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ack-slo-config"}, "data": {"colocation-config": text}}
        if self.api.ensure(CONFIGMAP, obj) is None:
            self.api.patch(f"{CONFIGMAP}/ack-slo-config", {"data": obj["data"]})

    def overcommit(self, name, selector=None, **fields):
        spec = {k: v for k, v in {**CONFIG, **fields}.items() if v is not None}
        self.create("nodeovercommits", ours("NodeOvercommit", self.full(name), {**spec, **({"nodeSelector": selector} if selector else {})}))

    def active(self, name):
        """(status, reason) of a NodeOvercommit's condition."""
        c = conditions(self.api.get(path_of("nodeovercommits", self.full(name)))).get("Active", {})
        return c.get("status"), c.get("reason")

    def idle_flavor(self, name="idle", labels=None, names="Batch", share="100%"):
        self.create("resourceflavors", ours("ResourceFlavor", self.full(name), {
            "idlePool": {"names": names, "share": share}, "tolerations": [SPOT_TOLERATION], **({"nodeLabels": labels} if labels else {})}))
        return self.full(name)

    def idle_queue(self, name="q", ordinary=None, **kw):
        """A queue that has all of the idle room of these nodes, and after it so many ordinary cpu."""
        flavors = {self.idle_flavor(f"idle-{name}", **kw): ["1", "1Gi"]}
        if ordinary is not None:
            self.create("resourceflavors", ours("ResourceFlavor", self.full("ordinary"), {"nodeLabels": {"pool": "on-demand"}}))
            flavors[self.full("ordinary")] = [str(ordinary), "512Gi"]
        self.queue(name, groups=[group(["cpu", "memory"], flavors)])

    def mark(self, *names):
        """A label for these nodes, of this test."""
        for name in names:
            self.api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {"test.sluice.dev/of": self.ns}}})
        return {"test.sluice.dev/of": self.ns}

    # -- what is used

    def use(self, *names, cpu=None, memory=None):
        for name in names:
            self.box.use_node(name, cpu, memory)

    def wait_samples(self, cpu):
        """Until metrics-server says of every node that it uses so many cores."""
        def all_show_it():
            samples = usage.nodes(self.api).values()  # without Nodes whose last one failed
            return len(samples) == len(NODES) and all(near(1000 * c, 1000 * cpu) for c, _, _ in samples)
        wait_until(f"samples of {cpu} cores", all_show_it, SAMPLES, every=0.5)

    def jobs(self):
        return self.api.list(f"/apis/batch/v1/namespaces/{self.ns}/jobs")

    def nodes(self):
        return {n["metadata"]["name"]: n for n in self.api.list("/api/v1/nodes")}

    def lend(self, cpu=None, memory=None, of=NODES, timeout=SAMPLES):
        """Until these nodes lend so many thousandths of a core, and bytes, within 3 percent of what they have."""
        last = {}

        def asked():
            last.update({n: figures(obj) for n, obj in self.nodes().items() if n in of})
            return all((cpu is None or near(f.get(BATCH_CPU), cpu)) and (memory is None or near(f.get(BATCH_MEMORY), memory, percent=1 if memory else 0))
                       for f in last.values())
        try:
            self.wait(f"{len(of)} nodes to lend {cpu} and {memory}", asked, timeout)
        except AssertionError as e:
            raise AssertionError(f"{e}\nthey lend: {last}\nthey use: {usage.nodes(self.api)}") from None

    # -- who uses it

    def ordinary(self, name, cpu, uses="1m", node=None, tolerate=True):
        """A pod that no Job owns: it is where it is until it is deleted."""
        self.api.post(f"/api/v1/namespaces/{self.ns}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"ordinary": "yes"}, "annotations": usage.of_pod(uses)},
            "spec": {"containers": [{"name": "work", "image": "busybox", "resources": {"requests": {"cpu": str(cpu), "memory": "1Gi"}}}],
                     **({"nodeName": node} if node else {}), **({"tolerations": [SPOT_TOLERATION]} if tolerate else {})}})

    def batch_job(self, name, cpu="4k", memory="4Gi", **kw):
        """A Job whose pods ask for batch resources by name."""
        asked = {BATCH_CPU: cpu, BATCH_MEMORY: memory}
        return self.job(name, cpu=None, container={"resources": {"requests": asked, "limits": asked}}, **kw)

    def preemptible(self, name, cpu="4", memory="4Gi", **kw):
        """A Job that is written with ordinary cpu and memory, and may run on idle ones."""
        return self.job(name, cpu=None, requests={"cpu": cpu, "memory": memory}, annotations={PREEMPTIBLE: "true", **kw.pop("annotations", {})}, **kw)

    def runs_with(self, name, n=1):
        return self.wait(f"{n} pods of {name} to run", lambda: [p for p in self.pods(name) if p["status"].get("phase") == "Running"][n - 1:] and self.pods(name),
                         LATER, about=name)

    def taken_back(self, name, timeout=SAMPLES):
        """Until it was stopped because its room was wanted back."""
        self.wait(f"{name} to be stopped for its room", lambda: '"IdleResourcesReclaimed"' in json.dumps(self.told(name)), timeout, about=name)
        return self.stopped(name)

    def told(self, name):
        """What its annotations and events say happened to it."""
        obj = self.get(name)
        events = self.api.list(f"/api/v1/namespaces/{self.ns}/events?fieldSelector=involvedObject.uid={obj['metadata']['uid']}")
        return [story(obj)] + [{"reason": e["reason"], "message": e["message"]} for e in events]


class Figures(Follow):
    """Every figure that any Node was ever seen to lend, from the watch: [(at, node, {name: amount})].

    unready names the Nodes that were not ready at some moment: such a Node lends nothing at once."""

    def __init__(self, api):
        super().__init__(api, "/api/v1/nodes")
        self.seen, self.unready = [], set()
        self.start()
        self.listed.wait(30)

    def replace(self, nodes):
        for node in nodes:
            self.take("ADDED", node)

    def take(self, kind, node):
        name, now = node["metadata"]["name"], figures(node)
        if now != next((f for _, n, f in reversed(self.seen) if n == name), None):
            self.seen.append((time.time(), name, now))
        if not has(node, "Ready"):
            self.unready.add(name)

    def since(self, at):
        assert self.is_alive(), "what the watch told could not be taken"
        with self.lock:
            return [s for s in self.seen if s[0] >= at]

    def is_level_with(self, nodes):
        """Has the watch told of these Nodes all that a list of them shows?"""
        assert self.is_alive(), "what the watch told could not be taken"
        with self.lock:
            last = {name: now for _, name, now in self.seen}
        return all(last.get(name) == figures(node) for name, node in nodes.items())


# ---- figures ----------------------------------------------------------------------------------------


def test_the_figures_follow_what_is_used_by_the_configmap(lent):
    lent.configmap()
    lent.lend(CPU * THRESHOLD // 100, MEMORY * THRESHOLD // 100)
    follow_a_change(lent)


def test_the_figures_follow_what_is_used_by_a_nodeovercommit(lent):
    lent.overcommit("night", {"matchLabels": {"pool": "on-demand"}})
    lent.lend(CPU * THRESHOLD // 100, MEMORY * THRESHOLD // 100, of=[n for n in NODES if n.startswith("on-demand")])
    assert not any(figures(n) and any(figures(n).values()) for name, n in lent.nodes().items() if name.startswith("spot"))
    lent.wait("its status to say that it holds", lambda: lent.active("night") == ("True", "Active"))

    def nodes():
        status = lent.api.get(path_of("nodeovercommits", lent.full("night")))["status"]
        return status.get("nodes"), status.get("degradedNodes", 0)
    lent.wait("its status to count the nodes", lambda: nodes() == (10, 0), SAMPLES)
    follow_a_change(lent)


def follow_a_change(lent):
    """Within two samples of a node's new use its figure is what it must be, down and up. Of those that the controller
    went by, for on a busy machine it may miss some, and that show all of it: it may come late to kwok."""
    node = "on-demand-0"
    for cpu, memory in ((8, 32 << 30), (3, 8 << 30)):
        samples, shown = set(), {}
        lent.use(node, cpu=cpu, memory=memory)

        def right():
            shown.update({usage.instant(at): cores for name, (cores, _, at) in usage.nodes(lent.api).items() if name == node})
            samples.update(usage.instant(n["sampleTime"]) for n in lent.box.controller_api().overcommit()["nodes"] if n["node"] == node and n.get("sampleTime"))
            f = figures(lent.nodes()[node])
            return near(f.get(BATCH_CPU), CPU * THRESHOLD // 100 - cpu * 1000) and near(f.get(BATCH_MEMORY), MEMORY * THRESHOLD // 100 - memory, 1)
        lent.wait(f"the figure for {cpu} cores used", right, SAMPLES)
        behind = usage.instant(lent.nodes()[node]["metadata"]["annotations"][SAMPLE])
        new = sorted(s for s in samples if s <= behind and s in shown and near(1000 * shown[s], 1000 * cpu))
        assert len(new) <= 2, f"the figure came with sample {behind}; the new use was shown by {new}, of {shown}"
    lent.lend(CPU * THRESHOLD // 100, of=[n for n in NODES if n.startswith("on-demand") and n != node])


def test_both_names_show_one_pool(lent):
    lent.configmap(resourceNames=["batch", "gocran"])
    lent.use(*NODES, cpu=2)
    lent.wait("both names on each node", lambda: all(near(figures(n).get(BATCH_CPU), 18800) and figures(n).get(GOCRAN_CPU) == 18 for n in lent.nodes().values()), SAMPLES)
    f = figures(lent.nodes()["spot-1"])
    assert 0 <= f[GOCRAN_MEMORY] and near(f[GOCRAN_MEMORY], f[BATCH_MEMORY], 1)
    # What one name's pods take, the other has less.
    lent.idle_queue(labels=lent.mark("spot-1"))
    lent.batch_job("half", cpu="10k")
    lent.runs_with("half")
    lent.wait("the other name to have less", lambda: figures(lent.nodes()["spot-1"])[GOCRAN_CPU] == 8, SAMPLES)
    lent.configmap(resourceNames=["batch"])
    lent.wait("a name that is not lent under any more to say 0", lambda: all(figures(n).get(GOCRAN_CPU) == 0 == figures(n).get(GOCRAN_MEMORY) for n in lent.nodes().values()), SAMPLES)


def test_the_configmap_wins_and_a_nodeovercommit_says_so(lent):
    lent.overcommit("a", cpuReclaimThresholdPercent=50)
    lent.overcommit("b", cpuReclaimThresholdPercent=40)
    lent.lend(16000)
    lent.wait("the second to say that the first holds", lambda: lent.active("b") == ("False", "Overshadowed") and lent.active("a") == ("True", "Active"))
    lent.configmap()
    lent.wait("both to say that the ConfigMap holds", lambda: lent.active("a") == lent.active("b") == ("False", "ConfigMapInUse"))
    lent.lend(20800)
    lent.api.delete(f"{CONFIGMAP}/ack-slo-config")
    lent.lend(16000)
    lent.wait("the first to hold again", lambda: lent.active("a") == ("True", "Active"))


def test_a_bad_configuration_leaves_the_last_good_one(lent):
    lent.configmap()
    lent.lend(20800)
    for text, word in (('{"enable": true, "cpuReclaimThresholdPercent": -5}', "cpuReclaimThresholdPercent"), ('{"enable": tru', "colocation-config")):
        lent.configmap_text(text)
        lent.wait(f"an Event that says what is wrong with {text}", lambda w=word: any(
            e["type"] == "Warning" and w in e["message"] for e in lent.api.list("/api/v1/namespaces/kube-system/events?fieldSelector=involvedObject.name=ack-slo-config")))
        lent.wait("the metric to say so", lambda: b"sluice_overcommit_config_valid 0" in lent.box.controller_api().raw("GET", "/metrics"))
    lent.use("spot-3", cpu=4)
    lent.lend(16800, of=["spot-3"])  # by the last good one, which goes on
    lent.lend(20800, of=[n for n in NODES if n != "spot-3"])


def test_off_says_0_and_on_lends_again(lent):
    lent.configmap()
    lent.lend(20800)
    lent.configmap(enable=False)
    lent.wait("each figure to be 0, and there", lambda: all(figures(n) and set(figures(n).values()) == {0} for n in lent.nodes().values()), SOON)
    lent.configmap()
    lent.lend(20800)


# ---- Jobs on idle room ---------------------------------------------------------------------------------


def test_a_job_that_asks_for_batch_resources_runs_on_them(lent):
    lent.configmap()
    lent.lend(20800)
    lent.idle_queue()
    lent.batch_job("be", cpu="4k", memory="8Gi", pods=3)
    for pod in lent.runs_with("be", 3):
        assert pod["status"]["qosClass"] == "BestEffort" and pod["metadata"]["labels"][QOS] == "BE"
        assert asked(pod["spec"]) == {BATCH_CPU: 4000, BATCH_MEMORY: 8 << 30}
    ((_, _, _, held),) = lent.holds("be")
    assert held[(lent.full("idle-q"), "cpu")] == 12000
    # One pod that is larger than any node lends waits, and is told so.
    lent.batch_job("huge", cpu="25k")
    lent.wait("it to be told so", lambda: lent.waits("huge")["sentence"].startswith(f"Insufficient {BATCH_CPU}: "), about="huge")
    # ... and one that cannot be right is told what is wrong with it.
    lent.batch_job("odd", cpu="500m")
    said = lent.waits("odd")
    assert BATCH_CPU in said["sentence"], said


def runs_on_idle_room(lent):
    """Until what it asks for was rewritten, and it was stopped for its room."""
    (pod,) = lent.runs_with("both-ways")
    assert asked(pod["spec"]) == asked(pod["spec"], "limits") == {BATCH_CPU: 4000, BATCH_MEMORY: 4 << 30}
    assert pod["status"]["qosClass"] == "BestEffort" and pod["metadata"]["labels"][QOS] == "BE" and pod["spec"]["nodeName"] == "on-demand-9"
    lent.use("on-demand-9", cpu=25)
    lent.taken_back("both-ways")


def test_a_preemptible_job_is_rewritten_for_idle_room_and_back(lent):
    """Before 1.36 the API server lets nobody rewrite it: it waits for ordinary room, and says so."""
    lent.configmap()
    one = lent.mark("on-demand-9")
    lent.lend(20800, of=["on-demand-9"])
    lent.idle_queue(ordinary=0, labels=one)
    lent.preemptible("both-ways", cpu="4", memory="4Gi")
    if KUBERNETES < REWRITES:
        lent.wait("it to say what keeps it off idle room", lambda: "kept off idle resources" in json.dumps(lent.explain("both-ways")), LATER, about="both-ways")
    else:
        runs_on_idle_room(lent)
    lent.edit_queue(resourceGroups=[group(["cpu", "memory"], {lent.full("idle-q"): ["1", "1Gi"], lent.full("ordinary"): ["8", "512Gi"]})])
    (pod,) = lent.wait("it to run on ordinary resources", lambda: [p for p in lent.pods("both-ways") if p["status"].get("phase") == "Running"], RECOVERY, about="both-ways")
    template = lent.get("both-ways")["spec"]["template"]
    assert template["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "4", "memory": "4Gi"}} and QOS not in template["metadata"].get("labels", {})
    assert pod["status"]["qosClass"] == "Burstable" and QOS not in pod["metadata"]["labels"]
    lent.finish("both-ways")
    lent.finished("both-ways")


# ---- taking it back -----------------------------------------------------------------------------------


class Ordinary(Follow):
    """Ordinary pods of a namespace: how long the longest of them waited for a node, and who disappeared."""

    def __init__(self, api, ns):
        super().__init__(api, f"/api/v1/namespaces/{ns}/pods?labelSelector=ordinary=yes")
        self.bound, self.lost = {}, []
        self.start()
        self.listed.wait(30)

    def replace(self, pods):
        for pod in pods:
            self.take("ADDED", pod)

    def take(self, kind, pod):
        name = pod["metadata"]["name"]
        if kind == "DELETED" or "deletionTimestamp" in pod["metadata"] or terminal(pod):
            self.lost.append(name)
        if pod["spec"].get("nodeName"):
            self.bound.setdefault(name, pod["spec"]["nodeName"])


@pytest.mark.since_kubernetes(REWRITES, "lets no client change what a suspended Job asks for")
@pytest.mark.timeout(3000)
def test_when_load_rises_idle_jobs_go_first_and_all_of_them_finish(lent):
    jobs = [f"idle-{n:03d}" for n in range(50)]
    lent.configmap()
    lent.idle_queue()
    everyone = Ordinary(lent.api, lent.ns)
    # Night: half of the nodes is asked for, and a tenth of that is used.
    for n in range(20):
        lent.ordinary(f"web-{n}", 16, uses="1600m")
    lent.wait("the ordinary pods of the night to run", lambda: len(running(lent, "ordinary=yes")) == 20, LATER)
    lent.wait("the idle room of the night", lambda: all(figures(n).get(BATCH_CPU, 0) > 16000 for n in lent.nodes().values()), SAMPLES)
    for name in jobs:
        lent.preemptible(name, cpu="9")  # two of them on each node
    lent.wait("idle Jobs to fill what is idle", lambda: len(running(lent, "job-name")) >= 35, SAMPLES)
    before = {p["metadata"]["labels"]["job-name"] for p in running(lent, "job-name")}
    # Morning: 95 percent is asked for, and all of it is used.
    for n in range(20, 38):
        lent.ordinary(f"web-{n}", 16, uses="16")
    lent.wait("each new ordinary pod to run", lambda: len(running(lent, "ordinary=yes")) == 38, LATER)
    for n in range(20):
        lent.box.use_pod(lent.ns, f"web-{n}", cpu="16")
    # (Started Jobs whose pods found no node that lends enough have nothing to give back, and wait for one.)
    lent.wait("no pod of an idle Job to be on a node", lambda: not [p for p in lent.api.list(f"/api/v1/namespaces/{lent.ns}/pods?labelSelector=job-name")
                                                                 if p["spec"].get("nodeName")], 2 * SAMPLES)
    assert not everyone.lost
    # Of the ledger: one may have been started again meanwhile, whose pod finds no node.
    lent.wait("the books to say why each was stopped", lambda: before <= {row[0] for row in lent.box.sql(
        f"select name from sluice.segment where ns = '{lent.ns}' and reason = 'IdleResourcesReclaimed'")})
    # Night again.
    for n in range(38):
        lent.box.use_pod(lent.ns, f"web-{n}", cpu="200m")
    deadline = time.monotonic() + 4 * SAMPLES
    while not all(has(j, "Complete") for j in lent.jobs()):
        assert time.monotonic() < deadline, f"unfinished: {[j['metadata']['name'] for j in lent.jobs() if not has(j, 'Complete')]}"
        for pod in running(lent, "job-name"):
            try:
                lent.finish_pod(pod)
            except ApiError as e:
                if e.status != 404:  # taken back meanwhile
                    raise
        time.sleep(2)
    assert len(everyone.bound) == 38 and not everyone.lost
    assert not [e for e in lent.api.list(f"/api/v1/namespaces/{lent.ns}/events?fieldSelector=reason=FailedScheduling") if e["involvedObject"]["name"].startswith("web-")]
    for job in lent.jobs():
        assert not has(job, "Failed") and not job["status"].get("failed"), job["status"]


def running(lent, selector):
    return [p for p in lent.api.list(f"/api/v1/namespaces/{lent.ns}/pods?labelSelector={selector}")
            if p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"]]


def test_a_job_that_ignores_disruption_loses_one_pod_and_goes_on(lent):
    lent.configmap()
    labels = lent.mark("spot-4", "spot-5", "spot-6")
    lent.lend(20800)
    lent.idle_queue(labels=labels)
    made = lent.batch_job("resilient", cpu="10k", pods=4, podFailurePolicy=IGNORE)
    lent.runs_with("resilient", 4)
    crowded = max(("spot-4", "spot-5", "spot-6"), key=lambda n: sum(p["spec"]["nodeName"] == n for p in lent.pods("resilient")))
    on_it = {p["metadata"]["uid"] for p in lent.pods("resilient") if p["spec"]["nodeName"] == crowded}
    assert len(on_it) == 2
    lent.use(crowded, cpu=5)  # 15.8 are left: one of the two must go
    lent.wait("one pod of it to be evicted", lambda: len(on_it & {p["metadata"]["uid"] for p in lent.pods("resilient") if "deletionTimestamp" not in p["metadata"]}) == 1,
              SAMPLES, about="resilient")
    pods = lent.wait("four pods to run, without the one that is leaving", lambda: (p := running(lent, "job-name=resilient"))[3:] and p, LATER, about="resilient")
    assert len(pods) == 4 and sum(p["spec"]["nodeName"] == crowded for p in pods) == 1
    now = lent.get("resilient")
    assert not now["spec"]["suspend"] and now["spec"]["parallelism"] == 4 and not has(now, "Failed")
    assert now["status"]["startTime"] == lent.get("resilient")["status"]["startTime"] and now["metadata"]["uid"] == made["metadata"]["uid"]
    assert not now["status"].get("failed")


def test_a_job_with_min_parallelism_shrinks(lent):
    lent.configmap()
    labels = lent.mark("spot-7")
    lent.lend(20800)
    lent.idle_queue(labels=labels)
    lent.batch_job("elastic", cpu="10k", pods=2, annotations={MIN: "1"})
    lent.runs_with("elastic", 2)
    lent.use("spot-7", cpu=5)
    lent.wait_job("elastic", "to go on with one pod", lambda j: j["spec"]["parallelism"] == 1, SAMPLES)
    lent.wait("one pod to be left", lambda: len([p for p in lent.pods("elastic") if "deletionTimestamp" not in p["metadata"]]) == 1, LATER, about="elastic")
    assert not lent.get("elastic")["spec"]["suspend"] and not lent.get("elastic")["status"].get("failed")
    lent.wait("its quota to be that of one pod", lambda: [h[3][(lent.full("idle-q"), "cpu")] for h in lent.holds("elastic")] == [10000], LATER, about="elastic")


# ---- what fails -----------------------------------------------------------------------------------------


def test_without_metrics_figures_are_held_then_0_and_nothing_is_stopped(lent):
    lent.configmap()
    lent.idle_queue()
    lent.lend(20800)
    lent.batch_job("steady", cpu="4k")
    lent.runs_with("steady")
    seen = Figures(lent.api)
    # On a busy machine the controller may be a sample or two behind metrics-server: which it goes by only it can say.
    last = {n["node"]: usage.instant(n["sampleTime"]) for n in lent.box.controller_api().overcommit()["nodes"]}
    lent.box.kill("metrics-server")
    killed = time.time()
    lent.use(*NODES, cpu=30)  # nobody is told
    lent.wait("each figure to be 0", lambda: all(figures(n)[BATCH_CPU] == 0 == figures(n)[BATCH_MEMORY] for n in lent.nodes().values()), 60 + SAMPLES)
    assert not seen.unready, f"not ready: {seen.unready}"
    changes = [(at - killed, node, f) for at, node, f in seen.since(killed)]
    seen.stopped = True
    early = [c for c in changes if c[2][BATCH_CPU] != 0 and not near(c[2][BATCH_CPU], 20800)]
    assert not early, f"figures that were neither held nor 0: {early}"
    hasty = [(node, last[node], at) for at, node, f in changes if f[BATCH_CPU] == 0 and killed + at - last[node] < 59]
    assert not hasty, f"given up before degradeTimeMinutes: {hasty}"
    job = lent.get("steady")
    assert not job["spec"]["suspend"] and job["status"]["active"] == 1 and len(lent.pods("steady")) == 1
    lent.use(*NODES, cpu=2)
    lent.box.start("metrics-server")
    lent.box.wait_ready("metrics-server")
    lent.lend(18800)
    assert not lent.get("steady")["spec"]["suspend"]


def test_after_a_kill_nothing_above_the_safe_figure_is_published(lent):
    lent.configmap()
    lent.lend(20800)
    seen = Figures(lent.api)
    for used, safe in ((12, 8800), (4, 16800)):
        lent.box.kill("controller-one")
        lent.use(*NODES, cpu=used)
        # The samples that know it come while nobody looks.
        lent.wait_samples(used)
        # What the one before wrote last may be on its way to the watch yet.
        lent.wait("the watch to be level", lambda: seen.is_level_with(lent.nodes()), LATER)
        began = time.time()
        lent.box.start("controller-one")
        wait_leading(lent.box)
        lent.lend(safe)
        # 20800 is what is lent where nothing is used; a sample of a busy machine may be off by seconds of its 10.
        above = [(node, f) for _, node, f in seen.since(began) if f[BATCH_CPU] > (safe + 20800) / 2]
        assert not above, f"with {used} cores used no node may lend more than {safe}: {above}"
    seen.stopped = True
