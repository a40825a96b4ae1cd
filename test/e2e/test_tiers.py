"""Who goes first on a full cluster, and who has to go: tiers of priority and the five steps.

Real PriorityClasses, the real scheduler and real PodDisruptionBudgets, whose allowance the real
disruption controller counts. Each test has nodes of its own (pool.py), so that they can be full."""

import re

import pytest
from checks import look
from conftest import RECOVERY
from objects import TERMINATE_SECONDS, has, ours, path_of
from pool import Pool, all_seen, complaints, homeless, placed
from sandbox import ApiError
from test_rules import preempted, reasons, vanish

WITHIN = {"withinClusterQueue": "LowerPriority"}
RECLAIM = {"reclaimWithinCohort": "Any"}
TIERS = {"high": 1000, "middle": 0, "gap": -10, "dust": -20}


@pytest.fixture(autouse=True)
def books(world):
    yield
    faults = look(world.box, world.ns)
    assert not faults, faults


@pytest.fixture
def pool(world):
    """With the three tiers of the seed, and one below them."""
    for name, value in TIERS.items():
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        world.api.post(path, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": world.full(name)}, "value": value,
                              **({"preemptionPolicy": "Never"} if value < 0 else {})})
        world.afterwards.append(lambda n=world.full(name): world.api.delete(f"{path}/{n}"))
    return Pool(world)


def of_tier(world, tier, *names, queue="q", pod=None, **kw):
    for name in names:
        world.job(name, queue, pod={"priorityClassName": world.full(tier), **(pod or {})}, **kw)


def runs(world):
    """Names of those that are let run."""
    return {j["metadata"]["name"] for j in world.api.list(f"/apis/batch/v1/namespaces/{world.ns}/jobs") if not j["spec"]["suspend"] and not has(j, "Complete")}


# ---- three tiers on a full cluster ---------------------------------------------------------------


@pytest.mark.parametrize("fit", ["Possible", "Now"])
def test_three_tiers_on_a_full_cluster(world, pool, fit):
    """High displaces, middle fills, the negative ones take what is left and give way first. Eight cpu, on two nodes."""
    pool.add(2)
    world.queue(flavors={pool.flavor: 8}, preemption=WITHIN, clusterFit=fit)
    of_tier(world, "middle", "middle", pods=4)
    world.started("middle")
    gaps = [f"gap{n}" for n in range(5)]
    for name in gaps:
        of_tier(world, "gap", name)
        if name != "gap4":
            world.started(name)
    placed(world, "middle", *gaps[:4])
    world.waits("gap4")
    of_tier(world, "middle", "more", pods=2)
    world.started("more")
    for name in ("gap3", "gap2"):  # the youngest of the lowest
        preempted(world, name, "more", "(priority ")
    of_tier(world, "high", "urgent", pods=6)
    world.started("urgent")
    preempted(world, "middle", "urgent", "(priority ")
    assert runs(world) == {"more", "urgent"}
    placed(world, "more", "urgent")
    of_tier(world, "middle", "late", pods=2)
    world.waits("late", "WaitingForQuota")  # middle displaces nobody of its own kind
    world.finish("urgent")
    world.wait("all to be full again", lambda: runs(world) >= {"more", "middle", "late"})
    world.finish("more")
    world.wait("gaps to be filled", lambda: len(runs(world) & set(gaps)) == 2)
    assert not [c for c in complaints(world) if "gap" in c[1]] and not homeless(world)
    assert not [c for c in complaints(world) if c[0] != "FailedScheduling"]


def test_a_gap_filler_is_never_pending_for_want_of_a_node(world, pool):
    """There is quota, and with clusterFit Possible everybody else is let in and brings an autoscaler to its feet."""
    pool.add(2)
    world.queue(flavors={pool.flavor: 100})
    pool.occupy("web", 3)
    all_seen(world)
    gaps = [f"gap{n}" for n in range(7)]
    of_tier(world, "gap", *gaps)
    world.wait("five to run", lambda: len(runs(world)) == 5)
    placed(world, *runs(world))
    for name in set(gaps) - runs(world):
        assert world.waits(name, "NodesFull")
    of_tier(world, "gap", "wide", pods=2)
    world.waits("wide", "NodesFull")
    pool.vacate("web")
    world.started(*gaps)
    placed(world, *gaps)
    world.finish("gap0", "gap1")
    world.started("wide")
    placed(world, "wide")
    assert not complaints(world)


def test_gap_fillers_come_and_go_and_none_of_their_pods_waits_for_a_node(world, pool):
    """They fill what others leave, be the queue's clusterFit Ignore. The others only go: kube-scheduler would
    put a newcomer where a gap filler was just let in, and no look at the nodes can know of it beforehand."""
    pool.add(2)
    world.queue(flavors={pool.flavor: 100}, clusterFit="Ignore")
    for n in range(5):
        pool.occupy(f"web{n}", 1)
    all_seen(world)
    names = [f"gap{n:02d}" for n in range(12)]
    for n, name in enumerate(names):
        of_tier(world, "gap", name, pods=1 + n % 3, seconds=0.3)
        if n % 3 == 2:
            pool.vacate(f"web{n // 3}")
    world.finished(*names, timeout=RECOVERY)
    assert not complaints(world)


