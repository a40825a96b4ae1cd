"""The sandboxes themselves: none is left running."""

import conftest
import pytest


class FakePlane:
    ended = []

    def __init__(self, name):
        self.name = name

    def up(self, **kw):
        if "no-such" in self.name:
            raise OSError("it does not come up")

    def destroy(self):
        self.ended.append(self.name)

    def controllers(self):
        return []


@pytest.mark.parametrize("name", ["broken", "no-such"])
def test_a_plane_whose_fixture_fails_ends_once_the_report_has_its_logs(monkeypatch, name):
    monkeypatch.setattr(conftest, "Sandbox", FakePlane)
    monkeypatch.setattr(conftest, "KEEP", False)
    monkeypatch.setattr(conftest, "_open", {})
    with pytest.raises(OSError), conftest.own_plane(name) as box:
        raise OSError(f"{box.name} has no controller")
    full = f"{conftest.PREFIX}-{name}"
    FakePlane.ended.clear()  # what an earlier run has left
    assert full in conftest._open
    conftest.end_broken_planes()
    assert FakePlane.ended == [full] and full not in conftest._open
