"""Whatever is written into an object, a flag or a file: a sentence that names it,
and everybody else goes on. Each test ends with somebody else's Job being started."""

import json
import re
import subprocess

import pytest
from conftest import BIN, LATER, readyz
from objects import HOLD, ORIGINAL, STORY, annotations, conditions, group, job, jobs_path, ours, path_of
from sandbox import ApiError, wait_until
from sandbox.process import tail

pytestmark = pytest.mark.sanitized


@pytest.fixture
def others(world):
    """A queue of somebody else in the same cluster; called at the end, it shows that it works."""
    world.queue("others", cpu=4)

    def go_on():
        world.job("somebody-elses", "others")
        world.started("somebody-elses")
    return go_on


# ---- Jobs --------------------------------------------------------------------------


@pytest.mark.parametrize("cpu", ["9E", "9223372036854775807", "1e18", "9P"])
def test_a_request_beyond_all_measure_waits_with_a_reason(world, others, cpu):
    world.queue(cpu=1)
    world.job("giant", requests={"cpu": cpu}, pods=1)
    said = world.waits("giant", "ExceedsMaxQuota", "Misconfigured", "NoNodeSuits")
    assert "cpu" in said["sentence"]
    others()


def test_requests_whose_sum_overflows_wait_with_a_reason(world, others):
    name = world.flavor("any")
    world.queue(groups=[group(["memory"], {name: ["8E"]})])
    containers = [{"name": f"c{i}", "image": "i", "resources": {"requests": {"memory": "7E"}}} for i in range(3)]
    world.job("sum", cpu=None, pods=1000, pod={"containers": containers})
    assert "memory" in world.waits("sum", "ExceedsMaxQuota", "Misconfigured", "NoNodeSuits")["sentence"]
    others()


def test_a_request_of_1e400_waits_with_a_reason(world, others):
    """The API server takes it for a Job, and keeps the text; no int64 does."""
    world.queue(cpu=1)
    world.job("huge", requests={"cpu": "1e400"})
    assert "cpu" in world.waits("huge", "ExceedsMaxQuota", "Misconfigured", "NoNodeSuits")["sentence"]
    others()


@pytest.mark.parametrize("cpu, milli", [("0.0001", 1), ("1e-3", 1), ("1E1", 10000), ("100000u", 100), ("1.5", 1500)])
def test_odd_but_right_quantities_are_exact(world, cpu, milli):
    world.queue(cpu=20)
    world.job("odd", requests={"cpu": cpu})
    world.started("odd")
    assert [list(h[3].values()) for h in world.holds("odd")] == [[milli]]


def test_a_job_with_500_containers_is_counted_and_started(world, others):
    world.queue(cpu=1)
    world.job("crowd", cpu=None, pod={"containers": [
        {"name": f"c{i}", "image": "i", "env": [{"name": "X", "value": "y" * 200}], "resources": {"requests": {"cpu": "2m"}}} for i in range(500)]})
    world.started("crowd")
    assert [list(h[3].values()) for h in world.holds("crowd")] == [[1000]]
    others()


def metrics(world):
    """The text is kept for a while."""
    return world.box.controller_api().raw("GET", "/metrics").decode()


def memory(text):
    """Of all queues and Jobs of this controller, also those of other tests."""
    return int(re.search(r"^sluice_queue_memory_bytes (\d+)$", text, re.M)[1])


def test_a_megabyte_of_node_affinity_is_refused_with_both_numbers_and_costs_nobody_else(world, others):
    """The API server takes 1.3 MB of it; in memory that were 6 MB for each such Job."""
    world.queue(cpu=1)
    before = memory(metrics(world))
    many = [{"key": "example.com/key", "operator": "In", "values": [f"value-{v}-of-{n}" for v in range(200)]} for n in range(50)]
    wide = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": many}] * 5}}}
    for i in range(4):
        made = job(f"wide-{i}", "q", {"cpu": "1"}, pod={"affinity": wide})
        # So much is a lot of work for the API server's policies, and it gives up after half a minute.
        world.wait(f"the API server to take {i} of them", lambda made=made: (world.api.ensure(jobs_path(world.ns), made), True)[1], LATER)
    for i in range(4):
        said = world.waits(f"wide-{i}", "Misconfigured")["sentence"]
        found = re.fullmatch(r"spec.template: what decides where its pods may run, and what they request, takes (\d+) bytes, and at most 131072 are kept "
                             r"of a Job; use fewer .*", said)
        assert found and int(found[1]) > 1_000_000, said
    old = metrics(world)
    new = world.wait("the metrics to be made anew", lambda: (lambda now: now if now != old else None)(metrics(world)))
    assert memory(new) - before < 1_000_000, "they are kept all the same"
    world.job("next", seconds=0)
    world.finished("next")
    others()


