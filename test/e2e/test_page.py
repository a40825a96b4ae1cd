"""The page, as a person has it: in a real Chromium, at the port of a leader that wants a token of everybody.

Boss may do anything in the cluster. Alice has sluice-batch-user in one namespace and nothing else. What is shown is held
against what the API server, the aggregated API and the ledger say. Each look at a page is also a picture, in build/page.
How many elements there are with a crowd of waiting Jobs is asked of a real controller beside
the made-up cluster of the benches (test/bench/fake_cluster.py); it trusts callers from this host, as one behind an
authenticating proxy does.

Where there is no Chromium all but the first tests are skipped, and say so."""

import gzip
import json
import re
import subprocess
import sys
from datetime import datetime
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from browser import Browser, PageError, lacks
from conftest import LATER, PREFIX, SOON, World, need
from objects import HOLD, has, jobs_path, ours, path_of, searched
from sandbox import wait_until
from sandbox.sandbox import BUILD, ROOT
from test_rights import RBAC, admin, bind, get  # noqa: F401 (admin: World asks with a token)

sys.path.append(str(ROOT / "test" / "bench"))

GROUP = "/apis/visibility.sluice.dev/v1alpha1"
PICTURES = BUILD / "page"
PHONE = {"width": 390, "height": 844}
LOOKS = {"light": {}, "dark": {"dark": True}, "phone": PHONE, **searched({}, {"phone-dark": {**PHONE, "dark": True}})}
ELEMENTS_AT_MOST = 2000
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\" onclick=\"x"
pytestmark = pytest.mark.flags("--loopback-needs-token")
# From then on window.asked has what the page asks for, with the status of what has been answered; the path `held` never is.
NOTE_REQUESTS = """((held) => {
    const really = window.fetch;
    window.asked = [];
    window.fetch = async (path, options) => {
        const one = { path };
        window.asked.push(one);
        if (path === held) return new Promise((_, fail) => options.signal.addEventListener("abort", () => fail(options.signal.reason)));
        try {
            const answer = await really(path, options);
            one.status = answer.status;
            return answer;
        } catch (error) {
            one.status = 0;
            throw error;
        }
    };
})"""


class Page(Browser):
    """A browser at the page of a controller."""

    def __init__(self, folder, root):
        super().__init__(folder)
        self.root, self.loads = root, 0
        self.look()

    def begin_anew(self, root):
        self.renew(self.root)
        self.root = root
        self.look()

    def go(self, place):
        self.open(f"{self.root}/#/{place}")

    def load(self, place):
        """With a document of its own: nothing of the place before is under way. (By way of about:blank it would have a process
        of its own as well, which costs as much as the page.)"""
        self.loads += 1
        self.open(f"{self.root}/?{self.loads}#/{place}")

    def note_requests(self, held=""):
        """Of the documents that are loaded from now on."""
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=f"{NOTE_REQUESTS}({json.dumps(held)})")

    def asks_who(self):
        return self.run("return document.querySelector('dialog[open] #token') !== null")

    def give(self, token, namespace=""):
        """In the dialog, which is open."""
        self.type("#token", token)
        self.type("#namespace", namespace)
        self.click("#signing button[value=in]")

    def sign_in(self, token, namespace="", place="queues"):
        self.go(place)
        self.wait("the question who it is", self.asks_who)
        self.give(token, namespace)
        self.wait("that the person is let in", lambda: not self.asks_who() and self.text("main").strip())

    def rows(self):
        """Those of the list that are drawn, by their place from 1 on: [(place, text)]."""
        return self.run("""return [...document.querySelectorAll("main [role=row][id]")].map((e) => [+e.getAttribute("aria-rowindex") - 1, e.innerText])
            .sort((a, b) => a[0] - b[0]).filter(([, text]) => text.trim() !== "...")""")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """chromium(root): the Page of all tests, at that root, as if it had just been started. A start takes 3 s of processor time."""
    there = []

    def end():
        while there:
            there.pop().end()

    def at(root):
        try:
            for page in there:
                page.begin_anew(root)
        except (OSError, PageError, AssertionError):  # the test before has broken it
            end()
        if not there:
            there.append(Page(tmp_path_factory.mktemp("browser"), root))
        return there[0]
    yield at
    end()


@pytest.fixture
def open_page(chromium):
    """open_page(root): the Page; the test fails if it complained of anything."""
    opened = []

    def make(root):
        if lacks():
            pytest.skip(lacks())
        assert not opened, "there is one browser"
        opened.append(chromium(root))
        return opened[-1]
    yield make
    complaints = [c for page in opened for c in page.complaints()]
    assert not complaints


