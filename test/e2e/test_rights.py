"""Who may read what at the controller's port, what a tenant is told of others, and slow callers.

The tenant is a ServiceAccount that has sluice-batch-user in one namespace, by a RoleBinding, and
nothing else. It asks a leader that treats callers from this host like any others. Where it is enough to
know whether one is let in, a standby is asked: it says who leads (503)."""

import hashlib
import itertools
import json
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from conftest import BIN, LATER, SOON, World, as_account, config_for, run_with, token
from objects import annotations, job, jobs_path, story
from sandbox import ApiError, asking, wait_until
from sandbox.asking import ROOT

RBAC = "/apis/rbac.authorization.k8s.io/v1"
# With the usual lease of three seconds a standby would take over from a leader that a busy machine holds up for so long.
LEASE = ("--lease-seconds", "30")
FLAGS = ("--loopback-needs-token", *LEASE)
pytestmark = pytest.mark.flags(*FLAGS)
_numbers = itertools.count(1)


@pytest.fixture(scope="module", autouse=True)
def admin(box):
    """World asks the controller as one who may read all. The name is another in each module: the API server may still know the binding
    of the one before, and not yet that it is gone."""
    name = f"rights-admin-{next(_numbers)}"
    made = {"/api/v1/namespaces/default/serviceaccounts": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}},
            f"{RBAC}/clusterrolebindings": {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": name}]}}
    for path, obj in made.items():
        box.api.ensure(path, obj)
    box.controller_token = token(box.api, "default", name)
    asking = as_account(box, "default", name)
    wait_until("the API server to know the admin's rights", lambda: asking.get("/api/v1/nodes?limit=1"), SOON)
    yield
    box.controller_token = None
    for path in made:
        box.api.delete(f"{path}/{name}")


@pytest.fixture
def leads(world):
    """The leader: its port, and its process."""
    return SimpleNamespace(port=int(world.box.controller_url().rpartition(":")[2]), proc=world.box.process("controller-one"))


@contextmanager
def standby(box, identity, *flags):
    """A second controller that wants a token of everybody and has read all; its ports."""
    port, probes = box.free_ports(2)
    proc = box.process(f"controller-{identity}")
    proc.start([BIN / "sluice-controller", "--kubeconfig", box.state / "controller.kubeconfig", "--database", box.database,
                "--listen", f"127.0.0.1:{port}", "--probe-listen", f"127.0.0.1:{probes}", "--loopback-needs-token",
                "--identity", identity, *LEASE, *flags], env={"SLUICE_SANDBOX_URL": f"http://127.0.0.1:{probes}"})
    try:
        box.wait_healthy(f"controller-{identity}")
        wait_until("it to have read all", lambda: get(probes, "/readyz").status == 200, SOON, proc)
        yield SimpleNamespace(port=port, probes=probes, proc=proc)
    finally:
        proc.stop()
        proc.record_file.unlink()


@pytest.fixture(scope="module")
def strict(box):
    run_with(box, FLAGS)  # before it stands by: a leader that is started anew would find that it leads
    with standby(box, "strict") as it:
        yield it


def get(port, path, bearer=None, timeout=SOON):
    """(status, text)"""
    request = Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {bearer}"} if bearer else {})
    try:
        with urlopen(request, timeout=timeout) as r:
            return SimpleNamespace(status=r.status, text=r.read().decode())
    except HTTPError as e:
        return SimpleNamespace(status=e.code, text=e.read().decode())


def bind(world, account, role, everywhere=False):
    """An account of the world's namespace with that ClusterRole, there or everywhere, once the API server knows it; its token."""
    world.api.ensure(f"/api/v1/namespaces/{world.ns}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}})
    kind = "ClusterRoleBinding" if everywhere else "RoleBinding"
    where = f"{RBAC}/clusterrolebindings" if everywhere else f"{RBAC}/namespaces/{world.ns}/rolebindings"
    name = world.full(account)
    world.made.append(f"{where}/{name}")
    world.api.ensure(where, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name},
                             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                             "subjects": [{"kind": "ServiceAccount", "namespace": world.ns, "name": account}]})
    asking = as_account(world.box, world.ns, account)

    def known():
        """The API server's authorizer hears of the binding a moment later, by a watch; then it has all rules of the role."""
        wanted = [r for r in world.api.get(f"{RBAC}/clusterroles/{role}").get("rules") or [] if r.get("resources")]
        review = asking.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": world.ns}})
        return wanted and any(set(wanted[0]["resources"]) <= set(r.get("resources", [])) for r in review["status"]["resourceRules"])
    wait_until(f"the API server to know the rights of {account}", known, SOON)
    return token(world.api, world.ns, account)


