"""Kueue's cycle, written down a second time and as plainly as possible: the judge of the C core.

Follows reference/kueue-semantics.md 3, 4, 5, 6, 7 and 18 literally and slowly, with lists and
dictionaries, no trees of waiting groups and nothing remembered between two cycles. It knows one pod
set per Job. Time does not pass in here: a world calls settle() after each event, and cycles run
until one of them does nothing.

Where Sluice differs on purpose, so does this (docs/queues.md has the reasons):

  - cycles run to the end at one instant;
  - who cannot start takes no turn;
  - what victims leave is promised to the preemptor at once. The victims are there until the cycles have
    ended, and what they hold is not free NOW: another flavor that is free is better;
  - who lost a turn only to what a StrictFIFO head keeps lets those behind have theirs;
  - who starts and borrows wakes those of other ClusterQueues who may take that back;
  - what StrictFIFO heads keep does not count for who takes back what is its ClusterQueue's own by displacing;
  - a Job below its ClusterQueue's gapFillers displaces nobody, waits for nobody who leaves, and blocks nobody; what
    it borrowed may be taken back by whose nominal quota it is, even with reclaimWithinCohort Never;
  - with fair sharing nobody displaces those through whom it had to go itself, before something else came free;
  - without it, who had to go twice displaces nobody in order to borrow, before something else came free;
  - nobody is displaced in the first minRun seconds of its run, but by who takes back what is its own with
    reclaimWithinCohort Any;
  - who asks for 0 of a resource is not displaced for it;
  - a flavor is as good as the worst way of its resources, and borrows as far as the one that borrows furthest;
  - displacing that only the rule for negative priorities allows comes after any flavor that fits.

It was held against Kueue's own scheduler (ff69552 of August 2026, with its cache and its queues), Job by
Job, cycle by cycle and in whole worlds, also with Cohorts four deep: docs/testing.md.
"""

from dataclasses import dataclass, field

INF = float("inf")


@dataclass
class Node:
    name: str
    parent: "Node" = None
    quota: dict = field(default_factory=dict)  # (flavor, resource) -> (nominal, borrowing, lending)
    weight: float = 1.0
    children: list = field(default_factory=list)
    usage: dict = field(default_factory=dict)
    subtree: dict = field(default_factory=dict)

    def nominal(self, fr):
        return self.quota.get(fr, (0, INF, INF))[0]

    def borrowing_limit(self, fr):
        return self.quota.get(fr, (0, INF, INF))[1]

    def local(self, fr):
        lending = self.quota.get(fr, (0, INF, INF))[2]
        return max(0, self.subtree.get(fr, 0) - lending) if lending != INF else 0

    def used(self, fr):
        return self.usage.get(fr, 0)

    def local_free(self, fr):
        return max(0, self.local(fr) - self.used(fr))

    def available(self, fr):
        if not self.parent:
            return self.subtree.get(fr, 0) - self.used(fr)
        above = self.parent.available(fr)
        if self.borrowing_limit(fr) != INF:
            lent = self.subtree.get(fr, 0) - self.local(fr)
            above = min(above, lent - max(0, self.used(fr) - self.local(fr)) + self.borrowing_limit(fr))
        return self.local_free(fr) + above

    def potential(self, fr):
        if not self.parent:
            return self.subtree.get(fr, 0)
        return min(self.local(fr) + self.parent.potential(fr), self.subtree.get(fr, 0) + self.borrowing_limit(fr))

    def add(self, fr, v):
        free = self.local_free(fr)
        self.usage[fr] = self.used(fr) + v
        if self.parent and v > free:
            self.parent.add(fr, v - free)

    def remove(self, fr, v):
        over = self.used(fr) - self.local(fr)
        self.usage[fr] = self.used(fr) - v
        if over > 0 and self.parent:
            self.parent.remove(fr, min(v, over))

    def borrows_with(self, fr, v):
        return self.used(fr) + v > self.subtree.get(fr, 0)

    def within(self, frs):
        return all(self.used(fr) <= self.subtree.get(fr, 0) for fr in frs)

    def path(self):  # parents up to the root
        node = self.parent
        while node:
            yield node
            node = node.parent

    def root(self):
        return self.parent.root() if self.parent else self

    def height(self):
        return max((c.height() + 1 for c in self.children), default=0)

    def leaves(self):
        for c in self.children:
            if isinstance(c, ClusterQueue):
                yield c
            else:
                yield from c.leaves()

    def settle(self):
        self.subtree = {fr: q[0] for fr, q in self.quota.items()}
        for c in self.children:
            c.settle()
            for fr in c.subtree:
                self.subtree[fr] = self.subtree.get(fr, 0) + c.subtree[fr] - c.local(fr)


