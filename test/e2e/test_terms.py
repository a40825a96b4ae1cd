"""What a Job asks of time and money, written as its owner writes it, and what `sluice explain` says of it."""

import json
import re
import signal
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from conftest import USUAL_FLAGS, start_controller, wait_leading
from objects import has, ours, path_of

BERLIN = ZoneInfo("Europe/Berlin")


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def now():
    return datetime.now(timezone.utc).replace(microsecond=0)


def terms(**annotations):
    return {f"sluice.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}


def said_of(world, name, check, what):
    """What explain says, once it is so."""
    def asked():
        said = world.explain(name)
        return check(said) and said
    return world.wait(f"Job {name} {what}", asked, about=name)


def judged(world, plural, name):
    """Until it is in force: who comes from now on is judged by it."""
    world.wait(f"{name} to be in force", lambda: has(world.api.get(path_of(plural, world.full(name))), "Active"))


@pytest.fixture
def sluice(program, world):
    def run(*args):
        return program("sluice", *args, env={"KUBECONFIG": str(world.box.kubeconfig)})
    return run


BAD = {
    "deadline": ("tomorrow", 'metadata.annotations.sluice.dev/deadline: "tomorrow" names no time zone and no time of day; write both, as in "tomorrow 8:00 Europe/Berlin"'),
    "start-after": ("08:00 Europe/Berlim", 'there is no time zone "Europe/Berlim" where Sluice runs'),
    "on-missed-deadline": ("Cancel", "write RunAnyway or Hold"),
    "start": ("cheap", "write Asap or Cheapest"),
    "max-price": ("0.05 memory", "as memory-gib"),
}


def test_what_makes_no_sense_waits_with_a_sentence(world):
    world.queue(cpu=8)
    for name, (value, _) in BAD.items():
        world.job(name, annotations={f"sluice.dev/{name}": value})
    for name, (_, words) in BAD.items():
        assert words in world.waits(name, "Misconfigured")["sentence"]
    # Its cure is an edit.
    world.patch("start", {"metadata": {"annotations": terms(start="Asap")}})
    world.started("start")


def test_a_time_of_a_zone_is_the_first_after_the_creation(world):
    world.queue(cpu=8)
    later = (now() + timedelta(hours=30)).astimezone(BERLIN).replace(second=0)
    clock = (now() - timedelta(minutes=2)).astimezone(BERLIN).strftime("%H:%M")
    world.job("date", annotations=terms(start_after=f"{later:%Y-%m-%dT%H:%M} Europe/Berlin"))
    world.job("daily", annotations=terms(start_after=f"{clock} Europe/Berlin", deadline="2099-01-01T00:00:00Z"))
    said = world.waits("date", "StartAfter")
    assert instant(said["notBefore"]) == later
    said = world.waits("daily", "StartAfter")
    made = instant(world.get("daily")["metadata"]["creationTimestamp"])
    at = instant(said["notBefore"])
    assert at.astimezone(BERLIN).strftime("%H:%M:%S") == f"{clock}:00" and made < at <= made + timedelta(hours=25)
    assert instant(said["deadline"]) == datetime(2099, 1, 1, tzinfo=timezone.utc) and said["deadlineUnreachable"] is False
    world.patch("date", {"metadata": {"annotations": {"sluice.dev/start-after": None}}})
    world.started("date")


def test_explain_tells_until_when_it_waits_for_its_window(world, sluice):
    opens = (now() + timedelta(days=1)).replace(second=0)
    world.create("calendars", ours("Calendar", world.full("later"), {"timeZone": "UTC", "open": [
        {"name": "once", "at": {"from": f"{opens:%Y-%m-%dT%H:%M}", "to": f"{opens + timedelta(hours=5):%Y-%m-%dT%H:%M}"}}]}))
    world.queue(cpu=4)
    world.create("runpolicies", ours("RunPolicy", world.full("later"), {"queues": [world.full("q")], "calendar": world.full("later")}))
    judged(world, "runpolicies", "later")
    world.job("sim", annotations=terms(expected_duration="90m", deadline=f"{now() + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"))
    said = world.waits("sim", "OutsideWindow")
    assert instant(said["notBefore"]) == opens
    assert (said["expectedMs"], said["expectedFrom"], said["deadlineUnreachable"]) == (5400000, "Annotation", True)
    assert "bill" not in said and "stopsAt" not in said
    text = sluice("explain", "job/sim", "-n", world.ns).stdout
    assert re.search(r"duration +1h30m +as annotation", text) and "DeadlineUnreachable" in text


def test_explain_tells_what_a_run_costs_and_when_it_is_stopped(world, sluice):
    closes = (now() + timedelta(hours=3)).replace(second=0)
    world.create("calendars", ours("Calendar", world.full("now"), {"timeZone": "UTC", "open": [
        {"name": "once", "at": {"from": f"{now() - timedelta(hours=1):%Y-%m-%dT%H:%M}", "to": f"{closes:%Y-%m-%dT%H:%M}"}}]}))
    name = world.queue(cpu=4)
    world.create("runpolicies", ours("RunPolicy", world.full("now"), {
        "queues": [name], "calendar": world.full("now"), "atClose": {"action": "Suspend"}}))
    judged(world, "runpolicies", "now")
    world.create("priceplans", ours("PricePlan", world.full("plan"), {
        "currency": "EUR", "queues": [name], "base": {"cpu": "36.00"}, "rates": [{"calendar": world.full("now"), "factor": "0.5"}]}))
    world.wait("the plan to be in force", lambda: world.api.get(path_of("priceplans", world.full("plan"))).get("status", {}).get("factor") == "0.50")
    world.job("sim", cpu=2, annotations=terms(expected_duration="60m"))
    world.started("sim")
    said = said_of(world, "sim", lambda s: "bill" in s and s["bill"]["cost"] != "0.00", "to cost something")
    assert instant(said["stopsAt"]) == closes
    assert (said["bill"]["currency"], said["bill"]["plan"]) == ("EUR", world.full("plan"))
    assert said["bill"]["perHour"] == "36.00" and said["bill"]["expectedCost"] == "36.00"
    text = sluice("explain", "job/sim", "-n", world.ns).stdout
    assert re.search(r"cost +<?\d+\.\d+ EUR +so far, and 36.00 an hour by PricePlan", text) and re.search(r"stops +20\d\d-", text)
    assert json.loads(sluice("explain", "job/sim", "-n", world.ns, "-o", "json").stdout)["status"]["bill"]["currency"] == "EUR"


@pytest.mark.flags("--note-after", "1s")
def test_the_waiting_annotation_says_until_when(world):
    world.queue(cpu=4)
    at = (now() + timedelta(hours=7)).replace(second=0)
    world.job("sim", annotations=terms(start_after=f"{at:%Y-%m-%dT%H:%M:%SZ}"))
    note = world.wait("a notice", lambda: world.get("sim")["metadata"]["annotations"].get("sluice.dev/waiting"), about="sim")
    assert note.startswith("StartAfter: ") and note.count(f"{at:%Y-%m-%dT%H:%M:%SZ}") == 1, note


BOOKED = "sluice.dev/booked-start"


@pytest.mark.flags("--note-after", "1s")
def test_a_booked_start_that_was_told_outlives_the_controller(world):
    """Jobs of the whole queue, one after the other in the cheap hours. The first of them goes while there is no controller."""
    box, name = world.box, world.queue(cpu=4)
    cheap = (now() + timedelta(hours=20)).replace(minute=0, second=0)
    world.create("calendars", ours("Calendar", world.full("cheap"), {"timeZone": "UTC", "open": [
        {"name": "once", "at": {"from": f"{cheap:%Y-%m-%dT%H:%M}", "to": f"{cheap + timedelta(hours=4):%Y-%m-%dT%H:%M}"}}]}))
    world.create("priceplans", ours("PricePlan", world.full("plan"), {
        "currency": "EUR", "queues": [name], "base": {"cpu": "1.00"}, "rates": [{"calendar": world.full("cheap"), "factor": "0.1"}]}))
    world.wait("the plan to be in force", lambda: world.api.get(path_of("priceplans", world.full("plan"))).get("status", {}).get("factor") == "1.00")

    def told(job, hours):
        at = f"{cheap + timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"
        world.wait(f"Job {job} to be told {at}", lambda: world.get(job)["metadata"].get("annotations", {}).get(BOOKED) == at, about=job)

    def submit(job):
        world.job(job, cpu=4, annotations=terms(start="Cheapest", expected_duration="1h", deadline=f"{cheap + timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"))
    for hours, job in enumerate(("gone", "early", "late")):
        submit(job)
        told(job, hours)
    box.kill("controller-one", signal.SIGKILL)
    world.delete("gone")  # its start is free: Jobs that book as they come would take it
    submit("new")
    start_controller(box, extra=(*USUAL_FLAGS, "--note-after", "1s"))
    wait_leading(box)
    told("new", 0)
    for hours, job in ((1, "early"), (2, "late")):
        said = said_of(world, job, lambda s: s.get("notBefore"), "to wait for its start")
        assert instant(said["notBefore"]) == cheap + timedelta(hours=hours)
        told(job, hours)