@pytest.fixture
def other(world):
    """A namespace of somebody else, with a LocalQueue into the world's ClusterQueue q."""
    w = World(world.box, f"{world.ns}-other")
    yield w
    w.end()


@pytest.fixture
def tenants(world, other, leads):
    """Two Jobs that wait for the same quota; the tenant is of the world's namespace."""
    world.queue(cpu=1)
    other.local("q", world.full("q"))
    world.job("mine", cpu=2)
    other.job("secret", cpu=2)
    world.waits("mine", "ExceedsMaxQuota")
    wait_until("the other Job to be seen", lambda: other.explain("secret")["waiting"], SOON)
    tenant = bind(world, "tenant", "sluice-batch-user")
    # The leader hears of it by itself, and the authorizer of the binding.
    wait_until("the tenant to be let in", lambda: get(leads.port, job_path(world, "mine"), tenant).status == 200, SOON, leads.proc)
    return SimpleNamespace(mine=world, other=other, token=tenant)


def job_path(world, name):
    return f"{ROOT}/namespaces/{world.ns}/queuedjobs/{name}"


def test_a_rolebinding_in_one_namespace_is_enough_to_explain_ones_own_jobs(tenants, leads, program, tmp_path):
    box, ns = tenants.mine.box, tenants.mine.ns
    answer = asking.job(json.loads(get(leads.port, job_path(tenants.mine, "mine"), tenants.token).text))
    assert answer["reason"] == "ExceedsMaxQuota" and answer["name"] == "mine"
    box.wait_visible(LATER)
    env = config_for(tmp_path, f"https://127.0.0.1:{box.port('kube-apiserver')}", tenants.token, box.pki / "ca.crt")
    done = program("sluice", "explain", "job/mine", "-n", ns, env=env)
    assert done.returncode == 0 and "2 cpu" in done.stdout, done
    done = program("sluice", "decisions", "-n", ns, env=env)
    assert done.returncode == 0, done
    assert tenants.other.ns not in done.stdout
    done = program("sluice", "decisions", env=env)
    assert done.returncode == 3 and "you may not list decisions.visibility.sluice.dev of all namespaces. Name one with -n" in done.stderr, done


def test_and_shows_nothing_of_any_other(tenants, leads):
    theirs, queue = f"{ROOT}/namespaces/{tenants.other.ns}", tenants.mine.full("q")
    there = get(leads.port, job_path(tenants.other, "secret"), tenants.token)
    absent = get(leads.port, job_path(tenants.other, "none"), tenants.token)
    assert there.status == 403 and f"get queuedjobs.visibility.sluice.dev in namespace {tenants.other.ns}" in there.text
    assert (absent.status, absent.text) == (there.status, there.text), "it tells whether the Job exists"
    for path in (f"{ROOT}/decisions", f"{theirs}/decisions", f"{ROOT}/queuereports", f"{ROOT}/budgetreports", "/metrics", f"{ROOT}/nodereports", f"{ROOT}/overcommits", "/api",
                 f"{ROOT}/overcommits/node-0", f"{ROOT}/costs", f"{theirs}/costs?by=owner", f"{ROOT}/queuedjobs", f"{theirs}/histories",
                 f"{theirs}/histories?fold=true", f"{ROOT}/timelines", f"{theirs}/timelines", f"{ROOT}/clusterqueues/{queue}/usage", f"{ROOT}/clusterqueues/{queue}/week", f"{ROOT}/clusterqueues/{queue}/queuedjobs"):
        answer = get(leads.port, path, tenants.token)
        assert answer.status == 403 and "secret" not in answer.text, (path, answer)
        assert get(leads.port, path).status == 401 and get(leads.port, path, "nonsense").status == 401, path
    own = get(leads.port, f"{ROOT}/namespaces/{tenants.mine.ns}/timelines", tenants.token)
    assert own.status == 200 and queue in own.text and "secret" not in own.text and tenants.other.ns not in own.text, own


