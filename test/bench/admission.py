"""How fast Jobs are let in, how long one waits, how soon the next follows. With --plays: what it costs them that
people look at starts meanwhile, so that the queue is played (docs/when.md)."""

import threading
import time
import uuid

from ground import Ground, JobWatch, create, quantiles, say, table
from sandbox import wait_until

TURNS = 5
LATENCY_JOBS = 100
TURNAROUND_QUOTA, TURNAROUND_JOBS = 100, 2000


def raw_lines(names):
    """The PATCH an admission makes, as a plain JSON Patch of the same size and shape."""
    story = '{\\"attempt\\":1,\\"state\\":\\"Started\\",\\"epoch\\":1,\\"at\\":\\"2026-01-01T00:00:00Z\\",\\"clusterQueue\\":\\"bench-0\\",' \
            '\\"flavors\\":{\\"cpu\\":\\"any\\"},\\"reason\\":\\"\\",\\"by\\":\\"one\\"}'
    body = ('[{"op":"test","path":"/spec/suspend","value":true},{"op":"test","path":"/metadata/generation","value":1},'
            '{"op":"replace","path":"/spec/suspend","value":false},'
            '{"op":"add","path":"/spec/template/spec/nodeSelector","value":{}},'
            '{"op":"add","path":"/spec/template/metadata/labels/bench.sluice.dev~1cluster-queue-name","value":"bench-0"},'
            '{"op":"add","path":"/metadata/annotations","value":{"bench.sluice.dev/admission":"%s"}}]' % story)
    return [("PATCH", f"/apis/batch/v1/namespaces/bench-raw/jobs/{name}", "application/json-patch+json", body) for name in names]


def drained(ground, namespaces):
    """Until all Jobs have ended, so that one phase's pods do not slow the next; then remove them."""
    def quiet():
        return all(not any(j["status"].get("active") for j in ground.api.list(f"/apis/batch/v1/namespaces/{ns}/jobs")) for ns in namespaces)
    wait_until("the pods of the last phase to end", quiet, 1800, every=2)


class Phase:
    """A while in which only such writes were made: how many, how long it took, what the API server worked for them."""

    def __init__(self, ground, writes):
        self.ground, self.writes = ground, writes

    def __enter__(self):
        self.began, self.cpu = time.monotonic(), self.server_cpu()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        self.cpu = self.server_cpu() - self.cpu
        say(f"    {self.writes / self.seconds:.1f} /s, {1000 * self.cpu / self.writes:.2f} ms of the API server for each")

    def server_cpu(self):
        return self.ground.usage("kube-apiserver")[1]


def per_second(phases):
    return round(sum(p.writes for p in phases) / sum(p.seconds for p in phases), 1)


def server_ms(phases):
    return round(1000 * sum(p.cpu for p in phases) / sum(p.writes for p in phases), 2)


def raw_phase(ground, turn, n):
    names = [f"raw-{turn}-{i}" for i in range(n)]
    say(f"==> turn {turn}, raw: {n} like Jobs outside the queues, patched by a plain curl_multi loop, 64 in flight")
    ground.blast([create("bench-raw", name, label="bench.sluice.dev/queue-name") for name in names])
    ground.wait_settled(["bench-raw"], n * turn)
    with Phase(ground, n) as phase:
        rate = ground.blast(raw_lines(names), as_controller=True)["per_s"]
    phase.seconds = n / rate  # without the start of that program
    drained(ground, ["bench-raw"])
    return phase


def admission_phase(ground, queues, turn, n, waiting=0):
    """All Jobs wait in held queues; the hold is lifted; the clock runs until the last is started. `waiting` others go on to wait."""
    say(f"==> turn {turn}, admission: {n} Jobs in {len(queues)} ClusterQueue(s)")
    for name in queues:
        ground.set_queue(name, stopPolicy="Hold")
    ground.blast([ground.create(queues[i % len(queues)], f"job-{turn}-{i}") for i in range(n)])
    wait_until("the controller to have seen them", lambda: ground.pending() == n + waiting, 600, every=0.5)
    ground.wait_settled(queues, n * turn)
    ground.wait_reported(pendingWorkloads=n + waiting)
    writes, cpu = ground.writes(), ground.usage()[1]
    admitted = ground.metric("sluice_admissions_total")
    with Phase(ground, n) as phase:
        for name in queues:
            ground.set_queue(name, stopPolicy="None")
        while ground.metric("sluice_admissions_total") < admitted + n:
            time.sleep(0.05)
    phase.rss, cpu_after = ground.usage()
    phase.controller_cpu = cpu_after - cpu
    ground.wait_reported(pendingWorkloads=waiting)
    after = ground.writes()
    phase.job_writes, phase.api_writes = after[0] - writes[0], after[1] - writes[1] - len(queues)  # lifting the hold is the bench's own
    check_started(ground, queues, n * turn)
    drained(ground, queues)
    return phase


