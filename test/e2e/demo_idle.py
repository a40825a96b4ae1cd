"""The demo's third scene: a night and a morning on 20 nodes.

Web servers have half of the nodes for themselves, and at night use a tenth of what they asked for.
What they leave idle appears on the Nodes as kubernetes.io/batch-cpu, and Jobs that said
`sluice.dev/preemptible: "true"`, and have waited for it all evening, fill it. In the morning there are twice as many web servers and all
are busy: the Jobs are stopped first, no web server waits, and when it is quiet again the Jobs finish.

All of it is real but what is used: kwok plays that, and a real metrics-server asks it every 10 s. On one more node,
where the machine can have it, containers really run, and an agent holds them (demo_agent.py).
What the summary says is counted from Nodes, Pods, Jobs and Events, not asked of Sluice."""

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from demo_agent import AgentScene
from sandbox import ApiError, SandboxError, real_node, usage, wait_until
from sandbox.audit import Follow, units
from sandbox.view import amount

GROUP = "sluice.dev/v1alpha1"
TEAM, QUEUE = "team-night", "night"
JOBS, SEED = 60, 7
AT_NIGHT, BY_DAY, WEB_CPU = 40, 76, 8  # web servers, and the cores that each asks for: 76 of them are 95 % of the nodes
QUIET, BUSY = "800m", "7800m"
BATCH_CPU = "kubernetes.io/batch-cpu"
PREEMPTIBLE, RECLAIMED = "sluice.dev/preemptible", "IdleResourcesReclaimed"
PATIENCE_SECONDS = 150  # for one step
UNUSED_SECONDS = 10  # for less than so long lent room may stand beside a Job that waits for it
SPOT = [{"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]

# As an admin would write it, but for the times: a demo cannot wait for five minutes' means.
CONFIG = {"enable": True, "cpuReclaimThresholdPercent": 50, "memoryReclaimThresholdPercent": 65,
          "metricReportIntervalSeconds": 6, "metricAggregateDurationSeconds": 1, "raiseWindowSeconds": 1, "reclaimCoolDownSeconds": 1}


def web(n, uses):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": f"web-{n:02d}", "labels": {"app": "web"}, "annotations": usage.of_pod(uses, "1Gi")},
            "spec": {"tolerations": SPOT, "containers": [{"name": "web", "image": "nginx", "resources": {"requests": {"cpu": str(WEB_CPU), "memory": "2Gi"}}}]}}


def job(name, cpu, seconds):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {"sluice.dev/queue-name": QUEUE}, "annotations": {PREEMPTIBLE: "true"}},
            "spec": {"suspend": True, "backoffLimit": 0, "template": {
                "metadata": {"annotations": {"sandbox.sluice.dev/run-seconds": str(seconds)}},
                "spec": {"restartPolicy": "Never", "containers": [{
                    "name": "work", "image": "busybox", "command": ["sleep", str(seconds)],
                    "resources": {"requests": {"cpu": str(cpu), "memory": "4Gi"}}}]}}}}


