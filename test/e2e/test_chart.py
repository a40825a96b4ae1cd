"""The Helm chart beside what kustomize renders of the same folders.

Wants build/tools/helm, which `./dev release` and `./dev chart` build: two minutes of work that no
other test needs."""

import itertools
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import LATER, SOON, own_plane
from prometheus import objects
from sandbox import wait_until
from sandbox.sandbox import ROOT
from test_install import COMPONENTS, KUBECTL, QUICKSTART, VERSION, overlay, render  # noqa: F401 (overlay is a fixture)
from test_upgrade import PAGE_BACK, before_knows, need_before

HELM = ROOT / "build" / "tools" / "helm"
if not HELM.exists():
    pytest.skip("helm is not built; ./dev chart builds it", allow_module_level=True)
REMOVER = "without-mutating-policy"
COMBINATIONS = [(), *((c,) for c in COMPONENTS), *itertools.combinations(COMPONENTS, 2), tuple(COMPONENTS)]


@pytest.fixture(scope="module")
def chart(tmp_path_factory):
    out = tmp_path_factory.mktemp("chart")
    subprocess.run([sys.executable, ROOT / "release" / "chart.py", KUBECTL, out], check=True)
    return out / "sluice"


def helm(*args):
    done = subprocess.run([HELM, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def switches(choices):
    """The values for these components and no other."""
    def name(component):
        first, *rest = component.split("-")
        return "postgres.enabled" if component == "postgres" else f"components.{first}{''.join(w.capitalize() for w in rest)}"
    return [f"{name(c)}={'true' if c in choices else 'false'}" for c in COMPONENTS]


def template(chart, *settings, namespace="sluice-system"):
    return helm("template", "sluice", chart, "-n", namespace, "--set", ",".join(["crds.keep=false", *settings]))


def documents(text):
    """{first lines that say what it is: all lines}, without the comments that helm puts before each."""
    found = {}
    for part in re.split(r"^---\n", text, flags=re.M):
        part = re.sub(r"\A# Source: .*\n", "", part).strip("\n")
        if part:
            kind = re.search(r"^kind: (.*)", part, re.M)[1]
            name = re.search(r"^  name: (.*)", part[part.index("metadata:\n"):], re.M)[1]
            place = re.search(r"^  namespace: (.*)", part, re.M)
            found[(kind, name, place and place[1])] = part
    return found


OF_HELM = f"""\
    helm.sh/chart: sluice-{VERSION}
    app.kubernetes.io/instance: sluice
    app.kubernetes.io/managed-by: Helm
"""


def as_of_kustomize(text):
    """The documents without Helm's own labels, which each has once, behind its others' heading."""
    found = documents(text)
    for what, lines in found.items():
        assert lines.count("\n  labels:\n" + OF_HELM) == lines.count(OF_HELM) == 1, what
        found[what] = lines.replace(OF_HELM, "")
    return found


def assert_same(made, wanted):
    assert made.keys() == wanted.keys()
    for what in wanted:
        assert made[what] == wanted[what]


def test_lint(chart):
    assert "0 chart(s) failed" in helm("lint", "--strict", chart)


@pytest.mark.parametrize("choices", COMBINATIONS, ids=lambda c: "+".join(c) or "base")
def test_the_chart_is_what_kustomize_renders(chart, overlay, choices):  # noqa: F811
    wanted = documents(overlay("base", *sorted(choices, key=lambda c: (c == REMOVER, c))))
    del wanted[("Namespace", "sluice-system", None)]
    assert_same(as_of_kustomize(template(chart, *switches(choices))), wanted)


def test_with_a_postgres_of_its_own_it_has_the_objects_of_the_quickstart(chart):
    wanted = documents(render(QUICKSTART))
    del wanted[("Namespace", "sluice-system", None)]
    assert_same(as_of_kustomize(template(chart, "postgres.enabled=true")), wanted)


# ---- values --------------------------------------------------------------------------

CONTROLLER = ("Deployment", "sluice-controller", "sluice-system")
POSTGRES = ("StatefulSet", "sluice-postgres", "sluice-system")


def spec_of(text, what):
    """The spec of the pods of an object, read as YAML: what stands in the wrong place is not found."""
    (obj,) = [o for o in objects(text) if (o["kind"], o["metadata"]["name"], o["metadata"].get("namespace")) == what]
    return obj["spec"]["template"]["spec"]


def test_values(chart):
    digest = "sha256:" + "0" * 64
    deployment = documents(template(chart, "image.repository=reg.example/s", f"image.digest={digest}", "replicas=3", "database.existingSecret=db",
                                    "extraArgs={--lease-seconds=15}", "nodeSelector.a=b", "tolerations[0].key=k",
                                    "imagePullSecrets[0].name=pull"))[CONTROLLER]
    for line in (f"        image: reg.example/s@{digest}", "  replicas: 3", "            name: db", "        - --lease-seconds=15",
                 "      nodeSelector:\n        a: b", "      tolerations:\n        - key: k", "      imagePullSecrets:\n        - name: pull"):
        assert line + "\n" in deployment, deployment


# What a platform team sets, and the controller's pod with it.
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["system"]}]}]}}}
OF_A_TEAM = {
    "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}}, "affinity": AFFINITY, "priorityClassName": "important",
    "extraVolumes": [{"name": "tls", "secret": {"secretName": "sluice-controller-tls"}}],
    "extraVolumeMounts": [{"name": "tls", "mountPath": "/tls", "readOnly": True}], "extraEnv": [{"name": "PGAPPNAME", "value": "sluice"}],
    "extraArgs": ["--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key", "--lease-seconds", "15"],
    "postgres": {"enabled": True, "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "4Gi"}}}}


@pytest.fixture
def values(tmp_path):
    """A file with these values, as one gives it to -f."""
    def make(given):
        (tmp_path / "values.json").write_text(json.dumps(given))
        return str(tmp_path / "values.json")
    return make


@pytest.mark.parametrize("visibility", [True, False])
def test_what_a_team_sets_takes_the_place_of_what_deploy_has_and_the_rest_stays(chart, values, visibility):
    given = {**OF_A_TEAM, "components": {"visibility": visibility}}
    text = helm("template", "sluice", chart, "-n", "sluice-system", "-f", values(given))
    plain = template(chart, "postgres.enabled=true", f"components.visibility={str(visibility).lower()}")
    pod, before = spec_of(text, CONTROLLER), spec_of(plain, CONTROLLER)
    assert (pod.pop("affinity"), pod.pop("priorityClassName"), pod.pop("volumes")) == (AFFINITY, "important", OF_A_TEAM["extraVolumes"])
    assert (before.pop("affinity"), before.pop("priorityClassName")) == (before_affinity(), "system-cluster-critical")
    (container,), (usual,) = pod["containers"], before["containers"]
    assert (container.pop("resources"), container.pop("volumeMounts")) == (OF_A_TEAM["resources"], OF_A_TEAM["extraVolumeMounts"])
    assert usual.pop("resources")["limits"] == {"memory": "1Gi" if visibility else "512Mi"}
    assert container.pop("env") == OF_A_TEAM["extraEnv"] + usual.pop("env") and container.pop("args") == usual.pop("args") + OF_A_TEAM["extraArgs"]
    assert pod == before
    pod, before = spec_of(text, POSTGRES), spec_of(plain, POSTGRES)
    assert pod.pop("priorityClassName") == "important" and before.pop("priorityClassName") == "system-cluster-critical"
    assert pod["containers"][0].pop("resources") == OF_A_TEAM["postgres"]["resources"] and before["containers"][0].pop("resources")
    assert pod == before


AGENT = ("DaemonSet", "sluice-node", "sluice-node")


@pytest.mark.parametrize("cgroups, seen", [("/sys/fs/cgroup/kubepods.slice", "/cgroup/kubepods.slice"), ("/sys/fs/cgroup/kubepods", "/cgroup/kubepods"),
                                           ("/sys/fs/cgroup", "/cgroup")])
def test_what_a_team_sets_of_the_agents_of_nodes(chart, cgroups, seen):
    """The folder of the node is seen by its own name, by which an agent knows it; all of it at the top."""
    pod = spec_of(template(chart, "components.nodeAgent=true", "image.repository=reg.example/s", f"nodeAgent.cgroups={cgroups}", "nodeAgent.nodeSelector.pool=idle",
                           "nodeAgent.resources.limits.memory=64Mi", "imagePullSecrets[0].name=pull", namespace="elsewhere"), AGENT)
    (container,) = pod["containers"]
    assert pod["volumes"][0]["hostPath"] == {"path": cgroups, "type": "Directory"}
    assert container["volumeMounts"][0] == {"name": "cgroups", "mountPath": seen} and "--cgroups=/cgroup" in container["args"]
    assert pod["nodeSelector"] == {"pool": "idle"} and container["resources"] == {"limits": {"memory": "64Mi"}}
    assert container["image"] == f"reg.example/s:{VERSION}" and pod["imagePullSecrets"] == [{"name": "pull"}]
    assert "--namespace=elsewhere" in container["args"]


def before_affinity():
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": {
        "topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "sluice-controller"}}}}]}}


def test_labels_by_which_a_prometheus_and_a_grafana_choose_and_where_the_runbooks_are(chart):
    plain, made = (documents(template(chart, "components.monitoring=true", *more)) for more in (
        (), ("monitoring.labels.release=kps", "monitoring.dashboardLabels.grafana_dashboard=yes", "monitoring.runbooks=https://wiki.example/sluice")))
    changed = {what[:2] for what in made if made[what] != plain[what]}
    assert changed == {("ServiceMonitor", "sluice-controller"), ("PrometheusRule", "sluice"), ("ConfigMap", "sluice-dashboard")}
    for what in changed - {("ConfigMap", "sluice-dashboard")}:
        assert "    release: kps\n" in made[*what, "sluice-system"] and "release:" not in plain[*what, "sluice-system"]
    assert '    grafana_dashboard: "1"\n' in plain["ConfigMap", "sluice-dashboard", "sluice-system"]
    assert '    grafana_dashboard: "yes"\n' in made["ConfigMap", "sluice-dashboard", "sluice-system"]
    rules = made["PrometheusRule", "sluice", "sluice-system"]
    assert rules.count("runbook_url: https://wiki.example/sluice#sluice") == rules.count("- alert:") > 20


def test_values_of_an_older_chart_will_do(chart):
    """`helm upgrade --reuse-values` does not know those that came since."""
    new = [f"{key}=null" for key in ("resources", "affinity", "priorityClassName", "extraEnv", "extraVolumes", "extraVolumeMounts", "monitoring", "nodeAgent")]
    made, wanted = (template(chart, "components.monitoring=true", "components.nodeAgent=true", "postgres.enabled=true", *more) for more in ((*new, "postgres.resources=null"), ()))
    assert made == wanted.replace('    grafana_dashboard: "1"\n', "")


def test_the_way_back_leaves_no_argument_that_the_version_before_lacks(chart):
    """docs/upgrade.md, "Back"; whatever components were chosen, and by digest. By kubectl: test_upgrade.py."""
    need_before()
    had = [*switches(COMPONENTS), "image.digest=sha256:" + "0" * 64]
    before, after = (template(chart, *had, *more) for more in ((), re.findall(r"--set (\S+)", PAGE_BACK)))
    (container,) = spec_of(after, CONTROLLER)["containers"]
    assert before_knows(container["args"]) and container["image"] == "sluice-controller:OLD_TAG"
    assert "kind: APIService" in before and "kind: APIService" not in after


@pytest.mark.parametrize("setting, said", [
    ("postgre.enabled=true", "postgre"), ("components.visiblity=false", "visiblity"), ("components.monitoring=yes", "/components/monitoring"),
    ("replicas=two", "/replicas"), ("image.digest=sha256:abc", "/image/digest"), ("image.pullPolicy=Sometimes", "/image/pullPolicy"),
    ("resources.limit.memory=1Gi", "limit"), ("resources.limits.memory=1 GB", "/resources/limits/memory"), ("affinity.nodes=a", "nodes"),
    ("extraArgs[0]=15", "/extraArgs/0"), ("extraEnv[0].value=a", "/extraEnv/0"), ("extraVolumes[0].secret.secretName=a", "/extraVolumes/0"),
    ("extraVolumeMounts[0].name=tls", "/extraVolumeMounts/0"), ("tolerations[0].effect=Never", "/tolerations/0/effect"),
    ("nodeSelector.spot=true", "/nodeSelector/spot"), ("monitoring.labels.release=1", "/monitoring/labels/release"), ("nodeAgent.cgroups=/proc", "/nodeAgent/cgroups"), ("enabled=yes", "/enabled")])
def test_a_value_that_means_nothing_is_refused_by_its_name(chart, setting, said):
    done = subprocess.run([HELM, "template", "sluice", chart, "--set", setting], capture_output=True, text=True)
    assert done.returncode != 0 and "values don't meet the specifications of the schema" in done.stderr and said in done.stderr, done


@pytest.mark.parametrize("which", ["labels", "dashboardLabels"])
def test_a_label_that_the_objects_have_is_refused_for_it_would_stand_there_twice(chart, values, which):
    made = objects(template(chart, "components.monitoring=true"))
    has = {key for obj in made if obj["kind"] in ("ServiceMonitor", "PrometheusRule", "ConfigMap") for key in obj["metadata"]["labels"]} - {"grafana_dashboard"}
    assert "helm.sh/chart" in has and len(has) > 5
    for key in has:
        done = subprocess.run([HELM, "template", "sluice", chart, "-f", values({"monitoring": {which: {key: "mine"}}})], capture_output=True, text=True)
        assert done.returncode != 0 and f"/monitoring/{which}" in done.stderr, (key, done)


@pytest.mark.parametrize("enabled", [True, False])
def test_a_chart_around_it_takes_it_or_leaves_it_and_shares_what_is_its_own(chart, values, tmp_path, enabled):
    """Helm hands to a chart within another the values `global` and `enabled` as well; x-... is for anchors of YAML."""
    around = tmp_path / "around"
    shutil.copytree(chart, around / "charts" / "sluice")
    about = {"apiVersion": "v2", "name": "around", "version": "1.0.0", "dependencies": [{"name": "sluice", "version": "*", "condition": "sluice.enabled"}]}
    (around / "Chart.yaml").write_text(json.dumps(about))
    given = values({"global": {"registry": "reg.example"}, "sluice": {"enabled": enabled, "x-usual": {"cpu": "1"}, "crds": {"keep": False}}})
    made = helm("template", "sluice", around, "-n", "sluice-system", "-f", given)
    assert documents(made) == (documents(template(chart)) if enabled else {})


def keys(tree, schema=False, at=""):
    """Each path of a tree of values, or of its schema."""
    below = tree.get("properties", {}) if schema else tree
    for key, value in below.items():
        yield f"{at}/{key}"
        if isinstance(value, dict):
            yield from keys(value, schema, f"{at}/{key}")


def test_the_schema_has_the_values_and_no_others(chart, tmp_path):
    """Free maps such as dashboardLabels have no properties of their own."""
    shutil.copytree(chart, tmp_path / "sluice")
    (tmp_path / "sluice" / "templates" / "all.yaml").write_text("values: {{ toJson .Values | quote }}\n")
    made = helm("template", "sluice", tmp_path / "sluice", "--show-only", "templates/all.yaml")
    told = json.loads(json.loads(re.search(r"^values: (.*)", made, re.M)[1]))
    schema = json.loads((chart / "values.schema.json").read_text())
    assert set(keys(schema, True)) - {"/global", "/enabled"} == {key for key in keys(told) if not key.startswith("/monitoring/dashboardLabels/")}


# ---- applied -------------------------------------------------------------------------


def test_another_namespace(chart):
    made = template(chart, "postgres.enabled=true", "components.monitoring=true", "components.nodeAgent=true", namespace="elsewhere")
    assert "sluice-system" not in made
    assert "kubernetes.io/metadata.name: elsewhere" in made.partition("name: sluice-guard-nodes")[2]
    assert "system:serviceaccount:elsewhere:sluice-controller" in made and "- --config-namespace=elsewhere" in made


def test_crds_stay_unless_told(chart):
    assert template(chart).count("helm.sh/resource-policy") == 0
    crds = len(re.findall("kind: CustomResourceDefinition", render(ROOT / "deploy" / "base")))
    assert helm("template", "sluice", chart, "-n", "sluice-system").count("helm.sh/resource-policy: keep") == crds


@pytest.fixture(scope="module")
def box():
    with own_plane("chart", manifests=False) as b:
        yield b


def test_installed_upgraded_and_uninstalled(box, chart, values):
    def on_box(*args):
        return helm(*args, "--kubeconfig", str(box.kubeconfig), "-n", "sluice-system")

    def token():
        return box.api.get("/api/v1/namespaces/sluice-system/secrets/sluice-postgres").get("data", {}).get("token")

    on_box("install", "sluice", chart, "--create-namespace", "--set", "postgres.enabled=true")
    password = wait_until("the control plane to make a password", token, SOON)
    on_box("upgrade", "sluice", chart, "--set", "replicas=3,components.idleResources=true,components.nodeAgent=true", "-f", values(OF_A_TEAM))
    spec = box.api.get("/apis/apps/v1/namespaces/sluice-system/deployments/sluice-controller")["spec"]
    assert spec["replicas"] == 3 and spec["template"]["spec"]["affinity"] == AFFINITY
    (container,) = spec["template"]["spec"]["containers"]
    assert container["resources"] == OF_A_TEAM["resources"] and container["volumeMounts"] == OF_A_TEAM["extraVolumeMounts"]
    assert OF_A_TEAM["extraEnv"][0] in container["env"]
    assert token() == password
    box.api.get("/apis/apps/v1/namespaces/sluice-node/daemonsets/sluice-node")
    on_box("uninstall", "sluice")
    wait_until("the namespace of agents to be gone", lambda: "sluice-node" not in box.kubectl("get", "namespaces", "-o", "name").stdout, LATER)
    left = box.kubectl("get", "crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingadmissionpolicies", "-o", "name").stdout
    assert {line.split("/")[0] for line in left.split() if "sluice" in line} == {"customresourcedefinition.apiextensions.k8s.io"}
    assert "visibility.sluice.dev" not in box.kubectl("get", "apiservices", "-o", "name").stdout, "it would keep namespaces from going"
