"""Sandboxes for the tests, and a place of its own for each test.

`plane` is a control plane with our CRDs and policies but no controller; `box`
is the same one with the controller running; `world` is a namespace in it with
queues that only this test knows. So the order of tests does not matter, and what
one leaves behind is in nobody's way.

    SLUICE_E2E_PREFIX   names of the sandboxes begin with it (default: e2e)
    SLUICE_E2E_KEEP=1   leaves them up, and uses those that are: for whoever writes tests
    SLUICE_E2E_SEED     what tests that draw draw from (default: another one in each run)

The programs are those that users have. A test file with `pytestmark = pytest.mark.sanitized` runs those
that are built with ASan and UBSan; so does a controller whose clock a test sets, for only they can.

With workers (pytest-xdist, see test/suite.py) each has sandboxes of its own, and takes one file after the other.
"""

import itertools
import json
import os
import re
import signal
import subprocess
from collections import Counter
from contextlib import contextmanager

import pytest

import checks
import durations
import evidence
from objects import KUBERNETES, NEWEST, clusterqueue, flavor, group, has, job, jobs_path, ours, path_of, terminal
from sandbox import Api, ApiError, Sandbox, SandboxError, wait_until
from sandbox.process import tail
from sandbox.sandbox import BUILD

PREFIX = "-".join([os.environ.get("SLUICE_E2E_PREFIX", "e2e"), *filter(None, [os.environ.get("PYTEST_XDIST_WORKER")])])
KEEP = bool(os.environ.get("SLUICE_E2E_KEEP"))


class _Programs:
    """`BIN / "sluice"`: a program of ours, of the build that the test which runs wants."""

    RELEASE, SANITIZED = BUILD / "bin", BUILD / "dev" / "bin"
    sanitized = False  # by the mark of the test that runs

    def __truediv__(self, name):
        return self.built(name, self.sanitized)

    def built(self, name, sanitized):
        """Probes are in the one build only."""
        release = self.RELEASE / name
        return release if release.exists() and not sanitized else self.SANITIZED / name


BIN = _Programs()

# How long a condition may take on a busy machine before it counts as never. Not a measure of speed:
# nobody waits for so long where all is well, so they are what a machine ten times slower than ours needs.
SOON, LATER, RECOVERY = 120, 240, 300

_numbers = itertools.count(1)
_open = {}  # name: Sandbox, for what to show when a test fails
_broken = []  # those of a fixture, or a `with`, that failed: nobody else ends them


def pytest_configure(config):
    if config.option.durations is None:
        config.option.durations = 12
    config.addinivalue_line("markers", "timeout(seconds): ends a test that hangs (pytest-timeout)")
    config.addinivalue_line("markers", "sanitized: the programs are those with ASan and UBSan")
    config.addinivalue_line("markers", "search: it draws, and finds more the longer it goes on (SLUICE_E2E_SEARCH)")
    config.addinivalue_line("markers", "synchronous: the pair of `pair` replicates synchronously")
    config.addinivalue_line("markers", "since_kubernetes(minor, why): what an older API server cannot do")
    config.addinivalue_line("markers", "flags(*flags): the controller of `world` has these flags beside its usual ones")


def pytest_runtest_setup(item):
    BIN.sanitized = item.get_closest_marker("sanitized") is not None
    evidence.begin(_open.values())
    since = item.get_closest_marker("since_kubernetes")
    if since and KUBERNETES < since.args[0]:
        pytest.skip(f"before Kubernetes 1.{since.args[0]} {since.args[1]}")


def pytest_collection_modifyitems(config, items):
    for item in items if config.pluginmanager.hasplugin("timeout") else []:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(900))
    took, shared = _seconds_by_file(), {item.path.name for item in items if "plane" in item.fixturenames}
    # Files that break a control plane of their own come before those that share one: that one is started when the first of them
    # begins, and would stand idle meanwhile. Stable: a file's tests stay together, in their order.
    items.sort(key=lambda item: (item.path.name in shared, -took[item.path.name]))


