"""How often Sluice writes: once for a start, once for a stop, never for a Job that waits.

Counted twice over: by the API server's own metrics (PATCH of jobs; everybody else
here writes jobs/status, or POSTs and DELETEs), and by a watch, in which each write
of one Job is an event."""

import re
import threading
import time

import pytest
from conftest import LATER, SOON
from objects import HOLD, QUEUE, STORY, annotations, jobs_path
from sandbox import wait_until


def patches_of_jobs(api):
    """How many PATCHes of Jobs (not of their status) the API server has answered, whatever the answer."""
    text = api.raw("GET", "/metrics").decode()
    total = 0
    for line in text.splitlines():
        if line.startswith("apiserver_request_total{") and 'resource="jobs"' in line and 'verb="PATCH"' in line and 'subresource=""' in line:
            total += int(float(re.search(r"\} (\S+)$", line).group(1)))
    return total


# Notices (sluice.dev/waiting) are writes of their own, on whoever has waited for a minute: not while we count.
pytestmark = pytest.mark.flags("--note-after", "0")


class Writes(threading.Thread):
    """All writes of the Jobs of a namespace but those of the status: {name: [object after it]}."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.path = jobs_path(world.ns)
        self.api, self.seen = world.api, {}
        listed = self.api.get(self.path)
        self.last = {j["metadata"]["name"]: self.essence(j) for j in listed["items"]}
        self.version = listed["metadata"]["resourceVersion"]
        self.start()

    @staticmethod
    def essence(obj):
        meta = {k: v for k, v in obj["metadata"].items() if k not in ("resourceVersion", "managedFields", "generation")}
        return meta, obj["spec"]

    def run(self):
        while True:  # the server ends a watch after some minutes
            self.follow()
            time.sleep(0.2)

    def follow(self):
        for event in self.api.watch(self.path, self.version):
            if event["type"] in ("ADDED", "MODIFIED"):
                obj = event["object"]
                name, essence = obj["metadata"]["name"], self.essence(obj)
                if event["type"] == "MODIFIED" and essence != self.last[name]:
                    self.seen.setdefault(name, []).append(obj)
                self.last[name] = essence
                self.version = obj["metadata"]["resourceVersion"]

    def of(self, world, name):
        """Once everything up to now has been seen."""
        now = int(world.get(name)["metadata"]["resourceVersion"])
        wait_until("the watch to have come so far", lambda: int(self.version) >= now, SOON)
        return self.seen.get(name, [])


def in_the_books(world, *names):
    """Until the ledger knows that each was started: the API server's answer to its PATCH has come then, and is counted."""
    for name in names:
        world.wait(f"the start of {name} to be in the books", lambda n=name: "COMMIT" in world.transfers(n))


@pytest.fixture
def quiet(world):
    """Nobody else's Jobs are about, so the API server's count is ours."""
    def none():
        return not [j for j in world.api.list("/apis/batch/v1/jobs") if QUEUE in j["metadata"].get("labels", {})
                    and (not j["spec"]["suspend"] or j["metadata"].get("deletionTimestamp"))
                    and not any(c["type"] in ("Complete", "Failed") for c in j["status"].get("conditions", []))]
    wait_until("the other tests' Jobs to be gone", none, LATER)
    return world


def test_a_job_is_written_exactly_once_to_be_admitted(quiet):
    world = quiet
    world.queue(cpu=4)
    writes, before = Writes(world), patches_of_jobs(world.api)
    names = [f"j{i:02d}" for i in range(20)]
    for name in names:
        world.job(name, seconds=0.1)
    world.finished(*names)
    world.empty()
    assert patches_of_jobs(world.api) - before == len(names)
    for name in names:
        (only,) = writes.of(world, name)
        assert not only["spec"]["suspend"] and '"Started"' in annotations(only)[STORY]


def test_a_job_that_waits_is_not_written_at_all(quiet):
    world = quiet
    world.priorities(high=9)
    world.queue(cpu=1)
    world.job("blocker")
    world.started("blocker")
    in_the_books(world, "blocker")
    writes, before = Writes(world), patches_of_jobs(world.api)
    names = [f"j{i}" for i in range(10)]
    for name in names:
        world.job(name, cpu=1 if name != "j9" else 2)
        world.waits(name, "WaitingForQuota", "ExceedsMaxQuota")
    # Things happen around them: others come and go, the quota is looked at again and again.
    world.job("lost", "nowhere")
    world.waits("lost", "Misconfigured")
    world.edit_queue(stopPolicy="Hold")
    world.waits("j0", "Suspended")
    world.edit_queue(stopPolicy="None")
    world.waits("j0", "WaitingForQuota")
    assert patches_of_jobs(world.api) == before
    for name in names + ["lost"]:
        assert writes.of(world, name) == []


def test_a_job_is_written_exactly_once_to_be_stopped(quiet):
    world = quiet
    world.queue(cpu=1)
    world.job("a")
    world.started("a")
    in_the_books(world, "a")
    writes, before = Writes(world), patches_of_jobs(world.api)
    world.edit_queue(stopPolicy="HoldAndDrain")
    world.stopped("a")
    world.empty()
    assert patches_of_jobs(world.api) - before == 1
    (only,) = writes.of(world, "a")
    assert only["spec"]["suspend"] and '"Stopped"' in annotations(only)[STORY]


def test_a_job_that_finishes_or_is_deleted_is_not_written(quiet):
    world = quiet
    world.queue(cpu=2)
    world.job("ends", seconds=0.1, annotations={HOLD: "true"})
    world.job("goes")
    world.started("goes")
    world.waits("ends", "OnHold")
    in_the_books(world, "goes")
    before = patches_of_jobs(world.api)
    world.patch("ends", {"metadata": {"annotations": {HOLD: None}}})
    world.finished("ends")
    world.delete("goes")
    world.wait("the deletion to be in the books", lambda: [h[2] for h in world.holds("goes")] in (["releasing"], []))
    assert patches_of_jobs(world.api) - before <= 2  # ours, and the start of the one that ends