@pytest.fixture
def page(world, open_page):
    page = open_page(world.box.controller_url())
    page.expected = (401,)  # of the first question, before anybody has signed in
    return page


@pytest.fixture(scope="module")
def axe():
    file = BUILD / "tools" / "axe.min.js"
    if not file.exists():
        pytest.skip("build/tools/axe.min.js is missing; ./dev test puts it there")
    return file.read_text()


@pytest.fixture
def other(world):
    """A namespace of somebody else."""
    w = World(world.box, f"{world.ns}-other")
    yield w
    w.end()


def boss(world):
    return world.box.controller_token


@pytest.fixture
def line(world, other):
    """A ClusterQueue of both namespaces: one Job runs, a Job of the other namespace waits, and two of Alice's behind it."""
    world.queue(cpu=2)
    other.local("theirs", world.full("q"))
    world.job("runs", cpu=2)
    world.started("runs")
    other.job("secret", queue="theirs", cpu=2)
    other.waits("secret", "WaitingForQuota")
    world.job("mine", cpu=1)
    world.waits("mine", "WaitingForQuota")
    world.job("big", cpu=3)
    world.waits("big", "ExceedsMaxQuota")
    alice = bind(world, "alice", "sluice-batch-user")
    port = int(world.box.controller_url().rpartition(":")[2])
    wait_until("Alice to be let in", lambda: get(port, f"{GROUP}/namespaces/{world.ns}/queuedjobs/mine", alice).status == 200, SOON)
    return SimpleNamespace(world=world, other=other, q=world.full("q"), ns=world.ns, alice=alice, boss=boss(world))


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def asked(world, path, token=None):
    """What the controller answers at the port of the page."""
    with urlopen(Request(world.box.controller_url() + path, headers={"Authorization": f"Bearer {token or boss(world)}"}), timeout=SOON) as r:
        return json.loads(r.read())


def by_clock(page, *sentences):
    """As the page writes them: with their times by the reader's clock."""
    return page.run('return import("/page/words.js").then((words) => arguments[0].map(words.onOwnClock))', sentences)


IN_LINE = re.compile(r"it is first in ClusterQueue \S+|\d+ Jobs? (is|are) ahead of it in ClusterQueue \S+")


def tells(page, world, name):
    """Does the page of the Job have each clause of what the API says of it? Its place in line the page tells in a row of its own."""
    [message] = by_clock(page, asked(world, f"{GROUP}/namespaces/{world.ns}/queuedjobs/{name}")["status"]["message"])
    shown = page.text()
    return all(clause in shown or IN_LINE.fullmatch(clause) for clause in message.split("; "))


# ---- without a browser ---------------------------------------------------------------


def headers(url, token=None):
    request = Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urlopen(request, timeout=SOON) as r:
            return r.status, r.headers
    except HTTPError as e:
        return e.code, e.headers


def test_every_answer_says_what_a_browser_may_do_with_it(world):
    root = world.box.controller_url()
    scripts = {f"/page/{f.name}": "text/css" if f.suffix == ".css" else "javascript" for f in (ROOT / "controller" / "page" / "assets").iterdir()
               if f.suffix in (".css", ".js")}
    wanted = {"/": "text/html", **scripts, f"{GROUP}/queuereports": "application/json", f"{GROUP}/queuedjobs": "application/json",
              "/nothing": "", f"{GROUP}/nothing": ""}
    assert len(scripts) > 5
    for path, kind in wanted.items():
        for token in (boss(world), None):
            status, told = headers(root + path, token)
            assert kind in told["Content-Type"], (path, told.items())
            policy = dict(part.strip().split(" ", 1) for part in told["Content-Security-Policy"].split(";") if part.strip())
            assert policy["default-src"] == "'none'" and policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'", (path, policy)
            assert policy["frame-ancestors"] == policy["form-action"] == policy["base-uri"] == "'none'", (path, policy)
            kept = "no-cache" if path == "/" or path in scripts else "no-store"  # files are asked for again, and told to be the same
            assert (told["X-Content-Type-Options"], told["Cache-Control"], told["Referrer-Policy"]) == ("nosniff", kept, "no-referrer"), (path, told.items())
            assert "Set-Cookie" not in told and "Access-Control-Allow-Origin" not in told, (path, told.items())
            # The document tells nothing, so it is everybody's; what it asks is not.
            assert status == (200 if path == "/" or path in scripts else 401 if not token else status), (path, status)


