"""The overview and what is around each page: head, menu, search, back and forward, and what is shown while the server is
away. As Boss, who may see all, and as Alice, who may see one namespace; held against API server, aggregated API and ledger."""

import json
from urllib.parse import parse_qs

import pytest
from conftest import token
from objects import cents, has, ours, path_of
from test_page import GROUP, LOOKS, asked, axe, chromium, line, open_page, other, page, problems  # noqa: F401 (fixtures)
from test_rights import RBAC, admin, bind  # noqa: F401 (admin: World asks with a token)

pytestmark = pytest.mark.flags("--loopback-needs-token")

FIGURES = """return Object.fromEntries([...document.querySelectorAll("main .figure")].map((e) => [...e.children].map((c) => c.innerText.trim()))
    .map(([name, number, words]) => [name, [number, words]]))"""
REASONS = """return Object.fromEntries([...document.querySelectorAll(".reasons li")].map((e) =>
    [new URLSearchParams(e.querySelector("a").getAttribute("href").split("?")[1]).get("reason"), Number(e.querySelector("strong").innerText.replace(",", ""))]))"""
GROUPS = """return Object.fromEntries([...document.querySelectorAll(".groups tbody tr")].map((r) => [...r.cells].map((c) => c.innerText.trim())).map(([key, ...cells]) => [key, cells]))"""


def jobs(n):
    return f"{n:,} Job{'' if n == 1 else 's'}"


def parameters(page):
    return {name: value for name, [value] in parse_qs(page.url.partition("#")[2].partition("?")[2], keep_blank_values=True).items()}


def figure(page, name):
    """The number of a figure of the overview, "" while the page has none."""
    return page.run(FIGURES).get(name, [""])[0]


def is_as_told(page, told):
    """Are figures, reasons and groups those of the SummaryReport?"""
    groups = {g["key"] or "(none)": [str(g["running"]), str(g["waiting"])] for g in told["groups"]}
    return (figure(page, "Running") == jobs(told["running"]["jobs"]) and figure(page, "Waiting") == jobs(told["waiting"]["jobs"])
            and page.run(REASONS) == {r["reason"]: r["jobs"] for r in told["reasons"]}
            and {key: cells[:2] for key, cells in page.run(GROUPS).items() if key in groups} == groups)


# ---- what is shown is what is so -----------------------------------------------------


def test_the_overview_is_that_of_the_api_and_of_the_ledger(line, page, program):
    world = line.world
    world.create("priceplans", ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [line.q], "base": {"cpu": "36.00"}}))
    world.wait("the plan to be in force", lambda: has(world.api.get(path_of("priceplans", world.full("plan"))), "Active"))
    page.sign_in(line.boss)
    page.wait("the sums of the API", lambda: is_as_told(page, asked(world, f"{GROUP}/summaries?by=queue")))
    for by, key in ("namespace", line.ns), ("sweep", f"{line.ns}/mine"):
        page.go(f"overview?by={by}")
        page.wait(f"the groups by {by}", lambda k=key: k in page.run(GROUPS))
    page.go("overview")

    def counted():
        """As the line itself has them, one by one."""
        states = [j["status"]["state"] for j in asked(world, f"{GROUP}/queuedjobs")["items"]]
        return figure(page, "Waiting") == jobs(states.count("Waiting"))
    page.wait("as many as wait", counted)
    page.wait_text(f"{line.ns}/big", "Over quota", selector=".attention")
    world.delete("big")
    for w, name in (world, "runs"), (line.other, "secret"), (world, "mine"):
        w.started(name)
        w.finish(name)
        w.finished(name)
    world.empty()
    page.run("window.dispatchEvent(new HashChangeEvent('hashchange'))")  # the ledger is asked once a minute

    def spent():
        done = program("sluice", "report", "-A", "--since", "month", "-o", "json", env={"KUBECONFIG": str(world.box.kubeconfig)})
        assert done.returncode == 0, done
        most = max(float(row["cost"]) for row in json.loads(done.stdout)["totals"] if row.get("currency"))
        [name] = [n for n in page.run(FIGURES) if n.startswith("Spent in ")]
        return most > 0 and figure(page, name).startswith(cents(str(most)))
    page.wait("what was spent, as sluice report has it", spent)
    page.wait("that no Job of this queue waits", lambda: page.run(GROUPS).get(line.q, ["0", "0"])[1] == "0")


def test_capacity_is_that_of_the_queues(line, page):
    page.sign_in(line.boss)
    queue = next(q for q in asked(line.world, f"{GROUP}/queuereports")["clusterQueues"] if q["metadata"]["name"] == line.q)
    [flavor] = queue["status"]["flavorsReservation"]
    row = """return [...document.querySelectorAll(".capacity li")].find((e) => e.querySelector(".name").innerText === arguments[0])?.innerText ?? ''"""
    page.wait("the flavor's use", lambda: "2 of 2" in page.run(row, f"{flavor['name']} cpu"))
    line.world.set_quota(4)
    page.wait("more quota", lambda: "of 4" in page.run(row, f"{flavor['name']} cpu"))


