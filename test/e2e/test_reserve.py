"""`sluice reserve` on the real control plane (docs/time.md): what it shows before it asks, what it creates, what
it says of the verdict, and with whose rights. What becomes of an AdvanceReservation in its time: test_reservation.py."""

import json
import os
import pty
import subprocess
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from conftest import BIN, LATER, box_without_past
from objects import conditions, ours, path_of
from sandbox import ApiError
from test_ask import api_is_there  # noqa: F401 (fixture)
from test_rights import bind

EXPECTED = "sluice.dev/expected-duration"
MONDAY = ("--from", "Mon 09:00 Europe/Berlin", "--for", "8h")


@pytest.fixture(scope="module")
def box():
    yield from box_without_past("reserve")


@pytest.fixture
def admin(world, api_is_there, program):  # noqa: F811
    world.queue(cpu=4)
    env = {"KUBECONFIG": str(world.box.kubeconfig), "TZ": "UTC"}
    made = []

    def reserve(*args, name="demo", queue=True):
        full = world.full(name)
        made.append(full)
        return program("sluice", "reserve", *args, *(("--queue", world.full("q")) if queue else ()), "--name", full, env=env, timeout=LATER)

    def get(name="demo"):
        try:
            return world.api.get(path_of("advancereservations", world.full(name)))
        except ApiError as e:
            assert e.status == 404, e
            return None
    yield SimpleNamespace(world=world, env=env, reserve=reserve, get=get, flavor=world.full("any-q"))
    for name in made:
        try:
            world.api.delete(path_of("advancereservations", name))
        except ApiError as e:
            assert e.status == 404, e


def hours_ahead(hours):
    return f"{datetime.now(timezone.utc) + timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"


def at_terminal(admin, answer, *args):
    """The same with somebody who types an answer."""
    hers, theirs = pty.openpty()
    done = subprocess.Popen([str(BIN / "sluice"), "reserve", *args, "--queue", admin.world.full("q"), "--name", admin.world.full("asked")],
                            stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **admin.env})
    os.close(theirs)
    os.write(hers, f"{answer}\n".encode())
    out, err = done.communicate(timeout=LATER)
    os.close(hers)
    return SimpleNamespace(returncode=done.returncode, stdout=out, stderr=err)


def test_a_line_reserves_and_says_so(admin):
    """The flavor has one resource alone, which need not be named."""
    done = admin.reserve("2", admin.flavor, *MONDAY, "--usable-by", f"namespace/{admin.world.ns}", "--yes")
    assert done.returncode == 0 and not done.stderr, done
    shown, review, verdict = done.stdout.partition("\n\n")[0], done.stdout, done.stdout.splitlines()[-1]
    assert f"2 cpu of flavor {admin.flavor}" in shown and "Mon " in shown and "09:00 CE" in shown and "UTC)" in shown and "after 8h" in shown, done
    assert f"{admin.world.full('demo')} would be accepted." in review and "Nothing was written." in review, done
    assert f"AdvanceReservation {admin.world.full('demo')} is accepted" in verdict, done
    made = admin.get()
    assert made["spec"]["flavors"] == [{"name": admin.flavor, "resources": [{"name": "cpu", "amount": "2"}]}], made
    assert made["spec"]["from"].split("T")[1].startswith("09:00:00+0") and made["spec"]["usableBy"] == {"namespaces": [admin.world.ns]}, made


def test_the_same_line_twice_reserves_once(admin):
    assert admin.reserve("2", admin.flavor, *MONDAY, "--yes").returncode == 0
    before = admin.get()["metadata"]["uid"]
    done = admin.reserve("2", admin.flavor, *MONDAY, "--yes")
    assert done.returncode == 2 and "already, so nothing was reserved" in done.stderr, done
    assert admin.get()["metadata"]["uid"] == before


def test_what_cannot_be_kept_is_said_before_and_after(admin):
    """Half is reserved by another one: the review says from when on all would be free."""
    assert admin.reserve("3", admin.flavor, *MONDAY, "--yes", name="other").returncode == 0
    done = admin.reserve("2", admin.flavor, *MONDAY, "--yes")
    assert done.returncode == 1 and not done.stderr, done
    name, other = admin.world.full("demo"), admin.world.full("other")
    before, _, after = done.stdout.partition("Nothing was written.")
    assert f"{name} would not be accepted: " in before and other in before and "it could be kept from " in before, done
    assert f"AdvanceReservation {name} is not accepted: " in after and other in after, done
    assert f"kubectl delete advancereservation {name}" in after, done
    # It is looked at again when the other one is gone.
    admin.world.api.delete(path_of("advancereservations", other))
    admin.world.wait("the reservation to be accepted", lambda: [c for c in admin.get().get("status", {}).get("conditions", [])
                                                                if c["type"] == "Accepted" and c["status"] == "True"], LATER)


def test_more_than_there_is_can_never_be(admin):
    done = admin.reserve("5", admin.flavor, *MONDAY, "--yes")
    assert done.returncode == 1 and "would not be accepted: " in done.stdout and "could be kept" not in done.stdout, done


