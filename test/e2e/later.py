"""A controller whose clock the test sets forward, so that hours pass while nothing waits.

What takes long by the clock (a run that may last an hour) is then far from what takes long because
the machine is slow, and no limit expires before the test has come to it."""

import os
import secrets
import tempfile
from pathlib import Path

from conftest import SOON
from sandbox import wait_until


class Later:
    """`@pytest.mark.flags(*LATER.flags)`, and LATER.begin() before the controller is started with them."""

    def __init__(self, name):
        self.file = Path(tempfile.gettempdir()) / f"sluice-{name}-{os.getpid()}-{secrets.token_hex(4)}"
        self.flags = ("--clock-offset", f"@{self.file}")
        self.ahead = 0

    def begin(self):
        self._write()

    def end(self):
        self.file.unlink()

    def forward(self, box, seconds):
        """It is so much later now, and the controller has heard of it."""
        log = box.process("controller-one").log

        def heard():
            return log.read_text(errors="replace").count(" clock-set")
        before = heard()
        self.ahead += seconds
        self._write()
        wait_until("the controller to hear of the time", lambda: heard() > before, SOON, box.process("controller-one"))

    def _write(self):
        new = self.file.with_suffix(".new")
        new.write_text(f"{self.ahead:+d}s\n")
        new.rename(self.file)
