#!/usr/bin/env python3
"""Random calendars at random instants: Sluice's answer against the rules of docs/time.md, taken literally.

    calendars.py PATH/TO/calendar_probe [--calendars N] [--seed S]      exits 1 with the first difference

The model lists every opening of every window, date by date, as an interval of instants (local times are
mapped by zoneinfo), cuts it with the exceptions, and looks whether the instant is in one. It knows nothing of
clocks that stand still, of searching, skipping or remembering.
"""

import argparse
import bisect
import random
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1)
DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
AHEAD = 12  # days that the model looks ahead for a change
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Auckland", "UTC",
         "America/Sao_Paulo", "America/St_Johns", "Asia/Beirut", "America/Santiago", "Asia/Kathmandu", "Pacific/Apia",
         "America/Havana", "Atlantic/Azores", "Asia/Gaza", "Antarctica/Troll", "Africa/Monrovia", "Asia/Tehran"]


# ---- instants ----------------------------------------------------------------------------------

def local_of(zone, s):
    return s + int(datetime.fromtimestamp(s, UTC).astimezone(zone).utcoffset().total_seconds())


@lru_cache(maxsize=1 << 18)
def instant(zone, local):
    """The first instant whose local time is at or after `local`."""
    wall = EPOCH + timedelta(seconds=local)
    both = [local - int(wall.replace(tzinfo=zone, fold=f).utcoffset().total_seconds()) for f in (0, 1)]
    if local_of(zone, both[0]) == local:
        return both[0]
    low, high = min(both) - 1, max(both)
    while high - low > 1:
        middle = (low + high) // 2
        if local_of(zone, middle) < local:
            low = middle
        else:
            high = middle
    return high


# ---- cron, naively -----------------------------------------------------------------------------

def numbers(field, low, high):
    found = set()
    for part in field.split(","):
        part, _, step = part.partition("/")
        if part == "*":
            first, last = low, high
        else:
            first, _, last = part.partition("-")
            first, last = int(first), int(last or (high if step else first))
        found |= set(range(first, last + 1, int(step or 1)))
    return found


class Cron:
    def __init__(self, text):
        fields = text.split()
        self.minutes, self.hours = numbers(fields[0], 0, 59), numbers(fields[1], 0, 23)
        self.days, self.months, self.weekdays = numbers(fields[2], 1, 31), numbers(fields[3], 1, 12), numbers(fields[4], 0, 6)
        self.either = fields[2] != "*" and fields[4] != "*"

    def starts(self, day, weekday):
        """Minutes of that date."""
        d = date(1970, 1, 1) + timedelta(days=day)
        of_month, of_week = d.day in self.days, weekday in self.weekdays
        on = of_month or of_week if self.either else of_month and of_week
        return [h * 60 + m for h in self.hours for m in self.minutes] if on and d.month in self.months else []


# ---- the rules, literally ----------------------------------------------------------------------

