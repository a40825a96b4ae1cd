"""Queues that share: cohorts, preemption, flavors, fewer pods than asked for, priority.

As in test_admission.py, and after each test the ledger is compared with the pods,
at every node of the quota tree (sluice.audit adds it up)."""

from datetime import datetime

import pytest
from checks import look
from later import Later
from objects import HOLD, TERMINATE_SECONDS, annotations, conditions, group, has, jobs_path, path_of, story

WITHIN = {"withinClusterQueue": "LowerPriority"}
RECLAIM = {"reclaimWithinCohort": "Any"}
TIME = Later("rules")
MIN, FOLLOW = "sluice.dev/min-parallelism", "sluice.dev/completions-equal-parallelism"


@pytest.fixture(scope="module", autouse=True)
def time_file():
    TIME.begin()
    yield
    TIME.end()


@pytest.fixture(autouse=True)
def books(world):
    yield
    faults = look(world.box, world.ns)
    assert not faults, faults


def preempted(world, name, by, why):
    """Once it is stopped with no pod left; that it says for whom."""
    said = story(world.stopped(name))
    assert (said["state"], said["reason"], said["preemptor"]) == ("Stopped", "Preempted", f"{world.ns}/{by}")
    assert f"{world.ns}/{by}" in said["message"] and why in said["message"]


def reasons(world):
    """Of the runs that are over, in the order in which they ended: [[Job, why]]; each with who stopped it and what was lost."""
    rows = world.box.sql(f"select name, reason, actor, lost_ms is not null from sluice.segment where ns = '{world.ns}' order by stopped_at")
    assert all(actor and told == "t" for _, _, actor, told in rows), rows
    return [row[:2] for row in rows]


