"""Chromium, driven by the protocol that every browser understands (W3C WebDriver), with Python's own library alone.

Selenium does the same with 15 packages of 44 MB, and a program that loads browsers. What tests
need of the protocol is the page of code below.

A Browser has a chromedriver and a Chromium of its own, on ports of loopback that the kernel chose, and its profile in
the folder it is given. end() ends both. What the page complains of stays in complaints()."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import urllib.error
import urllib.request
from pathlib import Path

from sandbox import SandboxError, wait_until
from sandbox.process import Process, start_time

KEYS = {"Shift": "\ue008", "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "PageUp": "\ue00e", "PageDown": "\ue00f", "Home": "\ue011", "End": "\ue010"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how the protocol marks a reference to an element
PATIENCE = 120
DROPPED = "ERR_NETWORK_CHANGED"


def lacks():
    """What this machine lacks for a browser; "" if nothing."""
    missing = [p for p in ("chromium", "chromedriver") if not shutil.which(p)]
    return f"{' and '.join(missing)} missing: ./dev test installs Debian's chromium and chromium-driver where it may" if missing else ""


class PageError(SandboxError):
    """What the driver says of a command: its name for it, and a sentence."""


def arguments(folder, profile="profile"):
    """Of Chromium: it asks nobody but the page, and keeps everything in the folder."""
    quiet = ["--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-extensions", "--no-proxy-server", "--disable-breakpad"]
    # Containers have 64 MB of /dev/shm; and Chromium refuses to be root's with its own sandbox.
    place = ["--disable-dev-shm-usage", "--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    # A process that waits for the page after the next one is started anew with each page: half of what a page costs.
    spare = ["--disable-features=SpareRendererForSitePerProcess"]
    return ["--headless=new", "--lang=en-GB", "--window-size=1280,900", f"--user-data-dir={folder / profile}", *quiet, *place, *spare]


class Browser:
    """`with Browser(folder) as b`: ended at the end."""

    def __init__(self, folder):
        self.proc = Process(Path(folder), "chromedriver")
        home = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self.proc.start([shutil.which("chromedriver"), "--port=0"], env={**home, "TZ": "UTC", "LANG": "C.UTF-8"})
        self.base, self.expected, self.said = "", (), []
        try:
            self.base = f"http://127.0.0.1:{wait_until('chromedriver to tell its port', self._port, PATIENCE, self.proc)}"
            self.base += f"/session/{self._begin(Path(folder))}"
            self.cdp("Page.enable")
        except BaseException:
            self.end()
            raise

    def renew(self, origin):
        """As if it had just been started: a tab that has seen nothing in the place of the old one, and nothing is kept of the origin."""
        old, new = self._send("GET", "/window"), self._send("POST", "/window/new", {"type": "tab"})["handle"]
        self.cdp("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        self.cdp("Network.clearBrowserCache")
        self._send("DELETE", "/window")
        self._send("POST", "/window", {"handle": new})
        assert old != new and self._send("GET", "/window/handles") == [new]
        self.cdp("Page.enable")
        self.complaints()
        self.expected = ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        family = self.proc.family()
        with contextlib.suppress(OSError, PageError):
            if "/session/" in self.base:
                self._send("DELETE", "")
        self.proc.stop(timeout=10)
        for pid, started in family:  # a Chromium that hangs, or whose driver did
            with contextlib.suppress(ProcessLookupError):
                if start_time(pid) == started:
                    os.kill(pid, signal.SIGKILL)

    def _begin(self, folder, tries=3):
        """The session's name. The driver gives its Chromium a minute to begin, which is not enough on every machine."""
        try:
            return self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "timeouts": {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE},
                "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": arguments(folder, f"profile-{tries}")}}}})["sessionId"]
        except PageError as e:
            if tries == 1 or "session not created" not in str(e):
                raise
            return self._begin(folder, tries - 1)

    def _port(self):
        said = re.search(r"started successfully on port (\d+)", self.proc.log.read_text(errors="replace"))
        return said and said[1]

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            # Without the environment's proxy, which is not asked for loopback.
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=2 * PATIENCE) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as e:
            said = json.loads(e.read())["value"]
            raise PageError(f"{said['error']}: {said['message'].splitlines()[0]}") from None

    # -- where it is, and what it shows ------------------------------------

    def open(self, url):
        """Anew where an interface of this machine came or went meanwhile, as those of a real node do: Chromium drops what is on its way then."""
        self._send("POST", "/url", {"url": url})
        for _ in range(5):
            said = self._send("POST", "/se/log", {"type": "browser"})
            self.said += said
            if not any(DROPPED in e["message"] for e in said):
                return
            self._send("POST", "/refresh", {})

    @property
    def url(self):
        return self._send("GET", "/url")

    def run(self, script, *args):
        """What the body of a function returns; a promise is awaited."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(args)})

    def text(self, selector="body"):
        """What is shown of the first such element; None: there is none."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector)

    def markup(self):
        """All there is, shown or not: attributes and what is typed too."""
        return self.run("return document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((e) => e.value).join(' ')")

    def wait(self, what, check, timeout=PATIENCE):
        """Until check() is true; its answer. A page that does not come to it is shown in the error."""
        def asked():
            try:
                return check()
            except PageError as e:  # an element was drawn anew meanwhile
                if "stale element" not in str(e):
                    raise
        try:
            return wait_until(f"the page {self.url} to show {what}", asked, timeout, self.proc, every=0.1)
        except SandboxError as e:
            raise AssertionError(f"{e}\nit shows: {(self.text() or '')[:3000]}\nand complains: {self.complaints()}") from None

    def wait_text(self, *parts, selector="body"):
        """Until all of these can be read there."""
        return self.wait(" and ".join(map(repr, parts)), lambda: (said := self.text(selector)) and all(p in said for p in parts) and said)

    # -- what a person does --------------------------------------------------

    def click(self, selector):
        self._to_element(selector, lambda element: self._send("POST", f"/element/{element}/click", {}))

    def type(self, selector, text):
        """In the place of what stood there."""
        def write(element):
            self._send("POST", f"/element/{element}/clear", {})
            self._send("POST", f"/element/{element}/value", {"text": text})
        self._to_element(selector, write)

    def _to_element(self, selector, do):
        """The page may draw it anew between two requests, or something over it; then nothing was done, and it is tried again."""
        def done():
            try:
                do(self._element(selector))
                return True
            except PageError as e:
                if not str(e).startswith(("stale element", "no such element", "element click intercepted", "element not interactable")):
                    raise
        self.wait(f"{selector} for somebody to use", done)

    def _element(self, selector):
        return self._send("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def press(self, *keys):
        """One after the other: names of KEYS or characters; "Shift+Tab" for both at once."""
        steps = []
        for key in keys:
            held = [KEYS.get(k, k) for k in (key.split("+") if len(key) > 1 else [key])]
            steps += [{"type": "keyDown", "value": k} for k in held] + [{"type": "keyUp", "value": k} for k in reversed(held)]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": steps}]})

    def focused(self):
        """Of what has the focus: tag, id, role, text, address, and whether that can be seen."""
        return self.run("""const e = document.activeElement, style = getComputedStyle(e);
            return { tag: e.tagName, id: e.id, role: e.getAttribute("role") || "", text: (e.innerText || "").trim(), href: e.getAttribute("href") || "",
                     seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none" }""")

    # -- how it is looked at ---------------------------------------------------

    def cdp(self, command, **params):
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def look(self, width=1280, height=900, dark=False):
        """At a window of that size, by day or by night."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                         {"name": "prefers-reduced-motion", "value": "reduce"}])

    def picture(self, file, whole=False):
        """A PNG of what is seen; of the whole page, where it is longer."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]))

    # -- what is wrong ---------------------------------------------------------

    def complaints(self):
        """What stands in the console since the last call, but for answers of a status that the test expects."""
        said, self.said = [*self.said, *self._send("POST", "/se/log", {"type": "browser"})], []
        expected = (DROPPED, *(f"status of {status}" for status in self.expected))
        return [f"{e['source']}: {e['message']}" for e in said if e["level"] in ("SEVERE", "WARNING")
                and not (e["source"] == "network" and any(part in e["message"] for part in expected))]

    def barriers(self, axe):
        """What axe finds on the page as it is: [(rule, what it asks for, elements)]."""
        found = self.run(axe + """;return axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.map(
            (v) => [v.id, v.help, v.nodes.map((n) => n.html.slice(0, 200) + " " + (n.any[0]?.message ?? ""))]))""")
        return [tuple(f) for f in found]

    # -- what it costs -----------------------------------------------------------

    def heap(self):
        """(bytes of scripts' objects after a collection, number of nodes of documents)."""
        self.cdp("HeapProfiler.collectGarbage")
        self.cdp("Performance.enable")
        said = {m["name"]: m["value"] for m in self.cdp("Performance.getMetrics")["metrics"]}
        return said["JSHeapUsedSize"], said["Nodes"]

    def memory(self):
        """Bytes that its tabs have to themselves."""
        total = 0
        for pid, _ in self.proc.family():
            with contextlib.suppress(OSError):
                if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    total += sum(1024 * int(line.split()[1]) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Private_"))
        return total
