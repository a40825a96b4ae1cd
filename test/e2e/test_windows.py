"""Windows on the real control plane: nights of Berlin, by a clock that the test sets.

The controller's clock is a function of the machine's (--clock-offset @FILE): each line of the file
says from which moment on how far it is ahead. So a night passes in the time it takes to write a
line, and what the API server stamped before a step keeps its place. Pods are what is judged: when
they were made and when they were gone, brought to the same clock by the same lines."""

import itertools
import threading
import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from conftest import SOON, World, run_with, wait_leading
from objects import annotations, conditions, job, jobs_path, ours, owner_reference, path_of, story
from sandbox import wait_until
from test_grow import has_size, told

BERLIN = ZoneInfo("Europe/Berlin")
STOPPING_AT = "sluice.dev/stopping-at"

_numbers = itertools.count(1)


def at(text):
    """"Mon 19:00:05" of the week that begins on Monday 2026-11-23, in Berlin."""
    day, clock = text.split()
    hour, minute, second = (int(x) for x in (clock + ":0").split(":")[:3])
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].index(day)
    return datetime(2026, 11, 23, hour, minute, second, tzinfo=BERLIN) + timedelta(days=days)


class Clock:
    def __init__(self, file):
        self.file, self.steps, self.heard = file, [], lambda: True

    def set(self, text, heard=True):
        """The time is `text` from now on, and goes on at its usual pace; the controller has heard of it, unless there is none."""
        before = self.heard() if heard else True
        real = time.time()
        self.steps.append((real, int(at(text).timestamp() - real)))
        self.file.write_text("".join(f"{datetime.fromtimestamp(r, timezone.utc):%Y-%m-%dT%H:%M:%SZ} {o:+d}s\n" for r, o in self.steps))
        if before is not True:
            wait_until("the controller to hear of the time", lambda: self.heard() > before, SOON)

    def of(self, real):
        """The controller's time at that moment of the machine's."""
        offset = next((o for r, o in reversed(self.steps) if r <= real), self.steps[0][1])
        return datetime.fromtimestamp(real + offset, BERLIN)

    def now(self):
        return self.of(time.time())


def set_clock(box, folder, text):
    """The controller goes by a clock of its own from here on, which is returned."""
    clock = Clock(folder / "clock")
    clock.set(text)
    run_with(box, ("--clock-offset", f"@{clock.file}"))
    clock.heard = lambda: box.process("controller-one").log.read_text().count(" clock-set")
    return clock


class Watcher(threading.Thread):
    """Looks at the pods of a namespace as often as it can: [(machine's time before, after, names alive)]."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.world, self.looks, self.over = world, [], threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            before = time.time()
            pods = self.world.pods()
            self.looks.append((before, time.time(), [p["metadata"]["name"] for p in pods]))

    def look_again(self):
        """Until it has, from beginning to end, and seen what is now."""
        seen = len(self.looks)
        wait_until("another look at the pods", lambda: len(self.looks) >= seen + 2, SOON)

    def end(self):
        self.over.set()
        self.join()
        return self.looks


@pytest.fixture
def night(box, request, tmp_path):
    """A world whose controller goes by a clock of its own: (world, clock)."""
    clock = set_clock(box, tmp_path, "Mon 18:50")
    w = World(box, f"night-{next(_numbers)}")
    yield w, clock
    w.end()
    assert box.process("controller-one").alive(), "the controller ended during this test"


def describe(world, action="Suspend", **at_close):
    """Nights of Berlin, a policy and a price for the world's queue q."""
    calendar, plan = world.full("nights"), world.full("prices")
    world.create("calendars", ours("Calendar", calendar, {"timeZone": "Europe/Berlin", "open": [
        {"name": "night", "days": ["Mon-Thu"], "from": "19:00", "to": "07:00"},
        {"name": "weekend", "from": "Fri 19:00", "to": "Mon 07:00"}]}))
    world.create("priceplans", ours("PricePlan", plan, {"currency": "EUR", "queues": [world.full("q")], "base": {"cpu": "0.10"},
                                                        "rates": [{"calendar": calendar, "factor": "0.4"}]}))
    world.create("runpolicies", ours("RunPolicy", world.full("nights"), {
        "queues": [world.full("q")], "calendar": calendar, "atClose": {"action": action, "notice": "10m", **at_close}}))
    in_force(world, "runpolicies", "nights")
    in_force(world, "priceplans", "prices")


