#!/usr/bin/env python3
"""A Kubernetes API server that is none: so many nodes and pods as no sandbox can hold.

Serves lists, watches (streamed lists too) and metrics.k8s.io of a cluster that it makes up, keeps what
is PATCHed into a Node's status and tells watchers of it, and counts what it was asked. On loopback
only, for `./dev bench overcommit` and `./dev bench crowd`; whatever it does not know is an empty list, and it lets in anybody.

    fake_cluster.py --cert FILE --key FILE --nodes 5000 --pods-per-node 30     prints its port, serves until it is ended
                    --jobs 100000 [--shapes 50]     so many waiting Jobs and their queue, and nobody lends

Its own speed is not what is measured; only that each round of samples takes it less than the
interval between two.

    GET  /bench                    what it was asked so far: {"GET": n, "PATCH": n, "by": {...}}
    GET  /bench/agents             where agents of nodes find the leader, once it has said so: {"address": ..., "certificate": ...}
    POST /bench/load/0.5           from now on nodes use that part of what they use when busy
    POST /bench/touch/N            so many pods are seen changed (their status only)
    POST /bench/relabel/N          so many waiting Jobs get another label, in turn
"""

import argparse
import asyncio
import itertools
import json
import re
import ssl
import time
from collections import Counter
from urllib.parse import parse_qs, urlsplit

CORES, MEMORY = 64, 256 << 30
TEAMS = 40
RENDEZVOUS = "/api/v1/namespaces/sluice-system/configmaps/sluice-nodes"
BOOKMARK_SECONDS = 45  # whoever hears nothing at all for longer takes a watch for dead
DAY = "2026-01-01T00:00:00Z"
BUSY_CPU, BUSY_MEMORY = 0.035, 4 << 30  # part of a node's cores, and bytes, that an ordinary pod uses at load 1
CONFIG = {"enable": True, "metricAggregateDurationSeconds": 1, "metricReportIntervalSeconds": 15, "cpuReclaimThresholdPercent": 65,
          "memoryReclaimThresholdPercent": 65, "raiseWindowSeconds": 1}


def stamp(at=None):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def dumps(obj):
    return json.dumps(obj, separators=(",", ":")).encode()


def make_node(i):
    name = f"node-{i:05d}"
    room = {"cpu": str(CORES), "memory": f"{MEMORY >> 20}Mi", "pods": "110", "ephemeral-storage": "500Gi", "hugepages-2Mi": "0"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": name, "uid": f"00000000-0000-4000-8000-{i:012d}", "resourceVersion": "1", "creationTimestamp": DAY,
        "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "pool": "on-demand",
                   "node.kubernetes.io/instance-type": "c64", "topology.kubernetes.io/region": "r1", "topology.kubernetes.io/zone": f"r1-{i % 3}"},
        "annotations": {"node.alpha.kubernetes.io/ttl": "30", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
        "spec": {"podCIDR": f"10.{i // 256}.{i % 256}.0/24", "providerID": f"cloud:///r1/{name}"},
        "status": {"capacity": dict(room), "allocatable": {**room, "cpu": str(CORES - 1), "memory": f"{(MEMORY >> 20) - 4096}Mi"},
                   "conditions": [{"type": t, "status": s, "lastHeartbeatTime": DAY, "lastTransitionTime": DAY, "reason": "Kubelet" + t, "message": "kubelet says so"}
                                  for t, s in (("MemoryPressure", "False"), ("DiskPressure", "False"), ("PIDPressure", "False"), ("Ready", "True"))],
                   "addresses": [{"type": "InternalIP", "address": f"10.200.{i // 256}.{i % 256}"}, {"type": "Hostname", "address": name}],
                   "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                   "nodeInfo": {"machineID": f"{i:032x}", "systemUUID": f"{i:032x}", "bootID": f"{i:032x}", "kernelVersion": "6.12.0", "osImage": "Debian",
                                "containerRuntimeVersion": "containerd://2.1.0", "kubeletVersion": "v1.37.2", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"},
                   "images": [{"names": [f"registry.example/team/image-{k}@sha256:{k:064x}", f"registry.example/team/image-{k}:v1"], "sizeBytes": 123456789} for k in range(12)]}}


