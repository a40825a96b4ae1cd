"""The page, as a person has it: in a real Chromium, at the port of a leader that wants a token of everybody.

Boss may do anything in the cluster. Alice has sluice-batch-user in one namespace and nothing else. What is shown is held
against what the API server, the aggregated API and the ledger say. Each look at a page is also a picture, in build/page.
The list of Jobs, and one Job: test_page_jobs.py; queues, costs, nodes: test_page_queues.py; the plan: test_page_plan.py; the overview:
test_page_overview.py.

Where there is no Chromium all but the first tests are skipped, and say so."""

import gzip
import json
import re
import subprocess
import sys
import time
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from browser import Browser, PageError, lacks
from conftest import LATER, SOON, World
from objects import HOLD, has, ours, path_of, searched
from sandbox import wait_until
from sandbox.sandbox import BUILD, ROOT
from test_rights import admin, bind, get  # noqa: F401 (admin: World asks with a token)

sys.path.append(str(ROOT / "test" / "bench"))

GROUP = "/apis/visibility.sluice.dev/v1alpha1"
PICTURES = BUILD / "page"
PHONE = {"width": 390, "height": 844}
LOOKS = {"light": {}, "dark": {"dark": True}, "phone": PHONE, **searched({}, {"phone-dark": {**PHONE, "dark": True}})}
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


# From then on what the page asks is answered with 503, or not at all: where `part` is in the path.
AWAY = """((part, isSilent) => {
    window.really ||= window.fetch;
    window.fetch = (path, options) => !path.includes(part) ? really(path, options) : !isSilent ? Promise.resolve(new Response("{}", { status: 503 }))
        : new Promise((_, fail) => options.signal.addEventListener("abort", () => fail(options.signal.reason)));
})"""
# What is kept of a person: objects of the page that have this text as a value, or are of this namespace.
KEPT = """function (text, namespace) {
    const isHers = (o) => o.metadata?.namespace === namespace || Object.values(Object.getOwnPropertyDescriptors(o)).some(({ value }) => typeof value === "string" && value.includes(text));
    return this.filter((o) => { try { return isHers(o); } catch { return false; } }).slice(0, 9).map((o) => Object.keys(o).slice(0, 9).join());
}"""


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

    def sign_in(self, token, namespace="", place="overview"):
        self.go(place)
        self.wait("the question who it is", self.asks_who)
        self.give(token, namespace)
        self.wait("that the person is let in", lambda: not self.asks_who() and self.text("main").strip())

    def away(self, part, silent=False):
        self.run(f"{AWAY}(arguments[0], arguments[1])", part, silent)

    def kept(self, text, namespace):
        """Of a person, in the memory of the tab."""
        self.cdp("HeapProfiler.collectGarbage")
        found = self.cdp("Runtime.queryObjects", objectGroup="kept",
                         prototypeObjectId=self.cdp("Runtime.evaluate", expression="Object.prototype", objectGroup="kept")["result"]["objectId"])
        told = self.cdp("Runtime.callFunctionOn", objectId=found["objects"]["objectId"], functionDeclaration=KEPT, returnByValue=True,
                        arguments=[{"value": text}, {"value": namespace}])
        self.cdp("Runtime.releaseObjectGroup", objectGroup="kept")
        return told["result"]["value"]

    def sign_out(self):
        self.click("#me")
        self.click("#sign-out")

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


def asked(world, path, token=None):
    """What the controller answers at the port of the page."""
    with urlopen(Request(world.box.controller_url() + path, headers={"Authorization": f"Bearer {token or boss(world)}"}), timeout=SOON) as r:
        return json.loads(r.read())


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


def test_an_answer_that_is_the_same_is_not_sent_again(world):
    """What goes on with the clock makes no other answer; and what a browser holds is of use to nobody else."""
    world.queue(cpu=1)
    world.job("waits", cpu=2)
    world.waits("waits")
    q, there = world.full("q"), f"{GROUP}/namespaces/{world.ns}"

    def fetch(path, tag=None, token=None):
        """(status, ETag, body)"""
        request = Request(world.box.controller_url() + path, headers={"Authorization": f"Bearer {token or boss(world)}", "Accept-Encoding": "gzip",
                                                                     **({"If-None-Match": tag} if tag else {})})
        try:
            with urlopen(request, timeout=SOON) as r:
                assert r.headers["Cache-Control"] == "no-store", path
                return r.status, r.headers["ETag"], r.read()
        except HTTPError as e:
            assert e.headers["Cache-Control"] == "no-store", path
            return e.code, e.headers["ETag"], e.read()

    def kept(path):
        status, tag, body = fetch(path)
        assert status == 200 and tag and body, (path, status, tag)
        time.sleep(1.1)  # asOf is another then
        return fetch(path, tag)[0] == 304
    for path in (f"{there}/queuereports", f"{there}/queuedjobs/waits", f"{GROUP}/clusterqueues/{q}/week", f"{GROUP}/clusterqueues/{q}/usage?since=1h",
                 f"{GROUP}/budgetreports", "/page/session"):
        wait_until(f"{path} to be the same twice", lambda path=path: kept(path), SOON)
    status, tag, _ = fetch(f"{there}/queuereports")
    world.job("more", cpu=2)
    world.waits("more")
    other, body = wait_until("the Job to be counted", lambda: (lambda status, *told: status == 200 and told)(*fetch(f"{there}/queuereports", tag)), SOON)
    assert other != tag and body
    assert fetch(f"{there}/queuereports", other, "nonsense")[0] == 401, "who may not have it is not told that it is the same"


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
    page.sign_out()
    page.wait("the question who it is", page.asks_who)
    assert page.run("return JSON.stringify(sessionStorage)").count(line.boss) == 0 and line.q not in page.markup()


