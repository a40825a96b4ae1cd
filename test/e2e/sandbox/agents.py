"""Agents of nodes (sluice-node) in a sandbox: deploy/components/node-agent, and where there is a real node the agent itself, in a
pod as an admin has it: with a hostPath, uid 0 and no capability.

Its image is made here of the program that was built and the libraries that the loader of this machine finds, on the busybox of
the real node: that takes a second, and `./dev image` three minutes. Its tag says of which program it is, so that an `up` after
a build replaces the agent."""

import hashlib
import os
import re
import subprocess
import threading
from pathlib import Path

from . import apply, image, real_node
from .process import SandboxError, wait_until

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[2] / "build" / "bin" / "sluice-node"
NAMESPACE, NAME = "sluice-node", "sluice-node"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
PATH = "/usr/local/bin/sluice-node"
RENDEZVOUS = "/api/v1/namespaces/sluice-system/configmaps/sluice-nodes"


def install(box):
    """Applies the component, and waits until the agent of the real node runs, where there is one."""
    name = _bring_image(box) if box.real_node else "sluice-node:none"
    objects = []
    for path, text in apply.rendered(box.tool("kubectl"), HERE / "node-agent"):
        for what, value in (("CGROUP", box.real_node.cgroup if box.real_node else "none"), ("IMAGE", name),
                            ("API_PORT", f'"{box.port("kube-apiserver")}"')):
            text = re.sub(rf"\b{what}\b", value, text)
        objects.append((path, text))
    wait_until("the node-agent component to be applied", lambda: apply.send(box.api, objects))
    if box.real_node:
        wait_until("the agent of the real node to run", lambda: running(box, name))


def running(box, name=None):
    """The pods of agents whose container runs, of that image."""
    return [p for p in box.api.list(PODS) if "deletionTimestamp" not in p["metadata"]
            and name in (None, p["spec"]["containers"][0]["image"])
            and any("running" in c["state"] for c in p["status"].get("containerStatuses", []))]


def _bring_image(box):
    if not PROGRAM.exists():
        raise SandboxError(f"{PROGRAM} does not exist; ./dev build makes it")
    name = f"docker.io/library/sluice-node:{hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:12]}"
    archive = box.state / "sluice-node-oci.tar"
    image.write_on_busybox(real_node.PARTS / "bin" / "busybox", archive, name, [PATH], {PATH: PROGRAM, **{lib: Path(lib) for lib in libraries(PROGRAM)}})
    box.real_node.import_image(archive)
    return name


def libraries(program):
    """Paths at which the loader looks for what the program is linked with, the loader's own among them."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"(?:=> |^\s*)(/\S+) \(0x", said, re.M)))


class AloneOnTheMachine(threading.Thread):
    """A file that says of the cpu what /proc/stat would if the node's pods were all that runs."""

    def __init__(self, box):
        super().__init__(daemon=True)
        self.box, self.file, self.over = box, box.state / "stat", threading.Event()
        self.usage = real_node.CGROUPS / "cpuacct" / box.real_node.cgroup / "kubepods" / "cpuacct.usage"
        self.write()
        self.start()

    def write(self):
        """In place and at once: the agent keeps the file open."""
        ticks = int(self.usage.read_text()) * os.sysconf("SC_CLK_TCK") // 10**9
        with open(os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o644), "wb") as f:
            f.write(f"cpu  {ticks:020} 0 0 0 0 0 0 0 0 0\n".encode())

    def run(self):
        while not self.over.wait(0.05):
            self.write()

    def show_to_agent(self):
        """Gives the agent that file in the place of /proc/stat, and waits until one runs that has it."""
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/{NAME}"
        (before,) = running(self.box)
        self.box.api.patch(path, [
            {"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "stat", "hostPath": {"path": str(self.file), "type": "File"}}},
            {"op": "add", "path": "/spec/template/spec/containers/0/volumeMounts/-", "value": {"name": "stat", "mountPath": "/proc/stat", "readOnly": True}}], "json")
        wait_until("the agent to be replaced", lambda: [p for p in running(self.box) if p["metadata"]["uid"] != before["metadata"]["uid"]])

    def end(self):
        self.over.set()
        self.join()
