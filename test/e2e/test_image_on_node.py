"""Our image in pods of a real node (sandbox/real_node.py), installed into an empty cluster by the one command of the page:
two controllers and the Postgres of deploy/quickstart, then the doctor, Jobs, the end of the leader, and a backup put back.

The images are made beforehand, the controller's by ./dev image, that of Postgres by sandbox/postgres-image. What an admin's
overlay says here and would not elsewhere: which node, where the volume lies, and the address of the API server and of
Postgres, for the node has no Services (sandbox/relay.py); and not to wait for a minute after a restore. Needs root with CAP_SYS_ADMIN, and both images; skipped with a
reason where one of them is missing. 2 minutes."""

import base64
import itertools
import os
import re
import shutil
import subprocess

import pytest
from conftest import LATER, RECOVERY, SOON, own_plane
from objects import KUBERNETES, NEWEST, has, ours, story
from sandbox import SandboxError, real_node, wait_until
from sandbox.relay import Relay
from sandbox.sandbox import BUILD, ROOT
from test_real_node import ENDLESS, OUTLASTS, SHORT, RealWorld, spoken

VERSION = re.search(r"^set\(SLUICE_VERSION (.+)\)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
IMAGES = [BUILD / "dist" / f"sluice-controller-{VERSION}-oci.tar", BUILD / "image" / "postgres-oci.tar"]
NS = "sluice-system"
VOLUME = "sluice-postgres"
CONTROLLER = "app.kubernetes.io/name=sluice-controller"

_numbers = itertools.count(1)


def why_not():
    why = real_node.lacks()
    if why or KUBERNETES < NEWEST:
        return why or f"the kubelet of Kubernetes 1.{NEWEST} is for no older control plane"
    if not shutil.which("ip"):
        return "there is no ip here (iproute2), so the node's pods reach neither the API server nor Postgres; ./dev test test/e2e/test_image_on_node.py installs it"
    missing = [str(i.relative_to(ROOT)) for i in IMAGES if not i.exists()]
    return f"./dev test test/e2e/test_image_on_node.py makes what is missing: {', '.join(missing)}" if missing else None


OVERLAY = """\
resources: [{quickstart}, volume.yaml]
patches:
- target: {{kind: Deployment, name: sluice-controller}}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {{name: sluice-controller}}
    spec:
      template:
        spec:
          nodeSelector: {{pool: {pool}}}
          tolerations: [{{key: {taint}, operator: Exists}}]
          hostAliases: [{{ip: {gateway}, hostnames: [kubernetes, sluice-postgres]}}]
          containers:
          - name: controller
            env:
            - {{name: KUBERNETES_SERVICE_HOST, value: kubernetes}}
            - {{name: KUBERNETES_SERVICE_PORT, value: "{api}"}}
            - {{name: PGPORT, value: "{postgres}"}}
- target: {{kind: Deployment, name: sluice-controller}}
  patch: |
    - {{op: add, path: /spec/template/spec/containers/0/args/-, value: --settle-after-failover=3s}}
- target: {{kind: StatefulSet, name: sluice-postgres}}
  patch: |
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {{name: sluice-postgres}}
    spec:
      template:
        spec:
          nodeSelector: {{pool: {pool}}}
          tolerations: [{{key: {taint}, operator: Exists}}]
"""

PERSISTENT_VOLUME = """\
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: 8Gi}}
  accessModes: [ReadWriteOnce]
  local: {{path: /var/lib/{name}}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: pool, operator: In, values: [{pool}]}}]}}]}}}}
"""


class Installed:
    """The cluster with Sluice in it, as an admin has it: by kubectl alone."""

    def __init__(self, box, folder):
        self.box, self.overlay = box, folder
        api, postgres = box.free_ports(2)
        self.relays = [Relay(api, lambda: ("127.0.0.1", box.port("kube-apiserver"))), Relay(postgres, self.postgres)]
        to = os.path.relpath(ROOT / "deploy" / "quickstart", folder)
        (folder / "kustomization.yaml").write_text(OVERLAY.format(
            quickstart=to, pool=real_node.POOL, taint=real_node.LABEL, gateway=real_node.GATEWAY, api=api, postgres=postgres))
        (folder / "volume.yaml").write_text(PERSISTENT_VOLUME.format(name=VOLUME, pool=real_node.POOL))
        (box.real_node.home / "varlib" / VOLUME).mkdir(exist_ok=True)

    def postgres(self):
        """What the Service sluice-postgres would choose."""
        slices = self.box.api.list(f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices?labelSelector=kubernetes.io/service-name=sluice-postgres")
        ready = [a for s in slices for e in s.get("endpoints") or [] if e["conditions"].get("ready") for a in e["addresses"]]
        return ready[0], 5432

    def kubectl(self, *args, **kw):
        return self.box.kubectl(*args, **kw).stdout

    def roll_out(self):
        """As the page has it."""
        return self.kubectl("-n", NS, "rollout", "status", "statefulset/sluice-postgres", "deployment/sluice-controller", f"--timeout={LATER}s")

    def controllers(self):
        """{name: pod} of those that are not on their way out."""
        pods = self.box.api.list(f"/api/v1/namespaces/{NS}/pods?labelSelector={CONTROLLER}")
        return {p["metadata"]["name"]: p for p in pods if "deletionTimestamp" not in p["metadata"]}

    def sql(self, statement):
        try:
            rows = self.kubectl("-n", NS, "exec", "sluice-postgres-0", "--", "psql", "-h", "/sockets", "-U", "postgres", "-d", "sluice", "-Atc", statement)
        except SandboxError as e:
            raise ConnectionError(str(e)) from None  # for wait_until: not yet
        return [row.split("|") for row in rows.splitlines()]

    def leader(self):
        """Whose lease holds."""
        return next((holder for holder, in self.sql("select holder from sluice.lease where expires_at > now()")), None)

    def doctor(self, program):
        """By a port-forward to the Service, as the page has it: (exit code, what it says)."""
        (port,) = self.box.free_ports(1)
        forward = subprocess.Popen([self.box.tool("kubectl"), "-n", NS, "port-forward", "svc/sluice-postgres", f"{port}:5432"],
                                   env=self.box.kubectl_env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            assert forward.stdout.readline().startswith("Forwarding from ")
            token = self.box.api.get(f"/api/v1/namespaces/{NS}/secrets/sluice-postgres")["data"]["token"]
            # There is no kube-proxy here: the API server reaches no ClusterIP, and so not the Service of the aggregated API.
            done = program("sluice", "doctor", "--kubeconfig", self.box.kubeconfig, "--settle", "2s", "--ignore", "visibility", "--database",
                           f"host=127.0.0.1 port={port} dbname=sluice user=sluice", env={"PGPASSWORD": base64.b64decode(token).decode()})
        finally:
            forward.kill()
            forward.wait()
        return done.returncode, done.stdout + done.stderr


def commands(page, section):
    """The commands that stand there, in blocks of sh."""
    text = (ROOT / "docs" / page).read_text()
    begin = text.index(f"\n{section}\n") + len(section) + 2
    level = section.split(" ")[0]
    end = min([at for at in (text.find(f"\n{'#' * n} ", begin) for n in range(2, len(level) + 1)) if at >= 0], default=len(text))
    return re.findall(r"```sh\n(.*?)```", text[begin:end], re.S)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    why = why_not()
    if why:
        pytest.skip(why)
    with own_plane("image", manifests=False, with_real_node=True) as box:
        for image in IMAGES:
            box.real_node.import_image(image)
        place = Installed(box, tmp_path_factory.mktemp("overlay"))
        place.kubectl("apply", "--server-side", "-k", place.overlay)
        try:
            place.roll_out()
        except Exception as e:
            raise AssertionError(f"{e}\n{place.kubectl('-n', NS, 'describe', 'pods')}") from None
        wait_until("a controller to lead", place.leader, SOON)
        yield place
        for relay in place.relays:
            relay.end()


class World(RealWorld):
    """Whose controllers are pods, so that nothing is asked of them but by what stands on Jobs and in the ledger."""

    def __init__(self, place):
        super().__init__(place.box, f"team-{next(_numbers)}")
        self.place = place
        self.real_queue(cpu=1, wait=False)

    def controller(self):
        return None

    def wait(self, what, check, timeout=LATER, about=None):
        return wait_until(what, check, timeout)

    def reserved(self):
        """{Job: state} of the reservations."""
        return dict(self.place.sql(f"select name, state from sluice.hold where ns = '{self.ns}'"))

    def reserves(self, **wanted):
        self.wait(f"the ledger to have {wanted}", lambda: self.reserved() == wanted)


@pytest.fixture
def world(installed):
    w = World(installed)
    yield w
    w.end()


def test_the_doctor_finds_nothing(installed, program):
    pods = installed.controllers()
    assert len(pods) == 2 and all(has(p, "Ready") for p in pods.values())
    assert installed.leader() in pods

    def announced_leader():
        found = installed.box.api.get(f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices/sluice-visibility")
        return found["endpoints"] and found["endpoints"][0]["addresses"] == [pods[installed.leader()]["status"]["podIP"]] and found
    announced = wait_until("the leader to be announced", announced_leader, SOON)
    assert {p["name"]: p["port"] for p in announced["ports"]} == {"https": 8443, "page": 8080}, announced

    def well():
        code, said = installed.doctor(program)
        print(f"\n{said}")
        return code == 0 and "no problem found" in said and re.search(r"ok +controllers +2 of 2 ready, and none names a kind that it cannot follow", said)
    wait_until("the doctor to find nothing", well, SOON)


def test_jobs_run_one_after_the_other(world):
    """Two that do not fit together; created as any Job is, and suspended by the policies."""
    world.run("first", SHORT, cpu="900m")
    world.run("second", SHORT, cpu="900m")
    world.finished("first", "second")
    world.reserves()
    said = [spoken(world.log(world.all_pods(name)[0]["metadata"]["name"])) for name in ("first", "second")]
    times = sorted([at for at, _ in lines] for lines in said)
    assert times[0][-1] < times[1][0], "two ran where there is quota for one"


def test_when_the_leader_is_gone_the_standby_goes_on(world):
    place = world.place
    world.run("runs", ENDLESS, cpu="400m", **OUTLASTS)
    (pod,) = world.running("runs")
    leader = place.leader()
    others = set(place.controllers()) - {leader}
    place.kubectl("-n", NS, "delete", "pod", leader, "--wait=false")
    world.wait("another to lead", lambda: place.leader() in others)
    world.run("next", SHORT, cpu="400m")
    world.finished("next")
    assert world.running("runs") == [pod] and story(world.get("runs"))["attempt"] == 1
    place.roll_out()


def test_a_backup_is_put_back_by_the_commands_of_the_page(world, program, tmp_path):
    """What started since the backup goes on, and is in the ledger again."""
    place = world.place
    (tmp_path / "kubectl").symlink_to(place.box.tool("kubectl"))
    backup, restore, look = commands("restore.md", "### The Postgres of the quickstart")

    def follow(text):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=RECOVERY,
                              env={**place.box.kubectl_env(), "PATH": f"{tmp_path}:{os.environ['PATH']}"})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    world.run("before", ENDLESS, cpu="400m", **OUTLASTS)
    world.running("before")
    world.reserves(before="posted")
    follow(backup)
    world.run("since", ENDLESS, cpu="400m", **OUTLASTS)
    world.running("since")
    world.reserves(before="posted", since="posted")
    pods = {p["metadata"]["uid"] for p in world.pods()}
    follow(restore)
    world.reserves(before="posted", since="posted")
    assert place.sql("select count(*) from sluice.transfer where reason = 'Adopted'") == [["1"]]
    assert "(0 rows)" in follow(look)
    world.run("next", SHORT, cpu="100m")
    world.finished("next")
    assert {p["metadata"]["uid"] for p in world.pods()} == pods
    code, said = place.doctor(program)
    assert code == 0, said
