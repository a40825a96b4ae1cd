"""python -m sandbox.image BUSYBOX OUT.tar: the images of a real node, as an OCI archive, from one static busybox.

docker.io/library/busybox:1, and sluice.dev/pause:1, which is the same layer and only sleeps. The same bytes each time."""

import hashlib
import io
import json
import platform
import subprocess
import sys
import tarfile
from pathlib import Path

IMAGES = {"docker.io/library/busybox:1": ["sh"], "sluice.dev/pause:1": ["/bin/busybox", "sleep", "2147483647"]}
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
MADE = "2026-01-01T00:00:00Z"
FOLDERS = ("bin", "dev", "etc", "proc", "root", "sys", "tmp", "var")
PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
GROUP = b"root:x:0:\nnogroup:x:65534:\n"
OCI = "application/vnd.oci.image."


def entry(tar, name, data=b"", kind=tarfile.REGTYPE, mode=0o644, link=""):
    t = tarfile.TarInfo(name)
    t.type, t.mode, t.linkname, t.size = kind, mode, link, len(data)
    tar.addfile(t, io.BytesIO(data) if data else None)


def layer(busybox):
    """A root file system with busybox under all its names."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in FOLDERS:
            entry(tar, folder, kind=tarfile.DIRTYPE, mode=0o1777 if folder == "tmp" else 0o755)
        entry(tar, "bin/busybox", Path(busybox).read_bytes(), mode=0o755)
        for applet in subprocess.check_output([busybox, "--list"], text=True).split():
            if applet != "busybox":
                entry(tar, f"bin/{applet}", kind=tarfile.SYMTYPE, mode=0o777, link="busybox")
        entry(tar, "etc/passwd", PASSWD)
        entry(tar, "etc/group", GROUP)
    return raw.getvalue()


class Blobs(dict):
    """digest: bytes"""

    def put(self, data, kind):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        self[digest] = data
        return {"mediaType": OCI + kind, "digest": digest, "size": len(data)}

    def put_json(self, obj, kind):
        return self.put(json.dumps(obj).encode(), kind)


def image(blobs, name, command, layers):
    """The entry of an image in the index."""
    config = blobs.put_json({
        "architecture": ARCHITECTURE, "os": "linux", "created": MADE,
        "config": {"Cmd": command, "Env": ["PATH=/bin"], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [one["digest"] for one in layers]},
        "history": [{"created": MADE, "created_by": "sandbox.image"}]}, "config.v1+json")
    manifest = blobs.put_json({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": config, "layers": layers}, "manifest.v1+json")
    return {**manifest, "platform": {"architecture": ARCHITECTURE, "os": "linux"},
            "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rsplit(":")[-1]}}


def layer_of(files):
    """A layer with these programs: {path in it: path here}."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, file in sorted(files.items()):
            entry(tar, path.lstrip("/"), Path(file).read_bytes(), mode=0o755)
    return raw.getvalue()


def write(busybox, out):
    blobs = Blobs()
    root = blobs.put(layer(busybox), "layer.v1.tar")
    pack(blobs, [image(blobs, name, command, [root]) for name, command in IMAGES.items()], out)


def write_on_busybox(busybox, out, name, command, files):
    """One image: a busybox with these files on top."""
    blobs = Blobs()
    layers = [blobs.put(data, "layer.v1.tar") for data in (layer(busybox), layer_of(files))]
    pack(blobs, [image(blobs, name, command, layers)], out)


def pack(blobs, manifests, out):
    index = {"schemaVersion": 2, "manifests": manifests}
    with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as tar:
        entry(tar, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
        entry(tar, "index.json", json.dumps(index).encode())
        for folder in ("blobs", "blobs/sha256"):
            entry(tar, folder, kind=tarfile.DIRTYPE, mode=0o755)
        for digest, data in blobs.items():
            entry(tar, "blobs/sha256/" + digest.partition(":")[2], data)


if __name__ == "__main__":
    write(*sys.argv[1:])
