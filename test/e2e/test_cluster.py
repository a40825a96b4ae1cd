"""What the cluster itself would say is asked first: no Job is let in only to get stuck behind it.

The real API server says what a ResourceQuota refuses and the real scheduler what fits nowhere; what
Sluice says of a Job that waits is compared with their own words to the letter. In all of this file
the Job controller is never refused a pod, and no pod waits for a node, but where a test wants it so."""

import itertools
import signal

import pytest
from checks import look
from conftest import LATER, RECOVERY, World, wait_leading
from objects import group, jobs_path, story
from pool import OWN, PROBE, Pool, all_seen, complaints, homeless, placed
from sandbox import ApiError
from test_limits import metric

# The seed's own: not more than this of pods that ask for anything at all.
HARD = {"cpu": "1000", "memory": "200Gi", "pods": "10"}
NOT_BEST_EFFORT = {"scopeSelector": {"matchExpressions": [{"scopeName": "NotBestEffort", "operator": "Exists"}]}}

_probes = itertools.count(1)
# When a pod ends or a node is uncordoned, Sluice may hear of it before the scheduler does (docs/nodes.md): what that then says against
# the pods which Sluice lets in is no fault, and they are placed a moment later.
NOT_THE_SCHEDULER = ("FailedCreate", "Preempted")

REFUSED = "the API server would refuse its pods: "
NOWHERE = "no node of this cluster can ever run its pods: "


@pytest.fixture(autouse=True)
def books(world):
    yield
    faults = look(world.box, world.ns)
    assert not faults, faults


@pytest.fixture
def pool(world):
    return Pool(world)


# ---- ResourceQuotas ---------------------------------------------------------------------------


def quotas_path(world, name=None):
    return f"/api/v1/namespaces/{world.ns}/resourcequotas" + (f"/{name}" if name else "")


def resource_quota(world, name="compute", hard=None, spec=None):
    """Until the API server acts on it: quotas reach it in the order of their writes, and it acts on one of a canary's."""
    hard = hard or HARD
    path = quotas_path(world)
    for n, spec in ((name, {"hard": hard, **(spec or {})}), ("canary", {"hard": {"count/configmaps": "0"}})):
        world.api.post(path, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": n}, "spec": spec})
        world.wait(f"ResourceQuota {n} to be counted", lambda q=n, h=spec["hard"]: set(world.api.get(f"{path}/{q}").get("status", {}).get("used", {})) == set(h))

    def refused():
        try:
            world.api.post(f"/api/v1/namespaces/{world.ns}/configmaps?dryRun=All", {"metadata": {"name": "canary"}})
        except ApiError as e:
            return "exceeded quota: canary" in e.message
    world.wait(f"ResourceQuota {name} to hold", refused)
    world.api.delete(f"{path}/canary")
    sluice_knows(world)


def sluice_knows(world):
    """Until Sluice goes by the ResourceQuota, of which it learns by a watch of its own: it holds up a Job that is more than any
    quota of this file lets in. One that was let in before is asked anew, when it holds nothing any more."""
    wide_queue(world, "probes")
    for name in (f"{PROBE}{n}" for n in _probes):
        world.job(name, "probes", pods=100, requests=small())
        said = world.wait(f"{name} to be held up or let in", lambda n=name: said_of_probe(world, n))
        world.delete(name)
        world.wait(f"{name} to be gone", lambda n=name: world.api.gone(jobs_path(world.ns, n)) and not world.holds(n))
        if said == "held up":
            return


def said_of_probe(world, name):
    if not world.get(name)["spec"]["suspend"]:
        return "let in"
    return world.explain(name)["reason"] == "NamespaceQuotaExceeded" and "held up"


def complaints_but(world, *words):
    """Without those that have these words, of a quota as it was before an edit: Sluice and the API server's admission learn of that
    each in its own time, and nobody can tell which is first."""
    return [c for c in complaints(world) if not any(w in c[2] for w in words)]


def raise_quota(world, name="compute", **hard):
    world.api.patch(quotas_path(world, name), {"spec": {"hard": hard}})


def refusal(world, **container):
    """What the API server says to a pod with such a container; None: it would let it in. (Nothing is made.)"""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": world.ns},
           "spec": {"containers": [{"name": "work", "image": "busybox", "resources": container}]}}
    try:
        world.api.post(f"/api/v1/namespaces/{world.ns}/pods?dryRun=All", pod)
    except ApiError as e:
        if e.status != 403:
            raise
        return e.message.partition(" is forbidden: ")[2]


