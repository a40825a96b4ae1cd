"""How long a run may go on, who goes first by what was used, who may pass, and fair sharing.

As in test_rules.py. A Job whose pods never get ready asks for a node that is not
there. Where time must pass between two steps, the controller's clock is set forward (later.py)."""

import re

import pytest
from checks import look
from conftest import LATER, RECOVERY, as_account
from later import Later
from objects import HOLD, annotations, conditions, group, job, jobs_path, ours, path_of, story, who
from test_cost import may
from test_rights import bind
from test_writes import Writes

MAX_RUN, EXPECTED = "sluice.dev/max-run-seconds", "sluice.dev/expected-duration"
# No flavor has the label, and the queue does not ask the nodes: so it is for the scheduler to say no.
NOWHERE, UNASKED = {"nodeSelector": {"no-such-label": "anywhere"}}, {"clusterFit": "Ignore"}
PODS_READY = ("--wait-for-pods-ready", "1s", "--requeue-backoff-base", "1s", "--requeue-backoff-max", "1s", "--requeue-backoff-limit", "2")

TIME = Later("limits")
PATIENT = (*TIME.flags, "--wait-for-pods-ready", "20m", "--pods-ready-recovery", "1s", "--requeue-backoff-base", "1h")
MINUTE = 60


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


def told(world, name, state, reason, attempt, timeout=LATER):
    return story(world.wait_job(name, f"to be told {state} {reason} {attempt}", lambda j: "sluice.dev/admission" in annotations(j) and (
        story(j)["state"], story(j)["reason"], story(j)["attempt"]) == (state, reason, attempt), timeout))


def hold(world, name, value):
    world.patch(name, {"metadata": {"annotations": {HOLD: value}}})


def ran(world, name, attempt):
    """Seconds from COMMIT to STOP of an attempt, once the ledger has both: the Job may tell of a stop before."""
    uid = world.get(name)["metadata"]["uid"]

    def seconds():
        rows = world.box.sql(f"select extract(epoch from max(at) filter (where kind = 'STOP') - max(at) filter (where kind = 'COMMIT')) "
                             f"from sluice.transfer where job_uid = '{uid}' and attempt = {attempt}")
        return [float(r[0]) for r in rows if r[0]]
    return world.wait(f"the ledger to have attempt {attempt} of {name}, from its start to its stop", seconds)[0]


def metric(world, name, **labels):
    wanted = f"sluice_{name}{{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "} "

    def row():  # the text is kept for a while, so a new queue may not be in it yet
        lines = world.box.controller_api().raw("GET", "/metrics").decode().splitlines()
        return [float(line.removeprefix(wanted)) for line in lines if line.startswith(wanted)]
    return world.wait(f"/metrics to have {wanted}", row)[0]


# ---- max-run-seconds --------------------------------------------------------------------


def test_a_job_that_runs_longer_than_it_may_is_stopped_and_put_on_hold(world):
    world.queue(cpu=1)
    world.job("long", annotations={MAX_RUN: "2"})
    told(world, "long", "Stopped", "DeactivatedDueToMaximumExecutionTimeExceeded", 1)
    obj = world.stopped("long")
    assert "max-run-seconds" in annotations(obj)[HOLD]
    said = world.waits("long", "Deactivated")["sentence"]
    assert said.startswith("Stopped at its time limit of 2s (sluice.dev/max-run-seconds) and put on hold; ") and HOLD in said
    assert ran(world, "long", 1) >= 2
    world.job("next", annotations={MAX_RUN: "3600"})
    world.started("next")
    hold(world, "long", None)
    world.waits("long", "WaitingForQuota")
    world.finish("next")
    told(world, "long", "Stopped", "DeactivatedDueToMaximumExecutionTimeExceeded", 2)
    assert ran(world, "long", 2) >= 2  # it had as much time once more


def booked(world, name):
    """Once it runs and the ledger has it: from then on its time is told by the controller's clock alone."""
    world.started(name)
    world.wait("the start to be in the books", lambda: world.transfers(name)[-1] == "COMMIT")


