"""A world for `sluice simulate` in which night is cheaper than day, and the same as prices for cheapest_placement.py."""
import subprocess
import tempfile

import cheapest_placement as placement

ZONE, OPENS, CLOSES = "America/Los_Angeles", 19, 7
PRICE, NIGHT = "0.04", "0.4"
DAY_MICRO, NIGHT_MICRO = 40000, 16000
PLENTY = 1000000
ALLOWANCE_H = 24

WORLD = """apiVersion: sluice.dev/v1alpha1
kind: ResourceFlavor
metadata: {{name: node}}
---
apiVersion: sluice.dev/v1alpha1
kind: ClusterQueue
metadata: {{name: ipsc}}
spec:
  namespaceSelector: {{}}
  queueingStrategy: BestEffortFIFO
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: node, resources: [{{name: cpu, nominalQuota: {cpus}}}]}}]
---
apiVersion: sluice.dev/v1alpha1
kind: LocalQueue
metadata: {{name: main, namespace: default}}
spec: {{clusterQueue: ipsc}}
---
apiVersion: sluice.dev/v1alpha1
kind: Calendar
metadata: {{name: nights}}
spec:
  timeZone: {zone}
  open: [{{name: night, days: [Mon-Sun], from: "{opens:02}:00", to: "{closes:02}:00"}}]
---
apiVersion: sluice.dev/v1alpha1
kind: PricePlan
metadata: {{name: power}}
spec:
  currency: USD
  base: {{cpu: "{price}"}}
  rates: [{{calendar: nights, factor: "{night}"}}]
"""

WINDOWS = """---
apiVersion: sluice.dev/v1alpha1
kind: RunPolicy
metadata: {name: at-night}
spec:
  queues: [ipsc]
  calendar: nights
  atClose: {action: Suspend, maxSuspensions: 2}
"""


def prices(jobs):
    at, night = placement.nights(ZONE, min(j.submit for j in jobs), max(j.deadline for j in jobs), OPENS, CLOSES)
    return placement.Prices(at, night, {True: NIGHT_MICRO, False: DAY_MICRO})


def simulate(sluice, trace, rules, start, cpus, output="json", extra=()):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as world:
        world.write(WORLD.format(cpus=cpus, zone=ZONE, opens=OPENS, closes=CLOSES, price=PRICE, night=NIGHT) + rules)
        world.flush()
        done = subprocess.run([sluice, "simulate", "-f", world.name, "--trace", trace, "--queue", "default/main", "--trace-deadline",
                               f"{ALLOWANCE_H}h", "--trace-start", start, "-o", output, *extra], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout
