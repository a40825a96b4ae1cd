"""A clock that is set while the controller runs: windows open and close by it, forward and back.

The controller is a test build with `--clock-offset @FILE`; writing the file sets its time of day.
The API server keeps the machine's."""

import json
import os
import re
import tempfile
import time
from datetime import datetime
from pathlib import Path

import pytest
from objects import STORY, ours, path_of
from settled import booked

CLOCK = Path(tempfile.gettempdir()) / f"sluice-clock-{os.getpid()}"
STOPPING_AT = "sluice.dev/stopping-at"


def set_clock(text):
    """To a time such as 2026-11-23T18:59:30+01:00."""
    new = CLOCK.with_suffix(".new")
    new.write_text(f"{round(datetime.fromisoformat(text).timestamp() - time.time()):+d}s")
    new.rename(CLOCK)


@pytest.fixture(scope="module", autouse=True)
def clock_file():
    set_clock("2026-11-23T12:00:00+01:00")
    yield
    CLOCK.unlink()


def calendar(world, name):
    return world.api.get(path_of("calendars", world.full(name)))


def status(world, plural, name, check, what):
    def asked():
        got = world.api.get(path_of(plural, world.full(name))).get("status", {})
        return check(got) and got
    return world.wait(f"the status of {name} {what}", asked)


def condition(status, kind):
    return next(c for c in status["conditions"] if c["type"] == kind)


def metric(world, line):
    text = world.box.controller_api().raw("GET", "/metrics").decode()
    return next((x.rpartition(" ")[2] for x in text.splitlines() if x.startswith(line)), None)


def events(world, ns, name):
    """{reason: message} of ours on an object."""
    return {e["reason"]: e["message"] for e in world.api.list(f"/api/v1/namespaces/{ns}/events?fieldSelector=involvedObject.name={name}")
            if e["source"].get("component") == "sluice-controller"}


@pytest.fixture
def nights(world):
    world.create("calendars", ours("Calendar", world.full("nights"), {"timeZone": "Europe/Berlin", "open": [
        {"name": "night", "days": ["Mon-Sun"], "from": "19:00", "to": "07:00"}]}))
    world.queue(cpu=4)
    world.create("runpolicies", ours("RunPolicy", world.full("nightly"), {
        "queues": [world.full("q")], "calendar": world.full("nights"), "atClose": {"action": "Suspend", "notice": "10m"}}))
    return world


@pytest.mark.flags("--clock-offset", f"@{CLOCK}")
def test_a_window_opens_and_closes_by_the_clock(nights):
    world = nights
    set_clock("2026-11-23T18:50:00+01:00")
    status(world, "calendars", "nights", lambda s: s.get("state") == "Closed" and s["next"][0]["at"] == "2026-11-23T18:00:00Z", "to be of that day")
    got = status(world, "runpolicies", "nightly", lambda s: s.get("state") == "Closed" and s.get("until") == "2026-11-23T18:00:00Z", "to say Closed")
    assert got["queues"] == 1 and condition(got, "Active")["status"] == "True"
    world.job("sim", pods=2)
    world.wait("the Job to wait for the window", lambda: world.explain("sim")["reason"] == "OutsideWindow")

    set_clock("2026-11-23T19:00:01+01:00")
    world.started("sim")
    booked(world, "sim")  # what is lost counts from there
    got = status(world, "calendars", "nights", lambda s: s.get("state") == "Open", "to say Open")
    assert got["window"] == "night" and got["closesAt"] == "2026-11-24T06:00:00Z"
    assert [n["state"] for n in got["next"]] == ["Closed", "Open", "Closed", "Open", "Closed"]
    assert got["next"][0]["local"] == "Tue 2026-11-24 07:00 CET" and got["tzdata"]
    assert condition(got, "Valid")["status"] == "True" and condition(got, "NeverOpens")["status"] == "False"
    world.wait("the metric to say so", lambda: metric(world, f'sluice_window_open{{calendar="{world.full("nights")}"}}') == "1")

    set_clock("2026-11-24T06:50:01+01:00")
    world.wait("the Job to be told", lambda: world.get("sim")["metadata"]["annotations"].get(STOPPING_AT) == "2026-11-24T06:00:00Z", about="sim")
    assert not world.get("sim")["spec"]["suspend"]

    set_clock("2026-11-24T07:00:00+01:00")
    world.wait("the Job to be stopped", lambda: world.get("sim")["spec"]["suspend"], about="sim")
    world.wait("the notice to be off", lambda: STOPPING_AT not in world.get("sim")["metadata"]["annotations"], about="sim")
    status(world, "calendars", "nights", lambda s: s.get("state") == "Closed" and "closesAt" not in s, "to say Closed")
    lost = world.wait("the metric to count what is lost", lambda: float(metric(
        world, f'sluice_work_lost_seconds_total{{cluster_queue="{world.full("q")}",reason="WindowClosed"}}') or 0))
    assert 2 * 12 * 3600 - 1800 < lost < 2 * 12 * 3600 + 1800

    told = world.wait("the Events", lambda: (e := events(world, world.ns, "sim")).keys() >= {"WindowClosing", "WindowClosed"} and e)
    assert "2026-11-24T06:00:00Z" in told["WindowClosing"] and "of pod time would be lost" in told["WindowClosing"]
    assert re.search(r"\b2 pods x 1[12]h\w* lost\b", told["WindowClosed"]), told

    # Back into the night that is over: open is open.
    set_clock("2026-11-24T02:00:00+01:00")
    world.started("sim")
    world.api.delete(path_of("calendars", world.full("nights")))
    got = status(world, "runpolicies", "nightly", lambda s: s["conditions"][0]["status"] == "False", "to miss its Calendar")
    assert condition(got, "Active")["reason"] == "CalendarNotFound" and "state" not in got
    assert not world.get("sim")["spec"]["suspend"]  # stops nothing


