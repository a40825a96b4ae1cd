"""The plan of the page, and the axis of time that it has in common with the overview and the page of a Job.

Where bars and words stand is pure (axis.js) and is asked in the browser with made-up lanes. What the plan shows of the
real control plane is held against what timelines and histories say to the same person."""

import json
import re
from datetime import datetime, timedelta, timezone

import pytest
from conftest import LATER
from objects import has, ours, path_of
from test_page import (EVIL, GROUP, LOOKS, asked, axe, boss, chromium, described, line, open_page, other, page,  # noqa: F401 (fixtures)
                       problems, tab_until)
from test_rights import admin  # noqa: F401 (World asks with a token)

pytestmark = pytest.mark.flags("--loopback-needs-token")
LEFT, RIGHT = "\ue012", "\ue014"
NOON = 1796040000000  # Mon 30 Nov 2026, 12:00 UTC
MINUTE, HOUR = 60_000, 3_600_000
DAY_MS = 24 * HOUR


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


# ---- where things stand ----------------------------------------------------------------


def pure(page, expression, *args):
    """What axis.js says; every letter is 6 pixels wide."""
    return page.run(f"""return import("/page/axis.js").then((axis) => {{ const measure = (text) => 6 * text.length, [a, b, c, d] = arguments; return {expression}; }})""", *args)


@pytest.fixture
def axis(world, page):  # noqa: F811
    page.go("plan")
    page.wait("the page", lambda: page.run("return document.querySelector('main') !== null"))
    return page


def at(ms):
    return datetime.fromtimestamp(ms / 1000, timezone.utc).isoformat().replace("+00:00", "Z")


def a_bar(name, begin, end, **more):
    """An expected start, in minutes from noon."""
    return {"state": "Expected", "namespace": "team", "name": name, "sweep": name, "jobs": 1, "from": at(NOON + begin * MINUTE),
            "until": at(NOON + end * MINUTE), "requests": {"cpu": "2"}, **more}


def a_lane(name, *bars, **more):
    return {"clusterQueue": name, "running": 1, "waiting": 2, "windows": [], "prices": [], "reservations": [], "bars": list(bars), "more": 0, **more}


def model(*lanes, spans=(), back=1, ahead=5):
    return {"lanes": lanes, "spans": spans, "from": NOON - back * HOUR, "until": NOON + ahead * HOUR, "now": NOON}


def test_bars_of_a_row_never_overlap_and_each_is_in_the_first_row_that_is_free(axis):
    boxes = [{"x": x, "right": x + wide} for x, wide in ((0, 10), (5, 10), (10, 10), (12, 2), (0, 100), (20, 1))]
    assert pure(axis, "axis.pack(a)", boxes) == [0, 1, 0, 2, 3, 0]
    assert pure(axis, "axis.pack(a, 2).map((row) => row ?? -1)", boxes) == [0, 1, 0, -1, -1, 0]


def test_ticks_are_round_and_have_room(axis):
    axis.cdp("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")
    axis.load("plan")  # a document asks for its zone once
    for length, width in ((6 * HOUR, 1200), (DAY_MS, 1200), (7 * DAY_MS, 1200), (DAY_MS, 720), (10 * MINUTE, 300), (60 * DAY_MS, 1200)):
        ticks = pure(axis, "axis.ticks(a, a + b, c)", NOON, length, width)
        places = [(t["at"] - NOON) / length * width for t in ticks]
        assert 3 <= len(ticks) <= width / 64 + 1, (length, ticks)
        assert all(b - a >= 63 for a, b in zip(places, places[1:])), (length, places)
        assert all(t["isDay"] == bool(re.fullmatch(r"[A-Z][a-z]{2} \d+ [A-Z][a-z]{2}", t["words"])) for t in ticks), ticks
    turn = pure(axis, "axis.ticks(a, a + b, 1200)", 1792879200000, 2 * DAY_MS)  # from 25 Oct 2026 on, of which an hour comes twice
    assert [t["words"] for t in turn][:10] == ["Sun 25 Oct", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "Mon 26 Oct", "03:00"], turn