def test_a_list_goes_as_gzip_to_who_takes_it(world):
    world.queue(cpu=1)
    for n in range(5):
        world.job(f"waits-{n}", cpu=2)
        world.waits(f"waits-{n}")
    token = boss(world)

    def fetch(**more):
        """(Content-Encoding, body)"""
        request = Request(f"{world.box.controller_url()}{GROUP}/namespaces/{world.ns}/queuedjobs", headers={"Authorization": f"Bearer {token}", **more})
        with urlopen(request, timeout=SOON) as r:
            return r.headers["Content-Encoding"], r.read()
    # The list may be some time older than the last Job.
    wait_until("all to be listed", lambda: len(json.loads(fetch()[1])["items"]) == 5, SOON)
    (none, plain), (coding, packed) = fetch(), fetch(**{"Accept-Encoding": "gzip"})
    assert (none, coding) == (None, "gzip") and len(packed) < len(plain) / 2, (none, coding, len(packed), len(plain))
    unpacked = json.loads(gzip.decompress(packed))
    assert [j["metadata"]["name"] for j in unpacked["items"]] == [f"waits-{n}" for n in range(5)], unpacked


def test_nothing_in_the_document_is_from_elsewhere(world):
    root = world.box.controller_url()
    for file in (ROOT / "controller" / "page" / "assets").iterdir():
        with urlopen(root + ("/" if file.name == "index.html" else f"/page/{file.name}"), timeout=SOON) as r:
            served = r.read().decode()
        assert served == file.read_text(), f"{file.name} is not what was built in"
        assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", served), file.name
        assert set(re.findall(r"https?://[^\"'\s)]*", served)) <= {"http://www.w3.org/2000/svg"}, file.name


def test_the_port_of_the_page_wants_the_rights_that_the_api_server_wants(line):
    """Which of these Alice may ask is the same at both."""
    line.world.box.wait_visible(LATER)
    config = line.world.box.account_kubeconfig("alice", line.ns, "alice")
    there, elsewhere = f"{GROUP}/namespaces/{line.ns}", f"{GROUP}/namespaces/{line.other.ns}"

    def raw(path):
        """The answer; one of 503 is the API server's, which now and then asks whether the controller is there."""
        def answered():
            done = subprocess.run([line.world.box.tool("kubectl"), "--kubeconfig", config, "get", "--raw", path], env=line.world.box.kubectl_env(),
                                  capture_output=True, text=True, timeout=SOON)
            return "ServiceUnavailable" not in done.stderr and done
        return wait_until(f"an answer to {path}", answered, LATER)
    wait_until("the API server to find this controller", lambda: raw(f"{there}/queuedjobs").returncode == 0, LATER)
    may = [f"{there}/queuedjobs", f"{there}/queuedjobs?watch=1&timeoutSeconds=1", f"{there}/queuedjobs/mine", f"{there}/costs", f"{there}/reports",
           f"{there}/histories"]
    may_not = [f"{GROUP}/queuedjobs", f"{GROUP}/queuedjobs?watch=1&timeoutSeconds=1", f"{elsewhere}/queuedjobs", f"{elsewhere}/queuedjobs/secret",
               f"{GROUP}/clusterqueues/{line.q}/queuedjobs", f"{GROUP}/costs", f"{GROUP}/reports", f"{elsewhere}/histories"]
    for path in may + may_not:
        done = raw(path)
        assert (done.returncode == 0) == (path in may) == ("Forbidden" not in done.stderr), (path, done)
        status, _ = headers(line.world.box.controller_url() + path, line.alice)
        assert status == (200 if path in may else 403), (path, status)


# ---- who sees what -------------------------------------------------------------------


def test_a_token_that_is_none_is_told_so_in_the_dialog(line, page):
    page.go("queues")
    page.wait("the question who it is", page.asks_who)
    page.give("nonsense")
    page.wait("the question again, with a sentence", lambda: page.asks_who() and re.search(r"token", page.text("#signing [role=alert]") or ""))
    assert line.q not in page.markup() and "nonsense" not in page.markup()
    page.give(line.boss)
    page.wait_text(line.q)


def test_the_token_is_gone_when_the_person_signs_out(line, page):
    page.sign_in(line.boss)
    page.wait_text(line.q)
    assert line.boss not in page.markup() and not page.run("return document.cookie + JSON.stringify(localStorage)").strip("{}")
    page.click("#sign")
    page.wait("the question who it is", page.asks_who)
    assert page.run("return JSON.stringify(sessionStorage)").count(line.boss) == 0 and line.q not in page.markup()


