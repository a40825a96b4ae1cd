"""What makes nodes, as Sluice sees it and asks it: NodePools of Karpenter, the status of cluster-autoscaler, and
ProvisioningRequests, on the real CRDs. The autoscaler is played by the test: it writes what a real one would."""

import datetime

import pytest
from conftest import SOON, wait_leading
from objects import conditions, jobs_path, ours, path_of
from pool import OWN, Pool
from sandbox.sandbox import BUILD
from settled import heeded

CRDS = BUILD / "tools" / "crds"
pytestmark = pytest.mark.skipif(not (CRDS / "nodepools.yaml").exists(), reason="the CRDs of autoscalers are not here: ./dev test loads them")

NODEPOOLS = "/apis/karpenter.sh/v1/nodepools"
STATUS = "/api/v1/namespaces/kube-system/configmaps"
CHECK = "check-capacity.autoscaling.x-k8s.io"
CONSUMES, CLASS = "autoscaling.x-k8s.io/consume-provisioning-request", "autoscaling.x-k8s.io/provisioning-class-name"


def install(world, name):
    world.box.kubectl("apply", "--server-side", "-f", CRDS / f"{name}.yaml")


@pytest.fixture
def karpenter(world):
    install(world, "nodepools")
    world.wait("NodePools to be served", lambda: not world.api.gone(NODEPOOLS), SOON)
    yield world
    world.box.kubectl("delete", "--wait=false", "-f", CRDS / "nodepools.yaml")


@pytest.fixture
def autoscaler(world):
    """It stays installed until the last test: our watch takes up to half a minute to find that it is back."""
    install(world, "provisioningrequests")
    return Autoscaler(world)


class Autoscaler:
    """It answers what is asked of it."""

    def __init__(self, world):
        self.world, self.api = world, world.api
        self.path = f"/apis/autoscaling.x-k8s.io/v1/namespaces/{world.ns}/provisioningrequests"
        world.wait("ProvisioningRequests to be served", lambda: not self.api.gone(self.path), SOON)

    def requests(self):
        return self.api.list(self.path)

    def asked(self, besides=()):
        """The one request there is, once it is another one than these."""
        def one():
            found = [r for r in self.requests() if r["metadata"]["name"] not in besides and not r["metadata"].get("deletionTimestamp")]
            return len(found) == 1 and found[0]
        return self.world.wait("one ProvisioningRequest", one)

    def say(self, request, kind, status="True", message="said the test"):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.api.patch(f"{self.path}/{request['metadata']['name']}/status", {"status": {"conditions": [
            {"type": kind, "status": status, "reason": "Played", "message": message, "lastTransitionTime": now}]}})


def edit_flavor(world, flavor, **spec):
    """Until the controller goes by it, and says so: of one that had something to say before."""
    world.api.patch(path_of("resourceflavors", flavor), {"spec": spec})
    heeded(world, "resourceflavors", flavor)


def asking(world, **provisioning):
    """Of a flavor that asks from its first moment on: the controller sees an edit of it when it likes."""
    pool = Pool(world)
    pool.flavor = world.full("asked")
    world.create("resourceflavors", ours("ResourceFlavor", pool.flavor, {
        "nodeLabels": {OWN: pool.label}, "tolerations": [pool.toleration], "provisioning": {"className": CHECK, **provisioning}}))
    world.queue(flavors={pool.flavor: 100})
    return pool


# ---- what is seen ------------------------------------------------------------------


def message_of(world, flavor):
    return conditions(world.api.get(path_of("resourceflavors", flavor))).get("Active", {}).get("message", "")


def test_a_nodepool_makes_a_flavor_autoscaled_and_goes(karpenter):
    world, pool = karpenter, Pool(karpenter)
    pool.add(cpu="2")
    world.queue(flavors={pool.flavor: 100})
    world.job("train", cpu="3")
    world.waits("train", "NoNodeSuits")
    world.api.post(NODEPOOLS, {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": world.ns}, "spec": {"template": {
        "metadata": {"labels": {OWN: pool.label}}, "spec": {
            "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
            "nodeClassRef": {"group": "example.com", "kind": "Class", "name": "any"}}}}})
    world.wait_job("train", "to be started", lambda j: not j["spec"]["suspend"])
    world.wait("the flavor to say why", lambda: f"NodePool {world.ns} of Karpenter is seen here" in message_of(world, pool.flavor))
    world.api.delete(f"{NODEPOOLS}/{world.ns}")
    world.wait("the flavor to say so no more", lambda: "NodePool" not in message_of(world, pool.flavor))
    world.job("other", cpu="3")
    world.waits("other", "NoNodeSuits")