def test_prices_windows_and_bars_are_said_in_words(axis):
    assert [pure(axis, "axis.priceWords({ factor: a })", f) for f in (0.4, 0.75, 1.5, 0)] == ["60 % cheaper", "25 % cheaper", "50 % dearer", "100 % cheaper"]
    night = {"open": [{"from": at(NOON), "until": at(NOON + 4 * HOUR)}]}
    day = {"open": [{"from": at(NOON + HOUR), "until": at(NOON + 9 * HOUR)}]}
    assert pure(axis, "axis.openOf(a)", {"windows": [night, day]}) == [{"from": NOON + HOUR, "until": NOON + 4 * HOUR}], "all windows bind"
    assert pure(axis, "axis.openOf(a)", {"windows": [{**night, "calendarKnown": False}]}) == [], "one without a Calendar is closed"
    steps = [{"from": at(NOON - 9 * HOUR), "factor": "1"}, {"from": at(NOON + HOUR), "factor": "0.4"}, {"from": at(NOON + 2 * HOUR), "factor": "0.4"},
             {"from": at(NOON + 3 * HOUR), "factor": "1"}]
    assert pure(axis, "axis.pricesOf(a, b)", {"prices": [{"plan": "power", "steps": steps}]}, NOON + 5 * HOUR) == [
        {"from": NOON + HOUR, "until": NOON + 3 * HOUR, "factor": 0.4, "plan": "power"}]

    def words(bar, **lane):
        return pure(axis, "axis.itemWords(axis.lanesOf(a)[0].items[0], a.now)", model(a_lane("q", *([bar] if bar else []), **lane)))
    assert words(a_bar("train", 30, 90, p90=at(NOON + 40 * MINUTE))) == [
        "team/train", "expected start 12:30, 90 % sure by 12:40, expected to end 13:30, 2 cpu"]
    assert words(a_bar("train", 30, 90, certain=True)) == ["team/train", "expected start 12:30, expected to end 13:30, 2 cpu"]
    assert words(a_bar("lr-0", 30, 90, jobs=36, sweep="lr-", p90=at(NOON + DAY_MS))) == [
        "lr- × 36, in team: 36 Jobs, the first is lr-0", "expected start 12:30, 90 % sure of all by Tue 12:00, expected to end 13:30, 2 cpu"]
    assert words({**a_bar("old", -90, 0, state="Running", stopsAt=at(NOON + HOUR), deadline=at(NOON + 2 * HOUR)), "until": None}) == [
        "team/old", "running since 10:30, end not known, its window stops it at 13:00, deadline 14:00, 2 cpu"]
    assert words(None, reservations=[{"name": "demo", "from": at(NOON + HOUR), "until": at(NOON + 2 * HOUR)}]) == ["demo", "AdvanceReservation, 13:00-14:00"]


def test_a_lane_of_200_bars_stays_readable(axis):
    many = [a_bar(f"train-{n:03d}", n % 7, 200 + n, state="Running" if n < 20 else "Expected") for n in range(200)]
    told = pure(axis, "axis.layout(a, { width: 1100, measure })", model(a_lane("q", *many, more=80), a_lane("idle")))
    lane, idle = told["lanes"]
    drawn = lane["items"]
    assert len(drawn) + len(lane["hidden"]) == 200 and max(i["row"] for i in drawn) == 13 and told["height"] < 420
    assert [i["state"] for i in drawn].count("Running") == 9, "what runs leaves rows to what is expected"
    assert lane["more"] == f"and {200 - len(drawn) + 80} more Jobs" and idle["more"] == ""
    assert lane["y"] + lane["height"] < idle["y"]
    low = pure(axis, "axis.layout(a, { width: 1100, measure, height: 200 })", model(a_lane("q", *many), a_lane("idle")))
    assert low["height"] <= 200 and max(i["row"] for i in low["lanes"][0]["items"]) < 8, low["height"]
    crowd = pure(axis, "axis.layout(a, { width: 1100, measure, height: 300 })", model(*(a_lane(f"q{n:02d}", a_bar("x", 1, 60)) for n in range(40))))
    assert crowd["height"] <= 300 and len(crowd["lanes"]) + len(crowd["left"]) == 40 and crowd["left"]


