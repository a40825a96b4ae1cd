"""The pictures of the page, with a day of work behind it, on a real control plane: those of README and docs (the overview, the
plan), or all views for those who change the page.

Three teams share a Cohort. The controller's clock begins a day before this evening in Berlin and is set forward by an hour
24 times. In each of these hours the same Jobs come in each run; some start, and some end. So the ledger has a day of use
and the Budget a forecast. The browser's clock is set as the controller's. Nothing in the picture is made up but
the nodes, the Jobs and the time.

    python3 test/e2e/picture.py [--all | --place queue/night [--to FILE]] [--size 1280x1180] [--keep]"""

import argparse
import random
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from browser import Browser, lacks
from later import Later
from objects import HOLD, clusterqueue, flavor, group, has, job, jobs_path, ours, path_of, terminal
from sandbox import ApiError, Sandbox, SandboxError, wait_until
from sandbox.sandbox import BUILD, ROOT

HOURS, SEED, PATIENCE = 24, 11, 240
EVENING = {"hour": 20, "minute": 30, "second": 0}
TEAMS = {"team-vision": ["train-resnet", "label", "resize"], "team-search": ["index", "rank", "crawl"], "team-risk": ["stress", "replay", "report"]}
PRIORITIES = {"low": 10, "normal": 100, "high": 1000}
QUEUES = {  # of which flavor how many cores
    "training": {"spot": 96, "on-demand": 32},
    "reports": {"on-demand": 48},
    "night": {"spot": 128},
}
PLAN = [  # (plural, object)
    ("cohorts", ours("Cohort", "research", {})),
    ("resourceflavors", flavor("spot", "spot")),
    ("resourceflavors", flavor("on-demand", "on-demand")),
    *(("workloadpriorityclasses", ours("WorkloadPriorityClass", name, value=value)) for name, value in PRIORITIES.items()),
    *(("clusterqueues", clusterqueue(name, [group(["cpu"], {f: [str(n)] for f, n in flavors.items()})], cohortName="research", queueingStrategy="BestEffortFIFO",
                                     preemption={"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}))
      for name, flavors in QUEUES.items()),
    ("calendars", ours("Calendar", "nights", {"timeZone": "Europe/Berlin", "open": [
        {"name": "night", "days": ["Mon-Thu"], "from": "19:00", "to": "07:00"}, {"name": "weekend", "from": "Fri 19:00", "to": "Mon 07:00"}]})),
    ("calendars", ours("Calendar", "office", {"timeZone": "Europe/Berlin", "open": [{"name": "day", "days": ["Mon-Sun"], "from": "07:00", "to": "20:00"}]})),
    ("priceplans", ours("PricePlan", "power", {"currency": "EUR", "base": {"cpu": "0.04"}, "flavors": {"spot": "0.3"},
                                               "rates": [{"calendar": "nights", "factor": "0.4"}]})),
    ("runpolicies", ours("RunPolicy", "nights", {"queues": ["night"], "calendar": "nights", "atClose": {"action": "Suspend", "notice": "10m"}})),
    ("runpolicies", ours("RunPolicy", "office", {"queues": ["reports"], "calendar": "office", "atClose": {"action": "Finish"}})),
    ("budgets", ours("Budget", "training-month", {"queue": "training", "period": "Monthly", "timeZone": "Europe/Berlin", "currency": "EUR", "amount": "2500.00"})),
]


class Day:
    def __init__(self, box, clock):
        self.box, self.api, self.clock, self.dice, self.count = box, box.api, clock, random.Random(SEED), 0

    def describe(self):
        for plural, obj in PLAN:
            self.api.ensure(path_of(plural), obj)
        for team in TEAMS:
            self.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}})
            for queue in QUEUES:
                self.api.ensure(path_of("localqueues", ns=team), ours("LocalQueue", queue, {"clusterQueue": queue}))
            wait_until("its ServiceAccount", lambda t=team: self.api.get(f"/api/v1/namespaces/{t}/serviceaccounts/default"), PATIENCE)
        wait_until("the Budget to count", lambda: has(self.api.get(path_of("budgets", "training-month")), "Active"), PATIENCE)

    def submit(self, queue, most_pods=6, **kw):
        team = self.dice.choice(list(TEAMS))
        self.count += 1
        name = f"{self.dice.choice(TEAMS[team])}-{self.count:03d}"
        priority = self.dice.choices(list(PRIORITIES), [3, 5, 2])[0]
        self.api.post(jobs_path(team), job(name, queue, {"cpu": str(self.dice.choice([2, 4, 8]))}, pods=self.dice.randint(1, most_pods),
                                           priority=priority, suspend=True, **kw))
        return team, name

    def jobs(self):
        return self.api.list("/apis/batch/v1/jobs")

    def running(self):
        return [j for j in self.jobs() if not j["spec"]["suspend"] and not has(j, "Complete")]

    def finish(self, obj):
        """As if the work of its pods were done now."""
        ns, name = obj["metadata"]["namespace"], obj["metadata"]["name"]
        for pod in self.api.list(f"/api/v1/namespaces/{ns}/pods?labelSelector=job-name={name}"):
            if not terminal(pod):
                self.api.patch(f"/api/v1/namespaces/{ns}/pods/{pod['metadata']['name']}/status", {"status": {"phase": "Succeeded"}})

    def settle(self):
        """Until all that was started runs, and the same Jobs do when asked again."""
        last = [None]

        def calm():
            running = self.running()
            now = sorted(j["metadata"]["name"] for j in running)
            before, last[0] = last[0], now
            return now == before and all(j["status"].get("ready", 0) + j["status"].get("active", 0) >= j["spec"]["parallelism"] for j in running)
        wait_until("the Jobs to run", calm, PATIENCE, self.box.process("controller-one"), every=0.4)

    def hour(self, n):
        """More comes by day than by night, and about a third of what runs ends."""
        busy = 7 if n % 24 < 10 else 4
        for _ in range(busy):
            self.submit(self.dice.choice(["training", "training", "reports", "night"]))
        self.settle()
        for obj in self.running():
            if self.dice.random() < 0.35:
                self.finish(obj)
        self.settle()
        self.clock.forward(self.box, 3600)

    def evening(self):
        """The window of the night is open, and more waits for it than there is room for; that of the reports is closed, so others have
        their quota. One Job waits for another; a sweep waits; and some Jobs wait until somebody does something."""
        for _ in range(12):
            self.submit("training", most_pods=4)
        for _ in range(22):
            self.submit("night", most_pods=5)
        for _ in range(7):
            self.submit("reports")
        self.settle()
        for _ in range(36):
            one = job("any", "training", {"cpu": "2"}, suspend=True, priority="low")
            del one["metadata"]["name"]
            self.api.post(jobs_path("team-vision"), {**one, "metadata": {**one["metadata"], "generateName": "lr-"}})
        for name, pods, cpu, more in ("wide", 4, "50", {}), ("huge", 100, "4", {}), ("calibrate", 2, "4", {"annotations": {HOLD: "waiting for the data"}}):
            self.api.post(jobs_path("team-vision"), job(name, "training", {"cpu": cpu}, pods=pods, suspend=True, **more))
        team, name = self.submit("night")
        self.api.post(jobs_path(team), job("summary", "night", {"cpu": "2"}, suspend=True, annotations={"sluice.dev/after": f"afterok:{name}"}))
        self.settle()


