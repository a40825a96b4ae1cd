"""An upgrade with Jobs running, from the version before to this one and back, as docs/upgrade.md has it.

The older programs and manifests are built from this clone's history (release/earlier), which a shallow
clone does not have: then these tests are skipped, and say so. The older controller is `controller-one`,
this one `controller-two`; they are killed with SIGKILL, since a stop that is told is the easier case.
The older one is started with the arguments that the Deployment has at that moment: it must know them."""

import os
import re
import signal
import subprocess
import time
from datetime import datetime

import pytest
from checks import faults_at_rest, faults_of_ledger, look, read_ledger
from conftest import LATER, RECOVERY, SOON, World, own_plane, readyz, start_controller
from objects import clusterqueue, group, ours, path_of, story
from sandbox import wait_until
from sandbox.sandbox import ROOT
from test_faults import Load, leader
from test_install import COMPONENTS, KUBECTL, QUICKSTART, overlay, render  # noqa: F401 (overlay is a fixture)

OLDER, THIS = "controller-one", "controller-two"
VERSIONS = ROOT / "release" / "versions"
BEFORE = [line.split()[0] for line in VERSIONS.read_text().splitlines() if line and not line.startswith("#")][-1]
THERE = ROOT / "build" / "versions" / BEFORE
# A leader that a busy machine holds up for three seconds, the usual lease, would lose it to the standby. One that is killed is noticed at once.
FLAGS = ("--lease-seconds", "30")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEPLOYMENT = "/apis/apps/v1/namespaces/sluice-system/deployments/sluice-controller"
PAGE_BACK = re.search(r"^## Back\n(.*?)^## ", (ROOT / "docs" / "upgrade.md").read_text(), re.M | re.S)[1]


def need_before():
    """Builds the version before, or skips the test where the history does not reach to it."""
    built = subprocess.run([ROOT / "release" / "earlier", BEFORE], capture_output=True, text=True)
    if built.returncode == 3:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr


