"""What runs cost: the segments in Postgres, `sluice cost`, the Budget's status and the bills say the same."""

import csv
import io
import json
import signal
from decimal import Decimal

import pytest
from conftest import LATER, RECOVERY, as_account, wait_leading
from objects import SUBMITTED, has, job, jobs_path, ours, path_of, submitter, who
from sandbox import ApiError
from settled import booked
from test_rights import bind

MICRO = Decimal(1000000)


@pytest.fixture
def sluice(program, world):
    def run(*args):
        world.box.wait_visible(LATER)
        return program("sluice", *args, env={"KUBECONFIG": str(world.box.kubeconfig)})
    return run


@pytest.fixture
def priced(world):
    """A queue where a core costs a hundredth of a unit a second, and its Budget."""
    name = world.queue(cpu=4)
    world.create("priceplans", ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [name], "base": {"cpu": "36.00"}}))
    world.create("budgets", ours("Budget", world.full("budget"), {
        "queue": name, "period": "Monthly", "timeZone": "Europe/Berlin", "currency": "EUR", "amount": "5000.00"}))
    world.wait("the Budget to be active", lambda: has(world.api.get(path_of("budgets", world.full("budget"))), "Active"))
    world.wait("the plan to be in force", lambda: has(world.api.get(path_of("priceplans", world.full("plan"))), "Active"))
    return world


def status(world):
    return world.api.get(path_of("budgets", world.full("budget"))).get("status", {"conditions": []})


def segments(world):
    """[(name, owner, labels, cost in units, seconds)], as the view has them."""
    rows = world.box.sql("select name, owner, coalesce(labels::text, ''), cost_micro, extract(epoch from stopped_at - started_at), "
                         f"price from sluice.segment where ns = '{world.ns}' order by started_at")
    return [{"name": r[0], "owner": r[1], "labels": json.loads(r[2] or "{}"), "cost": Decimal(r[3]) / MICRO, "seconds": Decimal(r[4]),
             "price": json.loads(r[5])} for r in rows]


def asked(sluice, *args):
    done = sluice("cost", *args, "-o", "json")
    assert done.returncode == 0 and not done.stderr, done
    return json.loads(done.stdout)


def row(answer, key):
    return next((r for r in answer["rows"] if r["key"] == key and r["currency"] == "EUR"), None)


def run_three(world):
    """Two of team red, the second with two cores, and one of no team."""
    red = {"team": f"{world.ns}-red", "app": "not-on-bills"}
    world.job("a", cpu=1, seconds=2, labels=red)
    world.job("b", cpu=2, seconds=3, labels=red)
    world.job("c", cpu=1, seconds=1)
    world.finished("a", "b", "c")
    world.empty()


def test_segments_and_sluice_cost_and_the_budget_say_the_same(priced, sluice):
    run_three(priced)
    bills = {s["name"]: s for s in segments(priced)}
    total = sum(s["cost"] for s in bills.values())
    for name, cores in ("a", 1), ("b", 2), ("c", 1):
        s = bills[name]
        assert abs(s["cost"] - s["seconds"] * cores / 100) <= 1 / MICRO, s
        assert [p["perHour"] for p in s["price"]] == [f"{36 * cores}.00"], s
        assert s["owner"] == name
    assert bills["a"]["labels"] == bills["b"]["labels"] == {"team": f"{priced.ns}-red"} and bills["c"]["labels"] == {}

    by_queue = row(asked(sluice), priced.full("q"))
    assert Decimal(by_queue["cost"]) == total and by_queue["runs"] == 3 and by_queue["running"] == 0
    assert Decimal(row(asked(sluice, "--by", "namespace", "--since", "1h"), priced.ns)["cost"]) == total
    assert Decimal(row(asked(sluice, "--by", "owner"), f"{priced.ns}/b")["cost"]) == bills["b"]["cost"]
    red = row(asked(sluice, "--by", "label=team"), f"{priced.ns}-red")
    assert Decimal(red["cost"]) == bills["a"]["cost"] + bills["b"]["cost"] and red["runs"] == 2
    priced.wait("the Budget to have spent as much", lambda: Decimal(status(priced)["spent"]) == total)

    view = priced.box.sql(f"select sum(cost), sum(month_to_date) from sluice.spend where clusterqueue = '{priced.full('q')}'")
    assert Decimal(view[0][0]) == total
    assert row(asked(sluice, "--since", "1h", "--until", "30m"), priced.full("q")) is None


def may(api, ns):
    try:
        return api.get(jobs_path(ns)) is not None
    except ApiError:
        return False


