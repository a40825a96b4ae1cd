"""A real Prometheus scrapes a leader and a standby as the ServiceMonitor says, and is asked what the dashboard asks.

A sandbox of its own, since the dashboard has a row on idle resources. A few Jobs see to it that something
started, waits, was stopped, is in trouble and has cost something, and that something is wrong with an
object of each kind that can be wrong. So no query of the dashboard may come back empty."""

import base64
import json
import re
import time

import pytest
from conftest import LATER, SOON, USUAL_FLAGS, own_plane, start_controller, token, wait_leading
from objects import HOLD, has, ours, path_of
from prometheus import DASHBOARD, MONITORING, Prometheus, objects, panels, promtool, rule_groups, tool
from sandbox import SandboxError, wait_until
from test_install import render
from test_overcommit import CPU, NODES, THRESHOLD, Lent
from test_trouble import WAITING

RBAC = "/apis/rbac.authorization.k8s.io/v1"
FLAGS = (*USUAL_FLAGS, "--stuck-after", "2s", "--loopback-needs-token")
CONTROLLERS = ("one", "two")
DARK = "unseen-0"  # a node whose usage nobody can tell
WRONG = {"SluiceClusterQueueInactive", "SluiceJobsWithoutQueue", "SluiceJobsStuck", "SluiceJobFitsNoNode", "SluiceWindowNeverOpens",
         "SluiceRunPolicyWithoutEffect", "SluiceSeriesStale", "SluiceBudgetWithoutEffect"}

pytestmark = [pytest.mark.timeout(1500),
              pytest.mark.skipif(not tool("prometheus"), reason="there is no Prometheus; ./dev test unpacks it where there is apt-get")]


# ---- what is scraped ---------------------------------------------------------------


@pytest.fixture(scope="module")
def box():
    with own_plane("prometheus", overcommit=True) as b:
        b.controller_token = admin_token(b)
        for identity in CONTROLLERS:
            start_controller(b, identity, FLAGS)
            if identity == "one":
                wait_leading(b)
        b.wait_usage()
        yield b
        b.process("prometheus").stop()


def admin_token(box):
    """For the tests' own questions to the controllers."""
    box.api.ensure("/api/v1/namespaces/default/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "admin"}})
    box.api.ensure(f"{RBAC}/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "test-admin"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "admin"}]})
    return token(box.api, "default", "admin")


@pytest.fixture(scope="module")
def monitor(box, tmp_path_factory):
    """The endpoint of the ServiceMonitor, whose account and token are in the cluster; and a file with the token."""
    made = objects(render(MONITORING))
    (servicemonitor,) = [o for o in made if o["kind"] == "ServiceMonitor"]
    made = [o for o in made if not o["apiVersion"].startswith("monitoring.coreos.com/")]  # the cluster has no such kinds
    box.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
    (endpoint,) = servicemonitor["spec"]["endpoints"]
    shown = endpoint["authorization"]["credentials"]
    path = f"/api/v1/namespaces/{servicemonitor['metadata']['namespace']}/secrets/{shown['name']}"
    text = wait_until("the control plane to make a token", lambda: box.api.get(path).get("data", {}).get(shown["key"]), SOON)
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_bytes(base64.b64decode(text))
    return endpoint, file


@pytest.fixture(scope="module")
def prometheus(box, monitor, tmp_path_factory):
    endpoint, file = monitor
    folder = tmp_path_factory.mktemp("prometheus")
    stranger = folder / "stranger"
    stranger.write_text(token(box.api, "default", "default"))
    targets = [box.controller_url(f"controller-{i}").removeprefix("http://") for i in CONTROLLERS]
    like_monitor = {"metrics_path": endpoint["path"], "scheme": endpoint.get("scheme", "http"), "static_configs": [{"targets": targets}]}
    p = Prometheus(box, folder, [
        {"job_name": "sluice", "authorization": {"credentials_file": str(file)}, **like_monitor},
        {"job_name": "stranger", "authorization": {"credentials_file": str(stranger)}, **like_monitor},
        {"job_name": "nobody", **like_monitor}])
    p.start()
    p.began = time.time()
    wait_until("both controllers to be scraped", lambda: [v for _, v in p.now('up{job="sluice"}')] == [1, 1], SOON, p.process)
    return p


@pytest.fixture(scope="module")
def busy(box, prometheus):
    """A world in which there is something of all that the dashboard shows."""
    w = Lent(box, "busy")
    box.api.post("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": DARK, "labels": {"pool": "unseen"}}})
    lend(w)
    describe(w)
    run_jobs(w)
    for what in ("sluice_jobs_no_node_suits", "sluice_jobs_without_queue", "koordlet_container_resource_requests"):  # what came last
        wait_until(f"Prometheus to see that {what}", lambda x=what: prometheus.now(f"{x} > 0"), SOON, prometheus.process)
    yield w
    w.api.delete(f"/api/v1/nodes/{DARK}")
    w.end()