def test_an_annotation_of_5_mb_is_refused_by_the_api_server(world, others):
    with pytest.raises((ApiError, ConnectionError)):
        world.job("fat", annotations={"example.com/fat": "x" * 5_000_000})
    others()


def test_a_job_with_annotations_near_the_limit_is_started(world, others):
    world.queue(cpu=1)
    world.job("fat", annotations={"example.com/fat": "\u00e9<&>\"\\" * 25_000})  # 200 KB; 750 KB once escaped
    world.started("fat")
    others()


def test_a_job_whose_annotations_leave_no_room_for_the_story_waits_and_hurts_nobody(world, others):
    world.queue(cpu=1)
    stamp = len("sluice.dev/submitted-by") + 40  # the API server adds who submitted, where it fits
    world.job("full", annotations={"example.com/fat": "x" * (262_144 - len("example.com/fat") - stamp)})
    world.wait("the start to be called off", lambda: "VOID" in world.transfers("full"), LATER)
    assert world.get("full")["spec"]["suspend"]
    world.job("next", seconds=0)
    world.finished("next")
    others()


def test_a_hold_of_200_kb_is_a_hold(world, others):
    world.queue(cpu=1)
    world.job("held", annotations={HOLD: "because " * 25_000})
    world.waits("held", "OnHold")
    others()


ODD_BYTES = {"controls": "a\x01b\x1f\x7fc", "lines": "one\ntwo\r\n\tthree", "separators": "a\u2028b\u2029c", "wide": "\U0001f512\u202etluav",
             "quotes": "\"'\\</script>&amp;{}[]", "replacement": "\ufffd\ufeff", "looks like JSON": '{"attempt":99,"state":"Started"}'}


@pytest.mark.parametrize("what", ODD_BYTES)
def test_odd_bytes_in_annotations_break_nothing(world, others, what):
    """On the Job, in its hold, and on its pods: started, stopped and started again."""
    text = ODD_BYTES[what]
    world.queue(cpu=1)
    world.job("odd", annotations={"example.com/odd": text}, pod_annotations={"example.com/odd": text})
    world.started("odd")
    world.patch("odd", {"metadata": {"annotations": {HOLD: text}}})
    world.stopped("odd")
    world.waits("odd", "OnHold")
    world.patch("odd", {"metadata": {"annotations": {HOLD: None}}})
    obj = world.started("odd")
    assert annotations(obj)["example.com/odd"] == text
    others()


def test_a_nul_in_free_text_stops_nobody(world, others):
    """The API server takes it wherever a text is free; cJSON ends a string there."""
    nul = {"annotations": {"a": "\0", "b": "x\0\\u0000\0"}}
    core, policy = f"/api/v1/namespaces/{world.ns}", f"/apis/policy/v1/namespaces/{world.ns}"
    world.queue(cpu=4)
    world.api.patch(path_of("localqueues", "q", world.ns), {"metadata": nul})
    world.api.post(f"{core}/limitranges", {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "nul", **nul}, "spec": {
        "limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]}})
    world.api.post(f"{core}/resourcequotas", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "nul", **nul},
                                              "spec": {"hard": {"pods": "100"}}})
    world.api.post(f"{policy}/poddisruptionbudgets", {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "nul", **nul},
                                                      "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"a": "b"}}}})
    free = {"args": ["\0"], "env": [{"name": "FREE", "value": "\0"}]}
    world.job("nul", annotations=nul["annotations"], pod_annotations=nul["annotations"], container=free)
    world.started("nul")
    world.job("next", seconds=0)
    world.finished("next")
    world.patch("nul", {"metadata": {"annotations": {HOLD: "a\0b"}}})
    world.stopped("nul")
    world.patch("nul", {"metadata": {"annotations": {HOLD: None}}})
    obj = world.started("nul")
    assert annotations(obj)["b"] == nul["annotations"]["b"]
    assert obj["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] == "\0"
    world.delete("nul")
    world.wait("its quota to be given back", lambda: not world.holds("nul"), LATER)
    others()
    world.restart()  # it is in the lists, too

    def all_is_well():
        status, text = readyz(world.box)
        return status == 200 and text.startswith("leading") and "follow" not in text
    world.wait("it to lead and to follow all", all_is_well)
    world.job("last", seconds=0)
    world.finished("last")


def test_a_nul_in_our_own_annotations_harms_that_job_alone(world, others):
    world.queue(cpu=1)
    for name, key in (("waiting", "sluice.dev/waiting"), ("story", STORY), ("directives", ORIGINAL)):
        try:
            world.job(name, annotations={key: "\0"}, cpu="100m")
        except ApiError as e:
            assert e.status in (403, 422)  # the policy knows better
    others()


def test_odd_bytes_in_directives_come_back_as_they_were(world):
    """What is tested and written back in the PATCH is what the server had, escapes and all."""
    spot = world.flavor("spot", "spot")
    world.queue(flavors={spot: 1})
    mine = {"key": "example.com/Mine_1.x", "operator": "Equal", "value": "A-b_C.9", "effect": "NoExecute", "tolerationSeconds": 0}
    world.job("a", pod={"tolerations": [mine]})
    assert mine in world.started("a")["spec"]["template"]["spec"]["tolerations"]


def test_bytes_that_are_not_utf8_break_nothing(world, others):
    """The API server takes such JSON, putting U+FFFD in their place, or refuses it."""
    world.queue(cpu=1)
    body = json.dumps(job("bytes", "q", {"cpu": "1"}, annotations={"example.com/odd": "@@"})).encode().replace(b"@@", b"\xff\xfe\xc3(")
    try:
        world.api.raw("POST", jobs_path(world.ns), body)
    except ApiError as e:
        assert e.status == 400
    else:
        world.started("bytes")
    others()


@pytest.mark.parametrize("key, value", [("sluice.dev/expected-duration", "soon"), ("sluice.dev/expected-duration", "-1"),
                                        ("sluice.dev/deadline", "yesterday"), ("sluice.dev/start", "Never"), ("sluice.dev/max-price", "free")])
def test_an_annotation_that_means_nothing_is_named_or_ignored_but_never_fatal(world, others, key, value):
    world.queue(cpu=1)
    world.job("odd", annotations={key: value})
    world.wait("the Job to start or to be told why not", lambda: not world.get("odd")["spec"]["suspend"] or (
        world.explain("odd")["reason"] == "Misconfigured" and key in world.explain("odd")["sentence"]))
    others()


def test_an_unknown_priority_class_is_told(world, others):
    world.queue(cpu=1)
    world.job("a", labels={"sluice.dev/priority-class": "no-such-class"})
    world.wait("the Job to start or to be told why not", lambda: not world.get("a")["spec"]["suspend"] or
               "no-such-class" in world.explain("a")["sentence"])
    others()


# ---- queues ----------------------------------------------------------------------------


def active(world, name="q"):
    return conditions(world.clusterqueue(name)).get("Active", {})


def test_a_queue_of_an_unknown_flavor_says_so_and_works_once_it_is_there(world, others):
    name = world.full("missing")
    world.queue(groups=[group(["cpu"], {name: [1]})], wait=False)
    world.wait("the condition to say so", lambda: active(world).get("reason") == "FlavorNotFound")
    said = active(world)
    assert said["status"] == "False" and name in said["message"]
    world.job("j")
    world.waits("j")
    world.create("resourceflavors", ours("ResourceFlavor", name, {}))
    world.wait("the condition to be lifted", lambda: active(world).get("status") == "True")
    world.started("j")
    others()


def test_a_flavor_that_disappears_under_a_running_job_evicts_nobody(world, others):
    name = world.flavor("fleeting")
    world.queue(flavors={name: 2})
    world.job("runs")
    world.started("runs")
    world.api.force_away(path_of("resourceflavors", name))
    world.wait("the condition to say so", lambda: active(world).get("reason") == "FlavorNotFound")
    world.job("waits")
    world.waits("waits")
    assert not world.get("runs")["spec"]["suspend"]
    world.create("resourceflavors", ours("ResourceFlavor", name, {}))
    world.started("waits")
    others()


# What the CRD lets through and the controller cannot take. The first few sums of quotas that no int64 holds.
INVALID_SPECS = {
    "memory beyond 2^63": [group(["memory"], {"any": ["9223372036854775808"]})],
    "cpu in nano beyond": [group(["cpu"], {"any": ["9223372036854775807"]})],
    "9.3E of memory": [group(["memory"], {"any": ["9300P"]})],
}


@pytest.mark.parametrize("what", INVALID_SPECS)
def test_a_queue_whose_spec_turns_invalid_works_on_by_its_last_valid_one(world, others, what):
    world.queue(cpu=1)
    groups = json.loads(json.dumps(INVALID_SPECS[what]).replace('"any"', f'"{world.full("any-q")}"'))
    try:
        world.edit_queue(resourceGroups=groups)
    except ApiError as e:
        assert e.status == 422 and "nominalQuota" in e.message  # the API server was faster
        others()
        return
    world.wait("the condition to name the field", lambda: "nominalQuota" in active(world).get("message", ""))
    assert active(world)["observedGeneration"]
    world.job("j")
    world.started("j")
    world.job("k")
    world.waits("k", "WaitingForQuota")
    world.edit_queue(resourceGroups=[group(["cpu"], {world.full("any-q"): [2]})])
    world.started("k")
    others()


# ---- flags, files, addresses --------------------------------------------------------------

BAD_FLAGS = {
    "unknown": (["--frobnicate"], "--frobnicate"),
    "without its value": (["--database"], "--database wants a value"),
    "one dash": (["-x"], "-x is not a flag"),
    "a word": (["start"], '"start" is not understood'),
    "cell": (["--cell", "A B"], "--cell"),
    "listen": (["--listen", "somewhere"], "ADDRESS:PORT"),
    "listen, a port too high": (["--listen", "127.0.0.1:70000"], "ADDRESS:PORT"),
    "lease": (["--lease-seconds", "1"], "from 3 to 300"),
    "log format": (["--log-format", "xml"], "text or json"),
    "log level": (["--log-level", "loud"], "error, warn, info or debug"),
    "writes": (["--max-writes", "0"], "from 1 to 1000"),
    "empty kubeconfig": (["--kubeconfig", ""], "--kubeconfig is empty"),
}


@pytest.mark.parametrize("what", BAD_FLAGS)
def test_a_wrong_flag_of_the_controller_ends_it_with_a_sentence_and_code_2(program, what):
    args, words = BAD_FLAGS[what]
    done = program("sluice-controller", *args)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout


@pytest.mark.parametrize("name", ["sluice-controller", "sluice"])
def test_help_and_version_are_answered_with_code_0(program, name):
    said = program(name, "--help")
    assert said.returncode == 0 and "SYNOPSIS" in said.stdout and "EXIT STATUS" in said.stdout
    version = program(name, "version" if name == "sluice" else "--version")
    assert version.returncode == 0 and re.match(name + r" \S+\n$", version.stdout)


KUBECONFIGS = {
    "no such file": None,
    "not YAML": "{[",
    "empty": "",
    "no current context": "apiVersion: v1\nkind: Config\n",
    "a list": "- a\n- b\n",
    "a context that is not there": "apiVersion: v1\nkind: Config\ncurrent-context: nowhere\n",
}


@pytest.mark.parametrize("what", KUBECONFIGS)
def test_a_wrong_kubeconfig_ends_the_controller_with_a_sentence_and_code_1(program, tmp_path, what):
    file = tmp_path / "kubeconfig"
    if KUBECONFIGS[what] is not None:
        file.write_text(KUBECONFIGS[what])
    done = program("sluice-controller", "--kubeconfig", file, "--database", "dbname=none", "--listen", "127.0.0.1:0")
    assert done.returncode == 1, done.stderr
    assert "kubeconfig" in done.stderr
    assert "runtime error" not in done.stderr and "Sanitizer" not in done.stderr


def own_kubeconfig(box):
    """What the real controller runs with."""
    return box.state / "controller.kubeconfig"


def kubeconfig(box, path, **changes):
    """The same with lines changed."""
    text = own_kubeconfig(box).read_text()
    for old, new in changes.items():
        text = re.sub(rf"(?m)^( *){old.replace('_', '-')}: .*$", lambda m, n=new: m.group(1) + n, text)
    path.write_text(text)
    return path


def test_an_unverified_api_server_is_refused(program, box, tmp_path):
    """insecure-skip-tls-verify would hand the token to whoever answers."""
    file = kubeconfig(box, tmp_path / "k", certificate_authority="insecure-skip-tls-verify: true")
    done = program("sluice-controller", "--kubeconfig", file, "--database", box.database, "--listen", "127.0.0.1:0")
    assert done.returncode == 1, done.stderr
    assert "insecure-skip-tls-verify" in done.stderr


def test_a_wrong_connection_string_ends_the_controller_without_showing_it(program, box):
    done = program("sluice-controller", "--kubeconfig", own_kubeconfig(box), "--database", "host=db frobnicate=1 password=hunter2",
                   "--listen", "127.0.0.1:0")
    assert done.returncode == 1, done.stderr
    assert "--database" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout


def test_an_address_that_is_taken_ends_the_controller_with_a_sentence(program, box):
    host, port = box.controller_url().removeprefix("http://").split(":")
    done = program("sluice-controller", "--kubeconfig", own_kubeconfig(box), "--database", box.database, "--listen", f"{host}:{port}")
    assert done.returncode == 1, done.stderr
    assert host in done.stderr and port in done.stderr and "--listen" in done.stderr


class Stranger:
    """A controller with something wrong, beside the real one; gone at the end."""

    def __init__(self, box, name, *args, env=None):
        self.box, self.proc = box, box.process(f"controller-{name}")
        self.proc.start([BIN / "sluice-controller", *args, "--identity", name, "--lease-seconds", "3"], env={"SLUICE_SANDBOX_URL": "", **(env or {})})

    def log(self):
        return self.proc.log.read_text(errors="replace")

    def says(self, what, pattern):
        wait_until(f"the log to say {what}", lambda: re.search(pattern, self.log()), LATER, self.proc)
        return self.log()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.stop()
        self.proc.record_file.unlink(missing_ok=True)
        self.proc.log.rename(self.proc.log.with_suffix(".old"))


def shows_no_secret(text):
    """Neither our password nor anything that begins as a token does."""
    assert not re.search(r"hunter2|eyJ[\w-]{8,}", text)


def test_a_database_that_is_not_there_is_named_in_the_log_and_tried_again(box, tmp_path):
    config = own_kubeconfig(box)
    database = f"host={tmp_path} dbname=sluice user=sluice password=hunter2"
    with Stranger(box, "nodb", "--kubeconfig", config, "--database", database, "--listen", "127.0.0.1:0", "--log-level", "debug") as s:
        log = s.says("that the ledger is away", r"(?i)ledger.*(connect|No such file)")
        shows_no_secret(log)


def test_a_database_that_does_not_exist_is_named_in_the_log(box):
    config = own_kubeconfig(box)
    database = f"host={box.socket_dir} dbname=nowhere user=sluice password=hunter2"
    with Stranger(box, "baddb", "--kubeconfig", config, "--database", database, "--listen", "127.0.0.1:0", "--log-level", "debug") as s:
        shows_no_secret(s.says("which database is missing", r'nowhere\\?" does not exist'))


def test_an_api_server_that_is_not_there_is_named_in_the_log_and_tried_again(box, tmp_path):
    file = kubeconfig(box, tmp_path / "k", server="server: https://127.0.0.1:1")
    with Stranger(box, "noapi", "--kubeconfig", file, "--database", box.database, "--listen", "127.0.0.1:0", "--log-level", "debug") as s:
        shows_no_secret(s.says("that nobody answers", r"(?i)127\.0\.0\.1:1\b|could not connect|connection refused"))


def test_an_api_server_with_a_strange_certificate_is_not_talked_to(box, tmp_path):
    ca = tmp_path / "ca.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "ca.key", "-out", ca,
                    "-subj", "/CN=stranger", "-days", "2"], check=True, capture_output=True)
    file = kubeconfig(box, tmp_path / "k", certificate_authority=f"certificate-authority: {ca}")
    with Stranger(box, "badca", "--kubeconfig", file, "--database", box.database, "--listen", "127.0.0.1:0", "--log-level", "debug") as s:
        shows_no_secret(s.says("that the certificate is not trusted", r"(?i)certificate|TLS|SSL"))


def test_a_token_that_is_refused_is_told_without_showing_it(box, tmp_path):
    token = tmp_path / "token"
    token.write_text("eyJhbGciOi.hunter2.hunter2")
    file = kubeconfig(box, tmp_path / "k", tokenFile=f"tokenFile: {token}")
    with Stranger(box, "badtoken", "--kubeconfig", file, "--database", box.database, "--listen", "127.0.0.1:0", "--log-level", "debug") as s:
        shows_no_secret(s.says("401", r"(?i)401|unauthorized"))


def test_the_log_of_the_real_controller_shows_no_secret_and_no_fault_of_memory(box):
    log = box.process("controller-one").log.read_text(errors="replace")
    shows_no_secret(log)
    for fault in ("AddressSanitizer", "runtime error:", "LeakSanitizer"):
        assert fault not in log, tail(box.process("controller-one").log, 60)


def test_every_line_of_a_json_log_is_json(box, tmp_path):
    """Of one without a ledger: it could lead, should the real one be late by three seconds."""
    config = own_kubeconfig(box)
    with Stranger(box, "json", "--kubeconfig", config, "--database", f"host={tmp_path} dbname=sluice", "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "debug") as s:
        s.says("anything about the lease or lists", r"(?i)lease|list|standby|stand")
        whole_lines = s.log().rpartition("\n")[0].splitlines()  # the last one may be half written
        assert whole_lines and all(isinstance(json.loads(line), dict) for line in whole_lines)
