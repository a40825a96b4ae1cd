"""The objects that the tests write, as plain dicts, and where they live.

Nothing here talks to anybody. A test says what matters to it and gets an object
that is complete otherwise; what is left out (no image, no command) kwok plays."""

import json
import os
import random
from decimal import ROUND_HALF_UP, Decimal

NEWEST = 37  # minor version of the Kubernetes of test/e2e/go.mod
# The minor version of the control plane: ./dev test --kubernetes 1.34. Before 1.36 there is no policy
# that suspends a Job at its creation, so who writes one says so (deploy/components/without-mutating-policy).
KUBERNETES = int(os.environ.get("SLUICE_KUBERNETES", f"1.{NEWEST}").split(".")[1])
SEED = int(os.environ.get("SLUICE_E2E_SEED") or random.SystemRandom().randrange(10**6))  # of all that tests draw in this run
SEARCHES = bool(os.environ.get("SLUICE_E2E_SEARCH"))
WRITTEN_SUSPENDED = {} if KUBERNETES >= 36 else {"suspend": True}

GROUP = "sluice.dev/v1alpha1"
QUEUE, PRIORITY = "sluice.dev/queue-name", "sluice.dev/priority-class"
HOLD, STORY, ORIGINAL = "sluice.dev/hold", "sluice.dev/admission", "sluice.dev/original-directives"
SUBMITTED, QUEUED = "sluice.dev/submitted-by", "sluice.dev/queued-at"
RUN_SECONDS, TERMINATE_SECONDS, FAIL = (f"sandbox.sluice.dev/{n}" for n in ("run-seconds", "terminate-seconds", "fail"))


def searched(usual, at_length):
    """Returns how much a test that draws looks into: `at_length` with SLUICE_E2E_SEARCH=1, as ./dev test --long sets it."""
    return at_length if SEARCHES else usual


LONG = 3600  # longer than any test; such a Job is deleted, never awaited

SPOT_TAINT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
SPOT_TOLERATION = {"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


def submitter(obj):
    """Of a Job, or of the Jobs of a CronJob's jobTemplate; None: not known."""
    return obj.get("metadata", {}).get("annotations", {}).get(SUBMITTED)


def who(api):
    """The name by which the API server knows the caller."""
    review = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    return review["status"]["userInfo"]["username"]


def jobs_path(ns, name=None, sub=None):
    return "/".join(p for p in (f"/apis/batch/v1/namespaces/{ns}/jobs", name, sub) if p)


def path_of(plural, name=None, ns=None):
    """Of one of our kinds."""
    return f"/apis/{GROUP}/" + (f"namespaces/{ns}/" if ns else "") + plural + (f"/{name}" if name else "")


def ours(kind, name, spec=None, **rest):
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name},
            **({} if spec is None else {"spec": spec}), **rest}


def group(resources, flavors):
    """resources: names; flavors: {flavor: [quota of each resource]}, where a quota
    is an amount or a dict with nominalQuota, borrowingLimit, lendingLimit."""
    return {"coveredResources": list(resources), "flavors": [
        {"name": f, "resources": [{"name": r, **(q if isinstance(q, dict) else {"nominalQuota": q})}
                                  for r, q in zip(resources, quotas)]} for f, quotas in flavors.items()]}


def clusterqueue(name, groups, **spec):
    return ours("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups, **spec})


def flavor(name, pool=None):
    """A pool of the sandbox's nodes, or none in particular."""
    spec = {"nodeLabels": {"pool": pool}} if pool else {}
    if pool == "spot":
        spec |= {"nodeTaints": [SPOT_TAINT], "tolerations": [SPOT_TOLERATION]}
    return ours("ResourceFlavor", name, spec)


def job(name, queue=None, requests=None, pods=1, seconds=LONG, priority=None, labels=None, annotations=None,
        pod_annotations=None, pod=None, container=None, **spec):
    """`pod` and `container` are merged into the pod template's spec and its container."""
    marks = {**({QUEUE: queue} if queue is not None else {}), **({PRIORITY: priority} if priority else {}), **(labels or {})}
    work = {"name": "work", "image": "busybox", **({"resources": {"requests": requests}} if requests else {}), **(container or {})}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, **({"labels": marks} if marks else {}), **({"annotations": annotations} if annotations else {})},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0,
                     "template": {"metadata": {"annotations": {RUN_SECONDS: str(seconds), **(pod_annotations or {})}},
                                  "spec": {"restartPolicy": "Never", "containers": [work], **(pod or {})}},
                     **(WRITTEN_SUSPENDED if queue is not None else {}), **spec}}


def owner_reference(obj):
    """As a controller writes it on what it makes."""
    return {"apiVersion": "batch/v1", "kind": obj.get("kind", "Job"), "name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"],
            "controller": True}


def conditions(obj):
    """{type: condition} of any object that has some."""
    return {c["type"]: c for c in obj.get("status", {}).get("conditions", [])}


def has(obj, kind):
    return conditions(obj).get(kind, {}).get("status") == "True"


def annotations(obj):
    return obj["metadata"].get("annotations", {})


def story(obj):
    """What the controller last did to a Job, as the Job tells it."""
    return json.loads(annotations(obj)[STORY])


def cents(amount):
    """An amount as a terminal and the page show it: what money_short() of queue/price/money.h makes of it."""
    exact = Decimal(amount)
    shown = exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return str(shown) if shown or not exact else "<0.01" if exact > 0 else ">-0.01"


def terminal(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")
