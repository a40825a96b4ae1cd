"""Waits until the controller knows what a test has seen already: it sees each kind by a watch of its own, and may be late by seconds."""

import time
from datetime import datetime

from objects import conditions, path_of
from sandbox import wait_until


def booked(world, *names):
    """Waits until the ledger has the start of each: what is said of a stop, and what its work was worth, counts from there."""
    for name in names:
        world.wait(f"the start of {name} to be in the books", lambda n=name: "COMMIT" in world.transfers(n), about=name)


def heeded(world, plural, name, ns=None):
    """Waits until the controller says that it goes by the object as it is now. `name` is the whole one."""
    def said():
        obj = world.api.get(path_of(plural, name, ns))
        return conditions(obj).get("Active", {}).get("observedGeneration") == obj["metadata"]["generation"]
    world.wait(f"{name} to be known as it is now", said)


def second_is_over(text):
    """Waits until it is a later second than this one: what comes then has a later time, also where times have whole seconds."""
    at = datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    wait_until(f"a second after {text}", lambda: time.time() >= at + 1)
