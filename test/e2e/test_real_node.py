"""Containers that really run: a kubelet, containerd and runc (sandbox/real_node.py), where all other tests have kwok's word for it.

What only they can show: that SIGTERM and the grace reach a process, that quota comes back when the process is gone and not
before, that logs stay readable, and what a kubelet says of pods that it cannot run. Times of processes are of /proc/uptime,
which they and this file read of the same kernel. Needs root with CAP_SYS_ADMIN; skipped with a reason where that is missing."""

import itertools
import threading
import time
from pathlib import Path

import pytest
from conftest import LATER, SOON, World, own_plane, run_with
from objects import HOLD, KUBERNETES, NEWEST, conditions, group, has, ours, path_of, story
from sandbox import ApiError, real_node, wait_until
from test_trouble import events, in_trouble
from test_windows import STOPPING_AT, bills, describe, set_clock

_numbers = itertools.count(1)

SAY = 'say() { echo "$(cut -d" " -f1 /proc/uptime) $*"; }\n'
# Of an index that needs longer than a night: told to leave it puts down what it has, and goes on with that the next night.
NIGHT = SAY + """\
saved=/state/$JOB_COMPLETION_INDEX
trap 'say SIGTERM; sleep 2; touch $saved; say saved; exit 143' TERM
say begins
if [ -e $saved ]; then say goes on; sleep 1
elif [ $JOB_COMPLETION_INDEX -lt 2 ]; then sleep 1
else while :; do sleep 0.2; done
fi
say done
"""
STUBBORN = SAY + "trap 'say SIGTERM' TERM\nsay begins\nwhile :; do say alive; sleep 0.1; done\n"
ENDLESS = SAY + "trap 'say SIGTERM; exit 143' TERM\nsay begins\nwhile :; do sleep 0.1; done\n"
SHORT = SAY + "say begins\nsleep 1\nsay done\n"
GRACE = 4
WIDGET = "example.com/widget"  # as kubernetes.io/batch-cpu is: a figure that stands on the node, and no device plugin answers for


# What the sentences advise (docs/trouble.md). No rule could name a rejected pod, so the limit is what has to bear it.
# Nor is a stop counted by which a container leaves with 143: where the Job controller sees its pod before that is gone, it is Failed.
POLICY = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                    {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [143]}}]}
OUTLASTS = {"backoffLimit": 20, "podFailurePolicy": POLICY}
ADVICE = ("{rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}, "
          "{action: Ignore, onExitCodes: {operator: In, values: [143]}}]}")


def uptime():
    return float(Path("/proc/uptime").read_text().split()[0])


class Followed(threading.Thread):
    """What a container says until it ends, as `kubectl logs -f` has it: [(uptime, words)]. Its pod may be gone then."""

    def __init__(self, world, pod):
        super().__init__(daemon=True)
        self.world, self.pod, self.text = world, pod, ""
        self.start()

    def run(self):
        self.text = self.world.log(self.pod, "?follow=true")

    def lines(self):
        self.join(SOON)
        assert not self.is_alive(), f"{self.pod} goes on"
        return spoken(self.text)


def spoken(text):
    return [(float(at), words) for at, _, words in (line.partition(" ") for line in text.splitlines())]


def said_at(lines, words, last=False):
    found = [at for at, said in lines if said == words]
    assert found, (words, lines)
    return found[-1 if last else 0]


