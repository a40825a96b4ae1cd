"""What a crowd costs that asks the cluster: memory of the controller with so many waiting Jobs of 50
pod templates, while it follows 5,000 nodes and the 20,000 pods on them (clusterFit: Now).

fake_cluster.py makes all of it up, with Postgres real and the release build, so nothing waits for an
API server to take the Jobs in. Reading them is not measured, but the most that it took is.
"""

from ground import say, table
from overcommit import Ground
from sandbox import wait_until

PODS_PER_NODE, SHAPES = 4, 50


def pending(ground):
    return sum(q["pending"] for q in ground.box.controller_api().queues()["clusterQueues"])


def run(args):
    nodes, jobs = args.nodes, args.jobs or 100000
    say(f"==> a made-up cluster: {nodes} nodes, {nodes * PODS_PER_NODE} pods, {jobs} waiting Jobs of {SHAPES} shapes; Postgres, and the controller")
    ground = Ground(nodes, PODS_PER_NODE, "--jobs", str(jobs), "--shapes", str(SHAPES), name="bench-crowd")
    try:
        ground.start("--note-after", "0")
        wait_until("all Jobs to wait", lambda: pending(ground) == jobs, 900, ground.proc, every=1)
        ground.settle()
        rss, peak = ground.memory("VmRSS"), ground.memory("VmHWM")
        why = ground.box.controller_api().job("team-0", "train-000000")["sentence"]
    finally:
        ground.end()
    result = {"bench": "crowd", "nodes": nodes, "pods": nodes * PODS_PER_NODE, "jobs": jobs, "shapes": SHAPES, "rss_mb": round(rss, 1), "rss_peak_mb": round(peak, 1)}
    table([
        ("resident memory", f"{result['rss_mb']} MB", f"{result['rss_peak_mb']} MB at most, while all is read"),
        ("the first of them waits", why[:100], ""),
    ])
    return result