@dataclass
class ClusterQueue(Node):
    groups: list = field(default_factory=list)  # [(resources, [flavor, ..]), ..]
    strict: bool = False
    within_cq: str = "Never"
    reclaim: str = "Never"
    borrow_policy: bool = False
    threshold: int = None
    next_when_borrowing: bool = False
    stop_when_preempting: bool = False
    prefer_preemption: bool = False
    gaps_below: float = 0  # Jobs of a lower priority fill gaps
    min_run: float = 0  # seconds in which a run of it is no victim
    waiting: list = field(default_factory=list)
    refused: set = field(default_factory=set)  # kinds of Jobs that could not start: until something becomes free (5.2, 5.3)
    running: list = field(default_factory=list)


@dataclass
class Job:
    name: str
    cq: ClusterQueue
    requests: dict  # resource -> amount of all pods
    priority: int
    created: int
    order: int  # of arrival
    uid: str
    flavors: dict = None  # resource -> flavor
    reserved: int = 0
    promised: bool = False  # admitted, but its victims are still there: the first to be displaced

    def key(self):
        return (-self.priority, self.created, self.order)

    def fills_gaps(self):
        return self.priority < self.cq.gaps_below

    def kind(self):
        return self.priority, tuple(sorted(self.requests.items()))

    def usage(self):
        return {(self.flavors[r], r): v for r, v in self.requests.items()}


# ---- shares (7.1) ----

@dataclass
class Share:
    ratio: float
    weight: float
    borrowed: set

    def beyond(self):
        return self.weight == 0 and self.ratio != 0

    def value(self):
        if self.ratio == 0:
            return 0.0
        return INF if self.weight == 0 else self.ratio / self.weight


NEGATIVE = Share(-1.0, 1.0, set())


def compare(a, b):
    if a.beyond() and b.beyond():
        x, y = a.ratio, b.ratio
    elif a.beyond():
        return 1
    elif b.beyond():
        return -1
    else:
        x, y = a.value(), b.value()
    return (x > y) - (x < y)


def share(node):
    if not node.parent:
        return Share(0.0, node.weight, set())
    borrowed, frs = {}, set()
    for fr, quota in node.subtree.items():
        beyond = node.used(fr) - quota
        if beyond > 0:
            borrowed[fr[1]] = borrowed.get(fr[1], 0) + beyond
            frs.add(fr)
    lendable = {}
    for fr in node.root().subtree:
        lendable[fr[1]] = lendable.get(fr[1], 0) + node.parent.potential(fr)
    ratio = 0.0
    for resource, b in borrowed.items():
        if lendable.get(resource, 0) > 0:
            ratio = max(ratio, float(b) * 1000.0 / float(lendable[resource]))
    return Share(ratio, node.weight, frs)


# ---- whom to displace (6) ----

def satisfies(policy, preemptor, candidate):
    lower = preemptor.priority > candidate.priority
    if policy == "LowerPriority":
        return lower
    if policy == "LowerOrNewerEqualPriority":
        newer = preemptor.priority == candidate.priority and preemptor.created < candidate.created
        return lower or newer
    return policy == "Any"


def yields_gap(preemptor, candidate):
    """Of another ClusterQueue: whatever reclaimWithinCohort says, who fills gaps gives back as with LowerPriority."""
    return candidate.fills_gaps() and preemptor.priority > candidate.priority


def spared(preemptor, candidate, takes_back, now):
    cq = candidate.cq
    if candidate.promised or (takes_back and cq is not preemptor.cq and preemptor.cq.reclaim == "Any"):
        return False
    return now - candidate.reserved < cq.min_run


def uses(job, frs):
    return any(v > 0 and fr in frs for fr, v in job.usage().items())


