"""A tenant who wants more than its quota, or wants all others to wait.

It has what a user has: a ServiceAccount with `sluice-batch-user`, bound in one namespace, whose
LocalQueue `default` may use 4 cpu. Beside it an honest team submits Jobs, which must go on.
Nothing is asked of Sluice: the pods of the namespace are watched event by event, of whatever Job
they are, and the ledger is read by SQL. docs/security.md has the table of attacks."""

import itertools
import json
import random
import time

import checks
import pytest
from conftest import FOREIGN, LATER, RECOVERY, SOON, as_account, wait_leading
from objects import (GROUP, HOLD, QUEUE, SEED, STORY, TERMINATE_SECONDS, clusterqueue, flavor, group, job, jobs_path, ours,
                     owner_reference, path_of, searched, terminal)
from sandbox import ApiError, wait_until
from sandbox.audit import Follow, units

# On an older one a tenant is bound by what docs/security.md says of missing mutating policies.
pytestmark = [pytest.mark.sanitized, pytest.mark.since_kubernetes(36, "has no policy that gives a Job the queue default")]

QUOTA = 4  # cpu of the tenant
numbers = itertools.count(1)


class PodUse(Follow):
    """What the pods of a namespace ask for, in milli-cpu: now, and at the most."""

    def __init__(self, api, ns):
        super().__init__(api, f"/api/v1/namespaces/{ns}/pods")
        self.pods, self.peak = {}, 0

    @property
    def now(self):
        return sum(self.pods.values())

    def replace(self, pods):
        self.pods = {}
        for pod in pods:
            self.take("ADDED", pod)

    def take(self, kind, pod):
        self.pods.pop(pod["metadata"]["uid"], None)
        if kind != "DELETED" and not terminal(pod):
            self.pods[pod["metadata"]["uid"]] = sum(
                units("cpu", c.get("resources", {}).get("requests", {}).get("cpu", "0")) for c in pod["spec"]["containers"])
        self.peak = max(self.peak, self.now)


