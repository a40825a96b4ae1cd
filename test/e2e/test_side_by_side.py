"""Kueue and Sluice in one cluster: each its own namespaces, and a namespace that moves from one to the other and back (docs/migrate.md).

Kueue is a real one (sandbox/kueue.py). It takes minutes to build, so `./dev test` runs these where it has been built, and
`./dev test test/e2e/test_side_by_side.py` builds it."""

import itertools
import json
import shlex
import subprocess

import pytest
from conftest import BIN, World, own_plane, run_with
from objects import KUBERNETES, QUEUE, conditions, group, job, jobs_path
from sandbox import ApiError, kueue
from test_import import apply, objects

_numbers = itertools.count(1)
BASE = f"/apis/{kueue.GROUP}/{kueue.VERSION}"


def can_adopt():
    return subprocess.run([BIN / "sluice", "help", "adopt"], capture_output=True).returncode == 0 if (BIN / "sluice").exists() else False


class BothWorld(World):
    """A namespace with queues of Kueue, of Sluice, or of both. Names of Kueue's cluster objects are as Sluice's."""

    # -- what is Kueue's

    def of_kueue(self, plural, kind, name, spec, ns=None):
        where = f"{BASE}/namespaces/{ns}/{plural}" if ns else f"{BASE}/{plural}"
        self.api.post(where, {"apiVersion": f"{kueue.GROUP}/{kueue.VERSION}", "kind": kind, "metadata": {"name": name}, "spec": spec})

    def kueue_queue(self, cpu, name="q"):
        """A ClusterQueue of one flavor, and a LocalQueue of it."""
        self.of_kueue("resourceflavors", "ResourceFlavor", self.full("any"), {})
        self.of_kueue("clusterqueues", "ClusterQueue", self.full(name), {"namespaceSelector": {}, "resourceGroups": [group(["cpu"], {self.full("any"): [cpu]})]})
        self.of_kueue("localqueues", "LocalQueue", name, {"clusterQueue": self.full(name)}, self.ns)
        self.wait("Kueue to know the queue", lambda: any(
            c["type"] == "Active" and c["status"] == "True" for c in self.api.get(f"{BASE}/namespaces/{self.ns}/localqueues/{name}").get("status", {}).get("conditions", [])))

    def set_kueue_queue(self, name="q", **spec):
        """Until Kueue goes by it."""
        path, wanted = f"{BASE}/namespaces/{self.ns}/localqueues/{name}", "True" if spec["stopPolicy"] == "None" else "False"
        self.api.patch(path, {"spec": spec})
        self.wait(f"Kueue to know that {name} has {spec}", lambda: conditions(self.api.get(path)).get("Active", {}).get("status") == wanted)

    def set_kueue_quota(self, cpu, name="q"):
        self.api.patch(f"{BASE}/clusterqueues/{self.full(name)}", {"spec": {"resourceGroups": [group(["cpu"], {self.full("any"): [cpu]})]}})

    def kueue_job(self, name, queue="q", **kw):
        """As a team of Kueue's submits it: Kueue suspends it."""
        made = self.api.post(jobs_path(self.ns), job(name, None, {"cpu": "1"}, labels={kueue.QUEUE: queue}, **kw))
        assert made["spec"]["suspend"]
        return made

    def workloads(self, name):
        """Kueue's Workloads of a Job."""
        uid = self.get(name)["metadata"]["uid"]
        return [w for w in self.api.list(f"{BASE}/namespaces/{self.ns}/workloads")
                if any(o["uid"] == uid for o in w["metadata"].get("ownerReferences", []))]

    def workload(self, name):
        """The one Workload of a Job, once it is there."""
        return self.wait(f"a Workload of {name}", lambda: self.workloads(name), about=name)[0]

    def kueue_waits(self, name):
        """Until it is in Kueue's queue. No condition says so of each: of Workloads that are alike Kueue looks at the first alone."""
        work = self.workload(name)
        assert not [c for c in work.get("status", {}).get("conditions", []) if c["type"] == "QuotaReserved" and c["status"] == "True"]
        assert self.get(name)["spec"]["suspend"]

    def kueue_use(self, name="q"):
        """Cores that Kueue counts in the ClusterQueue."""
        flavors = self.api.get(f"{BASE}/clusterqueues/{self.full(name)}").get("status", {}).get("flavorsUsage", [])
        return sum(int(r["total"]) for f in flavors for r in f["resources"])

    def kueue_uses(self, cpu):
        self.wait(f"Kueue to count {cpu} cores", lambda: self.kueue_use() == cpu)

    # -- moving

    def imported(self, program):
        """What `sluice import kueue --from-cluster` says of this namespace: its items."""
        done = program("sluice", "import", "kueue", "--from-cluster", "-n", self.ns, "-o", "json", env={"KUBECONFIG": str(self.box.kubeconfig)})
        assert done.returncode == 1, done  # Kueue's configuration is in no ConfigMap here, and runs are refused: both are said
        return json.loads(done.stdout)["items"]

    def follow_commands(self, items):
        """The `kubectl patch` commands that the import prints, as it prints them."""
        for command in [i["command"] for i in items if i["command"]]:
            words = shlex.split(command)
            assert words[0] == "kubectl"
            self.box.kubectl(*words[1:])

    def label(self, name, **labels):
        """As `kubectl label` does; None takes one off."""
        return self.patch(name, {"metadata": {"labels": labels}})

    # -- who has written what

    def writers(self, name):
        """The names under which something was written into a Job."""
        return {f["manager"] for f in self.get(name)["metadata"]["managedFields"]}

    def ours_alone(self, name):
        """Kueue has nothing of this Job, and never wrote to it."""
        obj = self.get(name)
        assert not self.workloads(name)
        assert not [k for k in {**obj["metadata"].get("labels", {}), **obj["metadata"].get("annotations", {}), **obj["spec"]["template"]["metadata"].get("labels", {})} if "kueue" in k]
        assert not [w for w in self.writers(name) if "kueue" in w.lower()], self.writers(name)

    def kueues_alone(self, name):
        """Sluice has nothing of this Job, and never wrote to it."""
        obj = self.get(name)
        assert not self.holds(name)
        assert not [k for k in {**obj["metadata"].get("labels", {}), **obj["metadata"].get("annotations", {})} if k.startswith("sluice.dev/")]
        assert not [w for w in self.writers(name) if "sluice" in w.lower()], self.writers(name)


