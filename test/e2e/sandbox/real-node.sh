#!/usr/bin/env bash
# real-node.sh HOME PARTS KUBELET NODE LABELS: the first process of a real node (real_node.py), in a mount and a pid
# namespace of its own. It ends when containerd or the kubelet does, and with it everything in there.
set -euo pipefail
home=$1 parts=$2 kubelet=$3 node=$4 labels=$5

# Both programs have paths that no flag moves (device plugins, /var/log/containers): here they are ours.
mount --bind "$home/varlib" /var/lib
mount --bind "$home/varlog" /var/log
mount --bind "$home/run" /run

# The kubelet writes these (overcommit_memory=1, panic=10, ...); the machine's stay as they are.
for file in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  [ -e "/proc/sys/$file" ] || continue
  cat "/proc/sys/$file" >"$home/sysctl/${file//\//.}"
  mount --bind "$home/sysctl/${file//\//.}" "/proc/sys/$file"
done

export PATH=$parts/usr/bin:$parts/usr/sbin:$PATH CONTAINERD_ADDRESS=/run/containerd/containerd.sock
# No pull leaves the machine: each fails at once, without a look-up.
HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 NO_PROXY='' containerd --config "$home/containerd.toml" &
for _ in $(seq 300); do
  ctr version >/dev/null 2>&1 && break
  sleep 0.1
done
ctr -n k8s.io images import "$parts/images.tar"
"$kubelet" --config="$home/kubelet.yaml" --kubeconfig="$home/kubelet.kubeconfig" --hostname-override="$node" --node-labels="$labels" &
wait -n || true
echo "containerd or the kubelet has ended"
