"""The CRDs refuse what is wrong in a sentence, and take what is right.

Two tables: an object, and the words that its refusal must hold. All of it asked
of the API server with dryRun, so nothing is left behind. `Strict` as kubectl
does: a field that does not exist is an error, not a silent nothing."""

import json

import pytest
from objects import clusterqueue, group, ours, path_of
from sandbox import ApiError
from sandbox.sandbox import ROOT

pytestmark = pytest.mark.usefixtures("asleep")  # else it would write the status of what is left here for a moment

EXAMPLES = sorted((ROOT / "api" / "crds").glob("*.example.yaml"))
PLURAL = {"ClusterQueue": "clusterqueues", "LocalQueue": "localqueues", "ResourceFlavor": "resourceflavors",
          "Cohort": "cohorts", "WorkloadPriorityClass": "workloadpriorityclasses",
          "Calendar": "calendars", "RunPolicy": "runpolicies", "PricePlan": "priceplans", "Budget": "budgets",
          "AdvanceReservation": "advancereservations", "NodeOvercommit": "nodeovercommits"}


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


REQUIRED, PREFERRED = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))


def pod_template(**fields):
    return flavor(nodeLabels={"pool": "spot"}, podTemplate=fields)


def required(*terms):
    return pod_template(nodeAffinity={REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(t)} for t in terms]}})


def requirement(key="zone", operator="In", **values):
    return required([{"key": key, "operator": operator, **values}])


def preferred(weight=1, n=1, **preference):
    return pod_template(nodeAffinity={PREFERRED: [{"weight": weight, "preference": preference or {
        "matchExpressions": [{"key": "zone", "operator": "Exists"}]}}] * n})


def of_queues(**fields):
    """What flavors and queues say alike."""
    return [pod_template(**fields), queue(podTemplate=fields), ours("LocalQueue", "t", {"clusterQueue": "x", "podTemplate": fields})]


def calendar(*windows, exceptions=(), zone="UTC"):
    return ours("Calendar", "t", {"timeZone": zone, "open": [{"name": f"w{i}", **w} for i, w in enumerate(windows)],
                                  "except": [{"name": f"x{i}", **x} for i, x in enumerate(exceptions)]})


def on_days(start, end, days=("Mon",)):
    return calendar({"days": list(days), "from": start, "to": end})


def on(*dates, treat_as="Closed"):
    return calendar(exceptions=[{"dates": list(dates), "treatAs": treat_as}])


def policy(**spec):
    return ours("RunPolicy", "t", {"queues": ["batch"], "calendar": "nights", **spec})


def close(**fields):
    return policy(atClose={"action": "Suspend", **fields})


def night_quota(nominal=1, n=1, **limits):
    return policy(quota=[{"window": f"w{i}", "flavor": "spot", "resource": "cpu", "nominal": nominal, **limits} for i in range(n)])


def plan(**spec):
    return ours("PricePlan", "t", {"currency": "EUR", "base": {"cpu": "0.04"}, **spec})


def base(**prices):
    return plan(base={name.replace("_", "-"): price for name, price in prices.items()})


def rate(factor, **more):
    return plan(rates=[{"calendar": "nights", "factor": factor, **more}])


def series(**fields):
    return plan(series={"configMap": "day-ahead", "key": "prices", **fields})


def budget(leave_out=(), **spec):
    whole = {"queue": "batch", "period": "Monthly", "timeZone": "Europe/Berlin", "currency": "EUR", "amount": "5000.00", **spec}
    return ours("Budget", "t", {k: v for k, v in whole.items() if k not in leave_out})


GPUS = [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "amount": "64"}]}]


def reserved(leave_out=(), **spec):
    whole = {"clusterQueue": "batch", "flavors": GPUS, "from": "2026-11-30T09:00:00+01:00", "until": "2026-11-30T17:00:00+01:00", **spec}
    return ours("AdvanceReservation", "t", {k: v for k, v in whole.items() if k not in leave_out})


def maintenance(leave_out=("clusterQueue",), **spec):
    return reserved(leave_out, **{"flavors": [{"name": "gpu"}], "maintenance": True, **spec})


def reserved_amount(amount, resource="cpu"):
    return reserved(flavors=[{"name": "spot", "resources": [{"name": resource, "amount": amount}]}])


def many_amounts(flavors, resources):
    return reserved(flavors=[{"name": f"f{f}", "resources": [{"name": f"r{r}", "amount": 1} for r in range(resources)]} for f in range(flavors)])


def overcommit(**spec):
    return ours("NodeOvercommit", "t", spec)


