"""One figure, one number: what is told in several places is the same in each of them.

One world: two ClusterQueues of a Cohort, of which one borrows all that the other has free; Jobs that wait there, the first of
which can never start; a Budget that has paid for a run and keeps money for another. Each figure is asked of all its surfaces:
the status of the objects, /metrics, the controller's API, what the page draws of that (where there is a Chromium), the aggregated
API, `sluice` with either of these, kubectl, and the views of the ledger."""

import json
import re
import subprocess
from decimal import Decimal
from types import SimpleNamespace

import pytest
from browser import lacks
from conftest import LATER, SOON
from objects import cents, has, ours, path_of
from sandbox import ApiError, SandboxError, asking, wait_until
from settled import booked
from test_limits import metric
from test_page import chromium, open_page  # noqa: F401 (fixtures)

GROUP = "/apis/visibility.sluice.dev/v1alpha1"
EXPECTED = "sluice.dev/expected-duration"
LINE = {"next": 1, "last": 2}  # positions, in the order of the line; `never` is over quota and has none


@pytest.fixture
def shop(world, program, open_page):  # noqa: F811
    """Two cores an hour of which cost 72; `big` holds five of six cores, two of them its own queue's, for two hours at most."""
    f, b = world.flavor(), world.full("borrower")
    world.queue("lender", flavors={f: 4}, cohort="all")
    world.queue("borrower", flavors={f: 2}, cohort="all")
    world.create("priceplans", ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [b], "base": {"cpu": "36.00"}}))
    world.create("budgets", ours("Budget", world.full("budget"), {
        "queue": b, "period": "Yearly", "timeZone": "UTC", "currency": "EUR", "amount": "50000.00"}))
    for plural, name in ("budgets", "budget"), ("priceplans", "plan"):
        world.wait(f"the {name} to be in force", lambda p=plural, n=name: has(world.api.get(path_of(p, world.full(n))), "Active"))
    world.job("paid", "borrower", cpu=1, seconds=2)
    world.finished("paid")
    world.empty()
    world.job("own", "lender", cpu=1)
    world.job("big", "borrower", cpu=5, annotations={EXPECTED: "2h"})
    world.started("own", "big")
    booked(world, "own", "big")
    for name, cpu in ("never", 10), ("next", 2), ("last", 2):
        world.job(name, "borrower", cpu=cpu)
        world.waits(name)
    world.box.wait_visible(LATER)

    def said_by(env):
        def ask(*args):
            done = program("sluice", *args, "-o", "json", env=env)
            if done.returncode != 0:
                raise LookupError(done)
            return json.loads(done.stdout)
        return ask
    config = {"KUBECONFIG": str(world.box.kubeconfig)}
    page = None if lacks() else open_page(world.box.controller_url())
    return SimpleNamespace(world=world, flavor=f, page=page, controller=world.box.controller_api(), said=said_by(config))


def told_as(shown, exact):
    """The exact figure, where what is shown is that in two digits; else what is shown."""
    return exact if shown == cents(exact) else shown


def agree(what, surfaces, wanted):
    """Until each surface says what is wanted: some are as of seconds ago, or do not have it yet. surfaces: {its name: a question}."""
    said = {}

    def answer(ask):
        try:
            return ask()
        except (LookupError, OSError, ApiError) as e:
            return repr(e)

    def asked():
        said.update({name: answer(ask) for name, ask in surfaces.items()})
        return all(figure == wanted for figure in said.values())
    try:
        wait_until(f"all to say {what}", asked, SOON)
    except SandboxError as e:
        differ = {name: figure for name, figure in said.items() if figure != wanted}
        raise AssertionError(f"{e}\nwanted {wanted}\nsaid otherwise: {json.dumps(differ, indent=1, default=str)}") from None


def drawn(shop, place, figure):
    """{surface: question} of what the page draws at that place."""
    def ask():
        shop.page.go(place)
        return figure(shop.page)
    return {"the page": ask} if shop.page else {}


