# Of vm.sh and latency.sh: the machine that ./dev unpacks into build/vm. Sets $vm; ends with 77 where it is not there.
vm="${SLUICE_VM:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/vm}"

skip() { echo "skipped: $*"; exit 77; }
[ -x "$vm/usr/bin/qemu-system-x86_64" ] || skip "there is no qemu in $vm; ./dev test --long loads it on Debian for amd64"

# pack FOLDER FILE: what a kernel begins with.
pack() { (cd "$1" && find . | cpio -o -H newc --quiet) >"$2"; }

# run_qemu MEGABYTES KERNEL INITRD [FLAGS ...]: a machine without KVM, which needs no right; its console is stdout. It ends by itself.
run_qemu() {
  local memory="$1" kernel="$2" initrd="$3"
  shift 3
  LD_LIBRARY_PATH="$vm/usr/lib/x86_64-linux-gnu:$vm/lib/x86_64-linux-gnu" timeout 900 "$vm/usr/bin/qemu-system-x86_64" \
    -L "$vm/usr/share/qemu" -L "$vm/usr/share/seabios" -M q35,accel=tcg -cpu qemu64 -m "$memory" -nographic -nodefaults \
    -no-user-config -serial stdio -no-reboot -kernel "$kernel" -initrd "$initrd" -append "console=ttyS0 quiet psi=1 panic=-1" "$@" </dev/null
}
