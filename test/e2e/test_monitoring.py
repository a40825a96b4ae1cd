"""deploy/monitoring without a cluster: alerts as promtool reads and runs them, the ServiceMonitor beside what it goes by.

What Prometheus really scrapes is in test_prometheus.py. When each alert fires is in test/monitoring/alerts_test.yaml."""

import json
import re
import shutil

import pytest
from objects import GROUP
from prometheus import DASHBOARD, objects, panels, promtool, rule_groups, tool
from sandbox.sandbox import ROOT
from test_install import overlay, render  # noqa: F401 (overlay is a fixture)

CASES = ROOT / "test" / "monitoring" / "alerts_test.yaml"
METRICS = ROOT / "test" / "golden" / "controller_metrics.txt"
RUNBOOK = ROOT / "docs" / "operate.md"

wants_promtool = pytest.mark.skipif(not tool("promtool"), reason="there is no promtool; ./dev test unpacks it where there is apt-get")


def alerts():
    return [rule for group in rule_groups()["groups"] for rule in group["rules"]]


@pytest.fixture
def rules(tmp_path):
    """The folder in which promtool finds rules and cases."""
    (tmp_path / "alerts.json").write_text(json.dumps(rule_groups()))
    shutil.copy(CASES, tmp_path)
    return tmp_path


# ---- alerts ------------------------------------------------------------------------


@wants_promtool
def test_the_rules_are_rules(rules):
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", rules / "alerts.json")
    assert done.returncode == 0 and f"{len(alerts())} rules found" in done.stdout, done


@wants_promtool
def test_each_alert_fires_when_it_should_and_not_before(rules):
    done = promtool("test", "rules", rules / CASES.name)
    assert done.returncode == 0, done.stdout + done.stderr


@wants_promtool
def test_promtool_would_say_so_if_one_fired_early(rules):
    """The case above is not empty: an alert that does not wait fails it."""
    text = (rules / "alerts.json").read_text()
    (rules / "alerts.json").write_text(text.replace('"for": "2m"', '"for": "1m"', 1))
    done = promtool("test", "rules", rules / CASES.name)
    assert done.returncode != 0 and "SluiceNoLeader" in done.stdout + done.stderr


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not():
    asked = re.findall(r"^    alertname: (\w+)\n(    exp_alerts:)?", CASES.read_text(), re.M)
    names = {rule["alert"] for rule in alerts()}
    assert {name for name, fires in asked if fires} == names
    assert {name for name, fires in asked if not fires} == names


def test_each_alert_says_how_bad_it_is_and_what_it_means():
    for rule in alerts():
        assert rule["labels"]["severity"] in ("critical", "warning") and rule["annotations"]["summary"], rule


def test_each_alert_names_its_part_of_the_page():
    for rule in alerts():
        assert rule["annotations"]["runbook_url"] == f"docs/operate.md#{rule['alert'].lower()}", rule


def test_each_alert_has_its_part_of_the_page_and_no_other_has_one():
    named = re.findall(r"^### (Sluice\w+)$", RUNBOOK.read_text(), re.M)
    assert sorted(named) == sorted({rule["alert"] for rule in alerts()})


def test_each_query_of_the_dashboard_that_is_about_queues_goes_by_the_variable():
    of_a_queue = set(re.findall(r"^(sluice_\w+)\{cluster_queue=", METRICS.read_text(), re.M))
    asked = [found for panel in panels() for target in panel["targets"] for found in re.findall(r"(sluice_\w+)(\{[^}]*\}|)", target["expr"])]
    about = [(name, labels) for name, labels in asked if name in of_a_queue]
    assert len({name for name, _ in about}) > 10
    for name, labels in about:
        assert labels.startswith('{cluster_queue=~"$queue"'), (name, labels)


def test_the_reasons_in_alerts_and_panels_are_reasons_of_the_controller():
    """A label that nobody writes matches nothing, and nobody would hear of it."""
    exprs = [rule["expr"] for rule in alerts()] + [target["expr"] for panel in panels() for target in panel["targets"]]
    named = {word for expr in exprs for _, words in re.findall(r'reason(=~|!~|!=|=)"([^"]*)"', expr) for word in words.split("|")}
    source = "".join(file.read_text() for folder in ("include", "queue", "controller") for file in (ROOT / folder).rglob("*")
                     if file.suffix in (".c", ".def"))
    literals = set(re.findall(r'"([A-Z]\w+)"', source))
    assert len(named) > 10
    for word in named:
        assert word in literals or word.endswith(".*") and any(x.startswith(word[:-2]) for x in literals), word


# ---- who scrapes, and what that goes by ----------------------------------------------


@pytest.fixture
def rendered(overlay):  # noqa: F811
    """{(kind, name)} of the base with the component, as an admin renders it."""
    return {(o["kind"], o["metadata"]["name"]): o for o in objects(overlay("base", "monitoring"))}


def is_part(some, of):
    return some.items() <= of.items()


