"""The past: what became of each run, also of Jobs that are deleted, with kills and restarts of the controller in it.

Alice may see her namespace and nothing else: `sluice history`, `sluice report` and kubectl tell her of her Jobs; an
admin is told of all. What they say is what the ledger has."""

import csv
import io
import itertools
import json
import os
import signal
import subprocess
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from conftest import LATER, RECOVERY, SOON, World, as_account, run_with, wait_leading
from objects import has, ours, path_of
from sandbox import ApiError
from test_rights import bind

GROUP = "/apis/visibility.sluice.dev/v1alpha1"


def kill(world):
    """kill -9; another one takes over."""
    world.box.kill("controller-one", signal.SIGKILL)
    world.box.start("controller-one")
    wait_leading(world.box, timeout=RECOVERY)
    world.box.wait_visible(LATER)


def booked(world, name):
    """Once it runs and the ledger has it, as of a run that has begun."""
    world.started(name, timeout=LATER)
    world.wait(f"the start of {name} to be in the books", lambda: world.transfers(name)[-1] == "COMMIT")


_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def past(box, program):
    """Made once, since all here only read it. boss: another team, whose Jobs count for more. train: preempted for a Job
    of that team, killed controller; run again, then done, then deleted. torn: deleted while it ran. long: goes on."""
    run_with(box, ())
    world = World(box, f"past{next(_numbers)}-{os.getpid() % 1000}")
    boss = World(box, f"{world.ns}-boss")
    box.wait_visible(LATER)
    name = world.queue(cpu=2, preemption={"withinClusterQueue": "LowerPriority"})
    boss.local("theirs", name)
    world.priorities(low=1)
    boss.priorities(high=10)
    world.create("priceplans", ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [name], "base": {"cpu": "36.00"}}))
    world.wait("the plan to be in force", lambda: has(world.api.get(path_of("priceplans", world.full("plan"))), "Active"))
    bind(world, "alice", "sluice-batch-user")
    config = world.box.account_kubeconfig("alice", world.ns, "alice")

    world.job("train", cpu=2, priority="low")
    booked(world, "train")
    boss.job("urgent", queue="theirs", cpu=2, priority="high")
    boss.started("urgent", timeout=LATER)
    kill(world)
    boss.finish("urgent")
    boss.finished("urgent")
    booked(world, "train")
    uid = world.get("train")["metadata"]["uid"]
    kill(world)
    world.finish("train")
    world.finished("train")
    world.empty()
    world.delete("train")
    world.job("torn", cpu=1, priority="low")
    booked(world, "torn")
    world.delete("torn")
    world.empty()
    world.job("long", cpu=1, priority="low")
    booked(world, "long")

    def sluice(*args):
        return program("sluice", *args, env={"KUBECONFIG": str(config)})

    def admin(*args):
        return program("sluice", *args, env={"KUBECONFIG": str(world.box.kubeconfig)})

    def kubectl(*args):
        return subprocess.run([world.box.tool("kubectl"), "--kubeconfig", config, *args], env=world.box.kubectl_env(), capture_output=True, text=True, timeout=SOON)
    alice = as_account(world.box, world.ns, "alice")
    # A right takes a while to be known, and so does the certificate of a new leader.
    world.wait("alice to be answered", lambda: alice.get(f"{GROUP}/namespaces/{world.ns}/histories") is not None, LATER)
    yield SimpleNamespace(world=world, boss=boss, ns=world.ns, uid=uid, sluice=sluice, admin=admin, kubectl=kubectl, api=alice)
    boss.end()
    world.end()
    assert box.process("controller-one").alive(), "the controller ended during these tests"


def answer(done):
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def by_run(said, *namespaces):
    return {(r["job"], r["attempt"]): r for r in said["runs"] if r["namespace"] in namespaces}


def runs_of_alice(past):
    said = answer(past.sluice("history", "-n", past.ns, "-o", "json"))
    assert (said["kind"], said["namespace"], said["more"]) == ("JobHistory", past.ns, False)
    runs = by_run(said, past.ns)
    assert len(runs) == len(said["runs"]), "of another namespace"
    assert set(runs) == {("train", 1), ("train", 2), ("torn", 1), ("long", 1)}
    first, second, torn, long = (runs[k] for k in (("train", 1), ("train", 2), ("torn", 1), ("long", 1)))
    assert (first["state"], first["reason"], first["uid"]) == ("Ended", "Preempted", past.uid)
    assert "preemptor" not in first, "of another namespace"
    assert first["queuedAt"] <= first["reservedAt"] <= first["startedAt"] <= first["stoppingAt"] <= first["stoppedAt"]
    assert first["lostSeconds"] > 0 and "outcome" not in first and first["holds"] == {"cpu": 2}
    assert second["queuedAt"] == first["stoppedAt"] and (second["reason"], second["outcome"]) == ("Finished", "Succeeded")
    assert (torn["reason"], torn["outcome"]) == ("Deleted", "Deleted")
    assert long["state"] == "Running" and "stoppedAt" not in long and "cost" not in long
    for r in first, second:
        assert abs(r["cpuHours"] * 3600 - 2 * r["runSeconds"]) < 0.01
        assert abs(float(r["cost"]) - r["runSeconds"] * 2 / 100) < 0.001, r
    assert [r["startedAt"] for r in said["runs"]] == sorted((r["startedAt"] for r in said["runs"]), reverse=True)