# The browser's clock, so many milliseconds ahead.
SHIFT = """
const Real = Date, ahead = %d;
window.Date = class extends Real {
  constructor(...words) { if (words.length) super(...words); else super(Real.now() + ahead); }
  static now() { return Real.now() + ahead; }
};
"""


def starts_are_known(box):
    """The queue is played for who asks, so it is asked until there is an answer."""
    jobs = [j for team in TEAMS for j in box.api.list(f"/apis/visibility.sluice.dev/v1alpha1/namespaces/{team}/queuedjobs")]
    return sum("p50" in j["status"].get("start", {}) for j in jobs) > len(jobs) / 4


def show(b, box, place, looks, token=""):
    """The place, drawn anew, once nothing of it changes any more."""
    b.look(**looks)
    b.open(f"{box.controller_url()}/#/none")
    b.run("sessionStorage.clear(); if (arguments[0]) sessionStorage.setItem('token', arguments[0])", token)
    b.open("about:blank")
    b.open(f"{box.controller_url()}/#/{place}")
    last = [None]

    def still():
        before, last[0] = last[0], b.text("main")
        return last[0] and "Loading" not in last[0] and last[0] == before
    wait_until("the page to be drawn", still, PATIENCE, every=1.5)


def pictures(box, ahead):
    """A browser in Berlin, whose clock is the controller's."""
    folder = tempfile.TemporaryDirectory(prefix="sluice-picture-")
    b = Browser(folder.name)
    b.cdp("Emulation.setScrollbarsHidden", hidden=True)
    b.cdp("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")
    b.cdp("Page.addScriptToEvaluateOnNewDocument", source=SHIFT % (1000 * ahead))
    return folder, b


