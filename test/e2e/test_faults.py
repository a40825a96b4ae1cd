"""Whatever is killed, in whatever order: nothing over-admitted, nothing lost, and
admissions go on.

Each kind of fault has a sandbox to break. What must be true is asked from outside
(checks.py). SLUICE_E2E_SEED replays the rounds of a run that failed: the same
victims, in the same order, at the same points; SLUICE_E2E_SEARCH=1 makes five times as many."""

import os
import random
import re
import signal
import socket
import threading
import time
from itertools import count

import pytest
from checks import faults_at_rest, look
from conftest import (BIN, LATER, RECOVERY, SOON, USUAL_FLAGS, World, own_plane, readyz, run_with, start_controller,
                      wait_leading)
from objects import SEED, TERMINATE_SECONDS, annotations, group, has, job, jobs_path, searched, story
from pool import all_seen, complaints
from sandbox import ApiError, SandboxError, wait_until
from sandbox.asking import ROOT
from sandbox.process import tail

ROUNDS = searched(8, 100)
SECONDS = [0.3, 2, 5]  # of a Job of the load: each pod costs the API server 100 ms, and a dozen run at a time
CONTROLLER, STANDBY, POSTGRES, API = "controller-one", "controller-two", "postgres", "kube-apiserver"
CLUSTER = ["kube-controller-manager", "kube-scheduler", "kwok"]