def before_knows(args):
    """Whether the version before takes these arguments of a container. It reads all of them before it helps."""
    placed = [a.replace("$(POD_IP)", "10.1.2.3") for a in args]
    done = subprocess.run([THERE / "bin" / "sluice-controller", *placed, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 or "is not a flag" in done.stderr, done
    return done.returncode == 0


@pytest.fixture(scope="module")
def box():
    """A control plane on which the older version is installed, as its deploy/base says; no controller runs."""
    need_before()
    with own_plane("upgrade", manifests=False) as b:
        b.apply_manifests(THERE / "deploy" / "base")
        yield b


def container(box):
    return box.api.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]


def arguments(box):
    """What the Deployment gives to its pods, but for where they listen and who they are: the sandbox says that."""
    return [a for a in container(box)["args"] if a.partition("=")[0] not in (
        "--listen", "--probe-listen", "--identity", "--visibility-listen", "--visibility-address")]


def start(box, component):
    if component == OLDER:
        box.start_controller("one", binary=THERE / "bin" / "sluice-controller", extra_args=(*arguments(box), *FLAGS), visibility=False)
    else:
        start_controller(box, "two", extra=FLAGS)


def leads(box, component):
    wait_until(f"{component} to lead", lambda: readyz(box, component)[1].startswith("leading"), RECOVERY, box.process(component))


def stands_by(box, component):
    """The other one leads, and it has read all: what a Deployment waits for before it ends the pod before."""
    start(box, component)
    wait_until(f"{component} to stand by", lambda: readyz(box, component)[1].startswith("standby"), LATER, box.process(component))


def takes_over(box, component, other):
    """Beside the other one, until that is killed."""
    stands_by(box, component)
    box.kill(other)
    leads(box, component)


@pytest.fixture
def older(box):
    """The older one leads, and no other runs."""
    if box.process(THIS).alive():
        box.process(THIS).stop()
    start(box, OLDER)
    leads(box, OLDER)
    return box


class Team(World):
    """Asks whoever leads."""

    def leader(self):
        return f"controller-{leader(self.box)[0]}"

    def controller(self):
        return None

    def explain(self, name):
        return self.box.controller_api(self.leader()).job(self.ns, name)

    def queue_view(self, name="q"):
        queues = self.box.controller_api(self.leader()).queues()["clusterQueues"]
        return next((q for q in queues if q["name"] == self.full(name)), None)


def runs(team, *names):
    """What must not change while controllers come and go: the pods of each Job, and what the ledger holds for it, once it knows that they run."""
    team.wait("the starts to be in the books", lambda: {(h[0], h[2]) for h in team.holds() if h[0] in names} == {(n, "posted") for n in names})
    return {n: ({p["metadata"]["uid"] for p in team.pods(n)}, sorted(team.holds(n))) for n in names}


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def has_pods(team, name, n):
    team.wait(f"Job {name} to run with {n} pods", lambda: (team.get(name)["spec"]["parallelism"], len(team.pods(name))) == (n, n), LATER, about=name)


def sound(team):
    """A Job's story and the ledger agree, nothing is over quota, no sum is wrong."""
    assert not look(team.box, team.ns)
    assert not team.box.sql("select fault, subject, detail from sluice.audit_history")


def apply(box, folder):
    box.kubectl("apply", "--server-side", "-k", folder)


def steps_back():
    """The commands of the page, without those of a step that is for another version only."""
    steps = re.split(r"^(?=\d\. )", PAGE_BACK.split("With Helm")[0], flags=re.M)
    ours = [s for s in steps if (only := re.match(r"\d\. \*\*Back to (\S+) only\*\*", s)) is None or only[1] == BEFORE]
    blocks = re.findall(r"^ {7}(kubectl .*\n(?: {7}.*\n)*)", "".join(ours).replace("THAT_IMAGE", f"sluice-controller:{BEFORE}"), re.M)
    assert blocks
    return blocks


def go_back(box, rendered):
    """Applies the Deployment of these manifests of ours, and does what the page says of the way back by kubectl."""
    (deployment,) = [o for o in rendered.split("\n---\n") if "kind: Deployment\n" in o]
    box.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=deployment)
    blocks = steps_back()
    path = f"{os.path.dirname(KUBECTL)}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-ec", "".join(blocks)], env={**box.kubectl_env(), "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done
    assert container(box)["image"] == f"sluice-controller:{BEFORE}"


STILL = {"ClusterQueue", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy",
         "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding", "ServiceAccount", "NetworkPolicy", "Service", "FlowSchema"}


def versions(box, folder):
    """{kind/name: which writing of its spec it is} of what nobody but an admin writes."""
    listed = box.kubectl("get", "-k", folder, "-o", "jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation}/"
                         "{.metadata.resourceVersion}{\"\\n\"}{end}").stdout
    rows = [line.split(" ") for line in listed.splitlines()]
    return {name: marks.split("/")[0] or marks for name, marks in rows if name.split("/")[0] in STILL}


def schema(box):
    """(the version that programs may refuse, the number of the newest addition or None)"""
    version, there = box.sql("select max(version), to_regclass('sluice.schema_addition') is not null from sluice.schema_version")[0]
    return int(version), int(box.sql("select max(number) from sluice.schema_addition")[0][0]) if there == "t" else None


def test_there_and_back_nothing_is_stopped_and_nothing_lost(older):
    box = older
    team = Team(box, "there-and-back")
    team.queue(cpu=6, growInterval="1s")
    team.job("long", pods=2)
    team.job("short")
    team.started("long", "short")
    team.job("elastic", pods=4, completions=40, annotations={"sluice.dev/min-parallelism": "1", "sluice.dev/grow": "true"})
    has_pods(team, "elastic", 3)
    team.job("next")
    team.waits("next", "WaitingForQuota")
    # Later by the second, too: a controller that reads both from a list knows no other order.
    wait_until("another second", lambda: time.time() >= 1 + instant(team.get("next")["metadata"]["creationTimestamp"]), SOON)
    team.job("after", annotations={"sluice.dev/after": "afterok:short"})
    team.waits("after", "WaitingForDependency")
    before = runs(team, "long", "elastic", "short")

    # The manifests, under the older controller, twice.
    apply(box, ROOT / "deploy" / "base")
    first = versions(box, ROOT / "deploy" / "base")
    assert len(first) > 20
    apply(box, ROOT / "deploy" / "base")
    assert versions(box, ROOT / "deploy" / "base") == first
    for crd in box.api.list(CRDS):
        assert crd["status"]["storedVersions"] == ["v1alpha1"], crd["metadata"]["name"]
    assert readyz(box, OLDER)[1].startswith("leading") and runs(team, "long", "elastic", "short") == before

    # This one beside it: it changes no table while the older one leads.
    was = schema(box)
    stands_by(box, THIS)
    assert schema(box) == was and leader(box)[0] == "one"
    box.kill(OLDER)
    leads(box, THIS)
    now = schema(box)
    assert now[0] == was[0], "a migration that the older version does not stand: no way back"
    assert runs(team, "long", "elastic", "short") == before
    team.waits("next", "WaitingForQuota")
    team.waits("after", "WaitingForDependency")
    sound(team)

    # It goes on: what is over makes room, and what was waited for has held.
    team.finish("short")
    team.started("next")
    assert story(team.get("next"))["by"] == "two"
    team.waits("after", "WaitingForQuota")
    before = runs(team, "long", "elastic", "next")
    new_flavor(team, "new", nodes="Autoscaled")
    team.job("of-new", queue="new")
    team.started("of-new")

    # And back, with the newer CRDs in place.
    go_back(box, render(QUICKSTART))
    takes_over(box, OLDER, THIS)
    assert runs(team, "long", "elastic", "next") == before
    assert schema(box) == now
    sound(team)
    team.finish("next")
    team.started("after")
    assert story(team.get("after"))["by"] == "one"
    team.finish("of-new")
    team.finished("of-new")

    # This one again, as a told stop has it: all is known, and all ends.
    box.kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "deploy" / "base")
    stands_by(box, THIS)
    box.process(OLDER).stop()
    leads(box, THIS)
    team.finish("long", "after")
    has_pods(team, "elastic", 4)
    sound(team)
    team.delete("elastic")
    team.finished("long", "next", "short", "after")
    team.empty()
    assert not faults_at_rest(box, team.ns)