def test_a_gap_filler_never_preempts_not_even_a_lesser_one(world, pool):
    pool.add()
    world.queue(flavors={pool.flavor: 4}, preemption={"withinClusterQueue": "LowerOrNewerEqualPriority"})
    of_tier(world, "dust", "dust", pods=4)
    world.started("dust")
    of_tier(world, "gap", "gap", pods=2)
    world.waits("gap", "WaitingForQuota", "NodesFull")
    of_tier(world, "middle", "middle", pods=2)
    world.started("middle")
    preempted(world, "dust", "middle", "(priority ")
    world.started("gap")
    placed(world, "middle", "gap")
    assert reasons(world) == [["dust", "Preempted"]] and not [c for c in complaints(world) if "gap" in c[1]]


def test_what_a_gap_filler_borrowed_is_taken_back_by_whoever_it_belongs_to(world, pool):
    """Also by a queue that never takes back from others."""
    pool.add(2)
    world.queue("owner", flavors={pool.flavor: 4}, cohort="all", preemption={"reclaimWithinCohort": "Never"})
    world.queue("guest", flavors={pool.flavor: 4}, cohort="all")
    of_tier(world, "gap", "gap", queue="guest", pods=6)
    of_tier(world, "middle", "plain", queue="guest", pods=2)
    world.started("gap", "plain")
    of_tier(world, "middle", "mine", queue="owner", pods=4)
    world.started("mine")
    preempted(world, "gap", "mine", f"takes back quota that ClusterQueue {world.full('guest')} had borrowed")
    placed(world, "mine", "plain")
    world.waits("gap")
    assert not homeless(world)


# ---- whom a preemptor displaces: the five steps -----------------------------------------------------


def budget(world, name, job, min_available):
    """A PodDisruptionBudget for the pods of one Job."""
    world.api.post(f"/apis/policy/v1/namespaces/{world.ns}/poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": {"batch.kubernetes.io/job-name": job}}}})


def counted(world, name, healthy, allowed):
    world.wait(f"PodDisruptionBudget {name} to be counted", lambda: (lambda s: (s.get("currentHealthy"), s.get("disruptionsAllowed")) == (healthy, allowed))(
        world.api.get(f"/apis/policy/v1/namespaces/{world.ns}/poddisruptionbudgets/{name}").get("status", {})))


# step: (those that run, in the order of their starts: {name: (priority, pods, cpu of each)}; budgets {Job: (minAvailable, allowed)};
#        who is stopped for one of 2 cpu, and who would be without the step)
STEPS = {
    "fewest budgets broken":
        ({"old": (5, 2, 1), "young": (5, 2, 1)}, {"young": (2, 0)}, {"old"}, {"young"}),
    "fewest pods beyond a budget":
        ({"old": (5, 2, 1), "young": (5, 2, 1)}, {"old": (1, 1), "young": (2, 0)}, {"old"}, {"young"}),
    "lowest highest priority":
        ({"a": (1, 1, 1), "b": (4, 1, 1), "high": (5, 1, 2)}, {}, {"a", "b"}, {"high"}),
    "lowest sum of priorities":
        ({"a": (1, 1, 1), "b": (5, 1, 1), "wide": (5, 2, 1)}, {}, {"a", "b"}, {"wide"}),
    "fewest pods":
        ({"large": (5, 1, 2), "wide": (5, 2, 1)}, {}, {"large"}, {"wide"}),
    "latest start":
        ({"old": (5, 2, 1), "young": (5, 2, 1)}, {}, {"young"}, {"old"}),
}


@pytest.mark.parametrize("step", STEPS, ids=lambda s: s.replace(" ", "-"))
def test_who_is_displaced(world, pool, step):
    running, budgets, stopped, _ = STEPS[step]
    pool.add(2)
    world.priorities(urgent=10, **{f"p{p}": p for p, _, _ in running.values()})
    world.queue(flavors={pool.flavor: sum(pods * cpu for _, pods, cpu in running.values())}, preemption=WITHIN)
    for name, (least, _) in budgets.items():
        budget(world, name, name, least)
    for name, (priority, pods, cpu) in running.items():
        world.job(name, pods=pods, cpu=cpu, priority=f"p{priority}")
        world.started(name)
        placed(world, name)
        world.wait("the pods to be ready", lambda n=name: world.get(n)["status"].get("ready") == running[n][1])
    for name, (_, allowed) in budgets.items():
        counted(world, name, running[name][1], allowed)
    if budgets:
        all_seen(world)
    world.job("urgent", cpu=2, priority="urgent")
    world.started("urgent")
    assert set(running) - runs(world) == stopped
    for name in stopped:
        preempted(world, name, "urgent", "(priority ")


