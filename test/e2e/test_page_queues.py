"""Queues, one queue, Costs, Nodes and History on the page, in a real Chromium (test_page.py).

What is shown is held against what the API server, the aggregated API and the ledger say: as Boss, who may do anything in
the cluster, and as Alice, who has sluice-batch-user in one namespace. What is lent of nodes is asked of a real controller
beside the made-up cluster of the benches; it trusts callers from this host."""

import http.client
import json
import re
import ssl
import uuid

import pytest
from conftest import LATER, PREFIX, need
from objects import cents, group, has, ours, path_of
from sandbox import asking, wait_until
from test_page import (  # noqa: F401 (fixtures)
    GROUP,
    LOOKS,
    admin,
    asked,
    axe,
    boss,
    chromium,
    described,
    line,
    open_page,
    other,
    page,
    problems,
    tab_until,
)

pytestmark = pytest.mark.flags("--loopback-needs-token")

# The cells of the row of that queue or Cohort, by the heads of their columns; none: no such row.
CELLS = """const row = [...document.querySelectorAll("table.queues tbody tr")].find((r) => r.querySelector("th")?.innerText.split(" Cohort")[0].trim() === arguments[0]);
    return Object.fromEntries([...row?.querySelectorAll("[data-head]") ?? []].map((cell) => [cell.dataset.head, cell.innerText.replace(/\\s+/g, " ").trim()]))"""
NAMES = """return [...document.querySelectorAll("table.queues tbody th")].map((e) => e.innerText.split(" Cohort")[0].trim())"""
# What each bar of the row is filled with: [[class, width in per cent], ...] of each.
BARS = """const row = [...document.querySelectorAll("table.queues tbody tr")].find((r) => r.querySelector("th")?.innerText.trim() === arguments[0]);
    return [...row?.querySelectorAll(".stack") ?? []].map((bar) => [...bar.querySelectorAll("i")].map((part) => [part.className, parseFloat(part.style.width)]))"""


def cells(page, name):
    return page.run(CELLS, name)


def shows(page, name, **wanted):
    """Does the row show each of these? Of a column only what its head begins with is named."""
    row = cells(page, name)
    return row and all(any(head.lower().startswith(word.replace("_", " ")) and text in row[head] for head in row) for word, text in wanted.items())


def report(world, ns="", token=None):
    return asked(world, f"{GROUP}/{f'namespaces/{ns}/' if ns else ''}queuereports", token)


def told(report, name):
    return next(q for q in report["clusterQueues"] if q["metadata"]["name"] == name)


def summary(world, ns="", token=None):
    return asked(world, f"{GROUP}/{f'namespaces/{ns}/' if ns else ''}summaries?by=queue", token)


# ---- queues --------------------------------------------------------------------------------


def test_queues_are_shown_as_the_api_server_has_them(line, page):
    world = line.world
    wanted = {"pendingWorkloads": 3, "admittedWorkloads": 1}
    world.wait("the status of the ClusterQueue", lambda: wanted.items() <= json.loads(
        world.box.kubectl("get", "clusterqueues.sluice.dev", line.q, "-o", "json").stdout).get("status", {}).items())
    queue = next(q for q in asking.queues(report(world))["clusterQueues"] if q["name"] == line.q)
    cpu = queue["flavors"][0]["resources"][0]
    assert (queue["pending"], queue["reserving"], cpu["reserved"], cpu["nominal"]) == (3, 1, "2", "2")
    page.sign_in(line.boss, place="queues")
    page.wait("its numbers", lambda: shows(page, line.q, state="Open", running="1", waiting="3", use=f"{world.full('any-q')} cpu 2 of 2"))
    world.job("more", cpu=2)
    page.wait("one more that waits", lambda: shows(page, line.q, waiting="4"))
    world.set_quota(10)
    world.started("more", "mine", "big")
    line.other.started("secret")
    page.wait("that nothing waits", lambda: shows(page, line.q, waiting="0", use="of 10"))


