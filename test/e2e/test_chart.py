"""The Helm chart beside what kustomize renders of the same folders.

Wants build/tools/helm, which `./dev release` and `./dev chart` build: two minutes of work that no
other test needs."""

import itertools
import re
import subprocess
import sys

import pytest
from conftest import SOON, own_plane
from sandbox import wait_until
from sandbox.sandbox import ROOT
from test_install import COMPONENTS, KUBECTL, overlay, render  # noqa: F401 (overlay is a fixture)

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


def switch(choice):
    first, *rest = choice.split("-")
    return "postgres.enabled=true" if choice == "postgres" else f"components.{first}{''.join(w.capitalize() for w in rest)}=true"


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


def test_lint(chart):
    assert "0 chart(s) failed" in helm("lint", "--strict", chart)


@pytest.mark.parametrize("choices", COMBINATIONS, ids=lambda c: "+".join(c) or "base")
def test_the_chart_is_what_kustomize_renders(chart, overlay, choices):  # noqa: F811
    wanted = documents(overlay("base", *sorted(choices, key=lambda c: (c == REMOVER, c))))
    del wanted[("Namespace", "sluice-system", None)]
    made = documents(template(chart, *map(switch, choices)))
    assert made.keys() == wanted.keys()
    for what in wanted:
        assert made[what] == wanted[what]


def test_values(chart):
    deployment = documents(template(chart, "image.repository=reg.example/s", "image.digest=sha256:abc", "replicas=3", "database.existingSecret=db",
                                    "extraArgs={--lease-seconds=15}", "nodeSelector.a=b", "tolerations[0].key=k",
                                    "imagePullSecrets[0].name=pull"))[("Deployment", "sluice-controller", "sluice-system")]
    for line in ("        image: reg.example/s@sha256:abc", "  replicas: 3", "            name: db", "        - --lease-seconds=15",
                 "      nodeSelector:\n        a: b", "      tolerations:\n        - key: k", "      imagePullSecrets:\n        - name: pull"):
        assert line + "\n" in deployment, deployment


def test_another_namespace(chart):
    made = template(chart, "postgres.enabled=true", "components.monitoring=true", namespace="elsewhere")
    assert "sluice-system" not in made
    assert "system:serviceaccount:elsewhere:sluice-controller" in made and "- --config-namespace=elsewhere" in made


def test_crds_stay_unless_told(chart):
    assert template(chart).count("helm.sh/resource-policy") == 0
    crds = len(re.findall("kind: CustomResourceDefinition", render(ROOT / "deploy" / "base")))
    assert helm("template", "sluice", chart, "-n", "sluice-system").count("helm.sh/resource-policy: keep") == crds


@pytest.fixture(scope="module")
def box():
    with own_plane("chart", manifests=False) as b:
        yield b


def test_installed_upgraded_and_uninstalled(box, chart):
    def on_box(*args):
        return helm(*args, "--kubeconfig", str(box.kubeconfig), "-n", "sluice-system")

    def token():
        return box.api.get("/api/v1/namespaces/sluice-system/secrets/sluice-postgres").get("data", {}).get("token")

    on_box("install", "sluice", chart, "--create-namespace", "--set", "postgres.enabled=true")
    password = wait_until("the control plane to make a password", token, SOON)
    on_box("upgrade", "sluice", chart, "--set", "postgres.enabled=true,replicas=3")
    assert box.api.get("/apis/apps/v1/namespaces/sluice-system/deployments/sluice-controller")["spec"]["replicas"] == 3
    assert token() == password
    on_box("uninstall", "sluice")
    left = box.kubectl("get", "crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingadmissionpolicies", "-o", "name").stdout
    assert {line.split("/")[0] for line in left.split() if "sluice" in line} == {"customresourcedefinition.apiextensions.k8s.io"}
