"""What README and the pages show as an example works: each block that is marked so is run, in the order of its page.

    ```sh test      commands, by bash -euo pipefail. A page is one shell: what a block sets, the next one has
    ```yaml test    a manifest that kubectl apply --dry-run=server takes; a namespace that it names is made before

A page begins where a reader is who typed ./dev up and what that says to paste, and kubectl apply -f
deploy/sandbox/example/queue.yaml: KUBECONFIG, PATH and PG* are set, and the folder is as the repository's (what a page writes into it is
gone later). Before each command all that the one before began has come about, as if a person had read its output: queues are
known as they are, and no Job is about to start or to stop. What a page makes is deleted after it.
"""

import os
import re
import selectors
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import pytest
from conftest import BIN, LATER, forget, own_plane, start_controller, wait_leading
from objects import QUEUE, terminal
from sandbox import ApiError, SandboxError, wait_until

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "deploy/sandbox/example/queue.yaml"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "deploy/README.md"])
PAGE_SECONDS = 300  # one that takes longer hangs
PATIENCE = 60  # seconds for what a command began; then the next one is run all the same


# ---- what is marked --------------------------------------------------------------------


def fences(page):
    """(line of the opening fence, what stands behind it, the lines between) of each block."""
    lines = page.read_text().splitlines()
    i = 0
    while i < len(lines):
        opened = re.match(r"( *)(```+|~~~+)(.*)", lines[i])
        i += 1
        if not opened:
            continue
        first, depth = i, len(opened[1])
        while i < len(lines) and not re.fullmatch(rf" *{opened[2]}[`~]* *", lines[i]):
            i += 1
        yield first, opened[3].strip(), [line[min(depth, len(line) - len(line.lstrip())):] for line in lines[first:i]]
        i += 1


def marked(page):
    return [(line, words.split()[0], text) for line, words, text in fences(page) if words.endswith(" test")]


def script_of(page, folder):
    """The page as a script in which each command has the line that it has on the page. Manifests go into the folder."""
    script = [""] * len(page.read_text().splitlines())
    for line, language, text in marked(page):
        if language == "sh":
            script[line:line + len(text)] = text
            continue
        manifest = f".line-{line}.yaml"
        (folder / manifest).write_text("\n".join(text) + "\n")
        script[line] = f"kubectl apply --dry-run=server -f {manifest}"
    return script


def test_marks_are_words_that_this_test_knows():
    odd = [f"{page.relative_to(ROOT)}:{line}: {words}" for page in PAGES for line, words, _ in fences(page)
           if words not in ("sh test", "yaml test") and " " in words]
    assert not odd, "a block is marked `sh test` or `yaml test`, or has the one word of its language"


def test_there_are_examples_to_run():
    """A mark that no block has any more runs nothing, and nothing fails."""
    blocks = {page.name: len(marked(page)) for page in PAGES if marked(page)}
    assert {"README.md", "start.md", "company.md"} <= blocks.keys() and len(blocks) >= 12 and sum(blocks.values()) >= 40, blocks


# ---- where it runs ---------------------------------------------------------------------


