"""Jobs that Kubernetes schedules as a gang (spec.scheduling, alpha and off by default from 1.37 on): they start, grow and give pods, and
the API server refuses none of it. It refuses a spec.parallelism below the gang's minCount."""

import pytest
from conftest import LATER, own_plane, start_controller, wait_leading
from sandbox import ApiError

GATES = ("GenericWorkload", "WorkloadWithJob")
NOTES = {"sluice.dev/min-parallelism": "1", "sluice.dev/grow": "true"}

pytestmark = pytest.mark.since_kubernetes(37, "a Job has no spec.scheduling")


@pytest.fixture(scope="module")
def box():
    with own_plane("gangs", gates=GATES) as box:
        start_controller(box)
        wait_leading(box)
        yield box


def gang(world, name, pods, least=None, **kw):
    """`least`: its minCount; None: as many as its parallelism says."""
    policy = {"gang": {} if least is None else {"minCount": least}}
    return world.job(name, pods=pods, annotations=NOTES, scheduling={"schedulingPolicy": policy}, **kw)


def has_pods(world, name, pods):
    world.wait(f"Job {name} to run with {pods} pods", lambda: len(world.pods(name)) == pods and world.get(name)["spec"]["parallelism"] == pods,
               LATER, about=name)


def least_pods(world):
    """The minCount of each PodGroup of the namespace, smallest first."""
    groups = world.api.list(f"/apis/scheduling.k8s.io/v1beta1/namespaces/{world.ns}/podgroups")
    return sorted(g["spec"]["schedulingPolicy"].get("gang", {}).get("minCount", 0) for g in groups)


def refused(world):
    return [e["message"] for e in world.api.list(f"/api/v1/namespaces/{world.ns}/events") if e["reason"] == "Refused"]


def test_the_api_server_refuses_fewer_pods_than_a_gang_needs(world):
    """Else these tests would show nothing."""
    world.queue(cpu=0)
    gang(world, "g", 3, 2)
    with pytest.raises(ApiError, match="minCount.*must not be greater than parallelism"):
        world.patch("g", {"spec": {"parallelism": 1}})


def test_a_gang_waits_until_there_is_room_for_the_pods_that_it_needs(world):
    world.queue(cpu=4, growInterval="1s")
    gang(world, "g", 6, 5)
    world.waits("g")
    world.set_quota(5)
    has_pods(world, "g", 5)
    world.set_quota(6)
    has_pods(world, "g", 6)
    assert least_pods(world) == [5] and not refused(world)


def test_a_gang_gives_pods_down_to_those_that_it_needs(world):
    world.priorities(high=100)
    world.queue(cpu=4, growInterval="1s", preemption={"withinClusterQueue": "LowerPriority"})
    gang(world, "g", 4, 2)
    has_pods(world, "g", 4)
    world.job("urgent", cpu=2, priority="high")
    world.started("urgent")
    has_pods(world, "g", 2)
    world.job("more-urgent", cpu=1, priority="high")
    world.started("more-urgent")  # for which the rest of the gang is stopped
    world.stopped("g")
    world.finish("urgent", "more-urgent")
    has_pods(world, "g", 4)
    assert least_pods(world) == [0, 0, 2] and not refused(world)


def test_a_gang_of_all_its_pods_starts_with_what_fits(world):
    """Its minCount is its parallelism, and follows that."""
    world.queue(cpu=2, growInterval="1s")
    gang(world, "g", 4)
    has_pods(world, "g", 2)
    world.wait("the gang to be of 2", lambda: least_pods(world) == [2])
    world.set_quota(4)
    has_pods(world, "g", 4)
    world.wait("the gang to be of 4", lambda: least_pods(world) == [4])
    world.finish_all("g")
    assert not refused(world)
