"""When a Job starts, as people are told (docs/when.md): by `sluice when` and by QueuedJobs, with one RoleBinding; and how
much that was worth, in a queue where Jobs come and go."""

import datetime
import json
import random
import re
import time
import urllib.request

import pytest

from conftest import LATER, SOON
from objects import job, jobs_path, ours, path_of, searched
from sandbox import ApiError, wait_until
from test_ask import GROUP, alice, api_is_there, bob  # noqa: F401 (fixtures)
from test_windows import in_force

EXPECTED = "sluice.dev/expected-duration"


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def start_of(api, ns, name):
    """What is forecast now, or None; {} of a Job that is no more. After a change of the controller the API server may look
    for the old one for a moment."""
    try:
        return api.get(f"{GROUP}/namespaces/{ns}/queuedjobs/{name}")["status"].get("start")
    except ApiError as e:
        if e.status not in (404, 503):
            raise
        return {} if e.status == 404 else None


def window_of(opens):
    """Of a Calendar that is open for two hours from then on, in that week and every other."""
    until = opens + datetime.timedelta(hours=2)
    day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][opens.weekday()]
    return {"timeZone": "UTC", "open": [{"name": "open", "days": [day], "from": f"{opens:%H:%M}", "to": f"{until:%H:%M}"}]}


def make_window(world, queue, opens):
    """Until the controller goes by it."""
    world.create("calendars", ours("Calendar", world.full("window"), window_of(opens)))
    world.create("runpolicies", ours("RunPolicy", world.full("window"), {"queues": [queue], "calendar": world.full("window"), "start": {"fit": "Ignore"}}))
    in_force(world, "runpolicies", "window")


# ---- what one is told ------------------------------------------------------------------------


def test_sluice_when_says_when(alice):
    done = alice.sluice("when", "job/mine", "-n", alice.ns)
    assert done.returncode == 0 and ", 90 % sure by " in done.stdout.splitlines(True)[0] and "Simulated 16 times, with the queue as it was " in done.stdout, done
    old = alice.sluice("start", "job/mine", "-n", alice.ns)
    assert old.returncode == 0 and old.stdout.startswith("Expected ") and old.stderr.startswith('sluice: "sluice start" is now "sluice when"'), old
    assert len(old.stderr.splitlines()) == 1 and not done.stderr, (old, done)
    said = json.loads(alice.sluice("when", "mine", "-n", alice.ns, "-o", "json").stdout)
    start = said["start"]
    assert said["state"] == "Waiting" and start["draws"] == 16 and start["basis"]["runs"] >= 0, said
    assert time.time() - 900 < instant(start["asOf"]) <= instant(start["p10"]) <= instant(start["p50"]) <= instant(start["p90"]), said
    wait_until("the column START", lambda: "about " in alice.kubectl("get", "qj", "mine", "-n", alice.ns).stdout, SOON)


def test_one_that_never_starts_has_the_reason(alice):
    alice.world.job("large", cpu=5)
    alice.world.waits("large", "ExceedsMaxQuota")
    done = alice.sluice("when", "job/large", "-n", alice.ns)
    assert done.returncode == 0 and done.stdout.startswith("No start as things are: over quota, never fits.\n"), done
    said = json.loads(alice.sluice("when", "large", "-n", alice.ns, "-o", "json").stdout)["start"]
    assert "p10" not in said and said["misses"] == said["draws"] and said["reason"] == "ExceedsMaxQuota", said


def test_others_are_told_nothing(alice):
    done = alice.sluice("when", "job/secret", "-n", alice.bob.ns)
    assert done.returncode != 0 and "you may not get queuedjobs" in done.stderr and "secret" not in done.stdout, done
    done = alice.sluice("when", "job/nothing", "-n", alice.ns)
    assert done.returncode == 1 and "no Job nothing is queued" in done.stderr, done
    assert alice.sluice("when", "-n", alice.ns).returncode == 2


