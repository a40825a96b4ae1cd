"""Only Sluice opens the gate: the API server itself enforces it, controller or not.

The Jobs here name queues that do not exist, so no controller starts them, and
most are marked as managed by somebody else, so the Job controller leaves their
status alone. A controller that is about sleeps meanwhile: it would rightly stop
those that are let in here in its name."""

import itertools

import pytest
from conftest import SOON, as_account
from objects import HOLD, ORIGINAL, QUEUE, STORY, conditions, job, jobs_path, ours, owner_reference, path_of
from sandbox import ApiError, wait_until

pytestmark = pytest.mark.usefixtures("asleep")

WAITS = 'waits in queue "'
SLUICE_ALONE = "are written by Sluice alone"
HOLDS = "holds quota of queue"
numbers = itertools.count(1)


class Jobs:
    def __init__(self, api, ns):
        self.api, self.ns = api, ns

    def make(self, queue="gpu", by=None, name=None, owner=None, **kw):
        obj = job(name or f"j{next(numbers)}", queue, {"cpu": "1"}, managedBy="example.com/nobody", **kw)
        if owner:
            obj["metadata"]["ownerReferences"] = [owner_reference(owner)]
        return (by or self.api).post(jobs_path(self.ns), obj)

    def patch(self, obj, patch, kind="merge", by=None):
        return (by or self.api).patch(jobs_path(self.ns, obj["metadata"]["name"]), patch, kind)

    def status(self, obj, **status):
        return self.api.patch(jobs_path(self.ns, obj["metadata"]["name"], "status"), {"status": status})


@pytest.fixture
def jobs(plane, team):
    return Jobs(plane.api, team)


def refused(words, call, *args, **kw):
    with pytest.raises(ApiError) as refusal:
        call(*args, **kw)
    assert refusal.value.status in (403, 422), refusal.value
    assert words in refusal.value.message
    return refusal.value.message


def label(value):
    return {"metadata": {"labels": {QUEUE: value}}}


def annotate(key, value):
    return {"metadata": {"annotations": {key: value}}}


# ---- on create -----------------------------------------------------------------


@pytest.mark.parametrize("asked", [{}, {"suspend": False}, {"suspend": True}], ids=["left out", "false", "true"])
def test_a_queued_job_is_created_suspended_whatever_it_says(jobs, asked):
    assert jobs.make(**asked)["spec"]["suspend"] is True


def test_a_queued_job_with_a_generated_name_is_created_suspended(plane, team):
    obj = job("x", "gpu")
    obj["metadata"] = {"generateName": "g-", "labels": obj["metadata"]["labels"]}
    assert plane.api.post(jobs_path(team), obj)["spec"]["suspend"] is True


def test_a_job_without_the_label_is_left_alone(jobs):
    assert jobs.make(queue=None)["spec"]["suspend"] is False


def test_kube_system_is_left_alone(plane):
    made = plane.api.post(jobs_path("kube-system") + "?dryRun=All", job("exempt", "gpu"))
    assert made["spec"]["suspend"] is False