def test_cluster_autoscaler_makes_flavors_autoscaled(world):
    pool = Pool(world)
    pool.add(cpu="2")
    world.queue(flavors={pool.flavor: 100})
    world.job("train", cpu="3")
    world.waits("train", "NoNodeSuits")
    world.api.post(STATUS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-autoscaler-status"}, "data": {"status": "autoscalerStatus: Running"}})
    world.afterwards.append(lambda: world.api.gone(f"{STATUS}/cluster-autoscaler-status") or world.api.delete(f"{STATUS}/cluster-autoscaler-status"))
    world.waits("train", "NoNodeSuits")  # it may be what one left that is gone
    world.api.patch(f"{STATUS}/cluster-autoscaler-status", {"data": {"status": "autoscalerStatus: Running\ntime: 2026-11-21 10:00:10 +0000 UTC"}})
    world.wait_job("train", "to be started", lambda j: not j["spec"]["suspend"])
    world.wait("the flavor to say why", lambda: "cluster-autoscaler is seen here" in message_of(world, pool.flavor))
    edit_flavor(world, pool.flavor, nodes="Fixed")
    world.job("other", cpu="3")
    world.waits("other", "NoNodeSuits")
    edit_flavor(world, pool.flavor, nodes=None)
    world.wait_job("other", "to be started", lambda j: not j["spec"]["suspend"])
    world.api.delete(f"{STATUS}/cluster-autoscaler-status")
    world.wait("the flavor to say so no more", lambda: "cluster-autoscaler" not in message_of(world, pool.flavor))


# ---- what is asked -----------------------------------------------------------------


def test_a_job_starts_when_it_is_provisioned(autoscaler):
    world = autoscaler.world
    pool = asking(world, parameters={"ValidUntilSeconds": "600"})
    made = world.job("train", cpu="3", pods=2)
    request = autoscaler.asked()
    spec, owner = request["spec"], request["metadata"]["ownerReferences"][0]
    assert (spec["provisioningClassName"], spec["parameters"]) == (CHECK, {"ValidUntilSeconds": "600"})
    assert (owner["kind"], owner["uid"]) == ("Job", made["metadata"]["uid"])
    assert spec["podSets"] == [{"count": 2, "podTemplateRef": {"name": request["metadata"]["name"]}}]
    template = world.api.get(f"/api/v1/namespaces/{world.ns}/podtemplates/{request['metadata']['name']}")["template"]
    assert template["spec"]["nodeSelector"][OWN] == pool.label
    assert pool.toleration in template["spec"]["tolerations"]
    assert template["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"
    autoscaler.say(request, "Provisioned", "False", "no capacity yet")
    said = world.wait("explain to tell", lambda: "no capacity yet" in world.explain("train")["sentence"] and world.explain("train")["sentence"])
    assert "quota is reserved, and a ProvisioningRequest of class" in said
    assert world.get("train")["spec"]["suspend"] and not world.pods("train")
    assert [h[2] for h in world.holds("train")] == ["pending"]  # quota is held meanwhile
    pool.add(2)
    autoscaler.say(request, "Provisioned")
    world.started("train")
    marks = world.pods("train")[0]["metadata"]["annotations"]
    assert (marks[CONSUMES], marks[CLASS]) == (request["metadata"]["name"], CHECK)
    world.finish("train")
    world.empty()
    world.wait("the request to be gone", lambda: not autoscaler.requests())
    world.wait("its template to be gone", lambda: not world.api.list(f"/api/v1/namespaces/{world.ns}/podtemplates"))


def test_one_that_failed_gives_its_quota_to_another(autoscaler):
    world = autoscaler.world
    pool = asking(world)
    plain = world.flavor("plain")
    world.queue("other", flavors={plain: 1})
    world.job("train", cpu="100")
    first = autoscaler.asked()
    world.job("small", cpu="1")  # no quota is left for it
    world.waits("small")
    autoscaler.say(first, "Failed", message="capacity is not found")
    second = autoscaler.asked(besides=[first["metadata"]["name"]])
    assert second["metadata"]["ownerReferences"][0]["name"] == "small"
    world.wait("train to tell", lambda: "no nodes were provisioned for it: capacity is not found" in world.explain("train")["sentence"])
    pool.add()
    autoscaler.say(second, "Provisioned")
    world.started("small")


def test_a_killed_leader_leaves_the_request_to_the_next(autoscaler):
    world = autoscaler.world
    pool = asking(world)
    world.job("train", cpu="3")
    request = autoscaler.asked()
    world.box.kill("controller-one")
    world.box.start("controller-one")
    wait_leading(world.box)
    world.wait("the new leader to wait for it", lambda: "a ProvisioningRequest of class" in world.explain("train")["sentence"])
    assert [r["metadata"]["uid"] for r in autoscaler.requests()] == [request["metadata"]["uid"]]
    pool.add()
    autoscaler.say(request, "Provisioned")
    world.started("train")
    assert world.pods("train")[0]["metadata"]["annotations"][CONSUMES] == request["metadata"]["name"]


def test_where_the_api_is_not_served_the_sentence_says_so(world):
    world.box.kubectl("delete", "--ignore-not-found", "-f", CRDS / "provisioningrequests.yaml")
    asking(world)
    world.job("train", cpu="3")
    world.wait("explain to tell", lambda: "the API server serves no ProvisioningRequest" in world.explain("train")["sentence"])
    assert world.get("train")["spec"]["suspend"]
    world.api.delete(jobs_path(world.ns, "train"))