def test_what_moved_it_is_said(world, api_is_there):
    """The window of its queue opens two hours later than it was to. (How long runs take is no part of it: the runs of other
    tests have been learned from.)"""
    opens = datetime.datetime.fromtimestamp(time.time() // 60 * 60 + 3600, datetime.timezone.utc)
    later = opens + datetime.timedelta(hours=2)
    world.queue(cpu=2)
    make_window(world, world.full("q"), opens)
    world.job("mine", cpu=2)

    def start():
        return start_of(world.api, world.ns, "mine") or {}
    told = wait_until("a start", lambda: start().get("p50"), SOON)
    assert 0 <= instant(told) - opens.timestamp() < 60, told
    world.api.patch(path_of("calendars", world.full("window")), {"spec": window_of(later)})
    now = wait_until("a move", lambda: (lambda s: s if s.get("moved") else None)(start()), LATER)
    moved = now["moved"]
    assert abs(instant(moved["from"]) - instant(told)) < 60 and instant(moved["at"]) <= time.time() + 1, (moved, told)
    assert 0 <= instant(now["p50"]) - later.timestamp() < 60, now
    assert f"Calendar {world.full('window')} was changed" in moved["why"], moved


def lane_of(timeline, queue):
    """The lane, and its bars by their Jobs' names."""
    lane = next(lane for lane in timeline["lanes"] if lane["clusterQueue"] == queue)
    return lane, {bar["name"]: bar for bar in lane["bars"]}


def test_a_timeline_says_what_lists_and_forecasts_say(alice):
    """Of her namespace by her RoleBinding, and of all to an admin."""
    queue, of_hers = alice.world.full("q"), f"{GROUP}/namespaces/{alice.ns}/timelines"

    def alike():
        """Both of one forecast: a new one comes every few seconds."""
        hers, job = alice.api.get(f"{of_hers}?until=7d"), alice.api.get(f"{GROUP}/namespaces/{alice.ns}/queuedjobs/mine")["status"]
        same = hers.get("forecastsOf", {}).get("asOf") == job.get("start", {}).get("asOf", "none")
        return (hers, job["start"]) if same else None
    hers, start = wait_until("a timeline of the forecast that the Job tells", alike, LATER)
    lane, bars = lane_of(hers, queue)
    assert (hers["kind"], len(hers["lanes"])) == ("Timeline", 1) and instant(hers["until"]) - instant(hers["from"]) == 7 * 86400, hers
    assert (lane["running"], lane["waiting"], lane["others"]) == (1, 1, {"running": 0, "waiting": 1}), lane
    assert "secret" not in json.dumps(hers) and alice.bob.ns not in json.dumps(hers), hers
    run = alice.api.get(f"{GROUP}/namespaces/{alice.ns}/queuedjobs/runs")["status"]
    assert set(bars) == {"runs", "mine"} and lane["more"] == 0, lane
    assert bars["runs"]["state"] == "Running" and bars["runs"]["from"] == run["startedAt"] and bars["runs"]["requests"] == {"cpu": "2"}, bars
    assert bars["mine"]["state"] == "Expected" and bars["mine"]["sweep"] == "mine" and bars["mine"]["jobs"] == 1, bars
    assert (instant(bars["mine"]["from"]), bars["mine"]["p90"]) == (max(instant(start["p50"]), instant(hers["from"])), start["p90"]), (bars, start)
    assert start["draws"] == hers["forecastsOf"]["draws"]
    lane, bars = lane_of(alice.world.api.get(f"{GROUP}/timelines?until=7d&clusterQueue={queue}"), queue)
    assert (lane["running"], lane["waiting"]) == (1, 2) and "others" not in lane and {"runs", "mine", "secret"} == set(bars), lane
    # As the others are asked for.
    assert alice.kubectl("get", "--raw", of_hers).returncode == 0
    wait_until("kubectl explain to know the words", lambda: "90 % of the simulations" in alice.kubectl("explain", "timelines.lanes.bars.p90").stdout, LATER)
    plain = alice.kubectl("get", "timelines", "-n", alice.ns)
    assert plain.returncode == 1 and "write kubectl get timelines -o yaml" in plain.stderr, plain


def refused(api, path):
    with pytest.raises(ApiError) as e:
        api.get(f"{GROUP}/{path}")
    return e.value.status, e.value.message


def test_a_timeline_that_cannot_be_is_refused_with_the_cure(alice):
    hers = f"namespaces/{alice.ns}/timelines"
    assert refused(alice.api, "timelines")[0] == refused(alice.api, f"namespaces/{alice.bob.ns}/timelines")[0] == 403
    for wrong in "nonsense", "8d", "0s":
        status, message = refused(alice.api, f"{hers}?until={wrong}")
        assert status == 400 and f'until is "{wrong}"' in message and "7d" in message, message
    status, message = refused(alice.api, f"{hers}?clusterQueue=nothing")
    assert status == 404 and "clusterQueue is nothing, to which no LocalQueue of namespace" in message, message
    status, message = refused(alice.world.api, "timelines?clusterQueue=nothing")
    assert status == 404 and "there is no ClusterQueue nothing" in message, message
    status, message = refused(alice.world.api, "timelines?watch=true")
    assert status == 400 and "cannot be watched" in message, message


def test_a_timeline_has_the_windows_of_the_week(world, api_is_there):
    """And a start that time alone decides is certain."""
    queue = world.queue(cpu=2)
    opens = datetime.datetime.fromtimestamp(time.time() // 60 * 60 + 3600, datetime.timezone.utc)
    make_window(world, world.full("q"), opens)
    world.job("mine", cpu=2)
    world.waits("mine", "OutsideWindow")

    def told():
        timeline = world.api.get(f"{GROUP}/namespaces/{world.ns}/timelines?until=24h")  # of two seconds ago, perhaps
        lanes = [lane_of(timeline, queue)] if timeline["lanes"] else []
        return next((x for x in lanes if x[1]), None)
    lane, bars = wait_until("a lane with the Job", told, SOON)
    week = world.api.get(f"{GROUP}/clusterqueues/{queue}/week")
    (window,), (of_week,) = lane["windows"], week["windows"]
    assert {k: window[k] for k in ("policy", "calendar", "zone")} == {k: of_week[k] for k in ("policy", "calendar", "zone")}, (window, of_week)
    assert window["open"][0] in of_week["open"] and instant(window["open"][0]["from"]) == opens.timestamp(), (window, of_week)
    assert instant(bars["mine"]["from"]) == opens.timestamp() and bars["mine"]["certain"] is True and "p90" not in bars["mine"], bars
    assert (lane["prices"], lane["reservations"]) == (week["prices"], []), lane


def test_a_job_that_was_changed_has_no_start_of_before(alice):
    """Its priority, here: on every surface, from the first answer on that has the new one."""
    world, jobs = alice.world, f"{GROUP}/namespaces/{alice.ns}/queuedjobs"
    world.priorities(high=10)

    def surfaces():
        """The priority of her Job and its start: the Job alone, in a list, and by explain."""
        for item in alice.api.get(f"{jobs}/mine"), *alice.api.get(jobs)["items"]:
            if item["metadata"]["name"] == "mine":
                yield item["spec"]["priority"], item["status"].get("start")
        done = alice.sluice("explain", "job/mine", "-n", alice.ns, "-o", "json")
        explained = json.loads(done.stdout) if done.returncode == 0 else {"spec": {}, "status": {}}
        yield explained["spec"].get("priority"), explained["status"].get("start")
    wait_until("a start", lambda: [bool(start) for _, start in surfaces()] == 3 * [True], SOON)
    changed = time.time()
    world.api.patch(jobs_path(alice.ns, "mine"), {"metadata": {"labels": {"sluice.dev/priority-class": world.full("high")}}})

    def is_told_anew():
        seen = [start for priority, start in surfaces() if priority == 10]
        assert all(instant(start["asOf"]) >= int(changed) for start in seen if start), (changed, seen)
        return len(seen) == 3 and all(seen)
    wait_until("a start anew", is_told_anew, LATER)


@pytest.mark.flags("--note-after", "1s")
def test_the_annotation_has_the_start_and_when_that_was(world, api_is_there):
    world.queue(cpu=1)
    world.job("runs", cpu=1, annotations={EXPECTED: "30m"})
    world.started("runs")

    def note(name):
        start_of(world.api, world.ns, name)  # somebody asks all the time
        return world.get(name)["metadata"].get("annotations", {}).get("sluice.dev/waiting", "")
    # The first note may come before the first forecast: each Job has one, and those that come later have a start in it.
    for n in range(60):
        world.job(f"waits-{n}", cpu=1, annotations={EXPECTED: "30m"})
        said = wait_until("a note", lambda n=n: note(f"waits-{n}"), LATER)
        if "likely to start" in said:
            break
    found = re.search(r"; likely to start about (\S+), by a forecast of (\S+) \(as of (\S+)\)$", said)
    assert found, said
    about, of, now = map(instant, found.groups())
    assert about % 300 == 0 and of <= now < about, said


@pytest.mark.flags("--forecasts", "off")
def test_off_is_off(alice):
    done = alice.sluice("when", "job/mine", "-n", alice.ns)
    assert done.returncode == 0 and done.stdout.startswith("No forecast: this controller simulates none (--forecasts off).\n"), done
    status = alice.api.get(f"{GROUP}/namespaces/{alice.ns}/queuedjobs/mine")["status"]
    assert status["noForecasts"] is True and "start" not in status, status
    assert plays(alice.world) == 0


def plays(world):
    metrics = world.box.controller_api().raw("GET", "/metrics").decode()
    return int(re.search(r"^sluice_forecast_plays_total (\d+)$", metrics, re.M)[1])


@pytest.mark.flags("--log-level", "debug")  # a controller that nobody has asked yet
def test_a_page_that_nobody_touches_makes_it_play_nothing(world):
    world.queue(cpu=1)
    world.job("runs", cpu=1)
    world.started("runs")
    world.job("waits", cpu=1)
    world.waits("waits", "WaitingForQuota")
    before = plays(world)

    def ask(**headers):
        token = {"Authorization": f"Bearer {world.box.controller_token}"} if world.box.controller_token else {}
        request = urllib.request.Request(f"{world.box.controller_url()}{GROUP}/queuedjobs", headers={**headers, **token})
        with urllib.request.urlopen(request, timeout=SOON) as answer:
            return json.load(answer)["items"]
    until = time.time() + 4
    while time.time() < until:
        assert ask(**{"Sluice-Unattended": "true"})
        time.sleep(0.5)
    assert plays(world) == before
    wait_until("plays, once somebody asks", lambda: ask() and plays(world) > before, SOON)


# ---- what it was worth -----------------------------------------------------------------------


JOBS = searched(70, 140)
JUST_BEGUN = pytest.param("BestEffortFIFO", marks=pytest.mark.flags("--log-level", "debug"))  # flags of its own: a controller of its own


@pytest.mark.search
@pytest.mark.parametrize("strategy", [JUST_BEGUN, *searched([], ["StrictFIFO"])])
def test_most_start_within_what_they_were_told(world, api_is_there, strategy):
    """Jobs of four families in a queue that is full; asked at random moments of their waits. That of StrictFIFO has
    a window, which opens after a while. In that of BestEffortFIFO small Jobs that come later pass the large ones, and its
    controller has just begun: no run and no Job is known to it (docs/when.md).
    Between the end of a run and the start that it makes room for a busy machine takes a second or two, which no play
    knows of, and a Job waits for a chain of them: it may take a fifth longer than it was told."""
    draw = random.Random(21)
    families = {"eval-": (4, 1), "sweep-": (8, 1), "prep-": (6, 2), "train-": (12, 4)}  # about so many seconds, so many cpu
    left, told, started = JOBS, {}, {}
    world.queue(cpu=20, queueingStrategy=strategy)
    opens = datetime.datetime.fromtimestamp((time.time() + 30) // 60 * 60 + 60, datetime.timezone.utc)
    if strategy == "StrictFIFO":
        make_window(world, world.full("q"), opens)
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

    until = time.time() + 4 * LATER
    while (left > 0 or waiting) and time.time() < until:
        while left > 0 and len(waiting) < 24:
            submit()
            left -= 1
        for name in draw.sample(sorted(waiting), min(5, len(waiting))):
            start = start_of(world.api, world.ns, name)
            if start and name not in told:
                told[name] = start
        look()
        time.sleep(2)
    judged = [name for name in told if name in started]
    if strategy == "StrictFIFO":
        early = [name for name in told if instant(told[name]["asOf"]) < opens.timestamp()]
        assert len(early) >= 10 and all(instant(told[name]["p10"]) >= opens.timestamp() for name in early), "those that were asked for before it opened"

    def late(name):
        """By how much of the wait that was told, beyond the second that a status cannot tell."""
        p90 = instant(told[name]["p90"])
        return (started[name] - 2 - p90) / (p90 - instant(told[name]["asOf"]) + 1)
    within = [name for name in judged if "p90" in told[name] and late(name) <= 0.2]
    strictly = sum(late(name) <= 0 for name in within)
    print(f"{strategy}: {len(judged)} asked, {strictly} started within the told 90 % bound, {len(within)} within that and a fifth")
    assert len(judged) >= JOBS / 3 and len(within) >= 0.8 * len(judged), (len(within), len(judged))
