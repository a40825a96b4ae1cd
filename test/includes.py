"""Who includes whom: each #include of the product beside the arrows of docs/map.md ("Who may call whom"), which make
no circle.

    includes.py ROOT    fails on an include against the arrows

A file belongs to the innermost folder that the arrows name (cli/doctor.c to cli/doctor). It may include what is in the
same one, and what can be reached from there. Tests and benches may include anything."""

import re
import sys
from pathlib import Path

HEADING = "## Who may call whom"
PRODUCT = "agent base cli controller forecast include node overcommit queue record".split()


def members(group):
    """'controller/{kube, wire}, queue' are three places; what is in parentheses is said for people."""
    group = re.sub(r"\([^)]*\)", "", group)
    names = []
    for word in re.findall(r"[\w/]*\{[^}]*\}|[\w/]+", group):
        stem, brace, inner = word.partition("{")
        names += [stem + name.strip() for name in inner.rstrip("}").split(",")] if brace else [word]
    return names


def arrows(page):
    """{place: the places that it may call itself}"""
    block = re.search(r"```\n(.*?)```", page[page.index(HEADING):], re.S)[1]
    may = {}
    for chain in re.split(r"[;\n]", block):
        groups = [members(group) for group in chain.split("->")]
        for group, called in zip(groups, groups[1:] + [[]]):
            for name in group:
                may.setdefault(name, set()).update(called)
    return may


def reached(may):
    """{place: all places below it}"""
    below = {name: set(called) for name, called in may.items()}
    while any(len(called) < len(called.union(*(below[name] for name in called))) for called in below.values()):
        for called in below.values():
            called.update(*(below[name] for name in list(called)))
    return below


def place(path, places):
    return max((name for name in places if path.startswith((f"{name}/", f"{name}."))), key=len, default=None)


def includes(root):
    """(file, header) of each, as paths from the root."""
    for file in (file for folder in PRODUCT for file in (root / folder).rglob("*.[ch]")):
        for header in re.findall(r'^#\s*include "([^"]+)"', file.read_text(), re.M):
            yield str(file.relative_to(root)), f"include/{header}" if header.startswith("sluice/") else header


def against(root):
    below = reached(arrows((root / "docs/map.md").read_text()))
    found = [f"{name}: the arrows lead back to it" for name, called in below.items() if name in called]
    for file, header in includes(root):
        here, there = place(file, below), place(header, below)
        if here is None or there is None:
            found.append(f"{file} {header}: {file if here is None else header} is in no place that docs/map.md names")
        elif here != there and there not in below[here]:
            found.append(f"{file} {header}")
    return sorted(found)


def main(root):
    found = against(Path(root))
    for line in found:
        print(f"{line}: against the arrows of docs/map.md")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
