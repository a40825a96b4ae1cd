"""What waiting costs: memory for each Job that waits, and work when one that ran has ended.

The controller-manager is stopped meanwhile, so that what is measured is Sluice and not 100,000
status writes of the Job controller; the end of a Job is written by the bench, as the Job
controller would.
"""

import time

from ground import Ground, JobWatch, create, quantiles, say, table
from sandbox import wait_until

FINISHES = 50


def finish(ground, ns, name):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    done = [{"type": t, "status": "True", "lastTransitionTime": now, "reason": "CompletionsReached", "message": ""} for t in ("SuccessCriteriaMet", "Complete")]
    ground.api.patch(f"/apis/batch/v1/namespaces/{ns}/jobs/{name}/status",
                     {"status": {"startTime": now, "completionTime": now, "succeeded": 1, "conditions": done}})


def run(args):
    jobs, ns = args.jobs or 100000, "bench-waiting"
    ground = Ground()
    try:
        ground.box.kill("kube-controller-manager")
        rss_empty, _ = ground.usage()
        ground.queue(ns, 1)
        watch = JobWatch(ground, ns)
        say(f"==> creating {jobs} Jobs, one of which fits (about {jobs // 500} s)")
        made = ground.blast((create(ns, f"job-{i}") for i in range(jobs + FINISHES + 1)))
        wait_until("the controller to have seen them", lambda: ground.pending() == jobs + FINISHES, 600, every=0.5)
        ground.wait_reported(pendingWorkloads=jobs + FINISHES)
        rss, cpu = ground.usage()
        say(f"==> {FINISHES} finishes, one after the other")
        waits = []
        for i in range(FINISHES):
            watch.wait("a Job to run", lambda: len(watch.started) == i + 1, 60)
            name = next(n for n in watch.started if n not in watch.ended)
            began = time.monotonic()
            finish(ground, ns, name)
            watch.wait("the next Job to start", lambda: len(watch.started) == i + 2, 60)
            waits.append(max(watch.started.values()) - began)
        _, cpu_after = ground.usage()
    finally:
        if not args.keep:
            ground.box.destroy()
    result = {"bench": "waiting", "jobs": jobs, "rss_mb": round(rss, 1), "rss_empty_mb": round(rss_empty, 1),
              "bytes_per_job": round((rss - rss_empty) * 1e6 / jobs), "create_per_s": made["per_s"],
              "finish_to_start_ms": quantiles(waits), "cpu_ms_per_finish": round(1000 * (cpu_after - cpu) / FINISHES, 2)}
    table([
        ("resident memory", f"{result['rss_mb']} MB", f"{result['rss_empty_mb']} MB before the first Job (goal < 120 with 100,000)"),
        ("per waiting Job", f"{result['bytes_per_job']} bytes", ""),
        ("a finish -> the next start", f"{result['finish_to_start_ms']['p50']} / {result['finish_to_start_ms']['p99']} ms", "p50 / p99, with the status write and two watches"),
        ("controller's cpu per finish", f"{result['cpu_ms_per_finish']} ms", "decode, ledger, decision, PATCH"),
    ])
    return result
