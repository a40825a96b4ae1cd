"""What people and machines ask: `sluice`, /metrics, /healthz, /readyz."""

import http.client
import json
import os
import re
import shlex
import socket
import subprocess
import threading

import pytest
from conftest import BIN, LATER, SOON, config_for, readyz, token
from objects import HOLD, job, jobs_path, ours, path_of
from sandbox import ApiError, asking, wait_until
from sandbox.asking import ROOT as ROOT_OF_API
from sandbox.sandbox import ROOT


@pytest.fixture
def sluice(program, world):
    """sluice(args...): against this sandbox's API server."""
    def run(*args, env=None):
        world.box.wait_visible(LATER)
        return program("sluice", *args, env={"KUBECONFIG": str(world.box.kubeconfig), **(env or {})})
    return run


@pytest.fixture
def busy(world):
    """One runs, two wait."""
    world.queue(cpu=2)
    world.job("runs", cpu=2)
    world.started("runs")
    world.job("first", cpu=1)
    world.waits("first", "WaitingForQuota")
    world.job("second", cpu=2)
    world.waits("second", "WaitingForQuota")
    return world


def ok(done):
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def told(sluice, *args):
    return asking.job(json.loads(ok(sluice("explain", *args, "-o", "json"))))


# ---- sluice explain ---------------------------------------------------------------------


def test_explain_begins_with_a_plain_sentence_with_numbers(sluice, busy):
    first, *rest = ok(sluice("explain", "job/second", "-n", busy.ns)).splitlines()
    assert re.search(r"2 cpu", first) and re.search(r"\b1 Job is ahead|\b1 Job\b.*ahead", first), first
    assert first[0].isalpha() and not first.startswith(("{", "Error")), first
    text = "\n".join(rest)
    assert busy.full("q") in text and "WaitingForQuota" in text and "1 ahead" in text
    assert "\x1b" not in text, "colours without a terminal"


def test_explain_says_that_a_job_runs(sluice, busy):
    first = ok(sluice("explain", "runs", "-n", busy.ns)).splitlines()[0]
    assert re.search(r"\brun|started|admitted", first), first


@pytest.mark.parametrize("form", [["job/first"], ["jobs/first"], ["job", "first"], ["first"], ["job.batch/first"]])
def test_explain_takes_names_as_kubectl_does(sluice, busy, form):
    assert told(sluice, *form, "-n", busy.ns)["name"] == "first"


def test_explain_in_json_has_the_reason_and_the_numbers(sluice, busy):
    said = told(sluice, "job/second", "-n", busy.ns)
    assert (said["reason"], said["waiting"], said["ahead"], said["clusterQueue"], said["localQueue"]) == (
        "WaitingForQuota", True, 1, busy.full("q"), "q")
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", said["queuedAt"])


def test_explain_of_a_job_that_is_not_there_is_a_sentence_and_code_1(sluice, world):
    done = sluice("explain", "job/nobody", "-n", world.ns)
    assert done.returncode == 1 and f"no Job nobody in namespace {world.ns} " in done.stderr and not done.stdout


def test_explain_of_a_job_that_the_controller_does_not_have_is_told_by_the_job(sluice, world):
    """It has ended, it is in no queue, it is Kueue's: a sentence for each, in a table and in JSON."""
    world.queue(cpu=2)
    world.job("done", cpu=1, seconds=0.1)
    world.finished("done")
    for name, labels in (("plain", {}), ("foreign", {"kueue.x-k8s.io/queue-name": "gpu"})):
        world.api.post(jobs_path(world.ns), job(name, requests={"cpu": "1"}, labels=labels, suspend=True))
    expected = {"done": ("Succeeded", "succeeded at "), "plain": ("Unqueued", f"kubectl label -n {world.ns} job/plain sluice.dev/queue-name=QUEUE"),
                "foreign": ("Unqueued", "is queued by Kueue (LocalQueue gpu")}
    for name, (state, says) in expected.items():
        wait_until(f"explain of {name} to say so", lambda: says in ok(sluice("explain", f"job/{name}", "-n", world.ns)), SOON)  # noqa: B023
        assert told(sluice, f"job/{name}", "-n", world.ns)["state"] == state


def test_queue_is_shown_again_and_again(busy):
    env = {**os.environ, "KUBECONFIG": str(busy.box.kubeconfig)}
    with subprocess.Popen([BIN / "sluice", "queue", "-w"], env=env, stdout=subprocess.PIPE, text=True) as watching:
        heads = 0
        for line in watching.stdout:
            heads += line.startswith("CLUSTERQUEUE")
            if heads == 2:
                break
        watching.terminate()
    assert heads == 2