def test_the_api_server_lets_a_tenant_see_as_little(tenants):
    """The same questions by kubectl's way, with the roles that deploy/rbac has."""
    asking_ns = as_account(tenants.mine.box, tenants.mine.ns, "tenant")
    tenants.mine.box.wait_visible(LATER)
    wait_until("the tenant to be let in", lambda: asking_ns.get(job_path(tenants.mine, "mine")), SOON)
    theirs, own, queue = f"{ROOT}/namespaces/{tenants.other.ns}", f"{ROOT}/namespaces/{tenants.mine.ns}", tenants.mine.full("q")
    assert asking_ns.get(f"{own}/decisions")["kind"] == "DecisionReport"
    assert asking_ns.get(f"{own}/queuereports")["kind"] == "QueueReport"
    for path in (f"{ROOT}/decisions", f"{theirs}/decisions", f"{ROOT}/queuereports", f"{ROOT}/budgetreports", f"{ROOT}/nodereports", f"{ROOT}/overcommits",
                 f"{theirs}/queuereports", f"{ROOT}/clusterqueues/{queue}/usage", f"{ROOT}/clusterqueues/{queue}/week"):
        with pytest.raises(ApiError) as refusal:
            asking_ns.get(path)
        assert refusal.value.status == 403, path


def test_queues_are_for_viewers_and_name_no_job(tenants, leads):
    viewer = bind(tenants.mine, "viewer", "sluice-viewer", everywhere=True)
    report = f"{ROOT}/queuereports"
    wait_until("the viewer to be let in", lambda: get(leads.port, report, viewer).status == 200, SOON)
    queue = tenants.mine.full("q")
    for path in ("/metrics", f"{ROOT}/budgetreports", f"{ROOT}/nodereports", f"{ROOT}/decisions", f"{ROOT}/clusterqueues/{queue}/week", f"{ROOT}/clusterqueues/{queue}/usage"):
        assert get(leads.port, path, viewer).status == 200, path
    told = get(leads.port, report, viewer).text
    assert queue in told and "secret" not in told
    assert get(leads.port, f"{ROOT}/whatifs?drop=LocalQueue/a/b", viewer).status == 403
    lister = bind(tenants.mine, "lister", "sluice-batch-user", everywhere=True)
    wait_until("the lister to be let in", lambda: get(leads.port, f"{ROOT}/decisions", lister).status == 200, SOON)
    assert get(leads.port, job_path(tenants.other, "secret"), lister).status == 200
    assert get(leads.port, report, lister).status == 200
    assert get(leads.port, f"{ROOT}/budgetreports", lister).status == 403


def test_a_tenant_sees_the_queues_that_hers_lead_to_as_sums(tenants, leads):
    world, other, queue = tenants.mine, tenants.other, tenants.mine.full("q")
    world.priorities(high=10)
    report = f"{ROOT}/namespaces/{world.ns}/queuereports"
    wait_until("the other's Job to be counted", lambda: [
        q for q in json.loads(get(leads.port, report, tenants.token).text)["clusterQueues"]
        if q["status"]["pendingWorkloads"] == 2], SOON)
    told = json.loads(get(leads.port, report, tenants.token).text)
    [q] = told["clusterQueues"]
    assert q["metadata"] == {"name": queue} and q["open"] == {"isOpen": True} and "cohortName" not in q["spec"], q
    [flavor] = q["status"]["flavorsReservation"]
    assert {r["name"]: (r["nominal"], r["total"]) for r in flavor["resources"]}["cpu"] == ("1", "0"), flavor
    assert [(local["metadata"]["namespace"], local["spec"]["clusterQueue"]) for local in told["localQueues"]] == [(world.ns, queue)], told
    assert {"kind": "WorkloadPriorityClass", "name": world.full("high"), "value": 10} in told["classes"], told
    assert other.ns not in json.dumps(told) and "secret" not in json.dumps(told) and "cohorts" not in told, told
    assert get(leads.port, f"{ROOT}/namespaces/{other.ns}/queuereports", tenants.token).status == 403


def session(port, bearer=None, **more):
    headers = {**({"Authorization": f"Bearer {bearer}"} if bearer else {}), **{name.replace("_", "-"): value for name, value in more.items()}}
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}/page/session", headers=headers), timeout=SOON) as r:
            return r.status, json.loads(r.read())
    except HTTPError as e:
        return e.code, e.read().decode()


