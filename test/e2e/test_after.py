"""Jobs that wait for others (sluice.dev/after), with the real Job controller."""

import signal

from conftest import RECOVERY, start_controller, wait_leading
from objects import HOLD, annotations, conditions, has, jobs_path
from sandbox import ApiError, wait_until


def after(what, failure=None):
    return {"sluice.dev/after": what, **({"sluice.dev/on-dependency-failure": failure} if failure else {})}


def sentence(world, name, reason="WaitingForDependency"):
    return world.waits(name, reason)["sentence"]


def is_gone(world, name):
    try:
        world.get(name)
    except ApiError as e:
        return e.status == 404
    return False


def gone(world, name, timeout=RECOVERY):
    wait_until(f"Job {name} to be deleted", lambda: is_gone(world, name), timeout)


def ends(world, name, condition="Complete"):
    world.wait(f"{name} to be {condition}", lambda: has(world.get(name), condition), about=name)


def test_prep_then_eight_shards_then_a_report(world):
    """All of them created at once, the report first."""
    world.queue(cpu=20)
    shards = [f"shard-{i}" for i in range(8)]
    world.job("report", annotations=after("afterok:{stage=shard}, prep"))
    for name in shards:
        world.job(name, labels={"stage": "shard"}, annotations=after("prep"))
    world.wait("the report to know of the shards", lambda: "create one with these labels" not in sentence(world, "report"), about="report")
    assert "waits for prep" in sentence(world, "shard-0")
    world.job("prep", pods=2)
    world.started("prep")
    world.finish_one("prep")
    world.wait("a shard to tell how far prep is", lambda: "prep to succeed (1 of 2 pods done)" in world.explain("shard-3")["sentence"], about="shard-3")
    world.finish("prep")
    for name in shards:
        world.started(name)
    world.finish(*shards[:7])
    world.wait("the report to wait for one shard more", lambda: "7 of 8" in world.explain("report")["sentence"], about="report")
    assert world.get("report")["spec"]["suspend"]
    world.finish(shards[7])
    world.started("report")


def test_what_became_of_it_is_known_when_it_is_gone(world):
    """Deleted, or taken by its TTL, before the follower is there."""
    world.queue(cpu=8)
    world.job("deleted", seconds=1)
    world.job("ttl", seconds=1, ttlSecondsAfterFinished=0)
    world.job("failed", seconds=1, pod_annotations={"sandbox.sluice.dev/fail": "true"})
    ends(world, "deleted")
    ends(world, "failed", "Failed")
    world.delete("deleted")
    world.delete("failed")
    for name in ("deleted", "failed", "ttl"):
        gone(world, name)
    world.job("one", annotations=after("deleted, ttl, afternotok:failed, afterany:failed"))
    world.started("one")
    world.job("two", annotations=after("failed"))
    said = sentence(world, "two", "DependencyNeverSatisfied")
    assert "failed" in said and "sluice.dev/after" in said


def test_one_that_is_not_queued_counts_as_long_as_it_is_there(world):
    world.queue(cpu=8)
    world.job("plain", queue=None, seconds=3600)
    world.job("follower", annotations=after("plain"))
    world.job("second", annotations=after("after:plain"))
    world.started("second")
    assert "plain" in sentence(world, "follower")
    world.finish("plain")
    ends(world, "plain")
    world.started("follower")
    # It went before anybody waited for it: nobody can tell.
    world.job("unseen", queue=None, seconds=1)
    ends(world, "unseen")
    world.delete("unseen")
    gone(world, "unseen")
    world.job("late", annotations=after("unseen"))
    world.wait("late to say that there is none", lambda: "there is no Job of that name" in world.explain("late").get("sentence", ""), about="late")


def test_a_failure_is_told_held_or_deleted_as_the_owner_says(world):
    world.queue(cpu=8)
    world.job("prep")
    made = {failure: world.job(failure.lower(), annotations=after("prep", failure)) for failure in ("Wait", "Hold", "Delete")}
    for name in ("wait", "hold", "delete"):
        assert "waits for prep" in sentence(world, name)
    for pod in world.wait("prep to run", lambda: world.all_running("prep"), about="prep"):
        world.api.patch(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}/status", {"status": {"phase": "Failed"}})
    ends(world, "prep", "Failed")
    assert "prep failed (BackoffLimitExceeded" in sentence(world, "wait", "DependencyNeverSatisfied")
    gone(world, "delete")
    held = world.wait("the hold", lambda: annotations(world.get("hold")).get(HOLD), about="hold")
    assert held.startswith("it can never start: ") and "prep failed (BackoffLimitExceeded" in held
    assert HOLD not in annotations(world.get("wait"))

    def told():
        return {e["reason"]: e["message"] for e in world.api.list(f"/api/v1/namespaces/{world.ns}/events")
                if e["involvedObject"].get("uid") == made["Delete"]["metadata"]["uid"]}
    wait_until("an Event of the deletion", lambda: "prep failed (BackoffLimitExceeded" in told().get("DependencyNeverSatisfied", ""), RECOVERY)
    assert "Started" not in told()
    # The name is used again, and both go on: the one as soon as its owner takes the hold off.
    world.delete("prep")
    gone(world, "prep")
    world.job("prep", seconds=1)
    world.started("wait")
    world.patch("hold", {"metadata": {"annotations": {HOLD: None}}})
    world.started("hold")