def refused(world, name, words=""):
    """Until it waits for the quota of its namespace, in these words; those that the API server is said to have for it.
    (A pod that was just made counts twice until the quota is known to have it.)"""
    sentence = [""]

    def told():
        sentence[0] = world.waits(name, "NamespaceQuotaExceeded")["sentence"]
        return sentence[0].startswith(REFUSED + words)
    try:
        world.wait(f"{name} to be told {words}", told)
    except AssertionError as e:
        raise AssertionError(f"{sentence[0]}\n{e}") from None
    return sentence[0].removeprefix(REFUSED)


def wide_queue(world, name="q", **spec):
    """Of quota that is never what is lacking."""
    world.queue(name, groups=[group(["cpu", "memory"], {world.flavor(f"any-{name}"): ["2000", "2000Gi"]})], **spec)


def small(cpu="1", memory="1Gi"):
    return {"cpu": cpu, "memory": memory}


def test_who_exceeds_the_quota_of_its_namespace_waits_with_the_api_servers_words(world):
    """The example of the seed: cpu 1000, memory 200Gi, pods 10, of those that are not BestEffort."""
    wide_queue(world)
    resource_quota(world, spec=NOT_BEST_EFFORT)
    world.job("first", pods=6, requests=small(memory="16Gi"))
    world.started("first")
    world.job("many", pods=6, requests=small(memory="1Gi"))
    refused(world, "many", "exceeded quota: compute, requested: pods=6, used: pods=6, limited: pods=10")
    world.job("large", pods=2, requests=small(memory="54Gi"))
    theirs = "exceeded quota: compute, requested: memory=108Gi, used: memory=96Gi, limited: memory=200Gi"
    world.wait("the API server to say so", lambda: refusal(world, requests=small(memory="108Gi")) == theirs)  # as much in one pod
    refused(world, "large", theirs)
    world.job("both", pods=5, requests=small(memory="54Gi"))
    refused(world, "both", "exceeded quota: compute, requested: memory=270Gi,pods=5, used: memory=96Gi,pods=6, limited: memory=200Gi,pods=10")
    world.job("fits", pods=4, requests=small())
    world.started("fits")
    world.job("one", requests=small())
    theirs = refusal(world, requests=small())
    assert theirs and refused(world, "one", theirs)
    assert not complaints(world)


def test_people_are_told_too(world, program):
    wide_queue(world)
    resource_quota(world, hard={"pods": "1"})
    world.job("first", requests=small())
    world.started("first")
    world.job("second", requests=small())
    words = refused(world, "second", "exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1")
    at = {"KUBECONFIG": str(world.box.kubeconfig)}
    world.box.wait_visible(LATER)
    told = " ".join(program("sluice", "explain", "job/second", "-n", world.ns, env=at).stdout.split())
    assert words in told and "NamespaceQuotaExceeded" in told, told
    assert world.box.controller_api().queues()  # it still answers


def test_it_starts_when_a_pod_goes_and_when_the_quota_grows(world, pool):
    wide_queue(world)
    resource_quota(world, hard={"pods": "3"})
    pool.add()
    pool.occupy("web", 1)
    world.wait("the quota to count the pod alone", lambda: world.api.get(quotas_path(world, "compute"))["status"]["used"]["pods"] == "1")
    all_seen(world)
    world.job("first", pods=2, requests=small())
    world.started("first")
    world.job("second", requests=small())
    refused(world, "second")
    pool.vacate("web")
    world.started("second")
    world.job("third", pods=2, requests=small())
    refused(world, "third")
    assert not complaints(world)
    raise_quota(world, pods="5")
    world.started("third")
    world.job("fourth", pods=3, requests=small())
    refused(world, "fourth")
    world.finish("first", "second")
    world.started("fourth")
    world.job("fifth", requests=small())
    refused(world, "fifth")
    assert not complaints_but(world, "limited: pods=3")
    world.api.delete(quotas_path(world, "compute"))
    world.started("fifth")
    assert not complaints_but(world, "limited: pods=3", "limited: pods=5")