@pytest.mark.parametrize("silent", [False, True], ids=["503", "silent"])
def test_who_signs_out_leaves_nothing_on_the_screen_whatever_the_server_answers(line, page, silent):
    for place in "plan", "overview", f"queue/{line.q}", "jobs":
        page.sign_in(line.boss, place=place)
        page.wait_text(line.q, selector="main")
        page.away("/", silent)
        page.sign_out()
        page.wait("nothing of hers", lambda: line.ns not in page.text() and line.q not in page.text("main") and not page.run("return sessionStorage.token"))
        page.load("search")  # as if the tab were opened anew


def test_another_namespace_is_never_shown_the_jobs_of_the_one_before(line, page):
    page.sign_in(line.boss, place=f"plan?namespace={line.ns}")
    for place in "plan", "overview", f"queue/{line.q}", "jobs":
        page.load(f"{place}?namespace={line.ns}")
        page.wait_text(f"{line.ns}/mine" if place == "jobs" else "mine", selector="main")
        page.away(line.other.ns, silent=True)
        page.go(f"{place}?namespace={line.other.ns}")
        page.wait("the other name alone", lambda: line.other.ns in page.text("#me") and "mine" not in page.text("main"))
        assert "Shown is what was so" not in page.text()


def test_who_signs_out_is_forgotten_by_the_tab(line, page):
    page.expected = (401, 404)
    page.sign_in(line.boss, place="jobs")
    page.wait_text(f"{line.ns}/mine", selector="main")
    page.type("#filter", "user:")
    page.wait("suggestions", lambda: page.texts("#filter-words [role=option]"))
    for place in "queues", "money?by=queue", "jobs":
        page.go(place)
        page.wait_text(line.ns if place == "jobs" else line.q, selector="main")
    assert page.kept(line.boss, line.ns), "nothing of a person who is there is found"
    page.sign_out()
    page.wait("the question who it is", page.asks_who)
    page.wait("the tab to forget her", lambda: not page.kept(line.boss, line.ns))


def test_another_person_of_a_proxy_begins_anew(line, page):
    """The page asks again who it is; here the tab comes back to sight, and the proxy has let in somebody else."""
    page.sign_in(line.boss, place="overview")
    page.wait_text(line.q, selector="main")
    who = asked(line.world, "/page/session")
    page.run("""sessionStorage.removeItem("token"); const ask = window.fetch, clock = performance.now.bind(performance);
        performance.now = () => clock() + 3600000;
        window.fetch = (path, how) => path !== "/page/session" ? new Promise(() => {})
            : Promise.resolve(new Response(JSON.stringify({ ...arguments[0], user: "somebody:else", byProxy: true }), { status: 200 }));""", who)
    page.wait("the other one, and nothing of the first", lambda: "else" in page.text("#me") and line.q not in page.text("main"))


def test_alice_finds_no_name_of_another_namespace_anywhere(line, page):
    page.expected = (401, 403, 404)
    page.sign_in(line.alice, line.ns, "jobs")
    q, ns = line.q, line.ns
    # A page, and what is there when all of it is.
    for place, parts in {"overview": [q, f"{ns}/big"], "jobs": [f"{ns}/mine", f"{ns}/big", f"{ns}/runs"], f"job/{ns}/mine": ["1 Job ahead"], "queues": [q],
                         f"queue/{q}": [q], f"jobs?clusterQueue={q}": [f"{ns}/mine"], "plan": [q], "history": [f"{ns}/runs"], "money?by=queue": [q]}.items():
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
    page.expected = (401, 404)  # a Job that has ended is asked for
    page.sign_in(line.alice, place="jobs")
    page.wait_text(f"{line.ns}/mine")
    page.note_requests()
    seen, coming = set(), ["overview", "jobs", f"job/{line.ns}/mine", "queues", f"queue/{line.q}", "plan", "money", "history", "search?text=mine"]
    while coming:
        place = coming.pop()
        if place in seen or len(seen) > 60:
            continue
        seen.add(place)
        page.load(place)
        looks.clear()
        page.wait(f"{place} to be whole", is_whole)
        refused = [one["path"] for one in page.run("return asked") if one.get("status") == 403]
        assert not refused and not page.text("main [role=alert]"), (place, refused, page.text())
        coming += page.run("return [...document.querySelectorAll(\"a[href^='#/']\")].filter((a) => a.offsetParent).map((a) => a.getAttribute('href').slice(2))")
    assert {f"job/{line.ns}/mine", f"job/{line.ns}/big", "overview", "jobs", "queues", "plan", "money"} <= {place.partition("?")[0] for place in seen}, seen
    assert not any(place.startswith("nodes") for place in seen), seen


