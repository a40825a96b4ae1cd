"""A user's day with one RoleBinding: she asks as herself, through the API server, about her own Jobs.

Alice is a ServiceAccount with sluice-batch-user in her namespace, and nothing else: no port-forward, no right to see
other namespaces. kubectl and `sluice` have her kubeconfig alone."""

import contextlib
import fcntl
import http.client
import json
import os
import pty
import re
import select
import signal
import ssl
import struct
import subprocess
import termios
from types import SimpleNamespace

import pytest
from conftest import BIN, LATER, SOON, World, as_account
from objects import has, job, jobs_path, ours, path_of, who
from sandbox import ApiError, asking, wait_until
from test_rights import bind

GROUP = "/apis/visibility.sluice.dev/v1alpha1"


@pytest.fixture
def api_is_there(world):
    """The API server asks the leader."""
    world.box.wait_visible(LATER)


@pytest.fixture
def bob(world):
    """Another team: a namespace with a LocalQueue into the same ClusterQueue."""
    w = World(world.box, f"{world.ns}-bob")
    yield w
    w.end()


@pytest.fixture
def alice(world, bob, api_is_there, program):
    """Her Job runs, one of Bob's waits, and then hers waits; she has a kubeconfig."""
    world.queue(cpu=2)
    bob.local("theirs", world.full("q"))
    bind(world, "alice", "sluice-batch-user")
    config = world.box.account_kubeconfig("alice", world.ns, "alice")
    world.job("runs", cpu=2)
    world.started("runs")
    bob.job("secret", queue="theirs", cpu=2)
    bob.waits("secret", "WaitingForQuota")
    world.job("mine", cpu=1)
    world.waits("mine", "WaitingForQuota")

    def kubectl(*args):
        return subprocess.run([world.box.tool("kubectl"), "--kubeconfig", config, *args], env=world.box.kubectl_env(), capture_output=True, text=True, timeout=SOON)

    def sluice(*args):
        return program("sluice", *args, env={"KUBECONFIG": str(config)})
    api = as_account(world.box, world.ns, "alice")
    wait_until("a list that is new enough", lambda: len(api.get(f"{GROUP}/namespaces/{world.ns}/queuedjobs")["items"]) == 2, SOON)
    yield SimpleNamespace(config=config, kubectl=kubectl, sluice=sluice, ns=world.ns, world=world, bob=bob, api=api)


def rows(done):
    """The lines of a table, as lists of words; without its head."""
    assert done.returncode == 0, done
    return [line.split() for line in done.stdout.splitlines()[1:]]


def known(done):
    """The same for who waits: none where it was not answered. A list is kept for a moment, and while the API server looks for the
    controller it has none."""
    return rows(done) if done.returncode == 0 else []


# ---- kubectl -------------------------------------------------------------------------


def test_kubectl_lists_her_jobs_in_the_order_of_the_queue(alice):
    wait_until("her Jobs in a list", lambda: [r[:1] + r[3:4] for r in known(alice.kubectl("get", "qj", "-n", alice.ns))][1:] == [["mine", "2"]], SOON)
    done = alice.kubectl("get", "qj", "-n", alice.ns)
    head = (done.stdout or done.stderr).splitlines()[0]
    assert head.split()[:5] == ["NAME", "QUEUE", "STATE", "POSITION", "PRIORITY"] and "WAITS FOR" in head, done
    (first, *_), (second, queue, state, position, *_) = rows(done)
    assert first == "runs" and (second, queue, state, position) == ("mine", "q", "Waiting", "2"), done.stdout


def test_kubectl_shows_the_whole_explanation_of_one(alice):
    done = alice.kubectl("get", "queuedjob", "mine", "-n", alice.ns, "-o", "json")
    said = json.loads(done.stdout)
    assert said["kind"] == "QueuedJob" and said["status"]["reason"] == "WaitingForQuota" and said["status"]["position"] == 2
    assert "1 Job is ahead" in said["status"]["message"], said
    assert said["spec"]["requests"] == {"cpu": "1"} and said["metadata"]["uid"] == alice.world.get("mine")["metadata"]["uid"]