def in_force(world, plural, name, active="True"):
    """Until the controller has judged it: who comes from now on is judged by it."""
    world.wait(f"{name} to be judged", lambda: conditions(world.api.get(path_of(plural, world.full(name)))).get("Active", {}).get("status") == active)


def bills(world, name):
    """[(from, to, cost in millionths, pod-ms lost, reason)] of its segments, in order."""
    uid = world.get(name)["metadata"]["uid"]
    rows = world.box.sql("select extract(epoch from started_at), extract(epoch from stopped_at), cost_micro, coalesce(lost_ms, 0), reason "
                         f"from sluice.segment where job_uid = '{uid}' order by attempt")
    return [(float(a), float(b), int(c), int(lost), why) for a, b, c, lost, why in rows]


def owed(world, name, attempt, begin, end):
    """What an attempt costs by the plan, in millionths: of what the ledger says it held, from when to when."""
    uid = world.get(name)["metadata"]["uid"]
    given_back = world.box.sql("select extract(epoch from at), (select sum(amount) from sluice.transfer_line l where l.job_uid = t.job_uid and "
                               "l.attempt = t.attempt and l.kind = 'SHRINK' and l.seq = t.seq and resource = 'cpu') from sluice.transfer t "
                               f"where job_uid = '{uid}' and attempt = {attempt} and kind = 'SHRINK' order by at")
    held, since, cost = 2000, begin, 0
    for moment, milli in [(float(m), int(n)) for m, n in given_back] + [(end, 0)]:
        cost += held / 1000 * hours_at_night_prices(since, moment) * 100000
        held, since = held - milli, moment
    return cost


def hours_at_night_prices(begin, end):
    """An hour of night counts 0.4, one of day 1."""
    sevens = [at(f"{day} {clock}").timestamp() for day in ("Mon", "Tue", "Wed", "Thu") for clock in ("07:00", "19:00")]
    cuts = sorted([begin, end, *(t for t in sevens if begin < t < end)])
    return sum((b - a) / 3600 * (1 if 7 <= datetime.fromtimestamp((a + b) / 2, BERLIN).hour < 19 else 0.4) for a, b in zip(cuts, cuts[1:]))


