"""A node whose containers really run: a kubelet, containerd and runc, beside the nodes that kwok plays.

What is always true:
- one process holds all of it. `unshare` (the component `real-node`) has a mount and a pid namespace with its first
  process in there, and that one (real-node.sh) starts containerd and the kubelet. When it is killed the kernel ends all
  that is in there, containers included, at once and without a word: a power cut. There is no other way down, so that
  `down`, a crash of the tests and the drill that cuts the power are the same;
- what survives a power cut on a machine survives here (/var/lib, /var/log: pods' logs), what does not is taken away
  (/run, cgroups);
- nothing of it is installed and no service is started. Outside the sandbox's folder it has one cgroup, which goes with it,
  and an interface for each pod, which goes with the pod;
- its kubelet answers to clients of the sandbox's own authority alone.

It has the label and the taint sandbox.sluice.dev/real, so nothing gets there that was not meant for it, and kwok leaves
it alone. Its images are busybox:1 (with the tag: without, a kubelet always pulls, and nothing is pulled here) and what a
test imports. A pod has loopback and a cable to its node: the kubelet and this machine reach it, and it reaches what listens
on GATEWAY (relay.py). No pod reaches another, or the world, and there is neither DNS nor a Service's address.

The parts are made by ./dev (`./dev up --real-node`, `./dev test`): build/tools/kubelet and build/real-node.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
import zlib
from datetime import datetime
from pathlib import Path

from .process import SandboxError, start_time, wait_until

COMPONENT = "real-node"
NODE = "localhost"  # the API server asks a kubelet for logs by the name of its node
LABEL = "sandbox.sluice.dev/real"
POOL = "real"
TOLERATION = {"key": LABEL, "operator": "Exists"}
KWOK_SELECTOR = f"!{LABEL}"
IMAGE = "busybox:1"
GATEWAY = "10.99.255.1"  # this machine, as pods see it
# Not the ten minutes of a sandbox without it: a dead node is to be missed. kwok beats as often (kwok-beats.yaml).
GRACE_SECONDS = 20

HERE = Path(__file__).resolve().parent
PARTS = HERE.parents[2] / "build" / "real-node"
IMAGES = PARTS / "images.tar"
KUBELET_PROGRAM = PARTS.parent / "tools" / "kubelet"
CGROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "devices", "freezer")
CAP_SYS_ADMIN = 21

CONTAINERD = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "sluice.dev/pause:1"
  disable_apparmor = true
  # Without CAP_SYS_RESOURCE nobody may lower oom_score_adj, and runc dies of it ("can't get final child's PID from pipe").
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{home}/cni/bin"
    conf_dir = "{home}/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{parts}/usr/sbin/runc"
        SystemdCgroup = false
"""

CNI_ANSWER = """\
#!/bin/sh
cat >/dev/null
case "$CNI_COMMAND" in
VERSION) echo '{"cniVersion":"0.4.0","supportedVersions":["0.3.0","0.3.1","0.4.0"]}' ;;
"""
# A pair of interfaces, one of them in the pod. Not on a machine without iproute2: there the address is only said.
CNI_CABLE = CNI_ANSWER + """\
ADD) n=$(printf %s "$CNI_CONTAINERID" | cksum | cut -d' ' -f1)
  address=10.99.$((n / 250 % 250)).$((n % 250 + 1)) end=sluice$(printf %08x "$n") pod="nsenter --net=$CNI_NETNS ip"
  if command -v ip >/dev/null; then
    set -e
    exec 3>&1 >&2
    ip link add "$end" type veth peer name "$CNI_IFNAME" netns "$CNI_NETNS"
    $pod addr add "$address/32" dev "$CNI_IFNAME"
    $pod link set "$CNI_IFNAME" up
    $pod route add GATEWAY dev "$CNI_IFNAME"
    $pod route add default via GATEWAY
    ip addr add GATEWAY/32 dev "$end"
    ip link set "$end" up
    ip route add "$address/32" dev "$end"
    exec >&3
  fi
  printf '{"cniVersion":"0.4.0","interfaces":[{"name":"%s","sandbox":"%s"}],"ips":[{"version":"4","address":"%s/16","interface":0}]}' \\
    "$CNI_IFNAME" "$CNI_NETNS" "$address" ;;
esac
"""
CNI_LOOPBACK = CNI_ANSWER + """\
ADD) nsenter --net="$CNI_NETNS" BUSYBOX ip link set lo up
  printf '{"cniVersion":"0.3.1","interfaces":[{"name":"lo","sandbox":"%s"}],"ips":[{"version":"4","address":"127.0.0.1/8","interface":0}]}' "$CNI_NETNS" ;;
esac
"""
CNI_CONFIG = '{"cniVersion":"0.4.0","name":"cable","plugins":[{"type":"cable"}]}\n'