def runs_for_an_admin(past):
    said = by_run(answer(past.admin("history", "-A", "--since", "1h", "-o", "json")), past.ns, past.boss.ns)
    assert said["train", 1]["preemptor"] == f"{past.boss.ns}/urgent" and said["urgent", 1]["namespace"] == past.boss.ns
    rows = past.world.box.sql("select name, attempt, state, coalesce(preemptor, '') from sluice.run where namespace in "
                              f"('{past.ns}', '{past.boss.ns}') order by started_at")
    assert rows == [["train", "1", "Ended", f"{past.boss.ns}/urgent"], ["urgent", "1", "Ended", ""], ["train", "2", "Ended", ""],
                    ["torn", "1", "Ended", ""], ["long", "1", "Running", ""]]
    assert past.world.box.sql(f"select runs, outcome from sluice.job where job_uid = '{past.uid}'") == [["2", "Succeeded"]]


def story_of_one_job(past):
    done = past.sluice("history", "job/train", "-n", past.ns)
    assert done.returncode == 0 and "Preempted" in done.stdout and "the Job succeeded" in done.stdout, done
    assert past.boss.ns not in done.stdout and "urgent" not in done.stdout, done
    assert done.stdout.index("run 1") < done.stdout.index("run 2"), done
    absent = past.sluice("history", "job/nobody", "-n", past.ns)
    assert absent.returncode != 0 and "nobody" in absent.stderr, absent


def test_each_run_is_told_also_of_jobs_that_are_deleted(past):
    runs_of_alice(past)
    runs_for_an_admin(past)
    story_of_one_job(past)


def test_folded_it_is_the_same_runs(past):
    """As spans for a line of time: hers are of her namespace alone, an admin's of all."""
    path, queue = f"{GROUP}/namespaces/{past.ns}/histories", past.world.full("q")
    said = past.api.get(f"{path}?fold=true&since=1h")
    assert (said["kind"], said["namespace"], said["more"]) == ("RunSpans", past.ns, False), said
    runs = {(r["job"], r.get("reason")): r for r in past.api.get(f"{path}?since=1h")["runs"]}
    spans = {(s["job"], s.get("outcome")): s for s in said["spans"]}
    assert len(spans) == len(said["spans"]) and set(spans) == set(runs) == {("train", "Preempted"), ("train", "Finished"), ("torn", "Deleted"), ("long", None)}
    for key, span in spans.items():
        run = runs[key]
        assert (span["from"], span.get("until"), span.get("cost"), span["lostSeconds"]) == (run["startedAt"], run.get("stoppedAt"), run.get("cost"), run["lostSeconds"])
        assert (span["clusterQueue"], span["namespace"], span["sweep"], span["jobs"], span["runs"]) == (queue, past.ns, span["job"], 1, 1)
    assert past.boss.ns not in json.dumps(said) and "urgent" not in json.dumps(said), said
    everybodys = past.world.api.get(f"{GROUP}/histories?fold=true&since=1h&clusterQueue={queue}")["spans"]
    assert {(s["namespace"], s["job"]) for s in everybodys} == {(past.ns, job) for job in ("train", "torn", "long")} | {(past.boss.ns, "urgent")}
    assert [s["from"] for s in everybodys] == sorted(s["from"] for s in everybodys)
    for words, message in (("fold=maybe", 'fold is "maybe"; it must be true or false'), ("clusterQueue=q", "with fold=true only"), ("fold=true&job=train", "without fold=true")):
        with pytest.raises(ApiError) as e:
            past.api.get(f"{path}?{words}")
        assert e.value.status == 400 and message in e.value.message, e.value.message


