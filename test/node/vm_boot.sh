#!/bin/busybox sh
# The first process of vm.sh's machine: loads what finds the disk, and begins anew from there.
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev && mount -t proc proc /proc && mount -t devtmpfs dev /dev
for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do insmod /$module.ko; done
while [ ! -e /dev/vda ]; do usleep 10000; done
mount /dev/vda /new && umount /proc && exec switch_root /new /sbin/init