def test_a_cronjobs_jobs_are_created_suspended(plane, team):
    """What the CronJob controller does at its hour, done by hand: a Job by its own account."""
    template = {"metadata": {"labels": {QUEUE: "gpu"}}, "spec": job("x")["spec"]}
    plane.api.post(f"/apis/batch/v1/namespaces/{team}/cronjobs", {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "hourly"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": template}})
    cronjob_controller = as_account(plane, "kube-system", "cronjob-controller")
    made = cronjob_controller.post(jobs_path(team), job("hourly-1", "gpu"))
    assert made["spec"]["suspend"] is True


# ---- bypasses ------------------------------------------------------------------

# ---- the default queue, and Jobs made by Jobs -----------------------------------


def test_a_job_without_a_queue_goes_to_the_default_one_of_its_namespace(plane, jobs):
    def queue_of(obj):
        return obj["metadata"].get("labels", {}).get(QUEUE), obj["spec"].get("suspend", False)
    assert queue_of(jobs.make(queue=None)) == (None, False)  # there is none yet
    plane.api.post(path_of("localqueues", ns=jobs.ns), ours("LocalQueue", "default", {"clusterQueue": "none"}))
    wait_until("the API server to know the default queue", lambda: plane.api.post(
        jobs_path(jobs.ns) + "?dryRun=All", job("probe"))["spec"].get("suspend"), SOON)
    made = jobs.make(queue=None)
    assert queue_of(made) == ("default", True)
    assert queue_of(jobs.make(queue=None, labels={"team": "x"})) == ("default", True)
    assert queue_of(jobs.make(queue="gpu")) == ("gpu", True)
    refused("has a LocalQueue", jobs.patch, made, {"metadata": {"labels": {QUEUE: None}}})
    jobs.patch(made, label("gpu"))
    assert queue_of(jobs.make(queue=None, owner=made)) == (None, False)  # its owner's
    generated = job("x")
    generated["metadata"] = {"generateName": "nightly-"}
    cronjob_controller = as_account(plane, "kube-system", "cronjob-controller")
    assert queue_of(cronjob_controller.post(jobs_path(jobs.ns), generated)) == ("default", True)


def test_a_job_made_by_a_job_is_not_suspended(jobs):
    parent = jobs.make()
    assert jobs.make(owner=parent)["spec"]["suspend"] is False
    assert jobs.make(owner=parent, queue=None)["spec"]["suspend"] is False
    child = jobs.make(owner=parent, suspend=True)
    jobs.patch(child, {"spec": {"suspend": False}})
    assert jobs.make(owner={**parent, "kind": "CronJob"})["spec"]["suspend"] is True


BYPASSES = {
    "merge patch": ({"spec": {"suspend": False}}, "merge"),
    "merge patch to nothing": ({"spec": {"suspend": None}}, "merge"),
    "JSON patch": ([{"op": "replace", "path": "/spec/suspend", "value": False}], "json"),
    "JSON patch that removes it": ([{"op": "remove", "path": "/spec/suspend"}], "json"),
    "strategic merge patch": ({"spec": {"suspend": False}}, "strategic"),
    "the label removed in one go": ({**label(None), "spec": {"suspend": False}}, "merge"),
    "the label changed in one go": ({**label("other"), "spec": {"suspend": False}}, "merge"),
}


@pytest.mark.parametrize("how", BYPASSES)
def test_an_admin_cannot_start_a_queued_job(jobs, how):
    made = jobs.make()
    said = refused(WAITS + "gpu", jobs.patch, made, *BYPASSES[how])
    assert f"sluice explain job/{made['metadata']['name']} -n {jobs.ns}" in said
    assert jobs.api.get(jobs_path(jobs.ns, made["metadata"]["name"]))["spec"]["suspend"] is True


def test_an_admin_cannot_start_a_queued_job_by_put(jobs):
    made = jobs.make()
    made["spec"]["suspend"] = False
    refused(WAITS, jobs.api.raw, "PUT", jobs_path(jobs.ns, made["metadata"]["name"]), made)


def test_an_admin_cannot_start_a_queued_job_by_server_side_apply(jobs):
    made = jobs.make()
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": made["metadata"]["name"]}, "spec": {"suspend": False}}
    with pytest.raises(ApiError) as refusal:
        jobs.api.patch(jobs_path(jobs.ns, made["metadata"]["name"]) + "?fieldManager=x&force=true", body, "apply")
    assert WAITS in refusal.value.message


def test_a_job_cannot_be_queued_and_started_in_one_go(jobs):
    made = jobs.make(queue=None, suspend=True)
    refused(WAITS + "x", jobs.patch, made, {**label("x"), "spec": {"suspend": False}})


def test_a_waiting_job_may_leave_its_queue_and_then_start(jobs):
    made = jobs.make()
    jobs.patch(made, label(None))
    assert jobs.patch(made, {"spec": {"suspend": False}})["spec"]["suspend"] is False


@pytest.mark.parametrize("mark", [STORY, ORIGINAL])
def test_sluices_own_marks_cannot_be_forged(jobs, mark):
    refused(SLUICE_ALONE, jobs.make, annotations={mark: "{}"})
    refused(SLUICE_ALONE, jobs.make, queue=None, annotations={mark: "{}"})
    refused(SLUICE_ALONE, jobs.patch, jobs.make(), annotate(mark, "{}"))
    refused(SLUICE_ALONE, jobs.patch, jobs.make(queue=None), annotate(mark, "{}"))


# ---- what Sluice may do ----------------------------------------------------------


@pytest.fixture
def running(jobs, sluice_account):
    """A Job that was let in by Sluice's own account."""
    made = jobs.make()
    return jobs.patch(made, {**annotate(STORY, "told"), "spec": {"suspend": False}}, by=sluice_account)


def test_sluice_itself_starts_a_queued_job_and_tells_its_story(running):
    assert running["spec"]["suspend"] is False
    assert running["metadata"]["annotations"][STORY] == "told"


def test_nobody_edits_the_story_of_a_running_job(jobs, running):
    refused(SLUICE_ALONE, jobs.patch, running, annotate(STORY, "forged"))
    refused(SLUICE_ALONE, jobs.patch, running, annotate(STORY, None))
    jobs.patch(running, annotate("example.com/mine", "b"))


def test_a_running_job_keeps_its_queue(jobs, running):
    for patch in (label(None), label("other"), {**label(None), "spec": {"suspend": True}}):
        said = refused(HOLDS, jobs.patch, running, patch)
        assert "set spec.suspend to true" in said


def test_a_user_may_stop_a_running_job(jobs, running):
    assert jobs.patch(running, {"spec": {"suspend": True}})["spec"]["suspend"] is True


def test_a_stopped_job_keeps_its_queue_until_its_last_pod_is_gone(jobs, running):
    jobs.status(running, active=1)
    jobs.patch(running, {"spec": {"suspend": True}})
    assert "before its last pod is gone" in refused(HOLDS, jobs.patch, running, label("other"))
    jobs.status(running, active=0, terminating=1)
    refused(HOLDS, jobs.patch, running, label(None))
    jobs.status(running, terminating=0)
    assert jobs.patch(running, label("other"))["metadata"]["labels"][QUEUE] == "other"


def test_a_running_job_may_be_given_a_queue_and_sluice_stops_it(jobs, sluice_account):
    made = jobs.make(queue=None)
    jobs.patch(made, label("gpu"))
    stop = [{"op": "test", "path": "/spec/suspend", "value": False}, {"op": "replace", "path": "/spec/suspend", "value": True}]
    assert jobs.patch(made, stop, "json", by=sluice_account)["spec"]["suspend"] is True


def test_sluice_may_start_with_fewer_pods_down_to_the_least(jobs, sluice_account):
    made = jobs.make(pods=4, annotations={"sluice.dev/min-parallelism": "2"})
    patch = [{"op": "replace", "path": "/spec/suspend", "value": False}, {"op": "replace", "path": "/spec/parallelism", "value": 2}]
    assert jobs.patch(made, patch, "json", by=sluice_account)["spec"]["parallelism"] == 2


# ---- labels and annotations that mean nothing ------------------------------------

BAD_MARKS = {
    "queue name": (dict(queue="My_Queue"), 'is "My_Queue", which cannot be the name of a LocalQueue'),
    "empty queue name": (dict(queue=""), "the label sluice.dev/queue-name is empty"),
    "priority class": (dict(labels={"sluice.dev/priority-class": "A_b"}), "cannot be the name of a WorkloadPriorityClass"),
    "max-run-seconds with a unit": (dict(annotations={"sluice.dev/max-run-seconds": "1h"}), 'in quotes, such as "3600"; it is "1h"'),
    "max-run-seconds 0": (dict(annotations={"sluice.dev/max-run-seconds": "0"}), "a whole number of seconds from 1 to 999999999"),
    "max-run-seconds of 100 KB": (dict(annotations={"sluice.dev/max-run-seconds": "x" * 100000}), 'it is "' + "x" * 40 + '"'),
    "min-parallelism as large as parallelism": (dict(pods=4, annotations={"sluice.dev/min-parallelism": "4"}), "less than spec.parallelism, which is 4"),
    "min-parallelism in words": (dict(pods=4, annotations={"sluice.dev/min-parallelism": "half"}), 'it is "half"'),
}


@pytest.mark.parametrize("what", BAD_MARKS)
def test_a_mark_that_means_nothing_is_refused(jobs, what):
    kw, words = BAD_MARKS[what]
    refused(words, jobs.make, **kw)


def test_a_mark_may_not_become_meaningless_later(jobs):
    made = jobs.make(pods=4, annotations={"sluice.dev/max-run-seconds": "3600", "sluice.dev/min-parallelism": "2"})
    refused("is empty", jobs.patch, made, label(""))
    refused("a whole number of seconds", jobs.patch, made, annotate("sluice.dev/max-run-seconds", "soon"))
    refused("less than spec.parallelism, which is 2", jobs.patch, made, {"spec": {"parallelism": 2}})


def test_a_hold_may_say_anything(jobs):
    assert jobs.make(annotations={HOLD: "until Tom is back, he knows why"})


# ---- rights ----------------------------------------------------------------------

MAY = ["/apis/batch/v1/jobs?limit=1", "/api/v1/namespaces?limit=1", "/api/v1/limitranges?limit=1", "/api/v1/pods?limit=1", "/api/v1/nodes?limit=1",
       "/apis/node.k8s.io/v1/runtimeclasses?limit=1", "/apis/scheduling.k8s.io/v1/priorityclasses?limit=1",
       *(path_of(p) + "?limit=1" for p in ("clusterqueues", "localqueues", "resourceflavors", "workloadpriorityclasses", "cohorts", "nodeovercommits"))]
MAY_NOT = ["/api/v1/nodes/spot-0/proxy/metrics/resource", "/api/v1/services?limit=1", "/api/v1/secrets?limit=1", "/apis/apps/v1/deployments?limit=1", "/api/v1/configmaps?limit=1"]


@pytest.mark.parametrize("path", MAY)
def test_the_controller_reads_what_it_needs(sluice_account, path):
    assert "items" in sluice_account.get(path)


@pytest.mark.parametrize("path", MAY_NOT)
def test_the_controller_reads_nothing_else(sluice_account, path):
    with pytest.raises(ApiError) as refusal:
        sluice_account.get(path)
    assert refusal.value.status == 403


def test_the_controller_neither_creates_nor_deletes_jobs(jobs, sluice_account):
    refused("cannot create resource", jobs.make, by=sluice_account)
    made = jobs.make()
    refused("cannot delete resource", sluice_account.delete, jobs_path(jobs.ns, made["metadata"]["name"]))


def test_the_controller_writes_the_status_of_a_queue_but_not_its_spec(plane, sluice_account, team):
    plane.api.post(path_of("clusterqueues"), {"apiVersion": "sluice.dev/v1alpha1", "kind": "ClusterQueue", "metadata": {"name": team}, "spec": {"stopPolicy": "Hold"}})
    condition = {"type": "Odd", "status": "True", "reason": "Tried", "message": "By a test.", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    done = sluice_account.patch(path_of("clusterqueues", team) + "/status", {"status": {"pendingWorkloads": 3, "conditions": [condition]}})
    assert conditions(done)["Odd"]["message"] == "By a test."
    refused("cannot patch resource", sluice_account.patch, path_of("clusterqueues", team), {"spec": {"stopPolicy": "None"}})


# ---- without the mutating policy ---------------------------------------------------


def test_without_the_mutating_policy_a_job_must_say_suspend_itself(plane, team):
    """Servers before 1.36 have none: there the refusal says what to write."""
    bindings = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
    binding = plane.api.get(f"{bindings}/sluice-suspend-jobs")
    plane.api.delete(f"{bindings}/sluice-suspend-jobs")
    try:
        def refusal():
            try:
                plane.api.post(jobs_path(team) + "?dryRun=All", job("t", "gpu"))
            except ApiError as e:
                return e
        said = wait_until("the API server to forget the mutating policy", refusal, SOON)
        assert "create it with spec.suspend: true" in said.message
        plane.api.post(jobs_path(team) + "?dryRun=All", job("t", "gpu", suspend=True))
    finally:
        plane.api.post(bindings, {k: v for k, v in binding.items() if k != "metadata"} | {"metadata": {"name": "sluice-suspend-jobs"}})

        def suspends():
            try:
                return plane.api.post(jobs_path(team) + "?dryRun=All", job("t", "gpu"))["spec"]["suspend"]
            except ApiError as e:
                if e.status != 403:
                    raise
        wait_until("the API server to know the mutating policy again", suspends, SOON)