def test_a_place_that_was_left_draws_nothing_any_more(line, page):
    """Before it is known who she is; that is never answered here."""
    page.expected = (401, 403)
    page.sign_in(line.alice, line.ns, "jobs")
    page.wait_text(f"{line.ns}/mine")
    page.note_requests(held="/page/session")
    page.load(f"jobs?namespace={line.ns}")
    page.wait("the first question", lambda: page.run("return asked.length") == 1)
    page.run("location.hash = arguments[0]", f"#/history?namespace={line.ns}")
    page.wait("another place", lambda: page.run("return document.title").startswith("History"))
    assert [one["path"] for one in page.run("return asked")] == 2 * ["/page/session"]
    assert page.run("return [...document.querySelectorAll('nav a[aria-current=page]')].map((a) => a.getAttribute('href'))") == ["#/jobs"]


def test_boss_has_the_link_that_alice_lacks(line, page):
    page.sign_in(line.boss)
    page.wait_text(line.q)
    page.go(f"job/{line.ns}/mine")
    page.wait("a link to its queue", lambda: page.run("return [...document.querySelectorAll('main a')].some((a) => a.getAttribute('href') === `#/queue/${arguments[0]}`)", line.q))
    shown = page.run("return [...document.querySelectorAll('nav[aria-label=Pages] a')].filter((a) => a.offsetParent).map((a) => a.getAttribute('href'))")
    assert shown == [f"#/{p}" for p in ("overview", "jobs", "queues", "plan", "money", "nodes")]


# ---- names with markup ---------------------------------------------------------------------


def test_what_looks_like_markup_stays_text(line, page):
    page.expected = (400, 401, 404)
    line.world.job("evil", cpu=1, annotations={HOLD: EVIL, "example.com/note": EVIL})
    line.world.waits("evil")
    page.sign_in(line.boss)
    odd = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    for place, part in {f"job/{line.ns}/evil": EVIL[:24], f"jobs?clusterQueue={line.q}": EVIL[:24], f"job/{odd}/{odd}": "", f"queue/{odd}": "", odd: "",
                        f"jobs?labels={odd}": "", f"money?by=label&label={odd}&since={odd}": "", f"history?user={odd}": "", f"search?text={odd}": "",
                        f"overview?by={odd}&span={odd}": "", f"overview?namespace={odd}": "", f"plan?span={odd}": "",
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
    for _ in range(20 + page.run("return document.querySelectorAll('a, button, input, select, textarea, [tabindex]').length")):
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
    tab_until(page, "another page", lambda at: at["href"] == "#/queues" and at["text"] == "Queues", "Shift+Tab")
    page.press("Enter")
    page.wait("that one is on the other page", lambda: page.focused()["tag"] == "MAIN")
    page.wait_text(line.q)
    tab_until(page, "the search", lambda at: at["id"] == "find-text", "Shift+Tab")  # before the queues, of which there may be many
    page.press(*"big", "Enter")
    page.wait_text(f"{line.ns}/big", selector="main")


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
    page.go("overview")
    page.wait("the question who it is", page.asks_who)
    found = []
    for look in LOOKS:
        found += problems(page, axe, "sign-in", look)
    page.look()
    page.give(boss(world))
    for name, place, parts in (("overview", "overview", [q]), ("plan", "plan", [q]), ("queues", "queues", [q]), ("queue", f"queue/{q}", [q, "EUR", "; fullest quarter hour ", "As a table"]), ("queue-window", f"queue/{world.full('day')}", [world.full("window")]), ("jobs", f"jobs?clusterQueue={q}", [f"{world.ns}/train"]),
                               ("job", f"job/{world.ns}/train", ["Preempted"]), ("job-after", f"job/{world.ns}/after", ["afterok"]),
                               ("history", "history", [f"{world.ns}/train"]), ("money", "money", [world.full("budget"), q, "(Europe/Berlin)"]), ("nodes", "nodes", ["Nodes by flavor", "request"])):
        page.look()
        page.go(place)
        page.wait_text(*parts, selector="main")
        if name == "money":  # a month begins and ends by the clocks of its Budget's zone
            assert re.search(r" 1 [A-Z][a-z]+ to [A-Z][a-z]+,? (28|29|30|31) [A-Z]", page.text("main")), page.text("main")
        for look in LOOKS:
            found += problems(page, axe, name, look)
    assert not found, "\n".join(found)
