"""The CRDs refuse what is wrong in a sentence, and take what is right.

Two tables: an object, and the words that its refusal must hold. All of it asked
of the API server with dryRun, so nothing is left behind. `Strict` as kubectl
does: a field that does not exist is an error, not a silent nothing."""

import pytest
from objects import clusterqueue, group, ours, path_of
from sandbox import ApiError
from sandbox.sandbox import ROOT

EXAMPLES = sorted((ROOT / "api" / "crds").glob("*.example.yaml"))
PLURAL = {"ClusterQueue": "clusterqueues", "LocalQueue": "localqueues", "ResourceFlavor": "resourceflavors",
          "Cohort": "cohorts", "WorkloadPriorityClass": "workloadpriorityclasses",
          "Calendar": "calendars"}


def dry_run(api, obj, ns="default"):
    where = path_of(PLURAL[obj["kind"]], ns=ns if obj["kind"] == "LocalQueue" else None)
    return api.post(where + "?dryRun=All&fieldValidation=Strict", obj)


def quota(amount, cohort="c", **limits):
    """A ClusterQueue with one quota of cpu."""
    spec = {"cohortName": cohort} if cohort else {}
    return clusterqueue("t", [group(["cpu"], {"spot": [{"nominalQuota": amount, **limits}]})], **spec)


def queue(*groups, **spec):
    return clusterqueue("t", list(groups), **spec)


def flavor(**spec):
    return ours("ResourceFlavor", "t", spec)


def toleration(**t):
    return flavor(tolerations=[t])


def calendar(*windows, exceptions=(), zone="UTC"):
    return ours("Calendar", "t", {"timeZone": zone, "open": [{"name": f"w{i}", **w} for i, w in enumerate(windows)],
                                  "except": [{"name": f"x{i}", **x} for i, x in enumerate(exceptions)]})


def on_days(start, end, days=("Mon",)):
    return calendar({"days": list(days), "from": start, "to": end})


def on(*dates, treat_as="Closed"):
    return calendar(exceptions=[{"dates": list(dates), "treatAs": treat_as}])


def many_groups(n, flavors=1):
    return queue(*(group([f"r{g}"], {f"f{g}-{i}": [1] for i in range(flavors)}) for g in range(n)))


def widest():
    """As large as the bounds allow: 8 groups, each 16 resources in 32 flavors."""
    groups = []
    for g in range(8):
        covered = [f"x.io/g{g}-{i}" for i in range(16)]
        one = {"nominalQuota": "1000000000000000000", "borrowingLimit": "12345678901234567", "lendingLimit": "999999999999m"}
        groups.append(group(covered, {f"f{g}-{i}": [one] * 16 for i in range(32)}))
    return queue(*groups, cohortName="c")


NOT_AN_AMOUNT = "must be an amount from 0 to 9E, written as Kubernetes writes quantities"
ORDER = "must list exactly the names in coveredResources, in the same order"

GOOD = {
    "quota is a number": quota(4),
    "quota is in thousandths": quota("500m"),
    "quota has an exponent": quota("1e3"),
    "quota is 0": quota(0),
    "quota has a fraction": quota("1.5"),
    "quota of cpu is the largest": quota("9P"),
    "lends all it has": quota("1", lendingLimit="1000m"),
    "lends less, in other units": quota("1Ki", lendingLimit=1024),
    "spec is empty": ours("ClusterQueue", "t", {}),
    "as wide as it may be": widest(),
    "preference with a choice to make": queue(flavorFungibility={"preference": "PreemptionOverBorrowing", "whenCanBorrow": "TryNextFlavor"}),
    "weight is a fraction": queue(fairSharing={"weight": "0.5"}),
    "backfill, and a longest run": queue(queueingStrategy="Backfill", defaultMaxRunSeconds=3600),
    "a Cohort lends what its members bring": ours("Cohort", "t", {"parentName": "p", "resourceGroups": [
        group(["cpu"], {"spot": [{"nominalQuota": 0, "lendingLimit": 4}]})]}),
    "weight is 0": queue(fairSharing={"weight": 0}),
    "flavor tied to no node": flavor(),
    "flavor tolerates a taint for a while": toleration(key="k", operator="Exists", effect="NoExecute", tolerationSeconds=3),
    "LocalQueue": ours("LocalQueue", "a" * 63, {"clusterQueue": "x"}),
    "a night": on_days("19:00", "07:00", ["Mon-Thu", "sat"]),
    "a whole day": on_days("00:00", "24:00"),
    "a weekend": calendar({"from": "Fri 19:00", "to": "Mon 07:00"}),
    "a whole week": calendar({"from": "Mon 00:00", "to": "Sun 24:00"}),
    "a schedule": calendar({"cron": "0 18 28-31 * *", "duration": "1h30m"}),
    "once": calendar({"at": {"from": "2026-09-12T08:00", "to": "2026-09-13T24:00"}}),
    "64 windows, and 4096 dates": calendar(*[{"days": ["Mon"], "from": "01:00", "to": "02:00"}] * 64, exceptions=[
        {"dates": ["2026-12-24..2026-12-26"] * 64, "treatAs": "Sun"}] * 64),
    "dates from a ConfigMap": calendar(exceptions=[{"datesFrom": {"configMap": "holidays-de", "key": "dates"}, "treatAs": "Sunday"}]),
    "a Calendar of nothing": ours("Calendar", "t", {"timeZone": "UTC"}),
    "priority is negative": ours("WorkloadPriorityClass", "t", value=-5),
}