def test_a_session_says_who_asks_and_which_namespaces_there_are(tenants, leads, box):
    world, other = tenants.mine, tenants.other
    status, boss = session(leads.port, box.controller_token)
    assert status == 200 and boss["mayAll"] and not boss["byProxy"] and boss["cell"] and boss["version"], boss
    assert boss["user"].startswith("system:serviceaccount:default:rights-admin") and {world.ns, other.ns} <= set(boss["namespaces"]), boss
    status, alice = session(leads.port, tenants.token)
    assert (status, alice["user"]) == (200, f"system:serviceaccount:{world.ns}:tenant"), alice
    assert (alice["mayAll"], alice["namespaces"]) == (False, [world.ns]) and other.ns not in json.dumps(alice), alice
    assert session(leads.port)[0] == session(leads.port, "nonsense")[0] == 401
    # Behind a proxy, whose token is no user's. Mia may see the other namespace.
    proxy = bind(world, "proxy", "sluice-page-proxy", everywhere=True)
    other.made.append(f"{RBAC}/namespaces/{other.ns}/rolebindings/mia")
    world.api.ensure(f"{RBAC}/namespaces/{other.ns}/rolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "mia"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sluice-batch-user"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "mia@example.com"}]})
    # She has a Job there: of many namespaces, those come first.
    manifest = json.dumps(job("hers", "q", {"cpu": "2"}, suspend=True))
    wait_until("Mia to be let in", lambda: box.kubectl("create", "-f", "-", "-n", other.ns, "--as", "mia@example.com", "--as-group", "system:authenticated",
                                                      check=False, input=manifest).returncode == 0, LATER)
    mia = wait_until("Mia's rights to be known", lambda: (s := session(leads.port, proxy, X_Remote_User="mia@example.com"))[0] == 200 and
                     s[1]["namespaces"] and s[1], LATER)
    assert (mia["user"], mia["byProxy"], mia["mayAll"], mia["namespaces"]) == ("mia@example.com", True, False, [other.ns]), mia
    status, said = session(leads.port, tenants.token, X_Remote_User="mia@example.com")
    assert status == 403 and "impersonate" in said, "a tenant is no proxy"


def test_paths_of_before_say_where_to_ask(leads):
    answer = get(leads.port, "/api/v1/queues")
    assert answer.status == 410 and f"{ROOT}/queuereports" in answer.text


def test_a_preempted_jobs_owner_is_not_told_the_other_ones_name(world, other):
    world.priorities(high=10)
    world.queue(cpu=2, preemption={"withinClusterQueue": "LowerPriority"})
    other.local("q", world.full("q"))
    bind(world, "tenant", "sluice-batch-user")
    tenant = as_account(world.box, world.ns, "tenant")
    world.job("victim", cpu=2)
    world.started("victim")
    other.job("secret", cpu=2, labels={"sluice.dev/priority-class": world.full("high")})
    world.stopped("victim")
    other.started("secret")
    said = wait_until("the tenant to read its Job", lambda: tenant.get(jobs_path(world.ns, "victim")), SOON)
    told = story(said)
    assert told["reason"] == "Preempted" and "preemptor" not in told
    assert told["message"] == f"Stopped for a Job of higher priority in ClusterQueue {world.full('q')}"
    waiting = world.explain("victim")
    events = wait_until("the Event", lambda: [e for e in world.api.list(f"/api/v1/namespaces/{world.ns}/events")
                                              if e["reason"] == "Preempted"], SOON)
    for text in (json.dumps(annotations(said)), json.dumps(waiting), json.dumps(events), json.dumps(said["status"])):
        assert "secret" not in text and other.ns not in text, text


# ---- slow callers ----------------------------------------------------------------------


class Slow:
    """300 sockets, more than a port takes, that send a byte every half second, and come back when they are closed."""

    def __init__(self, port, source="127.0.0.1"):
        self.port, self.source, self.over, self.closed = port, source, threading.Event(), 0
        self.sockets = [self.open() for _ in range(300)]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def open(self):
        """It may be closed before it has said anything: that is seen at its next byte."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=SOON, source_address=(self.source, 0))
        try:
            s.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        except ConnectionError:
            pass
        s.setblocking(False)
        return s

    def drip(self, i):
        try:
            self.sockets[i].send(b"x")
            if self.sockets[i].recv(1):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.sockets[i].close()
        self.closed += 1
        try:
            self.sockets[i] = self.open()
        except OSError:
            pass  # the next time

    def run(self):
        while not self.over.wait(0.5):
            for i in range(len(self.sockets)):
                self.drip(i)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()
        for s in self.sockets:
            s.close()


def probe(port, path, tries):
    """The kubelet takes a container for unhealthy when several probes in a row fail (3 by default), each of which has 3 s. That one is
    late may be the machine's doing; of those that are cut off there may be `tries` less one."""
    took = []
    while len(took) < 3:
        began = time.monotonic()
        try:
            assert get(port, path).status == 200
            took.append(time.monotonic() - began)
            if took[-1] < 3:
                return
        except (ConnectionError, URLError) as e:
            tries -= 1
            if tries == 0 or not isinstance(getattr(e, "reason", e), ConnectionError):
                raise
    raise AssertionError(f"{path} took {took} s, three times in a row")


