"""The agent of nodes (sluice-node): in a pod of the real node, on the cgroups of a real kubelet; and agents that are played, on
nodes that kwok plays, for what a controller makes of what they say.

On the real node all is as an admin has it, from a Job in a queue on idle resources to the files of its cgroups. One thing is
played: how busy the machine is. /proc/stat of the agent says what the node's own pods use, as if nothing else ran here; the rest
of the machine is other tests.

Every write of the agent to a cgroup is recorded, and one outside the folders of lent pods fails the test during which it was."""

import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import LATER, SOON, USUAL_FLAGS, World, as_account, own_plane, start_controller, wait_leading
from objects import KUBERNETES, NEWEST, group, ours, searched, story, terminal
from sandbox import ApiError, agents, real_node, wait_until
from sandbox.cgroup_writes import CgroupWrites
from sandbox.sandbox import ROOT
from test_overcommit import CONFIGMAP, IGNORE
from test_real_node import RealWorld
from test_upgrade import THERE, need_before

BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
# The node is for the agent's word alone, and nothing is taken back by itself: what is tested is what the agent does.
CONFIG = {"enable": True, "usageSource": "agent", "metricAggregateDurationSeconds": 1, "metricReportIntervalSeconds": 6, "raiseWindowSeconds": 1,
          "cpuReclaimThresholdPercent": 90, "memoryReclaimThresholdPercent": 90, "reclaim": False, "memoryHoldPercent": 99, "memoryEndPercent": 100}
CALM_SECONDS = 11  # after a pod was let go: the agent looks once a second again
LOOP = "while :; do :; done"
BOMB = "sleep 1; a=x; while :; do a=$a$a; done"
GROUP_FILE = {"quota": "cpu/{}/cpu.cfs_quota_us", "shares": "cpu/{}/cpu.shares", "memory": "memory/{}/memory.limit_in_bytes", "used": "cpuacct/{}/cpuacct.usage"}
# The first thing that a container does: it says when it is, and what stands in the cgroup of its pod.
LOOKS = """\
cut -d' ' -f1 /proc/uptime
cat /cgroup/cpu/$POD/cpu.cfs_quota_us /cgroup/memory/$POD/memory.limit_in_bytes /cgroup/cpu/$POD/cpu.shares
"""

pytestmark = pytest.mark.timeout(1500)
_numbers = itertools.count(1)


def configure(api, **fields):
    """kube-system/ack-slo-config."""
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ack-slo-config"},
           "data": {"colocation-config": json.dumps({**CONFIG, **fields})}}
    if api.ensure(CONFIGMAP, obj) is None:
        api.patch(f"{CONFIGMAP}/ack-slo-config", {"data": obj["data"]})


# ---- the real node ----------------------------------------------------------------------------------


class Agent:
    """The one of the real node, seen from outside."""

    def __init__(self, box):
        self.box = box

    def pid(self):
        """As this machine counts; None: it does not run."""
        for pid in self.box.real_node.pids():
            try:
                if Path(f"/proc/{pid}/comm").read_text().strip() == "sluice-node":
                    return int(pid)
            except OSError:
                pass  # gone meanwhile
        return None

    def log(self):
        """[{event, ...}] of the container that runs."""
        (pod,) = agents.running(self.box)
        text = self.box.api.raw("GET", f"{agents.PODS}/{pod['metadata']['name']}/log").decode()
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def count(self, event):
        return sum(line["event"] == event for line in self.log())


@pytest.fixture(scope="module")
def place():
    why = real_node.lacks()
    if not why and KUBERNETES < NEWEST:
        why = f"the kubelet of Kubernetes 1.{NEWEST} is for no older control plane"
    if why:
        pytest.skip(why)
    with own_plane("agent", with_real_node=True, agents=True) as box:
        start_controller(box)
        wait_leading(box)
        configure(box.api)
        alone = agents.AloneOnTheMachine(box)
        try:
            box.agent, box.alone = Agent(box), alone
            alone.show_to_agent()
            yield box
        finally:
            alone.end()


