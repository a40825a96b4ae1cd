"""Only Sluice opens the gate: the API server itself enforces it, controller or not.

The Jobs here name queues that do not exist, so no controller starts them. A
controller that is about sleeps meanwhile: it would rightly stop those that are
let in here in its name. What a team does is done by a ServiceAccount that has
sluice-batch-user in its one namespace and nothing else."""

import contextlib
import itertools
import json
import os
import random
import re
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from conftest import SOON, as_account
from objects import HOLD, KUBERNETES, ORIGINAL, QUEUE, QUEUED, SEED, STORY, SUBMITTED, conditions, job, jobs_path, ours, owner_reference, path_of, searched, submitter, who
from sandbox import ApiError, wait_until
from sandbox.sandbox import CHECKS_POLICIES

pytestmark = pytest.mark.usefixtures("asleep")

ROOT = Path(__file__).resolve().parents[2]
WAITS = 'waits in queue "'
SLUICE_ALONE = "are written by Sluice alone"
HOLDS = "holds quota of queue"
numbers = itertools.count(1)
MUTATES = 36  # the first Kubernetes of that minor version that has mutating policies
mutates = pytest.mark.since_kubernetes(MUTATES, "has no mutating policies")


class Jobs:
    def __init__(self, api, ns):
        self.api, self.ns = api, ns

    def make(self, queue="gpu", by=None, name=None, owner=None, finalizers=None, **kw):
        obj = job(name or f"j{next(numbers)}", queue, {"cpu": "1"}, **kw)
        if owner:
            obj["metadata"]["ownerReferences"] = [owner_reference(owner)]
        if finalizers:
            obj["metadata"]["finalizers"] = finalizers
        return (by or self.api).post(jobs_path(self.ns), obj)

    def get(self, obj):
        return self.api.get(jobs_path(self.ns, obj["metadata"]["name"]))

    def patch(self, obj, patch, kind="merge", by=None):
        return (by or self.api).patch(jobs_path(self.ns, obj["metadata"]["name"]), patch, kind)

    def status(self, obj, **status):
        return self.api.patch(jobs_path(self.ns, obj["metadata"]["name"], "status"), {"status": status})


@pytest.fixture
def jobs(plane, team):
    yield Jobs(plane.api, team)
    # Some are let run in Sluice's name. The controller, awake again, must not find a mass of them.
    plane.api.delete(jobs_path(team) + "?propagationPolicy=Background")


@pytest.fixture
def user(plane, team):
    """One of the team: sluice-batch-user in its namespace, and no other right."""
    plane.api.post(f"/api/v1/namespaces/{team}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "user"}})
    plane.api.post(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{team}/rolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "user"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sluice-batch-user"},
        "subjects": [{"kind": "ServiceAccount", "namespace": team, "name": "user"}]})
    api = as_account(plane, team, "user")

    def allowed():
        try:
            return api.get(jobs_path(team))
        except ApiError as e:
            if e.status != 403:
                raise
    wait_until("the API server to know the user's rights", allowed, SOON)
    return api


def refused(words, call, *args, **kw):
    with pytest.raises(ApiError) as refusal:
        call(*args, **kw)
    assert refusal.value.status in (403, 422), refusal.value
    assert words in refusal.value.message
    return refusal.value.message


def kubernetes_account(plane, name):
    """An Api of one of kube-controller-manager's own accounts, which it makes as it begins."""
    return wait_until(f"the account {name}", lambda: as_account(plane, "kube-system", name), SOON)


def label(value):
    return {"metadata": {"labels": {QUEUE: value}}}


def annotate(key, value):
    return {"metadata": {"annotations": {key: value}}}


# ---- on create -----------------------------------------------------------------


@mutates
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
    made = plane.api.post(jobs_path("kube-system") + "?dryRun=All", job("exempt", "gpu", suspend=False))
    assert made["spec"]["suspend"] is False


def test_a_cronjobs_jobs_are_created_suspended(plane, team):
    """What the CronJob controller does at its hour, done by hand: a Job by its own account."""
    template = {"metadata": {"labels": {QUEUE: "gpu"}}, "spec": job("x")["spec"]}
    plane.api.post(f"/apis/batch/v1/namespaces/{team}/cronjobs", {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "hourly"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": template}})
    cronjob_controller = kubernetes_account(plane, "cronjob-controller")
    made = cronjob_controller.post(jobs_path(team), job("hourly-1", "gpu"))
    assert made["spec"]["suspend"] is True


# ---- bypasses ------------------------------------------------------------------

# ---- the default queue, and Jobs made by Jobs -----------------------------------


def make_default_queue(plane, jobs):
    plane.api.post(path_of("localqueues", ns=jobs.ns), ours("LocalQueue", "default", {"clusterQueue": "none"}))
    wait_until("the API server to know the default queue", lambda: plane.api.post(
        jobs_path(jobs.ns) + "?dryRun=All", job("probe"))["spec"].get("suspend"), SOON)
    leaver = jobs.make()

    def kept():
        try:
            plane.api.patch(jobs_path(jobs.ns, leaver["metadata"]["name"]) + "?dryRun=All", label(None))
        except ApiError as e:
            return "has a LocalQueue" in e.message
    wait_until("the policy that keeps Jobs in it to know it as well", kept, SOON)


@mutates
def test_a_job_without_a_queue_goes_to_the_default_one_of_its_namespace(plane, jobs):
    def queue_of(obj):
        return obj["metadata"].get("labels", {}).get(QUEUE), obj["spec"].get("suspend", False)
    assert queue_of(jobs.make(queue=None)) == (None, False)  # there is none yet
    make_default_queue(plane, jobs)
    made = jobs.make(queue=None)
    assert queue_of(made) == ("default", True)
    assert queue_of(jobs.make(queue=None, labels={"team": "x"})) == ("default", True)
    assert queue_of(jobs.make(queue="gpu")) == ("gpu", True)
    refused("has a LocalQueue", jobs.patch, made, {"metadata": {"labels": {QUEUE: None}}})
    jobs.patch(made, label("gpu"))
    assert queue_of(jobs.make(queue=None, owner=made)) == ("default", True)
    generated = job("x")
    generated["metadata"] = {"generateName": "nightly-"}
    cronjob_controller = kubernetes_account(plane, "cronjob-controller")
    assert queue_of(cronjob_controller.post(jobs_path(jobs.ns), generated)) == ("default", True)


RBAC = "/apis/rbac.authorization.k8s.io/v1"
JOBSET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train", "uid": "0b2b5d0e-6a3c-4c6e-9d57-7f6f2c9f1a11", "controller": True}


def may_make_children(plane, account, verb="make-children"):
    """A ServiceAccount of one namespace has that right of JobSets, in the whole cluster, as docs/policies.md gives it to the JobSet controller.
    Everything of it goes with `undo`."""
    name = f"kind-{account['namespace']}"
    made = {"ClusterRole": {"rules": [{"apiGroups": ["sluice.dev"], "resources": ["jobkinds"], "resourceNames": ["jobset.jobset.x-k8s.io"], "verbs": [verb]}]},
            "ClusterRoleBinding": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}, "subjects": [account]}}
    for kind, rest in made.items():
        plane.api.post(f"{RBAC}/{kind.lower()}s", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **rest})
    return lambda: [plane.api.delete(f"{RBAC}/{kind.lower()}s/{name}") for kind in made]


@pytest.fixture
def jobset_controller(plane, jobs, user):
    """One that plays the controller of JobSets: an account of its own, with the rights of `user` in this namespace."""
    name = f"/api/v1/namespaces/{jobs.ns}/serviceaccounts"
    account = {"kind": "ServiceAccount", "namespace": jobs.ns, "name": "jobset-controller"}
    plane.api.post(name, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account["name"]}})
    plane.api.post(f"{RBAC}/namespaces/{jobs.ns}/rolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": account["name"]},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sluice-batch-user"}, "subjects": [account]})
    api = as_account(plane, jobs.ns, account["name"])
    api.account, api.undo = account, lambda: None
    wait_until("the API server to know its rights", lambda: api.get(jobs_path(jobs.ns)), SOON)
    yield api
    api.undo()


def child(ns, name="train-workers-0", dry=False, **owner):
    """Where it is created, and a Job as the controller of JobSets makes it."""
    obj = job(name, requests={"cpu": "1"})
    obj["metadata"]["ownerReferences"] = [{**JOBSET, **owner}]
    return jobs_path(ns) + ("?dryRun=All" if dry else ""), obj


def is_queued(made):
    return (made["metadata"].get("labels", {}).get(QUEUE), made["spec"].get("suspend", False)) == ("default", True)


@pytest.mark.since_kubernetes(36, "has no policy that gives a Job the queue default")
def test_the_children_of_a_jobset_are_its_controllers_and_not_queued_one_by_one(plane, jobs, user, jobset_controller):
    make_default_queue(plane, jobs)
    assert is_queued(jobset_controller.post(*child(jobs.ns, dry=True)))  # no admin has given it the right
    jobset_controller.undo = may_make_children(plane, jobset_controller.account)
    wait_until("the API server to know its right", lambda: not is_queued(jobset_controller.post(*child(jobs.ns, dry=True))), SOON)
    made = jobset_controller.post(*child(jobs.ns, "train-driver-0"))
    assert QUEUE not in made["metadata"].get("labels", {}) and not made["spec"].get("suspend")
    for suspend in (True, False):  # as it does with its JobSet
        assert jobs.patch(made, {"spec": {"suspend": suspend}}, by=jobset_controller)["spec"]["suspend"] is suspend
    # The right is of JobSets' children, and of their controller.
    for owner in ({"kind": "RayJob", "apiVersion": "ray.io/v1"}, {"controller": False}, {"apiVersion": "v1"}, {"kind": "Job", "apiVersion": "batch/v1"}):
        assert is_queued(jobset_controller.post(*child(jobs.ns, dry=True, **owner))), owner
    assert is_queued(jobset_controller.post(jobs_path(jobs.ns) + "?dryRun=All", job("own", requests={"cpu": "1"})))
    assert is_queued(plane.api.post(*child(jobs.ns, dry=True)))  # an admin, who has every right


@pytest.mark.since_kubernetes(36, "has no policy that gives a Job the queue default")
def test_whoever_writes_an_owner_himself_is_queued(plane, jobs, user):
    make_default_queue(plane, jobs)
    made = user.post(*child(jobs.ns))
    assert is_queued(made)
    refused(WAITS, jobs.patch, made, {"spec": {"suspend": False}}, by=user)
    refused("has a LocalQueue", jobs.patch, made, label(None), by=user)


@pytest.mark.since_kubernetes(36, "has no policy that gives a Job the queue default")
def test_all_verbs_are_no_word_on_children(plane, jobs, jobset_controller):
    """A controller that was given everything, as many are: its Jobs were queued before, and nobody has said that they run outside."""
    make_default_queue(plane, jobs)
    jobset_controller.undo = may_make_children(plane, jobset_controller.account, verb="*")

    def has_all():
        return jobset_controller.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {
                "group": "sluice.dev", "resource": "jobkinds", "name": "jobset.jobset.x-k8s.io", "verb": "make-children"}}})["status"]["allowed"]
    wait_until("the API server to know its rights", has_all, SOON)
    assert is_queued(jobset_controller.post(*child(jobs.ns, dry=True)))


