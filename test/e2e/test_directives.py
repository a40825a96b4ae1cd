"""spec.podTemplate of flavors and queues, on a real control plane: what runs carries exactly that,
and a Job that starts in another flavor carries nothing of the first."""

import copy
import json
import re

import pytest
from conftest import SOON
from objects import HOLD, ORIGINAL, annotations, conditions, job, jobs_path, ours, path_of
from sandbox import ApiError
from sandbox.sandbox import ROOT

REQUIRED, PREFERRED = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))
ZONE = "topology.kubernetes.io/zone"
TOLERATION = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}


def zone(*names, operator="In"):
    return {"matchExpressions": [{"key": ZONE, "operator": operator, **({"values": list(names)} if names else {})}]}


def required(*terms):
    return {REQUIRED: {"nodeSelectorTerms": list(terms)}}


def preferred(term, weight=50):
    return {PREFERRED: [{"weight": weight, "preference": term}]}


def flavor(world, name, pool=None, **pod_template):
    spec = {"nodeLabels": {"pool": pool}} if pool else {}
    world.create("resourceflavors", ours("ResourceFlavor", world.full(name), {**spec, "podTemplate": pod_template}))
    return world.full(name)


def spot(world, **more):
    return flavor(world, "spot", "spot", tolerations=[TOLERATION], **more)


def template(world, name):
    return world.get(name)["spec"]["template"]


def own_labels(obj):
    """Without what the API server and Sluice always set."""
    return {k: v for k, v in obj["metadata"].get("labels", {}).items() if "kubernetes.io/" not in k and k not in ("job-name", "controller-uid")
            and k != "sluice.dev/cluster-queue-name"}


def placed(world, name):
    """Its pods, once all have a node."""
    return world.wait(f"the pods of {name} to be placed", lambda: (lambda pods: pods and all(p["spec"].get("nodeName") for p in pods) and pods)(
        world.pods(name)), SOON, about=name)


def zones(world, name):
    return {world.api.get(f"/api/v1/nodes/{p['spec']['nodeName']}")["metadata"]["labels"][ZONE] for p in placed(world, name)}


def hold(world, name, value):
    world.patch(name, {"metadata": {"annotations": {HOLD: value}}})


def moved(world, name, taken):
    """It is stopped; another Job takes the flavor's quota; it starts again, in the next one."""
    hold(world, name, "a while")
    world.stopped(name)
    world.empty()
    world.job("squatter")
    world.started("squatter")
    assert list(world.holds("squatter")[0][3]) == [(taken, "cpu")]
    hold(world, name, None)
    return world.started(name)


def editable(world, name):
    """It was stopped, and its template may be changed again: before Kubernetes 1.36 Sluice takes its start time off for that."""
    world.stopped(name)
    world.wait(f"the start time of {name} to be off", lambda: "startTime" not in world.get(name)["status"], SOON, about=name)


def tell_local(world, pod_template):
    """The LocalQueue's, and that the controller knows it."""
    path = path_of("localqueues", "q", world.ns)
    world.api.patch(path, {"spec": {"podTemplate": pod_template}})
    world.wait("the LocalQueue to be known anew", lambda: conditions(world.api.get(path)).get("Active", {}).get("observedGeneration") == 2)


def install_policy_of_the_docs(world):
    """For the namespace of the test alone."""
    name, page = "cost-centre-by-queue", (ROOT / "docs" / "nodes.md").read_text()
    text = next(block for block in re.findall(r"```yaml[^\n]*\n(.*?)```", page, re.S) if name in block)
    here = "matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}" % world.ns
    text = text.replace(name, world.full(name)).replace("validationActions: [Deny]", "validationActions: [Deny], " + here)
    for kind in ("policies", "policybindings"):
        world.made.append(f"/apis/admissionregistration.k8s.io/v1/validatingadmission{kind}/{world.full(name)}")
    world.box.kubectl("apply", "-f", "-", input=text)


def test_what_runs_carries_exactly_that(world):
    one = spot(world, labels={"mesh": "off", "tier": "flavor", "team": "flavor"}, annotations={"cost": "low", "note": "a \"b\" <c>"},
               nodeSelector={"kubernetes.io/os": "linux"}, nodeAffinity=preferred(zone("zone-b")))
    world.queue(flavors={one: 4}, podTemplate={"labels": {"tier": "queue", "cost-centre": "17"}, "annotations": {"cost": "queue"}})
    tell_local(world, {"labels": {"team": "a", "own": "b"}, "annotations": {"by": "local"}})
    created = world.job("train", pods=2, pod_annotations={"own": "x"})
    obj = world.started("train")
    assert obj["metadata"]["generation"] == created["metadata"]["generation"] + 1  # one write of the spec
    run, kept = obj["spec"]["template"], json.loads(annotations(obj)[ORIGINAL])
    for it in (run, *placed(world, "train")):
        assert own_labels(it) == {"mesh": "off", "tier": "queue", "team": "flavor", "own": "b", "cost-centre": "17"}
        assert {k: v for k, v in it["metadata"]["annotations"].items() if not k.startswith("sandbox.")} == {
            "own": "x", "cost": "queue", "note": "a \"b\" <c>", "by": "local"}
        assert it["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux", "pool": "spot"}
        assert TOLERATION in it["spec"]["tolerations"]
        assert it["spec"]["affinity"] == {"nodeAffinity": preferred(zone("zone-b"))}
    assert zones(world, "train") == {"zone-b"}
    assert kept["original"] == {"nodeSelector": {}, "tolerations": []}
    assert set(kept["applied"]) == {"nodeSelector", "tolerations", "nodeAffinity", "labels", "annotations"}


