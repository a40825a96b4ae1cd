"""Who starts, when, where and why not: on a real control plane, with real pods.

Where a rule says that something does not happen, the test waits until the
controller has said why it does not, and only then looks."""

import json
import re
import time

import pytest
from conftest import LATER, RECOVERY
from objects import (FAIL, HOLD, KUBERNETES, ORIGINAL, PRIORITY, QUEUE, SPOT_TOLERATION, TERMINATE_SECONDS, annotations, clusterqueue, group, has,
                     job, jobs_path, ours, owner_reference, path_of, story, submitter, who)
from sandbox import ApiError, wait_until
from settled import booked

pytestmark = pytest.mark.sanitized


def held(world, name, resource="cpu"):
    """What its open hold has of a resource, over all flavors; None without a hold."""
    holds = world.holds(name)
    return sum(n for (_, r), n in holds[0][3].items() if r == resource) if holds else None


def pools(world, name):
    """Where its pods run: {pool of the node}."""
    return {world.api.get(f"/api/v1/nodes/{p['spec']['nodeName']}")["metadata"]["labels"]["pool"] for p in world.pods(name)}


# ---- order -----------------------------------------------------------------------


def test_a_job_that_fits_is_started_and_its_story_told(world):
    q = world.queue(cpu=2)
    world.job("a", seconds=1)
    obj = world.started("a")
    said = story(obj)
    assert (said["state"], said["attempt"], said["clusterQueue"], said["by"]) == ("Started", 1, q, "one")
    assert obj["spec"]["template"]["metadata"]["labels"]["sluice.dev/cluster-queue-name"] == q
    world.finished("a")
    world.empty()
    assert world.transfers("a")[0] == "RESERVE"
    assert world.transfers("a")[-1] == "RELEASE"


def test_higher_priority_starts_first_then_who_came_first(world):
    world.priorities(low=1, high=10)
    world.queue(cpu=1)
    world.job("blocker")
    world.started("blocker")
    for name, priority in (("low-1", "low"), ("low-2", "low"), ("high-1", "high"), ("none", None), ("high-2", "high")):
        world.job(name, priority=priority, seconds=0)
        world.waits(name, "WaitingForQuota")
    world.ahead("high-1", "high-2", "low-1", "low-2", "none")
    world.finish("blocker")
    world.finished("high-1", "high-2", "low-1", "low-2", "none")
    assert world.order_of_starts() == ["blocker", "high-1", "high-2", "low-1", "low-2", "none"]


def test_the_pods_priority_class_counts_where_no_other_is_named(world):
    for name, value in (("small", 1), ("large", 1000)):
        world.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": world.full(name)}, "value": value})
    world.queue(cpu=1)
    world.job("blocker")
    world.started("blocker")
    for name in ("small", "large"):
        world.job(name, pod={"priorityClassName": world.full(name)})
        world.waits(name, "WaitingForQuota")
    world.ahead("large", "small")
    world.wait("both classes to be known", lambda: (world.explain("large")["priority"], world.explain("small")["priority"]) == (1000, 1))


def test_an_edited_priority_class_moves_those_who_wait(world):
    world.priorities(a=1, b=2)
    world.queue(cpu=1)
    world.job("blocker")
    world.started("blocker")
    for name in ("a", "b"):
        world.job(name, priority=name)
        world.waits(name, "WaitingForQuota")
    world.ahead("b", "a")
    world.api.patch(path_of("workloadpriorityclasses", world.full("a")), {"value": 3})
    world.ahead("a", "b")


def test_strict_fifo_lets_nobody_pass_the_first(world):
    world.queue(cpu=3, queueingStrategy="StrictFIFO")
    world.job("blocker", cpu=2)
    world.started("blocker")
    world.job("large", cpu=2)
    world.waits("large", "WaitingForQuota")
    world.job("small", cpu=1)
    assert world.waits("small", "WaitingForJobAhead")["ahead"] == 1
    world.finish("blocker")
    world.started("large", "small")


def test_best_effort_fifo_lets_the_small_pass_the_large(world):
    world.queue(cpu=3, queueingStrategy="BestEffortFIFO")
    world.job("blocker", cpu=2)
    world.started("blocker")
    world.job("large", cpu=2)
    world.waits("large", "WaitingForQuota")
    world.job("small", cpu=1)
    world.started("small")
    world.waits("large", "WaitingForQuota")