class Pods(Follow):
    """Web servers and the Jobs' pods: what each is about, and for how long a web server waited for a node."""

    def __init__(self, api):
        super().__init__(api, f"/api/v1/namespaces/{TEAM}/pods")
        self.web, self.work, self.waited, self.lost = {}, {}, {}, set()  # work: the node of each, and its cores
        self.kinds = Counter()  # of pods of Jobs, by their quality of service

    def replace(self, pods):
        for pod in pods:
            self.take("ADDED", pod)

    def take(self, kind, pod):
        meta, name = pod["metadata"], pod["metadata"]["name"]
        gone = kind == "DELETED" or "deletionTimestamp" in meta or pod["status"].get("phase") in ("Succeeded", "Failed")
        if meta.get("labels", {}).get("app") != "web":
            if gone:
                self.work.pop(name, None)
            elif pod["spec"].get("nodeName"):
                if name not in self.work:
                    self.kinds[pod["status"].get("qosClass")] += 1
                self.work[name] = pod["spec"]["nodeName"], asked(pod["spec"], BATCH_CPU)
            return
        if gone:
            self.lost.add(name)
        self.web[name] = pod["status"].get("phase")
        bound = next((c for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled" and c["status"] == "True"), None)
        if bound:
            self.waited.setdefault(name, at(bound["lastTransitionTime"]) - at(meta["creationTimestamp"]))


class Jobs(Follow):
    def __init__(self, api):
        super().__init__(api, f"/apis/batch/v1/namespaces/{TEAM}/jobs")
        self.started, self.running, self.preempted, self.finished, self.failed = set(), set(), set(), set(), set()
        self.cores = {}  # that each asked for as it was made; a start writes another name there

    def replace(self, jobs):
        for obj in jobs:
            self.take("ADDED", obj)

    def take(self, kind, obj):
        name = obj["metadata"]["name"]
        self.cores.setdefault(name, asked(obj["spec"]["template"]["spec"], "cpu"))
        ends = {c["type"] for c in obj["status"].get("conditions", []) if c["status"] == "True"}
        runs = not obj["spec"].get("suspend") and not ends & {"Complete", "Failed"}
        if runs:
            self.started.add(name)
        elif name in self.running and obj["spec"].get("suspend"):
            self.preempted.add(name)
        (self.running.add if runs else self.running.discard)(name)
        if "Complete" in ends:
            self.finished.add(name)
        if "Failed" in ends or obj["status"].get("failed"):
            self.failed.add(name)


class Nodes(Follow):
    """What those lend that kwok plays, in cores."""

    def __init__(self, api):
        super().__init__(api, "/api/v1/nodes")
        self.lent = {}

    def replace(self, nodes):
        for node in nodes:
            self.take("ADDED", node)

    def take(self, kind, node):
        said = node["status"]["allocatable"].get(BATCH_CPU)
        if said is not None and node["metadata"]["name"] != real_node.NODE:
            self.lent[node["metadata"]["name"]] = units("", said) / 1000


class Unused:
    """For how long at a stretch lent room stood beside a Job that waits and would fit into it.

    It would fit when a node has room for its pod, and all nodes together have it beyond what the Jobs
    that run ask for (those whose pods have no node yet among them)."""

    def __init__(self):
        self.since, self.longest = None, 0.0

    def look(self, now, lent, pods, jobs):
        if not self.is_now(lent, pods, jobs):
            self.since = None
            return
        self.since = self.since or now
        self.longest = max(self.longest, now - self.since)

    @staticmethod
    def is_now(lent, pods, jobs):
        waiting = [cores for name, cores in jobs.cores.items() if name not in jobs.running | jobs.finished | jobs.failed]
        room = Counter(lent)
        for node, cores in pods.work.values():
            room[node] -= cores
        taken = sum(jobs.cores[name] for name in jobs.running)
        free = min(sum(lent.values()) - taken, max(room.values(), default=0))
        return bool(waiting) and min(waiting) <= free


def asked(pod_spec, resource):
    """In cores; kubernetes.io/batch-cpu is in thousandths of one."""
    said = pod_spec["containers"][0]["resources"]["requests"].get(resource, "0")
    return units("cpu", said) / 1000 if resource == "cpu" else units("", said) / 1000


def at_once(what, items):
    """As many people would."""
    with ThreadPoolExecutor(8) as crowd:
        list(crowd.map(what, items))


def at(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class IdleScene:
    def __init__(self, box, screen):
        self.box, self.api, self.screen = box, box.api, screen
        self.agent = AgentScene(box) if box.real_node else None
        self.trouble, self.steps = [], []
        self.line_at, self.began = 0.0, time.monotonic()

    # -- before the curtain ------------------------------------------------

    def prepare(self):
        """An admin's few lines, and the web servers of an evening; before the first scene, so that what they use is known after it."""
        self.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
        made = [("resourceflavors", "ResourceFlavor", "idle", {"idlePool": {"names": "Batch", "share": "100%"}, "tolerations": SPOT}),
                ("clusterqueues", "ClusterQueue", QUEUE, {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
                    {"name": "idle", "resources": [{"name": "cpu", "nominalQuota": "1"}, {"name": "memory", "nominalQuota": "1Gi"}]}]}]})]
        for plural, kind, name, spec in made:
            self.api.ensure(f"/apis/{GROUP}/{plural}", {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec})
        self.api.ensure(f"/apis/{GROUP}/namespaces/{TEAM}/localqueues", {
            "apiVersion": GROUP, "kind": "LocalQueue", "metadata": {"name": QUEUE}, "spec": {"clusterQueue": QUEUE}})
        self.api.ensure("/api/v1/namespaces/kube-system/configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ack-slo-config"}, "data": {
                "colocation-config": json.dumps({**CONFIG, "nodeConfigs": [self.agent.config()] if self.agent else []})}})
        if self.agent:
            self.agent.prepare()
        wait_until("the account of the namespace", lambda: self.api.get(f"/api/v1/namespaces/{TEAM}/serviceaccounts/default"), 30)
        self.servers(range(AT_NIGHT), BUSY)

    # -- the play ----------------------------------------------------------

    def run(self):
        self.began = time.monotonic()
        self.unused = Unused()
        self.nodes, self.pods, self.jobs = Nodes(self.api), Pods(self.api), Jobs(self.api)
        for thread in (self.nodes, self.pods, self.jobs):
            thread.start()
            thread.listed.wait(30)
        try:
            self.play()
        except SandboxError as e:
            self.trouble.append(str(e).split("\n")[0])
        finally:
            self.screen.leave()
            self.took = time.monotonic() - self.began
            for thread in (self.nodes, self.pods, self.jobs):
                thread.stopped = True
            if self.agent:
                self.agent.end()

    def play(self):
        self.submit()
        self.step(f"evening: {AT_NIGHT} web servers have asked for half of the nodes, and use all of that; {JOBS} Jobs wait for what nobody uses")
        self.until("the nodes to say what they lend", lambda: len(self.nodes.lent) == 20 and self.lent() < 40)
        self.evening = self.lent()
        self.step("night: the web servers use a tenth of it")
        if self.agent:
            self.agent.submit()
        self.load(range(AT_NIGHT), QUIET)
        self.until("idle capacity to appear", lambda: self.lent() > 250)
        self.night = self.lent()
        self.step("idle capacity has appeared on the nodes, and the Jobs fill it")
        self.until("them to fill it", lambda: len(self.pods.work) >= 30)
        if self.agent:
            self.until("the agent of the real node to hold a lent pod", self.agent.holds)
            self.agent.rise()
        self.step(f"morning: {BY_DAY} web servers have asked for 95 % of the nodes, and use all of that")
        self.load(range(AT_NIGHT), BUSY)
        self.servers(range(AT_NIGHT, BY_DAY), BUSY)
        self.until("every web server to run", lambda: sum(p == "Running" for p in self.pods.web.values()) == BY_DAY)
        if self.agent:
            self.until("the agent of the real node to have the lent pod give way", self.agent.gave_way)
        self.until("the Jobs to be gone from the nodes", lambda: not self.pods.work)
        self.step("it is quiet again")
        self.load(range(BY_DAY), "400m")
        self.until("all Jobs to finish", lambda: len(self.jobs.finished) == JOBS)
        if self.agent:
            self.until("the agent of the real node to let the lent pod go", self.agent.has_all_back)

    def servers(self, which, uses):
        at_once(lambda n: self.api.ensure(f"/api/v1/namespaces/{TEAM}/pods", web(n, uses)), which)

    def load(self, which, uses):
        at_once(lambda n: self.box.use_pod(TEAM, f"web-{n:02d}", cpu=uses), which)

    def submit(self):
        dice = random.Random(SEED)
        made = [job(f"{dice.choice(['render', 'train', 'sweep'])}-{n:02d}", dice.choice([4, 6, 7]), dice.choice([14, 20, 26])) for n in range(JOBS)]
        at_once(lambda obj: self.api.post(f"/apis/batch/v1/namespaces/{TEAM}/jobs", obj), made)

    def lent(self):
        with self.nodes.lock:
            return sum(self.nodes.lent.values())

    def until(self, what, check):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.measure()
            self.show()
            if check():
                return
            if not self.box.process("controller-one").alive():
                raise SandboxError(f"the controller ended; see {self.box.process('controller-one').log}")
            if time.monotonic() > deadline:
                raise SandboxError(f"waited {PATIENCE_SECONDS} s for {what}; see the logs in {self.box.state / 'logs'}")
            time.sleep(0.25)

    def measure(self):
        with self.nodes.lock, self.pods.lock, self.jobs.lock:
            self.unused.look(time.monotonic(), self.nodes.lent, self.pods, self.jobs)

    # -- showing -----------------------------------------------------------

    def step(self, text):
        self.steps.append((time.monotonic() - self.began, text))
        if not self.screen.live:
            self.screen.print(f"{time.monotonic() - self.began:5.0f} s  {text}")

    def show(self):
        if self.screen.live:
            self.screen.draw(self.frame())
        elif time.monotonic() >= self.line_at:
            self.line_at = time.monotonic() + 4
            self.screen.print(f"{time.monotonic() - self.began:5.0f} s      " + "   ".join(f"{name} {value}" for name, _, value in self.figures()))

    def figures(self):
        """[(what, share of its bar, in words)]."""
        real = self.agent and self.agent.figure()
        web_runs = sum(p == "Running" for p in self.pods.web.values())
        runs, done = len(self.pods.work), len(self.jobs.finished)
        return [("web servers", web_runs / BY_DAY, f"{web_runs} running, {len(self.pods.web) - web_runs} pending"),
                ("lent out", self.lent() / 320, f"{self.lent():.0f} cpu on {len(self.nodes.lent)} nodes"),
                ("idle Jobs", runs / JOBS, f"{runs} running, {len(self.jobs.preempted)} stopped for the web servers"),
                ("finished", done / JOBS, f"{done} of {JOBS}"), *([real] if real else [])]

    def frame(self):
        width, _ = self.screen.size
        wide = max(12, min(48, width - 60))
        seconds = int(time.monotonic() - self.began)
        styles = {"web servers": "green", "lent out": "cyan", "idle Jobs": "magenta", "finished": "blue", "real loop": "yellow"}
        lines = ["", [("title", "  S L U I C E"), ("dim", "   what nobody uses is lent out, and taken back first"), ("bold", f"   {seconds // 60}:{seconds % 60:02d}")], ""]
        lines += [[f"    {name:<13}", *self.screen.bar(share, wide, styles[name]), f"  {words}"] for name, share, words in self.figures()]
        lines += ["", *self.node_lines(), "", [("bold", "  What happens")]]
        return lines + [[("dim", f"    {at:4.0f} s  "), text] for at, text in self.steps[-6:]]

    def node_lines(self):
        """As `kubectl get nodes` would show them: what each lends."""
        with self.nodes.lock:
            lent = sorted(self.nodes.lent.items())
        cells = [[f"{name:<13}", ("cyan", f"{cores:5.1f}"), "   "] for name, cores in lent]
        return [["    ", *sum(cells[i:i + 4], [])] for i in range(0, len(cells), 4)]

    # -- the summary -------------------------------------------------------

    def summary(self):
        """Print it; True if all is as it should be."""
        s, good = self.screen, not self.trouble
        yes, no = s.pick("✓", "ok"), s.pick("✗", "NOT")

        def verdict(holds, sentence):
            nonlocal good
            good = good and bool(holds)
            s.print("  ", ("green", yes) if holds else ("red", no), " ", sentence)
        s.print()
        s.print(("title", f"  A night and a morning in {self.took:.0f} s"))
        s.print()
        for sentence in self.trouble:
            verdict(False, sentence)
        if not self.trouble:
            if self.agent:
                self.agent.table(s)
            for line in self.findings() + (self.agent.findings() if self.agent else []):
                verdict(*line)
        s.print()
        return good

    def findings(self):
        """[(does it hold, sentence)], from the objects of the API."""
        pods, jobs = self.pods, self.jobs
        unlucky = [e for e in self.events("FailedScheduling") if e["involvedObject"]["name"].startswith("web-")]
        told = {e["involvedObject"]["name"] for e in self.events(RECLAIMED)}
        longest = max(pods.waited.values(), default=0)
        return [
            (self.night > self.evening, f"the nodes lent {amount('cpu', round(self.evening) * 1000)} cpu in the evening and {amount('cpu', round(self.night) * 1000)} at night (kubectl get nodes: {BATCH_CPU})"),
            (set(pods.kinds) == {"BestEffort"}, f"Jobs ran on it with {pods.kinds['BestEffort']} pods, all of them BestEffort: they take nothing of what others asked for"),
            (not unlucky and not pods.lost and len(pods.waited) == BY_DAY, f"{len(pods.waited)} web servers got a node, none waited for room (the longest {longest:.0f} s), none was touched"),
            (jobs.preempted and jobs.preempted <= told, f"{len(jobs.preempted)} Jobs were stopped in the morning, each was told why ({RECLAIMED})"),
            (self.unused.longest < UNUSED_SECONDS, f"lent room and a Job that waits for it stood side by side for {self.unused.longest:.1f} s at the longest (less than {UNUSED_SECONDS} s)"),
            (not jobs.failed, "no Job failed of it"),
            (len(jobs.finished) == JOBS, f"{len(jobs.finished)} of {JOBS} Jobs finished"),
        ]

    def events(self, reason):
        try:
            return self.api.list(f"/api/v1/namespaces/{TEAM}/events?fieldSelector=reason={reason}")
        except (OSError, ApiError):
            return []