def test_a_report_counts_what_the_runs_say(past):
    runs = answer(past.sluice("history", "-n", past.ns, "-o", "json"))["runs"]
    said = answer(past.sluice("report", "-n", past.ns, "--by", "queue", "--since", "1h", "-o", "json"))
    (row,), (total,) = said["rows"], said["totals"]  # once each, though one run goes on and has no bill
    assert (said["kind"], row["key"], row["currency"]) == ("UsageReport", past.world.full("q"), "EUR")
    assert row["ended"] == {"Preempted": 1, "Finished": 1, "Deleted": 1} and (row["starts"], row["running"], row["jobs"]) == (4, 1, 3)
    assert all(total[k] == row[k] for k in ("currency", "ended", "starts", "running", "jobs", "cost")), said
    ended = [r for r in runs if r["state"] == "Ended"]
    assert abs(float(row["cost"]) - sum(float(r["cost"]) for r in ended)) < 0.001
    assert row["cpuHours"] > sum(r["cpuHours"] for r in runs) - 0.0001, "the one that goes on counts, and was asked for first"
    waits = sorted(r["waitSeconds"] for r in runs)
    assert abs(row["waitP50Seconds"] - (waits[1] + waits[2]) / 2) < 0.002
    for by in "team", "user", "owner", "label=team":
        assert sum(r["starts"] for r in answer(past.sluice("report", "-n", past.ns, "--by", by, "-o", "json"))["rows"]) == 4
    since = "day" if (datetime.now() - timedelta(minutes=15)).date() == datetime.now().date() else "1h"  # all runs are of this day, but at midnight
    table = list(csv.DictReader(io.StringIO(past.sluice("report", "-n", past.ns, "--since", since, "-o", "csv").stdout)))
    assert sum(int(r["starts"]) for r in table) == 4, table


def core_seconds(usage):
    """What was held from the first step to the end of the last one, which goes on."""
    begin, end = (datetime.fromisoformat(usage[k].replace("Z", "+00:00")) for k in ("from", "until"))
    steps = next(f["units"] for f in usage["flavors"] if f["resource"] == "cpu")
    last = (end - begin).total_seconds() - usage["stepSeconds"] * (len(steps) - 1)
    assert 0 < last <= usage["stepSeconds"] and len(steps) <= 96
    return (sum(steps[:-1]) * usage["stepSeconds"] + steps[-1] * last) / 1000


def test_usage_of_a_queue_is_what_its_runs_held(past):
    queue, controller = past.world.full("q"), past.world.box.controller_api()
    usage = controller.usage(queue, since="1h")
    report = answer(past.admin("report", "-A", "--by", "queue", "--since", "1h", "-o", "json"))
    later = controller.usage(queue, since="1h")
    hours = sum(r["cpuHours"] for r in report["rows"] if r["key"] == queue)
    assert usage["clusterQueue"] == queue and usage["stepSeconds"] == 60
    # `long` goes on between the three, by up to a second of its core that `until` leaves out. A step is in thousandths of a core: of a
    # minute 0.06 core-seconds may be missing, and its runs began a few minutes ago.
    slack = 1 + 0.06 * 8
    assert hours > 0 and core_seconds(usage) - slack < hours * 3600 < core_seconds(later) + slack, (usage, hours, later)
    assert controller.usage(queue)["stepSeconds"] == 900
    with pytest.raises(ApiError) as e:
        controller.usage(queue, since="soon")
    assert e.value.status == 400


def test_who_may_see_one_namespace_is_told_of_no_other(past):
    for what, path in ("history", "histories"), ("report", "reports"):
        said = past.sluice(what, "-o", "json", "-n", past.ns)
        assert said.returncode == 0 and past.boss.ns not in said.stdout and "urgent" not in said.stdout, said
        refused = past.sluice(what, "-n", past.boss.ns)
        assert refused.returncode == 3 and f"{path}.visibility.sluice.dev" in refused.stderr, refused
        refused = past.sluice(what, "-A")
        assert refused.returncode == 3 and "--clusterrole=sluice-viewer" in refused.stderr, refused
        with pytest.raises(ApiError) as e:
            past.api.get(f"{GROUP}/{path}")
        assert e.value.status == 403
        raw = past.kubectl("get", "--raw", f"{GROUP}/namespaces/{past.ns}/{path}?since=1h")
        assert raw.returncode == 0, raw
        done = past.kubectl("get", path, "-n", past.ns, "-o", "json")
        assert done.returncode == 0, done
        plain = past.kubectl("get", path, "-n", past.ns)
        assert plain.returncode == 1 and f"sluice {what} prints it" in plain.stderr and "<unknown>" not in plain.stdout, plain
    # The API server asks for the schemas of what it aggregates now and then.
    past.world.wait("kubectl explain to know the words", lambda: "preempted for" in past.kubectl("explain", "histories.runs.preemptor").stdout, LATER)
    with pytest.raises(ApiError) as e:
        past.api.get(f"{GROUP}/namespaces/{past.ns}/histories?since=1y")
    assert e.value.status == 400 and 'since is "1y"' in e.value.message
