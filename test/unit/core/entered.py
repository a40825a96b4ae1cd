"""Counts the functions of queue/ that one ordinary Job enters, and holds it against what it may be.

    entered.py PROGRAM ROOT [-v]

The Job is in a cluster without windows, prices, Budgets, nodes, ResourceQuotas, reservations and Jobs that wait for
Jobs. A function of a feature that sleeps (feature.h) and is entered all the same is named. The counts may only get
smaller: when one does, the limit here follows. `-v` behind ROOT prints all by file.
"""

import os
import subprocess
import sys
from collections import defaultdict

MOST = {"job": 390, "preemption": 490}
SLEEPING = ("queue/features/dependencies/dependency_wait.c", "queue/features/limits/", "queue/features/money/",
            "queue/features/namespace/", "queue/features/nodes/node_fit.c", "queue/features/windows/")
# What wakes them, and steps of queue_decide() that find nothing to do.
ASKED = {"price_asked_for", "asks_anything", "window_asked_for", "dependencies_asked_for", "dependencies_bytes", "dependencies_take_due",
         "booked_starts_improve", "budgets_arm", "lead_end", "lead_recall", "smaller_quota_ask", "namespace_quotas_refresh",
         "node_fit_refresh", "list_empty"}


def entered(program, root, life):
    addresses = subprocess.run([program, life], check=True, capture_output=True, text=True).stdout.split()
    lines = subprocess.run(["addr2line", "-f", "-e", program, *addresses], check=True, capture_output=True, text=True).stdout.split("\n")
    by_file = defaultdict(set)
    for name, where in zip(lines[0::2], lines[1::2]):
        path = os.path.relpath(os.path.join(root, where.split(":")[0]), root)
        if path.startswith("queue/"):
            by_file[path].add(name)
    return by_file


def main(program, root, *words):
    wrong = []
    for life, most in MOST.items():
        by_file = entered(program, root, life)
        count = sum(map(len, by_file.values()))
        print(f"{life}: {count} functions in {len(by_file)} files")
        if "-v" in words:
            print("\n".join(f"  {path}: {' '.join(sorted(names))}" for path, names in sorted(by_file.items())))
        if count > most:
            wrong.append(f"{life}: {count} functions of queue/ are entered, and {most} were enough")
        awake = [f"{path}: {' '.join(sorted(names - ASKED))}" for path, names in sorted(by_file.items())
                 if path.startswith(SLEEPING) and names - ASKED]
        wrong += [f"{life}: of a feature that sleeps: {line}" for line in awake]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
