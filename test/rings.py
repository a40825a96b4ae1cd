"""rings.py NM OBJECT...: fails where object files use each other in a ring, by the symbols that they define and want."""

import os
import subprocess
import sys


def symbols(nm, path):
    defined, wanted = set(), set()
    for line in subprocess.run([nm, path], capture_output=True, text=True, check=True).stdout.splitlines():
        *_, kind, name = line.split()
        if kind == "U":
            wanted.add(name)
        elif kind in "TDRBC":
            defined.add(name)
    return defined, wanted


def uses(nm, paths):
    """Of each file: the files that it uses, with the symbols."""
    of = {os.path.basename(p).removesuffix(".o"): symbols(nm, p) for p in paths}
    home = {name: f for f, (defined, _) in of.items() for name in defined}
    return {f: {home[n] for n in wanted if home.get(n, f) != f} for f, (_, wanted) in of.items()}


def main(nm, *paths):
    left = uses(nm, paths)
    # What uses nothing that is left is in no ring; nor is what nothing left uses.
    while ends := [f for f in left if not left[f] & left.keys()]:
        for f in ends:
            del left[f]
    while starts := [f for f in left if not any(f in used for used in left.values())]:
        for f in starts:
            del left[f]
    for f in sorted(left):
        print(f, "uses", *sorted(left[f] & left.keys()))
    return 1 if left else 0


sys.exit(main(*sys.argv[1:]))
