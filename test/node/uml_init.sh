#!/bin/bash
# The first process in user-mode Linux: this machine's files, a cgroup v2 of its own. $WORK is on the kernel's command line.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mount -t cgroup2 cgroup /sys/fs/cgroup
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
. "$WORK/env"
echo "GUEST up $(cut -d' ' -f1 /proc/uptime)"
"$PYTHON" "$ROOT/test/node/uml_guest.py" "$@"
echo "GUEST ends with $?"
"$PYTHON" -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)' # power off