def test_all_that_fits_is_started_at_once(world):
    world.queue(cpu=12)
    for i in range(15):
        world.job(f"j{i}")
    wait = lambda: len(world.holds()) == 12 and sum(not j["spec"]["suspend"] for j in world.api.list(jobs_path(world.ns))) == 12
    world.wait("12 of 15 Jobs to be started", wait)
    assert world.wait_queue("q", lambda q: q["pending"] == 3 and q["admitted"] == 12, "to count them")


def test_two_queues_do_not_share_their_quota(world):
    world.queue("one", cpu=1)
    world.queue("two", cpu=1)
    world.job("a", "one")
    world.job("b", "two")
    world.started("a", "b")
    world.job("c", "one")
    world.waits("c", "WaitingForQuota")


def test_a_job_larger_than_the_whole_quota_is_told_so(world):
    world.queue(cpu=2)
    world.job("giant", cpu=1, pods=3)
    said = world.waits("giant", "ExceedsMaxQuota")
    assert "3 cpu" in said["sentence"] and "2 cpu" in said["sentence"]
    world.edit_queue(resourceGroups=[group(["cpu"], {world.full("any-q"): [3]})])
    world.started("giant")


# ---- flavors ---------------------------------------------------------------------


def test_pods_carry_the_flavors_directives_and_run_on_its_nodes(world):
    spot, on_demand = world.flavor("spot", "spot"), world.flavor("on-demand", "on-demand")
    world.queue(flavors={spot: 1, on_demand: 1})
    world.job("first", pod={"nodeSelector": {"kubernetes.io/os": "linux"}})
    world.started("first")
    world.job("second")
    world.started("second")
    world.wait("the pods to be placed", lambda: all(p["spec"].get("nodeName") for p in world.pods()))
    (pod,) = world.pods("first")
    assert pod["spec"]["nodeSelector"] == {"pool": "spot", "kubernetes.io/os": "linux"}
    assert any(SPOT_TOLERATION.items() <= t.items() for t in pod["spec"]["tolerations"])
    (pod,) = world.pods("second")
    assert pod["spec"]["nodeSelector"] == {"pool": "on-demand"}
    assert not [t for t in pod["spec"]["tolerations"] if t["key"] == "spot"]
    assert (pools(world, "first"), pools(world, "second")) == ({"spot"}, {"on-demand"})
    assert world.holds("first")[0][3] == {(spot, "cpu"): 1000}
    assert story(world.get("second"))["flavors"] == {"cpu": on_demand}


def test_a_job_that_moves_to_another_flavor_carries_nothing_over(world):
    spot, on_demand = world.flavor("spot", "spot"), world.flavor("on-demand", "on-demand")
    world.queue(flavors={spot: 1, on_demand: 1})
    mine = {"key": "mine", "operator": "Exists", "effect": "NoExecute"}
    world.job("mover", pod={"tolerations": [mine]})
    world.started("mover")
    assert world.get("mover")["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "spot"}
    world.patch("mover", {"metadata": {"annotations": {HOLD: "a while"}}})
    world.stopped("mover")
    world.empty()  # until then its spot quota is nobody's
    world.job("squatter")  # takes it
    world.started("squatter")
    assert list(world.holds("squatter")[0][3]) == [(spot, "cpu")]
    world.patch("mover", {"metadata": {"annotations": {HOLD: None}}})
    obj = world.started("mover")
    template = obj["spec"]["template"]["spec"]
    assert template["nodeSelector"] == {"pool": "on-demand"}
    assert template["tolerations"] == [mine]
    assert (story(obj)["attempt"], story(obj)["flavors"]) == (2, {"cpu": on_demand})
    world.wait("the pod to be placed", lambda: all(p["spec"].get("nodeName") for p in world.pods("mover")))
    assert pools(world, "mover") == {"on-demand"}
    assert json.loads(annotations(obj)[ORIGINAL])["original"]["tolerations"] == [mine]


def test_a_job_takes_only_flavors_that_suit_it(world):
    spot, on_demand = world.flavor("spot", "spot"), world.flavor("on-demand", "on-demand")
    world.queue(flavors={spot: 4, on_demand: 4})
    world.job("picky", pod={"nodeSelector": {"pool": "on-demand"}})
    world.started("picky")
    assert list(world.holds("picky")[0][3]) == [(on_demand, "cpu")]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "pool", "operator": "NotIn", "values": ["spot"]}]}]}}}
    world.job("averse", pod={"affinity": affinity})
    world.started("averse")
    assert list(world.holds("averse")[0][3]) == [(on_demand, "cpu")]
    world.job("lost", pod={"nodeSelector": {"pool": "moon"}})
    world.waits("lost", "NoMatchingFlavor")