pytestmark = [pytest.mark.sanitized, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def broken():
    """A sandbox to break."""
    with own_plane("faults") as box:
        yield box


@pytest.fixture
def whole(broken):
    """The sandbox with all of it running, and controller-one the leader."""
    for component in broken.components:
        broken.start(component)
    for component in broken.components:
        broken.wait_ready(component)
    if broken.process(STANDBY).alive():
        broken.process(STANDBY).stop()
    start_controller(broken)
    wait_leading(broken, timeout=RECOVERY)
    return broken


@pytest.fixture
def load(whole):
    """Small Jobs all the time; at the end all of them must have completed."""
    load = Load(whole, f"load{next(_numbers)}-{os.getpid() % 1000}")
    yield load
    load.stop()


@pytest.fixture
def quota_load(whole):
    load = QuotaLoad(whole, f"quota{next(_numbers)}-{os.getpid() % 1000}")
    yield load
    load.stop()


@pytest.fixture
def cohort_load(whole):
    load = CohortLoad(whole, f"cohort{next(_numbers)}-{os.getpid() % 1000}")
    yield load
    load.stop()


_numbers = count(1)


class Load(threading.Thread):
    """A steady load: as soon as fewer than `level` Jobs are unfinished, more are made.

    It knows what it has submitted, and a submission whose answer was lost is
    repeated under the same name until there is an answer. A Job that is complete
    is looked at and ticked off, and deleted once nothing is held for it."""

    QUOTA = {"spot": 6, "on-demand": 4}  # cpu; so about a dozen pods at once

    def __init__(self, box, ns, level=16):
        super().__init__(daemon=True)
        self.box, self.level = box, level
        self.world = World(box, ns)
        self.make_queues()
        self.submitted, self.complete_ones, self.swept, self.pods_done = [], set(), set(), 0
        self.sweeper = None
        self.dice, self.trouble = random.Random(SEED), None
        self.stopping = False
        self.start()

    def make_queues(self):
        flavors = {self.world.flavor(f, f): n for f, n in self.QUOTA.items()}
        # Several: a queue that is full does not hold up another.
        for name, strategy in (("a", "BestEffortFIFO"), ("b", "StrictFIFO")):
            self.world.queue(name, flavors=flavors, queueingStrategy=strategy)
        self.quota = {(self.world.full(q), f, "cpu"): n * 1000 for q in "ab" for f, n in self.QUOTA.items()}

    def make_job(self, name):
        d = self.dice
        pods = d.choice([1, 1, 2, 3])
        return job(name, d.choice("ab"), {"cpu": d.choice(["500m", "1", "2"])}, pods=pods, seconds=d.choice(SECONDS),
                   completionMode=d.choice(["NonIndexed", "Indexed"]))

    def run(self):
        try:
            while not self.stopping:
                for _ in range(self.level - self.unfinished()):
                    self.submit()
                time.sleep(0.5)  # the pace of the load; nothing waits on it: a list of all Jobs costs the API server 20 ms
        except BaseException as e:  # shown by whoever waits for the load
            self.trouble = e
            raise

    def unfinished(self):
        while not self.stopping:
            try:
                return len(self.harvest())
            except (OSError, ApiError):
                time.sleep(0.1)
        return self.level

    def harvest(self):
        """Ticks off what is complete; the names of those that are not."""
        left = []
        for j in self.jobs():
            name, status = j["metadata"]["name"], j["status"]
            if not has(j, "Complete"):
                left.append(name)
                continue
            if name not in self.complete_ones:
                # More than asked for where the Job controller, killed as well, made a pod twice: see without_excess().
                assert status.get("succeeded", 0) >= j["spec"]["completions"], f"{name}: {status}"
                assert not status.get("failed"), f"{name} lost a pod: {status}"
                self.complete_ones.add(name)
                self.pods_done += status["succeeded"]
        return left

    def sweep(self):
        """What is complete and settled is deleted, so that lists stay short; the drill goes on meanwhile."""
        if self.sweeper is None or not self.sweeper.is_alive():
            self.sweeper = threading.Thread(target=self.delete_settled, daemon=True)
            self.sweeper.start()

    def delete_settled(self):
        """As far as it comes: whoever is asked may be dead just now."""
        try:
            held = {h[0] for h in self.world.holds()}
            for name in sorted(self.complete_ones - self.swept - held):
                self.delete(name)
                self.swept.add(name)
        except (OSError, ApiError, SandboxError):
            pass

    def delete(self, name):
        try:
            self.world.delete(name)
        except ApiError as e:
            if e.status != 404:  # deleted already, and only the answer was lost
                raise

    def jobs(self):
        return self.box.api.list(jobs_path(self.world.ns))

    def submit(self):
        name = f"j{len(self.submitted):04d}"
        obj = self.make_job(name)
        self.submitted.append(name)
        refused = time.monotonic() + SOON
        while not self.stopping:
            try:
                return self.box.api.post(jobs_path(self.world.ns), obj)
            except ApiError as e:
                if e.reason == "AlreadyExists":
                    return None
                # An API server that has just begun refuses what its policies, which it reads by watches, cannot judge yet.
                if e.status < 429 and time.monotonic() > refused:
                    raise
            except OSError:
                pass
            time.sleep(0.1)
        self.submitted.pop()  # nobody knows whether it is there; complete() does not ask for it
        return None

    def flavor_of(self, pod):
        return (pod["spec"].get("nodeSelector") or {}).get("pool", "none")

    def faults(self):
        return self.once_answered(lambda: look(self.box, self.world.ns, self.flavor_of, self.quota))

    @staticmethod
    def once_answered(ask):
        """An API server that has just begun may refuse for a moment; that is no fault."""
        return wait_until("the API server to answer", lambda: (ask(),), SOON)[0]

    def commits(self):
        return int(self.box.sql("select count(*) from sluice.transfer where kind = 'COMMIT'")[0][0])

    def stop(self):
        self.stopping = True
        self.join(RECOVERY)
        if self.sweeper is not None:
            self.sweeper.join(RECOVERY)

    def complete(self):
        """No more; until every Job that was submitted is complete and the ledger is empty."""
        self.stop()
        last = {}

        def all_done():
            wake_again(self.box)
            last["left"] = self.harvest()
            return not last["left"]
        try:
            wait_until("every Job to complete", all_done, RECOVERY)
        except SandboxError as e:
            told = [(self.world.get(n)["spec"]["suspend"], annotations(self.world.get(n)), self.world.get(n)["status"]) for n in last.get("left", [])[:3]]
            raise AssertionError(f"{e}\n{last}\n{told}") from None
        lost = set(self.submitted) - self.complete_ones
        assert not lost, f"lost: {lost}"
        wait_until("all quota to be given back", lambda: not self.world.holds(), RECOVERY)
        faults = faults_at_rest(self.box, self.world.ns)
        assert not faults, faults


class CohortLoad(Load):
    """The same through queues that borrow from each other, take back, and put the more important
    first: so Jobs are preempted all the time, and come back."""

    # node: (above, nominal, borrowingLimit, lendingLimit), in cores
    TREE = {"root": (None, 2, None, None), "west": ("root", 1, 3, None), "a": ("west", 3, None, None), "b": ("west", 2, 2, 1), "c": ("root", 3, None, 2)}

    def make_queues(self):
        w = self.world
        f = w.flavor()

        def quota(nominal, borrowing, lending):
            limits = {"borrowingLimit": borrowing, "lendingLimit": lending}
            return {"nominalQuota": nominal, **{k: v for k, v in limits.items() if v is not None}}
        for name, (above, *amounts) in self.TREE.items():
            if name in "abc":
                w.queue(name, flavors={f: quota(*amounts)}, cohort=above,
                        preemption={"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"})
            else:
                w.cohort(name, above, resourceGroups=[group(["cpu"], {f: [quota(*amounts)]})])
        w.priorities(low=1, high=10)
        self.tree = {w.full(n): (above and w.full(above), *(x if x is None else x * 1000 for x in amounts))
                     for n, (above, *amounts) in self.TREE.items()}

    def make_job(self, name):
        d = self.dice
        return job(name, d.choice("aabbc"), {"cpu": d.choice(["500m", "1", "2"])}, pods=d.choice([1, 1, 2]), seconds=d.choice(SECONDS),
                   priority=self.world.full(d.choice(["low", "low", "high"])), completionMode=d.choice(["NonIndexed", "Indexed"]))

    def faults(self):
        return self.once_answered(lambda: look(self.box, self.world.ns, tree=self.tree))

    def preemptions(self):
        return int(self.box.sql(f"select count(*) from sluice.segment where ns = '{self.world.ns}' and reason = 'Preempted'")[0][0])


class QuotaLoad(Load):
    """The same through a namespace whose ResourceQuota is narrower than the queues, in pods and in cpu: whoever is
    started beside what was started before and does not show yet would have pods refused."""

    HARD = {"pods": "7", "requests.cpu": "8"}

    def make_queues(self):
        super().make_queues()
        path = f"/api/v1/namespaces/{self.world.ns}/resourcequotas"
        self.box.api.post(path, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "narrow"}, "spec": {"hard": self.HARD}})
        wait_until("the ResourceQuota to be counted", lambda: self.box.api.get(f"{path}/narrow")["status"].get("hard") == self.HARD, SOON)
        all_seen(self.world)  # else Jobs could be let in before Sluice's own watch has brought it the quota

    def faults(self):
        return super().faults() + [f"refused: {c}" for c in complaints(self.world, "FailedCreate")]