def test_the_next_start_and_the_oldest_are_those_of_the_summary(line, page):
    page.sign_in(line.boss, place="queues")

    def same():
        group = next(g for g in summary(line.world)["groups"] if g["key"] == line.q)
        ahead = page.run("return [...document.querySelectorAll('main td[data-head=\"Next start\"] a')].map((a) => a.title)")
        oldest = page.run("return [...document.querySelectorAll('main td[data-head=Oldest] time')].map((e) => e.dateTime)")
        return "nextStart" in group and group["oldestQueuedAt"] in oldest and any(
            a.startswith(f"{group['nextStart']['namespace']}/{group['nextStart']['name']}") for a in ahead)
    page.wait("what summaries say", same)


def test_a_queue_says_nothing_of_its_starts_before_it_is_told(line, page):
    page.note_requests(held="/apis/visibility.sluice.dev/v1alpha1/summaries?by=queue")
    page.sign_in(line.boss, place=f"queue/{line.q}")
    page.wait_text("Oldest", "Next start", selector="main .figures")
    words = page.run("return Object.fromEntries([...document.querySelectorAll('main .figure')].map((e) => [...e.children].map((c) => c.innerText.trim())).map(([n, ...w]) => [n, w]))")
    assert words["Oldest"] == words["Next start"] == ["", ""], words
    assert page.run("return document.querySelectorAll('main .figure .skeleton').length") == 2


def test_windows_and_what_is_borrowed_stand_in_the_row(world, other, page):
    described(world, other)
    day, night, cohort = world.full("day"), world.full("night"), world.full("all")
    page.sign_in(boss(world), place="queues")
    page.wait("both rows", lambda: cells(page, day) and cells(page, night))
    is_open = told(report(world), day)["open"]["isOpen"]
    page.wait("open or closed", lambda: shows(page, day, state="Open until" if is_open else "Closed opens"))
    resource = told(report(world), night)["status"]["flavorsReservation"][0]["resources"][0]
    assert resource["borrowed"] == "4", resource
    page.wait("what is borrowed", lambda: shows(page, night, use="4 of 0 · 4 borrowed", borrows=f"4 cpu of {world.full('shared')} {cohort}"))
    assert page.run(BARS, night) == [[["borrowed", 100]]]
    whole = next(c for c in report(world)["cohorts"] if c["metadata"]["name"] == cohort)["flavors"][0]["resources"][0]
    assert shows(page, cohort, use=f"{whole['total']} of {whole['subtree']}"), (cells(page, cohort), whole)


@pytest.fixture
def tree(world, page):
    """Five queues of one Cohort, of which q3 has two Jobs that wait, and q1 has one."""
    world.cohort("all")
    for n in range(5):
        world.queue(f"q{n}", cpu=0, cohort="all")
    for name, queue in ("a", "q3"), ("b", "q3"), ("c", "q1"):
        world.job(name, queue=queue)
        world.waits(name)
    page.sign_in(boss(world), place="queues")
    page.wait("all rows", lambda: set(queues(world)) <= set(page.run(NAMES)))
    return world


def queues(world, *numbers):
    return [world.full(f"q{n}") for n in numbers or range(5)]


def shown(page, world):
    """Those queues of the world that have a row, in their order."""
    return [name for name in page.run(NAMES) if name in queues(world)]