def test_selectors_and_sorting_are_kubectls(alice):
    alice.world.patch("mine", {"metadata": {"labels": {"stage": "test"}}})
    wait_until("the label to be known", lambda: [r[0] for r in known(alice.kubectl("get", "qj", "-n", alice.ns, "-l", "stage=test"))] == ["mine"], SOON)
    wait_until("the one that runs", lambda: [r[0] for r in known(alice.kubectl("get", "qj", "-n", alice.ns, "--field-selector", "status.state=Running"))] == ["runs"],
               SOON)
    assert [r[0] for r in rows(alice.kubectl("get", "qj", "-n", alice.ns, "--sort-by=.metadata.name"))] == ["mine", "runs"]
    done = alice.kubectl("get", "qj", "-n", alice.ns, "--field-selector", "spec.colour=red")
    assert done.returncode == 1 and "spec.colour=red" in done.stderr and "status.state" in done.stderr, done


def explained(person, field, words):
    """The API server reads the schema of an API that others serve in its own time."""
    wait_until(f"kubectl to explain {field}", lambda: words in person.kubectl("explain", field).stdout, SOON)


def test_kubectl_explains_the_fields(alice):
    explained(alice, "queuedjobs.status.waitsFor", "What it waits for")


def test_pages_are_of_one_moment(alice):
    names = [f"many-{i:02}" for i in range(12)]
    for name in names:
        alice.world.job(name, cpu=1)
    alice.world.waits(names[-1], "WaitingForQuota")
    path = f"{GROUP}/namespaces/{alice.ns}/queuedjobs"
    wait_until("all to be listed", lambda: len(alice.api.get(path)["items"]) == 14, SOON)
    page = alice.api.get(f"{path}?limit=5")
    seen = page["items"]
    while "continue" in page["metadata"]:
        page = alice.api.get(f"{path}?limit=5&continue={page['metadata']['continue']}")
        seen += page["items"]
    assert [j["metadata"]["name"] for j in seen] == ["runs", "mine", *names]
    with pytest.raises(ApiError) as e:
        alice.api.get(f"{path}?limit=5&continue=1.5")
    assert e.value.status == 410 and "ask for it anew" in e.value.message


# ---- kubectl get -w ----------------------------------------------------------------


@pytest.fixture
def watch(alice, tmp_path):
    """watch(*args): kubectl -w in the background; what it has printed so far, as lines of words."""
    running = []

    def start(*args):
        out = tmp_path / f"watch-{len(running)}"
        file = open(out, "w")
        running.append(subprocess.Popen([alice.world.box.tool("kubectl"), "--kubeconfig", alice.config, *args], env=alice.world.box.kubectl_env(),
                                        stdout=file, stderr=subprocess.STDOUT))
        file.close()
        return lambda: [line.split() for line in out.read_text().splitlines()]
    yield start
    for process in running:
        process.kill()
        process.wait()


def test_kubectl_watches_a_job_come_start_and_go(alice, watch):
    said = watch("get", "qj", "-n", alice.ns, "-w")
    wait_until("the list", lambda: [r[0] for r in said()] == ["NAME", "runs", "mine"], SOON)
    alice.world.job("comes", cpu=1)
    wait_until("it to come", lambda: ["comes", "q", "Waiting", "3"] in [r[:4] for r in said()], SOON)
    alice.world.finish("runs")
    alice.bob.started("secret")
    alice.bob.finish("secret")
    alice.world.started("comes")
    wait_until("it to run", lambda: ["comes", "q", "Running"] in [r[:3] for r in said()], SOON)
    alice.world.delete("comes")
    wait_until("it to go", lambda: ["comes", "q", "Gone"] in [r[:3] for r in said()], SOON)
    assert ["runs", "q", "Gone"] in [r[:3] for r in said()] and ["mine", "q", "Running"] in [r[:3] for r in said()], said()
    assert [r[0] for r in said()].count("NAME") == 1 and not any("secret" in r or "Error" in r for r in said()), said()