class Tenant:
    def __init__(self, world):
        self.world, self.admin, self.ns = world, world.api, f"{world.ns}-x"
        self.admin.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                 "metadata": {"name": self.ns, "labels": {"sluice-e2e": "true"}}})
        self.admin.ensure(f"/api/v1/namespaces/{self.ns}/serviceaccounts", {
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "tenant"}})
        self.admin.ensure(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.ns}/rolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "tenant"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sluice-batch-user"},
            "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": self.ns}]})
        world.create("resourceflavors", flavor(self.ns))
        world.create("clusterqueues", clusterqueue(self.ns, [group(["cpu"], {self.ns: [QUOTA]})]))
        world.create("localqueues", ours("LocalQueue", "default", {"clusterQueue": self.ns}), self.ns)
        self.api = as_account(world.box, self.ns, "tenant")
        wait_until("the API server to know the tenant and its default queue", self._is_known, SOON)
        self.use = PodUse(self.admin, self.ns)
        self.use.start()
        assert self.use.listed.wait(SOON)

    def _is_known(self):
        made = self._asks(job("probe", requests={"cpu": "1"}))
        if not made or not made["spec"]["suspend"] or made["metadata"].get("labels", {}).get(QUEUE) != "default":
            return False
        probe = job("probe", requests={"cpu": "1"})
        probe["metadata"]["finalizers"] = [FOREIGN]
        return not self._asks(probe)  # the policies that only refuse take effect by themselves

    def _asks(self, obj):
        try:
            return self.api.post(jobs_path(self.ns) + "?dryRun=All", obj)
        except ApiError:
            return None

    # -- what it does; `tries` takes no for an answer

    def make(self, name=None, pods=1, owner=None, finalizers=None, **kw):
        obj = job(name or f"x{next(numbers)}", kw.pop("queue", "default"), {"cpu": "1"}, pods, **kw)
        if owner:
            obj["metadata"]["ownerReferences"] = [owner_reference(owner)]
        if finalizers:
            obj["metadata"]["finalizers"] = finalizers
        return self.api.post(jobs_path(self.ns), obj)

    def get(self, name):
        return self.admin.get(jobs_path(self.ns, name))

    def patch(self, name, patch, kind="merge"):
        return self.api.patch(jobs_path(self.ns, name), patch, kind)

    def delete(self, name, policy="Background"):
        return self.api.delete(jobs_path(self.ns, name) + f"?propagationPolicy={policy}")

    def tries(self, call, *args, **kw):
        """What came of it; a refusal is an ApiError of the 4xx kind, in words and not in CEL."""
        try:
            return call(*args, **kw)
        except ApiError as e:
            assert 400 <= e.status < 500, e
            assert "resulted in error" not in e.message and "cost limit" not in e.message, e.message
            return e

    # -- what is seen of it from outside

    def jobs(self):
        return self.admin.list(jobs_path(self.ns))

    def holds(self):
        return {h["uid"]: h for h in checks.read_ledger(self.world.box)["holds"] if h["ns"] == self.ns}

    def started(self, name, pods):
        self.world.wait(f"{name} to run {pods} pods", lambda: self.get(name)["status"].get("active", 0) == pods)

    def judged(self):
        """Until each of its Jobs is suspended, over, or held in the ledger, and there are no more pods than quota."""
        def settled():
            holds = self.holds()
            loose = [j for j in self.jobs() if checks.running(j) and j["metadata"]["uid"] not in holds
                     and not j["spec"].get("managedBy")]
            return not loose and self.use_is_known() and self.use.now <= 1000 * QUOTA
        self.world.wait("all Jobs of the tenant to be let in or suspended", settled, LATER)

    def use_is_known(self):
        """The watch of the pods has come as far as a list of them."""
        there = {p["metadata"]["uid"] for p in self.admin.list(f"/api/v1/namespaces/{self.ns}/pods") if not terminal(p)}
        with self.use.lock:
            return there == set(self.use.pods)

    def within_quota(self):
        assert self.use.peak <= 1000 * QUOTA, f"pods of the tenant used {self.use.peak}m cpu of {1000 * QUOTA}m"

    def end(self):
        """An admin takes everything away, foreign finalizers first."""
        def gone():
            for obj in self.jobs():
                if FOREIGN in obj["metadata"].get("finalizers", []):
                    strip = [{"op": "remove", "path": "/metadata/finalizers"}]
                    self.quietly(self.admin.patch, jobs_path(self.ns, obj["metadata"]["name"]), strip, "json")
                self.quietly(self.admin.delete, jobs_path(self.ns, obj["metadata"]["name"]) + "?propagationPolicy=Background&gracePeriodSeconds=0")
            for pod in self.admin.list(f"/api/v1/namespaces/{self.ns}/pods"):
                self.quietly(self.admin.delete, f"/api/v1/namespaces/{self.ns}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")
            return not self.jobs() and not self.holds()
        self.quietly(self.admin.delete, f"/apis/batch/v1/namespaces/{self.ns}/cronjobs")
        wait_until("the tenant's Jobs to be gone and nothing to be held", gone, RECOVERY)
        self.use.stopped = True

    @staticmethod
    def quietly(call, *args):
        try:
            call(*args)
        except ApiError as e:
            if e.status not in (404, 409):
                raise


@pytest.fixture
def tenant(world):
    x = Tenant(world)
    yield x
    x.end()


@pytest.fixture
def honest(world):
    """Called, it submits a Job of the honest team, which starts and finishes."""
    world.queue("honest", cpu=2)

    def go_on():
        name = f"honest-{next(numbers)}"
        world.job(name, "honest", seconds=0, suspend=True)  # also where no policy sees to that
        world.finished(name)
    return go_on


# ---- attempts to run without quota ------------------------------------------------------------


def child(x):
    """A Job that says another Job made it, any size."""
    parent = x.make(annotations={HOLD: "never runs"})
    x.tries(x.make, "child", pods=50, owner=parent, suspend=False)
    x.tries(x.make, "unlabelled", pods=50, owner=parent, suspend=False, queue=None)


def child_of_a_run(x):
    parent = x.make(pods=QUOTA)
    x.started(parent["metadata"]["name"], QUOTA)
    x.tries(x.make, "child", pods=50, owner=parent, suspend=False)


def owner_added_later(x):
    parent, victim = x.make(annotations={HOLD: "never runs"}), x.make(pods=50)
    name = victim["metadata"]["name"]
    x.tries(x.patch, name, {"metadata": {"ownerReferences": [owner_reference(parent)]}})
    x.tries(x.patch, name, {"spec": {"suspend": False}})


