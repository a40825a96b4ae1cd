"""What a trace costs when the queue minds the price: see cheapest_placement.py for the bounds.

Night (19:00 to 07:00 in the machine's own zone, every day) costs 0.4 of the day. Each job is allowed to end within
24 h of its submission, or its own run time if that is longer. In virtual time, by `sluice simulate`:

  asap      start as soon as it fits
  windows   a RunPolicy opens at night and suspends what runs in the morning. Its work is lost, for these jobs
            have no checkpoints; nobody is suspended more than twice
  cheapest  sluice.dev/start: Cheapest, before the deadline

and `cheapest` again with as much quota as anybody may want, which is what the bound without quota is about.
With --booked, also what each job would pay if it could book its cheapest free start as it comes.
"""

import json
from pathlib import Path

import cheapest_placement as placement
import night_world as world
from ground import ROOT, say, table

TRACE = ROOT.parent / "shared" / "traces" / "NASA-iPSC-1993-3.1-cln.swf.gz"
CPUS = 128
RUNS = {"asap": ("", "Asap", CPUS), "windows": (world.WINDOWS, "Asap", CPUS), "cheapest": ("", "Cheapest", CPUS), "plenty": ("", "Cheapest", world.PLENTY)}


def summary(text):
    return json.loads(text.splitlines()[-1])["summary"]


def bounds(trace):
    jobs = placement.read(trace, world.ALLOWANCE_H * 3600)
    prices = world.prices(jobs)
    return (jobs, prices), *placement.bounds(jobs, CPUS, prices)


def picture(path, args):
    path.write_text(world.simulate(args.sluice, args.trace, "", "Cheapest", CPUS, "svg"))
    say(f"    drawn: {path}")


def report(result, runs, bound):
    def row(name, note):
        s, cost = runs[name], result["cost"][name]
        return (name, f"{cost:.2f} USD", f"{cost / bound:.3f} of the bound; {s['missed_deadlines']} deadlines missed{note}")
    w = runs["windows"]
    table([
        ("lower bound", f"{result['lower_bound']:.2f} USD", "each job at its cheapest, as if it were alone"),
        ("... with quota", f"{result['lower_bound_quota']:.2f} USD", f"and no more than {CPUS} processors at a time; work a fluid"),
        row("asap", ""),
        row("windows", f"; {sum(w['stops'].values())} stops, {w['work_lost_s'] / 3600:.0f} processor hours of work lost"),
        row("cheapest", f"; {result['cost']['cheapest'] / result['lower_bound_quota']:.3f} of the bound with quota"),
        row("plenty", "; cheapest, with quota for all"),
    ])


def run(args):
    args.sluice = args.sluice or ROOT / "build" / "release" / "bin" / "sluice"
    args.trace = Path(args.trace or TRACE)
    if not args.trace.exists():
        raise SystemExit(f"there is no {args.trace}; name a trace in the Standard Workload Format with --trace")
    (jobs, prices), bound, with_quota = bounds(args.trace)
    say(f"==> {len(jobs)} jobs, night at {world.NIGHT} of the day's price, {world.ALLOWANCE_H} h to end")
    runs = {name: summary(world.simulate(args.sluice, args.trace, *how)) for name, how in RUNS.items()}
    cost = {name: float(s["cost"]["USD"]) for name, s in runs.items()}
    result = {"bench": "cost", "jobs": len(jobs), "lower_bound": bound / 1e6, "asap": cost["asap"], "windows": cost["windows"], "cheapest": cost["cheapest"],
              "missed": {name: runs[name]["missed_deadlines"] for name in ("asap", "windows", "cheapest")},
              "work_lost_s": runs["windows"]["work_lost_s"], "lower_bound_quota": with_quota / 1e6, "cheapest_unlimited": cost["plenty"],
              "missed_unlimited": runs["plenty"]["missed_deadlines"]}
    report({**result, "cost": cost}, runs, result["lower_bound"])
    if args.booked:
        booked, missed = placement.booked(jobs, CPUS, prices)
        say(f"    if each booked its cheapest free start as it comes: {booked / 1e6:.2f} USD, {missed} deadlines missed")
        result.update(booked=booked / 1e6, missed_booked=missed)
    if args.picture:
        picture(Path(args.picture), args)
    return result