def vanish(world, name):
    """The pods that linger are gone, as if they had ended at last."""
    for pod in world.pods(name):
        world.api.delete(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")


# ---- cohorts -------------------------------------------------------------------------


def test_a_queue_borrows_what_another_does_not_use(world):
    f = world.flavor()
    for name in ("a", "b"):
        world.queue(name, flavors={f: 2}, cohort="all")
    world.job("wide", "a", pods=3)
    world.started("wide")
    world.uses(a=3, b=0, all=3)

    def told():
        reserved = [r for f in world.clusterqueue("a").get("status", {}).get("flavorsReservation", []) for r in f["resources"]]
        return [(cpu["total"], cpu.get("borrowed")) for cpu in reserved] == [("3", "1")]
    world.wait("the status to tell what is borrowed", told)
    world.job("owner", "b", pods=2)
    world.waits("owner", "WaitingForQuota")  # nobody is stopped for it: that is off unless asked for
    world.job("small", "b")
    world.started("small")
    world.uses(a=3, b=1, all=4)
    world.finish("wide")
    world.started("owner")
    world.uses(a=0, b=3, all=3)


def test_borrowing_and_lending_limits_hold(world):
    f = world.flavor()
    world.queue("lender", flavors={f: {"nominalQuota": 4, "lendingLimit": 3}}, cohort="all")
    world.queue("limited", flavors={f: {"nominalQuota": 1, "borrowingLimit": 1}}, cohort="all")
    world.queue("free", flavors={f: 1}, cohort="all")
    world.job("two", "limited", pods=2)
    world.started("two")
    world.job("more", "limited")
    world.waits("more", "WaitingForQuota")
    world.job("three", "limited", pods=3)
    assert "3 cpu" in world.waits("three", "ExceedsMaxQuota")["sentence"]
    world.job("rest", "free", pods=3)  # its own and the two that are still lent
    world.started("rest")
    world.job("last", "free")
    world.waits("last", "WaitingForQuota")
    # What it keeps to itself does not count at the cohort, whoever uses it.
    world.job("own", "lender")
    world.started("own")
    world.uses(limited=2, free=3, lender=1, all=5)


def test_a_queue_without_quota_of_its_own_lives_on_what_others_lend(world):
    f = world.flavor()
    world.queue("rich", flavors={f: 3}, cohort="all")
    world.queue("poor", flavors={f: 0}, cohort="all")
    world.job("a", "poor", pods=2)
    world.started("a")
    world.job("b", "poor", pods=2)
    assert "2 cpu" in world.waits("b", "WaitingForQuota")["sentence"]
    world.job("c", "poor", pods=4)
    assert "4 cpu" in world.waits("c", "ExceedsMaxQuota")["sentence"]
    world.finish("a")
    world.started("b")


def test_quota_hangs_on_a_tree_of_cohorts(world):
    """root(2) > east(1, borrows 2) > a(1), and root > west > b(2, lends 1)."""
    f = world.flavor()
    world.cohort("root", resourceGroups=[group(["cpu"], {f: [2]})])
    world.cohort("east", "root", resourceGroups=[group(["cpu"], {f: [{"nominalQuota": 1, "borrowingLimit": 2}]})])
    world.cohort("west", "root")
    world.queue("a", flavors={f: 1}, cohort="east")
    world.queue("b", flavors={f: {"nominalQuota": 2, "lendingLimit": 1}}, cohort="west")
    world.job("four", "a", pods=4)  # its own, that of east, and the 2 that east may borrow
    world.started("four")
    world.uses(a=4, east=4, root=4, west=0, b=0)
    world.job("more", "a")
    world.waits("more", "WaitingForQuota")
    world.job("two", "b", pods=2)  # 1 that is kept back, and 1 that is lent if nobody at home wants it
    world.started("two")
    world.uses(a=4, east=4, b=2, west=1, root=5)
    world.job("again", "b")
    world.waits("again", "WaitingForQuota")
    for name in ("root", "east", "west"):
        world.wait(f"Cohort {name} to say that all is well", lambda n=name: has(world.api.get(path_of("cohorts", world.full(n))), "Active"))


def test_a_cycle_of_cohorts_starts_nothing_and_every_member_says_so(world):
    f = world.flavor()
    world.cohort("x", "y")
    world.cohort("y", "x")
    world.queue("q", flavors={f: 2}, cohort="x", wait=False)
    world.wait_queue("q", lambda q: q["reason"] == "CohortCycle", "to be in a cycle")  # Cohorts are seen by another watch
    world.job("j")
    assert "cycle" in world.waits("j", "Suspended")["sentence"]
    for plural, name in (("cohorts", "x"), ("cohorts", "y"), ("clusterqueues", "q")):
        active = world.wait(f"{name} to say so", lambda p=plural, n=name: (lambda a: a if a.get("status") == "False" else None)(
            conditions(world.api.get(path_of(p, world.full(n)))).get("Active", {})))
        assert active["reason"] == "CohortCycle" and "cycle" in active["message"]
    world.api.patch(path_of("cohorts", world.full("y")), {"spec": {"parentName": None}})
    world.started("j")
    world.uses(q=1, x=1, y=1)


def test_a_queue_that_moves_takes_its_use_along(world):
    f = world.flavor()
    world.queue("lender", flavors={f: 2}, cohort="old")
    world.queue("mover", flavors={f: 1}, cohort="old")
    world.job("wide", "mover", pods=3)
    world.started("wide")
    world.queue("other", flavors={f: 1}, cohort="new")
    world.edit_queue("mover", cohortName=world.full("new"))
    world.uses(lender=0, old=0, mover=3, other=0, new=3)
    assert not world.get("wide")["spec"]["suspend"]
    world.job("j", "other")  # its own quota is used up by who came with more than fits
    world.waits("j", "WaitingForQuota")
    world.finish("wide")
    world.started("j")


def test_pods_that_finish_give_back_what_was_borrowed(world):
    f = world.flavor()
    world.queue("a", flavors={f: {"nominalQuota": 1, "lendingLimit": 0}}, cohort="all")
    world.queue("b", flavors={f: 3}, cohort="all")
    world.job("wide", "a", pods=4)
    world.started("wide")
    world.uses(a=4, b=0, all=3)
    world.job("owner", "b", pods=2)
    world.waits("owner", "WaitingForQuota")
    for left in (3, 2):
        world.finish_one("wide")
        world.wait(f"{left} to be held", lambda n=left: world.holds("wide")[0][3] == {(f, "cpu"): n * 1000})
    world.started("owner")
    world.uses(a=2, b=2, all=3)  # the first of a's own counts nowhere else


def test_a_cohorts_quota_lowered_under_use_stops_nobody_and_stops_growth(world):
    f = world.flavor()
    world.cohort("all", resourceGroups=[group(["cpu"], {f: [3]})])
    world.queue("a", flavors={f: 1}, cohort="all")
    for name in ("j1", "j2", "j3"):
        world.job(name, "a")
    world.started("j1", "j2", "j3")
    world.api.patch(path_of("cohorts", world.full("all")), {"spec": {"resourceGroups": [group(["cpu"], {f: [1]})]}})
    world.wait("the ledger to know", lambda: world.box.sql(
        f"select wanted, ceiling from sluice.balance where node = 'cohort/{world.full('all')}'") == [["2000", "3000"]])
    world.job("more", "a")
    world.waits("more", "WaitingForQuota")
    world.finish("j1")
    world.uses(a=2, all=2)
    world.waits("more", "WaitingForQuota")
    assert not [n for n in ("j2", "j3") if world.get(n)["spec"]["suspend"]]
    # Without the object the Cohort is there as long as somebody names it, and has what its queues bring.
    world.api.delete(path_of("cohorts", world.full("all")))
    world.wait("the ledger to know that, too", lambda: world.box.sql(
        f"select wanted, ceiling from sluice.balance where node = 'cohort/{world.full('all')}'") == [["1000", "2000"]])
    world.finish("j2", "j3")
    world.started("more")


# ---- preemption within a ClusterQueue ------------------------------------------------------


def test_the_more_important_job_takes_the_place_of_the_youngest_lesser_one(world):
    world.priorities(low=1, high=10)
    world.queue(cpu=4, preemption=WITHIN)
    for name in ("old", "young"):
        world.job(name, pods=2, priority="low")
        world.started(name)
    world.job("late", pods=2, priority="low")
    world.waits("late", "WaitingForQuota")
    world.job("urgent", pods=2, priority="high")
    world.started("urgent")
    preempted(world, "young", "urgent", "(priority ")
    assert not world.get("old")["spec"]["suspend"]
    world.uses(q=4)
    assert reasons(world) == [["young", "Preempted"]]
    world.ahead("young", "late")  # it has its old place
    world.finish("urgent")
    assert story(world.started("young"))["attempt"] == 2
    world.waits("late", "WaitingForQuota")


def test_the_pods_that_have_finished_stay_finished(world):
    world.priorities(low=1, high=10)
    world.queue(cpu=2, preemption=WITHIN)
    world.job("victim", pods=2, completions=4, priority="low")
    world.started("victim")
    world.finish("victim")
    world.wait_job("victim", "to be half done", lambda j: j["status"].get("succeeded") == 2 and j["status"].get("active") == 2)
    world.job("urgent", pods=2, priority="high")
    world.started("urgent")
    preempted(world, "victim", "urgent", "(priority ")
    world.wait("those to be left that have succeeded", lambda: [p["status"]["phase"] for p in world.api.list(
        f"/api/v1/namespaces/{world.ns}/pods?labelSelector=job-name=victim")] == ["Succeeded"] * 2)
    assert world.get("victim")["status"]["succeeded"] == 2
    world.finish("urgent")
    world.wait_job("victim", "to run again", lambda j: j["status"].get("active") == 2)
    world.finish("victim")
    assert world.wait_job("victim", "to complete", lambda j: has(j, "Complete"))["status"]["succeeded"] == 4


def test_room_that_is_made_for_one_nobody_else_gets(world):
    """The pods of the victims linger. Meanwhile others come who would fit into what is free or becomes free."""
    f = world.flavor()
    world.priorities(low=1, high=10)
    world.queue("q", flavors={f: 4}, cohort="all", preemption=WITHIN)
    world.queue("guest", flavors={f: 0}, cohort="all")
    for name in ("v1", "v2"):
        world.job(name, pods=2, priority="low", pod_annotations={TERMINATE_SECONDS: "3600"})
        world.started(name)
    world.job("urgent", pods=4, priority="high")
    world.waits("urgent", "WaitingForPreemptedWorkloads")
    for name in ("v1", "v2"):
        world.wait_job(name, "to be stopped", lambda j: j["spec"]["suspend"] and j["status"].get("terminating") == 2)
    world.job("small", "q")
    world.job("other", "guest")
    for name in ("small", "other"):
        world.waits(name, "WaitingForQuota")
    vanish(world, "v2")  # 2 of the 4 are free now, and would do for each of the others
    world.wait("v2 to be released", lambda: [h[0] for h in world.holds()] == ["v1"])
    for name in ("small", "other", "v2"):
        world.waits(name)
    world.waits("urgent", "WaitingForPreemptedWorkloads")
    vanish(world, "v1")
    world.started("urgent")
    assert world.order_of_starts() == ["v1", "v2", "urgent"]
    for name in ("small", "other", "v1", "v2"):
        world.waits(name, "WaitingForQuota")


def test_when_the_preemptor_goes_away_its_victims_come_back(world):
    world.priorities(low=1, high=10)
    world.queue(cpu=2, preemption=WITHIN)
    world.job("victim", pods=2, priority="low", pod_annotations={TERMINATE_SECONDS: "3600"})
    world.started("victim")
    world.job("urgent", pods=2, priority="high")
    world.waits("urgent", "WaitingForPreemptedWorkloads")
    world.wait_job("victim", "to be stopped", lambda j: j["spec"]["suspend"] and j["status"].get("terminating") == 2)
    world.delete("urgent")
    vanish(world, "victim")
    assert story(world.started("victim"))["attempt"] == 2


# ---- preemption in a cohort -----------------------------------------------------------------


def test_what_was_lent_is_taken_back_from_the_youngest_borrower(world):
    f = world.flavor()
    world.queue("owner", flavors={f: 2}, cohort="all", preemption=RECLAIM)
    world.queue("guest", flavors={f: 2}, cohort="all")
    for name in ("g1", "g2", "g3", "g4"):
        world.job(name, "guest")
        world.started(name)
    world.uses(owner=0, guest=4, all=4)
    world.job("mine", "owner")
    world.started("mine")
    preempted(world, "g4", "mine", f"takes back quota that ClusterQueue {world.full('guest')} had borrowed")
    assert not [n for n in ("g1", "g2", "g3") if world.get(n)["spec"]["suspend"]]
    world.uses(owner=1, guest=3, all=4)
    world.waits("g4", "WaitingForQuota")
    world.job("mine-too", "owner")
    world.started("mine-too")
    preempted(world, "g3", "mine-too", f"takes back quota that ClusterQueue {world.full('guest')} had borrowed")
    world.job("too-much", "owner")  # would have to borrow: nobody is stopped for that
    world.waits("too-much", "WaitingForQuota")
    assert not [n for n in ("g1", "g2") if world.get(n)["spec"]["suspend"]]
    world.finish("mine")
    world.wait("one to take the place", lambda: [world.get(n)["spec"]["suspend"] for n in ("too-much", "g3", "g4")].count(False) == 1)


def test_only_lower_priority_is_reclaimed_where_the_owner_says_so(world):
    f = world.flavor()
    world.priorities(low=1, high=10)
    world.queue("owner", flavors={f: 2}, cohort="all", preemption={"reclaimWithinCohort": "LowerPriority"})
    world.queue("guest", flavors={f: 0}, cohort="all")
    world.job("important", "guest", priority="high")
    world.job("lesser", "guest", priority="low")
    world.started("important", "lesser")
    world.job("mine", "owner", pods=2, priority="high")
    world.waits("mine", "WaitingForQuota")
    world.job("one", "owner", priority="high")
    world.started("one")
    preempted(world, "lesser", "one", f"takes back quota that ClusterQueue {world.full('guest')} had borrowed")
    assert not world.get("important")["spec"]["suspend"]


def test_to_borrow_a_queue_may_stop_lesser_jobs_below_a_threshold(world):
    f = world.flavor()
    world.priorities(trivial=1, low=5, high=10)
    world.queue("q", flavors={f: 1}, cohort="all", preemption={
        **RECLAIM, "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 2}})
    world.queue("owner", flavors={f: 2}, cohort="all")
    world.queue("guest", flavors={f: 0}, cohort="all")
    world.job("low", "guest", priority="low")
    world.job("trivial", "guest", priority="trivial")
    world.started("low", "trivial")
    world.job("urgent", "q", pods=2, priority="high")
    world.started("urgent")
    preempted(world, "trivial", "urgent", "borrows quota of the Cohort")
    assert not world.get("low")["spec"]["suspend"]


# ---- flavors ------------------------------------------------------------------------------


@pytest.mark.parametrize("policy, expected", [("MayStopSearch", "spot"), ("TryNextFlavor", "on-demand")])
def test_whether_to_borrow_in_the_first_flavor_or_to_try_the_next(world, policy, expected):
    flavors = {n: world.flavor(n, n) for n in ("spot", "on-demand")}
    world.queue("q", flavors={flavors["spot"]: 1, flavors["on-demand"]: 2}, cohort="all", flavorFungibility={"whenCanBorrow": policy})
    world.queue("lender", flavors={flavors["spot"]: 3}, cohort="all")
    world.job("j", pods=2)
    obj = world.started("j")
    assert story(obj)["flavors"] == {"cpu": flavors[expected]}
    assert obj["spec"]["template"]["spec"]["nodeSelector"] == {"pool": expected}
    world.wait("its pods to be placed", lambda: all(p["spec"].get("nodeName") for p in world.pods("j")))
    pools = {world.api.get(f"/api/v1/nodes/{p['spec']['nodeName']}")["metadata"]["labels"]["pool"] for p in world.pods("j")}
    assert pools == {expected}


@pytest.mark.parametrize("policy, expected", [("MayStopSearch", "spot"), ("TryNextFlavor", "on-demand")])
def test_whether_to_stop_others_in_the_first_flavor_or_to_try_the_next(world, policy, expected):
    flavors = {n: world.flavor(n, n) for n in ("spot", "on-demand")}
    world.priorities(low=1, high=10)
    world.queue(flavors={f: 1 for f in flavors.values()}, preemption=WITHIN, flavorFungibility={"whenCanPreempt": policy})
    world.job("lesser", priority="low")
    world.started("lesser")
    world.job("urgent", priority="high")
    assert story(world.started("urgent"))["flavors"] == {"cpu": flavors[expected]}
    if expected == "spot":  # who was stopped goes on in the other one, which is free
        world.wait_job("lesser", "to run again", lambda j: story(j)["attempt"] == 2 and not j["spec"]["suspend"])
        assert story(world.started("lesser"))["flavors"] == {"cpu": flavors["on-demand"]}
    assert reasons(world) == [["lesser", "Preempted"]] * (expected == "spot")
    assert not world.get("lesser")["spec"]["suspend"]


# ---- fewer pods than asked for ------------------------------------------------------------------


def test_a_job_that_can_do_with_fewer_pods_starts_with_those_that_fit(world):
    world.queue(cpu=3)
    world.job("wide", pods=5, annotations={MIN: "2"})
    obj = world.started("wide")
    assert (obj["spec"]["parallelism"], obj["spec"]["completions"]) == (3, 5)
    assert (story(obj)["pods"], story(obj)["parallelism"]) == (3, 5)
    assert world.holds("wide")[0][3] == {(world.full("any-q"), "cpu"): 3000}
    # A successor knows that it asks for more than it has.
    world.restart()
    world.patch("wide", {"metadata": {"annotations": {HOLD: "true"}}})
    obj = world.stopped("wide")
    assert (obj["spec"]["parallelism"], obj["spec"]["completions"]) == (5, 5)
    world.job("blocker", cpu=2)
    world.started("blocker")
    world.patch("wide", {"metadata": {"annotations": {HOLD: None}}})
    world.waits("wide", "WaitingForQuota")  # 1 is free, and it wants 2 at least
    world.finish("blocker")
    assert world.started("wide")["spec"]["parallelism"] == 3
    world.finish_all("wide")
    assert world.get("wide")["status"]["succeeded"] == 5


def test_the_completions_follow_where_the_job_says_so(world):
    world.queue(cpu=3)
    world.job("ranks", pods=5, completionMode="Indexed", annotations={MIN: "1", FOLLOW: "true"})
    obj = world.started("ranks")
    assert (obj["spec"]["parallelism"], obj["spec"]["completions"]) == (3, 3)
    world.patch("ranks", {"metadata": {"annotations": {HOLD: "true"}}})
    obj = world.stopped("ranks")
    assert (obj["spec"]["parallelism"], obj["spec"]["completions"]) == (5, 5)
    world.set_quota(9)
    world.patch("ranks", {"metadata": {"annotations": {HOLD: None}}})
    obj = world.started("ranks")
    assert (obj["spec"]["parallelism"], obj["spec"]["completions"]) == (5, 5)
    assert "pods" not in story(obj)


# ---- priority --------------------------------------------------------------------------------------


def test_raising_a_class_lets_those_who_wait_stop_others(world):
    world.priorities(a=1, b=1)
    world.queue(cpu=1, preemption=WITHIN)
    world.job("runs", priority="b")
    world.started("runs")
    world.job("waits", priority="a")
    world.waits("waits", "WaitingForQuota")
    world.api.patch(path_of("workloadpriorityclasses", world.full("a")), {"value": 2})
    world.started("waits")
    preempted(world, "runs", "waits", "(priority ")


def test_a_run_whose_class_is_gone_keeps_its_priority_under_the_next_leader(world):
    """The class is deleted, and the leader ends: the run's story has what counted at its start."""
    world.priorities(high=800, middle=500, highest=801)
    world.queue(cpu=1, preemption=WITHIN)
    world.job("runs", priority="high")
    world.started("runs")
    assert story(world.get("runs"))["priority"] == 800
    world.api.delete(path_of("workloadpriorityclasses", world.full("high")))
    world.restart()
    said = world.explain("runs")
    assert said["priority"] == 800 and "keeps its priority 800, recorded in its annotation sluice.dev/admission" in said["sentence"]
    world.job("waits", priority="middle")
    world.waits("waits", "WaitingForQuota")
    world.job("urgent", priority="highest")
    world.started("urgent")
    preempted(world, "runs", "urgent", "(priority ")


def test_a_job_of_negative_priority_fills_gaps_and_no_more(world):
    f = world.flavor()
    for name, value in (("gap", -10), ("nothing", -20)):
        world.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": world.full(name)}, "value": value})
    world.queue("q", flavors={f: 2}, cohort="all", preemption={**WITHIN, **RECLAIM})
    world.queue("lender", flavors={f: 2}, cohort="all", preemption=RECLAIM)
    world.job("nothing", pods=3, pod={"priorityClassName": world.full("nothing")})
    world.started("nothing")  # the gap is there, borrowed or not
    assert world.explain("nothing")["priority"] == -20  # it would wait for a class that nobody knows
    world.job("gap", pods=2, pod={"priorityClassName": world.full("gap")})
    world.waits("gap", "WaitingForQuota")  # to stop the lesser one is not for it
    world.job("owner", "lender", pods=2)
    world.started("owner")
    preempted(world, "nothing", "owner", f"takes back quota that ClusterQueue {world.full('q')} had borrowed")
    world.started("gap")
    world.uses(q=2, lender=2, all=4)
    world.job("plain", pods=2)  # of priority 0
    world.started("plain")
    preempted(world, "gap", "plain", "(priority ")


# ---- by a clock that is set forward, so at the end: the controller is started anew for it -------------


@pytest.mark.flags(*TIME.flags)
def test_a_run_is_no_victim_until_it_has_run_its_minimum(world):
    world.priorities(low=1, high=10)
    world.queue(cpu=2, preemption={**WITHIN, "minRun": "1h"})
    world.job("victim", pods=2, priority="low")
    started = story(world.started("victim"))["at"]
    world.job("urgent", pods=2, priority="high")
    world.waits("urgent", "WaitingForQuota")
    words = f"when {world.ns}/victim has run its minimum of 1h (preemption.minRun of ClusterQueue {world.full('q')})"
    world.wait("explain to say when", lambda: words in world.explain("urgent")["sentence"], about="urgent")
    assert not world.get("victim")["spec"]["suspend"]
    TIME.forward(world.box, 3600)
    world.started("urgent")
    preempted(world, "victim", "urgent", "(priority ")
    at = lambda text: datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    assert at(story(world.get("urgent"))["at"]) - at(started) >= 3599  # stories tell whole seconds
