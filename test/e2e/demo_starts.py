"""When each Job of the demo's first scene will start, as people are told, and what came of it.

The controller plays its queue forward while somebody asks (docs/when.md). The demo asks every second, for all
Jobs that wait. Of each Job the first answer is kept that rests on runs which have ended, when all Jobs are there
(which Jobs come is learned from an hour on at the earliest, and in their first seconds they come by the
hundred), and compared with when the Job was seen started from outside. Jobs here run for seconds, so what the API
server takes for each start and end is a large part of the error."""

import datetime
import statistics
import time

from sandbox import ApiError

PATH = "/apis/visibility.sluice.dev/v1alpha1/queuedjobs?limit=500"
ASK_SECONDS = 1.0
LEAST_WAIT = 5.0  # seconds: what starts sooner was no wait
RUNS = 10  # that have ended: before, lengths of runs are what their owners wrote
WHOLE_SECOND = 1.0  # times are told in whole seconds
SHOWN = 10  # Jobs of the list, where there is no screen
LEAST_WITHIN = 0.8  # of the Jobs start by the time that was told with 90 %: they wait for one another, so errors come together


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def span(seconds):
    return f"{max(0, round(seconds))} s"


class Starts:
    def __init__(self, seen, controller, all_are_there):
        self.seen, self.controller, self.all_are_there = seen, controller, all_are_there
        self.asked = self.complete_at = 0.0
        self.now = []  # of those that wait: (start in the middle play, by then with 90 %, namespace, name)
        self.told = {}  # (namespace, name): when that was, start, 90 %
        self.listed = False
        self.trouble = ""

    def look(self):
        if time.monotonic() - self.asked < ASK_SECONDS:
            return
        self.asked = time.monotonic()
        if not self.complete_at and self.all_are_there():
            self.complete_at = time.time()
        try:
            jobs = self.controller.get(PATH)["items"]
        except (OSError, ApiError, KeyError, ValueError) as e:
            self.trouble = str(e)
            return
        self.now = []
        for job in jobs:
            start = job["status"].get("start") or {}
            if job["status"]["state"] == "Waiting" and "p50" in start:
                self.take(job["metadata"], start)
        self.now.sort()

    def take(self, meta, start):
        p50, p90 = instant(start["p50"]), instant(start["p90"]) if "p90" in start else None
        key = (meta["namespace"], meta["name"])
        self.now.append((p50, p90, *key))
        if start["basis"]["runs"] >= RUNS and self.complete_at and instant(start["asOf"]) > self.complete_at:
            self.told.setdefault(key, (time.time(), p50, p90))

    # -- showing -----------------------------------------------------------

    @staticmethod
    def words(p50, p90, now):
        bound = f", 90 % sure within {span(p90 - now)}" if p90 else ""
        return f"in {span(p50 - now)}{bound}" if p50 > now else f"any moment{bound}"

    def line(self, screen):
        """The next two of those that wait."""
        now = time.time()
        head = [f"    {'next starts':<14}"]
        if not self.now:
            return [*head, ("dim", "not known yet")]
        for p50, p90, _, name in self.now[:2]:
            head += [("yellow", name), ("dim", f" {self.words(p50, p90, now)}   ")]
        return head

    def list_once(self, screen):
        """The first Jobs that wait with their starts, once, where there is no screen that shows the next ones."""
        if self.listed or not self.told:
            return
        self.listed = True
        now = time.time()
        screen.print(f"       {len(self.now)} Jobs wait. When each is likely to start:")
        wide = max(len(name) for *_, name in self.now[:SHOWN])
        for p50, p90, _, name in self.now[:SHOWN]:
            screen.print(f"       {name:<{wide}}  {self.words(p50, p90, now)}")
        if len(self.now) > SHOWN:
            screen.print(f"       ... and {len(self.now) - SHOWN} more")

    # -- what came ---------------------------------------------------------

    def sentence(self):
        """Whether enough Jobs started by the time that was told with 90 %, and how far off the expected starts were."""
        with self.seen.lock:
            started = dict(self.seen.started)
        ahead = time.time() - time.monotonic()  # what the watch wrote down is by the other clock
        judged = [(at, p50, p90, started[key] + ahead) for key, (at, p50, p90) in self.told.items() if key in started]
        judged = [row for row in judged if row[3] - row[0] >= LEAST_WAIT]
        if not judged:
            return False, f"starts were told of no Job that waited on for {LEAST_WAIT:.0f} s" + (f": {self.trouble}" if self.trouble else "")
        early = sum(came < p50 for _, p50, _, came in judged)
        off = statistics.median(p50 - came for _, p50, _, came in judged)
        within = sum(p90 is not None and came <= p90 + WHOLE_SECOND for _, _, p90, came in judged)
        sentence = f"{within} of {len(judged)} waiting Jobs started by the time that was told as 90 % sure"
        if 2 * early > len(judged):
            sentence += f"; most of them before the expected time ({off:.0f} s, median), for a forecast counts on more Jobs to come, and here none came"
        return within >= LEAST_WITHIN * len(judged), sentence