@contextlib.contextmanager
def labelled_by_another(plane, ns):
    """Another's policy gives each new Job of the namespace the label, as a webhook may. In which order policies run is not known."""
    name, path = f"label-{ns}", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic"
    value = 'Object{metadata: Object.metadata{labels: {"%s": "gpu"}}}' % QUEUE
    plane.api.post(f"{path}ies", {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": name}, "spec": {
        "reinvocationPolicy": "Never", "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": value}}],
        "matchConstraints": {"resourceRules": [{"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}]}}})
    plane.api.post(f"{path}ybindings", {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": {
            "policyName": name, "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}}}}})

    def labels():
        try:
            return plane.api.post(jobs_path(ns) + "?dryRun=All", job("probe"))["metadata"].get("labels", {}).get(QUEUE) == "gpu"
        except ApiError as e:
            return WAITS in e.message
    try:
        wait_until("the other policy to label Jobs", labels, SOON)
        yield
    finally:
        plane.api.delete(f"{path}ybindings/{name}")
        plane.api.delete(f"{path}ies/{name}")


@mutates
def test_a_job_that_another_policy_labels_is_queued_as_any_other(plane, jobs, user):
    with labelled_by_another(plane, jobs.ns):
        made = jobs.make(by=user, queue=None)
        assert (made["metadata"]["labels"][QUEUE], made["spec"]["suspend"], replacement(made), submitter(made)) == ("gpu", True, "Failed", who(user))


@mutates
def test_the_queue_that_another_policy_names_goes_before_the_default_one(plane, jobs, user):
    make_default_queue(plane, jobs)
    with labelled_by_another(plane, jobs.ns):
        assert jobs.make(by=user, queue=None)["metadata"]["labels"][QUEUE] == "gpu"


def test_a_job_made_by_a_job_is_queued_as_any_other(jobs, user):
    parent = jobs.make(by=user)
    asked = {"by": user, "owner": parent, "pods": 50}
    if KUBERNETES < MUTATES:
        refused(WAITS, jobs.make, **asked, suspend=False)
        child = jobs.make(**asked)
    else:
        child = jobs.make(**asked, suspend=False)
    assert child["spec"]["suspend"] is True
    refused(WAITS, jobs.patch, child, {"spec": {"suspend": False}}, by=user)
    other = jobs.make(by=user)
    jobs.patch(other, {"metadata": {"ownerReferences": [owner_reference(parent)]}}, by=user)
    refused(WAITS, jobs.patch, other, {"spec": {"suspend": False}}, by=user)


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
    del made["metadata"]["resourceVersion"]  # the Job controller has written its status meanwhile
    refused(WAITS, jobs.api.raw, "PUT", jobs_path(jobs.ns, made["metadata"]["name"]), made)


def test_an_admin_cannot_start_a_queued_job_by_server_side_apply(jobs):
    made = jobs.make()
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": made["metadata"]["name"]}, "spec": {"suspend": False}}
    apply = (jobs_path(jobs.ns, made["metadata"]["name"]) + "?fieldManager=x&force=true", body, "apply")
    if KUBERNETES < MUTATES:
        return refused(WAITS, jobs.api.patch, *apply)
    assert jobs.api.patch(*apply)["spec"]["suspend"] is True  # a manifest's constant: put back, with a warning


def test_a_job_cannot_be_queued_and_started_in_one_go(jobs):
    made = jobs.make(queue=None, suspend=True)
    refused(WAITS + "x", jobs.patch, made, {**label("x"), "spec": {"suspend": False}})


def test_a_waiting_job_may_leave_its_queue_and_then_start(jobs):
    made = jobs.make()
    jobs.patch(made, label(None))
    assert jobs.patch(made, {"spec": {"suspend": False}})["spec"]["suspend"] is False


@pytest.mark.parametrize("mark", [STORY, ORIGINAL, "sluice.dev/waiting", "sluice.dev/stopping-at", "sluice.dev/after-outcomes", "sluice.dev/booked-start"])
def test_sluices_own_marks_cannot_be_forged(jobs, mark):
    refused(SLUICE_ALONE, jobs.make, annotations={mark: "{}"})
    refused(SLUICE_ALONE, jobs.make, queue=None, annotations={mark: "{}"})
    refused(SLUICE_ALONE, jobs.patch, jobs.make(), annotate(mark, "{}"))
    refused(SLUICE_ALONE, jobs.patch, jobs.make(queue=None), annotate(mark, "{}"))


# ---- who submitted it ------------------------------------------------------------

SUBMITTER = "says who submitted the Job"
NOT_YOURS = "and this request comes from"


class CronJobs:
    """CronJobs of a namespace, and the Jobs that Kubernetes makes of them, made here by its account."""

    def __init__(self, plane, jobs):
        self.jobs, self.path = jobs, f"/apis/batch/v1/namespaces/{jobs.ns}/cronjobs"
        self.controller = kubernetes_account(plane, "cronjob-controller")

    def make(self, name, by, queue="gpu", annotations=None, dry=False):
        metadata = {**({"labels": {QUEUE: queue}} if queue else {}), **({"annotations": annotations} if annotations else {})}
        return by.post(self.path + ("?dryRun=All" if dry else ""), {
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name},
            "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"metadata": metadata, "spec": job("x", suspend=True)["spec"]}}})

    def patch(self, name, patch, by, kind="merge"):
        return by.patch(f"{self.path}/{name}", patch, kind)

    def template(self, name, by, **metadata):
        """Changes metadata of its jobTemplate."""
        return self.patch(name, {"spec": {"jobTemplate": {"metadata": metadata}}}, by)

    def run(self, cronjob, name):
        """As at its hour."""
        template = cronjob["spec"]["jobTemplate"]
        return self.controller.post(jobs_path(self.jobs.ns), {
            "apiVersion": "batch/v1", "kind": "Job", "spec": template["spec"],
            "metadata": {**template["metadata"], "name": name, "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "controller": True,
                         "name": cronjob["metadata"]["name"], "uid": cronjob["metadata"]["uid"]}]}})


def named(cronjob):
    return submitter(cronjob["spec"]["jobTemplate"])


@pytest.fixture
def cronjobs(plane, jobs):
    return CronJobs(plane, jobs)


@mutates
def test_a_queued_job_says_who_submitted_it_whatever_its_manifest_says(plane, jobs, user):
    admin, team = who(plane.api), f"system:serviceaccount:{jobs.ns}:user"
    assert admin != team == who(user)
    assert submitter(jobs.make()) == admin
    assert submitter(jobs.make(by=user)) == team
    assert submitter(jobs.make(by=user, annotations={"a": "b"})) == team
    assert submitter(jobs.make(by=user, annotations={SUBMITTED: admin})) == team
    assert submitter(jobs.make(by=user, annotations={SUBMITTED: ""})) == team
    assert submitter(jobs.make(by=user, queue=None)) is None
    assert submitter(jobs.make(by=user, queue=None, annotations={SUBMITTED: admin})) == team  # a label may come later


@mutates
def test_a_job_of_the_default_queue_says_who_submitted_it(plane, jobs, user, cronjobs):
    make_default_queue(plane, jobs)
    assert submitter(jobs.make(by=user, queue=None)) == who(user)
    wait_until("the same of CronJobs", lambda: named(cronjobs.make("probe", user, queue=None, dry=True)), SOON)
    cronjob = cronjobs.make("nightly", user, queue=None)
    assert named(cronjob) == who(user) == submitter(cronjobs.run(cronjob, "nightly-1"))


@mutates
def test_nobody_changes_who_submitted_a_job(jobs, user, sluice_account):
    made = jobs.make(by=user)
    for by in (user, jobs.api):
        refused(SUBMITTER, jobs.patch, made, annotate(SUBMITTED, who(jobs.api)), by=by)
        refused(SUBMITTER, jobs.patch, made, annotate(SUBMITTED, None), by=by)
        refused(SUBMITTER, jobs.patch, made, {**label(None), **{"metadata": {"labels": {QUEUE: None}, "annotations": {SUBMITTED: None}}}}, by=by)
        said = refused(SUBMITTER, jobs.patch, made, [{"op": "remove", "path": "/metadata/annotations"}], "json", by=by)
        assert "kubectl apply set-last-applied -f FILE" in said
    assert submitter(jobs.patch(made, annotate("a", "b"))) == who(user)
    assert submitter(jobs.patch(made, label(None), by=user)) == who(user)
    refused(SUBMITTER, jobs.patch, made, annotate(SUBMITTED, "x"), by=user)
    assert submitter(jobs.patch(made, label("gpu"))) == who(user)  # and comes back under its own name
    assert submitter(jobs.patch(made, annotate(SUBMITTED, "x"), by=sluice_account)) == "x"


@mutates
def test_a_job_that_gets_the_label_later_is_submitted_by_whoever_gives_it(jobs, user, sluice_account):
    waits = jobs.make(queue=None, suspend=True)
    refused(SUBMITTER, jobs.patch, waits, annotate(SUBMITTED, who(user)), by=user)  # not before
    assert submitter(jobs.patch(waits, label("gpu"), by=user)) == who(user)
    another = jobs.make(queue=None, suspend=True)
    refused(NOT_YOURS, jobs.patch, another, {"metadata": {"labels": {QUEUE: "gpu"}, "annotations": {SUBMITTED: "x"}}}, by=user)
    runs = jobs.make(queue=None, managedBy="example.com/nobody")
    assert submitter(jobs.patch(runs, label("gpu"), by=sluice_account)) is None  # adopted: who began it is not known


@mutates
def test_a_copy_of_a_job_is_its_copiers(jobs, user, kubectl, cronjobs):
    """kubectl get -o yaml, with another name; and kubectl create job --from."""
    copy = jobs.make()
    copy["metadata"] = {"name": "copy", **{k: copy["metadata"][k] for k in ("labels", "annotations")}}
    del copy["spec"]["selector"], copy["spec"]["template"]["metadata"], copy["status"]
    assert submitter(user.post(jobs_path(jobs.ns), copy)) == who(user)
    cronjobs.make("c", jobs.api)
    kubectl.run("create", "job", "by-hand", "--from=cronjob/c")
    assert submitter(jobs.get({"metadata": {"name": "by-hand"}})) == who(user)


@mutates
def test_jobs_of_a_cronjob_are_its_creators(jobs, user, cronjobs):
    cronjob = cronjobs.make("nightly", user, annotations={SUBMITTED: "somebody"})
    assert named(cronjob) == who(user)
    assert submitter(cronjobs.run(cronjob, "nightly-1")) == who(user)
    assert named(cronjobs.make("bare", user)) == who(user)
    assert named(cronjobs.make("unqueued", user, queue=None)) is None
    # From before the policies: nobody is known, and nobody is made up.
    assert submitter(cronjobs.run(cronjobs.make("older", user, queue=None), "older-1")) is None
    # What is no CronJob's is of the account that makes it, and no user passes for Kubernetes.
    made = cronjobs.controller.post(jobs_path(jobs.ns), job("engine", "gpu", annotations={SUBMITTED: "x"}))
    assert submitter(made) == "system:serviceaccount:kube-system:cronjob-controller"
    forged = job("forged", "gpu", annotations={SUBMITTED: "x"})
    forged["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "CronJob", "controller": True, "name": "nightly", "uid": cronjob["metadata"]["uid"]}]
    assert submitter(user.post(jobs_path(jobs.ns), forged)) == who(user)


@mutates
def test_whoever_changes_a_jobtemplate_submits_its_jobs_from_then_on(plane, jobs, user, cronjobs):
    admin = who(plane.api)
    cronjobs.make("nightly", user)
    assert named(cronjobs.patch("nightly", {"spec": {"schedule": "0 1 1 1 *", "suspend": True}}, plane.api)) == who(user)
    assert named(cronjobs.patch("nightly", {"metadata": {"labels": {"a": "b"}}}, plane.api)) == who(user)
    changes = [({"annotations": {"a": "b"}}, plane.api), ({"annotations": {"a": None, SUBMITTED: admin}}, user), ({"labels": {"a": "b"}}, plane.api),
               ({"annotations": {SUBMITTED: None}}, user), ({"annotations": {SUBMITTED: "x"}}, plane.api)]
    for metadata, by in changes:
        assert named(cronjobs.template("nightly", by, **metadata)) == who(by), metadata
    assert named(cronjobs.patch("nightly", {"spec": {"jobTemplate": {"spec": {"backoffLimit": 3}}}}, user)) == who(user)
    # It comes into a queue by its label; and one that has no name gets that of whoever writes his own.
    cronjobs.make("late", user, queue=None)
    assert named(cronjobs.template("late", plane.api, labels={QUEUE: "gpu"})) == admin
    cronjobs.make("unnamed", plane.api, queue=None)
    assert named(cronjobs.template("unnamed", user, annotations={SUBMITTED: "whoever"})) == who(user)


@mutates
def test_a_cronjob_is_applied_again_without_a_change_of_name(plane, jobs, user, kubectl, cronjobs):
    manifest = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "applied", "namespace": jobs.ns}, "spec": {
        "schedule": "0 0 1 1 *", "jobTemplate": {"metadata": {"labels": {QUEUE: "gpu"}}, "spec": job("x")["spec"]}}}
    kubectl.run("apply", "-f", "-", obj=manifest)
    for how in ([], ["--server-side", "--force-conflicts"]):
        for api in (kubectl.run, plane.kubectl):
            api("apply", *how, "-f", "-", **({"obj": manifest} if api == kubectl.run else {"input": json.dumps(manifest)}))
            assert named(plane.api.get(f"{cronjobs.path}/applied")) == who(user)
    kubectl.apply(job("applied", "gpu"), "--server-side")
    for _ in range(2):
        assert submitter(kubectl.apply(job("applied", "gpu"), "--server-side", "--force-conflicts")[0]) == who(user)


@mutates
def test_the_largest_annotations_are_compared(plane, jobs, user, cronjobs):
    """The API server stops an expression that takes too long."""
    many = {f"k{i}": "x" * 1000 for i in range(240)}
    cronjobs.make("large", user, annotations=many)
    changed = cronjobs.template("large", plane.api, annotations={"k0": "y"})
    assert named(changed) == who(plane.api)
    assert named(cronjobs.patch("large", {"spec": {"suspend": True}}, user)) == who(plane.api)
    assert submitter(cronjobs.run(changed, "large-1")) == who(plane.api)
    assert submitter(jobs.make(by=user, annotations=many)) == who(user)


# ---- since when it is queued -------------------------------------------------------

SINCE = "says since when the Job is queued"
UNDATED = "does not tell when the Job comes into queue"


def queued_at(obj):
    return obj["metadata"].get("annotations", {}).get(QUEUED)


def api_time(ahead=0):
    """As the API server writes times. Both have one clock."""
    return datetime.fromtimestamp(time.time() + ahead, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def managed(at, manager="forged"):
    """An entry of metadata.managedFields."""
    return {"manager": manager, "operation": "Update", "apiVersion": "batch/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:suspend": {}}}, **({"time": at} if at else {})}


@pytest.fixture
def kept(jobs, user):
    """A Job that is kept without the label, made some seconds ago."""
    made = jobs.make(queue=None, suspend=True, by=user)
    time.sleep(1.1)  # times have whole seconds: what comes now is later
    return made


@mutates
@pytest.mark.parametrize("how", ["merge", "put", "json", "kubectl", "server-side apply"])
def test_a_job_that_gets_the_label_later_is_queued_since_then(jobs, kept, user, kubectl, how):
    name, before = kept["metadata"]["name"], api_time()
    if how == "merge":
        jobs.patch(kept, label("gpu"), by=user)
    elif how == "put":
        whole = jobs.get(kept)
        whole["metadata"]["labels"] = {**whole["metadata"].get("labels", {}), QUEUE: "gpu"}
        user.raw("PUT", jobs_path(jobs.ns, name), whole)
    elif how == "json":
        jobs.patch(kept, [{"op": "add", "path": "/metadata/labels", "value": {QUEUE: "gpu"}}], "json", by=user)
    elif how == "kubectl":
        kubectl.run("label", "job", name, f"{QUEUE}=gpu")
    else:
        kubectl.apply(job(name, "gpu", {"cpu": "1"}, suspend=True), "--server-side", "--force-conflicts")
    assert kept["metadata"]["creationTimestamp"] < before <= queued_at(jobs.get(kept)) <= api_time()


def test_a_job_that_is_made_with_the_label_is_queued_since_its_creation(jobs, user):
    assert queued_at(jobs.make(by=user)) is None


@mutates
def test_nobody_chooses_since_when_a_job_is_queued(jobs, kept, user, sluice_account):
    jobs.patch(kept, annotate(QUEUED, "2020-01-01T00:00:00Z"), by=user)  # without the label it means nothing
    before = api_time()
    first = queued_at(jobs.patch(kept, {"metadata": {"labels": {QUEUE: "gpu"}, "annotations": {QUEUED: "2020-01-01T00:00:00Z"}}}, by=user))
    assert before <= first <= api_time()
    for by in (user, jobs.api):
        refused(SINCE, jobs.patch, kept, annotate(QUEUED, "2020-01-01T00:00:00Z"), by=by)
        refused(SINCE, jobs.patch, kept, annotate(QUEUED, None), by=by)
        refused(SINCE, jobs.patch, jobs.make(by=user), annotate(QUEUED, "2020-01-01T00:00:00Z"), by=by)
    assert queued_at(jobs.patch(kept, label("other"), by=user)) == first  # moved
    jobs.patch(kept, label(None), by=user)
    time.sleep(1.1)
    assert first < queued_at(jobs.patch(kept, label("gpu"), by=user)) <= api_time()  # it left the line


@pytest.mark.parametrize("entries", [
    [managed("2020-01-01T00:00:00Z")], [managed(None)],
    [managed("2020-01-01T00:00:00Z", manager=f"m{i}") for i in range(30)]], ids=["old", "no time", "many"])
@mutates
def test_managed_fields_with_old_times_give_no_earlier_place(jobs, kept, user, entries):
    for together in (False, True):
        forged = {"metadata": {"managedFields": entries}}
        if not together:
            jobs.patch(kept, forged, by=user)
            time.sleep(1.1)
        before = api_time()
        assert before <= queued_at(jobs.patch(kept, {"metadata": {"labels": {QUEUE: "gpu"}, **(forged["metadata"] if together else {})}}, by=user)) <= api_time()
        jobs.patch(kept, label(None), by=user)
        time.sleep(1.1)


@mutates
def test_managed_fields_with_times_to_come_give_a_later_place(jobs, kept, user):
    ahead = api_time(3600)
    forged = {"metadata": {"labels": {QUEUE: "gpu"}, "managedFields": [managed(ahead, manager=f"m{i}") for i in range(12)]}}
    assert queued_at(jobs.patch(kept, forged, by=user)) == ahead


@mutates
def test_a_job_comes_into_no_queue_without_a_time(jobs, kept, user, kubectl):
    emptied = {"metadata": {"managedFields": [{}]}}
    said = refused(UNDATED, jobs.patch, kept, {"metadata": {**emptied["metadata"], "labels": {QUEUE: "gpu"}}}, by=user)
    assert "create the Job anew with the label sluice.dev/queue-name" in said
    assert "managedFields" not in jobs.patch(kept, emptied, by=user)["metadata"]
    refused(UNDATED, jobs.patch, kept, label("gpu"), by=user)
    refused(UNDATED, jobs.patch, kept, {"metadata": {"labels": {QUEUE: "gpu"}, "annotations": {QUEUED: "2020-01-01T00:00:00Z"}}}, by=user)
    before = api_time()  # it is tracked again from its first server-side apply on
    kubectl.apply(job(kept["metadata"]["name"], "gpu", {"cpu": "1"}, suspend=True), "--server-side", "--force-conflicts")
    assert before <= queued_at(jobs.get(kept)) <= api_time()


def test_too_many_managed_fields_are_not_read(jobs, kept, user):
    many = [{**managed("2020-01-01T00:00:00Z", manager=f"m{i}"), "operation": "Apply"} for i in range(120)]
    refused(UNDATED, jobs.patch, kept, {"metadata": {"managedFields": many, "labels": {QUEUE: "gpu"}}}, by=user)


def test_a_run_that_is_adopted_keeps_its_place(jobs, sluice_account):
    runs = jobs.make(queue=None, managedBy="example.com/nobody")
    assert queued_at(jobs.patch(runs, label("gpu"), by=sluice_account)) is None


# ---- what Sluice may do ----------------------------------------------------------


@pytest.fixture
def running(jobs, sluice_account):
    """A Job that was let in by Sluice's own account. The Job controller leaves its status to the tests: no user could queue it."""
    made = jobs.make(queue=None, suspend=True, managedBy="example.com/nobody")
    jobs.patch(made, label("gpu"), by=sluice_account)
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
        assert "sluice.dev/hold=yes" in said and "when its last pod is gone" in said


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


def test_a_running_job_gets_a_queue_by_an_admins_word_alone(plane, jobs, user):
    """The Job controller leaves its status to the test."""
    made = jobs.make(queue=None, managedBy="kubernetes.io/job-controller")
    wait_until("it to have begun", lambda: jobs.get(made).get("status", {}).get("startTime"), SOON)
    began = jobs.get(made)["status"]["startTime"]
    said = refused(f"ask an admin for: sluice adopt -n {jobs.ns} --queue gpu {made['metadata']['name']}", jobs.patch, made, label("gpu"), by=user)
    assert "adopt-begun-by" not in said

    def said_of_it():
        with pytest.raises(ApiError) as refusal:
            jobs.patch(made, label("gpu"))
        return refusal.value.message
    for word in ("2000-01-01T00:00:00Z", "soon", began.replace("Z", "+00:00")):
        plane.api.patch(f"/api/v1/namespaces/{jobs.ns}", annotate("sluice.dev/adopt-begun-by", word))
        # Before the API server knows the Namespace's annotation it refuses in the words from above, or in those of the word before.
        wait_until(f"the API server to know {word}", lambda: "what had begun to run by" in (said := said_of_it()) and word in said, SOON)
    with pytest.raises(ApiError) as denied:
        user.patch(f"/api/v1/namespaces/{jobs.ns}", annotate("sluice.dev/adopt-begun-by", began))
    assert denied.value.status == 403
    plane.api.patch(f"/api/v1/namespaces/{jobs.ns}", annotate("sluice.dev/adopt-begun-by", began))

    def taken():
        try:
            return jobs.patch(made, label("gpu"), by=user)
        except ApiError:
            return None
    assert wait_until("the API server to know the word", taken, SOON)["spec"]["suspend"] is False
    refused(HOLDS, jobs.patch, made, label(None), by=user)


def test_sluice_may_start_with_fewer_pods_down_to_the_least(jobs, sluice_account):
    made = jobs.make(pods=4, annotations={"sluice.dev/min-parallelism": "2"})
    patch = [{"op": "replace", "path": "/spec/suspend", "value": False}, {"op": "replace", "path": "/spec/parallelism", "value": 2}]
    assert jobs.patch(made, patch, "json", by=sluice_account)["spec"]["parallelism"] == 2


# ---- more pods than were let in ------------------------------------------------------

STARTED = '{"attempt":1,"state":"Started","epoch":1,"at":"2026-11-22T08:00:00Z","clusterQueue":"q","flavors":{"cpu":"f"},"reason":"","by":"t"%s}'


def started(jobs, sluice_account, made, story="", **spec):
    """As Sluice starts it; spec: what it changes beside suspend."""
    return jobs.patch(made, {**annotate(STORY, STARTED % story), "spec": {"suspend": False, **spec}}, by=sluice_account)


def test_an_elastic_job_grows_neither_by_its_parallelism_nor_by_its_completions(jobs, user, sluice_account):
    one = jobs.make(by=user, pods=100, completions=1, completionMode="Indexed")
    started(jobs, sluice_account, one)
    said = refused("was admitted by queue", jobs.patch, one, {"spec": {"completions": 100}}, by=user)
    assert "spec.completions 1 and so 1 at a time, and spec.completions cannot be raised to 100 while it runs" in said
    two = jobs.make(by=user, pods=2, completionMode="Indexed")
    started(jobs, sluice_account, two)
    said = refused("spec.parallelism 2, so it cannot be raised to 4 while it runs", jobs.patch, two, {"spec": {"completions": 4, "parallelism": 4}}, by=user)
    assert f"kubectl annotate job {two['metadata']['name']} -n {jobs.ns} sluice.dev/hold=yes" in said
    assert jobs.patch(two, {"spec": {"completions": 1, "parallelism": 1}}, by=user)["spec"]["completions"] == 1
    refused("cannot be raised", jobs.patch, two, {"spec": {"completions": 2, "parallelism": 2}}, by=user)


def test_parallelism_beyond_the_completions_makes_no_more_pods(jobs, user, sluice_account):
    made = jobs.make(by=user, pods=4)
    started(jobs, sluice_account, made)
    assert jobs.patch(made, {"spec": {"parallelism": 9}}, by=user)["spec"]["parallelism"] == 9
    without = jobs.make(by=user, pods=4, completions=None)
    started(jobs, sluice_account, without)
    refused("cannot be raised to 9", jobs.patch, without, {"spec": {"parallelism": 9}}, by=user)


SHRUNK = ',"pods":2,"parallelism":4,"completions":4'


@mutates
def test_a_shrunk_job_accepts_its_owners_own_number_and_no_other(jobs, user, sluice_account):
    kw = dict(by=user, pods=4, completionMode="Indexed", annotations={"sluice.dev/min-parallelism": "2"})
    made = jobs.make(**kw)
    started(jobs, sluice_account, made, SHRUNK, parallelism=2, completions=2)
    for patch in ({"parallelism": 4}, {"parallelism": 4, "completions": 4}):
        spec = jobs.patch(made, {"spec": patch}, by=user)["spec"]
        assert (spec["parallelism"], spec["completions"], spec["suspend"]) == (2, 2, False), patch
    for patch in ({"parallelism": 3, "completions": 3}, {"parallelism": 5, "completions": 5}, {"parallelism": 40, "completions": 40}):
        refused("cannot be raised", jobs.patch, made, {"spec": patch}, by=user)
    stopped = jobs.patch(made, {"spec": {"parallelism": 4, "completions": 4, "suspend": True}}, by=user)["spec"]
    assert (stopped["parallelism"], stopped["completions"], stopped["suspend"]) == (4, 4, True)


def test_a_story_cannot_be_made_to_say_another_number(jobs, user, sluice_account):
    """What others wrote stands in a story as a string of JSON."""
    message = r',"message":"\"parallelism\":9 \"state\":\"Started\""'
    made = jobs.make(by=user, pods=4, completions=None, annotations={"sluice.dev/min-parallelism": "2"})
    jobs.patch(made, {**annotate(STORY, STARTED.replace("Started", "Fenced") % message), "spec": {"suspend": False, "parallelism": 2}}, by=sluice_account)
    refused("cannot be raised to 9", jobs.patch, made, {"spec": {"parallelism": 9}}, by=user)


# ---- typing mistakes --------------------------------------------------------------------

MISTAKES = [
    ("annotations", "dead-line", "Sluice does not read annotation sluice.dev/dead-line; did you mean annotation sluice.dev/deadline?"),
    ("annotations", "startAfter", "did you mean annotation sluice.dev/start, or annotation sluice.dev/start-after?"),
    ("annotations", "queue-name", "annotation sluice.dev/queue-name; did you mean label sluice.dev/queue-name?"),
    ("labels", "hold", "label sluice.dev/hold; did you mean annotation sluice.dev/hold?"),
    ("labels", "xyz", "Sluice does not read label sluice.dev/xyz"),
]


@pytest.mark.parametrize("where,key,says", MISTAKES, ids=[f"{where}-{key}" for where, key, _ in MISTAKES])
def test_a_key_that_nobody_reads_brings_a_warning_and_the_job_is_taken(jobs, kubectl, where, key, says):
    obj = job("typo", "gpu", {"cpu": "1"})
    obj["metadata"].setdefault(where, {})[f"sluice.dev/{key}"] = "yes"
    made, warned = kubectl.apply(obj)
    assert says in warned and made["metadata"]["uid"]


def test_of_a_cronjob_the_template_of_its_jobs_is_looked_at(jobs, plane):
    made = job("typo", "gpu", {"cpu": "1"})
    made["metadata"]["annotations"] = {"sluice.dev/expected-durations": "2h"}
    obj = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "typo", "namespace": jobs.ns},
           "spec": {"schedule": "0 3 * * *", "jobTemplate": {"metadata": {k: made["metadata"][k] for k in ("labels", "annotations")}, "spec": made["spec"]}}}
    warned = plane.kubectl("apply", "-f", "-", input=json.dumps(obj)).stderr
    assert "annotation sluice.dev/expected-durations; did you mean annotation sluice.dev/expected-duration?" in warned


