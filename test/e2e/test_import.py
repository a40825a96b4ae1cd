"""`sluice import`: what it prints is taken by a real API server, and Jobs run by it.

    SLUICE_KUEUE_SOURCES=DIR   Kueue's own manifests, too (a clone of its repository)"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import BIN
from objects import QUEUE, RUN_SECONDS, has, jobs_path, path_of
from sandbox import ApiError
from sandbox.sandbox import ROOT
from test_crds import PLURAL

PARTS = ("cmd", "config", "examples", "site", "test")  # as test/bench/kueue_manifests.py
CASES = sorted((ROOT / "test" / "import").glob("*.txt"))
SOURCES = os.environ.get("SLUICE_KUEUE_SOURCES")


def imported(text, *flags, source="kueue"):
    """(exit code, items) of what is given on the standard input; None where it is no YAML."""
    done = subprocess.run([str(BIN / "sluice"), "import", source, "-f", "-", "-o", "json", *flags], input=text, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)["items"] if done.returncode in (0, 1) else []


def objects(items):
    return [i["object"] for i in items if i["object"]]


def place(obj, ns):
    if obj["apiVersion"] == "batch/v1":
        return f"/apis/batch/v1/namespaces/{ns}/{obj['kind'].lower()}s"
    return path_of(PLURAL[obj["kind"]], ns=ns if obj["kind"] == "LocalQueue" else None)


def refusals(api, items):
    """What the API server says against objects of ours and of batch/v1."""
    said = []
    # A Job that is said to be Misconfigured is refused by the policies, too.
    for obj in objects(i for i in items if not any("Misconfigured" in n["note"] for n in i["notes"])):
        if obj["apiVersion"] not in ("sluice.dev/v1alpha1", "batch/v1"):
            continue
        obj["metadata"].pop("namespace", None)
        try:
            api.post(place(obj, "default") + "?dryRun=All&fieldValidation=Strict", obj)
        except ApiError as e:
            if re.search(r"Job\.batch .* is invalid", str(e)):
                continue  # so it was before: its spec is as it came, and some pages show only a piece of one
            said.append(f"{obj['kind']} {obj['metadata']}: {e}")
    return said


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_the_api_server_takes_what_is_printed(plane, path):
    texts = re.findall(r"^>> (kueue|crane)\n(.*?)^>> ", path.read_text(), re.S | re.M)
    assert texts
    for source, text in texts:
        assert not refusals(plane.api, imported(text, source=source)[1])


@pytest.mark.skipif(not SOURCES, reason="SLUICE_KUEUE_SOURCES names no folder")
def test_the_api_server_takes_what_comes_of_kueues_own(plane):
    taken, said = 0, []
    folders = [Path(SOURCES) / p for p in PARTS if (Path(SOURCES) / p).is_dir()]
    for path in sorted(p for f in folders for p in f.rglob("*") if p.suffix in (".yaml", ".yml", ".md") and "charts" not in p.parts):
        text = path.read_text(errors="replace")
        for t in [text] if path.suffix != ".md" else re.findall(r"^```ya?ml[^\n]*\n(.*?)^```", text, re.S | re.M):
            items = imported(t)[1]
            taken += len([o for o in objects(items) if o["apiVersion"] in ("sluice.dev/v1alpha1", "batch/v1")])
            said += [f"{path}: {s}" for s in refusals(plane.api, items)]
    print(f"{taken} objects, {len(said)} refused")
    assert taken > 100 and not said, "\n".join(said)


# ---- and Jobs run by it ---------------------------------------------------------------------


def kueue(kind, name, spec, version="v1beta1", **metadata):
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def setup_of(world):
    """As an admin has it for Kueue."""
    quota = [{"coveredResources": ["cpu"], "flavors": [{"name": world.full("any"), "resources": [{"name": "cpu", "nominalQuota": 2}]}]}]
    return [kueue("ResourceFlavor", world.full("any"), {}),
            kueue("ClusterQueue", world.full("q"), {"namespaceSelector": {}, "cohort": world.full("all"), "resourceGroups": quota}),
            kueue("LocalQueue", "q", {"clusterQueue": world.full("q")}, namespace=world.ns)]


def kueue_job(world, name, **metadata):
    work = {"name": "work", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": world.ns, "labels": {"kueue.x-k8s.io/queue-name": "q"}, **metadata},
            "spec": {"suspend": True, "backoffLimit": 0, "template": {
                "metadata": {"annotations": {RUN_SECONDS: "3600"}}, "spec": {"restartPolicy": "Never", "containers": [work]}}}}


def apply(world, objs):
    for obj in objs:
        if obj["apiVersion"] == "batch/v1":
            world.api.post(place(obj, world.ns), obj)
        else:
            world.create(PLURAL[obj["kind"]], obj, world.ns if obj["kind"] == "LocalQueue" else None)


def test_a_setup_of_kueue_runs_its_jobs_here(world):
    code, items = imported("---\n".join(json.dumps(o) + "\n" for o in [*setup_of(world), kueue_job(world, "train")]))
    assert code == 0 and [i["outcome"] for i in items] == ["Whole"] * 4
    apply(world, objects(items))
    world.started("train")


# ---- from a cluster -------------------------------------------------------------------------

KINDS = {"ResourceFlavor": "resourceflavors", "ClusterQueue": "clusterqueues", "LocalQueue": "localqueues"}


@pytest.fixture
def with_kueue(world):
    """The kinds of Kueue, without Kueue: any spec."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for kind, plural in KINDS.items():
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        world.api.ensure(crds, {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {
                "name": f"{plural}.kueue.x-k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
            "spec": {"group": "kueue.x-k8s.io", "scope": "Namespaced" if kind == "LocalQueue" else "Cluster",
                     "names": {"kind": kind, "plural": plural},
                     "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})
    for plural in KINDS.values():
        world.wait(f"{plural} to be served", lambda p=plural: served(world.api, f"/apis/kueue.x-k8s.io/v1beta1/{p}"))
    yield world
    for plural in KINDS.values():
        world.api.delete(f"{crds}/{plural}.kueue.x-k8s.io")
    for plural in KINDS.values():
        world.wait(f"{plural} to be gone", lambda p=plural: world.api.gone(f"{crds}/{p}.kueue.x-k8s.io"))


def served(api, path):
    try:
        api.get(path)
        return True
    except ApiError:
        return False


def test_from_a_cluster_and_a_job_that_waits_is_moved(with_kueue, program):
    world = with_kueue
    for obj in setup_of(world):
        ns = f"namespaces/{world.ns}/" if obj["kind"] == "LocalQueue" else ""
        world.api.post(f"/apis/kueue.x-k8s.io/v1beta1/{ns}{KINDS[obj['kind']]}", obj)
    world.api.post(jobs_path(world.ns), kueue_job(world, "waits", annotations={"note": "it's mine"}))
    # The Job controller's first write; the command is good for the version that was read.
    world.wait_job("waits", "to be known as suspended", lambda j: has(j, "Suspended"))
    done = program("sluice", "import", "kueue", "--from-cluster", "-n", world.ns, "-o", "json", env={"KUBECONFIG": str(world.box.kubeconfig)})
    assert done.returncode == 1, done  # there is no ConfigMap of Kueue's, which is said
    items = json.loads(done.stdout)["items"]
    assert [i["kind"] for i in items if i["outcome"] == "Refused"] == ["Configuration"]
    apply(world, objects(items))
    [command] = [i["command"] for i in items if i["command"]]
    words = shlex.split(command)
    assert words[:6] == ["kubectl", "patch", "job", "waits", "-n", world.ns] and words[6:8] == ["--type=merge", "-p"]
    world.patch("waits", json.loads(words[8]))
    labels = world.started("waits")["metadata"]["labels"]
    assert labels[QUEUE] == "q" and not [k for k in labels if "kueue" in k]