def row(page, name, part="[data-head^=Use]"):
    """That cell of the row of a queue. LookupError: it is not drawn yet."""
    said = page.run("""return [...document.querySelectorAll("main tbody tr")].find((r) => r.querySelector("th")?.innerText.trim() === arguments[0])
        ?.querySelector(arguments[1])?.innerText ?? null""", name, part)
    if said is None:
        raise LookupError(name)
    return said


def card(page, name):
    """The text below the heading of a queue or Budget."""
    return [text for text in page.texts("main article") if text.startswith(f"{name}\n")][0]


def the(objects, **wanted):
    """The one of which that is true."""
    return [o for o in objects if all(o.get(key) == value for key, value in wanted.items())][0]


def named(objects, name, **wanted):
    return the(objects, name=name, **wanted)


def rows(figure):
    """Of both ClusterQueues."""
    return lambda: {name: figure(name) for name in ("lender", "borrower")}


# ---- quota and counts -----------------------------------------------------------------------------


def quota_of_status(obj):
    """(reserved, used, borrowed); of a LocalQueue, which has no quota of its own, None is borrowed."""
    held, used = obj["status"]["flavorsReservation"][0], obj["status"]["flavorsUsage"][0]
    return int(held["resources"][0]["total"]), int(used["resources"][0]["total"]), int(held["resources"][0].get("borrowed", -1))


def quota_of_view(queues, name):
    """As reports of queues and `sluice queue` have it: nothing is told of what is not borrowed."""
    cpu = named(queues["clusterQueues"], name)["flavors"][0]["resources"][0]
    return int(cpu["reserved"]), int(cpu["used"]), int(cpu.get("borrowed", 0))


def what_queues_hold_use_and_borrow(shop):
    w = shop.world
    local = {name: lambda n=name: w.api.get(path_of("localqueues", n, w.ns)) for name in ("lender", "borrower")}
    wanted = {"lender": (1, 1, 0), "borrower": (5, 5, 3)}

    def of_metrics(name):
        return tuple(int(metric(w, "quota", cluster_queue=w.full(name), flavor=shop.flavor, resource="cpu", kind=kind))
                     for kind in ("reserved", "used", "borrowed"))
    agree("what is held, used and borrowed", {
        "status": rows(lambda n: quota_of_status(w.clusterqueue(n))),
        "/metrics": rows(of_metrics),
        "queuereports": rows(lambda n: quota_of_view(shop.controller.queues(), w.full(n))),
        "sluice queue": rows(lambda n: quota_of_view(asking.queues(shop.said("queue", w.full(n))), w.full(n))),
    }, wanted)
    agree("what is held and borrowed", drawn(shop, "queues", lambda page: {n: re.findall(
        r"(\d+) of \d+(?: · (\d+) borrowed)?", row(page, w.full(n)))[0] for n in wanted}), {"lender": ("1", ""), "borrower": ("5", "3")})
    held = {name: figure[0] for name, figure in wanted.items()}
    agree("what is held", {
        "status of LocalQueues": rows(lambda n: quota_of_status(local[n]())[0]),
        "sluice queue of LocalQueues": rows(lambda n: int(named(asking.queues(shop.said("queue"))["localQueues"], n, namespace=w.ns)["flavors"][0]["resources"][0]["reserved"])),
        "sluice.balance_use": rows(lambda n: w.use()[n]),
        "sluice.hold_line": rows(lambda n: int(w.box.sql(
            f"select sum(amount)::bigint / 1000 from sluice.hold_line where node = 'cq/{w.full(n)}' and resource = 'cpu'")[0][0])),
    }, held)


