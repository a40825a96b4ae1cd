"""Jobs that ran before they were queued: `sluice adopt` takes them into a queue without a stop, and nobody else does."""

import threading

import pytest
from conftest import LATER
from objects import LONG, QUEUE, RUN_SECONDS, STORY, annotations, jobs_path, story
from sandbox import ApiError, wait_until
from settled import second_is_over

KUEUE = "kueue.x-k8s.io/queue-name"
PERMISSION = "sluice.dev/adopt-begun-by"


def label(queue="q"):
    return {"metadata": {"labels": {QUEUE: queue}}}


def refusal(world, name):
    """The API server's words."""
    with pytest.raises(ApiError) as refused:
        world.patch(name, label())
    return refused.value.message


def runs(world, name, pods):
    world.wait_job(name, f"to run {pods} pods", lambda j: j["status"].get("active") == pods and j["status"].get("startTime"))
    return sorted(p["metadata"]["uid"] for p in world.pods(name))


def permission(world):
    return annotations(world.api.get(f"/api/v1/namespaces/{world.ns}")).get(PERMISSION)


def permit(world, moment):
    world.api.patch(f"/api/v1/namespaces/{world.ns}", {"metadata": {"annotations": {PERMISSION: moment}}})


def test_jobs_that_run_are_adopted_and_go_on(world, program):
    def adopt(*args):
        return program("sluice", "adopt", "-n", world.ns, *args, env={"KUBECONFIG": str(world.box.kubeconfig)})
    world.queue(cpu=2)
    world.job("plain", queue=None, pods=2)
    world.job("kueues", queue=None, labels={KUEUE: "q"}, suspend=False,
              annotations={"kueue.x-k8s.io/job-min-parallelism": "1"})
    before = {"plain": runs(world, "plain", 2), "kueues": runs(world, "kueues", 1)}
    # Who labels it by hand is told whom to ask, and it runs on.
    assert f"sluice adopt -n {world.ns} --queue q plain" in refusal(world, "plain")

    tried = adopt("--dry-run")
    assert tried.returncode == 0, tried.stderr
    rows = {line.split()[0]: line for line in tried.stdout.splitlines()}
    assert "1 cpu in" in rows["kueues"] and "fits" in rows["kueues"]
    assert "2 cpu in" in rows["plain"] and f"over quota: ClusterQueue {world.full('q')} uses 1 cpu in flavor" in rows["plain"]
    assert "2 of 2 Jobs" in tried.stdout and "nothing was changed" in tried.stdout
    assert QUEUE not in world.get("plain")["metadata"].get("labels", {})

    # The controllers of a sandbox are no pods, so what they are cannot be seen.
    blind = adopt()
    assert blind.returncode == 1 and "say --force" in blind.stderr, blind
    assert QUEUE not in world.get("plain")["metadata"].get("labels", {}) and permission(world) is None

    permit(world, "2027-01-01T01:00:00+01:00")  # of another form: to the policy, and to us, none
    done = adopt("--force")
    assert done.returncode == 0 and f"2 of 2 Jobs of namespace {world.ns} adopted" in done.stdout, done.stdout + done.stderr
    assert "is taken back" in done.stdout and permission(world) is None
    for name in before:
        obj = world.get(name)  # it was waited for
        assert story(obj)["state"] == "Started" and story(obj)["reason"] == "Adopted" and "mac" in story(obj)
        assert obj["spec"]["podReplacementPolicy"] == "Failed"
        assert not obj["spec"]["suspend"] and KUEUE not in obj["metadata"]["labels"]
        assert sorted(p["metadata"]["uid"] for p in world.pods(name)) == before[name]
    assert sorted((n, a, s, sum(x.values())) for n, a, s, x in world.holds()) == [("kueues", 1, "posted", 1000), ("plain", 1, "posted", 2000)]
    world.wait("an Event that says so", lambda: any(
        e["reason"] == "Adopted" and "1 cpu in flavor" in e["message"] and "nothing more starts there" in e["message"]
        for e in world.api.list(f"/api/v1/namespaces/{world.ns}/events")), LATER)

    # Over quota: nothing starts before it has fallen under it.
    world.job("next")
    world.waits("next", "WaitingForQuota")
    world.finish_all("kueues")
    world.uses(q=2)
    world.waits("next", "WaitingForQuota")

    # A Job that began after the admin's word is none of those that were meant.
    word = max(world.get(n)["status"]["startTime"] for n in before)
    second_is_over(word)
    permit(world, word)
    world.job("late", queue=None)
    runs(world, "late", 1)
    # The policies learn of the admin's word a moment after it was written; until then there is none.
    world.wait("the admin's word to be told", lambda: f"lets in what had begun to run by {word}" in refusal(world, "late"))
    assert adopt("plain").returncode == 1  # it is in a queue already

    world.finish_all("plain")
    world.started("next")
    assert world.api.get(jobs_path(world.ns, "late"))["status"]["active"] == 1


