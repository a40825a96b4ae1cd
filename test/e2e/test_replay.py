"""sluice-controller --record and sluice replay (docs/simulate.md): a churn in which the controller is killed and queues are edited;
then all is decided once more, and is the same to the byte."""

import gzip
import json
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import BIN, LATER, wait_leading
from objects import jobs_path, ours, searched
from sandbox import wait_until

RECORDS = Path(tempfile.gettempdir()) / f"sluice-records-{next(tempfile._get_candidate_names())}"
NOT_THERE = "not-to-be-found-in-any-record"  # in a command, a variable, an annotation and a label
JOBS = searched(100, 320)


@pytest.fixture
def records():
    yield RECORDS
    shutil.rmtree(RECORDS, ignore_errors=True)


def replay(*args):
    return subprocess.run([BIN / "sluice", "replay", RECORDS, *args], capture_output=True, text=True, timeout=600)


class Churn:
    """Jobs come, run for a second or two, are preempted, held, deleted; queues are edited."""

    def __init__(self, world):
        self.world, self.draw, self.made = world, random.Random(7), 0
        world.priorities(low=10, high=1000)
        for name in ("a", "b"):
            world.queue(name, cpu=20, cohort="all", preemption={"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"})
        days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        world.create("calendars", ours("Calendar", world.full("always"), {
            "timeZone": "Europe/Berlin", "open": [{"name": "all", "days": days, "from": "00:00", "to": "24:00"}]}))
        world.create("runpolicies", ours("RunPolicy", world.full("always"), {
            "queues": [world.full("a")], "calendar": world.full("always"), "atClose": {"exempt": {"selector": {"matchLabels": {"kept": "yes"}}}}}))

    def submit(self, n):
        for _ in range(n):
            queue, priority = self.draw.choice("ab"), self.draw.choice(["low", "low", "high"])
            self.world.job(f"j-{self.made}", queue, cpu=self.draw.choice([1, 1, 2, 4]), priority=priority, seconds=self.draw.choice([1, 2]),
                           labels={"kept": "yes", "about": NOT_THERE}, annotations={"about": NOT_THERE}, pod_annotations={"about": NOT_THERE},
                           container={"command": [NOT_THERE], "env": [{"name": "PASSWORD", "value": NOT_THERE}]})
            self.made += 1

    def edit(self):
        what = self.draw.randrange(4)
        if what == 0:
            self.world.set_quota(self.draw.choice([12, 20, 30]), self.draw.choice("ab"))
        elif what == 1:
            self.world.edit_queue(self.draw.choice("ab"), queueingStrategy=self.draw.choice(["BestEffortFIFO", "StrictFIFO"]))
        else:
            names = self.unfinished()
            for name in self.draw.sample(names, min(2, len(names))):
                if what == 2:
                    self.world.delete(name)
                else:
                    self.world.patch(name, {"metadata": {"annotations": {"sluice.dev/hold": "true"}}})

    def jobs(self):
        return self.world.api.get(jobs_path(self.world.ns))["items"]

    def unfinished(self):
        return [j["metadata"]["name"] for j in self.jobs() if not j["status"].get("completionTime")]

    def release_all(self):
        for j in self.jobs():
            if "sluice.dev/hold" in j["metadata"].get("annotations", {}):
                self.world.patch(j["metadata"]["name"], {"metadata": {"annotations": {"sluice.dev/hold": None}}})


@pytest.mark.search
@pytest.mark.flags("--record", str(RECORDS))
@pytest.mark.timeout(1800)
def test_what_was_decided_is_decided_again(world, records):
    box, churn, kills = world.box, Churn(world), 0
    until = time.time() + 4 * LATER
    while churn.made < JOBS and time.time() < until:
        if len(churn.unfinished()) < 60:
            churn.submit(20)
            churn.edit()
        if churn.made >= JOBS * (kills + 1) // 4 and kills < 3:
            time.sleep(churn.draw.random())
            box.kill("controller-one")
            box.start("controller-one")
            wait_leading(box)
            kills += 1
        time.sleep(0.5)
    churn.release_all()
    world.set_quota(30, "a")
    wait_until("all Jobs to be over", lambda: not churn.unfinished(), 2 * LATER)
    assert kills == 3
    time.sleep(1.5)  # what was told is written once a second
    live = json.loads(replay("-o", "json").stdout)
    assert live["same"], live  # while it is being recorded
    assert box.process("controller-one").stop() == "ended"

    done = replay("-o", "json")
    said = json.loads(done.stdout)
    runs = said["runs"]
    print(f"{said['facts']} facts, {said['decisions']} decisions in {len(runs)} runs; "
          f"{sum(f.stat().st_size for f in RECORDS.glob('*/*'))} bytes, {churn.made} Jobs")
    assert done.returncode == 0 and said["same"] and len(runs) == 4, said
    assert said["decisions"] > JOBS * 7 // 8 and all(r["verdict"] == "Same" and r["decisions"] > 0 for r in runs), said
    assert [r.get("end") for r in runs] == [None, None, None, "the controller ended"], runs
    assert "all are the same" in replay().stdout and json.loads(replay("--run", "-1", "-o", "json").stdout)["runs"][0]["run"] == 4

    text = "".join(unpack(f) for f in sorted(RECORDS.glob("*/*")))
    assert NOT_THERE not in text and f'"name":"j-{JOBS - 1}"' in text and '"key":"kept"' in text
    assert RECORDS.stat().st_mode & 0o777 == 0o700 and all(f.stat().st_mode & 0o777 == 0o600 for f in RECORDS.glob("*/*"))
    tampered_with(runs)
    box.start("controller-one")
    wait_leading(box)


def unpack(path):
    """What is there of it: of a process that was killed the end is missing."""
    import zlib
    return zlib.decompressobj(wbits=31).decompress(path.read_bytes()).decode()


def tampered_with(runs):
    """One decision is another, and it is found."""
    run = RECORDS / runs[-1]["name"]
    lines = "".join(unpack(f) for f in sorted(run.glob("*"))).splitlines(True)
    at = next(i for i, line in enumerate(lines) if '"kind":"start"' in line)
    lines[at] = lines[at].replace('"kind":"start"', '"kind":"stop"', 1)
    for f in run.glob("*"):
        f.unlink()
    (run / "000001.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode()))
    done = replay("--run", "-1", "-o", "json")
    said = json.loads(done.stdout)["runs"][0]
    assert done.returncode == 1 and said["verdict"] == "Differs" and said["at"] == f"000001.jsonl.gz:{at + 1}", said
    assert '"stop"' in said["recorded"] and '"start"' in said["now"] and len(said["before"]) == 5


def test_a_place_that_is_none():
    done = subprocess.run([BIN / "sluice", "replay", "/dev/null"], capture_output=True, text=True)
    assert done.returncode == 2 and "cannot be opened as a directory" in done.stderr, done
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([BIN / "sluice", "replay", empty], capture_output=True, text=True)
        assert done.returncode == 2 and "has no record" in done.stderr, done
        done = subprocess.run([BIN / "sluice-controller", "--record", f"{empty}/a/b"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done  # no kubeconfig, or no directory