# The order in a clone that has no durations of its own yet.
LONGEST = ("test_overcommit.py", "test_hostile.py", "test_node_agent.py", "test_page.py", "test_restore.py", "test_faults.py", "test_eta.py", "test_accident.py",
           "test_real_node.py", "test_from_cluster.py", "test_reserve.py", "test_install.py", "test_upgrade.py", "test_replay.py",
           "test_fit.py", "test_windows.py", "test_limits.py", "test_resource_quota.py")


def _seconds_by_file():
    """What the tests of each file took in the last run; so workers take the longest file first."""
    took = Counter({name: float(len(LONGEST) - i) for i, name in enumerate(LONGEST)})
    for name, seconds in durations.of("e2e").items():
        took[name.partition("::")[0].rpartition("/")[2]] += seconds
    return took


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        for name, box in _open.items():
            for component in box.controllers():
                report.sections.append((f"{name}: end of the log of {component}", tail(box.process(component).log, 40)))
        if KUBERNETES > NEWEST:
            report.sections.append((f"Kubernetes 1.{KUBERNETES}", f"it is newer than 1.{NEWEST}, the newest that Sluice supports: "
                                    "see first whether Kubernetes has changed what this test is about"))
        report.sections.append(("all of it", evidence.leave(item.nodeid, report.when, report.longreprtext, _open.values())))
    end_broken_planes()


def end_broken_planes():
    while _broken:
        box = _broken.pop()
        _open.pop(box.name, None)
        if not KEEP:
            box.destroy()


# ---- sandboxes ----------------------------------------------------------------


@contextmanager
def own_plane(name, manifests=True, **kw):
    """A control plane to break. No controller runs on it yet; without manifests nothing of ours is applied either.

    The controllers that were started on it end in good order: that is when one tells of what it leaked."""
    need("sluice-controller")
    box = Sandbox(f"{PREFIX}-{name}", **kw)
    if not KEEP:
        box.destroy()  # what an interrupted run has left
    _open[box.name] = box  # one that does not come up has logs, too
    try:
        box.up(manifests=manifests, from_template=manifests)
        yield box
        for component in [] if KEEP else box.controllers():
            if box.process(component).stop() == "ended":
                assert box.process(component).code() not in SANITIZERS, tail(box.process(component).log, 60)
    except BaseException:
        _broken.append(box)  # the report is to have its logs first
        raise
    if not KEEP:
        box.destroy()
    del _open[box.name]


def need(name):
    """Fails the test where a program of ours is not built."""
    if not (BIN / name).exists():
        pytest.fail(f"{BIN / name} is missing; ./dev test builds it")


SANITIZERS = (98, 99)  # the exit codes of what UBSan and ASan find
USUAL_FLAGS = ("--lease-seconds", "3")


def controller_program(flags):
    """The controller that takes these flags."""
    return BIN.built("sluice-controller", BIN.sanitized or any(str(f).startswith("--clock-") for f in flags))


def start_controller(box, identity="one", extra=USUAL_FLAGS, env=None):
    return box.start_controller(identity, binary=controller_program(extra), extra_args=extra, env={
        # A leak, an overflow or undefined behaviour ends the process with a code no test expects.
        "ASAN_OPTIONS": "exitcode=99:detect_leaks=1:abort_on_error=0", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=98:print_stacktrace=1",
        **(env or {})})


def readyz(box, component="controller-one"):
    """(status, text) of /readyz; 0 when nobody answers."""
    try:
        return 200, box.controller_api(component).raw("GET", "/readyz").decode()
    except ApiError as e:
        return e.status, e.message
    except OSError as e:
        return 0, str(e)


def wait_leading(box, component="controller-one", timeout=LATER):
    return wait_until(f"{component} to lead", lambda: readyz(box, component)[1].startswith("leading"), timeout,
                      box.process(component))