def how_many_wait(shop):
    w = shop.world

    def waiting(api):
        return len([j for j in api.get(f"{GROUP}/clusterqueues/{w.full('borrower')}/queuedjobs")["items"] if j["status"]["state"] == "Waiting"])
    name, local = w.full("borrower"), lambda queues: named(queues["localQueues"], "borrower", namespace=w.ns)["pending"]
    agree("how many wait", {
        "status": lambda: w.clusterqueue("borrower")["status"]["pendingWorkloads"],
        "status of the LocalQueue": lambda: w.api.get(path_of("localqueues", "borrower", w.ns))["status"]["pendingWorkloads"],
        "/metrics": lambda: metric(w, "pending_jobs", cluster_queue=name),
        "/metrics, active and inadmissible": lambda: sum(metric(w, "pending_workloads", cluster_queue=name, status=s) for s in ("active", "inadmissible")),
        "queuereports": lambda: named(shop.controller.queues()["clusterQueues"], name)["pending"],
        "queuereports, LocalQueue": lambda: local(shop.controller.queues()),
        "sluice queue": lambda: named(asking.queues(shop.said("queue", name))["clusterQueues"], name)["pending"],
        "sluice queue, LocalQueue": lambda: local(asking.queues(shop.said("queue"))),
        "QueuedJobs": lambda: waiting(w.api),
        "QueuedJobs for the page": lambda: waiting(shop.controller),
        "sluice jobs": lambda: len(shop.said("jobs", "-n", w.ns, "--state", "Waiting")["items"]),
        **drawn(shop, "queues", lambda page: int(row(page, name, "[data-head=Waiting]"))),
    }, 3)


def a_place_in_line(shop):
    w = shop.world

    def listed(items):
        """In the order of the list, which is that of the line."""
        line = [(j["metadata"]["name"], j["status"]) for j in items if "position" in j["status"]]
        ranks = [status["rank"] for _, status in line]
        if ranks != sorted(ranks):
            raise LookupError(line)
        return list((name, status["position"]) for name, status in line)

    def in_line(ask):
        return lambda: [(name, ask(name)) for name in LINE]

    def printed():
        done = subprocess.run([w.box.tool("kubectl"), "get", "qj", "-n", w.ns], env=w.box.kubectl_env(), capture_output=True, text=True, timeout=SOON)
        return [(r[0], int(r[3])) for r in map(str.split, done.stdout.splitlines()[1:]) if r[2] == "Waiting" and r[0] in LINE]
    path = f"{GROUP}/namespaces/{w.ns}/queuedjobs"
    agree("where each stands", {
        "QueuedJob": in_line(lambda n: w.explain(n)["ahead"] + 1),
        "sluice explain": in_line(lambda n: asking.job(shop.said("explain", n, "-n", w.ns))["ahead"] + 1),
        "QueuedJobs": lambda: listed(w.api.get(path)["items"]),
        "QueuedJobs of the ClusterQueue": lambda: listed(w.api.get(f"{GROUP}/clusterqueues/{w.full('borrower')}/queuedjobs")["items"]),
        "QueuedJobs for the page": lambda: listed(shop.controller.get(path)["items"]),
        "each QueuedJob": in_line(lambda n: w.api.get(f"{path}/{n}")["status"]["position"]),
        "sluice jobs": lambda: listed(shop.said("jobs", "-n", w.ns)["items"]),
        "kubectl get qj": printed,
        **drawn(shop, f"jobs?clusterQueue={w.full('borrower')}", lambda page: [
            (name, int(place)) for _, row in page.rows() for name, place in re.findall(rf"{w.ns}/(\w+)\n+(\d+)\n", row)]),
    }, list(LINE.items()))
    q = w.full("borrower")
    assert f"it is first in ClusterQueue {q}" in w.explain("next")["sentence"]
    assert f"1 Job is ahead of it in ClusterQueue {q}" in w.explain("last")["sentence"]


# ---- money ----------------------------------------------------------------------------------------


def cost_of(report, key):
    return Decimal(the(report["rows"], key=key)["cost"])


