"""Drills on what operators lose: a database that fails over, a backup that is a day old, an etcd that
goes back. docs/restore.md tells a person the same steps.

After each: no Job that fits was stopped, no more ran than the quota has, the ledger's sums are right,
and Jobs start again. The Postgres is a real pair (sandbox/pair.py), one of each drill's own."""

import itertools
import json
import threading
import time

import pytest
from checks import look
from conftest import LATER, RECOVERY, SOON, USUAL_FLAGS, World, own_plane, readyz, start_controller, wait_leading
from objects import HOLD, annotations, jobs_path, story
from sandbox import etcd, wait_until
from sandbox.audit import PodFollow
from sandbox.pair import Pair
from sandbox.process import tail

ONE = "controller-one"
DEPOSED, ANEW = 3, 5  # exit codes after which a kubelet starts it again
# The usual lease of three seconds would be lost to a standby by a leader that a busy machine holds up for so long.
FLAGS = ("--lease-seconds", "30", "--settle-after-failover", "3s")  # a minute by default
CPU = 8

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def place():
    """A control plane whose parts may be put back."""
    with own_plane("restore") as box:
        yield box


class Kubelet(threading.Thread):
    """Starts the controller again when it ended because it must, as the kubelet does."""

    def __init__(self, box):
        super().__init__(daemon=True)
        self.box, self.over, self.codes = box, threading.Event(), []
        self.start()

    def run(self):
        proc = self.box.process(ONE)
        while not self.over.wait(0.1):
            if not proc.alive():
                self.codes.append(proc.code())
                if self.codes[-1] in (DEPOSED, ANEW):
                    self.box.start(ONE)
                else:
                    return

    def end(self):
        self.over.set()
        self.join()
        assert set(self.codes) <= {DEPOSED, ANEW}, (self.codes, tail(self.box.process(ONE).log, 60))


class Place(World):
    """Whose controller may end on the way."""

    def controller(self):
        return None


class Scene:
    """A queue of CPU cores, Jobs of one core that run long, and what becomes of them."""

    def __init__(self, box):
        self.box, self.world = box, Place(box, f"drill{next(_numbers)}-{int(time.time()) % 1000}")
        self.queue_name = self.world.queue(cpu=CPU)
        self.pods = PodFollow(box.api, _AnyJobOf(self.world.ns, self.queue_name), False)
        self.pods.start()
        self.pods.listed.wait(SOON)

    def run(self, *names):
        """They run, and the ledger knows it."""
        for name in names:
            self.world.job(name)
        self.world.started(*names)
        self.world.wait("the starts to be in the books", lambda: {h[0] for h in self.world.holds() if h[2] == "posted"} >= set(names))

    def remember(self, *names):
        """What must be the same afterwards: the very pods."""
        self.before = {n: self.picture(n) for n in names}

    def picture(self, name):
        self.world.wait(f"the pods of {name} to run", lambda: self.world.all_running(name))
        return story(self.world.get(name))["attempt"], sorted(p["metadata"]["uid"] for p in self.world.pods(name))

    def unharmed(self):
        """Those go on, in the same pods, and each has its reservation."""
        for name, before in self.before.items():
            assert not self.world.get(name)["spec"]["suspend"], f"{name} was stopped: {story(self.world.get(name))}"
            assert self.picture(name) == before, f"{name} was stopped and started anew"
        self.world.wait("each to have its reservation", lambda: {h[0] for h in self.world.holds() if h[2] == "posted"} >= set(self.before), LATER)

    def started_once(self, *names):
        """None was stopped and started anew. A start that never landed (its leader was killed on the way to it) may have been void."""
        told = {n: self.world.transfers(n) for n in names}
        assert all(kinds.count("COMMIT") <= 1 and "STOP" not in kinds for kinds in told.values()), told

    def right(self):
        """Sums and pods beside the ledger; and at no moment more than the quota."""
        faults = look(self.box, self.world.ns)
        assert not faults, faults
        peak = self.pods.peak[(self.queue_name, "any", "cpu")]
        assert 0 < peak <= CPU * 1000, f"pods for {peak} m of {CPU} cores at once"

    def next_start(self, name="next"):
        """Seconds until a new Job runs."""
        began = time.monotonic()
        self.world.job(name)
        self.world.wait_job(name, "to be started", lambda j: not j["spec"]["suspend"], RECOVERY)
        return time.monotonic() - began

    def told(self, kind):
        return int(self.box.sql(f"select count(*) from sluice.transfer where kind::text = '{kind}'")[0][0])

    def adopted(self):
        """Reservations that were written anew by what the Jobs tell."""
        return int(self.box.sql("select count(*) from sluice.transfer where reason = 'Adopted'")[0][0])

    def end(self):
        self.pods.stopped = True
        self.world.end()