# ---- sluice hold, sluice release -----------------------------------------------------------


def test_a_job_is_held_and_released_and_each_time_told_what_comes_of_it(sluice, world):
    def say(command, *args, name="a"):
        return sluice(command, f"job/{name}", "-n", world.ns, *args)

    world.queue(cpu=2)
    world.job("a", cpu=1)
    world.started("a")
    assert "is not on hold" in say("release").stderr
    assert "is being stopped" in ok(say("hold", "--because", "wait for the new data"))
    world.stopped("a")
    wait_until("explain to tell why", lambda: ok(say("explain")).startswith("on hold: \"wait for the new data\"; to queue it again: "), SOON)
    assert "Job a is already on hold: \"wait for the new data\"" in say("hold").stderr
    assert "Job a is on hold; to queue it again: sluice release job/a" in ok(say("hold", "--because", "still no data"))
    assert "is queued again" in ok(say("release"))
    world.started("a")
    absent = say("hold", name="nobody")
    assert absent.returncode == 1 and f"there is no Job nobody in namespace {world.ns}" in absent.stderr


def test_a_job_that_waits_and_is_told_hold_lets_the_next_one_by(sluice, world):
    """One in line, and one that was created with the annotation: all say why, neither has a place, and quota that is free is not theirs."""
    world.queue(cpu=1)
    world.job("runs")
    world.started("runs")
    for name in "first", "second":
        world.job(name)
        world.waits(name, "WaitingForQuota")
    world.job("born", annotations={HOLD: "its data is not there yet"})
    assert "Job first is on hold; to queue it again: sluice release job/first" in ok(
        sluice("hold", "job/first", "-n", world.ns, "--because", "wait for the new data"))
    held = {"first": "wait for the new data", "born": "its data is not there yet"}
    for name, why in held.items():
        sentence = world.waits(name, "OnHold")["sentence"]
        assert sentence.startswith(f"on hold: \"{why}\"; to queue it again: "), sentence
        assert ok(sluice("explain", name, "-n", world.ns)).startswith(f"on hold: \"{why}\"; to queue it again: ")
    world.ahead("second")

    def listed():
        jobs = world.box.controller_api().get(f"/apis/visibility.sluice.dev/v1alpha1/namespaces/{world.ns}/queuedjobs")["items"]
        status = {j["metadata"]["name"]: j["status"] for j in jobs}
        return {name: (s["state"], s.get("position"), "hold" in s.get("waitsFor", ""), held.get(name, "") in s["message"]) for name, s in status.items()}
    world.wait("the list to have it so", lambda: listed() == {
        "runs": ("Running", None, False, True), "second": ("Waiting", 1, False, True), **{name: ("Waiting", None, True, True) for name in held}})
    world.wait("the status to count them", lambda: world.clusterqueue().get("status", {}).get("pendingWorkloads") == 3)
    world.wait_queue("q", lambda q: q["pending"] == 3, "to have three that wait")
    world.finish("runs")
    world.started("second")
    assert all(world.get(name)["spec"]["suspend"] for name in held)
    assert "Job first is queued again" in ok(sluice("release", "job/first", "-n", world.ns))
    world.waits("first", "WaitingForQuota")
    world.finish("second")
    world.started("first")
    world.waits("born", "OnHold")


# ---- sluice move, sluice priority -----------------------------------------------------------


def test_a_job_that_waits_is_moved_and_one_that_runs_is_not(sluice, world):
    world.queue(cpu=2)
    world.queue("b", cpu=1)
    world.job("runs", cpu=2)
    world.job("other", queue="b", cpu=1)
    world.started("runs", "other")
    world.job("a", cpu=1)
    world.waits("a", "WaitingForQuota")

    def move(name, queue):
        return sluice("move", f"job/{name}", "--queue", queue, "-n", world.ns)
    refused = move("runs", "b")
    assert refused.returncode == 2 and "holds quota of LocalQueue q, so it cannot be moved; stop it first (sluice hold job/runs" in refused.stderr
    absent = move("a", "nowhere")
    assert absent.returncode == 1 and f"there is no LocalQueue nowhere in namespace {world.ns}" in absent.stderr
    assert ok(move("a", "b")).startswith("Job a is moved to LocalQueue b: it has its place there by its time of queueing")
    assert world.get("a")["metadata"]["labels"]["sluice.dev/queue-name"] == "b"
    wait_until("it to wait there", lambda: told(sluice, "a", "-n", world.ns)["localQueue"] == "b", SOON)
    world.finish("other")
    world.started("a")