def test_what_the_quota_does_not_count_is_not_held_up_and_holds_up_nobody(world):
    """A BestEffort Job; a Job of another namespace in the same ClusterQueue, which is StrictFIFO; and who is behind in the queue."""
    world.queue(groups=[group(["cpu", "memory", "pods"], {world.flavor(): ["2000", "2000Gi", "100"]})], queueingStrategy="StrictFIFO")
    resource_quota(world, hard={**HARD, "pods": "2"}, spec=NOT_BEST_EFFORT)
    world.job("first", pods=2, requests=small())
    world.started("first")
    world.job("head", pods=2, requests=small())
    refused(world, "head")
    world.job("light", cpu=None, pods=5)
    world.started("light")
    neighbour = World(world.box, f"{world.ns}-b")
    neighbour.local("q", world.full("q"))
    world.afterwards.append(neighbour.end)
    neighbour.job("theirs", pods=5, requests=small())
    neighbour.started("theirs")
    refused(world, "head")
    assert not complaints(world) and not complaints(neighbour)


def test_nobody_is_displaced_for_one_whom_the_namespace_refuses(world):
    world.priorities(low=1, high=10)
    wide_queue(world, preemption={"withinClusterQueue": "LowerPriority"})
    world.edit_queue(resourceGroups=[group(["cpu", "memory"], {world.full("any-q"): ["2", "2000Gi"]})])
    resource_quota(world, hard={"pods": "2"})
    world.job("lesser", pods=2, requests=small(), priority="low")
    world.started("lesser")
    world.job("urgent", pods=2, requests=small(), priority="high")
    # Its quota alone would have it displace the lesser one, whose pods' end would make room in the namespace as well.
    # But that is nothing to build on: who is refused as things are displaces nobody.
    refused(world, "urgent")
    assert not world.get("lesser")["spec"]["suspend"]


def test_of_two_that_come_together_one_starts(world):
    """Each fits alone; the quota's status says nothing yet of the one when the other is looked at."""
    wide_queue(world)
    resource_quota(world, spec=NOT_BEST_EFFORT)
    for turn in range(3):
        names = [f"a{turn}", f"b{turn}"]
        for name in names:
            world.job(name, pods=6, requests=small())
        one = world.wait("one to start", lambda n=names: next((x for x in n if not world.get(x)["spec"]["suspend"]), None))
        (other,) = set(names) - {one}
        refused(world, other)
        world.started(one)
        refused(world, other)
        world.finish(one)
        world.started(other)
        world.finish(other)
        world.finished(one, other)
    assert not complaints(world)


def test_many_pass_a_narrow_quota_and_no_pod_is_ever_refused(world):
    """Fifteen Jobs of one to four pods come at once and are short; six pods may run at a time, of eight cpu."""
    wide_queue(world)
    resource_quota(world, hard={"pods": "6", "requests.cpu": "8"})
    sizes = itertools.cycle([(3, "1"), (1, "4"), (4, "500m"), (2, "2"), (1, "1")])
    names = [f"j{n:02d}" for n in range(15)]
    for name, (pods, cpu) in zip(names, sizes):
        world.job(name, pods=pods, requests=small(cpu), seconds=0.3)
    world.finished(*names, timeout=RECOVERY)
    assert not complaints(world)
    assert sum(world.get(n)["status"]["succeeded"] for n in names) == 33


def test_the_defaults_of_a_limit_range_count(world):
    wide_queue(world)
    world.api.post(f"/api/v1/namespaces/{world.ns}/limitranges", {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "usual"}, "spec": {
        "limits": [{"type": "Container", "default": small("3", "4Gi"), "defaultRequest": small("2", "4Gi")}]}})
    resource_quota(world, hard={"requests.cpu": "5", "limits.cpu": "7"})
    world.wait("the API server to act on the LimitRange", lambda: refusal(world) is None)  # the quota has no mercy with who says nothing
    world.job("two", pods=2, cpu=None)
    world.started("two")
    world.job("one", cpu=None)
    theirs = "exceeded quota: compute, requested: limits.cpu=3,requests.cpu=2, used: limits.cpu=6,requests.cpu=4, limited: limits.cpu=7,requests.cpu=5"
    world.wait("the API server to say so", lambda: refusal(world) == theirs)
    refused(world, "one", theirs)
    world.finish("two")
    world.started("one")
    assert not complaints(world)