def lends_to(*expressions, **labels):
    return overcommit(nodeSelector={"matchLabels": labels, "matchExpressions": list(expressions)})


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
    "a LocalQueue in which one may wait": ours("LocalQueue", "t", {"clusterQueue": "x", "maxWaiting": 1}),
    "a LocalQueue of which one may run": ours("LocalQueue", "t", {"clusterQueue": "x", "maxRunning": 1}),
    "a LocalQueue that limits each user": ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"running": 1, "waiting": 1, "quota": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": 8}}}}),
    "a night": on_days("19:00", "07:00", ["Mon-Thu", "sat"]),
    "a whole day": on_days("00:00", "24:00"),
    "a weekend": calendar({"from": "Fri 19:00", "to": "Mon 07:00"}),
    "a whole week": calendar({"from": "Mon 00:00", "to": "Sun 24:00"}),
    "a schedule": calendar({"cron": "0 18 28-31 * *", "duration": "1h30m"}),
    "days by their names": on_days("7:00", "9:00", ["Monday", "tuesday - Fri", "Sat, Sun"]),
    "a weekend by the names of its days": calendar({"from": "Friday 9:00", "to": "monday  7:00"}),
    "once, from nine to ten": calendar({"at": {"from": "2026-09-12T9:00", "to": "2026-09-12T10:00"}}),
    "once, with a blank": calendar({"at": {"from": "2026-09-12 9:00", "to": "2026-09-12 10:00"}}),
    "once, a day of two notations": calendar({"at": {"from": "2026-09-12T23:00", "to": "2026-09-13 0:00"}}),
    "an exception that is a monday": on("2026-12-24 .. 2026-12-26", treat_as="monday"),
    "once": calendar({"at": {"from": "2026-09-12T08:00", "to": "2026-09-13T24:00"}}),
    "64 windows, and 4096 dates": calendar(*[{"days": ["Mon"], "from": "01:00", "to": "02:00"}] * 64, exceptions=[
        {"dates": ["2026-12-24..2026-12-26"] * 64, "treatAs": "Sun"}] * 64),
    "an exception that says no more is Closed": calendar(exceptions=[{"dates": ["2026-12-24"]}]),
    "dates from a ConfigMap": calendar(exceptions=[{"datesFrom": {"configMap": "holidays-de", "key": "dates"}, "treatAs": "Sunday"}]),
    "a Calendar of nothing": ours("Calendar", "t", {"timeZone": "UTC"}),
    **{f"podTemplate of {o['kind']}": o for o in of_queues(
        labels={"team": "a", "app.kubernetes.io/part-of": "x", **{f"example.com/l{i}": "x" * 63 for i in range(6)}},
        annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "note": "any text, e.g. {\"a\": [1]} ü"})},
    "a podTemplate of everything": pod_template(
        labels={"mesh": "on"}, annotations={"a": "x" * 2047}, nodeSelector={"pool": "spot", "disk": "ssd"},
        tolerations=[{"key": "spot", "operator": "Exists"}],
        nodeAffinity={REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]},
                                                                             {"key": "gen", "operator": "Gt", "values": ["5"]}]}]},
                      PREFERRED: [{"weight": 100, "preference": {"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]}}]}),
    "as many terms as a podTemplate may have": required(*[[{"key": f"example.com/k{i}", "operator": "NotIn", "values": [
        f"v{n}" for n in range(16)]} for i in range(8)]] * 8),
    "a podTemplate of nothing": pod_template(),
    "a policy of names alone": policy(),
    "a policy of patterns": policy(queues=["*", "sim-??.x"], localQueues=["*/*", "team-a/night-*"]),
    "a policy of LocalQueues alone": ours("RunPolicy", "t", {"localQueues": ["team-a/batch"], "calendar": "nights"}),
    "a policy of everything": policy(
        start={"fit": "Require", "unknownDuration": "Hold", "safetyMargin": "12.5%"}, atPriceRise="Suspend", leadTime="1h30m",
        atClose={"action": "Suspend", "overrun": "744h", "notice": "0s", "minRun": "90m30s", "maxSuspensions": 0,
                 "exempt": {"priorityAtLeast": -7, "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}}}),
    "as many quotas as a policy may have": night_quota("0.5", 64, borrowingLimit="1Ki", lendingLimit="500m"),
    "as many queues as a policy may have": policy(queues=[f"q{i}-*" for i in range(64)], localQueues=[f"ns{i}/*" for i in range(64)]),
    "a plan of one price": plan(),
    "a plan of many": plan(queues=["*"], base={"cpu": "0", "memory-gib": "0.000001", "nvidia.com/gpu": "1000000000", "hugepages-2Mi-gib": "1",
                                               **{f"example.com/r{i}": "1" for i in range(12)}},
                           flavors={f"f{i}": "1000" for i in range(64)},
                           rates=[{"calendar": f"c{i}", "window": "w", "factor": "0.000001"} for i in range(64)]),
    "a plan with a series": series(reference="80.5", staleAfter="8784h", whenStale="HoldStarts"),
    "flavor of a pool that is scaled": flavor(nodes="Autoscaled"),
    "flavor of the nodes that are up": flavor(nodes="Fixed", idlePool={}),
    "flavor that asks an autoscaler": flavor(provisioning={"className": "check-capacity.autoscaling.x-k8s.io", "parameters": {"ValidUntilSeconds": "600"}, "timeout": "1h30m"}),
    "flavor of an idle pool": flavor(idlePool={}),
    "flavor of a part of it": flavor(idlePool={"names": "Gocran", "share": "12.5%"}),
    "flavor of the whole of it": flavor(idlePool={"share": "100.0%"}),
    "flavor of a pool that kubelets limit": flavor(idlePool={"limits": "Kubelet"}),
    "flavor of a thousandth of it": flavor(idlePool={"share": "0.1%"}),
    "an overcommit of everything": overcommit(),
    "an overcommit as the seed has it": overcommit(enable=True, metricAggregateDurationSeconds=60, cpuReclaimThresholdPercent=60,
                                                   memoryReclaimThresholdPercent=70, memoryCalculatePolicy="usage"),
    "an overcommit with all there is": overcommit(
        enable=False, profile="koordinator", resourceNames=["batch", "gocran"], usageSource="kubelet", metricAggregateDurationSeconds=1,
        metricReportIntervalSeconds=30, raiseWindowSeconds=0, cpuReclaimThresholdPercent=150, memoryReclaimThresholdPercent=0,
        cpuCalculatePolicy="maxUsageRequest", memoryCalculatePolicy="request", batchCPUThresholdPercent=0, batchMemoryThresholdPercent=200,
        degradeTimeMinutes=1, updateTimeThresholdSeconds=1, resourceDiffThreshold=1, gocranReserveCPUPercent=100, gocranReserveMemoryPercent=0,
        forecastMarginPercent=20, reclaim=False, memoryEvictThresholdPercent=70, memoryEvictLowerPercent=69, cpuEvictBESatisfactionLowerPercent=60,
        cpuEvictBESatisfactionUpperPercent=60, cpuEvictBEUsageThresholdPercent=100, allocatableEvictThresholdPercent=110, allocatableEvictLowerPercent=110,
        reclaimCoolDownSeconds=0, cpuEvictTimeWindowSeconds=1, cpuAllocatableEvictThresholdPercent=110, cpuAllocatableEvictLowerPercent=110,
        memoryAllocatableEvictThresholdPercent=0, memoryAllocatableEvictLowerPercent=0, limits=False, suppress=False,
        cpuSuppressThresholdPercent=100, cpuSuppressMinPercent=0, cpuSuppressPolicy="cpuset", cpuIdle="Auto", memoryHoldPercent=71,
        memoryEndPercent=72),
    "an overcommit that reads agents": overcommit(usageSource="agent"),
    "an overcommit that holds and ends nothing": overcommit(memoryEvictThresholdPercent=100, memoryHoldPercent=0, memoryEndPercent=0),
    "an overcommit of some nodes": lends_to({"key": "latency", "operator": "NotIn", "values": ["critical"]}, {"key": "gpu", "operator": "DoesNotExist"},
                                            pool="on-demand"),
    "a budget of a ClusterQueue": budget(),
    "a budget of a LocalQueue": budget(["queue"], localQueue="team-a/batch", period="Weekly", charge="Actual", onExhausted="Warn"),
    "a budget of nothing": budget(amount="0"),
    "a plan with a series of the usual key": plan(series={"configMap": "day-ahead", "staleAfter": "36h", "whenStale": "UseRates"}),
    "the largest budget": budget(amount="9000000000000", currency="gCO2"),
    "a reservation": reserved(),
    "a reservation for some": reserved(usableBy={"namespaces": ["team-a"], "users": ["anna@example.com"]}, releaseAfter="30m"),
    "a reservation for many": reserved(usableBy={"namespaces": [f"team-{i}" for i in range(64)], "users": [f"user-{i}" for i in range(64)]}),
    "a reservation by a Calendar": reserved(["from", "until"], calendar="mondays"),
    "a reservation of all of a flavor": reserved(flavors=[{"name": "gpu"}, {"name": "spot"}]),
    "a reservation of a number": reserved_amount(4),
    "a reservation of half a core": reserved_amount("500m"),
    "a reservation of the most cpu": reserved_amount("9P"),
    "a reservation of 64 amounts": many_amounts(4, 16),
    "a reservation of a second, in two zones": reserved(**{"from": "2026-11-30T09:00:00+01:00", "until": "2026-11-30T08:00:01Z"}),
    "a reservation of 366 days": reserved(**{"from": "2026-01-01T00:00:00Z", "until": "2027-01-02T00:00:00Z"}),
    "maintenance": maintenance(),
    "maintenance of one ClusterQueue": maintenance((), flavors=GPUS),
    "no maintenance": reserved(maintenance=False),
    "a budget in the currency of its plan": budget(["currency"]),
    "priority is negative": ours("WorkloadPriorityClass", "t", value=-5),
    "the highest priority": ours("WorkloadPriorityClass", "t", value=1000000000),
    "a cap of priorities": queue(maxPriority=100),
    "a queue of gap fillers": queue(maxPriority=-1),
    "gap fillers from a priority of its own": queue(gapFillers={"below": 50}),
    "the lowest bound of gap fillers": queue(gapFillers={"below": -2147483648}),
    "no gap fillers": queue(gapFillers={}),
    "several reservations of backfill": queue(queueingStrategy="Backfill", backfill={"reservations": 1000}),
    "backfill as it is by default": queue(queueingStrategy="Backfill", backfill={}),
    "runs that grow": queue(growByDefault=True, growInterval="1s"),
    "runs that grow once a day": queue(growByDefault=False, growInterval="24h"),
    "runs that are spared for a while": queue(preemption={"minRun": "1h30m"}),
    "runs that are spared for as long as can be": queue(preemption={"minRun": "744h"}),
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
    "borrows from nobody": (quota(1, cohort=None, borrowingLimit=1), "without a cohort there is nothing to borrow"),
    "lends to nobody": (quota(1, cohort=None, lendingLimit=1), "without a cohort nothing can be lent"),
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
    "a priority of the system's": (ours("WorkloadPriorityClass", "t", value=1000000001), "less than or equal to 1000000000"),
    "runs that grow at once": (queue(growInterval="0s"), "growInterval must be a duration from 1s to 24h"),
    "runs that grow once in two days": (queue(growInterval="48h"), "growInterval must be a duration from 1s to 24h"),
    "runs that grow by a word": (queue(growByDefault="yes"), "must be of type boolean"),
    "runs that are spared for ten of nothing": (queue(preemption={"minRun": "10"}), "minRun must be a duration of at most 744h (31 days)"),
    "runs that are spared for too long": (queue(preemption={"minRun": "745h"}), "minRun must be a duration of at most 744h (31 days)"),
    "gap fillers above all priorities": (queue(gapFillers={"below": 1000000001}), "less than or equal to 1000000000"),
    "gap fillers of a priority in words": (queue(gapFillers={"below": "low"}), "must be of type integer"),
    "reservations of another strategy": (queue(backfill={"reservations": 2}), "backfill is only for queueingStrategy: Backfill"),
    "no reservation": (queue(queueingStrategy="Backfill", backfill={"reservations": 0}), "greater than or equal to 1"),
    "more reservations than a pass looks at": (queue(queueingStrategy="Backfill", backfill={"reservations": 1001}), "less than or equal to 1000"),
    "reservations in words": (queue(queueingStrategy="Backfill", backfill={"reservations": "All"}), "must be of type integer"),
    "a cap above all priorities": (queue(maxPriority=1000000001), "less than or equal to 1000000000"),
    "an unknown stop policy": (queue(stopPolicy="Stop"), 'supported values: "None", "Hold", "HoldAndDrain"'),
    "a field that does not exist": (queue(cohort="x"), 'unknown field "spec.cohort"'),
    "borrows by stopping others, but may not reclaim": (queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}), "needs reclaimWithinCohort"),
    "preference without a choice": (queue(flavorFungibility={"preference": "PreemptionOverBorrowing"}), "preference has a choice to make only when"),
    "In without values": (queue(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}), "In and NotIn need at least one value"),
    "weight is negative": (queue(fairSharing={"weight": -1}), "weight must be 0 or a number greater than"),
    "weight is next to nothing": (queue(fairSharing={"weight": "1n"}), "weight must be 0 or a number greater than"),
    # other kinds
    "nothing may wait": (ours("LocalQueue", "t", {"clusterQueue": "x", "maxWaiting": 0}), "spec.maxWaiting"),
    "nothing may run": (ours("LocalQueue", "t", {"clusterQueue": "x", "maxRunning": 0}), "spec.maxRunning"),
    "nothing of a user may run": (ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"running": 0}}}), "spec.limits.perUser.running"),
    "nothing of a user may wait": (ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"waiting": 0}}}), "spec.limits.perUser.waiting"),
    "a user may hold nothing": (ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"quota": {"cpu": "0"}}}}), "each amount in quota must be more than 0"),
    "a user may hold a word": (ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"quota": {"cpu": "many"}}}}), "each amount in quota must be more than 0"),
    "a user may hold what is no resource": (ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"quota": {"-": 1}}}}), "must be a resource, such as cpu"),
    "a user may hold more cpu than can be counted": (ours("LocalQueue", "t", {"clusterQueue": "x", "limits": {"perUser": {"quota": {"cpu": "10P"}}}}), "quota of cpu must be at most 9P"),
    "Calendar without a zone": (ours("Calendar", "t", {"open": []}), "spec.timeZone: Required value"),
    "Calendar with an empty zone": (calendar(zone=""), "spec.timeZone"),
    "zone that leads elsewhere": (calendar(zone="../etc/localtime"), "timeZone must be an IANA name"),
    "window of no time": (on_days("19:00", "19:00"), "which could mean no time at all or all of it"),
    "week of no time": (calendar({"from": "Fri 19:00", "to": "Fri 19:00"}), "which could mean no time at all or all of it"),
    "window from 24:00": (on_days("24:00", "07:00"), "from must be a time of day from 00:00 to 23:59"),
    "window to 25:00": (on_days("19:00", "25:00"), "to must be a time of day from 00:00 to 24:00"),
    "window at a minute past nothing": (on_days(":01", "19:00"), "from must be a time of day"),
    "window on no weekday": (on_days("19:00", "07:00", []), "should have at least 1 items"),
    "window on Mittwoch": (on_days("19:00", "07:00", ["Mittwoch"]), "must be weekdays or ranges of them"),
    "window on 1-5": (on_days("19:00", "07:00", ["1-5"]), "must be weekdays or ranges of them"),
    "window without days": (calendar({"from": "19:00", "to": "07:00"}), "from must be a time of the week"),
    "window that never ends": (calendar({"days": ["Mon"], "from": "19:00"}), "says no time"),
    "window of two shapes": (calendar({"days": ["Mon"], "cron": "0 0 * * *", "duration": "1h"}), "make a window of each"),
    "schedule with an end": (calendar({"cron": "0 0 * * *", "duration": "1h", "to": "07:00"}), "with cron write duration"),
    "schedule without duration": (calendar({"cron": "0 0 * * *"}), "cron and duration go together"),
    "schedule for a year": (calendar({"cron": "0 0 * * *", "duration": "1y"}), "duration must be 1m to 744h"),
    "schedule for 745 hours": (calendar({"cron": "0 0 * * *", "duration": "745h"}), "duration must be 1m to 744h"),
    "schedule for a second": (calendar({"cron": "0 0 * * *", "duration": "1s"}), "duration must be 1m to 744h"),
    "once, backwards": (calendar({"at": {"from": "2026-09-13T20:00", "to": "2026-09-12T08:00"}}), "at.to must be later than at.from"),
    "once, from ten to nine": (calendar({"at": {"from": "2026-09-12 10:00", "to": "2026-09-12 9:00"}}), "at.to must be later than at.from"),
    "once, of no time": (calendar({"at": {"from": "2026-09-12T09:00", "to": "2026-09-12 9:00"}}), "at.to must be later than at.from"),
    "once, with a zone": (calendar({"at": {"from": "2026-09-12T08:00Z", "to": "2026-09-13T08:00Z"}}), "spec.open[0].at.from"),
    "65 windows": (calendar(*[{"days": ["Mon"], "from": "01:00", "to": "02:00"}] * 65), "must have at most 64 items"),
    "two windows of one name": (ours("Calendar", "t", {"timeZone": "UTC", "open": [
        {"name": "w", "days": ["Mon"], "from": "01:00", "to": "02:00"}] * 2}), "Duplicate value"),
    "4097 dates": (calendar(exceptions=[{"dates": ["2026-12-24"] * n, "treatAs": "Open"} for n in (4000, 97)]), "at most 4096 dates"),
    "date written otherwise": (on("24.12.2026"), "spec.except[0].dates[0]"),
    "exception of no date": (calendar(exceptions=[{"treatAs": "Open"}]), "names no date"),
    "exception as a holiday": (on("2026-12-24", treat_as="Holiday"), "must be Open, Closed or a weekday"),
    # RunPolicy
    "policy without a queue": (ours("RunPolicy", "t", {"calendar": "nights"}), "names no queue; write queues"),
    "policy of no queue": (policy(queues=[], localQueues=[]), "names no queue; write queues"),
    "policy without a calendar": (ours("RunPolicy", "t", {"queues": ["a"]}), "spec.calendar: Required value"),
    "policy with a calendar that cannot exist": (policy(calendar="Nights!"), "must be the name of a Calendar"),
    "policy of a queue that cannot exist": (policy(queues=["Batch"]), "must be the name of a ClusterQueue, or a pattern"),
    "policy of a namespaced ClusterQueue": (policy(queues=["team-a/batch"]), "must be the name of a ClusterQueue, or a pattern"),
    "policy of a LocalQueue of no namespace": (policy(localQueues=["batch"]), "must be namespace/name of a LocalQueue"),
    "policy of a queue twice": (policy(queues=["a", "a"]), "Duplicate value"),
    "policy of 65 queues": (policy(queues=[f"q{i}" for i in range(65)]), "must have at most 64 items"),
    "fit as it pleases": (policy(start={"fit": "Maybe"}), 'supported values: "Prefer", "Require", "Ignore"'),
    "unknown durations run": (policy(start={"unknownDuration": "Run"}), 'supported values: "Start", "Hold"'),
    "margin without a sign": (policy(start={"safetyMargin": "10"}), "safetyMargin must be a share from 0% to 1000%, such as 10%"),
    "margin as a number": (policy(start={"safetyMargin": 10}), "safetyMargin"),
    "margin beyond": (policy(start={"safetyMargin": "1000.1%"}), "safetyMargin must be a share"),
    "margin of nothing": (policy(start={"safetyMargin": "%"}), "safetyMargin must be a share"),
    "margin below 0": (policy(start={"safetyMargin": "-1%"}), "safetyMargin must be a share"),
    "close that kills": (close(action="Kill"), 'supported values: "Finish", "Suspend"'),
    "overrun of a year": (close(overrun="1y"), "overrun must be a duration of at most 744h (31 days) with its units"),
    "overrun of 745 hours": (close(overrun="745h"), "overrun must be a duration of at most 744h"),
    "overrun of more than can be counted": (close(overrun="9999h9999h"), "overrun must be a duration"),
    "overrun of a great many hours": (close(overrun="99999999h"), "overrun must be a duration"),
    "notice of ten": (close(notice="10"), "notice must be a duration of at most 744h (31 days) with its units"),
    "notice of the number ten": (close(notice=10), "notice"),
    "notice of nothing": (close(notice=""), "notice must be a duration"),
    "minRun below 0": (close(minRun="-15m"), "minRun must be a duration"),
    "suspensions below 0": (close(maxSuspensions=-1), "maxSuspensions"),
    "exempt is nobody": (close(exempt={}), "exempts no Job; write priorityAtLeast or selector"),
    "exempt priority is a word": (close(exempt={"priorityAtLeast": "high"}), "priorityAtLeast"),
    "exempt selector without values": (close(exempt={"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}), "In and NotIn need at least one value"),
    "lead of two days, in days": (policy(leadTime="2d"), "leadTime must be a duration"),
    "price rise is paid": (policy(atPriceRise="Pay"), 'supported values: "Finish", "Suspend"'),
    "quota of no amount": (policy(quota=[{"window": "w", "flavor": "f", "resource": "cpu"}]), "nominal: Required value"),
    "quota of a word": (night_quota("lots"), "nominal must be an amount from 0 to 9E"),
    "quota that lends more than it is": (night_quota(1, lendingLimit="1001m"), "lendingLimit must not exceed nominal"),
    "quota of cpu beyond thousandths": (night_quota("10P"), "nominal of cpu must be at most 9P"),
    "quota of a window twice": (policy(quota=[{"window": "w", "flavor": "f", "resource": "cpu", "nominal": 1}] * 2), "Duplicate value"),
    "quota of LocalQueues": (ours("RunPolicy", "t", {"localQueues": ["a/b"], "calendar": "nights", "quota": night_quota()["spec"]["quota"]}),
                             "quota is that of ClusterQueues, and none is named"),
    "65 quotas": (night_quota(1, 65), "must have at most 64 items"),
    # PricePlan
    "plan in no currency": (ours("PricePlan", "t", {"base": {"cpu": "1"}}), "spec.currency: Required value"),
    "plan in signs": (plan(currency="€€€"), "currency must be 3 to 16 letters or digits"),
    "plan of no price": (ours("PricePlan", "t", {"currency": "EUR"}), "spec.base: Required value"),
    "plan of nothing": (plan(base={}), "should have at least 1 properties"),
    "price of a byte": (base(memory="1"), "priced by the GiB: write memory-gib"),
    "price of a byte of huge pages": (base(hugepages_2Mi="1"), "priced by the GiB"),
    "price of a GiB of cpu": (base(cpu_gib="1"), "must be a resource, such as cpu, memory-gib or nvidia.com/gpu"),
    "price of what cannot be": (plan(base={"my cpu": "1"}), "must be a resource, such as cpu"),
    "price as a number": (base(cpu=0.04), "spec.base.cpu"),
    "price below 0": (base(cpu="-1"), "must be a price from 0 to 1000000000"),
    "price of seven digits behind the point": (base(cpu="0.0000001"), "must be a price from 0 to 1000000000"),
    "price beyond": (base(cpu="1000000000.000001"), "must be a price from 0 to 1000000000"),
    "price with a comma": (base(cpu="0,04"), "must be a price from 0"),
    "price with an exponent": (base(cpu="1e3"), "must be a price from 0"),
    "17 prices": (plan(base={f"r{i}": "1" for i in range(17)}), "must have at most 16 items"),
    "flavor of no factor": (plan(flavors={"spot": "cheap"}), "must be a factor from 0 to 1000"),
    "flavor beyond": (plan(flavors={"spot": "1000.1"}), "must be a factor from 0 to 1000"),
    "rate of no calendar": (plan(rates=[{"factor": "1"}]), "calendar: Required value"),
    "rate of no factor": (plan(rates=[{"calendar": "a"}]), "factor: Required value"),
    "rate that doubles": (rate("double"), "factor must be a factor from 0 to 1000"),
    "rate as a number": (rate(2.5), "factor"),
    "rate beyond": (rate("1001"), "factor must be a factor from 0 to 1000"),
    "series of no ConfigMap": (plan(series={"key": "a"}), "configMap: Required value"),
    "series by nothing": (series(reference="0.0"), "reference must be a number above 0"),
    "series stale after a year": (series(staleAfter="1y"), "staleAfter must be a duration of at most 8784h"),
    "series that panics": (series(whenStale="Panic"), 'supported values: "UseRates", "HoldStarts"'),
    # podTemplate
    **{f"{name} of {o['kind']}": (o, words) for name, fields, words in [
        ("label of ours", {"labels": {"sluice.dev/queue-name": "x"}}, "are reserved for Sluice, Kubernetes and the Job controller"),
        ("label below ours", {"labels": {"x.sluice.dev/y": "x"}}, "are reserved for Sluice"),
        ("label of the Job controller", {"labels": {"batch.kubernetes.io/job-name": "x"}}, "are reserved for Sluice"),
        ("old label of the Job controller", {"labels": {"controller-uid": "x"}}, "are reserved for Sluice"),
        ("quality of service", {"labels": {"koordinator.sh/qosClass": "LS"}}, "are reserved for Sluice"),
        ("quality of service, as it once was", {"annotations": {"alibabacloud.com/qosClass": "LS"}}, "are reserved for Sluice"),
        ("tier", {"labels": {"koordinator.sh/priority-class": "koord-batch"}}, "are reserved for Sluice"),
        ("order of evictions", {"annotations": {"koordinator.sh/eviction-priority": "1"}}, "are reserved for Sluice"),
        ("annotation of Kubernetes", {"annotations": {"kubernetes.io/x": "x"}}, "are reserved for Sluice"),
        ("annotation of ours", {"annotations": {"sluice.dev/hold": "x"}}, "are reserved for Sluice"),
        ("label that is no key", {"labels": {"a b": "x"}}, "each name in labels must be a key"),
        ("label with a long name", {"labels": {"a" * 64: "x"}}, "each name in labels must be a key"),
        ("label of no domain", {"labels": {"a..b/c": "x"}}, "each name in labels must be a key"),
        ("label with blanks", {"labels": {"a": "b c"}}, "must be a label value"),
        ("annotation of two lines", {"annotations": {"a": "b\nc"}}, "must be one line without control characters"),
        ("annotations of a novel", {"annotations": {"a": "x" * 1024, "b": "x" * 1024}}, "at most 2048 characters together"),
        ("too many labels", {"labels": {f"a{i}": "b" for i in range(9)}}, "must have at most 8 items"),
        ("too many annotations", {"annotations": {f"a{i}": "b" for i in range(9)}}, "must have at most 8 items"),
        ("scheduler", {"schedulerName": "x"}, 'unknown field "spec.podTemplate.schedulerName"'),
    ] for o in of_queues(**fields)},
    "node selector of a queue": (queue(podTemplate={"nodeSelector": {"a": "b"}}), 'unknown field "spec.podTemplate.nodeSelector"'),
    "selector against the flavor's own labels": (pod_template(nodeSelector={"pool": "other"}), "has another value for a key of nodeLabels"),
    "selector that nodes cannot have": (pod_template(nodeSelector={"a": "b c"}), "must be a label value"),
    "toleration of a pod that exists and equals": (pod_template(tolerations=[{"key": "k", "operator": "Exists", "value": "x"}]),
                                                   "value must be empty when operator is Exists"),
    "toleration of a pod with a long name": (pod_template(tolerations=[{"key": "a" * 64, "operator": "Exists"}]), "must be a label key"),
    "toleration of a pod of no domain": (pod_template(tolerations=[{"key": "a..b/c", "operator": "Exists"}]), "must be a label key"),
    "affinity to nothing": (required(), "should have at least 1 items"),
    "affinity to any node": (required([]), "should have at least 1 items"),
    "affinity to more than can be joined": (required(*[[{"key": "zone", "operator": "Exists"}]] * 9), "must have at most 8 items"),
    "affinity to one node": (pod_template(nodeAffinity={REQUIRED: {"nodeSelectorTerms": [{"matchFields": []}]}}), "nodeSelectorTerms[0].matchFields"),
    "affinity to no labels": (pod_template(nodeAffinity={REQUIRED: {"nodeSelectorTerms": [{}]}}), "matchExpressions: Required value"),
    "affinity in no values": (requirement(), "In and NotIn need at least one value"),
    "affinity that exists in values": (requirement(operator="Exists", values=["a"]), "Exists and DoesNotExist take none"),
    "affinity above a word": (requirement(operator="Gt", values=["a"]), "Gt and Lt need one value, a whole number"),
    "affinity above two numbers": (requirement(operator="Lt", values=["1", "2"]), "Gt and Lt need one value, a whole number"),
    "affinity by feeling": (requirement(operator="Near", values=["a"]), 'supported values: "In"'),
    "affinity to a label that nodes cannot have": (requirement(key="zo ne", operator="Exists"), "must be a label key"),
    "preference of no weight": (preferred(weight=0), "should be greater than or equal to 1"),
    "preference of too much weight": (preferred(weight=101), "should be less than or equal to 100"),
    "too many preferences": (preferred(n=9), "must have at most 8 items"),
    # ResourceFlavor.nodes
    "nodes by feeling": (flavor(nodes="Elastic"), 'supported values: "Autoscaled", "Fixed"'),
    "nodes that are made, and lend": (flavor(nodes="Autoscaled", idlePool={}), "it is nodes that are up that lend their idle resources; remove nodes"),
    # ResourceFlavor.provisioning
    "asking by no class": (flavor(provisioning={}), "className: Required value"),
    "asking by a sentence": (flavor(provisioning={"className": "Check capacity"}), "must be the name of a provisioning class"),
    "asking without patience": (flavor(provisioning={"className": "a", "timeout": "0s"}), "timeout must be a duration from 1s to 24h"),
    "asking for ever": (flavor(provisioning={"className": "a", "timeout": ""}), "timeout must be a duration from 1s to 24h"),
    "asking for what is lent": (flavor(provisioning={"className": "a"}, idlePool={}), "remove provisioning"),
    # ResourceFlavor.idlePool
    "pool of other names": (flavor(idlePool={"names": "batch"}), 'supported values: "Batch", "Gocran"'),
    "pool that nobody limits": (flavor(idlePool={"limits": "None"}), 'supported values: "Agent", "Kubelet"'),
    "pool of nothing": (flavor(idlePool={"share": "0%"}), "share must be a share from 0.1% to 100%"),
    "pool of more than there is": (flavor(idlePool={"share": "101%"}), "share must be a share from 0.1% to 100%"),
    "pool by a number": (flavor(idlePool={"share": "0.8"}), "share must be a share from 0.1% to 100%"),
    "pool with a field that is none": (flavor(idlePool={"percent": "80%"}), 'unknown field "spec.idlePool.percent"'),
    # NodeOvercommit
    "overcommit with no spec": ({k: v for k, v in overcommit().items() if k != "spec"}, "spec: Required value"),
    "overcommit by request of cpu": (overcommit(cpuCalculatePolicy="request"), "cpuCalculatePolicy cannot be request"),
    "overcommit by a guess": (overcommit(memoryCalculatePolicy="guess"), 'supported values: "usage", "request", "maxUsageRequest"'),
    "overcommit of another profile": (overcommit(profile="crane"), 'supported values: "ack", "koordinator"'),
    "overcommit under no name": (overcommit(resourceNames=[]), "should have at least 1 items"),
    "overcommit under another name": (overcommit(resourceNames=["mid"]), 'supported values: "batch", "gocran"'),
    "overcommit under a name twice": (overcommit(resourceNames=["batch", "batch"]), "Duplicate value"),
    "overcommit from Prometheus": (overcommit(usageSource="prometheus"), 'supported values: "metrics.k8s.io", "kubelet"'),
    "overcommit that holds before it takes back": (overcommit(memoryEvictThresholdPercent=80, memoryHoldPercent=80), "memoryHoldPercent must exceed"),
    "overcommit that ends before it holds": (overcommit(memoryEndPercent=80, memoryHoldPercent=80), "memoryEndPercent must exceed memoryHoldPercent"),
    "overcommit that is idle in lower case": (overcommit(cpuIdle="auto"), 'supported values: "Never", "Auto", "Always"'),
    "overcommit that takes back less memory than it begins with": (
        overcommit(memoryAllocatableEvictThresholdPercent=100, memoryAllocatableEvictLowerPercent=101), "memoryAllocatableEvictLowerPercent must not exceed"),
    "overcommit below 0": (overcommit(cpuReclaimThresholdPercent=-1), "cpuReclaimThresholdPercent"),
    "overcommit by a part of a percent": (overcommit(memoryReclaimThresholdPercent=65.5), "memoryReclaimThresholdPercent"),
    "overcommit as text": (overcommit(cpuReclaimThresholdPercent="65"), "must be of type integer"),
    "overcommit that is never written": (overcommit(metricAggregateDurationSeconds=0), "should be greater than or equal to 1"),
    "overcommit that never degrades": (overcommit(degradeTimeMinutes=0), "should be greater than or equal to 1"),
    "overcommit of no difference": (overcommit(resourceDiffThreshold=0), "should be greater than 0"),
    "overcommit of every difference": (overcommit(resourceDiffThreshold=1.1), "should be less than or equal to 1"),
    "overcommit with a reserve of all and more": (overcommit(gocranReserveCPUPercent=101), "should be less than or equal to 100"),
    "memory taken back upwards": (overcommit(memoryEvictThresholdPercent=70, memoryEvictLowerPercent=70),
                                  "memoryEvictLowerPercent must be below memoryEvictThresholdPercent"),
    "cpu taken back upwards": (overcommit(cpuEvictBESatisfactionLowerPercent=61, cpuEvictBESatisfactionUpperPercent=60),
                               "cpuEvictBESatisfactionUpperPercent must not be below"),
    "what is asked for taken back upwards": (overcommit(allocatableEvictThresholdPercent=100, allocatableEvictLowerPercent=101),
                                             "allocatableEvictLowerPercent must not exceed"),
    "overcommit of nodes in no values": (lends_to({"key": "a", "operator": "In"}), "values: In and NotIn need at least one value"),
    "overcommit of nodes by comparison": (lends_to({"key": "a", "operator": "Gt", "values": ["1"]}), 'supported values: "In", "NotIn"'),
    "overcommit with a field that is none": (overcommit(cpuReclaimThreshold=60), 'unknown field "spec.cpuReclaimThreshold"'),
    # AdvanceReservation
    "reservation of nothing": (reserved(["flavors"]), "spec.flavors: Required value"),
    "reservation of no flavor": (reserved(flavors=[]), "spec.flavors"),
    "reservation of no resource": (reserved(flavors=[{"name": "gpu", "resources": []}]), "resources"),
    "reservation of a flavor twice": (reserved(flavors=[{"name": "gpu"}, {"name": "gpu"}]), "Duplicate value"),
    "reservation of a resource twice": (reserved(flavors=[{"name": "gpu", "resources": [{"name": "cpu", "amount": 1}] * 2}]), "Duplicate value"),
    "reservation of no amount": (reserved(flavors=[{"name": "gpu", "resources": [{"name": "cpu"}]}]), "amount: Required value"),
    "reservation of 0": (reserved_amount(0), "amount must be more than 0"),
    "reservation below 0": (reserved_amount("-1"), "amount must be more than 0"),
    "reservation of lots": (reserved_amount("lots"), "amount must be more than 0 and at most 9E, written as Kubernetes writes quantities"),
    "reservation of more cpu than can be counted": (reserved_amount("10P"), "amount of cpu must be at most 9P"),
    "reservation of 65 amounts": (many_amounts(5, 13), "an AdvanceReservation may list at most 64 amounts in all its flavors together"),
    "reservation at no time": (reserved(["from", "until"]), "must say when: write from and until, or calendar"),
    "reservation without an end": (reserved(["until"]), "must say when"),
    "reservation by a Calendar and a time": (reserved(["until"], calendar="mondays"), "must say when"),
    "reservation by both": (reserved(calendar="mondays"), "and not both"),
    "reservation that ends as it begins": (reserved(until="2026-11-30T08:00:00Z"), "until must be later than from"),
    "reservation that ends before": (reserved(until="2026-11-30T08:59:59+01:00"), "until must be later than from"),
    "reservation of years": (reserved(until="2028-11-30T09:00:00Z"), "until must be at most 366 days after from"),
    "reservation on Monday": (reserved(**{"from": "Mon 09:00"}), "must be of type date-time"),
    "reservation in no zone": (reserved(**{"from": "2026-11-30T09:00:00"}), "must be of type date-time"),
    "reservation on the 30th of February": (reserved(**{"from": "2026-02-30T09:00:00Z"}), "must be of type date-time"),
    "reservation of no queue": (reserved(["clusterQueue"]), "must name a clusterQueue, such as batch; only maintenance can be of all ClusterQueues"),
    "reservation of a pattern": (reserved(clusterQueue="sim-*"), "must be the name of a ClusterQueue"),
    "reservation for nobody": (reserved(usableBy={}), "names nobody; write namespaces or users"),
    "reservation for no user": (reserved(usableBy={"users": []}), "usableBy.users"),
    "reservation for too many": (reserved(usableBy={"users": [f"user-{i}" for i in range(65)]}), "usableBy.users"),
    "reservation that is given back at once": (reserved(releaseAfter="0s"), "releaseAfter must be a duration from 1s to 744h"),
    "reservation that is given back some day": (reserved(releaseAfter="1y"), "releaseAfter must be a duration"),
    "maintenance for somebody": (maintenance(usableBy={"users": ["anna"]}), "maintenance is used by no Job: remove usableBy"),
    "maintenance that is given back": (maintenance(releaseAfter="30m"), "so releaseAfter would give all of it back"),
    "maintenance of amounts in all ClusterQueues": (maintenance(flavors=GPUS), "maintenance of all ClusterQueues is of whole flavors"),
    # Budget
    "budget of no queue": (budget(["queue"]), "must name one queue"),
    "budget of two queues": (budget(localQueue="a/b"), "must name one queue"),
    "budget of a pattern": (budget(queue="sim-*"), "must be the name of a ClusterQueue"),
    "budget of patterns": (budget(["queue"], localQueue="team-*/x"), "localQueue must be namespace/name"),
    "budget of a LocalQueue of no namespace": (budget(["queue"], localQueue="batch"), "localQueue must be namespace/name"),
    "budget of no period": (budget(["period"]), "period: Required value"),
    "budget of an hour": (budget(period="Hourly"), 'supported values: "Daily", "Weekly", "Monthly", "Yearly"'),
    "budget of no zone": (budget(["timeZone"]), "timeZone: Required value"),
    "budget of a zone that leads elsewhere": (budget(timeZone="../x"), "timeZone must be an IANA name"),
    "budget of no amount": (budget(["amount"]), "amount: Required value"),
    "budget as a number": (budget(amount=5000), "amount"),
    "budget in thousands": (budget(amount="5,000"), "amount must be an amount from 0 to 9000000000000"),
    "budget below 0": (budget(amount="-1"), "amount must be an amount from 0"),
    "budget beyond": (budget(amount="9000000000001"), "amount must be an amount from 0"),
    "budget charged by half": (budget(charge="Half"), 'supported values: "Expected", "Actual"'),
    "budget that explodes": (budget(onExhausted="Explode"), 'supported values: "Hold", "Suspend", "Warn"'),
    "schedule for more than can be counted": (calendar({"cron": "0 0 * * *", "duration": "99999999h"}), "duration must be 1m to 744h"),
    "LocalQueue leads nowhere": (ours("LocalQueue", "t", {}), "spec.clusterQueue: Required value"),
    "LocalQueue with a name too long for a label": (ours("LocalQueue", "a" * 64, {"clusterQueue": "x"}), "may have at most 63 characters"),
    "taint with an unknown effect": (flavor(nodeTaints=[{"key": "a", "effect": "Evict"}]), "spec.nodeTaints[0].effect"),
    "toleration of everything that names a value": (toleration(operator="Equal", value="x"), "operator must be Exists when key is empty"),
    "toleration that exists and equals": (toleration(key="k", operator="Exists", value="x"), "value must be empty when operator is Exists"),
    "toleration for a while of nothing that evicts": (toleration(key="k", operator="Exists", tolerationSeconds=3), "tolerationSeconds needs effect NoExecute"),
    "label value that nodes cannot have": (flavor(nodeLabels={"a": "b c"}), "must be a label value"),
    "label key that nodes cannot have": (flavor(nodeLabels={"a b": "b"}), "must be a label key"),
    "label key of no domain": (flavor(nodeLabels={"a..b/c": "d"}), "must be a label key"),
    "taint key with a long name": (flavor(nodeTaints=[{"key": "a" * 64, "effect": "NoSchedule"}]), "must be a label key"),
    "toleration key of no domain": (flavor(tolerations=[{"key": "a..b/c", "operator": "Exists"}]), "must be a label key"),
    "too many labels": (flavor(nodeLabels={f"a{i}": "b" for i in range(9)}), "must have at most 8 items"),
    "cohort that is its own parent": (ours("Cohort", "t", {"parentName": "t"}), "names the Cohort itself"),
    "cohort that borrows from nobody": (ours("Cohort", "t", {"resourceGroups": [group(["cpu"], {"a": [{"nominalQuota": 1, "borrowingLimit": 1}]})]}),
                                        "without a parent cohort there is nothing to borrow"),
    "priority beyond 32 bits": (ours("WorkloadPriorityClass", "t", value=3000000000), "value"),
    "priority without a value": (ours("WorkloadPriorityClass", "t"), "value: Required value"),
    "priority with a name too long for a label": (ours("WorkloadPriorityClass", "a" * 64, value=1), "may have at most 63 characters"),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_good_object_is_taken(plane, case):
    dry_run(plane.api, GOOD[case])


@pytest.mark.parametrize("case", [c for c in GOOD if GOOD[c]["kind"] in ("ResourceFlavor", "RunPolicy", "PricePlan", "Budget", "AdvanceReservation", "NodeOvercommit")])
def test_what_the_api_server_takes_sluice_understands(plane, program, tmp_path, case):
    """Its bounds and our decoders' are written in two places."""
    file = tmp_path / "object.json"
    file.write_text(json.dumps(dry_run(plane.api, GOOD[case])))
    how = ("simulate",)
    if GOOD[case]["kind"] == "NodeOvercommit":  # of it the simulation takes no notice
        node = tmp_path / "node.json"
        node.write_text('{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}')
        how = ("overcommit", "calc", "-f", node)
    done = program("sluice", *how, "-f", file)
    assert done.returncode == 0, done.stderr


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
    assert dry_run(plane.api, ours("LocalQueue", "t", {"clusterQueue": "x"}))["spec"]["maxWaiting"] == 20000


def test_left_out_fields_of_policies_get_their_defaults(plane):
    spec = dry_run(plane.api, policy())["spec"]
    assert spec["start"] == {"fit": "Prefer", "unknownDuration": "Start", "safetyMargin": "0%"}
    assert (spec["atClose"], spec["atPriceRise"]) == ({"action": "Finish"}, "Finish")
    spec = dry_run(plane.api, series())["spec"]
    assert spec["series"] == {"configMap": "day-ahead", "key": "prices", "reference": "1", "staleAfter": "36h", "whenStale": "UseRates"}
    spec = dry_run(plane.api, budget())["spec"]
    assert (spec["charge"], spec["onExhausted"]) == ("Expected", "Hold")
    assert dry_run(plane.api, flavor(idlePool={}))["spec"] == {"idlePool": {"names": "Batch", "share": "100%", "limits": "Agent"}}
    assert dry_run(plane.api, flavor())["spec"] == {}
    assert dry_run(plane.api, overcommit())["spec"] == {"enable": True, "profile": "ack"}  # the rest is the profile's business


STATUS = {
    "runpolicies": (policy(), {"state": "Closed", "until": "2026-11-22T18:00:00Z", "queues": 2, "localQueues": 1, "runs": 7, "exempt": 1},
                    ["CALENDAR", "nights", "ACTION", "Finish", "OPEN", "Closed", "UNTIL", "2026-11-22T18:00:00Z", "QUEUES", "2"]),
    "priceplans": (plan(), {"factor": "0.4", "rate": "nights", "until": "2026-11-22T06:00:00Z", "queues": 2},
                   ["CURRENCY", "EUR", "FACTOR", "0.4", "UNTIL", "2026-11-22T06:00:00Z"]),
    "budgets": (budget(), {"periodFrom": "2026-11-01T00:00:00Z", "periodTo": "2026-12-01T00:00:00Z", "spent": "12.50", "reserved": "1.20",
                           "remaining": "-4986.30"},
                ["QUEUE", "batch", "PERIOD", "Monthly", "AMOUNT", "5000.00", "SPENT", "12.50", "RESERVED", "1.20", "REMAINING", "-4986.30"]),
    "advancereservations": (reserved(), {
        "state": "Active", "from": "2026-11-30T08:00:00Z", "until": "2026-11-30T16:00:00Z", "leftFrom": "2026-11-30T08:00:00.250Z",
        "possibleFrom": "2026-12-01T00:00:00Z", "cost": "12.50", "currency": "EUR", "stoppedRuns": 2,
        "flavors": [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "amount": "64", "left": "48", "used": "12"}]}]},
                            ["QUEUE", "batch", "FROM", "2026-11-30T08:00:00Z", "UNTIL", "2026-11-30T16:00:00Z", "STATE", "Active",
                             "ACCEPTED", "True"]),
    "nodeovercommits": (overcommit(), {"nodes": 12, "degradedNodes": 1, "lent": {"cpu": "123500m", "memory": "512Gi"},
                                                    "requested": {"cpu": "60", "memory": "100Gi"}, "lastUpdateTime": "2026-11-21T00:00:00Z"},
                        ["ENABLED", "true", "PROFILE", "ack", "NODES", "12", "LENT-CPU", "123500m", "LENT-MEMORY", "512Gi", "ACTIVE", "True"]),
}


