"""Archives whose bytes depend on what is in them alone: sorted, owned by root, of one time.

    archive.py oci LAYOUT OUT.tar       an OCI layout, with the name of its image as containerd wants it
    archive.py tar FOLDER OUT.tar.gz    a folder, as the folder of its own name

The time is SOURCE_DATE_EPOCH.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def write(out, files):
    """files: (name in the archive, path or None for a folder, bytes or None)."""
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, path in sorted(files):
            info = tarfile.TarInfo(name)
            info.mtime, info.uname, info.gname = EPOCH, "root", "root"
            if path.is_symlink():
                info.type, info.linkname = tarfile.SYMTYPE, os.readlink(path)
                tar.addfile(info)
                continue
            if path.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
                continue
            data = path.read_bytes()
            info.size, info.mode = len(data), 0o755 if os.access(path, os.X_OK) else 0o644
            tar.addfile(info, io.BytesIO(data))


def below(folder):
    return [(str(p.relative_to(folder)), p) for p in folder.rglob("*")]


def name_image(layout):
    """containerd and `kind load` take the name from io.containerd.image.name, others from ref.name."""
    index = layout / "index.json"
    tree = json.loads(index.read_text())
    for manifest in tree["manifests"]:
        notes = manifest["annotations"]
        notes["io.containerd.image.name"] = notes["org.opencontainers.image.ref.name"]
    index.write_text(json.dumps(tree, sort_keys=True))


def check_blobs(layout):
    for blob in (layout / "blobs" / "sha256").iterdir():
        if hashlib.sha256(blob.read_bytes()).hexdigest() != blob.name:
            sys.exit(f"archive.py: {blob} is not what its name says")


def main(kind, folder, out):
    folder, out = Path(folder), Path(out)
    if kind == "oci":
        name_image(folder)
        check_blobs(folder)
        with out.open("wb") as f:
            write(f, below(folder))
    else:
        files = [(folder.name, folder), *((f"{folder.name}/{name}", path) for name, path in below(folder))]
        with out.open("wb") as f, gzip.GzipFile(filename="", fileobj=f, mode="wb", mtime=EPOCH) as z:
            write(z, files)


main(*sys.argv[1:])
