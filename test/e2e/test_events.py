"""What `kubectl describe job` shows of us: Kubernetes Events on the Jobs.

Events are best effort; here nothing stands in their way, so each is there in the end."""

import re

import pytest
from objects import HOLD, PRIORITY, QUEUE
from settled import booked, second_is_over

MAX_RUN = "sluice.dev/max-run-seconds"


def events(world, name):
    """Asked for as kubectl describe does, and in its order: [(type, reason, message)]; each as it must be."""
    obj = world.get(name)
    meta = obj["metadata"]
    found = world.api.list(f"/api/v1/namespaces/{world.ns}/events?fieldSelector=involvedObject.kind=Job,"
                           f"involvedObject.name={name},involvedObject.uid={meta['uid']}")
    found.sort(key=lambda e: e["lastTimestamp"])
    ours = [e for e in found if e["source"].get("component") == "sluice-controller"]
    for e in ours:
        assert e["count"] == 1 and e["firstTimestamp"] == e["lastTimestamp"] >= meta["creationTimestamp"]
        assert e["involvedObject"]["apiVersion"] == "batch/v1"
    return [(e["type"], e["reason"], e["message"]) for e in ours]


def every(world, name):
    """All that anybody told of a Job, by time."""
    found = [e for e in world.api.list(f"/api/v1/namespaces/{world.ns}/events") if e["involvedObject"]["name"] == name]
    return sorted(found, key=lambda e: e["lastTimestamp"])


def told(world, name, reason):
    """Until there is one Event of that reason; its type and message."""
    ((kind, _, message),) = world.wait(f"Job {name} to have an Event {reason}", lambda: [e for e in events(world, name) if e[1] == reason], about=name)
    return kind, message


def test_a_preempted_job_is_told_by_whom(world):
    world.priorities(low=1, high=10)
    world.queue(cpu=2, preemption={"withinClusterQueue": "LowerPriority"})
    world.job("victim", pods=2, priority="low")
    world.started("victim")
    booked(world, "victim")
    made = world.wait("the Job controller to tell of its pods", lambda: [e for e in every(world, "victim") if e["reason"] == "SuccessfulCreate"])
    second_is_over(made[0]["lastTimestamp"])  # Events have whole seconds
    world.job("urgent", pods=2, priority="high")
    world.started("urgent")
    kind, message = told(world, "victim", "Preempted")
    assert kind == "Normal"
    assert re.fullmatch(rf"Stopped for {world.ns}/urgent \(priority 10, this Job's 1\): 2 pods x \d+s lost; the Job is queued again\.", message), message
    assert events(world, "urgent") == []  # a start is no news: the Job controller tells it
    # kubectl prints them by time: it was created, then preempted.
    in_order = [e["reason"] for e in every(world, "victim")]
    assert in_order.index("SuccessfulCreate") < in_order.index("Preempted")


def test_a_stopped_job_is_told_why_and_one_on_hold_what_to_do(world):
    world.queue(cpu=2)
    world.job("held")
    world.job("long", annotations={MAX_RUN: "2"})
    world.started("held")
    booked(world, "held")
    world.patch("held", {"metadata": {"annotations": {HOLD: "yes"}}})
    kind, message = told(world, "held", "Stopped")
    assert kind == "Normal" and re.search(r"\b1 pod x \d+s lost\b", message), message
    kind, message = told(world, "long", "Deactivated")
    assert kind == "Warning" and HOLD in message and MAX_RUN in message
    world.job("mine")
    world.started("mine")
    booked(world, "mine")
    world.suspend("mine")
    kind, message = told(world, "mine", "Deactivated")
    assert kind == "Warning" and HOLD in message and "suspended by kubectl-patch" in message


@pytest.mark.flags("--events", "none")
def test_without_events_nothing_is_written(world):
    world.queue(cpu=1)
    world.job("long", annotations={MAX_RUN: "1"})
    world.stopped("long")
    world.wait_job("long", "to be on hold", lambda j: HOLD in j["metadata"].get("annotations", {}))
    world.job("next")
    world.started("next")
    assert events(world, "long") == []
    assert "sluice_events_total 0\n" in world.box.controller_api().raw("GET", "/metrics").decode()


@pytest.mark.flags("--events", "all", "--note-after", "1s")
def test_with_all_events_starts_and_waiting_are_told_too(world):
    world.queue(cpu=1)
    world.job("first")
    world.started("first")
    world.job("second")
    kind, message = told(world, "first", "Started")
    assert kind == "Normal" and f"flavor {world.full('any-q')}" in message
    kind, message = told(world, "second", "Waiting")
    assert kind == "Normal" and message.startswith("WaitingForQuota: ")


@pytest.mark.flags("--note-after", "1s")
def test_a_queue_or_a_class_that_is_not_there_is_told_once(world):
    """`kubectl apply` takes both without a word: a policy cannot look them up."""
    world.queue(cpu=1)
    world.job("lost", queue="visionn")
    world.job("odd", labels={PRIORITY: "hihg"})
    kind, message = told(world, "lost", "Misconfigured")
    assert kind == "Warning" and message.startswith(f"LocalQueue {world.ns}/visionn does not exist; create it or correct")
    kind, message = told(world, "odd", "Misconfigured")
    assert kind == "Warning" and message.startswith("WorkloadPriorityClass hihg does not exist; create it or correct")
    world.patch("lost", {"metadata": {"labels": {QUEUE: "q"}}})
    world.started("lost")
    told(world, "lost", "Misconfigured")