def check_started(ground, queues, jobs):
    running = sum(not j["spec"].get("suspend") for name in queues for j in ground.api.list(f"/apis/batch/v1/namespaces/{name}/jobs"))
    if running != jobs:
        raise SystemExit(f"{running} of {jobs} Jobs are unsuspended, though the controller says all were admitted")


def in_turns(ground, queues, jobs):
    """Raw and admitted Jobs by turns, for the machine is not as fast in one minute as in the next."""
    raw, admitted = [], []
    for turn in range(1, TURNS + 1):
        n = jobs * turn // TURNS - jobs * (turn - 1) // TURNS
        phases = [lambda: raw.append(raw_phase(ground, turn, n)), lambda: admitted.append(admission_phase(ground, queues, turn, n))]  # noqa: B023
        for phase in phases if turn % 2 else phases[::-1]:
            phase()
    return raw, admitted


def latency(ground, jobs=LATENCY_JOBS):
    """One Job at a time on an idle queue, from the answer to its creation until a watch shows it
    unsuspended; and the same from before the creation was sent. The next one is made when this one
    has ended, so that its pods are not what is measured."""
    ground.queue("bench-idle", 1000)
    say(f"==> latency: {jobs} Jobs, one at a time, on an idle queue")
    watch, waits, from_send = JobWatch(ground, "bench-idle"), [], []
    for i in range(jobs):
        name = f"one-{i}"
        sent = time.monotonic()
        ground.api.post("/apis/batch/v1/namespaces/bench-idle/jobs", ground.job("bench-idle", name))
        created = time.monotonic()
        watch.wait(f"{name} to start", lambda: name in watch.started, 60)
        waits.append(max(0, watch.started[name] - created))
        from_send.append(watch.started[name] - sent)
        watch.wait(f"{name} to end", lambda: name in watch.ended, 60)
    say(f"    {quantiles(waits)} ms")
    return quantiles(waits), quantiles(from_send)


def turnaround(ground, quota=TURNAROUND_QUOTA, jobs=TURNAROUND_JOBS):
    """Under full quota, the k-th start after the first fill answers the k-th end. (quantiles of that, seconds for all of them)"""
    ground.queue("bench-churn", quota, stop_policy="Hold")
    say(f"==> turnaround: quota for {quota} pods, {jobs} Jobs of one second waiting")
    ground.blast([ground.create("bench-churn", f"churn-{i}") for i in range(jobs)])
    ground.wait_settled(["bench-churn"], jobs)
    ground.wait_reported(timeout=1800, pendingWorkloads=jobs)
    watch, began = JobWatch(ground, "bench-churn"), time.monotonic()
    ground.set_queue("bench-churn", stopPolicy="None")
    watch.wait("all Jobs to end", lambda: len(watch.ended) == jobs, 1800)
    starts, ends = sorted(watch.started.values()), sorted(watch.ended.values())
    return quantiles([max(0, s - e) for s, e in zip(starts[quota:], ends)]), ends[-1] - began


def rates(ground, queues, jobs):
    for name in queues:
        ground.queue(name, 10 * jobs)
    raw, admitted = in_turns(ground, queues, jobs)
    ratios = sorted((a.writes / a.seconds) / (r.writes / r.seconds) for r, a in zip(raw, admitted))
    return {"raw_patch_per_s": per_second(raw), "admissions_per_s": per_second(admitted), "ratio": round(per_second(admitted) / per_second(raw), 3),
            "ratio_least": round(ratios[0], 3), "ratio_most": round(ratios[-1], 3), "server_ms_per_raw": server_ms(raw),
            "server_ms_per_admission": server_ms(admitted), "job_writes_per_admission": round(sum(p.job_writes for p in admitted) / jobs, 4),
            "api_writes_per_admission": round(sum(p.api_writes for p in admitted) / jobs, 4), "rss_mb": round(max(p.rss for p in admitted), 1),
            "cpu_s": round(sum(p.controller_cpu for p in admitted), 2)}