def test_a_taint_that_nobody_tolerates_keeps_jobs_out(world):
    name = world.full("tainted")
    world.create("resourceflavors", ours("ResourceFlavor", name, {"nodeLabels": {"pool": "spot"}, "nodeTaints": [
        {"key": "spot", "value": "true", "effect": "NoSchedule"}]}))
    world.queue(flavors={name: 4})
    world.job("plain")
    assert "spot" in world.waits("plain", "NoMatchingFlavor")["sentence"]
    world.job("tolerant", pod={"tolerations": [SPOT_TOLERATION]})
    world.started("tolerant")
    world.wait("its pod to be placed", lambda: all(p["spec"].get("nodeName") for p in world.pods("tolerant")))
    assert pools(world, "tolerant") == {"spot"}


def test_several_resources_must_fit_in_the_same_flavor(world):
    spot, on_demand = world.flavor("spot", "spot"), world.flavor("on-demand", "on-demand")
    world.queue(groups=[group(["cpu", "memory"], {spot: [4, "1Gi"], on_demand: [4, "8Gi"]})])
    world.job("a", requests={"cpu": "1", "memory": "2Gi"})
    world.started("a")
    assert world.holds("a")[0][3] == {(on_demand, "cpu"): 1000, (on_demand, "memory"): 2 * 2**30}


# ---- what a Job holds --------------------------------------------------------------


def test_the_number_of_pods_is_a_quota_like_any_other(world):
    any_, count = world.flavor("any"), world.flavor("count")
    world.queue(groups=[group(["cpu"], {any_: [100]}), group(["pods"], {count: [3]})])
    world.job("two", pods=2, cpu="100m")
    world.started("two")
    world.job("another-two", pods=2, cpu="100m")
    assert "pods" in world.waits("another-two", "WaitingForQuota")["sentence"]
    world.job("one", pods=1, cpu="100m")
    world.started("one")
    assert held(world, "two", "pods") == 2


@pytest.mark.parametrize("mode", ["NonIndexed", "Indexed"])
def test_quota_is_released_as_pods_finish(world, mode):
    """Four pods; one after the other is let end, and each time its cpu is free."""
    world.queue(cpu=4)
    world.job("wide", pods=4, completionMode=mode)
    world.started("wide")
    world.wait("the hold to be that of four pods", lambda: held(world, "wide") == 4000)
    world.job("next", cpu=2)
    world.waits("next", "WaitingForQuota")
    for left in (3, 2):
        world.finish_one("wide")
        world.wait(f"the hold to be that of {left} pods", lambda n=left: held(world, "wide") == n * 1000)
    world.started("next")
    assert "SHRINK" in world.transfers("wide")


def test_a_job_with_less_parallelism_than_completions_holds_what_runs_at_once(world):
    world.queue(cpu=2)
    world.job("line", pods=2, completions=5)
    world.started("line")
    assert held(world, "line") == 2000
    world.finish_all("line")
    world.empty()


def test_a_failed_job_gives_its_quota_back(world):
    world.queue(cpu=1)
    world.job("fails", seconds=0, pod_annotations={FAIL: "true"})
    world.job("next")
    world.wait_job("fails", "to fail", lambda j: has(j, "Failed"))
    world.started("next")


@pytest.mark.parametrize("says, ends", [("SuccessCriteriaMet", "Complete"), ("FailureTarget", "Failed")])
def test_what_was_suspended_as_its_work_ended_is_let_end_without_quota(world, says, ends):
    """As a stop leaves it that lands before the Job controller has written a start time: the API server takes no end without one."""
    world.queue(cpu=1)
    world.job("runs")
    world.started("runs")
    world.job("over")
    waiting = world.waits("over", "WaitingForQuota") and world.wait_job("over", "to be known as suspended", lambda j: has(j, "Suspended"))
    now = waiting["metadata"]["creationTimestamp"]
    condition = {"type": says, "status": "True", "reason": "Test", "message": "", "lastProbeTime": now, "lastTransitionTime": now}
    world.api.patch(jobs_path(world.ns, "over") + "/status", {"status": {"conditions": waiting["status"]["conditions"] + [condition]}}, "merge")
    world.wait_job("over", f"to be {ends}", lambda j: has(j, ends))
    assert not world.transfers("over") and not world.pods("over")
    assert held(world, "runs") == 1000