class RealWorld(World):
    """Whose Jobs run on the real node."""

    def __init__(self, box, ns):
        super().__init__(box, ns)
        self.create("resourceflavors", ours("ResourceFlavor", self.full("real"), {
            "nodeLabels": {"pool": real_node.POOL}, "tolerations": [real_node.TOLERATION]}))

    def real_queue(self, cpu, **spec):
        return self.queue(groups=[group(["cpu", "memory", WIDGET], {self.full("real"): [cpu, "1Gi", 10]})], **spec)

    def run(self, name, script, cpu="100m", grace=GRACE, container=None, pod=None, **kw):
        work = {"image": real_node.IMAGE, "command": ["sh", "-c", script], **(container or {})}
        return self.job(name, cpu=None, requests={"cpu": cpu}, container={**work, "resources": {"requests": {"cpu": cpu}, **work.get("resources", {})}},
                        pod={"terminationGracePeriodSeconds": grace, **(pod or {})}, **kw)

    def runs(self, name):
        """[(reason of its end, pod-seconds lost)] of its attempts that are over."""
        uid = self.get(name)["metadata"]["uid"]
        return [(reason, int(lost or 0) / 1000) for reason, lost in self.box.sql(
            f"select reason, lost_ms from sluice.segment where job_uid = '{uid}' order by attempt")]

    def all_pods(self, name):
        """Those that ended, too, oldest first."""
        pods = self.api.list(f"/api/v1/namespaces/{self.ns}/pods?labelSelector=job-name={name}")
        return sorted(pods, key=lambda p: p["metadata"]["creationTimestamp"])

    def log(self, pod, how=""):
        """By the API server, as `kubectl logs` asks for it."""
        return self.api.raw("GET", f"/api/v1/namespaces/{self.ns}/pods/{pod}/log{how}").decode()

    def running(self, name, pods=1):
        """Until the containers of so many pods run; their names."""
        def asked():
            found = [p["metadata"]["name"] for p in self.all_pods(name) if p["status"].get("phase") == "Running"]
            return len(found) == pods and found
        return self.wait(f"{pods} pods of {name} to run", asked, LATER, about=name)

    def speaks(self, pod, words="begins"):
        """Until its container has said so."""
        def asked():
            return any(said == words for _, said in spoken(self.log(pod)))
        self.wait(f"{pod} to say {words}", asked, LATER)

    def told_to_end(self, pod):
        """Until its container has heard SIGTERM. On a busy machine it may be gone before it was asked; its last words are in Followed then."""
        def asked():
            try:
                return any(said == "SIGTERM" for _, said in spoken(self.log(pod)))
            except ApiError as e:
                if e.status != 404:
                    raise
                return True
        self.wait(f"{pod} to say SIGTERM", asked, LATER)

    def times(self, name, attempt=1):
        """{kind: seconds since 1970} of the ledger's transfers of an attempt, by the database's clock."""
        uid = self.get(name)["metadata"]["uid"]
        return {kind: float(at) for kind, at in self.box.sql(
            f"select kind, extract(epoch from at) from sluice.transfer where job_uid = '{uid}' and attempt = {attempt} order by at")}

    def at_most(self, cpu_milli):
        """A look at the ledger and the pods: the pods that are not at their end ask for no more than the quota."""
        pods = [p for name in self.names() for p in self.pods(name)]
        use = sum(int(p["spec"]["containers"][0]["resources"]["requests"]["cpu"].removesuffix("m")) for p in pods)
        assert use <= cpu_milli, [(p["metadata"]["name"], p["status"]) for p in pods]

    def names(self):
        return [j["metadata"]["name"] for j in self.api.list(f"/apis/batch/v1/namespaces/{self.ns}/jobs")]


@pytest.fixture(scope="module")
def place():
    why = real_node.lacks()
    if not why and KUBERNETES < NEWEST:
        why = f"the kubelet of Kubernetes 1.{NEWEST} is for no older control plane"
    if why:
        pytest.skip(why)
    with own_plane("real", with_real_node=True) as box:
        yield box


@pytest.fixture
def world(place, request):
    marker = request.node.get_closest_marker("flags")
    run_with(place, marker.args if marker else ())
    w = RealWorld(place, f"real-{next(_numbers)}")
    yield w
    w.end()
    w.empty()
    assert place.process("controller-one").alive(), "the controller ended during this test"


@pytest.fixture
def night(place, tmp_path):
    """A world whose controller goes by a clock of its own: (world, clock)."""
    clock = set_clock(place, tmp_path, "Mon 18:50")
    w = RealWorld(place, f"real-{next(_numbers)}")
    yield w, clock
    w.end()


