"""What the page costs with so many waiting Jobs: in a real Chromium, from a real controller (release build) and Postgres,
beside the made-up cluster of `crowd`, so that no API server has to take in 100,000 Jobs first.

  first paint    until the browser has painted something, and until it has painted the figures of the overview, or the first
                 row of the list, each from the moment at which the address was opened. A new tab each time; the median of TURNS
  wire           bytes that a tab with the overview, or with the list, reads in a minute (as they come: packed, or not sent again)
  tab            memory that the tab has to itself, and elements, with the first page of the list and once it was
                 scrolled through
  assets         the document, its style and its scripts, as they are in the program
  a tab, a watch what each costs the controller while CHANGES Jobs change each second: processor time, memory of it and of
                 its readers, bytes that it sends; of so many for FOLLOW_SECONDS, against none for as long. A tab with a line
                 this long asks for what it shows every 5 s (assets/line.js); a watch is what it has of a shorter one, and
                 what kubectl -w has of any. It knows each of the Jobs
"""

import http.client
import json
import statistics
import tempfile
import threading
import time
from pathlib import Path

from browser import Browser, lacks
from ground import CPU_HERTZ, ROOT, say, table
from overcommit import Ground
from sandbox import wait_until

NODES, PODS_PER_NODE, TURNS = 50, 4, 5
TABS, WATCHERS, CHANGES, FOLLOW_SECONDS = 20, 8, 20, 30  # all watches together may know 128 MiB, of 100,000 Jobs 10 MB each
ASK_AGAIN_SECONDS, SETTLE_SECONDS, WIRE_SECONDS = 5, 10, 60
GROUP = "/apis/visibility.sluice.dev/v1alpha1"
ASSETS = ROOT / "controller" / "page" / "assets"

# Notes when a row of a list, or a figure of the overview, has been painted: two frames after it was there.
NOTE_FIRST_ROW = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".list [role=row][id] a, main .figure .number")) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.firstRowMs = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""


class Crowd(Ground):
    """The controller leads, and so many Jobs wait."""

    def __init__(self, jobs, name):
        super().__init__(NODES, PODS_PER_NODE, "--jobs", str(jobs), "--shapes", "50", name=name)
        try:
            self.start("--note-after", "0")
            wait_until("all Jobs to wait", lambda: self.pending() == jobs, 900, self.proc, every=0.5)
        except BaseException:
            self.end()
            raise

    @property
    def url(self):
        return self.box.controller_url()

    def pending(self):
        return sum(q["pending"] for q in self.box.controller_api().queues()["clusterQueues"])


def note_first_row(browser):
    """In each document that is opened from now on."""
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=NOTE_FIRST_ROW)


def paints(browser, url):
    """Milliseconds until the first paint, and until what the page is about was painted; the address is opened anew."""
    browser.open("about:blank")
    browser.open(url)
    row = browser.wait("a row, or figures", lambda: browser.run("return window.firstRowMs ?? null"))
    first = browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
    return {"first_paint_ms": first and round(first), "first_row_ms": round(row)}


def wire(browser, url):
    """Bytes that the page reads in WIRE_SECONDS, once it is drawn."""
    paints(browser, url)
    time.sleep(SETTLE_SECONDS)
    browser.run("performance.setResourceTimingBufferSize(5000); performance.clearResourceTimings();")
    time.sleep(WIRE_SECONDS)
    return browser.run("return performance.getEntriesByType('resource').reduce((sum, e) => sum + e.transferSize, 0)")


def elements(browser):
    return browser.run("return document.querySelectorAll('*').length")


def tab(browser):
    browser.heap()  # what is left of earlier pages is collected
    heap, nodes = browser.heap()
    return {"tab_mb": round(browser.memory() / 1e6, 1), "heap_mb": round(heap / 1e6, 1), "dom_nodes": nodes, "elements": elements(browser)}


def scroll_through(browser, seconds=30):
    """Anywhere in the list, again and again; the most elements that there were."""
    until = time.monotonic() + seconds
    most = 0
    while time.monotonic() < until:
        browser.run("const list = document.querySelector('.list'); list.scrollTop = Math.random() * list.scrollHeight;")
        most = max(most, elements(browser))
        time.sleep(0.05)
    return most