@pytest.mark.since_kubernetes(36, "has no policy that writes who submitted a Job")
def test_costs_are_told_by_whoever_submitted_the_job(priced, sluice):
    """Of runs that have ended, of those that go on, and across a change of the leader."""
    bind(priced, "alice", "sluice-batch-user")
    alice = as_account(priced.box, priced.ns, "alice")
    name = who(alice)

    def submit(job_name, **kw):
        return alice.post(jobs_path(priced.ns), job(job_name, "q", requests={"cpu": "1"}, **kw))
    priced.wait("her rights to be known", lambda: may(alice, priced.ns))
    assert submitter(submit("hers", seconds=2, annotations={SUBMITTED: who(priced.api)})) == name
    priced.job("mine", cpu=1, seconds=2)
    priced.finished("hers", "mine")
    submit("long")
    priced.started("long")
    priced.wait("both bills", lambda: len(segments(priced)) == 2)
    assert priced.box.sql(f"select name, submitted_by from sluice.cost where namespace = '{priced.ns}' order by name") == [
        ["hers", name], ["mine", who(priced.api)]]
    assert priced.box.sql(f"select submitted_by from sluice.hold where ns = '{priced.ns}'") == [[name]]

    def hers():
        r = row(asked(sluice, "--by", "user"), name) or {}
        return r.get("runs"), r.get("running")
    priced.wait("one to have ended and one to go on", lambda: hers() == (1, 1))
    priced.box.kill("controller-one", signal.SIGKILL)
    priced.box.start("controller-one")
    wait_leading(priced.box, timeout=RECOVERY)
    priced.wait("the successor to know whose run goes on", lambda: hers() == (1, 1))
    priced.finish("long")
    priced.finished("long")
    priced.empty()
    bills = {s["name"]: s for s in segments(priced)}
    r = row(asked(sluice, "--by", "user"), name)
    assert Decimal(r["cost"]) == bills["hers"]["cost"] + bills["long"]["cost"] and r["runs"] == 2
    assert name in sluice("cost", "--by", "user").stdout and sluice("cost", "--by", "user").stdout.startswith("USER ")


def test_a_run_that_goes_on_is_counted_with_what_it_has_cost_so_far(priced, sluice):
    priced.job("long", cpu=2)
    priced.started("long")

    def running():
        r = row(asked(sluice, "--by", "owner"), f"{priced.ns}/long")
        return r and r["running"] == 1 and r["runs"] == 0 and Decimal(r["runningCost"]) > Decimal("0.02") and r
    r = priced.wait("the run to have cost something", running)
    assert r["cost"] == r["runningCost"]
    assert Decimal(priced.explain("long")["bill"]["cost"]) >= Decimal(r["cost"])
    priced.finish("long")
    priced.finished("long")
    priced.empty()
    r = row(asked(sluice, "--by", "owner"), f"{priced.ns}/long")
    assert (r["runs"], r["running"], r["runningCost"]) == (1, 0, "0.00")
    assert Decimal(r["cost"]) == segments(priced)[0]["cost"]


def test_kill_9_and_a_successor_neither_lose_nor_double_a_bill(priced, sluice):
    """The Budget of the successor is what its predecessor's segments say, and the run that both led is billed once, from its start."""
    run_three(priced)
    before = sum(s["cost"] for s in segments(priced))
    priced.job("long", cpu=1)
    priced.started("long")
    booked(priced, "long")  # so that both lead while it runs
    priced.box.kill("controller-one", signal.SIGKILL)
    priced.box.start("controller-one")
    wait_leading(priced.box, timeout=RECOVERY)
    priced.wait("the successor to know what was spent", lambda: Decimal(status(priced)["spent"]) == before, RECOVERY)
    priced.finish("long")
    priced.finished("long")
    priced.empty()
    bills = segments(priced)
    total = sum(s["cost"] for s in bills)
    assert [s["name"] for s in bills].count("long") == 1 and len(bills) == 4
    long = bills[-1]
    assert abs(long["cost"] - long["seconds"] / 100) <= 1 / MICRO
    priced.wait("the Budget to have spent it", lambda: Decimal(status(priced)["spent"]) == total)
    assert Decimal(row(asked(sluice), priced.full("q"))["cost"]) == total


def test_a_queue_without_a_plan_costs_nothing_and_says_so(world, sluice):
    world.queue(cpu=1)
    world.job("free", cpu=1, seconds=1)
    world.finished("free")
    world.empty()
    r = next(r for r in asked(sluice, "--by", "namespace")["rows"] if r["key"] == world.ns)
    assert r["currency"] is None and r["runs"] == 1 and "cost" not in r


def test_a_table_and_a_csv(priced, sluice):
    run_three(priced)
    table = sluice("cost", "--by", "namespace").stdout
    assert table.splitlines()[0].split()[:2] == ["NAMESPACE", "ENDED"] and priced.ns in table and "EUR" in table and "total" in table
    rows = list(csv.DictReader(io.StringIO(sluice("cost", "--by", "namespace", "-o", "csv").stdout)))
    mine = next(r for r in rows if r["namespace"] == priced.ns)
    assert Decimal(mine["cost"]) == sum(s["cost"] for s in segments(priced)) and mine["currency"] == "EUR" and mine["runs"] == "3"


@pytest.mark.parametrize("args, says", [
    (["--by", "colour"], "queue, namespace, owner, user or label=KEY"),
    (["--since", "1y"], 'since is "1y"'),
    (["--since", "1d", "--until", "2d"], "no time between"),
    (["-o", "wide"], "it must be table, csv or json"),
    (["batch"], "takes no names"),
])
def test_mistakes_are_told_and_nobody_is_asked(program, args, says):
    done = program("sluice", "cost", *args, env={"KUBECONFIG": "/nowhere"})
    assert done.returncode == 2 and says in done.stderr, done


def test_nobody_there(program, nobody):
    done = program("sluice", "cost", env=nobody)
    assert done.returncode == 3 and "Failed to connect to 127.0.0.1 port 1 " in done.stderr