def test_a_watch_begins_as_it_is_asked_to(alice, watch):
    path = f"{GROUP}/namespaces/{alice.ns}/queuedjobs"

    def events(query):
        done = alice.kubectl("get", "--raw", f"{path}?watch=true&timeoutSeconds=3&{query}")
        assert done.returncode == 0, done
        came = [(e["type"], e["object"]["metadata"].get("name")) for e in map(json.loads, done.stdout.splitlines())]
        return [e for e in came if e[0] != "MODIFIED"]  # what is said of a Job that waits may change meanwhile

    def begins(query, *wanted):
        """Three seconds may be over before a busy machine has begun; then once more."""
        wait_until(f"a watch of {query} to begin with {wanted}", lambda: events(query) == list(wanted), SOON)
    both = [("ADDED", "mine"), ("ADDED", "runs")]
    begins("", *both)
    begins("resourceVersion=0", *both)
    begins("fieldSelector=status.state%3DRunning", ("ADDED", "runs"))
    begins("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", *both, ("BOOKMARK", None), ("BOOKMARK", None))
    assert events(f"resourceVersion={alice.api.get(path)['metadata']['resourceVersion']}") == []
    with pytest.raises(ApiError) as e:
        alice.api.get(f"{path}?watch=true&resourceVersion=1024")
    assert e.value.status == 410 and "ask for the list anew" in e.value.message