class _AnyJobOf:
    """{(namespace, Job): queue} for PodFollow, of Jobs that are yet to come."""

    def __init__(self, ns, queue):
        self.ns, self.queue = ns, queue

    def get(self, key):
        return self.queue if key[0] == self.ns else None


@pytest.fixture
def pair(place, request):
    pair = Pair(place)
    pair.up(synchronous=request.node.get_closest_marker("synchronous") is not None)
    yield pair
    pair.down()


@pytest.fixture
def kubelet(place, pair):
    """The controller leads, and is kept up."""
    for component in place.controllers():
        place.process(component).stop()  # of a run that was interrupted, as are the Jobs
    for job in place.api.list("/apis/batch/v1/jobs"):
        place.api.delete(jobs_path(job["metadata"]["namespace"], job["metadata"]["name"]) + "?propagationPolicy=Background")
    wait_until("the Jobs of the last drill to be gone", lambda: not place.api.list("/apis/batch/v1/jobs"), LATER)
    start_controller(place, extra=FLAGS)
    leads(place)
    kubelet = Kubelet(place)
    yield kubelet
    kubelet.end()
    assert place.process(ONE).stop() == "ended"


@pytest.fixture
def scene(place, kubelet):
    scene = Scene(place)
    yield scene
    scene.end()


def leads(box):
    """Whatever process that is: it may be a new one. Its log is shown when none does."""
    try:
        return wait_until("the controller to lead", lambda: readyz(box)[1].startswith("leading"), RECOVERY)
    except Exception as e:
        raise AssertionError(f"{e}\n{tail(box.process(ONE).log, 30)}") from None


# ---- Postgres fails over -----------------------------------------------------------------------


@pytest.mark.synchronous
def test_failover_to_a_synchronous_standby_loses_nothing(place, pair, scene):
    world = scene.world
    scene.run("r1", "r2", "r3")
    scene.remember("r1", "r2", "r3")
    short = [f"s{i}" for i in range(12)]
    for name in short:
        world.job(name, seconds=1)
    wait_until("some of them to be through", lambda: scene.told("RELEASE") >= 5, LATER)
    pair.crash()
    began = time.monotonic()
    seen = int(pair.sql("select count(*) from sluice.transfer", node="b")[0][0])
    pair.promote()
    promoted = time.monotonic()
    wait_until("starts to go on", lambda: int(pair.sql("select count(*) from sluice.transfer")[0][0]) > seen, RECOVERY)
    print(f"\npromoted after {promoted - began:.1f} s; writes go on {time.monotonic() - promoted:.1f} s after that")
    world.finished(*short, timeout=RECOVERY)
    scene.unharmed()
    scene.right()
    scene.started_once(*short)
    assert scene.adopted() == 0, "nothing was missing"
    pair.rejoin()
    pair.be_synchronous()
    print(f"with the old primary as a synchronous standby a new Job starts in {scene.next_start():.1f} s")
    scene.right()


