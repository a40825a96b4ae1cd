"""Gives each planted fault of CMakeLists.txt (sim_finds) a seed whose world finds it at once.

    ./dev sim --reseed

Worlds are drawn otherwise when the product behaves otherwise. Then a test searches from a seed that finds its
fault no more, for up to 2,000 worlds with sanitizers: minutes of each run. This searches once, with the release
program, and writes down what it found. A fault that nothing finds keeps its seed, and the exit code is 1.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST, SIM = Path(__file__).with_name("CMakeLists.txt"), ROOT / "build" / "release" / "bin" / "sim"
LINE = re.compile(r"^sim_finds\((\w+) (\d+)(.*)\)$", re.MULTILINE)
WORLDS = 20000
lost = []


def search(fault, options, start, worlds):
    """The first seed from `start` on that finds the fault, or None."""
    done = subprocess.run([SIM, *options.split(), "--find", fault, "--start", start, "--seeds", str(worlds)], capture_output=True, text=True)
    found = re.search(r", in seed (\d+)$", done.stdout, re.MULTILINE)
    if not found and "NOT found" not in done.stdout:
        sys.exit(f"{fault}: the search ended with {done.returncode}: {done.stderr[-500:]}")
    return found and found[1]


for line in LINE.finditer(LIST.read_text()):
    fault, seed, options = line.groups()
    if search(fault, options, seed, 1):
        continue
    found = search(fault, options, "1", WORLDS)
    print(f"{fault}: {seed} finds it no more, {found or f'nor does any of {WORLDS} worlds'}", flush=True)
    if found:
        LIST.write_text(LIST.read_text().replace(line[0], f"sim_finds({fault} {found}{options})"))
    else:
        lost.append(fault)
sys.exit(1 if lost else 0)