def resources_of(kind):
    if kind == "batch":
        asked = {"kubernetes.io/batch-cpu": "2k", "kubernetes.io/batch-memory": "4Gi"}
        return {"requests": asked, "limits": asked}
    return {"requests": {"cpu": "2", "memory": "6Gi"}, "limits": {"memory": "12Gi"}}


def make_pod(i, k, kind, version):
    """About as large as pods are, with what their managers noted of them."""
    ns, name = f"team-{i % TEAMS}", f"{kind}-{i:05d}-{k:02d}"
    labels = {"app": f"{kind}-{i % 200}", "pod-template-hash": "5d4f8c9b7c", "team": f"team-{i % TEAMS}", "version": "v12"}
    if kind == "batch":
        labels["koordinator.sh/qosClass"] = "BE"
    fields = {f"f:{a}": {f"f:{b}": {} for b in ("image", "name", "ports", "resources", "terminationMessagePath", "volumeMounts", "env", "imagePullPolicy")}
              for a in ("metadata", "spec", "status")}
    return {"metadata": {
        "name": name, "namespace": ns, "uid": f"10000000-{k:04d}-4000-8000-{i:012d}", "resourceVersion": str(version), "generateName": f"{kind}-", "creationTimestamp": DAY,
        "labels": labels, "annotations": {"checksum/config": f"{i * 31 + k:064x}", "prometheus.io/scrape": "true", "prometheus.io/port": "9090"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{kind}-{i}", "uid": f"20000000-{k:04d}-4000-8000-{i:012d}", "controller": True, "blockOwnerDeletion": True}],
        "managedFields": [{"manager": m, "operation": "Update", "apiVersion": "v1", "time": DAY, "fieldsType": "FieldsV1", "fieldsV1": fields} for m in ("kube-controller-manager", "kubelet")]},
        "spec": {"nodeName": f"node-{i:05d}", "restartPolicy": "Always", "schedulerName": "default-scheduler", "serviceAccountName": "default", "priority": 0,
                 "enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "securityContext": {},
                 "tolerations": [{"key": f"node.kubernetes.io/{t}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for t in ("not-ready", "unreachable")],
                 "volumes": [{"name": "token", "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}],
                 "containers": [{"name": "main", "image": f"registry.example/team/image-{k}:v1", "imagePullPolicy": "IfNotPresent", "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                                 "env": [{"name": f"SETTING_{n}", "value": f"value of setting {n}"} for n in range(8)], "resources": resources_of(kind),
                                 "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "failureThreshold": 3},
                                 "volumeMounts": [{"name": "token", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]}]},
        "status": {"phase": "Running", "qosClass": "BestEffort" if kind == "batch" else "Burstable", "hostIP": "10.200.0.1", "podIP": f"10.{i % 250}.{k}.7", "startTime": DAY,
                   "conditions": [{"type": t, "status": "True", "lastProbeTime": None, "lastTransitionTime": DAY} for t in ("PodScheduled", "Initialized", "ContainersReady", "Ready")],
                   "containerStatuses": [{"name": "main", "ready": True, "started": True, "restartCount": 0, "image": f"registry.example/team/image-{k}:v1",
                                          "imageID": f"registry.example/team/image-{k}@sha256:{k:064x}", "containerID": f"containerd://{i * 100 + k:064x}", "state": {"running": {"startedAt": DAY}}}]}}


def ours(kind, name, spec, ns=None):
    meta = {"name": name, "uid": f"50000000-0000-4000-8000-{len(name):012d}", "resourceVersion": "1", "generation": 1, "creationTimestamp": DAY}
    return {"apiVersion": "sluice.dev/v1alpha1", "kind": kind, "metadata": {**meta, **({"namespace": ns} if ns else {})}, "spec": spec}


CROWD = {  # a queue with quota for all, which asks for room on the nodes: so all bound pods are followed
    "/apis/sluice.dev/v1alpha1/resourceflavors": [ours("ResourceFlavor", "any", {})],
    "/apis/sluice.dev/v1alpha1/clusterqueues": [ours("ClusterQueue", "crowd", {"namespaceSelector": {}, "clusterFit": "Now", "resourceGroups": [
        {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": "100M"}, {"name": "memory", "nominalQuota": "1Ei"}]}]}]})],
    "/apis/sluice.dev/v1alpha1/localqueues": [ours("LocalQueue", "main", {"clusterQueue": "crowd", "maxWaiting": 1000000}, "team-0"), ours("LocalQueue", "main", {"clusterQueue": "crowd"}, "team-1")],
}


def make_job(i, shapes):
    """As the API server has one that waits: a template with affinity, tolerations and two containers. It
    would fit on an empty node; beside the pods of others it does not."""
    shape = i % shapes
    asked = {"cpu": f"{CORES * 1000 - 8000 + 100 * shape % 5000}m", "memory": f"{1024 + shape}Mi"}
    main = {"name": "main", "image": "registry.example/team/image:v1", "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", f"train --seed {i}"],
            "env": [{"name": f"SETTING_{n}", "value": f"value of setting {n}"} for n in range(8)],
            "resources": {"requests": asked, "limits": {"memory": asked["memory"]}}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    side = {**main, "name": "log", "command": ["tail"], "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    zones = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["r1-0", "r1-1"]}]}]
    uid, name = f"60000000-0000-4000-8000-{i:012d}", f"train-{i:06d}"
    labels = {"sluice.dev/queue-name": "main", "app": f"app-{shape}"}
    own = {"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name, "controller-uid": uid, "job-name": name}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {
        "name": name, "namespace": "team-0", "uid": uid, "resourceVersion": str(i + 1), "generation": 1, "creationTimestamp": DAY, "labels": labels},
        "spec": {"suspend": True, "parallelism": 2, "completions": 2, "backoffLimit": 6, "completionMode": "NonIndexed", "podReplacementPolicy": "TerminatingOrFailed",
                 "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}, "manualSelector": False,
                 "template": {"metadata": {"labels": {**own, "app": f"app-{shape}"}}, "spec": {
                     "restartPolicy": "Never", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "securityContext": {},
                     "nodeSelector": {"pool": "on-demand"}, "tolerations": [{"key": "spot", "operator": "Exists"}], "containers": [main, side],
                     "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": zones}}}}}},
        "status": {"conditions": [{"type": "Suspended", "status": "True", "lastProbeTime": DAY, "lastTransitionTime": DAY, "reason": "JobSuspended", "message": "Job suspended"}],
                   "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}}


# What one namespace makes of its rights to create Jobs: how many of each, and what they are.
# "grown": they ran for a moment and were edited since; "labelled": they run without a reservation, with
# no pods, and got the label while they did.
HOSTILE = {"wide": 80, "crowded": 40, "noted": 100, "large": 2000, "grown": 5000, "labelled": 5000, "small": 60000, "lost": 20000}
LARGE = {"large", "grown", "labelled"}
STORY = '{"state":"Stopped","attempt":1,"reason":"SuspendedByManifest"}'


def hostile_job(kind):
    """A Job of team-1 as JSON in which @@@@@@ stands for a number, so that no two have anything in common."""
    job = make_job(0, 1)
    pod, meta = job["spec"]["template"]["spec"], job["metadata"]
    labels = {"sluice.dev/queue-name": "main"}
    values = 90 if kind in LARGE else {"wide": 3700, "small": 1}.get(kind, 0)  # 6 MB in memory; just below the ceiling; a Job as others
    if values:
        terms = [{"key": f"example.com/key-@@@@@@-{k}", "operator": "In", "values": [f"value-@@@@@@-{v}" for v in range(values // 15 + 1)]} for k in range(15 if values > 1 else 1)]
        pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = [{"matchExpressions": terms}] * (18 if kind == "wide" else 1)
    if kind in LARGE:
        pod["tolerations"] = [{"key": f"example.com/taint-@@@@@@-{k}-{'x' * 40}", "operator": "Equal", "value": f"{'y' * 50}{k}"} for k in range(60)]
        pod["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": f"zone-@@@@@@-{k}", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {f"label-{n}": "z" * 60 for n in range(40)}}} for k in range(8)]
    if kind == "grown":
        meta["annotations"] = {"sluice.dev/admission": STORY, "sluice.dev/hold": "later"}
    if kind == "labelled":
        meta["annotations"] = {"sluice.dev/hold": "later"}
        job["spec"].update(suspend=False, parallelism=0)
        job["status"] = {"startTime": DAY, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}
    if kind == "crowded":
        pod["containers"] = [{"name": f"c{i}-@@@@@@", "image": "i", "resources": {"requests": {f"example.com/{'r' * 40}-{n}": "1" for n in range(30)}}} for i in range(500)]
    if kind == "noted":
        meta["annotations"] = {"sluice.dev/hold": "h" * 120_000, "sluice.dev/waiting": "w" * 100_000, "example.com/note-@@@@@@": "n" * 40_000}
    if kind == "lost":
        labels["sluice.dev/queue-name"] = f"{'no-such-queue-' * 4}@@@@@@"
    uid = f"7{list(HOSTILE).index(kind)}000000-0000-4000-8000-000000@@@@@@"
    job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = uid
    meta.update(namespace="team-1", name=f"{kind}-{'n' * 40}-@@@@@@", uid=uid, resourceVersion="7", labels=labels)
    return dumps(job)


def hostile_jobs(stopped):
    for kind, n in HOSTILE.items():
        text = hostile_job(kind)
        for i in range(n):
            job = text.replace(b"@@@@@@", b"%06d" % i)
            yield suspended(job) if kind == "labelled" and b"%06d" % i in stopped else job


def suspended(job):
    """The same, after the stop landed and the Job controller saw it."""
    job = json.loads(job)
    job["spec"]["suspend"] = True
    job["metadata"].update(resourceVersion="8", annotations={"sluice.dev/admission": STORY, "sluice.dev/hold": "later"})
    job["status"] = {"conditions": [{"type": "Suspended", "status": "True"}], "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}
    return dumps(job)


class Cluster:
    def __init__(self, nodes, per_node, jobs=0, shapes=50, hostile=False):
        self.version, self.load, self.jobs, self.shapes, self.hostile = jobs + 10, 0.5, jobs, shapes, hostile
        self.nodes = {n["metadata"]["name"]: n for n in map(make_node, range(nodes))}
        self.pods = [(i, k, "batch" if k >= per_node - per_node // 10 else "web") for i in range(nodes) for k in range(per_node)]
        self.watchers = {}  # path: [queue]
        self.stopped = set()  # numbers of labelled Jobs
        self.asked, self.by = Counter(), Counter()
        self.samples = {}  # load: (nodes, pods), with a mark in the place of the time
        self.rendezvous = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sluice-nodes", "namespace": "sluice-system"}}
        self.config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ack-slo-config", "namespace": "kube-system", "resourceVersion": "2", "uid": "30000000-0000-4000-8000-000000000000"},
                       "data": {"colocation-config": json.dumps({**CONFIG, "enable": jobs == 0})}}

    def items(self, path):
        """The objects of a collection as JSON, one by one."""
        if path == "/api/v1/nodes":
            return (dumps(n) for n in self.nodes.values())
        if path == "/api/v1/pods":
            return (dumps({"apiVersion": "v1", "kind": "Pod", **make_pod(*p, 1)}) for p in self.pods)
        if path == "/api/v1/namespaces/kube-system/configmaps":
            return iter([dumps(self.config)])
        if path == "/api/v1/namespaces":
            names = ["default", "kube-system", "sluice-system", *(f"team-{t}" for t in range(TEAMS))]
            return (dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n, "uid": f"40000000-0000-4000-8000-{j:012d}", "resourceVersion": "1", "labels": {}}}) for j, n in enumerate(names))
        if self.jobs and path == "/apis/batch/v1/jobs":
            return itertools.chain(hostile_jobs(self.stopped) if self.hostile else (), (dumps(make_job(i, self.shapes)) for i in range(self.jobs)))
        return map(dumps, CROWD.get(path, []) if self.jobs else [])

    def tell(self, path, kind, body):
        for queue in self.watchers.get(path, []):
            queue.append(b'{"type":"%s","object":%s}\n' % (kind, body))

    def patch_node(self, name, patch):
        node = self.nodes.get(name)
        if node is None:
            return None
        merge(node, patch)
        self.version += 1
        node["metadata"]["resourceVersion"] = str(self.version)
        body = dumps(node)
        self.tell("/api/v1/nodes", b"MODIFIED", body)
        return body

    def stop_job(self, name):
        number = name[-6:].encode()
        self.stopped.add(number)
        body = suspended(hostile_job("labelled").replace(b"@@@@@@", number))
        self.tell("/apis/batch/v1/jobs", b"MODIFIED", body)
        return body

    def touch(self, n):
        for pod in self.pods[:n]:
            self.version += 1
            self.tell("/api/v1/pods", b"MODIFIED", dumps({"apiVersion": "v1", "kind": "Pod", **make_pod(*pod, self.version)}))

    def relabel(self, n):
        for _ in range(n):
            self.version += 1
            job = make_job(self.version % self.jobs, self.shapes)
            job["metadata"].update(resourceVersion=str(self.version), labels={**job["metadata"]["labels"], "stage": f"s{self.version}"})
            self.tell("/apis/batch/v1/jobs", b"MODIFIED", dumps(job))

    def metrics(self, path):
        """As metrics-server answers: everything at once, and 12 s old at most."""
        if self.load not in self.samples:
            self.samples = {self.load: (self.node_samples(), self.pod_samples())}
        body = self.samples[self.load][path.endswith("/pods")]
        kind = b"PodMetricsList" if path.endswith("/pods") else b"NodeMetricsList"
        return b'{"kind":"%s","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[%s]}\n' % (kind, body.replace(b"@@@@@@@@@@@@@@@@@@@@", stamp().encode()))

    def use_of(self, i, k, kind):
        part = self.load * (1 + (i * 7 + k * 3) % 5 / 10)
        return (int(2e9 * part), (3 << 30) >> 10) if kind == "batch" else (int(BUSY_CPU * CORES * 1e9 * part), int(BUSY_MEMORY * part) >> 10)

    def pod_samples(self):
        made = []
        for i, k, kind in self.pods:
            cpu, ki = self.use_of(i, k, kind)
            made.append('{"metadata":{"name":"%s-%05d-%02d","namespace":"team-%d","creationTimestamp":"@@@@@@@@@@@@@@@@@@@@","labels":{"app":"%s-%d","pod-template-hash":"5d4f8c9b7c","team":"team-%d"}},'
                        '"timestamp":"@@@@@@@@@@@@@@@@@@@@","window":"15.123s","containers":[{"name":"main","usage":{"cpu":"%dn","memory":"%dKi"}}]}'
                        % (kind, i, k, i % TEAMS, kind, i % 200, i % TEAMS, cpu, ki))
        return ",".join(made).encode()

    def node_samples(self):
        cpu, ki = Counter(), Counter()
        for i, k, kind in self.pods:
            used = self.use_of(i, k, kind)
            cpu[i] += used[0]
            ki[i] += used[1]
        return ",".join('{"metadata":{"name":"node-%05d","creationTimestamp":"@@@@@@@@@@@@@@@@@@@@","labels":{"kubernetes.io/hostname":"node-%05d","pool":"on-demand"}},'
                        '"timestamp":"@@@@@@@@@@@@@@@@@@@@","window":"15.123s","usage":{"cpu":"%dn","memory":"%dKi"}}'
                        % (i, i, cpu[i] + 700_000_000, ki[i] + (2 << 20)) for i in range(len(self.nodes))).encode()


def review(body):
    """Whose token it is: agent-of-NODE is that of the agent of NODE; no other is known."""
    token = json.loads(body)["spec"]["token"]
    node = token.removeprefix("agent-of-")
    status = {"authenticated": token != node}
    if token != node:
        status.update(audiences=["sluice-node"], user={"username": "system:serviceaccount:sluice-node:sluice-node", "extra": {"authentication.kubernetes.io/node-name": [node]}})
    return dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status})


def merge(into, patch):
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


class Server:
    def __init__(self, cluster):
        self.cluster = cluster

    async def serve(self, reader, writer):
        """Requests of one connection, one after the other."""
        try:
            while await self.request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def request(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split("\r\n", 1)[0].split(" ")
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        if fields.get("expect") == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        url = urlsplit(target)
        query = {k: v[-1] for k, v in parse_qs(url.query).items()}
        path = url.path
        if "status.phase=Failed" in query.get("fieldSelector", ""):
            path += "?failed"  # there are none
        if not url.path.startswith("/bench"):
            self.cluster.asked[method] += 1
            self.cluster.by[f"{method} {re.sub(r'(team|node)-[0-9]+', '*', url.path)}"] += 1
        if query.get("watch") in ("1", "true"):
            await self.watch(writer, path, query)
            return False
        await self.answer(writer, method, path, body)
        return True

    async def answer(self, writer, method, path, body):
        c = self.cluster
        if path.startswith("/bench"):
            return await self.reply(writer, self.bench(path))
        if path.startswith("/apis/metrics.k8s.io/v1beta1/") and method == "GET":
            return await self.reply(writer, c.metrics(path))
        if method == "PATCH" and path.startswith("/api/v1/nodes/"):
            patched = c.patch_node(path.split("/")[4], json.loads(body))
            return await self.reply(writer, patched or b'{"kind":"Status","code":404}', "200 OK" if patched else "404 Not Found")
        if method == "PATCH" and "/jobs/labelled-" in path:
            return await self.reply(writer, c.stop_job(path.rsplit("/", 1)[1]))
        if path == RENDEZVOUS:
            if method == "PATCH":
                merge(c.rendezvous, json.loads(body))
            return await self.reply(writer, dumps(c.rendezvous))
        if path == "/apis/authentication.k8s.io/v1/tokenreviews":
            return await self.reply(writer, review(body), "201 Created")
        if method == "POST":
            return await self.reply(writer, body or b"{}", "201 Created")
        if method != "GET":
            return await self.reply(writer, body or b"{}")
        if path == "/api/v1/namespaces/kube-system/configmaps/ack-slo-config":
            return await self.reply(writer, dumps(c.config))
        items = b",".join(c.items(path))
        await self.reply(writer, b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}' % (c.version, items))

    def bench(self, path):
        c, parts = self.cluster, path.split("/")
        if parts[2:3] == ["agents"]:
            return dumps(c.rendezvous.get("data", {}))
        if parts[2:3] == ["load"]:
            c.load = float(parts[3])
            c.metrics("/nodes")
        if parts[2:3] == ["touch"]:
            c.touch(int(parts[3]))
        if parts[2:3] == ["relabel"]:
            c.relabel(int(parts[3]))
        return dumps({**c.asked, "by": c.by})

    @staticmethod
    async def reply(writer, body, status="200 OK"):
        writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(body)))
        writer.write(body)
        await writer.drain()

    async def watch(self, writer, path, query):
        """Until the other side hangs up: first all objects if it wants them, then what changes."""
        queue = []
        self.cluster.watchers.setdefault(path, []).append(queue)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            if query.get("sendInitialEvents") == "true":
                await self.whole(writer, path)
            last = time.monotonic()
            while not writer.is_closing():
                if not queue and time.monotonic() - last > BOOKMARK_SECONDS:
                    queue.append(self.bookmark())
                if queue:
                    part, queue[:] = b"".join(queue), []
                    chunk(writer, part)
                    await writer.drain()
                    last = time.monotonic()
                else:
                    await asyncio.sleep(0.02)
        finally:
            self.cluster.watchers[path].remove(queue)

    async def whole(self, writer, path):
        batch, size = [], 0
        for item in self.cluster.items(path):
            batch.append(b'{"type":"ADDED","object":%s}\n' % item)
            size += len(item)
            if size > 200_000:
                chunk(writer, b"".join(batch))
                batch, size = [], 0
                await writer.drain()
        chunk(writer, b"".join(batch) + self.bookmark({"k8s.io/initial-events-end": "true"}))
        await writer.drain()

    def bookmark(self, marks=None):
        return dumps({"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "Object", "metadata": {
            "resourceVersion": str(self.cluster.version), "annotations": marks or {}}}}) + b"\n"


def chunk(writer, part):
    writer.write(b"%x\r\n" % len(part) + part + b"\r\n")


async def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--nodes", type=int, default=5000)
    p.add_argument("--pods-per-node", type=int, default=30)
    p.add_argument("--jobs", type=int, default=0)
    p.add_argument("--shapes", type=int, default=50)
    p.add_argument("--hostile", action="store_true", help="team-1 makes the worst of its rights to create Jobs")
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--cert", required=True)
    p.add_argument("--key", required=True)
    args = p.parse_args()
    cluster = Cluster(args.nodes, args.pods_per_node, args.jobs, args.shapes, args.hostile)
    cluster.metrics("/nodes")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(args.cert, args.key)
    server = await asyncio.start_server(Server(cluster).serve, "127.0.0.1", args.port, limit=1 << 20, ssl=tls)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
