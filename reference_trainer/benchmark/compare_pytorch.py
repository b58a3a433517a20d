"""How long a step of lockstep-train takes beside the same step in Python, with PyTorch's own DDP and FSDP2.

Same model, same batch, Gloo, one thread a rank, both on the machine's cores; runs take turns, so that what else the
machine does falls on both. Compared are the fast deciles of the steps: a shared machine only adds.

    compare_pytorch.py LOCKSTEP_TRAIN [--ranks 2] [--rounds 5] [--mode ddp|fsdp]

Run with a Python that has torch 2.11.0. Prints a line a mode; exits with 1 where ddp is above --limit.
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

MODEL = {"layers": 6, "hidden": 192, "heads": 6, "sequence-length": 64, "batch-size": 4}
BUCKET_CAP_MB = 4
TIMEOUT = 300  # seconds, of one run


def flags(steps):
    values = {**MODEL, "steps": steps}
    return [text for name, value in values.items() for text in (f"--{name}", str(value))]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run_ours(trainer, mode, ranks, steps):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log")
        command = [trainer, "--mode", mode, "--ranks", str(ranks), "--log", str(log), *flags(steps)]
        if mode == "ddp":
            command += ["--bucket-cap-mb", str(BUCKET_CAP_MB)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        events = [json.loads(line) for line in log.read_text().splitlines()]
    return [event["seconds"] for event in events if event["event"] == "step"]


def run_pytorch(mode, ranks, steps):
    script = pathlib.Path(__file__).with_name("pytorch_reference.py")
    port = free_port()
    processes = []
    for rank in range(ranks):
        environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
                       "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(script), "--mode", mode, "--bucket-cap-mb", str(BUCKET_CAP_MB), *flags(steps)]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    try:
        outputs = [process.communicate(timeout=TIMEOUT)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for rank, process in enumerate(processes):
        if process.returncode != 0:
            sys.exit(f"rank {rank} of the Python job exited with {process.returncode}")
    return [float(line) for line in outputs[0].splitlines()]


def fast_decile(seconds):
    return sorted(seconds)[len(seconds) // 10]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainer", help="path of lockstep-train")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--mode", choices=["ddp", "fsdp"], action="append")
    parser.add_argument("--limit", type=float, default=1.05)
    arguments = parser.parse_args()
    too_slow = False
    for mode in arguments.mode or ["ddp", "fsdp"]:
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            ours += run_ours(arguments.trainer, mode, arguments.ranks, arguments.steps)[2:]
            theirs += run_pytorch(mode, arguments.ranks, arguments.steps)[2:]
        one, other = fast_decile(ours), fast_decile(theirs)
        print(f"{mode}: lockstep-train {one * 1e3:.1f} ms a step, PyTorch in Python {other * 1e3:.1f} ms: ratio "
              f"{one / other:.3f} ({len(ours)} steps each, {arguments.ranks} ranks)", flush=True)
        too_slow = too_slow or (mode == "ddp" and one / other > arguments.limit)
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
