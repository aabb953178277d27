"""A Ray cluster on this machine for tests: a head without processors and two nodes with one processor each.

It runs in a process of its own, because commands under test are forked, and Ray starts threads. It listens on the
loopback address only.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": 32 * "7"}
"""The environment of the cluster and of commands that connect to it, with its secret."""
PROGRAM = """
import sys, warnings
from ray.cluster_utils import Cluster
options = {"object_store_memory": 100 * 2**20, "num_gpus": 0}
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **options})
nodes = [cluster.add_node(num_cpus=1, **options) for _ in range(2)]
print(cluster.address, flush=True)
for line in sys.stdin:
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    nodes.append(cluster.add_node(num_cpus=1, **options))
    print("killed", flush=True)
cluster.shutdown()
"""


class RunningCluster:
    """A running cluster.

    Attributes
    ----------
    address : str
        Its address, for commands with the environment :data:`LOOPBACK`.
    """

    def __init__(self, process):
        self.process = process
        self.address = process.stdout.readline().strip()

    def replace_a_node(self):
        """Kill a node with its workers by SIGKILL, and start another one."""
        self.process.stdin.write("kill\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "killed\n"


@contextmanager
def running_cluster():
    """Start a cluster for a block."""
    with tempfile.TemporaryDirectory(prefix=".r.", dir="/tmp") as folder:
        Path(folder, "ray").mkdir()  # Ray writes the address of the last cluster there, and needs short paths
        own = {"RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        with subprocess.Popen([sys.executable, "-c", PROGRAM], env=os.environ | LOOPBACK | own, **pipes) as process:
            try:
                yield RunningCluster(process)
                process.stdin.close()
                process.wait(timeout=60)
            finally:
                process.kill()
