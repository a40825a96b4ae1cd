#!/usr/bin/env bash
# How late a task of an ordinary pod wakes beside lent loops, in virtual time: a cpu of qemu whose clock counts
# instructions, so that the figure is of the kernel's scheduler and not of this machine.
#
#     latency.sh WORK VM_CLOCK
#
# The cgroups and weights are those of a kubelet; what the agent would write is written by latency_init.sh. Each kernel in
# build/vm is measured. Ends with 77 and a sentence where it cannot run (ctest: skipped).
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$1" clock="$2"
. "$here/qemu.sh"

rm -rf "$work" && mkdir -p "$work/root/bin"
cp "$vm/bin/busybox" "$clock" "$work/root/bin/"
install -m 755 "$here/latency_init.sh" "$work/root/init"
pack "$work/root" "$work/initrd"

# p50 KERNEL WORD: the median of that line, in hundredths of a millisecond.
p50() { sed -nE "s/^$2: p50 ([0-9]+)\.([0-9]+) .*/\1\2/p" "$work/$1" | sed 's/^0*//'; }

# expect WHAT COMMAND...
expect() {
  local what="$1"
  shift
  if "$@"; then echo "ok $what"; else echo "not ok $what"; code=1; fi
}

code=0
for kernel in "$vm"/boot/vmlinuz-*; do
  version="$(basename "$kernel" | sed -E 's/vmlinuz-([0-9]+\.[0-9]+).*/\1/')"
  run_qemu 256 "$kernel" "$work/initrd" -smp 1 -icount shift=1,sleep=off >"$work/console" 2>&1 || true
  tr -d '\r' <"$work/console" | sed 's/.*\x1b\[[0-9?]*[a-zA-Z]//' >"$work/$version"
  grep -q '^done' "$work/$version" || { tail -n 15 "$work/$version"; echo "not ok: $version did not come to its end"; exit 1; }
  echo "Linux $version"
  grep -a ': p50' "$work/$version"
  quota=10
  if [ "$version" = 6.1 ]; then
    quota=90
    expect "without the agent the task is late: otherwise nothing is shown here" [ "$(p50 6.1 lent)" -ge 100 ]
  fi
  expect "a quota: at most $quota hundredths of a millisecond" [ "$(p50 "$version" quota)" -le $quota ]
  expect "cpu.idle: as early as alone" [ "$(p50 "$version" idle)" -le 10 ]
done
exit $code
