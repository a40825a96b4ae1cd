"""A manifest that is applied again while its Job runs, with the controller at work: nothing of the run changes."""

import json

import pytest
from conftest import SOON
from objects import HOLD, annotations, job, story

APPLIES = {"client-side": (), "server-side": ("--server-side", "--force-conflicts")}
keeps_running = pytest.mark.since_kubernetes(36, "has no policy that puts back what a manifest says of a run, and the manifest stops it (SuspendedByManifest)")
OWN = [{"key": "own", "operator": "Exists", "effect": "NoSchedule"}]


def apply(world, manifest, *how):
    """What kubectl warns of; its refusal fails the test."""
    return world.box.kubectl("apply", "-n", world.ns, *how, "-f", "-", input=json.dumps(manifest)).stderr


@keeps_running
@pytest.mark.parametrize("how", APPLIES)
@pytest.mark.parametrize("suspend", [{"suspend": True}, {}], ids=["with suspend", "without suspend"])
def test_the_same_manifest_again_and_the_run_goes_on(world, how, suspend):
    """In a flavor with a selector and tolerations of its own, beside which the manifest has another of each."""
    world.queue(flavors={world.flavor("spot", pool="spot"): 4})
    manifest = job("train", "q", {"cpu": "1"}, pods=2, pod={"tolerations": OWN, "nodeSelector": {"kubernetes.io/os": "linux"}}, **suspend)
    apply(world, manifest, *APPLIES[how])
    before = world.started("train")
    assert len(before["spec"]["template"]["spec"]["tolerations"]) == 2
    for _ in range(2):
        warned = apply(world, manifest, *APPLIES[how])
        assert ("is ignored" in warned) == bool(suspend)
    now = world.get("train")
    assert now["spec"] == before["spec"] and story(now) == story(before) and HOLD not in annotations(now)
    world.wait("the start to be in the books", lambda: "COMMIT" in world.transfers("train"))
    assert world.transfers("train") == ["RESERVE", "COMMIT"]


# As which field manager, and how, Argo CD and Flux ask whether there is a difference (docs/install.md).
ASKS = {"Flux": ("--server-side", "--force-conflicts", "--field-manager", "kustomize-controller"),
        "Argo CD, server-side diff": ("--server-side", "--force-conflicts", "--field-manager", "argocd-controller")}


@keeps_running
@pytest.mark.parametrize("tool", ASKS)
def test_a_tool_that_asks_for_the_difference_sees_none(world, tool):
    """While it waits for its first start, and while it runs. Once stopped, its template has what the last start made of it, until the tool
    writes its owner's own again, which changes nothing of the next start."""
    world.queue(flavors={world.flavor("spot", pool="spot"): 4}, stopPolicy="Hold")
    manifest = job("train", "q", {"cpu": "1"}, pods=2, pod={"tolerations": OWN, "nodeSelector": {"kubernetes.io/os": "linux"}})

    def difference():
        done = world.box.kubectl("diff", "-n", world.ns, *ASKS[tool], "-f", "-", input=json.dumps(manifest), check=False)
        assert done.returncode in (0, 1), done
        return done.stdout

    def runs():
        """kubectl diff reads the Job twice, and would tell a status that was written between."""
        made = world.started("train")
        world.wait("both pods to be ready", lambda: world.get("train")["status"].get("ready") == 2)
        return made

    apply(world, manifest, *ASKS[tool])
    world.waits("train")
    assert not difference()
    world.edit_queue(stopPolicy="None")
    before = runs()
    assert not difference()
    world.edit_queue(stopPolicy="HoldAndDrain")
    world.stopped("train")
    assert "tolerations" in difference()
    apply(world, manifest, *ASKS[tool])
    assert not difference()
    world.edit_queue(stopPolicy="None")
    assert runs()["spec"]["template"]["spec"] == before["spec"]["template"]["spec"]
    assert not difference()


def test_the_annotation_that_the_warning_names_stops_the_run(world):
    world.queue(cpu=1)
    apply(world, job("train", "q", {"cpu": "1"}))
    world.started("train")
    world.box.kubectl("annotate", "job", "train", "-n", world.ns, f"{HOLD}=yes")
    world.stopped("train")
    world.wait("its quota to be given back", lambda: not world.holds("train"), SOON)
    apply(world, job("train", "q", {"cpu": "1"}, annotations={"a": "b"}))
    assert world.get("train")["spec"]["suspend"]
    world.box.kubectl("annotate", "job", "train", "-n", world.ns, f"{HOLD}-")
    world.started("train")


@keeps_running
def test_a_shrunk_run_takes_its_own_manifest_again(world):
    world.queue(cpu=2)
    manifest = job("train", "q", {"cpu": "1"}, pods=4, annotations={"sluice.dev/min-parallelism": "1"})
    apply(world, manifest)
    before = world.started("train")
    assert before["spec"]["parallelism"] == 2
    apply(world, manifest)
    assert world.get("train")["spec"] == before["spec"]
    world.patch("train", {"spec": {"suspend": True}})
    world.wait_job("train", "to have its owner's number again", lambda j: j["spec"]["suspend"] and j["spec"]["parallelism"] == 4)
