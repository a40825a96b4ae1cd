"""Runs that change their size, on the real Job controller: they start with what fits, grow when there is room, give pods to a Job of a
higher priority, and grow back. The ledger holds at least what their pods use, at each look."""

import json
import signal

import pytest
from conftest import LATER, SOON, start_controller, wait_leading
from objects import KUBERNETES, STORY, annotations, job, story
from sandbox import ApiError

MIN, GROW, FOLLOW = "sluice.dev/min-parallelism", "sluice.dev/grow", "sluice.dev/completions-equal-parallelism"
MODES = {"NonIndexed": {}, "Indexed": {"completionMode": "Indexed"}}
GROWS = {MIN: "1", GROW: "true"}
INTERVAL = "1s"

mode = pytest.mark.parametrize("mode", MODES)


def queue(world, cpu, **spec):
    world.queue(cpu=cpu, growInterval=INTERVAL, **spec)


def sweep(world, name="sweep", at_once=6, tasks=40, notes=GROWS, **kw):
    return world.job(name, pods=at_once, completions=kw.pop("completions", tasks), annotations=notes, **kw)


def held(world, name="sweep"):
    """Pods of one cpu that the ledger holds quota for."""
    return sum(amount // 1000 for _, _, _, lines in world.holds(name) for amount in lines.values())


def has_size(world, pods, name="sweep", timeout=LATER):
    """Until it says so many, has so many pods, and holds so many; never more pods than are held."""
    def asked():
        before = held(world, name)
        there = len(world.pods(name))
        books = held(world, name)
        assert there <= max(before, books), f"{there} pods, and quota for {before}, then {books} was held"  # it may grow or shrink meanwhile
        return (world.get(name)["spec"]["parallelism"], there, books) == (pods, pods, pods)
    world.wait(f"Job {name} to run with {pods} pods", asked, timeout, about=name)
    return world.get(name)


def told(world, reason="Grown", name="sweep"):
    """Messages of its Events with that reason."""
    return [e["message"] for e in world.api.list(f"/api/v1/namespaces/{world.ns}/events?fieldSelector=involvedObject.name={name}")
            if e["reason"] == reason]


@mode
def test_it_starts_with_what_fits_and_grows_when_another_ends(world, mode):
    queue(world, 4)
    world.job("first", cpu=2)  # of one pod, so that all of it is given back at once
    world.started("first")
    sweep(world, **MODES[mode])
    assert story(has_size(world, 2))["parallelism"] == 6
    world.finish("first")
    now = has_size(world, 4)
    assert (story(now)["pods"], story(now)["parallelism"], story(now)["sizes"]) == (4, 6, 1)
    assert world.transfers("sweep") == ["RESERVE", "COMMIT", "GROW"]
    world.wait("an Event that says so", lambda: told(world) == ["grows from 2 to 4 pods"])
    world.set_quota(20)
    now = has_size(world, 6)  # all that its owner asked for: nothing is to be put back
    assert "parallelism" not in story(now) and now["spec"]["completions"] == 40
    world.suspend("sweep")
    assert world.stopped("sweep")["spec"]["parallelism"] == 6
    world.wait("its quota to be given back", lambda: not world.holds("sweep"), SOON)


def test_completions_grow_with_it_where_they_follow(world):
    queue(world, 2)
    sweep(world, tasks=5, at_once=5, notes={**GROWS, FOLLOW: "true"}, completionMode="Indexed")
    assert has_size(world, 2)["spec"]["completions"] == 2
    world.set_quota(4)
    now = has_size(world, 4)
    assert now["spec"]["completions"] == 4 and story(now)["completions"] == 5
    world.set_quota(9)
    now = has_size(world, 5)
    assert now["spec"]["completions"] == 5 and "completions" not in story(now)
    world.finish_all("sweep")
    world.empty()


@mode
def test_it_gives_pods_to_a_higher_priority_and_grows_back(world, mode):
    queue(world, 4, preemption={"withinClusterQueue": "LowerPriority"})
    world.priorities(high=100)
    sweep(world, **MODES[mode])
    has_size(world, 4)
    world.job("urgent", pods=3, priority="high")
    world.started("urgent")
    now = has_size(world, 1)
    assert story(now)["reason"] == "Preempted" and f"{world.ns}/urgent (priority " in story(now)["message"]
    assert not now["spec"]["suspend"]
    world.finish("urgent")
    has_size(world, 4)
    kinds = world.transfers("sweep")
    assert kinds[:2] == ["RESERVE", "COMMIT"] and kinds[-1] == "GROW" and "STOP" not in kinds
    world.delete("sweep")
    world.empty()


@mode
def test_the_controller_is_killed_while_it_grows_and_shrinks(world, mode):
    """At any moment of it; the next one finds what is there, and the size is right in the end."""
    queue(world, 2)
    sweep(world, at_once=8, **MODES[mode])
    has_size(world, 2)
    for size in (8, 3, 6):
        world.edit_queue(resourceGroups=[{"coveredResources": ["cpu"], "flavors": [
            {"name": world.full("any-q"), "resources": [{"name": "cpu", "nominalQuota": size}]}]}])
        for _ in range(2):
            world.box.kill("controller-one", signal.SIGKILL)
            start_controller(world.box)
            wait_leading(world.box)
        now = world.get("sweep")["spec"]["parallelism"]
        has_size(world, max(now, size))  # less quota takes nothing from what runs
        assert not world.box.sql("select * from sluice.audit")
    uid = world.get("sweep")["metadata"]["uid"]
    assert world.box.sql(f"select count(*) from sluice.hold where job_uid = '{uid}'") == [["1"]]


def test_its_owner_edits_it(world):
    queue(world, 3)
    manifest = job("sweep", "q", {"cpu": "1"}, pods=6, annotations=GROWS, completions=40)
    world.box.kubectl("apply", "-n", world.ns, "-f", "-", input=json.dumps(manifest))
    before = has_size(world, 3)
    world.set_quota(5)
    before = has_size(world, 5)
    # The manifest again: it keeps what it has grown to, where a policy puts that back.
    if KUBERNETES >= 36:
        world.box.kubectl("apply", "-n", world.ns, "-f", "-", input=json.dumps(manifest))
        assert world.get("sweep")["spec"] == before["spec"]
    # More than its quota: refused, and nothing changes.
    with pytest.raises(ApiError, match="it cannot be raised to 9 while it runs"):
        world.patch("sweep", {"spec": {"parallelism": 9}})
    # Fewer: that is his number from now on, whatever room there is.
    world.patch("sweep", {"spec": {"parallelism": 2}})
    has_size(world, 2)
    world.set_quota(20)
    world.job("beside")
    world.started("beside")
    assert has_size(world, 2)["spec"]["parallelism"] == 2
    assert STORY in annotations(world.get("sweep"))
