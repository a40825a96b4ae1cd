#!/usr/bin/env bash
# The real agent beside a real kubelet with the systemd driver on cgroup v2, in a machine of its own (qemu).
#
#     vm.sh WORK AGENT VM_CLOCK
#
# AGENT is sluice-node without sanitizers. The kubelet has no API server: its pods are files, and the agent goes by orders
# that it finds on disk. Ends with 77 and a sentence where it cannot run (ctest: skipped).
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
build="$(cd "$here/../.." && pwd)/build"
work="$1" agent="$2" clock="$3"
. "$here/qemu.sh"
[ "$(id -u)" = 0 ] || skip "only root can make a disk with root's files"
[ -x "$agent" ] || skip "there is no $agent; ./dev build makes it"
[ -x "$build/tools/kubelet" ] && [ -e "$build/real-node/images.tar" ] || skip "there is no kubelet; ./dev up --real-node makes it"
kernel="$(ls "$vm"/boot/vmlinuz-* | head -n 1)"
modules="$vm/lib/modules/${kernel##*/vmlinuz-}/kernel"
[ -e "$modules/fs/overlayfs/overlay.ko" ] || skip "modules of $kernel are not what vm_boot.sh loads"

rm -rf "$work" && mkdir -p "$work/boot/bin" "$work/boot/new"
cp "$vm/bin/busybox" "$work/boot/bin/"
find "$modules/drivers/virtio" "$modules/drivers/block/virtio_blk.ko" -name '*.ko' -exec cp {} "$work/boot/" \;
install -m 755 "$here/vm_boot.sh" "$work/boot/init"
pack "$work/boot" "$work/initrd"

cp -a "$vm/root/." "$work/root"
cp -L "$agent" "$clock" "$build/tools/kubelet" "$build"/real-node/usr/{bin/{containerd*,ctr},sbin/runc} "$work/root/usr/local/bin/"
ldd "$agent" "$build/real-node/usr/sbin/runc" | awk '$2 == "=>" { print $3 }' | sort -u | xargs cp -L -n -t "$work/root/usr/lib/x86_64-linux-gnu"
cp -L "$build/real-node/images.tar" "$modules/fs/overlayfs/overlay.ko" "$here"/vm_guest.sh "$here"/vm_{kubelet.yaml,containerd.toml} "$work/root/root/"
# Of an API server that nobody plays.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=nobody -keyout "$work/key" -out "$work/root/root/ca.crt" 2>"$work/openssl.log"
cp "$here/vm_guest.service" "$work/root/etc/systemd/system/"
ln -s ../vm_guest.service "$work/root/etc/systemd/system/multi-user.target.wants/"
mke2fs -q -t ext4 -d "$work/root" "$work/disk" 1600M && rm -r "$work/root"

run_qemu 1536 "$kernel" "$work/initrd" -smp 2 -drive "file=$work/disk,format=raw,if=virtio" >"$work/console" 2>&1 || true
tr -d '\r' <"$work/console" | grep -a -E '^(GUEST|ok|not ok|  )' || true
tr -d '\r' <"$work/console" | grep -a -q '^GUEST ends with 0' || { tail -n 5 "$work/console"; echo "failed; all of it is in $work"; exit 1; }
rm "$work/disk"
