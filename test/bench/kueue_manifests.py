#!/usr/bin/env python3
"""How much of Kueue's own manifests `sluice import kueue` takes: whole, with notes, or not at all.

    test/bench/kueue_manifests.py [--sluice build/bin/sluice] [FOLDER...] [--list]

Without a folder: the Go module sigs.k8s.io/kueue of KUEUE, from the module proxy (its site is no part of it).
With folders: those, a clone of kubernetes-sigs/kueue say; of one that has them, only PARTS (the rest are
proposals, and what builds Kueue). All *.yaml and *.yml but Helm's templates, and the blocks of YAML in *.md. Each is given to the command alone; the table goes to stdout. Nothing of it is kept.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

KUEUE = "v0.18.3"
PARTS = ("cmd", "config", "examples", "site", "test")
WITH = {"ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass"}
WITHOUT = {"Topology", "AdmissionCheck", "ProvisioningRequestConfig", "MultiKueueConfig", "MultiKueueCluster", "Workload"}
FENCE = re.compile(r"^( *)```ya?ml[^\n]*\n(.*?)^\1```", re.S | re.M)
OUTCOMES = ("Whole", "WithNotes", "Refused")


def module() -> Path:
    done = subprocess.run(["go", "mod", "download", "-json", f"sigs.k8s.io/kueue@{KUEUE}"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the Go module of Kueue {KUEUE} could not be had: {done.stdout}{done.stderr}")
    return Path(json.loads(done.stdout)["Dir"])


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    parts = [folder / p for p in PARTS if (folder / p).is_dir()] or [folder]
    for path in sorted(p for part in parts for p in part.rglob("*") if p.suffix in (".yaml", ".yml", ".md") and "charts" not in p.parts):
        text = path.read_text(errors="replace")
        if path.suffix != ".md":
            yield path, text
            continue
        for indent, block in FENCE.findall(text):
            yield path, re.sub(f"^{indent}", "", block, flags=re.M)


def group(item: dict) -> str:
    kind = item["kind"]
    if kind == "?":
        return "pieces: no object"
    named = any("names Kueue" in n["note"] for n in item["notes"])
    if kind in WITH | WITHOUT | {"Configuration", "Job", "CronJob"} and not named:
        return kind
    return "other kinds that name Kueue" if named else "other kinds, printed as they are"


def count(sluice: str, folders: list[Path], show: bool) -> None:
    counts: collections.Counter = collections.Counter()
    files = unreadable = 0
    for folder in folders:
        for path, text in texts(folder):
            done = subprocess.run([sluice, "import", "kueue", "-f", "-", "-o", "json"], input=text, capture_output=True, text=True)
            files += 1
            if done.returncode not in (0, 1):
                unreadable += 1
                if show:
                    print(f"not read: {path}: {done.stderr.strip()[:160]}")
                continue
            for item in json.loads(done.stdout)["items"]:
                counts[group(item), item["outcome"]] += 1
                for note in item["notes"] if show else ():
                    print(f"{item['outcome']}: {path}: {item['title']}: {note['field']} {note['note']}")
    print(f"{files} texts, {unreadable} of them no YAML (templates of other programs)")
    print(f"{'kind':36}" + "".join(f"{o:>11}" for o in OUTCOMES))
    for name in sorted({g for g, _ in counts}, key=lambda g: (g not in WITH, g not in WITHOUT, g[0].islower(), g)):
        print(f"{name:36}" + "".join(f"{counts[name, o]:11}" for o in OUTCOMES))


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", nargs="*", type=Path)
    p.add_argument("--sluice", default=str(Path(__file__).resolve().parents[2] / "build" / "bin" / "sluice"))
    p.add_argument("--list", action="store_true", help="also each note, and each text that could not be read")
    a = p.parse_args()
    count(a.sluice, a.folder or [module()], a.list)


if __name__ == "__main__":
    main()