@pytest.mark.parametrize("source, tries", [("127.0.0.1", 3), ("127.0.0.9", 1)], ids=["same address", "another address"])
@pytest.mark.parametrize("target", ["port", "probes"])
def test_slow_sockets_make_no_probe_fail(strict, target, source, tries):
    """A burst from the address of the probe itself may end the probe's connection before its request is
    sent: connections of one address have the same share. From another address it never does."""
    with Slow(getattr(strict, target), source) as slow:
        for _ in range(5):
            probe(strict.probes, "/healthz", tries)
            probe(strict.probes, "/readyz", tries)
            probe(strict.port, "/healthz", tries)  # nor is the API's port full
            time.sleep(1)
        assert slow.closed > 0 and slow.thread.is_alive()


def test_the_port_of_probes_has_nothing_else(strict):
    for path in ("/metrics", "/api", f"{ROOT}/queuereports", "/api/v1/queues"):
        assert get(strict.probes, path).status == 404
    assert get(strict.port, "/metrics").status == 401


# ---- tokens ------------------------------------------------------------------------------


def test_a_token_may_have_to_be_for_the_controller_alone(box, world):
    with standby(box, "audience", "--token-audience", "sluice") as audience:
        usual = bind(world, "viewer", "sluice-viewer", everywhere=True)
        bound = world.api.post(f"/api/v1/namespaces/{world.ns}/serviceaccounts/viewer/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["sluice"]}})["status"]["token"]
        wait_until("the token to be let in", lambda: get(audience.port, f"{ROOT}/queuereports", bound).status == 503, SOON, audience.proc)
        assert get(audience.port, f"{ROOT}/queuereports", usual).status == 401
        with pytest.raises(ApiError) as refusal:  # and it is of no use elsewhere
            type(world.api)(port=box.port("kube-apiserver"), ca=box.pki / "ca.crt", token=bound).get(jobs_path(world.ns))
        assert refusal.value.status == 401


# ---- TLS ---------------------------------------------------------------------------------


def fingerprint(pem):
    return ":".join(f"{b:02X}" for b in hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).digest())


@pytest.mark.parametrize("own", [False, True], ids=["files", "self-signed"])
def test_the_port_is_asked_over_https(tenants, box, tmp_path, own):
    flags = ["--tls-self-signed"] if own else ["--tls-cert-file", box.pki / "server.crt", "--tls-private-key-file", box.pki / "server.key"]
    with standby(box, f"tls-{own}".lower(), *flags) as it:
        shown = ssl.get_server_certificate(("127.0.0.1", it.port))
        wait_until("the log to tell which certificate it is", lambda: fingerprint(shown) in it.proc.log.read_text(errors="replace"), SOON, it.proc)
        ca = tmp_path / "ca.crt"
        ca.write_text(shown if own else (box.pki / "ca.crt").read_text())

        def says():
            request = Request(f"https://localhost:{it.port}{job_path(tenants.mine, 'mine')}", headers={"Authorization": f"Bearer {tenants.token}"})
            with pytest.raises(HTTPError) as refusal, urlopen(request, timeout=SOON, context=ssl.create_default_context(cafile=ca)):
                pass
            return refusal.value.code == 503 and "one leads: ask that one" in refusal.value.read().decode()
        wait_until("it to say who leads", says, SOON, it.proc)
        with pytest.raises(URLError):
            urlopen(f"https://localhost:{it.port}/healthz", timeout=SOON)  # by the system's CAs
        assert get(it.probes, "/readyz").status == 200, "the kubelet's port stays plain HTTP"


def test_a_key_of_another_certificate_is_refused_at_the_start(box, program):
    done = program("sluice-controller", "--kubeconfig", box.state / "controller.kubeconfig", "--database", box.database, "--listen", "127.0.0.1:0",
                   "--tls-cert-file", box.pki / "server.crt", "--tls-private-key-file", box.pki / "ca.key")
    assert done.returncode == 1 and "does not belong" in done.stderr and "ca.key" in done.stderr and "server.crt" in done.stderr, done
