"""What questions cost: how fast they are answered with very many waiting Jobs, and what admissions lose by it.

Admissions are measured by turns: with nobody asking; with 1,000 questions a second to Sluice (one Job, or a namespace
with 20) and its whole list once a second; and with as many questions to the API server about the same Jobs, which cost
it about as much and Sluice nothing. The last one is the yardstick: on a machine of two cores whatever asks the API
server takes time from everything.

The controller-manager is stopped while the waiting Jobs are made, as in `waiting`."""

import json
import threading
import time

from admission import Phase, drained
from ground import Ground, quantiles, say, table
from sandbox import wait_until

WAITING, SMALL, PAGE, TURNS, ADMISSIONS, RATE = 100000, 20, 5000, 3, 600, 1000
GROUP = "/apis/visibility.sluice.dev/v1alpha1"


def waiting_jobs(ground, n):
    """They wait for ever, in a namespace of their own; and 20 in a small one."""
    ground.queue("bench-ask", 0)
    ground.queue("bench-small", 0)
    ground.box.kill("kube-controller-manager")
    say(f"==> {n} waiting Jobs (about {n // 500} s)")
    ground.blast(ground.create("bench-ask", f"job-{i}") for i in range(n))
    ground.blast(ground.create("bench-small", f"job-{i}") for i in range(SMALL))
    wait_until("the controller to have seen them", lambda: ground.pending() == n + SMALL, 600, every=0.5)
    ground.box.start("kube-controller-manager")
    wait_until("the aggregated API", lambda: ground.api.get(GROUP + "/namespaces/bench-small/queuedjobs")["items"], 120)


def alone(ground, path, times=20):
    """(quantiles in ms, bytes) of so many questions, one after the other."""
    waits, size = [], 0
    for _ in range(times):
        began = time.monotonic()
        size = len(ground.api.raw("GET", path))
        waits.append(time.monotonic() - began)
    return quantiles(waits), size


def read_pages(api, path):
    """The whole list as clients read it; how many bytes it has."""
    token = size = 0
    while token is not None:
        text = api.raw("GET", f"{path}?limit={PAGE}" + (f"&continue={token}" if token else ""))
        size, token = size + len(text), json.loads(text[:500].split(b',"items":')[0] + b"}")["metadata"].get("continue")
    return size


def whole_list(ground, times=3):
    """(quantiles in ms, bytes) of the whole list."""
    waits, size = [], 0
    for _ in range(times):
        began = time.monotonic()
        size = read_pages(ground.api, f"{GROUP}/queuedjobs")
        waits.append(time.monotonic() - began)
    return quantiles(waits), size


