"""A pooler that breaks sessions (PgBouncer in transaction mode) between the controllers and Postgres.

Each transaction may run on another server connection, which other clients use before and after. So a
leader has no lock that tells that it lives (session_lock.sql): one that is killed is noticed when its
lease has run out. Nothing else is lost by it, and nothing may stay behind on a connection."""

import json
import time

import pytest
from conftest import LATER, RECOVERY, own_plane, readyz, start_controller, wait_leading
from sandbox import wait_until
from sandbox.pooler import Pooler
from test_restore import Scene

ONE, TWO = "controller-one", "controller-two"
STATE = "select holder, epoch, session_lock is null, extract(epoch from expires_at - clock_timestamp()) from sluice.lease"
# The leader's and the standbys' own lock is asked for in a transaction, and gone a moment later.
LEFT_BEHIND = "select pid from pg_locks where locktype = 'advisory' and objsubid = 1 and granted"


@pytest.fixture(scope="module")
def place():
    with own_plane("pooler") as box:
        yield box


@pytest.fixture
def pooler(place):
    with Pooler(place) as pooler:
        yield pooler
        for component in place.controllers():
            place.process(component).stop()


def nothing_is_left_behind(box):
    """A lock that is held for a moment may be seen; one that stays does not go."""
    wait_until("no lock to be left on a connection", lambda: box.sql(LEFT_BEHIND) == [], LATER)


def lease(box):
    """(holder, epoch, whether no lock tells that it lives, seconds that are left)."""
    holder, epoch, unlocked, left = box.sql(STATE)[0]
    return holder, int(epoch), unlocked == "t", float(left)


def stand_by(box, identity):
    start_controller(box, identity, extra=())
    name = f"controller-{identity}"
    wait_until(f"{name} to stand by", lambda: readyz(box, name)[1].startswith("standby"), LATER, box.process(name))


def doctor(box, program):
    """{check: (verdict, text)}."""
    done = program("sluice", "doctor", "--kubeconfig", box.kubeconfig, "--database", box.database, "--settle", "0s", "-o", "json")
    return {c["name"]: (c["verdict"], " ".join([c.get("detail") or "", *(f["text"] for f in c["findings"])]))
            for c in json.loads(done.stdout)["checks"]}


def kill_the_leader(box, longer=False):
    """kill -9. Seconds that its lease had left then, and seconds until the other leads. `longer`: it is given an hour then."""
    box.kill(ONE)
    began = time.monotonic()
    left = lease(box)[3]
    if longer:
        box.sql("update sluice.lease set expires_at = now() + interval '1 hour' where holder = 'one'")
    wait_leading(box, TWO, RECOVERY)
    return left, time.monotonic() - began


def test_jobs_run_through_a_pooler_and_a_standby_takes_over_when_the_lease_has_run_out(place, pooler, program):
    start_controller(place, extra=())
    wait_leading(place)
    stand_by(place, "two")
    scene = Scene(place)
    world, long, short = scene.world, ["r1", "r2", "r3"], [f"s{i}" for i in range(12)]
    scene.run(*long)
    scene.remember(*long)
    for name in short:
        world.job(name, seconds=2)
    wait_until("some of them to be through", lambda: scene.told("RELEASE") >= 5, LATER)

    holder, epoch, unlocked, _ = lease(place)
    assert holder == "one" and unlocked, "it trusts in a lock that is on a connection of others"
    nothing_is_left_behind(place)
    said = doctor(place, program)
    print(f"\n{said['pooler']}\n{said['lease']}")
    assert said["pooler"][0] == "ok" and "no session is relied on" in said["pooler"][1]
    assert said["lease"][0] == "warn" and "there is a pooler between it and Postgres" in said["lease"][1]

    left, took = kill_the_leader(place)
    print(f"the lease had {left:.1f} s left; the standby leads after {took:.1f} s")
    assert left - 1 < took, "it took over while the lease ran"
    assert lease(place)[:3] == ("two", epoch + 1, True)
    world.finished(*short, timeout=RECOVERY)
    scene.started_once(*long, *short)
    print(f"a new Job starts in {scene.next_start():.1f} s")
    scene.unharmed()
    scene.right()
    nothing_is_left_behind(place)
    scene.end()


def test_a_leader_with_a_session_of_its_own_and_a_standby_behind_the_pooler(place, pooler):
    """The standby looks for the leader's lock on connections that others use as well, and leaves none behind."""
    with_pooler, place.pooler = place.pooler, None
    start_controller(place, extra=())
    wait_leading(place)
    place.pooler = with_pooler
    stand_by(place, "two")
    _, epoch, unlocked, _ = lease(place)
    assert not unlocked
    wait_until("the leader's lock alone", lambda: len(place.sql(LEFT_BEHIND)) == 1, LATER)  # and not a standby's look for it
    # It is not the lease that runs out: that it is gone is noticed at once, if the leader's own session breaks.
    _, took = kill_the_leader(place, longer=True)
    print(f"\nthe standby leads after {took:.1f} s")
    assert lease(place)[:3] == ("two", epoch + 1, True)
    nothing_is_left_behind(place)
