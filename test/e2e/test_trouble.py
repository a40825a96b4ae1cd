"""What becomes of a Job after its start: pods that stay unschedulable, images that cannot be pulled, pods that are refused.

A pod counts as stuck after two seconds here, not ten. Nothing below is for the gate to foresee: the node could take the
pods if somebody else's pod were not there, the image is the kubelet's business, and the quota is set after the start."""

import pytest
from conftest import LATER, RECOVERY, SOON
from later import Later
from objects import HOLD, annotations, jobs_path, story
from sandbox import ApiError

pytestmark = pytest.mark.flags("--stuck-after", "2s")
TIME = Later("trouble")
MINUTE = 60
IN_TIME = (*TIME.flags, "--stuck-after", "2s", "--wait-for-pods-ready", "20m", "--requeue-backoff-base", "1h")
WAITING = "sandbox.sluice.dev/waiting"
NODE = "on-demand-0"
THERE = {"nodeSelector": {"kubernetes.io/hostname": NODE}}


@pytest.fixture(scope="module", autouse=True)
def time_file():
    TIME.begin()
    yield
    TIME.end()


def occupy(world, cpu="31"):
    """Somebody else's pod, on that node already: of its 32 cpu one is left. It goes with the test."""
    world.afterwards.append(lambda: make_room(world))
    work = {"name": "work", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}
    world.api.post(f"/api/v1/namespaces/{world.ns}/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": world.ns},
        "spec": {"nodeName": NODE, "containers": [work], "restartPolicy": "Never"}})


def make_room(world):
    try:
        world.api.delete(f"/api/v1/namespaces/{world.ns}/pods/other?gracePeriodSeconds=0")
    except ApiError as e:
        assert e.status == 404, e


def in_trouble(world, name, reason, pods, words=""):
    """Until `sluice explain` has it of so many pods, which need not get into trouble in one moment; the answer."""
    def told():
        said = world.explain(name)
        trouble = said.get("trouble", {})
        return (trouble.get("reason"), trouble.get("pods")) == (reason, pods) and words in trouble["message"] and said
    return world.wait(f"{pods} pods of Job {name} to be in trouble: {reason} {words}", told, LATER, about=name)


def well_again(world, name):
    said = world.wait(f"Job {name} to be well", lambda: (x := world.explain(name)) and "trouble" not in x and x, LATER, about=name)
    assert "but" not in said["sentence"]


def metric(world, name, reason):
    """Its value for the queue of this world; None: no such sample."""
    wanted = f'{name}{{cluster_queue="{world.full("q")}",reason="{reason}"}} '
    lines = world.box.controller_api().raw("GET", "/metrics").decode().splitlines()
    return next((float(line.removeprefix(wanted)) for line in lines if line.startswith(wanted)), None)


def events(world, name, reason):
    found = world.api.list(f"/api/v1/namespaces/{world.ns}/events?fieldSelector=involvedObject.kind=Job,involvedObject.name={name},reason={reason}")
    return [e["message"] for e in found if e["source"].get("component") == "sluice-controller"]


def test_pods_that_cannot_be_scheduled_are_quoted_until_they_are(world, program):
    world.queue(cpu=4)
    occupy(world)
    world.job("stuck", pods=2, cpu="2", pod=THERE)
    said = in_trouble(world, "stuck", "Unschedulable", 2)
    assert said["trouble"]["of"] == 2
    assert "nodes are available" in said["trouble"]["message"] and "Insufficient cpu" in said["trouble"]["message"]
    assert said["sentence"].startswith("runs since ") and "but all of its 2 pods cannot be scheduled, for " in said["sentence"]
    assert said["trouble"]["message"] in said["sentence"] and not said["waiting"]
    (row,) = world.wait("the queue to tell of it", lambda: world.queue_view().get("troubles"))
    assert (row["reason"], row["jobs"]) == ("Unschedulable", 1)
    world.box.wait_visible(LATER)
    asked = f"/apis/visibility.sluice.dev/v1alpha1/namespaces/{world.ns}/queuedjobs?fieldSelector=status.trouble.reason!%3D"
    world.wait("it to be in the list of those in trouble", lambda: [j["metadata"]["name"] for j in world.api.list(asked)] == ["stuck"])

    def shown():  # the ClusterQueue's own status may be a second older
        return program("sluice", "queue", world.full("q"), env={"KUBECONFIG": str(world.box.kubeconfig)}).stdout
    world.wait("the list of queues to say so", lambda: "1 (1 stuck)" in shown() and f"Unschedulable (sluice explain -n {world.ns} job/stuck)" in shown())
    for name in ("sluice_jobs_in_trouble", "sluice_job_troubles_total"):
        world.wait(f"{name} to count it", lambda n=name: metric(world, n, "Unschedulable") == 1)
    (message,) = world.wait("an Event that says so", lambda: events(world, "stuck", "PodsStuck"))
    assert "Insufficient cpu" in message
    # Whoever leads next says the same.
    world.restart()
    assert in_trouble(world, "stuck", "Unschedulable", 2)["trouble"]["since"] == said["trouble"]["since"]
    make_room(world)
    world.started("stuck")
    well_again(world, "stuck")
    world.wait_queue("q", lambda q: "troubles" not in q, "to tell of no trouble")
    world.wait("no sample to be left", lambda: metric(world, "sluice_jobs_in_trouble", "Unschedulable") is None)


