"""`sluice simulate --from-cluster`: what it says of a live queue is what the cluster then does, with times; and what it says to
who may not read everything."""

import json
import re
from datetime import datetime, timedelta, timezone

import pytest
from conftest import LATER, as_account
from objects import HOLD, TERMINATE_SECONDS, annotations, group, has, job, jobs_path, ours, path_of
from sandbox import wait_until
from test_rights import bind
from test_rules import FOLLOW, MIN, WITHIN
from test_windows import in_force

EXPECTED = "sluice.dev/expected-duration"
NEAR = 15  # seconds: a Job takes moments to start once it may, and a chain of them adds those up


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def lasting(seconds, **more):
    """What a Job says that takes as long as it says."""
    return {"seconds": seconds, "annotations": {EXPECTED: f"{seconds}s", **more}}


@pytest.fixture
def simulate(program, world):
    """simulate(args...): (events of this world's Jobs, summary, stderr)."""
    def run(*args, config=None):
        done = program("sluice", "simulate", "--from-cluster", *args, "-o", "json", env={"KUBECONFIG": str(config or world.box.kubeconfig)})
        assert done.returncode == 0, done
        *events, last = [json.loads(line) for line in done.stdout.splitlines()]
        return [e for e in events if e["job"].startswith(f"{world.ns}/")], last["summary"], done.stderr
    return run


def names(events, kind, **where):
    return [e["job"].split("/")[1] for e in events if e["event"] == kind and where.items() <= e.items()]


def opens_soon(world):
    """A window for queue "night" that is closed until a minute begins which is two to three minutes away; when that is."""
    opens = (datetime.now(timezone.utc) + timedelta(seconds=180)).replace(second=0, microsecond=0)
    closes = opens + timedelta(hours=2)
    calendar = world.full("nights")
    world.create("calendars", ours("Calendar", calendar, {"timeZone": "UTC", "open": [
        {"name": "soon", "days": ["Mon-Sun"], "from": f"{opens:%H:%M}", "to": f"{closes:%H:%M}"}]}))
    world.create("runpolicies", ours("RunPolicy", calendar, {"queues": [world.full("night")], "calendar": calendar, "atClose": {"action": "Suspend"}}))
    in_force(world, "runpolicies", "nights")
    return opens


def four_queues(world):
    """Runs, one that is preempted, one that is being stopped, one with fewer pods, one on hold, and those that wait behind them."""
    world.priorities(low=10, middle=20, high=100)
    for name in ("day", "slow"):
        world.queue(name, cpu=4 if name == "day" else 2, preemption=WITHIN)
    world.queue("part", cpu=2)
    world.queue("night", cpu=2)
    opens = opens_soon(world)
    world.job("n1", "night", cpu=2, **lasting(5))
    world.waits("n1")
    world.job("n2", "night", cpu=2, **lasting(5))

    world.job("run", "day", cpu=2, priority="middle", **lasting(110))  # so that "victim" is the one stopped, whichever started last
    world.job("victim", "day", cpu=2, priority="low", **lasting(60))
    world.job("s1", "slow", cpu=2, priority="low", pod={"terminationGracePeriodSeconds": 60}, pod_annotations={TERMINATE_SECONDS: "60"}, **lasting(30))
    world.job("small", "part", pods=4, completionMode="Indexed", **lasting(100, **{MIN: "1", FOLLOW: "true"}))
    world.started("run", "victim", "s1", "small")
    world.wait("the pod of s1 to run", lambda: world.all_running("s1"))  # one without a node would not linger
    world.job("tail", "part", cpu=2, **lasting(20))
    world.job("high", "day", cpu=2, priority="high", **lasting(60))
    world.stopped("victim")
    world.started("high")
    world.job("w1", "day", cpu=3, priority="low", **lasting(20))
    world.job("w2", "day", cpu=2, priority="low", **lasting(35))
    world.job("held", "day", cpu=1, annotations={HOLD: "not yet"}, priority="low")
    world.waits("w2", "WaitingForQuota")
    world.job("s2", "slow", cpu=2, priority="high", **lasting(20))
    world.wait_job("s1", "to be stopped, with a pod left", lambda j: j["spec"]["suspend"] and j["status"].get("terminating"))
    return opens