def test_alice_finds_no_name_of_another_namespace_anywhere(line, page):
    page.expected = (401, 403, 404)
    page.sign_in(line.alice, line.ns, "jobs")
    q, ns = line.q, line.ns
    # A page, and what is there when all of it is: of what she may not see, the name of the right that she lacks.
    for place, parts in {"jobs": [f"{ns}/mine", f"{ns}/big", f"{ns}/runs"], f"job/{ns}/mine": ["1 Job ahead"], "queues": ["queuereports"],
                         f"queue/{q}": ["queuereports"], f"jobs?clusterQueue={q}": [f"{ns}/mine"], "history": [f"{ns}/runs"], "money": [q, "sluice-viewer"],
                         "nodes": ["overcommits"]}.items():
        page.go(place)
        page.wait_text(*parts)
        there = page.markup()
        assert line.other.ns not in there and "secret" not in there, place
    page.go(f"job/{line.other.ns}/secret")
    refused = page.wait_text("queuedjobs")
    page.go(f"job/{line.other.ns}/nobody")
    # In the same words: she is not told whether there is such a Job.
    page.wait("the same refusal", lambda: page.text().replace("nobody", "secret") == refused)


def test_no_link_of_alice_is_refused(line, page):
    """Each link on each page that she can open, followed: from those that she comes to without typing an address."""
    looks = []

    def is_whole():
        """All is drawn and answered (a watch is when something changes), and three looks in a row find nothing more asked for."""
        shown, asked = page.text("main") or "", page.run("return asked")
        looks.append(shown.strip() and "Loading" not in shown and all("status" in one or "watch=1" in one["path"] for one in asked) and len(asked))
        return looks[-1] and looks[-3:] == 3 * looks[-1:]
    page.expected = (401, 403, 404)  # whether she may see queues is asked once; and a Job that has ended is asked for
    page.sign_in(line.alice, line.ns, "jobs")
    page.wait_text(f"{line.ns}/mine")
    page.note_requests()
    seen, coming = set(), ["jobs", f"job/{line.ns}/mine", "money", "history", "search?text=mine"]
    while coming:
        place = coming.pop()
        if place in seen or len(seen) > 60:
            continue
        seen.add(place)
        page.load(place)
        looks.clear()
        page.wait(f"{place} to be whole", is_whole)
        refused = [one["path"] for one in page.run("return asked") if one.get("status") == 403]
        assert refused == [f"{GROUP}/budgetreports"] and not page.text("main [role=alert]"), (place, refused, page.text())
        coming += page.run("return [...document.querySelectorAll(\"a[href^='#/']\")].map((a) => a.getAttribute('href').slice(2))")
    assert {f"job/{line.ns}/mine", f"job/{line.ns}/big", "jobs", "history", "money"} <= {place.partition("?")[0] for place in seen}, seen
    assert not any(place.startswith(("queue", "nodes")) for place in seen), seen
    page.go(f"job/{line.ns}/mine")
    page.wait_text(line.q)  # as words
    page.go("money")
    page.wait_text("sluice-viewer")


def test_a_place_that_was_left_draws_nothing_any_more(line, page):
    """Before it is known whether she may see queues; that is never answered here."""
    page.expected = (401, 403)
    page.sign_in(line.alice, line.ns, "jobs")
    page.wait_text(f"{line.ns}/mine")
    page.note_requests(held=f"{GROUP}/budgetreports")
    page.load(f"jobs?namespace={line.ns}")
    page.wait("the first question", lambda: page.run("return asked.length") == 1)
    page.run("location.hash = arguments[0]", f"#/history?namespace={line.ns}")
    page.wait("another place", lambda: page.run("return document.title").startswith("History"))
    assert [one["path"] for one in page.run("return asked")] == 2 * [f"{GROUP}/budgetreports"]
    assert page.run("return [...document.querySelectorAll('nav a[aria-current]')].map((a) => a.getAttribute('href'))") == ["#/history"]


def test_boss_has_the_links_that_alice_lacks(line, page):
    page.sign_in(line.boss)
    page.wait_text(line.q)
    page.go(f"job/{line.ns}/mine")
    page.wait("a link to its queue", lambda: page.run("return [...document.querySelectorAll('main a')].some((a) => a.getAttribute('href') === `#/queue/${arguments[0]}`)", line.q))
    assert page.run("return [...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href'))") == [f"#/{p}" for p in ("queues", "jobs", "history", "money", "nodes")]


# ---- what is shown is what is so -----------------------------------------------------