def draw(box, shots, ahead=0):
    """shots: [(file, place, width and height and whether dark, of the whole page, token)]."""
    folder, b = pictures(box, ahead)
    with folder, b:
        for file, place, looks, whole, token in shots:
            show(b, box, place, looks, token)
            b.picture(Path(file), whole)
            print(f"  {file}: {Path(file).stat().st_size} bytes", flush=True)


LOOKS = {"1280": {"width": 1280, "height": 900}, "1280-dark": {"width": 1280, "height": 900, "dark": True},
         "390": {"width": 390, "height": 844}, "390-dark": {"width": 390, "height": 844, "dark": True}}


def views(box):
    """{name: place} of all views; a Job of each kind has its own."""
    jobs = [j for j in box.api.list("/apis/batch/v1/jobs") if not has(j, "Complete")]

    def first(fits):
        return next(f"job/{j['metadata']['namespace']}/{j['metadata']['name']}" for j in jobs if fits(j))
    return {"overview": "overview", "jobs": "jobs", "jobs-waiting": "jobs?state=Waiting", "job-running": first(lambda j: not j["spec"]["suspend"]),
            "job-waiting": first(lambda j: j["spec"]["suspend"]), "job-after": first(lambda j: j["metadata"]["name"] == "summary"), "queues": "queues", "queue": "queue/night", "plan": "plan", "plan-week": "plan?span=7d", "costs": "money",
            "nodes": "nodes", "history": "history", "search": "search?text=train"}


def tenant(box, team):
    """The token of a user who has sluice-batch-user in that namespace alone."""
    at = f"/api/v1/namespaces/{team}/serviceaccounts"
    box.api.ensure(at, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "alice"}})
    box.api.ensure(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{team}/rolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "alice"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sluice-batch-user"},
        "subjects": [{"kind": "ServiceAccount", "namespace": team, "name": "alice"}]})
    return box.api.post(f"{at}/alice/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]


def all_of(box):
    """All views in all looks, for those who change the page; of a user of one namespace by day."""
    folder, token = BUILD / "page" / "all", tenant(box, "team-vision")
    places = views(box)
    shots = [(folder / f"{name}-{look}.png", place, how, name != "history", "") for name, place in places.items() for look, how in LOOKS.items()]
    return shots + [(folder / f"{name}-alice-{look}.png", places[name], LOOKS[look], True, token)
                    for name in ("overview", "jobs", "queues", "plan", "costs") for look in ("1280", "390")]


def shots_of(args, box):
    width, height = map(int, args.size.split("x"))
    looks = {"width": width, "height": height}
    if args.all:
        return all_of(box)
    if args.place:
        return [(args.to, args.place, looks, False, "")]
    docs = ROOT / "docs"
    return [(docs / "page.png", "overview", looks, False, ""), (docs / "plan.png", "plan", {**looks, "height": 4 * height // 5}, False, "")]


def this_evening():
    """How many seconds it is until then; less than 0: it was."""
    now = datetime.now(ZoneInfo("Europe/Berlin"))
    return int(now.replace(microsecond=0, **EVENING).timestamp() - now.timestamp())


def main():
    p = argparse.ArgumentParser(prog="./dev picture", description=__doc__.split("\n")[0])
    p.add_argument("--all", action="store_true", help="all views at 1280 and 390 pixels, light and dark, into build/page/all")
    p.add_argument("--place", help="one view alone: what stands behind #/")
    p.add_argument("--to", default=str(BUILD / "page" / "place.png"), help="the file of --place")
    p.add_argument("--size", default="1280x1180")
    p.add_argument("--keep", action="store_true", help="leave the sandbox `picture` running")
    args = p.parse_args()
    if lacks():
        sys.exit(f"picture: {lacks()}")
    box = Sandbox("picture", say=lambda text: print(f"  {text}", flush=True))
    box.destroy()
    clock = Later("picture")
    clock.ahead = this_evening() - 3600 * HOURS
    clock.begin()
    try:
        box.up()
        box.start_controller("one", binary=BUILD / "dev" / "bin" / "sluice-controller", extra_args=clock.flags)
        box.wait_ready("controller-one")
        day = Day(box, clock)
        day.describe()
        for n in range(HOURS):
            print(f"  hour {n + 1} of {HOURS}", flush=True)
            day.hour(n)
        day.evening()
        box.wait_visible(PATIENCE)
        wait_until("starts to be known", lambda: starts_are_known(box), PATIENCE, every=2)
        draw(box, shots_of(args, box), clock.ahead)
    finally:
        if not args.keep:
            box.destroy()
            clock.end()


if __name__ == "__main__":
    try:
        main()
    except (SandboxError, ApiError) as e:
        sys.exit(f"picture: {e}")