def test_the_servicemonitor_finds_the_port_of_the_pods(rendered):
    monitor = rendered["ServiceMonitor", "sluice-controller"]
    (endpoint,) = monitor["spec"]["endpoints"]
    selected = [o for (kind, _), o in rendered.items() if kind == "Service" and o["metadata"]["namespace"] == monitor["metadata"]["namespace"]
                and is_part(monitor["spec"]["selector"]["matchLabels"], o["metadata"].get("labels", {}))]
    assert [o["metadata"]["name"] for o in selected] == ["sluice-controller"]
    assert "namespaceSelector" not in monitor["spec"] and endpoint["path"] == "/metrics"
    (port,) = [p for p in selected[0]["spec"]["ports"] if p["name"] == endpoint["port"]]
    pod = rendered["Deployment", "sluice-controller"]["spec"]["template"]
    assert is_part(selected[0]["spec"]["selector"], pod["metadata"]["labels"])
    (container,) = pod["spec"]["containers"]
    (number,) = [p["containerPort"] for p in container["ports"] if p["name"] == port["targetPort"]]
    assert f"--listen=0.0.0.0:{number}" in container["args"]
    assert endpoint.get("scheme", "http") == "http" and not any(arg.startswith("--tls") for arg in container["args"])


@wants_promtool
def test_the_scrape_config_of_the_page_finds_the_same_port_of_the_same_pods(rendered, tmp_path):
    """For those who have no operator. Debian's Prometheus is built without the discovery of pods, which is left out here."""
    (text,) = re.findall(r"^```yaml\n(scrape_configs:\n.*?)^```", (ROOT / "docs" / "operate.md").read_text(), re.M | re.S)
    (tmp_path / "token").write_text("t")
    text, discoveries = re.subn(r"^  kubernetes_sd_configs: \[\{role: pod, .*\n", "", text, flags=re.M)
    assert discoveries == 1
    (tmp_path / "prometheus.yaml").write_text(text.replace("/etc/prometheus/sluice-token", str(tmp_path / "token")))
    done = promtool("check", "config", tmp_path / "prometheus.yaml")
    assert done.returncode == 0, done
    pod = rendered["Deployment", "sluice-controller"]["spec"]["template"]
    (port,) = [p["name"] for p in pod["spec"]["containers"][0]["ports"] if p["containerPort"] == 8080]
    assert f'regex: "{pod["metadata"]["labels"]["app.kubernetes.io/name"]};{port}"' in text


def test_the_token_that_the_servicemonitor_shows_is_of_an_account_that_may_read_metrics_alone(rendered):
    monitor = rendered["ServiceMonitor", "sluice-controller"]
    shown = monitor["spec"]["endpoints"][0]["authorization"]["credentials"]
    secret = rendered["Secret", shown["name"]]
    assert secret["type"] == "kubernetes.io/service-account-token" and shown["key"] == "token"
    assert secret["metadata"]["namespace"] == monitor["metadata"]["namespace"], "the operator reads it in the ServiceMonitor's namespace"
    account = rendered["ServiceAccount", secret["metadata"]["annotations"]["kubernetes.io/service-account.name"]]
    assert account["metadata"]["namespace"] == secret["metadata"]["namespace"]
    who = {"kind": "ServiceAccount", "name": account["metadata"]["name"], "namespace": account["metadata"]["namespace"]}
    bound = [o["roleRef"]["name"] for o in rendered.values() if o["kind"].endswith("RoleBinding") and who in o["subjects"]]
    assert bound == ["sluice-metrics-reader"]
    # What api_rights() wants of /metrics (controller/answers/api.c).
    assert rendered["ClusterRole", bound[0]]["rules"] == [{"apiGroups": [GROUP.partition("/")[0]], "resources": ["clusterqueues"], "verbs": ["get"]}]


def test_the_patch_of_the_component_labels_what_a_prometheus_chooses_by_release(overlay, tmp_path):  # noqa: F811
    text = (ROOT / "deploy/components/monitoring/kustomization.yaml").read_text()
    (patch,) = re.findall(r"^#   (patches:\n(?:#    ?.*\n|#   - .*\n)+)", text, re.M)
    overlay("base", "monitoring")
    with open(tmp_path / "kustomization.yaml", "a") as file:
        file.write(re.sub(r"^#   ", "", patch, flags=re.M))
    labelled = {o["kind"] for o in objects(render(tmp_path)) if "release" in o["metadata"].get("labels", {})}
    assert labelled == {"ServiceMonitor", "PrometheusRule"}


def test_the_configmap_has_the_dashboard_and_the_label_that_the_sidecar_of_grafana_looks_for(rendered):
    made = rendered["ConfigMap", "sluice-dashboard"]
    assert made["metadata"]["labels"]["grafana_dashboard"] == "1"
    ((name, text),) = made["data"].items()
    assert name.endswith(".json") and json.loads(text) == DASHBOARD


def test_the_network_policy_lets_prometheus_in_as_the_component_says(rendered):
    (label,) = re.findall(r"kubectl label namespace monitoring (\S+)=true", (ROOT / "deploy/components/monitoring/kustomization.yaml").read_text())
    sources = [source for rule in rendered["NetworkPolicy", "sluice-controller"]["spec"]["ingress"]
               if rule["ports"][0]["port"] == "http" for source in rule["from"]]
    assert {"namespaceSelector": {"matchLabels": {label: "true"}}} in sources