# ---- kill -9 ---------------------------------------------------------------------------


def wake_cluster(box):
    """The rest of the cluster backs off, up to 30 s, the more often its API server goes away.
    New processes begin anew, and are away for a second themselves."""
    for component in CLUSTER:
        crash(box, component)
    wake_again(box)


def wake_again(box):
    """One that gave up on an API server which was slow to come is started again, as a kubelet does."""
    for component in CLUSTER:
        box.start(component)


def revive(box, component):
    """Also a controller that has ended by itself, for want of the others: its codes say so."""
    proc = box.process(component)
    if component == CONTROLLER and not proc.alive() and proc._child is not None:
        assert proc.code() in (-signal.SIGKILL, 3, 4), f"{component} ended with code {proc.code()}\n{tail(proc.log)}"
    box.start(component)


def crash(box, component):
    """Unless it has ended by itself meanwhile, for want of the others: it restarts then, as in a cluster."""
    try:
        box.crash(component)
    except SandboxError:
        if box.process(component).alive():
            raise


class Round:
    """One round of the drill, drawn before it begins so that the seed alone decides."""

    CHOICE = ([[CONTROLLER], [POSTGRES], [API], [CONTROLLER, POSTGRES], [CONTROLLER, API], [POSTGRES, API], [CONTROLLER, POSTGRES, API]],
              [8, 6, 1, 5, 1, 1, 1])

    def __init__(self, dice):
        self.victims = list(dice.choices(*self.CHOICE)[0])
        dice.shuffle(self.victims)
        self.revival = dice.sample(self.victims, len(self.victims))
        self.before = dice.randint(0, 4)  # starts to see before the first blow
        self.between = dice.choice(["at once", "commit", "finish"])  # ... and between the blows
        self.dead = dice.choice(["at once", "commit", "finish"])  # ... and before the first is revived

    def __str__(self):
        return (f"after {self.before} starts kill {f', then ({self.between}) '.join(self.victims)}; ({self.dead}) "
                f"revive {', '.join(self.revival)}")