class Place:
    """A sandbox in which one page after the other is run."""

    # What others make and unmake all the time.
    PASSING = {"events", "leases", "endpoints", "endpointslices", "componentstatuses", "controllerrevisions"}

    def __init__(self, box):
        self.box, self.api = box, box.api
        self.kinds = self._kinds()
        self.lasting = set()  # what went on when patience was over: it is not waited for again
        self.apply_example()
        self.there = self.objects()

    def apply_example(self):
        self.box.kubectl("apply", "-f", ROOT / EXAMPLE)

    def _kinds(self):
        """The paths of all that can be listed and deleted."""
        groups = ["/api/v1"] + [f"/apis/{g['preferredVersion']['groupVersion']}" for g in self.api.get("/apis")["groups"]
                                if not g["name"].startswith(("metrics.", "visibility."))]
        return [f"{group}/{r['name']}" for group in groups for r in self.api.get(group)["resources"]
                if {"list", "delete"} <= set(r["verbs"]) and "/" not in r["name"] and r["name"] not in self.PASSING]

    def objects(self):
        """{path: what of it a page may have changed} of all objects."""
        found = {}
        for kind in self.kinds:
            group, _, plural = kind.rpartition("/")
            for obj in self.api.list(kind):
                meta = obj["metadata"]
                place = f"{group}/namespaces/{meta['namespace']}/{plural}" if "namespace" in meta else kind
                found[f"{place}/{meta['name']}"] = (meta.get("generation"), meta.get("labels"))
        return found

    def clear(self):
        """Deletes what a page has made, Jobs first: what holds quota keeps queues. The example is made anew where it was changed;
        labels of Namespaces and Nodes become what they were."""
        now = self.objects()
        changed = {path for path, was in self.there.items() if now.get(path, was) != was}
        for path in changed:
            if "/api/v1/nodes/" in path or path.startswith("/api/v1/namespaces/") and path.count("/") == 4:
                new, old = now[path][1] or {}, self.there[path][1] or {}
                self.api.patch(path, {"metadata": {"labels": {**dict.fromkeys(new), **old}}})
        again = {path for path in changed if "sluice.dev" in path}
        away = (now.keys() - self.there.keys()) | again
        for path in sorted(away, key=lambda path: ("/jobs/" not in path and "/cronjobs/" not in path, "/pods/" not in path)):
            forget(self.api, path + "?propagationPolicy=Background&gracePeriodSeconds=0")
        if away:
            wait_until("what the page made to be gone", lambda: self.bury() or not away & self.objects().keys(), LATER)
        if away or self.there.keys() - now.keys():
            self.apply_example()
            self.there.update({path: state for path, state in self.objects().items() if path in self.there and "sluice.dev" in path})
        self.lasting.clear()
        self.settle()

    def bury(self):
        for pod in self.api.list("/api/v1/pods"):
            if pod["metadata"].get("deletionTimestamp"):
                forget(self.api, f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")

    # -- what a command began

    def unsettled(self):
        """What the controller is about to do, or does not know yet; None: nothing."""
        for plural in ("clusterqueues", "localqueues", "cohorts", "calendars", "runpolicies", "priceplans", "budgets", "advancereservations"):
            for obj in self.api.list(f"/apis/sluice.dev/v1alpha1/{plural}"):
                said = obj.get("status", {}).get("conditions", [{}])[0].get("observedGeneration")
                if said != obj["metadata"]["generation"]:
                    return f"{plural}/{obj['metadata']['name']} is not known as it is"
        for job in self.api.list("/apis/batch/v1/jobs"):
            if QUEUE not in job["metadata"].get("labels", {}) or {c["type"] for c in job["status"].get("conditions", [])} & {"Complete", "Failed"}:
                continue
            why = self.moves(job)
            if why:
                return f"Job {job['metadata']['namespace']}/{job['metadata']['name']} {why}"
        return None

    def moves(self, job):
        try:
            said = self.box.controller_api().job(job["metadata"]["namespace"], job["metadata"]["name"])
        except ApiError as e:
            return f"is not known: {e}"
        if said["state"] not in ("Waiting", "Running") or said["reason"] == "PendingEvaluation":
            return f"is {said['state']} {said['reason']}"
        if (said["state"] == "Running") == job["spec"].get("suspend", False):
            return f"is {said['state']}, as the controller has it"
        pods = [p for p in self.api.list(f"/api/v1/namespaces/{job['metadata']['namespace']}/pods?labelSelector=job-name={job['metadata']['name']}")
                if not terminal(p)]
        waits = [p for p in pods if p["status"].get("phase") == "Pending"]
        return f"has {len(waits)} pods that do not run yet" if waits or (said["state"] == "Running" and not pods) else None

    def settle(self):
        """Returns what still moves when patience is over; None where nothing does."""
        last = [None]

        def at_rest():
            last[0] = self.unsettled()
            return last[0] is None or last[0] in self.lasting
        try:
            wait_until("all that was begun to be over", at_rest, PATIENCE, every=0.1)
        except SandboxError:
            self.lasting.add(last[0])
            return last[0]
        return None

    # -- running

    def env(self):
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "PG", "SLUICE_"))}
        return {**keep, **{k: v for k, v in self.box.kubectl_env().items() if k.startswith("KUBE")},
                "PATH": os.pathsep.join([str(BIN.RELEASE), os.path.dirname(self.box.tool("kubectl")), os.environ["PATH"]]),
                "PGHOST": str(self.box.socket_dir), "PGDATABASE": "sluice", "PGUSER": "sluice"}

    def make_namespaces(self, page):
        named = {name for _, language, text in marked(page) if language == "yaml" for name in re.findall(r"\bnamespace: ([\w-]+)", "\n".join(text))}
        for name in sorted(named):
            self.api.ensure("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def run(self, page, folder):
        """Runs the page; a failure names the line, and has what was written so far."""
        name, lines = page.relative_to(ROOT), script_of(page, folder)
        for entry in ROOT.iterdir():
            if entry.name != ".git":
                (folder / entry.name).symlink_to(entry)
        self.make_namespaces(page)
        script, log = folder / ".script", folder / ".output"
        at, told = 0, 0
        with open(log, "ab", buffering=0) as out, Shell(lines, script, self.env(), out) as shell:
            for at in shell.lines(time.monotonic() + PAGE_SECONDS):
                moves = self.settle()
                if at != told: # each command of a pipe is told
                    out.write(f"{name}:{at}: {lines[at - 1].strip()}\n{f'# {moves}{chr(10)}' if moves else ''}".encode())
                told = at
                shell.go_on()
            code = shell.code()
        if code != 0:
            said = textwrap.indent(log.read_text(errors="replace")[-6000:], "    ")
            pytest.fail(f"{name}:{at}: {lines[at - 1].strip() if at else ''}\n"
                        f"{f'ended with {code}' if code is not None else f'not over after {PAGE_SECONDS} s'}; what was written:\n{said}", pytrace=False)


class Shell:
    """bash at a script, which says on one pipe at which line it is, and waits on another."""

    def __init__(self, lines, script, env, out):
        self.said, says = os.pipe()
        hears, self.heard = os.pipe()
        begin = f"set -euo pipefail; trap 'echo $LINENO >&{says}; read -r <&{hears}' DEBUG"  # before each command
        script.write_text("\n".join([begin, *lines[1:]]) + "\n")
        self.process = subprocess.Popen(["bash", script], cwd=script.parent, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                        pass_fds=(says, hears), start_new_session=True)
        os.close(says)
        os.close(hears)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.said)
        os.close(self.heard)

    def lines(self, until):
        """The line of each command, before it is run; ends with the script, or when time is up."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.said, selectors.EVENT_READ)
            while self.process.poll() is None and time.monotonic() < until:
                if not waiting.select(0.2):
                    continue
                text = os.read(self.said, 4096)
                if not text:
                    break
                yield from (int(line) for line in text.split())

    def go_on(self):
        os.write(self.heard, b"\n")

    def code(self):
        """None: it had to be ended."""
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            return None


@pytest.fixture(scope="module")
def place():
    with own_plane("examples") as box:
        start_controller(box, extra=())
        wait_leading(box)
        box.wait_visible(LATER)
        yield Place(box)


@pytest.fixture
def cleared(place):
    yield place
    place.clear()


@pytest.mark.parametrize("page", [page for page in PAGES if marked(page)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_work(cleared, page, tmp_path):
    cleared.run(page, tmp_path)