@pytest.mark.flags(*TIME.flags)
def test_the_time_of_all_attempts_counts(world):
    """It is held for hours in the middle; that does not count."""
    world.queue(cpu=2)
    world.job("long", annotations={MAX_RUN: str(120 * MINUTE)})
    booked(world, "long")
    TIME.forward(world.box, 70 * MINUTE)
    hold(world, "long", "a while")
    first = story(world.stopped("long"))["history"]["ranMs"] / 1000
    assert 70 * MINUTE <= first < 120 * MINUTE
    TIME.forward(world.box, 300 * MINUTE)
    hold(world, "long", None)
    booked(world, "long")
    TIME.forward(world.box, 50 * MINUTE)
    told(world, "long", "Stopped", "DeactivatedDueToMaximumExecutionTimeExceeded", 2)
    world.stopped("long")
    assert ran(world, "long", 2) < 120 * MINUTE <= ran(world, "long", 1) + ran(world, "long", 2)


@pytest.mark.flags(*TIME.flags)
def test_a_successor_does_not_begin_to_count_anew(world):
    world.queue(cpu=2)
    world.job("long", annotations={MAX_RUN: str(120 * MINUTE)})
    booked(world, "long")
    TIME.forward(world.box, 70 * MINUTE)
    world.restart()
    TIME.forward(world.box, 50 * MINUTE)
    told(world, "long", "Stopped", "DeactivatedDueToMaximumExecutionTimeExceeded", 1)
    world.stopped("long")
    assert 120 * MINUTE <= ran(world, "long", 1) < 170 * MINUTE
    # ... nor does the next one forget that it was put on hold.
    world.restart()
    assert world.waits("long", "Deactivated", "OnHold")


def test_a_queue_may_say_how_long_its_jobs_run_unless_they_do(world):
    world.queue(cpu=2, defaultMaxRunSeconds=1)
    world.job("says", annotations={MAX_RUN: "3600"})
    world.job("says-not")
    world.started("says")
    said = told(world, "says-not", "Stopped", "DeactivatedDueToMaximumExecutionTimeExceeded", 1)
    assert said["clusterQueue"] == world.full("q")
    world.stopped("says-not")
    assert not world.get("says")["spec"]["suspend"]


# ---- stopPolicy ------------------------------------------------------------------------------


def test_a_localqueue_on_hold_starts_nothing_and_lets_run_what_runs(world):
    world.queue(cpu=3)
    world.local("other", world.full("q"))
    world.job("runs")
    world.started("runs")
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"stopPolicy": "Hold"}})
    world.wait("the LocalQueue to be stopped", lambda: conditions(world.api.get(path_of("localqueues", "q", world.ns)))
               .get("Active", {}).get("reason") == "Stopped")
    world.job("waits")
    assert "Hold" in world.waits("waits", "Suspended")["sentence"]
    world.job("other", "other")
    world.started("other")
    assert not world.get("runs")["spec"]["suspend"]
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"stopPolicy": "None"}})
    world.started("waits")


def test_what_a_drained_queue_has_the_others_may_borrow(world):
    f = world.flavor()
    for name in ("a", "b"):
        world.queue(name, flavors={f: 2}, cohort="all")
    world.job("a", "a", pods=2)
    world.started("a")
    world.job("b", "b", pods=4)
    world.waits("b", "WaitingForQuota")
    world.edit_queue("a", stopPolicy="HoldAndDrain")
    world.started("b")
    assert reasons(world) == [["a", "ClusterQueueStopped"]]
    world.uses(a=0, b=4, all=4)
    world.edit_queue("a", stopPolicy="None")
    world.waits("a", "WaitingForQuota")


def limited(world, name="q", **spec):
    """A LocalQueue, made with that limit: who knows it knows the limit, while an edit may come by its watch when Jobs have started."""
    world.create("localqueues", ours("LocalQueue", name, {"clusterQueue": world.full("all"), **spec}), world.ns)
    world.wait(f"LocalQueue {name} to be known", lambda: name in world.localqueues_known())


def reasons(world):
    return world.box.sql(f"select name, reason from sluice.segment where ns = '{world.ns}' order by stopped_at")


def test_at_most_so_many_jobs_of_a_localqueue_run_and_the_next_starts_when_one_ends(world):
    world.queue("all", cpu=8)
    limited(world, maxRunning=2)
    for name in ("a", "b"):
        world.job(name)
        world.started(name)
    world.job("c")
    said = world.waits("c", "TooManyRunning")["sentence"]
    assert f"2 Jobs of LocalQueue {world.ns}/q run" in said and "spec.maxRunning is 2" in said
    world.finish("a")
    world.started("c")
    world.job("d")
    world.waits("d", "TooManyRunning")
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"maxRunning": None}})
    world.started("d")