def test_on_the_cronjob_itself_a_key_does_nothing(jobs, plane):
    made = job("typo", "gpu", {"cpu": "1"})
    obj = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "own", "namespace": jobs.ns, "annotations": {"sluice.dev/hold": "yes"}},
           "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": made["spec"]}}}
    assert "on the CronJob itself have no effect" in plane.kubectl("apply", "-f", "-", input=json.dumps(obj)).stderr


MANY = 10000
LARGE = {
    "annotations": dict(annotations={f"a{i}": "" for i in range(MANY)}),
    "labels": dict(labels={f"a{i}": "" for i in range(MANY)}),
    "unknown keys": dict(annotations={f"sluice.dev/a{i}": "" for i in range(MANY)}),
    "finalizers": dict(finalizers=["foregroundDeletion"] * (2 * MANY)),
    "owners": dict(queue=None, owners=[JOBSET] * MANY),
}


def effort(plane, ns, obj):
    """Seconds of the API server's CPU for a request, and for whatever else it does meanwhile."""
    def spent():
        fields = Path(f"/proc/{plane.pid('kube-apiserver')}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    before = spent()
    with contextlib.suppress(ApiError):  # refused, after it was looked at
        plane.api.post(jobs_path(ns) + "?dryRun=All", obj)
    return spent() - before


@pytest.mark.since_kubernetes(36, "has no policy that gives a Job the queue default")
@pytest.mark.parametrize("what", LARGE)
def test_of_many_things_the_policies_cost_no_square(plane, jobs, what):
    """Ten times what the same request costs in kube-system, which they leave alone, is enough for all of them. Once is enough to show it:
    with a square, no request is so cheap."""
    kw = dict(LARGE[what])
    make_default_queue(plane, jobs)
    finalizers, owners = kw.pop("finalizers", []), kw.pop("owners", [])
    obj = job("large", **{"queue": "gpu", **kw})
    obj["metadata"] |= {"finalizers": finalizers, "ownerReferences": owners}
    spent = []
    while not spent or spent[-1][1] > 10 * spent[-1][0] + 0.1:
        assert len(spent) < 12, f"seconds in kube-system and here: {spent}"
        spent.append((effort(plane, "kube-system", obj), effort(plane, jobs.ns, obj)))


def test_of_very_many_keys_none_is_told(jobs, kubectl):
    few, many = ({"sluice.dev/dead-line": "x", **{f"a{i}": "" for i in range(n)}} for n in (50, 150))
    assert "Sluice does not read" in kubectl.apply(job("few", "gpu", annotations=few))[1]
    assert "Sluice does not read" not in kubectl.apply(job("many", "gpu", annotations=many))[1]


def test_what_is_read_brings_no_warning(jobs, kubectl):
    obj = job("fine", "gpu", {"cpu": "1"})
    obj["metadata"].setdefault("annotations", {}).update({"sluice.dev/deadline": "2099-01-01T00:00:00Z", "sluice.dev/simulate-duration": "1h"})
    assert "Sluice does not read" not in kubectl.apply(obj)[1]


def test_the_policy_knows_what_the_controller_reads():
    """Of a Job; the others are of Namespaces, Nodes, pods, and of what Sluice makes for itself; one is a finalizer."""
    others = {"adopt-begun-by", "asks-for", "cluster-queue-name", "overcommit-sample", "provisions-job-uid", "resource-in-use"}
    read = set(re.findall(r'"sluice\.dev/([a-z-]+)"', (ROOT / "include/sluice/keys.h").read_text()))
    policy = (ROOT / "deploy/policies/validating/unknown-keys.yaml").read_text()
    known = re.findall(r"'([a-z-]+)'", "".join(re.findall(r"\['[^\]]*'\]", policy)))
    assert set(known) == read - others


# ---- values that mean nothing -------------------------------------------------------------

# Of each key, values that the controller takes and others that it does not. The Job has 4 pods, and as many completions.
BOOLEAN = ["true", "false"], ["yes", "True", "", "true ", "true\n", "x" * 400]
TIMES = (
    ["2026-11-22T08:00:00Z", "2026-11-21T10:58:30.123+01:00", "2026-02-29t08:00:60z", "2026-11-22 08:00 Europe/Berlin", "2026-11-22T8:00 Europe/Berlin",
     "Mon 8:00 Europe/Berlin", "monday Europe/Berlin", "8:00 UTC", "24:00 UTC", "today UTC", " tomorrow  23:59  UTC ", "0001-01-01T00:00:00Z"],
    ["25:00", "08:00", "8:60 UTC", "24:01 UTC", "24 UTC", "Mon", "Mon 8:00", "2026-11-22", "2026-11-31 08:00 UTC", "2026-13-01T08:00:00Z", "2026-11-22T08:00:00",
     "2026-11-22T08:00:00Z UTC", "Mon 8:00 Europe/Berlin now", "8:00 1st", "UTC", "", " ", "noon UTC", "8:00\tUTC", "8:00 UTC\n", "1969-01-01 08:00 UTC", "8:00 " + "Z" * 140])
VALUES = {
    "after": (["prep", "afterok:prep", "afterany: prep,\n after:load , afternotok:a.b-1", "singleton", "", " \n", "afterok:{batch=tuesday,stage in (prep, load),!test}",
               "{a,b!=c, d ! = e,f==g,h notin (i,),j=}", "afterok"],
              ["prep,", ",", "aftercorr:prep", "afterok:Prep", "ns/prep", "afterok:a:b", "afterok:{}", "afterok:{a=b", "afterok:{a=b}x", "{a b}", "singleton:x",
               "prep load", "-prep", "prep.", "x" * 9000]),
    "completions-equal-parallelism": BOOLEAN,
    "deadline": TIMES,
    "expected-duration": (["5400", "1h30m", "1.5h", "90s", "500ms", "1ns", "0h1s", ".5h", "5.h", "007", "1\u00b5s", "2\u03bcs1us", "3153600000"],
                          ["2 hours", "2d", "0", "0s", "0.0h", "-1h", "1h30", "h", "", "1 h", "1H", "1h\n", "1e3", "99999999999", "x" * 400]),
    "grow": BOOLEAN,
    "hold": (["yes", "false", "", "until Tom is back", "Gr\u00f6\u00dfe", "x" * 1024], ["two\nlines", "x" * 1025, "\u00e9" * 600, "a\u0085b"]),
    "max-price": (["0.05", "0", "2.50 nvidia.com/gpu", "0.005  memory-gib", "1 ", "1 hugepages-2Mi-gib", "0.000001 cpu"],
                  ["0,05", "5 EUR per hour", ".5", "1.", "1.0000001", "-1", "", "1 memory", "1 storage", "1 hugepages-2Mi", "1 cpu-gib", "EUR 5", "1 cpu ", "1\tcpu", "1 \u20ac"]),
    "max-run-seconds": (["3600", "1", "0060", "2147483647", "0" * 300 + "7"],
                        ["1h", "0", "000", "-1", "1.5", "", " 60", "3600\n", "2147483648", "2200000000", "9999999999", "0" * 317 + "7"]),
    "min-parallelism": (["1", "3", "003"], ["half", "0", "4", "5", "-1", "50%", ""]),
    "nice": (["0", "10", "-100", "100", "007", "-0"], ["101", "+1", "-", "low", "", "0010", "1.0", "10 "]),
    "on-dependency-failure": (["Wait", "Hold", "Delete"], ["wait", "Fail", "", "Hold ", "Delete\n", "x" * 60]),
    "on-missed-deadline": (["RunAnyway", "Hold", "Fail"], ["fail", "hold", "", "Run"]),
    "preemptible": BOOLEAN,
    "start": (["Asap", "Cheapest"], ["cheapest", "now", ""]),
    "start-after": TIMES,
}
# Those whose sentence is the controller's, but for the item that is meant.
OWN_WORDS = {"after"}
# Values that are right by themselves, and not with what else the Job says: (annotations, spec, the sentence's beginning; None: right).
TOGETHER = [
    ({"grow": "true"}, {}, "sluice.dev/grow: needs annotation sluice.dev/min-parallelism"),
    ({"grow": "true", "min-parallelism": "2"}, {}, None),
    ({"min-parallelism": "1"}, {"parallelism": 1, "completions": 1}, 'min-parallelism: "1" is not less than spec.parallelism, which is 1;'),
    ({"completions-equal-parallelism": "true"}, {"completionMode": "NonIndexed"}, "needs completionMode Indexed"),
    ({"completions-equal-parallelism": "true"}, {"completions": 8}, "needs completionMode Indexed"),
    ({"completions-equal-parallelism": "true"}, {"completions": None, "completionMode": "NonIndexed"}, "needs completionMode Indexed"),
]


def valued(name, annotations, ns, **spec):
    """A Job with annotations of ours; `grow` has what it needs. Without a queue, so nothing is refused."""
    beside = {"min-parallelism": "2"} if set(annotations) == {"grow"} and not spec else {}
    obj = job(name, pods=4, **{"completionMode": "Indexed", **spec}, annotations={f"sluice.dev/{k}": v for k, v in {**beside, **annotations}.items()})
    obj["metadata"]["namespace"] = ns
    obj["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return obj


class Judges:
    """What is said of Jobs: by the policies of the API server, and by the code with which the controller reads them."""

    def __init__(self, plane, jobs, program, folder):
        self.plane, self.ns, self.program, self.folder = plane, jobs.ns, program, folder

    def warnings(self, objs):
        """{name: what is warned of}, of those that bring a warning."""
        done = self.plane.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objs}))
        assert done.stdout.count("created (server dry run)") == len(objs), done
        return dict(re.findall(rf"'sluice-wrong-values': \w+ {self.ns}/(v\d+): (.*)", done.stderr))

    def controller(self, obj):
        """The sentence, or None: it takes the Job."""
        queued = json.loads(json.dumps(obj))
        queued["metadata"]["labels"] = {QUEUE: "main"}
        file = self.folder / "job.json"
        file.write_text(json.dumps(queued))
        said = self.program("sluice", "simulate", file).stderr
        return next(iter(re.findall(rf"Job {self.ns}/v\d+: (metadata\..*)", said)), None)