def test_pods_that_do_not_say_what_the_quota_wants_to_know(world):
    wide_queue(world)
    resource_quota(world, hard={"limits.memory": "10Gi"})
    world.job("silent", requests=small())
    theirs = refusal(world, requests=small())
    assert theirs == "failed quota: compute: must specify limits.memory for: work"
    refused(world, "silent", theirs)
    world.job("exact", cpu=None, container={"resources": {"requests": small(), "limits": small()}})
    world.started("exact")
    world.api.delete(quotas_path(world, "compute"))
    world.started("silent")


def test_who_is_more_than_the_whole_quota_says_so(world):
    wide_queue(world)
    resource_quota(world, spec=NOT_BEST_EFFORT)
    world.job("wide", pods=11, requests=small())
    words = refused(world, "wide", "exceeded quota: compute, requested: pods=11, used: pods=0, limited: pods=10")
    assert "more than the whole quota" in words
    world.wait("the metrics to say so", lambda: metric(world, "jobs_beyond_resource_quota", cluster_queue=world.full("q")) == 1)
    world.job("narrow", pods=10, requests=small())
    world.started("narrow")
    raise_quota(world, pods="21")
    world.started("wide")
    world.wait("the metrics to say so", lambda: metric(world, "jobs_beyond_resource_quota", cluster_queue=world.full("q")) == 0)


@pytest.fixture
def sleeping(world):
    """The Job controller sleeps: who is started has no pods yet."""
    world.box.kill("kube-controller-manager", signal.SIGSTOP)
    yield
    world.box.kill("kube-controller-manager", signal.SIGCONT)


def test_killed_between_the_start_and_the_pods_nothing_collides(world, request):
    wide_queue(world)
    resource_quota(world, spec=NOT_BEST_EFFORT)
    request.getfixturevalue("sleeping")
    world.job("first", pods=6, requests=small())
    world.wait_job("first", "to be let run", lambda j: not j["spec"]["suspend"])
    world.box.kill("controller-one")
    world.job("second", pods=6, requests=small())
    world.box.start("controller-one")
    wait_leading(world.box)
    # The quota's status still says 0.
    refused(world, "second", "exceeded quota: compute, requested: pods=6, used: pods=6, limited: pods=10")
    world.job("third", pods=4, requests=small())
    world.wait_job("third", "to be let run", lambda j: not j["spec"]["suspend"])
    assert world.api.get(quotas_path(world, "compute"))["status"]["used"]["pods"] == "0"
    world.box.kill("kube-controller-manager", signal.SIGCONT)
    world.started("first", "third")
    refused(world, "second")
    world.finish("first")
    world.started("second")
    assert not complaints(world)


# ---- nodes ---------------------------------------------------------------------------------------


def schedulers_words(world, like):
    """Of a pod as the Job's would be: what the scheduler says of it, without what it says of preemption."""
    name = f"{PROBE}{next(_probes)}"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": like}
    world.api.post(f"/api/v1/namespaces/{world.ns}/pods", pod)
    said = world.wait(f"the scheduler to look at {name}", lambda: next((c["message"] for c in world.api.get(
        f"/api/v1/namespaces/{world.ns}/pods/{name}")["status"].get("conditions", []) if c.get("reason") == "Unschedulable"), None))
    world.api.delete(f"/api/v1/namespaces/{world.ns}/pods/{name}?gracePeriodSeconds=0")
    return said.partition(". ")[0].rstrip(".")


def words_agree(world, name, like):
    """Until Sluice says of the Job what the scheduler says of such a pod. Both count the nodes of the whole cluster,
    from which those of another test may be going just now."""
    both = [None, None]

    def same():
        both[:] = world.waits(name, "NoNodeSuits")["sentence"], schedulers_words(world, like)
        return both[0].startswith(NOWHERE) and both[1] in both[0]
    try:
        world.wait("Sluice and the scheduler to say the same", same)
    except AssertionError as e:
        raise AssertionError(f"{e}\n{both[0]}\n{both[1]}") from None
    return both[0]