def test_the_way_back_leaves_no_argument_that_the_older_one_lacks(box, overlay):  # noqa: F811
    """Whatever components the Deployment had. By Helm: test_chart.py."""
    rendered = overlay("base", *(c for c in COMPONENTS if c != "without-mutating-policy"))
    go_back(box, rendered)
    assert before_knows(container(box)["args"])
    box.kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "deploy" / "base")


def new_flavor(team, name, **spec):
    """A queue of a flavor with these fields."""
    team.create("resourceflavors", ours("ResourceFlavor", team.full(name), spec))
    team.create("clusterqueues", clusterqueue(team.full(name), [group(["cpu"], {team.full(name): [2]})]))
    team.local(name)
    team.wait_queue(name, lambda q: q["active"], "to be known")


def leads_again(box, component):
    """After a sleep: it may find its lease run out, and end for it, as one does that a kubelet starts again."""
    def asked():
        if not box.process(component).alive():
            start(box, component)
        return readyz(box, component)[1].startswith("leading")
    wait_until(f"{component} to lead again", asked, RECOVERY)


def test_crds_that_go_back_and_forth_lose_no_object(older):
    """An admin who applies the older manifests over the newer ones, though there is no need to."""
    if "nodes:" in (THERE / "api" / "crds" / "resourceflavor.yaml").read_text():
        pytest.skip(f"{BEFORE} has the field that this test writes: write one that it lacks")
    box = older
    team = Team(box, "crds")
    apply(box, ROOT / "deploy" / "base")
    new_flavor(team, "new", nodes="Fixed")
    path = path_of("resourceflavors", team.full("new"))
    assert team.api.get(path)["spec"]["nodes"] == "Fixed"
    team.job("runs", queue="new")
    team.started("runs")
    before = runs(team, "runs")
    team.wait("the finalizer, which is all that a controller writes of a flavor", lambda: team.api.get(path)["metadata"].get("finalizers"))
    # Whoever writes an object while an older kind is served drops what that has not, so the controller sleeps.
    box.kill(OLDER, signal.SIGSTOP)
    try:
        written = team.api.get(path)["metadata"]["resourceVersion"]
        box.apply_manifests(THERE / "deploy" / "base")
        wait_until("the older kind to be served", lambda: "nodes" not in team.api.get(path)["spec"], SOON)
        assert runs(team, "runs") == before
        apply(box, ROOT / "deploy" / "base")
        # Nobody wrote the flavor meanwhile, so the field is there again.
        assert team.api.get(path)["metadata"]["resourceVersion"] == written, team.api.get(path)
        wait_until("the newer kind to be served", lambda: team.api.get(path)["spec"].get("nodes") == "Fixed", SOON)
    finally:
        box.kill(OLDER, signal.SIGCONT)
    leads_again(box, OLDER)
    assert runs(team, "runs") == before
    team.finish("runs")
    team.finished("runs")
    team.empty()


def test_both_versions_take_turns_under_kill_minus_nine(older):
    box = older
    apply(box, ROOT / "deploy" / "base")
    load = Load(box, "turns", level=12)
    try:
        for component, other in ((THIS, OLDER), (OLDER, THIS)) * 2:
            takes_over(box, component, other)
            seen = load.commits()
            wait_until(f"{component} to start Jobs", lambda: load.commits() >= seen + 3, LATER, box.process(component))
            assert not load.faults()
        stands_by(box, THIS)
        load.complete()
    finally:
        load.stop()
    assert not faults_of_ledger(read_ledger(box))


def test_a_schema_that_it_does_not_stand_is_refused_before_any_harm(older):
    """A version to come, whose migration the older one must not write beside. It says so as a standby and as the only one."""
    box = older
    team = Team(box, "refused")
    team.queue(cpu=1)
    team.job("runs")
    team.started("runs")
    before = runs(team, "runs")
    stands_by(box, THIS)
    box.kill(OLDER)
    leads(box, THIS)
    box.sql("insert into sluice.schema_version (version, name, applied_by) values (99, 'to-come', 'newer')")
    try:
        for component in (OLDER, THIS):  # THIS is started anew: as it is, it leads on
            if component == THIS:
                box.kill(THIS)
                box.sql("update sluice.lease set expires_at = '-infinity'")
            start(box, component)
            said = wait_until(f"{component} to refuse it", lambda: "version 99 and this program knows" in (text := readyz(box, component)[1]) and text,
                              SOON, box.process(component))
            assert "newer sluice-controller; run that one" in said
        assert leader(box)[0] == "two" and box.sql("select expires_at from sluice.lease") == [["-infinity"]]
        assert runs(team, "runs") == before
    finally:
        box.sql("delete from sluice.schema_version where version = 99")
    wait_until("one of them to lead", lambda: any(readyz(box, c)[1].startswith("leading") for c in (OLDER, THIS)), RECOVERY)
    team.finish("runs")
    team.finished("runs")
    team.empty()