@pytest.fixture
def judges(plane, jobs, program, tmp_path):
    return Judges(plane, jobs, program, tmp_path)


def test_a_value_that_is_not_taken_brings_the_controllers_own_words(judges):
    rows = [(key, value, right) for key, both in VALUES.items() for right, values in zip((True, False), both) for value in values]
    objs = [valued(f"v{i}", {key: value}, judges.ns) for i, (key, value, _) in enumerate(rows)]
    warned = judges.warnings(objs)
    wrong = []
    for obj, (key, value, right) in zip(objs, rows):
        warning, says = warned.get(obj["metadata"]["name"]), judges.controller(obj)
        if (warning is None, says is None) != (right, right) or not (right or key in OWN_WORDS or warning == says):
            wrong.append((key, value, warning, says))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("row", range(len(TOGETHER)))
def test_values_that_do_not_go_together_bring_a_warning(judges, row):
    annotations, spec, words = TOGETHER[row]
    obj = valued("v0", annotations, judges.ns, **{"parallelism": 4, **spec})
    warning, says = judges.warnings([obj]).get("v0"), judges.controller(obj)
    assert warning == says and (words in says if words else says is None)


def changed(draw, values):
    """One of the values with a slip or two, or a piece of another behind it."""
    text = draw.choice(values)
    for _ in range(draw.randint(0, 2)):
        at = draw.randint(0, len(text))
        text = draw.choice([text[:at] + text[at + 1:], text[:at] + draw.choice(" 0159:.-,TZhms{}(=!aA\n\u00e9") + text[at:], text[:at] + draw.choice(values)[at:], text.swapcase()])
    return text


