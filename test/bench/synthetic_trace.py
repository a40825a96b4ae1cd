#!/usr/bin/env python3
"""A trace in the Standard Workload Format, drawn from a seed, on stdout: for `sluice simulate`, when a real one is too short.

    test/bench/synthetic_trace.py --jobs 1000000 > million.swf
    sluice simulate -f queues.yaml --trace million.swf --queue default/main

Arrivals are a Poisson process whose rate swings by half over the day. Processors are powers of two,
the small ones the likely ones; run times are log-uniform from 10 s to 2 h; the requested time is 1 to
4 times that. --load is the work that comes over what --processors can do in that time: with 1 or
more the line grows. The same seed gives the same bytes.

With --applications each user has so many, field 14 names them, and runs of one take about as long: a
centre of its own, log-uniform as above, times what a log-normal with --spread gives.
"""
import argparse
import math
import random
import sys

DAY_S = 86400
RUN_S = (10, 7200)
WIDTHS, LIKELY = (1, 2, 4, 8, 16, 32, 64), (40, 20, 15, 10, 8, 4, 3)


def mean_work() -> float:
    """Processor seconds of one job."""
    low, high = RUN_S
    return (high - low) / math.log(high / low) * sum(w * p for w, p in zip(WIDTHS, LIKELY)) / sum(LIKELY)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--jobs", type=int, default=1_000_000)
    p.add_argument("--processors", type=int, default=4096)
    p.add_argument("--load", type=float, default=0.95)
    p.add_argument("--users", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--applications", type=int, default=0)
    p.add_argument("--spread", type=float, default=0.3)
    args = p.parse_args()
    draw = random.Random(args.seed)
    centres = random.Random(args.seed + 1)
    known: dict[tuple[int, int], float] = {}
    every_s = mean_work() / (args.processors * args.load)
    now, low, ratio = 0.0, RUN_S[0], RUN_S[1] / RUN_S[0]
    out = sys.stdout
    out.write(f"; MaxProcs: {args.processors}\n; Note: synthetic, seed {args.seed}, load {args.load}\n")
    for number in range(1, args.jobs + 1):
        now += draw.expovariate(1) * every_s / (1 + 0.5 * math.sin(2 * math.pi * now / DAY_S))
        run = int(low * ratio ** draw.random())
        width = draw.choices(WIDTHS, LIKELY)[0]
        wanted = int(run * (1 + 3 * draw.random()))
        user = 1 + int(args.users * draw.random() ** 2)
        application = -1
        if args.applications:
            application = 1 + int(args.applications * draw.random() ** 2)
            centre = known.setdefault((user, application), low * ratio ** centres.random())
            run = max(1, int(centre * math.exp(draw.gauss(0, args.spread))))
            wanted = int(run * (1 + 3 * draw.random()))
        out.write(f"{number} {int(now)} -1 {run} {width} -1 -1 {width} {wanted} -1 1 {user} -1 {application} -1 -1 -1 -1\n")


if __name__ == "__main__":
    main()
