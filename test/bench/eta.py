"""How far forecasts of starts are from what came: see eta.c for how it is asked, and forecast/play.h.

In virtual time, by the engine of `sluice simulate`. NASA's trace with its arrivals 1.5 and 2 times as dense, and a
synthetic day of three ClusterQueues in a Cohort: one that takes its quota back from those that borrow (preemption), one
that may run at night alone, one that has neither. People ask for 1 to 10 times what their Jobs take, mostly in round
numbers, and now and then for too little. In each, Jobs that will wait for more than a minute are asked for at their
arrival, evenly.

The error is |ETA - start| / max(wait, 60 s), where ETA is p50. The baseline is a play with the times that people
asked for, as Slurm's --start. For where the error comes from, the same Jobs are asked for of plays that know more
than anybody can: how long all runs take, or which Jobs will come. And once with families known as well as can be: all
runs of the trace are samples from the beginning. What is left then is what people ask for and chance.
"""

import json
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ground import ROOT, say, table

TRACE = ROOT.parent / "shared" / "traces" / "NASA-iPSC-1993-3.1-cln.swf.gz"
COLUMNS = ("arrival", "start", "p10", "p50", "p90", "alone", "asked", "lengths", "comers", "all")
CPUS, USERS, ASKS = 128, 30, 60

FLAVOR = """apiVersion: sluice.dev/v1alpha1
kind: ResourceFlavor
metadata: {name: node}
"""

QUEUE = """---
apiVersion: sluice.dev/v1alpha1
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  {cohort}
  namespaceSelector: {{}}
  queueingStrategy: {strategy}
  {preemption}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: node, resources: [{{name: cpu, nominalQuota: {cpus}}}]}}]
"""

LOCAL = """---
apiVersion: sluice.dev/v1alpha1
kind: LocalQueue
metadata: {{name: {name}, namespace: default}}
spec: {{clusterQueue: {queue}}}
"""

NIGHT = """---
apiVersion: sluice.dev/v1alpha1
kind: Calendar
metadata: {name: nights}
spec:
  timeZone: UTC
  open: [{name: night, days: [Mon-Sun], from: "19:00", to: "07:00"}]
---
apiVersion: sluice.dev/v1alpha1
kind: RunPolicy
metadata: {name: at-night}
spec:
  queues: [night]
  calendar: nights
  atClose: {action: Suspend, maxSuspensions: 2}
"""


def one_queue(strategy, cpus=CPUS):
    return FLAVOR + QUEUE.format(name="main", cohort="", strategy=strategy, preemption="", cpus=cpus) + LOCAL.format(name="main", queue="main")


def day():
    """Every third user has each of the queues."""
    shares = {"prod": 48, "batch": 48, "night": 32}
    reclaims = "preemption: {reclaimWithinCohort: Any}"
    queues = [QUEUE.format(name=name, cohort="cohortName: all", strategy="BestEffortFIFO", preemption=reclaims if name == "prod" else "", cpus=cpus)
              for name, cpus in shares.items()]
    locals_ = [LOCAL.format(name=f"user-{user}", queue=list(shares)[user % 3]) for user in range(1, USERS + 1)]
    return FLAVOR + "".join(queues) + "".join(locals_) + NIGHT


def synthetic(path, *how):
    with open(path, "w") as out:
        subprocess.run([ROOT / "test" / "bench" / "synthetic_trace.py", *how], stdout=out, check=True)
    return path


def crowd(path, jobs):
    """So many Jobs at once, of 50 users with 20 applications each."""
    synthetic(path, "--jobs", str(jobs), "--users", "50", "--applications", "20")
    lines = [line.split() for line in path.read_text().splitlines()]
    path.write_text("".join(" ".join([f[0], "0", *f[2:]]) + "\n" for f in lines if f[0] != ";"))
    return path


