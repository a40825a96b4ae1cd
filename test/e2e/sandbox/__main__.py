"""python -m sandbox up|down|destroy|status --name NAME [-- FLAGS of sluice-controller, for up]

python -m sandbox can-have-real-node says what this machine lacks for one; exit code 0 if nothing.
python -m sandbox running prints the names of this clone's sandboxes of which anything runs."""

import argparse
import os
import sys
import time

from . import Sandbox, SandboxError, real_node
from .process import Process
from .sandbox import BUILD


VISIBLE = """\
  kubectl get queuedjobs -A                            # the same from the API server
"""
IDLE = """  kubectl top nodes                                    # what is used (a minute after the start)
  kubectl apply -f test/e2e/sandbox/example-idle.yaml  # a Job on what nobody uses; the file says what to look at
"""
AGENT = """  kubectl -n sluice-node logs ds/sluice-node           # the agent of the real node
  sluice overcommit explain localhost                  # what it says, once something is lent there: example-idle.yaml has the ConfigMap
"""
REAL = """  kubectl apply -f test/e2e/sandbox/example-real.yaml  # a Job of four containers on the real node, and its queue
  kubectl logs -l job-name=night --prefix              # what they say
  kubectl annotate job night sluice.dev/hold=yes       # they get SIGTERM and their grace; what is done stays, with its logs
"""


def main():
    p = argparse.ArgumentParser(prog="sandbox", description="A private control plane with Postgres and fake nodes.")
    p.add_argument("command", choices=["up", "down", "destroy", "status", "can-have-real-node", "running"])
    p.add_argument("--name", default="dev")
    p.add_argument("--cluster", action="store_true", help="use the cluster that KUBECONFIG names")
    p.add_argument("--no-controller", action="store_true", help="up: all but sluice-controller")
    p.add_argument("--overcommit", action="store_true", help="up: with a metrics-server, for lending out idle resources")
    p.add_argument("--real-node", action="store_true", help="up: with a node whose containers really run")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    controller_flags = sys.argv[end + 1:]
    args = p.parse_args(sys.argv[1:end])
    if controller_flags and args.command != "up":
        p.error("flags of sluice-controller are for up")
    if args.command == "can-have-real-node":
        why = real_node.lacks()
        print(why or "it can")
        return 1 if why else 0
    if args.command == "running":
        print("\n".join(running()))
        return 0
    began = time.monotonic()
    box = Sandbox(args.name, args.cluster, args.overcommit, with_real_node=args.real_node, agents=args.overcommit and not args.cluster,
                  say=lambda text: print(f"  {time.monotonic() - began:5.1f} s  {text}", flush=True))
    if args.command == "up":
        up(box, not args.no_controller, controller_flags)
    elif args.command == "status":
        return status(box)
    else:
        went = box.down()
        for component, how in went.items():
            if how != "was not running":
                box.say(f"{component} {how}")
        if args.command == "destroy":
            box.destroy()
        print(gone(box.name, args.command) if went else no_sandbox(box.name, args.command))
    return 0


def of(name):
    """The option that names a sandbox."""
    return "" if name == "dev" else f" --name {name}"


def gone(name, command):
    if command == "destroy":
        return f"sandbox {name} is down, and its data is removed"
    return f"sandbox {name} is down; its data stays, and ./dev up{of(name)} goes on with it"


def no_sandbox(name, command):
    others = [f"\n{other} runs: ./dev {command}{of(other)}" for other in running()]
    return f"there is no sandbox {name}" + ("".join(others) or "; ./dev up starts one")


def up(box, controller, flags):
    have = (BUILD / "bin" / "sluice-controller").exists() and (BUILD.parent / "deploy" / "sandbox").exists()
    if controller and not have:
        box.say("no build/bin/sluice-controller or no deploy/sandbox yet: up without the controller")
    controller = controller and have
    box.up(controller="one" if controller else None, flags=flags)
    if controller:
        box.wait_ready("controller-one")
    config = os.environ.get("KUBECONFIG", "~/.kube/config") if box.cluster else box.kubeconfig
    page = next((where for component, _, where in box.status() if component == "controller-one"), "")
    print(f"""\
sandbox {box.name} is up; its state and logs are in {box.state}
{f"Page: {page}/" if page else "No controller runs, so there is no page."}

Paste this:
  export KUBECONFIG={config}""")
    if controller:
        print(f"  export PGHOST={box.socket_dir} PGDATABASE=sluice PGUSER=sluice")
    print(f"""\
  export PATH={BUILD / 'bin'}:{BUILD / 'tools'}:$PATH

docs/start.md leads on from here:
  kubectl apply -f deploy/sandbox/example/queue.yaml   # a namespace team-a, a ClusterQueue and a LocalQueue
  sluice queue                                         # the quota, what runs, what waits
  sluice jobs -A                                       # the queued Jobs, once you have submitted one
  sluice doctor --ignore replication                   # checks the installation (a sandbox's Postgres has no standby)
{VISIBLE if controller and not box.cluster else ""}{IDLE if box.overcommit else ""}{AGENT if box.agents and box.real_node else ""}{REAL if box.real_node else ""}
./dev down{of(box.name)} ends it.""")


def running():
    """Names of this clone's sandboxes of which anything runs."""
    records = (BUILD / "sandbox").glob("*/run/*.json")
    return sorted({r.parents[1].name for r in records if Process(r.parents[1], r.stem).alive()})


def status(box):
    """A table; exit code 0 only if everything runs."""
    if not box.state.exists():
        print(no_sandbox(box.name, "status"))
        return 3
    rows = box.status()
    for component, pid, where in rows:
        print(f"{component:<26}{'running' if pid else 'down':<9}{pid or '-':<9}{where}")
    return 0 if all(pid for _, pid, _ in rows) else 3


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SandboxError as e:
        sys.exit(f"sandbox: {e}")
    except KeyboardInterrupt:
        sys.exit(130)