def test_an_image_that_cannot_be_pulled_is_named(world):
    """The sandbox has no kubelets: kwok says of these pods what one would."""
    world.queue(cpu=2)
    world.job("typo", pods=2, pod_annotations={WAITING: "ErrImagePull"})
    said = in_trouble(world, "typo", "ErrImagePull", 2)
    assert "but all of its 2 pods cannot pull an image, for " in said["sentence"] and "busybox" in said["trouble"]["message"]
    assert "imagePullSecrets" in said["trouble"]["cure"]
    # The other word that a kubelet has for it is no news.
    for pod in world.pods("typo"):
        status = [{**c, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "back-off"}}} for c in pod["status"]["containerStatuses"]]
        world.api.patch(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}/status", {"status": {"containerStatuses": status}})
    world.wait("the newer words", lambda: world.explain("typo").get("trouble", {}).get("message") == "back-off", LATER)
    world.wait("the count", lambda: metric(world, "sluice_job_troubles_total", "ErrImagePull") == 1, LATER)
    assert metric(world, "sluice_job_troubles_total", "ImagePullBackOff") is None
    for pod in world.pods("typo"):  # it is there now
        world.api.patch(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}", {"metadata": {"annotations": {WAITING: None}}})
    well_again(world, "typo")


@pytest.mark.flags("--stuck-after", "200ms")
def test_pods_that_no_scheduler_looks_at_are_told(world):
    """After 30 times as long as others."""
    world.queue(cpu=4)
    world.job("lost", pods=2, pod={"schedulerName": "lottery"})
    said = in_trouble(world, "lost", "NotSeenByScheduler", 2)
    assert "but all of its 2 pods cannot be scheduled, for " in said["sentence"]
    assert said["trouble"]["message"] == "no scheduler has looked at them; schedulerName: lottery" and "schedulerName" in said["trouble"]["cure"]
    world.wait("the count", lambda: metric(world, "sluice_jobs_in_trouble", "NotSeenByScheduler") == 1)


@pytest.mark.flags("--stuck-after", "200ms")
def test_pods_whose_node_does_not_get_on_are_told(world):
    """After 60 times as long as others."""
    world.queue(cpu=2)
    world.job("slow", pods=2, pod_annotations={WAITING: "ContainerCreating"})
    said = in_trouble(world, "slow", "ContainerCreating", 2)
    assert "but all of its 2 pods cannot start on their nodes, for " in said["sentence"]
    assert "describe pod" in said["trouble"]["cure"]
    named = [p for p in world.pods("slow") if f"pod {p['metadata']['name']} on node {p['spec']['nodeName']}: " in said["trouble"]["message"]]
    assert len(named) == 1, said["trouble"]
    for pod in world.pods("slow"):
        world.api.patch(f"/api/v1/namespaces/{world.ns}/pods/{pod['metadata']['name']}", {"metadata": {"annotations": {WAITING: None}}})
    well_again(world, "slow")