def status_patch(uid, status):
    """As the controller writes a status (controller/common/status_patch.h)."""
    return [{"op": "test", "path": "/metadata/uid", "value": uid}, {"op": "add", "path": "/status", "value": status}]


@pytest.mark.parametrize("plural", STATUS)
def test_kubectl_shows_what_the_status_says(plane, team, plural):
    """Written as the controller writes it, and read as people read it: every field is taken, and in its column."""
    obj, status, shown = STATUS[plural]
    name = team
    conditions = [{"type": t, "status": "True", "reason": "Active", "message": "It is.", "lastTransitionTime": "2026-11-21T00:00:00Z",
                   "observedGeneration": 1} for t in ("Active", "Exhausted", "Accepted", "Kept")]
    status = {**status, "conditions": conditions}
    made = plane.api.post(path_of(plural), {**obj, "metadata": {"name": name}})
    try:
        back = plane.api.patch(path_of(plural, name) + "/status?fieldValidation=Strict", status_patch(made["metadata"]["uid"], status), "json")
        assert back["status"] == status
        lines = plane.kubectl("get", plural, name).stdout.splitlines()
        table = dict(zip(lines[0].split(), lines[1].split()))
        assert {k: table[k] for k in shown[::2]} == dict(zip(shown[::2], shown[1::2]))
    finally:
        plane.api.delete(path_of(plural, name))


