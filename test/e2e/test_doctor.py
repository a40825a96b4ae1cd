"""`sluice doctor`: nothing to find where all is well; then one thing after the other is broken, and each
is named with its cure, which mends it.

It has a sandbox of its own, since it breaks what all others share."""

import json
import re
import socket
from datetime import datetime, timedelta, timezone

import pytest
from conftest import LATER, SOON, USUAL_FLAGS, as_account, own_plane, readyz, start_controller, token, wait_leading
from objects import KUBERNETES, LONG, NEWEST, QUEUE, clusterqueue, conditions, flavor, group, has, job, jobs_path, ours, path_of
from sandbox import ApiError, SandboxError, wait_until
from sandbox.sandbox import ROOT

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
NS = "team"
# What it says of any API server of that version.
OF_THE_VERSION = ["version", "mutating-policies"] if KUBERNETES < 36 else ["version"] if KUBERNETES > NEWEST else []
ACCEPTED = [word for check in ("replication", *OF_THE_VERSION) for word in ("--ignore", check)]


@pytest.fixture(scope="module")
def sick():
    with own_plane("doctor") as box:
        start_controller(box)
        wait_leading(box)
        box.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})
        wait_until("the ServiceAccount", lambda: box.api.get(f"/api/v1/namespaces/{NS}/serviceaccounts/default"), SOON)
        box.api.post(path_of("resourceflavors"), flavor("any"))
        box.api.post(path_of("clusterqueues"), clusterqueue("q", [group(["cpu"], {"any": ["4"]})]))
        box.api.post(path_of("localqueues", ns=NS), ours("LocalQueue", "q", {"clusterQueue": "q"}))
        box.api.post(jobs_path(NS), job("runs", "q", requests={"cpu": "1"}, pods=2, seconds=LONG))
        wait_until("a Job to run", lambda: box.api.get(jobs_path(NS, "runs"))["status"].get("active") == 2, LATER)
        # Nobody's yet; a test that wants a Job that is a minute old has it when its turn comes.
        box.api.post(jobs_path(NS), job("wild", requests={"cpu": "1"}, seconds=LONG))
        box.wait_visible()
        yield box


@pytest.fixture
def doctor(sick, program):
    """doctor(args...): (exit code, {check: its object})."""
    def run(*args, env=None, database=True):
        done = program("sluice", "doctor", "--kubeconfig", sick.kubeconfig, "--settle", "2s", *ACCEPTED, "-o", "json",
                       *(["--database", sick.database] if database else []), *args, env=env)
        assert not done.stderr, done
        said = json.loads(done.stdout)
        return done.returncode, {c["name"]: c for c in said["checks"]}
    return run


def the_finding(checks, name):
    """The only one, and of this check."""
    found = [(c["name"], f) for c in checks.values() for f in c["findings"]]
    assert [n for n, _ in found] == [name], found
    assert found[0][1]["cure"], found
    return found[0][1]


def healthy(doctor):
    """Until nothing is found; what it says then. Conditions, caches and the lease follow in their own time."""
    last = []

    def well():
        last[:] = doctor()
        return last[0] == 0
    try:
        wait_until("nothing to be found", well, LATER)
    except SandboxError as e:
        raise AssertionError(f"{e}\n{[(n, f['text']) for n, c in last[1].items() for f in c['findings']]}") from None
    assert not [(n, f["text"]) for n, c in last[1].items() for f in c["findings"]]
    return last[1]


def ill(doctor, name, *words):
    """Until one thing is found, by this check and in these words; the finding."""
    last = []

    def found():
        last[:] = doctor()
        every = [(c["name"], f) for c in last[1].values() for f in c["findings"]]
        return last[0] == 1 and [n for n, _ in every] == [name] and all(w in every[0][1]["text"] for w in words)
    try:
        wait_until(f"{name} to say {words}", found, LATER)
    except SandboxError as e:
        raise AssertionError(f"{e}\n{[(n, f['text']) for n, c in last[1].items() for f in c['findings']]}") from None
    return the_finding(last[1], name)


