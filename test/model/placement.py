#!/usr/bin/env python3
"""The yardstick of `./dev bench cost` held to something plainer, on random small machines: every start is tried, second by second;
and no schedule that can be (each books its cheapest free start) is cheaper than either bound.

    test/model/placement.py [SEEDS]
"""
import random
import sys
from math import ceil
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import cheapest_placement as placement  # noqa: E402


def world(draw):
    at, second = [0], 0
    while second < 400:
        second += draw.randint(5, 60)
        at.append(second)
    first = draw.random() < 0.5
    prices = placement.Prices(at, [first ^ (i % 2 == 1) for i in range(len(at))], {True: 1600, False: 4000})
    jobs = []
    for number in range(draw.randint(1, 12)):
        run, submit = draw.randint(0, 50), draw.randint(0, 200)
        jobs.append(placement.Job(number, submit, run, draw.randint(1, 4), submit + run + draw.randint(0, 90)))
    return jobs, prices


def plain(job, prices):
    """Second by second."""
    def cost(start):
        return sum(prices.per_hour[prices.is_night(s)] for s in range(start, start + job.run)) * job.width
    least, start = min((cost(s), s) for s in range(job.submit, job.deadline - job.run + 1))
    return ceil(least / placement.HOUR_S), start


def check(seed):
    jobs, prices = world(random.Random(seed))
    for j in jobs:
        want, got = plain(j, prices), placement.cheapest(j, prices)
        if want != got:
            raise SystemExit(f"seed {seed}: {j} costs {got}, but second by second {want}")
    alone, shared = placement.bounds(jobs, 4, prices)
    booked, missed = placement.booked(jobs, 4, prices)
    # Each bill is rounded up by itself, the bound with quota once.
    if missed == 0 and not (shared <= booked and alone <= booked) or shared < alone - len(jobs):
        raise SystemExit(f"seed {seed}: bounds {alone} and {shared}, but somebody pays {booked}")
    return missed == 0 and booked > alone


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    tight = sum(check(seed) for seed in range(seeds))
    print(f"{seeds} machines; on {tight} of them quota makes it dearer")
    return 0 if tight else 1


if __name__ == "__main__":
    sys.exit(main())
