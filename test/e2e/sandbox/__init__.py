"""A private control plane for tests, the demo and the bench.

`Sandbox(name)` is a real etcd, kube-apiserver, kube-controller-manager and
kube-scheduler, kwok with fake nodes, a Postgres and the Sluice controller, all
under build/sandbox/NAME/. See sandbox.py for what it promises.
"""

from .kube import Api, ApiError
from .process import SandboxError, wait_until
from .sandbox import Sandbox

__all__ = ["Api", "ApiError", "Sandbox", "SandboxError", "wait_until"]