def test_rows_are_sorted_narrowed_and_folded_and_the_address_keeps_it(tree, page):
    world = tree
    assert shown(page, world) == queues(world)
    page.click("thead th:nth-child(4) button")
    page.wait("the most waiting first", lambda: shown(page, world)[:2] == queues(world, 3, 1))
    page.click("thead th:nth-child(4) button")
    page.wait("the fewest first", lambda: shown(page, world)[-2:] == queues(world, 1, 3))
    page.type("main input[type=search]", world.full("q3").upper())
    page.wait("what was typed, in any case", lambda: shown(page, world) == queues(world, 3))
    assert f"text={world.full('q3').upper()}" in page.url and "sort=waiting" in page.url
    page.go(f"queues?only=waiting&text={world.full('q')}")
    page.wait("those with Jobs that wait", lambda: shown(page, world) == queues(world, 1, 3))
    page.go(f"queues?text={world.full('all')}")
    page.wait("all of the Cohort", lambda: shown(page, world) == queues(world))
    tab_until(page, "the Cohort", lambda at: at["text"].startswith(world.full("all")))
    page.press("Enter")
    page.wait("the Cohort alone", lambda: not shown(page, world) and world.full("all") in page.run(NAMES))
    assert shows(page, world.full("all"), waiting="3"), cells(page, world.full("all"))
    page.press("Enter")
    page.wait("its queues again", lambda: shown(page, world) == queues(world))
    page.go("queues?text=nothing-is-called-so")
    page.wait_text("No queues match this filter.", selector="main")


def test_a_cohort_adds_up_all_below_it_folded_or_not(world, page):
    world.cohort("top")
    world.cohort("below", parent="top")
    for name, cohort in ("a", "top"), ("b", "below"):
        world.queue(name, cpu=0, cohort=cohort)
    for name, queue in ("one", "a"), ("two", "b"), ("three", "b"):
        world.job(name, queue=queue)
        world.waits(name)
    top, below = world.full("top"), world.full("below")
    page.sign_in(boss(world), place="queues")
    page.wait("the sums", lambda: shows(page, top, waiting="3") and shows(page, below, waiting="2"))
    page.click(f"button[data-cohort='{below}']")
    page.wait("it folded", lambda: not cells(page, world.full("b")))
    assert shows(page, top, waiting="3") and shows(page, below, waiting="2") and cells(page, world.full("a"))


def test_the_last_day_is_asked_for_rows_that_are_in_sight(tree, page):
    """One question at a time, and each queue once."""
    world = tree
    page.look(1280, 250)
    page.note_requests()
    page.load(f"queues?text={world.full('all')}")
    in_sight = """return [...document.querySelectorAll("main [data-day]")].filter((e) => e.getBoundingClientRect().top < innerHeight).map((e) => e.dataset.day)"""

    def named():
        return re.findall(r"clusterqueues/([^/]+)/usage", " ".join(one["path"] for one in page.run("return asked")))
    seen = page.wait("lines of what is in sight", lambda: (rows := page.run(in_sight)) and set(rows) == set(named()) and rows)
    assert 0 < len(seen) < 5 and len(named()) == len(seen), (seen, named())
    page.run("scrollTo(0, document.body.scrollHeight)")
    page.wait("the others", lambda: sorted(named()) == queues(world))
    page.wait("that it was told", lambda: len(page.run("return [...document.querySelectorAll('main svg.day-line')].map((e) => e.getAttribute('aria-label'))")) == 5)


def test_a_queue_that_does_not_work_says_so_in_its_row(world, page):
    world.queue("q", cpu=1)
    world.edit_queue("q", stopPolicy="Hold")
    world.wait_queue("q", lambda q: not q["active"], "to be stopped")
    message = next(q for q in asking.queues(report(world))["clusterQueues"] if q["name"] == world.full("q"))["message"]
    page.sign_in(boss(world), place="queues")
    page.wait("its state", lambda: shows(page, world.full("q"), state="Stopped"))
    page.wait_text(message, selector="tr.says")
    page.go("queues?only=in+trouble")
    page.wait("it among those in trouble", lambda: cells(page, world.full("q")))


# ---- one queue -----------------------------------------------------------------------------