@pytest.fixture(scope="module")
def place():
    if KUBERNETES < 36:
        pytest.skip("Kueue v0.18 is tried on the Kubernetes that it is built for")
    if not kueue.is_built():
        pytest.skip("Kueue is not built here; ./dev test test/e2e/test_side_by_side.py builds it, in about 5 minutes")
    with own_plane("side") as box:
        kueue.Kueue(box).up()
        yield box


@pytest.fixture
def worlds(place):
    """worlds(): another namespace in the cluster that both are in."""
    run_with(place, ())
    made = []

    def make():
        made.append(BothWorld(place, f"side-{next(_numbers)}"))
        return made[-1]
    yield make
    for world in made:
        world.end()
    for world in made:
        world.empty()
    assert place.process("controller-one").alive(), "the controller ended during this test"
    assert place.process(kueue.COMPONENT).alive(), "Kueue ended during this test"


@pytest.fixture
def world(worlds):
    return worlds()


def test_each_runs_its_own_namespaces_and_touches_no_job_of_the_other(worlds):
    ours, theirs = worlds(), worlds()
    ours.queue(cpu=2)
    theirs.kueue_queue(2)
    for i in range(3):  # one after the other: Kueue tells Jobs of one second apart by their uids
        ours.job(f"job-{i}")
        theirs.kueue_job(f"job-{i}")
        if i < 2:
            ours.started(f"job-{i}")
            theirs.started(f"job-{i}")
    ours.waits("job-2")
    theirs.kueue_waits("job-2")
    assert [len(w.pods()) for w in (ours, theirs)] == [2, 2]  # at the same time
    ours.finish("job-0")
    theirs.finish("job-0")
    ours.started("job-2")
    theirs.started("job-2")
    for name in ("job-0", "job-1", "job-2"):
        ours.ours_alone(name)
        theirs.kueues_alone(name)


