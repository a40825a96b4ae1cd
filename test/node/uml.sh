#!/usr/bin/env bash
# The real agent on cgroup v2, in user-mode Linux: a kernel as a process, with this machine's files (docs/testing.md).
#
#     uml.sh WORK AGENT LOAD XSTATE [TEST ...] [--histories N]
#
# AGENT is sluice-node without sanitizers, LOAD and XSTATE are made of load.c and xstate.c. WORK is a folder that is made
# anew. Ends with 77 and a sentence where it cannot run (ctest: skipped).
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$1" agent="$2" load="$3" xstate="$4"
shift 4
uml="${SLUICE_UML:-$root/build/uml/usr/bin/linux.uml}"

skip() { echo "skipped: $*"; exit 77; }
[ -x "$uml" ] || skip "there is no user-mode Linux at $uml; ./dev test loads it on Debian for amd64"
[ -x "$agent" ] || skip "there is no $agent; ./dev build makes it"
command -v openssl >/dev/null || skip "there is no openssl, which makes certificates"
python="$(python3 -c 'import sys; print(sys.executable)')" || skip "there is no python3"

rm -rf "$work" && mkdir -p "$work/state"
work="$(cd "$work" && pwd)"
# Two leaders: the one that the ConfigMap names, and one that only says so.
for name in leader other; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$name" \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/$name.key" -out "$work/$name.crt" 2>"$work/openssl.log"
done
cat >"$work/env" <<END
export ROOT='$root' WORK='$work' AGENT='$agent' LOAD='$load' PYTHON='$python'
set -- $*
END

code=0
seconds=600
[ -z "${SLUICE_SEARCH:-}" ] || seconds=7000
LD_PRELOAD="$xstate" timeout "$seconds" "$uml" mem=512M rootfstype=hostfs rootflags=/ rw \
  "init=$root/test/node/uml_init.sh" "WORK=$work" con=null con0=fd:0,fd:1 quiet </dev/null >"$work/console" 2>&1 || code=$?
grep -q '^GUEST up' "$work/console" || {
  tail -n 15 "$work/console"
  skip "user-mode Linux does not start here (above: the end of what it said)"
}
grep -a -E '^(GUEST|ok|not ok|  )' "$work/console" || true
grep -q '^GUEST ends with 0' "$work/console" || { echo "failed; all of it is in $work (it ended with $code)"; exit 1; }