def what_a_run_has_cost(shop):
    """That of the Job which has ended: the other goes on."""
    w = shop.world
    queue, owner, since = w.full("borrower"), f"{w.ns}/paid", ("--by", "owner", "--since", "1h")
    total = Decimal(w.box.sql(f"select cost_micro from sluice.segment where ns = '{w.ns}' and name = 'paid'")[0][0]) / 1000000
    assert total > 0

    def sql(view, column, where):
        return lambda: Decimal(w.box.sql(f"select sum({column}) from sluice.{view} where {where}")[0][0])

    def run_of(said):
        return Decimal(the(said["runs"], job="paid")["cost"])

    def budget(said):
        return lambda: Decimal(said()["spent"])
    agree("what it has cost", {
        "sluice.cost": sql("cost", "cost", f"namespace = '{w.ns}' and name = 'paid'"),
        "sluice.cost_by_day": sql("cost_by_day", "cost", f"clusterqueue = '{queue}'"),
        "sluice.cost_by_month": sql("cost_by_month", "cost", f"clusterqueue = '{queue}'"),
        "sluice.spend": sql("spend", "cost", f"clusterqueue = '{queue}'"),
        "/metrics": lambda: Decimal(str(metric(w, "cost_total", cluster_queue=queue, currency="EUR"))),
        "/metrics, Budget": lambda: Decimal(str(metric(w, "budget_spent", budget=w.full("budget"), currency="EUR"))),
        "status of the Budget": budget(lambda: w.api.get(path_of("budgets", w.full("budget")))["status"]),
        "budgetreports": budget(lambda: named(shop.controller.budgets(), w.full("budget"))),
        "costs": lambda: cost_of(w.api.get(f"{GROUP}/namespaces/{w.ns}/costs?by=owner&since=1h"), owner),
        "reports": lambda: cost_of(w.api.get(f"{GROUP}/namespaces/{w.ns}/reports?by=owner&since=1h"), owner),
        "histories": lambda: run_of(w.api.get(f"{GROUP}/namespaces/{w.ns}/histories?since=1h")),
        "sluice cost": lambda: cost_of(shop.said("cost", "-n", w.ns, *since), owner),
        "sluice report": lambda: cost_of(shop.said("report", "-n", w.ns, *since), owner),
        "sluice history": lambda: run_of(shop.said("history", "-n", w.ns, "--since", "1h")),
        **drawn(shop, "money?by=owner&since=day", lambda page: told_as(
            [re.findall(r"([<\d.]+) EUR", row) for row in page.texts("main tr") if row.startswith(owner)][0][0], total)),
    }, total)


def what_is_left_of_a_budget(shop):
    w = shop.world
    name = w.full("budget")
    spent = Decimal(w.box.sql(f"select sum(cost) from sluice.spend where clusterqueue = '{w.full('borrower')}'")[0][0])
    kept = Decimal(5 * 36 * 2)

    left = (spent, kept, 50000 - spent - kept)

    def told(figures):
        return lambda: tuple(Decimal(str(figures()[key])) for key in ("spent", "reserved", "remaining"))
    agree("what is spent, kept and left", {
        "status": told(lambda: w.api.get(path_of("budgets", name))["status"]),
        "budgetreports": told(lambda: named(shop.controller.budgets(), name)),
        "/metrics": told(lambda: {key: metric(w, f"budget_{key}", budget=name, currency="EUR") for key in ("spent", "reserved", "remaining")}),
        **drawn(shop, "money", lambda page: tuple(map(told_as, re.findall(
            r"Spent ([<\d.]+), reserved ([<\d.]+), left ([<\d.]+) of", card(page, name))[0], left))),
    }, left)


def test_each_figure_is_the_same_on_all_surfaces(shop):
    faults = []
    for figure in what_queues_hold_use_and_borrow, how_many_wait, a_place_in_line, what_a_run_has_cost, what_is_left_of_a_budget:
        try:
            figure(shop)
        except AssertionError as e:
            faults.append(str(e))
    assert not faults, "\n\n".join(faults)
