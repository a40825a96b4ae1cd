"""What a user does without meaning it must not stop what runs.

Each writes as its tool does: the field manager and the kind of PATCH are what kubectl, Helm and
the GitOps controllers send, so metadata.managedFields are the API server's own."""

import pytest
from conftest import SOON
from objects import HOLD, annotations, jobs_path, story

MANIFEST = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": True}}


def suspend_as(world, name, manager, kind):
    path = jobs_path(world.ns, name) + f"?fieldManager={manager}"
    if kind == "replace":
        obj = world.get(name)
        obj["spec"]["suspend"] = True
        return world.api.raw("PUT", path, obj)
    if kind == "apply":
        return world.api.patch(path + "&force=true", {**MANIFEST, "metadata": {"name": name}}, kind)
    return world.api.patch(path, {"spec": {"suspend": True}}, kind)


def run(world, name):
    world.queue(cpu=1)
    world.job(name)
    world.started(name)
    world.wait("the start to be in the books", lambda: "COMMIT" in world.transfers(name))


@pytest.mark.parametrize("manager, kind", [
    ("kubectl-client-side-apply", "strategic"), ("kubectl", "apply"), ("argocd-controller", "apply"),
    ("kustomize-controller", "apply"), ("helm", "strategic"), ("kubectl-replace", "replace"), ("curl", "merge")])
def test_a_manifest_that_is_applied_again_holds_nothing(world, manager, kind):
    run(world, "mine")
    suspend_as(world, "mine", manager, kind)
    obj = world.wait_job("mine", "to be told why", lambda j: story(j)["state"] == "Stopped" or story(j)["attempt"] == 2)
    assert HOLD not in annotations(obj)
    assert story(obj)["reason"] == "SuspendedByManifest" or story(obj)["attempt"] == 2
    world.wait_job("mine", "to run again", lambda j: not j["spec"]["suspend"] and story(j)["attempt"] == 2, timeout=30 + SOON)


@pytest.mark.parametrize("manager", ["kubectl-patch", "kubectl-edit"])
def test_a_person_who_suspends_a_job_is_heeded(world, manager):
    run(world, "mine")
    suspend_as(world, "mine", manager, "strategic")
    obj = world.wait_job("mine", "to be marked as held", lambda j: HOLD in annotations(j))
    assert "suspended by somebody else" in annotations(obj)[HOLD]
    world.waits("mine", "OnHold")
