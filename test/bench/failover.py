"""How long nothing starts when the leader dies: with a standby, alone, and when Postgres restarts.

Jobs of one second under a full quota, some thousand more waiting, so that a start is due all the time. A start
counts when its story names an epoch after that of the leader that died: what the last one had under way does not.
"""

import json
import time

from ground import Ground, JobWatch, create, quantiles, quota, say, table
from sandbox import wait_until

QUOTA, WAITING, KILLS, ALONE = 20, 5000, 20, 5
NS = "bench-failover"


class EpochWatch(JobWatch):
    """Notes when a Job was first seen started in each epoch, too."""

    def __init__(self, ground, ns):
        self.epochs = {}
        super().__init__(ground, ns)

    def take(self, obj):
        story = (obj["metadata"].get("annotations") or {}).get("sluice.dev/admission")
        if story and not obj["spec"].get("suspend"):
            self.epochs.setdefault(json.loads(story)["epoch"], time.monotonic())
        super().take(obj)


class Churn:
    """Jobs that wait, topped up as they run."""

    def __init__(self, ground):
        self.ground, self.made = ground, 0
        ground.queue(NS, QUOTA)
        self.watch = EpochWatch(ground, NS)

    def fill(self, waiting):
        more = waiting + len(self.watch.started) - self.made
        if more > 0:
            self.ground.blast([create(NS, f"job-{i}") for i in range(self.made, self.made + more)])
            self.made += more

    def flows(self):
        """Until Jobs start one after the other again."""
        before = len(self.watch.started)
        self.watch.wait("Jobs to start", lambda: len(self.watch.started) > before + QUOTA, 120)

    def gap(self, harm):
        """Seconds from `harm` to the first start of a later epoch."""
        epoch, began = max(self.watch.epochs), time.monotonic()
        harm()
        self.watch.wait("a start of the next leader", lambda: max(self.watch.epochs) > epoch, 120)
        return self.watch.epochs[max(self.watch.epochs)] - began

    def pause(self, harm):
        """Seconds from `harm` to the next start, whoever leads then."""
        harm()
        began = time.monotonic()
        self.watch.wait("a start", lambda: max(self.watch.started.values()) > began, 120)
        return max(self.watch.started.values()) - began


def leader(ground, names):
    return next(n for n in names if ground.leads(n))


def stands_by(ground, name):
    return ground.box.controller_api(name).raw("GET", "/readyz").decode().startswith("standby")


def with_standby(ground, churn, kills):
    ground.box.start_controller("two")
    names, gaps = ["controller-one", "controller-two"], []
    say(f"==> {kills} times kill -9 of the leader, with a standby")
    for _ in range(kills):
        churn.fill(WAITING)
        led = leader(ground, names)
        other = next(n for n in names if n != led)
        wait_until(f"{other} to stand by", lambda: stands_by(ground, other), 120)  # noqa: B023
        churn.flows()
        gaps.append(churn.gap(lambda: ground.box.kill(led)))  # noqa: B023
        say(f"    {led}: {gaps[-1]:.2f} s")
        ground.box.start(led)
    say(f"    {' '.join(f'{g:.2f}' for g in gaps)} s")
    led = leader(ground, names)
    ground.box.kill(next(n for n in names if n != led))
    return gaps, led


def alone(ground, churn, led, turns):
    say(f"==> {turns} times kill -9 and a start anew, alone")
    gaps = []
    for _ in range(turns):
        churn.fill(WAITING)
        churn.flows()
        def harm():
            ground.box.kill(led)
            ground.box.start(led)
        gaps.append(churn.gap(harm))
    say(f"    {' '.join(f'{g:.2f}' for g in gaps)} s")
    return gaps


def postgres(ground, churn, turns):
    say(f"==> Postgres restarted {turns} times")
    gaps = []
    for _ in range(turns):
        churn.fill(WAITING)
        churn.flows()
        gaps.append(churn.pause(lambda: ground.box.restart("postgres")))
    say(f"    {' '.join(f'{g:.2f}' for g in gaps)} s")
    return gaps


def crowd(ground, churn, led, jobs):
    """What is due after the start anew is due by a larger quota: the controller-manager, which writes a status for each
    of so many new Jobs before it sees to those that run, is stopped meanwhile, so no run ends."""
    say(f"==> {jobs} waiting Jobs, kill -9 and a start anew (creating them takes about {jobs // 250} s)")
    ground.box.kill("kube-controller-manager")
    churn.fill(jobs)
    wait_until("the controller to have read them", lambda: ground.pending(led) > jobs - QUOTA, 600)

    def harm():
        ground.box.kill(led)
        ground.set_queue(NS, resourceGroups=quota(2 * QUOTA))
        ground.box.start(led)
    gap = churn.gap(harm)
    say(f"    {gap:.2f} s")
    return gap


def run(args):
    ground = Ground()
    try:
        churn = Churn(ground)
        churn.fill(WAITING)
        gaps, led = with_standby(ground, churn, KILLS)
        lone = alone(ground, churn, led, ALONE)
        restarts = postgres(ground, churn, ALONE)
        jobs = args.jobs or 100000
        crowded = crowd(ground, churn, led, jobs)
    finally:
        if not args.keep:
            ground.box.destroy()
    result = {"bench": "failover", "waiting": WAITING, "kills": KILLS, "standby_ms": quantiles(gaps), "alone_ms": quantiles(lone),
              "postgres_ms": quantiles(restarts), "crowd_jobs": jobs, "crowd_ms": round(1000 * crowded)}
    row = lambda q: f"{q['p50']:.0f} / {q['p99']:.0f} ms"  # noqa: E731
    table([
        ("leader killed, with a standby", row(result["standby_ms"]), f"to the next leader's first start, p50 / p99 of {KILLS} (goal < 500 / 2000)"),
        ("leader killed, alone", row(result["alone_ms"]), "with its start anew"),
        ("Postgres restarted", row(result["postgres_ms"]), "from when it is back"),
        (f"alone, {jobs} waiting", f"{result['crowd_ms']} ms", "with its start anew and reading them all"),
    ])
    return result
