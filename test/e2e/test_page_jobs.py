"""Jobs on the page: the list with its groups, filter and columns, the Job beside it, and the Job's own page.

What is shown is held against what queuedjobs and summaries say, as Boss, who may do anything, and as Alice, who has
sluice-batch-user in one namespace (test_page.py). How many elements there are with a crowd of waiting Jobs is asked of a
real controller beside the made-up cluster of the benches; it trusts callers from this host."""

import re
from datetime import datetime
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import LATER, PREFIX, need
from objects import HOLD, job, jobs_path, searched
from sandbox.sandbox import ROOT
from test_page import (  # noqa: F401 (fixtures)
    EVIL,
    GROUP,
    LOOKS,
    PHONE,
    admin,
    asked,
    axe,
    boss,
    chromium,
    line,
    open_page,
    other,
    page,
    problems,
    tab_until,
)
from test_rights import RBAC, bind

ELEMENTS_AT_MOST = 2000
pytestmark = pytest.mark.flags("--loopback-needs-token")


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def by_clock(page, *sentences):
    """As the page writes them: with their times by the reader's clock."""
    return page.run('return import("/page/words.js").then((words) => arguments[0].map(words.onOwnClock))', sentences)


IN_LINE = re.compile(r"it is first in ClusterQueue \S+|\d+ Jobs? (is|are) ahead of it in ClusterQueue \S+")


def tells(page, world, name):
    """Does the page of the Job have each clause of what the API says of it? Its place in line the page tells in a row of its own."""
    [message] = by_clock(page, asked(world, f"{GROUP}/namespaces/{world.ns}/queuedjobs/{name}")["status"]["message"])
    shown = page.text()
    return all(clause in shown or IN_LINE.fullmatch(clause) for clause in message.split("; "))