def fits(cq, usage, borrowing):
    return all((borrowing or not cq.borrows_with(fr, v)) and v <= max(0, cq.available(fr)) for fr, v in usage.items())


def take(job):
    for fr, v in job.usage().items():
        job.cq.add(fr, v)


def give(job):
    for fr, v in job.usage().items():
        job.cq.remove(fr, v)


def candidate_key(cq):
    return lambda job: (not job.promised, job.cq is cq, job.priority, -job.reserved, job.uid)


def fill_back(cq, usage, targets, borrowing):
    i = len(targets) - 2
    while i >= 0:
        take(targets[i][0])
        if fits(cq, usage, borrowing):
            targets[i] = targets[-1]
            targets.pop()
        else:
            give(targets[i][0])
        i -= 1
    return targets


class Classic:
    def __init__(self, job, cq, frs, usage, only_reclaims, now):
        self.job, self.cq, self.frs, self.usage, self.only_reclaims, self.now = job, cq, frs, usage, only_reclaims, now

    def variant(self, candidate, advantage):
        cq = self.cq
        if not uses(candidate, self.frs) or spared(self.job, candidate, True, self.now):
            return None
        policy = cq.within_cq if candidate.cq is cq else cq.reclaim
        if not (satisfies(policy, self.job, candidate) or (candidate.cq is not cq and yields_gap(self.job, candidate))):
            return None
        if candidate.cq is cq:
            return "InClusterQueue"
        if policy == "Never":
            return "WithoutBorrowing"
        if advantage:
            return "InCohortReclamation"
        if not cq.borrow_policy or candidate.priority >= self.job.priority or \
                (cq.threshold is not None and candidate.priority > cq.threshold):
            return "WithoutBorrowing"
        return "InCohortReclaimWhileBorrowing"

    def subtree(self, node, lca, skip, advantage, out):
        for c in node.children:
            if isinstance(c, ClusterQueue):
                if c is not self.cq and not c.within(self.frs):
                    out += [(j, v, lca) for j in c.running if (v := self.variant(j, advantage))]
            elif c is not skip and not c.within(self.frs):
                self.subtree(c, lca, skip, advantage, out)

    def collect(self):
        hierarchy, priority, same = [], [], []
        cq = self.cq
        if cq.within_cq != "Never":
            same = [(j, v, None) for j in cq.running if (v := self.variant(j, False))]
        if cq.parent:
            rest, previous = dict(self.usage), None
            advantage, rest = self.fit_in_quota(cq, rest)
            for node in cq.path():
                self.subtree(node, node, previous, advantage, hierarchy if advantage and cq.reclaim != "Never" else priority)
                fit, rest = self.fit_in_quota(node, rest)
                advantage = advantage or fit
                previous = node
        key = candidate_key(cq)
        for group in (hierarchy, priority, same):
            group.sort(key=lambda c: key(c[0]))
        return hierarchy, priority, same

    @staticmethod
    def fit_in_quota(node, requests):
        fit = all(node.subtree.get(fr, 0) >= node.used(fr) + v for fr, v in requests.items())
        return fit, {fr: max(0, v - node.local_free(fr)) for fr, v in requests.items()}

    def valid(self, candidate, borrowing):
        job, variant, lca = candidate
        if job.cq is self.cq:
            return True
        if borrowing and variant == "WithoutBorrowing":
            return False
        if variant != "InCohortReclamation" and spared(self.job, job, not borrowing, self.now):
            return False
        if job.cq.within(self.frs):
            return False
        for node in job.cq.path():
            if node is lca:
                break
            if node.within(self.frs):
                return False
        return True

    def targets(self):
        hierarchy, priority, same = self.collect()
        under = all(self.cq.nominal(fr) > self.cq.used(fr) for fr in self.frs)
        forbidden = not self.cq.borrow_policy
        if self.only_reclaims and (hierarchy or priority):
            attempts = [False]
        elif (not hierarchy and not priority) or (forbidden and not under):
            attempts = [True]
        elif forbidden and not hierarchy:
            attempts = [False, True]
        else:
            attempts = [True, False]
        for borrowing in attempts:
            out = []
            for c in hierarchy + priority + same:
                if not self.valid(c, borrowing):
                    continue
                give(c[0])
                out.append((c[0], "InCohortReclamation" if c[1] == "WithoutBorrowing" else c[1]))
                if fits(self.cq, self.usage, borrowing):
                    out = fill_back(self.cq, self.usage, out, borrowing)
                    for job, _ in out:
                        take(job)
                    return out
            for job, _ in out:
                take(job)
        return []


