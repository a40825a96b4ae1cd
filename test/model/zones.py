#!/usr/bin/env python3
"""Every zone of the system's database as Sluice reads it, against Python's zoneinfo.

    zones.py PATH/TO/calendar_probe [--each N] [ZONE ...]      exits 1 with the first few differences

--each N: of the zones that differ, each Nth.

Of each zone, for 1970 to 2100: that every transition zoneinfo knows is in the table and no other, that
offset and abbreviation between them are zoneinfo's, and that local times map to instants as
docs/time.md says: the first instant whose local time is at or after it, and never backwards.
"""

import argparse
import os
import struct
import subprocess
import sys
import zoneinfo
from datetime import datetime, timedelta, timezone
from pathlib import Path

EPOCH = datetime(1970, 1, 1)
END = 4133980800  # 2101-01-01
YEAR_2037 = 2114380800
UTC = timezone.utc


def all_zones():
    """What is a zone file; by content, so that links are looked at once but all their names are read."""
    zones = {}
    for root in zoneinfo.TZPATH[:1]:
        for path in sorted(Path(root).rglob("*")):
            name = str(path.relative_to(root))
            if not path.is_file() or name.startswith("right/") or name in ("localtime", "posixrules"):
                continue
            data = path.read_bytes()
            if data[:4] == b"TZif":
                zones.setdefault(data, []).append(name)
    return zones


def file_transitions(data):
    """Instants at which a zone file says something changes (RFC 8536, version 2 and later)."""
    def counts(at):
        return struct.unpack(">6L", data[at + 20:at + 44])

    isutc, isstd, leap, time, types, chars = counts(0)
    second = 44 + time * 5 + types * 6 + chars + leap * 8 + isstd + isutc
    _, _, _, time, _, _ = counts(second)
    return struct.unpack(f">{time}q", data[second + 44:second + 44 + 8 * time])


class Truth:
    def __init__(self, name):
        self.zone = zoneinfo.ZoneInfo(name)

    def at(self, s):
        t = datetime.fromtimestamp(s, UTC).astimezone(self.zone)
        return int(t.utcoffset().total_seconds()), t.tzname()

    def local(self, s):
        return s + self.at(s)[0]

    def transitions(self, data):
        """Where (offset, abbreviation) changes: those of the file, and those of the rule at its end."""
        found = {t for t in file_transitions(data) if 0 < t < END and self.at(t - 1) != self.at(t)}
        before, step = YEAR_2037 - 400 * 86400, 3 * 86400
        last = self.at(before)
        for s in range(before + step, END, step):
            now = self.at(s)
            if now != last:
                low, high = s - step, s
                while high - low > 1:
                    middle = (low + high) // 2
                    if self.at(middle) == last:
                        low = middle
                    else:
                        high = middle
                found.add(high)
                last = now
        return sorted(found)

    def first_instant(self, local):
        """The first instant whose local time is at or after `local`; zoneinfo only, no table."""
        wall = EPOCH + timedelta(seconds=local)
        first = local - int(wall.replace(tzinfo=self.zone, fold=0).utcoffset().total_seconds())
        if self.local(first) == local:
            return first
        low = local - int(wall.replace(tzinfo=self.zone, fold=1).utcoffset().total_seconds())
        low, high = min(low, first) - 1, max(low, first)  # in a gap: fold=0 and fold=1 enclose the jump
        while high - low > 1:
            middle = (low + high) // 2
            if self.local(middle) < local:
                low = middle
            else:
                high = middle
        return high


def local_times(transitions):
    """Around every jump, where it matters."""
    return sorted({t + d for t, *offsets in transitions for o in offsets for d in
                   (o - 5400, o - 1800, o - 60, o - 1, o, o + 1, o + 60, o + 1800, o + 3600, o + 5400)})


class Case:
    """One zone under all its names: what is asked, and whether the answers are right."""

    def __init__(self, data, names):
        self.names, self.truth = names, Truth(names[0])
        self.transitions = self.truth.transitions(data)
        jumps = [(t, self.truth.at(t - 1)[0], self.truth.at(t)[0]) for t in self.transitions]
        jumps = [j for j in jumps if j[1] != j[2]]
        self.times = local_times(jumps[:40] + jumps[-24:])
        self.instants = [self.truth.first_instant(t) for t in self.times]

    def questions(self):
        lines = [line for n in self.names[1:] + self.names[:1] for line in ("new", f"zone {n}", "spans")]
        lines += [f"instant {t}" for t in self.times]
        # The same rule seen from the instant: the clock shows l or later exactly from instant(l) on.
        return lines + [f"clock {i + d}" for i in self.instants for d in (-1, 0)]

    def check(self, answers, say):
        spans = {}
        for name in self.names[1:] + self.names[:1]:
            spans[name] = list(iter(lambda: next(answers), "."))
        self.check_table(spans, say)
        said = [int(next(answers)) for _ in self.times]
        for local, want, got in zip(self.times, self.instants, said):
            if got != want:
                say(f"{self.names[0]}: local {EPOCH + timedelta(seconds=local)} is {got}, should be {want}")
        if said != sorted(said):
            say(f"{self.names[0]}: time runs back")
        for local in self.times:
            before, then = int(next(answers)), int(next(answers))
            if not before < local <= then:
                say(f"{self.names[0]}: the clock is at {before} and {then} around local {local}")

    def check_table(self, spans, say):
        name = self.names[0]
        table = [(int(a), int(b), c) for a, b, c in (line.split() for line in spans[name])]
        begins = [0] + [span[0] for span in table[1:]]
        for t in sorted(set(self.transitions) ^ set(begins[1:])):
            say(f"{name}: {datetime.fromtimestamp(t, UTC)} is {'missing' if t in self.transitions else 'too much'}")
        for begin, span in zip(begins, table):
            if self.truth.at(begin) != span[1:]:
                say(f"{name}: at {begin} is {span[1:]}, should be {self.truth.at(begin)}")
        for other in self.names[1:]:
            if spans[other] != spans[name]:
                say(f"{other}: is the same file as {name}, but not the same table")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("zones", nargs="*", metavar="ZONE")
    parser.add_argument("--each", type=int, default=1, metavar="N")
    args = parser.parse_args()
    zones = [(data, names) for data, names in all_zones().items() if not args.zones or set(args.zones) & set(names)]
    cases = [Case(data, names) for data, names in zones[::args.each]]
    questions = [line for c in cases for line in c.questions()]
    run = subprocess.run([args.program], input="\n".join(questions) + "\n", text=True, capture_output=True, check=True,
                         env={**os.environ, "TZDIR": zoneinfo.TZPATH[0]})
    answers, faults = iter(run.stdout.splitlines()), []
    for case in cases:
        case.check(answers, faults.append)
    for fault in faults[:20]:
        print(fault)
    print(f"{sum(len(c.names) for c in cases)} zones ({len(cases)} distinct), {sum(len(c.transitions) for c in cases)} transitions, "
          f"{sum(len(c.times) for c in cases)} local times, {len(faults)} differences")
    sys.exit(1 if faults or not cases else 0)


main()