def run_with(box, flags):
    """The controller, with these flags beside its usual ones: started anew if it has others, is of another
    build, ended in another test, or slept longer than its lease lasts. What waits and runs it finds as a
    successor does."""
    proc = box.process("controller-one")
    wanted = [*USUAL_FLAGS, *flags]
    if proc.alive():
        argv = proc.record()["argv"]
        same = argv[0] == str(controller_program(flags).resolve()) and argv[-len(wanted) - 1:] == ["one", *wanted]
        if same and readyz(box)[1].startswith("leading"):
            return
        assert proc.stop() in ("ended", "was not running")
    start_controller(box, extra=wanted)
    wait_leading(box)


@pytest.fixture(scope="session")
def plane():
    with own_plane("main") as box:
        yield box


@pytest.fixture(scope="module")
def asleep(plane):
    """A controller that is about sleeps while a module's tests ask what the API server does by itself."""
    awake = [c for c in plane.controllers() if plane.process(c).alive()]
    for c in awake:
        plane.kill(c, signal.SIGSTOP)
    yield
    for c in awake:
        plane.kill(c, signal.SIGCONT)


@pytest.fixture(scope="session")
def box(plane):
    start_controller(plane)
    wait_leading(plane)
    yield plane
    # All is over: what the tests have left is taken away, and then nothing may be held. Namespaces go with the control plane: the
    # end of one is some 60 requests.
    for version, plural in (("apis/batch/v1", "cronjobs"), ("apis/batch/v1", "jobs"), ("api/v1", "pods")):
        for obj in plane.api.list(f"/{version}/{plural}"):
            forget(plane.api, f"/{version}/namespaces/{obj['metadata']['namespace']}/{plural}/{obj['metadata']['name']}"
                              "?propagationPolicy=Background&gracePeriodSeconds=0")
    if KEEP:
        for ns in plane.api.list("/api/v1/namespaces?labelSelector=sluice-e2e"):
            forget_namespace(plane.api, ns["metadata"]["name"])
    wait_until("the ledger to be empty at the end", lambda: bury(plane.api) or not checks.read_ledger(plane)["holds"], RECOVERY)
    assert not checks.faults_at_rest(plane)
    assert plane.process("controller-one").alive(), "the controller ended on the way"


