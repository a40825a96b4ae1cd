"""What a failed end-to-end test leaves: a folder in build/logs/failed with all that one needs to find out why.

    run       the command that runs the test alone, with the seed of this run
    failure-* what pytest says of its setup, call or teardown
    logs/     of each process of its sandboxes, since the test began
    objects/  of its namespaces, and our own kinds in the cluster
    ledger    the rows of Postgres
"""

import json
import os
import re
import shlex
from types import SimpleNamespace

from objects import SEARCHES
from sandbox import ApiError, SandboxError
from sandbox.sandbox import BUILD, ROOT

IN_A_NAMESPACE = ("/apis/batch/v1", "jobs"), ("/api/v1", "pods"), ("/api/v1", "events"), ("/api/v1", "resourcequotas"), \
    ("/apis/sluice.dev/v1alpha1", "localqueues")
IN_THE_CLUSTER = ("clusterqueues", "cohorts", "resourceflavors", "workloadpriorityclasses", "calendars", "runpolicies", "priceplans", "budgets",
                  "advancereservations")
LEDGER = ("select * from sluice.lease", "select * from sluice.audit limit 20",
          "select node, flavor, resource, pending, posted, releasing, wanted, ceiling from sluice.balance "
          "where pending + posted + releasing > 0 limit 100",
          "select ns, name, attempt, state, reserved_at, lines from sluice.hold order by reserved_at desc limit 100")
ENOUGH = 32 << 20  # bytes of a log, the last ones

_test = SimpleNamespace(offsets={}, namespaces=[])


def begin(boxes):
    """A test begins: what its logs have by now is not about it."""
    _test.namespaces = []
    _test.offsets = {log: log.stat().st_size for box in boxes for log in _logs(box)}


def uses(ns):
    """The test that runs has made a namespace."""
    _test.namespaces.append(ns)


def leave(nodeid, when, failure, boxes):
    """Writes the folder, and returns its name, or why there is none. Of a test that fails again in its teardown the objects
    are those of the first time."""
    try:
        return str(_leave(nodeid, when, failure, boxes))
    except (OSError, ValueError, SandboxError) as e:  # a full disk, a sandbox that is gone: that is not what failed
        return f"nothing could be kept: {e}"


def _leave(nodeid, when, failure, boxes):
    folder = BUILD / "logs" / "failed" / re.sub(r"[^A-Za-z0-9_.-]+", "-", nodeid.removeprefix("test/e2e/"))[:150]
    folder.mkdir(parents=True, exist_ok=True)
    seed = os.environ.get("SLUICE_E2E_SEED")
    name = nodeid if nodeid.startswith("test/e2e/") else f"test/e2e/{nodeid}"
    words = [*([f"SLUICE_E2E_SEED={seed}"] if seed else []), *(["SLUICE_E2E_SEARCH=1"] if SEARCHES else []), "./dev", "test",
             *(["--kubernetes", os.environ["SLUICE_KUBERNETES"]] if os.environ.get("SLUICE_KUBERNETES") else []), shlex.quote(name)]
    again = (folder / "run").exists()
    (folder / "run").write_text(" ".join(words) + "\n")
    (folder / f"failure-{when}").write_text(failure)
    for box in boxes if not again else []:
        _write_logs(folder / "logs", box)
        _write_objects(folder / "objects", box)
        (folder / f"ledger-{box.name}").write_text(ledger(box))
    return folder.relative_to(ROOT)


def ledger(box):
    """The rows that tell who holds what, as text."""
    shown = []
    for what in LEDGER:
        try:
            shown += [f"-- {what}"] + ["   " + " | ".join(row) for row in box.sql(what)]
        except (SandboxError, OSError) as e:
            shown.append(f"-- {what}: {e}")
    return "\n".join(shown) + "\n"


def _logs(box):
    return sorted((box.state / "logs").glob("*.log"))


def _write_logs(folder, box):
    folder.mkdir(exist_ok=True)
    for log in _logs(box):
        with open(log, "rb") as f:
            f.seek(max(_test.offsets.get(log, 0), log.stat().st_size - ENOUGH))
            text = f.read()
        if text:
            (folder / f"{box.name}-{log.name}").write_bytes(text)


def _write_objects(folder, box):
    folder.mkdir(exist_ok=True)
    for ns in _test.namespaces:
        for group, plural in IN_A_NAMESPACE:
            _write_list(folder / f"{box.name}-{ns}-{plural}.json", box, f"{group}/namespaces/{ns}/{plural}")
    for plural in IN_THE_CLUSTER:
        _write_list(folder / f"{box.name}-{plural}.json", box, f"/apis/sluice.dev/v1alpha1/{plural}")


def _write_list(file, box, path):
    try:
        items = box.api.get(path)["items"]
    except (ApiError, OSError) as e:
        items = f"{path}: {e}"
    if items:
        file.write_text(json.dumps(items, indent=1))