class Model:
    def __init__(self, calendar):
        self.c, self.zone = calendar, ZoneInfo(calendar["zone"])

    def exception(self, day):
        for x in self.c["except"]:
            if any(a <= day <= b for a, b in x["dates"]):
                return x
        return None

    def weekday(self, day):
        x = self.exception(day)
        return DAYS.index(x["as"]) if x and x["as"] in DAYS else (day + 4) % 7

    def at(self, day, minute=0):
        return instant(self.zone, day * 86400 + minute * 60)

    def of_days(self, w, day):
        wraps = w["to"] <= w["from"]
        if self.weekday(day) in w["days"]:
            yield self.at(day, w["from"]), self.at(day, 1440 if wraps else w["to"])
        if wraps and self.weekday(day - 1) in w["days"]:
            yield self.at(day), self.at(day, w["to"])

    def of_week(self, w, day):
        first, last = w["from"], w["to"]
        spans = [(first, last)] if first < last else [(first, 10080), (0, last)]
        midnight = self.weekday(day) * 1440
        for a, b in spans:
            a, b = max(a - midnight, 0), min(b - midnight, 1440)
            if a < b:
                yield self.at(day, a), self.at(day, b)

    def of_cron(self, w, day):
        """What of any start's run falls on this date."""
        begin, end = self.at(day), self.at(day + 1)
        for d in range(day - w["seconds"] // 86400 - 2, day + 1):
            for minute in w["cron"].starts(d, self.weekday(d)):
                s = self.at(d, minute)
                yield max(s, begin), min(s + w["seconds"], end)

    def of_once(self, w, day):
        yield max(instant(self.zone, w["from"]), self.at(day)), min(instant(self.zone, w["to"]), self.at(day + 1))

    def intervals(self, w, days):
        """When it is open on those dates, in order and joined."""
        shape = {"days": self.of_days, "week": self.of_week, "cron": self.of_cron, "once": self.of_once}[w["shape"]]
        found = []
        for day in days:
            x = self.exception(day)
            if not (x and x["as"] == "Closed"):
                found += [i for i in shape(w, day) if i[0] < i[1]]
        joined = []
        for a, b in sorted(found):
            if joined and a <= joined[-1][1]:
                joined[-1][1] = max(b, joined[-1][1])
            else:
                joined.append([a, b])
        return joined

    def look(self, at):
        """(state at the instant, when it changes, when open changes); None: not within AHEAD days."""
        today = next(d for d in range(local_of(self.zone, at) // 86400 + 2, 0, -1) if self.at(d) <= at)
        days = range(today, today + AHEAD)
        begins = [self.at(d) for d in days]
        windows = [(w["name"], self.intervals(w, days)) for w in self.c["open"]]
        starts = [[a for a, _ in i] for _, i in windows]

        def state(s):
            x = self.exception(days[bisect.bisect_right(begins, s) - 1])
            name = "-"
            for (window, intervals), begun in zip(windows, starts):
                k = bisect.bisect_right(begun, s) - 1
                if k >= 0 and s < intervals[k][1]:
                    name = window
                    break
            return name != "-" or bool(x and x["as"] == "Open"), name, x["name"] if x else "-"

        now = state(at)
        edges = sorted({e for _, intervals in windows for i in intervals for e in i} | set(begins))
        # What is open to the end of the last date may go on: its end is no edge.
        later = [e for e in edges if at < e < self.at(days[-1] + 1)]
        change = next((e for e in later if state(e) != now), None)
        turn = next((e for e in later if state(e)[0] != now[0]), None)
        return now, change, turn


# ---- random calendars --------------------------------------------------------------------------

def clock(minute):
    return f"{minute // 60:02d}:{minute % 60:02d}"


def day_text(day):
    return str(date(1970, 1, 1) + timedelta(days=day))


def minute_of(rnd):
    return rnd.choice([rnd.randrange(0, 1440), rnd.randrange(0, 24) * 60, rnd.randrange(0, 12) * 15, 0])


def random_window(rnd, name, near):
    shape = rnd.choice(["days", "days", "days", "week", "week", "cron", "once"])
    if shape == "days":
        days = sorted(rnd.sample(range(7), rnd.randint(1, 7)))
        a, b = minute_of(rnd), rnd.choice([minute_of(rnd), 1440])
        if a == b:
            b = 1440
        words = f"days {','.join(DAYS[d] for d in days)}, {clock(a)} to {clock(b)}"
        return {"name": name, "shape": shape, "days": days, "from": a, "to": b, "words": words}
    if shape == "week":
        a, b = rnd.sample(range(0, 10080, rnd.choice([1, 15, 60, 720])), 2)
        words = f"week {DAYS[a // 1440]} {clock(a % 1440)} to {DAYS[b // 1440]} {clock(b % 1440)}"
        return {"name": name, "shape": shape, "from": a, "to": b, "words": words}
    if shape == "cron":
        text = " ".join([rnd.choice(["0", "30", "*/20", "5,50", "10-40/15", "7/25"]), rnd.choice(["*", "2", "1-3", "18", "*/6", "0,23", "3/9"]),
                         rnd.choice(["*", "*", "1-7", "28-31", "*/2", "15"]), rnd.choice(["*", "*", "3-4,9-11", "*/2"]),
                         rnd.choice(["*", "*", "1-5", "0", "6,0"])])
        minutes = rnd.choice([rnd.randint(1, 90), rnd.randint(1, 1440), rnd.randint(1, 4 * 1440), rnd.choice([20, 60, 1440])])
        return {"name": name, "shape": shape, "cron": Cron(text), "seconds": minutes * 60, "words": f"cron {text}, for {minutes}m"}
    a = near + rnd.randint(-4 * 1440, 4 * 1440) * 60
    b = a + rnd.choice([rnd.randint(1, 1440), rnd.randint(1, 5 * 1440)]) * 60
    a, b = max(a, 0) // 60 * 60, max(b, 60) // 60 * 60
    text = [(EPOCH + timedelta(seconds=x)).strftime("%Y-%m-%dT%H:%M") for x in (a, b)]
    return {"name": name, "shape": shape, "from": a, "to": b, "words": f"at {text[0]} to {text[1]}"}


def random_exception(rnd, name, near):
    dates = []
    for _ in range(rnd.randint(1, 4)):
        a = max(near // 86400 + rnd.randint(-8, 8), 1)
        dates.append((a, a + rnd.choice([0, 0, 0, 1, 3])))
    treat_as = rnd.choice(["Open", "Closed", "Closed", "Sun", rnd.choice(DAYS)])
    words = " ".join(day_text(a) if a == b and rnd.random() < 0.5 else f"{day_text(a)}..{day_text(b)}" for a, b in dates)
    return {"name": name, "dates": dates, "as": treat_as, "words": f"{words} as {treat_as}"}


@lru_cache(maxsize=None)
def jumps(name):
    """Instants within a day before a jump of the zone's clock."""
    zone = ZoneInfo(name)
    offset = [local_of(zone, s) - s for s in range(0, 4102444800, 86400)]
    return [86400 * i for i in range(1, len(offset)) if offset[i - 1] != offset[i]] or [1_700_000_000]


def random_calendar(seed):
    rnd = random.Random(seed)
    name = rnd.choice(ZONES)
    near = rnd.choice(jumps(name)) + rnd.randint(-43200, 129600) if rnd.random() < 0.7 else rnd.randint(86400 * 40, 4100000000)
    near = min(max(near, 86400 * 40), 4100000000)
    c = {"zone": name, "near": near, "open": [], "except": []}
    for i in range(rnd.choice([1, 1, 2, 3, 5])):
        c["open"].append(random_window(rnd, f"w{i}", local_of(ZoneInfo(name), near)))
    for i in range(rnd.choice([0, 0, 1, 2, 4])):
        c["except"].append(random_exception(rnd, f"x{i}", near))
    c["at"] = [near + rnd.randint(-2 * 86400, 2 * 86400) if rnd.random() < 0.5 else near + rnd.randint(-7200, 7200) for _ in range(6)]
    return c


def words(c):
    return (["new", f"zone {c['zone']}"] + [f"open {w['name']}: {w['words']}" for w in c["open"]] +
            [f"except {x['name']}: {x['words']}" for x in c["except"]])


# ---- comparing ---------------------------------------------------------------------------------

def compare(c, at, answer):
    now, change, turn = Model(c).look(at)
    said = answer.split()
    ahead = at + (AHEAD - 2) * 86400
    if said[:3] != [str(int(now[0])), now[1], now[2]]:
        return f"{now}"
    for mine, theirs, what in ((change, said[3], "until"), (turn, said[4], "change")):
        if theirs != str(mine) if mine is not None else theirs != "never" and int(theirs) < ahead:
            return f"{now} {what} {mine}"
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("--calendars", type=int, default=2000)
    p.add_argument("--seed", type=int)
    a = p.parse_args()
    seeds = [a.seed] if a.seed is not None else range(a.calendars)
    calendars = [random_calendar(s) for s in seeds]
    lines = [line for c in calendars for line in words(c) + [f"ask {at}" for at in c["at"]]]
    out = subprocess.run([a.program], input="\n".join(lines) + "\n", text=True, capture_output=True, check=True).stdout.splitlines()
    asked = [(s, c, at) for s, c in zip(seeds, calendars) for at in c["at"]]
    if len(out) != len(asked):
        sys.exit(f"{len(asked)} questions, {len(out)} answers; the first odd one: {next((o for o in out if len(o.split()) != 5), '')}")
    opens = 0
    for (seed, c, at), answer in zip(asked, out):
        wrong = compare(c, at, answer)
        opens += answer[0] == "1"
        if wrong:
            print("\n".join(words(c)))
            zone = ZoneInfo(c["zone"])
            print(f"ask {at}   # {datetime.fromtimestamp(at, UTC).astimezone(zone):%a %F %T %Z}; --seed {seed}")
            sys.exit(f"got:   {answer}\nmodel: {wrong}")
    print(f"{len(calendars)} calendars, {len(asked)} instants, open at {opens}: no difference")


main()
