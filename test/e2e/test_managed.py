"""Flags that the other tests do not give: which Jobs are managed at all, and notices on Jobs that wait."""

import pytest
from conftest import SOON, World, own_plane, start_controller, wait_leading
from objects import QUEUE, annotations, job, jobs_path, owner_reference
from sandbox import ApiError, wait_until
from sandbox.sandbox import ROOT

POLICIES = ROOT / "deploy" / "components" / "manage-jobs-without-queue-name" / "policies.yaml"


@pytest.fixture(scope="module")
def managed():
    with own_plane("managed") as box:
        box.kubectl("apply", "--server-side", "-f", POLICIES)
        start_controller(box, extra=("--lease-seconds", "3", "--note-after", "1s", "--manage-jobs-without-queue-name",
                                     "--managed-jobs-namespace-selector", "team in (a,b)"))
        wait_leading(box)
        yield box


def suspended(world, name):
    return world.get(name)["spec"]["suspend"]


def is_kept_suspended(world, name):
    try:
        world.api.patch(jobs_path(world.ns, name) + "?dryRun=All", {"spec": {"suspend": False}})
    except ApiError as refusal:
        return "no Job runs outside one here" in refusal.message


def is_refused(world, j):
    try:
        world.api.post(jobs_path(world.ns) + "?dryRun=All", j)
    except ApiError as refusal:
        return "no Job runs outside one here" in refusal.message


def test_jobs_without_a_queue_wait_until_they_get_one(managed):
    world = World(managed, "inside")
    world.api.patch("/api/v1/namespaces/inside", {"metadata": {"labels": {"team": "a"}}})
    world.queue(cpu=1)
    wait_until("the API server to suspend Jobs without a queue", lambda: world.api.post(
        jobs_path(world.ns) + "?dryRun=All", job("probe"))["spec"].get("suspend"), SOON)
    world.job("early", queue=None)
    said = world.waits("early", "Misconfigured")
    assert "has no label sluice.dev/queue-name" in said["sentence"]
    assert "\nsluice_jobs_without_queue 1\n" in managed.controller_api().raw("GET", "/metrics").decode(), "the alert is about such Jobs, too"
    # Mutating and validating policies come into force at different moments.
    wait_until("the API server to keep Jobs without a queue suspended", lambda: is_kept_suspended(world, "early"), SOON)
    world.patch("early", {"metadata": {"labels": {QUEUE: "q"}}})
    world.started("early")
    # A Job of a Job that runs is none that may run outside a queue.
    child = job("child", suspend=False)
    child["metadata"]["ownerReferences"] = [owner_reference(world.get("early"))]
    assert world.api.post(jobs_path(world.ns), child)["spec"]["suspend"]
    with pytest.raises(ApiError) as refusal:
        world.patch("child", {"spec": {"suspend": False}})
    assert "no Job runs outside one here" in refusal.value.message
    world.waits("child", "Misconfigured")
    # Where no mutating policy can be (components/without-mutating-policy), the guard refuses what it would have suspended.
    managed.kubectl("delete", "mutatingadmissionpolicy", "sluice-suspend-unqueued-jobs")
    wait_until("the API server to refuse Jobs without a queue", lambda: is_refused(world, job("probe")), SOON)
    assert world.api.post(jobs_path(world.ns) + "?dryRun=All", job("probe", suspend=True))
    # A Job that nobody suspended, as one that ran before all this.
    managed.kubectl("delete", "--wait=true", "--ignore-not-found", "-f", POLICIES)
    wait_until("the API server to let Jobs run", lambda: not world.api.post(
        jobs_path(world.ns) + "?dryRun=All", job("probe"))["spec"].get("suspend"), SOON)
    world.job("old", queue=None)
    world.wait_job("old", "to be stopped", lambda j: j["spec"]["suspend"])
    world.waits("old", "Misconfigured")


def test_other_namespaces_are_left_alone_until_they_are_labelled(managed):
    world = World(managed, "outside")
    world.queue(cpu=1)
    world.job("labelled")
    world.job("plain", queue=None)
    other = World(managed, "fence")  # what comes later in it was seen later
    managed.api.patch("/api/v1/namespaces/fence", {"metadata": {"labels": {"team": "a"}}})
    other.queue(cpu=1)
    other.job("j")
    other.started("j")
    assert suspended(world, "labelled")  # by the API server; nobody starts it
    assert not world.holds()
    managed.api.patch("/api/v1/namespaces/outside", {"metadata": {"labels": {"team": "b"}}})
    world.started("labelled")
    world.wait_job("plain", "to be stopped", lambda j: j["spec"]["suspend"])


def test_a_job_that_waits_says_why_on_itself_until_it_starts(managed):
    world = World(managed, "patience")
    world.api.patch("/api/v1/namespaces/patience", {"metadata": {"labels": {"team": "a"}}})
    world.queue(cpu=1)
    world.job("first")
    world.started("first")
    world.job("second")

    def says(kind):
        return world.wait_job("second", f"to say {kind} on itself", lambda j: annotations(j).get("sluice.dev/waiting", "").startswith(kind + ": "))
    assert "needs 1 cpu" in annotations(says("WaitingForQuota"))["sluice.dev/waiting"]
    world.edit_queue(stopPolicy="Hold")
    assert "is stopped" in annotations(says("Suspended"))["sluice.dev/waiting"]
    world.edit_queue(stopPolicy="None")
    world.delete("first")
    assert "sluice.dev/waiting" not in annotations(world.started("second"))
