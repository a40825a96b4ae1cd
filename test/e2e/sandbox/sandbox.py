"""A real control plane of one's own: started, resumed, broken and ended.

Everything lives in build/sandbox/NAME/: logs/, run/ (what was started, by pid
and start time), pki/, kubeconfigs, etcd/ and pg/. Several stand side by side:
ports are free ones, written down and kept, so kubeconfigs stay true across
restarts.

Always true:
- `up` starts what does not run and leaves alone what does; it may be called at
  any time, after any crash.
- `down` ends only what this sandbox started, in the order that ends well:
  controllers first, then the API server until it has exited, then etcd, then
  Postgres. An API server whose etcd went first holds its port for minutes.
- etcd and Postgres keep their fsync. A bench on a sandbox is a fair one.

The controller answers for visibility.sluice.dev: the API server asks the first one that was started,
until visible() names another.

With `overcommit=True` there is a real metrics-server too, and kwok plays what nodes
and pods use (usage.py). A sandbox that once had it keeps it.

With `with_real_node=True` there is one more node, whose containers really run (real_node.py).
A sandbox that once had it keeps it.

With `agents=True` idle resources are lent as well, and agents of nodes have a port at each controller and all that they need in
the cluster (agents.py); with a real node one runs there. A sandbox that once had them keeps them.

With `gates=("Name", ...)` those feature gates of Kubernetes are on, and all its beta APIs.

With `cluster=True` the cluster is the one that KUBECONFIG names, and only
Postgres, the controller and a `kubectl proxy` are ours.
"""

import fcntl
import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from . import agents as node_agents
from . import apply, certs, nodes, real_node, sql, template, usage
from .asking import ROOT as ASKED
from .asking import ControllerApi
from .kube import Api, ApiError
from .process import Process, SandboxError, start_time, tail, wait_until

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
HERE = Path(__file__).resolve().parent