@pytest.mark.since_kubernetes(36, "has no policy that writes who submitted a Job")
def test_each_person_runs_so_many_jobs_of_a_localqueue_and_is_told_so(world):
    world.queue("all", cpu=8)
    limited(world, limits={"perUser": {"running": 1, "waiting": 1}})
    people = {}
    for person in ("alice", "bob"):
        bind(world, person, "sluice-batch-user")
        people[person] = as_account(world.box, world.ns, person)
        world.wait("the rights to be known", lambda p=person: may(people[p], world.ns))

    def submit(person, name):
        people[person].post(jobs_path(world.ns), job(name, "q", requests={"cpu": "1"}))
    submit("alice", "a1")
    world.started("a1")
    submit("alice", "a2")
    said = world.waits("a2", "UserLimit")["sentence"]
    assert said == (f"user {who(people['alice'])} already has 1 Job running in LocalQueue {world.ns}/q, and its spec.limits.perUser.running is 1: this Job starts when it ends")
    submit("alice", "a3")
    said = world.waits("a3", "UserLimit")["sentence"]
    assert "has 1 Job in line" in said and "spec.limits.perUser.waiting is 1" in said
    submit("bob", "b1")
    world.started("b1")
    # A successor comes to the same.
    world.restart()
    world.waits("a2", "UserLimit")
    world.finish("a1")
    world.started("a2")
    world.wait("a3 to be the next", lambda: "already has 1 Job running" in world.explain("a3")["sentence"], about="a3")
    world.api.patch(path_of("localqueues", "q", world.ns), {"spec": {"limits": None}})
    world.started("a3")


# ---- use over time -----------------------------------------------------------------------------


