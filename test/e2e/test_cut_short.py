"""Runs of which no pod is made any more, on the real Job controller: an index that failed for good, a work queue of which a
pod has succeeded. Neither is waited for, and what was stopped is not told as a success.

The controller's clock is set forward (later.py); a Job that is stopped for its pods shows that it has looked."""

import pytest
from conftest import LATER
from later import Later
from objects import HOLD, has
from settled import booked
from test_cli import ok, sluice  # noqa: F401 (sluice: a fixture)
from test_events import told as event
from test_limits import MINUTE, NOWHERE, UNASKED
from test_limits import told

TIME = Later("cut-short")
PATIENT = (*TIME.flags, "--wait-for-pods-ready", "20m", "--pods-ready-recovery", "10m", "--requeue-backoff-base", "1h")
WORK_QUEUE = {"completions": None, "backoffLimit": 6}


@pytest.fixture(scope="module", autouse=True)
def time_file():
    TIME.begin()
    yield
    TIME.end()


def ready(world, name, pods):
    world.wait_job(name, f"to have {pods} ready pods", lambda j: j["status"].get("ready") == pods)
    booked(world, name)


def fail(world, pod):
    world.api.patch(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}/status", {"status": {"phase": "Failed"}})


def others_are_stopped_for_their_pods(world):
    """Twenty minutes later, by a Job whose pods never get ready."""
    world.job("stuck", pod=NOWHERE)
    world.started("stuck")
    booked(world, "stuck")
    TIME.forward(world.box, 20 * MINUTE)
    told(world, "stuck", "Stopped", "PodsReadyTimeout", 1)


def runs_on(world, name):
    job = world.get(name)
    return not job["spec"]["suspend"] and not has(job, "Complete") and world.holds(name)


@pytest.mark.flags(*PATIENT)
def test_an_index_that_has_failed_for_good_is_not_waited_for(world):
    world.queue(cpu=3, **UNASKED)
    world.job("two", pods=2, completionMode="Indexed", backoffLimitPerIndex=0, backoffLimit=6)
    ready(world, "two", 2)
    fail(world, world.pods("two")[0])
    world.wait_job("two", "to have lost an index", lambda j: j["status"].get("failedIndexes") and j["status"].get("ready") == 1)
    others_are_stopped_for_their_pods(world)
    assert runs_on(world, "two")


@pytest.mark.flags(*PATIENT)
def test_a_work_queue_with_a_success_is_not_stopped_for_pods_that_are_never_made(world):
    world.queue(cpu=4, **UNASKED)
    world.job("wq", pods=3, **WORK_QUEUE)
    ready(world, "wq", 3)
    one, other, _ = world.pods("wq")
    world.finish_pod(one)
    world.wait_job("wq", "to have a success", lambda j: j["status"].get("succeeded") == 1)
    fail(world, other)
    world.wait_job("wq", "to have one pod left", lambda j: j["status"].get("failed") == 1 and j["status"].get("ready") == 1)
    others_are_stopped_for_their_pods(world)
    assert runs_on(world, "wq")


def test_a_work_queue_with_a_success_is_no_victim_and_a_stop_of_it_is_told(world, sluice):  # noqa: F811
    world.priorities(low=1, high=10)
    world.queue(cpu=3, preemption={"withinClusterQueue": "LowerPriority"})
    world.job("other", priority="low")
    world.started("other")
    booked(world, "other")
    world.job("wq", pods=2, priority="low", **WORK_QUEUE)  # it began last: it would go first
    ready(world, "wq", 2)
    world.job("next", annotations={"sluice.dev/after": "wq"})
    world.finish_one("wq")
    world.wait_job("wq", "to have a success", lambda j: j["status"].get("succeeded") == 1)
    said = world.wait("explain to tell what a stop would do", lambda: "if it is stopped now, it ends as Complete" in world.explain("wq")["sentence"])
    assert said

    world.job("urgent", pods=2, priority="high")
    world.started("urgent")
    told(world, "other", "Stopped", "Preempted", 1)
    assert runs_on(world, "wq")

    refused = sluice("hold", "job/wq", "-n", world.ns)
    assert refused.returncode == 2 and "Job wq goes on: if it is stopped now, it ends as Complete" in refused.stderr, refused
    assert HOLD not in world.get("wq")["metadata"].get("annotations", {})
    assert "ends as Complete: it does not run again" in ok(sluice("hold", "job/wq", "-n", world.ns, "--yes"))
    world.wait_job("wq", "to be Complete", lambda j: has(j, "Complete"), LATER)

    kind, message = event(world, "wq", "CutShort")
    assert kind == "Warning" and "it was stopped before the others had ended" in message and "(Held)" in message
    uid = world.get("wq")["metadata"]["uid"]
    rows = world.wait("the ledger to have its end", lambda: world.box.sql(
        f"select reason, job_outcome from sluice.segment where job_uid = '{uid}' and stopped_at is not null"))
    assert [tuple(r) for r in rows] == [("Held", "Failed")]
    assert "CutShort" in ok(sluice("explain", "job/wq", "-n", world.ns))
    assert "wq failed (CutShort" in world.waits("next", "DependencyNeverSatisfied")["sentence"]
