"""Node pools at zero: a Job starts, its pod is Pending, and an autoscaler, played by the test, makes a node for it.

It is what a real one does: it looks for pods that the scheduler found no node for, asks whether a node of its pool would take
them, and makes one."""

import pytest
from pool import Pool, all_seen, homeless, placed

UP = "can be made"


def sentence(world, name):
    return world.explain(name)["sentence"]


def waits_for_a_node(world, name):
    return world.wait(f"the scheduler to find no node for {name}", lambda: homeless(world, name))


def test_a_pool_at_zero_wakes(world):
    pool = Pool(world)
    world.queue(flavors={pool.flavor: 100})
    world.job("train", cpu="3")
    world.started("train")
    waits_for_a_node(world, "train")
    world.wait("explain to say so", lambda: f"no node of flavor {pool.flavor} is up; one {UP}" in sentence(world, "train"))
    pool.add(cpu="4")
    placed(world, "train")
    world.wait("explain to know of it", lambda: UP not in sentence(world, "train"))
    all_seen(world)  # the node, too, and not only that the pod has one
    # Now the pool tells what its nodes take.
    world.job("large", cpu="8")
    said = world.waits("large", "NoNodeSuits")["sentence"]
    assert f"set nodes: Autoscaled in ResourceFlavor {pool.flavor} if an autoscaler brings such nodes" in said
    # It is scaled down again, and is as at first.
    world.finish("train")
    world.empty()
    for name in pool.nodes:
        world.api.delete(f"/api/v1/nodes/{name}")
    pool.nodes.clear()
    world.started("large")
    waits_for_a_node(world, "large")
    pool.add(cpu="8")
    placed(world, "large")


def test_an_autoscaled_pool_makes_larger_nodes(world):
    pool = Pool(world, nodes="Autoscaled")
    pool.add(cpu="2")
    world.queue(flavors={pool.flavor: 100})
    world.job("train", cpu="3")
    world.started("train")
    waits_for_a_node(world, "train")
    pool.add(cpu="4")
    placed(world, "train")


def test_a_fixed_pool_at_zero_holds_its_jobs(world):
    pool = Pool(world, nodes="Fixed")
    world.queue(flavors={pool.flavor: 100})
    world.job("train", cpu="3")
    world.waits("train", "NoNodeSuits")
    pool.add(cpu="4")
    world.started("train")
    placed(world, "train")


@pytest.mark.parametrize("nodes", [None, "Autoscaled"])
def test_with_cluster_fit_now_no_pod_is_pending(world, nodes):
    pool = Pool(world, **({"nodes": nodes} if nodes else {}))
    world.queue(flavors={pool.flavor: 100}, clusterFit="Now")
    world.job("train", cpu="3")
    said = world.waits("train", "NoNodeSuits")["sentence"]
    assert f"no node of flavor {pool.flavor} is up; one can be made for pods that wait, but with clusterFit: Now" in said
    assert not world.pods("train")
    world.edit_queue(clusterFit="Possible")
    world.started("train")
    waits_for_a_node(world, "train")
    pool.add(cpu="4")
    placed(world, "train")