def came_too_late(world, opens):
    """What of four_queues() is over already, where the machine was that slow; None: it is all as it was made."""
    over = [n for n in ("run", "high", "small") if has(world.get(n), "Complete")]
    if datetime.now(timezone.utc) >= opens:
        over.append("the time until the window")
    if not world.get("s1")["status"].get("terminating"):
        over.append("the grace of s1")
    return f"the machine took so long that this was over before the question: {', '.join(over)}" if over else None


def outlasted(world, *names):
    """By how many seconds their pods took longer than they said, in all: so late may be what waits for them."""
    def one(obj):
        status = obj["status"]
        if "completionTime" not in status:
            return 0
        said = int(annotations(obj)[EXPECTED].removesuffix("s"))
        return max(0, (instant(status["completionTime"]) - instant(status["startTime"])).total_seconds() - said)
    return sum(one(world.get(name)) for name in names)


PLAYED = {"day": ["victim", "w2", "w1"], "slow": ["s2", "s1"], "part": ["tail"], "night": ["n1", "n2"]}
BEFORE = {"day": ["run", "high"], "slow": [], "part": ["small"], "night": []}  # what runs there when the question is asked


@pytest.mark.timeout(1200)
def test_what_is_said_is_what_happens(world, simulate):
    opens = four_queues(world)
    events, summary, said = simulate("--until", "20m")
    why = came_too_late(world, opens)
    if why:
        pytest.skip(why)
    starts = {e["job"].split("/")[1]: instant(e["at"]) for e in events if e["event"] == "Admitted"}
    assert {q: names(events, "Admitted", clusterQueue=world.full(q)) for q in PLAYED} == PLAYED, events
    assert starts["n1"] == opens and names(events, "Waiting") == ["held"], events
    assert set(names(events, "Finished")) == {*starts, "run", "high", "small"}, events
    assert f"{world.ns}/held" in summary["without_expected_end"] and f"{world.ns}/run" not in summary["without_expected_end"], summary
    assert int(re.search(r", that are being stopped: (\d+), ", said)[1]) >= 1, said  # in the cluster, where other tests have been

    before = len(world.order_of_starts())
    for name in starts:
        world.wait_job(name, "to start", lambda j: not j["spec"]["suspend"] and j["status"].get("startTime") or has(j, "Complete"), 2 * LATER)
    began = {name: instant(world.get(name)["status"]["startTime"]) for name in starts}
    came = world.order_of_starts()[before:]
    late = {name: round((began[name] - starts[name]).total_seconds()) for name in starts}
    print(f"seconds later than was said: {late}")
    assert {q: [name for name in came if name in PLAYED[q]] for q in PLAYED} == PLAYED
    for q, line in PLAYED.items():
        slow = outlasted(world, *BEFORE[q], *line)
        for place, name in enumerate(line, 1):
            assert -2 <= late[name] <= place * NEAR + slow, (name, late, slow)


def test_a_file_on_top_is_the_question_what_if(world, simulate, tmp_path):
    f = world.flavor()
    world.queue("q", flavors={f: 2})
    world.job("runs", cpu=2, **lasting(3000))
    world.started("runs")
    world.job("waits", cpu=2, **lasting(30))
    world.waits("waits", "WaitingForQuota")
    events, *_ = simulate("--until", "10m")
    assert names(events, "Admitted") == [] and names(events, "Waiting") == ["waits"]
    larger = ours("ClusterQueue", world.full("q"), {"namespaceSelector": {}, "resourceGroups": [group(["cpu"], {f: [4]})]})
    file = tmp_path / "larger.json"
    file.write_text(json.dumps(larger))
    events, *_ = simulate("--until", "10m", "-f", file)
    assert names(events, "Admitted", ms=0) == ["waits"], events
    assert str(world.clusterqueue()["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"]) == "2"
    assert world.get("waits")["spec"]["suspend"]