# In the order of their start. Controllers of ours come after all of them.
COMPONENTS = ["postgres", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
CLUSTER_COMPONENTS = ["postgres", "proxy"]
PORTS = ["etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
# Controllers of Kubernetes that do not run here: one looks ten times a second for volumes to attach, of which no node has one,
# and one reads the schemas of all kinds at each start of a control plane, to check the types of our policies (test_policies.py has it).
CHECKS_POLICIES = "validatingadmissionpolicy-status-controller"
LEFT_OUT = ("persistentvolume-attach-detach-controller", CHECKS_POLICIES)
LATE = ("metrics-server",)  # wants to be told of the nodes first

SYSTEM_NAMESPACE, ACCOUNT = "sluice-system", "sluice-controller"
TOKEN_SECONDS = 30 * 24 * 3600  # renewed by each `up`; nobody else rotates it here
SOCKET_PATH_MAX = 107
MUTATING_POLICIES_SINCE = 36  # Kubernetes 1.36: MutatingAdmissionPolicy as v1
URL, VISIBILITY, NODES = "SLUICE_SANDBOX_URL", "SLUICE_SANDBOX_VISIBILITY", "SLUICE_SANDBOX_NODES"  # where a controller listens, in its environment
POLICIES = ROOT / "deploy" / "policies"
APISERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.visibility.sluice.dev"
INSTALLED_PORT = 443  # of the Service that deploy/components/visibility has
NOWHERE = "192.0.2.1"  # an address for the EndpointSlice, which takes no loopback; nothing goes there


class Sandbox:
    """`with Sandbox("name") as s:` is up() and down(); both can be called alone."""

    def __init__(self, name, cluster=False, overcommit=False, say=lambda text: None, with_real_node=False, gates=(), agents=False):
        if not name or not all(c.isalnum() or c in "-_" for c in name):
            raise SandboxError(f"sandbox name {name!r}: use letters, digits, - and _ only")
        self.name, self.say, self.gates = name, say, gates
        self.state = BUILD / "sandbox" / name
        self.cluster = cluster or (self.state / "cluster").exists()
        self.overcommit = not self.cluster and (overcommit or (self.state / "overcommit").exists())
        self.kubeconfig = self.state / "kubeconfig"
        self.pki = self.state / "pki"
        self._procs, self._ports, self._api, self._sql = {}, None, None, sql.Sql()
        self.pair = None  # a Pair (pair.py) in the place of the one Postgres
        self.pooler = None  # a Pooler (pooler.py) before the one Postgres
        self.kueue = None  # a Kueue (kueue.py) beside
        with_real_node = not self.cluster and (with_real_node or (self.state / "with-real-node").exists())
        self.real_node = real_node.RealNode(self) if with_real_node else None
        self.agents = not self.cluster and (agents or (self.state / "agents").exists())
        self.components = CLUSTER_COMPONENTS if self.cluster else COMPONENTS + [
            *(["metrics-server"] if self.overcommit else []), *([real_node.COMPONENT] if self.real_node else [])]

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *exc):
        self.down()

    # -- what it is made of ------------------------------------------------

    def process(self, component):
        """The Process of a component or of `controller-IDENTITY`."""
        if component not in self._procs:
            self._procs[component] = Process(self.state, component)
        return self._procs[component]

    def pid(self, component):
        return self.process(component).pid

    def controllers(self):
        """Names of all controllers ever started here, as in `controller-one`."""
        return sorted(f.stem for f in (self.state / "run").glob("controller-*.json"))

    def _pairs(self):
        """Names of the servers of a pair, and of a pooler, that were ever started here: `postgres-a`, `postgres-pooler`."""
        return sorted(f.stem for f in (self.state / "run").glob("postgres-*.json"))

    def _kueues(self):
        """Names of the managers of Kueue that were ever started here."""
        return sorted(f.stem for f in (self.state / "run").glob("kueue*.json"))

    @property
    def api(self):
        """As the administrator."""
        if self._api is None:
            self._api = (Api(unix=self.socket_dir / "kube.sock") if self.cluster else
                         Api(port=self.port("kube-apiserver"), ca=self.pki / "ca.crt", token=certs.token(self.pki, "admin")))
        return self._api

    @property
    def socket_dir(self):
        """Where Postgres has its unix socket (and `kubectl proxy` its own)."""
        return Path((self.state / "socket-dir").read_text())

    @property
    def database(self):
        """A libpq connection string for the ledger."""
        if self.pooler:
            return self.pooler.database
        return self.pair.database if self.pair else f"host={self.socket_dir} dbname=sluice user=sluice"

    def port(self, what):
        if self._ports is None:
            self._ports = json.loads((self.state / "ports.json").read_text())
        return self._ports[what]

    def tool(self, name):
        """A program: ours from build/tools or, for kubectl, the machine's.

        SLUICE_KUBERNETES is the Kubernetes whose own programs are wanted (./dev test --kubernetes)."""
        built = BUILD / "tools" / os.environ.get("SLUICE_KUBERNETES", "") / name
        if not built.exists():
            built = BUILD / "tools" / name
        found = str(built) if built.exists() else shutil.which(name)
        if not found:
            raise SandboxError(f"{name} is neither in build/tools nor in PATH; ./dev tools builds it")
        return found

    def kubectl(self, *args, check=True, **kw):
        """Run kubectl as the administrator; returns CompletedProcess with text output."""
        done = subprocess.run([self.tool("kubectl"), *map(str, args)], env=self.kubectl_env(), capture_output=True, text=True, **kw)
        if check and done.returncode:
            raise SandboxError(f"kubectl {' '.join(map(str, args[:4]))} failed: {done.stderr.strip()}")
        return done

    def kubectl_env(self):
        """For a kubectl of anybody's; without --kubeconfig it is the administrator's."""
        if self.cluster:
            return {**os.environ}
        # What kubectl keeps of an API server goes by its port, which another sandbox may have had.
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.state / "kubectl-cache")}

    def sql(self, statement, database="sluice"):
        """Run SQL as the superuser of this Postgres; rows as lists of strings."""
        if self.pair:
            return self.pair.sql(statement, database)
        return self.sql_at(f"host={self.socket_dir}", statement, database)

    def sql_at(self, where, statement, database="sluice"):
        """The same, of the Postgres that the words of a connection string name."""
        return self._sql.ask(f"{where} user=postgres dbname={database}", statement)

    # -- up and down -------------------------------------------------------

    def up(self, controller=None, manifests=True, from_template=False, flags=()):
        """Start what does not run, and return when all of it is ready.

        `controller` is an identity to start a controller under, or None; `flags` are those of the controller, which
        is started anew if it runs with others. `from_template`: a new sandbox begins as a copy of one that was up
        (template.py)."""
        with self._locked():
            self._make_socket_dir()
            copied = from_template and not (self.state / "etcd").exists()
            if copied:
                self.say("copying the template")
                template.copy_to(self)
            if self.cluster:
                (self.state / "cluster").touch()
            else:
                self._take_ports()
                certs.make(self.pki)
                self._turn_on("tokens", certs.make_tokens)
                self._turn_on("aggregator", certs.make_for_aggregator)
                if self.overcommit:
                    self._turn_on("overcommit", certs.make_more)
                if self.real_node:
                    self._turn_on("with-real-node", certs.make_for_real_node)
                if self.agents:
                    (self.state / "agents").touch()
                self._write_kubeconfigs()
            at_first = [c for c in self.components if c not in LATE]
            for component in at_first:
                self.start(component)
                # The API server wants its etcd, the others their API server;
                # the last three start at once and are awaited together.
                if component in ("etcd", "kube-apiserver", "proxy"):
                    self.wait_ready(component)
            for component in at_first:
                self.wait_ready(component)
            if not self.cluster:
                self._make_nodes()
            if self.overcommit:
                self._serve_usage()
            self._make_database()
            if copied:
                self._wait_crds()
                self._apply_folder(POLICIES)
                self._wait_policy()
            elif manifests:
                self.apply_manifests()
            if manifests and (self.overcommit or self.agents):
                self._apply(apply.documents((ROOT / "deploy" / "components" / "idle-resources" / "role.yaml").read_text()))
            if manifests and self.agents:
                self.say("installing deploy/components/node-agent")
                node_agents.install(self)
            if controller:
                self._end_with_other_flags(controller, list(flags))
                self.start_controller(controller, extra_args=flags)

    def _end_with_other_flags(self, identity, flags):
        """Ends a controller that runs with other flags than these, so that it is started with them. Behind its identity
        start_controller() puts what it was given, and nothing else."""
        proc = self.process(f"controller-{identity}")
        argv = proc.record().get("argv", [])
        if proc.alive() and argv[argv.index("--identity") + 2:] != flags:
            proc.stop()

    def up_database(self):
        """Only Postgres, for a controller that talks to no cluster of ours."""
        with self._locked():
            self._make_socket_dir()
            self.start("postgres")
            self.wait_ready("postgres")
            self._make_database()

    def down(self):
        """End what was started here, in order. Returns {component: how it went}."""
        if not self.state.exists():
            return {}
        with self._locked():
            order = self.controllers() + self._kueues() + list(reversed(self.components)) + self._pairs()
            # Those that only talk to the API server go together; each of the
            # rest must be gone before the next is told.
            together = [c for c in order if c not in ("kube-apiserver", "etcd") and not c.startswith("postgres")]
            told = set()
            for component in together:
                proc = self.process(component)
                if proc.signal(proc.record().get("stop_signal", signal.SIGTERM)):
                    told.add(component)
            went = {}
            for component in order:
                how = self.process(component).stop()
                went[component] = "ended" if component in told and how == "was not running" else how
                if component == real_node.COMPONENT:
                    self.real_node.clear()
            return went

    def destroy(self):
        """End it, and forget everything. Nobody is asked to end in good order, which an API server takes
        half a minute for: what would be put in order goes with it. But Postgres is, for the memory it shares."""
        self._sql.end()
        if self.state.exists():
            with self._locked():
                for component in self.controllers() + self._kueues() + list(reversed(self.components)) + self._pairs():
                    if component.startswith("postgres"):
                        self.process(component).stop()
                    elif self.process(component).signal(signal.SIGKILL):
                        wait_until(f"{component} to be gone", lambda p=self.process(component): not p.alive())
                if self.real_node:
                    self.real_node.clear()
        if (self.state / "socket-dir").exists():
            for folder in {self.socket_dir, self.pg_home()}:
                if self.state not in folder.parents:
                    shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.state, ignore_errors=True)
        self._procs, self._ports, self._api = {}, None, None

    def status(self):
        """[(component, pid or None, where it listens)], in the order of start."""
        rows = []
        for c in self.components + self.controllers():
            record = self.process(c).record()
            if c == "postgres":
                where = str(self.socket_dir) if (self.state / "socket-dir").exists() else ""
            elif c.startswith("controller-"):
                where = record.get("env", {}).get(URL, "")
            elif c == "proxy":
                where = str(self.socket_dir / "kube.sock")
            else:
                plain = c in ("etcd", "kwok")
                port = "kubelet" if c == real_node.COMPONENT else c
                where = f"http{'' if plain else 's'}://127.0.0.1:{self.port(port)}" if (self.state / "ports.json").exists() else ""
            rows.append((c, self.pid(c), where))
        return rows

    # -- what tests do to it -----------------------------------------------

    def kill(self, component, number=signal.SIGKILL):
        """Send a signal to a component; for SIGKILL, return once it is gone."""
        proc = self.process(component)
        if not proc.signal(number):
            raise SandboxError(f"{component} of sandbox {self.name} does not run, so it cannot be killed")
        if number == signal.SIGKILL:
            wait_until(f"{component} to be gone", lambda: not proc.alive())

    def crash(self, component):
        """kill -9 of it and all its children at once, as the kernel or a power cut would."""
        family = self.process(component).family()
        self.kill(component)
        for pid, started in family:
            if start_time(pid) == started:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        wait_until(f"the children of {component} to be gone", lambda: all(start_time(p) != s for p, s in family))

    def start(self, component):
        """Start a component unless it runs; does not wait for it to be ready."""
        proc = self.process(component)
        if proc.alive():
            return proc
        if component.startswith("controller-"):
            proc.start()
        elif component == "postgres":
            self._start_postgres()
        elif component == real_node.COMPONENT:
            self.say("starting a real node")
            self.real_node.start()
        else:
            self.say(f"starting {component}")
            argv, env = getattr(self, "_argv_" + component.replace("-", "_"))()
            proc.start(argv, env=env)
        return proc

    def restart(self, component, number=signal.SIGKILL):
        """Kill, start, wait until it is ready again."""
        self.kill(component, number)
        wait_until(f"{component} to end", lambda: not self.process(component).alive())
        self.start(component)
        self.wait_ready(component)

    def wait_ready(self, component, timeout=300):
        """Until it answers that it can do its work. For a controller that means
        it is the leader; a standby is never ready, only healthy (wait_healthy)."""
        proc = self.process(component)
        if component.startswith("controller-"):
            return wait_until(f"{component} to be ready (leading, synced, ledger up)",
                              lambda: self.controller_api(component).raw("GET", "/readyz"), timeout, proc)
        check = {
            "postgres": lambda: self._postgres_answers(),
            "etcd": lambda: self._plain("etcd").get("/health")["health"] == "true",
            "kube-apiserver": lambda: self.api.raw("GET", "/readyz") == b"ok",
            "kube-controller-manager": lambda: self._tls("kube-controller-manager").raw("GET", "/healthz") == b"ok",
            "kube-scheduler": lambda: self._tls("kube-scheduler").raw("GET", "/readyz") == b"ok",
            "kwok": lambda: self._plain("kwok").raw("GET", "/healthz") is not None,
            "metrics-server": lambda: self.api.get(usage.GROUP + "/nodes?limit=1"),
            real_node.COMPONENT: lambda: self.real_node.ready(),
            "proxy": lambda: self.api.get("/version"),
        }[component]
        return wait_until(f"{component} to be ready", check, timeout, proc)

    def wait_healthy(self, component, timeout=120):
        """Until a controller answers at all, leader or not."""
        return wait_until(f"{component} to be healthy",
                          lambda: self.controller_api(component).raw("GET", "/healthz"), timeout, self.process(component))

    def start_controller(self, identity="one", binary=None, extra_args=(), env=None, kubeconfig=None, visibility=True):
        """Start sluice-controller as its own ServiceAccount (or with a kubeconfig of one's own); wait for /healthz.

        Returns the Process; its name, `controller-IDENTITY`, is what kill(),
        start(), wait_ready() and controller_api() go by. `visibility` False: it
        has no such flags (an older one)."""
        name = f"controller-{identity}"
        proc = self.process(name)
        if proc.alive():
            return proc
        binary = Path(binary or BUILD / "bin" / "sluice-controller")
        if not binary.exists():
            raise SandboxError(f"{binary} does not exist; ./dev build makes it")
        kubeconfig = kubeconfig or self.account_kubeconfig("controller", SYSTEM_NAMESPACE, ACCOUNT)
        port, visible, nodes_port = self._controller_ports(name)
        env = {**(env or {}), URL: f"http://127.0.0.1:{port}"}
        # Somebody else's cluster cannot ask us here.
        serves = visibility and not self.cluster and self.process("kube-apiserver").alive()
        serving = ["--visibility-listen", f"127.0.0.1:{visible}", "--visibility-address", NOWHERE] if serves else []
        if serves:
            env[VISIBILITY] = str(visible)
            if not self._is_asked_elsewhere(name):
                self._ask_at(visible)
        self.say(f"starting sluice-controller as {identity}")
        # As in deploy/: the right to read of kube-system comes with components/idle-resources.
        lending = [] if self.overcommit or self.agents else ["--overcommit-config", ""]
        if self.agents and visibility:
            env[NODES] = str(nodes_port)
            serving += ["--node-listen", f"127.0.0.1:{nodes_port}", "--node-address", "127.0.0.1"]
        proc.start([binary.resolve(), "--kubeconfig", kubeconfig, "--database", self.database, *lending, *serving,
                    "--listen", f"127.0.0.1:{port}", "--identity", identity, *extra_args], env=env)
        self.wait_healthy(name)
        return proc

    def _controller_ports(self, name):
        """Its own port, that of visibility.sluice.dev and that of agents: those of last time, if nobody took them."""
        record = self.process(name).record().get("env", {})
        ports = [int(record[what].rpartition(":")[2]) if record.get(what) else None for what in (URL, VISIBILITY, NODES)]
        with _port_lock():
            for i, port in enumerate(ports):
                if port is None or not _is_free(port):
                    ports[i] = _free_port(_ports_taken() | set(ports))
        return ports

    def visibility_port(self, component="controller-one"):
        """Where a controller answers the API server for visibility.sluice.dev."""
        port = self.process(component).record().get("env", {}).get(VISIBILITY)
        if not port:
            raise SandboxError(f"{component} of sandbox {self.name} was not started with a port for visibility.sluice.dev")
        return int(port)

    def visible(self, component="controller-one"):
        """From now on the API server asks that controller for visibility.sluice.dev. Only the leader
        answers, and tells the API server its certificate: see wait_visible()."""
        self._ask_at(self.visibility_port(component))

    def wait_visible(self, timeout=120):
        """Until the API server has an answer, and says so."""
        return wait_until("visibility.sluice.dev to be served", self.is_visible, timeout)

    def is_visible(self):
        """The condition alone may be that of a controller before."""
        said = self.api.get(APISERVICE).get("status", {}).get("conditions", [])
        try:
            return any(c["type"] == "Available" and c["status"] == "True" for c in said) and self.api.gone(f"{ASKED}/namespaces/default/queuedjobs/none")
        except ApiError:
            return False

    def _asked_port(self):
        """Where the API server asks for visibility.sluice.dev, or None."""
        try:
            return self.api.get(APISERVICE)["spec"]["service"]["port"]
        except ApiError as e:
            if e.status == 404:
                return None
            raise

    def _is_asked_elsewhere(self, name):
        """Another controller, which is alive, or what an admin's manifests name."""
        others = [c for c in self.controllers() if c != name and self.process(c).alive() and VISIBILITY in self.process(c).record().get("env", {})]
        return others or self._asked_port() == INSTALLED_PORT

    def _ask_at(self, port):
        """The component as an admin has it, but with a Service that means this machine."""
        if self._asked_port() == port:
            return
        self._apply([(path, text.replace(f"port: {INSTALLED_PORT}\n", f"port: {port}\n") if path == APISERVICE else text)
                     for path, text in apply.rendered(self.tool("kubectl"), HERE / "visibility")])

    controller_token = None  # that controller_api() shows, where the controller wants one

    def controller_url(self, component="controller-one"):
        """Where a controller listens, as in http://127.0.0.1:20001."""
        record = self.process(component).record()
        if not record:
            raise SandboxError(f"{component} was never started in sandbox {self.name}")
        return record["env"][URL]

    def controller_api(self, component="controller-one"):
        """A controller's own HTTP, at which the leader alone tells of Jobs and queues."""
        return ControllerApi(port=int(self.controller_url(component).rpartition(":")[2]), token=self.controller_token)

    def apply_manifests(self, folder=ROOT / "deploy" / "sandbox"):
        """Our CRDs, namespace, RBAC and admission policies; wait until they hold."""
        self.say(f"applying {folder.relative_to(ROOT)}")
        self._apply_folder(folder)
        self._wait_crds()
        self._wait_policy()

    def _apply_folder(self, folder):
        if self.minor() < MUTATING_POLICIES_SINCE:
            folder = self._without_mutating_policy(folder)
        self._apply(apply.rendered(self.tool("kubectl"), folder))

    def _wait_crds(self):
        ours = [c for c in self.api.list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
                if c["spec"]["group"] == "sluice.dev"]
        for crd in ours:
            path = f"/apis/sluice.dev/{crd['spec']['versions'][0]['name']}/{crd['spec']['names']['plural']}?limit=1"
            wait_until(f"CRD {crd['metadata']['name']} to be served", lambda p=path: self.api.get(p))

    def minor(self):
        """Of the API server's version: 36."""
        return int(self.api.get("/version")["minor"].rstrip("+"))

    def _without_mutating_policy(self, folder):
        """The overlay that an admin of an older API server would write: deploy/README.md."""
        overlay = self.state / f"deploy-{folder.name}"
        overlay.mkdir(exist_ok=True)
        to = lambda path: os.path.relpath(path, overlay)
        _write(overlay / "kustomization.yaml", f"""\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{to(folder)}]
components: [{to(ROOT / "deploy" / "components" / "without-mutating-policy")}]
""")
        return overlay

    # -- how the components are started ------------------------------------

    def _argv_etcd(self):
        client, peer = (f"http://127.0.0.1:{self.port(p)}" for p in ("etcd", "etcd-peer"))
        return [self.tool("etcd"), "--name=sandbox", f"--data-dir={self.state / 'etcd'}",
                f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=sandbox={peer}", f"--quota-backend-bytes={4 << 30}", "--log-level=warn"], None

    def _serving(self, component):
        return ["--bind-address=127.0.0.1", f"--secure-port={self.port(component)}",
                f"--tls-cert-file={self.pki / 'server.crt'}", f"--tls-private-key-file={self.pki / 'server.key'}"]

    def _argv_kube_apiserver(self):
        return [self.tool("kube-apiserver"), *self._serving("kube-apiserver"),
                f"--etcd-servers=http://127.0.0.1:{self.port('etcd')}",
                # Loopback cannot be an endpoint of the `kubernetes` Service,
                # and nothing here needs one.
                "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                "--service-cluster-ip-range=10.0.0.0/24",
                f"--client-ca-file={self.pki / 'ca.crt'}", f"--token-auth-file={self.pki / certs.TOKEN_FILE}", "--authorization-mode=Node,RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={self.pki / 'sa.pub'}",
                f"--service-account-signing-key-file={self.pki / 'sa.key'}",
                *self._aggregator(), *self._gates(), *(["--runtime-config=api/beta=true"] if self.gates else []),
                *(self._kubelet_client() if self.real_node else [])], None

    def _gates(self):
        return ["--feature-gates=" + ",".join(f"{gate}=true" for gate in self.gates)] if self.gates else []

    def _kubelet_client(self):
        """How the API server shows itself to kubelets, which it asks for logs."""
        return [f"--kubelet-client-certificate={self.pki / 'kubelet-client.crt'}", f"--kubelet-client-key={self.pki / 'kubelet-client.key'}",
                f"--kubelet-certificate-authority={self.pki / 'ca.crt'}"]

    def _aggregator(self):
        """How the API server shows whom it asks for when it asks another server."""
        return [f"--requestheader-client-ca-file={self.pki / 'ca.crt'}", "--requestheader-allowed-names=front-proxy-client",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-username-headers=X-Remote-User",
                f"--proxy-client-cert-file={self.pki / 'front-proxy.crt'}", f"--proxy-client-key-file={self.pki / 'front-proxy.key'}"]

    def _argv_kube_controller_manager(self):
        config = self.state / "kube-controller-manager.kubeconfig"
        return [self.tool("kube-controller-manager"), *self._serving("kube-controller-manager"), *self._gates(),
                f"--kubeconfig={config}", f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}",
                "--leader-elect=false", "--use-service-account-credentials=true",
                f"--controllers=*{''.join(f',-{c}' for c in LEFT_OUT)}",
                f"--root-ca-file={self.pki / 'ca.crt'}", f"--service-account-private-key-file={self.pki / 'sa.key'}",
                # The defaults (5 at a time, 20 requests a second) would make
                # the Job controller the thing that is tested.
                "--concurrent-job-syncs=20", "--kube-api-qps=2000", "--kube-api-burst=4000",
                # kwok beats 2 minutes after the last write of a Node, whoever wrote it: never, where a test writes more often.
                f"--node-monitor-grace-period={f'{real_node.GRACE_SECONDS}s' if self.real_node else '24h'}"], None

    def _argv_kube_scheduler(self):
        config = self.state / "scheduler.yaml"
        _write(config, f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
clientConnection:
  kubeconfig: {self.state / 'kube-scheduler.kubeconfig'}
  qps: 2000
  burst: 4000
""")
        kubeconfig = self.state / "kube-scheduler.kubeconfig"
        return [self.tool("kube-scheduler"), *self._serving("kube-scheduler"), *self._gates(), f"--config={config}",
                f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}"], None

    def _argv_kwok(self):
        home = self.state / "kwok"
        home.mkdir(exist_ok=True)
        # Metrics are asked for by https, on the port that its nodes say is their kubelet's.
        more = [f"--config={HERE / 'kwok-usage.yaml'}", "--node-ip=127.0.0.1", f"--node-port={self.port('kwok')}",
                f"--tls-cert-file={self.pki / 'server.crt'}", f"--tls-private-key-file={self.pki / 'server.key'}"]
        managed = ["--manage-all-nodes"]
        if self.real_node:
            managed = [f"--manage-nodes-with-label-selector={real_node.KWOK_SELECTOR}", f"--config={HERE / 'kwok-beats.yaml'}"]
        return [self.tool("kwok"), f"--kubeconfig={self.state / 'kwok.kubeconfig'}", f"--config={HERE / 'kwok.yaml'}",
                *(more if self.overcommit else []), *managed, "--v=WARN", "--node-lease-duration-seconds=0",
                f"--server-address=127.0.0.1:{self.port('kwok')}"], {"KWOK_WORKDIR": str(home)}

    def _argv_metrics_server(self):
        config = self.state / "metrics-server.kubeconfig"
        return [self.tool("metrics-server"), *self._serving("metrics-server"),
                f"--kubeconfig={config}", f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}",
                "--kubelet-preferred-address-types=InternalIP", "--kubelet-use-node-status-port", "--kubelet-insecure-tls",
                f"--metric-resolution={usage.SCRAPE_SECONDS}s", "--kubelet-request-timeout=5s"], None

    def _argv_proxy(self):
        sock = self.socket_dir / "kube.sock"
        sock.unlink(missing_ok=True)
        return [self.tool("kubectl"), "proxy", f"--unix-socket={sock}"], None

    def _plain(self, component):
        return Api(port=self.port(component), timeout=20)

    def _tls(self, component):
        return Api(port=self.port(component), ca=self.pki / "ca.crt", timeout=20)

    # -- Postgres ----------------------------------------------------------

    @staticmethod
    def pg_program(program):
        """Debian keeps the server's programs out of PATH, one folder a version."""
        found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), key=lambda p: float(p.parts[-3]))
        path = str(found[-1]) if found else shutil.which(program)
        if not path:
            raise SandboxError(f"no Postgres program {program} in /usr/lib/postgresql/*/bin or PATH; "
                               "on Debian: apt-get install postgresql-15")
        return path

    @staticmethod
    def pg_user():
        """Postgres refuses to run as root, so as root we run it as its own user."""
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            try:
                entry = pwd.getpwnam(name)
                return (entry.pw_uid, entry.pw_gid)
            except KeyError:
                pass
        raise SandboxError("Postgres cannot run as root, and there is neither a user postgres nor nobody to run it as")

    def pg_home(self):
        return Path((self.state / "pg-home").read_text())

    def pg_data(self):
        """The data directory of the one Postgres."""
        return self.pg_home() / "data"

    def _make_socket_dir(self):
        """Choose, once, where Postgres lives and where its socket is.

        Normally both in our state folder. Elsewhere when that cannot be: a
        socket path has 107 bytes at most, and the user that Postgres runs as
        may not be allowed into the folder (a checkout under /root)."""
        user = self.pg_user()
        become = dict(user=user[0], group=user[1], extra_groups=[]) if user else {}
        home_note, socket_note = self.state / "pg-home", self.state / "socket-dir"
        if home_note.exists() and self.pg_home().exists() and socket_note.exists() and self.socket_dir.exists():
            return
        reachable = subprocess.run(["test", "-x", str(self.state)], cwd="/", **become).returncode == 0
        home = self.state / "pg" if reachable else Path(tempfile.mkdtemp(prefix="sluice-", dir="/var/tmp"))
        home.mkdir(exist_ok=True)
        sock = home / "s"
        if len(bytes(sock / ".s.PGSQL.5432.lock")) > SOCKET_PATH_MAX:
            sock = Path(tempfile.mkdtemp(prefix="sluice-", dir="/tmp"))
        sock.mkdir(exist_ok=True)
        for folder in (home, sock):
            folder.chmod(0o700)
            if user:
                os.chown(folder, *user)
        _write(home_note, str(home))
        _write(socket_note, str(sock))

    def pg_run(self, program, *args):
        """One of Postgres' own programs to its end, as the user that Postgres runs as."""
        user = self.pg_user()
        become = dict(user=user[0], group=user[1], extra_groups=[]) if user else {}
        return subprocess.run([self.pg_program(program), *map(str, args)], cwd="/", capture_output=True, text=True, **become)

    def init_database(self, data):
        """A new data directory."""
        shutil.rmtree(data, ignore_errors=True)
        done = self.pg_run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--locale=C", "--encoding=UTF8", "--no-sync")
        if done.returncode:
            raise SandboxError(f"initdb failed: {done.stderr.strip()}")

    def _start_postgres(self):
        data = self.pg_data()
        if not (data / "sandbox-complete").exists():
            self.say("creating the Postgres data directory")
            self.init_database(data)
            (data / "sandbox-complete").touch()
        self.run_postgres("postgres", data, {"listen_addresses": "", "unix_socket_directories": self.socket_dir,
                                             "unix_socket_permissions": "0700"})

    def run_postgres(self, component, data, settings, port=None):
        """A server of that name on that data; until it answers, at its socket or at that port."""
        self.say(f"starting {component}")
        proc = self.process(component)
        argv = [self.pg_program("postgres"), "-D", data]
        for name, value in {**settings, "log_line_prefix": "%m [%p] ", "timezone": "UTC"}.items():
            argv += ["-c", f"{name}={value}"]

        # After a kill -9 its children need a moment to notice, and until then
        # a new server refuses to start: that is no failure, so it is asked again.
        def started():
            proc.start(argv, user=self.pg_user(), stop_signal=signal.SIGINT)
            return self._postgres_answers(component, port)
        wait_until(f"{component} to start\n  {proc.log} ends with:\n{tail(proc.log)}", started)

    def _postgres_answers(self, component="postgres", port=None):
        where = f"host=127.0.0.1 port={port}" if port else f"host={self.socket_dir}"
        return sql.answers(where) and self.process(component).alive()

    def _make_database(self):
        if not self.sql("select 1 from pg_roles where rolname = 'sluice'", "postgres"):
            self.sql("create role sluice login", "postgres")
        if not self.sql("select 1 from pg_database where datname = 'sluice'", "postgres"):
            self.sql("create database sluice owner sluice", "postgres")

    # -- objects -----------------------------------------------------------

    def _make_nodes(self):
        for node in nodes.all_nodes():
            self.api.ensure("/api/v1/nodes", node)
        kwok = self.process("kwok")

        def ready():
            found = self.api.list("/api/v1/nodes")
            return len(found) >= 20 and all(
                any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", []))
                and not any(t["key"].startswith("node.kubernetes.io/") for t in n["spec"].get("taints", []))
                for n in found)
        wait_until("the 20 fake nodes to be ready", ready, 240, kwok)
        # Pods need the namespace's account, which a controller makes.
        wait_until("the default ServiceAccount", lambda: self.api.get("/api/v1/namespaces/default/serviceaccounts/default"),
                   240, self.process("kube-controller-manager"))

    def _turn_on(self, part, make_certs):
        """Where it was up without: those that get other flags are started again."""
        make_certs(self.pki)
        mark = self.state / part
        if not mark.exists():
            for component in ("kwok", "kube-controller-manager", "kube-apiserver"):
                self.process(component).stop()
            mark.touch()

    def _serve_usage(self):
        for node in nodes.all_nodes():
            usage.place(self.api, node["metadata"]["name"], self.port("kwok"))
        usage.serve(self.api, self.port("metrics-server"))
        self.start("metrics-server")
        self.wait_ready("metrics-server")

    def wait_usage(self, timeout=300):
        """Until metrics-server knows what each node uses; two scrapes."""
        wait_until("metrics-server to have a sample of each node",
                   lambda: len(usage.nodes(self.api)) >= len(nodes.all_nodes()), timeout, self.process("metrics-server"), every=0.5)

    def use_node(self, name, cpu=None, memory=None):
        """The node uses so many cores and bytes beside its pods."""
        usage.use_node(self.api, name, cpu, memory)

    def use_pod(self, ns, name, cpu=None, memory=None):
        """Each container of the pod uses so much: quantities, as in "500m" and "2Gi"."""
        usage.use_pod(self.api, ns, name, cpu, memory)

    def _apply(self, objects):
        """Applies [(path, YAML)]. An object whose kind is not served at the first moment is sent again until it is."""
        left = list(objects)
        wait_until("the manifests to be applied", lambda: apply.send(self.api, left))

    def _wait_policy(self):
        """Policies take effect a moment after they are written. Ask with dry
        runs until the API server itself suspends a Job that names a queue, where it can, and refuses what the guards refuse."""
        if not self._policies("validating"):
            return
        job = {"apiVersion": "batch/v1", "kind": "Job",
               "metadata": {"name": "policy-probe", "labels": {"sluice.dev/queue-name": "probe"}},
               "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}}}}
        path = "/apis/batch/v1/namespaces/default/jobs?dryRun=All"
        if self._policies("mutating"):
            wait_until("the admission policy to suspend a queued Job",
                       lambda: self.api.post(path, job)["spec"].get("suspend"))
        # The validating ones take effect by themselves: until one refuses a finalizer that is not Kubernetes' own.
        held = {**job, "metadata": {**job["metadata"], "finalizers": ["sandbox.example/probe"]}, "spec": {**job["spec"], "suspend": True}}
        wait_until("the admission policies to refuse a Job", lambda: self._is_denied(path, held))
        # And until it can look up default queues: before, Jobs without a queue are refused.
        del job["metadata"]["labels"]
        wait_until("the API server to let in a Job without a queue", lambda: self.api.post(path, job))

    def _policies(self, which):
        """Admission policies of a kind, of which an older API server may not know."""
        try:
            return self.api.list(f"/apis/admissionregistration.k8s.io/v1/{which}admissionpolicies")
        except ApiError as e:
            if e.status != 404:
                raise
            return []

    def _is_denied(self, path, body):
        """Says whether the API server answers that body with a denial (422)."""
        try:
            self.api.post(path, body)
        except ApiError as e:
            if e.status != 422:
                raise
            return True
        return False

    # -- files -------------------------------------------------------------

    def _write_kubeconfigs(self):
        credentials = {user: f"token: {certs.token(self.pki, user)}" for user in certs.TOKENS}
        for user in (certs.CLIENTS | (certs.MORE_CLIENTS if self.overcommit else {}) |
                     (certs.REAL_NODE_CLIENTS if self.real_node else {})):
            credentials[user] = f"client-certificate: {self.pki / user}.crt\n    client-key: {self.pki / user}.key"
        for user, credential in credentials.items():
            path = self.kubeconfig if user == "admin" else self.state / f"{user}.kubeconfig"
            _write(path, _kubeconfig(self.name, f"https://127.0.0.1:{self.port('kube-apiserver')}",
                                     f"certificate-authority: {self.pki / 'ca.crt'}", user, credential))

    def account_kubeconfig(self, name, namespace, account):
        """NAME.kubeconfig of a ServiceAccount: a fresh token of it, in NAME.token."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}"
        try:
            answer = self.api.post(path + "/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                                                     "spec": {"expirationSeconds": TOKEN_SECONDS}})
        except ApiError as e:
            raise SandboxError(f"no token for ServiceAccount {namespace}/{account} ({e}); its manifests must create it") from None
        token = self.state / f"{name}.token"
        _write(token, answer["status"]["token"])
        if self.cluster:
            view = json.loads(self.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json").stdout)
            cluster = view["clusters"][0]["cluster"]
            server = cluster["server"]
            ca = (f"certificate-authority-data: {cluster['certificate-authority-data']}"
                  if "certificate-authority-data" in cluster else "# verified by the system's authorities")
        else:
            server, ca = f"https://127.0.0.1:{self.port('kube-apiserver')}", f"certificate-authority: {self.pki / 'ca.crt'}"
        config = self.state / f"{name}.kubeconfig"
        _write(config, _kubeconfig(self.name, server, ca, account, f"tokenFile: {token}"))
        return config

    def free_ports(self, n):
        """Ports that no sandbox has, for what a test starts itself."""
        with _port_lock():
            found = []
            for _ in range(n):
                found.append(_free_port(_ports_taken() | set(found)))
            return found

    def _take_ports(self):
        """Keep the ports of last time; replace one that somebody else took."""
        file = self.state / "ports.json"
        ports = json.loads(file.read_text()) if file.exists() else {}
        with _port_lock():
            for what in [*PORTS, *(["metrics-server"] if self.overcommit else []), *(["kubelet"] if self.real_node else [])]:
                owner = self.process({"etcd-peer": "etcd", "kubelet": real_node.COMPONENT}.get(what, what))
                if what in ports and (owner.alive() or _is_free(ports[what])):
                    continue
                ports[what] = _free_port(_ports_taken() | set(ports.values()))
            _write(file, json.dumps(ports))
        self._ports, self._api = ports, None

    @contextmanager
    def _locked(self):
        """One `up` or `down` of a sandbox at a time."""
        self.state.mkdir(parents=True, exist_ok=True)
        with open(self.state / "lock", "w") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.say(f"another command is working on sandbox {self.name}; waiting for it")
                fcntl.flock(f, fcntl.LOCK_EX)
            yield


def _write(path, text):
    """As a whole or not at all, readable by the owner only."""
    new = path.with_name(path.name + ".new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        f.write(text)
    new.replace(path)


def _kubeconfig(name, server, ca, user, credential):
    return f"""\
apiVersion: v1
kind: Config
current-context: sandbox
clusters:
- name: {name}
  cluster:
    server: {server}
    {ca}
users:
- name: {user}
  user:
    {credential}
contexts:
- name: sandbox
  context: {{cluster: {name}, user: {user}}}
"""


# Ports come from below the kernel's range for outgoing connections, so that
# none is taken between its choice and its use. Two sandboxes choosing at once
# take turns, and see what the other wrote down.

@contextmanager
def _port_lock():
    (BUILD / "sandbox").mkdir(parents=True, exist_ok=True)
    with open(BUILD / "sandbox" / "ports.lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def _ports_taken():
    taken = set()
    for file in (BUILD / "sandbox").glob("*/ports.json"):
        try:
            taken |= set(json.loads(file.read_text()).values())
        except FileNotFoundError:
            pass  # its sandbox was destroyed just now
    for file in (BUILD / "sandbox").glob("*/run/controller-*.json"):
        for what in (URL, VISIBILITY, NODES):
            try:
                taken.add(int(json.loads(file.read_text())["env"][what].rpartition(":")[2]))
            except (OSError, ValueError, KeyError, TypeError):
                pass
    return taken


def _is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def _free_port(taken):
    for port in random.sample(range(20000, 30000), 2000):
        if port not in taken and _is_free(port):
            return port
    raise SandboxError("no free port between 20000 and 29999 on 127.0.0.1")
