#!/bin/busybox sh
# The first process of latency.sh's machine: an ordinary pod and a lent one, as a kubelet makes them on a node with one cpu.
set -e # a machine whose first process ends says no "done"
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /proc /sys /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup /sys/fs/cgroup
pods=/sys/fs/cgroup/kubepods tier=/sys/fs/cgroup/kubepods/besteffort
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir $pods && echo +cpu >$pods/cgroup.subtree_control
mkdir $tier $pods/ordinary && echo +cpu >$tier/cgroup.subtree_control
mkdir $tier/lent
echo 39 >$pods/cpu.weight
echo 20 >$pods/ordinary/cpu.weight
echo 1 >$tier/cpu.weight

inside() { sh -ec 'echo $$ >$0/cgroup.procs; exec vm_clock "$@"' "$@"; }
measure() { echo "$1: $(inside $pods/ordinary wake 4)"; }

measure alone
for i in 1 2 3 4; do inside $tier/lent spin & done
while [ "$(wc -l <$tier/lent/cgroup.procs)" -lt 4 ]; do usleep 10000; done
measure lent
echo "40000 100000" >$tier/lent/cpu.max
measure quota
echo max >$tier/lent/cpu.max
echo 1 >$tier/cpu.idle
measure idle
echo done
poweroff -f