def test_one_queue_is_shown_with_its_axis_and_its_line(world, other, page):
    q = described(world, other)
    page.sign_in(boss(world), place=f"queue/{q}")
    page.wait_text(f"ClusterQueue {q}", "Open", "fullest quarter hour", f"{world.ns}/q", f"{other.ns}/theirs", world.full("plan"), selector="main")
    status = told(report(world), q)["status"]

    def figure(name):
        return page.run("return [...document.querySelectorAll('.figure')].find((f) => f.innerText.startsWith(arguments[0]))?.querySelector('.number').innerText", name)
    page.wait("its figures", lambda: (figure("Running"), figure("Waiting")) == (str(status["admittedWorkloads"]), str(status["pendingWorkloads"])))
    page.wait("the line", lambda: [text for _, text in page.rows() if f"{world.ns}/train" in text])
    lane = asked(world, f"{GROUP}/timelines?until=7d&clusterQueue={q}")["lanes"][0]
    running = [bar["name"] for bar in lane["bars"] if bar["state"] == "Running"]
    assert running, lane
    page.wait("what runs, on the axis", lambda: page.run("return [...document.querySelectorAll('[aria-label^=\"Runs, starts\"] a')].map((a) => a.getAttribute('aria-label') || '')") and all(
        name in page.run("return document.querySelector('[aria-label^=\"Runs, starts\"]').innerHTML") for name in running))
    page.go(f"queue/{world.full('day')}")
    page.wait_text(world.full("window"), world.full("nights"), selector="main")
    page.expected = (401, 404)
    page.go(f"queue/{world.full('none')}")
    page.wait_text(f"There is no ClusterQueue {world.full('none')}", selector="main")


# ---- costs ---------------------------------------------------------------------------------


@pytest.fixture
def spent(line):
    """Three Jobs have run and ended, at a price."""
    world = line.world
    world.create("priceplans", ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [line.q], "base": {"cpu": "36.00"}}))
    world.create("budgets", ours("Budget", world.full("budget"), {"queue": line.q, "period": "Monthly", "timeZone": "Europe/Berlin", "currency": "EUR", "amount": "5000.00"}))
    for plural, name in ("priceplans", "plan"), ("budgets", "budget"):
        world.wait(f"{name} to be in force", lambda p=plural, n=name: has(world.api.get(path_of(p, world.full(n))), "Active"))
    world.delete("big")
    for w, name in (world, "runs"), (line.other, "secret"), (world, "mine"):
        w.started(name)
        w.finish(name)
        w.finished(name)
    world.empty()
    return line


TABLE_ROWS = "return [...document.querySelectorAll(`main ${arguments[0]} tr`)].map((r) => [...r.cells].map((c) => c.innerText.trim()))"


def test_the_report_is_that_of_the_command_line(spent, page, program):
    world = spent.world

    def reported(by):
        done = program("sluice", "report", "-A", "--by", by, "--since", "day", "-o", "json", env={"KUBECONFIG": str(world.box.kubeconfig)})
        assert done.returncode == 0, done
        return json.loads(done.stdout)["rows"]
    page.sign_in(spent.boss)
    for by, keys in ("queue", [spent.q]), ("namespace", [spent.ns, spent.other.ns]):
        page.go(f"money?by={by}&since=day")
        page.wait_text(*keys, selector=".report")

        def same(by=by, keys=keys):
            """One of the two may have been asked before the last run was in the books."""
            lines = page.run(TABLE_ROWS, ".report")
            rows = [r for r in reported(by) if r["key"] in keys]
            return rows and all(any(
                cells and cells[0] == row["key"] and (not row["cost"] or any(cents(row["cost"]) in c for c in cells))
                and {str(row["jobs"]), str(row["starts"])} <= set(cells) and any(c.startswith(f"{row['cpuHours']:.1f}") for c in cells)
                for cells in lines) for row in rows)
        page.wait(f"the figures of sluice report --by {by}", same)