@pytest.mark.parametrize("lacks", [2, 6])
def test_failover_to_a_standby_that_lacks_the_last_batches(place, pair, scene, lacks):
    """A few, and so many that it looks as if the ledger were lost."""
    world = scene.world
    early, late = ["ends", *(f"e{i}" for i in range(CPU - 1 - lacks))], [f"l{i}" for i in range(lacks)]
    scene.run(*early)
    pair.lag()
    scene.run(*late)
    world.job("waits")
    world.waits("waits")
    scene.remember(*early[1:], *late)
    pair.crash()
    pair.start(pair.standby)  # asked before it takes writes: what is missing is soon written anew
    there = {row[0] for row in pair.sql(f"select name from sluice.hold where ns = '{world.ns}'", node=pair.standby)}
    assert {*early, *late} - there == set(late), "the drill is none: the standby had all of it"
    began = time.monotonic()
    pair.promote()
    promoted = time.monotonic()
    world.wait("the ledger to have what runs", lambda: {h[0] for h in world.holds()} == {*early, *late}, RECOVERY)
    print(f"\npromoted after {promoted - began:.1f} s; all is in the books {time.monotonic() - promoted:.1f} s after that")
    assert scene.adopted() == lacks
    wait_until("the log to say it", lambda: "adopted" in place.process(ONE).log.read_text(errors="replace"), SOON)
    leads(place)
    scene.unharmed()
    assert world.get("waits")["spec"]["suspend"], "there was no room for it"
    world.finish("ends")
    world.wait_job("waits", "to be started", lambda j: not j["spec"]["suspend"], RECOVERY)
    scene.unharmed()
    scene.right()


@pytest.mark.synchronous
def test_a_synchronous_standby_that_is_away_stops_starts_and_no_job(place, pair, scene, program):
    """The price of losing nothing: docs/operate.md says why there should be two. The doctor tells of each state."""
    world = scene.world
    scene.run("r1", "r2")
    scene.remember("r1", "r2")
    verdict, said = replication(place, program)
    assert verdict == "ok", said
    pair.lag()
    world.job("waits")

    def falls_silent():
        """For a moment at a time: each new connection answers until something is to be committed."""
        return any(readyz(place)[0] == 503 or time.sleep(0.05) for _ in range(20))
    wait_until("/readyz to say that the ledger does not answer", falls_silent, LATER)
    verdict, said = replication(place, program)
    assert verdict == "fail" and "no standby is connected: each commit waits until one is, so nothing starts" in said
    assert world.get("waits")["spec"]["suspend"]
    pair.start(pair.standby)
    began = time.monotonic()
    world.started("waits", timeout=RECOVERY)
    print(f"\nstarts go on {time.monotonic() - began:.1f} s after the standby is back")
    pair.sql("alter system reset synchronous_standby_names", "postgres")
    pair.sql("select pg_reload_conf()", "postgres")
    wait_until("the setting to be gone", lambda: pair.sql("show synchronous_standby_names") == [[""]], SOON)
    verdict, said = replication(place, program)
    assert verdict == "warn" and "after a failover the ledger lacks the last transactions" in said
    scene.unharmed()
    scene.right()


def replication(box, program):
    """What the doctor says of it: (verdict, text)."""
    done = program("sluice", "doctor", "--kubeconfig", box.kubeconfig, "--database", box.database, "--settle", "0s", "-o", "json")
    check = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "replication")
    return check["verdict"], " ".join([check.get("detail") or "", *(f["text"] for f in check["findings"])])


# ---- a backup is put back ----------------------------------------------------------------------


@pytest.mark.parametrize("how", ["base backup, the controller is up", "dump, the controller is stopped"])
def test_yesterdays_backup(place, pair, scene, how, kubelet):
    """What started since is written into the ledger anew, what ended since is settled."""
    world, base = scene.world, how.startswith("base")
    scene.run("ended", "stays", "ended-too")
    pair.backup("yesterday") if base else pair.dump("yesterday")
    world.finish("ended", "ended-too")
    world.finished("ended", "ended-too")
    late = [f"l{i}" for i in range(CPU - 1)]
    scene.run(*late)
    scene.remember("stays", *late)
    if base:
        pair.restore("yesterday")
    else:
        kubelet.end()
        assert place.process(ONE).stop() == "ended"
        wait_until("its connections to be gone", lambda: pair.sql(
            "select count(*) from pg_stat_activity where datname = 'sluice'", "postgres") == [["0"]], SOON)
        pair.restore_dump("yesterday")
        place.start(ONE)
    began = time.monotonic()
    world.job("waits")
    world.wait("the ledger to have what runs", lambda: {h[0] for h in world.holds()} == {"stays", *late}, RECOVERY)
    print(f"\nall is in the books {time.monotonic() - began:.1f} s after the restore")
    assert scene.adopted() == len(late)
    leads(place)
    scene.unharmed()
    world.waits("waits")
    world.finish("l0")
    world.wait_job("waits", "to be started", lambda j: not j["spec"]["suspend"], RECOVERY)
    del scene.before["l0"]
    scene.unharmed()
    scene.right()