def test_nothing_is_found_where_all_is_well(sick, doctor, program):
    checks = healthy(doctor)
    assert {n for n, c in checks.items() if c["verdict"] == "skipped"} == {"controllers", "lending", "metrics", "agent-rights", "node-agents", "replication", *OF_THE_VERSION}, checks
    assert "one leads" in checks["lease"]["detail"]
    assert checks["holds"]["detail"].startswith("1 open reservation,")
    assert checks["jobs"]["detail"].endswith("in no queue (no label sluice.dev/queue-name): 1"), checks["jobs"]

    def asked():
        return program("sluice", "doctor", "--kubeconfig", sick.kubeconfig, "--database", sick.database, *ACCEPTED)
    done = wait_until("nothing to be found", lambda: (lambda d: d.returncode == 0 and d)(asked()), LATER)
    ok, skipped = 25 - len(OF_THE_VERSION), 6 + len(OF_THE_VERSION)
    assert done.stdout.splitlines()[-1] == f"no problem found: {ok} checks ok, 0 warn, 0 fail, {skipped} skipped", done


def test_what_it_says_of_the_version(sick, program):
    done = program("sluice", "doctor", "--kubeconfig", sick.kubeconfig, "-o", "json")
    checks = {c["name"]: c for c in json.loads(done.stdout)["checks"]}
    said = f"Kubernetes 1.{KUBERNETES}"
    if KUBERNETES > NEWEST:
        said += f": this version of Sluice was tested with 1.34 to 1.{NEWEST}; see whether there is a newer one, and try it on a test cluster first"
    elif KUBERNETES < 36:
        said += ": Jobs with sluice.dev/preemptible run in ordinary flavors only"
        assert [f["text"] for f in checks["mutating-policies"]["findings"]][0].startswith("not served: ")
    texts = [checks["version"].get("detail", ""), *(f["text"] for f in checks["version"]["findings"])]
    assert [t for t in texts if t.startswith(said)], checks["version"]


def test_a_crd_is_gone(sick, doctor):
    sick.api.delete(f"{CRDS}/nodeovercommits.sluice.dev")
    wait_until("the CRD to be gone", lambda: not [c for c in sick.api.list(CRDS) if c["metadata"]["name"].startswith("nodeo")], SOON)
    found = {"cure": "kubectl apply --server-side --force-conflicts -f api/crds"}
    try:
        found = ill(doctor, "crds", "nodeovercommits.sluice.dev is not installed")
        assert found["cure"].endswith("api/crds")
    finally:
        sick.kubectl(*found["cure"].split()[1:-1], ROOT / "api" / "crds")
    healthy(doctor)


@pytest.mark.since_kubernetes(36, "the cure applies mutating policies, too")
def test_a_policy_is_not_bound(sick, doctor):
    sick.api.delete(f"{BINDINGS}/sluice-guard-jobs")
    found = {"cure": "kubectl apply --server-side --force-conflicts -k deploy/policies"}
    try:
        found = ill(doctor, "policies", "ValidatingAdmissionPolicyBinding sluice-guard-jobs is not installed")
        assert found["verdict"] == "fail"
        wait_until("what is ignored not to count", lambda: doctor("--ignore", "policies")[0] == 0, LATER)
    finally:
        sick.kubectl(*found["cure"].split()[1:-1], ROOT / "deploy" / "policies")
    healthy(doctor)


def test_a_policy_that_does_not_fail_closed(sick, doctor):
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/sluice-guard-jobs"
    sick.api.patch(path, {"spec": {"failurePolicy": "Ignore"}})
    try:
        ill(doctor, "policies", "spec.failurePolicy differs")
    finally:
        sick.api.patch(path, {"spec": {"failurePolicy": "Fail"}})
    healthy(doctor)


@pytest.fixture
def role(sick):
    """The controller's ClusterRole, which is put back."""
    kept = sick.api.get(f"{ROLES}/sluice-controller")
    yield kept
    sick.api.patch(f"{ROLES}/sluice-controller", {"rules": kept["rules"]})


def test_a_right_is_missing(sick, doctor, role):
    rules = [{**r, "verbs": [v for v in r["verbs"] if v != "patch"] if r["resources"] == ["jobs"] else r["verbs"]} for r in role["rules"]]
    sick.api.patch(f"{ROLES}/sluice-controller", {"rules": rules})
    found = ill(doctor, "rbac", "may not patch jobs.batch")  # once the authorizer knows of it
    assert found["cure"].endswith("deploy/rbac")
    sick.api.patch(f"{ROLES}/sluice-controller", {"rules": role["rules"]})
    healthy(doctor)


NEWER = {"nodes", "pods", "resourcequotas", "poddisruptionbudgets", "deviceclasses", "nodepools", "events"}  # what a role of an older deployment does not have


def said(box, event):
    """Of which kinds the log of its controller has that, in order."""
    log = box.process("controller-one").log.read_text(errors="replace")
    return [kind.strip('"') for kind in re.findall(rf'^\S+ \w+ +{event} kind=("[^"\n]+"|\S+)', log, re.M)]


