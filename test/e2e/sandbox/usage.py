"""What nodes and pods use: a real metrics-server, and kwok in the place of the kubelets.

kwok serves `/metrics/resource` of each node from annotations (kwok-usage.yaml);
metrics-server asks all of them every SCRAPE_SECONDS and is served by the API
server as metrics.k8s.io. Use of cpu is a rate between two scrapes, so a change
is there in full with the second one."""

import time
from datetime import datetime

SCRAPE_SECONDS = 10  # metrics-server takes no less
GROUP = "/apis/metrics.k8s.io/v1beta1"
PATH = "metrics.k8s.io/resource-metrics-path"
SUFFIX = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SYSTEM_CPU, SYSTEM_CPU_BASE, SYSTEM_MEMORY = (f"sandbox.sluice.dev/system-{n}" for n in ("cpu", "cpu-base", "memory"))
POD_CPU, POD_MEMORY = "kwok.x-k8s.io/usage-cpu", "kwok.x-k8s.io/usage-memory"


def serve(api, port):
    """The API server is to ask metrics-server, on that port of this machine."""
    labels = {"k8s-app": "metrics-server"}
    api.ensure("/api/v1/namespaces/kube-system/services", {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "metrics-server", "labels": labels},
        "spec": {"type": "ExternalName", "externalName": "localhost"}})
    spec = {"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": True, "service": {"namespace": "kube-system", "name": "metrics-server", "port": port}}
    path, name = "/apis/apiregistration.k8s.io/v1/apiservices", "v1beta1.metrics.k8s.io"
    api.ensure(path, {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
                      "metadata": {"name": name, "labels": labels}, "spec": spec})
    api.patch(f"{path}/{name}", {"spec": spec})


def place(api, node, port):
    """Where the metrics of a node are to be had."""
    path = f"/api/v1/nodes/{node}"
    api.patch(path, {"metadata": {"annotations": {PATH: f"/metrics/nodes/{node}/metrics/resource"}}})
    api.patch(f"{path}/status", {"status": {"addresses": [{"type": "Hostname", "address": node}, {"type": "InternalIP", "address": "127.0.0.1"}],
                                            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}})


def use_node(api, name, cpu=None, memory=None):
    """From now on the node uses so many cores and bytes beside its pods. The counter goes on where
    it was: one that jumps would be a day's use within a second, one that falls is thrown away."""
    path = f"/api/v1/nodes/{name}"
    meta = api.get(path)["metadata"]
    had, marks = meta.get("annotations", {}), {}
    if cpu is not None:
        age = time.time() - datetime.fromisoformat(meta["creationTimestamp"].replace("Z", "+00:00")).timestamp()
        base = float(had.get(SYSTEM_CPU_BASE, "1")) + (float(had.get(SYSTEM_CPU, "0")) - cpu) * age
        marks = {SYSTEM_CPU: f"{cpu:.3f}", SYSTEM_CPU_BASE: f"{base:.3f}"}
    if memory is not None:
        marks[SYSTEM_MEMORY] = f"{memory:.1f}"
    api.patch(path, {"metadata": {"annotations": marks}})


def now():
    """As samples write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def instant(stamp):
    """Seconds since 1970 of a sample's time."""
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def of_pod(cpu=None, memory=None):
    """The annotations of a pod (or of a Job's template) that uses so much of each: quantities."""
    return {**({POD_CPU: str(cpu)} if cpu is not None else {}), **({POD_MEMORY: str(memory)} if memory is not None else {})}


def use_pod(api, ns, name, cpu=None, memory=None):
    """From now on each container of the pod uses so much."""
    api.patch(f"/api/v1/namespaces/{ns}/pods/{name}", {"metadata": {"annotations": of_pod(cpu, memory)}})


def nodes(api):
    """{node: (cores, bytes, timestamp)} as metrics.k8s.io says now."""
    return {m["metadata"]["name"]: (*_amounts(m["usage"]), m["timestamp"]) for m in api.list(f"{GROUP}/nodes")}


def pods(api, ns):
    """{pod: (cores, bytes)}, likewise."""
    return {m["metadata"]["name"]: tuple(map(sum, zip(*(_amounts(c["usage"]) for c in m["containers"])))) for m in api.list(f"{GROUP}/namespaces/{ns}/pods")}


def _amounts(usage):
    return _number(usage["cpu"]), _number(usage["memory"])


def _number(quantity):
    digits = quantity.rstrip("numkMGTKi")
    return float(digits) * SUFFIX[quantity[len(digits):]]
