"""What waiting costs: memory for each Job that waits, and work when one that ran has ended.

The controller-manager is stopped meanwhile, so that what is measured is Sluice and not 100,000
status writes of the Job controller; the end of a Job is written by the bench, as the Job
controller would.

With --plays instead: what it costs when somebody looks at starts all the time, and what one question costs
of an admin who asks what a change would do.
"""

import json
import time
import urllib.parse

from ground import Ground, JobWatch, create, quantiles, say, table
from sandbox import ApiError

FINISHES = 50
RUNNING = 1000  # Jobs of an hour, while the others are played
LOOKED_S = 300
VISIBILITY = "/apis/visibility.sluice.dev/v1alpha1"


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


def hour_long(ns, name):
    method, path, kind, body = create(ns, name)
    job = json.loads(body)
    job["metadata"]["annotations"] = {"sluice.dev/expected-duration": "1h"}
    return method, path, kind, json.dumps(job, separators=(",", ":"))


def looked_at(ground, ns):
    """For so long a list is asked for each second; what the controller and its plays took of a core meanwhile."""
    began, plays, played_s, (_, cpu) = time.monotonic(), *counters(ground), ground.usage()
    while time.monotonic() - began < LOOKED_S:
        ground.api.raw("GET", f"{VISIBILITY}/namespaces/{ns}/queuedjobs?limit=1")
        time.sleep(1)
    took, (more, played_more_s), (rss, cpu_after) = time.monotonic() - began, counters(ground), ground.usage()
    return {"plays": more - plays, "play_cpu_s": round((played_more_s - played_s) / max(more - plays, 1), 2),
            "share_of_core": round((played_more_s - played_s) / took, 4), "loop_share_of_core": round((cpu_after - cpu) / took, 4), "rss_mb": round(rss, 1)}


def counters(ground):
    return ground.metric("sluice_forecast_plays_total"), ground.metric("sluice_forecast_cpu_seconds_total")


def asked_what_if(ground, ns):
    """A tenth more quota: seconds until the answer, and how many Jobs it says start earlier."""
    change = ground.api.get(f"{ground.base}/clusterqueues/{ns}")
    change = {**{k: change[k] for k in ("apiVersion", "kind", "spec")}, "metadata": {"name": ns}}
    change["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = str(RUNNING * 11 // 10)
    path = f"{VISIBILITY}/whatifs?object={urllib.parse.quote(json.dumps(change))}"
    began = time.monotonic()
    while True:
        try:
            status = ground.api.get(path)["status"]
            return round(time.monotonic() - began, 1), status
        except ApiError as e:
            if e.status not in (429, 503, 504) or time.monotonic() - began > 900:
                raise
            time.sleep(1)


def with_plays(args):
    jobs, ns = args.jobs or 100000, "bench-plays"
    ground = Ground()
    try:
        ground.box.kill("kube-controller-manager")
        ground.queue(ns, RUNNING)
        say(f"==> creating {jobs} Jobs of an hour, of which {RUNNING} fit (about {jobs // 500} s)")
        ground.blast(hour_long(ns, f"job-{i}") for i in range(jobs + RUNNING))
        ground.wait_reported(timeout=1800, pendingWorkloads=jobs)
        say(f"==> somebody looks at starts, for {LOOKED_S} s")
        result = {"bench": "waiting --plays", "jobs": jobs, **looked_at(ground, ns)}
        say("==> an admin asks what a tenth more quota would do")
        result["whatif_s"], status = asked_what_if(ground, ns)
        print(json.dumps(status)[:2000])
    finally:
        if not args.keep:
            ground.box.destroy()
    table([
        ("plays", f"{result['share_of_core']} of a core", f"{result['plays']:.0f} plays, {result['play_cpu_s']} s of processor time each (goals 0.05, and 1 s)"),
        ("the controller itself", f"{result['loop_share_of_core']} of a core", "while somebody asks for a list each second"),
        ("a what-if", f"{result['whatif_s']} s", "until the answer, with a turn of the plays before it"),
    ])
    return result


def run(args):
    if args.plays:
        return with_plays(args)
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
