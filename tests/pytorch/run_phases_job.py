"""Trains for 20 steps, and does beside it what programs do: run_phases_job.py OUTPUT [compile].

Rank 0 saves with torch.save in step 6, both with torch.distributed.checkpoint in step 10, both evaluate in step 3,
without a call of eval(), and in step 14; from step 15 on both save with async_save, which writes for 300 ms and is
waited for, 200 ms at least, in step 16; with "compile" rank 1 compiles a function in step 18. Each takes 50 ms at
least. Activations are checkpointed, and a part of the model stays in evaluation mode: neither is any of these. Prints
the losses; leaves OUTPUT.RANK.json: how long each took from outside, in ns.
"""
import io
import json
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.utils.checkpoint

took = {}
waits_for_it = threading.Event()  # a step may take longer than what is written beside it: then nobody would wait


class SlowFile(io.BytesIO):
    """A disk that is slow to say that it has all."""

    def flush(self):
        super().flush()

    def write(self, data):
        if not self.tell():
            time.sleep(0.05)
        return super().write(data)


class timed:
    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.began = time.monotonic_ns()

    def __exit__(self, *_):
        took[self.what] = took.get(self.what, 0) + time.monotonic_ns() - self.began


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(64, 64)
        self.frozen = torch.nn.BatchNorm1d(64)
        self.frozen.eval()

    def forward(self, x):
        return self.frozen(torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False))


class SlowWriter(dcp.FileSystemWriter):
    def write_data(self, *args, **kwargs):
        time.sleep(0.3)
        waits_for_it.wait(timeout=60)
        time.sleep(0.2)
        return super().write_data(*args, **kwargs)


def slow_backend(graph, inputs):
    time.sleep(0.05)
    return graph.forward


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    checkpoints = dist.new_group(backend="gloo")  # what is saved beside training communicates beside it
    torch.manual_seed(rank)
    model = torch.nn.parallel.DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        loss = model(torch.randn(16, 64)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        # One write: lines of ranks that write at the same time stay whole.
        sys.stdout.write(f"rank {rank} step {step} loss {loss.item():.6f}\n")
        sys.stdout.flush()
        if step == 6 and rank == 0:
            with timed("checkpoint"):
                torch.save(model.state_dict(), SlowFile())
        if step == 10:
            with timed("checkpoint"):
                time_of_save = time.monotonic() + 0.05
                dcp.save({"model": model.state_dict()}, checkpoint_id=f"{sys.argv[1]}.checkpoint")
                while time.monotonic() < time_of_save:
                    torch.save(torch.zeros(1_000_000), io.BytesIO())
        if step == 3:
            with timed("evaluation"), torch.no_grad():
                for _ in range(3):
                    model(torch.randn(16, 64))
                    time.sleep(0.03)
        if step == 14:
            with timed("evaluation"):
                model.eval()
                with torch.no_grad():
                    model.module(torch.randn(16, 64))
                time.sleep(0.05)
                model.train()
                model.module.frozen.eval()
        if step == 15:
            with timed("checkpoint"):
                saved = dcp.async_save({"model": model.state_dict()}, storage_writer=SlowWriter(f"{sys.argv[1]}.beside"),
                                       process_group=checkpoints)
        if step == 16:
            dist.barrier()  # both wait for about as long
            with timed("checkpoint"):
                waits_for_it.set()
                saved.result()
        if step == 18 and rank == 1 and "compile" in sys.argv:
            with timed("compilation"):
                torch.compile(lambda x: x.sin() + 1, backend=slow_backend)(torch.randn(4))
    with open(f"{sys.argv[1]}.{rank}.json", "w") as file:
        json.dump(took, file)
    dist.destroy_process_group()


main()