def test_the_wait_for_those_that_stop_is_told(world, pool, program):
    pool.add(2)
    world.priorities(low=1, high=10)
    world.queue(flavors={pool.flavor: 4}, preemption=WITHIN)
    for name, grace in (("short", 30), ("long", 90), ("other", 10)):
        world.job(name, priority="low", pod={"terminationGracePeriodSeconds": grace}, pod_annotations={TERMINATE_SECONDS: "3600"})
        world.started(name)
    world.job("urgent", pods=4, priority="high")
    world.waits("urgent", "WaitingForPreemptedWorkloads")
    world.wait("all three to be told of", lambda: re.search(r"\b3 Jobs that are being stopped .*up to 1m30s ", world.explain("urgent")["sentence"]), about="urgent")
    at = {"KUBECONFIG": str(world.box.kubeconfig)}
    told = " ".join(program("sluice", "explain", "urgent", "-n", world.ns, env=at).stdout.split())
    assert re.search(r"\b3 Jobs that are being stopped .*up to 1m30s ", told), told
    for name in ("short", "long", "other"):
        world.wait_job(name, "to have its pod asked to end", lambda j: j["status"].get("terminating") == 1)
    vanish(world, "long")
    world.wait("the longest to be gone", lambda: re.search(r"\b2 Jobs that are being stopped .*up to 30s ", world.explain("urgent")["sentence"]))
    for name in ("short", "other"):
        vanish(world, name)
    world.started("urgent")


def test_the_wait_for_those_that_stop_is_told_by_sluice_queue_too(world, program):
    world.priorities(low=1, high=10)
    world.queue(cpu=1, preemption=WITHIN)
    world.job("victim", priority="low", pod_annotations={TERMINATE_SECONDS: "3600"})
    world.started("victim")
    world.job("urgent", priority="high")
    world.waits("urgent", "WaitingForPreemptedWorkloads")

    def listed():
        return " ".join(program("sluice", "queue", world.full("q"), env={"KUBECONFIG": str(world.box.kubeconfig)}).stdout.split())
    world.wait("sluice queue to say so", lambda: "stopping 1 Job, up to 30s" in listed(), about="urgent")


# ---- bounds of priority ---------------------------------------------------------------------------


def test_a_clusterqueue_caps_what_its_users_claim(world):
    world.priorities(modest=50, bold=1000, bolder=2000)
    world.queue(cpu=1, preemption=WITHIN, maxPriority=100)
    world.job("runs", priority="bold")
    world.started("runs")
    world.job("first", priority="bold")
    said = world.waits("first", "WaitingForQuota")
    assert said["priority"] == 100
    world.job("second", priority="bolder")
    world.waits("second", "WaitingForQuota")
    world.job("modest", priority="modest")
    world.waits("modest", "WaitingForQuota")
    world.ahead("first", "second", "modest")
    world.edit_queue(maxPriority=1500)  # for those that wait and for those that run
    world.started("second")
    preempted(world, "runs", "second", "(priority ")


def test_what_is_claimed_and_what_counts_is_told(world, program):
    world.priorities(bold=1000)
    world.queue(cpu=0, maxPriority=100)
    world.job("claims", priority="bold")
    world.wait("the class to be known", lambda: world.explain("claims")["priority"] == 100, about="claims")
    at = {"KUBECONFIG": str(world.box.kubeconfig)}
    told = " ".join(program("sluice", "explain", "claims", "-n", world.ns, env=at).stdout.split())
    assert "claims 1000" in told and "100" in told.replace("1000", ""), told


@pytest.mark.parametrize("name", ["system-cluster-critical", "system-node-critical"])
def test_the_systems_own_classes_are_not_for_queued_jobs(world, name):
    world.queue(cpu=4)
    world.job("important", pod={"priorityClassName": name})
    said = world.waits("important", "Misconfigured")["sentence"]
    assert f"spec.template.spec.priorityClassName names {name}, a class of the system" in said, said
    world.delete("important")
    world.wait("it to be gone", lambda: world.api.gone(f"/apis/batch/v1/namespaces/{world.ns}/jobs/important"))
    world.job("important")
    world.started("important")


def test_a_class_of_ours_is_bounded_as_kubernetes_bounds_its_own(world):
    path = path_of("workloadpriorityclasses")
    with pytest.raises(ApiError) as e:
        world.api.post(path, ours("WorkloadPriorityClass", world.full("endless"), value=1_000_000_001))
    assert e.value.status == 422 and "1000000000" in e.value.message, e.value
    world.api.post(path, ours("WorkloadPriorityClass", world.full("most"), value=1_000_000_000))