def as_started(pool, requests=None, **spec):
    """The pod that a start through the pool's flavor makes."""
    return {"nodeSelector": {OWN: pool.label, **spec.pop("nodeSelector", {})}, "tolerations": [pool.toleration],
            "containers": [{"name": "work", "image": "busybox", "resources": {"requests": requests or {"cpu": "1"}}}], **spec}


SUITED_NOWHERE = {
    "too large for each node": ({"requests": {"cpu": "5"}}, {"cpu": "8"}),
    "of a selector that no node has": ({"pod": {"nodeSelector": {"disk": "fast"}}}, {"labels": {"disk": "fast"}}),
    "of an affinity that no node meets": ({"pod": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "gpus", "operator": "Gt", "values": ["1"]}]}]}}}}}, {"labels": {"gpus": "2"}}),
}


@pytest.mark.parametrize("case", SUITED_NOWHERE, ids=lambda c: c.replace(" ", "-"))
def test_who_fits_no_node_waits_with_the_schedulers_words_and_starts_when_one_comes(world, pool, case):
    asked, node = SUITED_NOWHERE[case]
    pool.add(2, labels={"gpus": "1"} if "affinity" in case else None)
    world.queue(flavors={pool.flavor: 100}, queueingStrategy="StrictFIFO")
    world.job("lost", **asked)
    said = words_agree(world, "lost", as_started(pool, asked.get("requests"), **asked.get("pod", {})))
    assert "nodes: Autoscaled" in said
    world.wait("the metric to count it", lambda: metric(world, "jobs_no_node_suits", cluster_queue=world.full("q")) == 1)
    world.job("next", pods=4)
    world.started("next")  # nobody waits behind it
    pool.add(**node)
    world.started("lost")
    placed(world, "lost")
    world.wait("the metric to be 0 again", lambda: metric(world, "jobs_no_node_suits", cluster_queue=world.full("q")) == 0)
    assert not homeless(world)


def test_a_taint_that_the_job_does_not_tolerate_is_said_and_one_that_goes_lets_it_start(world, pool):
    (node,) = pool.add(taints=[{"key": "maintenance", "value": "disk", "effect": "NoSchedule"}])
    world.queue(flavors={pool.flavor: 100})
    world.job("plain")
    assert "untolerated taint" in words_agree(world, "plain", as_started(pool))
    world.job("tolerant", pod={"tolerations": [{"key": "maintenance", "operator": "Exists"}]})
    world.started("tolerant")
    placed(world, "tolerant")
    own = [{"key": OWN, "value": pool.label, "effect": "NoSchedule"}]
    world.api.patch(f"/api/v1/nodes/{node}", {"spec": {"taints": own}})
    world.started("plain")
    placed(world, "plain")
    assert not complaints(world, "FailedCreate")


def test_a_cordon_is_lifted_some_day(world, pool):
    """So it is no reason to call the Job one that fits nowhere."""
    (node,) = pool.add()
    world.queue(flavors={pool.flavor: 100}, clusterFit="Now")
    # With a label in the same write, without which it is none of the Job's: who knows of the label knows of the cordon.
    world.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"disk": "new"}}, "spec": {"unschedulable": True}})
    world.wait("the cordon to be tainted", lambda: not pool.ready(node))
    world.job("patient", pod={"nodeSelector": {"disk": "new"}})
    world.waits("patient", "NodesFull")
    assert not complaints(world)
    world.api.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})
    world.started("patient")
    placed(world, "patient")
    assert not complaints(world, *NOT_THE_SCHEDULER)


def test_of_two_flavors_the_one_whose_nodes_can_take_it(world, pool):
    """The first has quota enough, but nodes that are too small."""
    large = Pool(world, "large")
    pool.add(2, cpu="2")
    large.add(1, cpu="16")
    world.queue(flavors={pool.flavor: 100, large.flavor: 100})
    world.job("small", cpu="2")
    world.started("small")
    world.job("large", cpu="8")
    world.started("large")
    assert story(world.get("small"))["flavors"] == {"cpu": pool.flavor}
    assert story(world.get("large"))["flavors"] == {"cpu": large.flavor}
    placed(world, "small", "large")
    assert not complaints(world)


