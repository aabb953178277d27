"""The engine ray on a cluster of two nodes on this machine: same results, and no work lost with a worker or a node."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clusters import LOOPBACK, running_cluster
from command import COMMAND, PLAIN, WITH_EVERY_UPDATE, confdiff, installed
from confdiff.experiments.trials.runner import run_trials
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tasks import TaskSpec
from plugged import DATA, NETWORK, method_file, write
from processes import children_of, in_proc, runs
from tabular.people import FRAME, JUDGED

pytest.importorskip("ray", reason="needs Ray: install confdiff[ray]")
pytestmark = in_proc

METHODS = ("confdiff-abs", "oracle-hard", "oracle-soft")
SEEDS = range(2)
GRID = ("run", "digits", "--methods", ",".join(METHODS), "--n-pairs", "60", "--trials", "2")


@pytest.fixture(scope="module")
def cluster():
    with running_cluster() as running:
        yield running


ENGINE = """
import json, os, signal, sys, time
import numpy as np
from confdiff.engines import LostCall, open_engine

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def zeros(fetch, number):
    assert len(fetch()) == 30 * 2**20
    return np.full(30 * 2**20, number, dtype=np.uint8)

caller = os.getpid()
results = {}
with open_engine("ray", address=sys.argv[1]) as engine:
    results["powers"] = sorted(engine.run(pow, [(base, 2) for base in range(5)]))
    results["nothing"] = list(engine.run(pow, []))
    results["processes"] = sorted(engine.run(lambda: os.getpid() == caller, [()]))
    (lost,) = engine.run(die, [()])
    results["lost"] = [isinstance(lost, LostCall), lost.arguments, lost.reason]
    sent = engine.send(np.zeros(30 * 2**20, dtype=np.uint8))
    arrays = list(engine.run(zeros, [(sent, number) for number in range(8)]))
    results["store"] = sorted(int(array[-1]) for array in arrays)
    try:
        list(engine.run(divmod, [(1, 0)]))
    except ZeroDivisionError as error:
        results["raised"] = str(error)
print(json.dumps(results))
"""


def test_the_engine(cluster):
    """Results, exceptions, dead workers, and more data than fits into the object stores of both nodes (200 MB)."""
    command = [sys.executable, "-W", "error", "-c", ENGINE, cluster.address]
    finished = subprocess.run(command, env=os.environ | LOOPBACK, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    results = json.loads(finished.stdout)  # and nothing else: Ray is silent
    assert results.pop("lost") == [
        True,
        [],
        "WorkerCrashedError: The worker died unexpectedly while executing this task. This happened 3 times.",
    ]
    assert results == {
        "powers": [0, 1, 4, 9, 16],
        "nothing": [],
        "processes": [False],
        "store": list(range(8)),
        "raised": "integer division or modulo by zero",
    }


GANG = """
import json, sys
sys.path.insert(0, sys.argv[2])
import gangs, resumed, torch
from confdiff.engines import start_gang
from confdiff.training import Recipe, train
from easy import easy_pairs

def start(function, *arguments):
    return start_gang(function, arguments, 2, engine="ray", address=sys.argv[1], on_message=messages.append)

def failure(how):
    try:
        start(gangs.fail_in_rank_1, how)
    except Exception as error:
        return type(error).__name__, str(error)

def trained(evaluate, **options):
    model = resumed.network()
    options |= {"prior": 0.5, "recipe": Recipe(epochs=4, batch_size=20, device="cpu"), "evaluate": evaluate}
    train(model, easy_pairs(n_pairs=60), "confdiff-abs", workers=2, **options)
    return [tensor.tolist() for tensor in model.state_dict().values()]

messages = []
large = torch.ones(2**18)
*answer, total = start(gangs.describe_and_add_ranks, large, large)
results = {"answer": [*answer[:3], float(answer[3]), *answer[4:]], "sum": total, "messages": messages}
results["raise"] = failure("raise")
on_ray = {"engine": "ray", "address": sys.argv[1], "checkpoint": sys.argv[3], "checkpoint_seconds": 0}
try:
    trained(resumed.dying, **on_ray)
except Exception as error:
    results["kill"] = type(error).__name__, str(error)
with open(sys.argv[3], "rb") as checkpoint:
    assert checkpoint.read()