class Looking(threading.Thread):
    """Somebody looks at when Jobs start, once a second."""

    def __init__(self, ground, ns):
        super().__init__(daemon=True)
        self.ground, self.ns, self.over = ground, ns, threading.Event()

    def run(self):
        while not self.over.wait(1):
            self.ground.api.raw("GET", f"/apis/visibility.sluice.dev/v1alpha1/namespaces/{self.ns}/queuedjobs?limit=1")

    def __enter__(self):
        self.start()

    def __exit__(self, *_):
        self.over.set()
        self.join()


def with_plays(args):
    """Admissions by turns: nobody looks, and somebody looks. 2,000 Jobs that wait for ever are what is played."""
    jobs = max(args.jobs or 5000, TURNS)
    ground, plain, looked_at = Ground(), [], []
    try:
        ground.queue("bench-0", 10 * jobs)
        ground.queue("bench-waits", 0)
        ground.blast([ground.create("bench-waits", f"job-{i}") for i in range(2000)])
        for turn in range(1, 2 * TURNS + 1):
            n = jobs // TURNS
            if turn % 4 in (1, 0):
                plain.append(admission_phase(ground, ["bench-0"], turn, n, waiting=2000))
                continue
            with Looking(ground, "bench-waits"):
                wait_until("a first play", lambda: ground.metric("sluice_forecast_plays_total") > 0, 120)
                looked_at.append(admission_phase(ground, ["bench-0"], turn, n, waiting=2000))
            time.sleep(61)  # until nobody looks any more
        result = {"bench": "admission --plays", "jobs": jobs, "nobody_looks_per_s": per_second(plain), "somebody_looks_per_s": per_second(looked_at),
                  "ratio": round(per_second(looked_at) / per_second(plain), 3), "plays": ground.metric("sluice_forecast_plays_total"),
                  "plays_cpu_s": ground.metric("sluice_forecast_cpu_seconds_total")}
    finally:
        if not args.keep:
            ground.box.destroy()
    table([("nobody looks", f"{result['nobody_looks_per_s']} /s", f"{TURNS} times {jobs // TURNS} Jobs, by turns"),
           ("somebody looks", f"{result['somebody_looks_per_s']} /s", f"{result['ratio']} of that (goal 0.97); {result['plays']:.0f} plays, {result['plays_cpu_s']:.1f} s")])
    return result


def run(args):
    if args.plays:
        return with_plays(args)
    jobs = max(args.jobs or 5000, TURNS)
    ground = Ground()
    try:
        ground.api.ensure("/api/v1/namespaces", {"metadata": {"name": "bench-raw"}})
        result = {"bench": "admission", "jobs": jobs, "queues": args.queues, **rates(ground, [f"bench-{i}" for i in range(args.queues)], jobs)}
        result["latency_ms"], result["latency_from_send_ms"] = latency(ground)
        result["turnaround_ms"], _ = turnaround(ground)
        result["rss_mb"] = max(result["rss_mb"], round(ground.usage()[0], 1))
    finally:
        if not args.keep:
            ground.box.destroy()
    table([
        ("raw PATCHes", f"{result['raw_patch_per_s']} /s", f"a plain loop, 64 in flight; by turns with the admissions, {TURNS} each"),
        ("admissions", f"{result['admissions_per_s']} /s", f"{result['ratio']} of raw (goal 0.95); by turn {result['ratio_least']} to {result['ratio_most']}"),
        ("API server's cpu per write", f"{result['server_ms_per_admission']} ms", f"raw {result['server_ms_per_raw']} ms; with what follows from it meanwhile: pods, status"),
        ("Job writes per admission", result["job_writes_per_admission"], "goal 1.00"),
        ("API writes per admission", result["api_writes_per_admission"], "with the status of queues"),
        ("latency p50 / p99", f"{result['latency_ms']['p50']} / {result['latency_ms']['p99']} ms", "created -> unsuspended, idle queue (goal p50 < 10)"),
        ("  from before the create", f"{result['latency_from_send_ms']['p50']} / {result['latency_from_send_ms']['p99']} ms", ""),
        ("turnaround p50 / p99", f"{result['turnaround_ms']['p50']} / {result['turnaround_ms']['p99']} ms", "a Job's end -> the next start (goal < 100 / 500)"),
        ("controller", f"{result['rss_mb']} MB", f"{result['cpu_s']} cpu seconds for the {jobs} admissions"),
    ])
    return result
