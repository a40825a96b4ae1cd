"""Manifests as objects for the API server: what `kubectl apply --server-side` sends, without a kubectl for each folder.

kubectl asks the API server for all that it serves, and for the schema of each group, before it sends the first object: that
takes the two of them a second of processor time, and each control plane of a test needs it several times."""

import functools
import re
import subprocess

# As kubectl has it, so that a kubectl that applies the folder once more finds its own fields.
APPLY = "fieldManager=kubectl&force=true&fieldValidation=Strict"


@functools.cache
def rendered(kubectl, folder):
    """[(path of the object, its YAML)] of a kustomization, in the order in which they are to be applied."""
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr.strip())
    return documents(done.stdout)


def documents(text):
    """[(path, YAML)] of a file with several objects."""
    return [(_path(one), one) for one in re.split(r"^---$", text, flags=re.M) if re.search(r"^kind:", one, re.M)]


def send(api, objects):
    """Sends the objects, and takes away from the list those that the API server has taken: an object may want another go,
    for its CRD is not served at the first moment."""
    while objects:
        path, text = objects[0]
        api.raw("PATCH", f"{path}?{APPLY}", text.encode(), "application/apply-patch+yaml")
        del objects[0]
    return True


def _path(text):
    version, kind = (re.search(rf"^{field}: (\S+)$", text, re.M)[1] for field in ("apiVersion", "kind"))
    metadata = re.search(r"^metadata:\n((?:  .*\n)*)", text, re.M)[1]
    name, namespace = (re.search(rf"^  {field}: (\S+)$", metadata, re.M) for field in ("name", "namespace"))
    group = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{group}{f'/namespaces/{namespace[1]}' if namespace else ''}/{_plural(kind.lower())}/{name[1]}"


def _plural(kind):
    return kind[:-1] + "ies" if kind.endswith("y") else kind + ("es" if kind.endswith("s") else "s")
