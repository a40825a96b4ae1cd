"""What would make a Job start earlier (`sluice when --why-not-earlier`), and what a change of a queue would do (`sluice whatif`):
asked of the real control plane, each with the rights that it wants and no others (docs/simulate.md)."""

import json
import shlex

import pytest
from conftest import LATER, box_without_past
from objects import SPOT_TAINT, SPOT_TOLERATION, ours
from test_ask import alice, api_is_there, bob  # noqa: F401 (fixtures)

EXPECTED = "sluice.dev/expected-duration"


@pytest.fixture(scope="module")
def box():
    yield from box_without_past("whatif-cli")


@pytest.fixture
def her(alice):
    """Alice's namespace: its queue is full for two hours, and another one has room."""
    alice.world.patch("runs", {"metadata": {"annotations": {EXPECTED: "2h"}}})
    alice.world.wait("that to be known", lambda: alice.world.explain("runs").get("expectedMs") == 2 * 3600 * 1000, about="runs")
    alice.world.queue("free", cpu=4)
    return alice


@pytest.fixture
def admin(her, program):
    def sluice(*args):
        return program("sluice", *args, env={"KUBECONFIG": str(her.world.box.kubeconfig)}, timeout=LATER)
    return sluice


def ok(done):
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def quota(her):
    return her.world.clusterqueue("q")["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"]


# ---- one Job ---------------------------------------------------------------------------------


def test_what_helps_is_told_and_its_command_does_it(her):
    said = ok(her.sluice("when", "job/mine", "-n", her.ns, "--why-not-earlier"))
    assert "secret" not in said and her.bob.ns not in said and "Nothing was changed" in said, said
    lines = [line for line in said.splitlines() if "in LocalQueue free" in line]
    assert lines and "earlier" in lines[0], said
    command = shlex.split("sluice move" + lines[0].split("sluice move")[1])
    assert her.sluice(*command[1:]).returncode == 0
    her.world.started("mine")


def test_the_variants_in_json_say_by_how_much(her):
    said = json.loads(ok(her.sluice("when", "mine", "-n", her.ns, "--why-not-earlier", "-o", "json")))
    assert (said["namespace"], said["name"]) == (her.ns, "mine") and said["draws"] > 0 and "p50" in said["start"], said
    moved = next(v for v in said["variants"] if v["change"] == "LocalQueue")
    assert moved["to"] == "free" and moved["earlierSeconds"] > 3600, said


def test_a_job_that_does_not_wait_is_no_question(her):
    done = her.sluice("when", "job/runs", "-n", her.ns, "--why-not-earlier")
    assert done.returncode == 2 and "runs" in done.stderr and not done.stdout, done
    done = her.sluice("when", "job/nothing", "-n", her.ns, "--why-not-earlier")
    assert done.returncode == 1 and "no Job nothing is queued" in done.stderr, done
    done = her.sluice("when", "job/secret", "-n", her.bob.ns, "--why-not-earlier")
    assert done.returncode == 3 and "you may not get queuedjobs/start" in done.stderr, done


def test_a_toleration_that_helps_may_be_added_while_it_waits(her):
    spot = her.world.full("spot")
    her.world.create("resourceflavors", ours("ResourceFlavor", spot, {"nodeTaints": [SPOT_TAINT]}))
    her.world.queue("two", flavors={her.world.flavor("plain"): 2, spot: 2})
    her.world.job("long", queue="two", cpu=2, annotations={EXPECTED: "3h"})
    her.world.started("long")
    her.world.job("next", queue="two", cpu=1)
    her.world.waits("next", "WaitingForQuota")
    said = ok(her.sluice("when", "job/next", "-n", her.ns, "--why-not-earlier"))
    assert f"earlier with a toleration for the taints of flavor {spot}" in said and "spec.template.spec.tolerations" in said, said
    patch = json.dumps({"spec": {"template": {"spec": {"tolerations": [SPOT_TOLERATION]}}}})
    assert her.kubectl("patch", "job", "next", "-n", her.ns, "--type", "merge", "-p", patch).returncode == 0
    her.world.started("next")


# ---- a change of a queue ---------------------------------------------------------------------


def test_more_quota_starts_both_jobs_and_nothing_is_written(her, admin):
    before, full = quota(her), her.world.full("q")
    said = ok(admin("whatif", "--set", f"clusterqueue/{full}:spec...nominalQuota=8"))
    head, last = said.splitlines()[0], said.splitlines()[-1]
    assert head.startswith(f"clusterqueue/{full}  spec.resourceGroups[0].flavors[name=") and head.endswith("-> 8"), said
    assert f"{her.ns}/mine" in said and f"{her.bob.ns}/secret" in said and last.endswith("Nothing was written."), said
    told = json.loads(ok(admin("whatif", "--set", f"cq/{full}:spec...nominalQuota=8", "-o", "json")))
    assert told["changes"][0]["after"] == 8 and told["earlier"] + told["newlyStart"] >= 2 and told["later"] == 0, told
    names = {(i["namespace"], i["name"]) for i in told["items"]}
    assert {(her.ns, "mine"), (her.bob.ns, "secret")} <= names, told
    assert quota(her) == before
    her.world.waits("mine", "WaitingForQuota")


def test_less_quota_is_later_or_never(her, admin):
    told = json.loads(ok(admin("whatif", "--set", f"cq/{her.world.full('q')}:spec...nominalQuota=1", "-o", "json")))
    assert told["neverAnyMore"] >= 1, told  # bob's asks for two


def test_a_file_is_asked_about_whole(her, admin, tmp_path):
    file = tmp_path / "lq.yaml"
    file.write_text(f"apiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\nmetadata: {{name: q, namespace: {her.ns}}}\n"
                    f"spec: {{clusterQueue: {her.world.full('free')}}}\n")
    told = json.loads(ok(admin("whatif", "-f", str(file), "-o", "json")))
    assert told["changes"][0] == {"object": f"localqueue/{her.ns}/q", "from": f"{file}:1"}, told
    assert "mine" in {i["name"] for i in told["items"]}, told


@pytest.mark.parametrize("field, words, code", [
    ("clusterqueue/{q}:spec.nominalQota=8", "spec has no field nominalQota", 2),
    ("clusterqueue/{q}:spec.queueingStrategy=Fast", "must be one of", 2),
    ("clusterqueue/nothing:spec.cohortName=x", "there is no ClusterQueue nothing", 1),
    ("pod/{q}:spec.x=1", "is of no kind that can be asked about", 2),
])
def test_a_bad_change_is_a_sentence(her, admin, field, words, code):
    done = admin("whatif", "--set", field.format(q=her.world.full("q")))
    assert done.returncode == code and words in done.stderr, done


def test_who_is_no_admin_is_told_what_is_missing(her):
    done = her.sluice("whatif", "--drop", "budget/any")
    assert done.returncode == 3 and "you may not list whatifs.visibility.sluice.dev" in done.stderr and "--clusterrole=sluice-whatifs" in done.stderr and "sluice-admin" not in done.stderr, done
