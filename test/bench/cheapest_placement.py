"""What the jobs of a trace must cost at least, when night is cheaper than day: two lower bounds, worked
out without a line of Sluice.

  without quota   each job by itself, at its cheapest start in [submission, deadline - run time]. Its cost
                  is a straight line between the starts at which it begins or ends with a step of the
                  price, so those are all tried, with the earliest and the latest: brute force, exact.
  with quota      the same, and no more than the machine has may run at once, but work is a fluid: a job
                  may be cut, and run on as much as is free. Nobody can do better than to have the
                  machine do at night the most that can be done then by the jobs that are there and
                  whose deadlines have not passed; earliest deadline first does the most. Of a job only
                  as much counts as could be at night were it alone. What is left is paid by day, as
                  if days had room for it.
"""
import gzip
from bisect import bisect_right
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil
from typing import NamedTuple
from zoneinfo import ZoneInfo

HOUR_S = 3600


class Job(NamedTuple):
    number: int
    submit: int  # seconds since the epoch
    run: int
    width: int
    deadline: int


class Prices(NamedTuple):
    """Of one processor for an hour, in millionths: by night and by day, and when which begins."""
    at: list[int]
    night: list[bool]
    per_hour: dict[bool, int]

    def is_night(self, second):
        return self.night[max(bisect_right(self.at, second) - 1, 0)]

    def pieces(self, begin, end):
        """(from, to, whether it is night), of [begin, end)."""
        i = max(bisect_right(self.at, begin) - 1, 0)
        while begin < end:
            to = min(end, self.at[i + 1]) if i + 1 < len(self.at) else end
            yield begin, to, self.night[i]
            begin, i = to, i + 1

    def cost(self, begin, end, width):
        """Exact, in millionths."""
        return sum(Fraction((to - since) * width * self.per_hour[night], HOUR_S) for since, to, night in self.pieces(begin, end))


def nights(zone, first, last, opens, closes):
    """Steps from `first` to `last`, epoch seconds: night from hour `opens` to hour `closes` of each local day."""
    at, night = [], []
    day = datetime.fromtimestamp(first, timezone.utc).date() - timedelta(days=2)
    while not at or at[-1] < last:
        for hour, dark in ((closes, False), (opens, True)):
            local = datetime(day.year, day.month, day.day, hour, tzinfo=ZoneInfo(zone))
            at.append(int(local.timestamp()))
            night.append(dark)
        day += timedelta(days=1)
    return at, night


def lines_of(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as lines:
        yield from lines


def start_of(path):
    """What second 0 is."""
    return next((int(line.split(":")[1]) for line in lines_of(path) if line.startswith(";") and "UnixStartTime:" in line), 0)


def read(path, allowance):
    """The jobs that ran, each with `allowance` seconds from its submission to its end, or its own run time if that is longer."""
    jobs, start = [], start_of(path)
    for line in lines_of(path):
        f = line.split()
        if f and not line.startswith(";"):
            submit, run, width = int(f[1]) + start, int(f[3]), int(f[7]) if int(f[7]) > 0 else int(f[4])
            if run >= 0 and width > 0:
                jobs.append(Job(int(f[0]), submit, run, width, submit + max(allowance, run)))
    return jobs


def cheapest(job, prices):
    """(cost, start): the earliest of the cheapest; the cost rounded up to a millionth once, as a bill is."""
    latest = job.deadline - job.run
    starts = {job.submit, latest}
    low = max(bisect_right(prices.at, job.submit) - 1, 0)
    for step in prices.at[low:bisect_right(prices.at, job.deadline) + 1]:
        starts |= {step, step - job.run}
    cost, start = min((prices.cost(s, s + job.run, job.width), s) for s in starts if job.submit <= s <= latest)
    return ceil(cost), start


def night_work(job, start, prices):
    return job.width * sum(to - since for since, to, night in prices.pieces(start, start + job.run) if night)


def fluid_night(jobs, nightable, capacity, prices):
    """The most work, in processor seconds, that fits into the nights: earliest deadline first."""
    due = sorted((j.submit, j.deadline, nightable[j.number]) for j in jobs)
    times = sorted({j.submit for j in jobs} | {j.deadline for j in jobs} | set(prices.at))
    waiting, done, i = [], 0, 0
    for now, until in zip(times, times[1:]):
        while i < len(due) and due[i][0] <= now:
            heappush(waiting, [due[i][1], i, due[i][2]])
            i += 1
        if not prices.is_night(now):
            continue
        room = capacity * (until - now)
        while waiting and room:
            if waiting[0][0] <= now:
                heappop(waiting)
                continue
            work = min(room, waiting[0][2])
            done, room = done + work, room - work
            waiting[0][2] -= work
            if waiting[0][2] == 0:
                heappop(waiting)
    return done


def bounds(jobs, capacity, prices):
    """Both, in millionths."""
    best = {j.number: cheapest(j, prices) for j in jobs}
    nightable = {j.number: night_work(j, best[j.number][1], prices) for j in jobs}
    work = sum(j.width * j.run for j in jobs)
    dark = fluid_night(jobs, nightable, capacity, prices)
    with_quota = Fraction(dark * prices.per_hour[True] + (work - dark) * prices.per_hour[False], HOUR_S)
    return sum(cost for cost, _ in best.values()), ceil(with_quota)


class Bookings:
    """Of the machine's processors, from when on how many are taken."""

    def __init__(self, capacity):
        self.capacity, self.at, self.taken = capacity, [0], [0]

    def fits(self, begin, end, width):
        i = bisect_right(self.at, begin) - 1
        while i < len(self.at) and self.at[i] < end:
            if self.taken[i] + width > self.capacity:
                return False
            i += 1
        return True

    def cut(self, second):
        i = bisect_right(self.at, second) - 1
        if self.at[i] != second:
            i += 1
            self.at.insert(i, second)
            self.taken.insert(i, self.taken[i - 1])
        return i

    def take(self, begin, end, width):
        if begin < end:
            for i in range(self.cut(begin), self.cut(end)):
                self.taken[i] += width

    def steps(self, begin, end):
        return self.at[bisect_right(self.at, begin):bisect_right(self.at, end)]


def booked(jobs, capacity, prices):
    """(cost, deadlines missed) when each job books, as it comes, its cheapest start that is free: nothing is cut,
    nothing moves again. No bound, but what somebody can do who knows how long each runs."""
    bookings, total, missed = Bookings(capacity), 0, 0
    for j in sorted(jobs, key=lambda j: j.submit):
        latest = j.deadline - j.run
        steps = bookings.steps(j.submit, j.deadline) + [s for s, _, _ in prices.pieces(j.submit, j.deadline)]
        starts = {j.submit, latest} | {s - d for s in steps for d in (0, j.run) if j.submit <= s - d <= latest}
        ranked = sorted((-night_work(j, s, prices), s) for s in starts)
        start = next((s for _, s in ranked if bookings.fits(s, s + j.run, j.width)), None)
        if start is None:
            missed += 1
            later = [j.submit] + bookings.at[bisect_right(bookings.at, j.submit):]
            start = next(s for s in later if bookings.fits(s, s + j.run, j.width))
        bookings.take(start, start + j.run, j.width)
        total += ceil(prices.cost(start, start + j.run, j.width))
    return total, missed