@pytest.mark.flags("--clock-offset", f"@{CLOCK}")
def test_dates_of_a_configmap_close_a_calendar(world):
    set_clock("2026-12-24T12:00:00+01:00")
    maps = "/api/v1/namespaces/sluice-system/configmaps"
    name = world.full("holidays")
    world.create("calendars", ours("Calendar", world.full("days"), {"timeZone": "Europe/Berlin", "open": [
        {"name": "day", "days": ["Mon-Sun"], "from": "08:00", "to": "18:00"}], "except": [
        {"name": "off", "datesFrom": {"configMap": name, "key": "dates"}, "treatAs": "Closed"}]}))
    got = status(world, "calendars", "days", lambda s: "conditions" in s and condition(s, "Valid")["status"] == "False", "to be judged")
    world.wait("an Event", lambda: name in events(world, "default", world.full("days")).get("InvalidSpec", ""))
    assert name in condition(got, "Valid")["message"] and "state" not in got
    world.api.post(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"dates": "2026-12-25"}})
    status(world, "calendars", "days", lambda s: s.get("state") == "Open" and condition(s, "Valid")["status"] == "True", "to say Open")
    world.api.patch(f"{maps}/{name}", {"data": {"dates": "2026-12-24..2026-12-26 # all of it"}})
    got = status(world, "calendars", "days", lambda s: s.get("state") == "Closed", "to say Closed")
    assert got["exception"] == "off" and got["next"][0]["at"] == "2026-12-27T07:00:00Z"
    world.api.delete(f"{maps}/{name}")
    got = status(world, "calendars", "days", lambda s: condition(s, "Valid")["status"] == "False", "to say what is missing")
    assert got["state"] == "Closed"  # the last that made sense stays in force


@pytest.mark.flags("--clock-offset", f"@{CLOCK}")
def test_who_became_exempt_while_it_ran_is_spared(nights):
    world = nights
    set_clock("2026-11-23T22:00:00+01:00")
    status(world, "runpolicies", "nightly", lambda s: s.get("state") == "Open", "to say Open")
    world.job("spared", labels={"keep": "yes"})
    world.job("other")
    world.started("spared")
    world.started("other")
    world.api.patch(path_of("runpolicies", world.full("nightly")), {"spec": {"atClose": {"exempt": {"selector": {"matchLabels": {"keep": "yes"}}}}}})
    status(world, "runpolicies", "nightly", lambda s: s.get("runs") == 2 and s.get("exempt") == 1, "to count the Job that it spares")
    set_clock("2026-11-24T07:00:00+01:00")
    world.wait("the other Job to be stopped", lambda: world.get("other")["spec"]["suspend"], about="other")
    assert not world.get("spared")["spec"]["suspend"]


@pytest.mark.flags("--clock-offset", f"@{CLOCK}", "--clock-rate", "10800")
def test_days_go_by_in_seconds(nights):
    """The controller sleeps until a window turns, however fast its clock runs: four seconds a night."""
    world = nights
    set_clock("2026-11-23T18:00:00+01:00")
    world.job("sim")

    def stopped_again(obj):  # a third night may have come already
        said = json.loads(obj["metadata"].get("annotations", {}).get(STORY, "{}"))
        return obj["spec"]["suspend"] and said.get("attempt", 0) >= 2 and said.get("reason") == "WindowClosed"
    world.wait_job("sim", "to be stopped by a second morning", stopped_again)