BAD = {
    # amounts
    "quota of cpu beyond what thousandths hold": (quota("10P"), "nominalQuota of cpu must be at most 9P"),
    "quota of cpu beyond, as a number": (quota(10**16), "nominalQuota of cpu must be at most 9P"),
    "quota 1e400": (quota("1e400"), NOT_AN_AMOUNT),
    "quota 1e2000000000": (quota("1e2000000000"), NOT_AN_AMOUNT),
    "quota 1e-500": (quota("1e-500"), NOT_AN_AMOUNT),
    "quota 10E": (quota("10E"), NOT_AN_AMOUNT),
    "quota is negative": (quota(-1), NOT_AN_AMOUNT),
    "quota is negative text": (quota("-1"), NOT_AN_AMOUNT),
    "quota is a word": (quota("lots"), NOT_AN_AMOUNT),
    "quota has words behind it": (quota("4 cores"), NOT_AN_AMOUNT),
    "quota is empty": (quota(""), NOT_AN_AMOUNT),
    "quota is a JSON fraction": (quota(1.5), "nominalQuota"),
    "quota has thirty digits": (quota("1" * 30), "nominalQuota"),
    "quota is missing": (queue({"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [{"name": "cpu"}]}]}), "nominalQuota: Required value"),
    "lending limit 1e2000000000": (quota("1", lendingLimit="1e2000000000"), "lendingLimit " + NOT_AN_AMOUNT),
    "lends more than it has": (quota(1, lendingLimit="1001m"), "a ClusterQueue cannot lend more than it owns"),
    "borrows from nobody": (quota(1, cohort=None, borrowingLimit=1), "without a cohort there is nobody to borrow from"),
    "lends to nobody": (quota(1, cohort=None, lendingLimit=1), "without a cohort there is nobody to lend to"),
    # groups
    "quotas in another order": (queue({"coveredResources": ["cpu", "memory"], "flavors": [{"name": "a", "resources": [
        {"name": "memory", "nominalQuota": 1}, {"name": "cpu", "nominalQuota": 1}]}]}), ORDER),
    "a quota too few": (queue({"coveredResources": ["cpu", "memory"], "flavors": [{"name": "a", "resources": [
        {"name": "cpu", "nominalQuota": 1}]}]}), ORDER),
    "a resource twice in a group": (queue(group(["cpu", "cpu"], {"a": [1, 1]})), "Duplicate value"),
    "a resource in two groups": (queue(group(["cpu"], {"a": [1]}), group(["cpu"], {"b": [1]})), "a resource may be covered by one resource group only"),
    "a flavor in two groups": (queue(group(["cpu"], {"a": [1]}), group(["memory"], {"a": [1]})), "a flavor may be listed in one resource group only"),
    "a flavor twice in a group": (queue({"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [{"name": "cpu", "nominalQuota": 1}]}] * 2}), "Duplicate value"),
    "no flavor": (queue(group(["cpu"], {})), "should have at least 1 items"),
    "17 groups": (many_groups(17), "must have at most 16 items"),
    "320 flavors": (many_groups(5, flavors=64), "may list at most 256 flavors"),
    "600 quotas in a group": (queue(group([f"r{i}" for i in range(20)], {f"f{j}": [1] * 20 for j in range(30)})), "may hold at most 512 quotas"),
    "a flavor that cannot exist": (queue(group(["cpu"], {"Spot_1": [1]})), "must be the name of a ResourceFlavor"),
    "a resource that cannot exist": (queue(group(["my cpu"], {"a": [1]})), "must be a resource name"),
    # the rest of a ClusterQueue
    "a cohort that cannot exist": (queue(cohortName="A B"), "must be the name of a Cohort"),
    "an unknown strategy": (queue(queueingStrategy="LIFO"), 'supported values: "BestEffortFIFO", "StrictFIFO"'),
    "an unknown stop policy": (queue(stopPolicy="Stop"), 'supported values: "None", "Hold", "HoldAndDrain"'),
    "a field that does not exist": (queue(cohort="x"), 'unknown field "spec.cohort"'),
    "borrows by stopping others, but may not reclaim": (queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}), "needs reclaimWithinCohort"),
    "preference without a choice": (queue(flavorFungibility={"preference": "PreemptionOverBorrowing"}), "preference has a choice to make only when"),
    "In without values": (queue(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}), "In and NotIn need at least one value"),
    "weight is negative": (queue(fairSharing={"weight": -1}), "weight must be 0 or a number greater than"),
    "weight is next to nothing": (queue(fairSharing={"weight": "1n"}), "weight must be 0 or a number greater than"),
    # other kinds
    "Calendar without a zone": (ours("Calendar", "t", {"open": []}), "spec.timeZone: Required value"),
    "Calendar with an empty zone": (calendar(zone=""), "spec.timeZone"),
    "zone that leads elsewhere": (calendar(zone="../etc/localtime"), "timeZone must be an IANA name"),
    "window of no time": (on_days("19:00", "19:00"), "which could mean no time at all or all of it"),
    "week of no time": (calendar({"from": "Fri 19:00", "to": "Fri 19:00"}), "which could mean no time at all or all of it"),
    "window from 24:00": (on_days("24:00", "07:00"), "from must be a time of day from 00:00 to 23:59"),
    "window to 25:00": (on_days("19:00", "25:00"), "to must be a time of day from 00:00 to 24:00"),
    "window at seven": (on_days("7:00", "19:00"), "from must be a time of day"),
    "window on no weekday": (on_days("19:00", "07:00", []), "should have at least 1 items"),
    "window on Mittwoch": (on_days("19:00", "07:00", ["Mittwoch"]), "must be a weekday or a range of them"),
    "window on 1-5": (on_days("19:00", "07:00", ["1-5"]), "must be a weekday or a range of them"),
    "window without days": (calendar({"from": "19:00", "to": "07:00"}), "from must be a time of the week"),
    "window that never ends": (calendar({"days": ["Mon"], "from": "19:00"}), "says no time"),
    "window of two shapes": (calendar({"days": ["Mon"], "cron": "0 0 * * *", "duration": "1h"}), "make a window of each"),
    "schedule with an end": (calendar({"cron": "0 0 * * *", "duration": "1h", "to": "07:00"}), "with cron write duration"),
    "schedule without duration": (calendar({"cron": "0 0 * * *"}), "cron and duration go together"),
    "schedule for a year": (calendar({"cron": "0 0 * * *", "duration": "1y"}), "duration must be 1m to 744h"),
    "schedule for 745 hours": (calendar({"cron": "0 0 * * *", "duration": "745h"}), "duration must be 1m to 744h"),
    "schedule for a second": (calendar({"cron": "0 0 * * *", "duration": "1s"}), "duration must be 1m to 744h"),
    "once, backwards": (calendar({"at": {"from": "2026-09-13T20:00", "to": "2026-09-12T08:00"}}), "at.to must be later than at.from"),
    "once, with a zone": (calendar({"at": {"from": "2026-09-12T08:00Z", "to": "2026-09-13T08:00Z"}}), "spec.open[0].at.from"),
    "65 windows": (calendar(*[{"days": ["Mon"], "from": "01:00", "to": "02:00"}] * 65), "must have at most 64 items"),
    "two windows of one name": (ours("Calendar", "t", {"timeZone": "UTC", "open": [
        {"name": "w", "days": ["Mon"], "from": "01:00", "to": "02:00"}] * 2}), "Duplicate value"),
    "4097 dates": (calendar(exceptions=[{"dates": ["2026-12-24"] * n, "treatAs": "Open"} for n in (4000, 97)]), "at most 4096 dates"),
    "date written otherwise": (on("24.12.2026"), "spec.except[0].dates[0]"),
    "exception of no date": (calendar(exceptions=[{"treatAs": "Open"}]), "names no date"),
    "exception as a holiday": (on("2026-12-24", treat_as="Holiday"), 'supported values: "Open", "Closed", "Monday"'),
    "exception as nothing": (calendar(exceptions=[{"dates": ["2026-12-24"]}]), "treatAs: Required value"),
    "LocalQueue leads nowhere": (ours("LocalQueue", "t", {}), "spec.clusterQueue: Required value"),
    "LocalQueue with a name too long for a label": (ours("LocalQueue", "a" * 64, {"clusterQueue": "x"}), "may have at most 63 characters"),
    "taint with an unknown effect": (flavor(nodeTaints=[{"key": "a", "effect": "Evict"}]), "spec.nodeTaints[0].effect"),
    "toleration of everything that names a value": (toleration(operator="Equal", value="x"), "operator must be Exists when key is empty"),
    "toleration that exists and equals": (toleration(key="k", operator="Exists", value="x"), "value must be empty when operator is Exists"),
    "toleration for a while of nothing that evicts": (toleration(key="k", operator="Exists", tolerationSeconds=3), "tolerationSeconds needs effect NoExecute"),
    "label value that nodes cannot have": (flavor(nodeLabels={"a": "b c"}), "must be a label value"),
    "label key that nodes cannot have": (flavor(nodeLabels={"a b": "b"}), "must be a label key"),
    "too many labels": (flavor(nodeLabels={f"a{i}": "b" for i in range(9)}), "must have at most 8 items"),
    "cohort that is its own parent": (ours("Cohort", "t", {"parentName": "t"}), "names the Cohort itself"),
    "cohort that borrows from nobody": (ours("Cohort", "t", {"resourceGroups": [group(["cpu"], {"a": [{"nominalQuota": 1, "borrowingLimit": 1}]})]}),
                                        "without a parent cohort there is nobody to borrow from"),
    "priority beyond 32 bits": (ours("WorkloadPriorityClass", "t", value=3000000000), "value"),
    "priority without a value": (ours("WorkloadPriorityClass", "t"), "value: Required value"),
    "priority with a name too long for a label": (ours("WorkloadPriorityClass", "a" * 64, value=1), "may have at most 63 characters"),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_good_object_is_taken(plane, case):
    dry_run(plane.api, GOOD[case])


@pytest.mark.parametrize("case", BAD)
def test_a_bad_object_is_refused_in_words(plane, case):
    obj, words = BAD[case]
    with pytest.raises(ApiError) as refusal:
        dry_run(plane.api, obj)
    assert refusal.value.status in (400, 422)
    assert words in refusal.value.message
    assert "rule evaluation" not in refusal.value.message.lower(), "a CEL rule failed instead of judging"


def test_a_localqueue_cannot_be_led_elsewhere(plane, team):
    plane.api.post(path_of("localqueues", ns=team), ours("LocalQueue", "q", {"clusterQueue": "one"}))
    with pytest.raises(ApiError, match="clusterQueue cannot be changed; create another LocalQueue"):
        plane.api.patch(path_of("localqueues", "q", team), {"spec": {"clusterQueue": "two"}})


def test_left_out_fields_get_their_defaults(plane):
    spec = dry_run(plane.api, ours("ClusterQueue", "t", {}))["spec"]
    assert (spec["queueingStrategy"], spec["stopPolicy"]) == ("BestEffortFIFO", "None")
    assert spec["preemption"]["withinClusterQueue"] == spec["preemption"]["reclaimWithinCohort"] == "Never"
    assert spec["flavorFungibility"] == {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda f: f.name)
def test_the_examples_are_good(plane, file):
    done = plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", file, check=False)
    # An example may name a namespace that is not here; it is judged all the same, elsewhere.
    if 'namespaces "' in done.stderr and "not found" in done.stderr:
        done = plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", check=False,
                             input=file.read_text().replace("namespace: team-a", "namespace: default"))
    assert done.returncode == 0, done.stderr


def test_a_status_is_written_through_its_own_door_only(plane):
    """A status in a create is dropped, so nobody's YAML can claim to be active."""
    made = dry_run(plane.api, {**ours("ClusterQueue", "t", {}), "status": {"pendingWorkloads": 7}})
    assert "status" not in made