def test_a_circle_is_named_link_by_link(world):
    world.queue(cpu=8)
    world.job("a", annotations=after("b"))
    world.job("b", annotations=after("afterany:c"))
    world.job("c", annotations=after("after:a"))
    said = world.wait("a to tell of the circle", lambda: "circle" in world.explain("a").get("sentence", "") and world.explain("a"), about="a")
    assert said["reason"] == "DependencyNeverSatisfied"
    assert "a waits for b, b waits for c, c waits for a" in said["sentence"]
    world.patch("c", {"metadata": {"annotations": {"sluice.dev/after": None}}})
    world.started("c")


def test_a_leader_that_dies_between_the_end_and_the_start_after_it(world):
    """Killed before prep ends, which is gone before the next one leads: the ledger has its outcome from the one after it,
    or, where nobody saw it, says so."""
    box = world.box
    world.queue(cpu=8)
    world.job("prep")
    world.job("gone", seconds=1)
    world.job("next", annotations=after("prep"))
    world.job("also", annotations=after("gone"))
    world.started("prep")
    world.started("also")  # and that holds from now on
    ends(world, "gone")
    world.wait("the end of gone to be in the books", lambda: not world.holds("gone"))
    world.delete("gone")
    assert "waits for prep" in sentence(world, "next")
    pods = world.wait("prep to run", lambda: world.all_running("prep"), about="prep")
    box.kill("controller-one", signal.SIGKILL)
    for pod in pods:
        world.finish_pod(pod)
    wait_until("prep to be complete", lambda: has(world.get("prep"), "Complete"), RECOVERY)
    start_controller(box)
    wait_leading(box)
    world.started("next")
    world.job("third", annotations=after("gone, prep"))
    world.started("third")


OUTCOMES = "sluice.dev/after-outcomes"


def written(world, name, words):
    world.wait_job(name, f"to have {words} written on it", lambda j: words in annotations(j).get(OUTCOMES, ""))


def test_what_has_held_and_what_failed_outlives_the_controller(world):
    """A predecessor that is not queued and gone; a member of a selector that failed and was deleted."""
    box = world.box
    world.queue(cpu=2)
    world.job("full", cpu=2)
    world.started("full")
    world.job("prep", queue=None, seconds=3600)
    world.job("next", annotations=after("prep"))
    for name in ("shard-1", "shard-3"):
        world.job(name, queue=None, labels={"stage": "shard"}, seconds=1,
                  pod_annotations={"sandbox.sluice.dev/fail": "true"} if name == "shard-3" else {})
    world.job("report", annotations=after("afterok:{stage=shard}"))
    ends(world, "shard-1")
    ends(world, "shard-3", "Failed")
    world.finish("prep")
    ends(world, "prep")
    written(world, "next", "holds prep")
    written(world, "report", "member failed shard-3")
    box.kill("controller-one", signal.SIGKILL)
    for name in ("prep", "shard-3"):
        world.delete(name)
        gone(world, name)
    start_controller(box)
    wait_leading(box)
    world.finish("full")
    world.started("next")
    assert "shard-3 failed" in sentence(world, "report", "DependencyNeverSatisfied")
    assert world.get("report")["spec"]["suspend"]
    world.job("shard-3", queue=None, labels={"stage": "shard"}, seconds=1)  # created again, it replaces the one that failed
    world.started("report")


BAD = {
    "corr": ("aftercorr:prep", 'sluice.dev/after: "aftercorr:prep" waits index by index'),
    "other": ("kube-system/prep", "names a Job of another namespace"),
    "empty": ("prep,,load", "has an item that is empty"),
    "kind": ("afterwards:prep", "is of no known kind; write afterok, afterany, afternotok or after"),
    "braces": ("afterok:{batch=tuesday", "without its }"),
    "many": (",".join(["prep"] * 65), "has 65 items; at most 64"),
}


def test_what_makes_no_sense_waits_with_a_sentence(world):
    world.queue(cpu=8)
    for name, (value, _) in BAD.items():
        world.job(name, annotations=after(value))
    for name, (_, words) in BAD.items():
        assert words in sentence(world, name, "Misconfigured")
    world.patch("corr", {"metadata": {"annotations": {"sluice.dev/after": None}}})
    world.started("corr")


def test_a_cronjobs_template_carries_it(world):
    """Each Job of it waits; and of two of them one runs."""
    world.queue(cpu=8)
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}, "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {
        "metadata": {"labels": {"sluice.dev/queue-name": "q"}, "annotations": after("singleton")},
        "spec": {"template": {"metadata": {"annotations": {"sandbox.sluice.dev/run-seconds": "3600"}}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "work", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}}}}}}
    made = world.api.post(f"/apis/batch/v1/namespaces/{world.ns}/cronjobs", cron)
    template = made["spec"]["jobTemplate"]
    for name in ("nightly-1", "nightly-2"):
        world.api.post(jobs_path(world.ns), {"apiVersion": "batch/v1", "kind": "Job", "spec": template["spec"], "metadata": {
            **template["metadata"], "name": name, "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly",
                                                                        "uid": made["metadata"]["uid"], "controller": True}]}})
    world.started("nightly-1")
    world.wait("nightly-2 to tell what runs", lambda: "nightly-1 of CronJob/nightly runs" in sentence(world, "nightly-2"), about="nightly-2")
    world.finish("nightly-1")
    world.started("nightly-2")
    assert conditions(world.get("nightly-1"))