def test_at_the_close_containers_get_sigterm_and_their_grace_and_at_the_open_only_the_rest_runs(night, tmp_path):
    """The story of the seed document: nights are cheap, the work takes longer than one, and neither pods that are done nor their logs are lost."""
    world, clock = night
    world.real_queue(cpu=1)
    describe(world)
    state = {"volumes": [{"name": "state", "hostPath": {"path": f"/var/lib/state-{world.ns}", "type": "DirectoryOrCreate"}}]}
    world.run("long", NIGHT, grace=60, pod=state, container={"volumeMounts": [{"name": "state", "mountPath": "/state"}]},
              pods=4, completionMode="Indexed", **OUTLASTS)
    world.waits("long", "OutsideWindow")
    assert world.all_pods("long") == []

    clock.set("Mon 18:59:58")
    world.started("long")
    world.wait_job("long", "to be done with two indexes", lambda j: j["status"].get("completedIndexes") == "0,1", LATER)
    first = {p["metadata"]["name"]: p for p in world.all_pods("long")}
    done = [n for n, p in first.items() if p["status"]["phase"] == "Succeeded"]
    logs = {n: world.log(n) for n in done}
    assert len(done) == 2 and all([words for _, words in spoken(text)] == ["begins", "done"] for text in logs.values())
    rest = world.running("long", 2)
    followed = [Followed(world, n) for n in rest]
    for name in rest:
        world.speaks(name)

    # The notice is to a Job; its containers hear of the end at the close, and not before.
    clock.set("Tue 06:49:55")
    world.wait_job("long", "to be told of the stop", lambda j: STOPPING_AT in j["metadata"]["annotations"])
    assert all([words for _, words in spoken(world.log(n))] == ["begins"] for n in rest)
    clock.set("Tue 06:59:57")
    closed = world.stopped("long")
    assert story(closed)["reason"] == "WindowClosed" and closed["status"]["completedIndexes"] == "0,1"
    assert closed["status"].get("failed", 0) == 0, "to be stopped is no failure, whatever the exit code"
    for lines in [f.lines() for f in followed]:
        assert [words for _, words in lines] == ["begins", "SIGTERM", "saved"]
        assert said_at(lines, "saved") - said_at(lines, "SIGTERM") >= 2, "its grace is its own"
    world.empty()
    told = world.times("long")
    assert told["RELEASE"] - told["STOP"] >= 2, "quota came back before the processes were gone"
    world.wait("what was done to stay and the rest to be gone", lambda: {p["metadata"]["name"] for p in world.all_pods("long")} == set(done))
    assert {n: world.log(n) for n in done} == logs

    clock.set("Tue 12:00")
    world.waits("long", "OutsideWindow")
    clock.set("Tue 18:59:58")
    world.finished("long")
    second = {p["metadata"]["name"]: p for p in world.all_pods("long")}
    assert set(done) < set(second) and not set(rest) & set(second)
    new = set(second) - set(done)
    assert {second[n]["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] for n in new} == {"2", "3"}
    assert all([words for _, words in spoken(world.log(n))] == ["begins", "goes on", "done"] for n in new)
    assert {n: world.log(n) for n in done} == logs
    world.empty()
    assert [b[4] for b in bills(world, "long")] == ["WindowClosed", "Finished"]


def test_quota_of_a_container_that_ignores_sigterm_comes_back_when_its_process_is_gone_and_the_next_starts_only_then(world):
    world.priorities(low=1, high=10)
    world.real_queue(cpu=1, preemption={"withinClusterQueue": "LowerPriority"})
    world.run("stubborn", STUBBORN, cpu="900m", priority="low", backoffLimit=20)  # the kill may count as a failure
    (pod,) = world.running("stubborn")
    world.speaks(pod)
    follow = Followed(world, pod)
    time.sleep(2)  # it loses so much at least
    world.run("urgent", SHORT, cpu="900m", priority="high")
    world.wait_job("stubborn", "to be told to stop", lambda j: j["spec"]["suspend"])
    waits = world.explain("urgent")
    assert waits["waiting"], waits
    world.told_to_end(pod)
    world.at_most(1000)
    world.finished("urgent")
    lines = follow.lines()
    told, gone = said_at(lines, "SIGTERM"), lines[-1][0]
    (successor,) = world.all_pods("urgent")
    began = said_at(spoken(world.log(successor["metadata"]["name"])), "begins")
    print(f"\nSIGTERM, {gone - told:.1f} s of grace, then {began - gone:.1f} s until the next one runs; meanwhile: {waits['sentence']}")
    assert gone - told > GRACE / 2, "it was not left its grace"  # by its own words, which come late on a busy machine
    assert began > gone, "two processes had the room of one"
    moment = world.times("stubborn")
    assert moment["STOP"] < moment["RELEASE"] <= world.times("urgent")["RESERVE"]
    assert moment["RELEASE"] - moment["STOP"] > GRACE - 1
    ((reason, lost), *_) = world.wait("the end of the run to be written", lambda: world.runs("stubborn"))
    # Its quota was used from the start on, for which a node takes a moment, until it was told to stop, which its container hears in a moment.
    since_boot = time.time() - uptime()
    ran, used = min(told, moment["STOP"] - since_boot) - said_at(lines, "begins"), told + since_boot - moment["RESERVE"]
    print(f"it ran for {ran:.1f} s until it was told to stop, and had its quota for {used:.1f} s; said to be lost: {lost:.1f} s")
    assert reason == "Preempted" and ran - 1 < lost < used + 2, "what a run lost is what really ran"


def test_a_drained_queue_gives_its_quota_when_its_stubborn_containers_are_gone_and_then_to_those_that_wait_in_their_order(world):
    world.priorities(low=1, high=10)
    world.real_queue(cpu=1)
    world.api.post(path_of("localqueues", ns=world.ns), ours("LocalQueue", "other", {"clusterQueue": world.full("q")}))
    world.made.append(path_of("localqueues", "other", world.ns))
    for name in ("one", "two"):
        world.run(name, STUBBORN, cpu="450m", backoffLimit=20)
    pods = [pod for name in ("one", "two") for pod in world.running(name)]
    for pod in pods:
        world.speaks(pod)
    follow = [Followed(world, pod) for pod in pods]
    for name, priority in (("later", "low"), ("sooner", "high")):
        world.run(name, SHORT, cpu="900m", priority=priority, queue="other")
        world.waits(name)
    world.ahead("sooner", "later")
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"stopPolicy": "HoldAndDrain"}})
    for pod in pods:
        world.told_to_end(pod)
    waiting = [world.explain(name)["waiting"] for name in ("sooner", "later")]
    if {p["metadata"]["name"] for name in ("one", "two") for p in world.pods(name)} & set(pods):  # what lingered then still does
        assert all(waiting)
    world.at_most(1000)
    world.finished("sooner", "later")
    gone = max(f.lines()[-1][0] for f in follow)
    begins, ends = ([said_at(spoken(world.log(world.all_pods(name)[0]["metadata"]["name"])), words) for name in ("sooner", "later")]
                    for words in ("begins", "done"))
    assert gone < begins[0] and ends[0] < begins[1], "two had the room of one, or the order was another"
    assert world.order_of_starts()[-2:] == ["sooner", "later"]
    for name in ("one", "two"):
        moment = world.times(name)
        assert moment["RELEASE"] - moment["STOP"] > GRACE - 1
        assert moment["RELEASE"] <= world.times("sooner")["RESERVE"]