class Follower(threading.Thread):
    """Counts the bytes of the answers that it has, until it is told to stop."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)
        self.bytes, self.over = 0, threading.Event()
        self.version = json.loads(self.ask("limit=500").read())["metadata"]["resourceVersion"]
        self.start()

    def ask(self, words):
        self.connection.request("GET", f"{GROUP}/queuedjobs?{words}")
        answer = self.connection.getresponse()
        if answer.status != 200:
            raise SystemExit(f"a follower was refused: {answer.read()[:300]}")
        return answer

    def end(self):
        self.join()
        self.connection.close()


class Tab(Follower):
    def run(self):
        while not self.over.wait(ASK_AGAIN_SECONDS):
            self.bytes += len(self.ask("limit=100").read())


class Watch(Follower):
    def run(self):
        answer = self.ask(f"watch=1&resourceVersion={self.version}")
        while not self.over.is_set():
            self.bytes += len(answer.read1(1 << 16))  # something changes each second


def processor(proc):
    """Seconds of the controller and of its readers, those that have ended too."""
    total = 0
    for pid, _ in [(proc.pid, 0), *proc.family()]:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15 if pid == proc.pid else 13]))
    return total / CPU_HERTZ


def private(proc):
    """Bytes of the controller and its readers, pages that they share counted once."""
    total = 0
    for pid, _ in [(proc.pid, 0), *proc.family()]:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(1024 * int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total


def follow(crowd, kind, n):
    """While Jobs change: seconds of the processor, bytes of memory in the end, bytes that n of them have read."""
    following = [kind(crowd.url) for _ in range(n)]
    before, until = processor(crowd.proc), time.monotonic() + FOLLOW_SECONDS
    while time.monotonic() < until:
        crowd.fake.api.post(f"/bench/relabel/{CHANGES}", {})
        time.sleep(1)
    cpu, memory = processor(crowd.proc) - before, private(crowd.proc)
    for f in following:
        f.over.set()
    crowd.fake.api.post(f"/bench/relabel/{CHANGES}", {})  # a watch reads once more, and sees that it is over
    for f in following:
        f.end()
    return cpu, memory, sum(f.bytes for f in following)


def cost_of(crowd, kind, n, nobody):
    """What each of n costs more than if there is nobody."""
    cpu, memory, sent = follow(crowd, kind, n)
    return {"cpu_ms_per_s": round(1000 * (cpu - nobody[0]) / n / FOLLOW_SECONDS, 2), "mb": round((memory - nobody[1]) / n / 1e6, 2),
            "bytes_per_s": round(sent / n / FOLLOW_SECONDS)}


def in_browser(crowd, folder):
    with Browser(folder) as b:
        b.look()
        note_first_row(b)
        def median(place):
            turns = [paints(b, f"{crowd.url}/#/{place}") for _ in range(TURNS)]
            return {what: statistics.median(t[what] for t in turns) for what in turns[0]}
        overview = median("overview")
        result = {"overview_first_paint_ms": overview["first_paint_ms"], "overview_ms": overview["first_row_ms"],
                  "overview_bytes_per_minute": wire(b, f"{crowd.url}/#/overview"), "list_bytes_per_minute": wire(b, f"{crowd.url}/#/jobs"), **median("jobs")}
        result["at_first"] = tab(b)
        most = scroll_through(b)
        result["scrolled"] = {**tab(b), "elements_at_most": most}
        return result


def run(args):
    jobs = args.jobs or 100000
    if lacks():
        raise SystemExit(f"bench page: {lacks()}")
    say(f"==> {jobs} waiting Jobs in a made-up cluster, Postgres and the controller (about {jobs // 5000 + 5} s)")
    crowd = Crowd(jobs, "bench-page")
    try:
        crowd.settle()
        with tempfile.TemporaryDirectory(prefix="sluice-bench-page-") as folder:
            seen = in_browser(crowd, Path(folder))
        say(f"==> {TABS} more tabs, and {WATCHERS} watches, each against none ({3 * FOLLOW_SECONDS} s)")
        nobody = follow(crowd, Tab, 0)
        result = {"bench": "page", "jobs": jobs, **seen, "assets_bytes": sum(f.stat().st_size for f in ASSETS.iterdir()),
                  "a_tab": cost_of(crowd, Tab, TABS, nobody), "a_watch": cost_of(crowd, Watch, WATCHERS, nobody)}
    finally:
        crowd.end()
    table([
        ("overview: first paint", f"{result['overview_first_paint_ms']} ms", "goal < 300 with 5,000 Jobs"),
        ("overview: its figures", f"{result['overview_ms']} ms", ""),
        ("read by a tab in a minute", f"{result['overview_bytes_per_minute'] / 1000:.0f} kB", f"overview; list {result['list_bytes_per_minute'] / 1000:.0f} kB; goal < 1000"),
        ("first paint", f"{result['first_paint_ms']} ms", ""),
        ("the first row of the list", f"{result['first_row_ms']} ms", "goal < 1000"),
        ("memory of the tab", f"{result['at_first']['tab_mb']} MB", f"{result['scrolled']['tab_mb']} MB after scrolling for 30 s"),
        ("elements", f"{result['at_first']['elements']}", f"{result['scrolled']['elements_at_most']} at most while scrolling"),
        ("the page in the program", f"{result['assets_bytes'] / 1000:.1f} kB", "document, style, scripts"),
        *((name, f"{c['cpu_ms_per_s']} ms/s", f"of the processor, {c['mb']} MB and {c['bytes_per_s']} bytes/s, while {CHANGES} Jobs change each second")
          for name, c in (("each tab that shows the line", result["a_tab"]), ("each watch of all Jobs", result["a_watch"]))),
    ])
    return result