def test_the_line_is_shown_in_its_order_with_each_sentence(line, page):
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")

    def same():
        items = asked(line.world, f"{GROUP}/clusterqueues/{line.q}/queuedjobs")["items"]
        shown = page.rows()
        if len(items) != 4 or len(shown) != len(items):
            return False
        sentences = by_clock(page, *(item["status"]["message"] for item in items))
        for (place, text), item, sentence in zip(shown, items, sentences):
            status, meta = item["status"], item["metadata"]
            parts = [f"{meta['namespace']}/{meta['name']}", status["state"], str(status.get("position", "")), sentence]
            if not all(part in text for part in parts):
                return False
        return True
    page.wait("the line as the API has it", same)
    page.go(f"job/{line.ns}/mine")
    page.wait("its whole sentence", lambda: tells(page, line.world, "mine"))


# ---- a Job's life ------------------------------------------------------------------------


def test_a_jobs_life_is_watched_without_loading_the_page_again(world, page):
    world.priorities(low=1, high=10)
    world.queue(cpu=2, preemption={"withinClusterQueue": "LowerPriority"})
    world.job("first", cpu=2, priority="low")
    world.started("first")
    page.expected = (401, 404)  # of a Job that is deleted
    page.sign_in(boss(world), place=f"jobs?clusterQueue={world.full('q')}")
    page.wait("the one that runs", lambda: any(f"{world.ns}/first" in text for _, text in page.rows()))
    page.run("window.sinceTheBeginning = true")

    world.job("train", cpu=2, priority="low")
    page.wait("why it waits", lambda: any(f"{world.ns}/train" in t and "Waiting" in t and "2 of 2 in use" in t for _, t in page.rows()))
    page.click(f'[role=row] a[href="#/job/{world.ns}/train"]')
    page.wait("why it waits", lambda: tells(page, world, "train"))
    world.finish("first")
    world.started("train")
    page.wait_text("Running")
    world.job("urgent", cpu=2, priority="high")
    world.started("urgent", timeout=LATER)
    page.wait_text(f"Preempted for {world.ns}/urgent", "Queued again", "Waiting")
    world.finish("urgent")
    world.finished("urgent")
    world.started("train", timeout=LATER)
    page.wait_text("Running", f"Preempted for {world.ns}/urgent", "Resumed")
    world.finish("train")
    world.finished("train")
    page.wait_text("Finished", f"Preempted for {world.ns}/urgent")
    world.empty()
    world.delete("train")
    page.wait_text("No Job of this name waits or runs now", f"Preempted for {world.ns}/urgent", "Finished")
    world.wait("the Job to be gone", lambda: world.api.gone(jobs_path(world.ns, "train")))
    page.click('nav a[href="#/history"]')
    page.wait_text(f"{world.ns}/train", f"Preempted for {world.ns}/urgent")
    page.click(f'main a[href="#/job/{world.ns}/train"]')
    page.wait_text("No Job of this name waits or runs now", f"Preempted for {world.ns}/urgent", "Resumed", "Finished")
    assert page.run("return window.sinceTheBeginning === true"), "it was loaded again"


# ---- what does not go as it should -----------------------------------------------------------


@pytest.fixture
def lister(line):
    """The token of an account that may list Jobs of the namespace, and may not watch them."""
    role, roles = line.world.full("lister"), f"{RBAC}/clusterroles"
    line.world.made.append(f"{roles}/{role}")
    line.world.api.ensure(roles, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": role}, "rules": [
        {"apiGroups": ["visibility.sluice.dev"], "resources": ["queuedjobs"], "verbs": ["get", "list"]}]})
    return bind(line.world, "lister", role)


def test_a_server_that_is_away_is_asked_every_few_seconds(line, page, lister):
    """Also by who may not watch: what keeps the page from being live is another refusal then."""
    page.expected = (401, 403)
    page.sign_in(lister, line.ns, "jobs")
    page.wait_text("updated every 5s", selector="#news")
    page.run("""window.asked = [];
        window.fetch = () => new Promise((_, fail) => { window.asked.push(performance.now()); setTimeout(() => fail(new TypeError("away")), 1); });""")
    page.wait_text("the server cannot be reached", selector="#news")
    asked = page.wait("a second try", lambda: (times := page.run("return window.asked")) and times[-1] - times[0] > 1000 and times)
    assert len([t for t in asked if t < asked[0] + 4000]) < 5, asked  # by the page's own clock: this one may look late