def test_with_an_older_role_it_goes_on_and_takes_up_what_it_is_given_later(sick, doctor, role):
    rules = [r for r in role["rules"] if not (r["apiGroups"][0] in ("", "policy", "resource.k8s.io", "karpenter.sh") and set(r["resources"]) <= NEWER)]
    assert len(rules) == len(role["rules"]) - len(NEWER)
    sick.api.patch(f"{ROLES}/sluice-controller", {"rules": rules})

    def all_are_found():
        checks = doctor()[1]
        texts = [f["text"] for f in checks["rbac"]["findings"]]
        return all(any(f" list, watch {kind}" in t.replace("create, ", "").replace("get, ", "") for t in texts) for kind in NEWER) and checks
    checks = wait_until("each missing right to be found", all_are_found, SOON)
    assert all(f["cure"].endswith("deploy/rbac") for f in checks["rbac"]["findings"])

    before = len(said(sick, "not-permitted"))
    sick.process("controller-one").stop()
    start_controller(sick, extra=(*USUAL_FLAGS, "--stuck-after", "1s"))
    wait_leading(sick)
    sick.api.post(path_of("clusterqueues"), clusterqueue("now", [group(["cpu"], {"any": ["4"]})], clusterFit="Now"))
    sick.api.post(path_of("localqueues", ns=NS), ours("LocalQueue", "now", {"clusterQueue": "now"}))
    sick.api.post(jobs_path(NS), job("lost", "q", requests={"cpu": "1"}, pod={"schedulerName": "lottery"}))
    for name, queue in (("plain", "q"), ("tight", "now")):
        sick.api.post(jobs_path(NS), job(name, queue, requests={"cpu": "1"}, seconds=1))
        wait_until(f"Job {name} to run all the same", lambda n=name: sick.api.get(jobs_path(NS, n))["status"].get("succeeded") == 1, LATER)
    follows = ["nodes", "resourcequotas", "poddisruptionbudgets", "deviceclasses", "pods"]
    wait_until("all that it does without to be told", lambda: all(kind in readyz(sick)[1] for kind in ["does without", *follows]), LATER)
    wait_until("the log to have each", lambda: set(said(sick, "not-permitted")[before:]) >= set(follows), LATER)
    told = said(sick, "not-permitted")[before:]
    assert sorted(told) == sorted(follows), "each once, and none of what the API server does not have (nodepools)"
    wait_until("the log to say that stuck pods are not told", lambda: "pending pods" in said(sick, "watch-trouble"), LATER)

    sick.api.patch(f"{ROLES}/sluice-controller", {"rules": role["rules"]})
    wait_until("all to be read", lambda: "does without" not in readyz(sick)[1], LATER)
    wait_until("the stuck pod to be told", lambda: sick.controller_api().job(NS, "lost").get("trouble", {}).get("reason") == "NotSeenByScheduler", LATER)
    assert len(said(sick, "not-permitted")) == before + len(follows)
    sick.api.delete(jobs_path(NS, "lost") + "?propagationPolicy=Background")
    for path in (path_of("localqueues", "now", NS), path_of("clusterqueues", "now")):
        sick.api.delete(path)
    healthy(doctor)