class Fair:
    def __init__(self, job, cq, frs, usage, strategies, through, now):
        self.job, self.cq, self.frs, self.usage, self.strategies, self.through, self.now = job, cq, frs, usage, strategies, through, now

    def candidates(self):
        cq, out = self.cq, []
        entitled = all(cq.used(fr) + self.usage.get(fr, 0) <= cq.subtree.get(fr, 0) for fr in self.frs)
        if cq.within_cq != "Never":
            out += [j for j in cq.running if satisfies(cq.within_cq, self.job, j) and uses(j, self.frs)]
        if cq.parent and (entitled or cq.reclaim != "Never"):
            for other in cq.root().leaves():
                if other is not cq and any(other.used(fr) > other.subtree.get(fr, 0) for fr in self.frs):
                    out += [j for j in other.running if (satisfies(cq.reclaim, self.job, j) or yields_gap(self.job, j)) and uses(j, self.frs) and j.name not in self.through]
        return sorted((j for j in out if not spared(self.job, j, entitled, self.now)), key=candidate_key(cq))

    def fits(self):
        for fr, v in self.usage.items():
            self.cq.remove(fr, v)
        result = fits(self.cq, self.usage, True)
        for fr, v in self.usage.items():
            self.cq.add(fr, v)
        return result

    def order(self, candidates):
        self.of = {}
        for j in candidates:
            self.of.setdefault(j.cq.name, []).append(j)
        self.pruned = set()
        self.ancestors = set(id(n) for n in self.cq.path())

    def next_cq(self):
        if not self.cq.parent:
            return self.cq if self.cq.name not in self.pruned and self.of.get(self.cq.name) else None
        root = self.cq.root()
        while ("cohort", root.name) not in self.pruned:
            found = self.next_in(root)
            if found:
                return found
        return None

    def next_in(self, cohort):
        best_cq, best_cq_share = None, NEGATIVE
        for cq in (c for c in cohort.children if isinstance(c, ClusterQueue)):
            if cq.name in self.pruned:
                continue
            s = share(cq)
            if (not s.borrowed and cq is not self.cq) or not self.of.get(cq.name):
                self.pruned.add(cq.name)
            elif compare(s, best_cq_share) == 0:
                key = candidate_key(self.cq)
                if key(self.of[cq.name][0]) < key(self.of[best_cq.name][0]):
                    best_cq = cq
            elif compare(s, best_cq_share) > 0:
                best_cq, best_cq_share = cq, s
        best, best_share = None, NEGATIVE
        for c in (c for c in cohort.children if not isinstance(c, ClusterQueue)):
            if ("cohort", c.name) in self.pruned:
                continue
            s = share(c)
            if not s.borrowed and id(c) not in self.ancestors:
                self.pruned.add(("cohort", c.name))
            elif compare(s, best_share) > 0 or (compare(s, best_share) == 0 and c.name < best.name):
                best, best_share = c, s  # of equals Kueue takes whichever its map yields last
        if not best and not best_cq:
            self.pruned.add(("cohort", cohort.name))
            return None
        if compare(best_share, best_cq_share) >= 0:
            return self.next_in(best)
        return best_cq

    def almost(self, target):
        """The nodes just below the lowest common ancestor: ours, and the target's."""
        mine, theirs = [self.cq, *self.cq.path()], [target, *target.path()]
        lca = next(n for n in theirs if any(n is m for m in mine))
        return mine[next(i for i, n in enumerate(mine) if n is lca) - 1], theirs[next(i for i, n in enumerate(theirs) if n is lca) - 1]

    def targets(self):
        candidates = self.candidates()
        if not candidates:
            return []
        for fr, v in self.usage.items():
            self.cq.add(fr, v)
        ok, out, retry = self.first(candidates)
        if not ok and len(self.strategies) > 1:
            ok, out = self.second(retry, out)
        for fr, v in self.usage.items():
            self.cq.remove(fr, v)
        if ok:
            out = fill_back(self.cq, self.usage, out, True)
        for job, _ in out:
            take(job)
        return out if ok else []

    def first(self, candidates):
        self.order(candidates)
        out, retry = [], []
        within_nominal = all(self.cq.used(fr) <= self.cq.subtree.get(fr, 0) for fr in self.frs)
        while cq := self.next_cq():
            if cq is self.cq or within_nominal:
                job = self.of[cq.name].pop(0)
                give(job)
                out.append((job, "InClusterQueue" if cq is self.cq else "InCohortReclamation"))
                if self.fits():
                    return True, out, []
                continue
            mine, theirs = self.almost(cq)
            new, old = share(mine), share(theirs)
            while self.of[cq.name]:
                job = self.of[cq.name].pop(0)
                for fr, v in job.usage().items():
                    cq.remove(fr, v)
                after = share(theirs)
                for fr, v in job.usage().items():
                    cq.add(fr, v)
                passed = compare(new, after) <= 0 if self.strategies[0] == "final" else compare(new, old) < 0
                if passed:
                    give(job)
                    out.append((job, "InCohortFairSharing"))
                    if self.fits():
                        return True, out, []
                    break
                retry.append(job)
        return False, out, retry

    def second(self, retry, out):
        self.order(retry)
        while cq := self.next_cq():
            mine, theirs = self.almost(cq) if self.cq.parent else (cq, cq)
            job = self.of[cq.name].pop(0)
            if compare(share(mine), share(theirs)) < 0:
                give(job)
                out.append((job, "InCohortFairSharing"))
                if self.fits():
                    return True, out
            self.pruned.add(cq.name)
        return False, out