def test_a_watch_that_falls_silent_is_begun_anew(line, page):
    """As after the sleep of a laptop. What is 150 s for the page is 0.1 s here."""
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")
    page.wait("the line", lambda: len(page.rows()) == 4)
    page.run("""window.news = []; window.late = window.setTimeout; const news = document.getElementById("news");
        new MutationObserver(() => window.news.push(news.textContent)).observe(news, { childList: true });
        window.setTimeout = (call, ms, ...rest) => late(call, ms === 150000 ? 100 : ms, ...rest);""")
    line.world.job("more", cpu=1)
    page.wait("that it was told", lambda: any("silent" in said for said in page.run("return window.news")))
    page.run("window.setTimeout = window.late")
    page.wait("the line, live again", lambda: page.text("#news") == "Live." and len(page.rows()) == 5)


# ---- when a Job starts -------------------------------------------------------------------


def test_it_says_when_a_job_starts(line, page):
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")
    row = page.wait("the column", lambda: [text for _, text in page.rows() if f"{line.ns}/mine" in text and re.search(r"\babout .*\d\d:\d\d\b", text)])
    assert row, page.rows()
    page.go(f"job/{line.ns}/mine")
    page.wait_text("Expected start: ", "90 % sure by ")

    def same():
        """To the quarter of an hour: one of the two may have been asked a while before."""
        start = asked(line.world, f"{GROUP}/namespaces/{line.ns}/queuedjobs/mine")["status"]["start"]
        shown = page.run("return [...document.querySelectorAll('.moments time')].map((e) => e.dateTime)")
        return any(abs(instant(at) - instant(start["p50"])) < 900 for at in shown if at)
    page.wait("the start that the API tells", same)


def test_all_times_of_a_row_are_by_the_readers_clock(world, page):
    world.queue(cpu=2)
    world.job("later", annotations={"sluice.dev/start-after": "2031-05-04T20:00:00Z"})
    world.waits("later")
    page.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")
    page.sign_in(boss(world), place=f"jobs?clusterQueue={world.full('q')}")
    then = "Mon 5 May 2031 05:00"
    page.wait("both times by one clock", lambda: any(text.count(then) == 2 and "2031-" not in text for _, text in page.rows()))
    page.go(f"job/{world.ns}/later")
    page.wait_text(f"Cannot start before {then}", selector="main")
    assert "2031-" not in page.text("main")
    stay = ["Sun 2031-05-04 22:00 CEST", 'write "2031-05-04T20:00:00Z"', "2031-99-04T20:00:00Z"]
    assert by_clock(page, "Sun 2031-05-04 22:30 +0230; x", "Sun 2031-05-04 20:00 UTC.", *stay) == [f"{then}; x", f"{then}.", *stay]


def test_a_page_that_nobody_has_touched_for_long_says_so(line, page):
    page.sign_in(line.boss, place=f"job/{line.ns}/mine")
    page.wait_text(f"Job {line.ns}/mine")
    page.run("""window.marks = []; const ask = window.fetch, now = Date.now.bind(Date); window.lateMs = 0; Date.now = () => now() + lateMs;
        window.fetch = (path, how) => { marks.push(how.headers["Sluice-Unattended"] || "none"); return ask(path, how); };""")

    def marks():
        return set(page.run("return marks"))
    page.wait("questions of a page that was touched", lambda: marks() == {"none"})
    page.run("lateMs = 16 * 60000; marks.length = 0")
    page.wait("questions of one that was not", lambda: marks() == {"true"})
    page.press("Shift")
    page.run("marks.length = 0")
    page.wait("questions of one that was touched again", lambda: marks() == {"none"})


# ---- names with markup ---------------------------------------------------------------------


def test_what_looks_like_markup_stays_text(line, page):
    page.expected = (400, 401, 404)
    line.world.job("evil", cpu=1, annotations={HOLD: EVIL, "example.com/note": EVIL})
    line.world.waits("evil")
    page.sign_in(line.boss)
    odd = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    for place, part in {f"job/{line.ns}/evil": EVIL[:24], f"jobs?clusterQueue={line.q}": EVIL[:24], f"job/{odd}/{odd}": "", f"queue/{odd}": "", odd: "",
                        f"jobs?labels={odd}": "", f"money?by=label&label={odd}&since={odd}": "", f"history?user={odd}": "", f"search?text={odd}": "",
                        "job/javascript%3Aalert(1)/x": "", "job/%/%25": ""}.items():
        page.go(place)
        page.wait("an answer", lambda p=part: (said := page.text("main")) and "Loading" not in said and p in said)
        found = page.run("""return [document.title, document.querySelectorAll("main script, main img, main iframe").length,
            [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
            [...document.querySelectorAll("a")].filter((a) => !(a.getAttribute("href") || "").startsWith("#")).length]""")
        assert "owned" not in found[0].split() and found[1:] == [0, 0, 0], (place, found)