def own_address():
    """One of this machine that is no loopback: the API server reaches a pod at no other. None: there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            return None
        return s.getsockname()[0]


def refused(account, path):
    try:
        account.get(path)
        return False
    except ApiError as e:
        return e.status == 403


SYSTEM = "/api/v1/namespaces/sluice-system/pods"
STALE = "cohorts"
STRICT = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
STRICTER = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def serve_anew(box, plural):
    """The API server ends all watches of the kind; it is served as before."""
    path = f"{CRDS}/{plural}.sluice.dev"
    before = box.api.get(path)["spec"]["names"]["categories"]
    for names in [*before, "anew"], before:
        box.api.patch(path, {"spec": {"names": {"categories": names}}})
        wait_until("the names to be accepted", lambda: box.api.get(path)["status"]["acceptedNames"]["categories"] == names, SOON)  # noqa: B023


def test_what_a_ready_controller_cannot_read_is_told_by_itself(sick, doctor, role):
    """Its pod is only described: the API server asks the process for /readyz, as it would ask the pod. (On a node that is not there it
    would be collected as garbage after 40 s.)"""
    address, (port,) = own_address(), sick.free_ports(1)
    if not address or address.startswith("127."):
        pytest.skip("this machine has no address but loopback")
    rules = [r for r in role["rules"] if r["resources"] != ["nodes"]]
    assert len(rules) == len(role["rules"]) - 1
    sick.api.patch(f"{ROLES}/sluice-controller", {"rules": rules})
    controller = as_account(sick, "sluice-system", "sluice-controller")
    wait_until("the authorizer to know of it", lambda: refused(controller, "/api/v1/nodes"), SOON)
    sick.process("controller-one").stop()
    start_controller(sick, extra=(*USUAL_FLAGS, "--probe-listen", f"{address}:{port}"))
    wait_leading(sick)
    sick.api.post(SYSTEM, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "labels": {"app.kubernetes.io/name": "sluice-controller"}}, "spec": {
        "schedulerName": "nobody", "securityContext": STRICT,
        "containers": [{"name": "c", "image": "c", "securityContext": STRICTER, "ports": [{"name": "probes", "containerPort": port}]}]}})
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T10:00:00Z"}
    sick.api.patch(f"{SYSTEM}/one/status", {"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [ready]}})

    def said():
        return [f["text"] for f in doctor()[1]["controllers"]["findings"]]

    def nothing_is_told():
        return doctor()[1]["controllers"].get("detail") == "1 of 1 ready, and none names a kind that it cannot follow"
    try:
        found = wait_until("it to be told", said, LATER)
        assert len(found) == 1 and found[0].startswith("pod sluice-system/one: does without what its role does not let it read: nodes"), found
        sick.api.patch(f"{ROLES}/sluice-controller", {"rules": role["rules"]})
        wait_until("nothing to be told", nothing_is_told, LATER)
        # What it has followed until now is another matter: it goes on with what it knows, and says how old that is.
        sick.api.patch(f"{ROLES}/sluice-controller", {"rules": [{**r, "resources": [kind for kind in r["resources"] if kind != STALE]} for r in role["rules"]]})
        wait_until("the authorizer to know of it", lambda: refused(controller, path_of(STALE)), SOON)
        serve_anew(sick, STALE)
        wait_until("it to have had no news for long", lambda: STALE in readyz(sick)[1], SOON)
        found = said()
        assert len(found) == 1 and re.match(rf"pod sluice-system/one: has not been able to follow {STALE} for \w+: ", found[0]), found
        sick.api.patch(f"{ROLES}/sluice-controller", {"rules": role["rules"]})
        wait_until("it to be followed again", lambda: STALE not in readyz(sick)[1], SOON)
        assert nothing_is_told()
    finally:
        sick.api.delete(f"{SYSTEM}/one?gracePeriodSeconds=0")
        sick.process("controller-one").stop()
        start_controller(sick)
        wait_leading(sick)
    healthy(doctor)


SOME = [group(["cpu"], {"any": ["4"]})]
PLAN = {"queues": ["batch"], "flavors": {"any": "0.5"}, "rates": [{"calendar": "nights", "window": "night", "factor": "0.5"}]}
MORE_AT_NIGHT = {"window": "night", "flavor": "any", "resource": "cpu", "nominal": 8}


def make_what_names_nothing(make):
    """{path: (object, reason, words)} of what cannot do without that name."""
    day = {k: f"{datetime.now(timezone.utc) + timedelta(days=n):%Y-%m-%dT%H:%M:%SZ}" for k, n in (("from", 1), ("until", 2))}
    return {
        make("clusterqueues", clusterqueue("lost", [group(["cpu"], {"anyy": ["4"]})])):
            ("ClusterQueue lost", "FlavorNotFound", "ResourceFlavor anyy (did you mean any?)"),
        make("localqueues", ours("LocalQueue", "astray", {"clusterQueue": "nowhere"}), NS):
            (f"LocalQueue {NS}/astray", "ClusterQueueDoesNotExist", "nowhere"),
        make("advancereservations", ours("AdvanceReservation", "typo", {
            "clusterQueue": "q", "flavors": [{"name": "anyy", "resources": [{"name": "cpu", "amount": 1}]}], **day})):
            ("AdvanceReservation typo", "FlavorNotFound", "(did you mean any?)")}


def make_what_has_no_effect(make):
    """{path: (object, reason, message)}; mend() has what mends it."""
    make("calendars", ours("Calendar", "nights", {"timeZone": "UTC", "open": [{"name": "night", "days": ["Mon-Sun"], "from": "22:00", "to": "06:00"}]}))
    make("clusterqueues", clusterqueue("elsewhere", SOME, namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "sluice-system"}}))
    return {
        make("clusterqueues", clusterqueue("batch", SOME, fairSharing={"weight": 3})):
            ("ClusterQueue batch", "WithoutEffect", "spec.fairSharing.weight has no effect without the controller's --fair-sharing"),
        make("clusterqueues", ours("ClusterQueue", "nobodys", {"resourceGroups": SOME})):
            ("ClusterQueue nobodys", "WithoutEffect", "spec.namespaceSelector selects no namespace, so no Job can wait here; set it ({} selects all)"),
        make("localqueues", ours("LocalQueue", "away", {"clusterQueue": "elsewhere"}), NS):
            (f"LocalQueue {NS}/away", "WithoutEffect", f"namespace {NS} doesn't match the namespaceSelector of ClusterQueue elsewhere; "
             "label the namespace or change spec.namespaceSelector"),
        make("priceplans", ours("PricePlan", "plan", {
            "currency": "EUR", "base": {"cpu": "1.00"}, "queues": ["batch", "bacth"], "flavors": {"anyy": "0.5"},
            "rates": [{**PLAN["rates"][0], "window": "nigth"}]})):
            ("PricePlan plan", "NameNotFound", "spec.queues[1]: ClusterQueue bacth does not exist (did you mean batch?), so this entry has no effect; "
             "spec.flavors: ResourceFlavor anyy does not exist (did you mean any?), so this factor never applies; "
             "spec.rates[0].window: Calendar nights has no window nigth (did you mean night?), so this rate never applies"),
        make("runpolicies", ours("RunPolicy", "policy", {"queues": ["batch"], "calendar": "nights", "quota": [{**MORE_AT_NIGHT, "flavor": "anyy"}]})):
            ("RunPolicy policy", "NameNotFound",
             "spec.quota[0].flavor: ResourceFlavor anyy does not exist (did you mean any?), so this quota never applies")}


def mend(api):
    for plural, name, spec in (("clusterqueues", "batch", {"fairSharing": None}), ("clusterqueues", "nobodys", {"namespaceSelector": {}}),
                               ("clusterqueues", "elsewhere", {"namespaceSelector": {"matchLabels": None}}),
                               ("priceplans", "plan", {**PLAN, "flavors": {**PLAN["flavors"], "anyy": None}}),
                               ("runpolicies", "policy", {"quota": [MORE_AT_NIGHT]})):
        api.patch(path_of(plural, name), {"spec": spec})


def has_event(api, name, reason, words):
    return [e for e in api.list("/api/v1/events") if e["reason"] == reason and words in e["message"]
            and f"{e['involvedObject']['kind']} {e['involvedObject']['name']}" == name.replace(f"{NS}/", "")]


def test_objects_tell_what_is_wrong_with_them_until_it_is_mended(sick, doctor):
    """Each in one condition, and to whoever asks the doctor; all but queues that are inactive in an Event, too."""
    api, made = sick.api, []

    def make(plural, obj, ns=None):
        api.post(path_of(plural, ns=ns), obj)
        made.append(path_of(plural, obj["metadata"]["name"], ns))
        return made[-1]

    def is_told(path, reason, words):
        return [c for c in conditions(api.get(path)).values() if (c["status"], c["reason"]) == ("False", reason) and words in c["message"]]
    try:
        names_nothing, no_effect = make_what_names_nothing(make), make_what_has_no_effect(make)
        wanted = {**names_nothing, **no_effect}
        for path, (name, *what) in wanted.items():
            wait_until(f"{name} to tell {what}", lambda: is_told(path, *what), LATER)  # noqa: B023
        for what in [w for path, w in wanted.items() if path in no_effect or w[0] == "AdvanceReservation typo"]:
            wait_until(f"an Event with {what}", lambda: has_event(api, *what), LATER)  # noqa: B023
        code, checks = doctor()
        found = sorted((f["text"], f["verdict"]) for f in checks["conditions"]["findings"])
        assert code == 1 and len(found) == len(wanted), found
        for (text, verdict), (name, reason, words) in zip(found, sorted(wanted.values())):
            assert verdict == "warn" and text.startswith(f"{name}: {reason}: ") and words in text, found

        for path in names_nothing:
            api.delete(path)
            made.remove(path)
        mend(api)
        for path in no_effect:
            wait_until(f"{path} to be mended", lambda: has(api.get(path), "Effective"), LATER)  # noqa: B023
        healthy(doctor)
    finally:
        for path in reversed(made):
            api.delete(path)


def test_fsync_is_off(sick, doctor):
    sick.sql("alter system set fsync = off")
    sick.sql("select pg_reload_conf()")
    try:
        wait_until("fsync to be off", lambda: sick.sql("show fsync") == [["off"]], SOON)
        found = ill(doctor, "durability", "fsync is off")
        assert found["text"].startswith("fsync is off") and "ALTER SYSTEM SET fsync = on" in found["cure"]
    finally:
        sick.sql("alter system reset fsync")
        sick.sql("select pg_reload_conf()")
    wait_until("fsync to be on", lambda: sick.sql("show fsync") == [["on"]], SOON)
    healthy(doctor)


def test_an_orphan_hold_is_named_and_the_next_leader_settles_it(sick, doctor):
    uid = "0a0a0a0a-0000-4000-8000-000000000001"
    sick.sql(f"insert into sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, target, lines) values "
             f"('default', '{uid}', 1, 'RESERVE', 0, 1, now() - interval '1 hour', 'pending', '[]'); "
             f"insert into sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, reserved_at, lines) values "
             f"('default', '{uid}', 1, 'pending', '{NS}', 'lost', 'q', now() - interval '1 hour', '[]')")
    found = ill(doctor, "holds", f"Job {NS}/lost (uid {uid}) does not exist", "for 1h")
    assert re.search(r"\bfor 1h(\d+m)?$", found["text"]), found  # an hour, and what the doctor took
    assert "rollout restart" in found["cure"]
    sick.process("controller-one").stop()  # what the cure does to a Deployment
    start_controller(sick)
    wait_leading(sick)
    healthy(doctor)


def test_a_job_that_runs_without_a_hold(sick, doctor):
    """Its label comes from Sluice's own account, which the policies let pass, while the controller is away."""
    sick.process("controller-one").stop()
    try:
        sluice = as_account(sick, "sluice-system", "sluice-controller")

        def runs(name):
            wait_until(f"{name} to run", lambda: sick.api.get(jobs_path(NS, name))["status"].get("active") == 1, LATER)
            sluice.patch(jobs_path(NS, name), {"metadata": {"labels": {QUEUE: "q"}}})

        def age(name):
            return datetime.now(timezone.utc) - datetime.fromisoformat(sick.api.get(jobs_path(NS, name))["status"]["startTime"])
        runs("wild")
        wait_until("it to be a minute old", lambda: age("wild") > timedelta(seconds=63), 90)
        for n in range(10):  # until the doctor is done before a Job is a minute old
            sick.api.post(jobs_path(NS), job(f"young-{n}", requests={"cpu": "1"}, seconds=LONG))
            runs(f"young-{n}")
            code, checks = doctor()
            if age(f"young-{n}") < timedelta(seconds=60):
                break
        found = "\n".join(f["text"] for f in checks["jobs"]["findings"])
        assert code == 1 and f"Job {NS}/wild runs for" in found
        assert f"young-{n}" not in found, "it is too young to be a finding"
        assert "no controller leads" in checks["lease"]["findings"][0]["text"] and "one" in checks["lease"]["findings"][0]["text"]
    finally:
        start_controller(sick)
        wait_leading(sick)
    healthy(doctor)  # once the leader has stopped them


