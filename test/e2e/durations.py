"""What each test took in the last full run: build/logs/durations.json, which test/suite.py writes."""

import json

from sandbox.sandbox import BUILD

FILE = BUILD / "logs" / "durations.json"


def of(part):
    """Returns {name of the test: seconds} of "ctest" or "e2e"; empty in a new clone."""
    try:
        return json.loads(FILE.read_text())["tests"][part]
    except (OSError, ValueError, KeyError):
        return {}