def test_each_day_is_what_the_ledger_says_of_it(spent, page):
    """The picture's table: today's cost of each team; days without a run are read, too, and have none."""
    world = spent.world
    rows = [r for r in asked(world, f"{GROUP}/reports?by=namespace&since=day")["rows"] if r["key"] in (spent.ns, spent.other.ns)]
    assert len(rows) == 2 and all(float(r["cost"]) > 0 for r in rows), rows
    page.sign_in(spent.boss)
    # The plane is shared, so there may be more teams than are drawn one by one: one namespace has a picture of its own.
    for row in rows:
        page.go(f"money?by=namespace&since=7d&namespace={row['key']}")
        page.wait_text("By day, as a table", selector="main")

        def same(row=row):
            lines = page.run("return [...document.querySelectorAll('.card details table')].map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent.trim())))")
            table = next((t for t in lines if t[0][0] == "Day"), None)
            return table and len(table) == 9 and row["key"] in table[0] and table[-1][table[0].index(row["key"])] == f"{cents(row['cost'])} EUR"
        page.wait("today's cost", same)


def test_a_budget_has_the_figures_of_its_report_and_a_curve(spent, page):
    world, name = spent.world, spent.world.full("budget")

    def budget():
        return next(b for b in asked(world, f"{GROUP}/budgetreports")["budgets"] if b["name"] == name)
    page.sign_in(spent.boss, place="money")
    card = "return [...document.querySelectorAll('main article')].find((e) => e.innerText.startsWith(arguments[0]))"
    page.wait("its card", lambda: page.run(f"{card}?.innerText", name))

    def same():
        b = budget()
        return f"Spent {cents(b['spent'])}, reserved {cents(b['reserved'])}, left {cents(b['remaining'])} of 5000.00 EUR." in page.run(card.replace("0]))", "0]))?.innerText ?? ''"), name)
    page.wait("what is spent", same)
    curve = "const table = [...document.querySelectorAll('main article')].find((e) => e.innerText.startsWith(arguments[0])).querySelector('table'); return table && [...table.rows].map((r) => [...r.cells].map((c) => c.textContent))"
    page.wait("its curve, which ends with what is spent", lambda: [r[1] for r in page.run(curve, name) or [] if r[2] == "spent"][-1:] == [cents(budget()["spent"])])


MONEY = ("0", "0.00", "0.004999", "0.005", "0.015", "0.125", "0.995", "1.005", "2.675", "-0.004", "-1.005", "12", "50000.00", "0.166414",
         "9000000000000.005")


def test_money_is_rounded_as_the_command_line_does_it(world, page):
    page.sign_in(boss(world))
    shown = page.run('return import("/page/words.js").then((words) => arguments[0].map(words.cents))', MONEY)
    assert dict(zip(MONEY, shown)) == {text: cents(text) for text in MONEY}


# ---- history -------------------------------------------------------------------------------


def test_history_has_each_run_with_how_it_ended(world, other, page):
    described(world, other)
    page.sign_in(boss(world), place=f"history?namespace={world.ns}")
    page.wait_text(f"{world.ns}/train", "Preempted", selector="main")
    runs = asked(world, f"{GROUP}/namespaces/{world.ns}/histories?since=7d")["runs"]

    def rows():
        return page.run("""return [...document.querySelectorAll("table.runs tbody tr")].map((r) => Object.fromEntries([...r.querySelectorAll("[data-head]")].map(
            (c) => [c.dataset.head, c.innerText.replace(/\\s+/g, " ").trim()])))""")
    shown = sorted((r["Job"], r["Run"], r["How it ended"].split(" ")[0]) for r in rows())
    assert shown == sorted((f"{r['namespace']}/{r['job']}", str(r["attempt"]), r["reason"] if r["state"] == "Ended" else r["state"]) for r in runs), (shown, runs)
    page.type("main input[type=search]", "PREEMPT")
    page.wait("what was typed", lambda: [r["Job"] for r in rows()] == [f"{world.ns}/train"])
    page.type("main input[type=search]", "guest")
    page.wait("another", lambda: [r["Job"] for r in rows()] == [f"{world.ns}/guest"])


# ---- Alice ---------------------------------------------------------------------------------