def test_a_job_in_no_queue_is_nobodys(world):
    world.queue(cpu=1)
    world.kueue_queue(1)
    world.api.post(jobs_path(world.ns), job("free", None, {"cpu": "1"}))
    world.started("free")
    world.ours_alone("free")
    world.kueues_alone("free")


def test_a_namespace_moves_and_its_runs_end_where_they_began_and_back_again(world, program):
    world.kueue_queue(1)
    world.kueue_job("runs")
    world.started("runs")
    for name in ("first", "second"):
        world.kueue_job(name)
        world.kueue_waits(name)

    # To Sluice: docs/migrate.md, steps 3, 5 and 6. There is quota for one in Sluice's queue, too.
    items = world.imported(program)
    assert [i["title"] for i in items if i["kind"] == "Job" and i["outcome"] == "Refused"], items
    apply(world, [o for o in objects(items) if o["apiVersion"].startswith("sluice.dev/") and o["metadata"]["name"] in ("q", world.full("q"), world.full("any"))])
    world.wait_queue("q", lambda q: q["active"], "to be known")
    world.set_kueue_queue(stopPolicy="Hold")
    world.follow_commands(items)
    # Both came into the queue now, maybe within one second: which of them is the first is not what this is about.
    first, second = world.wait("one of them to be started", lambda: (now := sorted(("first", "second"), key=lambda n: world.get(n)["spec"]["suspend"]))
                               and not world.get(now[0])["spec"]["suspend"] and now)
    world.started(first)
    world.waits(second)
    assert world.holds(first) and not world.get("runs")["spec"]["suspend"]
    world.kueue_uses(1)  # of the run that was not moved
    world.kueues_alone("runs")
    assert not [k for n in ("first", "second") for k in world.get(n)["metadata"]["labels"] if "kueue" in k]

    # The run ends, and Kueue starts none of those that have moved.
    world.finish("runs")
    world.finished("runs")
    world.kueue_uses(0)
    assert world.get(second)["spec"]["suspend"]

    # And back: what waits goes to Kueue, what runs ends under Sluice.
    world.api.patch(f"/apis/sluice.dev/v1alpha1/namespaces/{world.ns}/localqueues/q", {"spec": {"stopPolicy": "Hold"}})
    world.set_kueue_queue(stopPolicy="None")
    world.label(second, **{QUEUE: None, kueue.QUEUE: "q"})
    world.started(second)
    assert [h[0] for h in world.holds()] == [first]
    world.finish("first", "second")
    world.finished("first", "second")
    world.empty()
    world.kueue_uses(0)


# ---- what Kueue does with a Job whose label is taken off -------------------------------------


def pods_of(world, name):
    return {p["metadata"]["uid"] for p in world.pods(name)}


def disown(world, workload):
    world.api.patch(f"{BASE}/namespaces/{world.ns}/workloads/{workload['metadata']['name']}", {"metadata": {"ownerReferences": None}})


def test_the_label_of_a_run_cannot_be_taken_off(world):
    world.kueue_queue(1)
    world.kueue_job("runs")
    world.started("runs")
    with pytest.raises(ApiError, match="field is immutable"):
        world.label("runs", **{kueue.QUEUE: None})
    world.kueue_uses(1)


def test_nor_that_of_a_waiting_job_beside_a_default_queue(world):
    world.kueue_queue(1)
    world.of_kueue("localqueues", "LocalQueue", "default", {"clusterQueue": world.full("q")}, world.ns)
    world.set_kueue_queue(stopPolicy="Hold")
    world.kueue_job("waits")

    def refused():
        """Kueue may hear of the new queue a moment later."""
        try:
            world.api.patch(jobs_path(world.ns, "waits") + "?dryRun=All", {"metadata": {"labels": {kueue.QUEUE: None}}})
            return False
        except ApiError as e:
            return "namespace with default queue" in str(e)
    world.wait("Kueue to keep its label", refused)


def test_a_run_whose_workload_is_disowned_or_deleted_is_stopped(world):
    """Hence the label goes first."""
    world.kueue_queue(2)
    for name, harm in (("one", disown), ("two", lambda w, work: w.api.delete(f"{BASE}/namespaces/{w.ns}/workloads/{work['metadata']['name']}"))):
        world.kueue_job(name)
        world.started(name)
        before = pods_of(world, name)
        harm(world, world.workload(name))
        world.wait(f"the pods of {name} to go", lambda n=name, b=before: not pods_of(world, n) & b, about=name)  # and it may be admitted anew