@pytest.mark.search
def test_no_value_that_the_controller_takes_brings_a_warning(judges):
    draw = random.Random(SEED)
    objs = [valued(f"v{i}", {key: changed(draw, VALUES[key][0])}, judges.ns) for i, key in enumerate(searched(8, 400) * sorted(VALUES))]
    for name, warning in judges.warnings(objs).items():
        obj = objs[int(name[1:])]
        assert judges.controller(obj), (SEED, obj["metadata"]["annotations"], warning)


def test_several_wrong_values_are_told_at_once(judges):
    obj = valued("v0", {"start": "cheapest", "deadline": "25:00", "on-missed-deadline": "fail", "expected-duration": "2 hours"}, judges.ns)
    warning = judges.warnings([obj])["v0"]
    assert [re.sub(" .*", "", s) for s in warning.split("; metadata.annotations.sluice.dev/")] == [
        "metadata.annotations.sluice.dev/deadline:", "expected-duration:", "on-missed-deadline:", "start:"]


def test_the_wrong_values_of_a_cronjobs_jobs_are_told_and_those_of_its_labels(judges):
    """What sluice-guard-jobs refuses of a Job would come to light at its hour."""
    obj = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "v0", "namespace": judges.ns}, "spec": {
        "schedule": "0 3 * * *", "jobTemplate": {"spec": job("x")["spec"], "metadata": {
            "labels": {QUEUE: "My_Queue", "sluice.dev/priority-class": "A_b", "sluice.dev/preemptible": "yes"},
            "annotations": {"sluice.dev/grow": "yes", "sluice.dev/preemptible": "no"}}}}}
    assert judges.warnings([obj])["v0"] == "; ".join(f"spec.jobTemplate.metadata.{said}" for said in [
        'labels.sluice.dev/preemptible: "yes" is neither "true" nor "false"',
        'labels.sluice.dev/priority-class: "A_b" cannot be the name of a WorkloadPriorityClass',
        'labels.sluice.dev/queue-name: "My_Queue" cannot be the name of a LocalQueue',
        'annotations.sluice.dev/grow: "yes" is neither "true" nor "false"'])


def test_a_run_with_fewer_pods_brings_no_warning(jobs, user, kubectl, sluice_account):
    made = jobs.make(by=user, pods=4, annotations={"sluice.dev/min-parallelism": "2"})
    started(jobs, sluice_account, made, SHRUNK, parallelism=2)
    assert "sluice-wrong-values" not in kubectl.run("annotate", "job", made["metadata"]["name"], "a=b").stderr


