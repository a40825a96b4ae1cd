"""What an admin applies: deploy/ rendered, the quickstart and its Postgres.

Pods are played here, so the Postgres of the quickstart runs outside, by the script that the pod runs,
with the password that the cluster made."""

import base64
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import LATER, PREFIX, SOON, USUAL_FLAGS, World, own_plane, start_controller, wait_leading
from objects import SEED, jobs_path
from sandbox import Api, ApiError, Sandbox, wait_until
from sandbox.sandbox import ROOT

DEPLOY = ROOT / "deploy"
QUICKSTART = DEPLOY / "quickstart"
KUBECTL = shutil.which("kubectl") or ROOT / "build" / "tools" / "kubectl"
VERSION = re.search(r"^set\(SLUICE_VERSION (.+)\)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
COMPONENTS = sorted(p.name for p in (DEPLOY / "components").iterdir())
OF_QUICKSTART = ("postgres", "visibility")


# ---- rendered ------------------------------------------------------------------


def render(folder):
    done = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def overlay(tmp_path):
    """overlay("base", components...): rendered, as an admin's own overlay."""
    def make(folder, *components):
        to = lambda path: os.path.relpath(path, tmp_path)
        (tmp_path / "kustomization.yaml").write_text(
            f"resources: [{to(DEPLOY / folder)}]\ncomponents: [{', '.join(to(DEPLOY / 'components' / c) for c in components)}]\n")
        return render(tmp_path)
    return make


def objects(rendered):
    """{(kind, name)} of the objects."""
    found = set()
    for text in rendered.split("\n---\n"):
        meta = text[text.index("metadata:\n"):]
        found.add((re.search(r"^kind: (.*)", text, re.M)[1], re.search(r"^  name: (.*)", meta, re.M)[1]))
    return found


@pytest.mark.parametrize("folder", ["base", "quickstart", "examples/cloudnative-pg"])
def test_images_are_pinned_and_ours_is_of_this_version(folder):
    rendered = render(DEPLOY / folder)
    images = re.findall(r"^ +(?:- )?image: (.*)\n +imagePullPolicy: (.*)", rendered, re.M)
    assert len(images) == len(re.findall(r"^ +(?:- )?image:", rendered, re.M)), "one has no pull policy"
    assert (f"sluice-controller:{VERSION}", "IfNotPresent") in images
    for image, policy in images:
        assert re.search(r":\d+\.\d+\S*$", image) and policy == "IfNotPresent"


def test_pages_and_comments_name_the_image_of_this_version():
    named = {(file.relative_to(ROOT), version) for folder in ("deploy", "docs") for file in (ROOT / folder).rglob("*")
             if file.is_file() and file.suffix in (".md", ".yaml", "") for version in re.findall(r"sluice-controller:(\d[\w.-]*\w)", file.read_text())}
    earlier = [line.split()[0] for line in (ROOT / "release" / "versions").read_text().splitlines() if line and line[0] != "#"]
    assert {str(file) for file, version in named if version != VERSION} <= {"docs/upgrade.md"}, named
    assert {version for _, version in named} <= {VERSION, *earlier}


def labels_of(rendered):
    """{(kind, name): its labels}"""
    found = {}
    for text in rendered.split("\n---\n"):
        meta = text[re.search(r"^metadata:\n", text, re.M).end():]
        (name,) = re.findall(r"\A(?:  [ \w].*\n|  - .*\n)*?  name: (.*)", meta)
        labels = re.match(r"(?:  \w+:.*\n(?:   .*\n)*)*?  labels:\n((?:    .*\n)+)", meta)
        found[re.search(r"^kind: (.*)", text, re.M)[1], name] = dict(re.findall(r"^    (\S+): (.*)$", labels[1], re.M)) if labels else {}
    return found


@pytest.mark.parametrize("components", [OF_QUICKSTART, tuple(c for c in COMPONENTS if c != "without-mutating-policy")], ids="+".join)
def test_each_object_says_what_it_is_and_of_which_version(overlay, components):
    for what, labels in {**labels_of(overlay("base", *components)), **labels_of(render(DEPLOY / "examples" / "cloudnative-pg"))}.items():
        told = {key.removeprefix("app.kubernetes.io/"): value for key, value in labels.items()}
        assert told.keys() >= {"name", "component"} and told["part-of"] == "sluice" and told["version"] == VERSION, (what, labels)


def test_an_object_of_the_overlay_that_is_not_ours_is_left_as_it_is(overlay, tmp_path):
    (tmp_path / "own.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n  labels:\n    app.kubernetes.io/part-of: ours\n")
    overlay("quickstart", *(c for c in COMPONENTS if c not in OF_QUICKSTART))
    text = (tmp_path / "kustomization.yaml").read_text()
    (tmp_path / "kustomization.yaml").write_text(text.replace("resources: [", "resources: [own.yaml, "))
    assert labels_of(render(tmp_path))["ConfigMap", "own"] == {"app.kubernetes.io/part-of": "ours"}


def test_no_label_of_a_version_is_in_a_pod_a_selector_or_a_volume(overlay):
    """One that were would restart Postgres at each upgrade, or be refused."""
    rendered = overlay("base", *OF_QUICKSTART)
    inside = [line for line in re.findall(r"^ {5,}(app\.kubernetes\.io/.*)", rendered, re.M)]
    assert len(inside) > 5 and {line.split(":")[0].split("/")[1] for line in inside} == {"name", "part-of"}


@pytest.mark.parametrize("others", [(), ("manage-jobs-without-queue-name",), tuple(c for c in COMPONENTS if c != "without-mutating-policy")])
def test_without_mutating_policy_leaves_none_of_any_component(overlay, others):
    has, lacks = objects(overlay("base", *others)), objects(overlay("base", *others, "without-mutating-policy"))
    gone = has - lacks
    assert gone == {o for o in has if o[0].startswith("Mutating")} | {
        (kind, "sluice-suspend-is-ignored") for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")}
    assert not lacks - has
    assert ("MutatingAdmissionPolicy", "sluice-suspend-unqueued-jobs") in gone or not others


def test_the_quickstart_is_the_base_with_two_components(overlay):
    assert overlay("base", *OF_QUICKSTART) == render(QUICKSTART)


def test_each_component_goes_with_the_quickstart(overlay):
    rendered = overlay("quickstart", *(c for c in COMPONENTS if c not in OF_QUICKSTART))
    assert {("ServiceMonitor", "sluice-controller"), ("StatefulSet", "sluice-postgres")} <= objects(rendered)
    assert "- --manage-jobs-without-queue-name" in rendered


PAGE = (ROOT / "docs" / "install.md").read_text()
OVERLAYS = [text for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S) if re.search("^(resources|patches):", text, re.M)]


@pytest.mark.parametrize("text", OVERLAYS)
def test_each_overlay_of_the_page_is_built_as_it_is_printed(text, tmp_path):
    text = text if "resources:" in text else "resources: [../sluice/deploy/quickstart]\n" + text
    (tmp_path / "kustomization.yaml").write_text(text.replace("../sluice", os.path.relpath(ROOT, tmp_path)))
    assert ("StatefulSet", "sluice-postgres") in objects(render(tmp_path))


def test_the_page_lists_each_component_and_without_mutating_policy_last():
    (text,) = [t for t in OVERLAYS if "components:" in t]
    listed = re.findall(r"^(?:# )?- .*/components/([\w-]+)", text, re.M)
    assert sorted([*listed, "postgres"]) == COMPONENTS and listed[-1] == "without-mutating-policy"
    assert not re.search(r"^- .*/(postgres|visibility|without-mutating-policy)", text, re.M), "for the quickstart, on a server of today"


# ---- the start of Postgres -------------------------------------------------------


class Database:
    """What the pod sluice-postgres-0 runs, as the user that it may not run as root for."""

    def __init__(self, password):
        self.home = Path(tempfile.mkdtemp(prefix="sluice-", dir="/var/tmp"))
        shutil.copytree(DEPLOY / "components" / "postgres", self.home / "sluice")
        user = Sandbox.pg_user()
        self.become = dict(user=user[0], group=user[1], extra_groups=[]) if user else {}
        (self.port,) = Sandbox(f"{PREFIX}-install").free_ports(1)  # of those that no outgoing connection takes meanwhile
        self.set_password(password)
        for folder in ("data", "s"):
            (self.home / folder).mkdir()
        for folder in (self.home, self.home / "data", self.home / "s") if user else ():
            os.chown(folder, *user)
        self.proc = None

    def set_password(self, password):
        self.password = password
        (self.home / "token").write_text(password)

    def run(self, what, popen=subprocess.run, **kw):
        env = {"PATH": os.environ["PATH"], "SLUICE_DATA": self.home / "data", "SLUICE_SOCKETS": self.home / "s",
               "SLUICE_PASSWORD_FILE": self.home / "token", "PGPORT": str(self.port)}
        return popen(["bash", self.home / "sluice" / "postgres.sh", what], env=env, cwd="/", **self.become, **kw)

    def start(self):
        with open(self.home / "log", "a") as log:
            self.proc = self.run("serve", subprocess.Popen, stdout=log, stderr=log, start_new_session=True)

    def log(self):
        return (self.home / "log").read_text()

    def is_ready(self):
        assert self.proc.poll() is None, self.log()[-3000:]
        return self.run("ready").returncode == 0

    def serve(self):
        self.start()
        wait_until("the Postgres of the quickstart to answer", self.is_ready, SOON)

    def kill(self):
        os.killpg(self.proc.pid, signal.SIGKILL)
        self.proc.wait()

    def conninfo(self, user="sluice"):
        return f"host=127.0.0.1 port={self.port} dbname=sluice user={user}"

    def sql(self, statement, password=None, user="sluice"):
        return subprocess.run([Sandbox.pg_program("psql"), "-wtAc", statement, self.conninfo(user)], capture_output=True, text=True,
                              env={"PGPASSWORD": password or self.password, "PATH": os.environ["PATH"]})

    def end(self):
        if self.proc and self.proc.poll() is None:
            self.kill()
        shutil.rmtree(self.home)


@pytest.fixture
def database():
    d = Database("first.password")
    yield d
    d.end()


def test_postgres_may_be_killed_at_any_moment_of_its_start(database):
    print(f"SLUICE_E2E_SEED={SEED} kills at the same moments")
    draw = random.Random(SEED)
    for _ in range(6):  # one takes a second or two, most of it initdb
        database.start()
        time.sleep(draw.uniform(0, 1.5))
        database.kill()
    database.serve()
    assert database.sql("create table kept (n int); insert into kept values (7)").returncode == 0
    for _ in range(3):
        database.kill()
        database.start()
        time.sleep(draw.uniform(0, 0.5))
    database.kill()
    database.serve()
    assert database.sql("select n from kept").stdout == "7\n"


def test_postgres_lets_in_who_has_the_password_of_now(database):
    database.serve()
    database.sql("create table kept (n int)")
    assert database.run("stop").returncode == 0
    assert database.proc.wait(SOON) == 0
    database.set_password("it's another, with a quote and " + "x" * 1200)
    database.serve()
    assert database.sql("select count(*) from kept").stdout == "0\n"
    assert "password authentication failed" in database.sql("select 1", "first.password").stderr
    assert "no pg_hba.conf entry" in database.sql("select 1", user="postgres").stderr
    assert "another" not in database.log()


def test_postgres_of_another_version_leaves_the_ledger_alone(database):
    database.serve()
    database.kill()
    version = database.home / "data" / "pgdata" / "PG_VERSION"
    was = version.read_text()
    version.write_text("9\n")
    done = database.run("serve", capture_output=True, text=True)
    assert done.returncode == 1 and "the ledger was made by Postgres 9, and this is Postgres" in done.stderr
    version.write_text(was)
    database.serve()


def test_a_dump_of_it_comes_back_as_the_page_has_it(database):
    """The commands of docs/restore.md, "The Postgres of the quickstart": in the pod they are run by `kubectl exec`, as the same user and by the
    same socket."""
    if not database.become:
        pytest.skip("the socket lets in the user postgres alone, and only root may become it")
    page = (ROOT / "docs" / "restore.md").read_text().split("### The Postgres of the quickstart")[1].split("\n## ")[0].replace("\\\n", "")
    words = [shlex.split(found.replace("/sockets", str(database.home / "s"))) for found in
             re.findall(r"exec (?:-i )?sluice-postgres-0 -- ((?:pg_dump|psql|pg_restore) [^<>#\n]*)", page)]
    assert [w[0] for w in words] == ["pg_dump", "psql", "pg_restore", "psql", "psql"]
    dump_it, put_aside, restore, _, begin_again = words

    def run(command, given=None):
        done = subprocess.run([Sandbox.pg_program(command[0]), *command[1:]], input=given, capture_output=True, cwd="/", **database.become,
                              env={"PGPORT": str(database.port), "PATH": os.environ["PATH"]})
        assert done.returncode == 0, done.stderr
        return done.stdout

    database.serve()
    assert database.sql("create schema sluice; create table sluice.kept (n int); insert into sluice.kept values (7)").returncode == 0
    dump = run(dump_it)
    database.sql("delete from sluice.kept")
    with subprocess.Popen([Sandbox.pg_program("psql"), database.conninfo()], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={"PGPASSWORD": database.password, "PATH": os.environ["PATH"]}) as connected:  # a dashboard that was forgotten
        wait_until("it to be connected", lambda: database.sql("select count(*) from pg_stat_activity where usename = 'sluice'").stdout == "2\n", SOON)
        run(put_aside)
        run(begin_again)
        assert database.sql("select count(*) from sluice.kept").stdout == "0\n", "what was there is not what is there again"
        run(put_aside)
        run(restore, dump)
        connected.stdin.close()
    assert database.sql("select n from sluice.kept").stdout == "7\n"
    assert database.sql("update sluice.kept set n = 8").returncode == 0, "it belongs to another role"


# ---- applied --------------------------------------------------------------------


@pytest.fixture(scope="module")
def box():
    with own_plane("install") as b:
        yield b


def apply(box):
    return box.kubectl("apply", "--server-side", "-k", QUICKSTART)


def secret(box):
    return box.api.get("/api/v1/namespaces/sluice-system/secrets/sluice-postgres")


NEVER_STILL = {"Deployment", "StatefulSet", "PodDisruptionBudget", "APIService"}  # their status says what pods do


def written(obj):
    """The object as its writers wrote it, and when each of them did: without its status, which a controller may write late."""
    meta = {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}
    meta["managedFields"] = [m for m in meta.get("managedFields", []) if m.get("subresource") != "status"]
    return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": meta}


def versions(box):
    """Of each object of the quickstart what its writers wrote, status aside."""
    listed = json.loads(box.kubectl("get", "-k", QUICKSTART, "-o", "json", "--show-managed-fields").stdout)["items"]
    return {f"{o['kind']}/{o['metadata']['name']}": o["metadata"].get("generation") if o["kind"] in NEVER_STILL else written(o) for o in listed}


@pytest.fixture(scope="module")
def installed(box):
    """(the control plane with the quickstart, its password, its Postgres); the controller runs outside, as its pods would."""
    apply(box)
    token = wait_until("the control plane to make a password", lambda: secret(box).get("data", {}).get("token"), SOON)
    d = Database(base64.b64decode(token).decode())
    d.serve()
    # As the Deployment has it: the password by the environment.
    start_controller(box, extra=(*USUAL_FLAGS, "--database", d.conninfo()), env={"PGPASSWORD": d.password})
    wait_leading(box, timeout=LATER)
    yield box, token, d
    box.process("controller-one").stop()
    d.end()


def test_applied_once_more_the_quickstart_changes_nothing(installed):
    box, token, _ = installed
    before = versions(box)
    assert {"StatefulSet/sluice-postgres", "Deployment/sluice-controller", "NetworkPolicy/sluice-postgres"} <= set(before)
    apply(box)
    assert versions(box) == before
    assert secret(box)["data"]["token"] == token


def test_the_account_of_the_password_has_no_rights(installed):
    box, token, d = installed
    ours = Api(port=box.port("kube-apiserver"), ca=box.pki / "ca.crt", token=d.password)
    for path in ("/api/v1/namespaces/sluice-system/secrets", "/api/v1/pods", "/apis/batch/v1/jobs", "/apis/sluice.dev/v1alpha1/clusterqueues"):
        with pytest.raises(ApiError) as refusal:
            ours.get(path)
        assert refusal.value.status == 403


def test_doctor_is_green(installed, program):
    box, _, d = installed
    # The pods are played, by a kwok that is in no hurry, and the API server reaches none of them.
    done = program("sluice", "doctor", "--kubeconfig", box.kubeconfig, "--settle", "2s", "--ignore", "controllers", "--ignore", "visibility",
                   "--database", d.conninfo(), env={"PGPASSWORD": d.password})
    assert done.returncode == 0 and re.search(r"skipped +replication +deploy/quickstart has one Postgres", done.stdout), done
    done = program("sluice", "doctor", "--kubeconfig", box.kubeconfig, "--ignore", "controllers", "--ignore", "visibility")
    assert "docs/install.md has how to reach that of deploy/quickstart" in done.stdout


def test_uninstalled_nothing_is_stopped_and_nothing_left(installed):
    """The steps of docs/install.md."""
    box, _, _ = installed
    world = World(box, "stays")
    world.queue(cpu=1)
    world.job("runs")
    world.started("runs")
    world.job("waits")
    world.waits("waits", "WaitingForQuota")
    pods = {p["metadata"]["uid"] for p in world.pods("runs")}
    assert pods

    box.kubectl("delete", "apiservice", "v1alpha1.visibility.sluice.dev", "--ignore-not-found")
    box.kubectl("-n", "sluice-system", "delete", "deployment", "sluice-controller", "--wait")
    box.process("controller-one").stop()  # one of its pods
    for name in box.kubectl("get", "clusterqueues.sluice.dev,resourceflavors.sluice.dev", "-o", "name").stdout.split():
        box.kubectl("patch", name, "--type", "merge", "-p", '{"metadata":{"finalizers":null}}')
    box.kubectl("delete", "-k", QUICKSTART, "--ignore-not-found")  # the deployment is gone already

    assert not box.kubectl("get", "-k", QUICKSTART, "--ignore-not-found", "-o", "name", check=False).stdout.strip()
    left = box.kubectl("get", "crds,clusterroles,clusterrolebindings,flowschemas,validatingadmissionpolicies,validatingadmissionpolicybindings,"
                              "mutatingadmissionpolicies,mutatingadmissionpolicybindings,namespaces,persistentvolumeclaims", "-A", "-o", "name").stdout
    assert left and "sluice" not in left
    assert {p["metadata"]["uid"] for p in world.pods("runs")} == pods and not world.get("runs")["spec"]["suspend"]
    assert world.get("waits")["spec"]["suspend"]
    wait_until("the API server to let the Job be started by hand", lambda: may_start(world, "waits"), SOON)
    world.patch("waits", {"spec": {"suspend": False}})
    wait_until("the Job to have a pod", lambda: world.get("waits")["status"].get("active"), LATER)
    assert not world.get("runs")["spec"]["suspend"]
    # The gate is open: what comes now runs at once, and nothing holds on to a Job that goes.
    world.job("new")
    wait_until("a new Job to run", lambda: world.get("new")["status"].get("active"), LATER)
    for name in ("runs", "waits", "new"):
        world.delete(name, "Foreground")
    # The garbage collector reads anew what kinds there are.
    wait_until("the Jobs to be gone", lambda: not world.api.list(jobs_path(world.ns)), LATER)
    # And so is its namespace, with the LocalQueue that was in it.
    world.api.delete(f"/api/v1/namespaces/{world.ns}")
    wait_until("the namespace to be gone", lambda: not has_namespace(world), LATER)


def has_namespace(world):
    return world.ns in [n["metadata"]["name"] for n in world.api.list("/api/v1/namespaces")]


def may_start(world, name):
    try:
        return world.api.patch(jobs_path(world.ns, name) + "?dryRun=All", {"spec": {"suspend": False}})
    except ApiError:
        return None