def lines(paths, seconds):
    """As blast takes them: each with the millisecond in front."""
    return [(str(i * 1000 // RATE), "GET", paths[i % len(paths)], "", "") for i in range(RATE * seconds)]


class Asking(threading.Thread):
    """Asks RATE times a second until it is told to stop, and for the whole list once a second."""

    def __init__(self, ground, paths, whole=None):
        super().__init__(daemon=True)
        self.ground, self.paths, self.whole, self.over = ground, paths, whole, threading.Event()
        self.asked, self.lists, self.late_ms = 0, 0, 0

    def run(self):
        lister = threading.Thread(target=self.list, daemon=True)
        lister.start()
        while not self.over.is_set():
            said = self.ground.blast(lines(self.paths, 1), paced=True)
            self.asked += said["requests"]
            self.late_ms = max(self.late_ms, said["late_ms"])
        lister.join()

    def list(self):
        while self.whole and not self.over.wait(1):
            read_pages(self.ground.api, self.whole)
            self.lists += 1

    def __enter__(self):
        self.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def admit(ground, turn, who):
    """The hold of a queue is lifted; until the last of its Jobs is started."""
    name = "bench-let-in"
    ground.set_queue(name, stopPolicy="Hold")
    ground.blast([ground.create(name, f"{who}-{turn}-{i}") for i in range(ADMISSIONS)])
    before = ground.metric("sluice_admissions_total")

    def seen():
        queues = ground.box.controller_api().queues()["clusterQueues"]
        return next(q["pending"] for q in queues if q["name"] == name) == ADMISSIONS
    wait_until("the controller to have seen them", seen, 600, every=0.5)
    return name, before


def phase(ground, turn, who, paths=None, whole=None):
    name, before = admit(ground, turn, who)
    say(f"==> turn {turn}, {who}")
    asking = Asking(ground, paths, whole) if paths else None
    cpu = ground.usage()[1]
    if asking:
        asking.__enter__()
    with Phase(ground, ADMISSIONS) as it:
        ground.set_queue(name, stopPolicy="None")
        while ground.metric("sluice_admissions_total") < before + ADMISSIONS:
            time.sleep(0.05)
    if asking:
        asking.__exit__()
        say(f"    {asking.asked} questions, {asking.lists} whole lists, at most {asking.late_ms:.0f} ms late")
    it.controller_cpu = ground.usage()[1] - cpu
    drained(ground, [name])
    return it


def by_turns(ground):
    ours = [f"{GROUP}/namespaces/bench-small/queuedjobs/job-3", f"{GROUP}/namespaces/bench-small/queuedjobs"]
    theirs = ["/apis/batch/v1/namespaces/bench-small/jobs/job-3", "/apis/batch/v1/namespaces/bench-small/jobs"]
    kinds = {"alone": (), "sluice": (ours, f"{GROUP}/queuedjobs"), "server": (theirs,)}
    found = {who: [] for who in kinds}
    ground.queue("bench-let-in", 100000)
    for turn in range(1, TURNS + 1):
        for who in list(kinds)[::1 if turn % 2 else -1]:
            found[who].append(phase(ground, turn, who, *kinds[who]))
    return {who: round(sum(p.writes for p in all_) / sum(p.seconds for p in all_), 1) for who, all_ in found.items()}


def run(args):
    jobs = args.jobs or WAITING
    ground = Ground()
    try:
        waiting_jobs(ground, jobs)
        one, _ = alone(ground, f"{GROUP}/namespaces/bench-small/queuedjobs/job-3")
        small, _ = alone(ground, f"{GROUP}/namespaces/bench-small/queuedjobs")
        rss = ground.usage()[0]
        whole, size = whole_list(ground)
        page, _ = alone(ground, f"{GROUP}/queuedjobs?limit=500", 5)
        rates = by_turns(ground)
        result = {"bench": "ask", "jobs": jobs, "one_ms": one, "small_ms": small, "whole_ms": whole, "whole_mb": round(size / 1e6, 1),
                  "page_ms": page, "rss_mb": round(rss, 1), "admissions_per_s": rates, "ratio": round(rates["sluice"] / rates["alone"], 3),
                  "ratio_to_server": round(rates["sluice"] / rates["server"], 3)}
    finally:
        if not args.keep:
            ground.box.destroy()
    table([
        ("one Job", f"{one['p50']} / {one['p99']} ms", f"p50 / p99, beside {jobs} waiting Jobs"),
        ("a namespace with 20", f"{small['p50']} / {small['p99']} ms", ""),
        ("the whole list", f"{whole['p50']} / {whole['p99']} ms", f"{result['whole_mb']} MB, in pages of {PAGE}"),
        ("a page of 500 of it", f"{page['p50']} / {page['p99']} ms", ""),
        ("admissions, nobody asks", f"{rates['alone']} /s", ""),
        (f"  {RATE} questions/s to Sluice", f"{rates['sluice']} /s", f"{result['ratio']} of alone (goal 0.95); with the whole list once a second"),
        (f"  {RATE} questions/s to the API server", f"{rates['server']} /s", f"Sluice's are at {result['ratio_to_server']} of that"),
        ("controller", f"{result['rss_mb']} MB", ""),
    ])
    return result