def test_alice_sees_her_own_and_of_others_numbers(line, page):
    page.note_requests()
    page.sign_in(line.alice, place="overview")  # the page finds her namespace by itself
    page.wait("the sums of her namespace", lambda: page.run(FIGURES).get("Waiting") and is_as_told(page, asked(line.world, f"{GROUP}/namespaces/{line.ns}/summaries?by=queue")))
    shown = page.run(FIGURES)
    assert shown["Running"][0] == "1 Job" and shown["Waiting"][0] == "2 Jobs" and "Your next start" in shown, shown
    assert "1 Job of others ahead" in shown["Waiting"][1], shown
    assert "1 waiting, 0 running; 1 Job ahead of yours" in page.run(GROUPS)[line.q][-1], page.run(GROUPS)
    page.wait_text(line.q, selector=".capacity ~ .legend")
    assert "secret" not in page.markup() and line.other.ns not in page.markup()
    assert page.run("return [...document.querySelectorAll('nav[aria-label=Pages] a')].filter((a) => a.offsetParent).map((a) => a.innerText)") == [
        "Overview", "Jobs", "Queues", "Plan", "Costs"]
    page.wait("all to be answered", lambda: all("status" in one for one in page.run("return asked")))
    refused = [one for one in page.run("return asked") if one["status"] >= 400 and one["status"] != 401]
    assert not refused, refused


def test_it_asks_with_the_tag_of_what_it_knows(line, page):
    page.note_requests()
    page.sign_in(line.boss)
    page.wait("an answer that is as the one before", lambda: any(one.get("status") == 304 for one in page.run("return asked")))
    page.wait("the sums", lambda: is_as_told(page, asked(line.world, f"{GROUP}/summaries?by=queue")))


def test_the_figure_of_what_needs_attention_counts_its_card_and_leads_there(line, page):
    page.look(height=400)
    page.sign_in(line.boss)
    page.wait_text("Over quota", selector=".attention")

    def same():
        items = page.run("return document.querySelectorAll('.attention > li').length")
        told = asked(line.world, f"{GROUP}/summaries?by=queue")
        others = items - len(told["attention"])
        number = told["attentionJobs"] + others
        return figure(page, "Needs attention") == (f"{number} item{'' if number == 1 else 's'}" if others else jobs(number))
    page.wait("the number of what is listed", same)
    page.run("scrollTo(0, 0)")
    page.click("main .figures a[href*='show=attention']")
    page.wait("the card", lambda: page.focused()["id"] == "attention" and page.run("return scrollY") > 0)
    page.go("overview?show=attention")
    page.wait("the card", lambda: page.focused()["id"] == "attention")
    page.look()


# ---- who I am, and of which namespace ------------------------------------------------------


def choose(page, name):
    page.click("#me")
    page.wait("the menu", lambda: page.run("return document.querySelector('#mine').matches(':popover-open')"))
    page.run("[...document.querySelectorAll('#mine a')].find((a) => a.innerText === arguments[0]).click()", name)


def test_the_menu_says_who_looks_and_changes_the_namespace_where_one_is(line, page):
    page.sign_in(line.boss, place="overview?span=6h&by=user")
    page.wait_text("Next start")
    assert page.run("return document.querySelector('#mine strong').textContent") == asked(line.world, "/page/session")["user"]
    choose(page, line.ns)
    page.wait_text("Your next start")
    assert parameters(page) == {"span": "6h", "by": "user", "namespace": line.ns}, page.url
    assert line.ns in page.text("#me")
    page.click('nav a[href="#/jobs"]')
    page.wait("its Jobs alone", lambda: f"{line.ns}/mine" in (page.text("main") or "") and "secret" not in page.text("main"))
    assert parameters(page)["namespace"] == line.ns
    choose(page, "All namespaces")
    page.wait_text(f"{line.other.ns}/secret", selector="main")
    assert "all namespaces" in page.text("#me")


def test_who_has_no_role_is_told_so_and_nothing_is_asked(line, page):
    line.world.api.ensure(f"/api/v1/namespaces/{line.ns}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "newcomer"}})
    page.note_requests()
    page.sign_in(token(line.world.api, line.ns, "newcomer"), place="overview")
    page.wait_text("You have no role in ", "kubectl create rolebinding", selector="main")
    assert not [one for one in page.run("return asked") if one.get("status") == 403]


@pytest.fixture
def before(line):
    """The token of an account whose role is that of a version before: Jobs, and no sums of them."""
    role, roles = line.world.full("before"), f"{RBAC}/clusterroles"
    line.world.made.append(f"{roles}/{role}")
    line.world.api.ensure(roles, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": role}, "rules": [
        {"apiGroups": ["visibility.sluice.dev"], "resources": ["queuedjobs"], "verbs": ["get", "list", "watch"]}]})
    return bind(line.world, "before", role)


def test_roles_of_a_version_before_lead_to_the_jobs(line, page, before):
    page.expected = (401, 403)
    page.sign_in(before, line.ns, "overview")
    page.wait_text("The roles of this cluster are older than its controller", "deploy/rbac", selector="main [role=alert]")
    page.click("main [role=alert] a")
    page.wait_text(f"{line.ns}/mine", selector="main")