def refused(world):
    """A pod, were it made now."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    try:
        world.api.post(f"/api/v1/namespaces/{world.ns}/pods?dryRun=All", pod)
    except ApiError as e:
        return e.status == 403


def test_pods_that_a_quota_refuses_after_the_start_are_quoted(world):
    world.queue(cpu=3)
    world.job("short", pods=3, backoffLimit=6)
    world.started("short")
    path = f"/api/v1/namespaces/{world.ns}/resourcequotas"
    world.api.post(path, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "late"}, "spec": {"hard": {"pods": "2"}}})
    world.wait("the quota to be counted", lambda: world.api.get(f"{path}/late").get("status", {}).get("used", {}).get("pods") == "3")
    world.wait("the API server to act on it", lambda: refused(world))
    pod = world.pods("short")[0]["metadata"]["name"]
    world.api.delete(f"/api/v1/namespaces/{world.ns}/pods/{pod}?gracePeriodSeconds=0")
    # The quota is counted anew a moment later, and the Job controller tries again.
    said = in_trouble(world, "short", "PodsRefused", 1, "exceeded quota: late, requested: pods=1, used: pods=2, limited: pods=2")
    assert "1 of its 3 pods cannot be created" in said["sentence"]
    assert "raise the ResourceQuota" in said["trouble"]["cure"]
    world.wait("the count", lambda: metric(world, "sluice_jobs_in_trouble", "PodsRefused") == 1)
    assert events(world, "short", "PodsStuck") == []  # the Job controller's own Event says it: FailedCreate
    world.api.delete(f"{path}/late")
    well_again(world, "short")


@pytest.mark.flags(*IN_TIME)
def test_who_goes_back_to_the_queue_for_it_says_why(world):
    world.queue(cpu=4)
    occupy(world)
    world.job("stuck", pods=2, cpu="2", pod=THERE)
    in_trouble(world, "stuck", "Unschedulable", 2)
    TIME.forward(world.box, 20 * MINUTE)
    world.stopped("stuck", LATER)
    told = story(world.get("stuck"))
    assert told["reason"] == "PodsReadyTimeout" and told["history"]["requeues"] == 1
    assert told["trouble"].startswith("Unschedulable: all of its 2 pods could not be scheduled for ") and "Insufficient cpu" in told["trouble"]
    said = world.waits("stuck", "BackOff")
    assert said["sentence"].endswith(f"; its last run: {told['trouble']}")
    assert "trouble" not in said  # of now
    (message,) = world.wait("an Event that says so", lambda: events(world, "stuck", "Stopped"))
    assert told["trouble"] in message
    world.restart()  # a successor knows it by what the Job tells
    assert world.waits("stuck", "BackOff")["sentence"].endswith(told["trouble"])


BROKEN = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}


@pytest.fixture
def broken_webhook(world):
    """A webhook that cannot be reached, and that looks at changes of Jobs of this namespace with the label broken."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    name = f"broken-{world.ns}"
    world.api.post(path, BROKEN | {"metadata": {"name": name}, "webhooks": [{
        "name": "a.broken.example", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 1,
        "clientConfig": {"url": "https://127.0.0.1:9/x"}, "objectSelector": {"matchLabels": {"broken": "1"}},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": world.ns}},
        "rules": [{"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["jobs"]}]}]})
    world.job("probe", queue=None, labels={"broken": "1"}, suspend=True)

    def is_known():
        try:
            return not world.api.patch(f"{jobs_path(world.ns)}/probe?dryRun=All", {"metadata": {"annotations": {"example.org/probe": "x"}}})
        except ApiError as e:
            return "failed calling webhook" in e.message
    world.wait("the API server to know the webhook", is_known, SOON)
    yield
    world.api.delete(f"{path}/{name}")


def test_a_start_that_the_api_server_fails_at_is_told_and_keeps_no_quota(world, broken_webhook):
    """Forever, as a webhook does that fails for one Job alone: told in the server's words from the first answer on;
    the next Job of the queue runs, and this one is not put on hold."""
    world.queue(cpu=2)
    words = 'failed calling webhook "a.broken.example"'
    world.job("broken", cpu="2", labels={"broken": "1"})
    world.wait("the server's words in explain", lambda: words in world.explain("broken")["sentence"], SOON, about="broken")
    world.wait("an Event with the server's words", lambda: any(words in m for m in events(world, "broken", "Refused")), SOON, about="broken")
    world.job("fine", cpu="2", seconds=1)
    world.finished("fine", timeout=RECOVERY)
    # It is tried again after 10 s, 20 s and so on, and does not wait meanwhile.
    world.wait("it to wait, and to say why", lambda: (lambda said: words in said["sentence"] and said["waiting"])(world.explain("broken")), RECOVERY, about="broken")
    assert HOLD not in annotations(world.get("broken"))
    assert world.transfers("broken")[:2] == ["RESERVE", "VOID"]
    # Where a start may have landed, the fence goes by the status: no webhook for Jobs looks at that, and it writes annotations.
    told = world.api.patch(f"{jobs_path(world.ns)}/broken/status", [{"op": "test", "path": "/spec/suspend", "value": True},
                                                                    {"op": "add", "path": "/metadata/annotations/example.org~1fence", "value": "x"}], "json")
    assert annotations(told)["example.org/fence"] == "x"