def test_alice_sees_her_queues_as_sums_and_how_many_are_ahead(line, page):
    world, ns = line.world, line.ns
    page.sign_in(line.alice, ns, "queues")
    queue, sums = told(report(world, ns, line.alice), line.q), summary(world, ns, line.alice)
    others = next(o for o in sums["others"] if o["clusterQueue"] == line.q)
    group = next(g for g in sums["groups"] if g["key"] == line.q)
    assert (queue["status"]["pendingWorkloads"], group["waiting"], others["ahead"]) == (3, 2, 1), (queue, sums)
    page.wait("hers of all, and how many are ahead", lambda: shows(page, line.q, state="Open", running="1 of 1", waiting="2 of 3", ahead="1", use="2 of 2"))
    assert page.run(NAMES) == [line.q] and line.other.ns not in page.markup() and "secret" not in page.markup()
    page.click(f"main th a[href^='#/queue/{line.q}']")
    page.wait_text(f"ClusterQueue {line.q}", "2 of 3", "1 Job of other namespaces ahead", "Your Jobs in the queue", selector="main")
    page.wait("her Jobs", lambda: sorted(re.search(f"{ns}/(\\w+)|^(mine|big)", text)[0].rpartition("/")[2] for _, text in page.rows()) == ["big", "mine"])
    page.wait("her run on the axis", lambda: "runs" in page.run("return document.querySelector('[aria-label^=\"Runs, starts\"]').innerHTML"))
    assert line.other.ns not in page.markup() and "secret" not in page.markup()


def test_alice_asks_for_nothing_that_is_refused(line, page):
    page.sign_in(line.alice, line.ns, "queues")
    page.note_requests()
    for place, part in ("queues", line.q), (f"queue/{line.q}", "Your Jobs"), ("money", "By day and queue"), ("history", f"{line.ns}/runs"):
        page.load(f"{place}?namespace={line.ns}")
        page.wait_text(part, selector="main")
        page.wait("all to be answered", lambda: all("status" in one or "watch=1" in one["path"] for one in page.run("return asked")))
        refused = [one for one in page.run("return asked") if one.get("status") not in (200, None)]
        assert not refused and not page.text("main [role=alert]"), (place, refused)


@pytest.mark.timeout(900)
def test_alices_pages_have_no_barrier(line, page, axe):
    page.sign_in(line.alice, line.ns, "queues")
    found = []
    for name, place, part in ("queues", "queues", line.q), ("queue", f"queue/{line.q}", "Your Jobs"), ("money", "money", "By day"), ("history", "history", "runs"):
        page.look()
        page.go(place)
        page.wait_text(part, selector="main")
        for look in LOOKS:
            found += problems(page, axe, f"alice-{name}", look)
    assert not found, "\n".join(found)


# ---- nodes -----------------------------------------------------------------------------------


# [[name, marks, what Jobs of queues request, what other pods do, in per cent of its cpu], ...] of the squares.
SQUARES = """const height = (e, name) => Math.round(parseFloat(e.querySelector("i." + name)?.style.height ?? 0));
    return [...document.querySelectorAll("main .squares .square")].map((e) => [e.title.split(":")[0], e.className.replace(/square|run/g, "").trim(), height(e, "own"), height(e, "others")])"""


@pytest.fixture
def own_nodes(world):
    """Three nodes of 8 cpu and a flavor of them, where no other pod goes; the third is cordoned."""
    pool = world.full("pool")
    taint = {"key": pool, "value": "true", "effect": "NoSchedule"}
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    for i in range(3):
        world.api.ensure("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{pool}-{i}", "labels": {"pool": pool, "kubernetes.io/hostname": f"{pool}-{i}"}},
            "spec": {"taints": [taint], "unschedulable": i == 2}, "status": {"capacity": room, "allocatable": room}})
        world.made.append(f"/api/v1/nodes/{pool}-{i}")
    world.create("resourceflavors", ours("ResourceFlavor", pool, {
        "nodeLabels": {"pool": pool}, "nodeTaints": [taint], "tolerations": [{"key": pool, "operator": "Exists"}]}))
    return pool