def test_a_waiting_job_without_its_label_keeps_a_workload_that_takes_quota(world):
    """Hence the hold of step 6."""
    world.kueue_queue(1)
    world.kueue_job("runs")
    world.started("runs")
    world.kueue_job("waits")
    world.kueue_waits("waits")
    world.label("waits", **{kueue.QUEUE: None})
    world.finish("runs")
    world.finished("runs")
    world.wait("Kueue to admit a Workload that nothing starts", lambda: any(
        c["type"] == "Admitted" and c["status"] == "True" for c in world.workload("waits").get("status", {}).get("conditions", [])))
    world.kueue_uses(1)
    assert world.get("waits")["spec"]["suspend"]
    disown(world, world.workload("waits"))
    world.kueue_uses(0)


def test_on_hold_it_takes_none(world):
    world.kueue_queue(1)
    world.kueue_job("runs")
    world.started("runs")
    world.kueue_job("waits")
    world.kueue_waits("waits")
    world.set_kueue_queue(stopPolicy="Hold")
    world.label("waits", **{kueue.QUEUE: None})
    world.finish("runs")
    world.finished("runs")
    world.kueue_uses(0)


# ---- a run that leaves Kueue without being stopped -------------------------------------------

WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/kueue-validating-webhook-configuration"


@pytest.fixture
def unwatched(world):
    """The namespace of the world is out of the webhook that keeps the labels of runs, as docs/migrate.md says."""
    def selector(namespaces):
        hooks = world.api.get(WEBHOOKS)["webhooks"]
        at = next(i for i, h in enumerate(hooks) if h["name"] == "vjob.kb.io")
        world.api.patch(WEBHOOKS, [{"op": "replace", "path": f"/webhooks/{at}/namespaceSelector", "value": {"matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", kueue.NAMESPACE, *namespaces]}]}}], "json")

    def refused():
        """Whether a label of a run can be taken off, as a dry run says."""
        try:
            world.api.patch(jobs_path(world.ns, "runs") + "?dryRun=All", {"metadata": {"labels": {kueue.QUEUE: None}}})
            return False
        except ApiError as e:
            return "immutable" in str(e)

    def turn_off():
        selector([world.ns])
        world.wait("the API server to ask Kueue no more", lambda: not refused())
    yield turn_off
    selector([])


def leave_kueue(world, name, turn_off):
    """A run becomes one without a queue; its pods go on."""
    workload = world.workload(name)
    turn_off()
    world.label(name, **{kueue.QUEUE: None})
    disown(world, workload)
    world.kueue_uses(0)


def test_a_run_leaves_kueue_and_goes_on(world, unwatched):
    world.kueue_queue(1)
    world.kueue_job("runs")
    world.started("runs")
    before = pods_of(world, "runs")
    leave_kueue(world, "runs", unwatched)
    world.kueue_job("next")  # Kueue has its quota back
    world.started("next")
    assert before and pods_of(world, "runs") == before and not world.get("runs")["spec"]["suspend"]
    world.finish("runs")
    world.finished("runs")


@pytest.mark.skipif(not can_adopt(), reason="this sluice has no `adopt`")
def test_a_run_moves_from_kueue_to_sluice_without_a_stop(world, unwatched, program):
    world.kueue_queue(1)
    world.queue(cpu=1)
    world.kueue_job("runs")
    world.started("runs")
    before = pods_of(world, "runs")
    leave_kueue(world, "runs", unwatched)
    # --force: the controllers of a sandbox are no pods, so what they are cannot be seen.
    done = program("sluice", "adopt", "-n", world.ns, "--queue", "q", "--force", env={"KUBECONFIG": str(world.box.kubeconfig)})
    assert done.returncode == 0, done
    world.wait("its quota to be in the ledger", lambda: world.holds("runs"), about="runs")
    world.job("next")
    world.waits("next")
    assert before and pods_of(world, "runs") == before and not world.get("runs")["spec"]["suspend"]
    world.finish("runs")
    world.finished("runs")
    world.started("next")
