"""Three teams, two queues, 300 Jobs: the main job of Sluice on a real control plane. Ten of them are a
pipeline (demo_pipeline.py). After it
what the cluster would say is asked first (demo_cluster.py), and a night and a morning, in which idle
resources are lent out and taken back (demo_idle.py). While they wait, Jobs are told when they start (demo_starts.py).

Everything in here is true: a real API server, Job controller and scheduler; only
the nodes are fake (kwok), so the pods run nothing but time. The view shows what
the controller says; the summary at the end is checked without asking it, from
the ledger by SQL and from the pods by a watch. Exit code 0 only if all Jobs
have finished and both checks hold."""

import argparse
import random
import signal
import sys
import threading
import time
from collections import Counter, deque

import demo_agent
from demo_cluster import ClusterScene
from demo_idle import IdleScene
from demo_pipeline import NAMES, Pipeline, step
from demo_starts import Starts
from sandbox import ApiError, Sandbox, SandboxError, wait_until
from sandbox.audit import JobFollow, LedgerFollow, PodFollow, units
from sandbox.view import Screen, amount

JOBS, SEED = 300, 7
STALLED_SECONDS = 90  # without any Job starting or finishing
GROUP = "sluice.dev/v1alpha1"
TEAMS = {"team-vision": 0.15, "team-search": 0.30, "team-risk": 0.45}  # share that is urgent
PRIORITIES = {"low": 10, "normal": 100, "high": 1000}
QUEUES = {
    "batch": ("BestEffortFIFO", {"spot": {"cpu": "64", "memory": "192Gi"}, "on-demand": {"cpu": "32", "memory": "96Gi"}}),
    "urgent": ("StrictFIFO", {"on-demand": {"cpu": "48", "memory": "144Gi"}}),
}


def plan():
    """The Jobs, the same in every run: [(namespace, name, queue, priority, Job)]."""
    dice, jobs = random.Random(SEED), []
    words = {"team-vision": ["train", "label", "resize"], "team-search": ["index", "rank", "crawl"],
             "team-risk": ["report", "stress", "replay"]}
    for n in range(JOBS):
        team = list(TEAMS)[n % len(TEAMS)]
        name = f"{dice.choice(words[team])}-{n:03d}"
        queue = "urgent" if dice.random() < TEAMS[team] else "batch"
        priority = dice.choices(list(PRIORITIES), [3, 5, 2])[0]
        pods, cpu, seconds = dice.randint(1, 4), dice.choice([1, 1, 2, 2, 4]), dice.randint(1, 4)
        memory = f"{cpu * dice.choice([1, 2, 4])}Gi"
        jobs.append((team, name, queue, priority, {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {"sluice.dev/queue-name": queue, "sluice.dev/priority-class": priority},
                         "annotations": {"sluice.dev/expected-duration": f"{3 * seconds}s"}},  # people ask for too much
            "spec": {"suspend": True, "parallelism": pods, "completions": pods,
                     "template": {"metadata": {"annotations": {"sandbox.sluice.dev/run-seconds": str(seconds)}},
                                  "spec": {"restartPolicy": "Never", "containers": [{
                                      "name": "work", "image": "busybox", "command": ["sleep", str(seconds)],
                                      "resources": {"requests": {"cpu": str(cpu), "memory": memory}}}]}}}}))
    return [step(name, job) for name, (*_, job) in zip(NAMES, jobs)] + jobs[len(NAMES):]


def admin_objects(pools):
    """What an admin writes once: flavors, queues and priorities, as (collection, object)."""
    made = []

    def add(plural, kind, name, **body):
        made.append((plural, {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, **body}))
    on_spot = {"nodeLabels": {"pool": "spot"},
               "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}],
               "tolerations": [{"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]}
    add("resourceflavors", "ResourceFlavor", "spot", spec=on_spot if pools else {})
    add("resourceflavors", "ResourceFlavor", "on-demand", spec={"nodeLabels": {"pool": "on-demand"}} if pools else {})
    for name, value in PRIORITIES.items():
        add("workloadpriorityclasses", "WorkloadPriorityClass", name, value=value, description=f"demo: {name}")
    for name, (strategy, flavors) in QUEUES.items():
        add("clusterqueues", "ClusterQueue", name, spec={
            "namespaceSelector": {}, "queueingStrategy": strategy,
            "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
                {"name": f, "resources": [{"name": r, "nominalQuota": q} for r, q in quota.items()]}
                for f, quota in flavors.items()]}]})
    return made


