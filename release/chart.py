"""The Helm chart, made from what `kubectl kustomize` renders:

    chart.py KUBECTL OUT       the folder OUT/sluice

deploy/base is rendered, and deploy/base with each component. Each object of them becomes a template. Where the renderings differ, the lines stand in an `if` of the component whose
they are. So there is no copy by hand that could be forgotten: an object or a line that is new in
deploy/ is in the next chart. What is a value of the chart is in VALUES below; a line of it that is
no longer found ends this program. test/e2e/test_chart.py compares what `helm template` makes of all
combinations with what kustomize does.

Two components that change the same lines, or one that changes what another adds, would need more
than that; without-mutating-policy, which takes away, is asked for beside each other one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from difflib import SequenceMatcher
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEPLOY, NAMESPACE = ROOT / "deploy", "sluice-system"
REMOVER = "without-mutating-policy"

LABELS = """\
    {{- include "sluice.labels" . | nindent 4 }}
"""
# What is a value, instead of what deploy/ has, if it is not empty: the lines up to the next one that is named in VALUES.
RESOURCES = """\
        {{- with .Values.%sresources }}
        resources:
          {{- toYaml . | nindent 10 }}
        {{- else }}
        resources:
"""
AFFINITY = """\
      {{- with .Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- else }}
      affinity:
"""
TOLERATIONS = """\
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
"""
PULL_SECRETS = """\
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
"""
ARGS = """\
        {{- if ne .Release.Namespace "sluice-system" }}
        - --config-namespace={{ .Release.Namespace }}
        {{- end }}