def bench(binary, folder, world, trace, *how):
    manifest = Path(tempfile.mkstemp(suffix=".yaml", dir=folder)[1])
    manifest.write_text(world)
    out = subprocess.run([binary, "--world", manifest, "--trace", trace, *how], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    rows = [dict(zip(COLUMNS, map(int, line.split()))) for line in out if not line.startswith("#")]
    cost = next(line.split() for line in out if line.startswith("# cpu"))
    return rows, {"cpu_s_per_play": float(cost[2]), "cpu_s_most": float(cost[4])}


def errors(rows, column):
    """What never starts by a play, and did, is as wrong as can be: infinitely."""
    return [abs(r[column] - r["start"]) / max(r["start"] - r["arrival"], 60_000) if r[column] >= 0 else float("inf") for r in rows]


def median_error(rows, column="p50"):
    return statistics.median(errors(rows, column))


def covered(rows, column):
    return sum(r[column] < 0 or r["start"] <= r[column] for r in rows) / len(rows)


def sums(rows):
    return {"asked_for": len(rows), "median_wait_min": round(statistics.median(r["start"] - r["arrival"] for r in rows) / 60_000, 1),
            "median_error": round(median_error(rows), 4), "coverage90": round(covered(rows, "p90"), 3), "coverage50": round(covered(rows, "p50"), 3),
            "coverage10": round(covered(rows, "p10"), 3), "baseline_median_error": round(median_error(rows, "asked"), 4),
            "without_arrivals": round(median_error(rows, "alone"), 4), "if_lengths_were_known": round(median_error(rows, "lengths"), 4), "if_arrivals_were_known": round(median_error(rows, "comers"), 4),
            "worst_if_both_were": round(max(errors(rows, "all")), 6)}


def cases(folder, nasa):
    """Those that the first figures are of, then those that say what they depend on."""
    days = synthetic(Path(folder) / "days.swf", "--jobs", "4000", "--processors", str(CPUS), "--load", "1.0", "--users", str(USERS), "--applications", "8")
    main, other = {}, {}
    for dense in ("1.5", "2"):
        where = (nasa, "--queue", "default/main", "--compress", dense)
        main[f"nasa {dense}"] = (one_queue("BestEffortFIFO"), *where)
        other[f"nasa {dense} Backfill"] = (one_queue("Backfill"), *where)
        other[f"nasa {dense} StrictFIFO"] = (one_queue("StrictFIFO"), *where)
        other[f"nasa {dense} StrictFIFO, exact"] = (one_queue("StrictFIFO"), *where, "--exact")
        other[f"nasa {dense}, factors are habits"] = (one_queue("BestEffortFIFO"), *where, "--people", "habit")
        other[f"nasa {dense}, figures are copied"] = (one_queue("BestEffortFIFO"), *where, "--people", "same")
    main["day"] = (day(), days)
    other["day, families are known"] = (day(), days, "--told")
    other["day, factors are habits"] = (day(), days, "--people", "habit")
    other["day, figures are copied"] = (day(), days, "--people", "same")
    return main, other


def report(detail):
    table([(name, f"{s['median_error']:.3f}", f"baseline {s['baseline_median_error']:.2f}; by p90 {s['coverage90']:.0%}, by p10 {s['coverage10']:.0%}; "
            f"no arrivals {s['without_arrivals']:.3f}, lengths known {s['if_lengths_were_known']:.3f}, arrivals known {s['if_arrivals_were_known']:.3f}; "
            f"{s['asked_for']} asked, wait {s['median_wait_min']:.0f} min") for name, s in detail.items()])


def run(args):
    binary = ROOT / "build" / "release" / "bin" / "bench_eta"
    nasa = Path(args.trace or TRACE)
    if not nasa.exists():
        raise SystemExit(f"there is no {nasa}; name a trace in the Standard Workload Format with --trace")
    asks = args.jobs or ASKS
    with tempfile.TemporaryDirectory() as folder:
        main, other = cases(folder, nasa)
        found, detail = [], {}

        def case(item):
            name, (world, trace, *how) = item
            return name, bench(binary, folder, world, trace, "--asks", str(asks), *how)

        with ThreadPoolExecutor(2) as pool:
            for name, (rows, cost) in pool.map(case, {**main, **other}.items()):
                say(f"==> {name}")
                found += rows if name in main else []
                detail[name] = {**sums(rows), **cost}
        say("==> 100,000 waiting Jobs")
        _, cost = bench(binary, folder, one_queue("BestEffortFIFO", 4096), crowd(Path(folder) / "crowd.swf", 101_000), "--queue", "default/main",
                        "--asks", "1", "--told", "--once")
    report(detail)
    exact = [s["median_error"] for name, s in detail.items() if name.endswith("exact")]
    return {"bench": "eta", "median_error": round(median_error(found), 4), "coverage90": round(covered(found, "p90"), 4),
            "cpu_s_per_play": round(cost["cpu_s_per_play"], 4), "baseline_median_error": round(median_error(found, "asked"), 4),
            "exact_strict_median_error": max(exact), "asked_for": len(found), "detail": detail}