def write_objects(box):
    # Pools of labelled nodes are the sandbox's; another cluster has its own.
    for plural, obj in admin_objects(pools=not box.cluster):
        box.api.ensure(f"/apis/{GROUP}/{plural}", obj)
    for team in TEAMS:
        box.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}})
        for queue in QUEUES:
            box.api.ensure(f"/apis/{GROUP}/namespaces/{team}/localqueues", {
                "apiVersion": GROUP, "kind": "LocalQueue", "metadata": {"name": queue}, "spec": {"clusterQueue": queue}})


def clean(box):
    """In a cluster that is not ours to throw away: take back what the demo made."""
    for team in TEAMS:
        if not box.api.gone(f"/api/v1/namespaces/{team}"):
            box.api.delete(f"/api/v1/namespaces/{team}")
    for team in TEAMS:
        wait_until(f"namespace {team} to be gone", lambda t=team: box.api.gone(f"/api/v1/namespaces/{t}"), 120)
    for plural, obj in reversed(admin_objects(pools=False)):
        box.api.force_away(f"/apis/{GROUP}/{plural}/{obj['metadata']['name']}")  # nothing of ours uses it any more


class Demo:
    def __init__(self, box, screen):
        self.box, self.screen = box, screen
        self.jobs = plan()
        self.created = {}
        self.trouble = []
        self.queue_of = {(ns, name): queue for ns, name, queue, _, _ in self.jobs}
        self.seen = JobFollow(box.api, self.queue_of)
        self.pods = PodFollow(box.api, self.queue_of, pools=not box.cluster)
        self.ledger = LedgerFollow(box)
        self.controller = box.controller_api()
        self.pipeline = Pipeline(self.seen, self.controller)
        self.starts = Starts(self.seen, self.controller, lambda: len(self.created) + len(self.trouble) >= JOBS)
        self.queues, self.decisions, self.last_seq = [], deque(maxlen=50), 0
        self.began = time.monotonic()

    # -- submitting --------------------------------------------------------

    def submit(self, team):
        """One team's Jobs, as fast as the API server takes them."""
        for ns, name, _, _, job in self.jobs:
            if ns != team:
                continue
            try:
                at = time.monotonic()
                self.box.api.post(f"/apis/batch/v1/namespaces/{ns}/jobs", job)
                self.created[(ns, name)] = at
            except (OSError, ApiError) as e:
                self.trouble.append(f"Job {ns}/{name} could not be created: {e}")

    # -- watching ----------------------------------------------------------

    def ask_controller(self):
        """The last answer stays on the screen while the controller is away."""
        try:
            self.queues = [q for q in self.controller.queues()["clusterQueues"] if q["name"] in QUEUES]
            for d in self.controller.decisions(self.last_seq):
                self.last_seq = max(self.last_seq, d["seq"])
                self.decisions.append(d)
        except (OSError, ApiError, KeyError, ValueError):
            pass

    def progress(self):
        with self.seen.lock:
            return len(self.seen.started), len(self.seen.finished | self.seen.failed), len(self.seen.active)

    def run(self):
        """Submit, show, and return when all Jobs are done or nothing moves."""
        for thread in (self.seen, self.pods, self.ledger):
            thread.start()
        for thread in (self.seen, self.pods):
            thread.listed.wait(30)
        self.began = time.monotonic()
        for team in TEAMS:
            threading.Thread(target=self.submit, args=(team,), daemon=True).start()
        moved, at = None, time.monotonic()
        next_line = 0.0
        while True:
            self.ask_controller()
            self.pipeline.look()
            self.starts.look()
            now = time.monotonic()
            progress = self.progress()
            if progress != moved:
                moved, at = progress, now
            if self.screen.live:
                self.screen.draw(self.frame())
            elif now >= next_line:
                next_line = now + 2
                self.plain_line()
                self.starts.list_once(self.screen)
            done = progress[1] + len(self.trouble) >= JOBS
            if done:
                break
            if not self.box.process("controller-one").alive():
                self.trouble.append(f"the controller ended; see {self.box.process('controller-one').log}")
                break
            if now - at > STALLED_SECONDS:
                self.trouble.append(f"nothing has started or finished for {STALLED_SECONDS} s; "
                                    f"see the logs in {self.box.state / 'logs'}")
                break
            time.sleep(0.25)
        self.settle()
        if self.screen.live:
            self.ask_controller()
            self.screen.draw(self.frame())

    def settle(self):
        """The last pods are gone; wait until the ledger says so as well."""
        self.took = time.monotonic() - self.began
        try:
            wait_until("the ledger to be empty again", lambda: self.ledger.read() == 0, 30, every=0.2)
        except SandboxError as e:
            self.trouble.append(f"{e}; {self.ledger.trouble or 'quota is still held'}")
        for thread in (self.seen, self.pods, self.ledger):
            thread.stopped = True

    # -- showing -----------------------------------------------------------

    def plain_line(self):
        parts = []
        for q in self.queues:
            use = ", ".join(f"{f['name']} {amount('cpu', r['usedUnits'])}/{amount('cpu', r['nominalUnits'])} cpu"
                            for f in q["flavors"] for r in f["resources"] if r["name"] == "cpu")
            parts.append(f"{q['name']}: {q['admitted']} running, {q['pending']} waiting ({use})")
        _, done, _ = self.progress()
        last = f"  last: {self.words(self.decisions[-1])}" if self.decisions else ""
        self.screen.print(f"{time.monotonic() - self.began:5.0f} s  {done:3d}/{JOBS} finished  {'  '.join(parts)}{last}")

    @staticmethod
    def words(decision):
        who = f"{decision.get('namespace')}/{decision.get('job')}" if decision.get("job") else ""
        text = decision.get("text") or decision.get("kind", "")
        return text if not who or decision["job"] in text else f"{who}: {text}"

    def frame(self):
        width, height = self.screen.size
        wide = max(12, min(48, width - 46))
        dot, bullet = self.screen.pick("●", "*"), self.screen.pick("▸", ">")
        _, done, _ = self.progress()
        seconds = int(time.monotonic() - self.began)
        lines = ["", [("title", "  S L U I C E"), ("dim", f"   {len(TEAMS)} teams, {len(QUEUES)} queues, {JOBS} Jobs on a real control plane"),
                      ("bold", f"   {seconds // 60}:{seconds % 60:02d}")], ""]
        for q in self.queues:
            lines.append(["  ", ("bold", f"{q['name']:<10}"), ("dim", f"{q['strategy']:<18}"),
                          ("green", f"{dot} {q['admitted']:>3} running   "), ("yellow", f"{dot} {q['pending']:>3} waiting   "),
                          ("blue", f"{dot} {self.finished_of(q['name']):>3} finished")])
            if not q.get("active", True):
                lines.append(["    ", ("red", q.get("message", "not active"))])
            for f in q["flavors"]:
                for n, r in enumerate(f["resources"]):
                    share = r["usedUnits"] / r["nominalUnits"] if r["nominalUnits"] else 0
                    full = amount(r["name"], r["nominalUnits"])
                    lines.append([f"    {f['name'] if n == 0 else '':<11}", ("dim", f"{r['name']:<8}"),
                                  *self.screen.bar(share, wide, "red" if share > 1 else "cyan" if r["name"] == "cpu" else "magenta"),
                                  f" {amount(r['name'], r['usedUnits']).removesuffix(' Gi'):>6}", ("dim", f" of {full}")])
            lines.append("")
        if not self.queues:
            lines += [["  ", ("dim", "the controller has not answered yet")], ""]
        lines += [self.team_line(team, max(8, min(wide, width - 60))) for team in TEAMS]
        lines.append(self.pipeline.line(self.screen))
        lines.append(self.starts.line(self.screen))
        lines.append("")
        foot = ["", ["  ", *self.screen.bar(done / JOBS, max(10, min(60, width - 26)), "green"), ("bold", f" {done}"), f" of {JOBS} finished"]]
        room = max(1, min(8, height - len(lines) - len(foot) - 3))
        lines.append([("bold", "  What was just decided")])
        recent = list(self.decisions)[-room:]
        colours = {"start": "green", "stop": "red", "hold": "yellow", "finish": "blue"}
        for d in recent:
            lines.append([("dim", f"    {d.get('at', '')[11:19]} "), (colours.get(d.get("kind", "").lower(), ""), bullet + " "), self.words(d)])
        lines += [""] * (room - len(recent))
        return lines + foot

    def team_line(self, team, wide):
        """A team's Jobs in one bar: finished, running, waiting."""
        mine = [j[:2] for j in self.jobs if j[0] == team]
        with self.seen.lock:
            done = sum(j in self.seen.finished for j in mine)
            runs = sum(j in self.seen.active for j in mine)
        fill = self.screen.pick("█", "#")
        a, b = round(wide * done / len(mine)), round(wide * (done + runs) / len(mine))
        waits = sum(j in self.created for j in mine) - done - runs
        return [f"    {team:<14}", ("blue", fill * a), ("green", fill * (b - a)), ("dim", self.screen.pick("·", ".") * (wide - b)),
                ("green", f" {runs:>3} running"), ("yellow", f" {max(0, waits):>3} waiting"), ("blue", f" {done:>3} finished")]

    def finished_of(self, queue):
        with self.seen.lock:
            return sum(1 for key in self.seen.finished if self.queue_of.get(key) == queue)

    # -- the summary -------------------------------------------------------

    def summary(self):
        """Print it; True if all is as it should be."""
        s, good = self.screen, True
        yes, no = s.pick("✓", "ok"), s.pick("✗", "NOT")

        def verdict(holds, sentence):
            nonlocal good
            good = good and holds
            s.print("  ", ("green", yes) if holds else ("red", no), " ", sentence)
        with self.seen.lock:
            started, finished, failed = dict(self.seen.started), set(self.seen.finished), set(self.seen.failed)
        pods_seen = self.pods.events
        s.print()
        s.print(("title", f"  {JOBS} Jobs of {len(TEAMS)} teams in {self.took:.0f} s"))
        s.print()
        rows = [self.row(q, lambda j, q=q: j[2] == q, started, finished) for q in QUEUES]
        rows += [self.row(f"priority {p}", lambda j, p=p: j[3] == p, started, finished) for p in reversed(PRIORITIES)]
        rows.append(self.row("all", lambda j: True, started, finished))
        s.table(["", "submitted", "admitted", "finished", "waited p50", "waited p99"], rows)
        s.print()
        over = self.peaks()
        s.print()
        verdict(len(finished) == JOBS, f"{len(finished)} of {JOBS} Jobs finished" + (f", {len(failed)} failed" if failed else ""))
        verdict(*self.pipeline.sentence())
        verdict(not over and pods_seen > 0, f"never over quota by the pods: {pods_seen} changes of pods were watched"
                + (": OVER in " + "; ".join(over) if over else ""))
        try:
            kinds, unresolved = self.ledger.kinds(), self.ledger.unresolved()
            above = self.ledger.above
            story = ", ".join(f"{n} {k}" for k, n in sorted(kinds.items()))
            verdict(not above and self.ledger.reads > 1, f"never over quota by the ledger: balances read {self.ledger.reads} times"
                    + (": ABOVE the ceiling in " + "; ".join(sorted(set(above))[:3]) if above else ""))
            verdict(unresolved == 0 and kinds.get("RESERVE", 0) >= JOBS,
                    f"each reservation was returned exactly once ({story or 'the ledger is empty'})"
                    + (f"; {unresolved} were not" if unresolved else ""))
        except SandboxError as e:
            verdict(False, f"the ledger could not be read: {e}")
        for sentence in self.trouble[:5]:
            verdict(False, sentence)
        s.print()
        return good

    def row(self, title, which, started, finished):
        jobs = [j for j in self.jobs if which(j)]
        keys = [(ns, name) for ns, name, *_ in jobs]
        waited = sorted(started[k] - self.created[k] for k in keys if k in started and k in self.created)

        def at(q):
            return f"{waited[min(len(waited) - 1, int(q * len(waited)))]:.1f} s" if waited else "-"
        return [title, str(sum(k in self.created for k in keys)), str(sum(k in started for k in keys)),
                str(sum(k in finished for k in keys)), at(0.5), at(0.99)]

    def peaks(self):
        """The table of quota against the most that was used; returns what was over."""
        over, rows, limits = [], [], Counter()
        for queue, (_, flavors) in QUEUES.items():
            for flavor, quota in flavors.items():
                for resource, quantity in quota.items():
                    limits[(queue, flavor if self.pods.pools else "any", resource)] += units(resource, quantity)
        with self.pods.lock:
            peak = dict(self.pods.peak)
        by_ledger = Counter()
        for (node, flavor, resource), n in self.ledger.peak.items():
            by_ledger[(node, flavor if self.pods.pools else "any", resource)] += n
        for key in sorted(set(limits) | set(peak)):
            queue, flavor, resource = key
            pods, limit = peak.get(key, 0), limits.get(key, 0)
            if pods > limit:
                over.append(f"{queue} {flavor} {resource}: {amount(resource, pods)} of {amount(resource, limit)}")
            held = next((n for (node, f, r), n in by_ledger.items()
                         if (f, r) == (flavor, resource) and node.rpartition("/")[2] == queue), 0)
            rows.append([queue, flavor, resource, amount(resource, limit), amount(resource, held),
                         ("red" if pods > limit else "green", amount(resource, pods))])
        self.screen.table(["queue", "flavor", "resource", "quota", "most in ledger", "most in pods"], rows)
        return over