def test_three_nights(night):
    """A Job that needs days is stopped each morning and goes on each evening, and keeps what is done."""
    world, clock = night
    world.queue(cpu=4)
    describe(world)
    watcher = Watcher(world)
    watcher.start()
    world.job("long", pods=2, completions=6, parallelism=2, completionMode="Indexed")
    said = world.waits("long", "OutsideWindow")
    assert "19:00" in said["sentence"] and world.full("nights") in said["sentence"]
    clock.set("Mon 18:59:58")

    # First night: two of six indexes are done.
    world.started("long")
    world.finish("long")
    world.wait_job("long", "to be done with two indexes", lambda j: j["status"].get("completedIndexes") in ("0,1", "0-1"))
    clock.set("Tue 06:49:55")
    warned = world.wait_job("long", "to be told of the stop", lambda j: STOPPING_AT in annotations(j))
    assert annotations(warned)[STOPPING_AT] == at("Tue 07:00").astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert not warned["spec"]["suspend"] and clock.now() < at("Tue 07:00")
    clock.set("Tue 06:59:57")
    stopped = world.stopped("long")
    assert story(stopped)["reason"] == "WindowClosed" and STOPPING_AT not in annotations(stopped)
    assert stopped["status"]["completedIndexes"] in ("0,1", "0-1"), "what was done is done"
    world.waits("long", "OutsideWindow")
    clock.set("Tue 12:00")
    watcher.look_again()

    # Second night: nobody is there when it opens, nor when it closes. Whoever comes sees that it is open, and closed.
    world.box.kill("controller-one")
    clock.set("Tue 18:59:58", heard=False)
    world.box.start("controller-one")
    wait_leading(world.box)
    world.started("long")
    world.finish("long")
    world.wait_job("long", "to be done with four indexes", lambda j: j["status"].get("completedIndexes") in ("0-3",))
    world.box.kill("controller-one")
    clock.set("Wed 07:00:01", heard=False)
    world.box.start("controller-one")
    wait_leading(world.box)
    world.stopped("long")
    world.waits("long", "OutsideWindow")
    clock.set("Wed 12:00")
    watcher.look_again()

    # Third night: the rest.
    clock.set("Wed 18:59:58")
    world.started("long")
    world.finish("long")
    world.finished("long")
    world.empty()

    looks = watcher.end()
    assert any(names for _, _, names in looks)
    # In the first minutes the last pods go, in however many seconds this machine needs for that.
    day = [(clock.of(before), names) for before, _, names in looks if at("Tue 07:15").timetz() < clock.of(before).timetz() < at("Tue 18:50").timetz()]
    assert {moment.day for moment, _ in day} >= {24, 25} and not [look for look in day if look[1]], "pods in daytime"
    told = [t for t in world.transfers("long") if t != "SHRINK"]
    assert told[:8] == ["RESERVE", "COMMIT", "STOP", "RELEASE"] * 2
    assert [t for t in told[8:] if t != "STOP"] == ["RESERVE", "COMMIT", "RELEASE"], "what ends by itself need not be told to stop"

    paid = bills(world, "long")
    assert [p[4] for p in paid] == ["WindowClosed", "WindowClosed", "Finished"]
    for attempt, (begin, end, cost, lost, why) in enumerate(paid, 1):
        assert abs(cost - owed(world, "long", attempt, begin, end)) <= 2, (attempt, begin, end, cost)
        assert (lost > 0) == (why == "WindowClosed")
    assert abs(paid[0][3] / 1000 - 2 * (at("Tue 07:00").timestamp() - paid[0][0])) < 1800, "two pods since the evening"


def test_what_may_finish_goes_on_and_nobody_else_starts(night):
    """action Finish: LSF's DISPATCH_WINDOW."""
    world, clock = night
    world.queue(cpu=4)
    describe(world, action="Finish")
    clock.set("Mon 19:00:05")
    world.job("first")
    world.started("first")
    clock.set("Tue 07:00:05")
    world.job("second")
    world.waits("second", "OutsideWindow")
    assert not world.get("first")["spec"]["suspend"]
    world.finish("first")
    world.finished("first")


@pytest.mark.parametrize("mode", ["NonIndexed", "Indexed"])
def test_in_the_morning_a_run_gives_the_pods_for_which_there_is_quota_no_more(night, mode):
    """By night there is quota for six pods, by day for two: the run goes on with two, and has six again in the evening."""
    world, clock = night
    world.queue(cpu=2, growInterval="1s")
    calendar = world.full("shifts")
    world.create("calendars", ours("Calendar", calendar, {"timeZone": "Europe/Berlin", "open": [
        {"name": "night", "days": ["Mon-Sun"], "from": "19:00", "to": "07:00"},
        {"name": "day", "days": ["Mon-Sun"], "from": "07:00", "to": "19:00"}]}))
    world.create("runpolicies", ours("RunPolicy", world.full("shifts"), {
        "queues": [world.full("q")], "calendar": calendar, "start": {"fit": "Ignore"},
        "quota": [{"window": "night", "flavor": world.full("any-q"), "resource": "cpu", "nominal": 6}]}))
    in_force(world, "runpolicies", "shifts")
    clock.set("Mon 19:00:05")
    world.job("sweep", pods=6, completions=14, completionMode=mode,
              annotations={"sluice.dev/min-parallelism": "1", "sluice.dev/grow": "true"})
    has_size(world, 6)

    def nominal():
        return [r.get("nominal") for f in world.clusterqueue().get("status", {}).get("flavorsReservation", []) for r in f["resources"]]
    world.wait("the status to have the quota of the night", lambda: nominal() == ["6"])
    clock.set("Tue 06:59:57")
    now = has_size(world, 2)
    why = f"the quota of ClusterQueue {world.full('q')} is smaller since window night is over: 2 cpu in flavor {world.full('any-q')} " \
          f"until Tue 2026-11-24 19:00 CET (RunPolicy {world.full('shifts')})"
    assert not now["spec"]["suspend"]
    assert (story(now)["reason"], story(now)["message"], story(now)["parallelism"]) == ("WindowQuota", why, 6)
    world.wait("an Event that says so", lambda: told(world, "Shrunk") == [f"goes on with 2 of 6 pods (WindowQuota; {why})"])
    # An admin's mistake takes no pods.
    world.set_quota(1)
    clock.set("Tue 18:50")
    assert has_size(world, 2)["spec"]["parallelism"] == 2
    clock.set("Tue 18:59:58")
    has_size(world, 6)
    assert "STOP" not in world.transfers("sweep")
    world.finish_all("sweep")
    world.empty()


