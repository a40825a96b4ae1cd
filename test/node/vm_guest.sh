#!/bin/bash
# The tests of vm.sh, in its machine. Prints a line for each, and its figures.
export PATH=/usr/local/bin:$PATH
tier=/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice
lent=8 cpu=30 memory=33554432
limits="3000 100000
3
$memory"
failed=0

ok() { echo "ok $*"; }
not_ok() { echo "not ok $*"; failed=1; }
uid() { printf '00000000-0000-4000-8000-%012d' "$1"; }
dir() { local u; u="$(uid "$1")"; echo "$tier/kubepods-besteffort-pod${u//-/_}.slice"; }
of_pod() { cat "$(dir "$1")"/{cpu.max,cpu.weight,memory.max}; }

# until SECONDS WHAT COMMAND...: waits until a command is true; the machine ends where it does not become so.
until_true() {
  local end=$((SECONDS + $1)) what="$2"
  shift 2
  while ! "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $end ]; then
      not_ok "$what"
      tail -n 15 /root/kubelet.log /root/agent.log | cut -c1-300 | sed 's/^/  /'
      finish
    fi
    sleep 0.1
  done
}

finish() {
  echo "GUEST ends with $failed"
  poweroff -f
  sleep 1000
}

# pod N NAME [REQUESTS]: a file of the kubelet's. Its first process writes down what its cgroup says.
pod() {
  cat >"/root/new.yaml" <<END
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: default, uid: $(uid "$1")}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 0
  containers:
  - name: c
    image: busybox:1
    resources: {requests: {${3:-}}}
    command: [sh, -c, "cd /pods$(dir "$1") && cat cpu.max cpu.weight memory.max >/root/seen/$1; exec sleep 100000"]
    volumeMounts: [{name: cgroups, mountPath: /pods/sys/fs/cgroup, readOnly: true}, {name: seen, mountPath: /root/seen}]
  volumes: [{name: cgroups, hostPath: {path: /sys/fs/cgroup}}, {name: seen, hostPath: {path: /root/seen}}]
END
  mv /root/new.yaml "/root/pods/$2.yaml"
}

run_agent() {
  sluice-node --kubeconfig /root/kubeconfig --state-dir /root/state 2>>/root/agent.log &
  agent=$!
}

agent_has_tier() { [ -d $tier ] && ! flock -n $tier true; }
all_limited() {
  local n
  for n in $(seq $lent); do [ "$(of_pod "$n")" = "$limits" ] || return 1; done
}
quantiles() { sort -n | awk '{ v[NR] = $1 } END { printf "%d times, p50 %.2f ms, p99 %.2f, most %.2f", NR, v[int((NR + 1) / 2)], v[int(NR * .99 + .999)], v[NR] }'; }

echo "GUEST up $(cut -d' ' -f1 /proc/uptime), Linux $(uname -r), $(systemctl --version | head -n 1)"
insmod /root/overlay.ko
echo "127.0.0.1 localhost" >/etc/hosts # of a pod, too
ip link set lo up
ip addr add 10.0.2.15/32 dev lo # a node has an address
mkdir -p /root/pods /root/seen /root/state
cat >/root/kubeconfig <<END
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:9", certificate-authority: /root/ca.crt}}]
users: [{name: u, user: {token: none}}]
END
orders=""
for n in $(seq $lent); do orders+="${orders:+,}{\"uid\":\"$(uid "$n")\",\"cpu\":$cpu,\"memory\":$memory}"; done
echo "{\"generation\":1,\"lends\":true,\"limits\":true,\"idle\":\"always\",\"cpu\":2000,\"memory\":1500000000,\"pods\":[$orders]}" >/root/state/orders.json

vm_clock writes sluice-node >/root/writes &
writes=$!
run_agent
systemd-run -q --unit=containerd -p Delegate=yes -p KillMode=process containerd --config /root/vm_containerd.toml
until_true 60 "containerd answers" ctr version
ctr -n k8s.io images import /root/images.tar >/dev/null
systemd-run -q --unit=kubelet -p StandardOutput=file:/root/kubelet.log -p StandardError=file:/root/kubelet.log \
  kubelet --config=/root/vm_kubelet.yaml --hostname-override=vm --node-ip=10.0.2.15