def test_a_job_is_given_another_priority(sluice, world):
    world.priorities(high=1000)
    world.queue(cpu=1)
    world.job("runs", cpu=1)
    world.started("runs")
    for name in ("first", "second"):
        world.job(name, cpu=1)
        world.waits(name, "WaitingForQuota")
    absent = sluice("priority", "job/second", "nowhere", "-n", world.ns)
    assert absent.returncode == 1 and "there is no WorkloadPriorityClass nowhere" in absent.stderr
    said = ok(sluice("priority", "job/second", world.full("high"), "-n", world.ns))
    assert said.startswith(f"Job second has WorkloadPriorityClass {world.full('high')} (1000): it is queued by that priority")
    wait_until("it to be ahead", lambda: told(sluice, "first", "-n", world.ns)["ahead"] == 1, SOON)
    assert "it keeps running; from now on" in ok(sluice("priority", "job/runs", world.full("high"), "-n", world.ns))


def test_times_are_of_one_zone_in_a_table_and_utc_in_json(sluice, world):
    world.queue(cpu=1)
    world.job("a", cpu=1)
    world.started("a")
    wait_until("explain to say that it runs", lambda: ok(sluice("explain", "a", "-n", world.ns)).startswith("runs since "), SOON)
    said = ok(sluice("explain", "a", "-n", world.ns, env={"TZ": "XYZ-5:30"}))
    assert said.count("XYZ") == 1 and not re.search(r"\dT\d\d:\d\d", said), said

    def listed():  # the list is kept for a moment
        return sluice("jobs", "-n", world.ns, "-o", "wide", env={"TZ": "XYZ-5:30"})
    wait_until("the list to say that it runs", lambda: "runs since " in listed().stdout, SOON)
    said = ok(listed())
    assert said.count("XYZ") == 1 and not re.search(r"\dT\d\d:\d\d", said), said
    assert re.search(r"runs since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", ok(sluice("explain", "a", "-n", world.ns, "-o", "json", env={"TZ": "XYZ-5:30"})))


# ---- sluice queue -------------------------------------------------------------------------


def test_queue_shows_quotas_and_counts(sluice, busy):
    last = [""]

    def row():  # the status is written once a second
        last[0] = ok(sluice("queue"))
        return any(line.split()[:4] == [busy.full("q"), "active", "2", "1"] and line.endswith("2 of 2") for line in last[0].splitlines())
    busy.wait("a row of the queue", lambda: row() or print(last[0]))


def test_queue_in_json_parses_and_adds_up(sluice, busy):
    def asked():  # the status is written once a second
        return asking.queues(json.loads(ok(sluice("queue", busy.full("q"), "-o", "json"))))
    busy.wait("the status to be written", lambda: asked()["clusterQueues"][0]["pending"] == 2)
    out = asked()
    (q,) = [q for q in out["clusterQueues"] if q["name"] == busy.full("q")]
    assert (q["pending"], q["admitted"], q["active"]) == (2, 1, True)
    (cpu,) = q["flavors"][0]["resources"]
    assert (cpu["name"], cpu["nominalUnits"], cpu["reservedUnits"]) == ("cpu", 2000, 2000)


def test_queue_by_name_shows_its_localqueues(sluice, busy):
    out = ok(sluice("queue", busy.full("q")))
    assert busy.ns in out and busy.full("q") in out


def test_queue_of_a_name_that_is_not_there_is_a_sentence_and_code_1(sluice):
    done = sluice("queue", "no-such-queue")
    assert done.returncode == 1 and "no-such-queue" in done.stderr and not done.stdout


def test_decisions_tell_who_was_started(sluice, busy):
    out = ok(sluice("decisions", "-n", busy.ns))
    assert "runs" in out
    for line in ok(sluice("decisions", "-n", busy.ns, "-o", "json")).splitlines():
        assert json.loads(line)["namespace"] == busy.ns


# ---- wrong use ------------------------------------------------------------------------------


@pytest.mark.parametrize("args, words", [
    (["frobnicate"], "frobnicate"), (["queue", "--frobnicate"], "--frobnicate"), (["explain"], "wants one Job"), (["explain", "pod/x"], "wants one Job"),
    (["queue", "a", "b"], '"b"'), (["queue", "-o", "xml"], "xml"), (["queue", "--server", "http://127.0.0.1:1"], "--server"), (["help", "frobnicate"], "frobnicate")])