results["resumed"] = trained(resumed.living, **on_ray) == trained(resumed.living)
try:
    start_gang(gangs.describe, (), 3, engine="ray", address=sys.argv[1])
except ValueError as error:
    results["too many"] = str(error)
print(json.dumps(results))
"""


def test_a_gang_on_two_nodes(cluster, tmp_path):
    """The members exchange tensors, speak to the caller, and end together with the first cause.

    If the member that saves the checkpoint is killed, the caller has it, and goes on to the weights of local workers.
    """
    tests = Path(__file__).parent.parent
    command = [sys.executable, "-W", "error", "-c", GANG, cluster.address, tests, tmp_path / "checkpoint"]
    finished = subprocess.run(command, env=os.environ | LOOPBACK, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout) == {
        "answer": [0, 2, 2.0, 2**18 + 1, True, "1"],
        "sum": 1.0,
        "messages": ["from rank 0", "added by 2 members"],
        "resumed": True,
        "raise": ["ValueError", "c must be in [-1, 1]; got 2."],
        "kill": [
            "MemberEndedError",
            "worker 0 ended before it had a result (ActorDiedError): it or its node died. The other workers were "
            "ended.",
        ],
        "too many": "workers=3 needs as many processors at the same time, and the Ray cluster has 2.",
    }


def workers_of(cluster, work=b"ray::_call"):
    """Return the process ids of workers of Ray in a call of ours, or that are members of a gang of ours."""
    return [pid for pid in children_of(cluster.process.pid) if command_line(pid).startswith(work)]


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def wait_for(condition, running):
    deadline = time.monotonic() + 300
    while not condition() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert condition()


def serial_curves(folder, epochs):
    specs = [
        TrialSpec(TaskSpec("digits", seed=seed, n_pairs=60), method, epochs) for seed in SEEDS for method in METHODS
    ]
    assert run_trials(specs, Store(folder)) == []
    return curves(folder)


def curves(folder):
    return {record.key: (record.curve, record.teacher_accuracy) for record in Store(folder).records()}


def test_a_grid_survives_a_killed_worker_and_a_killed_node(cluster, tmp_path):
    """The command shares no folder with its workers: they have no store, no cache and no data of it."""
    command = [COMMAND, *GRID, "--epochs", "30", "--engine", "ray", "--address", cluster.address]
    environment = os.environ | LOOPBACK | {"CONFDIFF_CACHE": str(tmp_path / "cache")}
    folder = tmp_path / "ray"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen([*command, "--results", str(folder)], env=environment, **pipes)
    try:
        wait_for(lambda: Store(folder).finished(), running)
        os.kill(workers_of(cluster)[0], signal.SIGKILL)
        n_before = len(Store(folder).finished())
        wait_for(lambda: len(Store(folder).finished()) > n_before, running)
        cluster.replace_a_node()
        _, errors = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 0, errors
    assert "Traceback" not in errors
    assert curves(folder) == serial_curves(tmp_path / "serial", 30)
    assert len(list((tmp_path / "cache" / "teachers").iterdir())) == len(SEEDS)


def test_plugins_are_sent_to_two_nodes(cluster, tmp_path):
    """Two plug-ins in files: trials of their method, data and network, and a fit whose members unpickle its network."""
    method_file(tmp_path)
    write(tmp_path, "blobs.py", DATA)
    write(tmp_path, "net.py", NETWORK)
    plugins = ("--plugin", "mine.py", "--plugin", "net.py")
    on_ray = ("--engine", "ray", "--address", cluster.address)
    grid = ("run", "my-blobs", "--methods", "my-squares", "--model", "tiny", "--plugin", "blobs.py", *plugins)
    ran = installed(*grid, *on_ray, "--results", "ray", cwd=tmp_path, **LOOPBACK)
    assert ran.returncode == 0, ran.stderr
    local = installed(*grid, "--jobs", "2", "--results", "local", cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    lines = [(tmp_path / name / "my-blobs.jsonl").read_text().splitlines() for name in ("ray", "local")]
    first, second = ({line["key"]: line["curve"] for line in map(json.loads, part)} for part in lines)
    assert first == second
    assert len(first) == 2
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    options = ("--method", "my-squares", "--model", "tiny", "--prior", "0.5", "--epochs", "2", "--workers", "2")
    fitted = installed("fit", "items.csv", "pairs.csv", *options, *plugins, *on_ray, cwd=tmp_path, **LOOPBACK)
    assert fitted.returncode == 0, fitted.stderr


@pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
def test_a_folder_is_scored_on_two_nodes(cluster, tmp_path):
    fit_comparisons(FRAME, JUDGED, model="linear", epochs=2).save(tmp_path / "model")
    (tmp_path / "items").mkdir()
    for number in range(3):
        FRAME.reset_index().iloc[100 * number : 100 * (number + 1)].to_parquet(tmp_path / "items" / f"{number}.parquet")
    options = ("--engine", "ray", "--address", cluster.address)
    result = installed("predict", "model", "items", *options, cwd=tmp_path, **LOOPBACK)
    assert result.returncode == 0, result.stderr
    local = confdiff("predict", "model", "items", "-o", "local", cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    for number in range(3):
        name = f"{number}.parquet"
        assert (tmp_path / "scores" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert (tmp_path / "scores" / "_SUCCESS").exists()


def test_a_fit_on_two_nodes_is_stopped_then_loses_a_worker_and_is_resumed_to_the_model_of_local_workers(
    cluster, tmp_path
):
    """The checkpoint comes back to the folder of the command, and no member is left on the cluster."""
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    fit = ("fit", "items.csv", "pairs.csv", "--model", "mlp", "--prior", "0.5", "--epochs", "60", "--workers", "2")
    on_ray = (*fit, "-o", "m", "--engine", "ray", "--address", cluster.address)

    def interrupted(*arguments, stop):
        """Call ``stop`` with the process ids of the command and of its members, in its first epochs."""
        options = {"cwd": tmp_path, "env": os.environ | PLAIN | LOOPBACK, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*WITH_EVERY_UPDATE, *on_ray, *arguments], **options) as running:
            try:
                next(line for line in running.stderr if "epoch" in line)
                members = workers_of(cluster, b"ray::_Actor")
                assert len(members) == 2
                stop(running.pid, members)
                _, errors = running.communicate(timeout=120)
            finally:
                running.kill()
        wait_for(lambda: not any(map(runs, members)), cluster.process)
        return running.returncode, " ".join(errors.split())

    status, errors = interrupted(stop=lambda caller, members: os.kill(caller, signal.SIGINT))
    assert status == 130, errors
    assert (tmp_path / "m.checkpoint").exists()
    status, errors = interrupted("--resume", stop=lambda caller, members: os.kill(members[0], signal.SIGKILL))
    assert status == 1, errors
    assert "Traceback" not in errors
    assert "m.checkpoint holds the progress: pass --resume to continue." in errors
    last = installed(*on_ray, "--resume", cwd=tmp_path, **LOOPBACK)
    assert last.returncode == 0, last.stderr
    local = confdiff(*fit, "-o", "local", cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    weights = "weights.safetensors"
    assert (tmp_path / "m" / weights).read_bytes() == (tmp_path / "local" / weights).read_bytes()


def test_ctrl_c_ends_ray_on_this_machine_and_the_next_run_continues(tmp_path):
    command = [COMMAND, *GRID, "--epochs", "30", "--jobs", "2", "--results", str(tmp_path / "ray"), "--engine", "ray"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: Store(tmp_path / "ray").finished(), running)
        processes = children_of(running.pid)
        folders = list(Path("/tmp").glob(f".ray.*-{running.pid}-*"))
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 130
    kept = len(Store(tmp_path / "ray").keys())
    assert f"stopped: {kept} of 6 trials are kept" in " ".join(errors.split())
    assert "Traceback" not in errors
    assert len(processes) > 4
    assert folders
    assert not any(folder.exists() for folder in folders)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{process}").exists() for process in processes) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]
    result = confdiff(*GRID, "--epochs", "30", "--results", tmp_path / "ray")  # any engine continues
    assert result.returncode == 0, result.stderr
    assert curves(tmp_path / "ray") == serial_curves(tmp_path / "serial", 30)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1: Connection refused"),
        ("here", "the address of a Ray cluster must be auto, or a host and a port such as 10.0.0.1:6379; got 'here'"),
    ],
)
def test_no_connection_is_one_line_within_seconds(tmp_path, address, message):
    began = time.monotonic()
    result = installed("run", "digits", "--engine", "ray", "--address", address, cwd=tmp_path)
    assert time.monotonic() - began < 60  # 5 s and the imports of a busy machine; Ray alone takes minutes
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