def test_each_key_that_is_read_has_a_form_of_its_values(plane):
    policies = {name: plane.api.get(f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/sluice-{name}")["spec"]
                for name in ("unknown-keys", "wrong-values")}

    def keys(policy, variable, mark="'"):
        return sorted(re.findall(mark + "'?([a-z-]+)'", next(v["expression"] for v in policies[policy]["variables"] if v["name"] == variable)))
    for read, forms in (("readLabels", "labelForms"), ("readAnnotations", "annotationForms")):
        assert keys("unknown-keys", read) == keys("wrong-values", forms, "'key': ")
    looked_at = policies["wrong-values"]["matchConditions"][0]["expression"].partition("[")[2].rpartition("[")[2]
    assert sorted(VALUES) == keys("unknown-keys", "readAnnotations") == sorted(re.findall("'([a-z-]+)'", looked_at.partition("]")[0]))


# ---- a manifest that is applied again --------------------------------------------------


class Kubectl:
    """kubectl with a user's rights; answers (Job, what it warned of)."""

    def __init__(self, plane, jobs):
        self.plane, self.jobs = plane, jobs
        self.who = ("--as", f"system:serviceaccount:{jobs.ns}:user", "--as-group", "system:authenticated", "-n", jobs.ns)

    def run(self, *args, obj=None):
        return self.plane.kubectl(*self.who, *args, input=json.dumps(obj) if obj else None)

    def apply(self, obj, *how):
        done = self.run("apply", *how, "-f", "-", obj=obj)
        return self.jobs.get(obj), done.stderr

    def patch(self, obj, **spec):
        self.run("patch", "job", obj["metadata"]["name"], "--type=merge", "-p", json.dumps({"spec": spec}))
        return self.jobs.get(obj)


@pytest.fixture
def kubectl(plane, jobs, user):
    return Kubectl(plane, jobs)


APPLIES = {"client-side apply": (), "server-side apply": ("--server-side", "--force-conflicts"),
           "server-side apply of a GitOps tool": ("--server-side", "--force-conflicts", "--field-manager=argocd-controller"),
           "client-side apply of another name": ("--field-manager=deployer",)}


@mutates
@pytest.mark.parametrize("how", APPLIES)
def test_a_manifest_that_is_applied_again_changes_nothing_of_a_run(jobs, kubectl, sluice_account, how):
    manifest = job("again", "gpu", {"cpu": "1"}, pods=4, suspend=True, completionMode="Indexed", annotations={"sluice.dev/min-parallelism": "2"})
    kubectl.apply(manifest, *APPLIES[how])
    before = started(jobs, sluice_account, manifest, SHRUNK, parallelism=2, completions=2)
    for _ in range(2):
        now, warned = kubectl.apply(manifest, *APPLIES[how])
        assert now["spec"] == before["spec"]
        assert "goes on running: spec.suspend of a queued Job is set by Sluice, so what the manifest says of it is ignored; leave it out" in warned
        assert f"kubectl annotate job again -n {jobs.ns} sluice.dev/hold=yes" in warned
    manifest["metadata"]["labels"]["team"] = "x"  # an edit of the manifest reaches the Job, and does not stop it
    now, _ = kubectl.apply(manifest, *APPLIES[how])
    assert now["spec"] == before["spec"] and now["metadata"]["labels"]["team"] == "x"
    del manifest["spec"]["suspend"]  # as the warning says
    kubectl.apply(manifest, *APPLIES[how])
    now, warned = kubectl.apply(manifest, *APPLIES[how])
    assert now["spec"] == before["spec"] and "Warning" not in warned


@mutates
@pytest.mark.parametrize("how", APPLIES)
def test_a_manifest_of_a_run_in_idle_room_may_be_applied_again(jobs, kubectl, sluice_account, how):
    """The start has rewritten what its containers ask for, beside selector, tolerations and affinity."""
    required, preferred = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))
    zones, pool = ({"key": key, "operator": "In", "values": [value]} for key, value in (("zone", "a"), ("pool", "idle")))
    manifest = job("idle", "gpu", {"cpu": "1", "memory": "1Gi"}, pod={
        "initContainers": [{"name": "early", "image": "i", "resources": {"requests": {"cpu": "1"}}}], "nodeSelector": {"own": "x"},
        "tolerations": [{"key": "own", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}}}})
    kubectl.apply(manifest, *APPLIES[how])
    pod, lent = "/spec/template/spec/", {"kubernetes.io/batch-cpu": "1000", "kubernetes.io/batch-memory": "1073741824"}
    resources = {"requests": lent, "limits": lent}
    jobs.patch(manifest, [
        {"op": "replace", "path": f"{pod}containers/0/resources", "value": resources},
        {"op": "replace", "path": f"{pod}initContainers/0/resources", "value": resources},
        {"op": "add", "path": f"{pod}nodeSelector/pool", "value": "idle"}, {"op": "add", "path": f"{pod}tolerations/-", "value": {"key": "idle", "operator": "Exists"}},
        {"op": "add", "path": f"{pod}affinity/nodeAffinity/{required}/nodeSelectorTerms/0/matchExpressions/-", "value": pool},
        {"op": "add", "path": f"{pod}affinity/nodeAffinity/{preferred}", "value": [{"weight": 1, "preference": {"matchExpressions": [pool]}}]},
        {"op": "add", "path": "/spec/template/metadata/labels/koordinator.sh~1qosClass", "value": "BE"},
        {"op": "replace", "path": "/spec/suspend", "value": False}], "json", by=sluice_account)
    before = jobs.patch(manifest, annotate(STORY, STARTED % ""), by=sluice_account)
    for _ in range(2):
        assert kubectl.apply(manifest, *APPLIES[how])[0]["spec"] == before["spec"]
    # Another image is another Job, as Kubernetes says.
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    done = kubectl.plane.kubectl(*kubectl.who, "apply", *APPLIES[how], "-f", "-", input=json.dumps(manifest), check=False)
    assert done.returncode and "field is immutable" in done.stderr


@mutates
def test_helms_unchanged_manifest_changes_nothing_of_a_run(jobs, user, sluice_account):
    made = jobs.make(by=user)
    started(jobs, sluice_account, made)
    path = jobs_path(jobs.ns, made["metadata"]["name"])
    patched = user.patch(f"{path}?fieldManager=helm", {"spec": {"suspend": True}}, "strategic")
    assert patched["spec"]["suspend"] is False


@mutates
@pytest.mark.parametrize("how", APPLIES)
def test_a_manifest_that_is_applied_again_starts_no_job(jobs, kubectl, how):
    manifest = job("waits", "gpu", {"cpu": "1"}, suspend=False)
    kubectl.apply(manifest, *APPLIES[how])
    now, warned = kubectl.apply(manifest, *APPLIES[how])
    assert now["spec"]["suspend"] is True
    assert "stays suspended" in warned and f"sluice explain job/waits -n {jobs.ns}" in warned
    del manifest["spec"]["suspend"]  # the field falls back to false then
    assert kubectl.apply(manifest, *APPLIES[how])[0]["spec"]["suspend"] is True


def test_a_manifest_read_from_the_cluster_says_what_to_take_out_of_it(jobs, kubectl, sluice_account):
    """kubectl get -o yaml > x.yaml, and later kubectl apply -f x.yaml."""
    kubectl.apply(job("copied", "gpu", {"cpu": "1"}))
    started(jobs, sluice_account, jobs.get({"metadata": {"name": "copied"}}))
    manifest = jobs.get({"metadata": {"name": "copied"}})
    del manifest["metadata"]["resourceVersion"], manifest["metadata"]["managedFields"]
    kubectl.apply(manifest)  # unchanged
    jobs.patch(manifest, annotate(STORY, STARTED % ',"pods":1'), by=sluice_account)
    for _ in range(2):
        done = kubectl.plane.kubectl(*kubectl.who, "apply", "-f", "-", input=json.dumps(manifest), check=False)
        assert done.returncode and "A manifest made by kubectl get -o yaml has them: remove them from it" in done.stderr
        assert "kubectl apply set-last-applied -f FILE" in done.stderr
        manifest["metadata"]["annotations"] = {}  # and kubectl would take them off the Job
    kubectl.run("apply", "set-last-applied", "-f", "-", obj=manifest)
    now, _ = kubectl.apply(manifest)
    assert now["metadata"]["annotations"][STORY] == STARTED % ',"pods":1'


def test_what_a_person_says_stops_the_run(jobs, kubectl, sluice_account):
    manifest = job("mine", "gpu", {"cpu": "1"}, suspend=True)
    kubectl.apply(manifest)
    started(jobs, sluice_account, manifest)
    assert kubectl.patch(manifest, suspend=True)["spec"]["suspend"] is True
    started(jobs, sluice_account, manifest)
    manifest["metadata"]["annotations"] = {HOLD: "yes"}  # in the manifest: it means what it says
    assert kubectl.apply(manifest)[0]["spec"]["suspend"] is True


def test_a_job_that_sluice_has_not_started_comes_into_a_queue_by_a_manifest_that_stops_it(jobs, kubectl):
    manifest = job("late", None, {"cpu": "1"})
    kubectl.apply(manifest)
    manifest["metadata"]["labels"] = {QUEUE: "gpu"}
    done = kubectl.plane.kubectl(*kubectl.who, "apply", "-f", "-", input=json.dumps(manifest), check=False)
    assert done.returncode and 'runs, and was not started by queue "gpu"' in done.stderr
    manifest["spec"]["suspend"] = True
    assert kubectl.apply(manifest)[0]["spec"]["suspend"] is True


@mutates
def test_a_job_that_a_manifest_queues_and_starts_at_once_waits_in_the_name_of_whoever_applies_it(jobs, user, kubectl):
    """One policy puts spec.suspend back, another one gives names to Jobs that do not run: in any order."""
    manifest = job("at-once", None, {"cpu": "1"}, suspend=True)
    kubectl.apply(manifest)
    manifest["metadata"]["labels"], manifest["spec"]["suspend"] = {QUEUE: "gpu"}, False
    now, _ = kubectl.apply(manifest)
    assert now["spec"]["suspend"] is True and submitter(now) == who(user)


@mutates
def test_a_manifest_that_raises_the_run_is_refused_and_its_job_runs_on(jobs, kubectl, sluice_account):
    manifest = job("bigger", "gpu", {"cpu": "1"}, suspend=True, completionMode="Indexed")
    kubectl.apply(manifest)
    started(jobs, sluice_account, manifest)
    manifest["spec"] |= {"parallelism": 5, "completions": 5}
    done = kubectl.plane.kubectl(*kubectl.who, "apply", "-f", "-", input=json.dumps(manifest), check=False)
    assert done.returncode and "cannot be raised to 5 while it runs" in done.stderr
    assert jobs.get(manifest)["spec"]["suspend"] is False


# ---- on hold ------------------------------------------------------------------------------


def test_a_held_job_says_that_it_is_on_hold(jobs, user):
    made = jobs.make(by=user, annotations={HOLD: "the data is not there yet"})
    said = refused('is on hold: "the data is not there yet"', jobs.patch, made, {"spec": {"suspend": False}}, by=user)
    assert f"kubectl annotate job {made['metadata']['name']} -n {jobs.ns} sluice.dev/hold-" in said and "its turn" not in said
    jobs.patch(made, annotate(HOLD, None), by=user)
    refused("Sluice starts it when its turn comes", jobs.patch, made, {"spec": {"suspend": False}}, by=user)
    assert "is on hold" not in refused(WAITS, jobs.patch, jobs.make(annotations={HOLD: "false"}), {"spec": {"suspend": False}}, by=user)