def test_a_job_that_is_written_while_it_is_adopted_is_adopted(world, program):
    """As its status is, by Kubernetes, whenever a pod of it moves."""
    world.queue(cpu=1)
    world.job("busy", queue=None)
    runs(world, "busy", 1)
    done, writes = threading.Event(), []

    def write():
        while not done.wait(0.5):  # a status changes no faster, and six conflicts in a row are no bad luck then
            world.patch("busy", {"metadata": {"annotations": {"team/beat": str(len(writes))}}})
            writes.append(1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        wait_until("a first write", lambda: writes)
        adopted = program("sluice", "adopt", "-n", world.ns, "--force", env={"KUBECONFIG": str(world.box.kubeconfig)})
    finally:
        done.set()
        writer.join()
    assert writes and adopted.returncode == 0, adopted.stdout + adopted.stderr


def forge_pods(world, name, node, count):
    """As who may create pods can: with the label of a Job's pods, on a node of his choice. Pods without another controller the Job
    controller would take for its own, and delete those that are too many."""
    uid = world.get(name)["metadata"]["uid"]
    holder = world.api.post(f"/api/v1/namespaces/{world.ns}/configmaps", {"kind": "ConfigMap", "metadata": {"name": "holder"}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "holder", "uid": holder["metadata"]["uid"], "controller": True}
    for i in range(count):
        world.api.post(f"/api/v1/namespaces/{world.ns}/pods", {"kind": "Pod", "metadata": {
            "name": f"forged-{i}", "labels": {"batch.kubernetes.io/controller-uid": uid}, "ownerReferences": [owner],
            "annotations": {RUN_SECONDS: str(LONG)}},
            "spec": {"nodeName": node, "containers": [{"name": "work", "image": "busybox"}]}})


def test_a_run_is_booked_in_the_flavor_of_its_nodes(world, program):
    """A flavor's tolerations let it take any pod, so quota alone would book each in the first."""
    spot, on_demand = world.flavor("spot", "spot"), world.flavor("on-demand", "on-demand")
    world.queue(flavors={spot: 9, on_demand: 9})
    world.job("plain", queue=None, pods=2)
    world.job("cheap", queue=None, pod={"nodeName": "spot-1"})
    world.job("sly", queue=None)
    for name, pods in ("plain", 2), ("cheap", 1), ("sly", 1):
        runs(world, name, pods)
        world.wait(f"pods of {name} to be on nodes", lambda n=name: all(p["spec"].get("nodeName") for p in world.pods(n)))
    forge_pods(world, "sly", "spot-1", 3)

    def adopt(*args):
        return program("sluice", "adopt", "-n", world.ns, *args, env={"KUBECONFIG": str(world.box.kubeconfig)})
    tried = adopt("--dry-run")
    rows = {line.split()[0]: line for line in tried.stdout.splitlines()}
    assert f"2 cpu in {on_demand}" in rows["plain"] and f"1 cpu in {spot}" in rows["cheap"], tried.stdout + tried.stderr
    assert f"1 cpu in {on_demand}" in rows["sly"], tried.stdout
    done = adopt("--force")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: set(use) for name, _, _, use in world.holds()} == {
        "plain": {(on_demand, "cpu")}, "cheap": {(spot, "cpu")}, "sly": {(on_demand, "cpu")}}
