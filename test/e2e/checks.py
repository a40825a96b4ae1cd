"""What must be true of Sluice, asked of the ledger by SQL and of the cluster by
its API, never of Sluice itself.

An instant cannot be had in two systems at once, so the ledger is read before
(A) and after (B) the pods. Pods of a Job at the moment between want a hold that
was open at that moment. It was, if it is open in both A and B; then its amounts
bound what the pods ask for: the larger of A's and B's, since a run may grow or
give pods meanwhile. It was not, if A has no open hold of the Job and B knows no
attempt that A did not know: then pods ran outside the ledger. All that is between
(an attempt that began or ended meanwhile) is left to the next look. So nothing
true is ever called a fault.

That use is within quota needs no ledger at all: one list of pods is one moment
of etcd, and the quota of a test's queues stays as it is."""

import json
from collections import Counter, defaultdict

from objects import QUEUE, terminal
from sandbox.audit import units

# One statement, so one snapshot. Lines through their views: how they are stored is the ledger's own affair.
LEDGER = """
with held as (select job_uid, attempt, json_agg(json_build_object('node', node, 'flavor', flavor, 'resource', resource, 'amount', amount)) of_it
              from sluice.hold_line group by 1, 2)
select json_build_object(
  'holds', coalesce((select json_agg(json_build_object('uid', job_uid, 'attempt', attempt, 'state', state, 'ns', ns, 'name', name,
                     'cq', clusterqueue, 'lines', coalesce(of_it, '[]'))) from sluice.hold left join held using (job_uid, attempt)), '[]'),
  'attempts', coalesce((select json_object_agg(job_uid, n) from (select job_uid, max(attempt) n from sluice.transfer group by 1) t), '{}'),
  'audit', coalesce((select json_agg(to_json(a)) from sluice.audit a), '[]'),
  'above', coalesce((select json_agg(to_json(b)) from sluice.balance b where pending + posted + releasing + members > ceiling), '[]'),
  'sums', coalesce((select json_agg(to_json(s)) from (
     select node, flavor, resource, coalesce(b.n, 0) balance, coalesce(h.n, 0) holds from
       (select node, flavor, resource, sum(pending + posted + releasing) n from sluice.balance group by 1, 2, 3) b
       full join
       (select node, flavor, resource, sum(amount) n from sluice.hold_line group by 1, 2, 3) h
       using (node, flavor, resource) where coalesce(b.n, 0) <> coalesce(h.n, 0)) s), '[]'))"""

HISTORY = "select fault, subject, detail from sluice.audit_history"


def read_ledger(box):
    return json.loads(box.sql(LEDGER)[0][0])


def amounts(pod):
    """What a pod asks for, in the ledger's units (the tests' pods have one container)."""
    use = Counter(pods=1)
    for container in pod["spec"]["containers"]:
        for resource, quantity in (container.get("resources", {}).get("requests") or {}).items():
            use[resource] += units(resource, quantity)
    return use


def owner(pod):
    """The uid of the Job it belongs to, or None."""
    return next((o["uid"] for o in pod["metadata"].get("ownerReferences", []) if o["kind"] == "Job"), None)


def without_excess(pods, jobs):
    """Killed between making a pod and hearing of it, the Job controller makes another from its old view,
    and deletes the newest as soon as it sees that they are too many. Nobody else can prevent that, and no
    quota is meant for it. So a pod does not count when as many older ones as its Job wants stay alive. Of
    two that were made within one second, which is all that a creationTimestamp tells, the one that stays is older."""
    alive, wanted = Counter(), []
    for pod in sorted(pods, key=lambda p: (p["metadata"]["creationTimestamp"], "deletionTimestamp" in p["metadata"])):
        uid = owner(pod)
        if uid in jobs and not terminal(pod):
            if alive[uid] >= jobs[uid]["spec"]["parallelism"]:
                continue
            alive[uid] += "deletionTimestamp" not in pod["metadata"]
        wanted.append(pod)
    return wanted


def real_use(pods):
    """{uid of the Job: {resource: amount}} of those that are not in a terminal phase."""
    use = defaultdict(Counter)
    for pod in pods:
        if not terminal(pod) and owner(pod):
            use[owner(pod)].update(amounts(pod))
    return use


def running(job):
    """Let run, and not over: nor ending, when no more pods are made of it and Sluice lets it be."""
    ends = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
    over = any(c["type"] in ends and c["status"] == "True" for c in job["status"].get("conditions", []))
    return not job["spec"].get("suspend") and not over


def faults_of_ledger(ledger):
    found = [f"audit: {a['fault']}: {a['subject']}: {a['detail']}" for a in ledger["audit"]]
    found += [f"above its ceiling: {b}" for b in ledger["above"]]
    found += [f"balance is not the sum of the holds: {s}" for s in ledger["sums"]]
    count = Counter(h["uid"] for h in ledger["holds"])
    return found + [f"Job {uid} has {n} open holds" for uid, n in count.items() if n > 1]