def test_the_way_out_of_the_queue_is_told_with_its_condition(jobs, user):
    said = refused(WAITS, jobs.patch, jobs.make(by=user), {"spec": {"suspend": False}}, by=user)
    assert f'Where namespace {jobs.ns} has no LocalQueue "default", it may run outside the queues' in said


# ---- what a queued Job may not have ---------------------------------------------------------


def pod_with(**kw):
    return dict(pod=kw)


PROBE = {"exec": {"command": ["true"]}, "terminationGracePeriodSeconds": 4000}
YEARS = 10**9
FORBIDDEN = {
    "manualSelector": (dict(manualSelector=True, selector={"matchLabels": {"a": "b"}}), "spec.manualSelector cannot be true on a queued Job"),
    "finalizer": (dict(finalizers=["example.com/never"]), 'metadata.finalizers has "example.com/never"'),
    "finalizer with a name like Kubernetes'": (dict(finalizers=["foregroundDeletion", "batch.kubernetes.io/never"]), 'metadata.finalizers has "batch.kubernetes.io/never"'),
    "many finalizers": (dict(finalizers=["foregroundDeletion"] * 21), 'metadata.finalizers has "foregroundDeletion" and 20 more'),
    "the finalizer orphan": (dict(finalizers=["orphan"]), "its pods would run on without it when it is deleted"),
    "managedBy": (dict(managedBy="example.com/nobody"), 'spec.managedBy is "example.com/nobody"'),
    "claimed devices": (pod_with(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "any"}]), "spec.template.spec.resourceClaims: no quota counts devices"),
    "grace period": (pod_with(terminationGracePeriodSeconds=YEARS), f"terminationGracePeriodSeconds is {YEARS}, and a queued Job may have at most 3600"),
    "grace period of a probe": (dict(container={"livenessProbe": PROBE}), "a livenessProbe or startupProbe has a terminationGracePeriodSeconds over 3600"),
    "grace period of a sidecar's probe": (pod_with(initContainers=[{"name": "s", "image": "i", "restartPolicy": "Always", "startupProbe": PROBE}]),
                                          "a livenessProbe or startupProbe has"),
}


def forbidden(jobs, kw, **more):
    kw = {**kw, **more}
    selector = kw.get("selector", {}).get("matchLabels")
    obj = job(f"j{next(numbers)}", kw.pop("queue", "gpu"), {"cpu": "1"}, **{k: v for k, v in kw.items() if k not in ("finalizers", "by")})
    obj["metadata"]["finalizers"] = kw.get("finalizers", [])
    obj["spec"]["template"]["metadata"]["labels"] = selector or {}
    return (kw.get("by") or jobs.api).post(jobs_path(jobs.ns), obj)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_would_keep_quota_or_pods_is_refused(jobs, user, what):
    kw, words = FORBIDDEN[what]
    said = refused(words, forbidden, jobs, kw, by=user)
    assert f"Job {jobs.ns}/j" in said
    outside = forbidden(jobs, kw, by=user, queue=None, suspend=True)  # nobody's business outside a queue
    refused(words, jobs.patch, outside, label("gpu"), by=user)
    jobs.patch(outside, {"metadata": {"finalizers": None}})


def test_a_cronjob_whose_jobs_would_claim_devices_is_refused(jobs):
    def cronjob(name, queue, pod):
        template = job(name, queue, {"cpu": "1"}, pod=pod)
        return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name},
                "spec": {"schedule": "0 3 * * *", "jobTemplate": {"metadata": template["metadata"], "spec": template["spec"]}}}
    path = f"/apis/batch/v1/namespaces/{jobs.ns}/cronjobs"
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "any"}]}
    refused(f"CronJob {jobs.ns}/nightly: spec.jobTemplate.spec.template.spec.resourceClaims", jobs.api.post, path, cronjob("nightly", "gpu", claims))
    jobs.api.post(path, cronjob("elsewhere", None, claims))
    made = jobs.api.post(path, cronjob("counted", "gpu", {}))
    refused("no quota counts devices", jobs.api.patch, f"{path}/{made['metadata']['name']}", {"spec": {"jobTemplate": {"spec": {"template": {"spec": claims}}}}})


def test_pods_with_a_finalizer_are_refused(jobs, user):
    obj = job("f", "gpu", {"cpu": "1"})
    obj["spec"]["template"]["metadata"]["finalizers"] = ["example.com/never"]
    refused('spec.template.metadata.finalizers has "example.com/never"', user.post, jobs_path(jobs.ns), obj)


def test_an_hour_of_grace_is_let_in(jobs, user):
    jobs.make(by=user, pod={"terminationGracePeriodSeconds": 3600})
    jobs.make(by=user, managedBy="kubernetes.io/job-controller")


def test_a_queued_job_gets_no_foreign_finalizer_later(jobs, user, sluice_account):
    made = jobs.make(by=user)
    refused("metadata.finalizers has", jobs.patch, made, {"metadata": {"finalizers": ["example.com/never"]}}, by=user)
    # What was there before stays as it is, and may be removed; other edits go on.
    jobs.patch(made, {"metadata": {"finalizers": ["example.com/old"]}}, by=sluice_account)
    jobs.patch(made, {"metadata": {"annotations": {"a": "b"}}}, by=user)
    refused('has "example.com/never"', jobs.patch, made, {"metadata": {"finalizers": ["example.com/old", "example.com/never"]}}, by=user)
    assert not jobs.patch(made, {"metadata": {"finalizers": None}}, by=user)["metadata"].get("finalizers")


def test_a_selector_cannot_become_manual_later(jobs, user):
    refused("spec.manualSelector cannot be true", jobs.patch, jobs.make(by=user), {"spec": {"manualSelector": True}}, by=user)


WITH_ITS_PODS = ["propagationPolicy=Foreground", "propagationPolicy=Background", "orphanDependents=false"]
WITHOUT_THEM = ["propagationPolicy=Orphan", "orphanDependents=true", ""]  # of batch/v1 Orphan is the default


@pytest.mark.parametrize("how", WITH_ITS_PODS)
def test_a_run_is_deleted_with_its_pods(jobs, user, sluice_account, how):
    made = jobs.make(by=user)
    started(jobs, sluice_account, made)
    path = jobs_path(jobs.ns, made["metadata"]["name"])
    user.delete(f"{path}?{how}")
    wait_until("the Job to be gone", lambda: jobs.api.gone(path), SOON)


@pytest.mark.parametrize("how", WITHOUT_THEM)
def test_a_run_is_not_deleted_without_its_pods(jobs, user, sluice_account, how):
    made = jobs.make(by=user)
    started(jobs, sluice_account, made)
    name = made["metadata"]["name"]
    said = refused("is deleted with them only", user.delete, f"{jobs_path(jobs.ns, name)}?{how}")
    assert f"Job {jobs.ns}/{name} has pods" in said and f"kubectl delete job {name} -n {jobs.ns} does" in said
    refused("is deleted with them only", user.delete, f"{jobs_path(jobs.ns)}?{how}")  # all of the namespace
    assert "deletionTimestamp" not in jobs.get(made)["metadata"]


def test_a_stopped_job_is_not_deleted_without_the_pods_that_are_left(jobs, user, running):
    jobs.status(running, active=1, startTime="2026-11-22T08:00:00Z")
    jobs.patch(running, {"spec": {"suspend": True}}, by=user)
    path = jobs_path(jobs.ns, running["metadata"]["name"]) + "?propagationPolicy=Orphan"
    refused("is deleted with them only", user.delete, path)
    jobs.status(running, active=0, terminating=1)
    refused("is deleted with them only", user.delete, path)
    jobs.status(running, terminating=0)
    refused("is deleted with them only", user.delete, path)  # that none are left was said before the stop was seen
    jobs.status(running, conditions=[{"type": "Suspended", "status": "True"}])
    user.delete(path)


@pytest.mark.parametrize("how", WITHOUT_THEM)
def test_a_job_without_pods_is_deleted_in_each_way(jobs, user, sluice_account, how):
    waiting, over = jobs.make(by=user), jobs.make(by=user, seconds=0)
    started(jobs, sluice_account, over)
    wait_until("the Job to end", lambda: conditions(jobs.get(over)).get("Complete"), SOON)
    for made in (waiting, over):
        path = jobs_path(jobs.ns, made["metadata"]["name"])
        user.delete(f"{path}?{how}")
        wait_until("the Job to be gone", lambda p=path: jobs.api.gone(p), SOON)


def test_the_garbage_collector_is_not_kept_from_what_an_older_finalizer_says(plane, jobs, sluice_account):
    made = jobs.make()
    jobs.patch(made, {"metadata": {"finalizers": ["orphan"]}}, by=sluice_account)
    started(jobs, sluice_account, made)
    path = jobs_path(jobs.ns, made["metadata"]["name"])
    refused("is deleted with them only", plane.api.delete, path + "?propagationPolicy=Orphan")
    kubernetes_account(plane, "generic-garbage-collector").delete(path + "?propagationPolicy=Orphan")
    wait_until("the Job to be gone", lambda: jobs.api.gone(path), SOON)


def test_a_run_gets_no_orphan_finalizer(jobs, user, sluice_account):
    made = jobs.make(by=user)
    started(jobs, sluice_account, made)
    refused("its pods would run on without it", jobs.patch, made, {"metadata": {"finalizers": ["orphan"]}}, by=user)


# ---- pods are replaced when they are gone ----------------------------------------------------


def replacement(obj):
    return obj["spec"]["podReplacementPolicy"]


@mutates
def test_pods_of_a_queued_job_are_replaced_when_they_are_gone(jobs, user, sluice_account):
    early = "TerminatingOrFailed"
    assert replacement(jobs.make(by=user)) == "Failed"
    made = jobs.make(by=user, podReplacementPolicy=early)
    assert replacement(made) == "Failed"
    assert replacement(jobs.patch(made, {"spec": {"podReplacementPolicy": early}}, by=user)) == "Failed"
    started(jobs, sluice_account, made)
    assert replacement(jobs.patch(made, {"spec": {"podReplacementPolicy": early}}, by=user)) == "Failed"
    outside = jobs.make(by=user, queue=None, suspend=True)
    assert replacement(outside) == early
    assert replacement(jobs.patch(outside, label("gpu"), by=user)) == "Failed"


@mutates
def test_pods_of_a_job_of_the_default_queue_are_replaced_when_they_are_gone(plane, jobs, user):
    make_default_queue(plane, jobs)
    assert replacement(jobs.make(by=user, queue=None)) == "Failed"
    assert replacement(jobs.make(by=user, queue=None, labels={"team": "x"}, suspend=True)) == "Failed"


def test_a_run_from_before_keeps_its_replacement_policy(jobs, user, sluice_account):
    made = jobs.make(by=user, queue=None, suspend=True)
    jobs.patch(made, label("gpu"), by=sluice_account)
    started(jobs, sluice_account, made)
    assert replacement(jobs.patch(made, annotate("a", "b"), by=user)) == "TerminatingOrFailed"


# ---- as many as may wait ------------------------------------------------------------------


