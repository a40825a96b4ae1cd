#!/usr/bin/env python3
"""sluice.dev/start: Cheapest against the cheapest start as plainly as it can be found, on a trace.

    test/model/cheapest.py SLUICE TRACE

Quota is for all. Each job must start in the second, and cost to the millionth what test/bench/cheapest_placement.py says,
which tries each start at which a run begins or ends with a step of the price.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import cheapest_placement as placement  # noqa: E402
import night_world as world  # noqa: E402


def played(lines):
    """(start in epoch seconds, cost in millionths) by job number."""
    start, cost = {}, {}
    for line in lines:
        e = json.loads(line)
        if e.get("event") == "Admitted":
            start[e["job"]] = e["ms"]
        elif e.get("event") == "Finished":
            whole, _, part = e["cost"].partition(".")
            cost[e["job"]] = int(whole) * 1000000 + int(part.ljust(6, "0"))
    return {int(job.partition("/")[2]): (start[job], cost[job]) for job in cost}


def main():
    sluice, trace = sys.argv[1], sys.argv[2]
    jobs = placement.read(trace, world.ALLOWANCE_H * 3600)
    prices, begin = world.prices(jobs), placement.start_of(trace)
    got = played(world.simulate(sluice, trace, "", "Cheapest", world.PLENTY, extra=["--trace-estimates", "exact"]).splitlines())
    wrong = []
    for j in jobs:
        cost, start = placement.cheapest(j, prices)
        want = ((start - begin) * 1000, cost)
        if got.get(j.number) != want:
            wrong.append((j.number, want, got.get(j.number)))
    late = sum(placement.cheapest(j, prices)[1] > j.submit for j in jobs)
    print(f"{len(jobs)} jobs, {late} of them wait for a better price, {len(wrong)} do not start or cost as the reference says")
    for number, want, have in wrong[:5]:
        print(f"  job {number}: wants ms and cost {want}, sluice says {have}")
    return 1 if wrong or not jobs or not late else 0


if __name__ == "__main__":
    sys.exit(main())