# ---- rights are taken away, and given back -----------------------------------------------------


RIGHTS = {"balances": ("update on sluice.balance", "permission denied for table balance"),
          "reservations": ("insert, update, delete on sluice.hold", "permission denied for table hold"),
          "the schema": ("usage on schema sluice", "permission denied for schema sluice")}


@pytest.mark.parametrize("what", RIGHTS)
def test_rights_in_the_ledger_that_are_taken_away_and_given_back(place, pair, scene, what):
    """A hand that tidied up the roles: it is said, nothing is lost, and it goes on by itself."""
    world = scene.world
    right, said = RIGHTS[what]
    scene.run("stays", "ends")
    scene.remember("stays")
    pair.sql(f"revoke {right} from sluice")
    world.job("waits")
    world.finish("ends")
    log = place.process(ONE).log
    wait_until("the log to say it", lambda: said in log.read_text(errors="replace"), LATER)
    wait_until("/readyz to say it", lambda: said in readyz(place)[1], SOON)
    assert world.get("waits")["spec"]["suspend"]
    pair.sql(f"grant {right} to sluice")
    began = time.monotonic()
    world.started("waits", timeout=RECOVERY)
    print(f"\nstarts go on {time.monotonic() - began:.1f} s after the right is back")
    world.wait("the end to be in the books", lambda: "ends" not in {h[0] for h in world.holds()}, LATER)
    scene.unharmed()
    scene.right()


def test_the_right_to_patch_jobs_that_is_taken_away_and_given_back(place, kubelet, scene):
    """No start and no stop lands meanwhile; no Job is put on hold for it."""
    world, path = scene.world, "/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice-controller"
    scene.run("runs")
    log, number = place.process(ONE).log, itertools.count(1)
    rules = place.api.get(path)["rules"]
    place.api.patch(path, {"rules": [{**r, "verbs": [v for v in r["verbs"] if v != "patch"]} if r["resources"] == ["jobs"] else r for r in rules]})

    def suspended():
        return [j["metadata"]["name"] for j in place.api.list(jobs_path(world.ns)) if j["spec"]["suspend"]]

    def refused():  # the authorizer learns of it a moment later: what comes before starts
        world.job(f"new{next(number)}", cpu="100m")
        time.sleep(0.3)
        return suspended() and "cannot patch resource" in log.read_text(errors="replace")
    try:
        wait_until("a start to be refused", refused, LATER)
        waiting = suspended()
        world.edit_queue(stopPolicy="HoldAndDrain")
        world.wait("the stop of what runs to be tried", lambda: "stopping: " in world.explain("runs")["sentence"], LATER)
        assert not world.get("runs")["spec"]["suspend"]
    finally:
        place.api.patch(path, {"rules": rules})
    began = time.monotonic()
    world.stopped("runs", timeout=RECOVERY)
    world.edit_queue(stopPolicy="None")
    world.started("runs", *waiting, timeout=RECOVERY)
    print(f"\nall go on {time.monotonic() - began:.1f} s after the right is back")
    assert not [n for n in waiting if HOLD in annotations(world.get(n))]
    scene.right()


# ---- etcd is put back --------------------------------------------------------------------------


@pytest.mark.parametrize("bump, controller", [(True, "left alone"), (False, "left alone"), (False, "restarted")],
                         ids=["later revisions", "same revisions", "same revisions and a restart"])
