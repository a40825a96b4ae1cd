"""The twenty fake nodes, in two pools, as any cloud would label them."""

CPU, MEMORY, PODS, GPUS = "32", "128Gi", "110", "4"


def node(name, pool, gpu):
    room = {"cpu": CPU, "memory": MEMORY, "pods": PODS, **({"nvidia.com/gpu": GPUS} if gpu else {})}
    labels = {
        "pool": pool,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": "zone-" + "abc"[int(name[-1]) % 3],
        **({"accelerator": "nvidia"} if gpu else {}),
    }
    taints = [{"key": "spot", "value": "true", "effect": "NoSchedule"}] if pool == "spot" else []
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": taints},
            "status": {"capacity": room, "allocatable": room}}


def all_nodes():
    """Ten of each pool; the last two of each have GPUs."""
    return [node(f"{pool}-{i}", pool, gpu=i >= 8) for pool in ("spot", "on-demand") for i in range(10)]