class LentWorld(RealWorld):
    """With Jobs on what the real node lends."""

    def __init__(self, box, writes):
        super().__init__(box, f"agent-{next(_numbers)}")
        self.writes = writes
        self.cgroups = f"{box.real_node.cgroup}/kubepods/besteffort"
        self.create("resourceflavors", ours("ResourceFlavor", self.full("idle"), {
            "idlePool": {"names": "Batch", "share": "100%"}, "nodeLabels": {"pool": real_node.POOL}, "tolerations": [real_node.TOLERATION]}))
        self.queue(groups=[group(["cpu", "memory"], {self.full("idle"): ["1", "1Gi"]})])

    def lent(self, name, script, cpu="100", memory="64Mi", env=(), **kw):
        asked = {BATCH_CPU: cpu, BATCH_MEMORY: memory}
        env = [{"name": "UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}, {"name": "POD", "value": f"{self.cgroups}/pod$(UID)"}, *env]
        return self.job(name, cpu=None, container={"image": real_node.IMAGE, "command": ["sh", "-c", script], "env": env, "resources": {"requests": asked, "limits": asked},
                                                   "volumeMounts": [{"name": "cgroup", "mountPath": "/cgroup", "readOnly": True}]},
                        pod={"terminationGracePeriodSeconds": 0, "volumes": [{"name": "cgroup", "hostPath": {"path": "/sys/fs/cgroup"}}]}, **kw)

    def ordinary(self, name, script, cpu="100m", pod=None, container=None):
        self.api.post(f"/api/v1/namespaces/{self.ns}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "tolerations": [real_node.TOLERATION], "nodeSelector": {"pool": real_node.POOL},
                **(pod or {}), "containers": [{"name": "work", "image": real_node.IMAGE, "command": ["sh", "-c", script],
                                               "resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}, **(container or {})}]}})
        wait_until(f"{name} to run", lambda: self.pod(name)["status"].get("phase") == "Running", LATER)

    def pod(self, name):
        return self.api.get(f"/api/v1/namespaces/{self.ns}/pods/{name}")

    def one_running(self, name):
        """The uid of its one pod, once that runs."""
        (pod,) = self.running(name)
        return self.pod(pod)["metadata"]["uid"]

    def says(self, what, uid, tier="besteffort"):
        """What a file of the pod's cgroup says; None: it is gone."""
        try:
            return int(Path("/sys/fs/cgroup", GROUP_FILE[what].format(f"{self.box.real_node.cgroup}/kubepods/{tier}/pod{uid}")).read_text())
        except OSError:
            return None

    def written(self, uid, since):
        """When the agent first wrote the pod's quota after that moment, since boot; None: not yet."""
        return next((at for at, path in self.writes.writes() if at > since and path.endswith(f"pod{uid}/cpu.cfs_quota_us")), None)

    def limited(self, uid, cpu, memory):
        """Until these limits stand."""
        self.wait(f"the pod to have {cpu} milli and {memory} bytes", lambda: (self.says("quota", uid), self.says("memory", uid)) == (cpu * 100, memory), SOON)

    @contextmanager
    def before_the_machine(self):
        """What the node runs goes before what else runs here: the other tests. So it has what its own cgroups let it have."""
        shares = Path("/sys/fs/cgroup/cpu", self.box.real_node.cgroup, "cpu.shares")
        before = shares.read_text()
        shares.write_text("262144")
        try:
            yield
        finally:
            shares.write_text(before)

    def uids(self):
        """Of all pods of it that ask for lent resources, however they ended."""
        pods = self.api.list(f"/api/v1/namespaces/{self.ns}/pods")
        return {p["metadata"]["uid"] for p in pods if BATCH_CPU in p["spec"]["containers"][0]["resources"].get("requests", {})}


@pytest.fixture(scope="module")
def writes(place):
    try:
        recorder = CgroupWrites("sluice-node", place.real_node.cgroup)
    except OSError as e:
        pytest.skip(f"this machine does not tell who writes to cgroups: fanotify: {e.strerror}")
    yield recorder
    recorder.end()


@pytest.fixture
def world(place, writes):
    begun = len(writes.writes())
    w = LentWorld(place, writes)
    yield w
    lent = w.uids()
    w.end()
    w.empty()
    made = writes.writes()[begun:]
    outside = [path for _, path in made if not (found := re.search(r"/kubepods/besteffort/pod([0-9a-f-]{36})/", path)) or found[1] not in lent]
    assert not outside, f"the agent wrote what is of no lent pod of this test: {outside}"
    assert made, "the agent wrote nothing at all, or the kernel does not tell of it"
    assert place.process("controller-one").alive(), "the controller ended during this test"


def test_limits_stand_before_the_first_process_of_each_pod_begins(world):
    """The first process looks itself. On a busy machine as well: what is late then is late all together."""
    starts = searched(20, 200)
    world.lent("starts", LOOKS, cpu="100", memory="64Mi", pods=4, completions=starts)
    world.wait_job("starts", "to be done", lambda j: j["status"].get("succeeded") == starts, LATER if starts == 20 else 4 * LATER)
    written = {}  # uid: when its quota was
    for at, path in world.writes.writes():
        if found := re.search(r"/pod([0-9a-f-]{36})/cpu\.cfs_quota_us$", path):
            written.setdefault(found[1], at)
    before, late = [], []
    for pod in world.all_pods("starts"):
        at, *limits = world.log(pod["metadata"]["name"]).split()
        if limits[:2] != ["10000", str(64 << 20)] or pod["metadata"]["uid"] not in written:
            late.append((pod["metadata"]["name"], at, limits))
            continue
        before.append(float(at) - written[pod["metadata"]["uid"]])
    before.sort()
    print(f"\n{len(before)} of {starts} starts had limits before their first process: by {before[0]:.2f} s at least, {before[len(before) // 2]:.2f} s at the median")
    assert not late and len(before) == starts, late


def test_a_busy_loop_gets_what_it_asked_for_and_no_more(world):
    world.lent("loop", LOOP, cpu="300")
    uid = world.one_running("loop")
    world.limited(uid, 300, 64 << 20)
    with world.before_the_machine():
        began, used = time.monotonic(), world.says("used", uid)
        time.sleep(10)  # what is measured
        used, took = (world.says("used", uid) - used) / 1e9, time.monotonic() - began
    print(f"\na loop that asks for 0.3 cores had {used / took:.4f} over {took:.2f} s, with a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    assert used / took <= 0.305  # less, where the machine has less


def test_a_lent_pod_is_held_when_an_ordinary_one_rises_and_let_go_afterwards(world):
    configure(world.api, cpuSuppressThresholdPercent=50)
    state = world.box.real_node.home / "varlib" / f"state-{world.ns}"
    state.mkdir()
    cores = os.cpu_count()
    asked = 400 * cores  # below half of the node
    world.lent("loop", LOOP, cpu=str(asked))
    uid = world.one_running("loop")
    world.limited(uid, asked, 64 << 20)
    world.ordinary("serves", "while :; do if [ -e /state/go ]; then :; else sleep 0.02; fi; done", cpu="500m", pod={
        "volumes": [{"name": "state", "hostPath": {"path": f"/var/lib/state-{world.ns}", "type": "Directory"}}]},
                   container={"volumeMounts": [{"name": "state", "mountPath": "/state"}]})

    def rise_and_let_go(rises, calm):
        took, least = [], asked * 100
        for _ in range(rises):
            wait_until("it to be let go", lambda: world.says("quota", uid) == asked * 100, SOON)
            if calm:  # what is measured; not in step with the agent
                time.sleep(CALM_SECONDS + random.random())
            (state / "go").touch()
            began = time.clock_gettime(time.CLOCK_BOOTTIME)
            held = wait_until("the lent pod to be held", lambda: world.says("quota", uid) < asked * 100 and world.written(uid, began), SOON)
            took.append(held - began)
            least = min(least, world.says("quota", uid))
            (state / "go").unlink()
        wait_until("it to be let go", lambda: world.says("quota", uid) == asked * 100, SOON)
        took.sort()
        print(f"\n{rises} rises{' on a calm node' if calm else ''}: held after {took[rises // 2]:.2f} s at the median, {took[rises * 9 // 10]:.2f} s at the 90th, "
              f"{took[-1]:.2f} s at most; the quota fell from {asked} to {least // 100} milli; load {os.getloadavg()[0]:.1f}")

    with world.before_the_machine():
        rise_and_let_go(searched(3, 50), calm=False)
        if calm := searched(0, 50):
            rise_and_let_go(calm, calm=True)
    configure(world.api)


def test_what_grows_beyond_what_it_asked_for_is_killed_in_its_own_cgroup(world):
    world.ordinary("serves", "while :; do sleep 0.1; done")
    world.lent("quiet", "while :; do sleep 0.1; done")
    quiet = world.one_running("quiet")
    world.lent("bomb", BOMB, memory="48Mi")
    ended = world.wait("the bomb to be killed", lambda: [s["state"]["terminated"] for p in world.all_pods("bomb") for s in p["status"].get("containerStatuses", [])
                                                         if "terminated" in s["state"]], LATER)
    assert ended[0]["reason"] == "OOMKilled" and ended[0]["exitCode"] == 137, ended
    assert world.pod("serves")["status"]["phase"] == "Running" and world.one_running("quiet") == quiet
    for pod in (world.pod("serves"), *world.all_pods("quiet")):
        assert pod["status"]["containerStatuses"][0]["restartCount"] == 0


def test_limits_stay_while_the_agent_is_away_and_it_goes_on_when_it_is_back(world):
    world.lent("before", LOOP, cpu="200")
    uid = world.one_running("before")
    world.limited(uid, 200, 64 << 20)
    was = world.box.agent.pid()
    os.kill(was, signal.SIGKILL)

    def back():
        assert (world.says("quota", uid), world.says("memory", uid)) == (20000, 64 << 20), "a limit went with the agent"
        return world.box.agent.pid() not in (None, was)
    world.wait("another agent to run", back, LATER)
    world.lent("after", LOOP, cpu="150")
    world.limited(world.one_running("after"), 150, 64 << 20)
    assert world.says("quota", uid) == 20000


def no_leader(agent):
    return agent.count("no leader")


def stop_controller(box):
    assert box.process("controller-one").stop() in ("ended", "was not running")


def lead_again(box):
    """As before, and the agent has found it."""
    known = box.agent.count("leader")
    start_controller(box)
    wait_leading(box)
    wait_until("the agent to find the leader", lambda: box.agent.count("leader") > known, LATER)


def goes_on(world, uid):
    """What has limits keeps them, and what starts gets them."""
    assert (world.says("quota", uid), world.says("memory", uid)) == (20000, 64 << 20)
    world.lent("after", LOOP, cpu="150")
    world.limited(world.one_running("after"), 150, 64 << 20)


@pytest.fixture
def limited(world):
    """The uid of a lent pod that has its limits."""
    world.lent("before", LOOP, cpu="200")
    uid = world.one_running("before")
    world.limited(uid, 200, 64 << 20)
    return uid


def test_a_controller_that_goes_back_to_the_version_before_leaves_limits_and_agents_alone(world, limited):
    """It knows no agents: ConfigMap sluice-nodes names a leader that is gone, and they wait for the next one."""
    box = world.box
    need_before()
    was, missed = box.agent.pid(), no_leader(box.agent)
    stop_controller(box)
    wait_until("the agent to miss the leader", lambda: no_leader(box.agent) > missed, LATER)
    box.start_controller("one", binary=THERE / "bin" / "sluice-controller", visibility=False)
    try:
        wait_leading(box)
        world.ordinary("serves", "while :; do sleep 0.1; done")
        world.wait("the older one to know the Job", lambda: box.controller_api().job(world.ns, "before"), SOON)
        assert (world.says("quota", limited), world.says("memory", limited)) == (20000, 64 << 20)
        assert box.agent.pid() == was and no_leader(box.agent) - missed <= 3, "the agent does not wait quietly"
    finally:
        stop_controller(box)
    lead_again(box)
    goes_on(world, limited)


def certificate(folder, ends):
    """Of the leader's address, for --node-cert-file: valid from 2020 to that year."""
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)
    (folder / "ca.cnf").write_text("[ca]\ndefault_ca=x\n[x]\ndatabase=index\nrand_serial=yes\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n"
                                   "[p]\ncommonName=supplied\n[e]\nsubjectAltName=IP:127.0.0.1\nbasicConstraints=CA:false\n")
    (folder / "index").write_text("")
    if not (folder / "node.key").exists():
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "node.key")
    openssl("req", "-new", "-key", "node.key", "-subj", "/CN=nodes", "-out", "node.csr")
    openssl("ca", "-batch", "-selfsign", "-notext", "-config", "ca.cnf", "-keyfile", "node.key", "-in", "node.csr", "-out", "new.crt",
            "-startdate", "20200101000000Z", "-enddate", f"{ends}0101000000Z")
    (folder / "new.crt").rename(folder / "node.crt")


def test_a_certificate_that_has_expired_is_not_believed_until_the_next_one_lies_there(world, limited, tmp_path):
    box = world.box
    certificate(tmp_path, 2021)
    missed = no_leader(box.agent)
    stop_controller(box)
    start_controller(box, extra=(*USUAL_FLAGS, "--node-cert-file", str(tmp_path / "node.crt"), "--node-key-file", str(tmp_path / "node.key")))
    try:
        wait_leading(box)
        wait_until("the agent to say why", lambda: any("expired" in line.get("why", "") for line in box.agent.log() if line["event"] == "no leader"), LATER)
        assert no_leader(box.agent) > missed and (world.says("quota", limited), world.says("memory", limited)) == (20000, 64 << 20)
        known = box.agent.count("leader")
        certificate(tmp_path, 2049)
        wait_until("the agent to find the leader", lambda: box.agent.count("leader") > known, LATER)
        goes_on(world, limited)
    finally:
        stop_controller(box)
        lead_again(box)


def test_a_token_that_is_good_no_more_is_refused_and_the_next_pod_of_the_agent_goes_on(world, limited):
    """The ServiceAccount is made anew, as by an apply after a delete: the tokens of before are nothing now."""
    box = world.box
    account = f"/api/v1/namespaces/{agents.NAMESPACE}/serviceaccounts/{agents.NAME}"
    stop_controller(box)
    box.api.delete(account)
    box.api.post(account.rpartition("/")[0], {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": agents.NAME}})
    start_controller(box)
    wait_leading(box)
    wait_until("the agent to be refused", lambda: any("401" in line.get("why", "") for line in box.agent.log() if line["event"] == "no leader"), LATER)
    assert (world.says("quota", limited), world.says("memory", limited)) == (20000, 64 << 20)
    (pod,) = agents.running(box)
    box.api.delete(f"{agents.PODS}/{pod['metadata']['name']}")
    wait_until("the next one to run", lambda: [p for p in agents.running(box) if p["metadata"]["uid"] != pod["metadata"]["uid"]], LATER)
    wait_until("it to find the leader", lambda: box.agent.count("leader") > 0, LATER)
    goes_on(world, limited)


def test_a_namespace_of_agents_that_is_deleted_and_applied_again(world, limited):
    box = world.box
    box.api.delete(f"/api/v1/namespaces/{agents.NAMESPACE}")

    def gone():
        assert (world.says("quota", limited), world.says("memory", limited)) == (20000, 64 << 20), "a limit went with the agent"
        return not any(n["metadata"]["name"] == agents.NAMESPACE for n in box.api.list("/api/v1/namespaces"))
    wait_until("the namespace to be gone", gone, LATER)
    assert box.agent.pid() is None
    agents.install(box)
    box.alone.show_to_agent()
    wait_until("the agent to find the leader", lambda: box.agent.count("leader") > 0, LATER)
    goes_on(world, limited)


def test_what_an_agent_left_behind_is_lifted_by_the_pod_of_the_page(world, limited):
    """docs/trouble.md; but for the node's cgroups, which lie elsewhere here."""
    box = world.box
    (agent,) = agents.running(box)
    box.api.delete(f"/apis/apps/v1/namespaces/{agents.NAMESPACE}/daemonsets/{agents.NAME}?propagationPolicy=Background")
    wait_until("the agent to be gone", lambda: box.agent.pid() is None and not agents.running(box), LATER)
    assert (world.says("quota", limited), world.says("memory", limited)) == (20000, 64 << 20)
    page = (ROOT / "docs" / "trouble.md").read_text()
    text = re.search(r"^```yaml\n([^`]*--lift.*?)^```", page, re.M | re.S)[1]
    for what, value in (("NODE", agent["spec"]["nodeName"]), ("IMAGE", agent["spec"]["containers"][0]["image"]), ("/sys/fs/cgroup/kubepods.slice", "/sys/fs/cgroup"),
                        ("/cgroup/kubepods.slice", "/cgroup"), ("--cgroups=/cgroup", f"--cgroups=/cgroup, --tier={world.cgroups}")):
        assert what in text
        text = text.replace(what, value)
    pod = f"{agents.PODS}/lift"
    box.api.raw("PATCH", f"{pod}?fieldManager=test&fieldValidation=Strict", text.encode(), "application/apply-patch+yaml")
    wait_until("it to be done", lambda: box.api.get(pod)["status"].get("phase") == "Succeeded", LATER)
    assert world.says("quota", limited) == -1 and world.says("memory", limited) > 1 << 60
    box.api.delete(f"{pod}?gracePeriodSeconds=0")
    agents.install(box)
    box.alone.show_to_agent()
    world.limited(limited, 200, 64 << 20)
    goes_on(world, limited)


def test_limits_stay_while_no_controller_leads_and_new_pods_get_theirs_when_one_does(world, limited):
    box, uid = world.box, limited
    world.ordinary("serves", "while :; do sleep 0.1; done")
    missed = no_leader(box.agent)
    stop_controller(box)
    wait_until("the agent to miss the leader", lambda: no_leader(box.agent) > missed, LATER)
    seconds = searched(5, 600)
    with world.before_the_machine():
        began, used = time.monotonic(), world.says("used", uid)
        while (took := time.monotonic() - began) < seconds:
            assert (world.says("quota", uid), world.says("memory", uid)) == (20000, 64 << 20), f"a limit went {took:.1f} s after the controller"
            time.sleep(0.2)
        had = (world.says("used", uid) - used) / 1e9 / took
    print(f"\n{took:.0f} s without a controller: a loop that asks for 0.2 cores had {had:.3f}, its limits stood at each look")
    assert 0.05 < had <= 0.205  # less, where the machine has less
    serves = world.pod("serves")
    assert serves["status"]["phase"] == "Running" and serves["status"]["containerStatuses"][0]["restartCount"] == 0
    assert world.says("quota", serves["metadata"]["uid"], "burstable") == -1
    lead_again(box)
    goes_on(world, uid)


# ---- played agents ----------------------------------------------------------------------------------

CPU, MEMORY = 32000, 128 << 30  # of each node that kwok plays


class PlayedAgent:
    """Speaks for a node of kwok's, with a token that names it: as the agent would."""

    def __init__(self, box, node):
        self.box, self.node, self.number = box, node, 0
        self.boot = str(uuid.uuid4())
        name = f"played-{node}-{self.boot[:8]}"
        made = box.api.post(agents.PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "nodeName": node, "serviceAccountName": agents.NAME, "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "agent", "image": "sluice-node"}]}})
        self.pod = f"{agents.PODS}/{name}"
        answer = box.api.post(f"/api/v1/namespaces/{agents.NAMESPACE}/serviceaccounts/{agents.NAME}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["sluice-node"], "boundObjectRef": {
                "apiVersion": "v1", "kind": "Pod", "name": name, "uid": made["metadata"]["uid"]}}})
        self.token = answer["status"]["token"]
        self.used = {"cpu": 1000, "memory": 8 << 30}
        self.over, self.lock, self.thread = threading.Event(), threading.Lock(), None

    def ask(self, method, path, body=None):
        """(status, what it says), of the leader that the ConfigMap names, by its certificate alone."""
        data = self.box.api.get(agents.RENDEZVOUS).get("data", {})
        if "address" not in data:
            raise ConnectionError("the ConfigMap names no leader yet")
        host, _, port = data["address"].rpartition(":")
        connection = http.client.HTTPSConnection(host, int(port), timeout=60, context=ssl.create_default_context(cadata=data["certificate"]))
        try:
            connection.request(method, path, body if isinstance(body, bytes) else body and json.dumps(body), {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def stays(self):
        """Another run of it, with a connection that is kept, as the agent has one: a function that tells the next sample."""
        data, boot, numbers = self.box.api.get(agents.RENDEZVOUS)["data"], str(uuid.uuid4()), itertools.count(1)
        host, _, port = data["address"].rpartition(":")
        connection = http.client.HTTPSConnection(host, int(port), timeout=LATER, context=ssl.create_default_context(cadata=data["certificate"]))
        connection.connect()
        connection.auto_open = 0  # one that is cut is not opened again

        def tell():
            body = {"boot": boot, "number": next(numbers), "window_ms": 1000, **self.used}
            connection.request("POST", "/v1/node/sample", json.dumps(body), {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        return tell

    def orders(self):
        status, text = self.ask("GET", "/v1/node/orders?have=0")
        if status != 200:
            raise ConnectionError(f"{status} {text}")
        return json.loads(text)

    def tell(self, deeds=(), pods=()):
        self.number += 1
        used = dict(self.used)
        return self.ask("POST", "/v1/node/sample", {
            "boot": self.boot, "number": self.number, "window_ms": 1000, **used, "memory_total": MEMORY, "memory_available": MEMORY - used["memory"],
            "pods": list(pods), "deeds": list(deeds)})

    def tells(self):
        """A sample each second, of what is in .used."""
        def go_on():
            while not self.over.wait(1):
                try:
                    with self.lock:
                        self.tell()
                except (OSError, http.client.HTTPException, ApiError):
                    pass  # no leader just now
        self.thread = threading.Thread(target=go_on, daemon=True)
        self.thread.start()
        return self

    def end(self):
        self.over.set()
        if self.thread:
            self.thread.join()
        self.box.api.delete(self.pod + "?gracePeriodSeconds=0")


@pytest.fixture(scope="module")
def played_place():
    with own_plane("played-agents", agents=True) as box:
        start_controller(box)
        wait_leading(box)
        yield box


class PlayedWorld(World):
    every = 0.25

    def __init__(self, box, node):
        super().__init__(box, f"played-{next(_numbers)}")
        self.node = node
        self.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"test.sluice.dev/of": self.ns}}})
        self.agent = PlayedAgent(box, node).tells()
        self.create("resourceflavors", ours("ResourceFlavor", self.full("idle"), {
            "idlePool": {"names": "Batch", "share": "100%"}, "nodeLabels": {"test.sluice.dev/of": self.ns}}))
        self.queue(groups=[group(["cpu", "memory"], {self.full("idle"): ["1", "1Gi"]})])

    def batch(self, name, cpu="4k", memory="4Gi", **kw):
        asked = {BATCH_CPU: cpu, BATCH_MEMORY: memory}
        return self.job(name, cpu=None, container={"resources": {"requests": asked, "limits": asked}}, **kw)

    def one_pod(self, name):
        (pod,) = self.wait(f"a pod of {name} to run", lambda: [p for p in self.pods(name) if p["status"].get("phase") == "Running"], LATER, about=name)
        return pod

    def lends(self):
        return int(self.api.get(f"/api/v1/nodes/{self.node}")["status"]["allocatable"].get(BATCH_CPU, "0").replace("k", "000"))


_nodes = itertools.count()


@pytest.fixture
def played(played_place):
    configure(played_place.api, usageSource="auto", reclaim=True, reclaimCoolDownSeconds=1, cpuReclaimThresholdPercent=65, memoryReclaimThresholdPercent=65,
              memoryHoldPercent=90, memoryEndPercent=96)
    w = PlayedWorld(played_place, f"on-demand-{next(_nodes) % 9}")  # the tenth is for those that speak for another node
    yield w
    w.end()
    w.agent.end()
    assert played_place.process("controller-one").alive(), "the controller ended during this test"


def test_a_node_lends_by_what_its_agent_says_without_a_metrics_server(played):
    """usageSource auto: there is no metrics.k8s.io here at all, so other nodes lend nothing."""
    played.wait("the node to lend", lambda: abs(played.lends() - (CPU * 65 // 100 - 1000)) <= CPU // 100, LATER)
    played.agent.used["cpu"] = 9000
    played.wait("the node to lend less", lambda: abs(played.lends() - (CPU * 65 // 100 - 9000)) <= CPU // 100, LATER)
    others = [n for n in played.api.list("/api/v1/nodes") if n["metadata"]["name"] != played.node]
    assert not any(n["status"]["allocatable"].get(BATCH_CPU, "0") != "0" for n in others)


def test_orders_name_the_lent_pods_of_the_node_and_what_they_ask_for(played):
    played.batch("night", cpu="2k", memory="3Gi")
    pod = played.one_pod("night")
    orders = played.wait("the pod to be in the orders", lambda: (o := played.agent.orders()).get("pods") and o, SOON)
    (named,) = orders["pods"]
    assert (named["uid"], named["cpu"], named["memory"]) == (pod["metadata"]["uid"], 2000, 3 << 30)
    assert (orders["cpu"], orders["memory"], orders["limits"]) == (CPU, MEMORY, True)


def test_an_agent_speaks_for_its_own_node_only(played):
    played.wait("the leader to say where it is", lambda: played.agent.tell()[0] == 204, LATER)
    token, played.agent.token = played.agent.token, "x" + played.agent.token
    assert played.agent.ask("GET", "/v1/node/orders?have=0")[0] == 401
    played.agent.token = played.box.api.post("/api/v1/namespaces/default/serviceaccounts/default/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["sluice-node"]}})["status"]["token"]
    assert played.agent.ask("GET", "/v1/node/orders?have=0")[0] == 403
    played.agent.token = token


def test_what_no_node_can_have_is_refused_and_changes_nothing(played):
    """A stolen agent: all that it may say is of its own node, and no more than that has."""
    played.wait("the node to lend", lambda: played.lends() > 0, LATER)
    agent = played.agent
    with agent.lock:
        honest, lent = dict(agent.used), played.lends()
        for used, status in ({"cpu": 10**18}, 400), ({"memory": 1 << 62}, 400), ({"cpu": -(10**18)}, 400), ({"cpu": CPU * 2}, 422):
            agent.used = {**honest, **used}
            assert agent.tell()[0] == status, used
        for body in (b"", b"{", b"[" * 5000, b"\0" * 100, b'{"boot": 1}'):
            assert agent.ask("POST", "/v1/node/sample", body)[0] in (400, 411), body
        try:
            assert agent.ask("POST", "/v1/node/sample", b" " * (10 << 20))[0] == 413
        except OSError:
            pass  # closed amid the body, before the answer was read
        assert played.lends() == lent
        agent.used = honest
        assert agent.tell()[0] == 204
        agent.number -= 1
        assert agent.tell()[0] == 204  # again, and not taken twice: the controller has it
        agent.boot, agent.number = agent.boot[::-1], 0
        assert agent.tell()[0] in (204, 400)
    text = played.box.controller_api().raw("GET", "/metrics").decode()
    refused = {why: int(n) for why, n in re.findall(r'^sluice_node_agents_refused_total\{reason="([\w-]+)"\} (\d+)$', text, re.M)}
    assert refused["impossible"] >= 1 and refused["malformed"] >= 8 and refused["old"] >= 1, refused


def test_strangers_who_hold_connections_keep_no_agent_and_no_job_out(played):
    """More than an address may have, and none of them ever says who it is."""
    data = played.api.get(agents.RENDEZVOUS)["data"]
    host, _, port = data["address"].rpartition(":")
    strangers = []
    try:
        for _ in range(1000):
            try:
                strangers.append(socket.create_connection((host, int(port)), timeout=5, source_address=("127.0.0.2", 0)))
            except OSError:
                break  # refused: there are too many
        assert len(strangers) >= 512
        assert played.agent.tell()[0] == 204
        played.batch("meanwhile", cpu="1k", memory="1Gi")
        played.one_pod("meanwhile")
    finally:
        for s in strangers:
            s.close()


def test_memory_that_ordinary_pods_want_is_taken_back_within_seconds(played):
    played.batch("night")
    played.one_pod("night")
    began = time.monotonic()
    played.agent.used["memory"] = MEMORY * 80 // 100
    played.wait_job("night", "to be told to stop", lambda j: j["spec"]["suspend"] or "sluice.dev/stopping-at" in j["metadata"].get("annotations", {}), SOON)
    took = time.monotonic() - began
    played.wait("it to be stopped for its room", lambda: story(played.get("night")).get("reason") == "IdleResourcesReclaimed", SOON, about="night")
    print(f"\nmemory past the mark: the Job was told after {took:.2f} s")


def test_a_pod_that_the_agent_ended_gets_a_disruption_target_and_counts_as_no_failure(played):
    played.batch("night", podFailurePolicy=IGNORE, backoffLimit=0)
    pod = played.one_pod("night")
    path = f"/api/v1/namespaces/{played.ns}/pods/{pod['metadata']['name']}"
    with played.agent.lock:
        status, said = played.agent.tell(deeds=[{"number": 1, "kind": "ending", "uid": pod["metadata"]["uid"], "value": 4 << 30}])
    assert status == 204, said

    def marked():
        return next((c for c in played.api.get(path)["status"].get("conditions", []) if c["type"] == "DisruptionTarget"), None)
    condition = played.wait("the pod to have the condition", marked, SOON)
    assert condition["status"] == "True" and condition["message"], condition
    # The kernel has killed it.
    played.api.patch(f"{path}/status", {"status": {"phase": "Failed", "containerStatuses": [{
        "name": "work", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0,
        "state": {"terminated": {"exitCode": 137, "reason": "Error"}}}]}})
    played.wait_job("night", "to have another pod", lambda j: any(p["metadata"]["uid"] != pod["metadata"]["uid"] for p in played.pods("night")), LATER)
    assert not terminal(played.get("night")) and played.get("night")["status"].get("failed", 0) == 0


# ---- who is no friend ---------------------------------------------------------------------------------


def sample(agent, **fields):
    """The next one of an agent, with these fields."""
    agent.number += 1
    return {"boot": agent.boot, "number": agent.number, "window_ms": 1000, "cpu": 1000, "memory": 8 << 30, **fields}


def test_where_agents_go_is_written_by_the_controller_alone(played):
    """By none that may write each ConfigMap of sluice-system, as a tool that installs things there."""
    api, name = played.api, f"tool-{played.ns}"
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/sluice-system"
    api.post("/api/v1/namespaces/sluice-system/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
    api.post(f"{rbac}/roles", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name},
                               "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]})
    api.post(f"{rbac}/rolebindings", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": name},
                                      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
                                      "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "sluice-system"}]})
    tool = as_account(played.box, "sluice-system", name)
    labels = {"metadata": {"labels": {"test.sluice.dev/by": name}}}
    played.wait("the tool to have its rights", lambda: tool.patch(agents.RENDEZVOUS, labels), SOON)
    said = played.wait("the controller to write it", lambda: api.get(agents.RENDEZVOUS).get("data"), LATER)

    def refused(do):
        try:
            do()
        except ApiError as e:
            assert (e.status, e.reason) == (403, "Forbidden") and "written by sluice-controller alone" in e.message, e
            return True
        return False
    for data in ({"data": {"address": "10.6.6.6:8444"}}, {"data": None}, {"binaryData": {"more": "eA=="}}):
        assert refused(lambda: tool.patch(agents.RENDEZVOUS, data)), data
    assert api.get(agents.RENDEZVOUS)["data"] == said
    # Nor by a detour; empty it may be made again, as an apply does.
    tool.delete(agents.RENDEZVOUS)
    folder, empty = agents.RENDEZVOUS.rpartition("/")[0], {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sluice-nodes"}}
    assert refused(lambda: tool.post(folder, {**empty, "data": said}))
    tool.post(folder, empty)
    played.wait("the controller to write it", lambda: api.get(agents.RENDEZVOUS).get("data") == said, LATER)
    for kind in (f"{rbac}/rolebindings", f"{rbac}/roles", "/api/v1/namespaces/sluice-system/serviceaccounts"):
        api.delete(f"{kind}/{name}")


def test_what_no_agent_can_know_is_believed_of_no_node(played):
    """No word of these moves what the node lends: it is what its own agent says all the while."""
    lends = CPU * 65 // 100 - 1000
    played.wait("the node to lend", lambda: abs(played.lends() - lends) <= CPU // 100, LATER)
    token = played.agent.token
    other = PlayedAgent(played.box, "on-demand-9")
    try:
        with played.agent.lock:
            tell = played.agent.ask
            old = {**sample(played.agent, cpu=CPU), "number": 1}
            assert tell("POST", "/v1/node/sample", old)[0] == 204  # so that it is not sent again
            assert tell("POST", "/v1/node/sample", sample(played.agent, cpu=10**21))[0] == 400  # 1e18 cores
            assert tell("POST", "/v1/node/sample", sample(played.agent, cpu=10**15))[0] == 422
            played.agent.token = played.box.api.post(f"/api/v1/namespaces/{agents.NAMESPACE}/serviceaccounts/{agents.NAME}/token", {
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["sluice"]}})["status"]["token"]
            assert tell("POST", "/v1/node/sample", sample(played.agent, cpu=CPU))[0] == 401
            played.agent.token = token
        # One of another node speaks for that, whatever it says.
        with_name = f"/v1/node/sample?node={played.node}"
        wait_until("the other node to be known", lambda: other.ask("POST", with_name, sample(other, cpu=CPU, node=played.node))[0] == 204, SOON)
        orders = json.loads(other.ask("GET", f"/v1/node/orders?have=0&node={played.node}")[1])
        assert not orders.get("pods")
        played.batch("night", cpu=str(lends - 1000), memory="64Mi")
        played.one_pod("night")
        assert abs(played.lends() - lends) <= CPU // 100
    finally:
        other.end()


class Attack:
    """What is done to the port for agents by those who mean no good: strangers of many addresses, as a tenant's pods have, and one
    with the token of a node."""

    def __init__(self, box, token):
        data = box.api.get(agents.RENDEZVOUS)["data"]
        host, _, port = data["address"].rpartition(":")
        self.at, self.tls, self.token = (host, int(port)), ssl.create_default_context(cadata=data["certificate"]), token
        self.sockets, self.threads, self.over, self.count = [], [], threading.Event(), 0

    def connect(self, i, timeout):
        one = socket.socket()
        one.bind((f"127.9.{i % 200}.{1 + i // 200}", 0))
        one.settimeout(timeout)
        self.sockets.append(one)
        one.connect_ex(self.at)
        return one

    def talk(self, i):
        one = self.tls.wrap_socket(self.connect(i, SOON), server_hostname=self.at[0], do_handshake_on_connect=False)
        self.sockets.append(one)
        one.do_handshake()
        return one

    def post(self, body, length):
        return f"POST /v1/node/sample HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nContent-Length: {length}\r\n\r\n".encode() + body

    def strangers(self, greeting):
        """5,000 connections, that say this and nothing more."""
        for i in range(5000):
            self.connect(i, 0)
        wait_until("some to be let in", lambda: sum(self.says(one, greeting) for one in self.sockets) > 100, SOON)

    def says(self, one, text):
        try:
            return one.send(text) == len(text) if text else one.getpeername() is not None
        except OSError:
            return False  # not let in yet, or ended

    def again(self, many, text, answer):
        """Sends this again and again, in so many threads, and counts such answers."""
        def go_on(i):
            while not self.over.is_set():
                try:
                    with self.talk(i) as one:
                        one.sendall(text)
                        self.count += answer is None
                        while some := one.recv(1 << 16):
                            self.count += answer is not None and some.count(answer)
                except OSError:
                    self.over.wait(0.01)  # it was cut off
        self.threads = [threading.Thread(target=go_on, args=(i,), daemon=True) for i in range(many)]
        for thread in self.threads:
            thread.start()
        wait_until("the attack to be in force", lambda: self.count > 100, LATER)

    def cut(self):
        """Ends all connections; true once nobody opens another."""
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # of TLS by now, never let in, or gone
        return not any(thread.is_alive() for thread in self.threads)

    def end(self):
        self.over.set()
        wait_until("the attack to be over", self.cut, LATER)
        for one in self.sockets:
            one.close()

    # -- the attacks; each is in force when its function returns

    def thousands_of_samples(self):
        self.again(8, self.post(b"{}", 2) * 1000, b"HTTP/1.1 429")

    def large_bodies(self):
        self.again(8, self.post(b"x" * 1000, 10 << 20), b"HTTP/1.1 413")

    def slow_bodies(self):
        """More than there is room for, of which nothing more comes."""
        self.again(100, self.post(b"{", 192 << 10), None)

    def without_tls(self):
        self.strangers(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")

    def idle(self):
        self.strangers(b"")


# Strangers come last: whoever connects after them waits for his turn.
ATTACKS = (Attack.thousands_of_samples, Attack.large_bodies, Attack.slow_bodies, Attack.without_tls, Attack.idle)


def test_jobs_start_and_nodes_report_while_the_port_of_agents_is_attacked(played):
    played.wait("the node to lend", played.lends, LATER)
    stolen, tell = PlayedAgent(played.box, "on-demand-9"), played.agent.stays()
    try:
        assert tell() == (204, "")
        for begin in ATTACKS:
            name, attack = begin.__name__.replace("_", "-"), Attack(played.box, stolen.token)
            try:
                begin(attack)
                assert tell() == (204, ""), name
                played.batch(name, cpu="100", memory="64Mi")
                played.started(name)
                assert tell() == (204, ""), name
            finally:
                attack.end()
    finally:
        stolen.end()