def test_with_now_all_pods_find_room_or_none_starts(world, pool):
    """Eight pods that make no sense apart, on nodes that have room for five of them."""
    pool.add(2)
    world.queue(flavors={pool.flavor: 100}, clusterFit="Now")
    pool.occupy("web", 3)
    all_seen(world)
    world.job("whole", pods=8)
    world.waits("whole", "NodesFull")  # at first, it may be, until all pods are known
    world.wait("its figures", lambda: "its 8 pods need room at once, and the nodes have room for 5 now" in world.explain("whole")["sentence"], about="whole")
    world.job("part", pods=5)
    world.started("part")  # BestEffortFIFO lets it pass
    placed(world, "part")
    world.job("more")
    world.waits("more", "NodesFull")  # what was let in counts, bound or not
    world.delete("more")  # else it would take the first room that comes
    world.finish("part")
    world.waits("whole", "NodesFull")
    assert not complaints(world)
    pool.vacate("web")
    world.started("whole")
    placed(world, "whole")
    assert not complaints(world, *NOT_THE_SCHEDULER)


def test_with_now_a_job_that_may_run_smaller_takes_the_room_there_is(world, pool):
    """Twenty pods of one cpu on two nodes of four; on one, if the gate has not heard of the other."""
    pool.add(2)
    world.queue(flavors={pool.flavor: 100}, clusterFit="Now")
    world.job("elastic", pods=20, annotations={"sluice.dev/min-parallelism": "2"})
    world.started("elastic")
    assert 2 <= world.get("elastic")["spec"]["parallelism"] <= 8
    placed(world, "elastic")
    assert not complaints(world)


def test_with_now_the_head_of_a_strict_queue_is_not_passed(world, pool):
    pool.add(2)
    world.queue(flavors={pool.flavor: 100}, clusterFit="Now", queueingStrategy="StrictFIFO")
    pool.occupy("web", 3)
    all_seen(world)
    world.job("whole", pods=8)
    world.waits("whole", "NodesFull")
    world.job("part", pods=5)
    world.waits("part")
    assert not complaints(world)
    pool.vacate("web")
    world.started("whole")
    placed(world, "whole")
    world.waits("part")
    assert not complaints(world, *NOT_THE_SCHEDULER)


def test_with_now_many_share_full_nodes_and_no_pod_waits_for_a_node(world, pool):
    """Twenty short Jobs of one to four pods on two nodes of four cpu, with quota for all of them. The scheduler may hear of a pod's
    end later than Sluice did, and refuse the pod that takes its place at first (docs/nodes.md): on a busy machine too that is so of
    few. Without a look at the nodes all would start at once, and 40 of 50 pods wait."""
    pool.add(2)
    world.queue(flavors={pool.flavor: 100}, clusterFit="Now")
    names = [f"j{n:02d}" for n in range(20)]
    for name, pods, cpu in zip(names, itertools.cycle([3, 1, 4, 2]), itertools.cycle(["1", "2", "1"])):
        world.job(name, pods=pods, cpu=cpu, seconds=0.3)
    world.finished(*names, timeout=RECOVERY)
    found = complaints(world)
    assert {reason for reason, _, _ in found} <= {"FailedScheduling"} and len({pod for _, pod, _ in found}) <= 12, found


def test_with_ignore_it_starts_at_once_and_what_the_scheduler_says_is_told(world, pool):
    """And with Possible, where it fits when others have gone."""
    pool.add(2)
    world.queue("ignore", flavors={pool.flavor: 100}, clusterFit="Ignore")
    world.queue("possible", flavors={pool.flavor: 100})
    pool.occupy("web", 3)
    world.job("whole", "ignore", pods=8)
    world.started("whole")
    world.job("huge", "ignore", cpu="5")
    world.started("huge")
    world.job("later", "possible", pods=4)
    world.started("later")
    theirs = world.wait("the scheduler to refuse it", lambda: homeless(world, "huge"))
    assert "Insufficient cpu" in next(iter(theirs.values()))