@pytest.mark.parametrize("own", [{}, {"nodeAffinity": required(zone("zone-a", "zone-b"))}, {"podAntiAffinity": {PREFERRED: [
    {"weight": 1, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"a": "b"}}}}]}}],
    ids=["no affinity", "node affinity", "pod affinity"])
def test_another_flavor_carries_nothing_of_the_first(world, own):
    one = spot(world, labels={"mesh": "off", "both": "spot"}, annotations={"cost": "low"}, nodeSelector={"kubernetes.io/os": "linux"},
               nodeAffinity={**required(zone("zone-b")), **preferred(zone("zone-c"))})
    two = flavor(world, "on-demand", "on-demand", labels={"both": "on-demand"})
    world.queue(flavors={one: 1, two: 1})
    before = copy.deepcopy(world.job("mover", labels={"team": "a"}, pod={"affinity": own} if own else None)["spec"]["template"])
    world.started("mover")
    assert template(world, "mover")["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    assert zones(world, "mover") == {"zone-b"}
    after = moved(world, "mover", one)["spec"]["template"]
    assert own_labels(after) == {"both": "on-demand"}
    for key in ("both", "sluice.dev/cluster-queue-name"):
        del after["metadata"]["labels"][key]
    assert after["spec"].pop("nodeSelector") == {"pool": "on-demand"}
    assert after == before  # down to the last field
    assert set(json.loads(annotations(world.get("mover"))[ORIGINAL])["applied"]) == {"nodeSelector", "tolerations", "labels"}
    for pod in placed(world, "mover"):
        assert own_labels(pod) == {"both": "on-demand"} and "cost" not in pod["metadata"].get("annotations", {})


def test_its_owner_wins(world):
    one = spot(world, labels={"team": "flavor"}, annotations={"note": "flavor"}, nodeSelector={ZONE: "zone-a"})
    world.queue(flavors={one: 4}, podTemplate={"labels": {"team": "queue"}})
    made = job("mine", "q", {"cpu": "1"}, pod={"nodeSelector": {ZONE: "zone-c"}}, pod_annotations={"note": "mine"})
    made["spec"]["template"]["metadata"]["labels"] = {"team": "mine"}
    world.api.post(f"/apis/batch/v1/namespaces/{world.ns}/jobs", made)
    world.started("mine")
    run = template(world, "mine")
    assert own_labels(run) == {"team": "mine"} and run["metadata"]["annotations"]["note"] == "mine"
    assert run["spec"]["nodeSelector"] == {ZONE: "zone-c", "pool": "spot"}
    assert zones(world, "mine") == {"zone-c"}


def test_required_terms_of_both_hold(world):
    world.queue(flavors={flavor(world, "any", nodeAffinity=required(zone("zone-b"), zone("zone-c"))): 4})
    hosts = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["on-demand"]}]}
    world.job("train", pods=4, cpu="500m", pod={"affinity": {"nodeAffinity": required(hosts, zone("zone-a"))}})
    world.started("train")
    terms = template(world, "train")["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": hosts["matchExpressions"] + zone(z)["matchExpressions"]} for z in ("zone-b", "zone-c")]
    assert zones(world, "train") <= {"zone-b", "zone-c"}


def test_a_contradiction_means_that_the_flavor_does_not_suit(world):
    one, two = flavor(world, "b", nodeAffinity=required(zone("zone-b"))), flavor(world, "c", nodeAffinity=required(zone("zone-c")))
    world.queue(flavors={one: 4, two: 4})
    world.job("in-c", pod={"affinity": {"nodeAffinity": required(zone("zone-b", operator="NotIn"))}})
    world.started("in-c")
    assert list(world.holds("in-c")[0][3]) == [(two, "cpu")] and zones(world, "in-c") == {"zone-c"}
    world.job("in-a", pod={"nodeSelector": {ZONE: "zone-a"}})
    said = world.waits("in-a", "NoMatchingFlavor")["sentence"]
    assert f"spec.podTemplate of flavor {one} asks for a value of node label {ZONE} that the Job's node selector or affinity excludes" in said


def test_the_nodes_are_asked_about_the_pod_as_it_will_be(world):
    world.queue(flavors={flavor(world, "moon", nodeAffinity=required(zone("zone-moon"))): 4})
    world.job("train")
    assert "didn't match Pod's node affinity/selector" in world.waits("train", "NoNodeSuits")["sentence"]