def test_no_more_jobs_are_let_in_than_may_wait(plane, jobs, user):
    for name, limit in (("narrow", 2), ("wide", 5)):
        plane.api.post(path_of("localqueues", ns=jobs.ns), ours("LocalQueue", name, {"clusterQueue": "none", "maxWaiting": limit}))

    def waiting(n, name="narrow"):
        plane.api.patch(path_of("localqueues", name, jobs.ns) + "/status", {"status": {"pendingWorkloads": n}})
    waiting(2)
    waiting(2, "wide")

    def refusal():
        try:
            user.post(jobs_path(jobs.ns) + "?dryRun=All", job("probe", "narrow"))
        except ApiError as e:
            return e
    said = wait_until("the API server to see the queue full", refusal, SOON)
    assert said.status == 403
    assert f'Job {jobs.ns}/probe is refused: 2 Jobs wait in LocalQueue "narrow", and its spec.maxWaiting is 2' in said.message
    assert "ask an admin to raise spec.maxWaiting" in said.message
    jobs.make(by=user, queue="wide")
    jobs.make(by=user, queue="gpu")  # none of that name: the gate says so
    jobs.make(by=user, queue=None)
    waiting(1)
    wait_until("the API server to see room in the queue", lambda: not refusal(), SOON)


# ---- the policies themselves -----------------------------------------------------------------


@pytest.fixture
def types_are_checked(plane):
    """The controller that checks types, which a sandbox goes without, in a process of its own."""
    manager = [a for a in plane.process("kube-controller-manager").record()["argv"] if not a.startswith(("--controllers=", "--secure-port="))]
    checker = plane.process("policy-checker")
    checker.start([*manager, f"--controllers={CHECKS_POLICIES}", "--secure-port=0"])
    yield
    checker.stop()


def test_the_api_server_finds_no_fault_in_their_expressions(plane, team, types_are_checked):
    """It checks types after the fact, and says so in the status alone: asked of copies that bind nothing."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    ours = [p for p in plane.api.list(path) if p["metadata"]["name"].startswith("sluice-")]
    assert len(ours) >= 4
    for policy in ours:
        name = f"{team}-{policy['metadata']['name']}"
        plane.api.post(path, {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
                              "metadata": {"name": name}, "spec": policy["spec"]})
        try:
            status = wait_until(f"the API server to check {name}", lambda n=name: plane.api.get(f"{path}/{n}").get("status"), SOON)
            assert not status.get("typeChecking", {}).get("expressionWarnings"), policy["metadata"]["name"]
        finally:
            plane.api.delete(f"{path}/{name}")


# ---- labels and annotations that mean nothing ------------------------------------

BAD_MARKS = {
    "queue name": (dict(queue="My_Queue"), 'is "My_Queue", which cannot be the name of a LocalQueue'),
    "empty queue name": (dict(queue=""), "the label sluice.dev/queue-name is empty"),
    "priority class": (dict(labels={"sluice.dev/priority-class": "A_b"}), "cannot be the name of a WorkloadPriorityClass"),
    "max-run-seconds with a unit": (dict(annotations={"sluice.dev/max-run-seconds": "1h"}), 'in quotes, such as "3600"; it is "1h"'),
    "a nice of 101": (dict(annotations={"sluice.dev/nice": "101"}), 'a whole number from -100 to 100, in quotes, such as "10"; it is "101"'),
    "max-run-seconds 0": (dict(annotations={"sluice.dev/max-run-seconds": "0"}), "a whole number of seconds from 1 to 2147483647"),
    "max-run-seconds of 100 KB": (dict(annotations={"sluice.dev/max-run-seconds": "x" * 100000}), 'it is "' + "x" * 40 + '"'),
    "min-parallelism as large as parallelism": (dict(pods=4, annotations={"sluice.dev/min-parallelism": "4"}), "less than spec.parallelism, which is 4"),
    "min-parallelism in words": (dict(pods=4, annotations={"sluice.dev/min-parallelism": "half"}), 'it is "half"'),
}


@pytest.mark.parametrize("what", BAD_MARKS)
def test_a_mark_that_means_nothing_is_refused(jobs, what):
    kw, words = BAD_MARKS[what]
    refused(words, jobs.make, **kw)


def test_what_the_controller_takes_is_let_in_and_nothing_else(jobs):
    """The forms of VALUES, which test_a_value_that_is_not_taken_brings_the_controllers_own_words holds the controller to."""
    wrong = []
    for key in "max-run-seconds", "min-parallelism", "nice":
        for right, values in zip((True, False), VALUES[key]):
            for value in values:
                try:
                    jobs.make(pods=4, annotations={f"sluice.dev/{key}": value})
                    said = None
                except ApiError as e:
                    assert "sluice-guard-jobs" in e.message and f"sluice.dev/{key}" in e.message, e
                    said = e.message
                if (said is None) != right:
                    wrong.append((key, value, said))
    assert not wrong, "\n".join(map(str, wrong))


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
    wait_until("the API server to know its rights", lambda: "items" in sluice_account.get(path), SOON)


@pytest.mark.parametrize("path", MAY_NOT)
def test_the_controller_reads_nothing_else(sluice_account, path):
    with pytest.raises(ApiError) as refusal:
        sluice_account.get(path)
    assert refusal.value.status == 403


def test_the_controller_creates_no_jobs_and_deletes_no_collection(jobs, sluice_account):
    """One Job it may delete, whose owner wrote sluice.dev/on-dependency-failure: Delete."""
    refused("cannot create resource", jobs.make, by=sluice_account)
    made = jobs.make()
    refused("cannot deletecollection resource", sluice_account.delete, jobs_path(jobs.ns))
    sluice_account.delete(jobs_path(jobs.ns, made["metadata"]["name"]))


def test_the_controller_writes_the_status_of_a_queue_and_no_other_objects(plane, sluice_account, team):
    plane.api.post(path_of("clusterqueues"), {"apiVersion": "sluice.dev/v1alpha1", "kind": "ClusterQueue", "metadata": {"name": team}, "spec": {"stopPolicy": "Hold"}})
    condition = {"type": "Odd", "status": "True", "reason": "Tried", "message": "By a test.", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    done = sluice_account.patch(path_of("clusterqueues", team) + "/status", {"status": {"pendingWorkloads": 3, "conditions": [condition]}})
    assert conditions(done)["Odd"]["message"] == "By a test."
    for plural, ns in (("cohorts", None), ("calendars", None), ("localqueues", team)):  # (its finalizer on a queue takes a patch of the queue)
        refused("cannot patch resource", sluice_account.patch, path_of(plural, "any", ns), {"spec": {}})


# ---- without the mutating policy ---------------------------------------------------


@contextlib.contextmanager
def without(plane, names, gone, back):
    """Without these mutating policies, from when gone() is true on; then with them again, until back(). Servers before 1.36 have none."""
    if KUBERNETES < MUTATES:
        yield
        return
    bindings = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
    kept = [plane.api.get(f"{bindings}/{name}") for name in names]
    try:
        for name in names:
            plane.api.delete(f"{bindings}/{name}")
        wait_until("the API server to forget the mutating policies", gone, SOON)
        yield
    finally:
        for binding in kept:
            plane.api.ensure(bindings, {k: v for k, v in binding.items() if k != "metadata"} | {"metadata": {
                "name": binding["metadata"]["name"], "labels": binding["metadata"].get("labels", {})}})
        wait_until("the API server to know the mutating policies again", back, SOON)


def test_without_the_mutating_policy_a_job_must_say_suspend_itself(plane, team):
    """Servers before 1.36 have none: there the refusal says what to write."""
    def refusal():
        try:
            plane.api.post(jobs_path(team) + "?dryRun=All", job("t", "gpu", suspend=False))
        except ApiError as e:
            return e

    def suspends():
        try:
            return plane.api.post(jobs_path(team) + "?dryRun=All", job("t", "gpu", suspend=False))["spec"]["suspend"]
        except ApiError as e:
            if e.status != 403:
                raise
    with without(plane, ["sluice-suspend-jobs"], refusal, suspends):
        assert "create it with spec.suspend: true" in refusal().message
        plane.api.post(jobs_path(team) + "?dryRun=All", job("t", "gpu", suspend=True))


STAMPS = ("sluice-stamp-submitter", "sluice-stamp-cronjob-submitter", "sluice-stamp-cronjob-submitter-default")


@pytest.fixture
def unstamped(plane, jobs, cronjobs):
    """Without the policies that write who submitted a Job."""
    def stamped():
        cronjob = cronjobs.make("probe", plane.api, dry=True)
        made = plane.api.post(jobs_path(jobs.ns) + "?dryRun=All", job("probe", "gpu"))
        return {named(cronjob) is not None, submitter(made) is not None}
    with without(plane, STAMPS, lambda: stamped() == {False}, lambda: stamped() == {True}):
        yield


def test_without_the_mutating_policy_nobody_claims_anothers_name(plane, jobs, user, cronjobs, unstamped):
    """Servers before 1.36: a Job says nothing of it, or its creator's own name."""
    assert submitter(jobs.make(by=user, suspend=True)) is None
    own, admin = who(user), who(plane.api)
    made = jobs.make(by=user, suspend=True, annotations={SUBMITTED: own})
    assert submitter(made) == own
    said = refused(NOT_YOURS, jobs.make, by=user, suspend=True, annotations={SUBMITTED: admin})
    assert f'is "{admin}", and this request comes from "{own}": leave the annotation out' in said
    refused(NOT_YOURS, jobs.make, by=user, queue=None, annotations={SUBMITTED: admin})
    refused(SUBMITTER, jobs.patch, made, annotate(SUBMITTED, None), by=user)
    refused(SUBMITTER, jobs.patch, jobs.make(by=user, suspend=True), annotate(SUBMITTED, own), by=user)

    refused(NOT_YOURS, cronjobs.make, "a", user, annotations={SUBMITTED: admin})
    refused(NOT_YOURS, cronjobs.make, "a", user, queue=None, annotations={SUBMITTED: admin})
    cronjob = cronjobs.make("mine", user, annotations={SUBMITTED: own})
    assert submitter(cronjobs.run(cronjob, "mine-1")) == own
    cronjobs.patch("mine", {"spec": {"suspend": True}}, plane.api)
    refused(NOT_YOURS, cronjobs.template, "mine", plane.api, annotations={"a": "b"})
    refused(NOT_YOURS, cronjobs.template, "mine", plane.api, labels={"a": "b"})
    refused(NOT_YOURS, cronjobs.patch, "mine", {"spec": {"jobTemplate": {"spec": {"backoffLimit": 3}}}}, plane.api)
    assert named(cronjobs.template("mine", plane.api, annotations={"a": "b", SUBMITTED: admin})) == admin
    assert named(cronjobs.template("mine", user, annotations={SUBMITTED: None})) is None
    forged = job("forged", "gpu", suspend=True, annotations={SUBMITTED: admin})
    forged["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "CronJob", "controller": True, "name": "mine", "uid": cronjob["metadata"]["uid"]}]
    refused(NOT_YOURS, user.post, jobs_path(jobs.ns), forged)