def test_a_run_that_goes_on_is_shown_once(axis):
    runs = a_bar("train", -30, 60, state="Running")
    was = {"clusterQueue": "q", "namespace": "team", "job": "train", "sweep": "train", "jobs": 1, "runs": 1, "from": at(NOON - 30 * MINUTE)}
    ended = {**was, "job": "old", "until": at(NOON - 20 * MINUTE), "outcome": "Failed"}
    elsewhere = {**ended, "clusterQueue": "gone"}
    lanes = pure(axis, "axis.lanesOf(a)", model(a_lane("q", runs), spans=[was, ended, elsewhere]))
    assert [(lane["name"], [(i["kind"], i["name"]) for i in lane["items"]]) for lane in lanes] == [
        ("q", [("is", "train"), ("was", "old")]), ("gone", [("was", "old")])]


OVERLAPS = """const { timeline } = await import("/page/timeline.js"), model = arguments[0], main = document.querySelector("main");
    const element = timeline({ ...model, label: "made up", height: Infinity });
    main.replaceChildren(element);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const texts = [...element.querySelectorAll(".view text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
    const svg = element.querySelector(".view svg").getBoundingClientRect(), isOver = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
    const bad = texts.flatMap(([text, box], i) => texts.slice(i + 1).filter(([, other]) => isOver(box, other)).map(([other]) => [text, other]));
    const out = texts.filter(([, box]) => box.left < svg.left - 1 || box.right > svg.right + 1).map(([text]) => text);
    const bars = [...element.querySelectorAll(".view .item > .bar")].map((b) => b.getBoundingClientRect()), over = bars.flatMap((a, i) => bars.slice(i + 1).filter((b) => isOver(a, b)));
    return { texts: texts.length, bad, out, over: over.length, elements: element.querySelectorAll("*").length };"""