def test_init_containers_count_as_the_scheduler_counts_them(world):
    world.queue(cpu=10)
    init = [{"name": "large", "image": "i", "resources": {"requests": {"cpu": "3"}}},
            {"name": "side", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}]
    world.job("a", cpu=1, pod={"initContainers": init})
    world.started("a")
    assert held(world, "a") == 3000


def test_a_limit_range_gives_requests_to_those_who_name_none(world):
    """As the API server gives them to the pods when they are made; not to those who name their own."""
    world.queue(cpu=10)
    ranges = f"/api/v1/namespaces/{world.ns}/limitranges"
    world.api.post(ranges, {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"}, "spec": {
        "limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}, "default": {"cpu": "3"}, "max": {"cpu": "4"}}]}})
    # Nobody tells when it is known, neither to us nor to the API server: until then a Job without requests holds nothing.
    world.wait("the LimitRange to be known", lambda: limits_known(world))
    world.job("plain", cpu=None)
    world.started("plain")
    assert held(world, "plain") == 2000
    assert world.pods("plain")[0]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}
    world.job("own", cpu=1)
    world.started("own")
    assert held(world, "own") == 1000
    world.job("greedy", cpu=5)  # its pods would be refused
    assert "5 cpu" in world.waits("greedy", "Misconfigured")["sentence"]
    world.api.patch(ranges + "/defaults", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "6"}}]}})
    world.started("greedy")


def test_a_pod_that_a_limit_range_of_pods_refuses_is_not_started(world):
    """For it lacks what is bounded, or its limits are out of bounds. Overhead does not count."""
    world.queue(cpu=10)
    world.api.post(f"/api/v1/namespaces/{world.ns}/limitranges", {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "whole"}, "spec": {
        "limits": [{"type": "Pod", "min": {"cpu": "1"}, "max": {"cpu": "5"}}]}})
    world.api.post("/apis/node.k8s.io/v1/runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "vm",
                                                          "metadata": {"name": world.full("vm")}, "overhead": {"podFixed": {"cpu": "250m"}}})

    def of(requests, limits):
        return {"resources": {"requests": {"cpu": requests}, "limits": {"cpu": limits}}}

    def refusal(name):
        spec = world.get(name)["spec"]["template"]["spec"]
        try:
            world.api.post(f"/api/v1/namespaces/{world.ns}/pods?dryRun=All", {"kind": "Pod", "metadata": {"name": name}, "spec": spec})
        except ApiError as e:
            return e.message
        return ""
    world.wait("the LimitRange to be known", lambda: is_misconfigured(world, cpu=99))
    for name, asks in {"silent": {}, "unlimited": {"requests": {"cpu": "2"}}, "burst": {"container": of("2", "9")}, "whole": {"pod": of("2", "2")},
                       "vm": {"container": of("5", "5"), "pod": {"runtimeClassName": world.full("vm")}}}.items():
        world.job(name, cpu=None, **asks)
    world.wait("the API server to act on it", lambda: refusal("silent"))
    assert "No request is specified" in refusal("silent") and "No limit is specified" in refusal("unlimited")
    assert "but limit is 9" in refusal("burst") and not refusal("whole") and not refusal("vm")
    assert "has no request for cpu" in world.waits("silent", "Misconfigured")["sentence"]
    assert "has no limit for cpu" in world.waits("unlimited", "Misconfigured")["sentence"]
    assert "has a limit of 9 cpu, above the max of 5" in world.waits("burst", "Misconfigured")["sentence"]
    world.started("whole", "vm")