def test_a_container_that_is_killed_for_its_memory_ends_its_job_and_gives_the_quota_back(world):
    world.real_queue(cpu=1)
    world.run("greedy", "exec tail /dev/zero", container={"resources": {"limits": {"memory": "16Mi"}}})
    world.wait_job("greedy", "to fail", lambda j: has(j, "Failed"), LATER)
    (pod,) = world.all_pods("greedy")
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
    world.empty()
    assert world.runs("greedy") == [("Failed", 0)]


@pytest.mark.flags("--stuck-after", "2s")
def test_an_image_that_cannot_be_pulled_is_told_in_the_kubelets_own_words(world):
    world.real_queue(cpu=1)
    world.run("noimage", SHORT, container={"image": "example.invalid/nothing:1"})
    said = in_trouble(world, "noimage", "ErrImagePull", 1)
    print(f"\n{said['sentence']}")
    assert "example.invalid/nothing:1" in said["trouble"]["message"]
    world.uses(q=0.1)
    world.patch("noimage", {"metadata": {"annotations": {HOLD: "until there is an image"}}})
    world.stopped("noimage")
    world.empty()
    assert "ErrImagePull" in story(world.get("noimage"))["trouble"]


UNREACHABLE = [{"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
               for k in ("unreachable", "not-ready")]


@pytest.mark.flags("--stuck-after", "2s")
def test_while_a_node_has_lost_its_power_the_quota_of_its_pods_is_given_to_no_other(world):
    """kill -9 of kubelet, containerd and all containers. Nobody can say whether the containers run: they may, behind a broken network."""
    world.real_queue(cpu=1)
    world.run("stopped", ENDLESS, cpu="400m", **OUTLASTS)
    world.run("evicted", ENDLESS, cpu="400m", pod={"tolerations": UNREACHABLE}, **OUTLASTS)
    for name in ("stopped", "evicted"):
        world.speaks(world.running(name)[0])
    box = world.box
    box.real_node.cut_power()
    world.run("next", SHORT, cpu="400m")
    world.patch("stopped", {"metadata": {"annotations": {HOLD: "yes"}}})
    world.wait_job("stopped", "to be suspended", lambda j: j["spec"]["suspend"])
    wait_until("the node to be missed", lambda: not box.real_node.is_ready(), LATER)
    world.wait_job("evicted", "to have its pod evicted", lambda j: j["status"].get("terminating") == 1, LATER)
    world.waits("next")
    for name, words in (("stopped", "on hold; it is being stopped, its quota is free once its last pod is gone"),
                        ("evicted", "but 1 of its pods was deleted and has not gone yet; a pod is replaced, and its quota free, only when it is gone"),
                        ("next", "800m of 1 in use")):
        said = world.wait(f"explain to say of {name} that {words}", lambda n=name, w=words: w in (x := world.explain(n)["sentence"]) and x, LATER, about=name)
        print(f"{name}: {said}")
    assert world.get("stopped")["status"].get("terminating") == 1 and world.get("evicted")["status"].get("active", 0) == 0
    world.uses(q=0.8)
    world.at_most(1000)
    box.start(real_node.COMPONENT)
    box.wait_ready(real_node.COMPONENT)
    world.stopped("stopped")
    world.finished("next")
    # The run of the other goes on with a new pod.
    (again,) = world.running("evicted")
    assert story(world.get("evicted"))["attempt"] == 1
    assert world.get("stopped")["status"].get("terminating", 0) == 0
    world.at_most(1000)


def rejected(pod):
    return pod["status"].get("phase") == "Failed" and pod["status"].get("message", "").startswith("Pod was rejected: ")


def set_widgets(world, n):
    world.api.patch(f"/api/v1/nodes/{real_node.NODE}/status", {"status": {"capacity": {WIDGET: str(n)}, "allocatable": {WIDGET: str(n)}}})


def test_a_pod_that_the_kubelet_rejects_is_told_while_the_run_goes_on(world):
    """No scheduler has looked at these (nodeName), so nobody has seen that they do not fit together."""
    cpu = int(world.api.get(f"/api/v1/nodes/{real_node.NODE}")["status"]["allocatable"]["cpu"])
    world.real_queue(cpu=4 * cpu)
    world.run("two", ENDLESS, cpu=f"{cpu * 600}m", pod={"nodeName": real_node.NODE}, pods=2, backoffLimit=6)
    world.running("two", 1)
    world.wait("a pod to be rejected", lambda: any(rejected(p) for p in world.all_pods("two")), LATER, about="two")
    said = world.wait("explain to tell", lambda: (x := world.explain("two")) and "rejected" in x["sentence"] and x, about="two")
    print(f"\n{said['sentence']}")
    assert said["sentence"].startswith("runs since ") and f"the kubelet of node {real_node.NODE} rejected a pod of it" in said["sentence"]
    assert "OutOfcpu: Node didn't have enough resource: cpu, requested: " in said["sentence"] and said["sentence"].endswith(ADVICE)
    (message, *_) = world.wait("an Event that says so", lambda: events(world, "two", "PodRejected"))
    assert "OutOfcpu" in message and message.endswith(ADVICE)
    assert story(world.get("two"))["attempt"] == 1 and not world.get("two")["spec"]["suspend"]
    world.restart()  # a successor says the same
    assert "OutOfcpu" in world.wait("the successor to tell", lambda: (x := world.explain("two")) and "rejected" in x["sentence"] and x)["sentence"]


def test_a_job_that_fails_by_its_nodes_doing_says_so_one_is_stopped_before_and_one_that_heeds_the_advice_goes_on(world):
    """The figure of a node is lowered after pods were bound by it, and before its kubelet has looked at them."""
    world.real_queue(cpu=2)
    set_widgets(world, 10)
    box = world.box
    box.real_node.cut_power()
    widget = {"container": {"resources": {"requests": {"cpu": "100m", WIDGET: "1"}, "limits": {WIDGET: "1"}}}}
    world.run("counted", SHORT, **widget)
    world.run("spared", SHORT, **OUTLASTS, **widget)
    world.run("rescued", SHORT, backoffLimit=1, **widget)
    for name in ("counted", "spared", "rescued"):
        world.wait(f"the pod of {name} to have its node", lambda n=name: any(p["spec"].get("nodeName") for p in world.all_pods(n)), about=name)
    set_widgets(world, 0)
    box.start(real_node.COMPONENT)
    box.wait_ready(real_node.COMPONENT)
    failed = world.wait_job("counted", "to fail", lambda j: has(j, "Failed"), LATER)
    assert failed["status"]["failed"] == 1 and rejected(world.all_pods("counted")[0])
    # Of one more it would fail, too: it is stopped before, and comes back.
    saved = world.wait_job("rescued", "to be stopped at its limit", lambda j: j["spec"]["suspend"] and j["status"].get("failed") == 1, LATER)
    assert story(saved)["reason"] == "BackoffLimitNear" and not has(saved, "Failed")
    (told,) = world.wait("an Event of its stop", lambda: events(world, "rescued", "BackoffLimitNear"))
    print(f"\n{told}")
    assert f"OutOf{WIDGET}" in told and "spec.backoffLimit" in told
    (message,) = world.wait("an Event that says why", lambda: events(world, "counted", "PodRejected"))
    said = world.wait("explain to tell", lambda: (x := world.explain("counted")) and x["sentence"].startswith("has ended") and x)
    print(f"\n{said['sentence']}")
    assert not said["waiting"] and f"OutOf{WIDGET}" in said["sentence"] and f"OutOf{WIDGET}" in message and message.endswith(ADVICE)
    world.restart()
    world.wait("the successor to tell the same", lambda: world.explain("counted")["sentence"] == said["sentence"], about="counted")
    assert not conditions(world.all_pods("counted")[0]), "a podFailurePolicy could name it now, and the advice should"
    world.wait("a pod of the other to be rejected", lambda: any(rejected(p) for p in world.all_pods("spared")), LATER, about="spared")
    set_widgets(world, 10)
    world.finished("spared")
    # The Job controller tries again after ten seconds, and after more: as often as there was time for.
    assert world.get("spared")["status"]["failed"] >= 1
    world.wait("the end of its run to be written", lambda: world.runs("spared") == [("Finished", 0)], about="spared")
    world.patch("rescued", {"spec": {"backoffLimit": 20}})  # may be written while it waits or runs
    world.finished("rescued")
    world.wait("the ends of both its runs to be written",
               lambda: [reason for reason, _ in world.runs("rescued")] == ["BackoffLimitNear", "Finished"], about="rescued")
