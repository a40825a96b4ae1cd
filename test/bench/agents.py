"""What agents of nodes cost the controller that they report to: so many, each once a second, in the cluster that
fake_cluster.py makes up. The agents are played by play_agents, over HTTPS and two connections each as the real ones;
Postgres and the release build of the controller are real.

  before    the controller alone: rounds of metrics.k8s.io each 15 s and what follows
  connect   until each agent has its orders: a handshake for each connection, a TokenReview for each agent
  report    each agent reports each second what its node and its lent pods use
  flood     while strangers open 200 connections a second, 5,000 at a time, and say half a greeting on each

Figures of the processor are /proc's, so it matters little who else uses the machine; times of answers are not.
"""

import json
import socket
import subprocess
import time

from ground import ROOT, say, table
from overcommit import Ground
from sandbox import wait_until

PLAY = ROOT / "build" / "release" / "bin" / "play_agents"
SECONDS = 45  # three rounds of samples
STRANGERS = 5000
HALF_A_GREETING = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
PERIOD_MS = 1000


class Agents(Ground):
    def __init__(self, nodes, per_node):
        super().__init__(nodes, per_node, name="bench-agents")
        self.nodes = nodes

    def play(self, seconds):
        """Plays all agents for so long, in a process of its own."""
        told = wait_until("the leader to say where it is", lambda: self.fake.api.get("/bench/agents"), 60, self.proc)
        pem, lines = self.box.state / "agents.pem", self.box.state / "agents.txt"
        pem.write_text(told["certificate"])
        lines.write_text("".join(f"node-{i:05d} agent-of-node-{i:05d}\n" for i in range(self.nodes)))
        return subprocess.Popen([PLAY, told["address"], pem, lines, str(seconds), str(PERIOD_MS)], stdout=subprocess.PIPE, text=True)

    def known(self):
        """How many agents the controller has asked the API server about."""
        return self.fake.asked()["by"].get("POST /apis/authentication.k8s.io/v1/tokenreviews", 0)

    def cpu_over(self, seconds):
        before, began = self.cpu(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu() - before) / (time.monotonic() - began)

    def flood(self, seconds):
        """Strangers of many addresses, who never end their handshake. The part of a core that is used meanwhile."""
        host, _, port = self.fake.api.get("/bench/agents")["address"].rpartition(":")
        strangers, came, began, before = [], 0, time.monotonic(), self.cpu()
        while time.monotonic() - began < seconds:
            for _ in range(20):
                one = socket.socket()
                one.setblocking(False)
                one.bind((f"127.9.{came % 200}.{1 + came % 250}", 0))
                one.connect_ex((host, int(port)))
                strangers.append(one)
                came += 1
            time.sleep(0.1)
            for one in strangers[-40:-20]:
                try:
                    one.send(HALF_A_GREETING)
                except OSError:
                    pass
            while len(strangers) > STRANGERS:
                strangers.pop(0).close()
        used = (self.cpu() - before) / (time.monotonic() - began)
        for one in strangers:
            one.close()
        return used


def run(args):
    nodes, per_node = args.agents, 30
    say(f"==> a made-up cluster of {nodes} nodes and {nodes * per_node} pods, Postgres, and the controller")
    ground = Agents(nodes, per_node)
    try:
        ground.start("--node-listen=127.0.0.1:0", "--node-address=127.0.0.1")
        wait_until("a figure on each node", lambda: ground.fake.asked().get("PATCH", 0) >= nodes, 600, ground.proc, every=0.5)
        ground.await_rounds(2)
        rss = ground.memory("VmRSS")
        say(f"==> alone ({SECONDS} s)")
        alone = ground.cpu_over(SECONDS)
        say(f"==> {nodes} agents come")
        began, cpu = time.monotonic(), ground.cpu()
        player = ground.play(2 * SECONDS + nodes / 25 + 40)
        wait_until("each agent to be known", lambda: ground.known() >= nodes, 600, ground.proc, every=0.2)
        connect_s, connect_cpu = time.monotonic() - began, ground.cpu() - cpu
        time.sleep(20)  # the last ones have their second connection
        say(f"==> each reports each {PERIOD_MS} ms ({SECONDS} s)")
        with_agents = ground.cpu_over(SECONDS)
        rss_with, peak = ground.memory("VmRSS"), ground.memory("VmHWM")
        say(f"==> and strangers come ({SECONDS} s)")
        flooded = ground.flood(SECONDS)
        played = json.loads(player.communicate(timeout=300)[0])
    finally:
        ground.end()
    share = 100 * (with_agents - alone)
    result = {"bench": "agents", "nodes": nodes, "pods": nodes * per_node, "cpu_percent_alone": round(100 * alone, 2), "cpu_percent_with": round(100 * with_agents, 2),
              "cpu_percent_of_agents": round(share, 2), "cpu_ms_a_sample": round(10 * share / nodes * PERIOD_MS / 1000, 4), "cpu_percent_flooded": round(100 * flooded, 2), "connect_s": round(connect_s, 1), "cpu_s_connect": round(connect_cpu, 2),
              "rss_mb": round(rss, 1), "rss_mb_with": round(rss_with, 1), "rss_peak_mb": round(peak, 1), **{k: v for k, v in played.items() if k != "agents"}}
    table([
        ("of a core, for all agents", f"{result['cpu_percent_of_agents']} %", f"{result['cpu_percent_with']} % with them, {result['cpu_percent_alone']} % without"),
        ("... for a sample", f"{result['cpu_ms_a_sample']} ms", f"{played['pods'] / max(1, played['samples']):.1f} pods in each"),
        ("resident memory", f"{result['rss_mb_with'] - result['rss_mb']:.1f} MB more", f"{result['rss_mb_with']} MB, {result['rss_peak_mb']} at most"),
        ("until all are known", f"{result['connect_s']} s", f"{result['cpu_s_connect']} s of processor time"),
        ("while strangers come", f"{result['cpu_percent_flooded']} %", f"of a core, in all; connections of agents that broke: {played['broken']}"),
        ("a sample is answered after", f"{played['sample_p50_ms']} ms", f"p99 {played['sample_p99_ms']} ms; {played['answers']}"),
    ])
    return result

