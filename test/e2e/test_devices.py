"""Devices that are requested as an extended resource, as the refusal of resourceClaims advises: the Job starts, the real
scheduler takes the devices, and quota counts them."""

import pytest
from conftest import LATER
from objects import KUBERNETES, conditions, group
from pool import Pool, placed

CLASSES, SLICES = (f"/apis/resource.k8s.io/v1/{kind}" for kind in ("deviceclasses", "resourceslices"))


def make(world, path, kind, name, spec):
    world.api.post(path, {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
    world.afterwards.append(lambda: world.api.delete(f"{path}/{name}"))


@pytest.mark.skipif(KUBERNETES < 36, reason="its scheduler asks no devices for extended resources")
def test_what_a_device_class_has_starts_and_is_counted(world):
    pool, driver = Pool(world), f"{world.ns}.example.com"
    node, gpu = pool.add()[0], f"{driver}/gpu"
    world.queue(groups=[group(["cpu", gpu], {pool.flavor: [8, 3]})])
    for name in ("train", "second"):
        world.job(name, cpu=None, container={"resources": {"requests": {"cpu": "1"}, "limits": {gpu: "2"}}})
    assert f"1 Insufficient {gpu}" in world.waits("train", "NoNodeSuits")["sentence"], "neither a node nor a class has it"
    world.wait("the quota to be told", lambda: conditions(world.clusterqueue()).get("Effective", {}).get("status") == "False", LATER)

    make(world, SLICES, "ResourceSlice", world.ns, {
        "driver": driver, "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{i}"} for i in range(2)]})
    make(world, CLASSES, "DeviceClass", world.ns, {
        "extendedResourceName": gpu, "selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]})
    world.started("train")
    placed(world, "train")
    assert gpu in world.waits("second")["sentence"], "the quota has 3"
    world.wait("the quota to be told no more", lambda: conditions(world.clusterqueue()).get("Effective", {}).get("status") == "True", LATER)
