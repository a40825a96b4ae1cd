"""Daemons that outlive the command that started them, and are ended exactly.

A process is known by (boot, pid, start time), not by its pid alone: pids are
recycled, and `down` may run days after `up`. Nothing here ever signals a
process whose three marks do not all match what was recorded at its start.
"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path


class SandboxError(Exception):
    """A sentence for a person: what was expected, what was seen, which log."""


def start_time(pid):
    """The kernel's start time of a live process in clock ticks, or None.

    A zombie counts as gone: it holds a pid, but runs nothing and cannot be
    killed any more than it is. Not so one with threads left: they still exit,
    and hold its ports until they have."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is the command in brackets and may itself hold blanks
    # and brackets, so count from the last closing one.
    fields = stat.rpartition(")")[2].split()
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    return None if state in "ZX" and threads <= 1 else started


def _descendants(pid):
    parent = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            parent[int(stat.parent.name)] = int(fields[1])
        except (OSError, IndexError):
            pass
    found, new = set(), {pid}
    while new:
        new = {p for p, up in parent.items() if up in new} - found
        found |= new
    return found


def boot_id():
    """Start times count from boot, so they only mean something within one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        raise SandboxError("/proc is not mounted here; try: mount -t proc proc /proc") from None


def tail(path, lines=12):
    """The end of a log, indented, for error messages."""
    try:
        with open(path, "rb") as f:
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 8192))
            text = f.read().decode(errors="replace")
    except OSError:
        return "    (no log)"
    return "\n".join("    " + line[:800] for line in text.splitlines()[-lines:])


def wait_until(what, check, timeout=240, process=None, every=0.05):
    """Ask `check` until its answer is true and return that answer.

    `check` may raise OSError or ApiError (both mean: not yet). Asks again after
    `every` seconds and then less and less often, four times a second after a while
    and once a second after 20: a question costs the API server 2 ms, and many wait
    at once. Gives up after
    `timeout` seconds, or at once when `process` has ended, saying what was
    waited for, the last trouble seen, and how the log ends."""
    from .kube import ApiError

    began = time.monotonic()
    deadline = began + timeout
    pause, trouble = every, None
    while True:
        try:
            answer = check()
            if answer:
                return answer
        except (OSError, ApiError) as e:
            trouble = e
        died = process is not None and not process.alive()
        if died or time.monotonic() > deadline:
            said = f"{process.name} ended while waiting for {what}" if died else f"waited {timeout} s for {what}"
            if trouble:
                said += f"; last answer: {trouble}"
            if process is not None:
                said += f"\n  {process.log} ends with:\n{tail(process.log)}"
            raise SandboxError(said)
        time.sleep(pause)
        seldom = min(max(0.25, (time.monotonic() - began) / 20), 1)
        pause = max(every, min(pause * 1.2, seldom))


class Process:
    """One daemon: its record in run/NAME.json, its output in logs/NAME.log.

    The record is written at each start and holds the command as well, so
    another invocation can look at it, end it or start it again."""

    def __init__(self, state, name):
        self.name = name
        self.log = state / "logs" / f"{name}.log"
        self.record_file = state / "run" / f"{name}.json"
        self._child = None

    def record(self):
        try:
            return json.loads(self.record_file.read_text())
        except (OSError, ValueError):
            return {}

    @property
    def pid(self):
        """The pid while it runs, else None."""
        if self._child is not None:
            self._child.poll()  # reaps it, should it be our own zombie
        rec = self.record()
        if rec and rec["boot"] == boot_id() and start_time(rec["pid"]) == rec["start"]:
            return rec["pid"]
        return None

    def alive(self):
        return self.pid is not None

    def code(self):
        """Of our own child that is not alive any more: its exit code. It may be a zombie yet, which has none to show."""
        return self._child.wait()

    def start(self, argv=None, user=None, env=None, stop_signal=signal.SIGTERM):
        """Start it unless it runs. Without argv: once more as it was recorded.

        Its own session, so that Ctrl-C at the terminal is not for it. `user`
        is (uid, gid) to run as; only root may ask for that."""
        if self.alive():
            return
        if argv is None:
            rec = self.record()
            if not rec:
                raise SandboxError(f"{self.name} was never started, so it cannot be started again")
            argv, user, env, stop_signal = rec["argv"], rec["user"], rec["env"], rec["stop_signal"]
        argv = [str(a) for a in argv]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.record_file.parent.mkdir(parents=True, exist_ok=True)
        boot = boot_id()
        become = dict(user=user[0], group=user[1], extra_groups=[]) if user else {}
        with open(self.log, "ab") as log:
            try:
                self._child = subprocess.Popen(
                    argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env={**os.environ, **(env or {})}, cwd="/", **become)
            except OSError as e:
                raise SandboxError(f"cannot start {self.name}: {e}") from None
        pid = self._child.pid
        rec = dict(pid=pid, start=start_time(pid), boot=boot, argv=argv,
                   user=user, env=env, stop_signal=int(stop_signal))
        new = self.record_file.with_suffix(".new")
        new.write_text(json.dumps(rec, indent=1))
        new.replace(self.record_file)

    def family(self):
        """(pid, start time) of all that descend from it."""
        found = [(pid, start_time(pid)) for pid in (_descendants(self.pid) if self.alive() else ())]
        return [(pid, started) for pid, started in found if started is not None]  # one may have ended meanwhile

    def signal(self, number):
        """Send a signal. False if it was not running."""
        pid = self.pid
        if pid is None:
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    def stop(self, timeout=120):
        """Ask it to end, wait, and insist after `timeout` seconds.

        Returns how it went: "was not running", "ended" or "killed"."""
        if not self.signal(self.record().get("stop_signal", signal.SIGTERM)):
            return "was not running"
        try:
            wait_until(f"{self.name} to end", lambda: not self.alive(), timeout)
            return "ended"
        except SandboxError:
            self.signal(signal.SIGKILL)
            wait_until(f"{self.name} to end after SIGKILL", lambda: not self.alive())
            return "killed"