def by_resource(hold):
    held = Counter()
    for line in hold["lines"]:
        held[line["resource"]] += line["amount"]
    return held


def faults_of_use(before, use, jobs, after):
    """before, after: the ledger; use: real_use() and jobs: {uid: Job} from in between."""
    held_before = {h["uid"]: h for h in before["holds"]}
    held_after = {(h["uid"], h["attempt"]): h for h in after["holds"]}
    found = []
    # Of a Job that is being deleted only the pods count: no more are made, and it may stay for a while after the last.
    for uid in set(use) | {uid for uid, job in jobs.items() if running(job) and "deletionTimestamp" not in job["metadata"]}:
        name = jobs[uid]["metadata"]["name"] if uid in jobs else uid
        hold = held_before.get(uid)
        if hold is None:
            if after["attempts"].get(uid) == before["attempts"].get(uid):
                found.append(f"Job {name} runs ({dict(use[uid])}), and the ledger has no hold of it")
            continue
        if (uid, hold["attempt"]) not in held_after:
            continue
        a, b = by_resource(hold), by_resource(held_after[uid, hold["attempt"]])
        held = {resource: max(a[resource], b[resource]) for resource in {*a, *b}}
        for resource, amount in use[uid].items():
            if resource in held and amount > held[resource]:
                found.append(f"Job {name} uses {amount} {resource}, but its hold is {held[resource]} ({hold['state']})")
    return found


def faults_of_quota(pods, queue_of, flavor_of, quota):
    """queue_of: {uid: ClusterQueue}; flavor_of(pod); quota: {(queue, flavor, resource): amount}."""
    use = Counter()
    for pod in pods:
        queue = queue_of.get(owner(pod))
        if queue and not terminal(pod):
            for resource, amount in amounts(pod).items():
                use[(queue, flavor_of(pod), resource)] += amount
    return [f"pods of {' '.join(key)} use {n}, the quota is {quota[key]}"
            for key, n in use.items() if key in quota and n > quota[key]]


def faults_of_tree(pods, queue_of, tree):
    """tree: {node: (the one above or None, nominal, borrowingLimit, lendingLimit)} of cpu in
    milli, limits None when there are none; leaves are ClusterQueues. As in docs/queues.md, by
    arithmetic of its own."""
    own = Counter()
    for pod in pods:
        queue = queue_of.get(owner(pod))
        if queue in tree and not terminal(pod):
            own[queue] += amounts(pod)["cpu"]
    below = {n: [c for c in tree if tree[c][0] == n] for n in tree}

    def quota(n):
        return tree[n][1] + sum(quota(c) - kept(c) for c in below[n])

    def kept(n):
        return 0 if tree[n][3] is None else max(0, quota(n) - tree[n][3])

    def use(n):
        return own[n] + sum(max(0, use(c) - kept(c)) for c in below[n])

    def most(n):
        if tree[n][0] is None:
            return quota(n)
        return float("inf") if tree[n][2] is None else quota(n) + tree[n][2]
    return [f"pods below {n} use {use(n)} of {most(n)}" for n in tree if use(n) > most(n)]


def look(box, ns, flavor_of=None, quota=None, tree=None):
    """One look at everything in a namespace; the faults found, as sentences."""
    before = read_ledger(box)
    # Pods after Jobs: a Job that was seen running may have finished when its pods are read, not the reverse.
    jobs = {j["metadata"]["uid"]: j for j in box.api.list(f"/apis/batch/v1/namespaces/{ns}/jobs")
            if QUEUE in j["metadata"].get("labels", {})}
    pods = without_excess(box.api.list(f"/api/v1/namespaces/{ns}/pods"), jobs)
    after = read_ledger(box)
    found = faults_of_ledger(before) + faults_of_ledger(after) + faults_of_use(before, real_use(pods), jobs, after)
    queue_of = {h["uid"]: h["cq"] for h in before["holds"] + after["holds"]}
    if quota:
        found += faults_of_quota(pods, queue_of, flavor_of, quota)
    if tree:
        found += faults_of_tree(pods, queue_of, tree)
    return found


def faults_at_rest(box, ns=None):
    """When no Job is left (of a namespace; its queues' names begin with it): nothing is held,
    and each RESERVE was resolved exactly once."""
    ledger = read_ledger(box)
    found = faults_of_ledger(ledger) + [f"still held: {h}" for h in ledger["holds"] if ns in (None, h["ns"])]
    found += [f"balance not zero: {row}" for row in box.sql(
        "select node, flavor, resource, pending, posted, releasing, members from sluice.balance where pending + posted + releasing + members <> 0")
        if row[0].startswith((f"cq/{ns}-", f"cohort/{ns}-") if ns else "")]
    return found + [f"history: {' | '.join(row)}" for row in box.sql(HISTORY)]