def as_squares(world, pool):
    """What the API server says of these nodes, as SQUARES has it."""
    used = {}
    for pod in world.api.list("/api/v1/pods"):
        if pod["status"].get("phase") not in ("Succeeded", "Failed"):
            node, requests = pod["spec"].get("nodeName"), pod["spec"]["containers"][0]["resources"].get("requests", {})
            used[node] = used.get(node, 0) + int(requests.get("cpu", 0))
    nodes = sorted((n for n in world.api.list("/api/v1/nodes") if n["metadata"]["name"].startswith(pool)), key=lambda n: n["metadata"]["name"])
    return [[n["metadata"]["name"], "cordoned" if n["spec"].get("unschedulable") else "",
             round(100 * used.get(n["metadata"]["name"], 0) / int(n["status"]["allocatable"]["cpu"])), 0] for n in nodes]


def test_nodes_are_drawn_as_the_api_server_has_them(world, own_nodes, page, axe):
    pool = own_nodes
    world.queue(groups=[group(["cpu"], {pool: ["12"]})], clusterFit="Now")
    world.job("runs", cpu=3, pods=3)
    world.started("runs")
    world.wait("its pods to be bound", lambda: sum(share for _, _, share, _ in as_squares(world, pool)) >= 90)
    page.expected = (401, 404)  # nothing is lent here
    page.sign_in(boss(world), place=f"nodes?name={pool}")

    def same():
        squares, wanted = page.run(SQUARES), as_squares(world, pool)
        return [[name, marks] for name, marks, *_ in squares] == [[name, marks] for name, marks, *_ in wanted] and all(
            abs(got - share) <= 1 for (_, _, got, _), (_, _, share, _) in zip(squares, wanted))
    page.wait("what the API server says", same)
    assert ["cordoned", 0, 0] == page.run(SQUARES)[2][1:]
    page.wait_text(f"{pool} 3 Nodes · 1 cordoned · 9 of 24 cpu requested, 9 by Jobs of queues", selector=".node-group")
    world.api.patch(f"/api/v1/nodes/{pool}-1", {"spec": {"unschedulable": True}})
    page.wait("the cordon", lambda: page.run(SQUARES)[1][1] == "cordoned" and same())
    page.click("main details:last-of-type summary")
    page.wait_text(f"{pool}-0", "Cordoned", "node.kubernetes.io/unschedulable", selector="main table")
    found = [p for look in LOOKS for p in problems(page, axe, "nodes-own", look)]
    assert not found, "\n".join(found)
    page.look()
    page.go(f"nodes?name={pool}&of=memory")
    page.wait_text("0 of 96Gi memory requested", selector=".node-group")


def test_nodes_without_their_pods_say_why(world, page):
    """No queue asks for pods. (Other tests may, at the same plane.)"""
    page.expected = (401, 404)
    page.sign_in(boss(world), place="nodes")
    page.wait_text("Nodes by flavor", selector="main")
    report = asked(world, f"{GROUP}/nodereports")
    assert {n["metadata"]["name"] for n in world.api.list("/api/v1/nodes")} == {n["name"] for n in report["nodes"]}
    if not report["podsFollowed"]:
        page.wait_text(report["podsMessage"], selector="main")


@pytest.fixture
def lending():
    """Nodes that lend; nobody needs a token."""
    import overcommit
    need("sluice-controller")
    ground = overcommit.Ground(30, 20, name=f"{PREFIX}-lends")
    try:
        # The sandbox lends nothing unless it is told.
        ground.start("--overcommit-config", "kube-system/ack-slo-config", "--node-listen", "127.0.0.1:0", "--node-address", "127.0.0.1")
        wait_until("each node to lend", lambda: len(lent(ground)) == 30, LATER, ground.proc)
        yield ground
    finally:
        ground.end()


def lent(ground):
    """Nodes that lend: {name: what the API says}."""
    nodes = ground.box.controller_api().overcommit()["nodes"]
    return {n["node"]: n for n in nodes if n["enabled"] and n["writtenTime"]}


