"""A snapshot of the sandbox's etcd, and the cluster put back to it.

As docs/restore.md has it: the API server is stopped first, all that talks to it is started anew after,
but for Sluice, which the caller restarts or not. With `bump` revisions go on far above those that were
seen (etcdutl's --bump-revision), without it they begin once more where the snapshot ends."""

import shutil
import subprocess

from .process import SandboxError

# They remember what they read, and believe nothing older.
CLUSTER = ("kube-controller-manager", "kube-scheduler", "kwok")


def save(box, name):
    """A snapshot of now."""
    _run(box, "etcdctl", f"--endpoints=http://127.0.0.1:{box.port('etcd')}", "snapshot", "save", _file(box, name))


def restore(box, name, bump=False):
    """Until the API server is ready again."""
    for component in ("kube-apiserver", "etcd"):
        box.crash(component)  # in good order it takes half a minute
    data = box.state / "etcd"
    shutil.rmtree(data)
    peer = f"http://127.0.0.1:{box.port('etcd-peer')}"
    _run(box, "etcdutl", "snapshot", "restore", _file(box, name), f"--data-dir={data}", "--name=sandbox",
         f"--initial-cluster=sandbox={peer}", f"--initial-advertise-peer-urls={peer}",
         *(["--bump-revision=1000000", "--mark-compacted"] if bump else []))
    for component in CLUSTER:
        box.crash(component)
    for component in ("etcd", "kube-apiserver", *CLUSTER):
        box.start(component)
        if component in ("etcd", "kube-apiserver"):
            box.wait_ready(component)
    for component in CLUSTER:
        box.wait_ready(component)


def _file(box, name):
    return box.state / f"{name}.etcd"


def _run(box, program, *args):
    done = subprocess.run([box.tool(program), *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise SandboxError(f"{program} failed: {done.stderr.strip()}")
