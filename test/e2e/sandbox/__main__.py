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
  kubectl get queuedjobs                           # the Jobs of a namespace, as the API server passes it on
"""
IDLE = """  kubectl top nodes                                # what is used (a minute after the start)
  kubectl apply -f test/e2e/sandbox/example-idle.yaml   # a Job on what nobody uses; the file says what to look at
"""
REAL = """  kubectl apply -f test/e2e/sandbox/example-real.yaml   # a Job of four containers on the real node, and its queue
  kubectl logs -l job-name=night --prefix          # what they say
  kubectl annotate job night sluice.dev/hold=yes   # they get SIGTERM and their grace; what is done stays, with its logs
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
    box = Sandbox(args.name, args.cluster, args.overcommit, with_real_node=args.real_node,
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
        print(f"sandbox {args.name} is down" if went else f"there is no sandbox {args.name}")
    return 0


def up(box, controller, flags):
    have = (BUILD / "bin" / "sluice-controller").exists() and (BUILD.parent / "deploy" / "sandbox").exists()
    if controller and not have:
        box.say("no build/bin/sluice-controller or no deploy/sandbox yet: up without the controller")
    controller = controller and have
    box.up(controller="one" if controller else None, flags=flags)
    if controller:
        box.wait_ready("controller-one")
    config = os.environ.get("KUBECONFIG", "~/.kube/config") if box.cluster else box.kubeconfig
    print(f"""\
sandbox {box.name} is up; its state and logs are in {box.state}

Paste this:
  export KUBECONFIG={config}""")
    if controller:
        print(f"  export PGHOST={box.socket_dir} PGDATABASE=sluice PGUSER=sluice")
    print(f"""\
  export PATH={BUILD / 'bin'}:{BUILD / 'tools'}:$PATH

Then try:
  kubectl apply -f test/e2e/sandbox/example.yaml   # a queue with room for two Jobs, and three of them
  sluice queue                                     # each queue's quota, what runs, what waits
  sluice explain job/three                         # why that one waits
  sluice doctor                                    # whether all that Sluice needs is right
{VISIBLE if controller and not box.cluster else ""}{IDLE if box.overcommit else ""}{REAL if box.real_node else ""}
./dev down{'' if box.name == 'dev' else ' --name ' + box.name} ends it.""")


def running():
    """Names of this clone's sandboxes of which anything runs."""
    records = (BUILD / "sandbox").glob("*/run/*.json")
    return sorted({r.parents[1].name for r in records if Process(r.parents[1], r.stem).alive()})


def status(box):
    """A table; exit code 0 only if everything runs."""
    if not box.state.exists():
        print(f"there is no sandbox {box.name}; ./dev up starts one")
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