def false_child(x):
    """As if it were a part of a JobSet, which its controller would start."""
    obj = job("part", None, {"cpu": "1"}, 50, suspend=False)
    obj["metadata"]["ownerReferences"] = [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train", "controller": True,
                                           "uid": "0b2b5d0e-6a3c-4c6e-9d57-7f6f2c9f1a11"}]
    x.tries(x.api.post, jobs_path(x.ns), obj)
    x.tries(x.patch, "part", {"metadata": {"labels": {QUEUE: None}}})
    x.tries(x.patch, "part", {"spec": {"suspend": False}})


def more_completions(x):
    """Elastic and Indexed: one pod is let in, and then a hundred are wanted."""
    x.make("elastic", pods=100, completions=1, completionMode="Indexed")
    x.started("elastic", 1)
    x.tries(x.patch, "elastic", {"spec": {"completions": 100}})
    x.tries(x.patch, "elastic", {"spec": {"completions": 100, "parallelism": 100}})


def more_parallelism(x):
    x.make("wide", pods=2)
    x.started("wide", 2)
    x.tries(x.patch, "wide", {"spec": {"parallelism": 50}})


def manual_selector(x):
    """Pods without the label of their Job's uid, left behind when it is deleted."""
    marks = {"mine": "true"}
    obj = job("manual", "default", {"cpu": "1"}, QUOTA, manualSelector=True, selector={"matchLabels": marks})
    obj["spec"]["template"]["metadata"]["labels"] = marks
    made = x.tries(x.api.post, jobs_path(x.ns), obj)
    if not isinstance(made, ApiError):
        x.tries(x.delete, "manual", "Orphan")
    x.tries(x.make, "next", pods=QUOTA)


def orphaned(x):
    """Pods that live on without their Job: asked for in each way in which the API can be."""
    x.make("left", pods=QUOTA)
    x.started("left", QUOTA)
    x.tries(x.patch, "left", {"metadata": {"finalizers": ["orphan"]}})
    for how in ("propagationPolicy=Orphan", "orphanDependents=true", ""):
        assert isinstance(x.tries(x.api.delete, f"{jobs_path(x.ns, 'left')}?{how}"), ApiError)
        assert isinstance(x.tries(x.api.delete, f"{jobs_path(x.ns)}?{how}"), ApiError)
    x.tries(x.make, "next", pods=QUOTA)


def foreign_finalizer(x):
    """Deleted, and not gone: the Job controller looks at it no more, and its pods run on."""
    made = x.tries(x.make, "undead", pods=QUOTA, finalizers=[FOREIGN])
    if isinstance(made, ApiError):
        x.make("undead", pods=QUOTA)
    x.started("undead", QUOTA)
    x.tries(x.patch, "undead", {"metadata": {"finalizers": [FOREIGN]}})
    x.tries(x.delete, "undead")
    x.tries(x.make, "next", pods=QUOTA)


def foreign_controller(x):
    """It would be let in, run no pod, and hold quota for ever."""
    x.tries(x.make, "elsewhere", pods=QUOTA, managedBy="example.com/nobody")


def endless_grace(x):
    x.tries(x.make, "graceful", pods=QUOTA, pod={"terminationGracePeriodSeconds": 10**8})


def forged_marks(x):
    """As if Sluice had let it in."""
    story = json.dumps({"attempt": 1, "state": "Started", "epoch": 1, "clusterQueue": x.ns})
    x.tries(x.make, "forged", pods=50, annotations={STORY: story}, suspend=False)
    x.make("plain", pods=50)
    x.tries(x.patch, "plain", {"metadata": {"annotations": {STORY: story}}, "spec": {"suspend": False}})


def out_of_the_queue(x):
    """The label taken off, changed, or never there."""
    x.make("leaver", pods=50)
    for queue in (None, "no-such-queue"):
        x.tries(x.patch, "leaver", {"metadata": {"labels": {QUEUE: queue}}, "spec": {"suspend": False}})
        x.tries(x.patch, "leaver", {"metadata": {"labels": {QUEUE: queue}}})
        x.tries(x.patch, "leaver", {"spec": {"suspend": False}})
    x.tries(x.make, "never", pods=50, queue=None, suspend=False)


