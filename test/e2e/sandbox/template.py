"""A control plane with all of deploy/ applied that nobody has used, kept as three folders: etcd, Postgres and the certificates.

A sandbox that begins as a copy of it need not create a database, nor write the roles, CRDs and policies once more: that takes
half of what a start costs, and every test that breaks a control plane wants one of its own. One template for a clone, made by
whoever needs it first, and anew when anything that it is made from is another.

The policies are not in it: an API server that finds at its start a policy with parameters, and does not serve their kind yet,
asks for that kind again after half a minute only."""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HOME = ROOT / "build" / "template"
TOOLS = ("etcd", "kube-apiserver", "kube-controller-manager", "kwok")  # that write into it
NAME = "_template"  # of the sandbox that becomes one
COMPLETE, FOLDERS = "complete", ("pki", "etcd", "pg")


def copy_to(box):
    """Makes the folders of a sandbox that has none yet. Its keys and its cluster are those of the template then."""
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of the copies, too: a template of other files would remove this one
        made = _made(box)
        for name in FOLDERS:
            _copy(made / name, _folder(box, name))


def _folder(box, name):
    return box.pg_data() if name == "pg" else box.state / name


def _copy(source, target):
    # etcd's log is 64 MB of nothing at first.
    subprocess.run(["cp", "-a", "--sparse=always", source, target], check=True)


def _made(box):
    """Returns the folder of the template for such a sandbox, which is made if there is none of today's."""
    folder = HOME / _key(box)
    if not (folder / COMPLETE).exists():
        for old in [f for f in HOME.iterdir() if f.is_dir()]:
            shutil.rmtree(old)
        folder.mkdir()
        _make(type(box)(NAME), folder)
        (folder / COMPLETE).touch()
    return folder


def _make(box, folder):
    box.destroy()  # what an interrupted run has left
    try:
        box.up()
        box.kubectl("delete", "-k", ROOT / "deploy" / "policies", check=False)  # those that are there: an older server knows not all kinds
        for component in reversed([c for c in box.components if c not in ("etcd", "postgres")]):
            box.kill(component)  # in good order an API server takes half a minute
        for component in ("etcd", "postgres"):
            box.process(component).stop()
        for name in FOLDERS:
            _copy(_folder(box, name), folder / name)
    finally:
        box.destroy()


def _key(box):
    """Of all that it is made from: what is applied, how, and the programs."""
    hashed = hashlib.sha256()
    for top in (ROOT / "api" / "crds", ROOT / "deploy", HERE):
        for file in sorted(f for f in top.rglob("*") if f.is_file() and "__pycache__" not in f.parts):
            hashed.update(f"{file.relative_to(ROOT)} {file.stat().st_size}\n".encode() + file.read_bytes())
    for program in (*(box.tool(c) for c in box.components if c in TOOLS), box.pg_program("postgres")):
        found = Path(program).resolve().stat()
        hashed.update(f"{program} {found.st_size} {found.st_mtime_ns}\n".encode())
    return hashed.hexdigest()[:16]
