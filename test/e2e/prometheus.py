"""A real Prometheus and its promtool, and what deploy/monitoring has for them.

`./dev test` unpacks Debian's package in build/tools; one that is installed will do as well."""

import json
import shutil
import subprocess
from urllib.parse import urlencode

from conftest import SOON
from sandbox import Api, wait_until
from sandbox.sandbox import BUILD, ROOT

MONITORING = ROOT / "deploy" / "monitoring"
KUBECTL = shutil.which("kubectl") or BUILD / "tools" / "kubectl"
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())


def tool(name):
    """prometheus or promtool; None: there is none."""
    built = BUILD / "tools" / name
    return built if built.exists() else shutil.which(name)


def promtool(*args, **kw):
    return subprocess.run([tool("promtool"), *map(str, args)], capture_output=True, text=True, **kw)


def objects(manifests):
    """The objects of a text of YAML. kubectl reads it, without a cluster: there is no YAML in Python's own library."""
    done = subprocess.run([KUBECTL, "annotate", "--local", "-f", "-", "-o", "json", "none-"], input=manifests, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    decoder, found, text = json.JSONDecoder(), [], done.stdout.lstrip()
    while text:
        obj, end = decoder.raw_decode(text)
        found.append(obj)
        text = text[end:].lstrip()
    return found


def rule_groups():
    """What is below spec of the PrometheusRule: a rule file."""
    (rule,) = objects((MONITORING / "alerts.yaml").read_text())
    assert rule["kind"] == "PrometheusRule"
    return rule["spec"]


def panels(of=None):
    """All panels of the dashboard that have queries."""
    for panel in of or DASHBOARD["panels"]:
        if panel.get("targets"):
            yield panel
        yield from panels(panel["panels"]) if panel.get("panels") else ()


class Prometheus:
    """The server, with its storage and its log in a folder. It scrapes and evaluates every other second, which is also how long an
    answer may take."""

    def __init__(self, box, folder, scrape_configs):
        self.box, self.folder = box, folder
        (self.port,) = box.free_ports(1)
        self.api = Api(port=self.port)
        (folder / "alerts.json").write_text(json.dumps(rule_groups()))
        config = {"global": {"scrape_interval": "2s", "evaluation_interval": "2s"}, "rule_files": [str(folder / "alerts.json")],
                  "scrape_configs": scrape_configs}
        self.config = folder / "prometheus.json"
        self.config.write_text(json.dumps(config))
        self.process = box.process("prometheus")

    def start(self):
        self.process.start([tool("prometheus"), f"--config.file={self.config}", f"--storage.tsdb.path={self.folder / 'data'}",
                            f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"])
        wait_until("Prometheus to be ready", lambda: self.api.raw("GET", "/-/ready"), SOON, self.process)

    def ask(self, path, **query):
        """The data of an answer."""
        answer = self.api.get(f"/api/v1/{path}?{urlencode(query)}")
        assert answer["status"] == "success", answer
        return answer["data"]

    def target(self, job):
        return next((t for t in self.ask("targets")["activeTargets"] if t["labels"]["job"] == job), {})

    def now(self, expr):
        """[(labels, value)] of a query at this moment."""
        return [(r["metric"], float(r["value"][1])) for r in self.ask("query", query=expr)["result"]]

    def series(self, expr, since, until):
        """[labels] of what a query returns at any moment of that time, as a graph has it."""
        return [r["metric"] for r in self.ask("query_range", query=expr, start=since, end=until, step=1)["result"]]