def params(page):
    """Of the address: {name: value}."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).fragment.partition("?")[2]).items()}


def names(page):
    """Of the Jobs whose rows are drawn, from the top."""
    return page.run("""return [...document.querySelectorAll("main [role=row][id]")].sort((a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex"))
        .map((row) => row.querySelector("a")?.title).filter(Boolean)""")


def headings(page):
    return page.texts("main .row.group")


def listed(world, words="", token=None):
    """Names of the Jobs as the API lists them, which is the order of the line."""
    items = asked(world, f"{GROUP}/{words}", token)["items"]
    return [f"{j['metadata']['namespace']}/{j['metadata']['name']}" for j in items]


def badge_word(status):
    """What the state of these Jobs is called."""
    return {"Running": "Running"}.get(status["state"]) or {"ExceedsMaxQuota": "Over quota"}.get(status["reason"]) or ("First in line" if status.get("position") == 1 else "Waiting")


# ---- the list ------------------------------------------------------------------------------


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
            parts = [f"{meta['namespace']}/{meta['name']}", badge_word(status), str(status.get("position", ""))]
            if not all(part in text for part in parts):
                return False
        titles = page.run("return [...document.querySelectorAll('main [role=row][id]')].map((row) => row.lastChild.firstChild.title)")
        return sorted(titles) == sorted(sentences)
    page.wait("the line as the API has it, the whole sentence as a title", same)
    whys = page.run("return Object.fromEntries([...document.querySelectorAll('main [role=row][id]')].map((row) => [row.querySelector('a').title.split('/')[1], row.lastChild.innerText]))")
    flavor = line.world.full("any-q")  # its amount and its place have columns of their own
    assert whys["runs"].startswith(f"flavor {flavor}") and whys["secret"].startswith(f"quota of {flavor}: 2 of 2 in use") and "ahead" not in whys["mine"], whys
    page.go(f"job/{line.ns}/mine")
    page.wait("its whole sentence", lambda: tells(page, line.world, "mine"))

@pytest.fixture
def swept(line):
    """Two more Jobs of one generateName."""
    for _ in range(2):
        one = job("x", "q", {"cpu": "1"})
        del one["metadata"]["name"]
        one["metadata"]["generateName"] = "lr-"
        line.world.api.post(jobs_path(line.ns), one)
    line.world.wait("both to be queued", lambda: sum("/lr-" in name for name in listed(line.world, f"namespaces/{line.ns}/queuedjobs")) == 2)
    return line


def summary(world, ns, by, token):
    try:
        return asked(world, f"{GROUP}/{f'namespaces/{ns}/' if ns else ''}summaries?by={by}", token)
    except HTTPError as e:
        pytest.skip(f"this controller has no summaries: {e}")


@pytest.mark.parametrize("by", ["queue", "user", "sweep"])
@pytest.mark.parametrize("who", ["boss", "alice"])
def test_groups_have_the_counts_of_the_summary_and_unfold_into_their_jobs(swept, page, by, who):
    page.expected = (401, 403, 404)
    token, ns = (swept.boss, "") if who == "boss" else (swept.alice, swept.ns)
    summary(swept.world, ns, by, token)
    page.sign_in(token, ns, place=f"jobs?by={by}")

    def same():
        told = [g for g in summary(swept.world, ns, by, token)["groups"] if by != "sweep" or g["running"] + g["waiting"] > 1]
        texts = headings(page)
        return told and all(any(all(part in text for part in (g["key"].removeprefix("CronJob/"), f"{g['running']} running", f"{g['waiting']} waiting"))
                                for text in texts) for g in told[:5])
    page.wait("the groups with their counts", same)
    if by != "sweep":
        return
    alone = [g for g in summary(swept.world, ns, by, token)["groups"] if g["running"] + g["waiting"] == 1]
    page.wait("those that are alone", lambda: any("Jobs of no sweep" in text and f"{sum(g['waiting'] for g in alone)} waiting" in text for text in headings(page)))
    page.run("[...document.querySelectorAll('main .row.group')].find((row) => row.innerText.includes('lr-*')).click()")
    page.wait("its Jobs", lambda: [n for n in names(page) if n.startswith(f"{swept.ns}/lr-")] == [
        n for n in listed(swept.world, f"namespaces/{swept.ns}/queuedjobs", token) if "/lr-" in n])
    assert "lr-" in params(page)["turned"]
    if who == "alice":
        assert swept.other.ns not in page.markup() and "secret" not in page.markup()


def test_jobs_that_a_filter_leaves_are_grouped_as_well(line, page):
    """Those are counted by the page itself."""
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}&by=queue")
    page.wait("the queue with its counts", lambda: any(all(part in text for part in (line.q, "1 running", "3 waiting")) for text in headings(page)))
    page.wait("its Jobs", lambda: names(page) == listed(line.world, f"clusterqueues/{line.q}/queuedjobs"))
    page.run("document.querySelector('main .row.group').click()")
    page.wait("it to be folded", lambda: names(page) == [] and len(headings(page)) == 1)
    page.open(page.url)  # the address says which
    page.wait("it to be folded", lambda: names(page) == [] and len(headings(page)) == 1)


def test_the_filter_is_in_the_address_and_finds_what_the_api_finds(line, page):
    page.expected = (401, 404)
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")
    page.wait("the line", lambda: len(page.rows()) == 4)
    assert page.run("return document.getElementById('filter').value") == f"queue:{line.q}"
    for written, wanted, found in (
            (f"ns:{line.ns} state:waiting", {"namespace": line.ns, "state": "Waiting"}, [f"{line.ns}/mine", f"{line.ns}/big"]),
            (f"ns:{line.ns} MIN", {"namespace": line.ns, "text": "MIN"}, [f"{line.ns}/mine"]),
            (f"queue:{line.q} state:attention", {"clusterQueue": line.q, "state": "Attention"}, [f"{line.ns}/big"]),
            (f"queue:{line.q} reason:WaitingForQuota", {"clusterQueue": line.q, "reason": "WaitingForQuota"}, [f"{line.other.ns}/secret", f"{line.ns}/mine"]),
            (f"ns:{line.ns} label:sluice.dev/queue-name=q state:Running", {"namespace": line.ns, "labels": "sluice.dev/queue-name=q", "state": "Running"}, [f"{line.ns}/runs"]),
            ("nothing-is-called-so", {"text": "nothing-is-called-so"}, [])):
        page.type("#filter", written)
        page.press("Enter")
        page.wait(f"what {written} leaves", lambda w=wanted, f=found: params(page) == w and names(page) == f and (f or "No jobs match" in page.text("main")))
        assert page.focused()["id"] == "filter"
    page.run("history.back()")
    page.wait("what was before", lambda: names(page) == [f"{line.ns}/runs"] and "label:" in page.run("return document.getElementById('filter').value"))


def test_words_of_the_filter_are_suggested_and_chosen_by_key(line, page):
    page.expected = (401, 404)
    page.sign_in(line.boss, place=f"jobs?namespace={line.ns}&by=flat")
    page.wait("the line", lambda: len(page.rows()) == 3)
    page.run("document.getElementById('filter').focus()")
    page.press(" ", *"sta")
    page.wait("the word", lambda: page.texts("#filter-words [role=option] b") == ["state:"])
    page.press("ArrowDown", "Enter")
    page.wait("its values", lambda: "state:Running" in page.texts("#filter-words [role=option] b"))
    page.press(*"run", "ArrowDown", "Enter")
    page.wait("what runs", lambda: params(page).get("state") == "Running" and names(page) == [f"{line.ns}/runs"])
    assert params(page)["namespace"] == line.ns


def test_columns_and_order_are_in_the_address(line, page):
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")
    page.wait("the line", lambda: names(page) == listed(line.world, f"clusterqueues/{line.q}/queuedjobs"))
    usual = page.texts("[role=columnheader]")
    page.click("main .menu summary")
    page.click("main .menu input[value=user]")
    page.wait("the column", lambda: page.texts("[role=columnheader]") == [*usual, "User"])
    who = {f"{j['metadata']['namespace']}/{j['metadata']['name']}": j["spec"]["submittedBy"] for j in asked(line.world, f"{GROUP}/clusterqueues/{line.q}/queuedjobs")["items"]}
    page.wait("who submitted each", lambda: len(rows := page.rows()) == 4 and all(who[name] in text for name, (_, text) in zip(names(page), rows)))
    for direction, is_down in (("ascending", False), ("descending", True)):
        page.click("[role=columnheader]:nth-child(2) button")
        page.wait(f"the names, {direction}", lambda down=is_down: names(page) == sorted(who, reverse=down))
        assert page.run("return document.querySelector('[role=columnheader]:nth-child(2)').getAttribute('aria-sort')") == direction
    assert params(page)["sort"] == "-job" and params(page)["columns"].endswith(",user")
    page.click("[role=columnheader]:nth-child(2) button")
    page.wait("the order of the line", lambda: names(page) == listed(line.world, f"clusterqueues/{line.q}/queuedjobs"))


# ---- a Job beside the list -----------------------------------------------------------------


def test_a_job_beside_the_list_keeps_the_list_and_its_place(line, page):
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")
    order = page.wait("the line", lambda: len(shown := names(page)) == 4 and shown)
    page.run("window.theList = document.querySelector('main [role=grid]')")
    page.click(f'[role=row] a[title="{line.ns}/mine"]')
    page.wait_text(f"{line.ns}/mine", "1 Job ahead of it", "sluice move job/mine", "Other commands", selector=".panel")
    assert params(page)["job"] == f"{line.ns}/mine" and page.run("return theList.isConnected") and page.focused()["role"] == "grid"
    page.press("ArrowUp")
    page.wait_text(line.other.ns, selector=".panel h2")
    page.wait_text("First in line", selector=".panel .badge")
    assert params(page)["job"] == order[1]
    page.press("Escape")
    page.wait("the list alone", lambda: not page.text(".panel:not([hidden])") and "job" not in params(page))
    page.run("history.back()")
    page.wait("the Job again", lambda: order[1] in (page.text(".panel h2") or "") and names(page) == order)
    page.click('.panel [aria-label="Next Job"]')
    page.wait("the next one", lambda: page.text(".panel h2") == order[2])
    page.click(".panel h2 a")
    page.wait_text(f"Job {order[2]}", selector="main h2")
    page.run("history.back()")
    page.wait("the list with the Job", lambda: page.text(".panel h2") == order[2] and names(page) == order)


def test_alice_sees_beside_her_list_no_name_of_another_namespace(line, page):
    page.expected = (401, 403, 404)
    page.sign_in(line.alice, line.ns, "jobs")
    page.wait_text(f"{line.ns}/mine", selector="main")
    page.click(f'[role=row] a[title="{line.ns}/mine"]')
    page.wait_text("1 Job ahead of it", "History", "sluice move job/mine", selector=".panel")
    assert line.other.ns not in page.markup() and "secret" not in page.markup()


def test_what_would_start_it_earlier_is_what_the_review_says(line, page):
    """Each user may ask once in a while: Alice by the page, Boss here."""
    page.expected = (401, 403, 404)
    page.sign_in(line.alice, line.ns, f"job/{line.ns}/mine")
    page.wait_text("Other commands", selector="main")
    assert "sluice hold" not in page.text("main")
    page.click("main .help summary")
    page.wait_text(f"sluice hold job/mine -n {line.ns} --because 'REASON'", f"sluice when job/mine -n {line.ns} --why-not-earlier", selector="main")
    page.click("main .help > button")
    said = page.wait("an answer", lambda: (said := page.text("main .help [role=status]") or "") and "Nothing was changed" in said and said)

    def reviewed():
        """Questions of this kind are answered one at a time, and not too often."""
        try:
            return asked(line.world, f"{GROUP}/namespaces/{line.ns}/queuedjobs/mine/start")["status"]
        except HTTPError as e:
            if e.code != 429:
                raise
    told = page.wait("a review for Boss", reviewed)
    assert told["variants"] + told["notPlayed"], told
    assert f"Simulated {told['draws']} times each" in said and all(one["text"] in said for one in told["variants"] + told["notPlayed"]), (said, told)


CURE = re.compile(r'^WAIT_REASON\(\w+, "(\w+)", .*?, "((?:[^"\\]|\\.)*)"\)$', re.M | re.S)


def cures():
    """Of the controller: {reason: what is to be done}."""
    rows = (ROOT / "include/sluice/reasons.def").read_text().split("\n\nWAIT_REASON", 1)[1]
    return dict(CURE.findall("WAIT_REASON" + rows.replace("\n\t", " ").partition("\nSTOP_REASON")[0]))


def test_what_would_help_begins_with_the_cure_of_the_controller(line, page):
    told, written = cures(), (ROOT / "controller/page/assets/review.js").read_text()
    own = dict(re.findall(r'^  (\w+): "(.+)",$', written.partition("const CURES = ")[2].partition("}));")[0], re.M))
    assert len(own) > 10 and own == {reason: told[reason] for reason in own}
    page.sign_in(line.boss, place=f"job/{line.ns}/big")
    page.wait("the cure", lambda: (page.text("main .help") or "").startswith(told["ExceedsMaxQuota"]))
    assert "sluice hold" not in page.text("main .help")


def test_a_job_on_hold_says_how_it_goes_on(line, page):
    line.world.job("held", cpu=1, annotations={HOLD: "waiting for the data"})
    line.world.waits("held")
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}&job={line.ns}/held")
    page.wait_text("On hold", "once released", "waiting for the data", f"sluice release job/held -n {line.ns}", selector=".panel")


def test_what_it_waits_for_is_a_picture_and_a_list(line, page):
    world = line.world
    world.job("then", cpu=1, annotations={"sluice.dev/after": "afterok:mine"})
    world.job("last", cpu=1, annotations={"sluice.dev/after": "afterok:then"})
    world.waits("last")
    page.sign_in(line.boss, place=f"job/{line.ns}/last")
    drawn = "return [...document.querySelectorAll('main .graph a')].map((a) => a.getAttribute('href'))"
    page.wait("the Jobs before it", lambda: page.run(drawn) == [f"#/job/{line.ns}/then", f"#/job/{line.ns}/mine"])
    page.click("main [aria-label='Waiting for'] summary")
    page.wait_text("afterok:then", "afterok:mine", selector="main [aria-label='Waiting for']")
    told = asked(world, f"{GROUP}/namespaces/{line.ns}/queuedjobs/last")["status"]["after"]
    assert [item["jobs"] for item in told] == [["then"]]


def leaves(value, key=""):
    """(key, value) of each text, number and flag in an object."""
    if isinstance(value, dict):
        return [leaf for name, one in value.items() for leaf in leaves(one, name)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [(key, value)]


def test_the_queuedjob_is_there_as_yaml(line, page):
    page.sign_in(line.boss, place=f"job/{line.ns}/mine")
    page.wait_text("1 Job ahead", selector="main")
    page.click("main .yaml summary")
    wanted = {**asked(line.world, f"{GROUP}/namespaces/{line.ns}/queuedjobs/mine"), "status": {}}
    page.wait("each of its lines", lambda: (said := page.text("main .yaml")) and all(
        re.search(rf'^ *"?{re.escape(key)}"?: "?{re.escape(str(value))}"?$', said, re.M) for key, value in leaves(wanted)))


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
    page.wait("why it waits", lambda: any(f"{world.ns}/train" in t and "First in line" in t and "2 of 2 in use" in t for _, t in page.rows()))
    page.click(f'[role=row] a[href="#/job/{world.ns}/train"]')
    page.wait_text("First in line", f"{world.ns}/train", selector=".panel")
    page.click(".panel h2 a")
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
    page.click('nav a[href="#/jobs"]')
    page.click('main a[href^="#/history"]')
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
    row = page.wait("the column", lambda: [text for _, text in page.rows() if f"{line.ns}/mine" in text and re.search(r"~.*\d\d:\d\d\b", text)])
    assert row, page.rows()
    page.go(f"job/{line.ns}/mine")
    page.wait_text("Expected start", "90 % sure by ")

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


# ---- names with markup, by keyboard, on a phone, by night -----------------------------------


def test_what_looks_like_markup_stays_text_in_the_list_and_beside_it(line, page):
    page.expected = (400, 401, 404)
    line.world.job("evil", cpu=1, annotations={HOLD: EVIL, "example.com/note": EVIL}, labels={"evil": "x"})
    line.world.waits("evil")
    page.sign_in(line.boss)
    odd = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    for place, part in {f"jobs?clusterQueue={line.q}&job={line.ns}/evil": EVIL[:24], f"jobs?clusterQueue={line.q}&by=queue": EVIL[:24], f"jobs?text={odd}": "No jobs match",
                        f"jobs?job={odd}%2F{odd}&by=flat": "", f"jobs?columns={odd}&sort={odd}&by={odd}&turned={odd}&clusterQueue={line.q}": EVIL[:24],
                        f"jobs?reason={odd}&state={odd}": "", f"jobs?job=__proto__&columns=__proto__,constructor&clusterQueue={line.q}": "cannot be a name"}.items():
        page.go(place)
        page.wait("an answer", lambda p=part: (said := page.text("main")) and "Loading" not in said and p in said)
        found = page.run("""return [document.title, document.querySelectorAll("main script, main img, main iframe").length,
            [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
            [...document.querySelectorAll("a")].filter((a) => !(a.getAttribute("href") || "").startsWith("#")).length]""")
        assert "owned" not in found[0].split() and found[1:] == [0, 0, 0], (place, found)


def test_the_list_is_to_be_had_by_keyboard_alone(line, page):
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}&by=queue&at=1")
    page.wait("the line", lambda: len(names(page)) == 4)
    page.run("document.getElementById('content').focus()")
    way = tab_until(page, "the list", lambda at: at["role"] == "treegrid")
    assert {"filter"} <= {at["id"] for at in way} and any(at["text"] == "by user" for at in way) and any(at["text"].startswith("Columns") for at in way), way
    tab_until(page, "the way out of the list", lambda at: at["tag"] == "BODY" or at["id"] == "skip")
    tab_until(page, "the list, back", lambda at: at["role"] == "treegrid", "Shift+Tab")
    page.press("Home", "ArrowLeft")
    page.wait("the group to be folded", lambda: names(page) == [])
    page.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
    chosen = page.wait("the second Job", lambda: page.run("return document.querySelector('[role=row][aria-selected=true][aria-rowindex=\"4\"] a')?.title"))
    page.press("Enter")
    page.wait("the Job", lambda: page.text(".panel h2") == chosen)
    page.wait_text("History", selector=".panel")
    tab_until(page, "its own page", lambda at: at["href"] == f"#/job/{chosen}")
    tab_until(page, "the list, back", lambda at: at["role"] == "treegrid", "Shift+Tab")
    page.press("Escape")
    page.wait("the list alone", lambda: not page.text(".panel:not([hidden])"))
    page.press("Enter")
    page.wait("the Job", lambda: page.text(".panel h2") == chosen)
    tab_until(page, "its own page", lambda at: at["href"] == f"#/job/{chosen}")
    page.press("Enter")
    page.wait_text(f"Job {chosen}", selector="main h2")


@pytest.mark.search
@pytest.mark.timeout(1800)
def test_no_view_of_jobs_has_a_barrier_by_day_by_night_and_on_a_phone(line, page, axe):
    page.expected = (401, 404)
    line.world.job("then", cpu=1, annotations={"sluice.dev/after": "afterok:mine"})
    line.world.waits("then")
    page.sign_in(line.boss, place="jobs")
    found = []
    for name, place, part in (("jobs-groups", f"jobs?clusterQueue={line.q}&by=queue", f"{line.ns}/mine"), ("jobs-flat", f"jobs?clusterQueue={line.q}&columns=state,job,start,user,priority,queued,cost&sort=-job", f"{line.ns}/mine"),
                              ("jobs-beside", f"jobs?clusterQueue={line.q}&job={line.ns}/then", "As YAML"), ("jobs-none", "jobs?text=nothing-is-so", "No jobs match"), ("job-waits", f"job/{line.ns}/then", "As YAML")):
        page.look()
        page.go(place)
        page.wait_text(part, selector="main")
        for look in LOOKS:
            found += problems(page, axe, name, look)
    page.look()
    page.go(f"jobs?clusterQueue={line.q}")
    page.wait_text(f"{line.ns}/mine", selector="main")
    page.type("#filter", "state:")
    page.wait("suggestions", lambda: page.texts("#filter-words [role=option]"))
    found += problems(page, axe, "jobs-suggests", "light")
    page.click("main .menu summary")
    found += problems(page, axe, "jobs-columns", "dark")
    assert not found, "\n".join(found)


def test_on_a_phone_state_and_start_are_seen_and_a_job_is_a_page_of_its_own(line, page):
    page.look(**PHONE)
    page.sign_in(line.boss, place=f"jobs?clusterQueue={line.q}")
    page.wait("the start", lambda: any("First in line" in text and "secret" in text and re.search(r"~\S*\d\d:\d\d|soon", text) for _, text in page.rows()))
    inside = """const list = document.querySelector("main .list").getBoundingClientRect();
        return [...document.querySelectorAll("main [role=row][id] > *")].every((e) => e.getBoundingClientRect().right <= list.right)"""
    assert page.run(inside)
    page.click(f'[role=row] a[title="{line.ns}/mine"]')
    page.wait_text(f"Job {line.ns}/mine", "Waiting", "Expected start", selector="main")
    assert page.url.endswith(f"#/job/{line.ns}/mine")


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
    for what, ms in paints(page, f"{crowd.url}/#/jobs?by=flat").items():
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
    for by in "queue", "user":  # the same list, with headings in it
        page.go(f"jobs?by={by}")
        page.wait("the groups", lambda: headings(page) or page.rows())
        page.wait("Jobs", lambda: (page.run("document.querySelector('main .row.group[aria-expanded=false]')?.click()"), names(page))[1])
        for _ in range(10):
            page.run("const list = document.querySelector('.list'); list.scrollTop = Math.random() * list.scrollHeight;")
            most.append(elements(page))
    assert max(most) < ELEMENTS_AT_MOST, most