KUBELET = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: {port}
healthzPort: 0
readOnlyPort: 0
tlsCertFile: {pki}/server.crt
tlsPrivateKeyFile: {pki}/server.key
# Who shows a certificate of the sandbox's authority may all: the API server, for logs.
authentication: {{anonymous: {{enabled: false}}, webhook: {{enabled: false}}, x509: {{clientCAFile: {pki}/ca.crt}}}}
authorization: {{mode: AlwaysAllow}}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
registerWithTaints: [{{key: {label}, effect: NoSchedule}}]
nodeStatusUpdateFrequency: 5s
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: /{cgroup}
enforceNodeAllocatable: []
makeIPTablesUtilChains: false
imageGCHighThresholdPercent: 100
evictionHard: {{memory.available: 1Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%, imagefs.inodesFree: 0%}}
resolvConf: ""
"""


# ---- what the machine must have ------------------------------------------------------------------


def lacks():
    """Why there can be no real node on this machine, a sentence; None: there can be."""
    if os.geteuid() != 0 or not _has_capability(CAP_SYS_ADMIN):
        return "a real node needs root with CAP_SYS_ADMIN"
    missing = [c for c in CONTROLLERS if not os.access(CGROUPS / c / "cgroup.procs", os.W_OK)]
    if missing:
        return f"a real node was only ever tried with cgroup v1, and here {CGROUPS} has no {', '.join(missing)} that can be written"
    probe = subprocess.run(["unshare", "-m", "-p", "-f", "--mount-proc", "true"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"a real node needs namespaces of its own, and this machine gives none: {probe.stderr.strip()}"


def _has_capability(number):
    status = Path("/proc/self/status").read_text()
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    return effective >> number & 1 == 1


def parts_missing():
    """Which of what ./dev makes is not there."""
    wanted = [IMAGES, PARTS / "bin" / "busybox", PARTS / "usr" / "bin" / "containerd", PARTS / "usr" / "sbin" / "runc", KUBELET_PROGRAM]
    return [str(p) for p in wanted if not p.exists()]


# ---- the node ------------------------------------------------------------------------------------


class RealNode:
    def __init__(self, box):
        self.box, self.process = box, box.process(COMPONENT)
        self.home = box.state / COMPONENT
        # Sandboxes of the same name stand in several clones.
        self.cgroup = f"sluice-{box.name}-{zlib.crc32(bytes(box.state)):08x}"

    def start(self):
        """Does not wait until it is ready."""
        why = lacks()
        missing = parts_missing()
        if why or missing:
            raise SandboxError(why or f"./dev up --real-node makes what is missing for a real node: {', '.join(missing)}")
        self._clear()
        self._write_configs()
        self._make_cgroups()
        self.process.start(["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "--propagation", "private",
                            "bash", HERE / "real-node.sh", self.home, PARTS, KUBELET_PROGRAM, NODE,
                            f"pool={POOL},{LABEL}="], stop_signal=signal.SIGKILL)

    def ready(self):
        """The kubelet answers and has renewed its lease since its start: a node that was down for less than the grace is still called Ready."""
        with socket.create_connection(("127.0.0.1", self.box.port("kubelet")), timeout=5):
            pass
        lease = self.box.api.get(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{NODE}")
        renewed = datetime.fromisoformat(lease["spec"]["renewTime"].replace("Z", "+00:00")).timestamp()
        return renewed > self._started() and self.is_ready()

    def import_image(self, archive):
        """As docs/install.md has it of a node with containerd; of a node that runs."""
        inside = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        done = subprocess.run(["nsenter", "-t", inside[0], "-m", "-p", PARTS / "usr" / "bin" / "ctr", "-n", "k8s.io", "images", "import", archive],
                              capture_output=True, text=True)
        if done.returncode:
            raise SandboxError(f"{archive}: ctr images import: {done.stderr.strip()}")

    def is_ready(self):
        """As the API server has it."""
        node = self.box.api.get(f"/api/v1/nodes/{NODE}")
        return (any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
                and not any(t["key"].startswith("node.kubernetes.io/") for t in node["spec"].get("taints", [])))

    def _started(self):
        """When its process was started, by the clock on the wall."""
        ticks = start_time(self.process.pid) or 0
        return time.time() - float(Path("/proc/uptime").read_text().split()[0]) + ticks / os.sysconf("SC_CLK_TCK")

    def cut_power(self):
        """kill -9 of all there is; until the last container is gone."""
        self.process.signal(signal.SIGKILL)
        wait_until(f"{COMPONENT} to be gone", lambda: not self.process.alive())
        self.clear()

    def clear(self):
        """After its process was killed: until nothing of it is left but what a disk keeps."""
        wait_until("the containers of the real node to be gone", lambda: not self.pids())
        self._clear()

    def pids(self):
        """Of all containers."""
        found = []
        for top in CGROUPS.glob(f"pids/{self.cgroup}"):
            for folder, _, files in os.walk(top):
                try:
                    found += Path(folder, "cgroup.procs").read_text().split() if "cgroup.procs" in files else []
                except OSError:
                    pass  # gone meanwhile
        return found

    def _clear(self):
        for top in CGROUPS.glob(f"*/{self.cgroup}"):
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass  # /sys/fs/cgroup has the same one by two names
        shutil.rmtree(self.home / "run", ignore_errors=True)

    def _make_cgroups(self):
        for procs in CGROUPS.glob("*/cgroup.procs"):
            if procs.parent.name != "unified":
                (procs.parent / self.cgroup).mkdir(exist_ok=True)
        for what in ("cpus", "mems"):  # of a new one they are empty, and no process may enter it
            given = (CGROUPS / "cpuset" / f"cpuset.{what}").read_text()
            (CGROUPS / "cpuset" / self.cgroup / f"cpuset.{what}").write_text(given)

    def _snapshotter(self):
        """Copies go on any file system, but of a large image they take a minute each, and not where an overlay does."""
        probe = self.home / "probe"
        for folder in ("lower", "upper", "work", "merged"):
            (probe / folder).mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["unshare", "-m", "mount", "-t", "overlay", "overlay", "-o",
                               f"lowerdir={probe}/lower,upperdir={probe}/upper,workdir={probe}/work", probe / "merged"], capture_output=True)
        shutil.rmtree(probe)
        return "native" if done.returncode else "overlayfs"

    def _write_configs(self):
        home, pki = self.home, self.box.pki
        for folder in ("cni/bin", "cni/net.d", "varlib/kubelet", "varlog", "run", "sysctl"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        (home / "containerd.toml").write_text(CONTAINERD.format(home=home, parts=PARTS, snapshotter=self._snapshotter()))
        for name, text in (("cable", CNI_CABLE.replace("GATEWAY", GATEWAY)), ("loopback", CNI_LOOPBACK.replace("BUSYBOX", str(PARTS / "bin" / "busybox")))):
            (home / "cni/bin" / name).write_text(text)
            (home / "cni/bin" / name).chmod(0o755)
        (home / "cni/net.d/10-cable.conflist").write_text(CNI_CONFIG)
        (home / "kubelet.yaml").write_text(KUBELET.format(port=self.box.port("kubelet"), pki=pki, label=LABEL, cgroup=self.cgroup))
        shutil.copy(self.box.state / "real-node.kubeconfig", home / "kubelet.kubeconfig")
