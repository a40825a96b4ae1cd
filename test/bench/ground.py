"""What the benches stand on: a fresh sandbox, many Jobs at once, and reading what happened.

The Jobs are made and the raw PATCHes sent by `blast`, a plain curl_multi loop in C, so that the
yardstick is not Python's speed.
"""

import json
import os
import re
import subprocess
import threading
import time
from pathlib import Path

from sandbox import Sandbox, wait_until

ROOT = Path(__file__).resolve().parents[2]
BLAST = ROOT / "build" / "release" / "bin" / "blast"
CPU_HERTZ = os.sysconf("SC_CLK_TCK")


def say(text):
    print(text, flush=True)


def quota(cpu):
    """spec.resourceGroups of a ClusterQueue: so many cpu, with 1Gi for each."""
    return [{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "any", "resources": [
        {"name": "cpu", "nominalQuota": str(cpu)}, {"name": "memory", "nominalQuota": f"{cpu}Gi"}]}]}]


class Ground:
    """A sandbox made anew, with one controller (the release build).

    Another one whose queues have the same fields is a class of its own (race.py): what follows is said of it."""

    group, version, label, component = "sluice.dev", "v1alpha1", "sluice.dev/queue-name", "controller-one"
    local_queue = {"maxWaiting": 1000000}  # of the spec of each LocalQueue

    def __init__(self):
        self.box = Sandbox("bench", say=lambda text: None)
        self.box.destroy()
        say("==> a fresh sandbox: etcd, API server, controller-manager, scheduler, kwok, Postgres (about 10 s)")
        self.begin()

    def begin(self):
        self.box.up(controller="one")
        wait_until("the controller to lead", self.leads, 60)

    @property
    def api(self):
        return self.box.api

    @property
    def base(self):
        return f"/apis/{self.group}/{self.version}"

    def leads(self, component="controller-one"):
        return "\nsluice_leader 1\n" in self.metrics(component)  # its HELP line begins alike

    def metrics(self, component="controller-one"):
        return self.box.controller_api(component).raw("GET", "/metrics").decode()

    def metric(self, name):
        """Sum over all label sets of a metric of the controller."""
        found = re.findall(rf"^{name}(?:{{[^}}]*}})? ([0-9.e+-]+)", self.metrics(), re.M)
        return sum(map(float, found))

    def writes(self):
        """(writes of Jobs, all writes that only the controller makes), as the API server counted them.

        Nothing else in the sandbox patches Jobs (the Job controller PUTs jobs/status) or writes
        objects of that group; the bench's own are subtracted by taking differences around phases
        in which it makes none."""
        jobs = everything = 0
        for line in self.api.raw("GET", "/metrics").decode().splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if labels.get("verb") not in ("PATCH", "PUT", "POST", "DELETE", "APPLY"):
                continue
            count = float(line.rsplit(" ", 1)[1])
            if labels.get("resource") == "jobs" and labels.get("verb") in ("PATCH", "APPLY"):
                everything += count
                jobs += count if not labels.get("subresource") else 0
            elif labels.get("resource") == "jobs" and labels.get("verb") == "PUT" and not labels.get("subresource"):
                everything += count
                jobs += count
            elif labels.get("group") == self.group:
                everything += count
        return jobs, everything

    def usage(self, component=None):
        """(resident MB, cpu seconds) of the controller, or another part."""
        pid = self.box.pid(component or self.component)
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6, (int(fields[11]) + int(fields[12])) / CPU_HERTZ

    def cluster_cpu(self):
        """Cpu seconds of all that is not Sluice or Postgres."""
        return sum(self.usage(c)[1] for c in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"))

    def blast(self, lines, in_flight=64, as_controller=False, paced=False):
        """Send requests (method, path, type, body); what blast says of it. Paced: each with the millisecond in front."""
        who = ["--cert", self.box.pki / "admin.crt", "--key", self.box.pki / "admin.key"]
        if as_controller:
            who = ["--token", "Bearer " + (self.box.state / "controller.token").read_text().strip()]
        text = "".join("\t".join(line) + "\n" for line in lines)
        done = subprocess.run([BLAST, "--server", f"https://127.0.0.1:{self.box.port('kube-apiserver')}", "--ca", self.box.pki / "ca.crt",
                               "--in-flight", str(in_flight), *(["--paced"] if paced else []), *who], input=text, capture_output=True, text=True)
        if not done.stdout:
            raise SystemExit(f"blast failed: {done.stderr}")
        result = json.loads(done.stdout)
        if result["failed"]:
            raise SystemExit(f"{result['failed']} of {result['requests']} requests failed; the first: {done.stderr}")
        return result

    def queue(self, name, cpu, stop_policy="None"):
        """A ClusterQueue with one unlabelled flavor, and a namespace with a LocalQueue `main`."""
        def ensure(plural, kind, spec, ns=None):
            meta = {"name": "main", "namespace": ns} if ns else {"name": name if kind == "ClusterQueue" else "any"}
            self.api.ensure(f"{self.base}/namespaces/{ns}/{plural}" if ns else f"{self.base}/{plural}", {
                "apiVersion": f"{self.group}/{self.version}", "kind": kind, "metadata": meta, "spec": spec})
        self.api.ensure("/api/v1/namespaces", {"metadata": {"name": name}})
        ensure("resourceflavors", "ResourceFlavor", {})
        ensure("clusterqueues", "ClusterQueue", {"namespaceSelector": {}, "stopPolicy": stop_policy, "resourceGroups": quota(cpu)})
        ensure("localqueues", "LocalQueue", {"clusterQueue": name, **self.local_queue}, name)

    def set_queue(self, name, **spec):
        self.api.patch(f"{self.base}/clusterqueues/{name}", {"spec": spec})

    def create(self, ns, name, **kw):
        """The line for blast that creates a Job of this controller's."""
        return create(ns, name, label=self.label, **kw)

    def job(self, ns, name, **kw):
        return job(ns, name, label=self.label, **kw)

    def pending(self, controller="controller-one"):
        queues = self.box.controller_api(controller).queues()["clusterQueues"]
        return sum(q["pending"] for q in queues)

    def wait_reported(self, timeout=60, **counts):
        """Until the status of all ClusterQueues, and that of all LocalQueues, is written and adds up to
        these: wait_reported(pendingWorkloads=5000). Then no write of it is under way that a bench would count."""
        def reported():
            for plural in ("clusterqueues", "localqueues"):
                told = [q.get("status") for q in self.api.list(f"{self.base}/{plural}")]
                if not all(told) or any(sum(t[key] for t in told) != n for key, n in counts.items()):
                    return False
            return True
        wait_until(f"the status of the queues to say {counts or 'something'}", reported, timeout, every=0.2)

    def wait_settled(self, namespaces, jobs):
        """Until the Job controller has marked each of these Jobs Suspended: it writes no more."""
        def settled():
            seen = 0
            for ns in namespaces:
                for job in self.api.list(f"/apis/batch/v1/namespaces/{ns}/jobs"):
                    seen += any(c["type"] == "Suspended" for c in job["status"].get("conditions") or [])
            return seen >= jobs
        wait_until(f"the Job controller to have seen {jobs} Jobs", settled, 1800, every=2)


def job(ns, name, label="sluice.dev/queue-name", run_seconds=1):
    """One pod of 1 cpu that runs for a second, suspended."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": ns, "labels": {label: "main"}},
            "spec": {"suspend": True, "template": {
                "metadata": {"annotations": {"sandbox.sluice.dev/run-seconds": str(run_seconds)}},
                "spec": {"restartPolicy": "Never", "tolerations": [{"key": "spot", "operator": "Exists"}], "containers": [
                    {"name": "main", "image": "busybox:1.36", "command": ["sleep", str(run_seconds)],
                     "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}]}}}}


def create(ns, name, **kw):
    """The line for blast that creates it."""
    return "POST", f"/apis/batch/v1/namespaces/{ns}/jobs", "application/json", json.dumps(job(ns, name, **kw), separators=(",", ":"))


class JobWatch(threading.Thread):
    """Notes when each Job of a namespace (None: of any) was first seen unsuspended, and first seen complete.

    An API server that is flooded with creates ends watches that do not keep up
    (apiserver_terminated_watchers_total); this one goes on from the last event it saw."""

    def __init__(self, ground, ns=None):
        super().__init__(daemon=True)
        self.path = f"/apis/batch/v1/namespaces/{ns}/jobs" if ns else "/apis/batch/v1/jobs"
        self.api, self.started, self.ended = ground.api, {}, {}
        self.version = self.newest()
        self.changed = threading.Condition()
        self.start()

    def newest(self):
        return self.api.get(self.path + "?limit=1")["metadata"]["resourceVersion"]

    def run(self):
        while True:
            try:
                self.follow()
            except OSError:  # the server broke the stream off
                try:
                    self.list_anew()
                except OSError:
                    return  # the sandbox is gone; if not, a wait() says what it did not see

    def follow(self):
        for event in self.api.watch(self.path, self.version, 3600):
            if event["type"] == "ERROR":
                self.list_anew()
                return
            self.version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] in ("ADDED", "MODIFIED"):
                self.take(event["object"])

    def list_anew(self):
        """Its place is forgotten by the server."""
        self.version = self.newest()
        for obj in self.api.list(self.path):
            self.take(obj)

    def take(self, obj):
        now, name = time.monotonic(), obj["metadata"]["name"]
        with self.changed:
            if not obj["spec"].get("suspend"):
                self.started.setdefault(name, now)
            if any(c["type"] == "Complete" and c["status"] == "True" for c in obj["status"].get("conditions") or []):
                self.ended.setdefault(name, now)
            self.changed.notify_all()

    def wait(self, what, check, timeout):
        with self.changed:
            if not self.changed.wait_for(check, timeout):
                raise SystemExit(f"waited {timeout} s for {what}")


def quantiles(values):
    """{p50, p99} in milliseconds, of values in seconds."""
    values = sorted(values)
    pick = lambda q: round(1000 * values[min(len(values) - 1, int(q * len(values)))], 2)  # noqa: E731
    return {"p50": pick(0.5), "p99": pick(0.99)}


def table(rows):
    width = max(len(name) for name, _, _ in rows)
    say("")
    for name, value, note in rows:
        say(f"  {name:<{width}}  {value:>14}  {note}")
    say("")
