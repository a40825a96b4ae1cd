"""What would make a Job start earlier, and what a change of a queue would do (docs/when.md, docs/simulate.md): asked through the API server,
by a tenant with one RoleBinding and by an admin; and that what was told comes true when it is done."""

import copy
import datetime
import json
import threading
import time
from urllib.parse import quote

import pytest
from conftest import LATER, World, as_account, box_without_past
from objects import ours
from sandbox import ApiError, wait_until
from test_ask import GROUP
from test_rights import bind

EXPECTED = "sluice.dev/expected-duration"
HOUR = 3600


def about_an_hour(seconds):
    """An owner's word is a guess: two of three runs take 0.6 to 1.6 times what was asked, and of a few plays one is the
    middle. Four and a half standard deviations."""
    return 0.1 * HOUR < seconds < 10 * HOUR


def starts_now(variant):
    """How much earlier that is goes by the variants' own plays of the Job as it is; its `start` is of other ones."""
    return abs(instant(variant["start"]["p50"]) - time.time()) < 300 and about_an_hour(variant["earlierSeconds"])


@pytest.fixture(scope="module")
def box():
    yield from box_without_past("whatif")


@pytest.fixture
def api_is_there(world):
    world.box.wait_visible(LATER)


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def start_path(ns, name):
    return f"{GROUP}/namespaces/{ns}/queuedjobs/{name}/start"


def whatif_path(*objects, drop=()):
    return f"{GROUP}/whatifs?" + "&".join([f"object={quote(json.dumps(o))}" for o in objects] + [f"drop={quote(d)}" for d in drop])


def answer(api, path):
    """Who asked lately rests for a while: 429 says so, and it is asked again."""
    def asked():
        try:
            return api.get(path)
        except ApiError as e:
            if e.status != 429:
                raise
            assert "ask again" in e.message, e.message
    return wait_until(f"an answer to {path[:100]}", asked, LATER)


def refused(api, path, status):
    """The sentence."""
    def asked():
        try:
            return api.get(path) and None
        except ApiError as e:
            if e.status in (429, 503) and e.status != status:
                return None
            return e
    e = wait_until(f"a refusal of {path[:100]}", asked, LATER)
    assert e.status == status, (e.status, e.message)
    return e.message


@pytest.fixture
def tenant(world, api_is_there):
    """Half of the queue is taken for an hour, and a Job of four pods waits for that to end."""
    world.priorities(high=1000)
    world.queue(cpu=4)
    world.queue("other", cpu=4)
    world.job("runs", cpu=1, pods=2, annotations={EXPECTED: "1h"})
    world.started("runs")
    world.job("train", cpu=1, pods=4, annotations={EXPECTED: "1h"})
    world.waits("train", "WaitingForQuota")
    bind(world, "alice", "sluice-batch-user")
    return as_account(world.box, world.ns, "alice")


@pytest.fixture
def admin(world, api_is_there):
    bind(world, "boss", "sluice-admin", everywhere=True)
    return as_account(world.box, world.ns, "boss")


def spec_of(world, name="q"):
    """The ClusterQueue as an admin sends it: without what the API server adds."""
    live = copy.deepcopy(world.clusterqueue(name))
    return {**{k: live[k] for k in ("apiVersion", "kind", "spec")}, "metadata": {"name": live["metadata"]["name"]}}