def test_who_may_not_look_is_told(sick, doctor, program, tmp_path):
    """An ordinary account: what it may not read is skipped, and that is no finding."""
    view = json.loads(sick.kubectl("config", "view", "--raw", "-o", "json").stdout)
    view["users"][0]["user"] = {"token": token(sick.api, NS, "default")}
    path = tmp_path / "config"
    path.write_text(json.dumps(view))
    done = program("sluice", "doctor", "--kubeconfig", path, "-o", "json")
    checks = {c["name"]: c for c in json.loads(done.stdout)["checks"]}
    assert done.returncode == bool(OF_THE_VERSION), done
    assert {checks[n]["verdict"] for n in ("crds", "rbac", "policies", "postgres", "holds")} == {"skipped"}
    assert "subjectaccessreviews" in checks["rbac"]["detail"] and "--database" in checks["postgres"]["detail"]


def test_nobody_there(sick, program, tmp_path):
    text = sick.kubeconfig.read_text().replace(f":{sick.port('kube-apiserver')}", ":1")
    path = tmp_path / "config"
    path.write_text(text)
    done = program("sluice", "doctor", "--kubeconfig", path)
    assert done.returncode == 3 and done.stdout.splitlines()[-1].startswith("1 finding: "), done
    assert program("sluice", "doctor", "--frob").returncode == 2