def test_a_controller_of_a_version_before_leads_to_the_jobs(line, page):
    page.sign_in(line.boss)
    page.wait_text(line.q)
    page.run("""const ask = window.fetch;
        window.fetch = (path, how) => (path.includes("/summaries") ? Promise.resolve(new Response("{}", { status: 404 })) : ask(path, how));""")
    page.go("overview?by=user")
    page.wait_text("The controller is older than this page", selector="main [role=alert]")
    page.click("main [role=alert] a")
    page.wait_text(f"{line.ns}/mine", selector="main")


# ---- keys, search, back and forward --------------------------------------------------------


def test_a_key_goes_to_the_search_which_finds_parts_in_any_case(line, page):
    page.sign_in(line.boss)
    page.wait_text(line.q)
    page.press("/")
    assert page.focused()["id"] == "find-text"
    page.press(*line.ns.upper(), "Enter")
    page.wait_text("Namespaces", line.ns, "Jobs that wait or run", selector="main")
    page.go(f"search?text={line.q.upper()}")
    page.wait("the queue", lambda: page.run("return [...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))").count(f"#/queue/{line.q}") == 1)
    page.go("search?text=MIN")
    page.wait_text(f"{line.ns}/mine", selector="main")
    page.go(f"search?text={line.ns}/mine")
    page.wait("the Job itself", lambda: page.url.endswith(f"#/job/{line.ns}/mine"))


def test_the_search_finds_a_job_that_has_ended(line, page):
    page.expected = (401, 404)
    line.world.finish("runs")
    line.world.finished("runs")
    page.sign_in(line.boss, place="search?text=runs")
    page.wait_text(f"{line.ns}/runs", selector="main [aria-label='Runs of the past']")
    page.go(f"search?text={line.ns}/runs")
    page.wait("the Job's page", lambda: page.url.endswith(f"#/job/{line.ns}/runs"))
    page.wait_text("Finished", selector="main [aria-label=History]")


def test_back_and_forward_come_to_what_was_left(line, page):
    page.look(height=400)
    page.sign_in(line.boss, place="overview?by=user")
    page.wait_text("Needs attention", "As a table")
    page.wait("to be scrolled", lambda: page.run("scrollTo(0, 300); return scrollY") > 250)
    page.click('nav a[href="#/jobs"]')
    page.wait_text(f"{line.ns}/mine", selector="main")
    assert page.run("return scrollY") == 0
    page.run("history.back()")
    page.wait("the place that was left", lambda: parameters(page).get("by") == "user" and page.run("return scrollY") > 250)
    page.run("history.forward()")
    page.wait("the list", lambda: "#/jobs" in page.url and f"{line.ns}/mine" in page.text("main"))
    page.look()


# ---- while the server is away ------------------------------------------------------------------


def test_what_is_old_is_dimmed_and_says_of_when_it_is(line, page):
    page.sign_in(line.boss)
    page.wait_text(line.q)
    page.wait("that it is live", lambda: page.run("return document.querySelector('#live').classList.contains('on')"))
    page.run("""window.really = window.fetch; window.fetch = () => new Promise((_, fail) => setTimeout(() => fail(new TypeError("away")), 1));""")
    page.wait_text("the server cannot be reached", "Shown is what was so at ", selector="#news.banner")
    assert page.run("return document.querySelector('main').classList.contains('stale')") and line.q in page.text("main")
    page.run("window.fetch = window.really")
    page.wait("that it is live again", lambda: not page.run("return document.querySelector('.stale, .banner') !== null") and line.q in page.text("main"))


# ---- by day, by night, on a phone ------------------------------------------------------------------


def test_a_phone_shows_states_and_starts_without_scrolling_aside(line, page):
    page.look(**LOOKS["phone"])
    page.sign_in(line.alice, line.ns)
    page.wait("her queue", lambda: line.q in page.run(GROUPS))
    aside = page.run("""return [...document.querySelectorAll("main .figure, .groups th, .reasons li, .attention li")].filter((e) => e.offsetParent)
        .filter((e) => e.getBoundingClientRect().right > 390).map((e) => e.innerText)""")
    assert not aside, aside
    heads = page.run("return [...document.querySelectorAll('.groups th')].filter((e) => e.offsetParent).map((e) => e.innerText)")
    assert {"Queue", "Running", "Waiting", "Next start"} <= set(heads), heads
    page.look()


@pytest.mark.search
@pytest.mark.timeout(900)
def test_overview_menu_and_search_have_no_barrier(line, page, axe):
    found = []
    for who, bearer in ("boss", line.boss), ("alice", line.alice):
        page.sign_in(bearer, place="overview")
        for name, place, part in ("overview", "overview", line.q), ("search", "search?text=mi", f"{line.ns}/mine"):
            page.look()
            page.go(place)
            page.wait_text(part, selector="main")
            for look in LOOKS:
                found += problems(page, axe, f"{name}-{who}", look)
        page.look()
        page.click("#me")
        found += problems(page, axe, f"menu-{who}", "light")
        page.click("#sign-out")
        page.wait("the question who it is", page.asks_who)
    assert not found, "\n".join(found)