until_true 120 "the agent finds the kubelet's tier" agent_has_tier
echo "GUEST the agent has the tier $(cut -d' ' -f1 /proc/uptime)"

# Limits stand before the first process. Two pods that no order names run beside.
pod 101 stranger
pod 102 ordinary "cpu: 10m"
for n in $(seq $lent); do pod "$n" "lent-$n"; done
for n in $(seq $lent) 101; do until_true 90 "pod $n runs" test -s "/root/seen/$n"; done
late=0
for n in $(seq $lent); do [ "$(cat "/root/seen/$n")" = "$limits" ] || { late=$((late + 1)); tr '\n' ' ' <"/root/seen/$n"; }; done
if [ $late = 0 ]; then ok "limits stand before the first process: $lent of $lent pods"; else not_ok "limits come late: $late of $lent pods"; fi
until_true 10 "the tier is idle" grep -qx 1 $tier/cpu.idle

# A value that systemd or the kubelet's minute resets is back.
watched=("$tier/cpu.idle" 1)
for n in $(seq $lent); do watched+=("$(dir "$n")/memory.max" $memory "$(dir "$n")/cpu.max" "3000 100000" "$(dir "$n")/cpu.weight" 3); done
vm_clock undone 95 "${watched[@]}" >/root/undone &
watch=$!
for minute in 1 2; do
  for reload in 1 2 3 4 5; do systemctl daemon-reload; sleep 1; done
  [ $minute = 2 ] || sleep 60 # a file is written again ten times a minute
done
wait $watch
sed -E 's,.*/([^/]+/[^ ]+) .*,\1,; s/-pod[0-9_]+/-podN/' /root/undone | sort | uniq -c | sed 's/^/  reset: /'
took() { awk -v idle="$1" '(/cpu.idle/ ? 1 : 0) == idle { print $NF }' /root/undone | quantiles; }
grep -q memory.max /root/undone || not_ok "systemd has reset no limit"
grep -q cpu.idle /root/undone || not_ok "nobody has reset the tier's cpu.idle"
if grep -q stays /root/undone; then not_ok "what was reset is back"; else ok "what was reset is back: of pods $(took 0); cpu.idle $(took 1)"; fi
if grep -q "cpu.weight: invalid argument" /root/kubelet.log; then not_ok "the kubelet may write the tier's weight"; else ok "the kubelet may write the tier's weight"; fi

# kill -9: limits stay; another one writes what was reset meanwhile.
kill -KILL $agent && wait $agent 2>/dev/null
if all_limited; then ok "limits stay after kill -9"; else not_ok "limits stay after kill -9"; fi
echo max >"$(dir 1)/memory.max"
echo "max 100000" >"$(dir 2)/cpu.max"
run_agent
until_true 30 "an agent that starts anew writes what is missing" all_limited
ok "an agent that starts anew writes what is missing"

# SIGTERM gives the tier back, and leaves limits. What a killed agent left idle is the next one's once systemd has reset it.
idle_writes() { grep -c "^$tier/cpu.idle$" /root/writes; }
has_written_idle() { [ "$(idle_writes)" -gt "$before" ]; }
before="$(idle_writes)"
systemctl daemon-reload
until_true 10 "the next agent makes the tier idle" has_written_idle
kill -TERM $agent && wait $agent
if [ "$(cat $tier/cpu.idle $tier/cpu.weight)" = "0
1" ] && all_limited; then ok "SIGTERM gives back cpu.idle and leaves limits"; else not_ok "SIGTERM: $(cat $tier/cpu.idle $tier/cpu.weight | tr '\n' ' ')"; fi

# Of all that was written by it, nothing is of others.
kill $writes
allowed="^$tier/(cpu\.idle|cpu\.weight|kubepods-besteffort-pod00000000_0000_4000_8000_0000000000[01]?[0-9]\.slice/.*)$"
foreign="$(grep -vE "$allowed" /root/writes | sort -u)"
if [ -s /root/writes ] && [ -z "$foreign" ]; then ok "$(wc -l </root/writes) writes, none outside lent pods but to the tier's cpu.idle"; else not_ok "writes outside lent pods: $foreign"; fi
finish
