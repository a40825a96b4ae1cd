"""What waiting costs: memory for each Job that waits, and work when one that ran has ended.

The controller-manager is stopped meanwhile, so that what is measured is Sluice and not 100,000
status writes of the Job controller; the end of a Job is written by the bench, as the Job
controller would.
"""

import time

from ground import Ground, JobWatch, quantiles, say, table

FINISHES = 50


def finish(ground, ns, name):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    done = [{"type": t, "status": "True", "lastTransitionTime": now, "reason": "CompletionsReached", "message": ""} for t in ("SuccessCriteriaMet", "Complete")]
    ground.api.patch(f"/apis/batch/v1/namespaces/{ns}/jobs/{name}/status",
                     {"status": {"startTime": now, "completionTime": now, "succeeded": 1, "conditions": done}})


def measure(ground, jobs, finishes):
    """So many Jobs wait, and then so many end one after the other; what that took."""
    ns = "bench-waiting"
    ground.box.kill("kube-controller-manager")
    rss_empty, cpu_empty = ground.usage()
    ground.queue(ns, 1)
    watch = JobWatch(ground, ns)
    say(f"==> creating {jobs} Jobs, one of which fits (about {jobs // 500} s)")
    made = ground.blast((ground.create(ns, f"job-{i}") for i in range(jobs + finishes + 1)))
    ground.wait_reported(timeout=1800, pendingWorkloads=jobs + finishes)
    rss, cpu = ground.usage()
    say(f"==> {finishes} finishes, one after the other")
    waits = []
    for i in range(finishes):
        watch.wait("a Job to run", lambda: len(watch.started) == i + 1, 60)
        name = next(n for n in watch.started if n not in watch.ended)
        began = time.monotonic()
        finish(ground, ns, name)
        watch.wait("the next Job to start", lambda: len(watch.started) == i + 2, 60)
        waits.append(max(watch.started.values()) - began)
    _, cpu_after = ground.usage()
    return {"rss_mb": round(rss, 1), "rss_empty_mb": round(rss_empty, 1), "bytes_per_job": round((rss - rss_empty) * 1e6 / jobs),
            "create_per_s": made["per_s"], "cpu_s_to_take_in": round(cpu - cpu_empty, 2), "finish_to_start_ms": quantiles(waits),
            "cpu_ms_per_finish": round(1000 * (cpu_after - cpu) / finishes, 2)}


def run(args):
    ground = Ground()
    try:
        result = {"bench": "waiting", "jobs": args.jobs or 100000, **measure(ground, args.jobs or 100000, FINISHES)}
    finally:
        if not args.keep:
            ground.box.destroy()
    table([
        ("resident memory", f"{result['rss_mb']} MB", f"{result['rss_empty_mb']} MB before the first Job (goal < 120 with 100,000)"),
        ("per waiting Job", f"{result['bytes_per_job']} bytes", ""),
        ("a finish -> the next start", f"{result['finish_to_start_ms']['p50']} / {result['finish_to_start_ms']['p99']} ms", "p50 / p99, with the status write and two watches"),
        ("controller's cpu per finish", f"{result['cpu_ms_per_finish']} ms", "decode, ledger, decision, PATCH"),
    ])
    return result