def limits_known(world):
    """The API server gives a pod its requests, and a Job whose pods ask for more than is allowed is told so."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    made = world.api.post(f"/api/v1/namespaces/{world.ns}/pods?dryRun=All", pod)
    if made["spec"]["containers"][0]["resources"].get("requests") != {"cpu": "2"}:
        return False
    return is_misconfigured(world, cpu=99)


def is_misconfigured(world, **asks):
    """Whether a Job is told so, for a LimitRange (and not because the last one of its name is being deleted); it is made and
    deleted for each look, and larger than the queue, so that it never starts."""
    world.job("probe", **asks)
    try:
        said = world.waits("probe")
        return said["reason"] == "Misconfigured" and "LimitRange" in said["sentence"]
    finally:
        world.delete("probe")
        world.wait("the probe to be gone", lambda: not [j for j in world.api.list(jobs_path(world.ns)) if j["metadata"]["name"] == "probe"])


def test_the_overhead_of_a_runtime_class_counts(world):
    world.queue(cpu=3)
    world.api.post("/apis/node.k8s.io/v1/runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "vm",
                                                          "metadata": {"name": world.full("vm")}, "overhead": {"podFixed": {"cpu": "250m"}}})
    world.job("a", cpu=1, pods=2, pod={"runtimeClassName": world.full("vm")})
    world.started("a")
    assert held(world, "a") == 2500
    assert world.pods("a")[0]["spec"]["overhead"] == {"cpu": "250m"}
    world.job("b", cpu=1)
    assert "1 cpu" in world.waits("b", "WaitingForQuota")["sentence"]


def test_a_job_asking_for_something_no_quota_covers_waits_with_a_reason(world):
    world.queue(cpu=10)
    world.job("gpu", requests={"cpu": "1", "nvidia.com/gpu": "1"}, container={"resources": {
        "requests": {"cpu": "1", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}})
    assert "nvidia.com/gpu" in world.waits("gpu")["sentence"]


def test_quota_stays_held_until_the_last_pod_is_gone(world):
    """The pod of a stopped Job lingers; who waits for its quota waits on."""
    world.queue(cpu=1)
    world.job("lingers", pod_annotations={TERMINATE_SECONDS: "3600"})
    world.started("lingers")
    world.wait("its pod to run", lambda: world.all_running("lingers"))
    world.patch("lingers", {"metadata": {"annotations": {HOLD: "true"}}})
    world.wait_job("lingers", "to be stopped", lambda j: j["spec"]["suspend"] and j["status"].get("terminating") == 1)
    world.wait("the hold to be one that is being released", lambda: [h[2] for h in world.holds("lingers")] == ["releasing"])
    world.job("next")
    world.waits("next", "WaitingForQuota")
    world.wait("the ledger to have room only for one", lambda: held(world, "lingers") == 1000)
    (pod,) = world.pods("lingers")
    world.api.delete(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")
    world.started("next")


# ---- holding and stopping ------------------------------------------------------------


def test_a_held_job_waits_until_the_hold_is_lifted(world):
    world.queue(cpu=1)
    world.job("held", annotations={HOLD: "true"})
    world.waits("held", "OnHold")
    world.patch("held", {"metadata": {"annotations": {HOLD: "false"}}})
    world.started("held")


def test_a_hold_stops_a_running_job_and_gives_its_quota_back(world):
    world.queue(cpu=1)
    world.job("a")
    world.started("a")
    booked(world, "a")
    world.patch("a", {"metadata": {"annotations": {HOLD: "true"}}})
    obj = world.stopped("a")
    assert (story(obj)["state"], story(obj)["reason"]) == ("Stopped", "Held")
    world.job("b")
    world.started("b")
    world.waits("a", "OnHold")
    world.patch("a", {"metadata": {"annotations": {HOLD: None}}})
    world.waits("a", "WaitingForQuota")
    world.finish("b")
    world.started("a")
    assert story(world.get("a"))["attempt"] == 2


def test_a_queue_on_hold_starts_nothing_and_lets_run_what_runs(world):
    world.queue(cpu=2)
    world.job("runs")
    world.started("runs")
    world.edit_queue(stopPolicy="Hold")
    world.wait_queue("q", lambda q: q["reason"] == "Stopped", "to be stopped")
    world.job("waits")
    world.waits("waits", "Suspended")
    assert not world.get("runs")["spec"]["suspend"]
    assert [h[0] for h in world.holds()] == ["runs"]
    world.edit_queue(stopPolicy="None")
    world.started("waits")


def test_a_queue_that_is_drained_stops_what_runs_and_starts_it_again_later(world):
    world.queue(cpu=2)
    for name in ("a", "b"):
        world.job(name)
    world.started("a", "b")
    booked(world, "a", "b")
    world.edit_queue(stopPolicy="HoldAndDrain")
    for name in ("a", "b"):
        assert story(world.stopped(name))["reason"] == "ClusterQueueStopped"
    world.empty()
    world.waits("a", "Suspended")
    rows = world.box.sql(f"select reason, actor, lost_ms is not null from sluice.segment where ns = '{world.ns}'")
    assert rows == [["ClusterQueueStopped", "one", "t"]] * 2
    world.edit_queue(stopPolicy="None")
    world.started("a", "b")


def test_a_deleted_namespace_costs_the_work_of_its_pods(world):
    """Kubernetes deletes its pods first, and the Jobs when none is left."""
    world.queue(cpu=2)
    for name in ("a", "b"):
        world.job(name, backoffLimit=3)  # else they fail by the loss of their pods
    world.started("a", "b")
    world.wait("their pods to run", lambda: all(world.all_running(n) for n in ("a", "b")))
    booked(world, "a", "b")  # work counts from there
    time.sleep(1)  # of work
    world.api.delete(f"/api/v1/namespaces/{world.ns}")

    def rows():
        return world.box.sql(f"select reason, lost_ms >= 1000 from sluice.segment where ns = '{world.ns}'")
    wait_until("the runs to be in the books", lambda: len(rows()) == 2, RECOVERY)
    assert rows() == [["Deleted", "t"]] * 2


def test_a_stopped_localqueue_stops_its_own_jobs_only(world):
    world.queue(cpu=4)
    world.local("other", world.full("q"))
    world.job("a")
    world.job("b", "other")
    world.started("a", "b")
    booked(world, "a", "b")
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"stopPolicy": "HoldAndDrain"}})
    assert story(world.stopped("a"))["reason"] == "LocalQueueStopped"
    assert not world.get("b")["spec"]["suspend"]
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"stopPolicy": "None"}})
    world.started("a")


def test_a_users_own_suspension_of_a_running_job_is_respected(world):
    world.queue(cpu=1)
    world.job("mine")
    world.started("mine")
    booked(world, "mine")
    world.suspend("mine")
    obj = world.wait_job("mine", "to be marked as held", lambda j: HOLD in annotations(j))
    assert re.fullmatch(r"suspended by kubectl-patch at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ while it ran", annotations(obj)[HOLD])
    world.job("next")
    world.started("next")  # with the quota that became free
    world.waits("mine", "OnHold")
    world.finish("next")
    world.empty()
    world.waits("mine", "OnHold")
    world.patch("mine", {"metadata": {"annotations": {HOLD: None}}})
    assert story(world.started("mine"))["attempt"] == 2


# ---- Jobs that change under way --------------------------------------------------------


def test_a_deleted_waiting_job_is_forgotten(world):
    world.queue(cpu=1)
    world.job("blocker")
    world.started("blocker")
    world.job("gone")
    world.waits("gone")
    world.delete("gone")
    world.wait_queue("q", lambda q: q["pending"] == 0, "to have nobody waiting")
    world.wait("it to be forgotten", lambda: not world.box.controller_api().knows(world.ns, "gone"))


def test_deleted_running_jobs_give_their_quota_back_once_no_pod_can_be_left(world):
    """Not at once: a Job controller that has not yet seen the deletion may make pods anew."""
    world.queue(cpu=4)
    uids = {}
    for name in ("background", "foreground"):
        world.job(name, pods=2)
        uids[name] = world.started(name)["metadata"]["uid"]
    booked(world, *uids)
    world.job("next", cpu=4)
    world.waits("next", "WaitingForQuota")
    for name in uids:
        world.delete(name, name.capitalize())
    world.started("next", timeout=RECOVERY)
    world.wait("only the next to hold quota", lambda: [h[0] for h in world.holds()] == ["next"])
    assert not world.pods("background") and not world.pods("foreground")
    for name, uid in uids.items():
        ((waited,),) = world.box.sql("select extract(epoch from max(at) filter (where kind = 'RELEASE') - max(at) filter (where kind = 'STOP')) "
                                     f"from sluice.transfer where job_uid = '{uid}'")
        assert float(waited) > 5, f"{name} gave its quota back {waited} s after its deletion was seen"


def test_jobs_deleted_at_any_moment_leave_nothing_held(world):
    world.queue(cpu=4)
    for i in range(24):
        world.job(f"j{i}")
        if i % 3:
            world.delete(f"j{i - 1}", ("Background", "Foreground")[i % 2])
    for i in range(2, 24, 3):
        world.delete(f"j{i}")
    world.empty(RECOVERY)
    world.job("last", cpu=4)
    world.started("last")


def test_an_edited_waiting_job_is_judged_anew(world):
    world.queue(cpu=2)
    world.job("j", pods=3)
    world.waits("j", "ExceedsMaxQuota")
    world.patch("j", {"spec": {"parallelism": 2}})
    world.started("j")
    world.wait("the hold to be that of two pods", lambda: held(world, "j") == 2000)


def test_a_waiting_job_may_change_its_queue(world):
    world.queue("full", cpu=0)
    world.queue("free", cpu=1)
    world.job("j", "full")
    world.waits("j")
    world.patch("j", {"metadata": {"labels": {QUEUE: "free"}}})
    world.started("j")


def test_a_waiting_job_may_leave_its_queue_and_run_by_itself(world):
    world.queue(cpu=0)
    world.job("j")
    world.waits("j")
    world.patch("j", {"metadata": {"labels": {QUEUE: None}}})
    world.patch("j", {"spec": {"suspend": False}})
    world.wait_job("j", "to run", lambda j: j["status"].get("active") == 1)
    world.wait_queue("q", lambda q: q["pending"] == 0, "to have nobody waiting")
    assert not world.holds()


def test_a_running_job_is_given_no_queue_and_runs_on(world):
    """Without an admin's word (test_adopt.py)."""
    world.queue(cpu=0)
    world.job("stray", queue=None)
    world.wait_job("stray", "to run", lambda j: j["status"].get("active") == 1)
    with pytest.raises(ApiError) as refusal:
        world.patch("stray", {"metadata": {"labels": {QUEUE: "q"}}})
    assert "ask an admin for: sluice adopt" in refusal.value.message
    assert not world.get("stray")["spec"]["suspend"]
    world.patch("stray", {"spec": {"suspend": True}})
    world.wait_job("stray", "to have no pods", lambda j: has(j, "Suspended"))
    world.patch("stray", {"metadata": {"labels": {QUEUE: "q"}}})
    world.waits("stray", "ExceedsMaxQuota", "WaitingForQuota")