def test_what_only_the_whole_shows_is_a_condition(world):
    name = world.full("odd")
    world.create("resourceflavors", ours("ResourceFlavor", name, {"nodeLabels": {"pool": "spot"}, "podTemplate": {
        "nodeAffinity": required({"matchExpressions": [{"key": "pool", "operator": "NotIn", "values": ["spot"]}]})}}))
    def active():
        return conditions(world.api.get(path_of("resourceflavors", name))).get("Active", {})
    said = world.wait("the flavor to be judged", lambda: active().get("status") == "False" and active())
    assert said["message"].endswith("contradicts itself, or nodeLabels or nodeSelector, so no node could suit: see label pool")


@pytest.mark.since_kubernetes(36, "a manifest that is applied again stops the run (SuspendedByManifest)")
@pytest.mark.parametrize("how", [(), ("--server-side", "--force-conflicts")], ids=["client-side", "server-side"])
def test_the_same_manifest_again_and_the_run_goes_on(world, how):
    """Also where the start has joined node affinity to the manifest's own."""
    one = spot(world, labels={"mesh": "off"}, annotations={"cost": "low"}, nodeAffinity={**required(zone("zone-b")), **preferred(zone("zone-c"))})
    world.queue(flavors={one: 4})
    manifest = job("train", "q", {"cpu": "1"}, pod={"affinity": {"nodeAffinity": {**required(zone("zone-a", "zone-b")), **preferred(zone("zone-a"), 3)}}})

    def apply():
        world.box.kubectl("apply", "-n", world.ns, *how, "-f", "-", input=json.dumps(manifest))
    apply()
    before = world.started("train")
    apply()
    assert world.get("train")["spec"] == before["spec"]
    # Another affinity is no part of what runs: it is refused, as in every Job that runs.
    manifest["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][PREFERRED][0]["weight"] = 4
    with pytest.raises(Exception, match="immutable"):
        apply()
    assert world.get("train")["spec"] == before["spec"]


def test_a_stopped_job_that_is_edited_keeps_its_owners_edit(world):
    one = spot(world, labels={"mesh": "off", "tier": "spot"}, nodeAffinity=preferred(zone("zone-b")))
    two = flavor(world, "on-demand", "on-demand")
    world.queue(flavors={one: 1, two: 1})
    world.job("mover")
    world.started("mover")
    hold(world, "mover", "a while")
    editable(world, "mover")
    world.patch("mover", {"spec": {"template": {"metadata": {"labels": {"mesh": "mine"}}}}})
    hold(world, "mover", "still")
    after = moved(world, "mover", one)["spec"]["template"]
    assert own_labels(after) == {"mesh": "mine"} and "affinity" not in after["spec"]


def test_a_cost_centre_that_no_tenant_chooses(world):
    """With the policy that docs/nodes.md has, word for word."""
    world.queue(flavors={flavor(world, "any"): 4}, podTemplate={"labels": {"cost-centre": "4711"}})
    tell_local(world, {"labels": {"cost-centre": "of-others"}})
    install_policy_of_the_docs(world)

    def refusal(value="of-others"):
        mine = job("mine", "q", {"cpu": "1"})
        mine["spec"]["template"]["metadata"]["labels"] = {"cost-centre": value}
        try:
            world.api.post(jobs_path(world.ns) + "?dryRun=All", mine)
        except ApiError as e:
            return e.message
    assert "is set by the queue: leave it out of the Job" in world.wait("the policy to be in force", refusal, SOON)
    assert refusal("")  # an empty one would win, too
    world.job("train")
    for _ in range(2):  # once it was stopped, too
        world.started("train")
        assert own_labels(template(world, "train")) == {"cost-centre": "4711"}
        hold(world, "train", "a while")
        editable(world, "train")
        for value in ("of-others", None):
            with pytest.raises(ApiError, match="is set by the queue"):
                world.patch("train", {"spec": {"template": {"metadata": {"labels": {"cost-centre": value}}}}})
        hold(world, "train", None)


def test_a_job_whose_annotations_are_full_holds_up_no_other(world):
    """What a flavor adds has no room in its pod template: its start is refused in the API server's words, and its quota goes to
    others meanwhile. (After five such starts in a row it is put on hold: test/unit/gate.)"""
    one = spot(world, annotations={"cost": "x" * 2000})
    world.queue(flavors={one: 1})
    world.job("full", pod_annotations={"fill": "x" * (262144 - 1000)})
    log = world.box.process("controller-one").log
    world.wait("its start to be refused", lambda: f'job={world.ns}/full' in log.read_text(errors="replace") and "spec.template.annotations: Too long" in log.read_text(errors="replace"))
    world.job("other")
    world.started("other")
    assert world.get("full")["spec"]["suspend"] and own_labels(template(world, "full")) == {}
