"""What is in use does not go when it is deleted: ClusterQueues and ResourceFlavors, and the leader's finalizer on them."""

import pytest
from conftest import LATER, SOON, wait_leading
from objects import clusterqueue, group, path_of
from settled import booked

FINALIZER = "sluice.dev/resource-in-use"


def condition(obj):
    return next((c for c in obj.get("status", {}).get("conditions", []) if c["type"] == "Active"), {})


class Kept:
    """One object that has the finalizer, and what it says once it is deleted."""

    def __init__(self, world, plural, name):
        self.world, self.path = world, path_of(plural, name)
        world.wait(f"{name} to have the finalizer", lambda: FINALIZER in self.get()["metadata"].get("finalizers", []))

    def get(self):
        return self.world.api.get(self.path)

    def delete(self):
        self.world.api.delete(self.path)
        assert self.get()["metadata"]["deletionTimestamp"], "it went though it is in use"

    def says(self, reason, *words):
        def said():
            c = condition(self.get())
            return c.get("reason") == reason and all(w in c["message"] for w in words) and c
        try:
            return self.world.wait(f"{self.path} to say {reason} {words}", said)
        except AssertionError as e:
            raise AssertionError(f"{e}\nit says {condition(self.get())}") from None

    def gone(self, timeout=SOON):
        self.world.wait(f"{self.path} to be gone", lambda: self.world.api.gone(self.path), timeout)


@pytest.fixture
def kept(world):
    """Two Jobs run, of three: (flavor, queue)."""
    name = world.flavor("f")
    world.queue(flavors={name: 2})
    flavor, queue = Kept(world, "resourceflavors", name), Kept(world, "clusterqueues", world.full("q"))
    for job in ("a", "b", "waits"):
        world.job(job)
    world.started("a", "b")
    return flavor, queue


def test_a_flavor_in_use_stays_and_works_until_no_queue_names_it(world, kept):
    flavor, queue = kept
    flavor.delete()
    flavor.says("Terminating", f"ClusterQueue {world.full('q')} names it")
    world.finish("a")
    world.started("waits")  # as before
    world.job("more")
    world.finish("b")
    world.started("more")
    assert condition(queue.get())["reason"] == "Ready"
    # No spec names it any more, but two Jobs run on it.
    world.edit_queue(resourceGroups=[group(["cpu"], {world.flavor("other"): [2]})])
    flavor.says("Terminating", f"Jobs of ClusterQueue {world.full('q')} hold quota in it")
    assert not world.get("more")["spec"]["suspend"]
    world.finish("more", "waits")
    flavor.gone(LATER)


def test_a_queue_in_use_starts_nothing_more_and_goes_when_its_jobs_have_ended(world, kept):
    flavor, queue = kept
    flavor.delete()
    queue.delete()
    said = queue.says("Terminating", "2 Jobs, one of them of LocalQueue", "hold quota in it", "HoldAndDrain")
    assert said["status"] == "False"
    assert "being deleted" in world.waits("waits", "Suspended")["sentence"]
    world.finish("a")
    queue.says("Terminating", "1 Job, of LocalQueue")
    assert "is being deleted and is gone when its Jobs have ended" in world.explain("b")["sentence"]
    assert world.get("waits")["spec"]["suspend"] and not world.get("b")["spec"]["suspend"]
    world.finish("b")
    queue.gone(LATER)
    flavor.gone(LATER)
    # What waits is still counted, and told what to do.
    assert f"ClusterQueue {world.full('q')} of LocalQueue" in world.waits("waits", "Misconfigured")["sentence"]
    row = world.wait_queue("q", lambda q: not q["exists"] and q["pending"] == 1, "to be shown as gone")
    assert row["reason"] == "DoesNotExist"


def test_the_jobs_of_a_deleted_queue_can_be_stopped_at_once(world, kept):
    _, queue = kept
    queue.delete()
    booked(world, "a", "b")
    world.edit_queue(stopPolicy="HoldAndDrain")
    world.stopped("a")
    world.stopped("b")
    queue.gone(LATER)
    world.create("clusterqueues", clusterqueue(world.full("q"), [group(["cpu"], {world.full("f"): [2]})]))
    world.started("a", "b")


def test_a_controller_that_is_killed_between_loses_no_finalizer_and_keeps_none(world, kept):
    flavor, queue = kept
    box = world.box
    box.kill("controller-one")
    flavor.delete()
    queue.delete()
    late = path_of("resourceflavors", world.flavor("late"))
    world.api.delete(late)  # has none yet
    assert world.api.gone(late)
    box.start("controller-one")
    wait_leading(box)
    queue.says("Terminating", "2 Jobs")
    world.finish("a")
    queue.says("Terminating", "1 Job")
    pods = world.wait("b to run", lambda: world.all_running("b"), about="b")
    box.kill("controller-one")
    for pod in pods:
        world.finish_pod(pod)
    assert queue.get() and flavor.get()
    box.start("controller-one")
    wait_leading(box)
    queue.gone(LATER)
    flavor.gone(LATER)
    world.empty()


def test_finalizers_of_others_are_left_alone(world):
    name = world.flavor("f")
    flavor = Kept(world, "resourceflavors", name)
    world.api.patch(flavor.path, {"metadata": {"finalizers": ["example.com/mine", FINALIZER]}})
    world.api.delete(flavor.path)
    world.wait("ours to be taken off", lambda: flavor.get()["metadata"]["finalizers"] == ["example.com/mine"])
    world.api.patch(flavor.path, {"metadata": {"finalizers": None}})
    flavor.gone()


def test_an_older_role_is_said_once_and_everything_else_works(world):
    box = world.box
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice-controller"
    role = world.api.get(path)
    without = [r for r in role["rules"] if not (r["verbs"] == ["patch"] and r.get("resources") == ["clusterqueues", "resourceflavors"])]
    assert len(without) == len(role["rules"]) - 1
    try:
        world.api.patch(path, {"rules": without})
        world.wait("the right to be gone", lambda: not may_patch(world))
        log = box.process("controller-one").log
        said = log.read_text(errors="replace").count("finalizers-not-permitted")
        world.restart()
        world.queue(cpu=1)
        world.job("a")
        world.started("a")
        world.wait("it to be said", lambda: log.read_text(errors="replace").count("finalizers-not-permitted") > said)
        assert FINALIZER not in world.clusterqueue()["metadata"].get("finalizers", [])
    finally:
        world.api.patch(path, {"rules": role["rules"]})
        world.wait("the right to be back", lambda: may_patch(world))
        world.restart()
    Kept(world, "clusterqueues", world.full("q"))


def may_patch(world):
    return world.api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": "system:serviceaccount:sluice-system:sluice-controller", "groups": ["system:authenticated"],
                 "resourceAttributes": {"group": "sluice.dev", "resource": "clusterqueues", "verb": "patch"}}})["status"]["allowed"]
