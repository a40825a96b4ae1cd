"""What the page costs with so many waiting Jobs: in a real Chromium, from a real controller (release build) and Postgres,
beside the made-up cluster of `crowd`, so that no API server has to take in 100,000 Jobs first.

  first paint    until the browser has painted something, and until it has painted the first row of the list, each from the
                 moment at which the address was opened. A new tab each time; the median of TURNS
  tab            memory that the tab has to itself, and elements, with the first page of the list and once it was
                 scrolled through
  assets         the document, its style and its scripts, as they are in the program
  stream         what each tab that watches costs the controller while CHANGES Jobs change each second: processor time,
                 memory of it and of its readers, bytes that it sends. WATCHERS more watch for WATCH_SECONDS, against
                 none for as long
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
WATCHERS, CHANGES, WATCH_SECONDS = 19, 20, 30  # one address without a token has 20 watches
GROUP = "/apis/visibility.sluice.dev/v1alpha1"
ASSETS = ROOT / "controller" / "page" / "assets"

# Notes when a row of a list has been painted: two frames after it was there.
NOTE_FIRST_ROW = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".list [role=row][id] a")) return;
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
        return sum(q["pending"] for q in self.box.controller_api().get("/api/v1/queues")["clusterQueues"])


def note_first_row(browser):
    """In each document that is opened from now on."""
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=NOTE_FIRST_ROW)


def paints(browser, url):
    """Milliseconds until the first paint, and until a row of the list was painted; the address is opened anew."""
    browser.open("about:blank")
    browser.open(url)
    row = browser.wait("a row", lambda: browser.run("return window.firstRowMs ?? null"))
    first = browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
    return {"first_paint_ms": first and round(first), "first_row_ms": round(row)}


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


class Watcher(threading.Thread):
    """Reads a watch until it is told to stop, and counts its bytes."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)
        self.bytes, self.over = 0, False
        self.connection.request("GET", f"{GROUP}/queuedjobs?limit=500")
        version = json.loads(self.connection.getresponse().read())["metadata"]["resourceVersion"]
        self.connection.request("GET", f"{GROUP}/queuedjobs?watch=1&resourceVersion={version}")
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise SystemExit(f"a watch was refused: {self.answer.read()[:300]}")
        self.start()

    def run(self):
        while not self.over:
            try:
                part = self.answer.read1(1 << 16)
            except (OSError, http.client.HTTPException, ValueError, AttributeError):
                return
            if not part:
                return
            self.bytes += len(part)

    def end(self):
        self.over = True
        self.connection.close()


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


def follow(crowd, watchers):
    """While Jobs change: seconds of the processor, bytes of memory in the end, bytes that were read."""
    watching = [Watcher(crowd.url) for _ in range(watchers)]
    before, until = processor(crowd.proc), time.monotonic() + WATCH_SECONDS
    while time.monotonic() < until:
        crowd.fake.api.post(f"/bench/relabel/{CHANGES}", {})
        time.sleep(1)
    cpu, memory = processor(crowd.proc) - before, private(crowd.proc)
    for w in watching:
        w.end()
    return cpu, memory, sum(w.bytes for w in watching)


def stream(crowd):
    cpu, memory, _ = follow(crowd, 0)
    more_cpu, more_memory, sent = follow(crowd, WATCHERS)
    each = WATCHERS * WATCH_SECONDS
    return {"cpu_ms_per_s": round(1000 * (more_cpu - cpu) / each, 2), "mb": round((more_memory - memory) / WATCHERS / 1e6, 2),
            "bytes_per_s": round(sent / each)}


def in_browser(crowd, folder):
    with Browser(folder) as b:
        b.look()
        note_first_row(b)
        place = f"{crowd.url}/#/jobs"
        turns = [paints(b, place) for _ in range(TURNS)]
        result = {what: statistics.median(t[what] for t in turns) for what in turns[0]}
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
        say(f"==> what a watcher costs: {WATCHERS} against none ({2 * WATCH_SECONDS} s)")
        result = {"bench": "page", "jobs": jobs, **seen, "assets_bytes": sum(f.stat().st_size for f in ASSETS.iterdir()), "watcher": stream(crowd)}
    finally:
        crowd.end()
    table([
        ("first paint", f"{result['first_paint_ms']} ms", ""),
        ("the first row of the list", f"{result['first_row_ms']} ms", "goal < 1000"),
        ("memory of the tab", f"{result['at_first']['tab_mb']} MB", f"{result['scrolled']['tab_mb']} MB after scrolling for 30 s"),
        ("elements", f"{result['at_first']['elements']}", f"{result['scrolled']['elements_at_most']} at most while scrolling"),
        ("the page in the program", f"{result['assets_bytes'] / 1000:.1f} kB", "document, style, scripts"),
        ("a tab that watches", f"{result['watcher']['cpu_ms_per_s']} ms/s", f"of the processor, {result['watcher']['mb']} MB and {result['watcher']['bytes_per_s']} bytes/s, while {CHANGES} Jobs change each second"),
    ])
    return result