def play(box, screen):
    """All scenes; True if all was as it should be. Nodes are only ours to play in a sandbox of our own."""
    idle = None if box.cluster else IdleScene(box, screen)
    if idle:
        idle.prepare()
    print(f"==> {JOBS} Jobs of {len(TEAMS)} teams through {len(QUEUES)} queues (about a minute)", flush=True)
    demo = Demo(box, screen)
    demo.run()
    screen.leave()
    good = demo.summary()
    if idle:
        print("==> a Job too many for its namespace, and one that no node can take: the cluster is asked first (about ten seconds)", flush=True)
        good = ClusterScene(box, screen).run() and good
        print("==> a night and a morning: what nobody uses is lent out, and taken back first (about two minutes)", flush=True)
        idle.run()
        good = idle.summary() and good
    told, sentence = demo.starts.sentence()
    screen.print("  ", ("green", screen.pick("✓", "ok")) if told else ("red", screen.pick("✗", "NOT")), " ", sentence)
    screen.print()
    return good and told


def main():
    p = argparse.ArgumentParser(prog="./dev demo", description=__doc__.split("\n")[0])
    p.add_argument("--name", default="demo")
    p.add_argument("--cluster", action="store_true", help="in the cluster that KUBECONFIG names")
    args = p.parse_args()
    screen = Screen()
    began = time.monotonic()
    no_agent = args.cluster or demo_agent.why_not()
    box = Sandbox(args.name, args.cluster, overcommit=not args.cluster, with_real_node=not no_agent, agents=not no_agent, say=lambda text: print(f"  {time.monotonic() - began:5.1f} s  {text}", flush=True))
    good = False

    def quit(number, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, quit)
    try:
        what = "Postgres and the controller, for the cluster that KUBECONFIG names" if args.cluster else "a real control plane with 20 fake nodes, and Postgres"
        if not no_agent:
            what = "a real control plane with 20 fake nodes and a real one, its agent, and Postgres"
        print(f"==> sandbox {args.name}: {what} (about {10 if no_agent else 25} s)", flush=True)
        if no_agent and not args.cluster:
            print(f"  without the agent of nodes, which is shown on a node whose containers really run: {no_agent}", flush=True)
        box.destroy()  # a run begins with an empty ledger
        box.up(controller="one")
        if args.cluster:
            clean(box)
        write_objects(box)
        box.wait_ready("controller-one")
        good = play(box, screen)
    except KeyboardInterrupt:
        screen.leave()
        print("stopped; ending what was started", flush=True)
        return 130
    finally:
        screen.leave()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            if args.cluster and box.process("proxy").alive():
                clean(box)
        finally:
            box.down()
    print(f"Everything is ended again; logs are in {box.state / 'logs'}. To look around yourself: ./dev up")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SandboxError as e:
        sys.exit(f"demo: {e}")