def test_wrong_use_is_a_sentence_and_code_2(program, args, words):
    done = program("sluice", *args)
    assert done.returncode == 2 and words in done.stderr and not done.stdout, done


def test_without_any_command_the_usage_is_shown_and_code_2(program):
    done = program("sluice")
    assert done.returncode == 2 and "SYNOPSIS" in done.stderr


@pytest.mark.parametrize("command", [["queue"], ["explain", "job/x"], ["decisions"]])
def test_an_api_server_that_cannot_be_reached_is_a_sentence_and_code_3(program, nobody, command):
    done = program("sluice", *command, env=nobody)
    assert done.returncode == 3 and "Failed to connect to 127.0.0.1 port 1 " in done.stderr and not done.stdout, done


def test_a_server_that_is_no_api_server_is_a_sentence(program, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as s:
        def answer():
            c, _ = s.accept()
            c.recv(4096)
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html")
            c.close()
        threading.Thread(target=answer, daemon=True).start()
        done = program("sluice", "queue", env=config_for(tmp_path, f"https://127.0.0.1:{s.getsockname()[1]}"))
    assert done.returncode in (1, 2, 3) and done.stderr and "Sanitizer" not in done.stderr, done


# ---- /metrics ----------------------------------------------------------------------------------

LABELS = r'\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\}'
SAMPLE = re.compile(rf"([a-zA-Z_:][\w:]*)({LABELS})? (\S+)$")
SUFFIXES = {"counter": ["_total", "_created"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum", "_created"], "info": ["_info"],
            "stateset": [""], "unknown": [""], "summary": ["", "_count", "_sum", "_created"]}


def parse_openmetrics(text):
    """{family: (type, [(sample, labels, value)])}; asserts the rules of OpenMetrics 1.0 that a scraper would."""
    assert text.endswith("# EOF\n") and text.count("# EOF") == 1
    families, current = {}, None
    for line in text.splitlines()[:-1]:
        assert line and line == line.strip(), f"blank or padded line {line!r}"
        if line.startswith("# "):
            _, what, name, rest = (line + " ").split(" ", 3)
            assert what in ("TYPE", "HELP", "UNIT"), line
            if name != current:
                assert name not in families, f"{name} is interleaved"
                current = name
                families[name] = ["unknown", []]
            if what == "TYPE":
                assert rest.strip() in SUFFIXES, line
                families[name][0] = rest.strip()
            if what == "UNIT" and rest.strip():
                assert name.endswith("_" + rest.strip()), line
            continue
        match = SAMPLE.match(line)
        assert match, f"not a sample: {line}"
        sample, labels, value = match.groups()
        kind = families[current][0]
        assert any(sample == current + s for s in SUFFIXES[kind]), f"{sample} is no sample of the {kind} {current}"
        float(value)
        families[current][1].append((sample, labels or "", float(value)))
    for name, (kind, samples) in families.items():
        seen = [(s, labels) for s, labels, _ in samples]
        assert len(seen) == len(set(seen)), f"{name} has a sample twice"
        if kind == "histogram":
            rows = {}  # of each histogram, by its other labels
            for _, labels, value in (x for x in samples if x[0] == name + "_bucket"):
                rows.setdefault(re.sub(r',?le="[^"]*"', "", labels), []).append((labels, value))
            for buckets in rows.values():
                assert [v for _, v in buckets] == sorted(v for _, v in buckets) and 'le="+Inf"' in buckets[-1][0], buckets
    return families


def test_metrics_are_openmetrics_and_name_no_job(busy):
    busy.job("a-name-to-look-for", cpu=1)
    busy.waits("a-name-to-look-for")
    queue = f'{{cluster_queue="{busy.full("q")}"}}'

    def page():
        conn = http.client.HTTPConnection(busy.box.controller_url().removeprefix("http://"), timeout=SOON)
        conn.request("GET", "/metrics")
        answer = conn.getresponse()
        text = answer.read().decode()
        conn.close()
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
        return text if f"sluice_pending_jobs{queue} 3\n" in text else None  # it is kept for a while
    text = busy.wait("the page to count all three that wait", page)
    families = parse_openmetrics(text)
    assert "a-name-to-look-for" not in text
    assert ("sluice_pending_jobs", queue, 3.0) in families["sluice_pending_jobs"][1]
    assert ("sluice_admitted_jobs", queue, 1.0) in families["sluice_admitted_jobs"][1]
    assert any(busy.full("q") in labels and 'kind="reserved"' in labels and value == 2 for _, labels, value in families["sluice_quota"][1])


# ---- health ----------------------------------------------------------------------------------


def test_health_and_readiness_are_answered(box):
    assert box.controller_api().raw("GET", "/healthz") == b"ok\n"
    status, text = readyz(box)
    assert status == 200 and text.startswith("leading")


@pytest.mark.parametrize("method, path, status", [("GET", "/nothing", 404), ("GET", f"{ROOT_OF_API}/nothing", 404), ("POST", f"{ROOT_OF_API}/queuereports", 405),
                                                  ("DELETE", "/healthz", 405), ("GET", f"{ROOT_OF_API}/decisions?after=soon", 400), ("GET", "/api/v1/queues", 410)])
def test_a_wrong_question_gets_an_error_not_a_hang(box, method, path, status):
    with pytest.raises(ApiError) as answer:
        box.controller_api().raw(method, path)
    assert answer.value.status == status


# ---- who may ask --------------------------------------------------------------------------------


def own_address():
    """One of this machine's that is not loopback, or None. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return None if s.getsockname()[0].startswith("127.") else s.getsockname()[0]


@pytest.fixture
def open_controller(box, tmp_path):
    """A second controller that listens on all addresses; its address from outside. It has no ledger: as a standby it would take
    over from a leader that is late by three seconds."""
    host = own_address()
    if not host:
        pytest.skip("this machine has no address but loopback")
    (port,) = box.free_ports(1)
    proc = box.process("controller-open")
    proc.start([BIN / "sluice-controller", "--kubeconfig", box.state / "controller.kubeconfig", "--database", f"host={tmp_path} dbname=sluice",
                "--listen", f"0.0.0.0:{port}", "--identity", "open", "--lease-seconds", "3"], env={"SLUICE_SANDBOX_URL": f"http://127.0.0.1:{port}"})
    try:
        box.wait_healthy("controller-open")
        yield host, port
    finally:
        proc.stop()
        proc.record_file.unlink()


def ask(address, path, bearer=None):
    conn = http.client.HTTPConnection(*address, timeout=SOON)
    conn.request("GET", path, headers={"Authorization": f"Bearer {bearer}"} if bearer else {})
    return conn.getresponse().status


def test_a_caller_from_elsewhere_must_show_a_token_that_may_read_queues(open_controller, world):
    world.api.ensure(f"/api/v1/namespaces/{world.ns}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}})
    nobody = token(world.api, world.ns, "default")
    reader = token(world.api, world.ns, "reader")
    world.api.ensure("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": world.ns},
        "rules": [{"apiGroups": ["sluice.dev"], "resources": ["clusterqueues"], "verbs": ["get"]},
                  {"apiGroups": ["visibility.sluice.dev"], "resources": ["queuereports"], "verbs": ["list"]}]})
    world.api.ensure("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": world.ns},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": world.ns},
        "subjects": [{"kind": "ServiceAccount", "namespace": world.ns, "name": "reader"}]})
    assert ask(open_controller, "/healthz") == 200
    report = f"{ROOT_OF_API}/queuereports"
    assert ask(open_controller, report) == 401
    assert ask(open_controller, report, "nonsense") == 401
    assert ask(open_controller, report, nobody) == 403
    assert ask(open_controller, "/api/v1/queues") == 410  # where to ask is no secret
    wait_until("the reader to be let in", lambda: ask(open_controller, "/metrics", reader) == 200, SOON)
    assert ask(open_controller, report, reader) == 503  # it does not lead


# ---- sluice calendar: the API server is asked, not the controller ------------------------


MAPS = "/api/v1/namespaces/sluice-system/configmaps"


@pytest.fixture
def holidays(world):
    """A calendar of days that takes its dates from a ConfigMap."""
    name = world.full("holidays")
    world.api.post(MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"dates": "2026-12-25"}})
    world.made.append(f"{MAPS}/{name}")
    world.create("calendars", ours("Calendar", world.full("days"), {"timeZone": "Europe/Berlin", "open": [
        {"name": "day", "days": ["Mon-Sun"], "from": "08:00", "to": "18:00"}], "except": [
        {"name": "off", "datesFrom": {"configMap": name, "key": "dates"}, "treatAs": "Closed"}]}))
    return world


def reader_config(world, tmp_path, *rules):
    """A kubeconfig of a ServiceAccount that may only do that."""
    who = {"kind": "ServiceAccount", "name": "reader", "namespace": world.ns}
    world.api.post(f"/api/v1/namespaces/{world.ns}/serviceaccounts", {"metadata": {"name": "reader"}})
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    for plural, kind, name in (("clusterroles", "ClusterRole", world.full("reader")), ("clusterrolebindings", "ClusterRoleBinding", world.full("reader"))):
        world.made.append(f"{rbac}/{plural}/{name}")
        more = {"rules": list(rules)} if kind == "ClusterRole" else {
            "subjects": [who], "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}}
        world.api.post(f"{rbac}/{plural}", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **more})
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                                "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{world.box.port('kube-apiserver')}",
                                                                       "certificate-authority": str(world.box.pki / "ca.crt")}}],
                                "users": [{"name": "u", "user": {"token": token(world.api, world.ns, "reader")}}]}))
    return str(path)


CALENDARS = {"apiGroups": ["sluice.dev"], "resources": ["calendars"], "verbs": ["get", "list"]}


def test_calendar_without_files_is_that_of_the_cluster(sluice, holidays):
    name = holidays.full("days")
    shown = json.loads(ok(sluice("calendar", "test", name, "--at", "2026-12-25T12:00", "-o", "json")))
    assert shown["state"] == "Closed" and shown["exception"] == "off" and shown["next"][0]["at"] == "2026-12-26T07:00:00Z"
    assert ok(sluice("calendar", "show", name, "--at", "2026-12-24T12:00")).splitlines()[1] == \
        "  at Thu 2026-12-24 12:00 CET open by window day, until Thu 2026-12-24 18:00 CET"
    for other in {c["metadata"]["name"] for c in holidays.api.list(path_of("calendars"))} - {name}:
        holidays.api.delete(path_of("calendars", other))  # of tests that are over; where one names a ConfigMap that is gone, none is shown
    assert name in ok(sluice("calendar", "show"))
    done = sluice("calendar", "show", "nowhere")
    assert done.returncode == 1 and "there is no Calendar nowhere" in done.stderr


def test_calendar_needs_no_more_than_to_read_calendars_and_the_dates(program, holidays, tmp_path):
    name = holidays.full("days")
    config = reader_config(holidays, tmp_path, CALENDARS)

    def shown():  # once the authorizer knows of the role
        done = program("sluice", "calendar", "show", name, "--kubeconfig", config)
        return done.returncode == 3 and f"dates come from ConfigMap {holidays.full('holidays')}" in done.stderr
    holidays.wait("the missing right to be named", shown)
    role = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{holidays.full('reader')}"
    holidays.api.patch(role, {"rules": [CALENDARS, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": [holidays.full("holidays")]}]})
    holidays.wait("the right to be known", lambda: program("sluice", "calendar", "show", name, "--kubeconfig", config).returncode == 0)
    nothing = program("sluice", "calendar", "show", name, "--kubeconfig", "/nowhere")
    assert nothing.returncode == 2 and "without -f the API server is asked" in nothing.stderr


# ---- what pages show ---------------------------------------------------------------------


def calls_of(page):
    """(command, the lines that it prints): `$ sluice ...` in a block, or a block with one command above a block of its output."""
    text = page.read_text()
    for block in re.findall(r"^```(?:console)?\n(\$ .*?)^```", text, re.M | re.S):
        for call in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]:
            yield call.splitlines()[0], call.splitlines()[1:]
    for command, output in re.findall(r"^```sh test\n(sluice [^\n]*)\n```\n\n```\n(.*?)^```", text, re.M | re.S):
        yield command, output.splitlines()


def shown_of_files():
    """(page, words of the command, the lines below it) of each call of `sluice` in a page that reads nothing but files of the repository."""
    found = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for command, lines in calls_of(page):
            program, *words = shlex.split(command, comments=True)
            if program.split("/")[-1] == "sluice" and "-f" in words and (ROOT / words[words.index("-f") + 1]).exists():
                found.append(pytest.param(page, words, lines, id=f"{page.name}: {shlex.join(words)}"))
    assert len(found) >= 3
    return found


@pytest.mark.parametrize("page, words, lines", shown_of_files())
def test_what_a_page_shows_is_what_is_printed(program, page, words, lines):
    """A line `...` stands for any others. Which edition of the zone database it is depends on the machine."""
    printed = re.sub(r"tzdata \S+", "tzdata N", ok(program("sluice", *words, env={"TZ": "UTC"}, cwd=ROOT)))
    wanted = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(re.sub(r"tzdata \S+", "tzdata N", line)) + r"\n" for line in lines)
    assert re.fullmatch(wanted, printed), printed
