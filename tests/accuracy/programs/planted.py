"""Runs a program with a fault in it, without an edit: planted.py FAULT PROGRAM [ARGUMENT…]. What each fault is, and what a
verdict has to say of it, stands in ../real.py. Fault `none` only lets ranks share a GPU where there are fewer than ranks."""
import copy
import os
import runpy
import sys
import time

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from rank_device import rank_device

SECONDS = 0.03  # that a fault costs the rank in each step
IN_FORWARD = 0.01  # and in each forward pass of the model, of which a pipeline's stage has one a microbatch
BURNERS = 4     # processes that keep the core of a pinned rank busy: more than there are on the others
SIZE = {"cpu": 1100, "cuda": 8192}  # of a square matrix that takes about as long to multiply by itself on one core, on a GPU
EVERY = 10      # steps between checkpoints, and between compilations


def share_gpu():
    """NCCL knows a GPU by host and bus, and refuses two ranks on one: each rank becomes a host of its own."""
    devices = torch.cuda.device_count()
    if 0 < devices < int(os.environ["LOCAL_WORLD_SIZE"]):
        os.environ.setdefault("NCCL_HOSTID", f"accuracy-{os.environ['RANK']}")
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
        os.environ.update(LOCAL_RANK=str(int(os.environ["LOCAL_RANK"]) % devices), LOCAL_WORLD_SIZE="1")


def main():
    fault = sys.argv[1]
    share_gpu()
    sys.argv = sys.argv[2:]
    rank = int(os.environ["RANK"])
    steps = 0

    def each_step(*_):
        nonlocal steps
        steps += 1
        if fault == "sleep" and rank == 1:
            time.sleep(SECONDS)
        if fault == "busy_loop" and rank == 1:
            until = time.perf_counter() + SECONDS
            while time.perf_counter() < until:
                pass
        if fault == "checkpoint" and rank == 0 and steps % EVERY == 0:
            path = f"/tmp/lockstep-planted-{os.getpid()}.pt"
            for _ in range(20):
                torch.save({"weights": torch.zeros(4_000_000)}, path)
            os.remove(path)
        if fault == "compile" and rank == 1 and steps % EVERY == 0:
            torch._dynamo.reset()
            torch.compile(lambda x: (x.sin() + steps).cos().sum())(torch.randn(100 + steps, device=rank_device()[0]))

    register_optimizer_step_post_hook(each_step)
    if fault == "extra_compute" and rank == 1:
        device, _ = rank_device()
        matrix = torch.randn(SIZE[device.type], SIZE[device.type], device=device)

        def statistics_of_gradients(*_):
            torch.mm(matrix, matrix)

        register_optimizer_step_pre_hook(statistics_of_gradients)
    if fault == "more_layers" and rank == 1:
        from torch.distributed import pipelining
        original = pipelining.PipelineStage

        def twice(part, *arguments, **named):
            return original(torch.nn.Sequential(part, copy.deepcopy(part)), *arguments, **named)

        pipelining.PipelineStage = twice
    if fault == "slow_loader" and rank == 1:
        fetchers = torch.utils.data._utils.fetch
        fetch = fetchers._MapDatasetFetcher.fetch

        def slow(self, indices):
            time.sleep(SECONDS)
            return fetch(self, indices)

        fetchers._MapDatasetFetcher.fetch = slow
    if fault == "sleep_in_forward" and rank == 1:
        depth = 0

        def enter(*_):
            nonlocal depth
            if depth == 0:
                time.sleep(IN_FORWARD * (1 if "pipeline" in sys.argv[0] else 3))
            depth += 1

        def leave(*_):
            nonlocal depth
            depth -= 1

        register_module_forward_pre_hook(enter)
        register_module_forward_hook(leave)
    if fault == "pinned_core":
        # All that rank 1 has is a core that other processes keep busy.
        if rank == 1:
            core = max(os.sched_getaffinity(0))
            if any(os.fork() == 0 for _ in range(BURNERS)):
                os.sched_setaffinity(0, {core})
                parent = os.getppid()
                while os.getppid() == parent:
                    for _ in range(10_000_000):
                        pass
                os._exit(0)
            os.sched_setaffinity(0, {core})
    runpy.run_path(sys.argv[0], run_name="__main__")


main()
