"""A small DDP job in which one thing happens between its steps, for tests of `record --stacks N`.

    lockstep record -- torchrun … stacks_job.py MODE

MODE: sleep (rank 1 sleeps between its steps), spin (it runs Python there), even (neither).
"""
import os
import sys
import threading
import time

import torch
import torch.distributed as dist

STEPS = 60
SECONDS = 0.03


def wait_for_nothing():
    time.sleep(SECONDS)


def count_to_nowhere():
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        pass


def generated_code():
    """A function as libraries make them while they run: its file has no name of a file."""
    source = "import time\ndef generated():\n    until = time.perf_counter() + 0.003\n" \
             "    while time.perf_counter() < until:\n        pass\n"
    names = {}
    exec(compile(source, "<generated>.py", "exec"), names)
    return names["generated"]


def main():
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    between = {"sleep": wait_for_nothing, "spin": count_to_nowhere}.get(sys.argv[1])
    generated = generated_code()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.randn(256, 64)).square().mean()
        loss.backward()
        optimizer.step()
        generated()
        if between is not None and rank == 1:
            between()
    os.write(1, f"rank {rank}: {loss.item():.6f}, {len(threading.enumerate())} thread\n".encode())
    dist.destroy_process_group()


main()