class QuickRound(Round):
    """Without the API server, after whose death the rest of the cluster needs most of the time."""

    CHOICE = [[CONTROLLER], [POSTGRES], [CONTROLLER, POSTGRES]], [2, 1, 2]


def wait_for(load, what, dead):
    """A small condition that those still alive can meet; none is waited for that the dead would have to."""
    if what == "commit" and not {CONTROLLER, POSTGRES} & set(dead):
        seen = load.commits()
        attempt_until("another start", lambda: load.commits() > seen, dead)
    if what == "finish" and API not in dead:
        seen = load.pods_done
        if any(not j["spec"]["suspend"] and not has(j, "Complete") for j in load.jobs()):
            attempt_until("another Job to finish", lambda: load.pods_done > seen, dead)


def attempt_until(what, check, dead):
    """Without the API server, or with a start decided before the blow, it may not come: then it is skipped."""
    try:
        wait_until(what, check, 2 if dead else SOON)
    except SandboxError:
        if not dead:
            raise


def drill(load, r):
    box = load.box
    wake_again(box)
    seen = load.commits()
    wait_until(f"{r.before} starts before the blow", lambda: load.commits() >= seen + r.before, RECOVERY, box.process(CONTROLLER))
    dead = []
    for victim in r.victims:
        if dead:
            wait_for(load, r.between, dead)
        crash(box, victim)
        dead.append(victim)
    wait_for(load, r.dead, dead)
    for victim in r.revival:
        revive(box, victim)
    for victim in r.revival:
        if victim != CONTROLLER:
            box.wait_ready(victim)
    if API in r.victims:
        wake_cluster(box)
    revive(box, CONTROLLER)
    wait_leading(box, timeout=RECOVERY)
    seen = load.commits()
    faults = load.faults()
    assert not faults, faults
    # Admissions go on, and what they do is right as well.
    wait_until("admissions to go on", lambda: wake_again(box) or load.commits() > seen or load.trouble, RECOVERY, box.process(CONTROLLER))
    assert not load.trouble, load.trouble
    faults = load.faults()
    assert not faults, faults
    load.sweep()


