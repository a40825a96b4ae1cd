"""What a user does without meaning it must not stop what runs.

Each writes as its tool does: the field manager and the kind of PATCH are what kubectl, Helm and
the GitOps controllers send, so metadata.managedFields are the API server's own."""

import json

import pytest
from conftest import LATER, SOON, World, own_plane, readyz, start_controller, wait_leading
from objects import HOLD, annotations, jobs_path, story
from sandbox import wait_until
from settled import booked

MANIFEST = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": True}}


def suspend_as(world, name, manager, kind, more=""):
    """What the API server makes of it."""
    path = jobs_path(world.ns, name) + f"?fieldManager={manager}{more}"
    if kind == "replace":
        return world.wait(f"{name} to be replaced", lambda: replaced(world, name, path))
    if kind == "apply":
        return world.api.patch(path + "&force=true", {**MANIFEST, "metadata": {"name": name}}, kind)
    return world.api.patch(path, {"spec": {"suspend": True}}, kind)


def replaced(world, name, path):
    """Its status may be written in between, which is a conflict: then once more."""
    obj = world.get(name)
    obj["spec"]["suspend"] = True
    return json.loads(world.api.raw("PUT", path, obj))


def run(world, *names):
    world.queue(cpu=len(names))
    for name in names:
        world.job(name)
    world.started(*names)
    booked(world, *names)


TOOLS = {"kubectl-client-side-apply": "strategic", "kubectl": "apply", "argocd-controller": "apply", "kustomize-controller": "apply",
         "helm": "strategic", "kubectl-replace": "replace", "curl": "merge"}


def test_a_manifest_that_is_applied_again_holds_nothing(world, no_policies):
    """By each tool, where the API server does not change it back (test_reapply.py)."""
    jobs = {tool: f"by-{tool}" for tool in TOOLS}
    run(world, *jobs.values())
    for tool, name in jobs.items():
        # Each policy goes out of force by itself.
        world.wait("the API server to take that as it is", lambda t=tool, n=name: suspend_as(world, n, t, TOOLS[t], "&dryRun=All")["spec"]["suspend"])
        suspend_as(world, name, tool, TOOLS[tool])
    for name in jobs.values():
        obj = world.wait_job(name, "to be told why", lambda j: story(j)["state"] == "Stopped" or story(j)["attempt"] == 2)
        assert HOLD not in annotations(obj), name
        assert story(obj)["reason"] == "SuspendedByManifest" or story(obj)["attempt"] == 2, name
    for name in jobs.values():
        world.wait_job(name, "to run again", lambda j: not j["spec"]["suspend"] and story(j)["attempt"] == 2, timeout=30 + SOON)


@pytest.mark.parametrize("manager", ["kubectl-patch", "kubectl-edit"])
def test_a_person_who_suspends_a_job_is_heeded(world, manager):
    run(world, "mine")
    suspend_as(world, "mine", manager, "strategic")
    obj = world.wait_job("mine", "to be marked as held", lambda j: HOLD in annotations(j))
    assert f"suspended by {manager} at 2" in annotations(obj)[HOLD]
    world.waits("mine", "OnHold")


# ---- the ledger is lost ----------------------------------------------------------------------


@pytest.fixture
def alone():
    """A sandbox whose ledger may be dropped."""
    with own_plane("accident") as box:
        yield box


def start(box, after):
    start_controller(box, extra=("--lease-seconds", "3", "--mass-stop-after", after))
    wait_leading(box)


def metrics(box):
    return box.controller_api().raw("GET", "/metrics").decode()


def events_of(world, name, reason):
    return [e for e in world.api.get(f"/api/v1/namespaces/{world.ns}/events")["items"]
            if e["involvedObject"]["name"] == name and e["reason"] == reason]


def test_a_ledger_that_is_lost_stops_nothing_at_once_and_each_stop_is_told(alone):
    start(alone, "1h")
    world = World(alone, "lost")
    world.queue(cpu=10)
    names = [f"r{i}" for i in range(10)]
    for name in names:
        world.job(name)
    world.started(*names)
    assert alone.process("controller-one").stop() == "ended"
    alone.sql("drop schema sluice cascade")
    start(alone, "1h")
    world.job("next")
    said = wait_until("/readyz to tell of it", lambda: "mass stop: 10 of 10" in readyz(alone)[1] and readyz(alone)[1], SOON)
    assert "nothing starts until then" in said
    world.wait("the metrics to say so", lambda: "\nsluice_mass_stop_pending 10\n" in metrics(alone))
    world.wait("it to be explained", lambda: "nothing starts at the moment" in world.explain("next")["sentence"])
    assert not any(world.get(name)["spec"]["suspend"] for name in names), "stopped before its time"
    assert world.get("next")["spec"]["suspend"]
    # The hour is over, for one that takes over with less patience: it finds what this one found.
    assert alone.process("controller-one").stop() == "ended"
    start(alone, "1s")
    for name in names:  # then all of them are, with their Events, and start again as their turn comes
        obj = world.wait_job(name, "to be stopped", lambda j: story(j)["state"] == "Stopped" or story(j)["attempt"] > 1, LATER)
        assert story(obj)["reason"] == "NotAdmitted" or story(obj)["attempt"] > 1
        world.wait(f"the Event of {name}", lambda n=name: events_of(world, n, "NotAdmitted"), LATER)
    log = alone.process("controller-one").log.read_text(errors="replace")
    assert log.count("mass-stop") >= 3 and log.count("NotAdmitted") >= 10
    evicted = f'sluice_evicted_workloads_total{{cluster_queue="{world.full("q")}",reason="NotAdmitted"}} 10'
    world.wait("the metrics to count them", lambda: evicted in metrics(alone))
    decisions = alone.controller_api("controller-one").decisions()
    assert sum("NotAdmitted" in d["text"] and d["kind"] == "Stop" for d in decisions) == 10
    world.wait("ten to run again", lambda: sum(not world.get(n)["spec"]["suspend"] for n in [*names, "next"]) == 10, LATER)


# ---- annotations are full --------------------------------------------------------------------

FULL = 262144  # bytes of keys and values that the API server takes


def fill(world, name, room):
    """So that `room` bytes are left."""
    used = sum(len(k) + len(v) for k, v in annotations(world.get(name)).items() if k != "fill")
    world.patch(name, {"metadata": {"annotations": {"fill": "x" * (FULL - room - used - len("fill"))}}})


def test_a_stop_lands_where_annotations_are_full(world):
    run(world, "full")
    fill(world, "full", 0)
    world.edit_queue(stopPolicy="HoldAndDrain")
    obj = world.wait_job("full", "to be stopped", lambda j: j["spec"]["suspend"])
    assert story(obj)["state"] == "Stopped" and "clusterQueue" not in story(obj)
    world.empty()