def as_agent(ground, node, method, path, body=None):
    """What the leader answers to the agent of that node."""
    where = wait_until("the leader to say where it is", lambda: ground.fake.api.get("/bench/agents"), LATER, ground.proc)
    host, _, port = where["address"].rpartition(":")
    connection = http.client.HTTPSConnection(host, int(port), timeout=60, context=ssl.create_default_context(cadata=where["certificate"]))
    connection.request(method, path, body and json.dumps(body), {"Authorization": f"Bearer agent-of-{node}"})
    answer = connection.getresponse()
    status, text = answer.status, answer.read().decode()
    connection.close()
    assert status in (200, 204), (status, text)
    return text


def play_agents(ground):
    """Of node-00003 and node-00004 there are agents: one reports, and holds its lent pods to less than they ask for; one only ever asked for its orders."""
    as_agent(ground, "node-00004", "GET", "/v1/node/orders?have=0")
    orders = json.loads(as_agent(ground, "node-00003", "GET", "/v1/node/orders?have=0"))
    pods = [{"uid": pod["uid"], "cpu": 500, "memory": 1 << 30, "quota": 600} for pod in orders["pods"]]
    as_agent(ground, "node-00003", "POST", "/v1/node/sample", {
        "boot": str(uuid.uuid4()), "number": 1, "window_ms": 1000, "cpu": 4000, "memory": 8 << 30, "memory_total": orders["memory"],
        "memory_available": orders["memory"] - (8 << 30), "may_cpu": 600 * len(pods), "pods": pods})
    return len(pods)


# {name: [the rest of its square's title about its agent, the agent's cell]} of each node.
AGENTS = """const head = [...document.querySelectorAll("main table thead th")].findIndex((e) => e.innerText.trim().toLowerCase().startsWith("agent"));
    const cell = Object.fromEntries([...document.querySelectorAll("main table tbody tr")].map((r) => [r.children[0].innerText.trim(), r.children[head]?.innerText.replace(/\\s+/g, " ").trim()]));
    return Object.fromEntries([...document.querySelectorAll("main .squares .square")].map((e) => [e.title.split(":")[0], [e.title.split("; agent: ")[1], cell[e.title.split(":")[0]]]]))"""


def test_what_nodes_lend_is_drawn_and_nobody_signs_in_behind_a_proxy(lending, open_page, axe):
    page = open_page(lending.box.controller_url())
    page.go("nodes")
    page.wait_text("30 Nodes", selector="main")
    assert not page.asks_who()
    assert page.run("return document.querySelectorAll('main .squares .square .lent').length") == sum(n["lent"]["cpuMilli"] > 0 for n in lent(lending).values())
    page.go("nodes?of=lent-cpu")
    page.wait_text("cpu lent", selector=".node-group")
    squares = page.run("return [...document.querySelectorAll('main .squares .square')].map((e) => [e.title.split(':')[0], parseFloat(e.querySelector('i')?.style.height ?? 0)])")
    wanted = {name: 100 * n["lent"]["cpuMilli"] / n["published"]["kubernetes.io/batch-cpu"] for name, n in lent(lending).items()}
    assert {name: round(share) for name, share in squares} == {name: round(share) for name, share in wanted.items()}, squares
    pods = play_agents(lending)
    page.go("nodes?of=lent-cpu&sort=agent")
    page.wait_text("node-00000", "node-00029", selector="main")
    told = page.run(AGENTS)
    line = f"{pods} lent pods: {0.5 * pods:g} of {2 * pods} cpu used, held to {0.6 * pods:g}"
    assert pods > 1 and told.pop("node-00003") == [f"reports {line}", f"Reports {line}"], told
    assert told.pop("node-00004") == ["silent since it asked for orders", "Silent since it asked for orders"], told
    assert len(told) == 28 and all(one == ["none", "None"] for one in told.values()), told
    found = [p for look in LOOKS for p in problems(page, axe, "nodes", look)]
    assert not found, "\n".join(found)
    page.type("main input[type=search]", "node-00007")
    page.wait("that one alone", lambda: page.run("return document.querySelectorAll('main .squares .square').length") == 1)
