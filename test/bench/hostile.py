"""What one namespace can make the controller keep: Jobs with the largest directives and with some just
below the ceiling (also of Jobs that ran and were edited since, and of Jobs that run unadmitted and got
the label then), most containers, longest annotations, names of queues that do not exist, and more of each
than may wait, beside an honest team's 1,000. fake_cluster.py makes all of it up (HOSTILE there), as
it does for crowd; only Postgres and the controller (the release build) are real.

Resident memory must stay below the limit of the Deployment, also after a restart, and the honest team's
Jobs must be told what they would be told without the hostile ones.
"""

import re

from ground import ROOT, say, table
from overcommit import Ground
from sandbox import wait_until

NODES, PODS_PER_NODE, SHAPES = 100, 4, 50
LIMIT_MB = 512 * 1024 * 1024 / 1e6


def limit():
    """The Deployment's, so that nobody changes one without the other."""
    text = (ROOT / "deploy" / "manager" / "deployment.yaml").read_text()
    assert re.search(r"limits:\n\s+memory: 512Mi", text), "the Deployment has another limit than 512Mi"
    return LIMIT_MB


def waiting(ground):
    return sum(q["pending"] for q in ground.box.controller_api().queues()["clusterQueues"])


def told(ground, ns, name):
    return ground.box.controller_api().job(ns, name)["reason"]


def look(ground, jobs):
    from fake_cluster import HOSTILE

    wait_until("all Jobs to be seen", lambda: waiting(ground) == jobs, 900, ground.proc, every=1)
    n = "n" * 40
    last = f"labelled-{n}-{HOSTILE['labelled'] - 1:06d}"
    wait_until("the Jobs that run unadmitted to be stopped", lambda: told(ground, "team-1", last) in ("TooManyWaiting", "OnHold"), 300, ground.proc, every=1)
    ground.settle()
    reasons = {f"{kind}-{i}": told(ground, "team-1", f"{kind}-{n}-{i:06d}") for kind, i in
               (("wide", 0), ("crowded", 0), ("noted", 0), ("grown", 0), ("grown", 4999), ("small", 59999), ("lost", 0))}
    reasons["honest"] = told(ground, "team-0", "train-000000")
    either = {"Misconfigured", "TooManyWaiting"}
    expected = {"wide-0": either, "crowded-0": either, "noted-0": {"OnHold", "TooManyWaiting"}, "grown-0": {"OnHold"}, "grown-4999": {"TooManyWaiting"},
                "small-59999": {"TooManyWaiting"}, "lost-0": {"Misconfigured"}, "honest": {"NodesFull"}}
    assert all(reasons[kind] in expected[kind] for kind in expected), reasons
    return ground.memory("VmRSS"), ground.memory("VmHWM")


def run(args):
    from fake_cluster import HOSTILE

    jobs = args.jobs or 1000
    say(f"==> a made-up cluster in which one namespace has {sum(HOSTILE.values())} Jobs of the worst kinds, and another one {jobs}; Postgres, and the controller")
    ground = Ground(NODES, PODS_PER_NODE, "--jobs", str(jobs), "--shapes", str(SHAPES), "--hostile", name="bench-hostile")
    expected = jobs + sum(HOSTILE.values()) - HOSTILE["lost"]
    try:
        ground.start("--note-after", "0")
        rss, peak = look(ground, expected)
        say("==> the same after a restart")
        ground.proc.stop()
        ground.start("--note-after", "0")
        rss_again, peak_again = look(ground, expected)
    finally:
        ground.end()
    result = {"bench": "hostile", "jobs": jobs, "hostile_jobs": sum(HOSTILE.values()), "rss_mb": round(rss, 1), "rss_peak_mb": round(peak, 1),
              "rss_again_mb": round(rss_again, 1), "rss_peak_again_mb": round(peak_again, 1), "limit_mb": round(limit(), 1)}
    table([
        ("resident memory", f"{result['rss_mb']} MB", f"{result['rss_peak_mb']} MB at most, while all is read"),
        ("after a restart", f"{result['rss_again_mb']} MB", f"{result['rss_peak_again_mb']} MB at most"),
    ])
    if max(peak, peak_again) >= limit():
        raise SystemExit(f"more than the Deployment's limit of memory: {result}")
    return result
