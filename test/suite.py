"""Runs ctest and the end-to-end tests side by side, shows how far they are, and sums up.

`./dev test` and `./dev check` call this once all is built. ctest is bound by the processor, and the
end-to-end tests wait: so they run together, ctest at a lower priority. The end-to-end tests are spread over
workers, each with a control plane of its own, which take one test file after the other, the longest first (test/e2e/conftest.py).

    suite.py [--labels REGEX] [--not-labels REGEX] [--no-ctest] [--no-e2e] [--repeat N] [--load] [ARGS OF PYTEST...]

Writes into build/logs: ctest.log and e2e.log (all output), ctest.xml and e2e.xml (JUnit), durations.json
(where the time went), and failed/, a folder for each end-to-end test that failed. The last line is
`N passed, N failed`; the exit code is 0 only if something passed and nothing failed. A runner that ended
badly, ran nothing or left tests out counts as one failure: silence is no success. One run at a time in a clone.
"""

import argparse
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD, LOGS = ROOT / "build", ROOT / "build" / "logs"
GIB = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
WORKERS = max(1, min(6, GIB // 3))  # each waits most of the time, and has control planes of 2 GiB
CORES = len(os.sched_getaffinity(0))
SHOWN_EVERY = 30  # seconds, where no terminal shows it all the time
LONGEST = 10  # rows of a table
SHOWN_OF_A_FAILURE = 60  # lines, the last ones

sys.path.insert(0, str(ROOT / "test" / "e2e"))
import durations  # noqa: E402
from sandbox import Sandbox, template  # noqa: E402


class Part:
    """One runner: its process, and what its output says so far."""

    def __init__(self, name, argv, nice, known, side_by_side, env=None):
        self.name, self.argv, self.nice, self.known, self.side_by_side = name, argv, nice, known, side_by_side
        self.env = {**os.environ, **(env or {})}
        self.log, self.xml = LOGS / f"{name}.log", LOGS / f"{name}.xml"
        self.total, self.seen, self.running, self.failed = 0, 0, {}, []
        self.process = self.reader = self.seconds = None
        self.half = ""  # of a line that is not whole yet

    def start(self):
        self.xml.unlink(missing_ok=True)
        self.began = time.monotonic()
        with open(self.log, "w") as log:
            # A group of its own: a Ctrl-C is passed on by us, once. Not a session: among those nice does not count (autogroup).
            self.process = subprocess.Popen(["nice", "-n", str(self.nice), *self.argv], cwd=ROOT, env=self.env, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT, preexec_fn=os.setpgrp)
        self.reader = open(self.progress_file())

    def progress_file(self):
        return self.log

    def look(self):
        """Reads what is new of the progress; True while it runs."""
        running = self.process.poll() is None  # asked first: all of its lines are there once it has ended
        for line in self.reader:
            self.half += line
            if self.half.endswith("\n"):
                self.read(self.half)
                self.half = ""
        if not running and self.seconds is None:
            self.seconds = time.monotonic() - self.began
        return running

    def left(self):
        """Estimates the seconds that are left, from the last full run. None without one: the longest tests begin first, so
        the pace so far tells nothing."""
        if not self.known or not self.total:
            return None
        return sum(self.known.values()) / self.side_by_side * (1 - self.seen / self.total)

    def end(self):
        """Ends it, if it still runs: in good order, or after 15 seconds at once."""
        for number in (signal.SIGINT, signal.SIGKILL):
            if self.process and self.process.poll() is None:
                os.killpg(self.process.pid, number)
                try:
                    self.process.wait(15)
                except subprocess.TimeoutExpired:
                    pass

    def cases(self):
        """[(name, seconds, "passed", "failed" or "skipped", text)] from its JUnit file."""
        found = []
        try:
            for case in ET.parse(self.xml).getroot().iter("testcase"):
                found.append((self.case_name(case), float(case.get("time") or 0), *outcome(case)))
        except (OSError, ET.ParseError):
            pass
        code, left_out = self.process.returncode, self.total - len({name for name, *_ in found})
        said = None
        if left_out > 0 or not found:
            said = f"{self.name} left {left_out if found else 'all'} of its tests out, and ended with code {code}"
        elif code and not any(result == "failed" for _, _, result, _ in found):
            said = f"{self.name} ended with code {code} and named no test that failed"
        if said:
            found.append((self.name, 0, "failed", f"{said}. The end of {self.log.relative_to(ROOT)}:\n"
                          + "".join(open(self.log, errors="replace").readlines()[-SHOWN_OF_A_FAILURE:])))
        return found


class Ctest(Part):
    STARTS, ENDS = re.compile(r"^\s+Start\s+\d+: (\S+)"), re.compile(r"^\s*\d+/(\d+) Test\s+#\d+: (\S+) \.+\s*(\*{0,3}[A-Z]\S*)")

    def __init__(self, labels, not_labels, known):
        argv = ["ctest", "--test-dir", "build/dev", "--no-tests=error", "--output-on-failure", "--output-junit", str(LOGS / "ctest.xml"), "-j", str(CORES)]
        argv += ["-L", labels] if labels else []
        argv += ["-LE", not_labels] if not_labels else []
        # What waits meanwhile are the end-to-end tests, whose conditions have limits.
        super().__init__("ctest", argv, 5, known, CORES)

    def read(self, line):
        if found := self.STARTS.match(line):
            self.running[found[1]] = time.monotonic()
        elif found := self.ENDS.match(line):
            self.total = int(found[1])
            self.seen += 1
            self.running.pop(found[2], None)
            if found[3].lstrip("*") not in ("Passed", "Skipped", "Not"):
                self.failed.append(found[2])

    @staticmethod
    def case_name(case):
        return case.get("name")


class EndToEnd(Part):
    def __init__(self, tests, known, prefix, seed):
        self.prefix, self.there = prefix, set()
        spread = [] if tests else ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart", "2"]
        argv = [str(BUILD / "venv" / "bin" / "pytest"), "-p", "no:cacheprovider", "-p", "progress", f"--rootdir={ROOT}", "-o", "testpaths=test/e2e", *spread,
                f"--junitxml={LOGS / 'e2e.xml'}", "-o", "junit_family=xunit1", *tests]
        super().__init__("e2e", argv, 0, known, 1 if tests else WORKERS, {
            "SLUICE_E2E_PREFIX": prefix, "SLUICE_E2E_SEED": str(seed), "SLUICE_E2E_PROGRESS": str(self.progress_file()),
            # Each worker reads all tests, and pytest compiles them anew, asserts and all, where it finds no copy that is compiled: 5 s.
            "PYTHONPATH": str(ROOT / "test" / "e2e"), "PYTHONPYCACHEPREFIX": str(BUILD / "pycache"), "PYTHONDONTWRITEBYTECODE": "",
            # A quarter of the processor time of a control plane, for memory that is there; and none of its threads
            # looks for work while the processors have enough of it.
            "GOGC": "400", "GOMAXPROCS": "1"})

    def progress_file(self):
        return LOGS / "e2e.progress"

    def start(self):
        self.progress_file().write_text("")
        shutil.rmtree(LOGS / "failed", ignore_errors=True)
        self.there = self.sandboxes()  # somebody's, who keeps them
        super().start()

    def read(self, line):
        """A line of progress.py."""
        said = json.loads(line)
        if "collected" in said:
            self.total = said["collected"]
        elif "start" in said:
            self.running[said["start"]] = time.monotonic()
        elif "end" in said:
            self.seen += 1
            self.running.pop(said["end"], None)
            if said["failed"]:
                self.failed.append(said["end"])

    def sandboxes(self):
        return {state.name for state in (BUILD / "sandbox").glob(f"{self.prefix}-*")}

    def end(self):
        """Destroys also the sandboxes that a worker which did not come to its end has left."""
        super().end()
        if not os.environ.get("SLUICE_E2E_KEEP"):
            for name in self.sandboxes() - self.there | {template.NAME}:
                Sandbox(name).destroy()

    @staticmethod
    def case_name(case):
        module = (case.get("classname") or case.get("name") or "").rpartition(".")[2]
        return f"test/e2e/{module}.py::{case.get('name') if case.get('classname') else '(all of it)'}"


def outcome(case):
    """("passed", "failed" or "skipped", its text)"""
    for tag in ("failure", "error"):
        if case.find(tag) is not None:
            return "failed", (case.find(tag).text or case.find(tag).get("message") or "") + (case.findtext("system-out") or "")
    if case.get("status") == "fail":
        return "failed", case.findtext("system-out") or ""
    skipped = case.find("skipped")
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        said = skipped.get("message", "") if skipped is not None else ""
        if said == "collection skipped":  # of a whole module, whose reason is elsewhere
            said = (skipped.text or said).partition("Skipped: ")[2].rstrip("')\"") or said
        return "skipped", said
    return "passed", ""


# ---- while they run ---------------------------------------------------------------------------


class Processors:
    """How much of the processors' time nothing ran, since it was made."""

    def __init__(self):
        self.before = self.read()

    @staticmethod
    def read():
        fields = [int(n) for n in open("/proc/stat").readline().split()[1:9]]
        return fields[3] + fields[4], sum(fields)

    def idle(self):
        idle, total = (now - then for now, then in zip(self.read(), self.before))
        return idle / total if total else 0.0


def span(seconds):
    return f"{int(seconds)} s" if seconds < 120 else f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def progress_line(parts, began):
    shown = []
    for part in parts:
        if part.process.poll() is None:
            failed = f", {len(part.failed)} failed" if part.failed else ""
            shown.append(f"{part.name} {part.seen} of {part.total or '?'}{failed}")
    left = [x for x in (part.left() for part in parts if part.process.poll() is None) if x]
    oldest = sorted((since, test) for part in parts for test, since in part.running.items())[:3]
    return (f"{span(time.monotonic() - began)}: {'; '.join(shown)}" + (f"; about {span(max(left))} still" if left else "")
            + (f"; runs: {', '.join(t.rpartition('::')[2] for _, t in oldest)}" if oldest else ""))


def run(parts):
    """Waits until all have ended; how often it was interrupted. A Ctrl-C is passed on, and waited for; the second one
    ends them."""
    began = shown = time.monotonic()
    told, interrupts = set(), 0
    while True:
        try:
            going = [part.look() for part in parts]
            for test in [t for part in parts for t in part.failed if t not in told]:
                told.add(test)
                clear_line()
                print(f"FAILED {test}", flush=True)
            if not any(going):
                clear_line()
                return interrupts
            if sys.stdout.isatty():
                print("\r" + progress_line(parts, began)[:shutil.get_terminal_size().columns - 1].ljust(shutil.get_terminal_size().columns - 1),
                      end="", flush=True)
            elif time.monotonic() - shown >= SHOWN_EVERY:
                shown = time.monotonic()
                print("    " + progress_line(parts, began), flush=True)
            time.sleep(0.5)
        except KeyboardInterrupt:
            interrupts += 1
            for part in parts:
                if part.process.poll() is None:
                    os.killpg(part.process.pid, signal.SIGINT if interrupts == 1 else signal.SIGKILL)


def clear_line():
    if sys.stdout.isatty():
        print("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r", end="")


# ---- when they are over -----------------------------------------------------------------------


def steps():
    """{part: seconds} of what ./dev did before, from the lines that it leaves."""
    found = Counter()
    try:
        for line in (LOGS / "steps").read_text().splitlines():
            name, seconds = line.split()
            found["packages" if name.startswith("apt") else "builds" if name.startswith(("cmake", "build")) else "tools"] += int(seconds)
    except OSError:
        pass
    return dict(found)


def table(title, seconds):
    print(f"\n  {title}")
    for name, took in sorted(seconds.items(), key=lambda x: -x[1])[:LONGEST]:
        print(f"    {took:7.1f} s  {name}")


def by_file(cases):
    found = Counter()
    for name, took, *_ in cases:
        found[name.partition("::")[0]] += took
    return found


def sum_up(parts, idle, seed, save):
    """Prints failures, skips and where the time went; returns how many passed and failed."""
    cases = {part.name: part.cases() for part in parts}
    every = [c for found in cases.values() for c in found]
    for name, _, result, text in every:
        if result == "failed":
            print(f"\n---- {name}\n" + "\n".join(text.splitlines()[-SHOWN_OF_A_FAILURE:]))
    skipped = Counter(text for _, _, result, text in every if result == "skipped")
    seconds = {**steps(), **{part.name: round(part.seconds) for part in parts}}
    whole = {"commit": commit(), "seconds": seconds, "idle": round(idle, 3), "seed": seed,
             "tests": {part: {name: round(took, 2) for name, took, *_ in found} for part, found in cases.items()}}
    if save:
        durations.FILE.write_text(json.dumps(whole, indent=1) + "\n")
    print("\nWhere the time went" + (" (build/logs/durations.json): " if save else ": ") + ", ".join(f"{part} {span(s)}" for part, s in seconds.items())
          + f"; while tests ran the processors were idle for {idle:.0%}")
    if "ctest" in cases:
        table("the longest of ctest", {name: took for name, took, *_ in cases["ctest"]})
    if "e2e" in cases:
        table("the longest end-to-end tests", {name: took for name, took, *_ in cases["e2e"]})
        table("the longest files of them", by_file(cases["e2e"]))
    print()
    for why, n in skipped.items():
        print(f"{n} skipped: {why or 'ctest did not run it'}")
    passed, failed = (sum(result == r for _, _, result, _ in every) for r in ("passed", "failed"))
    if (LOGS / "failed").exists() and "e2e" in cases:
        print(f"What failed end to end left its logs, objects and ledger in build/logs/failed; the seed was SLUICE_E2E_SEED={seed}")
    if passed + failed == 0:
        print("no test ran")
    return passed, failed


def commit():
    """What was tested; "" where there is no git."""
    if not shutil.which("git"):
        return ""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def main():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--labels")
    p.add_argument("--not-labels")
    p.add_argument("--no-ctest", action="store_true")
    p.add_argument("--no-e2e", action="store_true")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--load", action="store_true")
    options, tests = p.parse_known_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    lock = open(LOGS / "suite.lock", "w")  # not inherited by what is started
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("./dev: another run of tests is under way in this clone; they share build/logs and build/sandbox")
        return 2
    for asked_to_end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # also where a shell in the background ignores the first
        signal.signal(asked_to_end, signal.default_int_handler)
    prefix = os.environ.get("SLUICE_E2E_PREFIX", "e2e")
    whole = not (tests or options.no_ctest or options.no_e2e or options.labels) and options.repeat == 1
    known, totals = {part: durations.of(part) if whole else {} for part in ("ctest", "e2e")}, [0, 0]
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    busy = [subprocess.Popen(["nice", "-n", "5", sys.executable, "-c", loop]) for _ in range(CORES)] if options.load else []
    for old in LOGS.glob("failed-in-round-*"):
        shutil.rmtree(old)
    try:
        for n in range(options.repeat):
            seed = int(os.environ.get("SLUICE_E2E_SEED") or random.SystemRandom().randrange(10**6))
            parts = [] if options.no_ctest else [Ctest(options.labels, options.not_labels, known["ctest"])]
            parts += [] if options.no_e2e else [EndToEnd(tests, known["e2e"], prefix, seed)]
            processors = Processors()
            try:
                for part in parts:
                    part.start()
                interrupted = run(parts)
                idle = processors.idle()
            finally:
                for part in parts:
                    part.end()
            passed, failed = sum_up(parts, idle, seed, save=whole and not interrupted)
            totals = [totals[0] + passed, totals[1] + failed]
            if options.repeat > 1:
                print(f"==> round {n + 1} of {options.repeat}: {passed} passed, {failed} failed", flush=True)
                if failed:
                    kept = LOGS / f"failed-in-round-{n + 1}"
                    shutil.copytree(LOGS / "failed", kept) if (LOGS / "failed").exists() else kept.mkdir()
                    shutil.copy(LOGS / "e2e.log", kept)
            if interrupted:
                break
    finally:
        for loop in busy:
            loop.kill()
    print(f"{totals[0]} passed, {totals[1]} failed")
    return 0 if totals[0] and not totals[1] else 1


if __name__ == "__main__":
    sys.exit(main())