def test_a_waiting_job_may_get_another_priority(world):
    world.priorities(high=100)
    world.queue(cpu=1)
    world.job("blocker")
    world.started("blocker")
    for name in ("a", "b"):
        world.job(name)
        world.waits(name)
    world.patch("b", {"metadata": {"labels": {PRIORITY: world.full("high")}}})
    world.wait("b to be first", lambda: world.explain("b")["ahead"] == 0)


def test_a_running_job_that_asks_for_more_pods_is_told_no_or_accounted_for(world):
    """Real use never goes over what is held, however its owner turns the knob."""
    world.queue(cpu=2)
    world.job("j", pods=1, completions=4)
    world.started("j")
    try:
        world.patch("j", {"spec": {"parallelism": 4}})
    except ApiError as e:
        assert e.status in (403, 422)
        return
    world.wait("pods and ledger to agree", lambda: len(world.pods("j")) * 1000 <= (held(world, "j") or 0), LATER)


# ---- queues that come, go and change -----------------------------------------------------


def test_a_job_of_an_unknown_queue_waits_with_a_reason_and_starts_when_it_appears(world):
    world.job("early", "q")
    assert '"q"' in world.waits("early", "Misconfigured")["sentence"] or "q" in world.explain("early")["sentence"]
    world.local("q")
    assert world.full("q") in world.wait("the missing ClusterQueue to be named", lambda: (
        lambda s: s if world.full("q") in s else None)(world.explain("early")["sentence"]))
    name = world.full("f")
    world.create("clusterqueues", clusterqueue(world.full("q"), [group(["cpu"], {name: [1]})]))
    assert name in world.wait("the missing flavor to be named", lambda: (lambda s: s if name in s else None)(world.explain("early")["sentence"]))
    world.create("resourceflavors", ours("ResourceFlavor", name, {}))
    world.started("early")