@pytest.mark.flags("--usage-half-life", "60s")
def test_the_localqueue_that_used_less_lately_goes_first(world):
    world.priorities(high=10)
    world.queue(cpu=2, admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    world.local("greedy", world.full("q"))
    world.local("modest", world.full("q"))
    world.job("used", "greedy", pods=2, seconds=1)
    world.finished("used")
    world.job("blocker", "q", pods=2)
    world.started("blocker")
    # A successor reads back from the ledger what was used.
    world.restart()
    world.job("greedy", "greedy", pods=2, priority="high")
    world.waits("greedy", "WaitingForQuota")
    world.job("modest", "modest", pods=2)
    world.waits("modest", "WaitingForQuota")
    world.ahead("modest", "greedy")
    world.wait("the status to tell what was used", lambda: float(world.api.get(path_of("localqueues", "greedy", world.ns))
               .get("status", {}).get("fairSharing", {}).get("usage", "0")) > 0, RECOVERY)  # a new leader may have many to write
    world.finish("blocker")
    world.started("modest")
    world.waits("greedy", "WaitingForQuota")


# ---- backfill --------------------------------------------------------------------------------------


def test_with_backfill_those_pass_who_do_not_delay_the_first(world):
    world.queue(cpu=4, queueingStrategy="Backfill")
    world.job("runs", pods=2, annotations={EXPECTED: "10h"})
    world.started("runs")
    world.job("large", pods=4, annotations={EXPECTED: "1h"})
    assert "; expected start " in world.waits("large", "WaitingForQuota")["sentence"]
    world.job("unknown")
    assert EXPECTED in world.waits("unknown", "WaitingForJobAhead")["sentence"]
    world.job("too-long", annotations={EXPECTED: "20h"})
    assert "would delay" in world.waits("too-long", "WaitingForJobAhead")["sentence"]
    world.job("short", annotations={EXPECTED: "5h"})
    world.started("short")
    world.finish("short")
    world.finish("runs")
    world.started("large")
    for name in ("unknown", "too-long"):
        world.waits(name, "WaitingForQuota", "WaitingForJobAhead")


# ---- pods that do not get ready in time -----------------------------------------------------------


@pytest.mark.flags(*PODS_READY)
def test_pods_that_are_not_ready_in_time_cost_their_job_its_place_and_at_last_its_chance(world):
    world.queue(cpu=1, **UNASKED)
    writes = Writes(world)  # each of its stories lasts for a second or so
    world.job("stuck", pod=NOWHERE)
    told(world, "stuck", "Stopped", "DeactivatedDueToRequeuingLimitExceeded", 3)
    obj = world.stopped("stuck")
    assert stories(world, writes, "stuck") == [
        ("Started", "", 1, 0), ("Stopped", "PodsReadyTimeout", 1, 1), ("Started", "", 2, 1), ("Stopped", "PodsReadyTimeout", 2, 2),
        ("Started", "", 3, 2), ("Stopped", "DeactivatedDueToRequeuingLimitExceeded", 3, 0)]
    assert "not ready" in annotations(obj)[HOLD]
    assert "after 2 requeues" in world.waits("stuck", "Deactivated")["sentence"]
    world.empty()
    hold(world, "stuck", None)
    world.wait("it to be stopped once more", lambda: stories(world, writes, "stuck")[6:8] == [
        ("Started", "", 4, 0), ("Stopped", "PodsReadyTimeout", 4, 1)])


def stories(world, writes, name):
    told = [story(o) for o in writes.of(world, name) if "sluice.dev/admission" in annotations(o)]
    told = [(s["state"], s["reason"], s["attempt"], s.get("history", {}).get("requeues", 0)) for s in told]
    return [s for i, s in enumerate(told) if i == 0 or s != told[i - 1]]  # the hold is a write as well


@pytest.mark.flags(*PATIENT)
def test_while_one_backs_off_others_take_its_room(world):
    world.queue(cpu=1, **UNASKED)
    world.job("stuck", pod=NOWHERE)
    booked(world, "stuck")
    TIME.forward(world.box, 20 * MINUTE)
    told(world, "stuck", "Stopped", "PodsReadyTimeout", 1)
    said = world.waits("stuck", "BackOff")
    assert "1 time" in said["sentence"] and said["notBefore"]
    world.job("next")
    world.started("next")
    # A successor knows of the back-off by what the Job tells.
    world.restart()
    world.finish("next")
    world.finished("next")
    assert world.waits("stuck", "BackOff")["notBefore"] == said["notBefore"]


@pytest.mark.flags(*PATIENT)
def test_who_is_ready_in_time_runs_on_until_it_is_not_ready_any_more(world):
    world.queue(cpu=3, **UNASKED)
    world.job("well", pods=2)
    world.wait_job("well", "to be ready", lambda j: j["status"].get("ready") == 2)
    world.job("stuck", pod=NOWHERE)
    booked(world, "stuck")
    TIME.forward(world.box, 20 * MINUTE)
    told(world, "stuck", "Stopped", "PodsReadyTimeout", 1)
    world.restart()  # to a successor it has run for longer than it would have had time to get ready
    world.job("after")
    world.started("after")
    assert story(world.get("well"))["attempt"] == 1 and not world.get("well")["spec"]["suspend"]
    pod = world.pods("well")[0]
    conditions = [{**c, "status": "False"} if c["type"] == "Ready" else c for c in pod["status"]["conditions"]]
    world.api.patch(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}/status", {"status": {"conditions": conditions}})
    told(world, "well", "Stopped", "PodsReadyTimeout", 1)
    world.stopped("well")
    world.waits("well", "BackOff")


# ---- how requests are counted -------------------------------------------------------------------------


@pytest.mark.flags("--exclude-resource-prefixes", "example.com/free", "--transformation", "example.com/slice=example.com/credits:5;replace")
def test_resources_may_be_left_out_and_transformed(world):
    world.queue(groups=[group(["cpu", "example.com/credits"], {world.flavor(): [4, 10]})], **UNASKED)
    resources = {"cpu": "1", "example.com/slice": "1", "example.com/free-lunch": "1"}
    for name in ("a", "b"):
        world.job(name, requests=resources, container={"resources": {"requests": resources, "limits": {
            k: v for k, v in resources.items() if k != "cpu"}}})
        world.wait_job(name, "to be started", lambda j: not j["spec"]["suspend"])
    assert world.holds("a")[0][3] == {(world.full("any"), "cpu"): 1000, (world.full("any"), "example.com/credits"): 5}
    world.job("c", requests=resources, container={"resources": {"requests": resources, "limits": {
        k: v for k, v in resources.items() if k != "cpu"}}})
    assert "example.com/credits" in world.waits("c", "WaitingForQuota")["sentence"]


# ---- fair sharing -----------------------------------------------------------------------------------


def share(world, name):
    return world.clusterqueue(name).get("status", {}).get("fairSharing", {}).get("weightedShare")


@pytest.mark.flags("--fair-sharing")
def test_of_two_that_borrow_the_one_with_the_smaller_share_goes_first(world):
    """Each gets one in a round; of the fifth that is left both would take one more, and light is older."""
    f = world.flavor()
    world.cohort("all", resourceGroups=[group(["cpu"], {f: [0]})])
    world.queue("heavy", flavors={f: 0}, cohort="all", fairSharing={"weight": 2})
    world.queue("light", flavors={f: 0}, cohort="all")
    for i in range(3):
        for name in ("light", "heavy"):
            world.job(f"{name}-{i}", name)
    for i in range(3):
        for name in ("light", "heavy"):
            world.waits(f"{name}-{i}", "ExceedsMaxQuota")
    world.api.patch(path_of("cohorts", world.full("all")), {"spec": {"resourceGroups": [group(["cpu"], {f: [5]})]}})
    world.uses(heavy=3, light=2, all=5)
    world.wait("the status to tell the shares", lambda: (share(world, "heavy"), share(world, "light")) == (300, 400))


@pytest.mark.flags("--fair-sharing")
def test_who_borrows_more_than_its_share_gives_back(world):
    f = world.flavor()
    for name in ("a", "b", "c"):
        world.queue(name, flavors={f: 3}, cohort="all", preemption={"reclaimWithinCohort": "Any"})
    for i in range(9):
        world.job(f"a{i}", "a")
    world.started(*(f"a{i}" for i in range(9)))
    world.wait("the status to tell its share", lambda: share(world, "a") == 667)  # 6 of 9 that could be lent
    for i in range(5):
        world.job(f"b{i}", "b")
    # The third of c's is lent out to both: 5 and 4, since a fifth of b's would turn the tables.
    world.uses(a=5, b=4, c=0, all=9)
    world.waits("b4", "WaitingForQuota")
    said = [story(j) for j in world.api.list(jobs_path(world.ns)) if j["spec"]["suspend"] and "sluice.dev/admission" in annotations(j)]
    assert len(said) == 4 and all(s["reason"] == "Preempted" for s in said)
    a = world.full("a")
    words = sorted(re.sub(r"^.*?: its ClusterQueue ", "", s["message"]) for s in said)
    assert words == [f"comes before ClusterQueue {a} by fair sharing"] + [f"takes back quota that ClusterQueue {a} had borrowed"] * 3
    world.wait("the status to tell the shares", lambda: (share(world, "a"), share(world, "b")) == (223, 112))
    world.wait("the metrics to say so", lambda: metric(world, "cluster_queue_weighted_share", cluster_queue=world.full("a"), cohort=world.full("all")) == 223)
    world.wait("the metrics to say so", lambda: metric(world, "preempted_workloads_total", preempting_cluster_queue=world.full("b"), reason="InCohortReclamation") == 3)
    world.wait("the metrics to say so", lambda: metric(world, "preempted_workloads_total", preempting_cluster_queue=world.full("b"), reason="InCohortFairSharing") == 1)
    world.wait("the metrics to say so", lambda: metric(world, "evicted_workloads_total", cluster_queue=world.full("a"), reason="Preempted") == 4)


@pytest.mark.flags("--fair-sharing", "--fair-preemption-strategies", "LessThanOrEqualToFinalShare")
def test_without_the_second_strategy_nobody_is_stopped_for_who_would_have_more_in_the_end(world):
    f = world.flavor()
    for name in ("a", "b", "c"):
        world.queue(name, flavors={f: 3}, cohort="all", preemption={"reclaimWithinCohort": "Any"})
    world.job("small", "a", pods=4)
    world.started("small")
    world.job("large", "a", pods=5)
    world.started("large")
    world.job("five", "b", pods=5)  # would borrow 2, and leave a with 1 that it borrows, or 2 and still not fit
    world.waits("five", "WaitingForQuota")
    world.job("four", "b", pods=4)  # 1 and 1
    world.started("four")
    assert reasons(world) == [["large", "Preempted"]]
    assert not world.get("small")["spec"]["suspend"]