# ---- by keyboard, on a phone, by night -------------------------------------------------------


def tab_until(page, what, check, key="Tab"):
    """Where the focus was on the way; each place can be seen."""
    way = []
    for _ in range(60):
        page.press(key)
        way.append(page.focused())
        assert way[-1]["seen"] or way[-1]["tag"] == "BODY", f"the focus cannot be seen at {way[-1]}"
        if check(way[-1]):
            return way
    raise AssertionError(f"{what} is not to be had by {key}: {way}")


def test_all_is_to_be_had_by_keyboard_alone(line, page):
    page.go(f"jobs?clusterQueue={line.q}")
    page.wait("the question who it is", page.asks_who)
    page.wait("the focus where the token goes", lambda: page.focused()["id"] == "token")
    page.press("Escape")
    page.wait("the page without an answer", lambda: not page.asks_who())
    tab_until(page, "signing in", lambda at: at["id"] == "sign")
    page.press("Enter")
    page.wait("the question again", page.asks_who)
    page.wait("the focus where the token goes", lambda: page.focused()["id"] == "token")
    page.press(*line.boss)
    page.press("Enter")
    page.wait("the line", lambda: len(page.rows()) == 4)
    page.go(f"jobs?clusterQueue={line.q}&at=1")
    page.wait("the line", lambda: len(page.rows()) == 4)
    way = tab_until(page, "the list", lambda at: at["role"] == "grid")
    tab_until(page, "the way out of the list", lambda at: at["tag"] == "BODY" or at["id"] == "skip")
    tab_until(page, "the list, back", lambda at: at["role"] == "grid", "Shift+Tab")
    page.press("Home", "ArrowDown", "ArrowDown", "ArrowUp")
    chosen = page.wait("the second row", lambda: page.run("return document.querySelector('[role=row][aria-selected=true][aria-rowindex=\"3\"] a')?.innerText"))
    page.press("Enter")
    page.wait("the Job", lambda: page.url.endswith(f"#/job/{chosen}"))
    page.wait_text(f"Job {chosen}")
    tab_until(page, "another page", lambda at: at["href"] == "#/queues" and at["text"] == "Queues", "Shift+Tab")
    page.press("Enter")
    page.wait_text(line.q)
    tab_until(page, "the search", lambda at: at["id"] == "find-text", "Shift+Tab")  # before the queues, of which there may be many
    page.press(*"big", "Enter")
    page.wait_text(f"{line.ns}/big", selector="main")
    assert any(at["tag"] == "SELECT" for at in way), way


def described(world, other):
    """All that a page may show: a Cohort that lends, nights with a price, a Budget, a Job that was preempted."""
    q = world.full("q")
    world.cohort("all")
    world.priorities(low=1)
    other.priorities(high=10)
    shared = world.flavor("shared")
    world.queue(flavors={shared: 2}, cohort="all", preemption={"withinClusterQueue": "LowerPriority"})
    world.queue("day", flavors={shared: 4}, cohort="all")
    world.queue("night", flavors={shared: 0}, cohort="all")
    other.local("theirs", q)
    world.create("calendars", ours("Calendar", world.full("nights"), {"timeZone": "Europe/Berlin", "open": [
        {"name": "night", "days": ["Mon-Thu"], "from": "19:00", "to": "07:00"}, {"name": "weekend", "from": "Fri 19:00", "to": "Mon 07:00"}]}))
    world.create("priceplans", ours("PricePlan", world.full("plan"), {
        "currency": "EUR", "queues": [q], "base": {"cpu": "36.00"}, "rates": [{"calendar": world.full("nights"), "factor": "0.4"}]}))
    world.create("budgets", ours("Budget", world.full("budget"), {"queue": q, "period": "Monthly", "timeZone": "Europe/Berlin", "currency": "EUR", "amount": "5000.00"}))
    world.create("runpolicies", ours("RunPolicy", world.full("window"), {"queues": [world.full("day")], "calendar": world.full("nights"), "atClose": {"action": "Finish"}}))
    for plural, name in ("priceplans", "plan"), ("budgets", "budget"), ("runpolicies", "window"):
        world.wait(f"{name} to be in force", lambda p=plural, n=name: has(world.api.get(path_of(p, world.full(n))), "Active"))
    world.job("train", cpu=2, priority="low")
    world.job("guest", queue="night", cpu=4)  # borrowed
    world.started("train", "guest")
    other.job("urgent", queue="theirs", cpu=2, priority="high")
    other.started("urgent", timeout=LATER)
    world.stopped("train")
    world.job("after", cpu=1, annotations={"sluice.dev/after": "afterok:train"})
    world.waits("train")
    world.waits("after")
    return q


