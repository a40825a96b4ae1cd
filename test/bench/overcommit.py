"""What lending out idle resources costs: processor time and memory of the controller for a cluster of
5,000 nodes and 150,000 pods that fake_cluster.py makes up, with Postgres real and the release build.

A cycle is what one interval between two rounds of samples costs (15 s): reading both lists of
metrics.k8s.io, the sum of each node, and whatever follows. Measured over whole intervals, so that
everything else the controller does is in it:

  idle      nothing is different but the time of the samples. Nothing may be written
  changed   every node uses more than before: each figure moves by more than 10 % and is written, and
            the watch brings each written node back

Figures of the processor are /proc's, so it matters little who else uses the machine.
"""

import subprocess
import sys
import time
from pathlib import Path

from ground import CPU_HERTZ, ROOT, say, table
from sandbox import Api, Sandbox, certs, wait_until

HERE = Path(__file__).resolve().parent
ROUNDS, INTERVAL = 4, 15


class Fake:
    def __init__(self, nodes, per_node, pki, *more):
        certs.make(pki)
        self.child = subprocess.Popen([sys.executable, HERE / "fake_cluster.py", "--nodes", str(nodes), "--pods-per-node", str(per_node),
                                       "--cert", pki / "server.crt", "--key", pki / "server.key", *more],
                                      stdout=subprocess.PIPE, text=True)
        line = self.child.stdout.readline()
        if not line:
            raise SystemExit("fake_cluster.py ended before it served")
        self.port = int(line)
        self.api = Api(port=self.port, ca=pki / "ca.crt", timeout=120)

    def asked(self):
        return self.api.get("/bench")

    def writes(self):
        asked = self.asked()
        return sum(asked.get(verb, 0) for verb in ("PATCH", "POST", "PUT", "DELETE"))

    def rounds(self):
        return self.asked()["by"].get("GET /apis/metrics.k8s.io/v1beta1/pods", 0)

    def load(self, part):
        self.api.post(f"/bench/load/{part}", {})

    def end(self):
        self.child.terminate()
        self.child.wait()


class Ground:
    """Postgres of a sandbox, the made-up cluster, and one controller between them."""

    def __init__(self, nodes, per_node, *more, name="bench-overcommit"):
        self.box = Sandbox(name)
        self.box.destroy()
        self.box.up_database()
        self.fake = Fake(nodes, per_node, self.box.pki, *more)
        self.proc = self.box.process("controller-one")

    def start(self, *flags):
        config = self.box.state / "fake.kubeconfig"
        config.write_text(f"""\
apiVersion: v1
kind: Config
current-context: fake
clusters: [{{name: fake, cluster: {{server: "https://127.0.0.1:{self.fake.port}", certificate-authority: {self.box.pki / "ca.crt"}}}}}]
users: [{{name: nobody, user: {{token: none}}}}]
contexts: [{{name: fake, context: {{cluster: fake, user: nobody}}}}]
""")
        lending = ["--overcommit-config", "kube-system/ack-slo-config"]  # the sandbox itself lends nothing
        self.box.start_controller("one", kubeconfig=config, extra_args=[*lending, *flags])

    def cpu(self):
        fields = Path(f"/proc/{self.proc.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CPU_HERTZ

    def memory(self, what):
        """VmRSS or VmHWM in MB."""
        status = Path(f"/proc/{self.proc.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what + ":")) * 1024 / 1e6

    def await_rounds(self, n):
        """Until the middle between two rounds, n rounds from now."""
        goal = self.fake.rounds() + n
        wait_until(f"{n} more rounds of samples", lambda: self.fake.rounds() >= goal, 60 * (n + 1), self.proc, every=0.2)
        self.settle()
        time.sleep(INTERVAL / 3)

    def settle(self):
        """Until nothing is written any more, and the controller rests."""
        last = [None, 0]

        def quiet():
            now = (self.fake.writes(), round(self.cpu(), 1))
            last[1] = last[1] + 1 if now == last[0] else 0
            last[0] = now
            return last[1] >= 4
        wait_until("the controller to rest", quiet, 120, self.proc, every=0.25)

    def end(self):
        self.box.destroy()
        self.fake.end()


def published(ground):
    return ground.fake.asked().get("PATCH", 0)


def run(args):
    nodes, per_node = args.nodes, 30
    say(f"==> a made-up cluster of {nodes} nodes and {nodes * per_node} pods, Postgres, and the controller")
    ground = Ground(nodes, per_node)
    try:
        ground.start()
        began = time.monotonic()
        wait_until("a figure on each node", lambda: published(ground) >= nodes, 600, ground.proc, every=0.5)
        first_s, first_cpu = time.monotonic() - began, ground.cpu()
        ground.await_rounds(3)
        rss = ground.memory("VmRSS")
        say(f"==> {ROUNDS} cycles in which nothing changes ({ROUNDS * INTERVAL} s)")
        cpu, writes, rounds = ground.cpu(), ground.fake.writes(), ground.fake.rounds()
        ground.await_rounds(ROUNDS)
        rounds = ground.fake.rounds() - rounds
        idle_cpu, idle_writes = (ground.cpu() - cpu) / rounds, (ground.fake.writes() - writes) / rounds
        say("==> a cycle in which every node uses more")
        cpu, writes = ground.cpu(), published(ground)
        ground.fake.load(0.65)
        wait_until("each figure to be written", lambda: published(ground) - writes >= nodes, 120, ground.proc, every=0.2)
        ground.settle()
        changed_cpu, changed_writes = ground.cpu() - cpu, published(ground) - writes
        peak, end_rss = ground.memory("VmHWM"), ground.memory("VmRSS")
    finally:
        ground.end()
    result = {"bench": "overcommit", "nodes": nodes, "pods": nodes * per_node, "cpu_s_idle_cycle": round(idle_cpu, 3), "writes_idle_cycle": idle_writes,
              "cpu_s_changed_cycle": round(changed_cpu, 3), "writes_changed_cycle": changed_writes, "rss_mb": round(max(rss, end_rss), 1), "rss_peak_mb": round(peak, 1),
              "start_to_published_s": round(first_s, 1), "cpu_s_start": round(first_cpu, 2)}
    table([
        ("a cycle without changes", f"{result['cpu_s_idle_cycle']} s", f"of processor time, of each {INTERVAL} s"),
        ("... API writes", f"{result['writes_idle_cycle']:g}", "goal 0"),
        ("a cycle in which all change", f"{result['cpu_s_changed_cycle']} s", f"{changed_writes} PATCHes, and as many events of the watch"),
        ("resident memory", f"{result['rss_mb']} MB", f"{result['rss_peak_mb']} MB at most"),
        ("from start to all published", f"{result['start_to_published_s']} s", f"{result['cpu_s_start']} s of processor time: {nodes * per_node} pods read"),
    ])
    return result
