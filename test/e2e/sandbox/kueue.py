"""A real Kueue on the sandbox's control plane: for those who move from it, and for the race against it.

`Kueue(box).up()` installs and starts it. CRDs, rights and webhooks are those of Kueue's own `config/default`, which ./dev renders into
build/tools/kueue.yaml; its manager is a process of this machine, with the rights of Kueue's ServiceAccount. What differs from a
Kueue in a cluster:

- The API server reaches the webhooks at 127.0.0.1, by a url in the place of a Service.
- The certificate is ours, and lies where Kueue's certificate manager looks for it. Kueue itself writes it into its webhooks.
- Of the webhooks there are those of Jobs and of Kueue's own kinds, for `batch/job` is its one integration.
- There is no visibility server, for which the API server would have to aggregate, and no limit of memory and processor.

While it does not run, the API server refuses every new Job, also those of nobody's queue, as in a cluster. So it
wants a sandbox of its own."""

import base64
import json

from . import certs
from .kube import Api
from .process import wait_until
from .sandbox import BUILD

NAMESPACE, ACCOUNT = "kueue-system", "kueue-controller-manager"
GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
QUEUE = f"{GROUP}/queue-name"
COMPONENT = "kueue"
SECRET = "kueue-webhook-server-cert"
KINDS = ("Namespace", "ServiceAccount", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
         "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")  # its Deployment and Services are what this file is instead

# As Kueue ships it (config/components/manager/controller_manager_config.yaml).
SHIPPED = {
    "clientConnection": {"qps": 50, "burst": 100},
    "controller": {"groupKindConcurrency": {"Job.batch": 5, "Workload.kueue.x-k8s.io": 5, "LocalQueue.kueue.x-k8s.io": 1,
                                            "Cohort.kueue.x-k8s.io": 1, "ClusterQueue.kueue.x-k8s.io": 1, "ResourceFlavor.kueue.x-k8s.io": 1}},
}


def is_built():
    """./dev does it where its tests are named, and for the race."""
    return (BUILD / "tools" / "kueue").exists() and (BUILD / "tools" / "kueue.yaml").exists()


class Kueue:
    def __init__(self, box, settings=None):
        """settings: of Kueue's configuration file, in the place of those that it ships with."""
        self.box, self.process, self.certs = box, box.process(COMPONENT), box.pki / "kueue"
        self.settings = SHIPPED if settings is None else settings
        self.webhook_port, self.health_port = box.free_ports(2)

    def up(self):
        """Until it queues Jobs."""
        self.process.stop()  # one of an earlier day has other ports
        certs.make_for_kueue(self.certs)
        self._install()
        self._start()
        self.wait_ready()
        self.box.kueue = self

    def wait_ready(self):
        health = Api(port=self.health_port, timeout=20)
        wait_until("Kueue to be ready", lambda: health.raw("GET", "/readyz"), process=self.process)
        wait_until("Kueue to suspend a queued Job", self._suspends, process=self.process)

    def kill(self):
        """kill -9; returns once it is gone."""
        self.box.kill(COMPONENT)

    def start(self):
        """Once more, as it was."""
        self.process.start()

    # -- how it is made ----------------------------------------------------

    def _install(self):
        objects = [o for o in self._rendered() if o["kind"] in KINDS]
        secret = {n: base64.b64encode((self.certs / n).read_bytes()).decode() for n in ("ca.crt", "ca.key", "tls.crt", "tls.key")}
        objects.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": NAMESPACE}, "data": secret})
        for obj in objects:
            self._point_here(obj)
        self.box.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                         input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def _rendered(self):
        """The objects of build/tools/kueue.yaml, which kubectl reads for us."""
        text = self.box.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", self.box.tool("kueue.yaml")).stdout
        decoder, at, objects = json.JSONDecoder(), 0, []
        while at < len(text):
            obj, at = decoder.raw_decode(text, at)
            objects += obj["items"] if obj["kind"] == "List" else [obj]
            while at < len(text) and text[at].isspace():
                at += 1
        return objects

    def _point_here(self, obj):
        if obj["kind"].endswith("WebhookConfiguration"):
            obj["webhooks"] = [w for w in obj["webhooks"] if all(g in (GROUP, "batch") for r in w["rules"] for g in r["apiGroups"])]
            for webhook in obj["webhooks"]:
                self._reach(webhook["clientConfig"])
        if obj["kind"] == "CustomResourceDefinition" and "webhook" in obj["spec"].get("conversion", {}):
            self._reach(obj["spec"]["conversion"]["webhook"]["clientConfig"])

    def _reach(self, config):
        config["url"] = f"https://127.0.0.1:{self.webhook_port}{config.pop('service')['path']}"

    def _start(self):
        self.box.say("starting Kueue")
        config = self.box.state / "kueue.json"
        config.write_text(json.dumps({
            "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "namespace": NAMESPACE,
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.health_port}"}, "metrics": {"bindAddress": "0"},
            "webhook": {"host": "127.0.0.1", "port": self.webhook_port, "certDir": str(self.certs)},
            "internalCertManagement": {"enable": True}, "leaderElection": {"leaderElect": False},
            "integrations": {"frameworks": ["batch/job"]}, **self.settings,
            "featureGates": {"VisibilityOnDemand": False, **self.settings.get("featureGates", {})}}))
        self.process.start([self.box.tool("kueue"), f"--config={config}", "--zap-log-level=info"],
                           env={"KUBECONFIG": str(self.box.account_kubeconfig(COMPONENT, NAMESPACE, ACCOUNT))})

    def _suspends(self):
        """Its webhook stands in the way of a Job; a dry run of one. Its CA may not have reached the API server yet."""
        pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "kueue-probe", "labels": {QUEUE: "probe"}},
               "spec": {"template": {"spec": pod}}}
        return self.box.api.post("/apis/batch/v1/namespaces/default/jobs?dryRun=All", job)["spec"].get("suspend")