# ---- which flavor (4.3, 1.5) ----

NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, AWAIT, FIT = range(6)


def level_of(cq, fr, v):
    if not cq.parent or not cq.borrows_with(fr, v):
        return 0, cq.parent is not None
    rest = v - cq.local_free(fr)
    for node in cq.path():
        if not node.borrows_with(fr, rest):
            return node.height(), node.parent is not None
        rest -= node.local_free(fr)
    return cq.root().height(), False


ENDLESS = 50  # so often at one instant do those who were displaced displace others, and what comes free wakes others


class World:
    def __init__(self, fair=False, strategies=("final", "initial")):
        self.fair, self.strategies = fair, strategies
        self.queues = []
        self.now = 0
        self.went = {}  # root -> [(for whom, who had to go)] since anything came free that nobody had to stop for
        self.leaving = []  # (victim that ran, what it uses until it is gone)
        self.borrowers = []  # ClusterQueues that borrow more since the last look

    def fits_now(self, cq, usage):
        """Beside those who are leaving, and before those who were promised their room."""
        promised = [j for q in self.queues for j in q.running if j.promised]
        for j in promised:
            give(j)
        for j, used in self.leaving:
            for fr, v in used.items():
                j.cq.add(fr, v)
        result = fits(cq, usage, True)
        for j, used in self.leaving:
            for fr, v in used.items():
                j.cq.remove(fr, v)
        for j in promised:
            take(j)
        return result

    def targets(self, job, frs, usage):
        if job.fills_gaps():
            return []
        if self.fair:
            return Fair(job, job.cq, frs, usage, self.strategies, self.through(job), self.now).targets()
        had_to_go = sum(victim == job.name for _, victim in self.went.get(job.cq.root().name, []))
        return Classic(job, job.cq, frs, usage, had_to_go >= 2, self.now).targets()

    def through(self, job):
        """Those for whom it had to go, those for whom these had to go, and so on."""
        went, out = self.went.get(job.cq.root().name, []), set()
        while more := {a for a, b in went if b in out | {job.name}} - out:
            out |= more
        return out

    def resource_mode(self, job, fr, v, displaces):
        """(mode, level, does it displace Jobs that only the rule for negative priorities gives it)"""
        cq = job.cq
        if v > cq.potential(fr):
            return NO_FIT, 0, False
        level, inside = level_of(cq, fr, v)
        if v <= max(0, cq.available(fr)):
            if self.fits_now(cq, {fr: v}):
                return FIT, level, False
            return (NO_FIT if job.fills_gaps() else AWAIT), level, False
        while_borrowing = cq.borrow_policy or (self.fair and cq.reclaim != "Never")
        if displaces and not job.fills_gaps() and (cq.nominal(fr) >= v or inside or while_borrowing):
            targets = self.targets(job, {fr}, {fr: v})
            if not targets:
                return NO_CANDIDATES, level_of(cq, fr, v)[0], False
            for t, _ in targets:
                give(t)
            after = level_of(cq, fr, v)[0]
            for t, _ in targets:
                take(t)
            gaps = cq.reclaim == "Never" and any(t.cq is not cq for t, _ in targets)
            return (PREEMPT if any(t.cq is cq for t, _ in targets) else RECLAIM), after, gaps
        return NO_FIT, level, False

    @staticmethod
    def preferred(cq, a, b):
        a, b = [(mode, INF if gaps else level) for mode, level, gaps in (a, b)]
        if a[0] == NO_FIT:
            return False
        if b[0] == NO_FIT:
            return True
        if (a[0] == NO_CANDIDATES) != (b[0] == NO_CANDIDATES):
            return a[0] != NO_CANDIDATES
        if cq.prefer_preemption:
            return a[1] < b[1] if a[1] != b[1] else a[0] > b[0]
        return a[0] > b[0] if a[0] != b[0] else a[1] < b[1]

    @staticmethod
    def goes_on(cq, mode):
        if mode[0] in (NO_FIT, NO_CANDIDATES) or mode[2]:
            return True
        if mode[0] in (PREEMPT, RECLAIM, AWAIT) and not cq.stop_when_preempting:
            return True
        return mode[1] != 0 and cq.next_when_borrowing

    def assign(self, job, start, displaces=True):
        """(worst mode, flavors, contested, level, where to go on in each group) or None."""
        cq, flavors, contested, level, after, worst = job.cq, {}, set(), 0, [], FIT
        for g, (resources, names) in enumerate(cq.groups):
            wanted = [r for r in resources if r in job.requests]
            after.append(-1)
            if not wanted:
                continue
            best, best_mode, tried = None, (NO_FIT, INF, False), -1
            for i in range(start[g] + 1, len(names)):
                tried, mode, modes = i, (FIT, 0, False), {}
                for r in wanted:
                    m = self.resource_mode(job, (names[i], r), job.requests[r], displaces)
                    mode = min(mode[0], m[0]), max(mode[1], m[1]), mode[2] or m[2]
                    modes[r] = m
                    if mode[0] == NO_FIT:
                        break
                if not self.goes_on(cq, mode):
                    best, best_mode = (names[i], modes), mode
                    break
                if self.preferred(cq, mode, best_mode):
                    best, best_mode = (names[i], modes), mode
            if best is None:
                return None
            after[g] = -1 if tried == len(names) - 1 else tried
            for r, m in best[1].items():
                flavors[r] = best[0]
                level = max(level, m[1])
                if m[0] < AWAIT:
                    contested.add((best[0], r))
            worst = min(worst, *(m[0] for m in best[1].values()))
        return worst, flavors, contested, level, after

    def nominate(self, job):
        """(mode, flavors, targets, level); mode None: cannot; NO_CANDIDATES: might, if others were displaced."""
        start, last = [-1] * len(job.cq.groups), None
        while True:
            a = self.assign(job, start)
            if a is None:
                return self.passed_over(job) or last
            worst, flavors, contested, level, after = a
            if worst >= AWAIT:
                return FIT, flavors, [], level, contested
            targets = self.targets(job, contested, {(flavors[r], r): v for r, v in job.requests.items()})
            if targets:
                return PREEMPT, flavors, targets, level, contested
            last = last or (NO_CANDIDATES, flavors, [], level, contested)
            if all(x == -1 for x in after):
                return self.passed_over(job) or last
            start = after

    def passed_over(self, job):
        """Nothing came of the flavors in which others would have to go: one that fits beside them. Not Kueue's."""
        a = self.assign(job, [-1] * len(job.cq.groups), displaces=False)
        return (FIT, a[1], [], a[3], a[2]) if a and a[0] >= AWAIT else None

    # ---- the cycles ----

    def offer(self, cq):
        """(job, nomination) or None. The walk through those who wait goes on behind the last who had a turn."""
        for job in sorted(cq.waiting, key=Job.key):
            blocks = cq.strict and not job.fills_gaps()
            if not blocks and (job.kind() in cq.refused or (cq.name in self.behind and job.key() <= self.behind[cq.name])):
                continue
            if cq.strict and any(v.cq is cq and not v.fills_gaps() and v.key() < job.key() for v, _ in self.leaving):
                self.kept[cq.name] = None  # it will be the first again
                return None
            n = self.nominate(job)
            if n and n[0] != NO_CANDIDATES:
                return job, n
            if blocks:
                self.kept[cq.name] = (job, n) if n else None
                return None
            cq.refused.add(job.kind())
        return None

    def offers(self):
        out = []
        for cq in self.queues:
            if cq.name not in self.kept:
                o = self.offer(cq)
                if o:
                    out.append(o)
                else:
                    self.kept.setdefault(cq.name, None)  # nothing any more, or what a head keeps
            if self.kept.get(cq.name):
                out.append(self.kept[cq.name])
        return out

    def next_offer(self, offers):
        if not self.fair:
            return min(offers, key=lambda o: (o[1][3], o[0].key()))
        cq = offers[0][0].cq
        if not cq.parent:
            return offers[0]
        by_cq = {o[0].cq.name: o for o in offers}
        shares = {}
        for job, n in offers:
            if job.cq.root() is not cq.root():
                continue
            for r, v in job.requests.items():
                job.cq.add((n[1][r], r), v)
            node = job.cq
            for above in job.cq.path():
                shares[above.name, job.name] = share(node)
                node = above
            for r, v in job.requests.items():
                job.cq.remove((n[1][r], r), v)
        return self.tournament(cq.root(), by_cq, shares)

    def tournament(self, cohort, by_cq, shares):
        entries = [e for c in cohort.children if not isinstance(c, ClusterQueue) and (e := self.tournament(c, by_cq, shares))]
        entries += [by_cq[c.name] for c in cohort.children if isinstance(c, ClusterQueue) and c.name in by_cq]
        best = None
        for e in entries:
            if best is None or self.less(e, best, cohort, shares):
                best = e
        return best

    @staticmethod
    def less(a, b, cohort, shares):
        x, y = shares[cohort.name, a[0].name], shares[cohort.name, b[0].name]
        bx = any((a[1][1][r], r) in x.borrowed for r in a[0].requests)
        by = any((b[1][1][r], r) in y.borrowed for r in b[0].requests)
        if bx != by:
            return not bx
        c = compare(x, y)
        return c < 0 if c else a[0].key() < b[0].key()

    def reserve(self, job, n, undo):
        cq = job.cq
        if cq.reclaim == "Any":
            return
        for r, v in job.requests.items():
            fr = (n[1][r], r)
            if n[3] > 0:
                most = v if cq.borrowing_limit(fr) == INF else cq.nominal(fr) + cq.borrowing_limit(fr) - cq.used(fr)
            else:
                most = cq.nominal(fr) - cq.used(fr)
            amount = max(0, min(v, most))
            cq.add(fr, amount)
            undo.append((cq, fr, amount))

    def free(self, cq):
        """Somebody has finished."""
        self.went.pop(cq.root().name, None)
        self.wake(cq)

    def arrive(self, job):
        """What a StrictFIFO head keeps goes with it."""
        cq = job.cq
        if cq.strict and cq.waiting and job.key() < min(j.key() for j in cq.waiting):
            self.wake(cq)
        cq.waiting.append(job)

    def wake(self, cq):
        """Something became free."""
        for other in self.queues:
            if other.root() is cq.root():
                other.refused.clear()

    def borrows_more(self, cq, usage):
        """It has taken that, and borrows now: others may take it back."""
        if any(v > 0 and node.parent and node.borrows_with(fr, 0) for node in (cq, *cq.path()) for fr, v in usage.items()):
            self.borrowers.append(cq)

    def wake_who_takes_back(self):
        """True when there is somebody."""
        gaps, woken = any(j.fills_gaps() for q in self.queues for j in (*q.waiting, *q.running)), False
        for cq in self.queues:
            if (cq.reclaim != "Never" or gaps) and cq.waiting and any(b is not cq and b.root() is cq.root() for b in self.borrowers):
                cq.refused.clear()
                woken = True
        self.borrowers = []
        return woken

    def displace(self, targets, job, events):
        for t, reason in targets:
            self.wake(t.cq)
            self.went.setdefault(t.cq.root().name, []).append((job.name, t.name))
            give(t)
            t.cq.running.remove(t)
            if t.promised:
                t.promised = False
                t.cq.waiting.append(t)
                events[:] = [e for e in events if e[:2] != ("Admitted", t.name)]
            else:
                self.leaving.append((t, t.usage()))
                events.append(("Preempted", t.name, reason, job.name))
            t.flavors = None
            self.displaced.append(t.cq)

    def own_targets(self, job, contested, usage, reserved):
        """(Does it fit, whom it displaces) beside nothing that is kept, where it stays within its nominal quota; or None."""
        for cq, fr, amount in reserved:
            cq.remove(fr, amount)
        free = fits(job.cq, usage, True)
        targets = [] if free else self.targets(job, contested, usage)
        for t, _ in targets:
            give(t)
        own = (free or targets) and not any(job.cq.borrows_with(fr, v) for fr, v in usage.items())
        for t, _ in targets:
            take(t)
        for cq, fr, amount in reserved:
            cq.add(fr, amount)
        return (free, targets) if own else None

    def turn(self, job, n, events, reserved):
        mode, flavors, _, _, contested = n
        usage = {(flavors[r], r): v for r, v in job.requests.items()}
        free, targets = fits(job.cq, usage, True), []
        if not free and mode == PREEMPT:
            own = self.own_targets(job, contested, usage, reserved) if reserved else None
            free, targets = own or (False, self.targets(job, contested, usage))
        if free:
            job.promised = not self.fits_now(job.cq, usage)
            if job.promised and job.fills_gaps():
                job.promised = False
                return False
        else:
            if not targets:
                return False
            self.displace(targets, job, events)
            job.promised = True
        job.flavors = dict(flavors)
        take(job)
        self.borrows_more(job.cq, job.usage())
        job.reserved = self.now
        job.cq.waiting.remove(job)
        job.cq.running.append(job)
        self.behind[job.cq.name] = job.key()
        events.append(("Admitted", job.name, tuple(sorted(flavors.items()))))
        return True

    def round(self, events):
        came, reserved, lost, offers = False, [], [], self.offers()
        while offers:
            offer = self.next_offer(offers)
            offers.remove(offer)
            if offer[1][0] == NO_CANDIDATES:
                self.reserve(*offer, reserved)
            elif self.turn(*offer, events, reserved):
                came = True
            else:
                lost.append(offer[0])
        for cq, fr, amount in reserved:
            cq.remove(fr, amount)
        if not came and reserved:
            for job in lost:
                self.behind[job.cq.name] = job.key()
                job.cq.refused.add(job.kind())
                if job.cq.strict and not job.fills_gaps():
                    self.kept[job.cq.name] = None  # there is nobody behind
        return came or (lost and reserved)

    def look(self, events):
        self.kept, self.behind, self.displaced = {}, {}, []
        while came := self.round(events):
            if self.fair and came is True:  # who started may be one to displace now: heads are asked again
                for cq in self.queues:
                    if cq.strict:
                        self.kept.pop(cq.name, None)
        for cq in self.displaced:
            self.wake(cq)
        return self.wake_who_takes_back() or self.displaced

    def settle(self):
        """Runs cycles until nothing more happens. Returns the events; None when it never ends."""
        events = []
        for _ in range(ENDLESS):
            self.leaving, looks = [], 0
            while self.look(events):
                looks += 1
                if looks > ENDLESS:
                    return None
            for cq in self.queues:
                for job in cq.running:
                    job.promised = False
            if not self.leaving:
                return events
            for job, _ in self.leaving:
                self.wake(job.cq)
                job.cq.waiting.append(job)
        return None