def test_a_job_without_an_expected_end_is_named(world, simulate):
    world.queue(cpu=2)
    world.job("endless", cpu=2)
    world.started("endless")
    world.job("next", cpu=2, **lasting(30))
    world.waits("next", "WaitingForQuota")
    events, summary, _ = simulate("--until", "10h")
    assert f"{world.ns}/endless" in summary["without_expected_end"] and names(events, "Admitted") == []
    events, summary, _ = simulate("--until", "10h", "--assume-duration", "1h")
    assert f"{world.ns}/endless" not in summary["without_expected_end"] and names(events, "Admitted") == ["next"], events
    [start] = [e for e in events if e["event"] == "Admitted"]
    assert 3000 * 1000 < start["ms"] <= 3600 * 1000


def test_earlier_runs_of_a_family_tell(world, simulate):
    """Three that took some seconds, whose Jobs are still there; then one that outlasts them, and one that waits."""
    world.queue(cpu=2)

    def make(seconds):
        made = job("eval-", "q", {"cpu": "2"}, seconds=seconds)
        made["metadata"]["generateName"] = made["metadata"].pop("name")
        return world.api.post(jobs_path(world.ns), made)["metadata"]["name"]

    def age(name, until=None):
        status = world.get(name)["status"]
        return ((instant(status[until]) if until else datetime.now(timezone.utc)) - instant(status["startTime"])).total_seconds()
    earlier = []
    for _ in range(3):
        earlier.append(make(4))
        world.finished(earlier[-1])
    longest = max(age(name, "completionTime") for name in earlier)  # the machine's own pace is in it
    running = make(3600)
    world.started(running)
    waiting = make(4)
    world.waits(waiting, "WaitingForQuota")
    wait_until("the run to be older than the others were", lambda: age(running) > longest + 5, LATER)
    events, summary, _ = simulate("--until", "1h")
    endless = summary["without_expected_end"]
    assert f"{world.ns}/{running}" in endless and f"{world.ns}/{waiting}" not in endless and names(events, "Admitted") == [], summary
    events, *_ = simulate("--until", "1h", "--assume-duration", "30m")
    [ended] = [e for e in events if e["event"] == "Finished" and e["job"].endswith(waiting)]
    [began] = [e for e in events if e["event"] == "Admitted"]
    assert 3000 <= ended["ms"] - began["ms"] <= 1000 * (longest + 2), events


def test_who_may_not_read_is_told_which_right_is_missing(world, program):
    world.queue(cpu=2)
    bind(world, "nobody", "sluice-batch-user")  # in one namespace
    config = world.box.account_kubeconfig("nobody", world.ns, "nobody")
    done = program("sluice", "simulate", "--from-cluster", env={"KUBECONFIG": str(config)})
    assert done.returncode == 3 and "you may not list resourceflavors" in done.stderr and "list of resourceflavors.sluice.dev" in done.stderr, done
    assert done.stdout == ""


def test_the_role_view_is_enough_for_a_play(world, simulate):
    world.queue(cpu=2)
    world.job("first", cpu=2, **lasting(300))
    world.started("first")
    bind(world, "viewer", "view", everywhere=True)
    viewer = as_account(world.box, world.ns, "viewer")
    world.wait("the rights to be known", lambda: all(viewer.get(path) is not None for path in ("/apis/batch/v1/jobs", "/api/v1/pods", path_of("clusterqueues"))))
    config = world.box.account_kubeconfig("viewer", world.ns, "viewer")
    events, _, said = simulate("--until", "10m", config=config)
    assert names(events, "Finished") == ["first"], events
    assert "you may not list nodes, so whether there are nodes" in said and "The right: list of nodes in all namespaces" in said, said


def test_nothing_is_written(world, simulate):
    world.queue(cpu=2)
    world.job("first", cpu=2, **lasting(300))
    world.started("first")
    paths = [path_of("clusterqueues", world.full("q")), f"/apis/batch/v1/namespaces/{world.ns}/jobs/first"]

    def specs():
        return [(o["metadata"]["generation"], o["spec"]) for o in map(world.api.get, paths)]
    before = specs()
    simulate("--until", "10m")
    assert specs() == before