def bury(api):
    """Pods of deleted Jobs that were made to linger are gone."""
    for pod in api.list("/api/v1/pods"):
        if pod["metadata"].get("deletionTimestamp"):
            api.delete(f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")


def forget_namespace(api, ns):
    forget(api, f"/api/v1/namespaces/{ns}")


def forget(api, path):
    """Deletes what may be gone, or going, already."""
    try:
        api.delete(path)
    except ApiError as e:
        if e.status not in (404, 409):
            raise


def token(api, ns, account):
    return api.post(f"/api/v1/namespaces/{ns}/serviceaccounts/{account}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}})["status"]["token"]


def as_account(box, ns, account):
    """An Api with the rights of a ServiceAccount."""
    return Api(port=box.port("kube-apiserver"), ca=box.pki / "ca.crt", token=token(box.api, ns, account))


@pytest.fixture(scope="session")
def sluice_account(plane):
    """The controller's own rights."""
    return as_account(plane, "sluice-system", "sluice-controller")


# ---- a world for each test ------------------------------------------------------


class World:
    """A namespace, flavors and queues of one test. Names given are local; the
    objects of the cluster get the namespace's name as prefix."""

    every = 0.05  # seconds between the first questions of a wait

    def __init__(self, box, ns):
        self.box, self.api, self.ns = box, box.api, ns
        evidence.uses(ns)
        self.made, self.afterwards = [], []  # afterwards: called when the test is over and its Jobs are deleted
        self.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                               "metadata": {"name": ns, "labels": {"sluice-e2e": "true"}}})
        # Pods need it, and the controller that makes it is in no hurry.
        wait_until("the ServiceAccount of the namespace", lambda: self.api.get(f"/api/v1/namespaces/{ns}/serviceaccounts/default"), SOON)

    def full(self, name):
        return f"{self.ns}-{name}"

    # -- what admins describe

    def create(self, plural, obj, ns=None):
        self.made.append(path_of(plural, obj["metadata"]["name"], ns))
        return self.api.post(path_of(plural, ns=ns), obj)

    def flavor(self, name="any", pool=None):
        self.create("resourceflavors", flavor(self.full(name), pool))
        return self.full(name)

    def cohort(self, name, parent=None, **spec):
        """An object; queues may name a Cohort that has none. Parents are named locally."""
        self.create("cohorts", ours("Cohort", self.full(name), {**({"parentName": self.full(parent)} if parent else {}), **spec}))
        return self.full(name)

    def priorities(self, **values):
        for name, value in values.items():
            self.create("workloadpriorityclasses", ours("WorkloadPriorityClass", self.full(name), value=value))

    def queue(self, name="q", cpu=None, groups=None, wait=True, flavors=None, cohort=None, **spec):
        """A ClusterQueue and a LocalQueue of the same name. `cpu` alone: of one
        flavor that is tied to no nodes; `flavors`: {flavor: cpu}, in order, where cpu
        may be a dict as for group()."""
        if groups is None:
            flavors = flavors or {self.flavor(f"any-{name}"): cpu}
            groups = [group(["cpu"], {f: [n] for f, n in flavors.items()})]
        if cohort:
            spec["cohortName"] = self.full(cohort)
        self.create("clusterqueues", clusterqueue(self.full(name), groups, **spec))
        self.local(name)
        if wait:
            self.wait_queue(name, lambda q: q["active"] or q["reason"] == "Stopped", "to be known")
            self.wait(f"LocalQueue {name} to be known", lambda: name in self.localqueues_known())
        return self.full(name)

    def local(self, name, clusterqueue_name=None):
        self.create("localqueues", ours("LocalQueue", name, {"clusterQueue": clusterqueue_name or self.full(name)}), self.ns)

    def localqueues_known(self):
        """Names of those that the controller has heard of."""
        return {q["name"] for q in self.box.controller_api().queues()["localQueues"] if q["namespace"] == self.ns}

    def edit_queue(self, name="q", **spec):
        return self.api.patch(path_of("clusterqueues", self.full(name)), {"spec": spec})

    def set_quota(self, cpu, name="q"):
        """Of the one flavor that queue(cpu=...) makes; until the controller goes by it."""
        self.edit_queue(name, resourceGroups=[group(["cpu"], {self.full(f"any-{name}"): [cpu]})])
        self.wait_queue(name, lambda q: q["flavors"][0]["resources"][0]["nominal"] == str(cpu), f"to have {cpu} cpu")

    def queue_view(self, name="q"):
        return next((q for q in self.box.controller_api().queues()["clusterQueues"] if q["name"] == self.full(name)), None)

    def wait_queue(self, name, check, what, timeout=SOON):
        """Until the controller's own view of the queue is as wanted."""
        last = [None]

        def asked():
            last[0] = self.queue_view(name)
            return last[0] and check(last[0]) and last[0]
        try:
            return wait_until(f"queue {name} {what}", asked, timeout, self.controller())
        except SandboxError as e:
            raise AssertionError(f"{e}\nthe controller's view of the queue: {last[0]}") from None

    def clusterqueue(self, name="q"):
        return self.api.get(path_of("clusterqueues", self.full(name)))

    # -- Jobs

    def job(self, name, queue="q", cpu="1", **kw):
        """Created by the team; `cpu` None: no requests of its own here."""
        if cpu is not None:
            kw.setdefault("requests", {"cpu": str(cpu)})
        if kw.get("priority"):
            kw["priority"] = self.full(kw["priority"])
        return self.api.post(jobs_path(self.ns), job(name, queue, **kw))

    def get(self, name):
        return self.api.get(jobs_path(self.ns, name))

    def patch(self, name, patch, kind="merge"):
        return self.api.patch(jobs_path(self.ns, name), patch, kind)

    def suspend(self, name):
        """As a person does: kubectl patch."""
        return self.api.patch(jobs_path(self.ns, name) + "?fieldManager=kubectl-patch", {"spec": {"suspend": True}})

    def delete(self, name, policy="Background"):
        return self.api.delete(jobs_path(self.ns, name) + f"?propagationPolicy={policy}&gracePeriodSeconds=0")

    def finish(self, *names):
        """As if the work of its pods were done now: the way of a test to free quota. All that it is said to have run by then:
        a pod that is not there yet would be overlooked, and one that does not run be brought to life by kwok."""
        for name in names:
            for pod in self.wait(f"the pods of {name} to run", lambda n=name: self.all_running(n), about=name):
                self.finish_pod(pod)

    def all_running(self, name):
        """Its pods, once they are as many as its status says and each of them runs."""
        pods, active = self.pods(name), self.get(name)["status"].get("active", 0)
        return len(pods) >= max(active, 1) and all(p["status"].get("phase") == "Running" for p in pods) and pods

    def finish_pod(self, pod):
        self.api.patch(f"/api/v1/namespaces/{self.ns}/pods/{pod['metadata']['name']}/status", {"status": {"phase": "Succeeded"}})

    def finish_one(self, name):
        """One of its pods, once it runs."""
        self.finish_pod(self.wait(f"a pod of {name} to run", lambda: next(
            (p for p in self.pods(name) if p["status"].get("phase") == "Running"), None), about=name))

    def finish_all(self, name):
        """Its pods as they come, until it is complete."""
        def over():
            for pod in self.pods(name):
                if pod["status"].get("phase") == "Running":
                    self.finish_pod(pod)
            return has(self.get(name), "Complete")
        self.wait(f"Job {name} to complete", over, LATER, about=name)

    def pods(self, name=None):
        pods = self.api.list(f"/api/v1/namespaces/{self.ns}/pods" + (f"?labelSelector=job-name={name}" if name else ""))
        return [p for p in pods if not terminal(p)]

    def explain(self, name):
        return self.box.controller_api().job(self.ns, name)

    def holds(self, name=None):
        """Open holds: [(job, attempt, state, {(flavor, resource): amount})]."""
        return [(h["name"], h["attempt"], h["state"], {(x["flavor"], x["resource"]): x["amount"] for x in h["lines"]})
                for h in checks.read_ledger(self.box)["holds"] if h["ns"] == self.ns and name in (None, h["name"])]

    def use(self):
        """What the ledger says each node of this world's quota tree uses of cpu, over all flavors: {name: cores}."""
        rows = self.box.sql("select node, sum(use) from sluice.balance_use where resource = 'cpu' and "
                            f"split_part(node, '/', 2) like '{self.ns}-%' group by 1")
        return {node.partition("/")[2].removeprefix(f"{self.ns}-"): int(n) / 1000 for node, n in rows}

    def uses(self, **wanted):
        """Until use() is that: nodes are in the books a moment after they are known, and what is given back follows the pods."""
        last = [None]

        def asked():
            last[0] = self.use()
            return last[0] == wanted
        try:
            self.wait(f"the ledger to say {wanted}", asked)
        except AssertionError as e:
            raise AssertionError(f"{e}\nit says {last[0]}") from None

    def ahead(self, *names):
        """Until these are the first that wait, in this order."""
        said = {}

        def asked():
            said.update({n: self.explain(n)["ahead"] for n in names})
            return list(said.values()) == list(range(len(names)))
        try:
            self.wait(f"the order {' '.join(names)}", asked)
        except AssertionError as e:
            raise AssertionError(f"{e}\nso many are ahead of each: {said}") from None

    def transfers(self, name):
        """What the ledger was told of a Job: ["RESERVE", "COMMIT", ...], in order."""
        uid = self.get(name)["metadata"]["uid"]
        return [row[0] for row in self.box.sql(f"select kind from sluice.transfer where job_uid = '{uid}' order by attempt, at, "
                                               "array_position('{RESERVE,COMMIT,SHRINK,GROW,STOP,RELEASE,VOID}', kind)")]

    def order_of_starts(self):
        """Names of Jobs in the order in which the ledger let them in (of one batch: as decided)."""
        rows = self.box.sql("select h.name from (select name, job_uid from sluice.hold where ns = '{0}' union select name, job_uid "
                            "from sluice.segment where ns = '{0}') h join sluice.transfer t using (job_uid) "
                            "where t.kind = 'RESERVE' order by t.at, t.xmin::text::bigint, t.ctid".format(self.ns))
        return [row[0] for row in rows]

    # -- waiting for something to be so

    def controller(self):
        """The process whose end would end all waiting; None where it may end and begin anew."""
        return self.box.process("controller-one")

    def wait(self, what, check, timeout=SOON, about=None):
        try:
            return wait_until(what, check, timeout, self.controller(), self.every)
        except SandboxError as e:
            extra = ""
            if about:
                obj = self.get(about)
                extra = f"\nJob {about}: metadata {obj['metadata'].get('annotations')} suspend {obj['spec'].get('suspend')} status {obj['status']}"
                try:
                    extra += f"\nthe controller says: {self.explain(about)}"
                except (OSError, ApiError) as x:
                    extra += f"\nthe controller says: {x}"
            raise AssertionError(str(e) + extra) from None

    def wait_job(self, name, what, check, timeout=SOON):
        def asked():
            obj = self.get(name)
            return check(obj) and obj
        return self.wait(f"Job {name} {what}", asked, timeout, about=name)

    def started(self, *names, timeout=SOON):
        """Until each is let run and its pods run; the last one."""
        for name in names:
            obj = self.wait_job(name, "to be started", lambda j: not j["spec"]["suspend"], timeout)
            want = min(obj["spec"]["parallelism"], obj["spec"].get("completions") or obj["spec"]["parallelism"])
            obj = self.wait_job(name, f"to run {want} pods", lambda j, n=want: (j["status"].get("active", 0) + j["status"].get("succeeded", 0)
                                                                              + j["status"].get("failed", 0)) >= n, timeout)
        return obj

    def finished(self, *names, timeout=LATER):
        for name in names:
            self.wait_job(name, "to complete", lambda j: has(j, "Complete"), timeout)

    def stopped(self, name, timeout=SOON):
        """Until it is suspended and no pod of it is left."""
        return self.wait_job(name, "to be stopped with no pod left", lambda j: j["spec"]["suspend"] and has(j, "Suspended")
                             and not j["status"].get("active") and not j["status"].get("terminating"), timeout)

    def waits(self, name, *reasons, timeout=SOON):
        """Until the controller has looked at it and says that it waits, for one of
        these reasons if any are given; what it says. The Job is suspended then."""
        def asked():
            said = self.explain(name)
            return said["waiting"] and said["reason"] != "PendingEvaluation" and (not reasons or said["reason"] in reasons) and said
        said = self.wait(f"Job {name} to wait ({' or '.join(reasons) or 'any reason'})", asked, timeout, about=name)
        assert self.get(name)["spec"]["suspend"], f"{name} is said to wait, but runs"
        return said

    def restart(self):
        """The controller is told to stop, and another one takes over."""
        assert self.box.process("controller-one").stop() == "ended"
        self.box.start("controller-one")
        wait_leading(self.box)

    def empty(self, timeout=LATER):
        """Until nothing is held in this world."""
        self.wait("all quota to be given back", lambda: not self.holds(), timeout)

    def end(self):
        for name in [j["metadata"]["name"] for j in self.api.list(jobs_path(self.ns))]:
            try:
                self.delete(name)
            except ApiError as e:
                if e.status != 404:
                    raise
        for clean in self.afterwards:
            clean()
        if KEEP:
            forget_namespace(self.api, self.ns)