def describe(w):
    """Two queues with a price and a budget, a Calendar; and of each kind one in which something is wrong."""
    queue, nobody, week = w.queue(cpu=4), w.full("nobody"), {"timeZone": "Europe/Berlin"}
    w.create("calendars", ours("Calendar", w.full("nights"), {**week, "open": [{"name": "night", "days": ["Mon-Sun"], "from": "19:00", "to": "07:00"}]}))
    w.queue("stopped", cpu=1, stopPolicy="Hold")
    w.create("calendars", ours("Calendar", w.full("never"), {**week, "open": [
        {"name": "past", "at": {"from": "2020-01-01T00:00", "to": "2020-01-02T00:00"}}]}))
    w.create("runpolicies", ours("RunPolicy", w.full("lost"), {"queues": [nobody], "calendar": nobody}))
    w.create("priceplans", ours("PricePlan", w.full("plan"), {"currency": "EUR", "queues": [queue], "base": {"cpu": "36.00"}}))
    w.create("priceplans", ours("PricePlan", w.full("lost"), {"currency": "EUR", "queues": [nobody], "base": {"cpu": "1.00"}, "series": {
        "configMap": nobody, "key": "prices", "reference": "80.0", "staleAfter": "1h", "whenStale": "UseRates"}}))
    period = {"period": "Monthly", "timeZone": "Europe/Berlin", "currency": "EUR", "amount": "5000.00"}
    w.create("budgets", ours("Budget", w.full("budget"), {"queue": queue, **period}))
    w.create("budgets", ours("Budget", w.full("lost"), {"queue": nobody, **period}))
    w.wait("the Budget to be active", lambda: has(w.api.get(path_of("budgets", w.full("budget"))), "Active"))


def run_jobs(w):
    """One completes, one is put on hold, one is stuck, one waits for quota, one for a node that there is not, one for a queue that is
    stopped, and one for a queue that there is not."""
    w.job("short", seconds=1)
    w.job("held")
    w.job("stuck", pod_annotations={WAITING: "ErrImagePull"})
    w.finished("short")
    w.started("held", "stuck")
    w.wait("the stuck one to be said to be", lambda: w.explain("stuck").get("trouble"), about="stuck")
    w.patch("held", {"metadata": {"annotations": {HOLD: "tried"}}})
    w.stopped("held")
    w.job("waiting", cpu=4)
    w.waits("waiting")
    w.job("nowhere", pod={"nodeSelector": {"pool": "nowhere"}})
    w.waits("nowhere", "NoNodeSuits")
    w.job("late", queue="stopped")
    w.job("astray", queue="nobody")


def lend(w):
    """Idle resources, while no node uses anything, and a Job that runs on them."""
    w.configmap()
    w.lend(CPU * THRESHOLD // 100)
    w.idle_queue("idle")
    w.preemptible("gap", queue="idle")
    w.runs_with("gap")


# ---- /metrics ----------------------------------------------------------------------


def test_the_account_of_the_servicemonitor_is_let_in_and_nobody_else(prometheus):
    for job, said in (("stranger", "403"), ("nobody", "401")):
        target = wait_until(f"the target of {job} to be refused with {said}", lambda j=job, s=said: s in (t := prometheus.target(j)).get("lastError", "")
                            and t, SOON, prometheus.process)
        assert target["health"] == "down", target
    wait_until("the target of sluice to be up", lambda: prometheus.target("sluice")["health"] == "up", SOON, prometheus.process)


def test_all_series_have_a_type_and_a_text(prometheus, busy):
    def named():
        """Of a scrape that was late nothing is there for a moment."""
        names = {labels["__name__"] for labels, _ in prometheus.now('{job="sluice"}')}
        names -= {name for name in names if name == "up" or name.startswith(("scrape_", "ALERTS"))}  # Prometheus' own
        return len(names) > 60 and names
    names = wait_until("more than 60 series", named, SOON, prometheus.process)
    told = prometheus.ask("metadata")
    for name in names:
        family = next((f for f in (name, re.sub("_(total|info|bucket|sum|count)$", "", name)) if f in told), None)
        assert family, f"{name} is of no family"
        for text in told[family]:
            assert text["type"] != "unknown" and len(text["help"]) > 10, (name, text)


def as_plain_text(openmetrics):
    """The same in Prometheus' own format, which `promtool check metrics` reads: it does not know OpenMetrics."""
    types, lines = {}, []
    for line in openmetrics.splitlines():
        if line.startswith(("# UNIT", "# EOF")):
            continue
        if line.startswith("# "):
            _, what, family, text = line.split(" ", 3)
            if what == "TYPE":
                types[family] = text
            name = family + {"counter": "_total", "info": "_info"}.get(types[family], "")
            line = f"# {what} {name} {'gauge' if (what, text) == ('TYPE', 'info') else text}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def test_promtool_finds_nothing_wrong_with_the_metrics(box, busy):
    text = box.controller_api().raw("GET", "/metrics").decode()
    done = promtool("check", "metrics", input=as_plain_text(text))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_dashboard_is_in_the_cluster_where_a_sidecar_finds_it(box, monitor):
    (found,) = box.api.list("/api/v1/configmaps?labelSelector=grafana_dashboard")
    assert json.loads(found["data"]["sluice.json"]) == DASHBOARD


# ---- what is asked of it ---------------------------------------------------------------


def filled_in(prometheus, expr, **chosen):
    """A query of the dashboard, with what is chosen for its variable, or else the first value that Grafana would offer: All, where
    there is that."""
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] != "query" or f"${variable['name']}" not in expr:
            continue
        match, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]).groups()
        values = wait_until(f"something to choose for ${variable['name']}", lambda m=match, l=label: prometheus.ask(
            f"label/{l}/values", **{"match[]": m}), SOON, prometheus.process)
        first = variable["allValue"] if variable.get("includeAll") else values[0]
        expr = expr.replace(f"${variable['name']}", chosen.get(variable["name"], first))
    assert "$" not in expr, expr
    return expr


