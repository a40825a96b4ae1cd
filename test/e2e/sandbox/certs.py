"""A certificate authority, and what each component shows of itself, by openssl; and tokens.

Written once per sandbox. ECDSA keys, as they are made in a millisecond. Valid
for ten years: a sandbox that was kept must not die of its certificates."""

import csv
import os
import secrets
import subprocess
from pathlib import Path

from .process import SandboxError

# file: (common name, organisation). The names are those that the API server's
# built-in RBAC roles are bound to.
CLIENTS = {
    "admin": ("sandbox-admin", "system:masters"),
}
# Who asks all the time has a token: the API server verifies a certificate anew with each request, which is a third of what a GET costs it.
TOKENS = CLIENTS | {
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "kube-scheduler": ("system:kube-scheduler", None),
    "kwok": ("kwok", "system:masters"),
}
TOKEN_FILE = "tokens.csv"
# What the API server shows of itself when it asks another server for a user: the controller, a metrics-server.
AGGREGATOR_CLIENTS = {
    "front-proxy": ("front-proxy-client", None),
}
# Only where there is a metrics-server.
MORE_CLIENTS = {
    "metrics-server": ("metrics-server", "system:masters"),
}
# Only where there is a real node: its own, and what the API server shows of itself when it asks there.
REAL_NODE_CLIENTS = {
    "real-node": ("system:node:localhost", "system:nodes"),
    "kubelet-client": ("kube-apiserver-kubelet-client", None),
}
# Where there is a Kueue: the authority's name and the server's, by which Kueue knows a certificate that it need not replace.
KUEUE_CA, KUEUE_SERVICE = "kueue-ca", "kueue-webhook-service.kueue-system.svc"
SERVER_NAMES = "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1"


def _openssl(*args):
    done = subprocess.run(["openssl", *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise SandboxError(f"openssl {args[0]} failed: {done.stderr.strip()}")


def _key(path):
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
    path.chmod(0o600)


def _authority(folder, cn, name=None):
    """ca.crt of the key that is there."""
    _openssl("req", "-x509", "-new", "-key", folder / "ca.key", "-subj", f"/CN={cn}", "-days", "3650", "-out", folder / "ca.crt",
             *(["-addext", f"subjectAltName=DNS:{name}"] if name else []))


def _issue(folder, name, cn, org, usage, names=None):
    key, csr, crt, ext = (folder / f"{name}.{e}" for e in ("key", "csr", "crt", "ext"))
    _key(key)
    subject = (f"/O={org}" if org else "") + f"/CN={cn}"
    _openssl("req", "-new", "-key", key, "-subj", subject, "-out", csr)
    ext.write_text(f"extendedKeyUsage={usage}\n" + (f"subjectAltName={names}\n" if names else ""))
    _openssl("x509", "-req", "-in", csr, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key",
             "-CAcreateserial", "-days", "3650", "-extfile", ext, "-out", crt)
    csr.unlink()
    ext.unlink()


def make(folder: Path):
    """All files, unless a former call came to its end."""
    done = folder / "complete"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    _key(folder / "ca.key")
    _authority(folder, "sluice-sandbox-ca")
    _issue(folder, "server", "kube-apiserver", None, "serverAuth", SERVER_NAMES)
    for name, (cn, org) in CLIENTS.items():
        _issue(folder, name, cn, org, "clientAuth")
    _key(folder / "sa.key")
    _openssl("pkey", "-in", folder / "sa.key", "-pubout", "-out", folder / "sa.pub")
    done.touch()


def make_tokens(folder: Path):
    """Those of TOKENS, in TOKEN_FILE as the API server reads it."""
    file = folder / TOKEN_FILE
    if not file.exists():
        new = file.with_suffix(".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline="") as f:
            csv.writer(f).writerows([secrets.token_hex(16), name, who, *filter(None, [group])] for who, (name, group) in TOKENS.items())
        new.replace(file)


def token(folder, who):
    """Returns what it shows to the API server."""
    return next(line[0] for line in csv.reader(open(folder / TOKEN_FILE)) if line[2] == who)


def make_for_aggregator(folder: Path):
    """Those of AGGREGATOR_CLIENTS, in a folder that make() filled."""
    _make_clients(folder, AGGREGATOR_CLIENTS, "complete-aggregator")


def make_more(folder: Path):
    """Those of MORE_CLIENTS, likewise."""
    _make_clients(folder, MORE_CLIENTS, "complete-more")


def make_for_real_node(folder: Path):
    """Those of REAL_NODE_CLIENTS, likewise."""
    _make_clients(folder, REAL_NODE_CLIENTS, "complete-real-node")


def make_for_kueue(folder: Path):
    """An authority of Kueue's own, and what its webhooks show of themselves: ca.crt, ca.key, tls.crt, tls.key."""
    done = folder / "complete"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    _openssl("genrsa", "-traditional", "-out", folder / "ca.key", "2048")  # Kueue reads no other form of it
    (folder / "ca.key").chmod(0o600)
    _authority(folder, KUEUE_CA, KUEUE_CA)
    _issue(folder, "tls", KUEUE_SERVICE, None, "serverAuth", f"DNS:{KUEUE_SERVICE},IP:127.0.0.1")
    done.touch()


def _make_clients(folder, clients, mark):
    done = folder / mark
    if done.exists():
        return
    for name, (cn, org) in clients.items():
        _issue(folder, name, cn, org, "clientAuth")
    done.touch()
