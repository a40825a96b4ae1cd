"""AdvanceReservations on the real control plane.

The controller's clock is set forward (later.py): an hour until a reservation begins is then far from
what takes long because the machine is slow."""

import json
import time
from datetime import datetime, timezone

import pytest
from checks import look
from conftest import SOON, as_account, wait_leading
from later import Later
from objects import conditions, job, jobs_path, ours, path_of, story
from sandbox import ApiError
from test_rights import bind

EXPECTED = "sluice.dev/expected-duration"
TIME = Later("reservation")
MINUTE = 60

pytestmark = pytest.mark.flags(*TIME.flags)


@pytest.fixture(scope="module", autouse=True)
def time_file():
    TIME.begin()
    yield
    TIME.end()


@pytest.fixture(autouse=True)
def books(world):
    yield
    faults = look(world.box, world.ns)
    assert not faults, faults


def stamp(seconds):
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def in_minutes(begin, end):
    """from and until, so many minutes from now by the controller's clock."""
    now = time.time() + TIME.ahead
    return {"from": stamp(now + begin * MINUTE), "until": stamp(now + end * MINUTE)}


def amounts(world, cpu, queue="q"):
    return [{"name": world.full(f"any-{queue}"), "resources": [{"name": "cpu", "amount": cpu}]}]


def reservation(world, name, cpu=4, begin=30, end=90, **spec):
    return ours("AdvanceReservation", world.full(name), {"clusterQueue": world.full("q"), "flavors": amounts(world, cpu),
                                                         **in_minutes(begin, end), **spec})


def reserve(world, name="demo", *args, **spec):
    world.create("advancereservations", reservation(world, name, *args, **spec))


def get(world, name="demo"):
    return world.api.get(path_of("advancereservations", world.full(name)))


def says(world, name, kind, status, reason, timeout=SOON):
    """Until the condition is that; its sentence."""
    def asked():
        c = conditions(get(world, name)).get(kind, {})
        return (c.get("status"), c.get("reason")) == (status, reason) and c
    try:
        return world.wait(f"{name} to be {kind}={status} ({reason})", asked, timeout)["message"]
    except AssertionError as e:
        raise AssertionError(f"{e}\nits status: {get(world, name).get('status')}") from None


def accepted(world, name="demo"):
    says(world, name, "Accepted", "True", "Accepted")
    says(world, name, "Kept", "True", "Kept")


def state(world, wanted, name="demo"):
    world.wait(f"{name} to be {wanted}", lambda: get(world, name).get("status", {}).get("state") == wanted)


def rows(world, name="demo"):
    """[(flavor, resource, amount, left, used)]"""
    return [(f["name"], r["name"], r["amount"], r["left"], r["used"]) for f in get(world, name)["status"].get("flavors", []) for r in f["resources"]]


def rows_are(world, *wanted, name="demo"):
    """Until the status says so: figures may be written after the conditions."""
    world.wait(f"{name} to say {wanted}", lambda: rows(world, name) == list(wanted))


def events(world, reason, kind, name):
    where = "default" if kind == "AdvanceReservation" else world.ns
    found = world.api.list(f"/api/v1/namespaces/{where}/events")
    return [e.get("message", "") for e in found if e["reason"] == reason and e["involvedObject"]["kind"] == kind and e["involvedObject"]["name"] == name]


@pytest.fixture
def anna(world):
    """Somebody else who submits Jobs in this namespace: (her Api, the name by which she is known)."""
    bind(world, "anna", "sluice-batch-user")
    return as_account(world.box, world.ns, "anna"), f"system:serviceaccount:{world.ns}:anna"


def submit(world, api, name, cpu=4, expected="1h"):
    """A Job of whoever has this Api; its rights may not be known to the API server yet."""
    def asked():
        try:
            return api.post(jobs_path(world.ns), job(name, "q", {"cpu": str(cpu)}, annotations={EXPECTED: expected}))
        except ApiError as e:
            if e.status != 403:
                raise
    world.wait(f"Job {name} to be taken", asked)