def test_a_quota_lowered_under_use_evicts_nobody_and_stops_growth(world):
    world.queue(cpu=3)
    for name in ("a", "b"):
        world.job(name)
    world.started("a", "b")
    world.edit_queue(resourceGroups=[group(["cpu"], {world.full("any-q"): [1]})])
    world.wait("the ledger to know", lambda: world.box.sql(
        f"select wanted, ceiling from sluice.balance where node = 'cq/{world.full('q')}'") == [["1000", "2000"]])
    world.job("c")
    world.waits("c", "WaitingForQuota")
    assert not world.get("a")["spec"]["suspend"] and not world.get("b")["spec"]["suspend"]
    world.finish("a")
    world.wait("one to be left", lambda: [h[0] for h in world.holds()] == ["b"])
    world.waits("c", "WaitingForQuota")
    world.finish("b")
    world.started("c")


def test_a_raised_quota_starts_those_who_wait(world):
    world.queue(cpu=1)
    for name in ("a", "b"):
        world.job(name)
    world.started("a")
    world.waits("b", "WaitingForQuota")
    world.edit_queue(resourceGroups=[group(["cpu"], {world.full("any-q"): [2]})])
    world.started("b")


def test_only_namespaces_that_the_selector_names_may_use_a_queue(world):
    world.queue(cpu=1, namespaceSelector={"matchLabels": {"tier": "paid"}})
    world.job("j")
    assert world.ns in world.waits("j", "Misconfigured")["sentence"]
    world.api.patch(f"/api/v1/namespaces/{world.ns}", {"metadata": {"labels": {"tier": "paid"}}})
    world.started("j")