def test_a_clock_that_steps_back_stops_what_must_not_run(night):
    world, clock = night
    world.queue(cpu=4)
    describe(world)
    clock.set("Mon 19:00:05")
    world.job("a")
    world.started("a")
    clock.set("Mon 12:00")
    world.stopped("a")
    world.waits("a", "OutsideWindow")
    clock.set("Mon 23:00")
    world.started("a")


def test_an_invalid_zone_starts_nothing_and_stops_nothing(night):
    world, clock = night
    world.queue(cpu=4)
    describe(world)
    clock.set("Mon 20:00")
    world.job("runs")
    world.started("runs")
    world.api.patch(path_of("calendars", world.full("nights")), {"spec": {"timeZone": "Europe/Berlln"}})
    wait_until("the Calendar to say so", lambda: conditions(world.api.get(path_of("calendars", world.full("nights")))).get(
        "Valid", {}).get("status") == "False", SOON)
    # The last valid spec stays in force, for starts and for stops.
    world.job("more")
    world.started("more")
    broken = world.full("broken")
    world.create("calendars", ours("Calendar", broken, {"timeZone": "Nowhere/Atall", "open": [
        {"name": "night", "days": ["Mon-Sun"], "from": "00:00", "to": "24:00"}]}))
    world.create("runpolicies", ours("RunPolicy", broken, {"queues": [world.full("q")], "calendar": broken, "atClose": {"action": "Suspend"}}))
    in_force(world, "runpolicies", "broken", active="False")
    world.job("late")
    said = world.waits("late", "OutsideWindow", "Misconfigured")
    assert broken in said["sentence"]
    assert not world.get("runs")["spec"]["suspend"], "nobody is stopped because of a typo"


def test_the_jobs_of_a_cronjob_wait_for_the_window(night):
    """As the CronJob controller makes them, or `kubectl create job --from`."""
    world, clock = night
    world.queue(cpu=4)
    describe(world)
    clock.set("Mon 12:00")
    template = job("any", "q", {"cpu": "1"})
    cron = world.api.post(f"/apis/batch/v1/namespaces/{world.ns}/cronjobs", {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}}})
    made = job("nightly-1", "q", {"cpu": "1"})
    made["metadata"]["ownerReferences"] = [owner_reference(cron) | {"kind": "CronJob", "name": "nightly", "apiVersion": "batch/v1"}]
    world.api.post(jobs_path(world.ns), made)
    world.waits("nightly-1", "OutsideWindow")
    clock.set("Mon 19:00:01")
    world.started("nightly-1")


def test_start_after_holds_within_the_window(night):
    world, clock = night
    world.queue(cpu=4)
    describe(world)
    clock.set("Mon 19:30")
    world.job("later", annotations={"sluice.dev/start-after": "2026-11-23T20:00 Europe/Berlin"})
    said = world.waits("later", "StartAfter")
    assert "20:00" in said["sentence"]
    clock.set("Mon 19:59:58")
    world.started("later")