def test_its_jobs_start_at_its_beginning_and_others_wait(world, anna):
    """One that is still running then is stopped, for it said that it would be over."""
    api, user = anna
    world.queue(cpu=4)
    world.job("early", cpu=4, annotations={EXPECTED: "20m"})
    world.started("early")
    reserve(world, usableBy={"users": [user]})
    accepted(world)
    status = get(world)["status"]
    assert status["state"] == "Scheduled" and status["stoppedRuns"] == 0
    assert (status["from"], status["until"]) == (get(world)["spec"]["from"], get(world)["spec"]["until"])
    rows_are(world, (world.full("any-q"), "cpu", "4", "4", "0"))

    world.job("other", cpu=4, annotations={EXPECTED: "1h"})
    submit(world, api, "hers")
    world.waits("other")
    world.waits("hers")
    TIME.forward(world.box, 31 * MINUTE)
    world.started("hers")  # though it will go on for a minute longer than its quota is reserved
    state(world, "Active")
    early = world.stopped("early")
    assert (story(early)["state"], story(early)["reason"]) == ("Stopped", "AdvanceReservation"), story(early)
    world.wait("an Event of the stop", lambda: events(world, "AdvanceReservation", "Job", "early"))
    assert world.full("demo") in events(world, "AdvanceReservation", "Job", "early")[0]
    rows_are(world, (world.full("any-q"), "cpu", "4", "4", "4"))
    world.wait("the run that was stopped to be counted", lambda: get(world)["status"]["stoppedRuns"] == 1)

    world.finish("hers")
    world.finished("hers")
    assert world.full("demo") in world.waits("other", "ReservedForOthers")["sentence"]
    world.api.delete(path_of("advancereservations", world.full("demo")))
    world.started("early")  # at its old place, ahead of the other


def test_before_it_begins_what_ends_in_time_may_start(world):
    world.queue(cpu=4)
    reserve(world, usableBy={"users": ["somebody"]})
    accepted(world)
    world.job("long", cpu=1, annotations={EXPECTED: "1h"})
    assert world.full("demo") in world.waits("long", "ReservedForOthers")["sentence"]
    world.job("short", cpu=1, annotations={EXPECTED: "10m"})
    world.started("short")
    assert world.get("long")["spec"]["suspend"]
    TIME.forward(world.box, 91 * MINUTE)  # past its end
    world.started("long")
    state(world, "Ended")
    assert conditions(get(world))["Accepted"]["status"] == "True"


def test_maintenance_is_for_nobody(world):
    """Of a flavor in all ClusterQueues."""
    flavor = world.flavor("nodes")
    world.queue("a", flavors={flavor: 4})
    world.queue("b", flavors={flavor: 2})
    world.create("advancereservations", ours("AdvanceReservation", world.full("upgrade"), {
        "maintenance": True, "flavors": [{"name": flavor}], **in_minutes(30, 60)}))
    accepted(world, "upgrade")
    rows_are(world, (flavor, "cpu", "6", "6", "0"), name="upgrade")
    for q in "a", "b":
        world.job(f"short-{q}", queue=q, annotations={EXPECTED: "10m"})
        world.job(f"long-{q}", queue=q, annotations={EXPECTED: "1h"})
    world.started("short-a", "short-b")
    for q in "a", "b":
        assert world.full("upgrade") in world.waits(f"long-{q}", "ReservedForOthers")["sentence"]
    world.finish("short-a", "short-b")
    world.finished("short-a", "short-b")
    TIME.forward(world.box, 31 * MINUTE)
    state(world, "Active", "upgrade")
    world.job("now", queue="a", annotations={EXPECTED: "1s"})
    world.waits("now", "ReservedForOthers")
    TIME.forward(world.box, 30 * MINUTE)
    world.started("now", "long-a", "long-b")
    state(world, "Ended", "upgrade")


def test_a_refusal_says_why_and_from_when_on_it_could_be_kept(world):
    world.queue(cpu=4)
    reserve(world, "first", cpu=3)
    accepted(world, "first")
    reserve(world, "second", cpu=2)
    said = says(world, "second", "Accepted", "False", "NotFree")
    assert world.full("first") in said, said
    status = get(world, "second")["status"]
    assert status["state"] == "Refused" and status["possibleFrom"] == get(world, "first")["spec"]["until"]
    assert "Kept" not in conditions(get(world, "second"))
    world.wait("an Event of the refusal", lambda: events(world, "NotFree", "AdvanceReservation", world.full("second")))
    reserve(world, "large", cpu=5)
    says(world, "large", "Accepted", "False", "TooMuch")
    reserve(world, "late", begin=-90, end=-30)
    says(world, "late", "Accepted", "False", "InThePast")
    reserve(world, "elsewhere", clusterQueue=world.full("nothing"))
    says(world, "elsewhere", "Accepted", "False", "ClusterQueueNotFound")
    reserve(world, "beside", cpu=1)
    accepted(world, "beside")
    # What was in its way goes: it is looked at again within a minute.
    world.api.delete(path_of("advancereservations", world.full("first")))
    TIME.forward(world.box, 2 * MINUTE)
    says(world, "second", "Accepted", "True", "Accepted")
    world.wait("an Event that it is accepted", lambda: events(world, "Accepted", "AdvanceReservation", world.full("second")))


