"""A Ray cluster of several nodes on this machine, whose workers can be killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

# The least that Ray takes.
OBJECT_STORE_BYTES = 80 * 2**20


@contextmanager
def ray_cluster(nodes: int) -> Iterator[Any]:
    """Run so many nodes with one core each, the head among them; `cluster.address` is that of the head."""
    import ray
    from ray.cluster_utils import Cluster

    size = {"object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **size})
    try:
        for _ in range(nodes - 1):
            add_node(cluster)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def add_node(cluster: Any) -> Any:
    return cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE_BYTES)


def workers(cluster: Any) -> list[psutil.Process]:
    """Return the processes of the cluster that run tasks and actors of an ingestion."""
    raylets = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
    found = [child for pid in raylets for child in psutil.Process(pid).children()]
    return [process for process in found if _is_worker(process)]


def _is_worker(process: psutil.Process) -> bool:
    try:
        title = " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    return title.startswith(("ray::Embedder", "ray::Map"))