def _slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.removeprefix("test_").lower()).strip("-")[:24].strip("-")


_run = f"{os.getpid() % 1000:03d}" if KEEP else ""


def box_without_past(name):
    """A control plane and a controller on which no test has run anything. What is forecast rests on runs that have ended: those
    of other tests took a second. For a module's own fixture `box`."""
    with own_plane(name) as box:
        start_controller(box)
        wait_leading(box)
        yield box


@pytest.fixture
def world(box, request):
    marker = request.node.get_closest_marker("flags")
    run_with(box, marker.args if marker else ())
    w = World(box, f"{_slug(request.node.name)}-{_run}{next(_numbers)}")
    yield w
    w.end()
    assert box.process("controller-one").alive(), "the controller ended during this test"


FOREIGN = "example.com/never-taken-off"  # a finalizer of nobody
BINDINGS = "/apis/admissionregistration.k8s.io/v1/"


def policy_bindings(api):
    """{path of the collection: [binding]} of ours, such as one creates them."""
    return {BINDINGS + f"{kind.lower()}s": [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "spec": b["spec"],
         "metadata": {"name": b["metadata"]["name"], "labels": b["metadata"].get("labels", {})}}
        for b in api.list(BINDINGS + f"{kind.lower()}s") if b["metadata"]["name"].startswith("sluice-")]
        for kind in ("MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding")}