def with_cpu(obj, cpu):
    obj["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = str(cpu)
    return obj


# ---- one Job ---------------------------------------------------------------------------------


def test_half_of_its_pods_start_at_once_and_really_do(tenant, world):
    said = answer(tenant, start_path(world.ns, "train"))
    assert said["kind"] == "StartReview" and said["metadata"] == {"name": "train", "namespace": world.ns}, said
    status = said["status"]
    # Nothing that ended is known, so a run takes about what its owner says.
    wait_s = instant(status["start"]["p50"]) - time.time()
    assert about_an_hour(wait_s) and status["start"]["misses"] == 0, status
    by_change = {(v["change"], v["to"]): v for v in status["variants"]}
    half = by_change["Pods", "2"]
    assert half["from"] == "4" and half["text"] == "with 2 pods instead of 4" and starts_now(half), half
    other = by_change["LocalQueue", "other"]
    assert other["from"] == "q" and starts_now(other), other
    high = by_change["PriorityClass", world.full("high")]
    assert abs(high["earlierSeconds"]) < 0.1 * HOUR, high  # it is the first anyway, and preempts nothing here
    helps = [v.get("earlierSeconds", -1) for v in status["variants"]]
    assert helps == sorted(helps, reverse=True), status["variants"]
    assert world.get("train")["spec"]["suspend"] and world.get("train")["spec"]["parallelism"] == 4  # nothing was written
    world.patch("train", {"spec": {"parallelism": 2}})
    world.started("train")


def test_it_says_the_start_that_its_queuedjob_tells(tenant, world):
    def told():
        return tenant.get(f"{GROUP}/namespaces/{world.ns}/queuedjobs/train")["status"].get("start")

    def same():
        """Between two looks that tell the same."""
        before, start = told(), answer(tenant, start_path(world.ns, "train"))["status"]["start"]
        if not before or before != told():
            return False
        assert {name: before.get(name, 0) for name in start} == start, (before, start)
        return start["draws"] > 4
    wait_until("one answer to both questions", same, LATER)


def test_another_queue_starts_it_and_really_does(tenant, world):
    said = answer(tenant, start_path(world.ns, "train"))
    assert next(v for v in said["status"]["variants"] if v["change"] == "LocalQueue")["earlierSeconds"] > 0.1 * HOUR, said
    world.patch("train", {"metadata": {"labels": {"sluice.dev/queue-name": "other"}}})
    world.started("train")


def test_one_that_never_starts_as_it_is(tenant, world):
    world.job("large", cpu=1, pods=6)
    world.waits("large", "ExceedsMaxQuota")
    status = answer(tenant, start_path(world.ns, "large"))["status"]
    assert "p50" not in status["start"] and status["start"]["reason"] == "ExceedsMaxQuota", status
    assert status["start"]["misses"] == status["draws"] >= 1, status
    first = status["variants"][0]
    assert (first["change"], first["to"], first["starts"]) == ("Pods", "3", True) and "earlierSeconds" not in first, first
    assert all(v.get("starts") is False for v in status["variants"] if v["change"] == "PriorityClass"), status


def test_who_may_not_ask_is_told_nothing(tenant, world):
    bob = World(world.box, f"{world.ns}-bob")
    try:
        bob.local("theirs", world.full("q"))
        bob.job("secret", queue="theirs", cpu=1, pods=4)
        bob.waits("secret", "WaitingForQuota")
        message = refused(tenant, start_path(bob.ns, "secret"), 403)
        assert "queuedjobs/start" in message or "subresource" in message or "forbidden" in message, message
        assert refused(tenant, f"{GROUP}/whatifs", 403)
        said = json.dumps(answer(tenant, start_path(world.ns, "train")))
        assert "secret" not in said and bob.ns not in said, said
    finally:
        bob.end()


def test_one_that_does_not_wait_has_no_review(tenant, world):
    assert "does not wait: it is Running" in refused(tenant, start_path(world.ns, "runs"), 409)
    assert "not found" in refused(tenant, start_path(world.ns, "nothing"), 404)


def test_one_at_a_time_for_each_user(tenant, world):
    """Many at once: some are answered, the others are told to come again, and the controller goes on."""
    ends, at_once = [], threading.Barrier(12)

    def ask():
        api = as_account(world.box, world.ns, "alice")
        api.get(GROUP)  # connected
        at_once.wait(LATER)
        try:
            ends.append(api.get(start_path(world.ns, "train"))["kind"])
        except ApiError as e:
            ends.append((e.status, e.message))
    threads = [threading.Thread(target=ask) for _ in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    turned_away = [e for e in ends if e != "StartReview"]
    assert len(ends) == 12 and ends.count("StartReview") >= 1 and turned_away, ends
    assert all(e[0] == 429 and "ask again" in e[1] for e in turned_away), ends
    world.job("next", queue="other", cpu=1)
    world.started("next")


# ---- the whole queue -------------------------------------------------------------------------


def of_world(world, said):
    """(the row of its ClusterQueue q, {name: item}): other tests may have Jobs that wait."""
    status = said["status"]
    row = next((q for q in status["queues"] if q["clusterQueue"] == world.full("q")), None)
    return row, {i["name"]: i for i in status["items"] if i["namespace"] == world.ns}


def test_more_quota_starts_it_at_once_and_really_does(tenant, admin, world):
    said = answer(admin, whatif_path(with_cpu(spec_of(world), 6)))
    status = said["status"]
    assert said["kind"] == "WhatIf" and status["horizonSeconds"] == 30 * 86400, said
    assert status["jobs"] == sum(status[k] for k in ("earlier", "later", "same", "newlyStart", "neverAnyMore")), status
    row, items = of_world(world, said)
    assert (row["earlier"], row["later"], row["same"]) == (1, 0, 0) and row["p50WaitSecondsAfter"] < 300 and about_an_hour(row["p50WaitSecondsBefore"]), row
    assert items["train"]["clusterQueue"] == world.full("q") and about_an_hour(items["train"]["earlierSeconds"]), items
    assert world.get("train")["spec"]["suspend"]  # nothing was written
    assert world.queue_view()["flavors"][0]["resources"][0]["nominal"] == "4"
    world.set_quota(6)
    world.started("train")


def test_less_quota_and_none(tenant, admin, world):
    row, items = of_world(world, answer(admin, whatif_path(with_cpu(spec_of(world), 3))))
    assert row["neverAnyMore"] == 1 and "p50" not in items["train"]["after"], (row, items)
    row, items = of_world(world, answer(admin, whatif_path(drop=[f"LocalQueue/{world.ns}/q"])))
    assert row["neverAnyMore"] == 1 and items["train"]["after"]["reason"] == "Misconfigured", (row, items)


def test_several_objects_with_prices(tenant, admin, world):
    """A PricePlan that is not there yet, and a new ClusterQueue with a LocalQueue: what it costs is told."""
    plan = ours("PricePlan", world.full("plan"), {"currency": "EUR", "queues": [world.full("q")], "base": {"cpu": "1.00"}})
    status = answer(admin, whatif_path(plan, with_cpu(spec_of(world), 6)))["status"]
    cost = next(c for c in status["costs"] if c["currency"] == "EUR")
    assert about_an_hour((float(cost["after"]) - float(cost["before"])) / 4 * HOUR), status["costs"]  # four cpu
    calendar = ours("Calendar", world.full("closed"), {"timeZone": "UTC", "open": [{"name": "once", "at": {"from": "2020-01-01T00:00", "to": "2020-01-02T00:00"}}]})
    policy = ours("RunPolicy", world.full("policy"), {"queues": [world.full("q")], "calendar": world.full("closed")})
    row, _ = of_world(world, answer(admin, whatif_path(calendar, policy)))
    assert row["neverAnyMore"] == 1, row


def test_bad_questions_have_a_sentence(admin, world):
    world.queue(cpu=1)
    bad = spec_of(world)
    bad["spec"]["resourceGroups"] *= 2
    assert world.full("q") in refused(admin, whatif_path(bad), 400)
    assert "what would change?" in refused(admin, f"{GROUP}/whatifs", 400)
    assert "is no JSON" in refused(admin, f"{GROUP}/whatifs?object=%7B", 400)
    assert "one of ClusterQueue" in refused(admin, whatif_path({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}), 400)
    assert "there is no ClusterQueue nothing" in refused(admin, whatif_path(drop=["ClusterQueue/nothing"]), 400)
    assert "cannot be watched" in refused(world.api, f"{GROUP}/whatifs?watch=true&object=%7B%7D", 400)
    large = with_cpu(spec_of(world), 2)
    large["metadata"]["annotations"] = {"a": "x" * (25 << 10)}
    assert "larger than 24 KiB" in refused(admin, whatif_path(large), 413)


def test_a_question_may_be_large(admin, world):
    """As large as the port takes: 20 KiB of objects."""
    world.queue(cpu=1)
    large = with_cpu(spec_of(world), 2)
    large["metadata"]["annotations"] = {"a": "x" * (20 << 10)}
    assert answer(admin, whatif_path(large))["kind"] == "WhatIf"


def test_kubectl_knows_what_they_are(admin, world):
    names = {r["name"]: r for r in admin.get(GROUP)["resources"]}
    assert names["queuedjobs/start"]["verbs"] == ["get"] and names["whatifs"]["verbs"] == ["list"], names


def test_it_is_of_the_leader_alone_and_survives_its_end(tenant, world):
    world.restart()
    world.box.wait_visible(LATER)

    def asked():
        try:
            said = tenant.get(start_path(world.ns, "train"))
        except ApiError as e:
            assert e.status in (404, 409, 429, 500, 502, 503, 504), e  # it is not known yet, or nobody leads
            return None
        return any(v["change"] == "Pods" and v.get("earlierSeconds", 0) > 0.1 * HOUR for v in said["status"]["variants"])
    wait_until("the new leader to answer", asked, LATER)
