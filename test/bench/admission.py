"""How fast Jobs are let in, how long one waits, how soon the next follows."""

import time
import uuid

from ground import Ground, JobWatch, create, job, quantiles, say, table
from sandbox import wait_until

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


def raw_rate(ground, part, n):
    names = [f"raw-{part}-{i}" for i in range(n)]
    say(f"==> raw: {n} like Jobs outside the queues, patched by a plain curl_multi loop, 64 in flight")
    ground.blast([create("bench-raw", name, label="bench.sluice.dev/queue-name") for name in names])
    ground.wait_settled(["bench-raw"], n * part)
    rate = ground.blast(raw_lines(names), as_controller=True)["per_s"]
    say(f"    {rate} /s")
    drained(ground, ["bench-raw"])
    return rate


def admission_rate(ground, queues, jobs):
    """All Jobs wait in held queues; the hold is lifted; the clock runs until the last is started."""
    names = [f"bench-{i}" for i in range(queues)]
    for name in names:
        ground.queue(name, 10 * jobs, stop_policy="Hold")
    say(f"==> admission: {jobs} Jobs in {queues} ClusterQueue(s)")
    ground.blast([create(names[i % queues], f"job-{i}") for i in range(jobs)])
    wait_until("the controller to have seen them", lambda: ground.pending() == jobs, 600, every=0.5)
    ground.wait_settled(names, jobs)
    ground.wait_reported(pendingWorkloads=jobs)
    writes, (_, cpu) = ground.writes(), ground.usage()
    began = time.monotonic()
    for name in names:
        ground.set_queue(name, stopPolicy="None")
    while ground.metric("sluice_admissions_total") < jobs:
        time.sleep(0.05)
    seconds = time.monotonic() - began
    rss, cpu_after = ground.usage()
    ground.wait_reported(pendingWorkloads=0)
    after = ground.writes()
    running = sum(not j["spec"].get("suspend") for name in names for j in ground.api.list(f"/apis/batch/v1/namespaces/{name}/jobs"))
    if running != jobs:
        raise SystemExit(f"{running} of {jobs} Jobs are unsuspended, though the controller says all were admitted")
    say(f"    {jobs / seconds:.1f} /s")
    drained(ground, names)
    own = queues  # the bench's own writes: lifting the hold
    return {"admissions_per_s": round(jobs / seconds, 1), "job_writes_per_admission": round((after[0] - writes[0]) / jobs, 4),
            "api_writes_per_admission": round((after[1] - writes[1] - own) / jobs, 4), "rss_mb": round(rss, 1),
            "cpu_s": round(cpu_after - cpu, 2)}


def latency(ground):
    """One Job at a time on an idle queue, from the answer to its creation until a watch shows it
    unsuspended; and the same from before the creation was sent. The next one is made when this one
    has ended, so that its pods are not what is measured."""
    ground.queue("bench-idle", 1000)
    say(f"==> latency: {LATENCY_JOBS} Jobs, one at a time, on an idle queue")
    watch, waits, from_send = JobWatch(ground, "bench-idle"), [], []
    for i in range(LATENCY_JOBS):
        name = f"one-{i}"
        sent = time.monotonic()
        ground.api.post("/apis/batch/v1/namespaces/bench-idle/jobs", job("bench-idle", name))
        created = time.monotonic()
        watch.wait(f"{name} to start", lambda: name in watch.started, 60)
        waits.append(max(0, watch.started[name] - created))
        from_send.append(watch.started[name] - sent)
        watch.wait(f"{name} to end", lambda: name in watch.ended, 60)
    say(f"    {quantiles(waits)} ms")
    return quantiles(waits), quantiles(from_send)


def turnaround(ground):
    """Under full quota, the k-th start after the first fill answers the k-th end."""
    quota, jobs = TURNAROUND_QUOTA, TURNAROUND_JOBS
    ground.queue("bench-churn", quota, stop_policy="Hold")
    say(f"==> turnaround: quota for {quota} pods, {jobs} Jobs of one second waiting")
    ground.blast([create("bench-churn", f"churn-{i}") for i in range(jobs)])
    ground.wait_settled(["bench-churn"], jobs)
    watch = JobWatch(ground, "bench-churn")
    ground.set_queue("bench-churn", stopPolicy="None")
    watch.wait("all Jobs to end", lambda: len(watch.ended) == jobs, 1800)
    starts, ends = sorted(watch.started.values())[quota:], sorted(watch.ended.values())
    return quantiles([max(0, s - e) for s, e in zip(starts, ends)])


def run(args):
    jobs = args.jobs or 5000
    ground = Ground()
    try:
        ground.api.ensure("/api/v1/namespaces", {"metadata": {"name": "bench-raw"}})
        rates = [raw_rate(ground, 1, jobs // 2 or 1)]
        measured = admission_rate(ground, args.queues, jobs)
        rates.append(raw_rate(ground, 2, jobs // 2 or 1))
        raw = sum(rates) / 2
        result = {"bench": "admission", "jobs": jobs, "queues": args.queues, "raw_patch_per_s": round(raw, 1), **measured,
                  "ratio": round(measured["admissions_per_s"] / raw, 3)}
        result["latency_ms"], result["latency_from_send_ms"] = latency(ground)
        result["turnaround_ms"] = turnaround(ground)
        result["rss_mb"] = max(result["rss_mb"], round(ground.usage()[0], 1))
    finally:
        if not args.keep:
            ground.box.destroy()
    table([
        ("raw PATCHes", f"{result['raw_patch_per_s']} /s", f"a plain loop, 64 in flight; {rates[0]} before, {rates[1]} after"),
        ("admissions", f"{result['admissions_per_s']} /s", f"{result['ratio']} of raw (goal 0.95)"),
        ("Job writes per admission", result["job_writes_per_admission"], "goal 1.00"),
        ("API writes per admission", result["api_writes_per_admission"], "with the status of queues"),
        ("latency p50 / p99", f"{result['latency_ms']['p50']} / {result['latency_ms']['p99']} ms", "created -> unsuspended, idle queue (goal p50 < 10)"),
        ("  from before the create", f"{result['latency_from_send_ms']['p50']} / {result['latency_from_send_ms']['p99']} ms", ""),
        ("turnaround p50 / p99", f"{result['turnaround_ms']['p50']} / {result['turnaround_ms']['p99']} ms", "a Job's end -> the next start (goal < 100 / 500)"),
        ("controller", f"{result['rss_mb']} MB", f"{result['cpu_s']} cpu seconds for the {jobs} admissions"),
    ])
    return result
