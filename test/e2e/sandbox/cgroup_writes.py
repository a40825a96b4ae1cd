"""Who writes which file of a cgroup, as the kernel says it: fanotify on each hierarchy that is mounted.

The events of a file system are those of all processes, by whatever mount they reach it: that of an agent in its pod too."""

import ctypes
import errno
import os
import select
import struct
import threading
import time
from pathlib import Path

CLOEXEC, UNLIMITED_QUEUE, REPORT_FD_ERROR = 0x1, 0x10, 0x2000  # the last one since Linux 6.13
ADD, FILESYSTEM, MODIFY, OVERFLOW = 0x1, 0x100, 0x2, 0x4000
EVENT = struct.Struct("=IBBHQii")
_libc = ctypes.CDLL(None, use_errno=True)


class CgroupWrites(threading.Thread):
    """Writes of programs of a name, in processes below a cgroup: [(time since boot, path)]. OSError: this machine does not tell.

    Of a file that was gone before it was told of there is no path: those of a pod that ended are so."""

    def __init__(self, program, below):
        super().__init__(daemon=True)
        self.program, self.below, self.ours = program, below, {}
        self.seen, self.lost, self.lock = [], 0, threading.Lock()
        try:
            self.fd = _init(REPORT_FD_ERROR)
        except OSError:
            self.fd = _init(0)
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, place, kind, *_ = line.split()
            if kind in ("cgroup", "cgroup2"):
                _checked(_libc.fanotify_mark(self.fd, ADD | FILESYSTEM, ctypes.c_uint64(MODIFY), -100, place.encode()))
        self.done, self._end = os.pipe()
        self.start()

    def run(self):
        while True:
            ready, _, _ = select.select([self.fd, self.done], [], [])
            if self.done in ready:
                return
            try:
                self._take(os.read(self.fd, 1 << 16))
            except OSError as e:
                if e.errno not in (errno.ENODEV, errno.ENOENT, errno.ESTALE):  # such a file, of an older kernel
                    raise

    def _take(self, data):
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        while data:
            length, _, _, _, mask, fd, pid = EVENT.unpack_from(data)
            data = data[length:]
            with self.lock:
                self.lost += bool(mask & OVERFLOW)
                if fd >= 0:
                    if self._is_ours(pid):
                        self.seen.append((now, os.readlink(f"/proc/self/fd/{fd}")))
                    os.close(fd)

    def _is_ours(self, pid):
        """Remembered of those that are: one that was killed may be gone when its last write is told of."""
        if pid in self.ours:
            return self.ours[pid]
        try:
            ours = Path(f"/proc/{pid}/comm").read_text().strip() == self.program and self.below in Path(f"/proc/{pid}/cgroup").read_text()
        except OSError:
            return False
        if ours:
            self.ours[pid] = True
        return ours

    def writes(self):
        assert self.is_alive() and not self.lost, "the kernel did not tell of all writes"
        with self.lock:
            return list(self.seen)

    def end(self):
        os.write(self._end, b".")
        self.join()
        for fd in (self.fd, self.done, self._end):
            os.close(fd)


def _init(more):
    return _checked(_libc.fanotify_init(CLOEXEC | UNLIMITED_QUEUE | more, os.O_RDONLY | os.O_LARGEFILE))


def _checked(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
