"""Man pages and completion, made from what the programs say of themselves:

    manual.py BIN OUT       BIN has sluice, sluice-controller and sluice-node; OUT is the root that a package installs

The help has the sections of a man page already. So a page is that text, as it is."""

import gzip
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def say(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def roff(line):
    line = line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + line if line.startswith(".") else line


def page(name, section, text, version):
    """Headings are the lines that begin at the margin; below them lines stand as they were written."""
    day = datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%d")
    out, heading = [f'.TH {name.upper()} {section} "{day}" "Sluice {version}" "Sluice"', ".nh"], None
    for line in text.rstrip().splitlines():
        if line and not line.startswith(" "):
            if heading not in (None, "NAME"):
                out.append(".fi")
            heading = line
            out.append(f".SH {roff(line)}")
            if heading != "NAME":
                out.append(".nf")
        elif heading == "NAME":
            if line.strip():
                out.append(roff(line.strip()))  # whatis reads "name \\- what it is"
        else:
            out.append(roff(line.removeprefix("    ")))
    if heading != "NAME":
        out.append(".fi")
    return "\n".join(out) + "\n"


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as f, gzip.GzipFile(filename="", fileobj=f, mode="wb", mtime=EPOCH) as z:
        z.write(text.encode())


def options_of(text):
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text)))


def completion_of_controller(text):
    """Its flags alone. For bash: whoever types this command does not do it often."""
    return f"""\
# Completion of sluice-controller for bash.
_sluice_controller() {{
  COMPREPLY=($(compgen -W "{' '.join(options_of(text))}" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _sluice_controller sluice-controller
"""


def write_completion(sluice, of_controller, share):
    """Each shell looks for a file by the command's name; zsh's says itself what it is for."""
    bash, zsh, fish = share / "bash-completion/completions", share / "zsh/vendor-completions", share / "fish/vendor_completions.d"
    for folder in (bash, zsh, fish):
        folder.mkdir(parents=True, exist_ok=True)
    (bash / "sluice").write_text(say(sluice, "completion", "bash"))
    (bash / "sluice-controller").write_text(completion_of_controller(of_controller))
    (zsh / "_sluice").write_text(say(sluice, "completion", "zsh"))
    (fish / "sluice.fish").write_text(say(sluice, "completion", "fish"))
    for link, target in ((bash / "kubectl-sluice", "sluice"), (fish / "kubectl-sluice.fish", "sluice.fish")):
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def main(programs, out):
    sluice, controller, agent = (str(Path(programs) / p) for p in ("sluice", "sluice-controller", "sluice-node"))
    out = Path(out)
    overview, of_controller = say(sluice, "help"), say(controller, "--help")
    version = say(sluice, "version").split()[-1]
    names = sorted(set(re.findall(r"^    sluice ([a-z]+)\b", overview, re.M)) - {"help", "version"})
    commands = {name: say(sluice, "help", name) for name in names}
    man = out / "usr/share/man"
    write_gz(man / "man1/sluice.1.gz", page("sluice", 1, overview, version))
    write_gz(man / "man8/sluice-controller.8.gz", page("sluice-controller", 8, of_controller, version))
    write_gz(man / "man8/sluice-node.8.gz", page("sluice-node", 8, say(agent, "--help"), version))
    for name, text in commands.items():
        # The first line is "sluice explain - why a Job waits": as a page, sluice-explain.
        write_gz(man / f"man1/sluice-{name}.1.gz", page(f"sluice-{name}", 1, text.replace(f"sluice {name} - ", f"sluice-{name} - ", 1), version))
    write_completion(sluice, of_controller, out / "usr/share")
    print(f"{len(commands) + 3} man pages")


main(*sys.argv[1:])