def drills(load, rounds, kind=Round, happened=lambda: True):
    """happened: what the load is to have shown before it ends; on a busy machine the rounds are over sooner."""
    print(f"\nSLUICE_E2E_SEED={SEED} replays these {rounds} rounds")
    dice = random.Random(SEED)
    for number in range(1, rounds + 1):
        r = kind(dice)
        began = time.monotonic()
        try:
            drill(load, r)
        except (Exception, pytest.fail.Exception) as e:  # the second is what ends a test that takes too long; not Ctrl-C
            raise AssertionError(f"round {number} of seed {SEED}: {r}\n{e}") from e
        print(f"round {number}: {r}: {time.monotonic() - began:.1f} s", flush=True)
    wait_until("the load to show what it is for", happened, RECOVERY)
    load.complete()
    log = load.box.process(CONTROLLER).log.read_text(errors="replace")
    for fault in ("AddressSanitizer", "runtime error:", "belief", "store-went-back"):
        assert fault not in log, tail(load.box.process(CONTROLLER).log, 60)


@pytest.mark.search
@pytest.mark.timeout(6000)
def test_kill_minus_nine_at_any_moment_over_admits_nothing_and_loses_nothing(load):
    drills(load, ROUNDS)


@pytest.mark.search
@pytest.mark.timeout(3600)
def test_kill_minus_nine_while_queues_borrow_and_preempt(cohort_load):
    """Over no node of the quota tree, and who was preempted completes as well."""
    drills(cohort_load, max(1, ROUNDS // 5), QuickRound, lambda: cohort_load.preemptions() > 0)


@pytest.mark.search
@pytest.mark.timeout(3600)
def test_kill_minus_nine_in_a_namespace_with_a_quota_has_no_pod_refused(quota_load):
    """What was let in before the blow and has no pods yet counts after it as well."""
    drills(quota_load, max(1, ROUNDS // 5), QuickRound)
    faults = quota_load.faults()
    assert not faults, faults


def test_a_successor_keeps_the_room_for_whom_it_was_made(whole):
    """The leader is killed while the pods of two preempted Jobs linger."""
    world = World(whole, f"room{next(_numbers)}-{os.getpid() % 1000}")
    world.priorities(low=1, middle=5, high=10)
    world.queue(cpu=2, preemption={"withinClusterQueue": "LowerPriority"})
    for name in ("v1", "v2"):
        world.job(name, priority="low", pod_annotations={TERMINATE_SECONDS: "3600"})
        world.started(name)
        world.wait(f"the pod of {name} to run", lambda n=name: world.all_running(n))  # one without a node would not linger
    world.job("urgent", pods=2, priority="high")
    for name in ("v1", "v2"):
        world.wait_job(name, "to be stopped", lambda j: j["spec"]["suspend"] and j["status"].get("terminating") == 1)
    whole.crash(CONTROLLER)
    world.job("small", priority="middle")  # one of the two would be enough for it
    whole.start(CONTROLLER)
    wait_leading(whole)
    for name, left in (("v1", ["v2"]), ("v2", ["urgent"])):
        world.waits("urgent", "WaitingForPreemptedWorkloads")
        world.waits("small", "WaitingForQuota")
        (pod,) = world.pods(name)
        whole.api.delete(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")
        world.wait(f"{name} to be released", lambda who=left: [h[0] for h in world.holds()] == who, LATER)
    world.started("urgent")
    world.waits("small", "WaitingForQuota")
    assert {story(world.get(n))["preemptor"] for n in ("v1", "v2")} == {f"{world.ns}/urgent"}
    faults = look(whole, world.ns)
    assert not faults, faults
    world.end()


# ---- two controllers ----------------------------------------------------------------------


def leader(box):
    return box.sql("select holder, epoch from sluice.lease")[0]


def exit_code(proc, timeout=LATER):
    """Of one of our own children; pid is asked for so that it is reaped."""
    wait_until(f"{proc.name} to end", lambda: not proc.alive(), timeout)
    return proc.code()


# On a busy machine a leader may well be silent for 3 s, and then it is no fault that the other one leads.
UNHURRIED = ("--lease-seconds", "15")


@pytest.fixture
def two(whole):
    """controller-one leads, controller-two stands by."""
    run_with(whole, UNHURRIED)
    start_controller(whole, "two", extra=(*USUAL_FLAGS, *UNHURRIED))
    # It may stand by before it has looked at the lease.
    wait_until("the second to stand by", lambda: re.match(r"standby.* held by one\n", readyz(whole, STANDBY)[1]), LATER, whole.process(STANDBY))
    assert leader(whole)[0] == "one"
    return whole


def test_a_second_controller_stands_by_and_says_who_leads(two):
    status, text = readyz(two, STANDBY)
    assert status == 200 and "held by one" in text, (status, text)
    assert readyz(two)[1].startswith("leading")
    standby = two.controller_api(STANDBY)
    for path in ("queuereports", "namespaces/default/queuedjobs/none", "decisions", "costs", "clusterqueues/q/usage", "overcommits", "budgetreports"):
        with pytest.raises(ApiError) as refusal:
            standby.get(f"{ROOT}/{path}")
        assert refusal.value.status == 503 and "stands by, and one leads: ask that one" in str(refusal.value), path
    assert b"sluice_leader 0" in standby.raw("GET", "/metrics")
    two.process(STANDBY).stop()
    assert exit_code(two.process(STANDBY)) == 0


def test_one_that_stands_by_says_since_when_nobody_is_known_to_lead(two):
    def refusal():
        with pytest.raises(ApiError) as said:
            two.controller_api(STANDBY).queues()
        return str(said.value)
    two.process(POSTGRES).stop()
    wait_until("the lease to end", lambda: re.search(r"nobody is known to lead since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, when the lease of one ended; "
                                                     r"running Jobs go on, and nothing new starts until the ledger is connected", refusal()), LATER)
    two.process(STANDBY).stop()  # else either may lead afterwards
    two.start(POSTGRES)
    wait_leading(two, timeout=RECOVERY)


def test_when_the_leader_is_killed_the_second_takes_over_and_goes_on(two, load):
    seen = load.commits()
    wait_until("some starts", lambda: load.commits() >= seen + 3, LATER)
    two.kill(CONTROLLER, signal.SIGSTOP)  # it renews no lease
    two.sql("update sluice.lease set expires_at = now() + interval '1 hour'")  # it is not that which runs out
    two.crash(CONTROLLER)
    wait_leading(two, STANDBY)
    seen = load.commits()
    assert not load.faults()
    wait_until("admissions to go on", lambda: load.commits() > seen, LATER, two.process(STANDBY))
    assert not load.faults()
    two.start(CONTROLLER)
    wait_until("the first to stand by", lambda: readyz(two)[1].startswith("standby"), LATER, two.process(CONTROLLER))
    load.complete()
    two.process(STANDBY).stop()


class Road:
    """A way to the API server that can be closed: connections end, and no new ones come through."""

    def __init__(self, port):
        self._to, self._open, self._pairs = port, True, []
        self._listen = socket.create_server(("127.0.0.1", 0))
        self.port = self._listen.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                here, _ = self._listen.accept()
            except OSError:
                return
            if not self._open:
                here.close()
                continue
            try:
                there = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                here.close()
                continue
            self._pairs += [here, there]
            for a, b in ((here, there), (there, here)):
                threading.Thread(target=self._carry, args=(a, b), daemon=True).start()

    @staticmethod
    def _carry(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def shut(self):
        self._open = False
        for s in self._pairs:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def end(self):
        self.shut()
        self._listen.close()


def test_a_leader_that_cannot_follow_jobs_gives_the_lease_to_one_that_can(two):
    """Postgres it reaches, so its lease would never run out."""
    two.process(CONTROLLER).stop()
    wait_leading(two, STANDBY)
    road = Road(two.port(API))
    config = two.state / "road.kubeconfig"
    config.write_text((two.state / "controller.kubeconfig").read_text().replace(f"127.0.0.1:{two.port(API)}", f"127.0.0.1:{road.port}"))
    two.start_controller("three", binary=BIN / "sluice-controller", extra_args=(*USUAL_FLAGS, *UNHURRIED), kubeconfig=config)
    third = "controller-three"
    try:
        wait_until("the third to stand by", lambda: readyz(two, third)[1].startswith("standby"), LATER, two.process(third))
        two.process(STANDBY).stop()
        wait_leading(two, third)
        start_controller(two, extra=(*USUAL_FLAGS, *UNHURRIED))
        wait_until("the first to stand by", lambda: readyz(two)[1].startswith("standby"), LATER, two.process(CONTROLLER))
        road.shut()
        wait_leading(two, CONTROLLER)
        assert exit_code(two.process(third)) == 4
        assert "cannot-follow" in two.process(third).log.read_text(errors="replace")
        room = World(two, f"road-{os.getpid() % 1000}")
        room.queue(cpu=1)
        room.job("goes-on", seconds=0)
        room.finished("goes-on")
        room.end()
    finally:
        two.process(third).stop()
        road.end()


def test_a_leader_that_slept_past_its_lease_writes_nothing_more_and_ends_with_code_3(two, load):
    seen = load.commits()
    wait_until("some starts", lambda: load.commits() >= seen + 3, LATER)
    epoch = int(leader(two)[1])
    two.kill(CONTROLLER, signal.SIGSTOP)
    try:
        wait_leading(two, STANDBY)
        assert leader(two) == ["two", str(epoch + 1)]
        seen = load.commits()
        wait_until("the second to admit", lambda: load.commits() > seen, LATER, two.process(STANDBY))
        old = two.sql(f"select count(*) from sluice.transfer where epoch <= {epoch}")
    finally:
        two.kill(CONTROLLER, signal.SIGCONT)
    assert exit_code(two.process(CONTROLLER)) == 3
    assert two.sql(f"select count(*) from sluice.transfer where epoch <= {epoch}") == old
    assert not load.faults()
    load.complete()
    two.process(STANDBY).stop()


def test_a_told_stop_ends_with_code_0_and_gives_the_lease_back(whole):
    assert whole.process(CONTROLLER).stop() == "ended"
    assert exit_code(whole.process(CONTROLLER)) == 0, tail(whole.process(CONTROLLER).log)
    assert whole.sql("select expires_at = '-infinity' from sluice.lease") == [["t"]]


def test_a_told_stop_under_load_leaves_nothing_half_done(whole, load):
    seen = load.commits()
    wait_until("some starts", lambda: load.commits() >= seen + 3, LATER)
    assert whole.process(CONTROLLER).stop() == "ended"
    assert exit_code(whole.process(CONTROLLER)) == 0, tail(whole.process(CONTROLLER).log)
    assert not load.faults()
    start_controller(whole)
    wait_leading(whole)
    load.complete()


def test_a_controller_that_cannot_read_the_cluster_does_not_take_the_lease(whole, tmp_path):
    """Else one with a wrong kubeconfig would keep a good one from leading."""
    assert whole.process(CONTROLLER).stop() == "ended"
    epoch = leader(whole)[1]
    kubeconfig = tmp_path / "k"
    kubeconfig.write_text(re.sub(r"server: .*", "server: https://127.0.0.1:1", (whole.state / "controller.kubeconfig").read_text()))
    blind = whole.process("controller-blind")
    blind.start([BIN / "sluice-controller", "--kubeconfig", kubeconfig, "--database", whole.database, "--listen", "off", "--identity", "blind",
                 "--lease-seconds", "3"], env={"SLUICE_SANDBOX_URL": ""})
    try:
        wait_until("the blind one to reach the ledger", lambda: "ledger-up" in blind.log.read_text(), SOON, blind)
        start_controller(whole, "one")
        wait_leading(whole)
        assert leader(whole)[0] == "one" and blind.alive()
        assert int(leader(whole)[1]) == int(epoch) + 1, "the blind one led in between"
    finally:
        blind.stop()
        blind.record_file.unlink()


# ---- something is away for a while -----------------------------------------------------------


def test_without_postgres_what_runs_goes_on_nothing_starts_and_readyz_says_so(whole):
    world = World(whole, f"nodb{next(_numbers)}-{os.getpid() % 1000}")
    world.queue(cpu=2)
    world.job("runs", seconds=3600)
    world.job("ends", seconds=0)
    world.started("runs")
    world.finished("ends")
    wait_until("the ledger to have the one that runs", lambda: [h[0] for h in world.holds()] == ["runs"], SOON)
    whole.process(POSTGRES).stop()
    _, text = wait_until("/readyz to say so", lambda: (lambda r: r[0] == 503 and "ledger is not connected" in r[1] and r)(readyz(whole)), LATER,
                         whole.process(CONTROLLER))
    assert "running Jobs go on" in text
    world.job("waits", seconds=0)
    # The controller sees it, and keeps it.
    wait_until("the controller to know it", lambda: world.explain("waits")["name"] == "waits", SOON)
    told = whole.controller_api().queues()
    assert not told["ledgerUp"]
    said = world.waits("waits", "LedgerDown")
    assert said["sentence"].startswith(f"Postgres has not answered since {told['ledgerDownSince']}") and "no Job starts until it is back" in said["sentence"]
    other = job("other", None, {"cpu": "1"}, seconds=0)
    whole.api.post(jobs_path(world.ns), other)
    world.finished("other")  # the cluster itself has had time to do all that a start takes
    assert world.get("waits")["spec"]["suspend"]
    assert not world.get("runs")["spec"]["suspend"] and world.get("runs")["status"]["active"] == 1
    whole.start(POSTGRES)
    wait_leading(whole, timeout=RECOVERY)
    world.finished("waits")
    assert "runs" in [h[0] for h in world.holds()]
    world.finish("runs")
    world.empty()


def test_a_job_that_ends_while_postgres_is_away_is_settled_when_it_is_back(whole):
    world = World(whole, f"settle{next(_numbers)}-{os.getpid() % 1000}")
    world.queue(cpu=2)
    world.job("ends")
    world.started("ends")
    wait_until("the start to be in the books", lambda: "COMMIT" in world.transfers("ends"), SOON)
    whole.process(POSTGRES).stop()
    wait_until("/readyz to say so", lambda: "ledger is not connected" in readyz(whole)[1], LATER, whole.process(CONTROLLER))
    world.delete("ends")
    whole.start(POSTGRES)
    wait_leading(whole, timeout=RECOVERY)
    world.empty(RECOVERY)
    assert whole.sql(f"select reason, stopped_at is not null from sluice.segment where ns = '{world.ns}'") == [["Deleted", "t"]]


def created(world, name):
    """A Job that was made, now or before: an API server that has just begun may refuse it, or make it and not say so."""
    try:
        return world.job(name, seconds=0)
    except ApiError as e:
        if e.reason != "AlreadyExists":
            raise
        return world.get(name)


def test_when_the_api_server_is_back_the_watches_go_on(whole):
    world = World(whole, f"noapi{next(_numbers)}-{os.getpid() % 1000}")
    world.queue(cpu=1)
    world.job("before")
    world.started("before")
    log = whole.process(CONTROLLER).log
    size = log.stat().st_size
    whole.crash(API)
    wait_until("the controller to notice", lambda: log.stat().st_size > size, LATER, whole.process(CONTROLLER))
    whole.start(API)
    whole.wait_ready(API)
    wait_until("the API server to take a Job", lambda: created(world, "after"), SOON)
    world.finish("before")
    world.finished("after", timeout=RECOVERY)
    world.edit_queue("q", resourceGroups=[group(["cpu"], {world.full("any-q"): [5]})])
    world.wait_queue("q", lambda q: q["flavors"][0]["resources"][0]["nominal"] == "5", "to be watched as well", RECOVERY)
    world.empty()