ATTACKS = {f.__name__: f for f in (child, child_of_a_run, owner_added_later, false_child, more_completions, more_parallelism, manual_selector, orphaned,
                                   foreign_finalizer, foreign_controller, endless_grace, forged_marks, out_of_the_queue)}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_pod_runs_past_quota(tenant, honest, attack):
    ATTACKS[attack](tenant)
    honest()
    tenant.judged()
    honest()
    tenant.within_quota()


# ---- the same where the policies are missing -------------------------------------------------
#
# Each waits for the words with which Sluice names what it is, and answers the Job whose pods stay, if
# any. Pods are those of queued Jobs: without the policies a Job without the label is not managed, as
# docs/security.md says.

WAITS_LONG_ENOUGH = 12  # seconds; pods are counted after a doubt of 10


def explained(x, name, words):
    said = {}

    def asked():
        said.update(x.world.box.controller_api().job(x.ns, name) or {})
        return words in said.get("sentence", "")
    try:
        x.world.wait(f"{name} to be explained with: {words}", asked, LATER)
    except AssertionError as e:
        raise AssertionError(f"{e}\nit was: {said}") from None


def told(x, name, reason):
    """By an Event on the Job."""
    x.world.wait(f"the Event {reason} of {name}", lambda: any(
        e["involvedObject"]["name"] == name and (e["reason"] == reason or f"Stopped ({reason})" in e["message"]) for e in x.admin.list(f"/api/v1/namespaces/{x.ns}/events")), LATER)


def never_started(x, name, words):
    explained(x, name, words)
    obj = x.get(name)
    assert obj["spec"]["suspend"] and not obj["status"].get("active"), obj["status"]


def loose_child(x):
    parent = x.make(annotations={HOLD: "never runs"})
    child = x.make("child", pods=3 * QUOTA, owner=parent, suspend=False)
    assert not child["spec"]["suspend"]
    other = x.make("other", pods=3 * QUOTA)
    x.patch("other", {"metadata": {"ownerReferences": [owner_reference(parent)]}})
    x.patch("other", {"spec": {"suspend": False}})
    for name in ("child", "other"):
        told(x, name, "NotAdmitted")


def loose_elastic(x):
    x.make("elastic", pods=5 * QUOTA, completions=1, completionMode="Indexed", suspend=True)
    x.started("elastic", 1)
    x.patch("elastic", {"spec": {"completions": 5 * QUOTA}})
    told(x, "elastic", "ScaledUp")


def loose_orphans(x):
    """Pods that cannot be told from others, and pods whose Job is gone."""
    marks = {"mine": "true"}
    obj = job("manual", "default", {"cpu": "1"}, QUOTA, suspend=True, manualSelector=True, selector={"matchLabels": marks})
    obj["spec"]["template"]["metadata"]["labels"] = marks
    x.api.post(jobs_path(x.ns), obj)
    never_started(x, "manual", "manualSelector")
    x.delete("manual", "Orphan")
    x.make("left", pods=QUOTA, suspend=True)
    x.started("left", QUOTA)
    x.delete("left", "Orphan")
    x.world.wait("the Job to be gone", lambda: x.admin.gone(jobs_path(x.ns, "left")))
    explained(x, "left", "pods")
    return "left"


def loose_finalizer(x):
    x.make("undead", pods=QUOTA, suspend=True)
    x.started("undead", QUOTA)
    x.patch("undead", {"metadata": {"finalizers": [FOREIGN]}})
    x.delete("undead")
    explained(x, "undead", FOREIGN)
    return "undead"


def loose_oddities(x):
    """A controller that does not exist, and pods that may take years to go."""
    x.make("elsewhere", pods=QUOTA, managedBy="example.com/nobody", suspend=True)
    x.make("graceful", pods=QUOTA, pod={"terminationGracePeriodSeconds": 10**8}, suspend=True)
    never_started(x, "elsewhere", "managedBy")
    never_started(x, "graceful", "terminationGracePeriodSeconds")
    x.patch("elsewhere", {"spec": {"suspend": False}})
    told(x, "elsewhere", "NotAdmitted")
    x.world.wait("it to be suspended again", lambda: x.get("elsewhere")["spec"]["suspend"])


LOOSE = {f.__name__: f for f in (loose_child, loose_elastic, loose_orphans, loose_finalizer, loose_oddities)}