def test_kubectl_waits_for_a_job(alice):
    waits = subprocess.Popen([alice.world.box.tool("kubectl"), "--kubeconfig", alice.config, "wait", "qj/mine", "-n", alice.ns, "--for=jsonpath={.status.state}=Running",
                              f"--timeout={LATER}s"], env=alice.world.box.kubectl_env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    alice.world.finish("runs")
    alice.bob.started("secret")
    alice.bob.finish("secret")
    assert "condition met" in waits.communicate(timeout=LATER)[0]
    gone = subprocess.Popen([alice.world.box.tool("kubectl"), "--kubeconfig", alice.config, "wait", "qj/mine", "-n", alice.ns, "--for=delete", f"--timeout={LATER}s"],
                            env=alice.world.box.kubectl_env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    alice.world.finish("mine")
    said = gone.communicate(timeout=LATER)[0]
    assert gone.returncode == 0, said


# ---- rights ------------------------------------------------------------------------------


def test_others_jobs_are_nobodys_business(alice):
    for path in (f"{GROUP}/queuedjobs", f"{GROUP}/namespaces/{alice.bob.ns}/queuedjobs", f"{GROUP}/namespaces/{alice.bob.ns}/queuedjobs/secret",
                 f"{GROUP}/clusterqueues/{alice.world.full('q')}/queuedjobs"):
        with pytest.raises(ApiError) as e:
            alice.api.get(path)
        assert e.value.status == 403, (path, e.value)
    assert "secret" not in json.dumps(alice.api.get(f"{GROUP}/namespaces/{alice.ns}/queuedjobs"))


def test_an_admin_sees_the_line_of_a_clusterqueue(alice):
    def line():
        said = alice.world.api.get(f"{GROUP}/clusterqueues/{alice.world.full('q')}/queuedjobs")
        return [(j["metadata"]["name"], j["status"].get("position")) for j in said["items"]]
    wait_until("a list that has all three", lambda: line() == [("runs", None), ("secret", 1), ("mine", 2)], SOON)


def test_she_may_see_pods_logs_and_events_of_her_namespace(alice):
    for what in (f"/api/v1/namespaces/{alice.ns}/pods", f"/api/v1/namespaces/{alice.ns}/events"):
        alice.api.get(what)
    for what in ("/api/v1/pods", f"/api/v1/namespaces/{alice.bob.ns}/pods", f"/api/v1/namespaces/{alice.ns}/secrets"):
        with pytest.raises(ApiError):
            alice.api.get(what)


# ---- summaries ---------------------------------------------------------------------------


def counted(items):
    """What a summary says of Jobs as a list has them: of all, and of each reason."""
    states = [j["status"]["state"] for j in items]
    waits = [j["status"] for j in items if j["status"]["state"] == "Waiting"]
    return {"running": sum(s in ("Starting", "Running", "Stopping") for s in states), "waiting": len(waits),
            "oldest": min((w["queuedAt"] for w in waits), default=None),
            "reasons": {r: sum(w["reason"] == r for w in waits) for r in {w["reason"] for w in waits}}}


def told(said):
    return {"running": said["running"]["jobs"], "waiting": said["waiting"]["jobs"], "oldest": said["waiting"].get("oldestQueuedAt"),
            "reasons": {r["reason"]: r["jobs"] for r in said["reasons"]}}


def test_a_summary_says_what_the_list_says(alice):
    """Of all and of one namespace; and of another namespace it has no name."""
    alice.world.job("typo", cpu=1, labels={"sluice.dev/priority-class": "hihg"})
    alice.world.waits("typo", "Misconfigured")
    api, q = alice.world.api, alice.world.full("q")

    def agree(client, there):
        sums = told(client.get(f"{GROUP}{there}/summaries"))
        return "Misconfigured" in sums["reasons"] and sums == counted(client.get(f"{GROUP}{there}/queuedjobs")["items"])
    wait_until("the sums of all to be those of the list", lambda: agree(api, ""), SOON)
    wait_until("hers to be those of hers", lambda: agree(alice.api, f"/namespaces/{alice.ns}"), SOON)
    said = alice.api.get(f"{GROUP}/namespaces/{alice.ns}/summaries?by=sweep")
    assert said["kind"] == "SummaryReport" and told(said)["reasons"] == {"WaitingForQuota": 1, "Misconfigured": 1}, said
    assert {(g["key"], g["namespace"], g["running"], g["waiting"]) for g in said["groups"]} == {
        ("runs", alice.ns, 1, 0), ("mine", alice.ns, 0, 1), ("typo", alice.ns, 0, 1)}, said
    assert said["others"] == [{"clusterQueue": q, "running": 0, "waiting": 1, "ahead": 1}], said
    (wrong,) = said["attention"]
    assert (wrong["word"], wrong["name"], said["attentionJobs"]) == ("Misconfigured", "typo", 1) and "hihg" in wrong["message"], wrong
    for by in "queue", "user", "sweep", "namespace":
        text = json.dumps(alice.api.get(f"{GROUP}/namespaces/{alice.ns}/summaries?by={by}"))
        assert alice.bob.ns not in text and "secret" not in text, text
    (ours,) = [g for g in api.get(f"{GROUP}/summaries?by=queue")["groups"] if g["key"] == q]
    assert (ours["running"], ours["waiting"], ours["attention"]) == (1, 3, 1), ours
    assert {g["key"]: g["waiting"] for g in api.get(f"{GROUP}/summaries?by=namespace")["groups"]}[alice.bob.ns] == 1


def test_a_summary_has_its_right_and_its_words(alice):
    for there in "", f"/namespaces/{alice.bob.ns}":
        with pytest.raises(ApiError) as e:
            alice.api.get(f"{GROUP}{there}/summaries")
        assert e.value.status == 403, e.value
    with pytest.raises(ApiError) as e:
        alice.api.get(f"{GROUP}/namespaces/{alice.ns}/summaries?by=nonsense")
    assert e.value.status == 400 and "by is" in str(e.value) and "queue, user, sweep or namespace" in str(e.value), e.value
    wait_until("kubectl explain to know them", lambda: "NextStart" in alice.kubectl("explain", "summaries.reasons.untilIs").stdout, LATER)
    assert "jobs --group" in alice.kubectl("get", "summaries", "-n", alice.ns).stderr


# ---- sluice ------------------------------------------------------------------------------


def test_sluice_needs_her_kubeconfig_alone(alice):
    wait_until("her Jobs in a list", lambda: [r[0] for r in known(alice.sluice("jobs", "-n", alice.ns))] == ["runs", "mine"], SOON)
    done = alice.sluice("explain", "job/mine", "-n", alice.ns)
    assert done.returncode == 0 and "1 Job is ahead" in done.stdout and "secret" not in done.stdout, done
    done = alice.sluice("jobs", "-A")
    assert done.returncode != 0 and "queuedjobs" in done.stderr and "ask an admin for the right" in done.stderr, done


def test_she_gives_her_run_a_class_that_is_there_and_no_other(alice):
    """Classes are without a namespace, so her RoleBinding gives her none of them; everybody may read them."""
    alice.world.priorities(high=1000)
    absent = alice.sluice("priority", "job/runs", alice.world.full("hihg"), "-n", alice.ns)
    assert absent.returncode == 1 and f"there is no WorkloadPriorityClass {alice.world.full('hihg')}" in absent.stderr, absent
    assert "sluice.dev/priority-class" not in alice.world.get("runs")["metadata"]["labels"]
    done = alice.sluice("priority", "job/runs", alice.world.full("high"), "-n", alice.ns)
    assert done.returncode == 0 and f"{alice.world.full('high')} (1000): it keeps running; from now on" in done.stdout, done
    assert alice.world.full("high") in alice.kubectl("get", "workloadpriorityclasses.sluice.dev").stdout


class Screen:
    """A program at a terminal of its own, of 24 by 100."""

    def __init__(self, argv, env):
        self.ours, theirs = pty.openpty()
        self.resize(24, 100)
        self.before = termios.tcgetattr(theirs)
        self.child = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                      env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", "TZ": "UTC", **env}, close_fds=True)
        self.theirs, self.text = theirs, ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def lines(self):
        """What was drawn last, whole."""
        while select.select([self.ours], [], [], 0.05)[0]:
            with contextlib.suppress(OSError):
                self.text += os.read(self.ours, 65536).decode(errors="replace")
        whole = self.text.rpartition("\x1b[J")[0].rpartition("\x1b[H")[2]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", whole).replace("\r", "").split("\n")

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def shows(self, what, text):
        wait_until(what, lambda: any(text in line for line in self.lines()), SOON)

    def is_restored(self):
        """The terminal is as it was, and on its own page."""
        self.lines()
        return termios.tcgetattr(self.theirs) == self.before and self.text.rstrip().endswith("\x1b[?1049l")

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(SOON)
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def screen(alice):
    s = Screen([BIN / "sluice", "top", "-n", alice.ns], {"KUBECONFIG": str(alice.config)})
    yield s
    s.end()


def test_sluice_top_is_live_and_has_keys(alice, screen):
    screen.shows("both her Jobs, and the one ahead of her", "mine")
    shown = screen.lines()
    assert any("Running 1  Waiting 1" in line for line in shown) and "secret" not in "".join(shown), shown
    assert any(line.split()[:4] == [alice.world.full("q"), "1", "1", "1"] for line in shown), shown
    assert any(line.startswith("> runs") for line in shown), shown
    screen.press("h")
    screen.shows("a warning, for it runs", "runs: h again stops it")
    screen.press("\x1b[B")
    screen.shows("the cursor on the other", "> mine")
    screen.press("h")
    screen.shows("what was done", "Job mine is on hold")
    assert alice.world.get("mine")["metadata"]["annotations"]["sluice.dev/hold"] == "true"
    screen.shows("the list to follow", "on hold")
    screen.press("r")
    screen.shows("what was done", "Job mine is queued again")
    screen.press("r")
    screen.shows("why that does nothing", "Job mine is not on hold")
    wait_until("it to wait again", lambda: "sluice.dev/hold" not in alice.world.get("mine")["metadata"].get("annotations", {}), SOON)
    screen.press("e")
    screen.shows("the explanation", "1 Job is ahead of it")
    screen.press("\x1b/run\r")
    wait_until("the filter to hide the other", lambda: not any("mine" in line for line in screen.lines()), SOON)
    screen.press("\x1b")
    screen.resize(10, 60)
    wait_until("it to fit a smaller one", lambda: len(screen.lines()) == 10 and all(len(line) <= 60 for line in screen.lines()), SOON)
    alice.world.job("new", cpu=1)
    screen.shows("a Job that came", "Waiting 2")
    screen.press("q")
    assert screen.child.wait(SOON) == 0 and screen.is_restored()


def test_sluice_top_leaves_the_terminal_as_it_was(screen):
    """On Ctrl-Z, until it goes on, and on signals that end it."""
    screen.shows("her Jobs", "mine")
    assert termios.tcgetattr(screen.theirs) != screen.before
    screen.press("\x1a")
    state = f"/proc/{screen.child.pid}/stat"
    wait_until("it to be stopped", lambda: open(state).read().rpartition(")")[2].split()[0] == "T", SOON)
    assert screen.is_restored()
    screen.child.send_signal(signal.SIGCONT)
    wait_until("it to go on", lambda: not screen.is_restored() and any("mine" in line for line in screen.lines()), SOON)
    screen.press("\x03")
    assert screen.child.wait(SOON) == -signal.SIGINT and screen.is_restored()


def test_sluice_top_prints_once_where_there_is_no_terminal(alice):
    done = alice.sluice("top", "-n", alice.ns)
    assert done.returncode == 0 and "\x1b" not in done.stdout and "q: quit" not in done.stdout, done
    assert "  runs " in done.stdout and "  mine " in done.stdout and "1 Job" not in done.stderr, done
    done = alice.sluice("top", "-A")
    assert done.returncode == 3 and "you may not list summaries" in done.stderr and not done.stdout, done
    done = alice.sluice("jobs", "--group", "namespace", "-n", alice.ns)
    assert rows(done) == [[alice.ns, "1", "1", "0", *rows(done)[0][4:]]], done


def test_sluice_queue_shows_her_localqueues_and_the_queues_behind_them(alice):
    ns, q = alice.ns, alice.world.full("q")

    def line():
        return next(iter(r for r in known(alice.sluice("queue", "-n", ns)) if r[:2] == [ns, "q"]), None)
    wait_until("what runs and waits in the status", lambda: line() == [ns, "q", "active", "1", "1", q, alice.world.full("any-q"), "cpu", "2"], LATER)
    # Of the ClusterQueue she is told what all hold, and that two Jobs wait: hers, and another one.
    for args in (["queue", "-n", ns], ["queue", q, "-n", ns]):
        done = alice.sluice(*args)
        (*row, _, used, of, quota) = rows(done)[0]
        assert (row, used, of, quota) == ([q, "active", "2", "1", alice.world.full("any-q"), "cpu"], "2", "of", "2"), done
        assert "You may not list" not in done.stdout and "theirs" not in done.stdout and alice.bob.ns not in done.stdout and not done.stderr, done
    done = alice.sluice("queue", "-n", ns, "-o", "json")
    said = asking.queues(json.loads(done.stdout))
    (local,), (queue,) = said["localQueues"], said["clusterQueues"]
    assert (local["pending"], local["admitted"], local["active"]) == (1, 1, True), done
    assert (queue["name"], queue["pending"], queue["admitted"], queue["open"]) == (q, 2, 1, {"isOpen": True}) and alice.bob.ns not in done.stdout, done
    done = alice.sluice("queue", "-n", alice.bob.ns)
    assert done.returncode == 3 and "--clusterrole=sluice-batch-user" in done.stderr and not done.stdout, done


def test_sluice_queue_says_why_nothing_starts(alice):
    alice.world.api.patch(f"/apis/sluice.dev/v1alpha1/namespaces/{alice.ns}/localqueues/q", {"spec": {"stopPolicy": "Hold"}})
    wait_until("it to be told", lambda: ["Stopped"] == [r[2] for r in known(alice.sluice("queue", "-n", alice.ns)) if r[:2] == [alice.ns, "q"]], LATER)
    assert f"\n{alice.ns}/q: " in alice.sluice("queue", "-n", alice.ns).stdout


def test_an_admin_with_a_kubeconfig_alone_sees_quotas(alice, program):
    env = {"KUBECONFIG": str(alice.world.box.kubeconfig)}
    q = alice.world.full("q")

    def line():
        return next(iter(r for r in known(program("sluice", "queue", env=env)) if r[:1] == [q]), [])
    wait_until("the quota to be held", lambda: line()[1:6] + line()[-3:] == ["active", "2", "1", alice.world.full("any-q"), "cpu", "2", "of", "2"], LATER)
    named = program("sluice", "queue", q, env=env)
    assert {tuple(r[:2]) for r in rows(named)} >= {(alice.ns, "q"), (alice.bob.ns, "theirs")}, named
    assert "may not" not in named.stdout and "does not answer" not in named.stdout, named
    (said,) = asking.queues(json.loads(program("sluice", "queue", q, "-o", "json", env=env).stdout))["clusterQueues"]
    (cpu,) = said["flavors"][0]["resources"]
    assert (cpu["nominalUnits"], cpu["reservedUnits"], said["pending"]) == (2000, 2000, 2)
    missing = program("sluice", "queue", "no-such-queue", env=env)
    assert missing.returncode == 1 and "no-such-queue" in missing.stderr, missing


@pytest.mark.since_kubernetes(36, "has no policy that writes who submitted a Job")
def test_she_asks_for_what_she_has_submitted(alice):
    name = who(alice.api)
    alice.api.post(jobs_path(alice.ns), job("own", "q", {"cpu": "1"}))
    wait_until("her Job among hers", lambda: [r[0] for r in known(alice.sluice("jobs", "--mine", "-n", alice.ns))] == ["own"], SOON)
    assert [r[0] for r in rows(alice.kubectl("get", "qj", "-n", alice.ns, "--field-selector", f"spec.submittedBy={name}"))] == ["own"]
    assert name in alice.sluice("jobs", "--mine", "-n", alice.ns, "-o", "wide").stdout
    assert alice.api.get(f"{GROUP}/namespaces/{alice.ns}/queuedjobs/own")["spec"]["submittedBy"] == name
    done = alice.kubectl("get", "qj", "-n", alice.ns, "--field-selector", r"spec.submittedBy=CN\=x\,O\=y")
    assert done.returncode == 0 and "No resources found" in done.stderr, done


@pytest.mark.since_kubernetes(36, "has no policy that writes who submitted a Job")
def test_she_orders_her_own_jobs(alice):
    name = who(alice.api)
    for own in ("own1", "own2"):
        alice.api.post(jobs_path(alice.ns), job(own, "q", {"cpu": "1"}))
        alice.world.waits(own, "WaitingForQuota")

    def in_order(*names):
        wait_until(f"the order {names}", lambda: [r[0] for r in known(alice.sluice("jobs", "-n", alice.ns))] == list(names), SOON)

    in_order("runs", "mine", "own1", "own2")
    done = alice.sluice("nice", "job/own2", "--top", "-n", alice.ns)
    assert done.stdout == (f"Job own2 has sluice.dev/nice -1: it goes before 1 of 1 other waiting Job of {name} in LocalQueue {alice.ns}/q; "
                           "Jobs of others keep their places\n"), done
    in_order("runs", "mine", "own2", "own1")
    assert f"before 1 Job of {name} by its sluice.dev/nice -1" in alice.sluice("explain", "job/own2", "-n", alice.ns, "-o", "json").stdout
    assert alice.sluice("nice", "job/own2", "--top", "-n", alice.ns).returncode == 2
    assert alice.sluice("nice", "job/own2", "5", "-n", alice.ns).returncode == 0
    in_order("runs", "mine", "own1", "own2")
    done = alice.kubectl("annotate", "job/own1", "sluice.dev/nice=soon", "-n", alice.ns)
    assert done.returncode != 0 and "must be a whole number from -100 to 100" in done.stderr, done


# ---- sluice cost ---------------------------------------------------------------------------


@pytest.fixture
def priced(alice):
    """A core of both teams' queue costs a hundredth of a unit a second."""
    w = alice.world
    w.create("priceplans", ours("PricePlan", w.full("plan"), {"currency": "EUR", "queues": [w.full("q")], "base": {"cpu": "36.00"}}))
    w.wait("the plan to be in force", lambda: has(w.api.get(path_of("priceplans", w.full("plan"))), "Active"))
    w.finish("runs")
    w.finished("runs")
    alice.bob.started("secret")
    alice.bob.finish("secret")
    alice.bob.finished("secret")
    w.started("mine")
    assert alice.kubectl("config", "set-context", "--current", "--namespace", alice.ns).returncode == 0
    return alice


def counts(report):
    return sum(t["runs"] for t in report["totals"]), sum(t["running"] for t in report["totals"])


def test_sluice_cost_sees_her_namespace_and_nothing_of_another(priced, program):
    mine, theirs = priced.ns, priced.bob.ns

    def asked(*args):
        done = priced.sluice("cost", *args, "-o", "json")
        assert done.returncode == 0 and theirs not in done.stdout and "secret" not in done.stdout, done
        return json.loads(done.stdout), done.stderr
    wait_until("both of her runs", lambda: counts(asked()[0]) == (1, 1), SOON)
    for by in "queue", "namespace", "owner", "user", "label=team":
        said, aside = asked("--by", by)
        assert (said["kind"], said["apiVersion"], said["namespace"]) == ("CostReport", "visibility.sluice.dev/v1alpha1", mine)
        assert counts(said) == (1, 1) and f"those of namespace {mine} are shown" in aside, (said, aside)
        assert asked("--by", by, "-n", mine)[1] == ""
        refused = priced.sluice("cost", "--by", by, "-n", theirs)
        assert refused.returncode == 3 and not refused.stdout, refused
        assert "costs.visibility.sluice.dev" in refused.stderr and "--clusterrole=sluice-batch-user" in refused.stderr, refused
        with pytest.raises(ApiError) as e:
            priced.api.get(f"{GROUP}/costs?by={by}")
        assert e.value.status == 403
    refused = priced.sluice("cost", "-A")
    assert refused.returncode == 3 and "--clusterrole=sluice-viewer" in refused.stderr and not refused.stdout, refused


def test_an_admin_with_a_kubeconfig_alone_sees_what_all_cost(priced, program):
    mine, theirs = priced.ns, priced.bob.ns

    def asked(*args):
        done = program("sluice", "cost", *args, "-o", "json", env={"KUBECONFIG": str(priced.world.box.kubeconfig)})
        assert done.returncode == 0 and not done.stderr, done
        return json.loads(done.stdout)
    wait_until("the runs of both", lambda: {mine, theirs} <= {r["key"] for r in asked("--by", "namespace")["rows"]}, SOON)
    assert "namespace" not in asked() and asked("-A")["rows"]
    assert counts(asked("-n", theirs)) == (1, 0) and [r["key"] for r in asked("-n", theirs, "--by", "owner")["rows"]] == [f"{theirs}/secret"]


def test_sluice_cost_as_a_table_says_that_it_is_not_all(priced):
    wait_until("her runs", lambda: all(f"{priced.ns}/{name}" in priced.sluice("cost", "--by", "owner").stdout for name in ("runs", "mine")), SOON)
    done = priced.sluice("cost", "--by", "owner")
    assert f"{priced.ns}/mine" in done.stdout and "secret" not in done.stdout and not done.stderr, done
    assert done.stdout.splitlines()[-1].startswith("You may not list costs.visibility.sluice.dev of all namespaces"), done
    assert "may not" not in priced.sluice("cost", "-n", priced.ns).stdout


def test_costs_for_kubectl(priced):
    raw = priced.kubectl("get", "--raw", f"{GROUP}/namespaces/{priced.ns}/costs?by=owner&since=1h")
    assert raw.returncode == 0 and json.loads(raw.stdout)["by"] == "owner", raw
    got = priced.kubectl("get", "costs", "-n", priced.ns, "-o", "json")
    assert got.returncode == 0 and [o["kind"] for o in json.loads(got.stdout)["items"]] == ["CostReport"], got
    plain = priced.kubectl("get", "costs", "-n", priced.ns)
    assert plain.returncode == 1 and "sluice cost prints it" in plain.stderr and "<unknown>" not in plain.stdout, plain
    explained(priced, "costs.rows.cost", "exact")
    for query, says in ("by=colour", "queue, namespace, owner, user or label=KEY"), ("since=1y", 'since is "1y"'):
        with pytest.raises(ApiError) as e:
            priced.api.get(f"{GROUP}/namespaces/{priced.ns}/costs?{query}")
        assert e.value.status == 400 and says in e.value.message


# ---- the API's own life --------------------------------------------------------------------


def test_who_is_not_the_api_server_is_told_nothing(alice):
    anybody = ssl._create_unverified_context()  # it is he who shows nothing
    connection = http.client.HTTPSConnection("127.0.0.1", alice.world.box.visibility_port(), timeout=SOON, context=anybody)
    connection.request("GET", f"{GROUP}/queuedjobs", headers={"X-Remote-User": "admin", "X-Remote-Group": "system:masters"})
    said = json.loads(connection.getresponse().read())
    assert said["code"] == 401 and "items" not in said, said


def test_a_job_starts_without_it(alice):
    """The API server cannot reach it: kubectl says so, and Jobs start as ever."""
    service = "/api/v1/namespaces/sluice-system/services/sluice-visibility"
    before = alice.world.api.get(service)["spec"]["externalName"]
    alice.world.api.patch(service, {"spec": {"externalName": "nowhere.invalid"}})
    try:
        wait_until("the API to be gone", lambda: not alice.world.box.is_visible(), LATER)
        done = alice.kubectl("get", "qj", "-n", alice.ns)
        assert done.returncode == 1, done
        listed = alice.sluice("queue", "-n", alice.ns)
        assert listed.returncode == 0 and f"{alice.ns}  q " in listed.stdout and "The controller does not answer" in listed.stdout, listed
        alice.world.finish("runs")
        alice.bob.started("secret")
    finally:
        alice.world.api.patch(service, {"spec": {"externalName": before}})
    alice.world.box.wait_visible(LATER)