def test_etcd_of_an_older_snapshot(place, scene, kubelet, bump, controller):
    """Jobs that started, ended or were made after the snapshot: the ledger knows of that, the API server no more."""
    world = scene.world
    scene.run("ended-since", "stays")
    scene.remember("stays")
    world.edit_queue(stopPolicy="Hold")
    world.wait_queue("q", lambda q: not q["active"], "to be on hold")
    world.job("started-since")
    world.waits("started-since")
    etcd.save(place, "older")
    world.edit_queue(stopPolicy="None")
    world.started("started-since")
    world.finish("ended-since")
    world.finished("ended-since")
    scene.run("made-since")
    world.wait("the end to be in the books", lambda: "ended-since" not in {h[0] for h in world.holds()})
    if controller == "restarted":
        kubelet.end()
        assert place.process(ONE).stop() == "ended"
    else:
        start_controller(place, "two", extra=FLAGS)
        wait_until("the second to stand by", lambda: readyz(place, "controller-two")[1].startswith("standby"), LATER)
    etcd.restore(place, "older", bump)
    began = time.monotonic()
    if controller == "restarted":
        place.start(ONE)
    leads(place)
    world.edit_queue(stopPolicy="None")
    scene.next_start()
    print(f"\na new Job starts {time.monotonic() - began:.1f} s after the API server is back")
    # What the API server shows is what runs, and each has its reservation; of what was made since there is nothing.
    now = {"stays", "ended-since", "started-since", "next"}
    world.wait("all to be as the API server has it", lambda: {h[0] for h in world.holds() if h[2] == "posted"} == now
               and len(world.holds()) == len(now), LATER)
    world.started(*now)
    scene.unharmed()
    scene.right()
    assert kubelet.codes == ([] if controller == "restarted" else [ANEW]), kubelet.codes
    if controller != "restarted":  # nor does one that stands by go by what it knew
        assert "store-went-back" in place.process(ONE).log.read_text(errors="replace")
        two = place.process("controller-two")
        wait_until("the second to end", lambda: not two.alive(), LATER)
        assert two.code() == ANEW


# ---- clocks ------------------------------------------------------------------------------------


AHEAD = ("--clock-offset", "+3600s")


def test_two_controllers_with_clocks_an_hour_apart(place, pair, kubelet, scene):
    """The lease goes by the database's clock, so it is theirs in turn; what one started the other ends, and no bill is negative."""
    world = scene.world
    scene.run("stays", "ends-later")
    scene.remember("stays")
    start_controller(place, "two", extra=(*FLAGS, *AHEAD))
    kubelet.end()
    place.kill(ONE)
    wait_leading(place, "controller-two")
    world.finish("ends-later")
    world.job("ends-earlier")
    world.started("ends-earlier")
    world.wait("both to be in the books", lambda: [h[0] for h in world.holds() if h[2] == "posted"] in (["stays", "ends-earlier"], ["ends-earlier", "stays"]), LATER)
    place.start(ONE)
    wait_until("the first to stand by", lambda: readyz(place)[1].startswith("standby"), LATER, place.process(ONE))
    assert place.process("controller-two").stop() == "ended"
    leads(place)
    world.finish("ends-earlier")
    print(f"\na new Job starts after {scene.next_start():.1f} s")
    world.wait("the end to be in the books", lambda: {h[0] for h in world.holds()} == {"stays", "next"}, LATER)
    rows = pair.sql(f"select name, run_seconds::float, coalesce(cost, 0)::float, lost_seconds::float from sluice.cost where namespace = '{world.ns}'")
    assert {r[0] for r in rows} == {"ends-later", "ends-earlier"} and all(float(x) >= 0 for r in rows for x in r[1:]), rows
    scene.unharmed()
    scene.right()


def test_a_database_clock_that_was_set_back_while_nobody_led(place, pair, kubelet, scene):
    """The lease of a leader that is gone ends an hour from now, and behind a pooler no lock tells that it is gone."""
    scene.run("stays")
    scene.remember("stays")
    kubelet.end()
    place.kill(ONE)
    pair.sql("update sluice.lease set expires_at = now() + interval '1 hour', session_lock = null")
    began = time.monotonic()
    start_controller(place, extra=(*FLAGS, *USUAL_FLAGS))  # a lease that stands still is taken after twice its length
    leads(place)
    took = time.monotonic() - began
    print(f"\na controller leads after {took:.1f} s")
    scene.next_start()
    scene.unharmed()
    scene.right()