@pytest.mark.parametrize("attack", LOOSE)
def test_without_the_policies_no_quota_is_given_twice(tenant, honest, no_policies, attack):
    """Pods that were never let in are stopped; the quota of others is given to nobody while one of them is left."""
    keeps = LOOSE[attack](tenant)
    tenant.make("next", pods=QUOTA, suspend=True)
    tenant.judged()
    tenant.use.peak = tenant.use.now
    if not keeps:
        tenant.started("next", QUOTA)
    honest()
    end = time.monotonic() + WAITS_LONG_ENOUGH
    while time.monotonic() < end:
        tenant.within_quota()
        assert [h["name"] for h in tenant.holds().values()] == [keeps or "next"]
        time.sleep(0.5)
    if keeps:
        assert tenant.use_is_known() and tenant.use.now == 1000 * QUOTA
        tenant.admin.delete(f"/api/v1/namespaces/{tenant.ns}/pods?labelSelector=job-name={keeps}&gracePeriodSeconds=0")
        tenant.started("next", QUOTA)
    tenant.within_quota()


# ---- attempts to stop everybody ---------------------------------------------------------------


NUL = "\u0000"
UNREADABLE = {
    "annotation": dict(annotations={"a": NUL}),
    "environment": dict(container={"env": [{"name": "A", "value": NUL}]}),
    "arguments": dict(container={"args": [NUL, "x" + NUL]}),
    "escaped backslash": dict(annotations={"a": "\\u0000" + NUL + "\\"}),
    "lone surrogate": dict(annotations={"a": "\ud800"}),
    "controls": dict(annotations={"a": "".join(map(chr, range(1, 32))) + "\u2028\ufffe\U0010ffff"}),
}


@pytest.mark.parametrize("where", UNREADABLE)
def test_odd_characters_stop_nobody(tenant, honest, where):
    made = tenant.tries(tenant.make, "odd", seconds=0, **UNREADABLE[where])
    honest()
    if not isinstance(made, ApiError):
        tenant.world.wait("the odd Job to end like any other", lambda: tenant.get("odd")["status"].get("succeeded"))
    wait_leading(tenant.world.box)


def test_directives_beyond_all_measure_are_not_kept(tenant, honest):
    """Affinity that is half a megabyte: that Job waits and says why, all others go on."""
    values = [f"{i:03}-" + "v" * 40 for i in range(256)]
    terms = [{"matchExpressions": [{"key": f"k{t}-{e}", "operator": "In", "values": values} for e in range(8)]} for t in range(6)]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    for i in range(3):
        tenant.make(f"large-{i}", pod={"affinity": affinity})
    said = tenant.world.wait("the Job to be refused", lambda: (lambda x: x.get("reason") == "Misconfigured" and x)(
        tenant.world.box.controller_api().job(tenant.ns, "large-0")))
    assert "bytes" in said["sentence"], said
    honest()


def full(obj):
    """Annotations as large as an object may have."""
    used = sum(len(k) + len(v) for k, v in obj["metadata"].get("annotations", {}).items())
    return {"metadata": {"annotations": {"a": "x" * (262144 - used - 1)}}}


def test_a_job_with_no_room_for_its_story_holds_no_quota(tenant, honest):
    """Its start is refused by the API server: the others of its own queue come before it, too."""
    made = tenant.make("full", pods=QUOTA, annotations={HOLD: "not yet"})
    tenant.patch("full", full(made))
    tenant.tries(tenant.patch, "full", {"metadata": {"annotations": {HOLD: None, "b": "x" * len(HOLD + "not yet")}}})
    tenant.make("small", pods=QUOTA, seconds=0)
    tenant.world.wait("the Job behind it to finish", lambda: tenant.get("small")["status"].get("succeeded") == QUOTA, LATER)
    assert tenant.get("full")["spec"]["suspend"]
    honest()


def test_a_run_with_no_room_for_its_story_is_stopped_all_the_same(tenant, honest):
    tenant.make("full", pods=2)
    tenant.started("full", 2)
    tenant.patch("full", full(tenant.get("full")))
    tenant.admin.patch(path_of("clusterqueues", tenant.ns), {"spec": {"stopPolicy": "HoldAndDrain"}})
    tenant.world.wait("it to be stopped", lambda: tenant.get("full")["spec"]["suspend"] and tenant.use.now == 0, LATER)
    tenant.world.wait("its quota to be given back", lambda: not tenant.holds())
    honest()


# ---- a tenant that tries everything at random --------------------------------------------------