@pytest.fixture
def no_policies(plane, world):
    """As where the admission policies are missing: their bindings are taken away, and put back after."""
    def suspended(**metadata):
        """What the API server makes of the Job's spec.suspend: false; None: it refuses the Job."""
        probe = job("probe", "default", {"cpu": "1"}, suspend=False)
        probe["metadata"].update(metadata)
        try:
            return plane.api.post(jobs_path(world.ns) + "?dryRun=All", probe)["spec"]["suspend"]
        except ApiError:
            return None

    def in_force():
        """The mutating and the validating policies; each kind takes effect by itself."""
        return suspended() is True and suspended(finalizers=[FOREIGN]) is None

    kept = policy_bindings(plane.api)
    for path, bindings in kept.items():
        for b in bindings:
            plane.api.delete(f"{path}/{b['metadata']['name']}")
    wait_until("the policies to be out of force", lambda: suspended(finalizers=[FOREIGN]) is False, SOON)
    yield
    for path, bindings in kept.items():
        for b in bindings:
            plane.api.ensure(path, b)
    wait_until("the policies to be in force again", in_force, SOON)


@pytest.fixture
def team(plane, request):
    """A namespace whose queues nobody serves: for what the API server does by itself."""
    ns = f"{_slug(request.node.name)}-{_run}{next(_numbers)}"
    plane.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns, "labels": {"sluice-e2e": "true"}}})
    return ns


def config_for(folder, server, token=None, ca=None):
    """The environment of a command whose kubeconfig names that server, and a token's owner."""
    path = folder / "kubeconfig-of-a-test"
    cluster = {"server": server, **({"certificate-authority": str(ca)} if ca else {})}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                                "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {"token": token} if token else {}}]}))
    return {"KUBECONFIG": str(path)}


@pytest.fixture
def nobody(tmp_path):
    """... where nobody answers."""
    return config_for(tmp_path, "https://127.0.0.1:1")


@pytest.fixture(scope="session")
def program():
    """program("sluice", args..., env): runs one of ours to its end; CompletedProcess with text."""
    def run(name, *args, env=None, timeout=SOON, cwd=None):
        need(name)
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "PG", "SLUICE_"))}
        return subprocess.run([str(BIN / name), *map(str, args)], env={**keep, **(env or {})}, cwd=cwd, capture_output=True, text=True, timeout=timeout)
    return run