@pytest.mark.parametrize("plural", STATUS)
def test_the_status_of_an_object_that_was_deleted_is_not_that_of_the_next_of_its_name(plane, team, plural):
    obj, status, _ = STATUS[plural]
    where = path_of(plural, team)
    first = plane.api.post(path_of(plural), {**obj, "metadata": {"name": team}})["metadata"]["uid"]
    plane.api.delete(where)
    assert plane.api.gone(where)
    second = plane.api.post(path_of(plural), {**obj, "metadata": {"name": team}})["metadata"]["uid"]
    try:
        with pytest.raises(ApiError) as refused:
            plane.api.patch(f"{where}/status", status_patch(first, status), "json")
        assert refused.value.status == 422
        assert "status" not in plane.api.get(where)
        plane.api.patch(f"{where}/status", status_patch(second, status), "json")
        # The whole status is another one: what is not told any more is gone.
        less = {"conditions": []}
        assert plane.api.patch(f"{where}/status", status_patch(second, less), "json")["status"] == less
    finally:
        plane.api.delete(where)


def test_what_a_node_lends_is_not_written_to_another_node_of_its_name(plane):
    """A merge patch, in which the API server heeds the uid of a Node as it does not that of a custom resource."""
    where = "/api/v1/nodes/spot-0"
    lent = {"kubernetes.io/batch-cpu": "1"}
    before = plane.api.get(where)["status"]["capacity"]
    with pytest.raises(ApiError) as refused:
        plane.api.patch(f"{where}/status", {"metadata": {"uid": "00000000-0000-0000-0000-000000000001"}, "status": {"capacity": lent}})
    assert refused.value.status == 422 and "metadata.uid" in refused.value.message
    assert plane.api.get(where)["status"]["capacity"] == before


