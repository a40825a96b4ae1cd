"""When a Job starts, as people are told (docs/forecast.md): by `sluice start` and by QueuedJobs, with one RoleBinding; and how
much that was worth, in a queue where Jobs come and go."""

import datetime
import json
import random
import time

from conftest import LATER, SOON
from objects import job, jobs_path
from sandbox import ApiError, wait_until
from test_ask import GROUP, alice, api_is_there, bob  # noqa: F401 (fixtures)

EXPECTED = "sluice.dev/expected-duration"


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def start_of(api, ns, name):
    """What is forecast now, or None; {} of a Job that is no more."""
    try:
        return api.get(f"{GROUP}/namespaces/{ns}/queuedjobs/{name}")["status"].get("start")
    except ApiError as e:
        if e.status != 404:
            raise
        return {}


# ---- what one is told ------------------------------------------------------------------------


def test_sluice_start_says_when(alice):
    done = alice.sluice("start", "job/mine", "-n", alice.ns)
    assert done.returncode == 0 and " with 90 %\n" in done.stdout.splitlines(True)[0] and " plays of the queue" in done.stdout, done
    said = json.loads(alice.sluice("start", "mine", "-n", alice.ns, "-o", "json").stdout)
    start = said["start"]
    assert said["state"] == "Waiting" and start["draws"] == 16 and start["basis"]["runs"] >= 0, said
    assert time.time() - 60 < instant(start["asOf"]) <= instant(start["p10"]) <= instant(start["p50"]) <= instant(start["p90"]), said
    wait_until("the column START", lambda: "about " in alice.kubectl("get", "qj", "mine", "-n", alice.ns).stdout, SOON)


def test_one_that_never_starts_has_the_reason(alice):
    alice.world.job("large", cpu=5)
    alice.world.waits("large", "ExceedsMaxQuota")
    done = alice.sluice("start", "job/large", "-n", alice.ns)
    assert done.returncode == 0 and done.stdout.startswith("not within 30 days, as things are: it waits for more quota"), done
    said = json.loads(alice.sluice("start", "large", "-n", alice.ns, "-o", "json").stdout)["start"]
    assert "p10" not in said and said["misses"] == said["draws"] and said["reason"] == "ExceedsMaxQuota", said


def test_others_are_told_nothing(alice):
    done = alice.sluice("start", "job/secret", "-n", alice.bob.ns)
    assert done.returncode != 0 and "you may not get queuedjobs" in done.stderr and "secret" not in done.stdout, done
    done = alice.sluice("start", "job/nothing", "-n", alice.ns)
    assert done.returncode == 1 and "no Job nothing is queued" in done.stderr, done
    assert alice.sluice("start", "-n", alice.ns).returncode == 2


# ---- what it was worth -----------------------------------------------------------------------


def test_most_start_within_what_they_were_told(world, api_is_there):
    """Two hundred Jobs of four families in a queue that is full all the time; asked at random moments of their waits."""
    draw = random.Random(21)
    families = {"eval-": (4, 1), "sweep-": (8, 1), "prep-": (6, 2), "train-": (20, 4)}  # about so many seconds, so many cpu
    left, told, started = 200, {}, {}
    world.queue(cpu=16)
    waiting = set()

    def submit():
        family, (seconds, cpu) = draw.choice(sorted(families.items()))
        asked = seconds * draw.choice([1, 2, 4])
        made = job(family, "q", {"cpu": str(cpu)}, seconds=max(1, round(seconds * draw.uniform(0.6, 1.6))), annotations={EXPECTED: f"{asked}s"})
        made["metadata"]["generateName"] = made["metadata"].pop("name")  # that is what makes a family
        waiting.add(world.api.post(jobs_path(world.ns), made)["metadata"]["name"])

    def look():
        for item in world.api.get(jobs_path(world.ns))["items"]:
            name, at = item["metadata"]["name"], item.get("status", {}).get("startTime")
            if name in waiting and not item["spec"]["suspend"] and at:
                started[name] = instant(at)
                waiting.discard(name)

    until = time.time() + 3 * LATER
    while (left > 0 or waiting) and time.time() < until:
        while left > 0 and len(waiting) < 24:
            submit()
            left -= 1
        for name in draw.sample(sorted(waiting), min(3, len(waiting))):
            start = start_of(world.api, world.ns, name)
            if start and name not in told:
                told[name] = start
        look()
        time.sleep(1)
    judged = [name for name in told if name in started]
    within = [name for name in judged if "p90" in told[name] and started[name] <= instant(told[name]["p90"]) + 2]  # a status has whole seconds
    print(f"{len(judged)} asked, {len(within)} started within the told 90 % bound")
    assert len(judged) >= 50 and len(within) >= 0.8 * len(judged), (len(within), len(judged))