def test_a_deleted_queue_starts_nothing_more_and_its_running_jobs_end_in_peace(world):
    world.queue(cpu=2)
    world.job("runs")
    world.started("runs")
    world.api.force_away(path_of("clusterqueues", world.full("q")))
    world.wait_queue("q", lambda q: not q["exists"] and (q["reserving"], q["admitted"]) == (1, 1), "to be gone, with a Job that runs in it")
    world.job("late")
    world.waits("late", "Misconfigured")
    assert "does not exist any more" in world.explain("runs")["sentence"]
    world.wait_queue("q", lambda q: q["pending"] == 1, "to be waited for")
    assert [h[0] for h in world.holds()] == ["runs"]
    world.finish("runs")
    world.empty()


def test_the_status_of_a_queue_counts_what_waits_and_runs(world):
    world.queue(cpu=2)
    for name in ("a", "b", "c"):
        world.job(name)
    world.started("a", "b")

    def counted():
        s = world.clusterqueue().get("status", {})
        return (s.get("pendingWorkloads"), s.get("reservingWorkloads"), s.get("admittedWorkloads")) == (1, 2, 2) and s
    status = world.wait("the status of the ClusterQueue to count them", counted)
    (cpu,) = status["flavorsReservation"][0]["resources"]
    assert (cpu["name"], str(cpu["total"])) == ("cpu", "2")
    active = {c["type"]: c for c in status["conditions"]}["Active"]
    assert (active["status"], active["reason"]) == ("True", "Ready")
    assert active["observedGeneration"] == world.clusterqueue()["metadata"]["generation"]
    world.wait("the status of the LocalQueue to count them", lambda: world.api.get(path_of("localqueues", "q", world.ns))
               .get("status", {}).get("pendingWorkloads") == 1)


# ---- CronJobs ------------------------------------------------------------------------------


def test_a_cronjobs_jobs_wait_for_their_turn(world):
    """One that was due two minutes ago, so that it is made at once."""
    world.queue(cpu=1)
    path = f"/apis/batch/v1/namespaces/{world.ns}/cronjobs"
    world.api.post(path, {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "minutely"},
        "spec": {"schedule": "* * * * *", "suspend": True, "concurrencyPolicy": "Forbid",
                 "jobTemplate": {"metadata": {"labels": {QUEUE: "q"}}, "spec": job("x", "q", requests={"cpu": "1"})["spec"]}}})
    past = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 120))
    world.api.patch(f"{path}/minutely/status", {"status": {"lastScheduleTime": past}})
    world.api.patch(f"{path}/minutely", {"spec": {"suspend": False}})
    obj = world.wait("the CronJob to make a Job", lambda: (world.api.list(jobs_path(world.ns)) or [None])[0], RECOVERY)
    obj = world.started(obj["metadata"]["name"])
    assert story(obj)["clusterQueue"] == world.full("q")
    assert obj["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    if KUBERNETES >= 36:
        assert submitter(obj) == who(world.api)
    world.api.delete(f"{path}/minutely?propagationPolicy=Background")


# ---- Jobs made by Jobs ----------------------------------------------------------------------


def test_a_job_made_by_a_queued_job_waits_for_its_own_turn(world):
    world.queue(cpu=2)
    parent = world.job("parent")
    world.started("parent")
    big, child = (job(name, "q", requests={"cpu": "1"}, pods=pods) for name, pods in (("big", 50), ("child", 1)))
    for obj in (big, child):
        obj["metadata"]["ownerReferences"] = [owner_reference(parent)]
        world.api.post(jobs_path(world.ns), obj)
    # Whether the policy suspends them or nobody does: none runs on its owner's quota.
    world.started("child")
    world.wait_job("big", "to be suspended without a pod", lambda j: j["spec"]["suspend"] and not j["status"].get("active") and not j["status"].get("terminating"), LATER)
    assert sorted(h[0] for h in world.holds()) == ["child", "parent"]
    assert (world.explain("big") or {})["waiting"]