def test_of_a_reservation_only_its_users_and_its_release_can_be_edited(plane, team):
    """What was accepted is what was judged. The same manifest once more changes nothing."""
    where = path_of("advancereservations", team)
    made = plane.api.post(path_of("advancereservations"), {**reserved(), "metadata": {"name": team}})
    try:
        for spec in ({"clusterQueue": "other"}, {"flavors": [{"name": "gpu"}]}, {"flavors": [*GPUS, {"name": "spot"}]}, {"until": "2026-11-30T18:00:00+01:00"},
                     {"from": None, "until": None, "calendar": "mondays"}, {"maintenance": True}):
            with pytest.raises(ApiError) as refused:
                plane.api.patch(where, {"spec": spec})
            assert "only usableBy and releaseAfter can be edited: make another AdvanceReservation and delete this one" in refused.value.message, spec
        assert plane.api.patch(where, {"spec": {"from": "2026-11-30T09:00:00+01:00"}})["metadata"]["generation"] == made["metadata"]["generation"]
        edited = plane.api.patch(where, {"spec": {"usableBy": {"users": ["anna"]}, "releaseAfter": "1h"}})
        assert edited["metadata"]["generation"] == 2
        assert plane.api.patch(where, {"spec": {"usableBy": None, "releaseAfter": None}})["metadata"]["generation"] == 3
    finally:
        plane.api.delete(where)


def test_a_budget_shows_its_localqueue(plane, team):
    plane.api.post(path_of("budgets"), {**budget(["queue"], localQueue="team-a/batch"), "metadata": {"name": team}})
    try:
        assert "team-a/batch" in plane.kubectl("get", "budgets", team).stdout
    finally:
        plane.api.delete(path_of("budgets", team))


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
