"""A plugin of pytest: tells test/suite.py how far the tests are, a line of JSON for each event.

With workers (pytest-xdist) it speaks in the process that hands out the tests, which hears of all of them."""

import json
import os

FILE = os.environ.get("SLUICE_E2E_PROGRESS")


def _say(**event):
    if FILE and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(FILE, "a") as f:
            f.write(json.dumps(event) + "\n")


def pytest_collection_finish(session):
    if session.items:
        _say(collected=len(session.items))


def pytest_runtest_logstart(nodeid):
    _say(start=nodeid)


_failed = set()


def pytest_runtest_logreport(report):
    if report.failed:
        _failed.add(report.nodeid)
    if report.when == "teardown":
        _say(end=report.nodeid, failed=report.nodeid in _failed)


class _Workers:
    """What only pytest-xdist asks."""

    told = False

    def pytest_xdist_node_collection_finished(self, node, ids):
        if not self.told:
            self.told = True
            _say(collected=len(ids))


def pytest_configure(config):
    if config.pluginmanager.hasplugin("xdist") and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(_Workers())