"""
EXTRA_ARGS = """\
        {{- with .Values.extraArgs }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
"""
EXTRA_ENV = """\
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
"""
EXTRA_MOUNTS = """\
        {{- with .Values.extraVolumeMounts }}
        volumeMounts:
        {{- toYaml . | nindent 8 }}
        {{- end }}
"""
EXTRA_VOLUMES = """\
      {{- with .Values.extraVolumes }}
      volumes:
      {{- toYaml . | nindent 6 }}
      {{- end }}
"""
# `helm upgrade --reuse-values` brings the values of an older chart alone: one that is new may be missing, and so may its parent.
PRIORITY = """\
      {{- with hasKey .Values "priorityClassName" | ternary .Values.priorityClassName "system-cluster-critical" }}
      priorityClassName: {{ . }}
      {{- end }}
"""
# Of the agents of nodes; missing in the values of an older chart, as may be all of them.
OF_AGENTS = """\
        {{- if ne .Release.Namespace "sluice-system" }}
        - --namespace={{ .Release.Namespace }}
        {{- end }}
"""
AGENTS_NODES = """\
      {{- with (.Values.nodeAgent).nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
"""
CGROUPS = '((.Values.nodeAgent).cgroups | default "/sys/fs/cgroup/kubepods.slice")'
CGROUPS_SEEN = f'{{{{ eq {CGROUPS} "/sys/fs/cgroup" | ternary "/cgroup" (printf "/cgroup/%s" (base {CGROUPS})) }}}}'
MORE_LABELS = """\
    {{- with (.Values.monitoring).labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
"""
DASHBOARD_LABELS = """\
    {{- with (.Values.monitoring).dashboardLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
"""

# object: [(a line of it, what stands in its place)]; lines end with \n
VALUES = {
    "Deployment sluice-controller": [
        ("  replicas: 2\n", "  replicas: {{ .Values.replicas }}\n"),
        ("        - --log-format=json\n", "        - --log-format=json\n" + ARGS),
        ("        env:\n", EXTRA_ARGS + "        env:\n" + EXTRA_ENV),
        ("            name: sluice-database\n", "            name: {{ .Values.database.existingSecret }}\n"),
        ("      affinity:\n", AFFINITY),
        ("      containers:\n", "      {{- end }}\n      containers:\n"),
        ("        resources:\n", RESOURCES % ""),
        ("        securityContext:\n", "        {{- end }}\n        securityContext:\n"),
        ("        image: sluice-controller:VERSION\n", "        image: {{ include \"sluice.image\" . }}\n"),
        ("        imagePullPolicy: IfNotPresent\n", "        imagePullPolicy: {{ .Values.image.pullPolicy }}\n"),
        ("      priorityClassName: system-cluster-critical\n",
         EXTRA_MOUNTS + PULL_SECRETS + TOLERATIONS + EXTRA_VOLUMES + PRIORITY),
    ],
    "StatefulSet sluice-postgres": [
        ("        image: postgres:17.6-bookworm\n", "        image: {{ .Values.postgres.image }}\n"),
        ("        imagePullPolicy: IfNotPresent\n", "        imagePullPolicy: {{ .Values.postgres.pullPolicy }}\n"),
        ("          storage: 8Gi\n", "          storage: {{ .Values.postgres.storage }}\n"
         "      {{- with .Values.postgres.storageClassName }}\n      storageClassName: {{ . }}\n      {{- end }}\n"),
        ("      priorityClassName: system-cluster-critical\n",
         PULL_SECRETS + TOLERATIONS + PRIORITY),
        ("        resources:\n", RESOURCES % "postgres."),
        ("        securityContext:\n", "        {{- end }}\n        securityContext:\n"),
    ],
    "DaemonSet sluice-node sluice-node": [
        ("        image: sluice-controller:VERSION\n", "        image: {{ include \"sluice.image\" . }}\n"),
        ("        imagePullPolicy: IfNotPresent\n", "        imagePullPolicy: {{ .Values.image.pullPolicy }}\n"),
        ("        - --log-format=json\n", "        - --log-format=json\n" + OF_AGENTS),
        ("      priorityClassName: system-node-critical\n", PULL_SECRETS + AGENTS_NODES + "      priorityClassName: system-node-critical\n"),
        ("        resources:\n", (RESOURCES % "nodeAgent.").replace(".Values.nodeAgent.", "(.Values.nodeAgent).")),
        ("        securityContext:\n", "        {{- end }}\n        securityContext:\n"),
        ("        - mountPath: /cgroup/kubepods.slice\n", f"        - mountPath: {CGROUPS_SEEN}\n"),
        ("          path: /sys/fs/cgroup/kubepods.slice\n", f"          path: {{{{ {CGROUPS} }}}}\n"),
    ],
    "ServiceMonitor sluice-controller": [("  labels:\n", "  labels:\n" + MORE_LABELS)],
    "PrometheusRule sluice": [("  labels:\n", "  labels:\n" + MORE_LABELS)],
    "ConfigMap sluice-dashboard": [('    grafana_dashboard: "1"\n', DASHBOARD_LABELS)],
}


def version():
    return re.search(r"^set\(SLUICE_VERSION (.+)\)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def value_of(component):
    """without-mutating-policy: .Values.components.withoutMutatingPolicy"""
    if component == "postgres":
        return ".Values.postgres.enabled"
    first, *rest = component.split("-")
    return ".Values.components." + first + "".join(word.capitalize() for word in rest)


class Renderer:
    def __init__(self, kubectl, scratch):
        self.kubectl, self.scratch = kubectl, scratch

    def __call__(self, *components):
        """{"Kind name": its lines} of deploy/base with components, in the order of kustomize."""
        to = lambda path: os.path.relpath(path, self.scratch)
        (self.scratch / "kustomization.yaml").write_text(
            f"resources: [{to(DEPLOY / 'base')}]\ncomponents: [{', '.join(to(DEPLOY / 'components' / c) for c in components)}]\n")
        text = subprocess.run([self.kubectl, "kustomize", self.scratch], check=True, stdout=subprocess.PIPE, text=True).stdout
        found = {}
        for lines in text.rstrip("\n").split("\n---\n"):
            lines += "\n"
            kind = re.search(r"^kind: (.*)", lines, re.M)[1]
            name = re.search(r"^  name: (.*)", lines[lines.index("metadata:\n"):], re.M)[1]
            namespace = re.search(r"^  namespace: (.*)", lines, re.M)
            suffix = f" {namespace[1]}" if namespace and namespace[1] != NAMESPACE else ""
            assert f"{kind} {name}{suffix}" not in found
            found[f"{kind} {name}{suffix}"] = lines.splitlines(keepends=True)
        return found


def merge(base, variants):
    """The lines of base with those of each variant in an `if`: [(component, its lines)]."""
    added = {}    # before this line of base: [(condition, lines)]
    removed = {}  # this line of base: values of those that do without it
    for component, lines in variants:
        for what, i1, i2, j1, j2 in SequenceMatcher(None, base, lines, autojunk=False).get_opcodes():
            if what in ("delete", "replace"):
                for i in range(i1, i2):
                    removed.setdefault(i, []).append(value_of(component))
            if what in ("insert", "replace"):
                added.setdefault(i1, []).append((value_of(component), lines[j1:j2]))
    out, i = [], 0
    while i <= len(base):
        for value, lines in added.get(i, []):
            out += ["{{- if " + value + " }}\n", *lines, "{{- end }}\n"]
        values, first = removed.get(i, []), i
        i += 1
        while i < len(base) and values and removed.get(i) == values and i not in added:
            i += 1
        out += unless(values, base[first:i])
    return out


def unless(values, lines):
    if not values:
        return lines
    condition = values[0] if len(values) == 1 else f"(or {' '.join(values)})"
    return ["{{- if not " + condition + " }}\n", *lines, "{{- end }}\n"]


def escape(lines):
    """What would be read as a template is a text: two braces that open are printed. Two that close begin nothing."""
    return [line.replace("{{", '{{ "{{" }}') for line in lines]


def put_values(name, lines):
    text = "".join(lines).replace(NAMESPACE, "{{ .Release.Namespace }}")
    for line, value in VALUES.get(name, []):
        line = line.replace("VERSION", version())
        if text.count("\n" + line) != 1:
            sys.exit(f"chart.py: {name} has {text.count(line)} lines {line.strip()!r}, and one is a value of the chart")
        text = text.replace("\n" + line, "\n" + value)
    # Of the object, not of its pods: metadata may stand behind data.
    text, found = re.subn(r"^(metadata:\n(?:  .*\n|{{.*\n)*?  labels:\n)", lambda m: m[1] + LABELS, text, count=1, flags=re.M)
    if not found:
        sys.exit(f"chart.py: {name} has no labels; those of Helm go beside them")
    text = text.replace("runbook_url: docs/operate.md#", "runbook_url: {{ (.Values.monitoring).runbooks | default \"docs/operate.md\" }}#")
    if name.startswith("CustomResourceDefinition"):
        at = text.index("metadata:\n") + len("metadata:\n")
        if text[at:].startswith("  annotations:\n"):
            sys.exit(f"chart.py: {name} has annotations: put helm's among them")
        keep = "{{- if .Values.crds.keep }}\n  annotations:\n    helm.sh/resource-policy: keep\n{{- end }}\n"
        text = text[:at] + keep + text[at:]
    return text


def templates(render):
    """{"Kind name": text}"""
    components = sorted(p.name for p in (DEPLOY / "components").iterdir())
    base = render()
    variants = {c: render(c) for c in components}
    # Added by one, and taken out again by the remover.
    beside = {c: render(c, REMOVER) for c in components if c != REMOVER}
    made = {}
    for name, lines in base.items():
        if name.startswith("Namespace "):
            continue  # helm install --create-namespace
        changed = [(c, escape(v[name])) for c, v in variants.items() if name in v and v[name] != lines]
        gone = [value_of(c) for c, v in variants.items() if name not in v]
        made[name] = put_values(name, unless(gone, merge(escape(lines), changed)))
    for component, variant in variants.items():
        for name in variant.keys() - base.keys():
            assert name not in made, f"{name} is of two components"
            gone = [value_of(REMOVER)] if component != REMOVER and name not in beside[component] else []
            body = unless(gone, escape(variant[name]))
            made[name] = put_values(name, ["{{- if " + value_of(component) + " }}\n", *body, "{{- end }}\n"])
    return made


def main(kubectl, out):
    chart = Path(out) / "sluice"
    shutil.rmtree(chart, ignore_errors=True)
    shutil.copytree(DEPLOY / "chart", chart)
    about = chart / "Chart.yaml"
    about.write_text("".join(line.replace("VERSION", version()) for line in about.read_text().splitlines(keepends=True) if not line.startswith("#")))
    with tempfile.TemporaryDirectory() as scratch:
        made = templates(Renderer(kubectl, Path(scratch).resolve()))
    for name, text in made.items():
        kind, *rest = name.lower().split()
        (chart / "templates" / f"{kind}-{'-'.join(rest)}.yaml").write_text(text)
    print(f"{chart}: {len(made)} objects")


main(*sys.argv[1:])