def answers(prometheus, target):
    expr = filled_in(prometheus, target["expr"])
    return [labels for labels, _ in prometheus.now(expr)] if target.get("instant") else prometheus.series(expr, prometheus.began, time.time())


def test_each_query_of_the_dashboard_returns_series_with_the_labels_of_its_legend(prometheus, busy):
    queries = [(panel["title"], target) for panel in panels() for target in panel["targets"]]
    assert len(queries) > 35
    for title, target in queries:
        def returned(t=target):
            return answers(prometheus, t)
        series = wait_until(f"{title}: {target['expr']}", returned, LATER, prometheus.process, every=1)
        for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
            assert all(s.get(label) for s in series), (title, label, series)


def test_the_dashboard_says_what_is_so(prometheus, busy):
    """A few figures, so that what comes back is not only something. Of a scrape that was late nothing is there for a moment."""
    def shown(title, **chosen):
        (panel,) = [p for p in panels() if p["title"] == title]
        return [x for t in panel["targets"] for x in prometheus.now(filled_in(prometheus, t["expr"], **chosen))]

    def of_queue(title, **labels):
        return {v for got, v in shown(title) if labels.items() <= got.items() and got["cluster_queue"] == busy.full("q")}

    def told(what, asked, wanted):
        """Until it is so; what it is at last."""
        last = [None]

        def is_so():
            last[0] = asked()
            return wanted(last[0]) if callable(wanted) else last[0] == wanted
        try:
            wait_until(what, is_so, SOON, prometheus.process)
        except SandboxError as e:
            raise AssertionError(f"{e}\nit is {last[0]}") from None
    told("one Job to run", lambda: of_queue("Jobs that run"), {1})
    told("two queues to run Jobs", lambda: {got["cluster_queue"] for got, v in shown("Jobs that run") if v}, {busy.full("q"), busy.full("idle")})
    told("the queue that was chosen alone", lambda: shown("Jobs that run", queue=busy.full("q")), [({"cluster_queue": busy.full("q")}, 1)])
    told("a quarter to be held", lambda: of_queue("Quota held / nominal"), {0.25})
    told("one to be in trouble", lambda: of_queue("Running Jobs in trouble", reason="ErrImagePull"), {1})
    told("one to fit no node", lambda: of_queue("Jobs whose pods no node could ever run"), {1})
    told("one to lead, and the ledger to be there", lambda: shown("Leader, ledger"), [({}, 1), ({}, 1)])
    all_lent = pytest.approx(len(NODES) * CPU * THRESHOLD / 100 / 1000, rel=0.05)
    told("what is lent, asked for and may be lent", lambda: [v for _, v in shown("Cores lent by all nodes")],
         lambda cores: len(cores) == 3 and cores[0] == all_lent and cores[1] == 4 and cores[2] == all_lent)
    told("what is wrong", lambda: {labels.get(kind) for labels, _ in shown("What is not as it should be")
                                   for kind in ("calendar", "run_policy", "price_plan", "budget", "cluster_queue")} - {None},
         {busy.full("never"), busy.full("lost"), busy.full("stopped")})
    told("what the first stop lost to count", lambda: [v for got, v in shown("Work lost by stops, hours of pods in a day")
                                                       if got == {"cluster_queue": busy.full("q"), "reason": "Held"}], lambda lost: lost and lost[0] > 0)


def test_each_alert_is_evaluated_and_those_wait_that_are_about_something(prometheus, busy):
    rules = [r for g in prometheus.ask("rules")["groups"] for r in g["rules"]]
    assert {r["name"] for r in rules} == {r["alert"] for g in rule_groups()["groups"] for r in g["rules"]}

    def ill():
        return [r for r in (r for g in prometheus.ask("rules")["groups"] for r in g["rules"]) if r["health"] != "ok" or r.get("lastError")]
    wait_until("all to be evaluated without an error", lambda: not ill(), SOON, prometheus.process)

    def active():
        return {a["labels"]["alertname"] for a in prometheus.ask("alerts")["alerts"]}
    wait_until(f"these alerts to be pending: {WRONG}", lambda: active() == WRONG, LATER, prometheus.process)