def test_what_nobody_uses_is_given_back(world):
    world.queue(cpu=4)
    reserve(world, usableBy={"users": ["somebody"]}, releaseAfter="10m")
    accepted(world)
    world.job("other", cpu=4, annotations={EXPECTED: "1h"})
    world.waits("other", "ReservedForOthers")
    TIME.forward(world.box, 32 * MINUTE)
    state(world, "Active")
    assert world.get("other")["spec"]["suspend"]
    TIME.forward(world.box, 10 * MINUTE)
    world.started("other")
    rows_are(world, (world.full("any-q"), "cpu", "4", "0", "0"))
    world.wait("since when it is left", lambda: get(world)["status"].get("leftFrom") == get(world)["spec"]["from"])
    # Another leader reads it from the status: nothing that was given back is taken again.
    world.restart()
    world.job("behind", cpu=1)
    world.waits("behind")
    assert not world.get("other")["spec"]["suspend"]
    rows_are(world, (world.full("any-q"), "cpu", "4", "0", "0"))
    says(world, "demo", "Accepted", "True", "Accepted")


def test_another_leader_keeps_what_was_accepted(world, anna):
    """Also where it would not accept it itself: a run has taken longer than it said, meanwhile."""
    api, user = anna
    world.queue(cpu=4)
    world.job("early", cpu=4, annotations={EXPECTED: "20m"})
    world.started("early")
    reserve(world, usableBy={"users": [user]})
    accepted(world)
    before = get(world)
    TIME.forward(world.box, 25 * MINUTE)  # it is expected to take 40 minutes now
    world.box.restart("controller-one")  # kill -9
    wait_leading(world.box)
    submit(world, api, "hers")
    world.waits("hers")  # the new leader has decided
    after = get(world)
    assert conditions(after)["Accepted"] == conditions(before)["Accepted"]
    assert (after["status"]["from"], after["status"]["until"]) == (before["status"]["from"], before["status"]["until"])
    TIME.forward(world.box, 6 * MINUTE)
    world.started("hers")
    world.stopped("early")
    assert story(world.get("early"))["reason"] == "AdvanceReservation"


def test_quota_that_is_lowered_is_told_before_the_time(world):
    world.queue(cpu=4)
    reserve(world)
    accepted(world)
    world.set_quota(3)
    says(world, "demo", "Kept", "False", "QuotaLowered")
    assert get(world)["status"]["state"] == "Scheduled"
    world.wait("an Event", lambda: events(world, "QuotaLowered", "AdvanceReservation", world.full("demo")))
    world.set_quota(4)
    says(world, "demo", "Kept", "True", "Kept")


def test_whose_quota_it_is(world, anna, tmp_path):
    """Its right is an admin's. What it reserves cannot be edited, and the same manifest again is nothing new."""
    api, _ = anna
    world.queue(cpu=4)
    obj = reservation(world, "demo")
    submit(world, api, "hers", cpu=1)  # by now her rights are known
    with pytest.raises(ApiError) as refused:
        api.post(path_of("advancereservations"), obj)
    assert refused.value.status == 403
    file = tmp_path / "demo.json"
    file.write_text(json.dumps(obj))
    world.made.append(path_of("advancereservations", world.full("demo")))
    assert "created" in world.box.kubectl("apply", "-f", file).stdout
    accepted(world)

    def written():
        """By the same manifest once more; the controller may have some of its status to write yet."""
        before = get(world)["metadata"]
        assert "unchanged" in world.box.kubectl("apply", "-f", file).stdout
        after = get(world)["metadata"]
        assert after["generation"] == before["generation"] == 1
        return after["resourceVersion"] != before["resourceVersion"]
    world.wait("nobody to write it", lambda: not written())
    with pytest.raises(ApiError) as refused:
        world.api.patch(path_of("advancereservations", world.full("demo")), {"spec": {"flavors": amounts(world, 2)}})
    assert "only usableBy and releaseAfter can be edited: make another AdvanceReservation and delete this one" in refused.value.message
    # What can be edited costs nothing of what was accepted.
    world.api.patch(path_of("advancereservations", world.full("demo")), {"spec": {"usableBy": {"users": ["somebody"]}}})
    world.wait("the new generation to be judged", lambda: conditions(get(world))["Accepted"]["observedGeneration"] == 2)
    accepted(world)
    world.job("other", cpu=4, annotations={EXPECTED: "1h"})
    world.waits("other")