def test_a_start_that_it_moves_is_named(admin):
    """The Job would start in an hour and take six. From the third hour on all is reserved, so it starts when that is over."""
    world = admin.world
    world.job("runs", cpu=4, annotations={EXPECTED: "1h"})
    world.started("runs")
    world.job("next", cpu=4, annotations={EXPECTED: "6h"})
    world.waits("next", "WaitingForQuota")
    done = admin.reserve("--maintenance", "--all-of", admin.flavor, "--from", hours_ahead(3), "--for", "8h", "--yes")
    assert done.returncode == 0, done
    row = [line for line in done.stdout.splitlines() if line.startswith(f"{world.ns}/next ")]
    assert row and "later" in row[0] and "1 starts later" in done.stdout, done.stdout


def test_from_now_on_it_is_active(admin):
    done = admin.reserve("2", admin.flavor, "--from", "now", "--for", "1h", "--yes")
    assert done.returncode == 0, done
    admin.world.wait("the reservation to be active", lambda: admin.get().get("status", {}).get("state") == "Active")


def test_its_price_is_told_before_and_after(admin):
    world = admin.world
    world.create("priceplans", ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [world.full("q")], "base": {"cpu": "1.50"}}))
    world.wait("the prices to be known", lambda: conditions(world.api.get(path_of("priceplans", world.full("plan")))).get("Active", {}).get("status") == "True")
    done = admin.reserve("2", admin.flavor, *MONDAY, "--yes")
    assert done.returncode == 0, done
    before, _, after = done.stdout.partition("Nothing was written.")
    assert "It costs 24.00 EUR if all of that window is used." in before, done.stdout
    assert "It costs 24.00 EUR if all of it is used." in after, done.stdout


def test_nothing_is_made_unless_it_is_wanted(admin):
    done = admin.reserve("2", admin.flavor, *MONDAY)
    assert done.returncode == 2 and "--yes" in done.stderr and "would be accepted" in done.stdout, done
    assert admin.get() is None
    for answer in ("", "n", "yess"):
        done = at_terminal(admin, answer, "2", admin.flavor, *MONDAY)
        assert done.returncode == 1 and "Reserve? [y/N]" in done.stderr and "Nothing was reserved." in done.stderr, done
    assert admin.get("asked") is None
    done = at_terminal(admin, "y", "2", admin.flavor, *MONDAY)
    assert done.returncode == 0 and "is accepted" in done.stdout, done
    admin.world.api.delete(path_of("advancereservations", admin.world.full("asked")))


def test_maintenance_of_a_whole_flavor(admin):
    done = admin.reserve("--maintenance", "--all-of", admin.flavor, "--from", "Sat 20:00", "--for", "6h", "--yes", name="upgrade", queue=False)
    assert done.returncode == 0 and "no Job may use it" in done.stdout, done
    made = admin.get("upgrade")["spec"]
    assert made["maintenance"] is True and made["flavors"] == [{"name": admin.flavor}] and "clusterQueue" not in made, made


def test_a_dry_run_prints_what_kubectl_takes(admin):
    done = admin.reserve("2", admin.flavor, "--calendar", "nights", "--release-after", "30m", "--dry-run=client", "-o", "yaml")
    assert done.returncode == 0 and not done.stderr and admin.get() is None, done
    taken = admin.world.box.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", check=False, input=done.stdout, timeout=LATER)
    assert taken.returncode == 0, taken
    spec = json.loads(taken.stdout)["spec"]
    assert spec["calendar"] == "nights" and spec["releaseAfter"] == "30m", spec


@pytest.mark.parametrize("line, words, code", [
    (("2", "{flavor}x", *MONDAY), "has no flavor", 2),
    (("2", "{flavor}", "--from", "2027-03-28 02:30", "--for", "8h"), "", 0),
    (("2", "{flavor}", "--from", "2027-03-28 02:30 Europe/Berlin", "--for", "8h"), "there is no 02:30 on 2027-03-28 in Europe/Berlin", 2),
    (("2", "{flavor}", "--from", "2020-01-01 09:00", "--for", "8h"), "it would be over already", 2),
    (("2", "{flavor}", "--from", "Mon 09:00", "--until", "2020-01-01 09:00"), "is not after --from", 2),
    (("0", "{flavor}", *MONDAY), "is not an amount", 2),
])
def test_a_line_that_makes_no_sense_costs_nothing(admin, line, words, code):
    done = admin.reserve(*(w.format(flavor=admin.flavor) for w in line), "--dry-run=client")
    assert done.returncode == code and words in done.stderr, done
    assert admin.get() is None


def test_a_tenant_may_not_and_is_told_what_to_do(admin, program):
    """Nor is she told of the Jobs of others: a review is of admins."""
    world = admin.world
    bind(world, "alice", "sluice-batch-user")  # whose rights are known then
    config = world.box.account_kubeconfig("alice", world.ns, "alice")
    done = program("sluice", "reserve", "2", f"{admin.flavor}/cpu", "--queue", world.full("q"), *MONDAY, "--name", world.full("demo"), "--yes",
                   env={"KUBECONFIG": str(config)}, timeout=LATER)
    assert done.returncode == 3 and "you may not create AdvanceReservations" in done.stderr and "--dry-run=client" in done.stderr, done
    assert "its effect on other starts are not known: " in done.stdout and "CLUSTERQUEUE" not in done.stdout, done
    assert admin.get() is None