@pytest.mark.parametrize("ahead", [4, 16, 120])
@pytest.mark.parametrize("width", [1280, 390])
def test_labels_and_bars_never_overlap(axis, ahead, width):
    axis.look(width, 900)
    spread = ahead * 60
    lanes = []
    for q in range(4):
        bars = [a_bar(f"train-resnet-{n * 7919 % 997}", n * 7919 % spread, n * 7919 % spread + 20 + n * 31 % (spread // 2), jobs=1 + 35 * (n % 9 == 0), sweep="sweep-",
                      p90=at(NOON + (n * 7919 % spread + 15) * MINUTE)) for n in range(50)]
        bars += [a_bar(f"run-{n}", -n * 17 % 60 - 60, 5 + n * 13, state="Running") for n in range(6)]
        nights = [{"from": at(NOON + n * DAY_MS + 7 * HOUR), "until": at(NOON + n * DAY_MS + 18 * HOUR)} for n in range(-1, 7)]
        steps = [{"from": at(NOON + n * DAY_MS + k * HOUR), "factor": f} for n in range(-1, 7) for k, f in ((7 + q, "0.4"), (18, "1"))]
        lanes.append(a_lane(f"queue-{q}", *bars, windows=[{"policy": "nights", "calendarKnown": True, "open": nights}], prices=[{"plan": "power", "steps": steps}], more=80))
    spans = [{"clusterQueue": f"queue-{n % 4}", "namespace": "team", "job": f"old-{n}", "sweep": "old-", "jobs": 1 + n % 3, "runs": 1, "from": at(NOON - (n % 60 + 1) * MINUTE),
              "until": at(NOON - (n % 60) * MINUTE // 2), "outcome": ("Finished", "Failed", "Preempted")[n % 3]} for n in range(200)]
    told = axis.run(f"return (async () => {{ {OVERLAPS} }})()", {"lanes": lanes, "spans": spans, "from": NOON - HOUR, "until": NOON + ahead * HOUR, "now": NOON})
    assert (told["bad"], told["out"], told["over"]) == ([], [], 0) and 20 < told["texts"], told
    assert told["elements"] < 2000, told["elements"]


def test_names_on_the_axis_are_text(axis):
    told = axis.run(f"return (async () => {{ {OVERLAPS} }})()", {**model(a_lane("q", a_bar(EVIL, 30, 290, sweep=EVIL), a_bar("x", 30, 200, jobs=3, sweep=EVIL))), })
    assert told["texts"] and axis.run("return [document.querySelectorAll('main img, main script').length, document.title.includes('owned')]") == [0, False]


# ---- what is shown is what is so ---------------------------------------------------------


def bars(page):  # noqa: F811
    """Those that are drawn: {(kind, "namespace/name")}: from in ms."""
    keys = page.run("return [...document.querySelectorAll('sluice-timeline .item')].map((e) => e.dataset.key).filter(Boolean)")
    return {tuple(key.split(" ")[:2]): float(key.split(" ")[2]) for key in keys}


def rows(page):  # noqa: F811
    """Of the folded table, which is opened."""
    return page.run("""const folded = document.querySelector("sluice-timeline details"); if (!folded) return []; folded.open = true;
        return [...folded.querySelectorAll("tbody tr")].map((r) => [...r.cells].map((c) => c.innerText.trim()))""")


def told_of(world, token, scope, q):
    """What timelines and histories say: as bars() has it."""
    lanes = asked(world, f"{GROUP}/{scope}timelines?until=120h&clusterQueue={q}", token)["lanes"]
    spans = asked(world, f"{GROUP}/{scope}histories?fold=true&since=48h&clusterQueue={q}", token)["spans"]
    found = {("will" if b["state"] == "Expected" else "is", f"{b['namespace']}/{b['name']}"): 1000 * instant(b["from"]) for lane in lanes for b in lane["bars"]}
    return {**found, **{("was", f"{s['namespace']}/{s['job']}"): 1000 * instant(s["from"]) for s in spans if s.get("until")}}


def is_told(shown, told):
    """Runs at the moment, expected starts to the quarter of an hour: one of the two may have been asked a while before."""
    return shown.keys() == told.keys() and all(abs(shown[k] - told[k]) <= (15 * MINUTE if k[0] == "will" else 1000) for k in told)


def of_queue(page, line):  # noqa: F811
    return {key: ms for key, ms in bars(page).items() if key[1].partition("/")[0] in (line.ns, line.other.ns)}


def test_the_plan_is_what_timelines_and_histories_say(line, page):  # noqa: F811
    page.sign_in(line.boss, place="plan?span=7d")
    page.run("window.sinceTheBeginning = true")

    def same():
        told = told_of(line.world, line.boss, "", line.q)
        return is_told(of_queue(page, line), told) and told
    told = page.wait("the plan as the API has it, with starts to come", lambda: (told := same()) and any(kind == "will" for kind, _ in told) and told)
    assert ("is", f"{line.ns}/runs") in told, told
    shown = page.wait("the same as a table", lambda: [r for r in rows(page) if r[1] == line.q])
    assert {r[0].split()[0] for r in shown if "/" in r[0]} == {name for _, name in told}
    assert all(r[3] for r in shown) and [r[2] for r in shown if r[0] == f"{line.ns}/runs"] == ["Running"], shown
    lane = page.text("sluice-timeline .lanes")
    assert line.q in lane and "1 running" in lane and "3 waiting" in lane, lane
    line.world.finish("runs")
    line.world.finished("runs")
    page.wait("the plan after its end", lambda: (told := same()) and ("was", f"{line.ns}/runs") in told and ("is", f"{line.other.ns}/secret") in told)
    assert [r[2] for r in rows(page) if r[0] == f"{line.ns}/runs"] == ["Finished"]
    assert page.run("return window.sinceTheBeginning === true")


def test_alice_has_her_lanes_and_others_are_a_number(line, page):  # noqa: F811
    page.sign_in(line.alice, line.ns, "plan?span=7d")
    there = f"namespaces/{line.ns}/"
    page.wait("her plan as the API has it", lambda: (told := told_of(line.world, line.alice, there, line.q)) and is_told(bars(page), told))
    page.wait_text("others: 1 Job", "Others have 1 Job in these queues.", selector="main")
    assert {name.partition("/")[0] for _, name in bars(page)} == {line.ns}
    for place in ("plan?span=7d", "plan?span=24h", "plan?span=6h&at=2026-01-01T00:00:00Z", f"job/{line.ns}/mine"):
        page.go(place)
        page.wait("an answer", lambda: page.run("return document.querySelector('sluice-timeline, .empty') !== null"))
        rows(page)
        markup = page.markup()
        assert line.other.ns not in markup and "secret" not in markup, place
    assert all("/budgetreports " in said for said in page.complaints()), "whether she may see queues is asked once, nothing else is refused"


def test_windows_prices_and_reservations_are_behind_their_lane(world, other, page):  # noqa: F811
    described(world, other)
    day = world.full("day")
    begin = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=2)
    world.create("advancereservations", ours("AdvanceReservation", world.full("demo"), {
        "clusterQueue": day, "flavors": [{"name": world.full("shared"), "resources": [{"name": "cpu", "amount": 1}]}],
        "from": f"{begin:%Y-%m-%dT%H:%M:%SZ}", "until": f"{begin + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"}))
    world.wait("the reservation to be accepted", lambda: has(world.api.get(path_of("advancereservations", world.full("demo"))), "Accepted"), LATER)
    page.sign_in(boss(world), place="plan?span=7d")

    def lane_of(q):
        return asked(world, f"{GROUP}/timelines?until=120h&clusterQueue={q}")["lanes"][0]

    def moments(spans):
        return page.run('return import("/page/words.js").then((words) => arguments[0].map((pair) => pair.map(words.moment)))', [[s["from"], s["until"]] for s in spans])
    lane = lane_of(day)
    opens, kept = moments(lane["windows"][0]["open"]), moments(lane["reservations"])
    assert len(opens) > 1 and len(kept) == 1, lane

    def said():
        mine = [r for r in rows(page) if r[1] == day]
        found = [[r[3], r[5]] for r in mine if r[0] == "Window open"]
        return found and all(pair in opens for pair in found) and [[r[3], r[5]] for r in mine if r[0].startswith(world.full("demo"))] == kept
    page.wait("windows and the reservation in the table", said)
    cheaper = [r for r in rows(page) if r[0] == "60 % cheaper" and r[1] in (world.full("q"), "all")]
    steps = lane_of(world.full("q"))["prices"][0]["steps"]
    begins = [pair[0] for pair in moments([{"from": s["from"], "until": s["from"]} for s in steps if s["factor"] == "0.4"])]
    to_come = [r[3] for r in cheaper[1:]]  # the first may be the one of now, which begins when it is asked for
    assert to_come and set(to_come) <= set(begins)
    picture = page.text("sluice-timeline .view")
    assert "60 % cheaper" in picture and re.search(r"\bopens?\b", picture), picture


STEP = "[...document.querySelectorAll('main .plan-controls a')].find((a) => a.innerText.includes(arguments[0]))"


def step(page, word):  # noqa: F811
    """Follows a link of the plan until what it leads to is drawn: then it leads further."""
    link = f"return {STEP}?.getAttribute('href') ?? ''"
    href = page.wait(word, lambda: (said := page.run(link, word)) and not page.url.endswith(said) and said)
    page.run(f"{STEP}.click()", word)
    page.wait(f"what {word} leads to", lambda: page.url.endswith(href) and page.run(link, word) != href)


def test_earlier_later_and_back(line, page):  # noqa: F811
    page.sign_in(line.boss, place=f"plan?span=6h&namespace={line.ns}")
    page.wait_text("Now and next 4 hours", selector="main")
    page.run(f"{STEP}.click()", "7 days")
    page.wait_text("Now and next 5 days", selector="main")
    step(page, "Earlier")
    assert re.search(r"at=20\d\d", page.url) and "span=7d" in page.url
    page.wait("which days", lambda: re.search(r"\d\d:\d\d to \w+ \d+ \w+ (20\d\d )?\d\d:\d\d", page.text("main")))
    step(page, "Earlier")
    before = page.url
    step(page, "Earlier")
    page.wait_text(f"No Job of {line.ns} ran in this time.", selector="main")
    page.run("history.back()")
    page.wait("the stretch before", lambda: page.url == before)
    step(page, "Now")
    page.wait_text("Now and next 5 days", selector="main")
    for n in range(1, 12):
        step(page, "Later")
        if not page.run(f"return {STEP} !== undefined", "Later"):
            break
    assert n < 5, "the future ends in a week"


def test_a_job_has_the_axis_with_its_runs_and_its_expected_start(line, page):  # noqa: F811
    page.expected = (401, 404)  # of a Job that has ended
    page.sign_in(line.boss, place=f"job/{line.ns}/mine")

    def known():
        start = asked(line.world, f"{GROUP}/namespaces/{line.ns}/queuedjobs/mine")["status"].get("start", {}).get("p50")
        shown = bars(page).get(("will", f"{line.ns}/mine"))
        return start and shown and abs(shown - 1000 * instant(start)) < 15 * MINUTE
    page.wait("its expected start on the axis", known)
    page.go(f"job/{line.ns}/runs")
    page.wait("its run on the axis", lambda: ("is", f"{line.ns}/runs") in bars(page))
    line.world.finish("runs")
    line.world.finished("runs")
    [run] = page.wait("the run in the books", lambda: [r for r in asked(line.world, f"{GROUP}/namespaces/{line.ns}/histories?job=runs")["runs"] if r.get("stoppedAt")])
    page.wait("the run that was", lambda: abs(bars(page).get(("was", f"{line.ns}/runs"), 0) - 1000 * instant(run["startedAt"])) <= 1000)
    assert page.run("return [...document.querySelectorAll('sluice-timeline .was a, sluice-timeline a.was')].length") == 0, "it leads nowhere else"


# ---- by keyboard, by night, on a phone -----------------------------------------------------


def test_a_bar_is_had_by_keyboard_and_keeps_the_focus(line, page):  # noqa: F811
    page.sign_in(line.boss, place="plan?span=7d")
    page.wait("bars", lambda: ("is", f"{line.ns}/runs") in bars(page))
    tab_until(page, "the picture", lambda at: at["role"] == "group")
    page.press(RIGHT)
    focus = "return document.activeElement.dataset.key ?? ''"
    for _ in range(40):
        if f"is {line.ns}/runs " in page.run(focus):
            break
        page.press(RIGHT)
    words = page.run("return [document.activeElement.getAttribute('aria-label'), document.querySelector('sluice-timeline .tip').innerText]")
    assert words[0].startswith(f"{line.ns}/runs: running since ") and f"{line.ns}/runs" in words[1], words
    line.world.job("early", cpu=1, priority=None)
    page.wait("another bar", lambda: any(name.endswith("/early") for _, name in bars(page)) or "4 waiting" in page.text("main"))
    assert f"is {line.ns}/runs " in page.run(focus), "the focus went to another Job"
    page.press("Escape")
    assert page.run("return document.querySelector('sluice-timeline .tip').hidden")
    page.press("Enter")
    page.wait("the Job", lambda: page.url.endswith(f"#/job/{line.ns}/runs"))


def test_a_phone_has_now_in_sight(line, page):  # noqa: F811
    page.look(390, 844)
    page.sign_in(line.boss, place="plan?span=24h")
    page.wait("bars", lambda: bars(page))
    seen = page.run("""const view = document.querySelector("sluice-timeline .view"), box = view.getBoundingClientRect(), now = view.querySelector("line.present").getBoundingClientRect();
        return [box.left, now.left, box.right, document.documentElement.scrollWidth, view.scrollWidth > view.clientWidth]""")
    assert seen[0] < seen[1] < seen[2] and seen[3] <= 390 and seen[4], seen
    page.run("document.querySelector('sluice-timeline .view').scrollLeft = 7; window.renders = 0; new MutationObserver(() => window.renders++).observe(document.querySelector('sluice-timeline .view'), { subtree: true, attributes: true, childList: true })")
    page.wait("that it was drawn anew", lambda: page.run("return window.renders") > 0)
    assert page.run("return document.querySelector('sluice-timeline .view').scrollLeft") == 7, "it is where somebody scrolled to"


def test_the_plan_has_no_barrier(world, other, page, axe):  # noqa: F811
    described(world, other)
    page.sign_in(boss(world), place="plan?span=7d")
    found = []
    for name, place in (("plan-week", "plan?span=7d"), ("plan", "plan?span=24h"), ("job-axis", f"job/{world.ns}/train")):
        page.look()
        page.go(place)
        page.wait("the axis", lambda: bars(page) or page.run("return document.querySelector('sluice-timeline .item') !== null"))
        rows(page)
        for look in LOOKS:
            found += problems(page, axe, name, look)
    assert not found, "\n".join(found)
    assert json.dumps(page.complaints()) == "[]"