class Chaos:
    """Requests drawn from a seed; each is one that a namespace's user can send."""

    SLUICE = ("hold", "expected-duration", "deadline", "start", "max-price", "min-parallelism", "max-run-seconds", "nice", "start-after", "preemptible",
              "admission", "original-directives", "waiting", "stopping-at")

    def __init__(self, tenant, seed):
        self.x, self.rng, self.names, self.log = tenant, random.Random(seed), [], []

    def name(self):
        if not self.names or self.rng.random() < 0.05:
            return f"r{self.rng.randrange(1000)}"
        return self.rng.choice(self.names)

    def text(self):
        r = self.rng
        return r.choice([
            lambda: "", lambda: "Asap", lambda: "Cheapest", lambda: "1", lambda: "-1", lambda: "1h", lambda: "99999999999999999999", lambda: "{}",
            lambda: json.dumps({"state": "Started", "attempt": r.randrange(9)}), lambda: "\u0000", lambda: "a\u0000b",
            lambda: "".join(chr(r.choice([0, 7, 10, 34, 39, 92, 127, 0x2028, 0xfeff, 0x1f600, r.randrange(32, 0xd800)])) for _ in range(r.randrange(40))),
            lambda: "x" * r.choice([100, 4000, 60000, 200000, 262000, 262144]),
        ])()

    def annotations(self):
        r = self.rng
        keys = [f"sluice.dev/{k}" for k in self.SLUICE] + ["a", "b", "kubectl.kubernetes.io/last-applied-configuration"]
        return {r.choice(keys): self.text() for _ in range(r.randrange(3))}

    def owner(self):
        return {"apiVersion": "batch/v1", "kind": "Job", "name": self.name(), "controller": True,
                "uid": self.rng.choice([j["metadata"]["uid"] for j in self.x.jobs()] or ["00000000-0000-0000-0000-000000000000"])}

    def a_job(self):
        r = self.rng
        obj = job(f"r{r.randrange(1000)}", r.choice(["default", "default", None, "no-such-queue"]), {"cpu": r.choice(["1", "500m", "2", "9", "0"])},
                  pods=r.choice([1, 1, 2, 3, 4, 50]), seconds=r.choice([0, 0, 1, 3]), annotations=self.annotations(),
                  pod_annotations={TERMINATE_SECONDS: str(r.choice([0, 0, 1, 2]))}, suspend=r.choice([True, False]),
                  completionMode=r.choice(["Indexed", "NonIndexed"]), backoffLimit=r.choice([0, 3]))
        spec, meta = obj["spec"], obj["metadata"]
        if r.random() < 0.3:
            spec["completions"] = r.choice([1, 2, 100])
        if r.random() < 0.1:
            meta["ownerReferences"] = [self.owner()]
        if r.random() < 0.1:
            meta["finalizers"] = r.choice([[FOREIGN], ["foregroundDeletion"], ["orphan"]])
        if r.random() < 0.05:
            spec["managedBy"] = r.choice(["example.com/nobody", "kubernetes.io/job-controller"])
        if r.random() < 0.05:
            spec["template"]["spec"]["terminationGracePeriodSeconds"] = r.choice([0, 30, 3600, 3601, 10**9])
        if r.random() < 0.05:
            spec |= {"manualSelector": True, "selector": {"matchLabels": {"l": "1"}}}
            spec["template"]["metadata"]["labels"] = {"l": "1"}
        if r.random() < 0.05:
            spec["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": self.text()[:1000]}]
        return obj

    def creates(self):
        obj = self.a_job()
        made = self.x.tries(self.x.api.post, jobs_path(self.x.ns), obj)
        if not isinstance(made, ApiError):
            self.names.append(obj["metadata"]["name"])
        return made

    def patches(self):
        r = self.rng
        what = r.choice([
            lambda: {"spec": {"suspend": r.choice([True, False, None])}},
            lambda: {"spec": {"parallelism": r.choice([0, 1, 2, 4, 50])}},
            lambda: {"spec": {"completions": r.choice([1, 2, 100])}},
            lambda: {"spec": {"completions": 60, "parallelism": 60}},
            lambda: {"metadata": {"labels": {QUEUE: r.choice([None, "", "default", "no-such-queue", "Bad_Name"])}}},
            lambda: {"metadata": {"labels": {QUEUE: None}}, "spec": {"suspend": False}},
            lambda: {"metadata": {"annotations": self.annotations() or {HOLD: r.choice([None, "x"])}}},
            lambda: {"metadata": {"ownerReferences": r.choice([None, [self.owner()]])}},
            lambda: {"metadata": {"finalizers": r.choice([None, [FOREIGN], [FOREIGN, "orphan"]])}},
            lambda: {"spec": {"template": {"spec": {"priorityClassName": "none"}}}},
            lambda: {"spec": {"activeDeadlineSeconds": r.choice([1, 100])}},
            lambda: {"status": {"active": 0, "succeeded": 99}},
        ])()
        return self.x.tries(self.x.patch, self.name(), what, r.choice(["merge", "strategic"]))

    def applies(self):
        """Server-side, with force, as a GitOps tool does."""
        obj = self.a_job()
        path = jobs_path(self.x.ns, obj["metadata"]["name"]) + "?fieldManager=gitops&force=true"
        made = self.x.tries(self.x.api.patch, path, obj, "apply")
        if not isinstance(made, ApiError):
            self.names.append(obj["metadata"]["name"])
        return made

    def deletes(self):
        name = self.name()
        if name in self.names:
            self.names.remove(name)
        return self.x.tries(self.x.delete, name, self.rng.choice(["Background", "Foreground", "Orphan"]))

    def sends_bytes(self):
        body = self.rng.choice([b"", b"{", b"\x00" * 100, b"\xff\xfe{}", b"[" * 5000, json.dumps(self.a_job()).encode()[:-3]])
        return self.x.tries(self.x.api.raw, self.rng.choice(["POST", "PATCH"]), jobs_path(self.x.ns), body)

    def writes_status(self):
        return self.x.tries(self.x.api.patch, jobs_path(self.x.ns, self.name(), "status"), {"status": {"active": 0, "terminating": 0}})

    def makes_a_cronjob(self):
        template = self.a_job()
        return self.x.tries(self.x.api.post, f"/apis/batch/v1/namespaces/{self.x.ns}/cronjobs", {
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": f"c{self.rng.randrange(4)}"},
            "spec": {"schedule": "* * * * *", "concurrencyPolicy": self.rng.choice(["Allow", "Forbid", "Replace"]),
                     "jobTemplate": {"metadata": {"labels": template["metadata"].get("labels", {})}, "spec": template["spec"]}}})

    def makes_what_it_may_not(self):
        made = self.rng.choice([
            ("/api/v1/namespaces/%s/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                                            "spec": {"containers": [{"name": "c", "image": "i"}]}}),
            ("/api/v1/namespaces/%s/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}),
            (f"/apis/{GROUP}/namespaces/%s/localqueues", ours("LocalQueue", "mine", {"clusterQueue": self.x.ns})),
        ])
        answer = self.x.tries(self.x.api.post, made[0] % self.x.ns, made[1])
        assert isinstance(answer, ApiError) and answer.status == 403, answer
        return answer

    def step(self):
        kind = self.rng.choices([self.creates, self.patches, self.applies, self.deletes, self.sends_bytes, self.writes_status,
                                 self.makes_a_cronjob, self.makes_what_it_may_not], [30, 40, 8, 12, 3, 3, 1, 1])[0]
        return kind.__name__, kind()

    def thin_out(self):
        """Not more than some 60 at a time: it is nonsense that is wanted here, not load."""
        while len(self.names) > 60:
            self.x.tries(self.x.delete, self.names.pop(0))


@pytest.mark.search
@pytest.mark.timeout(1800)
def test_a_tenant_that_tries_everything_at_random(tenant, honest):
    print(f"SLUICE_E2E_SEED={SEED} replays it")
    chaos = Chaos(tenant, SEED)
    done = {}
    for n in range(searched(200, 2000)):
        what, answer = chaos.step()
        key = (what, "refused" if isinstance(answer, ApiError) else "taken")
        done[key] = done.get(key, 0) + 1
        chaos.thin_out()
        if n % 100 == 99:
            honest()
            wait_leading(tenant.world.box)
            tenant.within_quota()
    print({" ".join(k): n for k, n in sorted(done.items())})
    tenant.judged()
    honest()
    tenant.within_quota()
    ledger = checks.read_ledger(tenant.world.box)
    assert not checks.faults_of_ledger(ledger)