def problems(page, axe, name, look):
    """What is wrong with a page as it is shown: what axe finds, and what is wider than a phone."""
    page.look(**LOOKS[look])
    page.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.picture(PICTURES / f"{name}-{look}.png")
    found = [f"{name}, {look}: {b}" for b in page.barriers(axe)]
    wide = page.run("return document.documentElement.scrollWidth")
    if look.startswith("phone") and wide > 390:
        found.append(f"{name}, {look}: {wide} pixels wide: " + str(page.run("""return [...document.querySelectorAll("body *")].filter(
            (e) => e.getBoundingClientRect().right > 391 && !e.closest(".scroll")).slice(0, 5).map((e) => e.outerHTML.slice(0, 120))""")))
    return found


@pytest.mark.search
@pytest.mark.timeout(1800)
def test_no_page_has_a_barrier_by_day_by_night_and_on_a_phone(world, other, page, axe):
    q = described(world, other)
    page.expected = (401, 404)  # nothing is lent here
    page.go("queues")
    page.wait("the question who it is", page.asks_who)
    found = []
    for look in LOOKS:
        found += problems(page, axe, "sign-in", look)
    page.look()
    page.give(boss(world))
    for name, place, parts in (("queues", "queues", [q]), ("queue", f"queue/{q}", [q, "EUR", "; fullest quarter hour ", "As a table"]), ("queue-window", f"queue/{world.full('day')}", [world.full("window")]), ("jobs", f"jobs?clusterQueue={q}", [f"{world.ns}/train"]),
                               ("job", f"job/{world.ns}/train", ["Preempted"]), ("job-after", f"job/{world.ns}/after", ["afterok"]),
                               ("history", "history", [f"{world.ns}/train"]), ("money", "money", [world.full("budget"), q, "(Europe/Berlin)"]), ("nodes-none", "nodes", ["lent"])):
        page.look()
        page.go(place)
        page.wait_text(*parts, selector="main")
        if name == "money":  # a month begins and ends by the clocks of its Budget's zone
            assert re.search(r" 1 [A-Z][a-z]+ to [A-Z][a-z]+,? (28|29|30|31) [A-Z]", page.text("main")), page.text("main")
        for look in LOOKS:
            found += problems(page, axe, name, look)
    assert not found, "\n".join(found)


# ---- beside the made-up cluster ----------------------------------------------------------------


CROWD = searched(10000, 100000)


@pytest.fixture
def crowd():
    """Jobs that wait, as many as CROWD says."""
    from page import Crowd
    need("sluice-controller")
    crowd = Crowd(CROWD, f"{PREFIX}-crowd")
    yield crowd
    crowd.end()


@pytest.mark.search
@pytest.mark.timeout(1800)
def test_a_crowd_of_waiting_jobs_is_few_elements(crowd, open_page, record_property):
    from page import elements, note_first_row, paints
    page = open_page(crowd.url)
    note_first_row(page)
    for what, ms in paints(page, f"{crowd.url}/#/jobs").items():
        record_property(what, ms)  # a fact for the reader of build/logs/e2e.xml, not a condition
        print(f"{what}: {ms}")
    page.wait("the first", lambda: (rows := page.rows()) and rows[0][0] == 1 and "team-0/train-000000" in rows[0][1])
    page.wait("how many there are", lambda: re.search(f"{CROWD:,}".replace(",", "[, ]?"), page.text()))
    most = [elements(page)]

    def is_at(end, number):
        return (rows := page.rows()) and rows[end][0] == number

    def at_the_end():
        page.run("const list = document.querySelector('[role=grid]'); list.scrollTop = list.scrollHeight;")
        most.append(elements(page))
        return is_at(-1, CROWD)
    page.wait("the last", at_the_end)
    page.wait("how many are ahead", lambda: len(rows := page.rows()) > 1 and re.search(f"{CROWD - 1:,}".replace(",", ",?"), rows[-2][1]))
    page.run("document.querySelector('[role=grid]').focus()")
    page.press("Home")
    page.wait("the first again", lambda: is_at(0, 1))
    for _ in range(20):  # a jump anywhere
        page.press(*["PageDown"] * 20)
        most.append(elements(page))
    page.press("End")
    page.wait("the last again", lambda: is_at(-1, CROWD))
    most.append(elements(page))
    assert max(most) < ELEMENTS_AT_MOST, most
